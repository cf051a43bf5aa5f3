package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// formats are the names of Puppet's formats as users write them. Catalogs travel
// as rich data.
// Resources can be written as puppet resource prints them, or as a table.
var formats = []string{"json", "yaml", "pson", "msgpack", "dot", "raw", "manifest", "table"}

// CheckFormat returns an error if a name is no format.
func CheckFormat(name string) error {
	if slices.Contains(formats, name) {
		return nil
	}
	return &UsageError{fmt.Sprintf("no format is called %q", name), "there are: " + strings.Join(formats, ", ")}
}

// Write writes an answer. The empty format is JSON with line breaks, to be read;
// the others are byte for byte what Puppet writes, with a line break
// after text. Content is streamed.
func Write(w io.Writer, answer any, name string) error {
	if name != "" {
		if err := CheckFormat(name); err != nil {
			return err
		}
	}
	switch v := answer.(type) {
	case nil:
		return nil
	case []indirector.Instance:
		if all := resources(v, name); all != nil {
			return writeResources(w, all, name)
		}
		return writeMany(w, v, name)
	case indirector.Instance:
		if all := resources([]indirector.Instance{v}, name); all != nil {
			return writeResources(w, all, name)
		}
		f, err := formatOf(v, name)
		switch {
		case err != nil:
			return err
		case f != nil && f.Name == "binary":
			// A buffered writer would read in small pieces.
			return format.Write(struct{ io.Writer }{w}, f, v)
		case f != nil:
			b, err := format.Render(f, v)
			return writeText(w, b, name, err)
		}
	}
	v, ok := engine.Data(answer)
	if !ok {
		return fmt.Errorf("%T cannot be written as %s", answer, name)
	}
	return writeData(w, v, name)
}

// formatOf returns Puppet's format for an instance. It is nil for JSON with line
// breaks, and for values of no class.
func formatOf(inst indirector.Instance, name string) (*format.Format, error) {
	class := model.ClassOf(inst)
	if class == nil {
		return nil, nil
	}
	switch {
	case class.Formats[0] == "binary" && (name == "" || name == "raw"):
		name = "binary"
	case class.Formats[0] == "s" && name == "raw":
		name = "s"
	case name == "":
		return nil, nil
	case name == "raw":
		name = "json"
	}
	if rich := "rich_data_" + name; class.Supports(rich) {
		name = rich
	}
	f, ok := format.ByName(name)
	if !ok || name != "binary" && !class.Supports(name) {
		return nil, fmt.Errorf("a %s cannot be written as %s; it can as %s", class.Name, name, strings.Join(class.Formats, ", "))
	}
	return f, nil
}

func writeMany(w io.Writer, list []indirector.Instance, name string) error {
	if len(list) > 0 {
		f, err := formatOf(list[0], name)
		if err != nil {
			return err
		}
		if f != nil {
			b, err := format.RenderMultiple(f, list)
			return writeText(w, b, name, err)
		}
	}
	v, _ := engine.Data(list)
	return writeData(w, v, name)
}

// A Lister writes the answer of a search as it comes: byte for byte what Write
// writes of all of it.
type Lister struct {
	w      begun
	name   string
	list   *format.ListWriter // nil is JSON with line breaks
	n      int                // were given to Add
	whole  int                // are written, or held
	lists  bool               // the format can write lists: what it cannot write is this instance
	held   []data.Value       // the scalars at the beginning, which may fit on one line; or all that is of no class
	opened bool               // what comes stands on a line of its own
	// resources are held, for a format that needs all of them.
	resources []*model.Resource
}

// NewLister returns a Lister in the format that Write would call by that name.
// Nothing is written before Add or Close.
func NewLister(w io.Writer, name string) *Lister { return &Lister{w: begun{Writer: w}, name: name} }

// A begun writer knows whether anything was written.
type begun struct {
	io.Writer
	yes bool
}

func (b *begun) Write(p []byte) (int, error) {
	b.yes = b.yes || len(p) > 0
	return b.Writer.Write(p)
}

// Incomplete describes a list that will not be closed; "" if nothing of it was
// written. The bracket stays missing: closed, the list would pass for the whole.
func (l *Lister) Incomplete() string {
	if !l.w.yes {
		return ""
	}
	instances := "1 instance"
	if l.whole != 1 {
		instances = fmt.Sprintf("%d instances", l.whole)
	}
	return fmt.Sprintf("the output is incomplete: it breaks off after %s, and has no closing bracket, so that no reader of JSON takes it for the whole list", instances)
}

// Add writes the next instance. After an error nothing more can be written.
func (l *Lister) Add(inst indirector.Instance) error {
	err := l.write(inst)
	if err == nil {
		l.whole++
	}
	if bad := (*format.Error)(nil); errors.As(err, &bad) && l.lists {
		return fmt.Errorf("%w: %s", err, nameOf(inst))
	}
	return err
}

// nameOf returns what an instance is known by.
func nameOf(inst indirector.Instance) string {
	path, relative := inst.Key(), ""
	switch f := inst.(type) {
	case *model.FileMetadata:
		relative = f.RelativePath
	case *model.FileContent:
		relative = f.RelativePath
	}
	if relative != "" {
		path += "/" + relative
	}
	return strconv.Quote(path)
}

func (l *Lister) write(inst indirector.Instance) error {
	if r := resources([]indirector.Instance{inst}, l.name); r != nil {
		l.n++
		l.resources = append(l.resources, r...)
		return nil
	}
	if l.n++; l.n == 1 {
		f, err := formatOf(inst, l.name)
		if err != nil {
			return err
		}
		if f != nil {
			l.lists = f.Name != "binary"
			l.list = format.NewListWriter(&l.w, f)
		}
	}
	if l.list != nil {
		return l.list.Add(inst)
	}
	v, _ := engine.Data([]indirector.Instance{inst})
	return l.add(v.List()[0])
}

