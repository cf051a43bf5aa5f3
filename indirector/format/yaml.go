package format

import (
	"errors"
	"fmt"
	"slices"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/model"
)

// onTheWire are the classes that Puppet reads from YAML of the network. Symbols
// are not among them.
var onTheWire = []string{
	"Puppet::Node::Facts", "Puppet::Node", "Puppet::Transaction::Report", "Puppet::Resource", "Puppet::Resource::Catalog",
}

var errOldCatalog = errors.New("a catalog of Puppet 3 or older is a dump of Ruby's memory, which is not supported")

const unreadableCatalog = "real Puppet 7 and 8 read this YAML as a catalog without name and resources"

func yamlLimits(o Options, wire bool) psych.Limits {
	return psych.Limits{Bytes: o.Limits.Bytes, Depth: o.Limits.Depth, Nodes: o.Limits.Items, Grow: o.Limits.Grow, KeepBOM: wire && !o.Lenient}
}

// A loadError is Puppet's YamlLoadError: it happened before there was data.
type loadError struct{ message string }

func (e *loadError) Error() string { return e.message }

// internYAML reads YAML as Puppet does from the network. Rule FMT-06.
func internYAML(c *model.Class, b []byte, o Options) (indirector.Instance, Notes, error) {
	doc, notes, err := load(c, b, o, "<unknown>", onTheWire)
	if err != nil {
		return nil, notes, notValid(c, err)
	}
	if doc.Tag != c.Ruby && (doc.Value.Kind() != data.Hash || slices.Contains(onTheWire, doc.Tag) && !o.Lenient) {
		return nil, notes, notValid(c, nil)
	}
	i, notes, err := fromDocument(c, doc, notes, o)
	if err != nil && doc.Tag == c.Ruby {
		err = notValid(c, err) // Ruby makes the object while it loads
	}
	return i, notes, err
}

// fromDocument makes an instance of a document. A catalog that Puppet reads as
// an empty one is not refused, whatever it holds.
func fromDocument(c *model.Class, doc *psych.Document, notes Notes, o Options) (indirector.Instance, Notes, error) {
	if c.Name != "catalog" || doc.Tag != c.Ruby {
		return fromData(c, doc.Value, notes, o)
	}
	if err := model.CheckGraph(doc.Value); err != nil {
		return nil, notes, err
	}
	o.Lenient = true
	i, more, err := fromData(c, doc.Value, notes, o)
	if err != nil {
		notes = append(notes, "its contents cannot be read: "+err.Error())
		return fromData(c, data.OfHash(nil), notes, o)
	}
	return i, more, nil
}

func notValid(c *model.Class, cause error) error {
	if cause == nil {
		return errorf(notInstance, c.Ruby)
	}
	return errorf(notInstanceSince, c.Ruby, cause)
}

// load reads a document and refuses what needs a class that is not permitted;
// when o is lenient it notes that.
func load(c *model.Class, b []byte, o Options, file string, permitted []string) (*psych.Document, Notes, error) {
	doc, err := psych.Decode(b, yamlLimits(o, file == "<unknown>"))
	if err != nil {
		return nil, nil, &loadError{psych.Message(err, file)}
	}
	var notes Notes
	if foreign, refused := doc.Refused(permitted...); refused {
		if !o.Lenient {
			return nil, nil, &loadError{foreign.Message(file)}
		}
		notes = append(notes, fmt.Sprintf("real Puppet refuses this YAML: %s (line %d, %s)", foreign.Message(file), foreign.Line, foreign.Path))
	}
	if c.Name == "catalog" && doc.Tag == c.Ruby {
		if _, old := doc.Value.Lookup("resource_table"); old {
			return nil, notes, errOldCatalog
		}
		notes = append(notes, unreadableCatalog)
	}
	return doc, notes, nil
}

// InternFile reads an instance from the bytes of a file, as the file termini
// do. For YAML it differs from Intern: symbols are read, a byte order mark is
// skipped, a plain mapping is a [model.Raw] and an empty file
// [indirector.False]. The path is for messages only. Rules TERM-FILE-03 to
// TERM-FILE-06.
func InternFile(f *Format, class, path string, b []byte, o Options) (indirector.Instance, Notes, error) {
	if f.codec != yamlCodec {
		return Intern(f, class, b, o)
	}
	c, ok := model.Lookup(class)
	if !ok {
		return nil, nil, &Error{"intern from", f.Name, fmt.Errorf("there is no model %q", class)}
	}
	doc, notes, err := load(c, b, o, path, []string{c.Ruby, "Symbol"})
	if err != nil {
		return nil, notes, err
	}
	if doc.Tag == c.Ruby {
		return fromDocument(c, doc, notes, o)
	}
	if o.Lenient && doc.Value.Kind() == data.Hash {
		i, err := c.FromData(doc.Value)
		return i, append(notes, "real Puppet returns the mapping itself, no instance of "+c.Ruby), err
	}
	if !doc.Value.Truthy() {
		return indirector.False, append(notes, "real Puppet returns false, neither an instance nor nil"), nil
	}
	return &model.Raw{Value: doc.Value}, append(notes, "real Puppet returns the value itself, no instance of "+c.Ruby), nil
}

