// Package console reads the lines of the command prompt, runs them, and shows
// what was asked and answered.
//
// Each command is one entry of a table: its name, how it is written, what it
// does, how it goes on. A command that cannot work in a session is not offered.
package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
	"indirtui/indirector/settings"
	"indirtui/indirector/stores"
	"indirtui/traces"
	"indirtui/ui/command"
	"indirtui/ui/plan"
	"indirtui/ui/recordings"
	"indirtui/ui/routes"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/value"
	"indirtui/ui/widget"
)

// An Engine is what commands ask and change: an *engine.Engine. It is safe for
// concurrent use.
type Engine interface {
	routes.Engine
	// Ask answers a request, and refuses to touch real data in read-only mode.
	Ask(context.Context, *indirector.Request) (indirector.Response, error)
	Plan(context.Context, *indirector.Request, indirector.Routes) indirector.Forecast
	Writes() bool
	SetWrite(on bool)
}

// Settings are Puppet's settings: a *settings.Settings.
type Settings interface {
	All() []settings.Setting
	Setting(name string) (settings.Setting, bool)
}

// Options are what commands need. A command whose need is nil is not offered.
type Options struct {
	Engine     Engine             // nil in a recording
	Settings   Settings           // of the engine
	Configured command.Configured // changes them; nil if they cannot be changed
	// Files are what Puppet is configured by, which can be read again; nil if there
	// are none, as in a recording.
	Files       command.Configuration
	Application string   // whose section of routes.yaml is exported
	Places      []string // names of places, for show; nil is Requests, Failures, Routes

	Open func(path string) tea.Cmd          // opens a recording
	Demo func(name string) (tea.Cmd, error) // plays the demo, or a situation by its number; the error: there is none
	Note func(id uint64, text string) error // adds a comment to a request
	// Serve and Proxy answer agents from now on, by the words of the command
	// line; Story returns the stories of the runs that a selector means, one
	// sentence each.
	Serve, Proxy func(words []string) (tea.Cmd, error)
	// Attach watches Puppet processes from now on, Detach no longer.
	Attach func(words []string) (tea.Cmd, error)
	Detach func() (tea.Cmd, error)
	// Values lets the processes that are watched render the values of their requests,
	// or not. The error is that none are watched.
	Values func(on bool) error
	Story  func(selector string) ([]string, error)
	// Stores returns the states of stores, the newest first; none if none was used. Retry
	// lets PuppetDBs get commands again that did not answer, and returns their URLs.
	Stores func() []stores.State
	Retry  func() []string
	// Situations are what demo knows by number, each with its title.
	Situations [][2]string
	// Machine is this machine as resource types ask for it, with its facts.
	Machine func(context.Context) types.Host
	// Plan works out what applying a catalog to this machine would do. It may take long.
	Plan func(context.Context, *model.Catalog, plan.Want) (plan.Result, error)
	// Kept reads a catalog, a plan or a report in a file.
	Kept func(path string) (command.Kept, error)
	// Foreign returns a type that is written in Ruby. It is nil where that is off.
	Foreign func(ctx context.Context, name string) (*types.Type, error)
	// Apply applies the catalog of a plan to this machine, whose name the user has typed, and
	// returns the lines of its log. If nil, nothing is applied. Here is as whom, and where.
	Apply func(context.Context, *plan.Result, plan.Confirmed) ([]string, error)
	Here  func() (user, host string)
	// Types returns the names of the resource types of the environment.
	Types func() []string
	// Keys returns what is stored of an indirection and begins with a text, each
	// with its terminus. If nil, only keys that were asked for are offered.
	Keys  func(indirection, typed string) [][2]string
	Group func(by string) tea.Cmd // groups the list of requests; "" is not at all
	Sort  func(column string, reverse bool) tea.Cmd
	// Output receives what commands answer, as it comes, where there is no screen;
	// nothing is kept for one then. It is called on the goroutine that calls Do.
	Output func(Output)
	// Own are commands that the owner of the Console runs itself, by their names,
	// with what stands behind the name as it is written.
	Own map[string]func(rest string) (tea.Cmd, error)
	// Plain means that the lines are written by a user without a screen: no
	// confirmation is asked for, and the owner prints the story of each answer.
	Plain bool
	// Script means that the lines are those of a file: no key completes them.
	Script bool
	// Write writes requests to a file, instead of Recordings. It may be nil.
	Write func(recordings.What) error
	// Recordings is what the list of recordings needs; without a Log there is none.
	Recordings recordings.Options
}