// add writes one element, or holds it while all may yet fit on one line.
func (l *Lister) add(v data.Value) error {
	if l.opened {
		return l.element(",", v)
	}
	if l.held = append(l.held, v); short(l.held) || l.name != "" {
		return nil
	}
	l.opened = true
	for i, v := range l.held {
		sign := ","
		if i == 0 {
			sign = "["
		}
		if err := l.element(sign, v); err != nil {
			return err
		}
	}
	l.held = nil
	return nil
}

func (l *Lister) element(sign string, v data.Value) error {
	_, err := l.w.Write(AppendPretty([]byte(sign+"\n  "), v, "  "))
	return err
}

// Close ends the list.
func (l *Lister) Close() error {
	switch {
	case len(l.resources) > 0:
		return writeResources(&l.w, l.resources, l.name)
	case l.n == 0:
		return writeMany(&l.w, nil, l.name)
	case l.list != nil:
		if err := l.list.Close(); err != nil {
			return err
		}
		if l.name == "yaml" || l.name == "msgpack" {
			return nil // the one ends with a line break, the other has none
		}
		_, err := io.WriteString(&l.w, "\n")
		return err
	case l.opened:
		_, err := io.WriteString(&l.w, "\n]\n")
		return err
	}
	return writeData(&l.w, data.OfList(l.held), l.name)
}

func writeData(w io.Writer, v data.Value, name string) error {
	var b []byte
	var err error
	switch name {
	case "":
		b = AppendPretty(nil, v, "")
	case "json", "raw":
		b, err = format.AppendJSON(nil, v)
	case "pson":
		b, err = format.AppendPSON(nil, v)
	case "msgpack":
		b, err = format.AppendMsgpack(nil, v)
	case "yaml":
		b = psych.Encode(v, "")
	case "manifest", "table":
		if v.Len() > 0 {
			return fmt.Errorf("only resources can be written as %s", name)
		}
	default:
		err = fmt.Errorf("this answer cannot be written as %s", name)
	}
	return writeText(w, b, name, err)
}

// writeText ends text with a line break; MessagePack is no text.
func writeText(w io.Writer, b []byte, name string, err error) error {
	if err != nil {
		return err
	}
	if name != "msgpack" && (len(b) == 0 || b[len(b)-1] != '\n') {
		b = append(b, '\n')
	}
	_, err = w.Write(b)
	return err
}

// AppendPretty appends v as JSON with line breaks: one pair or element a line,
// short lists of scalars on one.
func AppendPretty(b []byte, v data.Value, indent string) []byte {
	deeper := indent + "  "
	switch {
	case v.Kind() == data.Hash && v.Len() > 0:
		b = append(b, '{')
		for i, p := range v.Hash() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, '\n'), deeper...)
			b = appendScalar(b, data.OfString(p.Key.Text()))
			b = append(b, ": "...)
			b = AppendPretty(b, p.Value, deeper)
		}
		return append(append(append(b, '\n'), indent...), '}')
	case v.Kind() == data.List && v.Len() > 0 && !short(v.List()):
		b = append(b, '[')
		for i, x := range v.List() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, '\n'), deeper...)
			b = AppendPretty(b, x, deeper)
		}
		return append(append(append(b, '\n'), indent...), ']')
	case v.Kind() == data.List:
		b = append(b, '[')
		for i, x := range v.List() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendScalar(b, x)
		}
		return append(b, ']')
	}
	return appendScalar(b, v)
}

// appendScalar appends v so that a terminal shows it and obeys nothing. The value
// is the same.
func appendScalar(b []byte, v data.Value) []byte {
	if out, err := format.AppendJSON(nil, v); err == nil {
		return append(b, traces.SafeJSON(out)...)
	}
	// Bytes that are no UTF-8 have no JSON: they are shown as escapes.
	out, _ := format.AppendJSON(nil, data.OfString(data.InspectString(v.Str())))
	return append(b, traces.SafeJSON(out)...)
}

func short(list []data.Value) bool {
	width := 0
	for _, v := range list {
		if k := v.Kind(); k == data.List && v.Len() > 0 || k == data.Hash && v.Len() > 0 {
			return false
		}
		width += v.Len() + 8
	}
	return width < 70
}

// Instance reads an instance that is to be saved. The format is named, or
// follows from the name of the file, or is JSON.
func Instance(indirection, file, formatName string, b []byte) (indirector.Instance, error) {
	class, ok := model.Lookup(indirection)
	if !ok {
		return nil, &UsageError{fmt.Sprintf("instances of %q cannot be read", indirection), ""}
	}
	if own := class.Formats[0]; own == "binary" || own == "s" {
		formatName = own
	}
	if formatName == "" {
		formatName = "json"
		if f, ok := format.ByExtension(strings.TrimPrefix(filepath.Ext(file), ".")); ok {
			formatName = f.Name
		}
	}
	f, ok := format.ByName(formatName)
	if !ok {
		return nil, CheckFormat(formatName)
	}
	inst, _, err := format.Intern(f, class.Name, b, format.Options{})
	return inst, err
}

// TraceOf returns the number of the request that was answered so; 0 if it was not
// recorded.
func TraceOf(resp indirector.Response, err error) uint64 {
	if located := (*indirector.Error)(nil); errors.As(err, &located) {
		return located.Trace
	}
	return resp.Trace
}
