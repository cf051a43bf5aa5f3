// Package stores has what is known of the stores that an engine sends commands to:
// PuppetDB, a store in SQL, PuppetDB behind a proxy. It is known from what was asked
// here; nothing is asked for it.
//
//	puppetdb: queued 10:42:07, 3 waiting
//	sqlite: stored 10:42:09, 1 refused
package stores

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// A Store reports its State, without waiting. It is safe for concurrent use.
type Store interface{ State() State }

// A Kind is what became of a command.
type Kind uint8

// The kinds.
const (
	Queued  Kind = iota // it was taken, to be stored later
	Stored              // it is there, as far as is known
	Refused             // its data cannot be stored
	Failed              // the store could not be asked, or failed
	kinds
)

var words = [kinds]string{"queued", "stored", "refused", "failed"}

// A State is what is known of a store. The zero State is that of one which was sent
// nothing.
type State struct {
	Name    string // "puppetdb", "sqlite"
	Last    [kinds]Event
	Failing bool      // the last attempt to ask it failed
	Waiting int64     // commands in its queue when it was last asked
	Asked   time.Time // when that was; zero if it never was
	Dropped []string  // URLs that get no commands any more, sorted; without passwords
}

// An Event is the last of its kind, and how many there were.
type Event struct {
	At    time.Time // zero if there was none
	What  string    // "replace facts of web01 at pdb1:8081", or why it failed
	Count int
}

// Newest returns when something last became of a command; zero if nothing did.
func (s *State) Newest() (at time.Time) {
	for _, e := range s.Last {
		if e.At.After(at) {
			at = e.At
		}
	}
	return at
}

// Line returns the state in a few words with times of a zone, and whether all is well;
// what is wrong stands alone. It is "" if there is nothing to report.
func (s *State) Line(zone *time.Location) (text string, well bool) {
	at := func(k Kind) string { return words[k] + " " + s.Last[k].At.In(zone).Format(time.TimeOnly) }
	queued, stored, refused := s.Last[Queued].At, s.Last[Stored].At, s.Last[Refused].At
	var bad, good []string
	if n := len(s.Dropped); n > 0 {
		bad = append(bad, fmt.Sprintf("%d submit-only dropped, :stores retry", n))
	}
	switch {
	case s.Failing:
		bad = append(bad, at(Failed))
	case refused.After(queued) && refused.After(stored):
		bad = append(bad, at(Refused))
	}
	switch {
	case !stored.IsZero() && !queued.After(stored):
		good = append(good, at(Stored))
	case !queued.IsZero():
		good = append(good, at(Queued))
	}
	if !s.Asked.IsZero() && !s.Asked.Before(stored) {
		good = append(good, fmt.Sprintf("%d waiting", s.Waiting))
	}
	for _, k := range []Kind{Refused, Failed} {
		if n := s.Last[k].Count; n > 0 {
			good = append(good, fmt.Sprintf("%d %s", n, words[k]))
		}
	}
	parts := good
	if len(bad) > 0 {
		parts = bad
	}
	if len(parts) == 0 {
		return "", true
	}
	return s.Name + ": " + strings.Join(parts, ", "), len(bad) == 0
}

// Lines returns all of the state, a line for each thing, with times of a zone. There are
// none if there is nothing to report.
func (s *State) Lines(zone *time.Location) (lines []string) {
	add := func(what string, at time.Time, more string) {
		if !at.IsZero() {
			lines = append(lines, fmt.Sprintf("%s: %s %s%s", s.Name, what, at.In(zone).Format(time.TimeOnly), more))
		}
	}
	for k, e := range s.Last {
		more := ", " + e.What
		if e.Count > 1 {
			more += fmt.Sprintf("; %d in all", e.Count)
		}
		add(words[k], e.At, more)
	}
	add(fmt.Sprintf("%d waiting", s.Waiting), s.Asked, "")
	for _, u := range s.Dropped {
		lines = append(lines, s.Name+": "+u+" did not answer twice in a row, and gets no commands; :stores retry brings it back")
	}
	return lines
}

// A Log keeps a State, but for what is dropped. It is safe for concurrent use.
type Log struct {
	mu    sync.Mutex // guards state
	state State
}

// NewLog returns the Log of a store.
func NewLog(name string) *Log { return &Log{state: State{Name: name}} }

// State implements Store.
func (l *Log) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Add adds what became of a command, or, as Failed, of another attempt to ask the store.
func (l *Log) Add(k Kind, at time.Time, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Last[k] = Event{At: at, What: what, Count: l.state.Last[k].Count + 1}
	l.state.Failing = k == Failed
}

// Reached takes note that the store answers, if it did not before.
func (l *Log) Reached() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Failing = false
}

// Waits takes note of how many commands waited in the queue of the store.
func (l *Log) Waits(n int64, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Waiting, l.state.Asked = n, at
}
