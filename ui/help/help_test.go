package help_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/help"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
	"indirtui/ui/widget"

	tea "github.com/charmbracelet/bubbletea"
)

// commands keep the lines that they are given.
type commands struct{ lines *[]string }

func (c commands) Run(text string) (tea.Cmd, error) {
	*c.lines = append(*c.lines, text)
	return nil, nil
}
func (c commands) Complete(string) ([]screen.Completion, []string) { return nil, nil }
func (c commands) Screen() screen.Screen                           { return nil }
func (c commands) Names() []screen.Completion {
	return []screen.Completion{
		{Text: "find ", Name: "find", Kind: "command", Note: "find one instance"},
		{Text: "demo", Name: "demo", Kind: "command", Note: "play the demo"},
		{Text: "open ", Name: "open", Kind: "command", Note: "open a recording"},
	}
}

func play(t *testing.T, log *store.Store, lines *[]string, width, height int) *uitest.Player {
	t.Helper()
	return uitest.New(t, ui.Config{
		Log: log, Now: func() time.Time { return uitest.Began.Add(150 * time.Second) },
		Commands: func(*session.Env) session.Commander { return commands{lines} },
		FirstRun: func(env *session.Env) screen.Screen { return help.NewCard(env, false) },
		Help:     func(env *session.Env, on screen.Screen) screen.Screen { return help.New(env, on) },
		Palette: func(env *session.Env, on screen.Screen, places []string) screen.Screen {
			return help.NewPalette(env, on, places)
		},
	}, width, height)
}

func TestFrames(t *testing.T) {
	t.Parallel()
	uitest.Sizes(t, func(t *testing.T, name string, width, height int) {
		var lines []string
		p := play(t, uitest.Site(t), &lines, width, height)
		p.Keys("?").Golden("help-" + name)
		p.Keys("g").Golden("codes-" + name)
		p.Keys("esc", "esc", "ctrl+p").Golden("palette-" + name)
		p.Keys("stale").Golden("palette-stale-" + name)
	})
}

// Journey 1: first contact.
func TestJourneyFirstContact(t *testing.T) {
	t.Parallel()
	log, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var lines []string
	p := play(t, log, &lines, 80, 24)
	p.Want("Nothing has asked the indirector anything yet.", "d demo", "o open")
	p.Keys("d")
	if len(lines) != 1 || lines[0] != "demo" {
		t.Fatalf("got %q", lines)
	}
	p.Keys("o").Want(": open ").Keys("esc")
	p.Keys("?").Want("press a key to do it", "play the built-in demo").Keys("esc").Not("press a key")
	tr := &traces.Trace{Verb: traces.Find, Indirection: "node", Key: "web01"}
	tr.ID = log.Begin(tr)
	log.End(tr, nil)
	p.Sync().Not("Nothing has asked").Want("follow on")
}

// A key that is pressed in help does what it does below.
func TestKeysInHelpAct(t *testing.T) {
	t.Parallel()
	var lines []string
	p := play(t, uitest.Site(t), &lines, 80, 24)
	p.Keys("?").Want("Requests", "press a key to do it").Keys("enter").Want("STORY").Not("press a key")
	p.Keys("?").Want("Steps").Keys("2").Want("- Failures ").Not("press a key").Keys("1", "esc")
	p.Keys("?", "m").Want("m and a letter").Keys("a").Want("did :mark").Not("press a key")
	p.Keys("?", "F").Not("press a key")
	p.Keys("?", "f").Not("press a key").Keys("esc")
	p.Keys("?", "?").Not("press a key")
	p.Keys("?", "k").Want("help > keys", "everywhere").Keys("esc").Want("press a key to do it")
}

// Help is narrowed by what is typed, over keys and topics; what is found is done.
func TestHelpIsSearched(t *testing.T) {
	t.Parallel()
	var lines []string
	p := play(t, uitest.Site(t), &lines, 80, 24)
	p.Keys("?", "/").Want("what do you want to do?").Keys("failure").Want("next failure, seen or hidden").Not("follow what is new")
	p.Keys("esc").Want("press a key to do it")
	p.Keys("/", "compare with last", "enter").Want("not now: ").Keys("esc", "/", "filter the", "enter").Want("out=stale").Not("- Help ").Keys("esc")
	p.Keys("?", "/", "why did the cache", "enter").Want("help > cache").Keys("esc", "esc", "esc", "esc")
	p.Keys("?", "/", "xyzzyq").Want("nothing has these letters").Keys("enter", "esc", "esc").Not("- Help ")
	p.Keys("?", "/", "mark this", "enter").Want("press m").Try("down", "up", "esc", "/", "k", "pgdown", "esc")
}

// A key that does not work now shows why, and help stays.
func TestKeysThatDoNotWorkGiveTheReason(t *testing.T) {
	t.Parallel()
	var lines []string
	p := play(t, uitest.Site(t), &lines, 80, 24)
	p.Keys("g", "enter", "?") // the first request of the log has none before it
	p.Keys("{").Want("not now: { run (there is no earlier request in this run)")
	p.Keys("end").Want("not now", "run: there is no earlier request in this run")
}

