package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/termini"
	"indirtui/ui/console"

	tea "github.com/charmbracelet/bubbletea"
)

// A step of a journey without a screen: a line, and what it must be answered.
type step struct {
	line string
	want []string
	not  []string // what must not be there
}

// plainly writes the lines of a journey to the program over the demo, and checks
// what each was answered. What comes by itself is switched off meanwhile.
func plainly(t *testing.T, change func(*program), steps []step) {
	t.Helper()
	const mark = "--- line %d ---"
	in := "wait\nquiet on\n"
	for i, s := range steps {
		in += fmt.Sprintf("echo "+mark+"\n%s\n", i, s.line)
	}
	var out, problems bytes.Buffer
	p := &program{Streams: Streams{In: strings.NewReader(in), Out: &out, Err: &problems}, specs: termini.Specs(), termini: termini.All()}
	p.out = bufio.NewWriter(p.Out)
	p.site.Now = func() time.Time { return noon }
	p.ui = interactive{demo: true, plain: true}
	p.site.Dir, p.ui.record = places(t)
	if change != nil {
		change(p)
	}
	configure(t, p, "")
	if err := (viewer{p}).run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	for i, s := range steps {
		_, answer, found := strings.Cut(out.String(), fmt.Sprintf(mark, i))
		if !found {
			t.Fatalf("%s: not reached:\n%s", s.line, out.String())
		}
		answer, _, _ = strings.Cut(answer, fmt.Sprintf(mark, i+1))
		for _, want := range s.want {
			if !strings.Contains(strings.Join(strings.Fields(answer), " "), want) {
				t.Errorf("%s: got %s\nwant %q", s.line, answer, want)
			}
		}
		for _, not := range s.not {
			if strings.Contains(answer, not) {
				t.Errorf("%s: got %s\nwant nothing of %q", s.line, answer, not)
			}
		}
	}
}

// The journeys 5, 6, 7 and 10 of the UI design without a screen: the same
// questions, the same answers.
func TestPlainJourneys(t *testing.T) {
	t.Parallel()
	t.Run("5 my routes.yaml is ignored", func(t *testing.T) {
		t.Parallel()
		plainly(t, nil, []step{
			{"show routes facts", []string{
				"application agent", "routes.yaml with sections master, agent, agnet",
				"facts terminus facter", "puppetdb routes file", "routes.yaml:4 NOT APPLIED: section 'master' is not for application 'agent'",
				"setting facts_terminus, puppet.conf:19 [agent]", "application agent, setting facts_terminus",
				"facts cache json routes file", "routes.yaml:11",
			}, nil},
			{"route export", []string{"agent: catalog: terminus: upstream cache: json facts: cache: json"}, nil},
		})
	})
	t.Run("6 swap a terminus, with what-if and undo", func(t *testing.T) {
		t.Parallel()
		plainly(t, nil, []step{
			{"route node terminus=yaml dry", []string{"what-if: ", "nothing is executed", "63 nil", ":route node terminus=yaml applies it"}, nil},
			{"show routes node", []string{"node terminus exec setting"}, nil},
			{"route node terminus=yaml", []string{"did :route node terminus=yaml"}, nil},
			{"find node web01.example.com", []string{"#1048 find node web01.example.com nil", "asked terminus yaml: nothing", "decided yaml: you"}, nil},
			{"undo", []string{"undone :route node terminus=yaml"}, nil},
			{"show routes node", []string{"node terminus exec setting"}, []string{"you"}},
			{"redo", []string{"redone :route node terminus=yaml"}, nil},
			{"show routes node", []string{"node terminus yaml you"}, nil},
			{"route reset node", []string{"did :route reset node"}, nil},
			{"show routes node", []string{"node terminus exec setting"}, []string{"you"}},
		})
	})
	t.Run("7 hold, step, edit, continue", func(t *testing.T) {
		t.Parallel()
		plainly(t, nil, []step{
			{"quiet off", nil, nil},
			{"break ind=catalog key=web01* before cache-read do hold", []string{"did :break ind=catalog key=web01* before cache-read do hold"}, nil},
			{"find catalog web01.example.com ignore_cache", []string{"#1048 find catalog web01.example.com before cache-read held by b1", "plan of #1048: "}, []string{"ok", "hit"}},
			{"hold", []string{"#1048 find catalog web01.example.com before cache-read held by b1"}, nil},
			{"breaks", []string{"b1 on ind=catalog key=web01* before cache-read do hold hits 1"}, nil},
			{"show requests #1048", []string{"#1048 find catalog web01.example.com held"}, nil},
			{"set ignore_cache=false", []string{"ignore_cache: true -> false", "plan of #1048: cache json would answer"}, nil},
			{"step", []string{"#1048: step", "#1048 find catalog web01.example.com before expiry held by step"}, nil},
			{"continue", []string{"#1048 find catalog web01.example.com hit", "answered cache json", "not asked terminus upstream (the cache answered)"}, nil},
			{"hold", []string{"no request is held"}, nil},
		})
	})
	t.Run("10 biography of a cache entry", func(t *testing.T) {
		t.Parallel()
		look := []step{
			{"show cache catalog", []string{"catalog web01.example.com json immortal", "catalog web01.example.com yaml immortal"}, nil},
			{"show cache catalog web01.example.com", []string{
				"catalog web01.example.com in json", "written by: #2 find catalog, run 5a1b", "no expiry: terminus json does not keep it",
				"served: 50 times", "catalog web01.example.com in yaml", "unknown: before this recording",
			}, nil},
			{"show requests ind=catalog key=web01.example.com served=cache", []string{"requests", "#1044 find catalog web01.example.com stale"}, nil},
		}
		t.Run("looking only", func(t *testing.T) {
			t.Parallel()
			plainly(t, nil, append(look[:len(look):len(look)],
				step{"expire catalog web01.example.com", []string{"error: expire: refused: read-only mode"}, nil},
				step{"destroy catalog web01.example.com terminus=json", []string{"error: refused: read-only mode"}, nil},
			))
		})
		t.Run("with --write", func(t *testing.T) {
			t.Parallel()
			plainly(t, func(p *program) { p.write = true }, append(look[:len(look):len(look)],
				step{"expire catalog web01.example.com", []string{"expired catalog web01.example.com in json by #1048"}, nil},
				step{"destroy catalog web01.example.com terminus=json confirm=web02", []string{"error: refused: confirm= names another key; nothing was destroyed"}, nil},
				step{"destroy catalog web01.example.com terminus=json", []string{"#1049 destroy catalog web01.example.com ok"}, nil},
				step{"show cache catalog", []string{"catalog web01.example.com yaml"}, []string{"json  immortal"}},
			))
		})
	})
}

