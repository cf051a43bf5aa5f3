// Package ui is the interactive program: the root that owns size, places,
// overlays, keys and messages, and shows the screens of the packages below it.
//
// The root is the only tea.Model. It looks up each key in one table and hands
// the screen on top a command; it waits for news of the log and hands out
// snapshots, at most 30 a second; it alone turns lines into what a terminal
// understands. It does not know what a row is.
package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/stores"
	"indirtui/traces/query"
	"indirtui/ui/requests"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/steps"
	"indirtui/ui/term"
	"indirtui/ui/tour"
	"indirtui/ui/widget"
)

// The least size that anything is shown in.
const (
	MinWidth  = 60
	MinHeight = 16
)

// frame is the least time between two snapshots: at most 30 a second.
const frame = time.Second / 30

// toastFor is how long a message stays.
const toastFor = 3 * time.Second

// chrome is the tabs, the border above and below, and the hints. The line for
// messages belongs to the body, and is never used by it.
const chrome = 4

// A Place is one of the places of the program, reached by its number.
type Place struct {
	Key    string // "1"
	Name   string // "Requests"
	Screen screen.Screen
	// Badge is what stands behind the name: a number, "*1". Nil is nothing.
	Badge func() (string, term.Style)
}

// A stack is a place and what is open on top of it.
type stack struct {
	place   Place
	screens []*screen.Abilities // the first is the place itself
}

func (s *stack) top() *screen.Abilities { return s.screens[len(s.screens)-1] }

// A Model is the root: the one tea.Model of the program.
type Model struct {
	cfg           Config
	env           *session.Env
	width, height int

	stacks    []*stack
	at        int               // the place
	visited   []int             // places before, newest last
	empty     *screen.Abilities // nil if there is none
	snapshot  session.Snapshot
	snapped   bool
	last      time.Time // of the last snapshot
	typeahead typeahead

	hello   []string // shown at the start
	toast   screen.Toast
	works   []*work
	toasts  int    // counts toasts, so that a later one is not hidden early
	count   int    // of 5j
	pending string // the key that waits for a letter: m ' g
	waiting *screen.Binding
	drawn   hintLines
	stopped bool // ctrl+c was pressed once
	history widget.History
	tour    tour.Tour
	quit    bool
	clicked clicked // last

	begun bool // the user has pressed a key

	problems int // what is wrong with Puppet's configuration, as of the last snapshot
	stores   []stores.State
	source   string // as of the last snapshot
}

// Messages of the root to itself.
type (
	hideToast struct{ n int }
	forget    struct{} // the first ctrl+c
)

func newModel(cfg Config, env *session.Env) *Model {
	r := &Model{cfg: cfg, env: env, source: cfg.Source}
	list := requests.New(env)
	failed := requests.NewFailures(env)
	env.Selection = list.Selection
	r.add(Place{Key: "1", Name: "Requests", Screen: list})
	r.add(Place{Key: "2", Name: "Failures", Screen: failed, Badge: r.failures})
	if cfg.Places != nil {
		for _, p := range cfg.Places(env) {
			r.add(p)
		}
	}
	if cfg.FirstRun != nil {
		r.empty = screen.AbilitiesOf(cfg.FirstRun(env))
	}
	return r
}

func (r *Model) add(p Place) {
	r.stacks = append(r.stacks, &stack{p, []*screen.Abilities{screen.AbilitiesOf(p.Screen)}})
}

// placeNames returns the names of all places, in the order of their keys.
func (r *Model) placeNames() []string {
	names := make([]string, len(r.stacks))
	for i, s := range r.stacks {
		names[i] = s.place.Name
	}
	return names
}

func (r *Model) failures() (string, term.Style) {
	if r.snapshot.Stats.Failed == 0 {
		return "", term.Plain
	}
	return term.Grouped(int64(r.snapshot.Stats.Failed)), term.Attention
}

func (r *Model) current() *stack { return r.stacks[r.at] }

// shown returns the screen on top. While nothing has been asked yet the place
// Requests is the card of the first run.
func (r *Model) shown() *screen.Abilities {
	if s := r.current(); len(s.screens) > 1 {
		return s.top()
	}
	return r.under()
}

func (r *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{r.pull(), r.watch(), r.begin()}
	for _, note := range r.hello {
		cmds = append(cmds, r.show(screen.Toast{Text: note}))
	}
	return tea.Batch(cmds...)
}

// Pull takes a snapshot of the log now.
func (r *Model) Pull() tea.Msg { return snapshotOf(r.env) }

