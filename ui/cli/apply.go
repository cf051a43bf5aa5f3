package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/transaction"
	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/ui/command"
	"indirtui/ui/demo"
	"indirtui/ui/plan"
)

// An applyCommand applies a catalog to this machine; without flags it prints what that
// would do.
type applyCommand struct {
	compiling
	noop, really, detailed               bool
	showDiff, ignoreSchedules, evaltrace bool
	verbose, test, summarize             bool
	tags, skipTags                       []string
	host                                 string
	from                                 command.CatalogFrom
	asked                                time.Time     // when the catalog was asked for
	took                                 time.Duration // to get it
	server                               string        // of server_list, that it is from; "" is none
	// Of a device: how its resources are done, and its facts. They are nil for a host.
	adapt func(*transaction.Options, *model.Catalog)
	known func(context.Context, *engine.Engine) (data.Value, error)
}

func (c *applyCommand) build(cmd *cobra.Command) {
	cmd.Args = usageArgs(cobra.ExactArgs(1))
	cmd.Long = `Apply a catalog to this machine. Without --noop or --really nothing is changed: it
prints what would be done, as "indirtui plan" does.

` + catalogHelp + `
A file whose name ends in .pp is a manifest: it is compiled for this host first.

--noop is Puppet's: checks of exec run, and files of state and the report are
written; it needs --write. Applying needs --write and --really. A catalog that is
of another host needs --host NAME, too, or is asked for at a terminal. The lock of
Puppet's agents is taken, so that one run at a time goes on, and an agent that is
disabled stays so.

Each resource is a request of the run, served by the terminus ral of resource; the
report goes where the report indirection is routed to. As application agent, which
is the default but for manifests, the run keeps the transaction store, by which
later runs know what was changed behind Puppet's back.

Resources whose types or providers are written in Ruby are done by Puppet in a process
beside this one. Without a Ruby that has Puppet, and with --ruby never, they fail; all
others are applied.

The first interrupt lets the resource in hand finish and skips the rest; the second
one ends commands that run.

Exit code: without --noop and --really that of plan; else 0, with --detailed-exitcodes 2 something was changed, 4 something failed, 6 both; 1 the catalog was not applied.`
	cmd.Example = `  indirtui apply catalog.json
  indirtui apply site.pp --noop --write
  indirtui apply web01.example.com --really --write --detailed-exitcodes`
	f := cmd.Flags()
	f.BoolVar(&c.noop, "noop", false, "show what would be changed, as Puppet's noop does; needs --write")
	f.BoolVar(&c.really, "really", false, "change this machine; needs --write")
	f.BoolVar(&c.detailed, "detailed-exitcodes", false, "exit codes say whether something was changed, or failed")
	f.BoolVar(&c.showDiff, "show_diff", false, "show changes of files as a diff")
	f.BoolVar(&c.ignoreSchedules, "ignoreschedules", false, "apply what is not due as well")
	f.BoolVar(&c.evaltrace, "evaltrace", false, "log each resource as it is evaluated; implies --verbose")
	f.BoolVar(&c.verbose, "verbose", false, "log what is of level info, too")
	f.BoolVarP(&c.test, "test", "t", false, "--verbose, --show_diff and --detailed-exitcodes")
	f.BoolVar(&c.summarize, "summarize", false, "print a summary of the run at its end")
	f.StringSliceVar(&c.tags, "tags", nil, "only resources with one of these `TAGS`")
	f.StringSliceVar(&c.skipTags, "skip_tags", nil, "no resources with one of these `TAGS`")
	f.StringVar(&c.host, "host", "", "the `NAME` of the host that the catalog is of, if it is not this one")
}

func (c *applyCommand) run(ctx context.Context, args []string) error {
	if (c.noop || c.really) && !c.p.write {
		return &command.UsageError{What: "--noop and --really write: files of state, the report, and with --really this machine", Advice: "add --write"}
	}
	if c.test {
		c.verbose, c.showDiff, c.detailed = true, true, true
	}
	c.settings()
	do := func(e *engine.Engine) error { return c.with(ctx, e, args[0]) }
	if filepath.Ext(args[0]) != ".pp" {
		return c.p.withEngine(do)
	}
	c.manifest = args[0]
	c.p.application = cmp.Or(c.p.application, "apply")
	return c.withEngine(do)
}

// settings sets those of Puppet that flags are for.
func (c *applyCommand) settings() {
	for _, f := range []struct {
		name  string
		value bool
	}{
		{"noop", c.noop},
		{"show_diff", c.showDiff},
		{"ignoreschedules", c.ignoreSchedules},
		{"evaltrace", c.evaltrace},
		{"summarize", c.summarize},
	} {
		if f.value {
			c.p.set = append(c.p.set, f.name+"=true")
		}
	}
	if c.verbose || c.evaltrace {
		c.p.set = append(c.p.set, "log_level=info")
	}
	for name, tags := range map[string][]string{"tags": c.tags, "skip_tags": c.skipTags} {
		if len(tags) > 0 {
			c.p.set = append(c.p.set, name+"="+strings.Join(tags, ","))
		}
	}
}

