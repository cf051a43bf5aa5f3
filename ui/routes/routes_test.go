package routes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	routetable "indirtui/indirector/routes"
	"indirtui/indirector/settings"
	"indirtui/indirector/terminustest"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/console"
	"indirtui/ui/help"
	"indirtui/ui/routes"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

var noon = time.Date(2025, 11, 20, 14, 1, 50, 0, time.UTC)

const routesYAML = `---
master:
  facts:
    terminus: yaml
agent:
  node:
    terminus: exec
`

// site is an engine over a directory, the log that it writes to, and what is to be
// known of it. The exec terminus is a script.
func site(t *testing.T) (*uitest.Engine, *store.Store, routes.About) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "routes.yaml"), []byte(routesYAML), 0o644); err != nil {
		t.Fatal(err)
	}
	app, _ := routetable.Find("agent")
	set, err := settings.Load(app.Options(settings.Options{ConfDir: dir, VarDir: filepath.Join(dir, "var")}, ""))
	if err != nil {
		t.Fatal(err)
	}
	web := &model.Node{Name: "web01.example.com", Environment: "production", Classes: data.OfStrings([]string{"app"})}
	enc := terminustest.NewScript(t, "find web01.example.com → found\nfind * → nil\nsearch * → found", map[string]indirector.Instance{"web01.example.com": web})
	var descriptors []indirector.Descriptor
	for _, d := range termini.All() {
		switch {
		case d.Indirection == "node" && d.Name == "exec":
			d = enc.Descriptor("node", "exec")
			d.Doc, d.KeepsExpiry = "Asks a command about each node.", false
		case d.Name == "facter" || d.Name == "puppetdb":
			continue
		}
		descriptors = append(descriptors, d)
	}
	reg, err := indirector.NewRegistry(termini.Specs(), descriptors)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := routetable.Load(routetable.Input{Registry: reg, Settings: set, Application: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	clock := noon
	now := func() time.Time { return clock }
	log, err := store.Open(store.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	x, err := indirector.New(indirector.Config{Registry: reg, Routes: loaded.Routes, Settings: set, Recorder: log, Now: now, Application: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	h := &uitest.Engine{Indirector: x, Start: loaded.Routes}
	about := routes.About{Source: "in process", Application: "agent", Environment: "production", Sections: loaded.Sections, Found: loaded.Found}
	for _, w := range loaded.Warnings {
		about.Problems = append(about.Problems, routes.Problem{Text: w.String()})
	}
	return h, log, about
}

// traffic asks what an agent might ask.
func traffic(t *testing.T, h *uitest.Engine) {
	t.Helper()
	for range 20 {
		for _, key := range []string{"web01.example.com", "db07.example.com"} {
			_, _ = h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: key, Caller: "agent"})
		}
	}
	for range 3 {
		_, _ = h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Search, Key: "*", Caller: "agent"})
	}
}

func play(t *testing.T, h *uitest.Engine, log *store.Store, about routes.About, width, height int) *uitest.Player {
	t.Helper()
	return uitest.New(t, ui.Config{
		Log: log, Routes: h, Now: func() time.Time { return noon },
		Commands: func(env *session.Env) session.Commander {
			return console.New(t.Context(), env, console.Options{Engine: h, Application: "agent"})
		},
		Places: func(env *session.Env) []ui.Place {
			r := routes.New(env, h, func() routes.About { return about })
			return []ui.Place{{Key: "3", Name: "Routes", Screen: r, Badge: r.Badge}}
		},
		Help:      func(env *session.Env, on screen.Screen) screen.Screen { return help.New(env, on) },
		Overrides: func() int { return len(h.Overrides()) },
	}, width, height)
}

func TestFrames(t *testing.T) {
	t.Parallel()
	uitest.Sizes(t, func(t *testing.T, name string, width, height int) {
		h, log, about := site(t)
		traffic(t, h)
		p := play(t, h, log, about, width, height)
		p.Keys("3").Golden("routes-" + name)
		p.Keys("j", "enter").Golden("swap-" + name)
		p.Keys("esc", "W")
		to(t, p, " yaml ")
		p.Keys("enter").Golden("whatif-" + name)
		p.Keys("enter").Golden("swapped-" + name)
		p.Keys("H").Golden("history-" + name)
	})
}

