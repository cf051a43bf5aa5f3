package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/debugger"
	"indirtui/indirector/probe/hold"
	"indirtui/indirector/stores"
	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
)

// Config is what Run needs. Log is required; what is nil is not offered.
type Config struct {
	Log      session.Log
	Routes   session.Routes
	Asker    session.Asker
	Commands func(*session.Env) session.Commander
	// Places are those beside Requests and Failures, in order.
	Places   func(*session.Env) []Place
	FirstRun func(*session.Env) screen.Screen                       // while nothing was asked
	Help     func(env *session.Env, on screen.Screen) screen.Screen // ?
	// Palette is made for the screen that it is put on, and for the names of all
	// places in the order of their keys. Its key is ctrl+p.
	Palette   func(env *session.Env, on screen.Screen, places []string) screen.Screen
	Overrides func() int      // routes that the user changed
	SetHere   func() int      // settings that the user changed
	Problems  func() []string // of Puppet's configuration, the worst first
	// Watch waits until files of the configuration change on disk, and returns which,
	// in words; ok is false when ctx has ended. Nil never returns.
	Watch func(ctx context.Context) (what string, ok bool)
	// Begin waits until what a demo plays is played; false is that ctx has ended. Then
	// the newest failure is chosen, unless the user has begun. Nil chooses nothing.
	Begin      func(ctx context.Context) bool
	Stop       func() bool // stops what is running; whether anything was
	Save       func(name, text string) (path string, redacted int, err error)
	Clear      func(instance any) (data.Value, bool)
	Render     func(inst indirector.Instance) traces.Value
	RedactText func(text string) (string, int)
	Probe      func(ctx context.Context, address string) string // asks a server how it is

	Debugger *debugger.Debugger // nil if nothing can be held
	// Processes are other processes, whose requests the Debugger holds, too. May be nil.
	Processes *hold.Holder
	Ignored   []string                       // rules of what does not count in comparisons
	Keep      func(name string, v any) error // writes what is kept for the project

	Theme   *term.Theme // nil is chosen by the environment
	Remap   map[screen.Action][]string
	Source  string                          // "in process"; for the line of tabs
	Tables  func() []session.Table          // the routes of processes that are watched; it may be nil
	Values  func() session.Values           // asks them for values; it may be nil, and return nil
	Several func() bool                     // several processes are watched now; it may be nil
	Watched func() string                   // the processes that are watched now, instead of the source; "" is none. It may be nil
	Demo    bool                            // it is the demo, which the tour is made for
	Replay  string                          // the recording that is shown; "" if it is live
	Fleet   string                          // the database whose instances are shown; "" if it is none
	Shipped func() (text string, well bool) // how far the log was shipped to a fleet; nil if it is not
	// Stores are the states of stores, the newest first: beside the source, or where
	// problems are if not all is well. It is asked when there is news, and may be nil.
	Stores   func() []stores.State
	Hello    string   // shown at the start
	Notes    []string // what is wrong; shown at the start, too
	Writable bool
	NoMouse  bool
	Still    bool // nothing moves by itself
	FPS      int  // frames a second; 0 is 30
	Ages     bool // times in lists are how long ago
	Zone     *time.Location
	Now      func() time.Time

	In    io.Reader // nil is the terminal
	Out   io.Writer // nil is standard output
	Guard *Guard    // of the goroutines that are not the program's; may be nil

	Hooks Hooks // for tests; the zero Hooks is the real thing

	ctx   context.Context
	guard func(tea.Cmd) tea.Cmd
}

// Hooks are what tests put in the place of waiting and of the terminal.
type Hooks struct {
	Pull  tea.Cmd                              // waits for news
	After func(time.Duration, tea.Msg) tea.Cmd // waits for a time
	// Clipboard copies a text, and returns in a few words by which way.
	Clipboard func(text string) (way string, err error)
	Exec      func(*exec.Cmd, tea.ExecCallback) tea.Cmd // see screen.Shared
}

// An Exit is how the program ended.
type Exit struct {
	Panic any    // what a goroutine panicked with; nil if none did
	Stack []byte // of it
	Err   error  // of the terminal
}

