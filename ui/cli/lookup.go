package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	programs "indirtui/indirector/language/site"
	"indirtui/indirector/language/types"
	"indirtui/indirector/model"
	"indirtui/ui/command"
)

// A lookupCommand looks data up as puppet lookup does: the same words on standard
// output and standard error, and the same exit codes. Rules HIERA-CMD-01 to
// HIERA-CMD-03.
type lookupCommand struct {
	p *program

	node, facts, merge, knockout, kind, renderAs, trace string
	defaultValue                                        string
	sortArrays, hashArrays, compile, trusted            bool
	explain, explainOptions                             bool
	given                                               func(flag string) bool
}

func (c *lookupCommand) build(cmd *cobra.Command) {
	cmd.Args = nil // Puppet has words of its own for no key
	cmd.Long = `Look data up through the levels of hiera, as puppet lookup does.

The value of the first key that has one goes to standard output, as YAML. With
--explain it is what happened instead: the layers, levels and paths in order,
and what each had. Every key is a request, find data_binding KEY, and the
facts and the node come through their indirections too; --trace prints them.

Types may be aliases that files of modules and of the environment define, and
levels may be functions that modules define in the Puppet language. In YAML what
convert_to makes is rich data, where Puppet prints objects of Ruby. Functions
that are written in Ruby are refused, unless --ruby lets a helper run them.

Variables that manifests set count with --compile: the catalog of the node is
compiled, with the classes that its node terminus gives it, and keys are looked
up in its top scope. No CA is asked for trusted facts.

Exit code: 0 found, or explained; 1 not found, or failed.`
	cmd.Example = `  indirtui lookup ntp::servers --node web01.example.com
  indirtui lookup ntp::servers --node web01.example.com --explain
  indirtui lookup profile::users --facts web01.json --merge deep`
	f := cmd.Flags()
	f.StringVar(&c.node, "node", "", "the node whose facts count (default this host, with its facts as facter knows them)")
	f.StringVar(&c.facts, "facts", "", "a JSON or YAML `FILE` of facts, above those that are stored")
	f.StringVar(&c.merge, "merge", "", "first, unique, hash or deep, above lookup_options")
	f.StringVar(&c.knockout, "knock-out-prefix", "", "with --merge deep: what begins so is removed from lower levels")
	f.BoolVar(&c.sortArrays, "sort-merged-arrays", false, "with --merge deep: merged arrays are sorted")
	f.BoolVar(&c.hashArrays, "merge-hash-arrays", false, "with --merge deep: hashes in arrays are merged by their positions")
	f.StringVar(&c.kind, "type", "", "the `TYPE` that the value must have")
	f.StringVar(&c.defaultValue, "default", "", "the value if no level has one")
	f.BoolVarP(&c.compile, "compile", "c", false, "compile the catalog before, for the variables of manifests and classes")
	f.BoolVar(&c.trusted, "trusted", false, "accepted, as Puppet does, and without effect")
	f.BoolVar(&c.explain, "explain", false, "print what happened instead of the value")
	f.BoolVar(&c.explainOptions, "explain-options", false, "print how lookup_options were found, with --explain as well")
	f.StringVar(&c.renderAs, "render-as", "", "s, json, yaml, binary or msgpack (default yaml; s for explanations)")
	f.StringVar(&c.trace, "trace", "none", "what to tell of the requests, on standard error: none, story, steps or json")
	c.given = func(name string) bool { return f.Changed(name) }
}

// notRun is an error that Puppet prints as one of the application.
type notRun struct{ error }

func failf(text string, args ...any) error { return notRun{fmt.Errorf(text, args...)} }

func (c *lookupCommand) run(ctx context.Context, args []string) error {
	if err := checkTrace(c.trace); err != nil {
		return err
	}
	err := c.look(ctx, args)
	if e := (notRun{}); errors.As(err, &e) {
		fmt.Fprint(c.p.Err, cleanLines([]byte("Error: Could not run: "+e.Error())))
		return exit(exitFailed)
	}
	return err
}

const advice = "\nRun 'puppet lookup --help' for more details"

