package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/model"
	"indirtui/ui/command"
)

// A compiling is what the commands share that compile catalogs.
type compiling struct {
	p                     *program
	facts, manifest, code string
}

func (c *compiling) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	factsFlag(cmd, &c.facts)
	f.StringVar(&c.manifest, "manifest", "", "compile this `FILE` or directory instead of the initial manifest of the environment")
	f.StringVarP(&c.code, "code", "e", "", "compile this `CODE` instead of the initial manifest")
}

func factsFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "facts", "", "a JSON or YAML `FILE` of facts, above those that are stored; they are not saved")
}

// withEngine does something with an engine that compiles as a server does.
func (c *compiling) withEngine(do func(*engine.Engine) error) error {
	if c.manifest != "" && c.code != "" {
		return &command.UsageError{What: "--manifest and -e both name what is compiled", Advice: "choose one"}
	}
	if c.manifest != "" {
		if _, err := os.Stat(c.manifest); err != nil {
			return err
		}
		c.manifest, _ = filepath.Abs(c.manifest) // else it would be relative to nothing
		c.p.set = append(c.p.set, "manifest="+c.manifest)
	}
	if c.code != "" {
		c.p.set = append(c.p.set, "code="+c.code)
	}
	c.p.asServer()
	return c.p.withEngine(do)
}

// asServer lets the defaults of servers count, unless an application was named.
func (p *program) asServer() { p.application = cmp.Or(p.application, "server") }

// request asks for the catalog of a node. What is known beyond the catalog goes to the
// Receiver.
func (c *compiling) request(ctx context.Context, e *engine.Engine, node string, given data.Value) (*indirector.Request, *compile.Receiver, error) {
	got := new(compile.Receiver)
	req := &indirector.Request{
		Indirection: "catalog", Verb: indirector.Find, Key: node, Terminus: "compiler", Cache: indirector.Off,
		Environment: c.p.environment, Caller: "cli",
		Options: []indirector.Option{{Name: compile.OptionReceiver, Value: got}},
	}
	return req, got, addFacts(ctx, e, req, given)
}

// addFacts gives facts with a request for a catalog, above those that are stored.
func addFacts(ctx context.Context, e *engine.Engine, req *indirector.Request, given data.Value) error {
	if given.IsNil() {
		return nil
	}
	resp, err := e.Once(ctx, &indirector.Request{
		Indirection: "facts", Verb: indirector.Find, Key: req.Key, Environment: req.Environment, Caller: "cli",
	})
	var found indirector.Instance
	switch {
	case errors.Is(err, indirector.ErrNotFound):
	case err != nil:
		return err
	default:
		found = resp.Instance()
	}
	req.Options = append(req.Options,
		indirector.Option{Name: "facts", Value: factsAbove(req.Key, found, given)},
		indirector.Option{Name: "facts_format", Value: "pson"},
		indirector.Option{Name: compile.OptionUnsaved, Value: true})
	return nil
}

// givenFacts reads a file of facts: a hash of them, or facts as they are stored. Without a
// file it is nil.
func givenFacts(file string) (data.Value, error) {
	if file == "" {
		return data.Value{}, nil
	}
	if content, err := os.ReadFile(file); err == nil {
		inst, _ := command.Instance("facts", file, "", content)
		if stored, ok := inst.(*model.Facts); ok && stored.Values.Len() > 0 {
			return stored.Values, nil
		}
	}
	return factsFile(file)
}

// A failure is why a catalog could not be compiled.
type failure struct {
	Error  string   `json:"error,omitempty"`
	File   string   `json:"file,omitempty"` // of the innermost place that is known
	Line   int      `json:"line,omitempty"`
	Within []string `json:"within,omitempty"` // what contains the resource that failed, the outermost first
	Tried  []string `json:"tried,omitempty"`  // files that a missing name was searched in

	sentence string // without its place
}

func newFailure(e *engine.Engine, err error) failure {
	f := failure{Error: redacted(e, indirector.Message(err))}
	f.sentence = f.Error
	if known, ok := errors.AsType[*compile.Error](err); ok {
		f.sentence, f.Within = redacted(e, known.Err.Error()), known.Containers
		for _, name := range slices.Sorted(maps.Keys(known.Tried)) {
			f.Tried = append(f.Tried, known.Tried[name]...)
		}
	}
	for at, ok := errors.AsType[*eval.Error](err); ok; at, ok = errors.AsType[*eval.Error](at.Wrapped) {
		if at.File != "" || at.Line > 0 {
			f.sentence, f.File, f.Line = redacted(e, at.Message), at.File, at.Line
		}
	}
	return f
}

func redacted(e *engine.Engine, text string) string {
	text, _ = e.Redactor.Text(text)
	return text
}
