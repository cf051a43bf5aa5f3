package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/origins"
)

// A whyCommand compiles a catalog and lists where the attributes of a resource are from.
type whyCommand struct {
	compiling
	format string
}

// A whyResult is what why prints as JSON: schema why.
type whyResult struct {
	Node        string `json:"node"`
	Environment string `json:"environment"`
	*origins.Why
}

func (c *whyCommand) build(cmd *cobra.Command) {
	cmd.Args = usageArgs(cobra.RangeArgs(2, 3))
	cmd.Long = `Compile the catalog of a node, and list where each attribute of a resource is
from, or one attribute: a resource expression with file and line, a resource
default, data with its level, file and line, the node classifier, an override, a
collector, the default of a parameter, what contains the resource; and which
values were overruled. Classes have their parameters as attributes: 'Class[Ntp]'.
Secrets are masked. Nothing is saved.

"indirtui schema why" prints the schema of --format json.

Exit code: 0 listed, 1 the catalog does not compile, 2 usage, 3 there is no such resource or attribute.`
	cmd.Example = `  indirtui why web01.example.com 'File[/etc/ntp.conf]'
  indirtui why web01.example.com 'Class[Ntp]' servers --facts web01.json`
	c.flags(cmd)
	cmd.Flags().StringVar(&c.format, "format", "text", "text or json")
}

func (c *whyCommand) run(ctx context.Context, args []string) error {
	if err := checkFormat(c.format); err != nil {
		return err
	}
	given, err := givenFacts(c.facts)
	if err != nil {
		return err
	}
	attribute := ""
	if len(args) == 3 {
		attribute = args[2]
	}
	return c.withEngine(func(e *engine.Engine) error {
		req, got, err := c.request(ctx, e, args[0], given)
		if err != nil {
			return err
		}
		if _, err := e.Once(ctx, req); err != nil {
			return c.failed(newFailure(e, err))
		}
		if got.Catalog == nil || got.Catalog.Origins == nil {
			return fmt.Errorf("the catalog of %s was not compiled", args[0])
		}
		why, err := explained(e, got.Catalog, args[1], attribute)
		if err != nil {
			return err
		}
		if c.format == "json" {
			return writeJSON(c.p.out, whyResult{args[0], got.Environment, why})
		}
		const longest = 60 // of a value
		_, err = io.WriteString(c.p.out, why.Text(longest))
		return err
	})
}

func (c *whyCommand) failed(f failure) error {
	c.p.report(f.reason())
	if len(f.Within) > 0 {
		fmt.Fprintln(c.p.Err, "  within "+clean(strings.Join(f.Within, ", ")))
	}
	return exit(exitFailed)
}

// explained returns where the attributes of a resource are from, or one of them.
func explained(e *engine.Engine, catalog *model.Catalog, ref, attribute string) (*origins.Why, error) {
	refs := make([]string, len(catalog.Resources))
	for i := range catalog.Resources {
		refs[i] = catalog.Resources[i].Ref()
	}
	at, err := origins.MatchRef(catalog.Name, ref, refs)
	if err != nil {
		return nil, lostError{err}
	}
	res := &catalog.Resources[at]
	var values []origins.Value
	shown := withoutSecrets(e, res)
	for _, p := range shown.Hash() {
		text, err := format.AppendJSON(nil, p.Value)
		if err != nil {
			return nil, err
		}
		values = append(values, origins.Value{Name: p.Key.Text(), JSON: text})
	}
	redact := func(text string) string { return redacted(e, text) }
	why := catalog.Origins.Document(redact).Why(origins.Ref(res.Type, redact(res.Title)), values)
	if attribute == "" {
		return why, nil
	}
	one, err := why.Match(attribute)
	if err != nil {
		return nil, lostError{err}
	}
	why.Attributes = why.Attributes[one : one+1]
	return why, nil
}

// withoutSecrets are the attributes of a resource with redacted secrets.
func withoutSecrets(e *engine.Engine, r *model.Resource) data.Value {
	sensitive := make([]data.Value, len(r.Sensitive))
	for i, name := range r.Sensitive {
		sensitive[i] = data.OfString(name)
	}
	v, _ := e.Redactor.Value(data.OfHash([]data.Pair{
		data.P("type", data.OfString(r.Type)), data.P("title", data.OfString(r.Title)),
		data.P("parameters", r.Parameters), data.P("sensitive_parameters", data.OfList(sensitive)),
	}))
	return v.Get("parameters")
}