// pull waits for news and takes a snapshot.
func (r *Model) pull() tea.Cmd {
	if r.cfg.Hooks.Pull != nil {
		return r.cfg.Hooks.Pull
	}
	first, log, last := !r.snapped, r.env.Log, r.last
	return func() tea.Msg {
		if !first {
			select {
			case <-log.Changed():
			case <-r.cfg.ctx.Done():
				return nil
			}
			if wait := frame - time.Since(last); wait > 0 {
				select {
				case <-time.After(wait):
				case <-r.cfg.ctx.Done():
					return nil
				}
			}
		}
		return snapshotOf(r.env)
	}
}

// played comes when a demo has been played.
type played struct{}

// settleFor is how long the list may take to follow what was played.
const settleFor = 100 * time.Millisecond

// begin waits for the end of what a demo plays.
func (r *Model) begin() tea.Cmd {
	if r.cfg.Begin == nil {
		return nil
	}
	return screen.Later(func() tea.Msg {
		if !r.cfg.Begin(r.cfg.ctx) {
			return nil
		}
		return r.env.After(settleFor, played{})()
	})
}

// chooseFailure begins a demo where something is wrong, unless the user has begun.
func (r *Model) chooseFailure() tea.Cmd {
	if r.begun || r.at != 0 || len(r.current().screens) > 1 {
		return nil
	}
	_, id := r.env.Selection()
	if row, ok := r.env.Log.Row(id); ok && row.Outcome.Failed() {
		return nil // as where a situation is one request
	}
	return r.command(screen.Command{Action: screen.PrevFailure})
}

// noticed names files of the configuration that have changed on disk.
type noticed struct{ what string }

// watch waits until files of the configuration change on disk. Nothing is drawn
// meanwhile.
func (r *Model) watch() tea.Cmd {
	if r.cfg.Watch == nil || r.cfg.Hooks.Pull != nil {
		return nil
	}
	return screen.Later(func() tea.Msg {
		if what, ok := r.cfg.Watch(r.cfg.ctx); ok {
			return noticed{what}
		}
		return nil
	})
}

// notice shows what has changed on disk.
func (r *Model) notice(what string) tea.Cmd {
	r.recount()
	cmds := []tea.Cmd{r.watch(), r.refresh()}
	if what != "" {
		cmds = append(cmds, r.show(screen.Toast{Text: what, Bad: true}))
	}
	return tea.Batch(cmds...)
}

// recount counts what is wrong with the configuration, and asks how stores are.
func (r *Model) recount() {
	if r.env.Problems != nil {
		r.problems = len(r.env.Problems())
	}
	if r.cfg.Stores != nil {
		r.stores = r.cfg.Stores()
	}
	r.source = r.cfg.Source
	if r.cfg.Watched != nil {
		r.source = cmp.Or(r.cfg.Watched(), r.source)
	}
}

func snapshotOf(env *session.Env) session.Snapshot {
	s := session.Snapshot{Stats: env.Log.Stats(), At: env.Now()}
	s.First, s.Last = env.Log.Range()
	return s
}

func (r *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg.(type) {
	case tea.KeyMsg, tea.MouseMsg:
		r.tour.Press()
		r.begun = true
	}
	cmd := r.update(msg)
	if r.tour.On() && r.width >= MinWidth && r.height >= MinHeight {
		// The text of the tour is no sign that a step has happened.
		above, below := r.around()
		r.tour.Saw(append(above, below...).Text())
	}
	cmd = tea.Batch(append([]tea.Cmd{cmd}, r.typeahead.free...)...)
	r.typeahead.free = nil
	return r, r.cfg.guard(cmd)
}

func (r *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		r.resize(msg.Width, msg.Height)
		if r.snapped && r.width >= MinWidth && r.height >= MinHeight {
			return r.refresh() // there may be room for more
		}
	case tea.KeyMsg:
		return r.typed(msg)
	case settled:
		return r.settle(msg)
	case release:
		return r.release(msg)
	case tea.MouseMsg:
		return r.mouse(msg)
	case session.Snapshot:
		return r.news(msg)
	case session.Set:
		return r.env.Apply(msg)
	case screen.For:
		return msg.Screen.Update(msg.Msg)
	case screen.Work:
		return r.startWork(msg)
	case worked:
		return r.endWork(msg)
	case screen.Background:
		r.typeahead.free = append(r.typeahead.free, msg.Cmd)
	case hideToast:
		if msg.n == r.toasts {
			r.toast = screen.Toast{}
		}
	case forget:
		r.stopped = false
	case ended:
		return r.end()
	case onRoot:
		return msg()
	case played:
		return r.chooseFailure()
	case noticed:
		return r.notice(msg.what)
	default:
		return r.handle(msg)
	}
	return nil
}

