package terminustest

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// A Script is a terminus that follows a script. It has all verbs, and is safe for
// concurrent use.
//
// Each line is for one verb and one key, or with a star for all keys that have
// no line of their own:
//
//	find web01 → wait 200ms, then fail: disk full
//	find *     → found
//	search *   → nil
//	save db01  → panic: out of cheese
//
// What can follow the arrow, joined by ", then": wait <duration>, found (the
// instance of that key), a number or true or false or nil as the answer, fail:
// <message of a Puppet::Error>, raise <class>: <message>, panic: <words>. Several
// lines for the same verb and key are used in turn; the last is repeated.
type Script struct {
	instances map[string]indirector.Instance
	wait      func(context.Context, time.Duration) error

	mu    sync.Mutex // guards the fields below
	lines []line
	calls []string
}

type line struct {
	verb  indirector.Verb
	key   string
	steps []string
	used  bool
}

var (
	_ indirector.Finder    = (*Script)(nil)
	_ indirector.Searcher  = (*Script)(nil)
	_ indirector.Header    = (*Script)(nil)
	_ indirector.Saver     = (*Script)(nil)
	_ indirector.Destroyer = (*Script)(nil)
)

// NewScript reads a script. Instances are the answers of "found", by key. A
// line that is not understood fails the test.
func NewScript(t testing.TB, script string, instances map[string]indirector.Instance) *Script {
	t.Helper()
	s := &Script{instances: instances, wait: wait}
	lines := bufio.NewScanner(strings.NewReader(script))
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		l, err := parseLine(text)
		if err != nil {
			t.Fatalf("script line %q: %v", text, err)
		}
		s.lines = append(s.lines, l)
	}
	return s
}

func parseLine(text string) (line, error) {
	left, right, ok := strings.Cut(text, "→")
	words := strings.Fields(left)
	if !ok || len(words) != 2 {
		return line{}, fmt.Errorf("want: verb key → what it does")
	}
	l := line{verb: traces.ParseVerb(words[0]), key: words[1]}
	if l.verb == traces.NoVerb {
		return l, fmt.Errorf("no such verb: %s", words[0])
	}
	for step := range strings.SplitSeq(right, ", then ") {
		step = strings.TrimSpace(step)
		if err := checkStep(step); err != nil {
			return l, err
		}
		l.steps = append(l.steps, step)
	}
	return l, nil
}

func checkStep(step string) error {
	word, rest, _ := strings.Cut(step, " ")
	switch word {
	case "wait":
		_, err := time.ParseDuration(rest)
		return err
	case "raise":
		if !strings.Contains(rest, ": ") {
			return fmt.Errorf("want: raise Class: message")
		}
		return nil
	case "found", "nil", "true", "false", "0", "1", "fail:", "panic:":
		return nil
	}
	return fmt.Errorf("it cannot %q", step)
}

// Descriptor describes the script as a terminus.
func (s *Script) Descriptor(indirection, name string) indirector.Descriptor {
	return indirector.Descriptor{
		Indirection: indirection, Name: name, Doc: "Does what a test says.", KeepsExpiry: true,
		Type: (*Script)(nil),
		New:  func(indirector.Env) (indirector.Terminus, error) { return s, nil },
	}
}

// Calls returns the calls so far, as "find web01".
func (s *Script) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// next returns the steps of a call.
func (s *Script) next(verb indirector.Verb, key string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, verb.String()+" "+key)
	if !slices.ContainsFunc(s.lines, func(l line) bool { return l.verb == verb && l.key == key }) {
		key = "*"
	}
	var last []string
	for i := range s.lines {
		l := &s.lines[i]
		if l.verb != verb || l.key != key {
			continue
		}
		last = l.steps
		if !l.used {
			l.used = true
			break
		}
	}
	return last
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// answer plays the steps. Without any it is nil.
func (s *Script) answer(ctx context.Context, verb indirector.Verb, key string) (any, error) {
	for _, step := range s.next(verb, key) {
		word, rest, _ := strings.Cut(step, " ")
		switch word {
		case "wait":
			d, _ := time.ParseDuration(rest)
			if err := s.wait(ctx, d); err != nil {
				return nil, err
			}
		case "found":
			if inst := s.instances[key]; inst != nil {
				return inst, nil
			}
			return nil, indirector.NotFound(traces.NotFound, "script")
		case "true":
			return true, nil
		case "false":
			return false, nil
		case "0":
			return 0, nil
		case "1":
			return 1, nil
		case "fail:":
			return nil, &indirector.Failure{Message: rest}
		case "raise":
			class, message, _ := strings.Cut(rest, ": ")
			return nil, &indirector.Failure{Class: class, Message: message}
		case "panic:":
			panic(rest)
		}
	}
	return nil, nil
}

func (s *Script) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	v, err := s.answer(ctx, indirector.Find, req.Key)
	switch v := v.(type) {
	case indirector.Instance:
		return v, err
	case bool:
		return indirector.False, err
	}
	if err == nil {
		err = indirector.NotFound(traces.ReturnedNil, "script")
	}
	return nil, err
}

func (s *Script) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	v, err := s.answer(ctx, indirector.Search, req.Key)
	switch v := v.(type) {
	case indirector.Instance:
		return []indirector.Instance{v}, err
	case bool, int:
		return nil, indirector.ErrNotArray
	}
	if err == nil {
		err = indirector.NotFound(traces.ReturnedNil, "script")
	}
	return nil, err
}

func (s *Script) Head(ctx context.Context, req *indirector.Request) (bool, error) {
	v, err := s.answer(ctx, indirector.Head, req.Key)
	return v != nil && v != false, err
}

func (s *Script) Save(ctx context.Context, req *indirector.Request) (any, error) {
	return s.answer(ctx, indirector.Save, req.Key)
}

func (s *Script) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	return s.answer(ctx, indirector.Destroy, req.Key)
}
