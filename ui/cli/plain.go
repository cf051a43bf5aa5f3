package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/mattn/go-isatty"

	"indirtui/indirector"
	"indirtui/indirector/resource/transaction"
	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/console"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/steps"
	"indirtui/ui/term"
)

// A plain is the program without a screen: one line for each request as it
// ends, and commands that are answered with lines. Nothing moves the cursor, so
// it can be read aloud, piped and scripted. Rule: UI design, section 13.
type plain struct {
	runner
	p      *program
	s      *workspace
	out    *prompter
	redact func(string) (string, int)

	filter *query.Expr // of the lines that come by themselves
	shown  string      // its text
	quiet  bool        // none do
	order  screen.Sort // of lists of requests
	group  string      // what they are grouped by; "" is nothing

	next     uint64            // the request to look at next
	open     []uint64          // those before it that had not ended
	where    map[uint64]string // where each request was held when that was printed
	answered []string          // what the line that is run answered
	silent   bool              // it answers nothing but errors
	printed  int               // lines of the terminal that were
	left     bool              // the user has left
	then     opener            // what is shown next; nil is nothing
	prompt   bool
}

// An opener opens the session that is shown next.
type opener = func() (*workspace, error)

// switched asks for another session.
type switched struct{ to opener }

// runPlain runs the program over a session without a screen, and then over those
// that are opened from there.
func (v viewer) runPlain(ctx context.Context, s *workspace) (err error) {
	limitMemory(memoryLimit)
	lines, ended := make(chan string), make(chan struct{})
	defer close(ended)
	go readLines(v.p.In, lines, ended) // ends with its input, which may be later than the program
	for s != nil && err == nil {
		s, err = v.runOnePlain(ctx, s, lines)
	}
	return err
}

func (v viewer) runOnePlain(ctx context.Context, s *workspace, lines <-chan string) (next *workspace, err error) {
	ctx, cancel := context.WithCancel(ctx)
	s.guard.Watch(cancel)
	played := make(chan struct{})
	var playErr error
	go func() {
		defer close(played)
		if s.site != nil {
			playErr = s.play(ctx)
		}
	}()
	x := newPlain(ctx, v.p, s, played)
	defer func() {
		x.end(cancel)
		<-played
		path := s.log.Path()
		if s.empty() || s.engine == nil {
			path = "" // nothing is kept, or it was there before
		}
		err = errors.Join(err, ignoreCanceled(playErr), s.close(), v.p.out.Flush())
		end := s.guard.Exit()
		if next != nil && end.Code() == exitOK {
			return
		}
		err = errors.Join(err, end.Report(v.p.Err, path))
		if code := end.Code(); code != exitOK && err == nil {
			err = exit(code)
		}
	}()
	if err := x.greet(); err != nil {
		return nil, err
	}
	return x.loop(lines)
}

func newPlain(ctx context.Context, p *program, s *workspace, played <-chan struct{}) *plain {
	x := &plain{p: p, s: s, out: &prompter{Writer: p.out}, next: 1, where: map[uint64]string{}}
	x.runner = newRunner(ctx, s.log, x.take)
	x.playing = played
	o := viewer{p}.consoleOptions(s, func(open opener) tea.Cmd { return screen.Send(switched{open}) })
	x.redact = o.Recordings.Redact
	now := p.site.Now
	if now == nil {
		now = time.Now
	}
	x.env = &session.Env{Shared: screen.Shared{Now: now, Zone: time.Local}, Log: s.log, RedactText: x.redact}
	if s.engine != nil {
		x.env = engineEnv(s.engine, now)
		x.debugger, x.env.Probe = s.engine.Debugger, prober(ctx, s.engine)
		x.env.Processes = s.holding()
	}
	x.env.Keys, _ = screen.NewKeys(nil)
	x.env.Selection = func() (string, uint64) { return x.shown, 0 }
	x.env.Ignored, x.env.Keep = s.kept.Ignore, s.kept.keep
	if s.engine != nil {
		o.Attach = viewer{p}.attachHere(s, func(a *watching) tea.Cmd { return screen.Notify(a.source() + ", on " + a.listener.Path()) })
	}
	o.Plain, o.Output, o.Own, o.Write, o.Story = true, x.output, x.own(), x.write, nil
	x.console = console.New(ctx, x.env, o)
	if f, ok := p.In.(*os.File); ok {
		x.prompt = isatty.IsTerminal(f.Fd())
	}
	return x
}

// A prompter is where lines are written. What comes while a prompt waits for a
// line begins below it.
type prompter struct {
	*bufio.Writer
	prompts bool
}

func (o *prompter) Write(b []byte) (int, error) {
	if o.prompts {
		o.prompts = false
		if err := o.WriteByte('\n'); err != nil {
			return 0, err
		}
	}
	return o.Writer.Write(b)
}