// handle takes a message of a screen to the root.
func (r *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.Push:
		return r.push(msg.Screen)
	case screen.Pop:
		r.pop(msg.Screen)
		return msg.Then
	case screen.Go:
		return r.goTo(func(p *Place) bool { return p.Name == msg.Place })
	case screen.Open:
		return r.open(msg)
	case screen.Filter:
		return r.filter(msg.Text)
	case screen.Group, screen.Sort:
		cmd := r.goTo(func(p *Place) bool { return p.Key == "1" })
		return tea.Batch(cmd, r.current().place.Screen.Update(msg))
	case screen.Do:
		return r.command(msg.Handle)
	case screen.Run:
		return r.run(msg.Text)
	case screen.Ask:
		return r.ask(msg.Text, msg.Problem)
	case screen.Toast:
		return r.show(msg)
	case screen.Done:
		return r.done(msg)
	case screen.Copy:
		return r.copy(msg)
	case screen.Replace:
		return r.replace(msg)
	case screen.Leave:
		return r.leave()
	case screen.Tour:
		return r.chooseTour()
	case screen.BeginTour:
		return tea.Batch(r.goTo(func(p *Place) bool { return p.Key == "1" }), r.travel(func() { r.tour.Begin(&tour.Journeys()[msg.Number]) }))
	case tea.ResumeMsg:
		return nil
	}
	return r.shown().Update(msg)
}

func (r *Model) news(s session.Snapshot) tea.Cmd {
	r.snapshot, r.snapped, r.last = s, true, time.Now()
	r.recount()
	cmds := []tea.Cmd{r.pull()}
	// The place below an open screen goes on, so that it is right when the screen
	// closes; other places take the latest when they are shown.
	for _, sc := range r.current().screens {
		cmds = append(cmds, sc.Update(s))
	}
	if r.empty != nil && s.Stats.Total == 0 {
		cmds = append(cmds, r.empty.Update(s))
	}
	return tea.Batch(cmds...)
}

// body is the space for screens: without chrome and walls, and without the line
// for messages.
func (r *Model) body() (width, height int) {
	return max(r.width-2, 0), max(r.height-chrome-1-r.tour.Rows(), 0)
}

func (r *Model) resize(width, height int) {
	r.width, r.height = width, height
	if width < MinWidth || height < MinHeight {
		return // nothing is lost: the screens keep what they had
	}
	for _, s := range r.stacks {
		for _, sc := range s.screens {
			r.fit(sc)
		}
	}
	if r.empty != nil {
		r.fit(r.empty)
	}
}

func (r *Model) fit(s *screen.Abilities) {
	w, h := r.body()
	if s.Rows != nil {
		h = min(s.Rows(), h)
	}
	s.Resize(w, h)
}

func (r *Model) push(pushed screen.Screen) tea.Cmd {
	s := screen.AbilitiesOf(pushed)
	r.current().screens = append(r.current().screens, s)
	r.fit(s)
	return tea.Batch(s.Update(r.snapshot), s.Load())
}

// pop closes a screen and what is above it; without one, the screen on top. A
// place stays.
func (r *Model) pop(which screen.Screen) {
	s := r.current()
	for _, s := range r.stacks {
		for i := 1; i < len(s.screens) && which != nil; i++ {
			if s.screens[i].Screen == which {
				s.screens = s.screens[:i]
				return
			}
		}
	}
	if which == nil && len(s.screens) > 1 {
		s.screens = s.screens[:len(s.screens)-1]
	}
}

func (r *Model) goTo(is func(*Place) bool) tea.Cmd {
	for i, s := range r.stacks {
		if is(&s.place) {
			if i == r.at {
				s.screens = s.screens[:1] // the place itself, without what lies on it
			} else {
				r.visited = append(r.visited, r.at)
				r.at = i
			}
			return r.refresh()
		}
	}
	return nil
}

// refresh gives the screens of the place the latest news.
func (r *Model) refresh() tea.Cmd {
	var cmds []tea.Cmd
	for _, sc := range r.current().screens {
		r.fit(sc)
		cmds = append(cmds, sc.Update(r.snapshot))
	}
	return tea.Batch(cmds...)
}

// open shows the steps of a request: in the steps that are open, or on top.
func (r *Model) open(msg screen.Open) tea.Cmd {
	if top := r.current().top(); top.Show != nil && !msg.New {
		return top.Show(msg.Request)
	}
	return r.push(steps.New(r.env, msg.Request))
}