func (c *lookupCommand) look(ctx context.Context, keys []string) error {
	if (c.sortArrays || c.hashArrays || c.given("knock-out-prefix")) && c.merge != "deep" {
		return failf("The options --knock-out-prefix, --sort-merged-arrays, and --merge-hash-arrays are only available with '--merge deep'%s", advice)
	}
	if c.given("merge") && !slices.Contains([]string{"first", "hash", "unique", "deep"}, c.merge) {
		return failf("The --merge option only accepts 'first', 'hash', 'unique', or 'deep'%s", advice)
	}
	onlyOptions := c.explainOptions && !c.explain
	if len(keys) == 0 {
		if !onlyOptions {
			return failf("No keys were given to lookup.")
		}
		keys = []string{"__global__"}
	}
	render, err := c.renderer()
	if err != nil {
		return err
	}
	if c.given("type") {
		if _, err := types.Parse(c.kind, types.Unresolved); err != nil {
			return failf("%w", err)
		}
	}
	if c.given("node") && c.node == "" {
		return failf("No facts available for target node: ")
	}
	c.p.application = "lookup"
	return c.p.withEngine(func(e *engine.Engine) error {
		l := &lookup{lookupCommand: c, e: e, record: &hiera.Record{OptionsOnly: onlyOptions}}
		return l.run(ctx, keys, render)
	})
}

// mergeOption is what the flags demand.
func (c *lookupCommand) mergeOption() data.Value {
	switch {
	case !c.given("merge"):
		return data.Value{}
	case c.merge != "deep":
		return data.OfHash([]data.Pair{data.P("strategy", data.OfString(c.merge))})
	}
	h := []data.Pair{
		data.P("strategy", data.OfString("deep")), data.P("sort_merged_arrays", data.OfBool(c.sortArrays)),
		data.P("merge_hash_arrays", data.OfBool(c.hashArrays)),
	}
	if c.given("knock-out-prefix") {
		h = append(h, data.P("knockout_prefix", data.OfString(c.knockout)))
	}
	return data.OfHash(h)
}

// renderer returns what makes text of a value, in the format that was asked for.
func (c *lookupCommand) renderer() (func(data.Value) ([]byte, error), error) {
	name := strings.ToLower(c.renderAs)
	if !c.given("render-as") {
		name = "yaml"
		if c.explain || c.explainOptions {
			name = "s"
		}
	}
	switch name {
	case "s":
		return func(v data.Value) ([]byte, error) { return []byte(covered(v).Text()), nil }, nil
	case "yaml":
		return renderYAML, nil
	case "json":
		return func(v data.Value) ([]byte, error) { return format.AppendJSON(nil, covered(v)) }, nil
	case "pson":
		return func(v data.Value) ([]byte, error) { return format.AppendPSON(nil, covered(v)) }, nil
	case "msgpack", "binary": // which Puppet knows, but has loaded nothing for
		kind := map[string]string{"msgpack": "x-msgpack", "binary": "octet-stream"}[name]
		return func(v data.Value) ([]byte, error) {
			return nil, fmt.Errorf("%s does not respond to to_%s; can not render instances to application/%s", data.RubyClass(v), name, kind)
		}, nil
	}
	return nil, failf("Unknown rendering format '%s'", name)
}

// sensitive returns the value of what convert_to made sensitive.
func sensitive(v data.Value) (data.Value, bool) {
	inner, ok := v.Lookup("__pvalue")
	return inner, ok && v.Get("__ptype").Text() == "Sensitive"
}

// covered is v with texts in place of rich values, as Puppet prints them: what is sensitive
// is not shown.
func covered(v data.Value) data.Value {
	switch v.Kind() {
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			l[i] = covered(x)
		}
		return data.OfList(l)
	case data.Hash:
		if s, ok := richText(v.Get("__ptype").Text(), v.Get("__pvalue")); ok {
			return data.OfString(s)
		}
		h := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			h[i] = data.Pair{Key: p.Key, Value: covered(p.Value)}
		}
		return data.OfHash(h)
	}
	return v
}

// richText is the text of what convert_to made, unless it is of no such type.
func richText(name string, v data.Value) (string, bool) {
	switch name {
	case "Sensitive":
		return "Sensitive [value redacted]", true
	case "Regexp":
		return "(?-mix:" + v.Text() + ")", true
	case "Timestamp", "Timespan", "SemVer", "SemVerRange", "Binary", "URI", "Type":
		return v.Text(), true
	case "Default":
		return "default", true
	}
	return "", false
}