// greet prints what is looked at.
func (x *plain) greet() error {
	hello := io.Writer(x.out)
	if x.s.listens {
		hello = x.p.Err // lines are of requests, as without --plain
	}
	fmt.Fprintln(hello, clean(x.s.hello))
	if x.s.engine != nil {
		return nil
	}
	if err := export.Loaded(x.log); err != nil {
		return err
	}
	for _, note := range x.log.Notes() {
		x.println(note)
	}
	x.next = 1<<64 - 1 // nothing new comes
	fmt.Fprintf(x.out, "%s; show requests lists them\n", term.Plural(int(x.log.Stats().Total), "request"))
	return nil
}

// println prints a line without secrets that a terminal cannot obey.
func (x *plain) println(text string) { fmt.Fprintln(x.out, clean(x.redacted(text))) }

func (x *plain) redacted(text string) string {
	text, _ = x.redact(text)
	return text
}

// loop answers lines and reports requests until there are no more lines. It
// returns the session that is to be shown next, if one is.
func (x *plain) loop(lines <-chan string) (*workspace, error) {
	fmt.Fprintln(x.out, "help lists the commands")
	over := x.ended()
	for {
		if x.prompt && !x.out.prompts && x.playing == nil {
			fmt.Fprint(x.out, "> ")
			x.out.prompts = true
		}
		if err := x.out.Flush(); err != nil {
			return nil, err
		}
		select {
		case <-x.ctx.Done():
			return nil, nil
		case line, ok := <-lines:
			x.out.prompts = false
			switch {
			case !ok && x.s.listens && (over != nil || x.ended() == nil):
				lines = nil // agents go on asking, or the command that is watched
				continue
			case !ok:
				x.news()
				return nil, nil
			}
			x.answer(line)
		case m := <-x.msgs:
			x.receive(m)
		case <-x.changed():
		case <-x.playing:
			x.playing = nil
		case <-x.log.Changed():
			x.news()
		case <-over:
			x.s.attached.settle()
			x.news()
			if over = nil; lines == nil {
				return nil, nil
			}
		}
		x.heldNews()
		if next := x.reopen(); next != nil || x.left {
			return next, nil
		}
	}
}

// reopen opens what is to be shown next. Where it cannot be opened, what is
// shown stays.
func (x *plain) reopen() *workspace {
	open := x.then
	if x.then = nil; open == nil {
		return nil
	}
	next, err := open()
	if err != nil {
		x.println("error: " + err.Error())
	}
	return next
}

// maxPlainLine is the longest line that is read.
const maxPlainLine = 1 << 20

func readLines(r io.Reader, lines chan<- string, ended <-chan struct{}) {
	defer close(lines)
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 4096), maxPlainLine)
	for in.Scan() {
		select {
		case lines <- in.Text():
		case <-ended:
			return
		}
	}
}

// answer runs one line. What is wrong with it is printed.
func (x *plain) answer(line string) {
	line = strings.TrimPrefix(strings.TrimSpace(line), ":")
	if line == "" || strings.HasPrefix(line, "#") {
		return
	}
	name, _, _ := strings.Cut(line, " ")
	x.answered, x.silent = nil, x.console.Silent(name)
	err := x.line(line)
	x.silent = false
	if err != nil && x.ctx.Err() == nil && !errors.As(err, new(exit)) {
		x.println("error: " + err.Error())
	}
}

// output prints what a command answers. Of an answered request it
// prints the story.
func (x *plain) output(o console.Output) {
	x.answered = append(x.answered, o.Text)
	switch {
	case o.Refused:
		x.println("error: " + o.Text)
	case o.Request != 0:
		x.last = o.Request
		err := x.log.Flush()
		if err == nil {
			err = printTrace(x.out, x.log, "story", o.Request)
		}
		if err != nil {
			x.println("error: " + err.Error())
		}
	case !x.silent:
		fmt.Fprint(x.out, cleanLines([]byte(x.redacted(o.Text))))
	}
}

