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
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/routes"
	"indirtui/indirector/settings"
	"indirtui/traces/export"
	"indirtui/ui/command"
	"indirtui/ui/config"
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

	confDir, varDir, application, environment, routeFile string
	set                                                  []string
	routed                                               []string
	quirks                                               []string
	write                                                bool
	hangup                                               atomic.Pointer[func()] // what SIGHUP does
	otlp                                                 string
	live                                                 *export.Live // nil if it is not wanted
	ui                                                   interactive
	given                                                *pflag.FlagSet // what stood on the command line; nil if nothing did
	own                                                  *config.Config // see mine
	site                                                 demo.Options   // of the demo
}

// An exit is an error that only holds the exit code: everything was reported.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs one command line and returns the exit code.
func Main(args []string, std Streams, specs []indirector.Spec, termini []indirector.Descriptor) int {
	p := &program{specs: specs, termini: termini, out: bufio.NewWriterSize(printed(std.Out), 1<<16)}
	std.Err = &redacting{w: std.Err, redactor: sync.OnceValue(p.redactor)}
	p.Streams = std
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.watchHangup(cancel)()
	root := p.root()
	root.SetArgs(args)
	root.SetIn(std.In)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	err := root.ExecuteContext(ctx)
	p.endLive()
	if flushErr := p.out.Flush(); err == nil && flushErr != nil && !errors.Is(flushErr, syscall.EPIPE) {
		err = flushErr
	}
	return p.code(err)
}

// watchHangup lets SIGHUP end the program, or do what p.hangup is set to. The
// function ends the watch.
func (p *program) watchHangup(end func()) func() {
	p.hangup.Store(&end)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			(*p.hangup.Load())()
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// code reports what went wrong, and returns the exit code.
func (p *program) code(err error) int {
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
		p.report(err.Error())
		return exitUsage
	case errors.As(err, &lost):
		p.report(err.Error())
		return exitNotFound
	}
	p.report(err.Error())
	return exitFailed
}

func (p *program) report(text string) {
	fmt.Fprintln(p.Err, "indirtui: "+clean(text))
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
		Version:          p.version(),
		Args:             usageArgs(cobra.NoArgs),
		SilenceErrors:    true,
		SilenceUsage:     true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) { p.given = cmd.Flags() },
		RunE:             func(cmd *cobra.Command, _ []string) error { return p.interactive(cmd.Context()) },
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
	f.StringArrayVar(&p.routed, "route", nil, "let another terminus answer: `IND=TERMINUS` or IND.cache=TERMINUS; it may be wrapped, as in 'facts=fault(yaml, 503)'")
	f.StringArrayVar(&p.set, "set", nil, "set a setting, as `NAME=VALUE`; may be repeated")
	f.StringArrayVar(&p.quirks, "quirk", nil, "keep an oddity of the original, by its `RULE`; may be repeated")
	f.BoolVar(&p.write, "write", false, "let a find write the cache that is routed, and the interactive program save and destroy")
	f.StringVar(&p.otlp, "otlp", "", "send every request to this `URL` of an OpenTelemetry collector as it ends (default as OTEL_EXPORTER_OTLP_ENDPOINT says, else nowhere)")
	p.ui.flags(root)
	root.AddGroup(&cobra.Group{ID: "ask", Title: "Ask something:"}, &cobra.Group{ID: "look", Title: "Look at something:"})
	for _, verb := range command.Verbs() {
		root.AddCommand((&askCommand{p: p, verb: verb}).cobra())
	}
	for _, c := range []interface{ cobra() *cobra.Command }{
		&runCommand{p: p}, &replayCommand{p: p}, newServe(p), newProxy(p), &caCommand{p},
		&routesCommand{p: p}, &terminiCommand{p: p}, &settingsCommand{p: p}, &configCommand{p: p}, &cacheCommand{p: p},
		&openCommand{p: p}, &demoCommand{p: p}, &checkCommand{p: p}, &diffCommand{p: p}, &storyCommand{p: p},
		&exportCommand{p: p}, &schemaCommand{p}, &versionCommand{p}, &manCommand{p, root},
	} {
		root.AddCommand(c.cobra())
	}
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

// fromTable is a command of the shell with the name, arguments and help that the
// table of commands has for it.
func fromTable(name, group string) *cobra.Command {
	use, short := console.Shell(name)
	return &cobra.Command{Use: use, GroupID: group, Short: short}
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
	o.Secrets, o.Memory = mine.Secrets, mine.Memory
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
		if !given || ind == "" || terminus == "" || slot != indirector.SlotTerminus && slot != indirector.SlotCache {
			return o, &command.UsageError{What: fmt.Sprintf("--route %s: want INDIRECTION[.terminus|.cache]=TERMINUS", text)}
		}
		o.Assign = append(o.Assign, engine.Assignment{Indirection: ind, Slot: slot, Terminus: terminus})
	}
	if len(p.quirks) > 0 {
		o.Quirks = make(map[string]bool)
		for _, q := range p.quirks {
			o.Quirks[q] = true
		}
	}
	if err := p.startLive(); err != nil {
		return o, &command.UsageError{What: err.Error()}
	}
	if p.live != nil {
		o.Ended = p.live.Ended
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