// renderYAML does not cover what is sensitive: Puppet's YAML is that of the object.
func renderYAML(v data.Value) ([]byte, error) {
	if inner, ok := sensitive(v); ok {
		return psych.Encode(data.OfHash([]data.Pair{data.P("value", inner)}), "Puppet::Pops::Types::PSensitiveType::Sensitive"), nil
	}
	return psych.Encode(v, ""), nil
}

// A lookup is one run of the command.
type lookup struct {
	*lookupCommand
	e      *engine.Engine
	record *hiera.Record
	traces []uint64
}

func (l *lookup) run(ctx context.Context, keys []string, render func(data.Value) ([]byte, error)) error {
	explain := l.explain || l.explainOptions
	q := hiera.Query{Keys: keys, Type: l.kind, HasDefault: l.given("default"), Default: data.OfString(l.defaultValue)}
	var v data.Value
	var err error
	unprepared := l.within(ctx, func(compiled *hiera.Compile) {
		v, err = compiled.LookupBy(q, func(key string) (data.Value, bool, error) { return l.ask(ctx, compiled, key) })
	})
	if err := l.printTraces(); err != nil {
		return err
	}
	if unprepared != nil {
		return unprepared
	}
	e := (*hiera.Error)(nil)
	switch {
	case err == nil:
	case !errors.As(err, &e):
		return notRun{errors.New(indirector.Message(err))}
	case e.Class != hiera.LookupFailed:
		return notRun{e}
	case !explain:
		return exit(exitFailed)
	default:
		l.record.AddText(e.Error())
	}
	var b []byte
	switch {
	case !explain:
		b, err = render(v)
	case l.renderAs == "" || strings.EqualFold(l.renderAs, "s"):
		b, err = []byte(l.record.Text()), nil
	default:
		b, err = render(l.record.Data())
	}
	if err != nil {
		return notRun{err}
	}
	return l.puts(b)
}

// puts ends a line as Ruby's puts does.
func (l *lookup) puts(b []byte) error {
	if len(b) == 0 || b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	_, err := l.p.out.Write(b)
	return err
}

// ask sends one key as a request. Puppet always asks hiera for the layers of
// environment and module, whatever answers in place of the global one.
func (l *lookup) ask(ctx context.Context, compiled *hiera.Compile, key string) (data.Value, bool, error) {
	return l.find(ctx, key, l.mergeOption(), &hiera.Session{Compile: compiled, Record: l.record})
}

func (l *lookup) find(ctx context.Context, key string, merge data.Value, session *hiera.Session) (data.Value, bool, error) {
	req := &indirector.Request{
		Indirection: "data_binding", Verb: indirector.Find, Key: key, Caller: "cli", Environment: l.p.environment,
		Options: []indirector.Option{{Name: hiera.OptionSession, Value: session}},
	}
	if !merge.IsNil() {
		req.Options = append(req.Options, indirector.Option{Name: "merge", Value: merge})
	}
	if binding, _ := l.e.Settings.Get("data_binding_terminus"); binding != "hiera" {
		req.Terminus = "hiera"
	}
	inst, err := l.once(ctx, req)
	if inst == nil || err != nil {
		return data.Value{}, session.Record == l.record && l.record.OptionsOnly && err == nil, err
	}
	v, ok := inst.(interface{ Data() data.Value })
	if !ok {
		return data.Value{}, false, fmt.Errorf("the answer to %q is no data", key)
	}
	return v.Data(), true, nil
}