func (c *applyCommand) with(ctx context.Context, e *engine.Engine, arg string) error {
	c.asked = time.Now()
	catalog, err := c.catalog(ctx, e, arg)
	if err != nil {
		return err
	}
	c.took = time.Since(c.asked)
	if c.from == command.Compiled && (c.noop || c.really) {
		c.log(e, model.Log{Level: "notice", Message: fmt.Sprintf("Compiled catalog for %s in environment %s in %.2f seconds",
			catalog.Name, catalog.Environment, c.took.Seconds())})
	}
	if !c.noop && !c.really {
		pc := &planCommand{p: c.p, format: "text", adapt: c.adapt}
		made, err := pc.make(ctx, e, catalog)
		if err != nil {
			return err
		}
		return pc.answer(e, made)
	}
	if err := c.confirm(e, catalog); err != nil {
		return err
	}
	begin := time.Now()
	host, err := thisMachine(ctx, e)
	if err != nil {
		return err
	}
	return c.apply(ctx, e, catalog, host, time.Since(begin))
}

// catalog is the one that the argument means; a manifest is compiled for this host.
func (c *applyCommand) catalog(ctx context.Context, e *engine.Engine, arg string) (*model.Catalog, error) {
	switch {
	case c.manifest != "":
	case isNode(arg):
		c.from = command.Found
		catalog, resp, err := c.p.catalogOfNode(ctx, e, arg)
		if err != nil {
			return nil, err
		}
		if resp.Served == traces.ByCache {
			c.from = command.Cached
		}
		c.server = serverOfList(e, resp.Trace)
		return catalog, nil
	default:
		return c.p.catalogFile(arg)
	}
	c.from = command.Compiled
	certname, _ := e.Settings.Get("certname")
	var given data.Value
	if c.known != nil {
		var err error
		if given, err = c.known(ctx, e); err != nil {
			return nil, err
		}
	}
	req, _, err := c.request(ctx, e, certname, given)
	if err != nil {
		return nil, err
	}
	resp, err := e.Once(ctx, req)
	if err != nil {
		why := newFailure(e, err)
		return nil, errors.New(why.reason())
	}
	catalog, ok := resp.Instance().(*model.Catalog)
	if !ok {
		return nil, errors.New("the answer is no catalog")
	}
	return catalog, nil
}

// confirm reports as whom the run goes on, where and with how much. A catalog that is of
// another host must be meant. Rule RES-SAFE-02.
func (c *applyCommand) confirm(e *engine.Engine, catalog *model.Catalog) error {
	certname, _ := e.Settings.Get("certname")
	c.p.report(fmt.Sprintf("as %s on %s: the catalog of %s, %d resources", thisUser(), certname, catalog.Name, len(catalog.Resources)))
	switch {
	case catalog.Name == certname || c.noop || c.host == catalog.Name:
		return nil
	case c.host != "":
		return &command.UsageError{What: fmt.Sprintf("--host %s: the catalog is of %s", c.host, catalog.Name)}
	}
	if f, ok := c.p.In.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		fmt.Fprintf(c.p.Err, "It is of another host. Type %s to apply it to %s: ", clean(catalog.Name), clean(certname))
		typed, _ := bufio.NewReader(f).ReadString('\n') // without one it is refused
		if strings.TrimSpace(typed) == catalog.Name {
			return nil
		}
		return errors.New("refused: that is another name; nothing was changed")
	}
	return &command.UsageError{What: fmt.Sprintf("the catalog is of %s, and this is %s", catalog.Name, certname), Advice: "if it is meant, add --host " + catalog.Name}
}

// thisUser is as whom the program runs.
func thisUser() string {
	u, err := user.Current()
	if err != nil {
		return "this user"
	}
	return u.Username
}

// serverOfList is the server that answered a request, if it is one of server_list; else "".
func serverOfList(e *engine.Engine, request uint64) (server string) {
	t, err := e.Store.Trace(request)
	if list, _ := e.Settings.Get("server_list"); list == "" || err != nil {
		return ""
	}
	for i := range t.Spans {
		if x, is := t.Spans[i].HTTP(); is && x.Server != "" {
			server = x.Server
		}
	}
	return server
}

