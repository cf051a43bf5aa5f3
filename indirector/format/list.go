package format

import (
	"io"

	"indirtui/indirector"
)

// A ListWriter writes a list of instances without holding it: the same bytes as
// RenderMultiple. JSON and PSON are written as the instances come; YAML and
// MessagePack, which must know all of them, at the end. Rule FMT-09.
type ListWriter struct {
	w    io.Writer
	f    *Format
	n    int
	held []indirector.Instance
	b    []byte // of one instance, used again and again
}

// NewListWriter returns a ListWriter in the format f. Nothing is written before
// the first Add or Close.
func NewListWriter(w io.Writer, f *Format) *ListWriter { return &ListWriter{w: w, f: f} }

// Add writes the next instance. After an error the list is incomplete and
// cannot be continued.
func (l *ListWriter) Add(i indirector.Instance) error {
	l.n++
	switch l.f.codec {
	case jsonCodec, psonCodec:
	case yamlCodec, msgpackCodec, textCodec:
		l.held = append(l.held, i)
		return nil
	default: // no list can be written: fail before all of it is gathered
		_, err := RenderMultiple(l.f, nil)
		return err
	}
	sign := byte(',')
	if l.n == 1 {
		sign = '['
	}
	var err error
	if l.b, err = appendInstance(append(l.b[:0], sign), l.f, i); err != nil {
		return &Error{"render_multiple to", l.f.Name, err}
	}
	_, err = l.w.Write(l.b)
	return err
}

// Close ends the list. It does not close the writer.
func (l *ListWriter) Close() error {
	if l.n == 0 || len(l.held) > 0 {
		b, err := RenderMultiple(l.f, l.held)
		if err != nil {
			return err
		}
		_, err = l.w.Write(b)
		return err
	}
	_, err := io.WriteString(l.w, "]")
	return err
}
