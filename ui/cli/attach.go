package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"

	"indirtui/indirector/debugger"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/filelock"
	"indirtui/indirector/probe"
	"indirtui/ui"
	"indirtui/ui/attached"
	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/session"
)

// An attachCommand watches real Puppet processes.
type attachCommand struct {
	p                       *program
	display                 interactive
	headless, noTraceparent bool
	values                  bool // have values rendered
	listen                  bool // --listen was given
	socket, forUser, files  string
	breaks, expect          []string
	words                   []string // the command
}

func (c *attachCommand) build(cmd *cobra.Command) {
	cmd.Long = `Show what the indirector of a real Puppet does, on the same screens as the
requests of this program. A small probe in Ruby, which is part of this binary,
gets into the process; no file of Puppet is changed.

  indirtui attach -- puppet agent -t     starts the command with the probe
  indirtui attach --listen [SOCKET]      waits for processes that are started
                                         elsewhere, and prints what to set for a
                                         service, for cron, and for Puppet Server
  indirtui attach --print-probe DIR      writes the probe for these

The command runs on a terminal of its own, in the place Attached: enter types into
it, ctrl+] leaves. With --headless nothing is drawn: its output is printed, and the
exit code is that of the command, or 1 if an expectation is not met (see check).
With --plain a line is printed for each request, too.

--break takes a breakpoint as :break does, or its condition and its place with @
between them.

Exit code: 0 left, 1 failed or an expectation is not met, 2 usage; with --headless
that of the command.`
	cmd.Example = `  indirtui attach -- puppet apply site.pp
  indirtui attach --break 'ind=file_metadata@before route' -- puppet agent -t
  indirtui attach --headless --record run.jsonl --expect 'count(out=err) = 0' -- puppet agent -t
  indirtui attach --listen --for puppet`
	f := cmd.Flags()
	f.StringVar(&c.display.record, "record", "", "write the recording to this file (default a new one in the state directory; none with --headless)")
	f.StringArrayVar(&c.breaks, "break", nil, "a `BREAKPOINT` that is armed before the command starts; may be repeated")
	f.BoolVar(&c.headless, "headless", false, "draw nothing: print the output of the command, and exit as it does")
	f.StringArrayVarP(&c.expect, "expect", "e", nil, "with --headless: an `EXPECTATION`, as check has them; may be repeated")
	f.BoolVar(&c.values, "values", false, "have the processes render the values of their requests, which costs them time; :values does so later")
	f.BoolVar(&c.noTraceparent, "no-traceparent", false, "add no header traceparent to the requests of Puppet's HTTP client")
	f.BoolVar(&c.listen, "listen", false, "wait for processes on a socket: the argument, else below XDG_RUNTIME_DIR or /run/indirtui")
	f.StringVar(&c.forUser, "for", "", "give the socket to this `USER`, as the one of Puppet Server; only root can")
	f.StringVar(&c.files, "print-probe", "", "write the probe into this `DIR`, print what to set, and exit")
	c.display.display(cmd)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if at := cmd.ArgsLenAtDash(); at >= 0 {
			c.words, args = args[at:], args[:at]
		}
		return run(cmd, args)
	}
}

func (c *attachCommand) run(ctx context.Context, args []string) error {
	if err := c.check(args); err != nil {
		return err
	}
	if c.files != "" {
		return c.printProbe()
	}
	c.p.ui = c.display
	if c.headless {
		return c.runHeadless(ctx)
	}
	if err := (viewer{c.p}).needsTerminal(); err != nil {
		return err
	}
	s, err := c.session()
	if err != nil {
		return err
	}
	if mine, err := c.p.mine(); err == nil && mine.Plain && s.attached.terminal == nil {
		fmt.Fprintln(c.p.Out, s.attached.Guide())
	}
	return viewer{c.p}.look(ctx, s)
}

func (c *attachCommand) check(args []string) error {
	switch {
	case len(args) > 1, len(args) == 1 && !c.listen:
		return &command.UsageError{What: fmt.Sprintf("attach %s is not understood", strings.Join(args, " ")), Advice: "a command stands behind --: indirtui attach -- puppet agent -t"}
	case len(args) == 1:
		c.socket = args[0]
	case c.files != "":
	case len(c.words) == 0 && !c.listen:
		return &command.UsageError{What: "attach to what?", Advice: "name a command, indirtui attach -- puppet agent -t, or wait with --listen"}
	}
	if len(c.expect) > 0 {
		if !c.headless {
			return &command.UsageError{What: "--expect is for --headless", Advice: "without it, :check does the same in the program"}
		}
		if _, err := parseExpectations(c.expect); err != nil {
			return err
		}
	}
	for _, text := range c.breaks {
		if _, err := breakpointOf(text); err != nil {
			return &command.UsageError{What: fmt.Sprintf("--break %q: %v", text, err)}
		}
	}
	return nil
}

// breakpointOf reads a breakpoint as :break does, or as its condition and its place
// with @ between them: the last @ counts, since a key may have one.
func breakpointOf(text string) (debugger.Breakpoint, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 || slices.ContainsFunc(strings.Fields(text), isPlaceWord) {
		return debugger.Parse(text)
	}
	place := strings.TrimSpace(text[at+1:])
	if first, _, _ := strings.Cut(place, " "); !isPlaceWord(first) {
		place = "before " + place
	}
	return debugger.Parse(strings.TrimSpace(text[:at]) + " " + place)
}

// isPlaceWord reports whether a word begins the place of a breakpoint, or its action.
func isPlaceWord(word string) bool {
	return slices.Contains([]string{"before", "after", "at", "do"}, word)
}

