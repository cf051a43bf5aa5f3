package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/files"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
	"indirtui/indirector/resource/types"
	"indirtui/indirector/stores"
	"indirtui/traces"
	"indirtui/traces/fleet"
	"indirtui/ui"
	"indirtui/ui/attached"
	"indirtui/ui/breaks"
	"indirtui/ui/cache"
	"indirtui/ui/console"
	"indirtui/ui/demo"
	"indirtui/ui/help"
	"indirtui/ui/plan"
	"indirtui/ui/recordings"
	"indirtui/ui/routes"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
)

// show runs the interactive program over a session, and then over those that
// are opened from there. Every session is closed.
func (v viewer) show(ctx context.Context, s *workspace) error {
	limitMemory(memoryLimit)
	input := v.p.askTerminal()
	for s != nil {
		next, err := v.showOne(ctx, s, input)
		if err != nil {
			return err
		}
		if s = nil; next != nil {
			if s, err = next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// memoryLimit is the goal of the collector: a million requests are about 200 MB.
// GOMEMLIMIT overrides it.
const memoryLimit = 448 << 20

// limitMemory sets how much memory the runtime tries to stay below, in bytes.
// Far below it, garbage may wait: what lives is small, and the collector would
// run hundreds of times a second and take a third of the time. GOMEMLIMIT and
// GOGC override both.
func limitMemory(limit int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// showOne runs the interactive program over one session. It returns how to get
// the next one, if one was asked for.
func (v viewer) showOne(ctx context.Context, s *workspace, input *term.Input) (next func() (*workspace, error), err error) {
	ctx, cancel := context.WithCancel(ctx)
	switchTo := func(open func() (*workspace, error)) tea.Cmd {
		next = open
		return tea.Quit
	}
	cfg := v.config(ctx, s, switchTo)
	if input != nil {
		cfg.In = input
	}
	played := make(chan error, 1)
	if s.site == nil {
		played <- nil
	} else {
		over := make(chan struct{})
		go func() { played <- s.play(ctx); close(over) }()
		cfg.Begin = func(ctx context.Context) bool {
			select {
			case <-over:
				return true
			case <-ctx.Done():
				return false
			}
		}
	}
	end := ui.Run(ctx, cfg)
	cancel()
	err = errors.Join(ignoreCanceled(<-played), s.close())
	if next != nil && end.Code() == exitOK {
		return next, err
	}
	recording := s.log.Path()
	if s.empty() {
		recording = ""
	}
	if err := errors.Join(err, end.Report(v.p.Err, recording)); err != nil {
		return nil, err
	}
	if code := end.Code(); code != exitOK {
		if end.Err != nil {
			return nil, end.Err
		}
		return nil, exit(code)
	}
	return nil, nil
}

func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// play lets the demo run. A panic of it ends the program as any other does.
func (s *workspace) play(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			s.guard.Crash(v, debug.Stack())
		}
	}()
	return s.site.Play(ctx, s.engine)
}

// config joins a session with the screens that show it.
func (v viewer) config(ctx context.Context, s *workspace, switchTo func(opener) tea.Cmd) ui.Config {
	mine, _ := v.p.mine() // problems were reported at the start
	cfg := ui.Config{
		Log: s.log, Source: s.source(), Watched: s.watched, Several: s.several, Tables: s.tables, Values: s.values, Hello: s.hello, Notes: s.notes, Guard: s.guard,
		Theme: v.p.theme(mine), Now: v.p.site.Now, Remap: remap(mine),
		NoMouse: !mine.Mouse, Still: !mine.Motion, FPS: mine.FPS, Zone: mine.Zone, Ages: mine.Times == "ago",
	}
	if s.fleet != nil {
		cfg.Log, cfg.Fleet = fleetLog{s.log, s.fleet}, s.fleet.Place()
	}
	cfg.Shipped = s.shipped
	o := v.consoleOptions(s, switchTo)
	askFirst(&o)
	var routed routes.Engine
	about := func() routes.About { return routes.About{Source: s.source()} }
	if e := s.engine; e != nil {
		routed = e
		about = func() routes.About { return aboutEngine(e) }
		cfg.Routes, cfg.Asker, cfg.Writable = e, asker{e}, e.Writes()
		cfg.Overrides = func() int { return len(e.Overrides()) }
		cfg.SetHere = func() int { return len(e.Overridden()) }
		cfg.Clear, cfg.RedactText = engine.Data, e.Redactor.Text
		render := engine.NewRenderer(e.Redactor).Render
		cfg.Render = func(i indirector.Instance) traces.Value { return render("", i) }
		cfg.Debugger, cfg.Processes, cfg.Probe = e.Debugger, s.holding(), prober(ctx, e)
		cfg.Problems = func() []string { return problemsOf(e) }
		cfg.Stores = func() []stores.State { return storesOf(e) }
		cfg.Watch = func(ctx context.Context) (string, bool) { return watchFiles(ctx, e) }
	} else {
		cfg.Replay = s.log.Path()
		cfg.RedactText = v.p.redactor().Text // of files that a value is from
	}
	var c *console.Console
	cfg.Commands = func(env *session.Env) session.Commander {
		if s.engine != nil {
			o.Attach = v.attachHere(s, func(a *watching) tea.Cmd { return screen.Show(attached.New(env, a)) })
		}
		c = console.New(ctx, env, o)
		return c
	}
	cfg.Stop = func() bool { return c.Stop() }
	cfg.Places = func(env *session.Env) []ui.Place {
		r := routes.New(env, routed, about)
		var kept cache.Engine
		if s.engine != nil {
			kept = s.engine
		}
		return append([]ui.Place{
			{Key: "3", Name: "Routes", Screen: r, Badge: r.Badge},
			{Key: "4", Name: "Cache", Screen: cache.New(ctx, env, kept)},
			{Key: "5", Name: "Breaks", Screen: breaks.New(env), Badge: func() (string, term.Style) { return armed(env.Debugger) }},
		}, s.attachedPlace(env)...)
	}
	cfg.Save = saveText
	if _, cfg.Demo = s.site.(*demo.Site); cfg.Demo {
		cfg.Hello += "; ? t leads through it"
	}
	cfg.Ignored, cfg.Keep = also(s.kept.Ignore, mine.Ignore), s.kept.keep
	cfg.FirstRun = func(env *session.Env) screen.Screen { return help.NewCard(env, s.listens) }
	cfg.Help = func(env *session.Env, on screen.Screen) screen.Screen { return help.New(env, on) }
	cfg.Palette = func(env *session.Env, on screen.Screen, places []string) screen.Screen {
		return help.NewPalette(env, on, places)
	}
	return cfg
}

// consoleOptions are what commands may do in a session.
func (v viewer) consoleOptions(s *workspace, switchTo func(opener) tea.Cmd) console.Options {
	o := console.Options{
		Places: []string{"Requests", "Failures", "Routes", "Cache", "Breaks"},
		Open:   func(path string) tea.Cmd { return openHere(path, switchTo) },
		Demo: func(name string) (tea.Cmd, error) {
			return (&demoCommand{listing: listing{p: v.p}}).open(name, switchTo)
		},
		Situations: situations(),
		Serve:      func(words []string) (tea.Cmd, error) { return newServe(v.p).here(words, switchTo) },
		Proxy:      func(words []string) (tea.Cmd, error) { return newProxy(v.p).here(words, switchTo) },
		Story:      func(selector string) ([]string, error) { return selectedStories(s.log, selector) },
		Note:       s.log.AddComment,
		Group:      func(by string) tea.Cmd { return screen.Send(screen.Group{By: by}) },
		Sort: func(column string, reverse bool) tea.Cmd {
			return screen.Send(screen.Sort{Column: column, Reverse: reverse})
		},
	}
	o.Recordings = recordings.Options{Log: s.log, Source: s.source(), Open: o.Open, Baseline: s.kept.Baseline, Redact: v.p.redactor().Text}
	if dir, err := engine.StateDir(); err == nil {
		o.Recordings.Dir = dir
	}
	if s.attached != nil {
		o.Places = append(o.Places, "Attached")
	}
	if e := s.engine; e != nil {
		o.Detach, o.Values = detachHere(s), s.renderValues
		o.Engine, o.Settings, o.Configured, o.Files, o.Application = e, e.Settings, e, e, e.Application
		o.Recordings.Redact = e.Redactor.Text
		o.Machine = func(ctx context.Context) types.Host { return machineOf(ctx, e) }
		o.Plan = func(ctx context.Context, c *model.Catalog, want plan.Want) (plan.Result, error) {
			return v.p.planOf(ctx, e, s.site, c, want, nil)
		}
		o.Kept = v.p.keptFile
		if ruby, _ := v.p.foreignRuby(); ruby != "" {
			o.Foreign = func(ctx context.Context, name string) (*types.Type, error) { return v.p.foreignType(ctx, e, name) }
		}
		o.Apply = v.p.applyHere(e, s.site)
		o.Here = func() (user, host string) {
			host, _ = e.Settings.Get("certname")
			return thisUser(), host
		}
		o.Stores = func() []stores.State { return storesOf(e) }
		o.Retry = func() []string { return retryStores(e) }
	}
	return o
}

// storesOf returns the states of the stores that an engine has used, that in which
// something happened last first.
func storesOf(e *engine.Engine) (all []stores.State) {
	for _, shared := range e.Shared() {
		if s, is := shared.(stores.Store); is {
			all = append(all, s.State())
		}
	}
	slices.SortStableFunc(all, func(a, b stores.State) int { return b.Newest().Compare(a.Newest()) })
	return all
}

// retryStores sends commands again to what was dropped, and returns what that was.
func retryStores(e *engine.Engine) (back []string) {
	for _, shared := range e.Shared() {
		if s, is := shared.(interface{ Retry() []string }); is {
			back = append(back, s.Retry()...)
		}
	}
	return back
}

// askFirst lets the user be asked before another session replaces the one that is
// shown. A recording that is not there is reported at once.
func askFirst(o *console.Options) {
	open, play, serve, proxy := o.Open, o.Demo, o.Serve, o.Proxy
	asked := func(with string, then tea.Cmd, err error) (tea.Cmd, error) {
		if err != nil {
			return nil, err
		}
		return screen.Send(screen.Replace{With: with, Then: then}), nil
	}
	o.Open = func(path string) tea.Cmd {
		if fleet.IsURL(path) {
			return screen.Send(screen.Replace{With: "the fleet " + fleet.Place(path), Then: open(path)})
		}
		if _, err := os.Stat(path); err != nil {
			return open(path)
		}
		return screen.Send(screen.Replace{With: "the recording " + filepath.Base(path), Then: open(path)})
	}
	o.Recordings.Open = o.Open
	o.Demo = func(name string) (tea.Cmd, error) {
		then, err := play(name)
		return asked(strings.TrimSpace("the demo "+name), then, err)
	}
	o.Serve = func(words []string) (tea.Cmd, error) {
		then, err := serve(words)
		return asked("serve", then, err)
	}
	o.Proxy = func(words []string) (tea.Cmd, error) {
		then, err := proxy(words)
		return asked("proxy", then, err)
	}
}

// prober returns a function that asks servers how they are, as a client with the
// settings of e. Its connections end with ctx.
func prober(ctx context.Context, e *engine.Engine) func(context.Context, string) string {
	make := sync.OnceValue(func() *client.Client {
		c := client.New(client.Options{Settings: e.Settings})
		context.AfterFunc(ctx, func() { _ = c.Close() }) // which has no error
		return c
	})
	return func(ctx context.Context, address string) string {
		state, reason := make().State(ctx, address)
		return string(state) + ": " + reason
	}
}

// armed is how many breakpoints are armed, for the line of tabs.
func armed(d *debugger.Debugger) (string, term.Style) {
	if d == nil || d.Off() {
		return "", term.Plain
	}
	n := 0
	for _, info := range d.Breaks() {
		if info.On {
			n++
		}
	}
	if n == 0 {
		return "", term.Plain
	}
	return fmt.Sprint(n), term.Touched
}

// asker refuses writes in read-only mode.
type asker struct{ e *engine.Engine }

func (a asker) Do(ctx context.Context, req *indirector.Request) (indirector.Response, error) {
	return a.e.Ask(ctx, req)
}

func aboutEngine(e *engine.Engine) routes.About {
	c := e.Configuration()
	a := routes.About{
		Source: e.Source, Application: e.Application, Environment: c.Environment,
		Sections: c.RoutesFile.Sections, Found: c.RoutesFile.Found,
	}
	for _, p := range c.Problems {
		a.Problems = append(a.Problems, routes.Problem{Fatal: p.Fatal, Source: p.Source, Text: p.Text})
	}
	return a
}

// problemsOf are what is wrong with the configuration, the worst first.
func problemsOf(e *engine.Engine) []string {
	var all []string
	for _, p := range e.Configuration().Problems {
		text := p.String()
		if p.Fatal {
			text = "Puppet would not start: " + text
		}
		all = append(all, text)
	}
	return all
}

// between is how long it takes until a file that has changed on disk is noticed.
const between = 2 * time.Second

// watchFiles looks at the files of the configuration from time to time, until
// something else has changed, and returns what. Ok is false when ctx has ended.
func watchFiles(ctx context.Context, e *engine.Engine) (what string, ok bool) {
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		if found, news := e.Recheck(); news {
			var texts []string
			for _, p := range found {
				texts = append(texts, p.Text)
			}
			return strings.Join(texts, "; "), true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", false
		}
	}
}

// saveText writes a new file into the working directory.
func saveText(name, text string) (path string, redacted int, err error) {
	if path, err = filepath.Abs(filepath.Base(name)); err != nil {
		return "", 0, err
	}
	return path, 0, files.Write(path, []byte(text), files.Options{New: true})
}
