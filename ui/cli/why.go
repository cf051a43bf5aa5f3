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
	"indirtui/traces/spell"
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
		return printWhy(c.p.out, why)
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
	res, err := resourceOf(catalog, ref)
	if err != nil {
		return nil, err
	}
	var names []string
	var values []origins.Value
	shown := withoutSecrets(e, res)
	for _, p := range shown.Hash() {
		name := p.Key.Text()
		names = append(names, name)
		if attribute != "" && name != attribute {
			continue
		}
		text, err := format.AppendJSON(nil, p.Value)
		if err != nil {
			return nil, err
		}
		values = append(values, origins.Value{Name: name, JSON: text})
	}
	if attribute != "" && len(values) == 0 {
		return nil, lostError{fmt.Errorf("%s has no attribute %q%s", res.Ref(), attribute, meant(attribute, names))}
	}
	redact := func(text string) string { return redacted(e, text) }
	return catalog.Origins.Document(redact).Why(origins.Ref(res.Type, redact(res.Title)), values), nil
}

// resourceOf returns the resource of a reference. The case of letters counts only where
// two resources differ in nothing else.
func resourceOf(c *model.Catalog, ref string) (*model.Resource, error) {
	var refs []string
	var found *model.Resource
	for i := range c.Resources {
		r := &c.Resources[i]
		if r.Ref() == ref {
			return r, nil
		}
		if found == nil && strings.EqualFold(r.Ref(), ref) {
			found = r
		}
		refs = append(refs, r.Ref())
	}
	if found == nil {
		return nil, lostError{fmt.Errorf("the catalog of %s has no resource %s%s", c.Name, ref, meant(ref, refs))}
	}
	return found, nil
}

// meant is a guess at what a name was meant to be.
func meant(name string, there []string) string {
	if near := spell.Nearest(name, there); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
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

func printWhy(out io.Writer, w *origins.Why) error {
	head := w.Head()
	if within := w.Inside(); within != "" {
		head += "\n" + within
	}
	if _, err := io.WriteString(out, mapLines(head, clean)); err != nil {
		return err
	}
	if len(w.Attributes) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	return printTable(out, strings.Join(origins.Titles[:], "\t"), w.Rows(), func(r origins.Row, put func(...string)) {
		cells := r.Cells
		cells[1] = cut(cells[1])
		put(cells[:]...)
	})
}

// cut is the beginning of a long value.
func cut(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