// filter shows the place Requests with a filter, and nothing on top of it.
func (r *Model) filter(text string) tea.Cmd {
	cmd := r.goTo(func(p *Place) bool { return p.Key == "1" })
	list := r.current()
	list.screens = list.screens[:1]
	return tea.Batch(cmd, list.place.Screen.Update(screen.Filter{Text: text}))
}

func (r *Model) show(t screen.Toast) tea.Cmd {
	t.Text, t.Advice = r.env.Redacted(t.Text), r.env.Redacted(t.Advice)
	r.toast = t
	r.toasts++
	text := t.Text
	if t.Advice != "" {
		text += "; " + t.Advice
	}
	r.env.Events.Add(screen.Event{At: r.env.Now(), Text: text, Bad: t.Bad})
	hide := r.env.After(toastFor, hideToast{r.toasts})
	if t.Again == nil || r.shown().Captures() {
		return hide // the user types elsewhere by now
	}
	r.toast = screen.Toast{} // the prompt has the reason
	return tea.Batch(hide, t.Again)
}

func (r *Model) done(d screen.Done) tea.Cmd {
	text := "did " + d.Command
	r.recount()
	if d.Change != nil {
		r.env.Undo.Add(*d.Change)
		if b := r.env.Keys.Of(screen.Undo, screen.Everywhere); b != nil {
			text += "   " + b.Key() + " undo"
		}
	}
	return r.show(screen.Toast{Text: text})
}

func (r *Model) undo(step func() (string, tea.Cmd), verb, none string) tea.Cmd {
	command, cmd := step()
	if command == "" {
		return r.show(screen.Toast{Text: none})
	}
	return tea.Batch(cmd, r.show(screen.Toast{Text: verb + " " + command}))
}

func (r *Model) copy(c screen.Copy) tea.Cmd {
	if r.cfg.Hooks.Clipboard == nil {
		return r.show(screen.Toast{Text: "there is no clipboard", Bad: true})
	}
	write := r.cfg.Hooks.Clipboard
	return func() tea.Msg {
		way, err := write(c.Text)
		if err != nil {
			return screen.Toast{Text: "copy " + c.What + ": " + err.Error(), Bad: true}
		}
		return screen.Toast{Text: fmt.Sprintf("copied %s, %s, %s", c.What, term.Bytes(int64(len(c.Text))), way)}
	}
}

// run runs a line of the command prompt.
func (r *Model) run(text string) tea.Cmd {
	cmd, err := r.line(text)
	if err != nil {
		return r.show(screen.Toast{Text: err.Error(), Bad: true})
	}
	return cmd
}

// line returns what runs a line of the command prompt. What every place can do is
// done here; the rest is the Commander's. The error is why it is refused.
func (r *Model) line(text string) (tea.Cmd, error) {
	do := func(run func() tea.Cmd) (tea.Cmd, error) { return screen.Send(onRoot(run)), nil }
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch word {
	case "":
		return nil, nil
	case "quit", "q":
		return do(r.leave)
	case "filter":
		if _, err := query.Parse(rest); strings.TrimSpace(rest) != "" && err != nil {
			return nil, err
		}
		return do(func() tea.Cmd { return r.filter(strings.TrimSpace(rest)) })
	case "log":
		return do(r.log)
	case "redact":
		return do(func() tea.Cmd {
			return r.show(screen.Toast{Text: "values are masked where they are recorded; . in a value reveals one for 10 s"})
		})
	}
	if r.env.Commands == nil {
		return nil, fmt.Errorf("there is no command %s", word)
	}
	return r.env.Commands.Run(text)
}

// onRoot is something that the root does when it gets it: after the prompt has
// closed.
type onRoot func() tea.Cmd

// ask opens the command prompt. A line that is refused stays, with the reason, until
// it is mended or the prompt is left.
func (r *Model) ask(text, problem string) tea.Cmd {
	p := widget.Prompt{
		Label: ":", Hint: "filter EXPR   log   quit", History: &r.history, Secret: r.secret,
		Enter: func(text string) (*widget.Problem, tea.Cmd) {
			cmd, err := r.line(text)
			if err != nil {
				return r.refused(err.Error()), nil
			}
			return nil, cmd
		},
	}
	if c := r.env.Commands; c != nil {
		p.Complete = c.Complete
	}
	p.Input.Set(text)
	prompt := widget.NewPrompt(&r.env.Shared, p)
	if problem != "" {
		prompt.Refuse(text, widget.Problem{Offset: -1, Text: r.env.Redacted(problem)})
	}
	return r.push(prompt)
}