// A Console runs commands and keeps what they answered. It is a
// session.Commander, and the screen that shows the answers. It belongs to the
// goroutine of the user interface.
type Console struct {
	env     *session.Env
	o       Options
	ctx     context.Context // ends with the program: requests must not outlive it
	running map[int]context.CancelFunc
	started int
	wait    widget.Wait
	asked   string // what was asked last
	text    string // the line that was run last

	entries       []entry
	lines         []line
	list          widget.Table
	width, height int
	entered       []string
	newest        uint64 // the request that was answered last
	recent        recent
	plans         []*plan.Screen // the newest first
}

// An entry is a line of the user, or an answer to one.
type entry struct {
	style   term.Style
	text    string
	id      uint64 // the request that it is about; 0 if none
	row     bool   // it is the line of that request
	tail    string // behind that line
	refused bool   // something was not done
}

// A line is an entry, or a part of one, as it is shown.
type line struct {
	term.Line
	id uint64
}

// How much is remembered.
const (
	maxEntries = 2000
	maxEntered = 500
)

var (
	_ session.Commander = (*Console)(nil)
	_ screen.Screen     = (*Console)(nil)
)

// New returns a Console without anything in it. When ctx ends, so do the
// requests that it sent.
func New(ctx context.Context, env *session.Env, o Options) *Console {
	if o.Places == nil {
		o.Places = []string{"Requests", "Failures", "Routes"}
	}
	return &Console{env: env, o: o, ctx: ctx, running: make(map[int]context.CancelFunc), list: widget.Table{Gutter: 1}}
}

// Stop cancels the requests that run, and reports whether there were any.
func (c *Console) Stop() bool {
	some := len(c.running) > 0
	for _, cancel := range c.running {
		cancel()
	}
	clear(c.running)
	c.wait.End()
	return some
}

func (c *Console) Screen() screen.Screen { return c }

func (c *Console) Run(text string) (tea.Cmd, error) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), ":"))
	if text == "" {
		return nil, nil
	}
	c.text = text
	if !c.Secret(text) {
		c.remember(text)
	}
	c.add(entry{style: term.Bold, text: "> " + c.WithoutSecrets(text)})
	do, err := c.Do(text)
	if err != nil {
		c.add(entry{style: term.Attention, text: err.Error(), refused: true})
	}
	return mend(do, c.again(text)), err
}

// again offers a line that was refused after its prompt had closed.
func (c *Console) again(line string) func(why string) tea.Cmd {
	return func(why string) tea.Cmd { return screen.Send(screen.Ask{Text: line, Problem: why}) }
}

// mend lets a command that goes wrong offer its line again.
func mend(do tea.Cmd, again func(why string) tea.Cmd) tea.Cmd {
	if do == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := do().(type) {
		case tea.BatchMsg:
			for i := range msg {
				msg[i] = mend(msg[i], again)
			}
			return msg
		case screen.Background:
			msg.Cmd = mend(msg.Cmd, again)
			return msg
		case screen.Work:
			do := msg.Do
			msg.Do = func(ctx context.Context, progress func(done, total int64)) tea.Msg {
				return mend(func() tea.Msg { return do(ctx, progress) }, again)()
			}
			return msg
		case screen.Replace:
			msg.Then = mend(msg.Then, again)
			return msg
		case screen.Toast:
			if msg.Bad && msg.Again == nil {
				msg.Again = again(msg.Text)
			}
			return msg
		default:
			return msg
		}
	}
}

// Do runs a line without keeping it. The error is why it cannot be run; a
// *command.UsageError if it is not understood.
func (c *Console) Do(text string) (tea.Cmd, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if name == "" {
		return nil, nil
	}
	cmd := c.find(name)
	if cmd == nil {
		return nil, c.unknown(name)
	}
	l := call{name: name, rest: strings.TrimSpace(rest)}
	if own := c.o.Own[name]; own != nil {
		return own(l.rest)
	}
	var err error
	if l.words, err = command.Split(l.rest); err != nil && !cmd.expression {
		return nil, err
	}
	return cmd.run(c, l)
}

func (c *Console) remember(text string) {
	c.entered = slices.DeleteFunc(c.entered, func(s string) bool { return s == text })
	c.entered = append(c.entered, text)
	if len(c.entered) > maxEntered {
		c.entered = c.entered[1:]
	}
}

