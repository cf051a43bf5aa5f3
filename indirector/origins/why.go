package origins

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"indirtui/traces"
)

// A Why is where the attributes of one resource are from, beside their values.
type Why struct {
	Resource   string      `json:"resource"`
	File       string      `json:"file,omitempty"`
	Line       int         `json:"line,omitempty"`
	Virtual    bool        `json:"virtual"` // the node does not get it
	Within     []string    `json:"within"`  // the outermost first
	Attributes []Explained `json:"attributes"`
}

// An Explained is one attribute of a resource, in the order of the catalog.
type Explained struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // without secrets
	Source
	Overruled []Source `json:"overruled"` // values that were replaced, the last one first
}

// A Value is an attribute of a resource as the catalog has it, without secrets.
type Value struct {
	Name string
	JSON json.RawMessage
}

// Why puts the values of a resource beside where they are from. What the document does not
// know is from Unknown.
func (d *Document) Why(ref string, values []Value) *Why {
	r := d.Find(ref)
	if r == nil {
		r = &Declared{Ref: ref}
	}
	w := &Why{
		Resource: ref, File: r.File, Line: r.Line, Virtual: r.Virtual,
		Within: d.within(r), Attributes: make([]Explained, len(values)),
	}
	for i, v := range values {
		a := Explained{Name: v.Name, Value: v.JSON, Source: Source{From: Unknown.String()}, Overruled: []Source{}}
		if known := r.Sources(v.Name); len(known) > 0 {
			a.Source, a.Overruled = known[0], append(a.Overruled, known[1:]...)
		}
		w.Attributes[i] = a
	}
	return w
}

// maxWithin is how many containers of a resource are named: a recording may have a circle
// of them.
const maxWithin = 1000

// within returns what contains a resource, the outermost first.
func (d *Document) within(r *Declared) []string {
	up := []string{}
	for r != nil && r.In != "" && len(up) < maxWithin {
		up = append(up, r.In)
		r = d.Find(r.In)
	}
	slices.Reverse(up)
	return up
}

// Sources are where an attribute is from, and what it overruled; nil if that is not known.
func (r *Declared) Sources(attribute string) []Source {
	for _, a := range r.Attributes {
		if a.Name == attribute {
			return a.Sources
		}
	}
	return nil
}

// Names are the names of the attributes.
func (w *Why) Names() []string {
	names := make([]string, len(w.Attributes))
	for i := range w.Attributes {
		names[i] = w.Attributes[i].Name
	}
	return names
}

// Head is the resource, with the place where it is declared.
func (w *Why) Head() string {
	head := w.Resource
	if at := Place(w.File, w.Line); at != "" {
		head += "  " + at
	}
	if w.Virtual {
		head += "  virtual: the node does not get it"
	}
	return head
}

// Inside names what contains the resource; "" if nothing does, or that is not known.
func (w *Why) Inside() string {
	if len(w.Within) == 0 {
		return ""
	}
	return "within " + strings.Join(w.Within, ", ")
}

// Titles are those of the columns of Rows.
var Titles = [...]string{"ATTRIBUTE", "VALUE", "FROM", "PLACE"}

// A Row is an attribute, or below that a value that was overruled.
type Row struct {
	Attribute string // also of what was overruled
	Cells     [len(Titles)]string
	Overruled bool
	File      string // "" if it is not known, or there are several
	Line      int
}

// Rows are the attributes as a table: each, and below it what it overruled.
func (w *Why) Rows() []Row {
	var rows []Row
	for _, a := range w.Attributes {
		rows = append(rows, Row{
			Attribute: a.Name, File: a.File, Line: a.Line,
			Cells: [...]string{a.Name, string(a.Value), a.words(), a.place()},
		})
		for _, o := range a.Overruled {
			rows = append(rows, Row{
				Attribute: a.Name, File: o.File, Line: o.Line, Overruled: true,
				Cells: [...]string{"", "", "  overruled: " + o.words(), o.place()},
			})
		}
	}
	return rows
}

// Text is all of it as lines, for a terminal; longest is how much is printed of a value.
func (w *Why) Text(longest int) string {
	var b strings.Builder
	b.WriteString(safe(w.Head()) + "\n")
	if within := w.Inside(); within != "" {
		b.WriteString(safe(within) + "\n")
	}
	if len(w.Attributes) == 0 {
		return b.String()
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(Titles[:], "\t"))
	for _, r := range w.Rows() {
		if value := []rune(r.Cells[1]); len(value) > longest {
			r.Cells[1] = string(value[:longest-1]) + "…"
		}
		for i, c := range r.Cells {
			r.Cells[i] = safe(c)
		}
		fmt.Fprintln(t, strings.Join(r.Cells[:], "\t"))
	}
	t.Flush()
	return b.String()
}

func safe(s string) string { return string(traces.AppendSafe(nil, s)) }

// String is where it is from, in a few words, with its place.
func (o Source) String() string {
	if at := o.place(); at != "-" {
		return o.words() + "  " + at
	}
	return o.words()
}

// words are what kind of origin it is, and the level of data.
func (o Source) words() string {
	level := o.Level
	if o.File == "" {
		level, _, _ = strings.Cut(level, ": ")
	}
	return strings.TrimSpace(o.From + " " + level)
}

// place is where it is. Of merged data the level has all places, behind a colon.
func (o Source) place() string {
	_, places, _ := strings.Cut(o.Level, ": ")
	return cmp.Or(Place(o.File, o.Line), places, "-")
}

// Place is a file and a line, as far as they are known: code has no file.
func Place(file string, line int) string {
	switch {
	case line == 0:
		return file
	case file == "":
		return fmt.Sprint("line ", line)
	}
	return fmt.Sprint(file, ":", line)
}