// printProbe writes the probe, and prints what to set for it.
func (c *attachCommand) printProbe() error {
	dir := absolute(c.files)
	if err := probe.WriteFiles(dir); err != nil {
		return err
	}
	socket := c.socket
	if socket == "" {
		var err error
		if socket, err = probe.DefaultPath(); err != nil {
			socket = "/run/indirtui/attach"
		}
	}
	_, err := fmt.Fprint(c.p.out, probe.Guide(socket, dir))
	return err
}

// session is a session over an engine of its own, in which processes are watched.
func (c *attachCommand) session() (*workspace, error) {
	v := viewer{c.p}
	o, guard, err := v.options()
	if err != nil {
		return nil, err
	}
	o.Debug.Dir = "" // a breakpoint of the command line is for this time
	if c.headless && c.p.ui.record == "" {
		o.Recording = ""
	}
	e, err := engine.New(o)
	if err != nil {
		return nil, err
	}
	s := &workspace{engine: e, log: e.Store, guard: guard, kept: new(kept), listens: true}
	for _, text := range c.breaks {
		b, err := breakpointOf(text)
		if err == nil {
			_, err = e.Debugger.Add(b)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--break %q: %w", text, err), s.close())
		}
	}
	if s.attached, err = c.attach(s); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.hello = "waiting for processes on " + s.attached.listener.Path()
	if len(c.words) > 0 {
		s.hello = "watching " + strings.Join(c.words, " ")
	}
	s.notes = append(s.notes, s.attached.notes...)
	return s, nil
}

// attach opens the socket, and starts the command if there is one.
func (c *attachCommand) attach(s *workspace) (a *watching, err error) {
	var dir *filelock.TempDir
	socket := c.socket
	if len(c.words) > 0 {
		if dir, err = filelock.MakeTemp("indirtui-attach-"); err != nil {
			return nil, err
		}
		if !c.listen {
			socket = filepath.Join(dir.Path, "attach")
		}
	}
	if a, err = watchProcesses(s.engine, s.holding(), socket, c.forUser); err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	if c.values {
		a.listener.Values(true)
	}
	if a.dir = dir; len(c.words) == 0 {
		return a, nil
	}
	out := io.Discard
	if c.headless {
		out = c.p.Out
	}
	if err := a.start(c.words, c.noTraceparent, out); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// runHeadless watches without a screen, and exits as the command does.
func (c *attachCommand) runHeadless(ctx context.Context) (err error) {
	s, err := c.session()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, note := range s.notes {
		c.p.report(note)
	}
	code := 0
	a := s.attached
	if a.terminal == nil {
		fmt.Fprint(c.p.Out, cleanLines([]byte(a.Guide())))
		<-ctx.Done()
	} else {
		select {
		case <-a.terminal.Done():
		case <-ctx.Done():
			a.terminal.Stop()
		}
		if _, code, err = a.terminal.Ended(); err != nil {
			return err
		}
		a.settle()
	}
	if err := s.log.Flush(); err != nil {
		return err
	}
	a.summary(c.p.Streams)
	met, err := c.expected(s)
	switch {
	case err != nil:
		return err
	case !met:
		return exit(exitFailed)
	case code != 0:
		return exit(code)
	}
	return nil
}

// expected holds the requests against what is expected of them.
func (c *attachCommand) expected(s *workspace) (met bool, err error) {
	if len(c.expect) == 0 {
		return true, nil
	}
	if len(s.attached.Processes()) == 0 {
		return false, nil // the summary has it
	}
	expectations, err := parseExpectations(c.expect)
	if err != nil {
		return false, err
	}
	result := checkResult{Met: true}
	for _, x := range expectations {
		one, err := checkOne(c.p.Streams, s.log, x, "")
		if err != nil {
			return false, err
		}
		result.Met = result.Met && one.Met
		result.Expectations = append(result.Expectations, one)
	}
	result.print(c.p.Err)
	return result.Met, nil
}

// attachHere watches processes beside what a session shows, and shows them.
func (v viewer) attachHere(s *workspace, show func(*watching) tea.Cmd) func(words []string) (tea.Cmd, error) {
	return func(words []string) (tea.Cmd, error) {
		if s.attached != nil && len(words) == 0 {
			return show(s.attached), nil
		}
		switch {
		case s.attached != nil:
			return nil, fmt.Errorf("processes are watched already, on %s: :detach ends that", s.attached.listener.Path())
		case len(words) > 1:
			return nil, &command.UsageError{What: "attach to which socket?", Advice: "write :attach, or :attach SOCKET"}
		}
		socket := ""
		if len(words) == 1 {
			socket = absolute(words[0])
		}
		a, err := watchProcesses(s.engine, s.holding(), socket, "")
		if err != nil {
			return nil, err
		}
		s.attached = a
		return show(a), nil
	}
}

// renderValues lets the processes that are watched render values, or not.
func (s *workspace) renderValues(on bool) error {
	if s.attached == nil {
		return errors.New("no processes are watched")
	}
	s.attached.listener.Values(on)
	return nil
}

// detachHere ends what attachHere began.
func detachHere(s *workspace) func() (tea.Cmd, error) {
	return func() (tea.Cmd, error) {
		a := s.attached
		if a == nil {
			return nil, errors.New("no processes are watched")
		}
		s.attached = nil
		return screen.Later(func() tea.Msg {
			if err := a.close(); err != nil {
				return screen.Toast{Text: err.Error(), Bad: true}
			}
			return screen.Done{Command: ":detach"}
		}), nil
	}
}

// attachedPlace is the place of the processes, if any are watched from the start.
func (s *workspace) attachedPlace(env *session.Env) []ui.Place {
	if s.attached == nil {
		return nil
	}
	return []ui.Place{{Key: "6", Name: "Attached", Screen: attached.New(env, s.attached)}}
}

// settling is how long the last lines of processes may take.
const settling = 5 * time.Second