func internYAMLList(c *model.Class, b []byte, o Options) ([]indirector.Instance, Notes, error) {
	doc, notes, err := load(c, b, o, "<unknown>", onTheWire)
	if err != nil {
		return nil, notes, notValid(c, err)
	}
	if doc.Value.Kind() != data.List {
		return nil, notes, errorf(notCollection)
	}
	all := make([]indirector.Instance, doc.Value.Len())
	for i, v := range doc.Value.List() {
		if v.Kind() != data.Hash {
			return nil, notes, notValid(c, nil)
		}
		if all[i], notes, err = fromData(c, v, notes, o); err != nil {
			return nil, notes, err
		}
	}
	return all, notes, nil
}

// appendYAML writes an instance as Puppet does on the wire and on the screen.
// Rules FMT-05, FMT-FACT-04.
func appendYAML(b []byte, i indirector.Instance) ([]byte, error) {
	v, o, err := dump(i)
	if err != nil {
		return nil, err
	}
	_, o.QuoteColons = i.(*model.Facts)
	return psych.Append(b, v, o), nil
}

// RenderFile returns the instance as a file terminus writes it. For YAML of
// facts it differs from Render: colons are not quoted. [Release] takes the bytes when
// they are written. Rule FMT-FACT-04.
func RenderFile(f *Format, i indirector.Instance) ([]byte, error) {
	b := (*buffers.Get().(*[]byte))[:0]
	if f.codec != yamlCodec {
		return Append(b, f, i)
	}
	v, o, err := dump(i)
	if err != nil {
		return nil, &Error{"render to", f.Name, err}
	}
	return psych.Append(b, v, o), nil
}

func appendYAMLList(b []byte, instances []indirector.Instance, l []data.Value) ([]byte, error) {
	o := psych.EncodeOptions{Each: true}
	for i := range instances {
		v, each, err := dump(instances[i])
		if err != nil {
			return nil, err
		}
		l[i], o.Tag, o.Members = v, each.Tag, each.Members
	}
	return psych.Append(b, data.OfList(l), o), nil
}

// dump returns what Ruby dumps of an instance. Those classes that Puppet does
// not read back from YAML dump their variables instead of a data hash.
func dump(i indirector.Instance) (data.Value, psych.EncodeOptions, error) {
	o := psych.EncodeOptions{}
	if c := model.ClassOf(i); c != nil {
		o.Tag = c.Ruby
	}
	switch x := i.(type) {
	case *model.FileMetadata:
		return dumpMetadata(x), o, nil
	case *model.FileContent:
		b, err := appendBinary(nil, &Format{}, x)
		return data.OfHash([]data.Pair{
			data.P("path", data.OfString(x.Path)), data.P("links", linksSymbol(x.Links)), data.P("content", data.OfString(string(b))),
		}), o, err
	case *model.FileBucketFile:
		b, err := appendBinary(nil, &Format{}, x)
		o.Members = map[string]string{"contents": "Puppet::FileBucket::File::StringContents"}
		return data.OfHash([]data.Pair{
			data.P("contents", data.OfHash([]data.Pair{data.P("contents", data.OfString(string(b)))})),
			data.P("bucket_path", textOrNil(x.BucketPath)),
			data.P("checksum_type", data.OfSymbol(x.ChecksumType)),
		}), o, err
	}
	if err := checkTitles(i); err != nil {
		return data.Value{}, o, err
	}
	v, ok := model.ToData(i)
	if !ok {
		return v, o, fmt.Errorf("%T has no data", i)
	}
	return v, o, nil
}

func dumpMetadata(m *model.FileMetadata) data.Value {
	h := m.Data()
	pairs := []data.Pair{
		data.P("owner", h.Get("owner")),
		data.P("group", h.Get("group")),
		data.P("mode", h.Get("mode")),
		data.P("checksum_type", h.Dig("checksum", "type")),
		data.P("checksum", h.Dig("checksum", "value")),
		data.P("ftype", h.Get("type")),
		data.P("destination", h.Get("destination")),
		data.P("source", h.Get("source")),
		data.P("content_uri", h.Get("content_uri")),
		data.P("path", h.Get("path")),
		data.P("links", linksSymbol(m.Links)),
	}
	if v := h.Get("relative_path"); !v.IsNil() {
		pairs = append(pairs, data.P("relative_path", v))
	}
	return data.OfHash(pairs)
}

func linksSymbol(links string) data.Value {
	if links == "" {
		links = "manage"
	}
	return data.OfSymbol(links)
}

func textOrNil(s string) data.Value {
	if s == "" {
		return data.Value{}
	}
	return data.OfString(s)
}