// refuse reports why a line was not run, here and on the line for messages. Again,
// which may be nil, offers the line to be mended.
func (c *Console) refuse(err error, again tea.Cmd) tea.Cmd {
	text := err.Error()
	c.add(entry{style: term.Attention, text: text, refused: true})
	return c.toast(screen.Toast{Text: text, Bad: true, Again: again})
}

// reply adds an answer that is no failure.
func (c *Console) reply(text string) tea.Cmd {
	c.add(entry{style: term.Plain, text: text})
	return c.toast(screen.Toast{Text: text})
}

// Print adds a text to what commands answer.
func (c *Console) Print(text string) { c.add(entry{style: term.Plain, text: text}) }

// toast repeats on the line for messages what was added here, if there is one.
func (c *Console) toast(t screen.Toast) tea.Cmd {
	if c.o.Output != nil {
		return nil
	}
	return screen.Send(t)
}

// An Output is one thing that a command answers: a text, or the line of a
// request.
type Output struct {
	Text    string
	Request uint64 // that was answered; 0 if it is not the line of one
	Refused bool   // Text is the reason why something was not done
}

func (c *Console) output(e entry) {
	out := Output{Text: e.text, Refused: e.refused}
	if row, ok := c.env.Log.Row(e.id); ok && e.row {
		out.Text, out.Request = resultText(&row, e.tail), e.id
	}
	c.o.Output(out)
}

// add adds an entry. A cursor at the end stays at the end.
func (c *Console) add(e entry) {
	if c.o.Output != nil {
		c.output(e)
		return
	}
	c.entries = append(c.entries, e)
	if len(c.entries) > maxEntries {
		c.entries = slices.Delete(c.entries, 0, maxEntries/10)
		c.layout()
		return
	}
	atEnd := c.list.AtEnd()
	c.lines = append(c.lines, c.render(e)...)
	c.list.SetLen(len(c.lines))
	if atEnd {
		c.list.To(c.list.Len - 1)
	}
}

// answered is what became of a request.
type answered struct {
	n    int
	id   uint64
	line string // that asked
	err  error
	tail string
	why  string // the story of what was not simply answered
}

// send asks a request in a command. Prepare, which may be nil, runs there too,
// before it.
func (c *Console) send(req *indirector.Request, prepare func(*indirector.Request) error) tea.Cmd {
	ask, _ := c.begin(req)
	return tea.Batch(c.wait.Begin(&c.env.Shared, c), screen.Later(func() tea.Msg {
		var err error
		if prepare != nil {
			err = prepare(req)
		}
		return screen.For{Screen: c, Msg: ask(err)}
	}))
}

// listing asks a search, and shows what it finds while it finds it. It does not
// run in a command: what has been found can be looked at before it has ended.
func (c *Console) listing(req *indirector.Request, line string) tea.Cmd {
	ask, cancel := c.begin(req)
	l := value.NewListing(c.env, line, cancel)
	req.Wants = &indirector.Wants{Yield: l.Yield}
	go func() { // ends with the program, whose context it has
		began := time.Now()
		a := ask(nil)
		how := "in " + session.Took(time.Since(began))
		switch {
		case errors.Is(a.err, context.Canceled):
			how = "cancelled"
		case errors.Is(a.err, indirector.ErrNotFound):
			how = "nil"
		case a.err != nil:
			how = "then: " + indirector.Message(a.err)
		}
		l.End(how, a.err != nil, screen.Send(screen.For{Screen: c, Msg: a}))
	}()
	return screen.Show(l)
}

// begin makes ready to ask a request: ask does it, unless it is given the error
// that prevents it, and cancel ends it.
func (c *Console) begin(req *indirector.Request) (ask func(error) answered, cancel func()) {
	ctx, cancel, n := c.start()
	req.Caller = "you"
	c.asked = strings.Join([]string{req.Verb.String(), req.Indirection, req.Key}, " ")
	engine, log, line := c.o.Engine, c.env.Log, c.text
	return func(err error) answered {
		a := answered{n: n, line: line, err: err}
		if err != nil {
			return a
		}
		var resp indirector.Response
		resp, a.err = engine.Ask(ctx, req)
		a.id, a.tail = command.TraceOf(resp, a.err), tail(req.Verb, resp)
		if t, terr := log.Trace(a.id); terr == nil && !t.Outcome.Well() {
			a.why = traces.Story(t)
		}
		return a
	}, cancel
}

