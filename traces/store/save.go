package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"indirtui/traces"
)

// Save writes the requests with the given numbers, in that order, to a new
// recording, with their values, marks and comments. It returns how many there
// were; those that still run or are gone are left out. The path must not exist;
// when the error is not nil it does not exist afterwards either.
func (s *Store) Save(path string, ids []uint64) (n int, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("save recording: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(fmt.Errorf("save recording: %w", err), os.Remove(path))
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	x := saving{s: s, written: map[bodyKey]bool{}}
	x.out = appendHeader(nil, s.opts.Now(), s.opts.Source)
	for _, id := range ids {
		if x.add(id) {
			n++
		}
		if _, err := w.Write(x.out); err != nil {
			return n, err
		}
		x.out = x.out[:0]
	}
	if _, err := w.Write(appendEnd(nil, lineEnd{Requests: uint64(n), Comments: x.comments}, s.opts.Now())); err != nil {
		return n, err
	}
	return n, w.Flush()
}

// saving is a recording that is being made of another.
type saving struct {
	s        *Store
	out      []byte
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
		x.body(t.Value)
		x.body(t.Sent)
		x.out = appendTrace(x.out, t, l.Replays != 0)
	} else {
		h := headOfRow(&row, l)
		x.out = appendRow(x.out, &h)
	}
	if row.Marked {
		x.out = appendMark(x.out, id, row.Mark, x.s.opts.Now())
	}
	for _, c := range x.s.Comments(id) {
		x.out = appendComment(x.out, id, c)
		x.comments++
	}
	return true
}

func (x *saving) body(v traces.Value) {
	k, err := digestOf(v.Digest)
	if err != nil || x.written[k] {
		return
	}
	if v.Body, err = x.s.Body(v); err == nil {
		x.written[k] = true
		x.out = appendBody(x.out, v)
	}
}
