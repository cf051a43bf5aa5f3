package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/network/authconf"
	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/rest"
	"indirtui/indirector/network/server"
	"indirtui/indirector/settings"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/command"
)

// listening are the flags of a listener.
type listening struct {
	p                   *program
	listen              string
	authConf, caConf    string
	legacy              bool
	makeCA              bool // also in a directory that was not named
	connections, atOnce int
	ui                  bool
	compiles            bool // catalogs are those of the compiler; known when the engine is there
	display             interactive
	shipping            shipping
	notes               []string // for the screen
}

// announce prints what the user should know at the start, or keeps it for the
// screen.
func (l *listening) announce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if l.ui && !l.display.plain {
		l.notes = append(l.notes, text)
		return
	}
	fmt.Fprintln(l.p.Err, clean(text))
}

func (l *listening) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.listen, "listen", ":8140", "the `ADDRESS` to listen on; port 0 is any that is free")
	f.StringVar(&l.authConf, "auth-conf", "", "who may ask what: Puppet Server's auth.conf (`FILE`; default Puppet Server's rules)")
	f.StringVar(&l.caConf, "ca-conf", "", "what the CA signs: Puppet Server's ca.conf (`FILE`; default the settings)")
	f.BoolVar(&l.makeCA, "make-ca", false, "make a CA where there is none also in a directory that neither a flag nor puppet.conf names")
	f.BoolVar(&l.legacy, "legacy", false, "answer the URLs of Puppet 2.6 to 3, too")
	f.IntVar(&l.connections, "connections", 10_000, "how many connections are kept at the same time")
	f.IntVar(&l.atOnce, "requests", 1000, "how many requests are worked on at the same time")
	f.BoolVar(&l.ui, "ui", false, "show the requests in the interactive program")
	f.StringVar(&l.display.record, "record", "", "write the recording to this file (default none; with --ui a new one in the state directory)")
	f.String("rotate", "", "begin a new file when the recording has that `SIZE`, as 256M; 0 is never (default the configuration, and never with --record)")
	f.String("keep", "", "how many files (`N`) of recordings stay; 0 is all (default the configuration, and all with --record)")
	f.String("keep-size", "", "how large (`SIZE`) these are together; 0 is no limit (default the configuration, and none with --record)")
	l.shipping.flags(cmd)
	l.display.display(cmd)
}

// An answering is a session that answers agents: an engine and its listener.
type answering struct {
	session *workspace
	address string
	lines   *lines // nil if the interactive program shows the requests
	stop    context.CancelFunc
	stopped atomic.Bool // stop was called
	ended   chan error
	server  *server.Server
}

// A serveCommand answers agents from the routed termini.
type serveCommand struct {
	listening
	wide                bool
	ruby                bool // agents may have Ruby run: the flag stood behind this command
	codeID, codeContent string
}

func newServe(p *program) *serveCommand { return &serveCommand{listening: listening{p: p}} }

func (c *serveCommand) build(cmd *cobra.Command) {
	cmd.Long = `Answer agents over REST from the termini that are routed for application
server: files, facts, nodes, reports, buckets, and catalogs from wherever they
come. Certificates are those of Puppet's ssldir; where there are none a CA is
made, if its directory was named, or with --make-ca. Each request is a line, and each run of an agent a sentence at its end;
--ui shows them in the interactive program instead. --plain prints a line for
each request too, and takes commands from standard input, whose end it outlives;
help lists them.

Catalogs for agents are compiled without Ruby, unless --ruby is given here or the
configuration has ruby-serve.

The CA is that of the setting cadir, and signs as the setting autosign says.
SIGHUP reads certificates and revocation lists again; the first interrupt lets
requests that run come to their end, the second one does not.

Exit code: 0 ended by a signal, 1 it cannot listen, 2 usage.`
	cmd.Example = `  indirtui serve --confdir /etc/puppet --listen :8140
  indirtui serve --set catalog_terminus=json --set autosign=true --ui`
	c.flags(cmd)
}

func (c *serveCommand) run(ctx context.Context, _ []string) error {
	c.ruby = c.p.given.Changed("ruby")
	return c.answer(ctx, c.start)
}

func (c *serveCommand) flags(cmd *cobra.Command) {
	c.listening.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&c.wide, "wide", false, "answer what Puppet's own code would, not only what Puppet Server lets through: searches, GET facts, DELETE")
	f.StringVar(&c.codeID, "code-id-command", "", "prints the version of the code of an environment; with it catalogs may be static")
	f.StringVar(&c.codeContent, "code-content-command", "", "prints a file of a version of the code, for static_file_content")
}