// start returns the context of something that runs until end is called with its
// number.
func (c *Console) start() (ctx context.Context, cancel func(), n int) {
	ctx, cancel = context.WithCancel(c.ctx)
	c.started++
	c.running[c.started] = cancel
	return ctx, cancel, c.started
}

func (c *Console) end(n int) {
	if cancel := c.running[n]; cancel != nil {
		cancel()
		delete(c.running, n)
	}
	if len(c.running) == 0 {
		c.wait.End()
	}
}

// answer shows what became of a request.
func (c *Console) answer(a answered) tea.Cmd {
	c.end(a.n)
	row, ok := c.env.Log.Row(a.id)
	if !ok {
		if a.err == nil {
			return c.reply("answered; nobody records")
		}
		return c.refuse(fmt.Errorf("%s", indirector.Message(a.err)), c.again(a.line)(indirector.Message(a.err)))
	}
	c.newest = a.id
	c.add(entry{id: a.id, row: true, tail: a.tail})
	if a.why != "" && !c.o.Plain {
		c.add(entry{style: term.Quiet, text: "  " + a.why, id: a.id})
	}
	return c.toast(screen.Toast{Text: resultText(&row, a.tail), Advice: a.why, Bad: row.Outcome.Failed()})
}

// resultText is the line of a request: "#1050 find node web01  T plain  0 ms
// ok  (sent by you)".
func resultText(r *session.Row, tail string) string {
	parts := []string{session.Name(r), session.ServedBy(r), term.Millis(r.Took) + " ms", r.Outcome.String()}
	if tail != "" {
		parts = append(parts, tail)
	}
	return strings.Join(append(parts, "(sent by you)"), "  ")
}

func (c *Console) render(e entry) []line {
	if e.row {
		if row, ok := c.env.Log.Row(e.id); ok {
			return []line{{c.result(&row, e.tail), e.id}}
		}
		return []line{{term.Of(term.Quiet, fmt.Sprintf("#%d was dropped", e.id)), e.id}}
	}
	var out []line
	for _, part := range strings.Split(e.text, "\n") {
		texts := term.Clean(part).Wrap(max(c.width-2, 20), 6)
		if len(texts) == 0 {
			texts = []term.Text{{}}
		}
		for _, t := range texts {
			var l term.Line
			l.Add(e.style, t)
			out = append(out, line{l, e.id})
		}
	}
	return out
}

// The columns behind the name of a request.
const (
	servedCells = 14
	tookCells   = 9
	outCells    = 6
)

func (c *Console) result(r *session.Row, tail string) term.Line {
	var l term.Line
	sent := "(sent by you)"
	if c.width < 80 {
		sent = "" // as all of them are
	}
	behind := servedCells + tookCells + outCells + len(sent) + 6
	l.Cell(term.Plain, term.Clean(session.Name(r)), min(max(c.width-behind-2, 16), 56))
	l.Space(1)
	served := term.Plain
	if r.Served == traces.ByCache {
		served = term.Cached
	}
	l.Cell(served, term.Clean(session.ServedBy(r)), servedCells)
	l.Right(term.Plain, term.Clean(term.Millis(r.Took)+" ms"), tookCells)
	l.Space(2)
	l.Cell(session.StyleOf(r.Outcome), term.Clean(r.Outcome.String()), outCells)
	l.Put(term.Touched, sent)
	if tail != "" {
		l.Put(term.Quiet, "  "+tail)
	}
	return l
}

func (c *Console) Scope() screen.Scope { return screen.InConsole }

func (c *Console) Resize(width, height int) {
	again := width != c.width
	c.width, c.height = width, height
	atEnd := c.list.AtEnd()
	c.list.SetHeight(height)
	if again {
		c.layout()
	}
	if atEnd {
		c.list.To(c.list.Len - 1)
	}
}

func (c *Console) layout() {
	atEnd := c.list.AtEnd()
	c.lines = c.lines[:0]
	for _, e := range c.entries {
		c.lines = append(c.lines, c.render(e)...)
	}
	c.list.SetLen(len(c.lines))
	if atEnd {
		c.list.To(c.list.Len - 1)
	}
}

