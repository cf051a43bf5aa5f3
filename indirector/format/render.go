package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// An Error is a failure to read or write a format, in Puppet's words. Rule
// FMT-10.
type Error struct {
	Verb   string // "intern from", "render to", "intern_multiple from", …
	Format string
	Err    error
}

func (e *Error) Error() string {
	return "Could not " + e.Verb + " " + e.Format + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Render returns the instance in the format f.
func Render(f *Format, i indirector.Instance) ([]byte, error) {
	return scratch(func(b []byte) ([]byte, error) { return Append(b, f, i) })
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keptBuffer is the largest buffer that is kept for the next instance.
const keptBuffer = 4 << 20

// scratch lets write append to a buffer that is used again and again, and
// returns a copy of just the right size.
func scratch(write func([]byte) ([]byte, error)) ([]byte, error) {
	p := buffers.Get().(*[]byte)
	defer buffers.Put(p)
	b, err := write((*p)[:0])
	if err != nil {
		return nil, err
	}
	if cap(b) <= keptBuffer {
		*p = b
	}
	return bytes.Clone(b), nil
}

// Release gives back the memory of what RenderFile has returned, for other instances.
// Nothing may refer to it any more. Calling it is optional.
func Release(b []byte) {
	if 0 < cap(b) && cap(b) <= keptBuffer {
		buffers.Put(&b)
	}
}

// Append appends the instance in the format f to b.
func Append(b []byte, f *Format, i indirector.Instance) ([]byte, error) {
	b, err := appendInstance(b, f, i)
	if err != nil {
		return nil, &Error{"render to", f.Name, err}
	}
	return b, nil
}

// Write writes the instance in the format f to w. Contents of files are copied
// without being held in memory.
func Write(w io.Writer, f *Format, i indirector.Instance) error {
	if c := contents(i); c != nil && f.codec == binaryCodec {
		r, err := c.Open()
		if err != nil {
			return &Error{"render to", f.Name, err}
		}
		size := sizeOf(r)
		n, err := pour(w, r)
		if err == nil && n < size {
			err = fmt.Errorf("the file became shorter while it was read: %d of %d bytes", n, size)
		}
		if err := errors.Join(err, r.Close()); err != nil {
			return &Error{"render to", f.Name, err}
		}
		return nil
	}
	b, err := Render(f, i)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// pools have what contents are copied in: less is a quarter slower than cat.
var pools = sync.Pool{New: func() any { return new([256 << 10]byte) }}

// pour copies all of r to w. A writer that knows better than to be written to,
// such as a connection, is asked to read.
func pour(w io.Writer, r io.Reader) (int64, error) {
	if to, ok := w.(io.ReaderFrom); ok {
		return to.ReadFrom(r)
	}
	b := pools.Get().(*[256 << 10]byte)
	defer pools.Put(b)
	return io.CopyBuffer(w, struct{ io.Reader }{r}, b[:])
}

// sizeOf returns the least size of an open file in bytes; zero for other
// readers.
func sizeOf(r io.Reader) int64 {
	file, ok := r.(fs.File)
	if !ok {
		return 0
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// RenderMultiple returns the instances in the format f: a list of what Render
// returns. Rule FMT-09.
func RenderMultiple(f *Format, instances []indirector.Instance) ([]byte, error) {
	b, err := renderMultiple(f, instances)
	if err != nil {
		return nil, &Error{"render_multiple to", f.Name, err}
	}
	return b, nil
}

func renderMultiple(f *Format, instances []indirector.Instance) ([]byte, error) {
	switch f.codec {
	case jsonCodec, psonCodec, msgpackCodec, yamlCodec:
	case textCodec:
		return appendTexts(nil, f, instances)
	default:
		return nil, fmt.Errorf("no list of instances can be rendered to %s", f.MediaType)
	}
	l := make([]data.Value, len(instances))
	for n, i := range instances {
		v, err := valueOf(f, i)
		if err != nil {
			return nil, err
		}
		l[n] = v
	}
	if f.codec == yamlCodec {
		return appendYAMLList(nil, instances, l)
	}
	return appendValue(nil, f, data.OfList(l))
}

// between stands between instances of the format s. Rule FMT-09.
const between = "\n---\n"

func appendTexts(b []byte, f *Format, instances []indirector.Instance) ([]byte, error) {
	for n, i := range instances {
		t, ok := i.(model.Texter)
		if !ok {
			return nil, fmt.Errorf("no list of instances can be rendered to %s", f.MediaType)
		}
		if n > 0 {
			b = append(b, between...)
		}
		b = append(b, t.Text()...)
	}
	return b, nil
}

// valueOf returns the data hash of an instance.
func valueOf(f *Format, i indirector.Instance) (data.Value, error) {
	if c := model.ClassOf(i); c != nil && !c.Supports(f.Name) {
		return data.Value{}, fmt.Errorf("%s does not respond to to_%s; can not render instances to %s", c.Ruby, f.Name, f.MediaType)
	}
	if err := checkTitles(i); err != nil {
		return data.Value{}, err
	}
	v, ok := model.ToData(i)
	if !ok {
		return data.Value{}, fmt.Errorf("%T does not respond to to_%s; can not render instances to %s", i, f.Name, f.MediaType)
	}
	return v, nil
}

// checkTitles refuses files without a path, as Puppet does when it writes them.
func checkTitles(i indirector.Instance) error {
	var resources []model.Resource
	switch x := i.(type) {
	case *model.Catalog:
		resources = x.Resources
	case *model.Resource:
		resources = []model.Resource{*x}
	}
	for n := range resources {
		if r := &resources[n]; r.Title == "" && r.Type == "File" {
			return errorf(noTitlePattern, data.InspectString(r.Title))
		}
	}
	return nil
}

func appendInstance(b []byte, f *Format, i indirector.Instance) ([]byte, error) {
	switch f.codec {
	case yamlCodec:
		return appendYAML(b, i)
	case binaryCodec:
		return appendBinary(b, f, i)
	case dotCodec:
		return appendDot(b, i)
	case textCodec:
		if t, ok := i.(model.Texter); ok {
			return append(b, t.Text()...), nil
		}
	}
	v, err := valueOf(f, i)
	if err != nil && f.codec <= psonCodec {
		return nil, err
	}
	return appendValue(b, f, v)
}

func appendValue(b []byte, f *Format, v data.Value) ([]byte, error) {
	switch f.codec {
	case jsonCodec:
		return AppendJSON(b, v)
	case psonCodec:
		return AppendPSON(b, v)
	case msgpackCodec:
		return AppendMsgpack(b, v)
	case textCodec:
		return append(b, v.Text()...), nil
	case consoleCodec:
		return appendConsole(b, v)
	case flatCodec:
		return appendFlat(b, v)
	}
	return nil, fmt.Errorf("nothing can be rendered to %s", f.MediaType)
}

func contents(i indirector.Instance) model.Contents {
	switch x := i.(type) {
	case *model.FileContent:
		return x.Contents
	case *model.FileBucketFile:
		return x.Contents
	case interface{ Contents() model.Contents }:
		return x.Contents()
	}
	return nil
}

func appendBinary(b []byte, f *Format, i indirector.Instance) ([]byte, error) {
	c := contents(i)
	if c == nil {
		return nil, fmt.Errorf("%T does not respond to to_binary; can not render instances to %s", i, f.MediaType)
	}
	if c, ok := c.(model.Bytes); ok {
		return append(b, c...), nil
	}
	r, err := c.Open()
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(r)
	return append(b, all...), errors.Join(err, r.Close())
}
