package console_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/settings"
	"indirtui/indirector/terminustest"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/console"
	"indirtui/ui/help"
	"indirtui/ui/recordings"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
)

var noon = time.Date(2025, 11, 20, 14, 1, 50, 0, time.UTC)

// A fake answers by a script.
type fake struct {
	uitest.Engine
	log  *store.Store
	exec *terminustest.Script
}

func newEngine(t *testing.T, script string) *fake {
	t.Helper()
	h := &fake{}
	node := func(name string) indirector.Instance {
		return &model.Node{Name: name, Environment: "production", Classes: data.OfStrings([]string{"app"})}
	}
	instances := map[string]indirector.Instance{"web01.example.com": node("web01.example.com"), "db07.example.com": node("db07.example.com")}
	h.exec = terminustest.NewScript(t, script, instances)
	other := terminustest.NewScript(t, "find * → found\nsearch * → nil\nhead * → true\nsave * → 0\ndestroy * → 1", instances)
	enc := h.exec.Descriptor("node", "exec")
	enc.Party = "the classifier"
	reg, err := indirector.NewRegistry(termini.Specs(), []indirector.Descriptor{
		enc, other.Descriptor("node", "plain"), other.Descriptor("node", "yaml"),
		other.Descriptor("facts", "yaml"), other.Descriptor("catalog", "json"),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.log, err = store.Open(store.Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.log.Close() })
	h.Start = indirector.Routes{
		"node":    {Primary: traces.Slot{{Terminus: "exec", Kind: traces.FromSetting, Source: "setting node_terminus, puppet.conf:7 [main]"}}},
		"facts":   {Primary: traces.Slot{{Terminus: "yaml", Kind: traces.FromSetting, Source: "setting facts_terminus, default"}}, Cache: traces.Slot{{Terminus: "yaml", Kind: traces.FromRoutesFile, Source: "routes.yaml:4"}}},
		"catalog": {Primary: traces.Slot{{Terminus: "json", Kind: traces.FromApplication, Source: "application agent"}}},
	}
	h.Indirector, err = indirector.New(indirector.Config{Registry: reg, Routes: h.Start, Recorder: h.log, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func options(h *fake) console.Options {
	return console.Options{
		Engine: h, Application: "agent", Note: h.log.AddComment,
		Demo: func(name string) (tea.Cmd, error) { return screen.Notify("the demo plays " + name), nil },
		Open: func(path string) tea.Cmd { return screen.Notify("opened " + path) },
	}
}

func play(t *testing.T, h *fake, o console.Options, width, height int) *uitest.Player {
	t.Helper()
	return uitest.New(t, ui.Config{
		Log: h.log, Now: func() time.Time { return noon },
		Commands: func(env *session.Env) session.Commander { return console.New(t.Context(), env, o) },
		FirstRun: func(env *session.Env) screen.Screen { return help.NewCard(env, false) },
		Help:     func(env *session.Env, on screen.Screen) screen.Screen { return help.New(env, on) },
		Palette: func(env *session.Env, on screen.Screen, places []string) screen.Screen {
			return help.NewPalette(env, on, places)
		},
	}, width, height)
}

const quiet = "find web01.example.com → found\nfind * → nil\nsearch * → found\nhead * → true\nsave * → 0\ndestroy * → 1"

func TestFrames(t *testing.T) {
	t.Parallel()
	uitest.Sizes(t, func(t *testing.T, name string, width, height int) {
		h := newEngine(t, quiet)
		p := play(t, h, options(h), width, height)
		p.Golden("card-" + name)
		p.Keys("~").Golden("blank-" + name)
		for _, line := range []string{
			"find node web01.example.com env=production terminus=plain", "find node db07.example.com", "head node web01.example.com",
			"save facts @file facts.json", "route node terminus=yaml dry", "fnid node x", "route node terminus=yaml", "find nothing x",
		} {
			p.Command(line)
		}
		p.Keys(":", "esc").Wait(time.Minute).Golden("console-" + name)
		p.Keys(":", "find n").Golden("prompt-" + name)
	})
}

// Journey 4, step 4: ask another terminus, and see that it was you.
func TestAskedRequestsAreMarked(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	p := play(t, h, options(h), 80, 24)
	p.Keys(":", "find node db07.example.com terminus=plain", "enter").Want("#1 find node db07.example.com  T plain", "ok", "(sent by you)")
	if row, _ := h.log.Row(1); !row.Sent || row.Terminus != "plain" || row.Outcome != traces.Good {
		t.Errorf("row: %+v", row)
	}
	p.Keys("~").Want("> find node db07.example.com terminus=plain").Keys("G", "enter").Want("STORY", "T", "#1 find node")
}

func TestReadOnlyRefuses(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	p := play(t, h, options(h), 80, 24)
	for _, line := range []string{"save node web01.example.com @x.yaml", "destroy node web01.example.com"} {
		p.Command(line).Want("refused: read-only mode. Start with --write or use :write on")
	}
	if calls := h.exec.Calls(); len(calls) != 0 {
		t.Errorf("asked %q", calls)
	}
}

// A line that is refused stays, with the reason, until it is mended or left.
func TestRefusedLinesStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "n.json")
	if err := os.WriteFile(file, []byte(`{"name":"web01.example.com"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses := func(path string) tea.Cmd {
		return func() tea.Msg {
			if path == "good.ind" {
				return screen.Toast{Text: "opened " + path}
			}
			return screen.Toast{Text: "open " + path + ": no such file", Bad: true}
		}
	}
	for _, tt := range []struct{ line, why, mend, then string }{
		{"fnid node web01", `no command "fnid"; did you mean find? tab lists all`, "ctrl+a ctrl+d ctrl+d ctrl+d ctrl+d find enter", "#1 find node web01"},
		{"filter ind=", "want a value", "node enter", "WAITING"},
		{"show Nowhere", "there is no such place", "ctrl+w Failures enter", "Failures"},
		// The end of this reason breaks anywhere, as the path of the directory is of any length.
		{"save node x @" + file + ".no", "read the instance: stat", "backspace backspace backspace enter", "#1 save node x"},
		{"open bad.ind", "open bad.ind: no such file", "ctrl+w good.ind enter", "opened good.ind"},
		{"route node terminus=yam", `node has no terminus "yam"; nearest: yaml`, "l enter", "did :route node terminus=yaml"},
	} {
		h := newEngine(t, quiet)
		h.Write = true
		o := options(h)
		o.Open = refuses
		p := play(t, h, o, 80, 24)
		short := func(s string) string { return strings.TrimPrefix(s, "save node x @"+dir) }
		p.Keys(":", tt.line, "enter").Want(short(tt.line)+"_", tt.why)
		for _, key := range strings.Fields(tt.mend) {
			p.Keys(strings.ReplaceAll(key, "~", " "))
		}
		p.Want(tt.then).Not("| : ")
		p.Command(tt.line).Want(tt.why).Keys("esc").Not(tt.line + "_")
	}
}

// A reason that is longer than a line takes as many as it needs.
func TestLongReasonsAreWhole(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	p := play(t, h, options(h), 60, 16)
	p.Command("find node x bad").Want(`"bad" is not understood`, "ignore_cache_save,", "fail_on_404")
}

// Journey 10, step 5: destroy asks for the key again.
func TestDestroyAsksForTheKey(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	p := play(t, h, options(h), 80, 24)
	p.Keys(":", "write on", "enter").Want("did :write on", "WRITE")
	p.Keys(":", "destroy node web01.example.com", "enter").Want("type the key again", "terminus exec of node")
	p.Keys("web02", "enter").Want("refused: the key is another one; nothing was destroyed")
	if calls := h.exec.Calls(); len(calls) != 0 {
		t.Fatalf("asked %q", calls)
	}
	p.Keys("ctrl+u", "web01.example.com", "enter").Want("#1 destroy node web01.example.com", "(sent by you)")
	if calls := h.exec.Calls(); len(calls) != 1 || calls[0] != "destroy web01.example.com" {
		t.Errorf("asked %q", calls)
	}
	p.Keys(":", "destroy node web01.example.com", "enter", "esc").Want("nothing was destroyed")
	p.Keys("z").Want("undone :write on")
	if h.Write {
		t.Error("writes are still allowed")
	}
}

func TestSaveReadsAFile(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	h.Write = true
	dir := t.TempDir()
	file := filepath.Join(dir, "n.json")
	if err := os.WriteFile(file, []byte(`{"name":"web01.example.com","environment":"qa","classes":[],"parameters":{}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	p := play(t, h, options(h), 120, 24)
	p.Keys(":", "save node @"+file, "enter").Want("save node web01.example.com", "ok")
	p.Keys(":", "save node web01.example.com @file "+file+" json", "enter").Want("#2 save node web01.example.com")
	p.Keys(":", "save node x @"+dir, "enter").Want("not a file")
	p.Command("save node x @" + file + ".no").Want("no such file")
	p.Command("save node x").Want("save what?")
	if calls := h.exec.Calls(); len(calls) != 2 {
		t.Errorf("asked %q", calls)
	}
}

// Expressions of save, export and the others keep their quotes on the way.
func TestExpressionsKeepTheirQuotes(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	o := options(h)
	o.Recordings = recordings.Options{Log: h.log, Redact: func(s string) (string, int) { return s, 0 }}
	dir := t.TempDir()
	p := play(t, h, o, 140, 40)
	p.Keys("~", ":", `find node "a b"`, "enter", ":", "find node it's", "enter").Want("a ' is not closed")
	p.Command(`find node "it's"`).Command("find node b").Want("#3")
	for i, tt := range []struct{ line, want string }{
		{`save %s key="a b"`, "saved 1 request to"},
		{`save %s key="a b" jsonl bodies=none`, "saved 1 request to"},
		{`save %s key=it's`, "saved 1 request to"},
		{`export csv %s key='a b' or key="it's"`, "saved 2 requests to"},
		{`export csv %s key="a  b"`, "saved 0 requests to"},
		{`export csv "%s and more" @all`, "saved 3 requests to"},
		{`save %s bodies=some`, "bodies=some is not known"},
		{`replay %.0skey="a b" dry`, "what-if 1: "},
	} {
		p.Command(fmt.Sprintf(tt.line, filepath.Join(dir, fmt.Sprintf("f%d.ind", i)))).Want(tt.want)
	}
}

func TestRoute(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	p := play(t, h, options(h), 140, 24)
	p.Keys(":", "find node web01.example.com", "enter")
	for _, tt := range []struct{ line, want string }{
		{"route node terminus=yaml dry", "what-if: 1 request, nothing is executed: 1 depending on the answer   :route node terminus=yaml applies it"},
		{"route node terminus=yam", `node has no terminus "yam"; nearest: yaml`},
		{"route nod terminus=yaml", `no indirection is called "nod"; nearest: node`},
		{"route node ttl=1m", "Indirection TTL must be an integer; write ttl=60 for a minute"},
		{"route node tll=3", `"tll=3" is not understood`},
		{"route node ttl=60", "did :route node ttl=60   z undo"},
		{"route node", "node: terminus exec of node, ttl 60 s"},
		{"route reset node", "did :route reset node   z undo"},
		{"route node", "node: terminus exec of node"},
		{"route reset", "every route is as configured"},
		{"route node terminus=yaml cache=off", "did :route node cache=off   z undo"},
		{"route reset", "did :route reset node   z undo"},
		{"route export", "copied as routes.yaml section agent"},
	} {
		p.Command(tt.line).Want(tt.want)
	}
	if len(p.Copied) != 1 || !strings.HasPrefix(p.Copied[0], "agent:") {
		t.Errorf("copied %q", p.Copied)
	}
}

func TestMarkAndNote(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	p := play(t, h, options(h), 80, 24)
	p.Keys(":", "mark a", "enter").Want("which request?")
	p.Command("find node web01.example.com").Command("mark a").Want("did :mark #1 a")
	if row, _ := h.log.Row(1); row.Mark != 'a' {
		t.Errorf("mark is %q", row.Mark)
	}
	p.Keys(":", "note #1 the disk was full", "enter").Want("did :note #1 the disk was full")
	if c := h.log.Comments(1); len(c) != 1 || c[0].Text != "the disk was full" {
		t.Errorf("comments %+v", c)
	}
	p.Keys(":", "mark #9 a", "enter").Want("there is no request #9")
	p.Command("show #1").Want("STORY")
}

// What is not there is not offered.
func TestOnlyWhatExistsIsOffered(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	c := console.New(t.Context(), &session.Env{Log: h.log}, console.Options{})
	for _, n := range c.Names() {
		switch n.Name {
		case "note", "open", "demo", "settings", "write", "group", "sort", "break", "replay", "attach", "proxy":
			t.Errorf("%s is offered", n.Name)
		}
	}
	p := play(t, h, console.Options{}, 80, 24)
	p.Not("demo", "recording").Keys("d").Not("plays")
	p.Keys(":", "find node x", "enter").Want("this is a recording: nothing can be asked or changed here")
}

func TestComplete(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	o := options(h)
	env := &session.Env{Shared: screen.Shared{Now: time.Now}, Log: h.log}
	c := console.New(t.Context(), env, o)
	for _, key := range []string{"web01.example.com", "db07.example.com", "a b"} {
		_, _ = h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: key})
	}
	for _, tt := range []struct {
		line string
		want string // the first lines, joined
		help string
	}{
		{"fi", "find |filter ", ""},
		{"find no", `find node |find node "a b" |find node db07.example.com `, "usage: find IND KEY"},
		{"find node w", "find node web01.example.com ", "effect: asks terminus exec of node; marked as sent"},
		{"find node web01 te", "find node web01 terminus=", ""},
		{"find node web01 terminus=", "find node web01 terminus=exec |find node web01 terminus=plain |find node web01 terminus=yaml ", ""},
		{"find node web01 ignore_cache ig", "find node web01 ignore_cache ignore_cache_save |find node web01 ignore_cache ignore_terminus ", ""},
		{"find facts w", "", "effect: asks terminus yaml, cache yaml of facts; writes no cache (read-only); marked as sent"},
		{"find facts w cache=none", "find facts w cache=none ", "effect: asks terminus yaml of facts; marked as sent"},
		{"search node x ig", "", ""},
		{"save node x", "", "effect: " + engine.ErrReadOnly.Error()},
		{":find fa", ":find facts ", ""},
		{"route n", "route node ", ""},
		{"route node terminus=p", "route node terminus=plain ", "now terminus exec of node"},
		{"route node terminus=plain d", "route node terminus=plain dry ", ""},
		{"route res", "route resource |route reset ", ""},
		{"filter out=st", "filter out=stale", ""},
		{"filter hidden serv", "filter hidden served=", ""},
		{"show re", "show requests ", ""},
		{"write o", "write on |write off ", ""},
		{"help co", "help codes |help config |help commands ", ""},
		{"fnid x", "", `no command "fnid"; did you mean find? tab lists all`},
		{"", "find |search |head ", ""},
	} {
		next, about := c.Complete(tt.line)
		var texts []string
		for _, n := range next {
			texts = append(texts, n.Text)
		}
		got := strings.Join(texts, "|")
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%q: got %q, want %q", tt.line, got, tt.want)
		}
		if !strings.Contains(strings.Join(about, "\n"), tt.help) {
			t.Errorf("%q: help is %q, want %q", tt.line, about, tt.help)
		}
	}
}

// Old lines are found by any part of them.
func TestHistoryIsSearched(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	p := play(t, h, options(h), 80, 24)
	p.Keys(":", "find node web01.example.com", "enter", ":", "web01").Want("history").Keys("tab", "enter").Want("#2 find node")
	p.Keys(":", "up").Want(": find node web01.example.com")
}

// Requests end with the program.
func TestStop(t *testing.T) {
	t.Parallel()
	h := newEngine(t, "find * → wait 1h, then found")
	env := &session.Env{Shared: screen.Shared{Now: time.Now}, Log: h.log}
	c := console.New(t.Context(), env, options(h))
	cmd, _ := c.Run("find node slow")
	if !c.Stop() {
		t.Fatal("nothing was running")
	}
	msg := cmd()
	later, ok := msg.(screen.Background)
	if !ok {
		t.Fatalf("got %T", msg)
	}
	answer, ok := later.Cmd().(screen.For)
	if !ok {
		t.Fatal("no answer")
	}
	c.Update(answer.Msg)
	if row, _ := h.log.Row(1); row.Outcome != traces.Err {
		t.Errorf("outcome is %s", row.Outcome)
	}
	if c.Stop() {
		t.Error("it is still running")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	h := newEngine(t, quiet)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "puppet.conf"), []byte("[main]\nnode_terminus = exec\n[server]\nnode_terminus = plain\nhttp_proxy_password = hunter2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := settings.Load(settings.Options{ConfDir: dir, VarDir: dir, RunMode: "server"})
	if err != nil {
		t.Fatal(err)
	}
	o := options(h)
	o.Settings = set
	p := play(t, h, o, 100, 30)
	p.Keys(":", "settings node_terminus", "enter").Want("plain", "puppet.conf:4 [server]", "overruled", "exec   puppet.conf:2 [main]").Keys("esc")
	p.Keys(":", "settings node_terminu", "enter").Want("nearest: node_terminus")
	p.Command("settings").Want("set somewhere", "(masked, 7 B)").Not("hunter2")
}

// hostile text, and every size: the frame is exact.
func TestAnySize(t *testing.T) {
	t.Parallel()
	bad := "\"\x1b]52;c;!\a\u202e日本" + strings.Repeat("x", 300) + "\""
	for _, size := range [][2]int{{60, 16}, {61, 17}, {80, 24}, {109, 20}, {110, 24}, {200, 60}, {400, 16}} {
		h := newEngine(t, quiet+"\nfind x → fail: "+strings.Trim(bad, "\""))
		h.Write = true
		p := play(t, h, options(h), size[0], size[1])
		for _, keys := range [][]string{
			{"?"},
			{"esc"},
			{"ctrl+p"},
			{bad},
			{"esc"},
			{"~"},
			{":", "find node " + bad, "enter"},
			{":", bad, "enter"},
			{":", "find node x", "enter"},
			{":", "destroy node " + bad, "enter"},
			{"esc"},
			{":", "find no"},
			{"tab"},
			{"esc"},
			{"k", "k"},
			{"y"},
			{"esc"},
			{"?"},
			{"g"},
			{"esc"},
			{"k"},
			{"esc"},
			{"esc"},
			{"ctrl+p"},
			{"no"},
		} {
			p.Keys(keys...)
			lines := p.Lines()
			if len(lines) != size[1] {
				t.Fatalf("%v after %q: got %d lines", size, keys, len(lines))
			}
			for i := range lines {
				if w := lines[i].Width(); w > size[0] {
					t.Errorf("%v after %q: line %d has %d cells", size, keys, i, w)
				}
			}
			if raw := p.Raw(); strings.ContainsAny(raw, "\a\u202e") || strings.Contains(raw, "\x1b]") {
				t.Errorf("%v after %q: something hostile is on the terminal", size, keys)
			}
		}
	}
}

// A line of any kind is answered, and completed, without a panic.
func FuzzRun(f *testing.F) {
	for _, s := range []string{"find node x", "route node terminus=", "save node @", "mark #0 a", "filter (", "show #", "sort", "\"", "help help", "note #1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h := &fake{}
		reg, err := indirector.NewRegistry(termini.Specs(), termini.All())
		if err != nil {
			t.Fatal(err)
		}
		if h.log, err = store.Open(store.Options{}); err != nil {
			t.Fatal(err)
		}
		defer h.log.Close()
		if h.Indirector, err = indirector.New(indirector.Config{Registry: reg, Recorder: h.log}); err != nil {
			t.Fatal(err)
		}
		keys, _ := screen.NewKeys(nil)
		env := &session.Env{Shared: screen.Shared{Now: time.Now, Keys: keys, Theme: &term.Theme{Glyphs: term.ASCII}}, Log: h.log}
		c := console.New(t.Context(), env, options(h))
		c.Resize(60, 10)
		c.Complete(text)
		c.Run(text)
		c.Complete(text + " ")
		if got := len(c.View()); got != 10 {
			t.Errorf("%d lines", got)
		}
	})
}

func TestAskingTakesLong(t *testing.T) {
	t.Parallel()
	clock := uitest.NewClock()
	h := newEngine(t, quiet)
	c := console.New(t.Context(), &session.Env{Shared: clock.Shared(), Log: h.log}, options(h))
	c.Resize(80, 20)
	want := func(text string, shown bool) {
		t.Helper()
		_, right := c.Context()
		if got := right.String(); strings.Contains(got, text) != shown {
			t.Errorf("%q is shown: %t, want %t: %s", text, !shown, shown, got)
		}
	}
	c.Run("find node web01")
	clock.Pass(400 * time.Millisecond)
	want("find node web01", false)
	clock.Pass(time.Second)
	want("find node web01  1.4 s · ", true)
	c.Run("find node web02")
	want("2 requests  1.4 s · ", true)
	c.Stop()
	want("requests", false)
	if clock.Pass(time.Minute); clock.Ticks() != 0 {
		t.Errorf("%d timers run when nothing does", clock.Ticks())
	}
}

// A line whose work is refused comes back, with the reason: to save may take long,
// and is done aside.
func TestRefusedWork(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "there.ind")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := newEngine(t, "find * → found")
	o := console.Options{Recordings: recordings.Options{Log: h.log, Redact: func(s string) (string, int) { return s, 0 }}}
	p := play(t, h, o, 140, 40)
	p.Keys(":", "save "+path, "enter").Want("there is a there.ind already; nothing was written")
	if got := p.Line(": save"); !strings.Contains(got, path) {
		t.Errorf("the prompt has %q", got)
	}
}
