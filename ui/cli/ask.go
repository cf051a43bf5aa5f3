package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/command"
	"indirtui/ui/term"
)

var askHelp = map[string]string{
	"find":    "Find one instance and print it",
	"search":  "List the instances that match and print them",
	"head":    "Ask whether there is such an instance",
	"save":    "Save the instance that comes from standard input or --file",
	"destroy": "Remove an instance",
}

// An asking is one request from the command line.
type asking struct {
	format, trace, file, input string
}

// ask is the command of a verb.
func (p *program) ask(verb string) *cobra.Command {
	var a asking
	note := ""
	switch verb {
	case "search":
		note = `
What is found is printed as it is found, in JSON and PSON. If the search fails
in the middle, the list keeps what is printed and gets no closing bracket, so
that no program takes a part for the whole; standard error says so, and the
exit code is 1. The other formats are printed at the end, or not at all.
`
	case "save":
		note = `
Saving a file_bucket_file prints the checksum that its contents have.
`
	}
	cmd := &cobra.Command{
		Use:     verb + " INDIRECTION KEY [NAME=VALUE ...]",
		GroupID: "ask",
		Short:   askHelp[verb],
		Long: askHelp[verb] + `.

The instance goes to standard output, the trace to standard error. Options in
any order: terminus=T and cache=T|none for this request only, ignore_cache,
ignore_cache_save, ignore_terminus, fail_on_404, env=E; every other NAME=VALUE
is an option that the terminus sees.
` + note + `
Unless --write is given, a find does not write the cache that is routed; one
that is named with cache= is written.

Exit code: 0 found or done, 1 failed, 2 usage, 3 not found.`,
		Example: fmt.Sprintf("  indirtui %[1]s facts web01.example.com terminus=yaml\n  indirtui %[1]s node web01.example.com --trace steps", verb),
		RunE:    func(cmd *cobra.Command, args []string) error { return p.run(cmd, verb, args, a) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return p.completeRequest(args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.format, "format", "", "json, yaml, pson, msgpack, dot or raw, byte for byte as Puppet writes it (default JSON with line breaks)")
	f.StringVar(&a.trace, "trace", "story", "what to tell of the request: none, story, steps or json")
	if verb == "save" {
		f.StringVar(&a.file, "file", "-", "read the instance from this file; - is standard input")
		f.StringVar(&a.input, "input", "", "the format of the instance: json, yaml, pson, msgpack (default by the name of the file, else json)")
	}
	return cmd
}

func (p *program) run(cmd *cobra.Command, verb string, args []string, a asking) (err error) {
	if err := checkTrace(a.trace); err != nil {
		return err
	}
	if a.format != "" {
		if err := command.CheckFormat(a.format); err != nil {
			return err
		}
	}
	req, err := command.Request(verb, args)
	if err != nil {
		return err
	}
	req.Caller = "cli"
	e, err := p.engine()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if req.Verb == indirector.Save {
		done, readErr := p.readInstance(cmd.Context(), e, a, req)
		if readErr != nil {
			return readErr
		}
		defer func() { err = errors.Join(err, done()) }()
	}
	var list *command.Lister
	if req.Verb == indirector.Search {
		list = command.NewLister(p.out, a.format)
		req = req.Yielding(p.yield(list))
	}
	resp, askErr := e.Once(cmd.Context(), req)
	if err := p.tell(e, a.trace, resp, askErr); err != nil {
		return err
	}
	if askErr != nil {
		if errors.Is(askErr, syscall.EPIPE) {
			return askErr // nobody reads on
		}
		incomplete := ""
		if list != nil {
			incomplete = list.Incomplete()
		}
		if incomplete == "" && errors.Is(askErr, indirector.ErrNotFound) {
			return exit(exitNotFound)
		}
		if incomplete != "" {
			p.complain(incomplete)
		}
		if errors.Is(askErr, context.Canceled) && cmd.Context().Err() != nil {
			return errors.New("interrupted")
		}
		text, _ := e.Redactor.Text(indirector.Message(askErr))
		return errors.New(text)
	}
	if found, isBool := resp.Value.(bool); isBool && req.Verb == indirector.Head {
		fmt.Fprintln(p.out, found)
		if !found {
			return exit(exitNotFound)
		}
		return nil
	}
	if req.Verb == indirector.Destroy && resp.Value == nil {
		return exit(exitNotFound)
	}
	if file, ok := req.Instance.(*model.FileBucketFile); ok {
		// The answer is an empty file; what people need is the name of theirs.
		_, err := fmt.Fprintln(p.out, file.Checksum)
		return err
	}
	if list != nil {
		return list.Close()
	}
	return command.Write(p.out, resp.Value, a.format)
}

// yield writes what a search finds as it comes. What is written is seen soon,
// also when little comes.
func (p *program) yield(list *command.Lister) func(indirector.Instance) error {
	const soon = 100 * time.Millisecond
	last := time.Now()
	return func(inst indirector.Instance) error {
		if err := list.Add(inst); err != nil {
			return err
		}
		if now := time.Now(); now.Sub(last) > soon {
			last = now
			return p.out.Flush()
		}
		return nil
	}
}

func checkTrace(kind string) error {
	switch kind {
	case "none", "story", "steps", "json":
		return nil
	}
	return &command.UsageError{What: fmt.Sprintf("--trace %s is not known", kind), Advice: "there are: none, story, steps, json"}
}

// readInstance reads what is to be saved into the request. Call done when that
// has been answered.
func (p *program) readInstance(ctx context.Context, e *engine.Engine, a asking, req *indirector.Request) (done func() error, err error) {
	if req.Indirection == "file_bucket_file" {
		req.Instance, done, err = p.bucketFile(ctx, e, a, req)
		return done, err
	}
	var b []byte
	if a.file == "-" {
		b, err = io.ReadAll(p.In)
	} else {
		b, err = os.ReadFile(a.file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the instance: %w", err)
	}
	req.Instance, err = command.Instance(req.Indirection, a.file, a.input, b)
	return func() error { return nil }, err
}

// tell writes the trace of a request, and of those that it asked, to standard
// error. Text from outside cannot command the terminal.
func (p *program) tell(e *engine.Engine, kind string, resp *indirector.Response, err error) error {
	if kind == "none" {
		return nil
	}
	id := uint64(0)
	if resp != nil {
		id = resp.Trace
	}
	if located := (*indirector.Error)(nil); errors.As(err, &located) {
		id = located.Trace
	}
	if id == 0 {
		return nil
	}
	if err := e.Store.Flush(); err != nil {
		return err
	}
	return tellOf(p.Err, e.Store, kind, id)
}

// tellOf writes what a kind of trace tells of a request: story, steps or json.
func tellOf(w io.Writer, log *store.Store, kind string, id uint64) error {
	t, err := log.Trace(id)
	if err != nil {
		return err
	}
	switch kind {
	case "none":
		return nil
	case "json":
		_, err = w.Write(store.AppendTrace(nil, t))
	case "steps":
		err = tellSteps(w, log, t, "")
	default:
		_, err = io.WriteString(w, cleanLines(traces.AppendStory(nil, t)))
	}
	return err
}

func tellSteps(w io.Writer, log *store.Store, t *traces.Trace, indent string) error {
	if _, err := io.WriteString(w, indentLines(cleanLines(traces.AppendSteps(traces.AppendStory(nil, t), t)), indent)); err != nil {
		return err
	}
	for _, child := range log.Links(t.ID).Children {
		if c, err := log.Trace(child); err == nil {
			if err := tellSteps(w, log, c, indent+"    "); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *program) completeRequest(args []string) ([]string, cobra.ShellCompDirective) {
	const plain = cobra.ShellCompDirectiveNoFileComp
	var words []string
	switch len(args) {
	case 0:
		for _, s := range p.specs {
			words = append(words, s.Name+"\t"+s.Doc)
		}
	case 1:
	default:
		for _, d := range p.termini {
			if d.Indirection == args[0] {
				words = append(words, "terminus="+d.Name, "cache="+d.Name)
			}
		}
		words = append(words, "cache=none", "env=", "ignore_cache", "ignore_cache_save", "ignore_terminus", "fail_on_404")
	}
	return words, plain
}

// clean makes text from outside safe for a terminal.
func clean(s string) string { return term.Clean(s).String() }

func cleanLines(b []byte) string { return mapLines(string(b), clean) }

func indentLines(s, indent string) string {
	return mapLines(s, func(line string) string { return indent + line })
}

func mapLines(s string, f func(string) string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = f(line)
	}
	return strings.Join(lines, "\n") + "\n"
}

// jsonOut writes v as indented JSON in which a terminal finds nothing to obey.
func (p *program) jsonOut(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := p.out.Write(traces.SafeJSON(b.Bytes()))
	return err
}