// answer runs a listener until a signal ends it, with lines or with screens.
func (l *listening) answer(ctx context.Context, start func(context.Context) (*answering, error)) error {
	l.p.ui = l.display
	l.ui = l.ui || l.display.plain
	if l.ui {
		if err := (viewer{l.p}).needsTerminal(); err != nil {
			return err
		}
	}
	l.limitMemory()
	v, err := start(ctx)
	if err != nil {
		return err
	}
	if l.ui && !l.display.plain {
		return viewer{l.p}.look(ctx, v.session)
	}
	hup := make(chan struct{}, 1)
	reload := func() {
		select {
		case hup <- struct{}{}:
		default: // it is about to
		}
	}
	defer l.p.hangup.Store(l.p.hangup.Swap(&reload))
	if l.ui {
		return l.lookAndReload(ctx, v, hup)
	}
	fmt.Fprintf(l.p.Err, "%s\n", clean(v.session.hello))
	for {
		select {
		case <-hup:
			l.reload(v)
		case <-ctx.Done():
			return v.session.close()
		case err := <-v.ended:
			v.ended <- err
			return errors.Join(err, v.session.close())
		}
	}
}

// reload reads certificates again, and acknowledges that.
func (l *listening) reload(v *answering) {
	if err := v.server.Reload(); err != nil {
		l.p.report(err.Error() + "; what was read before stays in force")
		return
	}
	fmt.Fprintln(l.p.Err, "certificates and revocation lists were read again")
}

// lookAndReload shows a session without a screen, and reads certificates again
// on hup. The program ends with the listener.
func (l *listening) lookAndReload(ctx context.Context, v *answering, hup <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-hup:
				l.reload(v)
			case err := <-v.ended:
				v.ended <- err
				if !v.stopped.Load() { // and not to show another session
					cancel()
				}
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	err := viewer{l.p}.look(ctx, v.session)
	cancel()
	<-watched
	return err
}

// Where requests cannot be looked at, they are kept until their lines are
// printed, or until they are recorded: so many bytes.
const (
	headless = 16 << 20
	recorded = 24 << 20
)

// memoryLimit is how much memory the runtime tries to stay below, in bytes.
func (l *listening) memoryLimit() int64 {
	switch {
	case l.ui:
		return 80<<20 + 2*l.p.memory()
	case l.display.record != "":
		return 128 << 20
	case l.compiles:
		// A compile of 100 resources leaves 0.6 MB to the collector, which at 60 MiB took
		// four tenths of the processors, and requests waited for it.
		return 110 << 20
	}
	return 60 << 20 // with the pages of the binary it is 80
}

// limitMemory sets the limit of a process that does nothing else.
func (l *listening) limitMemory() {
	if l.p.alone {
		limitMemory(l.memoryLimit())
	}
}

// memory is what may be kept in memory by the configuration.
func (p *program) memory() int64 {
	if mine, err := p.mine(); err == nil {
		return mine.Memory
	}
	return 256 << 20
}