// once sends a request; nil is nothing.
func (l *lookup) once(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	resp, err := l.e.Once(ctx, req)
	if id := command.TraceOf(resp, err); id != 0 {
		l.traces = append(l.traces, id)
	}
	switch {
	case errors.Is(err, indirector.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return resp.Instance(), nil
}

func (l *lookup) printTraces() error {
	if l.trace == "none" || len(l.traces) == 0 {
		return nil
	}
	if err := l.e.Store.Flush(); err != nil {
		return err
	}
	for _, id := range l.traces {
		if err := printTrace(l.p.Err, l.e.Store, l.trace, id); err != nil {
			return err
		}
	}
	return nil
}

// within looks up in the layers of the environment with the variables of the node, or in the
// top scope of its catalog.
func (l *lookup) within(ctx context.Context, look func(*hiera.Compile)) error {
	get := func(name string) string { v, _ := l.e.Settings.Get(name); return v }
	o := hiera.FromSettings(get, l.p.environment)
	o.Warnings = &hiera.Warnings{Log: func(m string) { fmt.Fprint(l.p.Err, cleanLines([]byte("Warning: "+m))) }}
	o.Ask = func(terminus, key string, merge data.Value) (data.Value, bool, error) {
		inst, err := l.once(ctx, &indirector.Request{
			Indirection: "data_binding", Verb: indirector.Find, Key: key, Caller: "cli", Terminus: terminus,
			Options: []indirector.Option{{Name: "merge", Value: merge}},
		})
		if v, ok := inst.(interface{ Data() data.Value }); ok && err == nil {
			return v.Data(), true, nil
		}
		return data.Value{}, false, err
	}
	facts, err := l.nodeFacts(ctx, get("certname"))
	if err != nil {
		return err
	}
	node, err := l.nodeOf(ctx, facts, get("node_terminus"))
	if err != nil {
		return err
	}
	trusted := hiera.LocalTrust(node.Parameters.Get("clientcert"))
	if !l.compile {
		o.Scope = hiera.OfNode(node.Parameters, facts.Values, trusted, o.Environment)
	}
	here := programs.FromSettings(get, o, programs.NewPrograms())
	mine, err := l.p.mine()
	if err != nil {
		return err
	}
	here.Context, here.Ruby = ctx, l.p.ruby(mine).Path
	here.Eval.Log = l.log
	if !l.compile {
		s := programs.New(here)
		defer s.Close()
		look(s.Data)
		return nil
	}
	here.Finished = look
	here.Search = func(ctx context.Context, c *hiera.Compile, key string, q hiera.Query) (data.Value, bool, error) {
		v, found, err := l.find(ctx, key, q.Merge, &hiera.Session{Compile: c, Scope: q.Scope, Record: q.Record})
		if known := (*hiera.Error)(nil); errors.As(err, &known) {
			err = known
		}
		return v, found, err
	}
	of := compile.NodeOf(node)
	of.Environment, of.Facts, of.Trusted = cmp.Or(node.Environment, o.Environment), facts.Values, trusted
	var last eval.LogEntry
	here.Eval.Log = func(e eval.LogEntry) { // the last error is that of the compile, which is printed once
		if last.Level == "err" {
			l.log(last)
		}
		if last = e; e.Level != "err" {
			l.log(e)
		}
	}
	_, err = programs.Compile(ctx, here, compile.Options{Node: of, RichData: get("rich_data") != "false"}, get("code"))
	if failed := (*compile.Error)(nil); errors.As(err, &failed) {
		return notRun{failed.Err} // without the name of the node
	}
	if last.Level == "err" {
		l.log(last)
	}
	return err
}

// nodeOf returns the node: with --compile from its own terminus, else without classes.
func (l *lookup) nodeOf(ctx context.Context, facts *model.Facts, terminus string) (*model.Node, error) {
	req := &indirector.Request{
		Indirection: "node", Verb: indirector.Find, Key: facts.Name, Terminus: "plain", Caller: "cli", Environment: l.p.environment,
		Options: []indirector.Option{{Name: "facts", Value: facts}},
	}
	if l.compile && terminus != "plain" {
		l.log(eval.LogEntry{Level: "warning", Message: "CA is not available, the operation will continue without using trusted facts."})
		req.Terminus = ""
	}
	inst, err := l.once(ctx, req)
	if err != nil {
		return nil, notRun{errors.New(indirector.Message(err))}
	}
	if node, ok := inst.(*model.Node); ok {
		return node, nil
	}
	return &model.Node{Name: facts.Name, Parameters: facts.Values}, nil
}

// log prints what functions log, as Puppet does by default.
func (l *lookup) log(e eval.LogEntry) {
	prefix, ok := map[string]string{
		"notice": "Notice", "warning": "Warning", "err": "Error", "alert": "Alert", "emerg": "Emergency", "crit": "Critical",
	}[e.Level]
	to := l.p.Err
	if e.Level == "notice" {
		to = l.p.out
	}
	if ok {
		fmt.Fprint(to, cleanLines([]byte(prefix+": "+e.String())))
	}
}
