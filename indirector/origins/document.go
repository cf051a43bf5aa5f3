package origins

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// A Document is a Table as it is written: as JSON, without what the catalog does not have,
// and without secrets. Names stand as values, since a redactor takes the value of a key such
// as "password" for a secret.
type Document struct {
	Resources []Declared `json:"resources"`

	byRef map[string]*Declared
}

// A Declared is one resource of a Document.
type Declared struct {
	Ref        string  `json:"ref"`
	File       string  `json:"file,omitempty"`
	Line       int     `json:"line,omitempty"`
	Virtual    bool    `json:"virtual,omitempty"`
	In         string  `json:"in,omitempty"` // the reference of what contains it
	Attributes []Named `json:"attributes,omitempty"`
}

// A Named is an attribute with where its value is from, and where those were from that
// it replaced, the last one first.
type Named struct {
	Name    string   `json:"name"`
	Sources []Source `json:"sources"`
}

// A Source is an Origin as it is written.
type Source struct {
	From  string `json:"from"`
	Level string `json:"level,omitempty"` // of data
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// AppendJSON appends the table as a Document. Redact takes secrets out of a text; nil
// leaves it as it is. The titles of resources are redacted by themselves, as those of the
// catalog are, so that the references of both are the same.
//
// It is called for every compile that is recorded, and writes the JSON by hand: to make a
// Document first takes several times as long.
func (t *Table) AppendJSON(b []byte, redact func(string) string) []byte {
	w := writer{t: t, redact: redact, texts: map[string][]byte{}, refs: make([][]byte, len(t.Resources))}
	for i := range t.Resources { // those that the catalog does not have may contain others
		w.refs[i] = quote(Ref(t.Resources[i].Type, w.clean(t.Resources[i].Title)))
	}
	b = slices.Grow(b, t.written())
	b = append(b, `{"resources":[`...)
	first := true
	for i := range t.Resources {
		if t.Resources[i].Absent {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		b, first = w.resource(b, i), false
	}
	return append(b, "]}"...)
}

// written estimates the bytes of the table as JSON: it is large, and was copied as it grew.
func (t *Table) written() int {
	n := 0
	for i := range t.Resources {
		r := &t.Resources[i]
		n += 80 + len(r.Type) + len(r.Title) + len(r.File)
		for _, a := range r.Attributes {
			n += 80 + len(a.Name) + len(t.Origins[a.Origin].File)
		}
	}
	return n
}

// Document returns the table as it may be shown; see [Table.AppendJSON].
func (t *Table) Document(redact func(string) string) *Document {
	d, _ := Parse(t.AppendJSON(nil, redact)) // what was just written can be read
	return d
}

// A writer writes a table.
type writer struct {
	t      *Table
	redact func(string) string
	texts  map[string][]byte // what was redacted, as JSON
	refs   [][]byte          // of the resources, as JSON
}

func (w *writer) clean(s string) string {
	if w.redact == nil {
		return s
	}
	return w.redact(s)
}

// text returns a text without secrets, as JSON.
func (w *writer) text(s string) []byte {
	q, ok := w.texts[s]
	if !ok {
		q = quote(w.clean(s))
		w.texts[s] = q
	}
	return q
}

// quote returns a text as JSON.
func quote(s string) []byte {
	q, _ := json.Marshal(s) // a string never fails
	return q
}

func (w *writer) resource(b []byte, i int) []byte {
	r := &w.t.Resources[i]
	b = append(append(b, `{"ref":`...), w.refs[i]...)
	b = w.place(b, r.File, r.Line)
	if r.Virtual {
		b = append(b, `,"virtual":true`...)
	}
	if r.Container != 0 {
		b = append(append(b, `,"in":`...), w.refs[r.Container-1]...)
	}
	for i, a := range r.Attributes {
		lead := ","
		if i == 0 {
			lead = `,"attributes":[`
		}
		b = append(append(append(b, lead...), `{"name":`...), w.text(a.Name)...)
		b = append(w.sources(append(b, `,"sources":[`...), a.Origin), "]}"...)
	}
	if len(r.Attributes) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

// sources appends an origin and those that it replaced.
func (w *writer) sources(b []byte, i int32) []byte {
	for first := true; first || i != 0; i, first = w.t.Origins[i].Lost, false {
		if !first {
			b = append(b, ',')
		}
		o := &w.t.Origins[i]
		b = append(append(append(b, `{"from":"`...), o.Kind.String()...), '"')
		if o.Level != "" {
			b = append(append(b, `,"level":`...), w.text(o.Level)...)
		}
		b = append(w.place(b, o.File, o.Line), '}')
	}
	return b
}

func (w *writer) place(b []byte, file string, line int) []byte {
	if file != "" {
		b = append(append(b, `,"file":`...), w.text(file)...)
	}
	if line != 0 {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(line), 10)
	}
	return b
}

// Ref is the reference of a resource: "File[/etc/motd]".
func Ref(typ, title string) string { return typ + "[" + title + "]" }

// Parse reads a Document.
func Parse(text []byte) (*Document, error) {
	d := new(Document)
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("read where values are from: %w", err)
	}
	return d, nil
}

// Find returns the resource of a reference, or nil.
func (d *Document) Find(ref string) *Declared {
	if d.byRef == nil {
		d.byRef = make(map[string]*Declared, len(d.Resources))
		for i := range d.Resources {
			d.byRef[d.Resources[i].Ref] = &d.Resources[i]
		}
	}
	return d.byRef[ref]
}
