package indirector_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// reader answers with the setting that it read when it was made.
type reader struct {
	*fake
	value string
	hold  chan struct{}
}

func (r *reader) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	if r.hold != nil && req.Key == "slow" {
		r.hold <- struct{}{}
		<-r.hold
	}
	if inst, err := r.fake.Find(ctx, req); inst != nil || err != nil && !errors.Is(err, indirector.ErrNotFound) {
		return inst, err
	}
	return widget{name: req.Key, origin: r.value}, nil
}

func TestReconfigure(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	made := 0
	h := newFixture(t, func(cfg *indirector.Config, termini *[]indirector.Descriptor) {
		cfg.Settings = settings{"colour": "red", "runinterval": "30m"}
		*termini = append(*termini, indirector.Descriptor{
			Indirection: "node", Name: "reader", Type: (*reader)(nil), Settings: []indirector.Setting{{Name: "colour"}},
			New: func(env indirector.Env) (indirector.Terminus, error) {
				made++
				value, _ := env.Settings.Get("colour")
				env.Shared("paint", func(before any) any { return fmt.Sprint(value, " after ", before) })
				return &reader{newFake(), value, hold}, nil
			},
		})
	})
	h.assign(t, "node", indirector.SlotTerminus, "reader")
	origin := func(key string) string {
		t.Helper()
		resp, err := h.find(t, "node", key)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Value.(widget).origin
	}
	reconfigure := func(next settings, names ...string) {
		h.Reconfigure(indirector.Surroundings{Settings: next}, h.Routes(), func(name string) bool {
			for _, n := range names {
				if n == name {
					return true
				}
			}
			return false
		}, ":set")
	}
	if got := origin("a"); got != "red" || made != 1 {
		t.Fatalf("got %s, made %d times", got, made)
	}

	// What is on its way ends with what it began with.
	slow := make(chan string)
	go func() {
		resp, err := h.Do(context.Background(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "slow"})
		if err != nil {
			slow <- err.Error()
			return
		}
		slow <- resp.Value.(widget).origin + " " + time.Until(resp.Value.(widget).at).Round(time.Minute).String()
	}()
	<-hold
	reconfigure(settings{"colour": "blue", "runinterval": "1h"}, "colour", "runinterval")
	if got := h.Shared(); len(got) != 1 || got[0] != "red after <nil>" {
		t.Errorf("shared is %v, want what it was until it is made anew", got)
	}
	if got := origin("a"); got != "blue" || made != 2 {
		t.Errorf("got %s, made %d times, want a new terminus", got, made)
	}
	if got := h.Shared(); len(got) != 1 || got[0] != "blue after red after <nil>" {
		t.Errorf("shared is %v, want what was made of what it was", got)
	}
	if got := h.TTL("node"); got != time.Hour {
		t.Errorf("time to live %v, want that of the new settings", got)
	}
	hold <- struct{}{}
	if got := <-slow; got != "red 30m0s" {
		t.Errorf("the request on its way: got %s, want what it began with", got)
	}

	// What does not read what has changed stays, with all that it keeps.
	reconfigure(settings{"colour": "blue", "runinterval": "2h"}, "runinterval")
	if got := origin("a"); got != "blue" || made != 2 {
		t.Errorf("got %s, made %d times, want the terminus that was there", got, made)
	}

	// A wrapper goes on counting.
	h.assign(t, "node", indirector.SlotTerminus, "fault(reader, 503, once)")
	if _, err := h.find(t, "node", "a"); err == nil {
		t.Error("no fault")
	}
	reconfigure(settings{"colour": "green"}, "colour")
	if got := origin("a"); got != "green" {
		t.Errorf("got %s", got)
	}
}

func TestRebase(t *testing.T) {
	t.Parallel()
	setting := func(name string) traces.Choice {
		return traces.Choice{Terminus: name, Kind: traces.FromSetting, Setting: "s", Source: name}
	}
	you := traces.Choice{Terminus: "mine", Kind: traces.FromYou}
	app := traces.Choice{Terminus: "app", Kind: traces.FromApplication}
	route := func(s ...traces.Choice) indirector.Routes { return indirector.Routes{"node": {Primary: s}} }
	for _, tt := range []struct {
		name           string
		now, old, next indirector.Routes
		want           traces.Slot
	}{
		{"untouched", route(setting("a")), route(setting("a")), route(setting("b")), traces.Slot{setting("b")}},
		{"chosen", route(you, setting("a")), route(setting("a")), route(setting("b")), traces.Slot{you, setting("b")}},
		{"stronger", route(you, app, setting("a")), route(setting("a")), route(setting("b")), traces.Slot{you, app, setting("b")}},
		{"taken away", route(setting("a")), route(app, setting("a")), route(app, setting("b")), traces.Slot{setting("b")}},
	} {
		got := indirector.Rebase(tt.now, tt.old, tt.next)["node"].Primary
		if len(got) != len(tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
			}
		}
	}
}

// softly fails to save, and is a Softener or not.
type softly struct {
	*fake
	soft string
}

func (s softly) Soft() string { return s.soft }

func TestSoftFailure(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		soft string
		fail bool
		out  traces.Outcome
		why  traces.Reason
	}{
		{"", true, traces.Err, traces.TerminusRaised},
		{"soft_write_failure", true, traces.ErrHidden, traces.SoftFailed},
		{"soft_write_failure", false, traces.Good, traces.StoreWritten},
	} {
		f := softly{newFake(), tt.soft}
		if tt.fail {
			f.fail[indirector.Save] = errors.New("connection refused")
		}
		h := newFixture(t, func(_ *indirector.Config, termini *[]indirector.Descriptor) {
			*termini = append(*termini, indirector.Descriptor{
				Indirection: "report", Name: "softly", Type: f,
				New: func(indirector.Env) (indirector.Terminus, error) { return f, nil },
			})
		})
		h.assign(t, "report", indirector.SlotTerminus, "softly")
		err := h.save(t, "report", "a")
		tr := h.keep.Last()
		if q := tr.Steps[traces.Terminus]; tr.Outcome != tt.out || q.Because.Reason != tt.why || (err != nil) != (tt.out == traces.Err) {
			t.Errorf("soft %q: got %v, %v, %v; want %v, %v", tt.soft, err, tr.Outcome, q, tt.out, tt.why)
		}
	}
}
