// Package cli is the command line of indirtui: the interactive program, single
// requests, and the listings of routes and termini.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/routes"
	"indirtui/indirector/settings"
	"indirtui/ui/command"
	"indirtui/ui/console"
	"indirtui/ui/demo"
)

// Exit codes.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 3 // also: what was to be looked at is not there
)

// Streams are the standard streams of the process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// program is what all commands share: the termini of this build and the flags.
type program struct {
	Streams
	specs   []indirector.Spec
	termini []indirector.Descriptor
	out     *bufio.Writer
	began   time.Time
	alone   bool // this is the process of the program

	confDir, varDir, application, environment, routeFile string
	set                                                  []string
	routed                                               []string
	quirks                                               []string
	write                                                bool
	hangup                                               hangup
	live                                                 live
	site                                                 demo.Options // of the demo
	configuration
}

// An exit is an error that only holds the exit code: everything was reported.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs one command line and returns the exit code.
func Main(args []string, std Streams, specs []indirector.Spec, termini []indirector.Descriptor) int {
	p := &program{began: time.Now(), alone: std.Err == os.Stderr, specs: specs, termini: termini, out: bufio.NewWriterSize(printed(std.Out), 1<<16)}
	std.Err = &redacting{w: std.Err, redactor: sync.OnceValue(p.redactor)}
	p.Streams = std
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second one ends the program at once
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.hangup.watch(cancel)()
	root := p.root()
	root.SetArgs(args)
	root.SetIn(std.In)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	err := root.ExecuteContext(ctx)
	p.live.end(std)
	if flushErr := p.out.Flush(); err == nil && flushErr != nil && !errors.Is(flushErr, syscall.EPIPE) {
		err = flushErr
	}
	return std.code(err)
}

// A hangup is what SIGHUP does.
type hangup struct{ atomic.Pointer[func()] }

// watch lets SIGHUP end the program, or do what is stored later. The function ends
// the watch.
func (h *hangup) watch(end func()) func() {
	h.Store(&end)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			(*h.Load())()
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// code reports what went wrong, and returns the exit code.
func (s Streams) code(err error) int {
	var done exit
	usage, lost := (*command.UsageError)(nil), lostError{}
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &done):
		return int(done)
	case errors.Is(err, syscall.EPIPE):
		return exitOK
	case errors.As(err, &usage), strings.HasPrefix(err.Error(), "unknown command"), isFlagError(err):
		s.report(err.Error())
		return exitUsage
	case errors.As(err, &lost):
		s.report(err.Error())
		return exitNotFound
	}
	s.report(err.Error())
	return exitFailed
}

func (s Streams) report(text string) {
	fmt.Fprintln(s.Err, "indirtui: "+clean(text))
}

// problems reports what is wrong with the configuration.
func (s Streams) problems(e *engine.Engine) {
	for _, problem := range e.Configuration().Problems {
		kind := "warning"
		if problem.Fatal {
			kind = "error"
		}
		fmt.Fprintf(s.Err, "%s: %s\n", kind, clean(problem.String()))
	}
}

type flagError struct{ error }

