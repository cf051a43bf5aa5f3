package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"indirtui/indirector/debugger"
	"indirtui/indirector/engine"
	"indirtui/indirector/probe/hold"
	"indirtui/indirector/settings"
	"indirtui/traces/fleet"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/command"
	"indirtui/ui/config"
	"indirtui/ui/demo"
	"indirtui/ui/demo/scenarios"
	"indirtui/ui/session"
)

// interactive is what only the interactive program asks for.
type interactive struct {
	demo, ascii, light, noMouse, plain, functionKeys bool
	record, theme                                    string
	fps                                              int
	shipping                                         shipping
}

func (i *interactive) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&i.demo, "demo", false, "play the built-in demo site")
	f.StringVar(&i.record, "record", "", "write the recording to this file (default a new one in the state directory)")
	i.shipping.flags(cmd)
	i.display(cmd)
}

func (i *interactive) display(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&i.theme, "theme", "", "the colours: `NAME` is "+strings.Join(config.Themes(), ", "))
	f.IntVar(&i.fps, "fps", 0, "frames a second at most, 1 to 60; 5 is good for slow lines (default 30)")
	f.BoolVar(&i.ascii, "ascii", false, "draw with ASCII characters only")
	f.BoolVar(&i.light, "light", false, "choose colours for a light background (default as the terminal answers, else COLORFGBG, else dark)")
	f.BoolVar(&i.plain, "plain", false, "draw nothing: a line for each request, and commands from standard input; for screen readers and scripts")
	f.BoolVar(&i.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	f.BoolVar(&i.functionKeys, "function-keys", false, "while a request is held, F5 continues, F10 steps over and F11 steps, besides c, o and s")
}

// A viewer shows sessions, on a screen or without one.
type viewer struct{ p *program }

// needsTerminal refuses to draw where there is no terminal.
func (v viewer) needsTerminal() error {
	mine, err := v.p.mine()
	if err != nil {
		return err
	}
	if file, ok := v.p.Out.(*os.File); mine.Plain || ok && isatty.IsTerminal(file.Fd()) {
		return nil
	}
	return &command.UsageError{
		What:   "standard output is not a terminal, so the interactive program does not start",
		Advice: "give --plain, or use find, search, head, save, destroy, routes, termini or settings; see indirtui --help",
	}
}

// draws reports whether there is a terminal to draw on.
func (v viewer) draws() bool {
	mine, err := v.p.mine()
	file, ok := v.p.Out.(*os.File)
	return err == nil && !mine.Plain && ok && isatty.IsTerminal(file.Fd()) && os.Getenv("TERM") != "dumb"
}

// run starts the interactive program: over the directories that the
// flags name, else over Puppet's own if there are any, else over the demo.
func (v viewer) run(ctx context.Context) error {
	if err := v.needsTerminal(); err != nil {
		return err
	}
	s, err := v.session()
	if err != nil {
		return err
	}
	return v.look(ctx, s)
}

// look shows a session, and then those that are opened from there.
func (v viewer) look(ctx context.Context, s *workspace) error {
	mine, err := v.p.mine()
	if err != nil {
		return errors.Join(err, s.close())
	}
	notes := mine.Warnings
	if _, err := writableState(); err != nil && s.engine != nil {
		notes = append(notes, "nothing of this session is kept: "+err.Error())
	}
	s.notes = append(s.notes, notes...)
	if mine.Plain || os.Getenv("TERM") == "dumb" { // which could not draw a frame
		for _, w := range notes {
			v.p.report("warning: " + w)
		}
		return v.runPlain(ctx, s)
	}
	return v.show(ctx, s)
}

// A workspace is what the interactive program looks at.
type workspace struct {
	engine *engine.Engine // nil for a recording
	log    *store.Store
	fleet  *fleet.Fleet // whose log it is; nil if it is none
	site   site         // nil if it is not the demo
	hello  string       // which it is, in one sentence
	guard  *ui.Guard    // of the goroutines that termini start
	kept   *kept        // of the project; never nil
	notes  []string     // problems to be reported

	listens bool // agents ask, so that it goes on without commands

	attached *watching    // processes that are watched; nil if none are
	holder   *hold.Holder // see holding

	shipped func() (text string, well bool) // how far the log was shipped to a fleet; nil if it is not

	before, after func() error // what ends before and after the engine; nil if nothing does
	closed        atomic.Bool
}