// Journey 5: my routes.yaml is ignored.
func TestJourneyIgnoredRoutes(t *testing.T) {
	t.Parallel()
	h, log, about := site(t)
	p := play(t, h, log, about, 80, 24).Keys("3")
	if got := p.Line("routes.yaml:4"); !strings.Contains(got, "x terminus yaml") || !strings.Contains(got, "routes.yaml:4, section master") || !strings.Contains(got, "not agent") {
		t.Errorf("got %q", got)
	}
	p.Keys("H").Want("routes.yaml:4", "application agent, setting", "section master NOT APPLIED (agent)")
	p.Keys("esc", "y", "r").Want("copied as routes.yaml section agent")
	if len(p.Copied) != 1 || !strings.HasPrefix(p.Copied[0], "agent:\n") || !strings.Contains(p.Copied[0], "terminus: exec") {
		t.Errorf("copied %q", p.Copied)
	}
}

// A ttl is chosen, seen with who chose it, and taken back, as a terminus is.
func TestTTL(t *testing.T) {
	t.Parallel()
	h, log, about := site(t)
	traffic(t, h)
	p := play(t, h, log, about, 140, 40).Keys("3", "j")
	chosen := func(want string) {
		t.Helper()
		if r, _ := h.Explain("node"); r.TTL.Winner().Terminus != want {
			t.Errorf("the ttl is %q, want %q", r.TTL.Winner().Terminus, want)
		}
	}
	p.Keys(":", "route node ttl=60", "enter").Want("did :route node ttl=60   z undo", "1 override", "ttl      60 s", "you, 14:", "command line", "you: ttl - -> 60 s")
	chosen("60")
	if got := p.Line(" node "); !strings.HasPrefix(got, "|>*") || !strings.Contains(got, "; ttl you, ") {
		t.Errorf("row of node: %q", got)
	}
	p.Keys(":", "find node web01.example.com", "enter").Want("#44 find node web01.example.com", "(sent by you)")
	p.Keys("H").Want("60 s   every source, strongest first").Keys("esc")
	p.Keys("z").Want("undone :route node ttl=60").Not("ttl      60 s", "1 override")
	chosen("")
	p.Keys("Z").Want("redone :route node ttl=60")
	chosen("60")
	p.Keys("u").Want("did :route reset node").Not("1 override")
	chosen("")
}

// Journey 6: swap a terminus, with what-if and undo.
func TestJourneySwap(t *testing.T) {
	t.Parallel()
	h, log, about := site(t)
	traffic(t, h)
	p := play(t, h, log, about, 80, 24).Keys("3", "j", "W")
	p.Want("what if node went to", "nothing is executed")
	to(t, p, " yaml ")
	p.Keys("enter").Want("would be answered", "nil", "nothing is executed", "20 lose their answer")
	p.Keys("enter").Want("did :route node terminus=yaml   z undo", "1 override", "3 Routes *1")
	if got := p.Line(" node "); !strings.HasPrefix(got, "|>*") || !strings.Contains(got, "(was exec)") {
		t.Errorf("row of node: %q", got)
	}
	p.Keys(":", "find node web01.example.com", "enter").Want("T yaml", "nil", "(sent by you)")
	p.Keys("z").Want("undone :route node terminus=yaml").Not("*1", "override ")
	p.Keys("Z").Want("redone :route node terminus=yaml", "*1")
	p.Keys("u").Want("did :route reset node").Not("*1")
	if got, _ := h.Explain("node"); got.Primary.Winner().Terminus != "exec" {
		t.Errorf("winner is %v, want exec", got.Primary.Winner())
	}
	p.Keys("u").Want("not now: node is as configured")
}

// Gap L1: every change is in the journal, and the history shows it.
func TestHistoryShowsTheJournal(t *testing.T) {
	t.Parallel()
	h, log, about := site(t)
	p := play(t, h, log, about, 140, 40).Keys("3", "j")
	p.Keys(":", "route node terminus=plain", "enter", "z").Want("changed here", "undo: terminus plain -> exec", "you: terminus exec -> plain")
	p.Keys(":", "route node cache=memory", "enter").Want("cache: you, 14:01:50, command line")
}

// A swap to a terminus that lacks a verb of the traffic asks first.
func TestSwapWarnsOfMissingVerbs(t *testing.T) {
	t.Parallel()
	h, log, about := site(t)
	traffic(t, h)
	// What a request names itself is no traffic of the route.
	for _, by := range []traces.SourceKind{traces.FromRequest, traces.FromApplication} {
		_, _ = h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Search, Key: "*", Terminus: "exec", By: by})
	}
	p := play(t, h, log, about, 80, 24).Keys("3", "j", "enter")
	to(t, p, "plain")
	p.Keys("enter").Want("plain has no search: 3 of the last 43 requests would fail")
	if got, _ := h.Explain("node"); got.Primary.Winner().Terminus != "exec" {
		t.Fatal("swapped without an answer")
	}
	p.Keys("w").Want("WHAT IF  node terminus=plain", "verb missing")
	p.Keys("esc", "enter")
	to(t, p, "plain")
	p.Keys("enter", "y").Want("did :route node terminus=plain")
}