func isFlagError(err error) bool {
	var f flagError
	return errors.As(err, &f)
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "indirtui",
		Short: "Who answered this Puppet request, who was asked, and who decided that",
		Long: `Indirtui runs Puppet's indirector in this process and shows, for every find,
search, head, save and destroy, who answered, who was asked or not asked and
why, and who decided that.

Without a command the interactive program starts: over Puppet's own
directories if there are any (looking only, unless --write is given), else
over a built-in demo site. It says which. With --plain it draws nothing: it
prints a line for each request and takes commands from standard input, for
screen readers and scripts.

Every session is recorded. check, diff, export, replay and story look at
recordings. All that is printed as JSON has a schema, see schema. With --otlp, or OTEL_EXPORTER_OTLP_ENDPOINT
and the other variables of OpenTelemetry, requests go to a collector as they
end; what it does not take in time is dropped and counted.

Exit codes, of every command:

  0   found, done, met, or no difference
  1   failed, an expectation is not met, or there are differences
  2   the command line was not understood
  3   not found, or the recording cannot be read
  70  a bug of ours; the terminal is restored, and the recording's path printed`,
		Example: `  indirtui                                     the interactive program
  indirtui --demo                              a small site with problems to find
  indirtui find facts web01 terminus=yaml      one request; the trace goes to stderr
  indirtui routes --application server         who would answer what, and who said so
  indirtui open incident.ind                   look at a recording`,
		Version:          (&versionCommand{p}).text(),
		Args:             usageArgs(cobra.NoArgs),
		SilenceErrors:    true,
		SilenceUsage:     true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) { p.given = cmd.Flags() },
		RunE:             func(cmd *cobra.Command, _ []string) error { return viewer{p}.run(cmd.Context()) },
	}
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().Bool("version", false, "print the version of this program, and what it is compatible with")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError{err} })
	f := root.PersistentFlags()
	f.StringVar(&p.confDir, "confdir", "", "Puppet's configuration directory")
	f.StringVar(&p.varDir, "vardir", "", "Puppet's data directory")
	f.StringVar(&p.application, "application", "", "whose defaults and routes count: agent, apply, server, device, lookup or a face, and perhaps an action of it, as in \"catalog download\" (default agent)")
	f.StringVar(&p.environment, "environment", "", "the current environment")
	f.StringVar(&p.routeFile, "routes", "", "read this file instead of routes.yaml")
	f.StringArrayVar(&p.routed, "route", nil, "let another terminus answer: `IND=TERMINUS` or IND.cache=TERMINUS; it may be wrapped, as in 'facts=fault(yaml, 503)'; IND.ttl=SECONDS is how long what is found stays fresh")
	f.StringArrayVar(&p.set, "set", nil, "set a setting, as `NAME=VALUE`; may be repeated")
	f.StringArrayVar(&p.quirks, "quirk", nil, "keep an oddity of the original, by its `RULE`; may be repeated")
	f.String("ruby", "", "what Ruby may run: resources (of types written in Ruby, by Puppet), auto (also functions, templates and custom facts of modules), never, or the `PATH` of an interpreter (default the configuration, else resources)")
	f.BoolVar(&p.write, "write", false, "let a find write the cache that is routed, and the interactive program save and destroy")
	f.StringVar(&p.live.url, "otlp", "", "send every request to this `URL` of an OpenTelemetry collector as it ends (default as OTEL_EXPORTER_OTLP_ENDPOINT says, else nowhere)")
	p.ui.flags(root)
	root.AddGroup(&cobra.Group{ID: "ask", Title: "Ask something:"}, &cobra.Group{ID: "look", Title: "Look at something:"})
	p.addCommands(root)
	root.CompletionOptions.HiddenDefaultCmd = false
	_ = root.RegisterFlagCompletionFunc("application", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return applicationNames(), cobra.ShellCompDirectiveNoFileComp
	})
	return root
}

func applicationNames() []string {
	var names []string
	for _, a := range routes.Applications() {
		names = append(names, a.Name)
	}
	return names
}

// A shellCommand is what the table of commands does not have of a command of the
// shell.
type shellCommand interface {
	run(ctx context.Context, args []string) error
}

// A builder is a shellCommand with flags, or a long help.
type builder interface{ build(*cobra.Command) }

// commands returns the commands of the shell by their names in the table.
func (p *program) commands(root *cobra.Command) map[string]shellCommand {
	list, read := listing{p: p}, reading{p: p}
	all := map[string]shellCommand{
		"run": &runCommand{p: p}, "replay": &replayCommand{reading: read}, "serve": newServe(p), "proxy": newProxy(p), "attach": &attachCommand{p: p},
		"ca": &caCommand{}, "ca setup": &caSetupCommand{authority: authority{p}}, "ca list": &caListCommand{authority: authority{p}},
		"ca print": &caPrintCommand{authority: authority{p}}, "ca sign": &caSignCommand{authority: authority{p}},
		"ca revoke": &caRevokeCommand{authority{p}}, "ca clean": &caCleanCommand{authority{p}},
		"ca generate": &caGenerateCommand{authority: authority{p}},
		"routes":      &routesCommand{listing: list}, "termini": &terminiCommand{list}, "settings": &settingsCommand{listing: list}, "cache": &cacheCommand{listing: list},
		"stores": &storesCommand{inSQL: inSQL{listing: list}}, "stores check": &storesCheckCommand{inSQL{listing: list}},
		"stores export": &storesExportCommand{inSQL{listing: list}}, "stores sweep": &storesSweepCommand{inSQL{listing: list}},
		"config": &configCommand{listing: list}, "config check": &configCheckCommand{p}, "config path": &configPathCommand{p},
		"open": &openCommand{p: p}, "demo": &demoCommand{listing: list}, "check": &checkCommand{reading: read}, "diff": &diffCommand{reading: read},
		"device": &deviceCommand{listing: list}, "node": &nodeCommand{}, "node deactivate": &nodeDeactivateCommand{list}, "node status": &nodeStatusCommand{list},
		"compile": &compileCommand{compiling: compiling{p: p}}, "why": &whyCommand{compiling: compiling{p: p}}, "graph": &graphCommand{p: p}, "plan": &planCommand{p: p}, "apply": &applyCommand{compiling: compiling{p: p}}, "parse": &parseCommand{p: p}, "check-types": &checkTypesCommand{listing: list}, "describe": &describeCommand{p: p}, "lookup": &lookupCommand{p: p}, "story": &storyCommand{read},
		"export": &exportCommand{reading: read}, "traces": &tracesCommand{}, "traces list": &tracesListCommand{p},
		"traces ship": &tracesShipCommand{p}, "traces prune": &tracesPruneCommand{p: p}, "schema": &schemaCommand{p}, "version": &versionCommand{p},
		"man": &manCommand{p, root},
	}
	for _, verb := range command.Verbs() {
		all[verb] = &askCommand{p: p, verb: verb}
	}
	return all
}

