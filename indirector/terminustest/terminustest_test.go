package terminustest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/terminustest"
	"indirtui/traces"
)

// A store is a terminus that does everything right, except fault.
type store struct {
	fault string
	dir   string

	mu   sync.Mutex
	kept map[string]indirector.Instance
}

func (s *store) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inst := s.kept[req.Key]
	switch {
	case inst == nil && s.fault == "nil for not found":
		return nil, nil
	case inst == nil:
		return nil, indirector.NotFound(traces.NotFound, "")
	case s.fault == "another name":
		return indirector.Name("other"), nil
	case s.fault == "cancelled" && ctx.Err() != nil:
		return nil, errors.New("I was interrupted")
	}
	return inst, nil
}

func (s *store) Search(context.Context, *indirector.Request) ([]indirector.Instance, error) {
	if s.fault == "nil list" {
		return nil, nil
	}
	return []indirector.Instance{}, nil
}

func (s *store) Save(_ context.Context, req *indirector.Request) (any, error) {
	if s.fault == "writes outside" && req.Key == "../x" {
		return nil, os.WriteFile(filepath.Join(s.dir, "..", "y"), nil, 0o666)
	}
	if s.fault == "leaves a goroutine" {
		go func() { select {} }()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[req.Key] = req.Instance
	return nil, nil
}

func (s *store) Destroy(_ context.Context, req *indirector.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.kept[req.Key]; !ok {
		return nil, nil
	}
	if s.fault != "keeps what is destroyed" {
		delete(s.kept, req.Key)
	}
	return 1, nil
}

var faults = map[string]string{ // and what the suite reports
	"":                        "",
	"nil for not found":       "want ErrNotFound",
	"another name":            `got the name "other", want "web01"`,
	"cancelled":               "want an answer or context.Canceled",
	"nil list":                "want an empty list that is not nil",
	"writes outside":          "files outside of its directory",
	"leaves a goroutine":      "goroutines are left",
	"keeps what is destroyed": "after destroy",
	"secret setting":          "it reads the setting secret, which its descriptor does not describe",
	"another type":            "Type says *terminustest_test.store",
	"no words":                "the descriptor has no Doc",
}

func descriptor(fault string) indirector.Descriptor {
	d := indirector.Descriptor{
		Indirection: "facts", Name: "store", Doc: "Keeps facts.", ProcessLocal: true,
		Settings: []indirector.Setting{{Name: "dir", Doc: "Where."}}, Type: (*store)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			s := &store{fault: fault, kept: map[string]indirector.Instance{}}
			s.dir, _ = env.Settings.Get("dir")
			if fault == "secret setting" {
				env.Settings.Get("secret")
			}
			if fault == "another type" {
				return struct{ *store }{s}, nil
			}
			return s, nil
		},
	}
	if fault == "no words" {
		d.Doc = ""
	}
	return d
}

const victim = "INDIRTUI_TEST_FAULT"

// TestRun is the suite on the terminus that the environment asks for; without,
// on one that has no fault.
func TestRun(t *testing.T) {
	patience := time.Duration(0)
	if os.Getenv(victim) != "" {
		patience = time.Nanosecond // a fault is there to stay
	}
	terminustest.Run(t, descriptor(os.Getenv(victim)), terminustest.Options{
		Patience: patience,
		Seed:     map[string]indirector.Instance{"web01": indirector.Name("web01")},
		Settings: func(dir string) map[string]string { return map[string]string{"dir": dir} },
	})
}

// TestFaults runs the suite in another process on each faulty terminus.
func TestFaults(t *testing.T) {
	t.Parallel()
	for fault, want := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRun$")
			c.Env = append(os.Environ(), victim+"="+fault)
			out, err := c.CombinedOutput()
			if failed := err != nil; failed != (want != "") || !strings.Contains(string(out), want) {
				t.Errorf("the suite ended with %v and should say %q:\n%s", err, want, out)
			}
		})
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	s := terminustest.NewScript(t, `
		find web01 → found
		find db01  → fail: disk full
		find db01  → wait 1ns, then found
		find *     → nil
		search *   → false
		head web01 → true
		save *     → raise ArgumentError: no: never
		destroy *  → 1
	`, map[string]indirector.Instance{"web01": indirector.Name("web01"), "db01": indirector.Name("db01")})
	can := indirector.VerbsOf(s)
	var got []string
	for _, call := range []string{"find web01", "find db01", "find db01", "find db01", "find x", "search x", "head web01", "head x", "save x", "destroy x"} {
		verb, key, _ := strings.Cut(call, " ")
		v, err := can[traces.ParseVerb(verb)](t.Context(), &indirector.Request{Key: key})
		got = append(got, fmt.Sprint(v, " ", err))
	}
	want := []string{
		"web01 <nil>", "<nil> disk full", "db01 <nil>", "db01 <nil>", "<nil> not found: nil(script)",
		"[] search results are not an array", "true <nil>", "false <nil>", "<nil> no: never", "1 <nil>",
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if calls := s.Calls(); len(calls) != 10 || calls[1] != "find db01" {
		t.Errorf("calls: %q", calls)
	}
}

func TestScriptWaits(t *testing.T) {
	t.Parallel()
	s := terminustest.NewScript(t, "find * → wait 1h, then found", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Find(ctx, &indirector.Request{Key: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// Example_script asks a scripted terminus.
func Example_script() {
	script := terminustest.NewScript(new(testing.T), "find web01 → fail: disk full", nil)
	registry, err := indirector.NewRegistry(
		[]indirector.Spec{{Name: "facts", Class: "Puppet::Node::Facts", Default: "script"}},
		[]indirector.Descriptor{script.Descriptor("facts", "script")})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := indirector.New(indirector.Config{Registry: registry, Routes: indirector.Routes{
		"facts": {Primary: traces.Slot{{Terminus: "script", Kind: traces.FromDeclaration}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = x.Do(context.Background(), &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "web01"})
	fmt.Println(err)
	fmt.Println(script.Calls())
	// Output:
	// find facts "web01": terminus script: disk full
	// [find web01]
}