// options are those of an engine that answers the network.
func (l *listening) options() (engine.Options, *ui.Guard, *lines, error) {
	o, err := l.p.options()
	if err != nil {
		return o, nil, nil, err
	}
	o.Application = cmp.Or(o.Application, "server")
	o.Write = true
	if l.caConf != "" {
		values, warnings, err := authconf.LoadCA(l.caConf)
		if err != nil {
			return o, nil, nil, err
		}
		l.warn(warnings)
		set := make([]settings.Override, len(values), len(values)+len(o.Set))
		for i, s := range values {
			set[i] = settings.Override{Name: s.Name, Value: s.Value, Source: s.Source}
		}
		o.Set = append(set, o.Set...)
	}
	if l.ui || l.p.ui.record != "" || l.shipping.url != "" {
		if err = (viewer{l.p}).record(&o); err != nil {
			return o, nil, nil, err
		}
	}
	if err := l.shipping.prepare(&o, l.listen); err != nil {
		return o, nil, nil, err
	}
	guard := new(ui.Guard)
	if l.ui {
		o.Crash = guard.Crash
		o.Debug = debugOptions()
		return o, guard, nil, nil
	}
	o.Once = true
	if o.Memory = headless; o.Recording != "" {
		o.Memory = recorded
	}
	o.Log = slog.New(slog.NewTextHandler(l.p.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	out := newLines(l.p.Out)
	if also := o.Ended; also != nil {
		o.Ended = func(s *store.Store, t *traces.Trace) { also(s, t); out.add(s, t) }
	} else {
		o.Ended = out.add
	}
	return o, guard, out, nil
}

// A front is what stands between the network and an engine. Its handler has the
// settings, the recorder and the log of the engine.
type front struct {
	server *server.Server
	rest   rest.Options
	close  func() error                                // what else ends with the session, or if it cannot begin
	named  func(address string) (source, hello string) // for recordings and for the user
}

// begin makes an engine and its front, and begins to answer.
func (l *listening) begin(change func(*engine.Options), build func(*engine.Engine, *slog.Logger, *front) error) (*answering, error) {
	o, guard, out, err := l.options()
	if err != nil {
		return nil, err
	}
	change(&o)
	e, err := engine.New(o)
	if err != nil {
		return nil, errors.Join(err, out.close())
	}
	l.p.problems(e)
	route, _ := e.Explain("catalog")
	if l.compiles = route.Primary.Winner().Terminus == "compiler"; l.compiles {
		l.limitMemory()
	}
	f := &front{close: func() error { return nil }}
	after := func() error { return errors.Join(f.close(), out.close()) }
	v, err := l.stand(e, o.Log, f, build, out)
	if err != nil {
		return nil, errors.Join(err, e.Close(), after())
	}
	v.session.guard, v.session.after = guard, after
	e.Source, v.session.hello = f.named(v.address)
	if err := l.p.ship(&l.shipping, v.session, o.Session.Instance, l.ui && !l.display.plain); err != nil {
		return nil, errors.Join(err, v.session.close())
	}
	return v, nil
}

// stand builds the front of an engine, and opens it.
func (l *listening) stand(e *engine.Engine, log *slog.Logger, f *front, build func(*engine.Engine, *slog.Logger, *front) error, out *lines) (*answering, error) {
	if err := build(e, log, f); err != nil {
		return nil, err
	}
	f.rest.Settings, f.rest.Recorder, f.rest.Log, f.rest.Legacy = e.Settings, e.Store, log, l.legacy
	return l.open(e, f.server, rest.NewHandler(e.Indirector, f.rest), out)
}

func (c *serveCommand) start(ctx context.Context) (*answering, error) {
	return c.begin(func(o *engine.Options) { o.Ruby.Remote = o.Ruby.Remote || c.ruby }, func(e *engine.Engine, log *slog.Logger, f *front) (err error) {
		if f.server, err = c.listener(ctx, e, log); err != nil {
			return err
		}
		s := f.server
		f.rest = rest.Options{Client: s.Client, Authorize: s.Authorize, Run: s.Run, Wide: c.wide, CA: serveCA(e, s), Alerts: alertsOf(e.Store.Stats)}
		if (c.codeID == "") != (c.codeContent == "") {
			return &command.UsageError{What: "only one of --code-id-command and --code-content-command is given", Advice: "agents need both"}
		}
		if c.codeID != "" {
			code := rest.Commands{ID: c.codeID, Content: c.codeContent}
			f.rest.CodeID, f.rest.CodeContent = code.CodeID, code.CodeContent
		}
		f.named = func(address string) (source, hello string) {
			return "serve " + address, fmt.Sprintf("serving on %s as application %s", address, e.Application)
		}
		return nil
	})
}

// alertsOf returns what the status of the server reports about its recording.
// The status needs no certificate, so it names no path.
func alertsOf(stats func() store.Stats) func() []string {
	return func() []string {
		since := stats().Stopped
		if since.IsZero() {
			return nil
		}
		return []string{"the recording cannot be written since " + since.Format(time.RFC3339)}
	}
}

// listener makes the server with the certificates of the settings. Where there
// are none yet, and no CA either, both are made.
func (l *listening) listener(ctx context.Context, e *engine.Engine, log *slog.Logger) (*server.Server, error) {
	cfg, err := ca.ConfigOf(e.Settings)
	if err != nil {
		return nil, err
	}
	id := identityOf(e)
	authority, err := ca.Open(cfg)
	if errors.Is(err, ca.ErrNoCA) && !exists(id.Cert) {
		authority, err = l.setup(ctx, e, cfg, "ssldir")
	}
	switch {
	case err == nil:
		anew := !exists(id.Cert)
		if _, err := authority.ServerCertificate(ctx, e.Settings); err != nil {
			return nil, err
		}
		if anew {
			l.announce("made a certificate for %s: %s", setting(e, "certname"), id.Cert)
		}
		id.CA, id.CRL = cfg.Cert, cfg.CRL // what is revoked here counts at once
		if err := e.Prefer("the CA of this server, setting cadir", ownCA(e)); err != nil {
			return nil, err
		}
	case !errors.Is(err, ca.ErrNoCA):
		return nil, err
	}
	auth, err := l.rules()
	if err != nil {
		return nil, err
	}
	l.warn(auth.Warnings)
	return l.server(e, id, auth, log)
}

// server makes the server that agents talk to.
func (l *listening) server(e *engine.Engine, id server.Identity, auth *authconf.Config, log *slog.Logger) (*server.Server, error) {
	if setting(e, "certificate_revocation") == "false" || !exists(id.CRL) {
		id.CRL = ""
	}
	return server.New(server.Options{
		Identity: id, Auth: auth, Legacy: l.legacy, Recorder: e.Store, Application: e.Application, Log: log,
		Limits: server.Limits{Connections: l.connections, Requests: l.atOnce},
	})
}

// setup makes a CA. The user must have named its directory, and that of the
// other setting: the system's own are left alone.
func (l *listening) setup(ctx context.Context, e *engine.Engine, cfg ca.Config, other string) (*ca.Authority, error) {
	for _, name := range [...]string{"cadir", other} {
		if dir, ok := named(e, name); !ok && !l.makeCA {
			return nil, fmt.Errorf("there is no CA in %s, and one would be made with files in %s, which neither a flag nor puppet.conf names: --set %s=DIR names another directory, --make-ca agrees", cfg.Dir, dir, name)
		}
	}
	authority, err := ca.Setup(ctx, cfg, ca.SetupOptions{})
	if err == nil {
		l.announce("made a CA in %s", cfg.Dir)
	}
	return authority, err
}

// named returns the directory of a setting, and whether the user has named it
// or one above it.
func named(e *engine.Engine, name string) (dir string, ok bool) {
	dir = setting(e, name)
	for _, other := range [...]string{name, "confdir", "vardir", "ssldir"} {
		above, source := e.Settings.Get(other)
		if source != "default" && above != "" && strings.HasPrefix(dir+"/", strings.TrimRight(above, "/")+"/") {
			return dir, true
		}
	}
	return dir, false
}

// rules are those of --auth-conf, else Puppet Server's.
func (l *listening) rules() (*authconf.Config, error) {
	if l.authConf == "" {
		return authconf.Default(), nil
	}
	return authconf.Load(l.authConf)
}

func (l *listening) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(l.p.Err, "warning: %s\n", clean(w))
	}
}