// apply runs the catalog. When the program is to end, it goes on up to the next resource.
// Facts is how long those of the host took. Rule RES-SAFE-04.
func (c *applyCommand) apply(ctx context.Context, e *engine.Engine, catalog *model.Catalog, host *machine.Machine, facts time.Duration) (err error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop, done := interrupts(ctx, cancel)
	defer done()
	values := deferred(e, host, catalog, c.p.rubyPath())
	defer values.Close()
	_, none := c.p.foreignRuby()
	a := &command.Applying{
		Engine: e, Host: host, Caller: "cli", Resolve: values.Resolve, Stop: stop, Log: func(l model.Log) { c.log(e, l) },
		Began: c.p.began, Startup: c.asked.Sub(c.p.began), From: c.from, Took: c.took, Server: c.server, Facts: facts,
		Helper: c.p.helper(e), NoHelper: none, Adapt: c.adapt,
	}
	if a.Helper != nil {
		defer func() { err = errors.Join(err, a.Helper.Close()) }()
	}
	result, err := a.Run(running, catalog)
	if f := (*indirector.Failure)(nil); errors.As(err, &f) && f.Hidden != "" {
		return fmt.Errorf("%w: %s", err, f.Hidden)
	}
	if err != nil {
		return err
	}
	if result.Summary.IsNil() {
		return exit(exitFailed) // there was no run
	}
	if wanted, _ := e.Settings.Get("summarize"); wanted == "true" {
		fmt.Fprint(c.p.out, cleanLines([]byte(transaction.SummaryText(result.Summary))))
	}
	if err := c.story(e); err != nil {
		return err
	}
	switch {
	case result.Err != nil:
		return exit(exitFailed)
	case c.detailed && result.Exit != 0:
		return exit(result.Exit)
	}
	return nil
}

// interrupts returns whether the run is to stop: from the first interrupt on. The second
// one cancels what runs.
func interrupts(ctx context.Context, cancel func()) (stop func() bool, done func()) {
	var first atomic.Bool
	signals := make(chan os.Signal, 2) // both may come before one is received
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range signals {
			if first.Swap(true) {
				cancel()
			}
		}
	}()
	stop = func() bool { return first.Load() || ctx.Err() != nil }
	return stop, func() {
		signal.Stop(signals)
		close(signals)
	}
}

// log prints a line as Puppet does. Rule RES-REP-10.
func (c *applyCommand) log(e *engine.Engine, l model.Log) {
	text, isErr := transaction.ConsoleLine(l)
	text = mapLines(redacted(e, text), cleanButTabs)
	if isErr {
		_ = c.p.out.Flush() // what was before it is above it
		fmt.Fprint(c.p.Err, text)
		return
	}
	fmt.Fprint(c.p.out, text)
	_ = c.p.out.Flush() // an error is found at the end
}

// cleanButTabs is clean for a line of a file or a diff, which may have tabs.
func cleanButTabs(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = clean(part)
	}
	return strings.Join(parts, "\t")
}

// story prints what happened in one sentence, which names the first cause.
func (c *applyCommand) story(e *engine.Engine) error {
	stories, err := storiesOf(e, "@run")
	for _, s := range stories {
		c.p.report(s)
	}
	return err
}

// storiesOf are the sentences of the runs that a selector means, without secrets.
func storiesOf(e *engine.Engine, selector string) ([]string, error) {
	if err := e.Store.Flush(); err != nil {
		return nil, err
	}
	ids, err := export.Select(e.Store, selector)
	if err != nil {
		return nil, nil // it made no request
	}
	stories := runStories(e.Store, ids)
	for i := range stories {
		stories[i] = redacted(e, stories[i])
	}
	return stories, nil
}

// applyHere applies the catalog of a plan in a session, once it is confirmed: what is logged
// comes when the run has ended.
func (p *program) applyHere(e *engine.Engine, on site) func(context.Context, *plan.Result, plan.Confirmed) ([]string, error) {
	return func(ctx context.Context, r *plan.Result, yes plan.Confirmed) (lines []string, err error) {
		certname, _ := e.Settings.Get("certname")
		switch {
		case yes.Host != certname:
			return nil, errors.New("refused: confirm= names another host; nothing was changed")
		case r.Catalog.Name != certname && r.Catalog.Name != yes.Of:
			return nil, fmt.Errorf("refused: the catalog is of %s; if it is meant, add host=%[1]s", r.Catalog.Name)
		}
		_, none := p.foreignRuby()
		run := &command.Applying{
			Engine: e, Caller: "you", Noop: yes.Noop, Stop: yes.Stop,
			Tags: r.Want.Tags, SkipTags: r.Want.SkipTags,
			Log: func(l model.Log) {
				text, _ := transaction.ConsoleLine(l)
				lines = append(lines, redacted(e, text))
			},
			Helper: p.helper(e), NoHelper: none,
		}
		if d, is := on.(*demo.Site); is {
			m := d.Machine(offline(e).Setting)
			run.Host, run.System, run.Sources, run.ReportTo = m, m.Changeable(), d.Modules(), "processor"
		} else {
			host, err := thisMachine(ctx, e)
			if err != nil {
				return nil, err
			}
			values := deferred(e, host, r.Catalog, p.rubyPath())
			defer values.Close()
			run.Host, run.Resolve = host, values.Resolve
		}
		if run.Helper != nil {
			defer func() { err = errors.Join(err, run.Helper.Close()) }()
		}
		if yes.Only == "" {
			result, err := run.Run(ctx, r.Catalog)
			if err != nil {
				return lines, err
			}
			stories, err := storiesOf(e, "run="+result.Report.TransactionUUID)
			return append(lines, stories...), err
		}
		wanted := r.Declared(yes.Only)
		if wanted == nil {
			return nil, fmt.Errorf("apply %q: the catalog does not have it", yes.Only)
		}
		err = run.One(ctx, wanted)
		return lines, err
	}
}