func (c *Console) Update(msg tea.Msg) tea.Cmd {
	if cmd, is := c.wait.Tick(msg); is {
		return cmd
	}
	switch msg := msg.(type) {
	case answered:
		return c.answer(msg)
	case applied:
		return c.applied(msg)
	case printed:
		return c.reply(string(msg))
	case warned:
		c.add(entry{style: term.Attention, text: string(msg)})
		return c.toast(screen.Toast{Text: string(msg), Bad: true})
	case confirmed:
		return c.send(msg.req, nil)
	case runsRead:
		var cmd tea.Cmd
		for _, sentence := range msg {
			cmd = c.reply(sentence)
		}
		return cmd
	case both:
		return c.compareTwo(msg.a, msg.b)
	case twoFiles:
		return c.compareSets(msg[0], msg[1], true)
	case twoRuns:
		return c.compareSets(msg[0], msg[1], false)
	case replayed:
		return c.replayed(msg)
	case changed:
		return c.haveChanged(msg)
	case rechecked:
		return c.listProblems()
	}
	return nil
}

type (
	printed   string
	warned    string
	confirmed struct{ req *indirector.Request }
)

func (c *Console) Context() (left, right term.Line) {
	left.Put(term.Bold, "Console")
	if b := c.env.Keys.Of(screen.Console, c.Scope()); b != nil {
		left.Put(term.Quiet, "  "+b.Key()+" hides")
	}
	if c.wait.Long() {
		words := c.asked
		if n := len(c.running); n > 1 {
			words = term.Plural(n, "request")
		}
		c.wait.Put(&right, term.Touched, term.Clean(words).CutMiddle(max(c.width/3, 8)).String())
		right.Put(term.Quiet, " · ")
	}
	switch {
	case c.o.Engine == nil:
		right.Put(term.Quiet, "recording: nothing can be asked here ")
	case c.o.Engine.Writes():
		right.Put(term.Touched, "writes are allowed")
		right.Put(term.Quiet, "   :write off ")
	default:
		right.Put(term.Plain, "read-only")
		right.Put(term.Quiet, "   :write on to change ")
	}
	return left, right
}

func (c *Console) Hints() []screen.Action {
	return []screen.Action{screen.CommandLine, screen.Enter, screen.CopyMenu, screen.Back}
}

func (c *Console) Disabled(do screen.Action) string {
	switch do {
	case screen.Enter:
		return screen.ReasonIf(c.focus() == 0, "this line is about no request")
	case screen.CopyMenu:
		return screen.ReasonIf(len(c.entries) == 0, "nothing was asked yet")
	}
	return screen.ReasonIf(!widget.Moves(do), screen.Unknown)
}

// focus is the request that the line under the cursor is about.
func (c *Console) focus() uint64 {
	if c.list.Cursor >= len(c.lines) {
		return 0
	}
	return c.lines[c.list.Cursor].id
}

func (c *Console) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Enter:
		return screen.Send(screen.Open{Request: c.focus()})
	case screen.CopyMenu:
		return screen.Show(widget.NewMenu(&c.env.Shared, "copy", c.copies()))
	}
	return nil
}

func (c *Console) copies() []widget.Item {
	copied := func(what, text string) tea.Cmd { return screen.Send(screen.Copy{What: what, Text: text}) }
	var all strings.Builder
	for i := range c.lines {
		all.WriteString(c.lines[i].String() + "\n")
	}
	var asked string
	for _, e := range c.entries {
		if e.style == term.Bold {
			asked += strings.TrimPrefix(e.text, "> ") + "\n"
		}
	}
	return []widget.Item{
		{Key: 'c', Name: "commands", Note: "what was asked here, one command a line", Do: copied("commands", asked)},
		{Key: 'a', Name: "all", Note: "commands and answers", Do: copied("console", all.String())},
	}
}

func (c *Console) View() term.Lines {
	if len(c.lines) == 0 {
		return c.blank().Fill(c.width, c.height)
	}
	return c.list.Lines(c.env.Theme, c.width, func(i int, r *widget.Row) {
		r.To(1)
		r.Append(c.lines[i].Line)
	})
}

// List returns the entries.
func (c *Console) List() screen.List { return &c.list }

// blank is what stands here before the first command.
func (c *Console) blank() term.Lines {
	line := func(text string) term.Line { return term.Of(term.Plain, "   "+text) }
	lines := term.Lines{{}, line("Nothing was asked here yet."), {}}
	if c.o.Engine == nil {
		return append(lines, term.Of(term.Quiet, "   This is a recording: it can be looked at, and nothing can be asked."))
	}
	return append(lines,
		line(":find facts localhost        ask something; it is recorded and marked as sent by you"),
		line(":route node terminus=yaml    let another terminus answer; z undoes it"),
		line(":help commands               everything that can be said here"),
	)
}