// refused is the reason why a line is refused, for its prompt. It is in the log of
// messages, too.
func (r *Model) refused(text string) *widget.Problem {
	text = r.env.Redacted(text)
	r.env.Events.Add(screen.Event{At: r.env.Now(), Text: text, Bad: true})
	return &widget.Problem{Offset: -1, Text: text}
}

// log shows the event log.
func (r *Model) log() tea.Cmd {
	p := widget.Page{Title: "event log"}
	for _, e := range r.env.Events.All() {
		style := term.Plain
		if e.Bad {
			style = term.Attention
		}
		p.Add(r.env.Clock(e.At), e.Text, style)
	}
	return r.push(widget.NewPager(&r.env.Shared, p))
}

// secret reports whether there is a secret in a line of the command prompt.
func (r *Model) secret(text string) bool {
	c, ok := r.env.Commands.(interface{ Secret(text string) bool })
	return ok && c.Secret(text)
}

// leave ends the program, and asks first if something would be lost.
func (r *Model) leave() tea.Cmd {
	why := r.losses()
	if len(why) == 0 {
		return r.end()
	}
	items := []widget.Item{{Key: 'y', Name: "quit", Do: func() tea.Msg { return ended{} }}, {Key: 'n', Name: "stay"}}
	if d := r.env.Debugger; d != nil && r.held() > 0 {
		items = []widget.Item{
			{Key: 'y', Name: "let them go on and quit", Do: func() tea.Msg { d.ContinueAll(); return ended{} }},
			{Key: 'f', Name: "fail them and quit", Note: "their callers get an error", Do: func() tea.Msg { d.FailAll("the debugger was left"); return ended{} }},
			items[1],
		}
	}
	return r.push(widget.NewMenu(&r.env.Shared, "quit?  "+strings.Join(why, " and ")+" would be forgotten", items))
}

// held is how many requests are held now; what is on the screen may be of a moment before.
func (r *Model) held() int { return int(r.env.Log.Stats().Held) }

// losses are what is forgotten when the session ends, though it is recorded.
func (r *Model) losses() (what []string) {
	if n := r.held(); n > 0 {
		what = append(what, term.Plural(n, "held request"))
	}
	if n := r.overrides(); n > 0 {
		what = append(what, term.Plural(n, "changed route"))
	}
	if n := r.setHere(); n > 0 {
		what = append(what, term.Plural(n, "changed setting"))
	}
	return what
}

// replace shows another session, and asks first if this one has requests: a
// recording that is looked at loses nothing.
func (r *Model) replace(msg screen.Replace) tea.Cmd {
	lost, requests := r.losses(), r.env.Log.Stats().Total
	if r.cfg.Replay != "" || requests == 0 && len(lost) == 0 {
		return msg.Then
	}
	kept := ""
	if path := r.env.Log.Path(); path == "" {
		lost = append(lost, term.Plural(int(requests), "request"))
	} else if requests > 0 {
		kept = term.Plural(int(requests), "request") + " kept in " + path
	}
	title := "end this session for " + msg.With + "?"
	if len(lost) > 0 {
		title += "  " + strings.Join(lost, " and ") + " would be forgotten"
	}
	return r.push(widget.NewMenu(&r.env.Shared, title, []widget.Item{{Key: 'y', Name: "end it", Note: kept, Do: msg.Then}, {Key: 'n', Name: "stay"}}))
}

func (r *Model) overrides() int {
	if r.cfg.Overrides == nil {
		return 0
	}
	return r.cfg.Overrides()
}

func (r *Model) setHere() int {
	if r.cfg.SetHere == nil {
		return 0
	}
	return r.cfg.SetHere()
}

type ended struct{}

func (r *Model) end() tea.Cmd {
	r.quit = true
	return tea.Quit
}

// chooseTour asks which journey to go on. They are made for the demo.
func (r *Model) chooseTour() tea.Cmd {
	if !r.cfg.Demo {
		return r.show(screen.Toast{Text: "the tour is made for the demo", Advice: ":demo shows it"})
	}
	var items []widget.Item
	const keys = "123456789abcdefghi"
	for i, j := range tour.Journeys() {
		items = append(items, widget.Item{Key: rune(keys[i]), Name: j.Name, Do: func() tea.Msg { return screen.BeginTour{Number: i} }})
	}
	return r.push(widget.NewMenu(&r.env.Shared, "a guided tour: which way?", items))
}

// travel begins a journey, or goes on with it, and fits the screens into what it
// leaves of the space.
func (r *Model) travel(change func()) tea.Cmd {
	change()
	r.resize(r.width, r.height)
	return nil
}