func TestCacheCanBeOff(t *testing.T) {
	t.Parallel()
	h, log, about := site(t)
	p := play(t, h, log, about, 80, 24).Keys("3")
	to(t, p, "catalog")
	p.Keys("c").Want("swap the cache of catalog, now json")
	to(t, p, " off ")
	p.Keys("enter").Want("did :route catalog cache=off")
	if got, _ := h.Explain("catalog"); got.Cache.Winner().Terminus != indirector.Off {
		t.Errorf("cache is %q", got.Cache.Winner().Terminus)
	}
	to(t, p, "data_binding")
	p.Want("levels: global, environment, module")
}

// What is wrong with the configuration stands where it can be seen, with its
// place; what is about the indirection in focus first.
func TestProblems(t *testing.T) {
	t.Parallel()
	h, log, about := site(t)
	about.Problems = []routes.Problem{
		{Source: "puppet.conf:3", Text: "setting strct is unknown"},
		{Source: "routes.yaml:9", Text: "key 'ttl' of node is ignored"},
		{Fatal: true, Source: "routes.yaml:5", Text: "the section agent is a list"},
	}
	play(t, h, log, about, 80, 24).Keys("3", "j").Want("warning (1 of 3): Puppet stops here: routes.yaml:5: the section agent is a ")
	p := play(t, h, log, about, 140, 40).Keys("3", "j")
	frame := p.Frame()
	if a, b := strings.Index(frame, "routes.yaml:9: key"), strings.Index(frame, "puppet.conf:3: setting"); a < 0 || b < a {
		t.Errorf("the order is wrong:\n%s", frame)
	}
}

// One thing that is wrong stands in the border of the list, if it has room there;
// more of them stand below, and so does one that is too long.
func TestProblemInBorder(t *testing.T) {
	t.Parallel()
	one := routes.Problem{Source: "routes.yaml:9", Text: "no application is called 'agnet'"}
	for _, tt := range []struct {
		name     string
		problems []routes.Problem
		width    int
		border   bool
	}{
		{"one", []routes.Problem{one}, 140, true},
		{"narrow", []routes.Problem{one}, 80, false},
		{"two", []routes.Problem{one, {Text: "another"}}, 140, false},
		{"long", []routes.Problem{{Text: one.Text + strings.Repeat(" and more", 20)}}, 140, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, log, about := site(t)
			about.Problems = tt.problems
			p := play(t, h, log, about, tt.width, 40).Keys("3", "j")
			line := p.Line("no application is called")
			if got := strings.HasPrefix(line, "+- - not in this build -") && strings.Contains(line, "- ! routes.yaml:9: no app"); got != tt.border {
				t.Errorf("in the border: %v, want %v: %q", got, tt.border, line)
			}
			if n := strings.Count(p.Frame(), "no application is called"); n != 1 {
				t.Errorf("it is there %d times", n)
			}
		})
	}
}

// Where there is room a choice is one line, with where it was made; it has the
// marks of steps. Where there is none it is two.
func TestChoicesInOneLine(t *testing.T) {
	t.Parallel()
	for width, want := range map[int][]string{
		200: {"x terminus yaml          routes.yaml:4, section master", "not applied: not agent", "o terminus facter        application agent, setting facts_terminus"},
		140: {"x terminus yaml          routes.yaml:4, master      not agent", "o terminus facter        app agent, facts_terminus   in force"},
		80:  {"- terminus facter        setting facts_terminus, default        overruled", "- cache    store_configs storeconfigs is false"},
		60:  {"x terminus yaml                                not agent", "|   routes.yaml:4, section master  "},
	} {
		h, log, about := site(t)
		play(t, h, log, about, width, 40).Keys("3").Want(want...).Want("facts  history, strongest first")
	}
}

func TestRequestsServed(t *testing.T) {
	t.Parallel()
	h, log, about := site(t)
	traffic(t, h)
	play(t, h, log, about, 80, 24).Keys("3", "j", "x").Want("- Requests ", "ind=node terminus=exec", "43")
}

