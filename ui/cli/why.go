package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/model"
	"indirtui/traces/spell"
)

// A whyCommand compiles a catalog and lists where the attributes of a resource are from.
type whyCommand struct {
	compiling
	format string
}

// A whyResult is what why prints as JSON: schema why.
type whyResult struct {
	Node        string         `json:"node"`
	Environment string         `json:"environment"`
	Resource    string         `json:"resource"`
	File        string         `json:"file,omitempty"`
	Line        int            `json:"line,omitempty"`
	Virtual     bool           `json:"virtual"` // the node does not get it
	Within      []string       `json:"within"`  // the outermost first
	Attributes  []whyAttribute `json:"attributes"`
}

type whyAttribute struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // without secrets
	whyOrigin
	Overruled []whyOrigin `json:"overruled"` // values that were replaced, the last one first
}

type whyOrigin struct {
	From  string `json:"from"`
	Level string `json:"level,omitempty"` // of data
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
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
		if got.Result == nil {
			return fmt.Errorf("the catalog of %s was not compiled", args[0])
		}
		result, err := explained(e, got.Result, args[1], attribute)
		if err != nil {
			return err
		}
		result.Node, result.Environment = args[0], got.Environment
		if c.format == "json" {
			return writeJSON(c.p.out, result)
		}
		return result.print(c.p.out)
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
func explained(e *engine.Engine, r *compile.Result, ref, attribute string) (*whyResult, error) {
	res, err := resourceOf(r.Catalog, ref)
	if err != nil {
		return nil, err
	}
	out := &whyResult{
		Resource: res.Ref(), File: res.File, Line: int(res.Line), Virtual: res.Virtual,
		Within: append([]string{}, r.Containers(res.Ref())...), Attributes: []whyAttribute{},
	}
	var names []string
	shown := withoutSecrets(e, res)
	for _, p := range shown.Hash() {
		name := p.Key.Text()
		names = append(names, name)
		if attribute != "" && name != attribute {
			continue
		}
		a := whyAttribute{Name: name, whyOrigin: whyOrigin{From: compile.Unknown.String()}, Overruled: []whyOrigin{}}
		if a.Value, err = format.AppendJSON(nil, p.Value); err != nil {
			return nil, err
		}
		for i, o := range r.Why(res.Ref(), name) {
			origin := whyOrigin{From: o.Kind.String(), Level: o.From, File: o.File, Line: o.Line}
			if i == 0 {
				a.whyOrigin = origin
			} else {
				a.Overruled = append(a.Overruled, origin)
			}
		}
		out.Attributes = append(out.Attributes, a)
	}
	if attribute != "" && len(out.Attributes) == 0 {
		return nil, lostError{fmt.Errorf("%s has no attribute %q%s", res.Ref(), attribute, meant(attribute, names))}
	}
	return out, nil
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

func (r *whyResult) print(out io.Writer) error {
	head := r.Resource
	if at := place(r.File, r.Line); at != "" {
		head += "  " + at
	}
	if r.Virtual {
		head += "  virtual: the node does not get it"
	}
	lines := []string{head}
	if len(r.Within) > 0 {
		lines = append(lines, "within "+strings.Join(r.Within, ", "))
	}
	if _, err := io.WriteString(out, mapLines(strings.Join(lines, "\n"), clean)); err != nil {
		return err
	}
	if len(r.Attributes) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	return printTable(out, "ATTRIBUTE\tVALUE\tFROM\tPLACE", r.Attributes, func(a whyAttribute, put func(...string)) {
		put(a.Name, cut(string(a.Value)), a.source(), a.place())
		for _, o := range a.Overruled {
			put("", "", "  overruled: "+o.source(), o.place())
		}
	})
}

// source is what kind of origin it is, and the level of data.
func (o whyOrigin) source() string {
	level := o.Level
	if o.File == "" {
		level, _, _ = strings.Cut(level, ": ")
	}
	return strings.TrimSpace(o.From + " " + level)
}

// place is where it is. Of merged data the level has all places, behind a colon.
func (o whyOrigin) place() string {
	_, places, _ := strings.Cut(o.Level, ": ")
	return dash(cmp.Or(place(o.File, o.Line), places))
}

// cut is the beginning of a long value.
func cut(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
