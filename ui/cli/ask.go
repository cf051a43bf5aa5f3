package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/transaction"
	"indirtui/ui/command"
)

// An askCommand is the command of a verb: one request, whose answer is printed.
type askCommand struct {
	p                          *program
	verb                       string
	format, trace, file, input string
	facts                      string
	really                     bool // save resources
}

func (a *askCommand) build(cmd *cobra.Command) {
	note := ""
	switch a.verb {
	case "search":
		note = `
What is found is printed as it is found, in JSON and PSON. If the search fails
in the middle, the list keeps what is printed and gets no closing bracket, so
that no program takes a part for the whole; standard error says so, and the
exit code is 1. The other formats are printed at the end, or not at all.
`
	case "find":
		note = `
With --facts a catalog is compiled, as on a server unless --application names
another, with the facts of a file above those that are stored. They are not saved.
`
	case "save":
		note = `
Saving a file_bucket_file prints the checksum that its contents have. Saving a
resource changes this machine, and needs --write and --really.
`
	}
	cmd.Long = cmd.Short + `.

The instance goes to standard output, the trace to standard error. Options in
any order: terminus=T and cache=T|none for this request only, ignore_cache,
ignore_cache_save, ignore_terminus, fail_on_404, env=E; every other NAME=VALUE
is an option that the terminus sees.
` + note + `
Unless --write is given, a find does not write the cache that is routed; one
that is named with cache= is written.

Exit code: 0 found or done, 1 failed, 2 usage, 3 not found.`
	cmd.Example = fmt.Sprintf("  indirtui %[1]s facts web01.example.com terminus=yaml\n  indirtui %[1]s node web01.example.com --trace steps", a.verb)
	f := cmd.Flags()
	f.StringVar(&a.format, "format", "", "json, yaml, pson, msgpack, dot or raw, byte for byte as Puppet writes it; resources also manifest or table, and as yaml what puppet resource prints (default JSON with line breaks)")
	f.StringVar(&a.trace, "trace", "story", "what to tell of the request: none, story, steps or json")
	if a.verb == "find" {
		factsFlag(cmd, &a.facts)
	}
	if a.verb == "save" {
		f.StringVar(&a.file, "file", "-", "read the instance from this file; - is standard input")
		f.BoolVar(&a.really, "really", false, "save a resource, which changes this machine; needs --write")
		f.StringVar(&a.input, "input", "", "the format of the instance: json, yaml, pson, msgpack (default by the name of the file, else json)")
	}
}

func (a *askCommand) run(ctx context.Context, args []string) error {
	if err := checkTrace(a.trace); err != nil {
		return err
	}
	if err := checkAnswer(a.format); err != nil {
		return err
	}
	req, err := command.Request(a.verb, args)
	if err != nil {
		return err
	}
	req.Caller = "cli"
	if a.facts != "" && req.Indirection != "catalog" {
		return &command.UsageError{What: "--facts is for catalogs", Advice: "write: indirtui find catalog NODE --facts FILE"}
	}
	if a.verb == "save" && req.Indirection == "resource" {
		if !a.p.write || !a.really {
			return &command.UsageError{What: "saving a resource changes this machine", Advice: "add --write and --really"}
		}
		ctx = transaction.Consent{}.Context(ctx)
	}
	given, err := givenFacts(a.facts)
	if err != nil {
		return err
	}
	if a.facts != "" {
		a.p.asServer()
	}
	return a.p.withEngine(func(e *engine.Engine) error {
		if err := addFacts(ctx, e, req, given); err != nil {
			return err
		}
		return a.ask(ctx, e, req)
	})
}

func (a *askCommand) ask(ctx context.Context, e *engine.Engine, req *indirector.Request) (err error) {
	if req.Verb == indirector.Save {
		done, readErr := a.readInstance(ctx, e, req)
		if readErr != nil {
			return readErr
		}
		defer func() { err = errors.Join(err, done()) }()
	}
	var list *command.Lister
	if req.Verb == indirector.Search {
		list = command.NewLister(a.p.out, a.format)
		req = req.Yielding(a.yield(list))
	}
	resp, askErr := e.Once(ctx, req)
	if err := a.printTrace(e, resp, askErr); err != nil {
		return err
	}
	if askErr != nil {
		return a.failed(ctx, e, list, askErr)
	}
	return a.answer(req, resp.Value, list)
}

// failed returns why there is no answer, as an error or an exit code.
func (a *askCommand) failed(ctx context.Context, e *engine.Engine, list *command.Lister, err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return err // the reader is gone
	}
	incomplete := ""
	if list != nil {
		incomplete = list.Incomplete()
	}
	if incomplete == "" && errors.Is(err, indirector.ErrNotFound) {
		return exit(exitNotFound)
	}
	if incomplete != "" {
		a.p.report(incomplete)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return errors.New("interrupted")
	}
	text, _ := e.Redactor.Text(indirector.Message(err))
	return errors.New(text)
}

// answer prints an answer.
func (a *askCommand) answer(req *indirector.Request, value any, list *command.Lister) error {
	if found, isBool := value.(bool); isBool && req.Verb == indirector.Head {
		fmt.Fprintln(a.p.out, found)
		if !found {
			return exit(exitNotFound)
		}
		return nil
	}
	if req.Verb == indirector.Destroy && value == nil {
		return exit(exitNotFound)
	}
	if file, ok := req.Instance.(*model.FileBucketFile); ok {
		// The answer is an empty file; what the user needs is its name.
		_, err := fmt.Fprintln(a.p.out, file.Checksum)
		return err
	}
	if list != nil {
		return list.Close()
	}
	return command.Write(a.p.out, value, a.format)
}

// yield writes what a search finds as it comes. What is written is seen soon,
// also when little comes.
func (a *askCommand) yield(list *command.Lister) func(indirector.Instance) error {
	const soon = 100 * time.Millisecond
	last := time.Now()
	return func(inst indirector.Instance) error {
		if err := list.Add(inst); err != nil {
			return err
		}
		if now := time.Now(); now.Sub(last) > soon {
			last = now
			return a.p.out.Flush()
		}
		return nil
	}
}

// readInstance reads what is to be saved into the request. Call done when that
// has been answered.
func (a *askCommand) readInstance(ctx context.Context, e *engine.Engine, req *indirector.Request) (done func() error, err error) {
	if req.Indirection == "file_bucket_file" {
		req.Instance, done, err = a.bucketFile(ctx, e, req)
		return done, err
	}
	var b []byte
	if a.file == "-" {
		b, err = io.ReadAll(a.p.In)
	} else {
		b, err = os.ReadFile(a.file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the instance: %w", err)
	}
	req.Instance, err = command.Instance(req.Indirection, a.file, a.input, b)
	return func() error { return nil }, err
}

// printTrace writes the trace of a request, and of those that it asked, to
// standard error. Text from outside cannot command the terminal.
func (a *askCommand) printTrace(e *engine.Engine, resp indirector.Response, err error) error {
	id := command.TraceOf(resp, err)
	if a.trace == "none" || id == 0 {
		return nil
	}
	if err := e.Store.Flush(); err != nil {
		return err
	}
	return printTrace(a.p.Err, e.Store, a.trace, id)
}