// Code is the exit code of the program: 0, 70 for a bug of ours, 1 for a
// terminal that failed.
func (e Exit) Code() int {
	switch {
	case e.Panic != nil:
		return 70
	case e.Err != nil:
		return 1
	}
	return 0
}

// A Guard ends the program when a goroutine panics, so that the terminal is
// restored before anything is written. The zero Guard is ready. It is safe for
// concurrent use.
type Guard struct {
	mu    sync.Mutex // guards what follows
	what  any
	stack []byte
	kill  func()
}

// Crash takes note of a panic that was recovered, and ends the program. It
// returns: the goroutine must end by itself. It fits indirector.Config.Crash.
func (g *Guard) Crash(v any, stack []byte) {
	g.mu.Lock()
	if g.what == nil {
		g.what, g.stack = v, stack
	}
	kill := g.kill
	g.mu.Unlock()
	if kill != nil {
		kill()
	}
}

// Watch sets how to end the program. After a crash it ends it now.
func (g *Guard) Watch(kill func()) {
	g.mu.Lock()
	g.kill = kill
	crashed := g.what != nil
	g.mu.Unlock()
	if crashed {
		kill()
	}
}

// Exit is how the program ends, for those that run it without a screen.
func (g *Guard) Exit() Exit {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Exit{Panic: g.what, Stack: g.stack}
}

// command returns cmd with its panic taken care of, and that of the commands
// that it returns.
func (g *Guard) command(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer g.recover()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			guarded := make(tea.BatchMsg, len(batch))
			for i, c := range batch {
				guarded[i] = g.command(c)
			}
			return guarded
		}
		return msg
	}
}

func (g *Guard) recover() {
	if v := recover(); v != nil {
		g.Crash(v, debug.Stack())
	}
}

// guarded is the model with its panics taken care of.
type guarded struct {
	*Model
	g *Guard
}

func (m guarded) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer m.g.recover()
	model = m
	_, cmd = m.Model.Update(msg)
	return model, cmd
}

func (m guarded) View() string {
	defer m.g.recover()
	return m.Model.View()
}

// Run shows the program until the user leaves it, ctx ends, or something
// panics; the terminal is then as it was before.
func Run(ctx context.Context, cfg Config) Exit {
	g := cfg.Guard
	if g == nil {
		g = new(Guard)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cfg.ctx, cfg.guard = ctx, g.command
	out, clip := output(cfg.Out)
	cfg.Hooks.Clipboard, cfg.Hooks.Exec = clip.copy, executor(cfg.In, out)
	model := guarded{Build(cfg), g}
	if _, ok := out.(*terminal); !ok {
		model.resize(80, 24) // no message will come with its size
	}
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithAltScreen(), tea.WithOutput(out),
		tea.WithFPS(fps(cfg.FPS)), tea.WithoutCatchPanics(),
		tea.WithoutSignalHandler(), // signals end ctx; two handlers would wait for each other
	}
	if t, ok := out.(*terminal); ok {
		options = append(options, tea.WithFilter(t.resized))
	}
	if !cfg.NoMouse {
		options = append(options, tea.WithMouseCellMotion())
	}
	if cfg.In != nil {
		options = append(options, tea.WithInput(cfg.In))
	}
	p := tea.NewProgram(model, options...)
	g.Watch(p.Kill)
	_, err := p.Run()
	exit := g.Exit()
	if !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrInterrupted) {
		exit.Err = err
	}
	return exit
}

func fps(n int) int {
	if n <= 0 {
		return 30
	}
	return min(n, 60)
}

