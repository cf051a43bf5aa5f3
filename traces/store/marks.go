package store

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Comment is a text that the user added to a request.
type Comment struct {
	At   time.Time
	Text string
}

// An Event happened outside of requests.
type Event struct {
	At   time.Time
	Text string
}

// maxEvents is how many events are kept in memory.
const maxEvents = 1000

// ErrReadOnly reports that a recording cannot be changed.
var ErrReadOnly = errors.New("the recording is read-only")

// SetMark marks a request, which is never dropped then; zero removes the mark.
// The error is ErrReadOnly, or that the request is not in memory.
func (s *Store) SetMark(id uint64, mark byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.writable(id)
	if err != nil {
		return err
	}
	s.setMark(id, r, mark)
	s.jot(appendMark(nil, id, mark, s.opts.Now()))
	return nil
}

func (s *Store) setMark(id uint64, r *row, mark byte) {
	r.mark = mark
	r.bits &^= marked
	if mark != 0 {
		r.bits |= marked
	}
	s.touch(id)
}

// AddComment adds a comment to a request, which is never dropped then. The
// error is as for SetMark.
func (s *Store) AddComment(id uint64, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.writable(id)
	if err != nil {
		return err
	}
	if s.opts.RedactText != nil {
		text, _ = s.opts.RedactText(text)
	}
	c := Comment{At: s.opts.Now(), Text: text}
	s.setComment(id, r, c)
	s.jot(appendComment(nil, id, c))
	return nil
}

func (s *Store) setComment(id uint64, r *row, c Comment) {
	r.bits |= commented
	s.comments[id] = append(s.comments[id], c)
	s.touch(id)
}

// maxTouched is how many touched rows are known to views that were not extended
// since; the others start again.
const maxTouched = 1 << 16

func (s *Store) touch(id uint64) {
	if len(s.touched) == maxTouched {
		s.touched, s.untold = append(s.touched[:0], s.touched[maxTouched/2:]...), s.untold+maxTouched/2
	}
	s.touched = append(s.touched, id)
}

func (s *Store) writable(id uint64) (*row, error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	r, _ := s.row(id)
	if r == nil {
		return nil, fmt.Errorf("request %d: %w", id, ErrDropped)
	}
	return r, nil
}

// Comments returns the comments on a request, oldest first.
func (s *Store) Comments(id uint64) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.comments[id])
}

// AddEvent notes something that happened beside the requests. In a recording it
// does nothing.
func (s *Store) AddEvent(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readOnly {
		return
	}
	if s.opts.RedactText != nil {
		text, _ = s.opts.RedactText(text)
	}
	e := Event{At: s.opts.Now(), Text: text}
	s.setEvent(e)
	s.jot(appendEvent(nil, e))
}

func (s *Store) setEvent(e Event) {
	if len(s.events) >= maxEvents {
		s.events = slices.Delete(s.events, 0, 1)
	}
	s.events = append(s.events, e)
}

// Events returns the newest thousand events, oldest first.
func (s *Store) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// jot queues a line for the writer.
func (s *Store) jot(line []byte) {
	if s.file.f != nil && !s.closed {
		s.file.lines = append(s.file.lines, line)
		signal(s.wake)
	}
	s.notify()
}