// addCommands adds every command of the shell that the table of commands has.
func (p *program) addCommands(root *cobra.Command) {
	all := p.commands(root)
	parents := map[string]*cobra.Command{"": root}
	for _, row := range console.ShellCommands() {
		c := all[row.Name]
		cmd := &cobra.Command{
			Use: strings.TrimSpace(row.Word + " " + row.Args), GroupID: row.Group, Short: row.Short, Args: arguments(row.Args),
			RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
		}
		if row.Next {
			cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
				return p.complete(cmd.Context(), row.Name, append(args, typed))
			}
		}
		if b, is := c.(builder); is {
			b.build(cmd)
		}
		above, _, below := strings.Cut(row.Name, " ")
		if !below {
			above = ""
			parents[row.Name] = cmd
		}
		parents[above].AddCommand(cmd)
	}
}

// arguments checks how many arguments there are, as they are written in help.
func arguments(args string) cobra.PositionalArgs {
	switch {
	case args == "", strings.HasPrefix(args, "--") && !strings.Contains(args, "["):
		return usageArgs(cobra.NoArgs)
	case strings.Contains(args, " "), strings.HasSuffix(args, "...]"):
		return cobra.ArbitraryArgs
	case strings.HasSuffix(args, "..."):
		return usageArgs(cobra.MinimumNArgs(1))
	case strings.HasPrefix(args, "["):
		return usageArgs(cobra.MaximumNArgs(1))
	}
	return usageArgs(cobra.ExactArgs(1))
}

// usageArgs makes errors about arguments usage errors.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &command.UsageError{What: err.Error(), Advice: "see indirtui " + cmd.Name() + " --help"}
		}
		return nil
	}
}

// options are those of an engine over what the flags name.
func (p *program) options() (engine.Options, error) {
	app, action, _ := strings.Cut(p.application, " ")
	o := engine.Options{
		Specs: p.specs, Termini: p.termini, ConfDir: p.confDir, VarDir: p.varDir,
		Application: app, Action: action, Environment: p.environment, RouteFile: p.routeFile, Write: p.write,
	}
	mine, err := p.mine()
	if err != nil {
		return o, err
	}
	o.Secrets, o.Memory, o.Ruby = mine.Secrets, mine.Memory, p.ruby(mine)
	for _, s := range p.set {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return o, &command.UsageError{What: fmt.Sprintf("--set %s: want NAME=VALUE", s)}
		}
		o.Set = append(o.Set, settings.Override{Name: name, Value: value})
	}
	for _, text := range p.routed {
		what, terminus, given := strings.Cut(text, "=")
		ind, slot, dotted := strings.Cut(what, ".")
		if !dotted {
			slot = indirector.SlotTerminus
		}
		if !given || ind == "" || terminus == "" || !slices.Contains([]string{indirector.SlotTerminus, indirector.SlotCache, indirector.SlotTTL}, slot) {
			return o, &command.UsageError{What: fmt.Sprintf("--route %s: want INDIRECTION[.terminus|.cache]=TERMINUS or INDIRECTION.ttl=SECONDS", text)}
		}
		o.Assign = append(o.Assign, engine.Assignment{Indirection: ind, Slot: slot, Terminus: terminus})
	}
	if len(p.quirks) > 0 {
		o.Quirks = make(map[string]bool)
		for _, q := range p.quirks {
			o.Quirks[q] = true
		}
	}
	if err := p.live.start(mine.Secrets); err != nil {
		return o, &command.UsageError{What: err.Error()}
	}
	if p.live.to != nil {
		o.Ended = p.live.to.Ended
	}
	return o, nil
}

// engine starts an engine for one command, and reports what is wrong with the
// configuration.
func (p *program) engine() (*engine.Engine, error) {
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	e, err := engine.New(o)
	if err != nil {
		return nil, err
	}
	p.problems(e)
	return e, nil
}

// withEngine does something with an engine of its own.
func (p *program) withEngine(do func(*engine.Engine) error) (err error) {
	e, err := p.engine()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return do(e)
}
