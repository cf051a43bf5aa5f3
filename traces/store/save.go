package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"indirtui/traces"
)

// An Edit changes requests as they are saved. Its functions may be nil.
type Edit struct {
	// Trace returns the trace to save; it must not change its argument.
	Trace func(*traces.Trace) *traces.Trace
	// Keep reports whether the bytes of a value of t are saved.
	Keep func(t *traces.Trace, v *traces.Value) bool
	// Body returns the bytes of a value to save. Where is "value", "sent" or
	// "origins".
	Body func(id uint64, where, format string, b []byte) []byte
	// Text returns a comment to save, or the key, run, caller, origin or fault of
	// a request without detail. Where is its name.
	Text func(id uint64, where, text string) string
	// Step is called after each request with how many are done; an error ends the
	// saving.
	Step func(done int) error
	// End returns the last event of the recording; may be "".
	End func() string
}

// A File is a new file that is there once it is complete: a *files.Writer.
type File interface {
	io.Writer
	Commit() error
	Abort() error
}

// Save writes the given requests, in that order, to a new recording, with their
// values, marks and comments. It returns their number; those that still run or
// are gone are left out. It commits the file, or aborts it after an error.
func (s *Store) Save(f File, ids []uint64) (n int, err error) {
	return s.SaveEdited(f, ids, Edit{})
}

// SaveEdited is Save with changes.
func (s *Store) SaveEdited(f File, ids []uint64, edit Edit) (n int, err error) {
	defer func() {
		if err == nil {
			err = f.Commit()
		}
		if err != nil {
			err = errors.Join(fmt.Errorf("save recording: %w", err), f.Abort())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	x := saving{s: s, edit: edit, written: map[bodyKey]bool{}}
	x.out = appendHeader(nil, s.opts.Now(), s.opts.Source, Session{}, 0)
	for i, id := range ids {
		if x.add(id) {
			n++
		}
		if edit.Step != nil {
			if err := edit.Step(i + 1); err != nil {
				return n, err
			}
		}
		if _, err := w.Write(x.out); err != nil {
			return n, err
		}
		x.out = x.out[:0]
	}
	if edit.End != nil {
		if text := edit.End(); text != "" {
			x.out = appendEvent(x.out, Event{At: s.opts.Now(), Text: text})
		}
	}
	x.out = appendEnd(x.out, lineEnd{Requests: uint64(n), Comments: x.comments}, s.opts.Now())
	if _, err := w.Write(x.out); err != nil {
		return n, err
	}
	return n, w.Flush()
}

// saving is a recording that is made from another.
type saving struct {
	s        *Store
	edit     Edit
	out      []byte
	phrases  phrases
	written  map[bodyKey]bool
	comments uint64
}

// add appends the lines of one request, and reports whether there is one.
func (x *saving) add(id uint64) bool {
	row, ok := x.s.Row(id)
	if !ok || row.Outcome == traces.Run || row.Outcome == traces.HeldOutcome {
		return false
	}
	l := x.s.Links(id)
	t, err := x.s.Trace(id)
	if err == nil {
		own := *t
		if x.edit.Trace != nil {
			own = *x.edit.Trace(t)
		}
		if own.Values != nil {
			values := *own.Values
			own.Values = &values
			for _, v := range values.All() {
				x.body(&own, v.Name, v.Value)
			}
		}
		x.out = x.phrases.appendTrace(x.out, &own, l.Replays != 0)
	} else {
		if x.edit.Text != nil {
			row.Key, row.Run, row.Caller = x.edit.Text(id, "key", row.Key), x.edit.Text(id, "run", row.Run), x.edit.Text(id, "caller", row.Caller)
			row.Transaction = x.edit.Text(id, "transaction", row.Transaction)
			row.Origin, row.Fault = x.edit.Text(id, "faults origin", row.Origin), x.edit.Text(id, "faults message", row.Fault)
		}
		h := headOfRow(&row, l)
		x.out = appendRow(x.out, &h)
	}
	if row.Marked {
		x.out = appendMark(x.out, id, row.Mark, x.s.opts.Now())
	}
	for _, c := range x.s.Comments(id) {
		if x.edit.Text != nil {
			c.Text = x.edit.Text(id, "comment", c.Text)
		}
		x.out = appendComment(x.out, id, c)
		x.comments++
	}
	return true
}

// body appends the line of a value, unless it has one.
func (x *saving) body(t *traces.Trace, where string, v *traces.Value) {
	if v.Digest != "" && x.edit.Keep != nil && !x.edit.Keep(t, v) {
		v.Body = nil
		return
	}
	b, err := x.s.Body(*v)
	if err != nil {
		return
	}
	if x.edit.Body != nil {
		b = x.edit.Body(t.ID, where, v.Format, b)
		v.Body = b
		digest(v)
	}
	k, err := digestOf(v.Digest)
	if err != nil || x.written[k] {
		v.Body = nil
		return
	}
	x.written[k] = true
	x.out = appendBody(x.out, traces.Value{Digest: v.Digest, Format: v.Format, Body: b})
	v.Body = nil
}
