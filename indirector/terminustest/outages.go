package terminustest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// An Outage is a server behind a terminus that is stopped and started.
type Outage struct {
	Settings indirector.Settings
	Key      string                          // of an instance that is there
	Down, Up func()                          // stop it and start it; Up returns when it answers
	Known    func(indirector.Instance) error // whether the instance is the one that is there
	Failed   func(message string) bool       // whether a message is that of an outage
	For      time.Duration                   // how long it goes on; it is stopped once at least
}

// How many ask at once, and how many answers are awaited of either kind.
const (
	askers  = 8
	answers = 100
)

// Outages asks a terminus for an instance, by eight at once, while its server is stopped
// and started. Every request must end with the instance or with the error of an outage,
// and so must its trace; and no connection may be left. That no goroutine is, leaktest
// checks.
func Outages(t *testing.T, d indirector.Descriptor, o Outage) {
	t.Helper()
	before := sockets(t)
	rec := new(Recorder)
	x := o.engine(t, d, rec)
	ctx, cancel := context.WithCancel(t.Context())
	came := make(chan bool) // whether there was an answer
	var all sync.WaitGroup
	for range askers {
		all.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				select {
				case came <- o.ask(t, x, d.Indirection):
				case <-ctx.Done():
				}
			}
		})
	}
	done := make(chan struct{}) // nothing is asked any more
	go func() {
		all.Wait()
		close(done)
	}()
	good, bad := 0, 0
	await := func(want bool) {
		late := time.NewTimer(time.Minute)
		defer late.Stop()
		for n := 0; n < answers; {
			select {
			case got := <-came:
				if got {
					good++
				} else {
					bad++
				}
				if got == want {
					n++
				}
			case <-done:
				return
			case <-late.C:
				t.Errorf("there were %d answers of %d within a minute; answered: %v", n, answers, want)
				return
			}
		}
	}
	for begin := time.Now(); ; {
		await(true)
		o.Down()
		await(false)
		o.Up()
		if time.Since(begin) >= o.For || t.Failed() {
			break
		}
	}
	await(true)
	cancel()
	<-done
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d answers, %d outages", good, bad)
	settled(t, rec, d.Indirection, before)
}

// engine returns an indirector with the terminus, and one that has no facts.
func (o *Outage) engine(t *testing.T, d indirector.Descriptor, rec *Recorder) *indirector.Indirector {
	t.Helper()
	facts := indirector.Descriptor{
		Indirection: "facts", Name: "none", Doc: "Has no facts of nodes.", Type: (*Script)(nil),
		New: func(indirector.Env) (indirector.Terminus, error) { return NewScript(t, "find * → nil", nil), nil },
	}
	var specs []indirector.Spec
	routes := indirector.Routes{}
	for _, d := range []indirector.Descriptor{d, facts} {
		specs = append(specs, indirector.Spec{Name: d.Indirection, Class: "Puppet::" + indirector.Constant(d.Indirection), Default: d.Name})
		routes[d.Indirection] = indirector.Route{Primary: traces.Slot{{Terminus: d.Name, Kind: traces.FromRoutesFile}}}
	}
	registry, err := indirector.NewRegistry(specs, []indirector.Descriptor{d, facts})
	if err != nil {
		t.Fatal(err)
	}
	x, err := indirector.New(indirector.Config{Registry: registry, Routes: routes, Settings: o.Settings, Recorder: rec, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// settled checks that each trace has ended, with an answer or an error, and that no more
// sockets are open than before.
func settled(t *testing.T, rec *Recorder, indirection string, before int) {
	t.Helper()
	for _, tr := range rec.All() {
		if tr.Indirection == indirection && (tr.Outcome != traces.Good && tr.Outcome != traces.Err || tr.Took <= 0) {
			t.Errorf("a trace has the outcome %s after %s: %s", tr.Outcome, tr.Took, traces.Story(tr))
		}
	}
	for late := time.Now().Add(10 * time.Second); sockets(t) > before; {
		if time.Now().After(late) {
			t.Errorf("%d sockets are open, %d before", sockets(t), before)
			break
		}
	}
}

// ask asks once, and reports whether there was an answer.
func (o *Outage) ask(t *testing.T, x *indirector.Indirector, indirection string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	resp, err := x.Do(ctx, &indirector.Request{Indirection: indirection, Verb: indirector.Find, Key: o.Key, Environment: "production"})
	switch {
	case err == nil:
		if err := o.Known(resp.Instance()); err != nil {
			t.Error(err)
		}
		return true
	case ctx.Err() != nil:
		t.Errorf("a request does not end: %v", err)
	case errors.Is(err, indirector.ErrNotFound):
		t.Errorf("an outage became an unknown %s: %v", indirection, err)
	case !o.Failed(indirector.Message(err)):
		t.Errorf("an outage is reported as %q", indirector.Message(err))
	}
	return false
}

// sockets is how many this process has open; 0 where that cannot be known.
func sockets(t *testing.T) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Logf("open connections are not counted: %v", err)
		return 0
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