// setting is the value of one of Puppet's settings.
func setting(e *engine.Engine, name string) string {
	v, _ := e.Settings.Get(name)
	return v
}

// identityOf is how the settings identify this host.
func identityOf(e *engine.Engine) server.Identity {
	return server.Identity{
		Cert: setting(e, "hostcert"), Key: setting(e, "hostprivkey"), Pass: setting(e, "passfile"),
		CA: setting(e, "localcacert"), CRL: setting(e, "hostcrl"),
	}
}

// serveCA serves the HTTP interface of a CA to those who may use it.
func serveCA(e *engine.Engine, s *server.Server) http.Handler {
	return s.Guard(ca.NewHandler(e.Indirector, ca.HandlerOptions{
		Client: s.Client, Run: func(r *http.Request) (string, bool) { return s.Run(r, new(indirector.Request)) },
	}))
}

// ownCA are the termini by which a server answers for a CA of its own.
func ownCA(e *engine.Engine) map[string]string {
	all := make(map[string]string)
	for _, name := range e.Registry().Names() {
		if strings.HasPrefix(name, "certificate") || name == "ocsp" {
			if slices.Contains(e.Registry().Termini(name), "ca") {
				all[name] = "ca"
			}
		}
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// open begins to answer. The session ends it when it is closed.
func (l *listening) open(e *engine.Engine, s *server.Server, h http.Handler, out *lines) (*answering, error) {
	listener, err := net.Listen("tcp", l.listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; --listen names another address", l.listen, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	v := &answering{address: listener.Addr().String(), lines: out, stop: stop, ended: make(chan error, 1), server: s}
	v.session = &workspace{engine: e, listens: true, log: e.Store, before: v.close, kept: new(kept)}
	v.session.notes = append(v.session.notes, l.notes...)
	if l.ui { // rules that were kept for the project come back, as its breakpoints do
		if v.session.kept, err = keptFor(setting(e, "confdir")); err != nil {
			v.session.notes = append(v.session.notes, err.Error())
		}
	}
	go func() { v.ended <- s.Serve(ctx, listener, h) }()
	return v, nil
}

// close lets what runs come to its end.
func (v *answering) close() error {
	v.stopped.Store(true)
	v.stop()
	return <-v.ended
}

// A lines writer prints a line for each request, and a sentence for each run.
type lines struct {
	out   interface{ Write([]byte) (int, error) }
	queue chan func()
	done  chan struct{}
	lost  int
	runs  map[string]*runStory
}

// waiting is how many lines may wait for the reader of the output. More are
// dropped and counted: requests do not wait.
const waiting = 10_000

// A runStory is the story of a run that may go on.
type runStory struct {
	traces.RunStory
	printed bool // and nothing has come since
}

const (
	// over is how long a run may be silent before its story is printed without
	// the report. An agent may be busy for longer with what needs no server: if its
	// report comes then, the story is printed once more.
	over = time.Minute
	// forgotten is how long a run may be silent before nothing more of it is expected.
	forgotten = time.Hour
)

func newLines(out interface{ Write([]byte) (int, error) }) *lines {
	w := &lines{out: out, queue: make(chan func(), waiting), done: make(chan struct{}), runs: make(map[string]*runStory)}
	go w.write()
	return w
}

func (w *lines) write() {
	defer close(w.done)
	tick := time.NewTicker(over / 4)
	defer tick.Stop()
	for {
		select {
		case do, ok := <-w.queue:
			if !ok {
				w.printRuns(func(*runStory) bool { return true })
				return
			}
			do()
		case now := <-tick.C:
			w.look(now)
		}
	}
}

// add takes in a request that has ended; it is called by the store.
func (w *lines) add(s *store.Store, t *traces.Trace) {
	if t.Parent != 0 {
		return
	}
	line := requestLine(t)
	run := *t
	select {
	case w.queue <- func() {
		fmt.Fprintln(w.out, line)
		w.run(&run, bodyOf(s, &run))
	}:
	default:
		w.lost++
	}
}

// run counts a request for the run that it is of.
func (w *lines) run(t *traces.Trace, body []byte) {
	if t.Run == "" {
		return
	}
	r := w.runs[t.Run]
	if r == nil {
		r = new(runStory)
		w.runs[t.Run] = r
	}
	r.Add(t, body)
	r.printed = false
	if r.Done() {
		w.printRuns(func(other *runStory) bool { return other == r })
		delete(w.runs, t.Run)
	}
}

// look prints the stories of the runs that have been silent for long.
func (w *lines) look(now time.Time) {
	w.printRuns(func(r *runStory) bool { return now.Sub(r.Last()) > over })
	maps.DeleteFunc(w.runs, func(_ string, r *runStory) bool { return now.Sub(r.Last()) > forgotten })
}

// printRuns prints the stories of the runs that are over and were not printed.
func (w *lines) printRuns(isOver func(*runStory) bool) {
	for _, r := range w.runs {
		if r.printed || !isOver(r) {
			continue
		}
		r.printed = true
		if !r.Single() {
			fmt.Fprintln(w.out, clean(r.String()))
		}
	}
}

// close prints what waits. A nil writer is legal.
func (w *lines) close() error {
	if w == nil {
		return nil
	}
	close(w.queue)
	<-w.done
	if w.lost > 0 {
		fmt.Fprintf(w.out, "%d lines were dropped since nobody read them\n", w.lost)
	}
	return nil
}

// requestLine is a request in one line: time, name, terminus, duration, outcome
// and caller; and the story, unless the outcome is good.
func requestLine(t *traces.Trace) string {
	var b strings.Builder
	served := "-"
	switch {
	case t.Served == traces.ByCache:
		served = "C " + t.Cache.Winner().Terminus
	case t.Primary.Winner().Terminus != "":
		served = "T " + t.Primary.Winner().Terminus
	}
	ms := float64(t.Took) / float64(time.Millisecond)
	fmt.Fprintf(&b, "%s #%d %s %s %s  %s  %.1f ms  %s  %s", t.Start.Format("15:04:05.000"), t.ID, t.Verb, t.Indirection, t.Key, served, ms, t.Outcome, t.Caller)
	if t.Outcome != traces.Good && t.Outcome != traces.Hit {
		b.WriteString("  " + traces.Story(t))
	}
	return clean(b.String())
}
