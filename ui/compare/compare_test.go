package compare_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/compare"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// answers is a log of requests for one key that were answered with these bodies.
func answers(t *testing.T, bodies ...string) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Render: func(model string, v any) traces.Value {
		b := v.(uitest.Instance)
		return traces.Value{Model: model, Format: "json", Size: len(b), Body: []byte(b)}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, body := range bodies {
		tr := &traces.Trace{
			Verb: traces.Find, Indirection: "facts", Key: "web01", Start: uitest.Began, Outcome: traces.Good, Served: traces.ByTerminus,
			Primary: traces.Slot{{Terminus: "yaml", Kind: traces.FromSetting, Source: "puppet.conf:3"}},
		}
		tr.ID = s.Begin(tr)
		s.End(tr, uitest.Instance(body))
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

// two compares the first two requests of a log.
func two(t *testing.T, log *store.Store) *uitest.Player {
	t.Helper()
	var env *session.Env
	p := uitest.New(t, ui.Config{Log: log, Save: func(name, _ string) (string, int, error) { return name, 0, nil }, Places: func(e *session.Env) []ui.Place {
		env = e
		return nil
	}}, 80, 24)
	if cmd := compare.Two(env, 1, 2); cmd != nil {
		p.Send(cmd())
	}
	return p
}

// keys are all that do something here.
var keys = strings.Fields("] [ j k G g l h enter esc s s u u = = tab tab tab tab shift+tab I z ctrl+d ctrl+u pgdown pgup / a enter n N esc y esc w esc ? esc")

func TestEqual(t *testing.T) {
	t.Parallel()
	p := two(t, answers(t, `{"a":1,"b":[1,2]}`, `{"a":1,"b":[1,2]}`))
	p.Want("Compare  #1 : #2").Try(keys...)
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	p := two(t, answers(t, `{"a":1,"b":[1,2],"only":"here"}`, `{"a":2,"b":[1,3],"there":true}`))
	p.Want("Compare  #1 : #2", "provenance A:", "puppet.conf:3")
	p.Want("a", "only", "there")
	p.Keys("I").Want("ignored 1 rule").Keys("z").Not("ignored 1 rule")
	p.Keys("s").Want("Compare  #2 : #1").Keys("s").Want("Compare  #1 : #2")
	p.Keys("=").Keys("u").Exact()
	for _, name := range []string{"STEP", "", ""} {
		p.Keys("tab").Want(name).Exact()
	}
	p.Try(keys...)
}

// A side without a value, one that is no JSON, one that is not there.
func TestNothingToCompare(t *testing.T) {
	t.Parallel()
	for _, bodies := range [][]string{{"", ""}, {"{", "}"}, {"null", "[]"}, {`""`, `{}`}, {"\xff\xfe", `"x"`}} {
		two(t, answers(t, bodies...)).Try(keys...)
	}
	p := two(t, answers(t, `{}`))
	p.Want("#2").Exact() // and shows it
}

func TestThousandsOfDifferences(t *testing.T) {
	t.Parallel()
	var a, b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&a, `,"key%04d":%d`, i, i)
		fmt.Fprintf(&b, `,"key%04d":%d`, i, i+i%2)
	}
	p := two(t, answers(t, "{"+a.String()[1:]+"}", "{"+b.String()[1:]+"}"))
	p.Want("key0001").Keys("G").Want("key1999").Keys("g", "]", "]").Exact()
	p.Try("G", "[", "u", "=", "g", "tab", "shift+tab")
}

func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	long := `{"line":"` + strings.Repeat(`\u001b[31mred\u202e`, 1<<14) + `"}`
	two(t, answers(t, long, strings.Replace(long, "red", "dead", 3))).Try(keys...)
	deep := strings.Repeat(`[`, 2000) + strings.Repeat(`]`, 2000)
	two(t, answers(t, deep, strings.Repeat(`{"a":`, 2000)+"1"+strings.Repeat(`}`, 2000))).Try(keys...)
	for seed := range uint64(6) {
		two(t, uitest.HostileLog(t, rand.New(rand.NewPCG(seed, 6)), 2)).Try(keys...)
	}
}

func TestRunsTakeLong(t *testing.T) {
	t.Parallel()
	clock := uitest.NewClock()
	env := &session.Env{Shared: clock.Shared()}
	both := compare.Sets(t.Context(), env, diff.Set{}, diff.Set{}, false)().(tea.BatchMsg)
	r := both[0]().(screen.Push).Screen
	r.Resize(80, 20)
	clock.Pass(2 * time.Second)
	if got := r.View().Text(); !strings.Contains(got, "reading both sides  2.0 s  ctrl+c stops it") {
		t.Error(got)
	}
}

// A log that a comparison waits for until it is let go.
type heldLog struct {
	session.Log
	reads, goOn chan struct{}
}

func (l heldLog) Row(id uint64) (session.Row, bool) {
	if id == 2 {
		l.reads <- struct{}{}
		<-l.goOn
	}
	return l.Log.Row(id)
}

// A comparison that takes long shows how much of it is done, and is stopped by a
// key; another one begins anew.
func TestRunsAreStopped(t *testing.T) {
	t.Parallel()
	clock := uitest.NewClock()
	log := heldLog{uitest.Site(t), make(chan struct{}), make(chan struct{})}
	env := &session.Env{Shared: clock.Shared(), Log: log}
	set := diff.Set{Log: log, Name: "now", IDs: []uint64{1, 3, 2, 4, 5}}
	both := compare.Sets(t.Context(), env, set, diff.Set{Log: log.Log, Name: "then", IDs: []uint64{1}}, false)().(tea.BatchMsg)
	r := screen.AbilitiesOf(both[0]().(screen.Push).Screen)
	r.Resize(80, 20)
	begin := both[1]().(tea.BatchMsg)
	ended := make(chan tea.Msg)
	go func() { ended <- begin[1]().(screen.Background).Cmd() }()
	<-log.reads
	clock.Pass(2 * time.Second)
	if got := r.View().Text(); !strings.Contains(got, "======---------- 40%  reading both sides  2.0 s  ctrl+c stops it") {
		t.Errorf("while it goes on: %q", got)
	}
	if why := r.Disabled(screen.Stop); why != "" {
		t.Fatalf("it cannot be stopped: %s", why)
	}
	r.Handle(screen.Command{Action: screen.Stop})
	close(log.goOn)
	r.Update((<-ended).(screen.For).Msg)
	if got := r.View().Text(); !strings.Contains(got, "stopped by you") {
		t.Errorf("when it was stopped: %q", got)
	}
	if r.Disabled(screen.Stop) != screen.Unknown {
		t.Error("what was stopped can be stopped again")
	}
}