// holding is what lets the debugger hold requests of other processes; nil in a
// recording.
func (s *workspace) holding() *hold.Holder {
	if s.holder == nil && s.engine != nil && s.engine.Debugger != nil {
		s.holder = hold.New(s.engine.Debugger, nil)
	}
	return s.holder
}

// A site is what is asked while a session is shown.
type site interface {
	Play(context.Context, *engine.Engine) error
	Close() error
}

// A situation is a scenario as a site. Its stage owns the engine.
type situation struct {
	*scenarios.Stage
	scenario scenarios.Scenario
}

func (s situation) Play(ctx context.Context, _ *engine.Engine) error {
	return s.scenario.PlayOn(ctx, s.Stage)
}

// empty reports whether there is a recording with nothing in it.
func (s *workspace) empty() bool {
	return s.engine != nil && s.log.Path() != "" && s.log.Stats().Total == 0
}

// source names the session on screen.
func (s *workspace) source() string {
	switch {
	case s.fleet != nil:
		return "fleet " + s.fleet.Place()
	case s.engine == nil:
		return "recording"
	}
	return s.engine.Source
}

// watched names the processes that are watched, if any are.
func (s *workspace) watched() string {
	if s.attached == nil {
		return ""
	}
	return s.attached.source()
}

// tables are the routes of the processes that are watched.
func (s *workspace) tables() []session.Table {
	if s.attached == nil {
		return nil
	}
	return s.attached.tables()
}

// values asks the processes that are watched for values; nil if none are.
func (s *workspace) values() session.Values {
	if s.attached == nil {
		return nil
	}
	return s.attached.listener
}

// several reports whether more than one process is watched.
func (s *workspace) several() bool { return s.attached != nil && s.attached.several() }

// openSession is a session over a recording, or over a fleet.
func openSession(path string) (*workspace, error) {
	if fleet.IsURL(path) {
		return openFleet(context.Background(), path)
	}
	log, err := store.OpenFile(path)
	if err != nil {
		return nil, err
	}
	return &workspace{log: log, hello: "recording " + path, guard: new(ui.Guard), kept: new(kept)}, nil
}

// close ends the session. A recording in which nothing was asked is not kept. A second
// close does nothing.
func (s *workspace) close() error {
	if s.closed.Swap(true) {
		return nil
	}
	var errs []error
	if s.attached != nil {
		errs = append(errs, s.attached.close())
	}
	if s.before != nil {
		errs = append(errs, s.before())
	}
	_, owned := s.site.(situation)
	switch {
	case owned: // the engine is its own
	case s.engine != nil:
		errs = append(errs, s.engine.Close())
	default:
		errs = append(errs, s.log.Close())
	}
	if s.site != nil {
		errs = append(errs, s.site.Close())
	}
	if s.empty() {
		errs = append(errs, os.Remove(s.log.Path()))
	}
	if s.after != nil {
		errs = append(errs, s.after())
	}
	return errors.Join(errs...)
}

// options are those of an engine that is looked at, and the guard of what it
// starts.
func (v viewer) options() (engine.Options, *ui.Guard, error) {
	guard := new(ui.Guard)
	o, err := v.p.options()
	if err == nil {
		err = v.record(&o)
	}
	if err == nil {
		err = v.p.ui.shipping.prepare(&o, "")
	}
	o.Debug, o.Crash = debugOptions(), guard.Crash
	if mine, err := v.p.mine(); err == nil {
		o.Zone = mine.Zone
	}
	return o, guard, err
}

func (v viewer) session() (*workspace, error) {
	o, guard, err := v.options()
	if err != nil {
		return nil, err
	}
	if v.p.ui.demo || !v.hasPuppet() {
		if v.p.ui.shipping.url != "" {
			return nil, &command.UsageError{What: "--traces ships no demo"}
		}
		return v.demoSession(o, guard)
	}
	e, err := engine.New(o)
	if err != nil {
		return nil, err
	}
	confDir := setting(e, "confdir")
	e.Source = confDir
	mode := "looking only; --write allows more"
	if v.p.write {
		mode = "writing allowed"
	}
	hello := fmt.Sprintf("%s as application %s: %s", confDir, e.Application, mode)
	k, err := keptFor(confDir)
	s := &workspace{engine: e, log: e.Store, hello: hello, guard: guard, kept: k}
	if err != nil {
		s.notes = append(s.notes, err.Error())
	}
	if err := v.p.ship(&v.p.ui.shipping, s, o.Session.Instance, !v.p.ui.plain); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// debugOptions are those of a debugger that keeps its breakpoints beside the
// recordings, if these can be kept.
func debugOptions() *debugger.Options {
	dir, err := writableState()
	if err != nil {
		dir = ""
	}
	return &debugger.Options{Dir: dir}
}

// writableState returns the directory of recordings. The error is why nothing can be
// kept there; the program goes on without it.
func writableState() (string, error) {
	dir, err := engine.StateDir()
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".writable"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", fmt.Errorf("write into the place for recordings: %w; set XDG_STATE_HOME to a directory that can be written", err)
	}
	_ = os.Remove(f.Name()) // another process may have done it
	return dir, f.Close()
}