// Build returns the program without a terminal: for Run, and for tests that play keys
// and reads frames.
func Build(cfg Config) *Model {
	if cfg.ctx == nil {
		cfg.ctx = context.Background()
	}
	if cfg.guard == nil {
		cfg.guard = func(cmd tea.Cmd) tea.Cmd { return cmd }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Zone == nil {
		cfg.Zone = time.Local
	}
	if cfg.Theme == nil {
		cfg.Theme = term.NewTheme(os.Getenv, nil)
	}
	if cfg.Hooks.After == nil {
		cfg.Hooks.After = after(cfg.ctx)
	}
	keys, notes := screen.NewKeys(cfg.Remap)
	env := &session.Env{
		Shared: screen.Shared{
			Theme: cfg.Theme, Keys: keys, Undo: new(screen.Undos), Events: new(screen.Events),
			Now: cfg.Now, Zone: cfg.Zone, After: cfg.Hooks.After, Exec: cfg.Hooks.Exec, Save: cfg.Save, Keep: cfg.Keep, Still: cfg.Still,
		},
		Log: cfg.Log, Routes: cfg.Routes, Asker: cfg.Asker, Debugger: cfg.Debugger, Processes: cfg.Processes, Probe: cfg.Probe, Problems: cfg.Problems,
		Clear: cfg.Clear, Render: cfg.Render, RedactText: cfg.RedactText, Several: cfg.Several, Tables: cfg.Tables, Values: cfg.Values,
		State: session.State{Ignored: cfg.Ignored, Writable: cfg.Writable}, Ages: cfg.Ages,
	}
	if cfg.Commands != nil {
		env.Commands = cfg.Commands(env)
	}
	r := newModel(cfg, env)
	for _, note := range append(append(notes, cfg.Hello), cfg.Notes...) {
		if note != "" {
			r.hello = append(r.hello, note)
		}
	}
	return r
}

// after waits in the background: keys do not wait with it.
func after(ctx context.Context) func(time.Duration, tea.Msg) tea.Cmd {
	return func(d time.Duration, msg tea.Msg) tea.Cmd {
		return screen.Later(func() tea.Msg {
			select {
			case <-time.After(d):
				return msg
			case <-ctx.Done():
				return nil
			}
		})
	}
}

// output returns where frames are written, and the clipboard of that terminal,
// which is written to between two of them.
func output(w io.Writer) (io.Writer, *clipboard) {
	if w == nil {
		w = os.Stdout
	}
	if file, ok := w.(*os.File); ok {
		w = &terminal{File: file}
	}
	return w, &clipboard{out: w, env: os.Getenv, load: loadBuffer}
}

// executor gives the terminal to other programs: the files themselves, since a
// program that gets a pipe instead has no terminal, and its end would be waited for
// until the next key. It is nil if there is none.
func executor(in io.Reader, out io.Writer) func(*exec.Cmd, tea.ExecCallback) tea.Cmd {
	to, ok := out.(*terminal)
	if !ok {
		return nil
	}
	from := os.Stdin
	switch in := in.(type) {
	case *os.File:
		from = in
	case *term.Input:
		from = in.File
	}
	return func(c *exec.Cmd, done tea.ExecCallback) tea.Cmd {
		c.Stdin, c.Stdout, c.Stderr = from, to.File, to.File
		return tea.ExecProcess(c, done)
	}
}

// A terminal is a file in which a write is not torn apart by another, and takes
// no more bytes than it must.
type terminal struct {
	*os.File
	mu     sync.Mutex // guards what follows
	screen term.Screen
}

func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.File.Write(t.screen.Draw(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// resized sees messages before Bubble Tea does, which then draws all lines: what
// the terminal shows after its size has changed is not known.
func (t *terminal) resized(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.WindowSizeMsg); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.screen.Forget()
	}
	return msg
}

// Report writes how the program ended, for the last lines on the terminal: what
// panicked, with the one sentence last, and the path of the recording. A
// terminal finds nothing in them to obey.
func (e Exit) Report(w io.Writer, recording string) error {
	if e.Panic != nil {
		var b []byte
		for line := range strings.SplitSeq(string(e.Stack), "\n") {
			if rest, indented := strings.CutPrefix(line, "\t"); indented {
				b, line = append(b, '\t'), rest
			}
			b = append(traces.AppendSafe(b, line), '\n')
		}
		b = traces.AppendSafe(append(b, "indirtui: a bug of ours: "...), fmt.Sprint(e.Panic))
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	if recording != "" {
		_, err := fmt.Fprintf(w, "recording: %s\n", traces.AppendSafe(nil, recording))
		return err
	}
	return nil
}