// take does with a message of a command what the screen would do.
func (x *plain) take(_ *job, msg tea.Msg) {
	switch msg := msg.(type) {
	case screen.Done:
		if did := "did " + msg.Command; !x.silent && !slices.Contains(x.answered, did) {
			x.println(did)
		}
	case screen.Toast:
		text := msg.Text
		if msg.Advice != "" {
			text += "; " + msg.Advice
		}
		if msg.Bad {
			text = "error: " + text
		}
		x.println(text)
	case screen.Filter:
		e, err := query.Parse(msg.Text)
		if err != nil {
			x.println("error: " + err.Error())
			return
		}
		x.filter, x.shown = e, msg.Text
	case screen.Group:
		x.group = msg.By
		x.println("did :group " + cmp.Or(msg.By, "none"))
	case screen.Sort:
		x.order = msg
		x.println("did :sort " + msg.Column + map[bool]string{true: " desc"}[msg.Reverse])
	case screen.Go:
		if err := x.show(strings.ToLower(msg.Place)); err != nil {
			x.println("error: " + err.Error())
		}
	case screen.Leave:
		x.left = true
	case switched:
		x.then = msg.to
	case screen.Push:
		fmt.Fprint(x.out, cleanLines([]byte(x.redacted(textOf(msg.Screen)))))
	case screen.Do:
		x.usages()
	case screen.Run:
		x.events()
	}
}

// news reports the requests that have ended since it was called last.
func (x *plain) news() {
	x.terminalNews()
	look := x.open
	x.open = nil
	rows := make([]store.Row, 256)
	for {
		n := x.log.Rows(x.next, rows)
		for i := range n {
			look = append(look, rows[i].ID)
		}
		if n == 0 {
			break
		}
		x.next = rows[n-1].ID + 1
	}
	for _, id := range look {
		row, ok := x.log.Row(id)
		switch {
		case !ok:
		case row.Outcome == traces.Run || row.Outcome == traces.HeldOutcome:
			x.open = append(x.open, id)
		case id == x.last: // the answer to the line was its story
		case !x.quiet:
			if u, ok := x.log.Subject(id); ok && x.filter.Match(u) {
				x.request(&row)
			}
		}
	}
}

// terminalNews prints the lines that a command which is watched has written since it was
// called last.
func (x *plain) terminalNews() {
	if x.s.attached == nil || x.s.attached.terminal == nil || x.quiet {
		return
	}
	lines, first, _ := x.s.attached.terminal.Lines(x.printed)
	for _, line := range lines {
		x.println("| " + line)
	}
	x.printed = first + len(lines)
}

// ended is closed when the command that is watched has ended, and nil if there is
// none.
func (x *plain) ended() <-chan struct{} {
	if x.s.attached == nil || x.s.attached.terminal == nil {
		return nil
	}
	return x.s.attached.terminal.Done()
}

// request reports one request.
func (x *plain) request(row *store.Row) {
	why := row.Fault
	if t, err := x.log.Trace(row.ID); err == nil {
		why = traces.Story(t)
	}
	why, _, _ = strings.Cut(why, "\n")
	x.println(fmt.Sprintf("%s  %s  %s  %s", session.Name(row), row.Outcome, plainTook(row), why))
}

func plainTook(row *store.Row) string {
	if row.Took < time.Millisecond {
		return "0 ms"
	}
	return fmt.Sprintf("%d ms", row.Took.Milliseconds())
}

// heldNews reports the requests that are held where they were not before, and
// what will become of them.
func (x *plain) heldNews() {
	if x.debugger == nil || x.quiet {
		return
	}
	where := map[uint64]string{}
	for _, h := range x.debugger.Held() {
		at := h.Where().String()
		if h.State.Code != nil {
			at += h.Since.String() // a place in a program may come again
		}
		if where[h.ID] = at; x.where[h.ID] == at {
			continue
		}
		x.println(x.console.HeldText(&h))
		if code := h.State.Code; code != nil {
			x.println(x.seen(code))
			if rest, is := code.Rest.(*transaction.Rest); is {
				x.println("still to come: " + rest.Plan.Totals.String())
			}
		} else if f, err := x.debugger.Plan(x.ctx, h.ID); err == nil {
			x.println(fmt.Sprintf("plan of #%d: %s", h.ID, f.Why))
		}
		for _, watched := range x.env.Watches {
			x.println("watch " + watched + ": " + x.watched(watched))
		}
	}
	x.where = where
}

// seen is the variables that are nearest to a place in a program, in one line.
func (x *plain) seen(at *indirector.Code) string {
	const most, longest = 10, 60
	text, sign := "sees", "$"
	if at.Of != "" {
		text, sign = at.Of+":", ""
	}
	for i, p := range at.Variables {
		if i == most {
			return text + fmt.Sprintf(" and %d more", len(at.Variables)-most)
		}
		name := p.Key.Text()
		text += " " + sign + name + "=" + term.CleanTo(x.env.RedactedAs(name, p.Value.Inspect()), longest).String()
	}
	return text
}

// watched is what is seen of an expression or a server that is watched.
func (x *plain) watched(text string) string {
	if address, server, err := steps.Server(text); server && err == nil {
		return x.env.Probe(x.ctx, address)
	}
	ids, err := export.Select(x.log, text)
	if err != nil {
		return err.Error()
	}
	return term.Plural(len(ids), "request")
}