// demoSession is a session over a demo site of its own.
func (v viewer) demoSession(o engine.Options, guard *ui.Guard) (*workspace, error) {
	site, err := demo.Start(v.p.site)
	if err != nil {
		return nil, err
	}
	o.Debug.Dir = "" // the demo is new each time
	e, err := engine.New(site.Options(o))
	if err != nil {
		return nil, errors.Join(err, site.Close())
	}
	why := "the demo site"
	if !v.p.ui.demo {
		why = "no Puppet directories were found, so this is the demo site"
	}
	return &workspace{engine: e, log: e.Store, site: site, hello: why, guard: guard, kept: new(kept)}, nil
}

// situationSession is a session over a situation that is played in it.
func (v viewer) situationSession(c scenarios.Scenario) (*workspace, error) {
	o, guard, err := v.options()
	if err != nil {
		return nil, err
	}
	o.Debug.Dir = "" // a situation is new each time
	stage, err := c.Open(scenarios.Options{
		Specs: o.Specs, Termini: o.Termini, Recording: o.Recording, Debug: o.Debug, Ended: o.Ended, Crash: o.Crash,
	})
	if err != nil {
		return nil, err
	}
	stage.Source = c.ID()
	return &workspace{engine: stage.Engine, log: stage.Store, site: situation{stage, c}, hello: c.Name, guard: guard, kept: new(kept)}, nil
}

// hasPuppet reports whether there is something of Puppet's to look at: what the
// flags name, or a configuration directory where Puppet has its own.
func (v viewer) hasPuppet() bool {
	if v.p.confDir != "" || v.p.varDir != "" || v.p.routeFile != "" || len(v.p.set) > 0 {
		return true
	}
	s, err := settings.Load(settings.Process())
	if s == nil || err != nil && !errors.As(err, new(*settings.ParseError)) {
		return false
	}
	dir, _ := s.Get("confdir")
	_, err = os.Stat(dir)
	return err == nil
}

// record decides where a session is recorded, and how much of it and of those
// before stays. A file that was named is split only by flags.
func (v viewer) record(o *engine.Options) error {
	path, err := v.recording()
	if err != nil || path == "" {
		return err
	}
	o.Recording = path
	mine, err := v.p.mine()
	if err != nil {
		return err
	}
	named := v.p.ui.record != ""
	if !named || v.flagged("rotate") {
		o.Rotate = mine.Rotate
	}
	if !named || v.flagged("keep") {
		o.Keep = mine.Keep
	}
	if !named || v.flagged("keep-size") {
		o.KeepBytes = mine.KeepSize
	}
	if !named {
		v.p.prune(filepath.Dir(path), mine.Keep, mine.KeepSize)
	}
	return nil
}

// flagged reports whether a flag stood on the command line.
func (v viewer) flagged(name string) bool {
	if v.p.given == nil {
		return false
	}
	f := v.p.given.Lookup(name)
	return f != nil && f.Changed
}

// recording is the file that this session is recorded to, and "" if it is not
// recorded.
func (v viewer) recording() (string, error) {
	if v.p.ui.record != "" {
		if _, err := os.Lstat(v.p.ui.record); !errors.Is(err, fs.ErrNotExist) {
			return "", &command.UsageError{What: v.p.ui.record + " exists", Advice: "name a new file: recordings are not overwritten"}
		}
		return v.p.ui.record, nil
	}
	if mine, err := v.p.mine(); err != nil || !mine.Record {
		return "", err
	}
	dir, err := writableState()
	if err != nil {
		return "", nil // look reports it
	}
	return filepath.Join(dir, time.Now().Format("2006-01-02T15.04.05.000000")+".jsonl"), nil
}