func TestRecordingCannotBeChanged(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 140} {
		log := uitest.Site(t)
		p := uitest.New(t, ui.Config{
			Log: log, Now: func() time.Time { return noon }, Replay: "incident",
			Places: func(env *session.Env) []ui.Place {
				return []ui.Place{{Key: "3", Name: "Routes", Screen: routes.New(env, nil, func() routes.About { return routes.About{} })}}
			},
			Help: func(env *session.Env, on screen.Screen) screen.Screen { return help.New(env, on) },
		}, width, 24).Keys("3")
		p.Want("catalog", "facts", "file_metadata", "cannot be changed here: recording")
		p.Keys("enter").Want("not now: cannot be changed here: recording")
		p.Keys("?", "pgdown").Want("swap: cannot be changed here: recording")
		p.Keys("esc", "H").Want("every source, strongest first")
	}
}

// hostile text, and every size: the frame is exact, and nothing reaches the
// terminal that it might obey.
func TestAnySize(t *testing.T) {
	t.Parallel()
	log, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	bad := "\x1b]52;c;!\a\u202e日本" + strings.Repeat("x", 300)
	slot := traces.Slot{{Terminus: bad, Kind: traces.FromRoutesFile, Source: bad, Why: bad, Note: bad}, {Terminus: bad, Kind: traces.FromYou, Source: bad, At: noon}}
	for _, ind := range []string{bad, "node", ""} {
		tr := &traces.Trace{Verb: traces.Find, Indirection: ind, Key: bad, Primary: slot, Cache: slot, Start: noon}
		tr.ID = log.Begin(tr)
		log.End(tr, nil)
	}
	h, live, about := site(t)
	about.Problems = []routes.Problem{{Fatal: true, Source: bad, Text: bad}}
	if err := h.Assign("node", indirector.SlotTerminus, traces.Choice{Terminus: "plain", Kind: traces.FromYou, Source: bad}); err != nil {
		t.Fatal(err)
	}
	traffic(t, h)
	for _, size := range [][2]int{{60, 16}, {61, 17}, {79, 23}, {80, 24}, {109, 30}, {110, 24}, {200, 60}, {400, 16}} {
		recording := uitest.New(t, ui.Config{Log: log, Places: func(env *session.Env) []ui.Place {
			return []ui.Place{{Key: "3", Name: "Routes", Screen: routes.New(env, nil, func() routes.About { return about })}}
		}}, size[0], size[1])
		exact(t, recording, size, "3", "j", "j", "H", "esc", "y")
		exact(t, play(t, h, live, about, size[0], size[1]), size, "3", "j", "enter", "esc", "W", "enter", "esc", "H", "esc", "y", "esc", "c")
	}
}

func exact(t *testing.T, p *uitest.Player, size [2]int, keys ...string) {
	t.Helper()
	for _, key := range keys {
		p.Keys(key)
		lines := p.Lines()
		if len(lines) != size[1] {
			t.Fatalf("%v after %s: got %d lines", size, key, len(lines))
		}
		for i := range lines {
			if w := lines[i].Width(); w > size[0] {
				t.Errorf("%v after %s: line %d has %d cells", size, key, i, w)
			}
		}
		if raw := p.Raw(); strings.ContainsAny(raw, "\a\u202e") || strings.Contains(raw, "\x1b]") {
			t.Errorf("%v after %s: something hostile is on the terminal", size, key)
		}
	}
}

// cursor is the lowest line with a cursor: that of a menu, if one is open.
func cursor(p *uitest.Player) string {
	all := uitest.Cursors(p.Frame())
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// to moves the cursor down to a line with a text.
func to(t *testing.T, p *uitest.Player, text string) {
	t.Helper()
	for range 40 {
		if strings.Contains(cursor(p), text) {
			return
		}
		p.Keys("j")
	}
	t.Fatalf("no line with %q to go to:\n%s", text, p.Frame())
}

// A terminus that passes requests on is shown with the one that gets them, and with the
// setting that named that one; also if that is not in this build. Rule STORE-SC-10.
func TestBothOwners(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 140} {
		h, log, about := site(t)
		if err := h.Assign("facts", indirector.SlotTerminus, traces.Choice{Terminus: "store_configs", Kind: traces.FromYou}); err != nil {
			t.Fatal(err)
		}
		p := play(t, h, log, about, width, 40).Keys("3")
		p.Want("→ puppetdb: setting storeconfigs_backend, default", "not in this build")
		if got := p.Line(" facts "); width == 140 && !strings.Contains(got, " store_configs → puppetdb ") {
			t.Errorf("row of facts: %q", got)
		}
		p.Keys("H").Want("passes on", "to puppetdb: setting storeconfigs_backend, default").Keys("esc")
		p.Keys("W", "store_configs", "enter").Want("WHAT IF  facts terminus=store_configs → puppetdb")
	}
}