// What else can be written behind the colon can be written to --plain, too.
func TestPlainDoesWhatTheColonDoes(t *testing.T) {
	t.Parallel()
	plainly(t, nil, []step{
		{"group outcome", []string{"did :group outcome"}, nil},
		{"show requests", []string{"stale 8 requests worst stale last #1044"}, nil},
		{"group none", []string{"did :group none"}, nil},
		{"sort verb desc", []string{"did :sort verb desc"}, nil},
		{"show requests #1046..1047", []string{"2 requests"}, nil},
		{"sort #", []string{"did :sort #"}, nil},
		{"sort nothing", []string{"error: sort by what?; there are: #, verb"}, nil},
		{"diff find node web01.example.com terminus=exec,plain", []string{"A #1048 find node web01.example.com T exec", "B #10", "4 differences"}, nil},
		{"ignore .classes", []string{"did :ignore .classes"}, nil},
		{"diff find node web01.example.com terminus=exec,plain", []string{"3 differences"}, nil},
		{"diff #1 #999999", []string{"999999"}, nil},
		{"replay #1048 dry", []string{"what-if 1: ", "nothing was executed"}, nil},
		{"watch hidden", []string{"did :watch hidden"}, nil},
		{"recordings", nil, []string{"error"}},
		{"mark 1046 a", nil, []string{"did", "error"}},
		{"mark #1047 a", nil, []string{"did", "error"}},
		{"show requests @marked", []string{"2 requests"}, nil},
		{"head node web01.example.com &", nil, nil},
		{"wait", nil, nil},
		{"expect", []string{`error: no command is called "expect"; help lists them`}, nil},
		{"sleep soon", []string{"error: sleep soon: how long?"}, nil},
		{"open nothing.jsonl", []string{"error: open recording: open nothing.jsonl"}, nil},
		{"proxy nowhere", []string{"error: --upstream nowhere is no URL of a server"}, nil},
		{"serve --frobnicate", []string{"error: unknown flag: --frobnicate"}, nil},
		{"help", []string{"route IND terminus=T cache=C|off ttl=SECONDS [dry]", "quiet on | off: whether requests come by themselves"}, nil},
		{"help codes", []string{"stale"}, nil},
	})
}

// Whatever is offered behind the colon is offered to --plain.
func TestPlainOffersWhatTheColonOffers(t *testing.T) {
	t.Parallel()
	p := &program{Streams: Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, specs: termini.Specs(), termini: termini.All()}
	p.ui = interactive{demo: true}
	p.site.Dir, p.ui.record = places(t)
	s, err := viewer{p}.session()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	// A recording in which nothing was asked is not kept. What comes of it is not
	// the subject.
	_, _ = s.engine.Ask(t.Context(), &indirector.Request{Verb: indirector.Find, Indirection: "node", Key: "x"})
	played := make(chan struct{})
	close(played)
	plain := newPlain(t.Context(), p, s, played).console.Usages()
	screen := console.New(t.Context(), engineEnv(s.engine, time.Now), viewer{p}.consoleOptions(s, func(opener) tea.Cmd { return nil }))
	names := screen.Names()
	if len(names) < 30 {
		t.Errorf("only %d commands are offered on the screen", len(names))
	}
	for _, c := range names {
		if !slices.ContainsFunc(plain, func(usage string) bool {
			return strings.HasPrefix(usage, c.Name+" ") || strings.HasPrefix(usage, c.Name+":")
		}) {
			t.Errorf("--plain does not offer %s", c.Name)
		}
	}
}

// What is reported while the prompt stands there begins on a line of its own.
func TestPrompter(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &prompter{Writer: bufio.NewWriter(&out)}
	fmt.Fprint(w, "> ")
	w.prompts = true
	fmt.Fprintln(w, "#1 find node web01")
	fmt.Fprintln(w, "#2 find node web02")
	if err := w.Flush(); err != nil || out.String() != "> \n#1 find node web01\n#2 find node web02\n" {
		t.Errorf("%v: got %q", err, out.String())
	}
}