func TestPalette(t *testing.T) {
	t.Parallel()
	var lines []string
	p := play(t, uitest.Site(t), &lines, 80, 24)
	p.Keys("ctrl+p", "failures").Want("same as  :show failures").Keys("enter").Want("- Failures ")
	p.Keys("1", "ctrl+p", "outstale").Want("out=stale", "same as  :filter out=stale").Keys("enter").Want(" of ", "stale")
	p.Keys("ctrl+p", "command find", "enter").Want(": find").Keys("esc")
	p.Keys("ctrl+p", "filter hidden", "tab").Want(": filter hidden").Keys("esc")
	p.Keys("ctrl+p", "why did the cache").Want("same as  :help cache").Keys("enter").Want("help > cache", "out=stale").Keys("esc")
	p.Keys("ctrl+p", "open node db07").Want("node db07.example.com", "same as  :find node db07.example.com").Keys("enter").Want("find node db07")
	p.Keys("ctrl+p", "xyzzyq").Want("nothing has these letters").Keys("enter", "esc")
}

// Nothing that may be seen is without an explanation.
func TestEveryWordIsExplained(t *testing.T) {
	t.Parallel()
	keys, _ := screen.NewKeys(nil)
	log, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	env := &session.Env{Shared: screen.Shared{Keys: keys, Theme: &term.Theme{Glyphs: term.ASCII}}, Log: log}
	text := func(topic string) string {
		p, ok := help.Page(env, topic)
		if !ok {
			t.Fatalf("no help about %s", topic)
		}
		pager := widget.NewPager(&env.Shared, p)
		pager.Resize(200, 1000)
		return pager.View().Text()
	}
	explained := func(topic, word string) {
		for line := range strings.SplitSeq(text(topic), "\n") {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), word+" "); ok && strings.TrimSpace(rest) != "" {
				return
			}
		}
		t.Errorf("%s: %q is not explained", topic, word)
	}
	for o := range traces.OutcomeCount {
		explained("codes", o.String())
	}
	for r := traces.Reason(1); r < traces.ReasonCount; r++ {
		explained("reasons", r.String())
	}
	for _, b := range keys.Bindings() {
		if b.About != "" && !strings.Contains(text("keys"), b.About) {
			t.Errorf("keys: %s is not explained; its scope needs a name in places of words.go", b.Do)
		}
	}
	for _, w := range indirector.Wrappers() {
		kind, _, _ := strings.Cut(w.Usage, "(")
		explained("wrappers", kind)
		if !strings.Contains(text("wrappers"), w.Usage) {
			t.Errorf("wrappers: %s is not explained", w.Usage)
		}
	}
	for _, topic := range help.Topics() {
		if text(topic) == "" {
			t.Errorf("help about %s is empty", topic)
		}
	}
}

type finder struct{}

func (*finder) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, nil
}

// The examples of help are names of termini.
func TestWrapperExamples(t *testing.T) {
	t.Parallel()
	made := func(indirector.Env) (indirector.Terminus, error) { return nil, nil }
	var descriptors []indirector.Descriptor
	for _, name := range []string{"rest", "yaml", "json"} {
		descriptors = append(descriptors, indirector.Descriptor{Indirection: "facts", Name: name, Type: new(finder), New: made})
	}
	r, err := indirector.NewRegistry([]indirector.Spec{{Name: "facts", Default: "rest"}}, descriptors)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := help.Page(&session.Env{}, "wrappers")
	pager := widget.NewPager(&screen.Shared{Theme: &term.Theme{Glyphs: term.ASCII}}, page)
	pager.Resize(200, 1000)
	seen := 0
	for line := range strings.SplitSeq(pager.View().Text(), "\n") {
		name := regexp.MustCompile(`(?:'[a-z.]*=?|=|^ +)((?:fault|delay|retry|fallback|tee)\([a-z].*\))(?:'| {2,}|\s*$)`).FindStringSubmatch(line)
		if name == nil {
			continue
		}
		seen++
		if err := r.CheckTerminus("facts", name[1]); err != nil {
			t.Errorf("%s: %v", strings.TrimSpace(line), err)
		}
	}
	if seen < 9 {
		t.Errorf("only %d examples were found in\n%s", seen, pager.View().Text())
	}
}

// The card shows what is wrong with the configuration, and what is not seen;
// the border counts the problems, :problems lists them.
func TestCardShowsProblems(t *testing.T) {
	t.Parallel()
	agents := []screen.Completion{{Name: "serve"}, {Name: "proxy"}, {Name: "demo"}, {Name: "open"}}
	uitest.Sizes(t, func(t *testing.T, _ string, width, height int) {
		log, err := store.Open(store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		p := uitest.New(t, ui.Config{
			Log: log, Commands: func(*session.Env) session.Commander { return offering{agents} },
			Problems: func() []string {
				return []string{"Puppet would not start: bad \x1b[2J token=hunter2", "there is no directory /x"}
			},
			RedactText: func(text string) (string, int) { return strings.ReplaceAll(text, "hunter2", "(redacted)"), 1 },
			FirstRun: func(env *session.Env) screen.Screen {
				return help.NewCard(env, false)
			},
		}, width, height)
		p.Want("Puppet would not start: bad", "(redacted)", "and 1 more problem", ":problems", "2 problems", "play the built-in demo").Not("hunter2")
		if height < 24 {
			return
		}
		p.Want("Requests of other processes are not seen", "indirtui attach -- puppet agent --test", ":serve --listen", ":proxy https://puppet:8140", "puppet agent --test --server")
	})
}

// offering is a Commander with some commands.
type offering struct{ names []screen.Completion }

func (offering) Run(string) (tea.Cmd, error)                     { return nil, nil }
func (offering) Complete(string) ([]screen.Completion, []string) { return nil, nil }
func (offering) Screen() screen.Screen                           { return nil }
func (o offering) Names() []screen.Completion                    { return o.names }
