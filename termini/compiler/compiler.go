// Package compiler has the terminus that compiles catalogs.
//
// A compile is a request like all others, and what it asks for on its way is, too: the
// facts that came with it are saved, the node is found, data is looked up, and the
// metadata of files is found for a static catalog. The language itself is in package
// language/compile. Rules TERM-COMP-01 to TERM-COMP-11.
//
// A catalog that is traced, or given to a program in this process, knows where each value
// in it is from.
//
// A program in this process may give two options more than Puppet has: the catalog with
// its virtual resources is stored in a [*compile.Receiver], the option
// [compile.OptionReceiver]; with [compile.OptionUnsaved] the facts that come with
// the request count and are not saved. For a node on the network manifests may run commands,
// as in Puppet; a program has to allow that by [compile.OptionCommands].
package compiler

import (
	"context"
	"fmt"
	"slices"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb"
	"indirtui/traces"
)

// Catalog describes the compiler terminus of the catalog indirection.
var Catalog = indirector.Descriptor{
	Indirection: "catalog",
	Name:        "compiler",
	Party:       "the compiler",
	Note:        "compiles manifests",
	Doc: "Compiles the catalog of a node: saves the facts that came with the request, finds the node, evaluates the manifests of its environment, " +
		"and looks data up through the data_binding indirection. With the options static_catalog and code_id the metadata of files is put into the catalog. " +
		"It is the default of servers and of puppet apply.",
	Settings: append([]indirector.Setting{
		{Name: "environmentpath", Doc: "Where environments are, with their environment.conf, manifests and modules."},
		{Name: "modulepath", Doc: "Where modules are."},
		{Name: "manifest", Doc: "The initial manifest: a file, or a directory of files."},
		{Name: "config_version", Doc: "A command that prints the version of the catalog. It is run for nodes on the network, not where a catalog is only looked at."},
		{Name: "code", Doc: "What is compiled in place of the initial manifest."},
		{Name: "environment", Doc: "The environment of nodes that belong to none."},
		{Name: "certname", Doc: "The name of this host, as nodes get to know it."},
		{Name: "rich_data", Doc: "Whether catalogs have values that JSON has not."},
		{Name: "storeconfigs", Doc: "Whether exported resources are collected."},
		{Name: "hiera_config", Doc: "The hiera.yaml of the global layer."},
		{Name: "codedir", Doc: "Where hiera.yaml of version 3 looks for data."},
		{Name: "environment_data_provider", Doc: "What environments had before they had a hiera.yaml: none, hiera or function."},
		{Name: "data_binding_terminus", Doc: "Whether hiera, or another terminus, has the data of the global layer."},
		{Name: "static_catalogs", Doc: "Whether catalogs may have the metadata of files."},
		{Name: "strict", Doc: "Whether what is doubtful in manifests is ignored, warned of, or refused."},
		{Name: "strict_variables", Doc: "Whether variables that do not exist are refused."},
		{Name: "max_errors", Doc: "How many errors of a manifest are logged."},
		{Name: "max_warnings", Doc: "How many warnings of a manifest are logged."},
		{Name: "max_deprecations", Doc: "How many warnings of what is deprecated in a manifest are logged."},
		{Name: "disable_warnings", Doc: "Kinds of warnings that are not logged."},
	}, ofPuppetDB()...),
	Code:  true,
	Rules: []string{"TERM-COMP-01", "TERM-COMP-04", "TERM-COMP-05", "TERM-COMP-07", "TERM-COMP-08", "TERM-COMP-10"},
	Type:  (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		name, _ := env.Settings.Get("certname")
		l := newLanguage(env)
		return &Terminus{env: env, server: newServer(name), language: l.compile, close: l.db.Close}, nil
	},
}

// ofPuppetDB are the settings of the function puppetdb_query.
func ofPuppetDB() []indirector.Setting {
	return slices.DeleteFunc(puppetdb.Settings(), func(s indirector.Setting) bool { return s.Name == "certname" })
}

// A Terminus compiles catalogs.
type Terminus struct {
	env      indirector.Env
	server   server
	language func(context.Context, *Input) (*model.Catalog, error)
	close    func() error
}

// Close closes idle connections to PuppetDB.
func (t *Terminus) Close() error { return t.close() }

// An Input is what a catalog is compiled from.
type Input struct {
	Node        *model.Node // with the facts and what the server knows among its parameters
	Environment string
	Trusted     data.Value        // a hash
	Server      data.Value        // a hash: server_facts
	Facts       data.Value        // a hash
	CodeID      string            // "" if there is none
	Receiver    *compile.Receiver // nil if the catalog is all that is wanted
	Commands    bool              // whether manifests may run commands
	Ruby        string            // the interpreter for code of modules; "" if it may not be run
}

// Find compiles the catalog of a node.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	facts, err := t.facts(ctx, req)
	if err != nil {
		return nil, err
	}
	node, err := t.node(ctx, req, facts)
	if err != nil {
		return nil, err
	}
	environment := node.Environment
	if environment == "" {
		environment, _ = t.env.Settings.Get("environment")
	}
	if req.Remote != nil && isTrue(req.Option("check_environment")) && environment != req.Environment {
		traces.Explain(ctx, traces.OtherEnvironment(node.Name, environment, req.Environment))
		return &model.Catalog{Name: node.Name, Environment: environment, Format: 2}, nil
	}
	return t.compile(ctx, req, node, environment)
}

// compile compiles the catalog of a node that is known. Rules TERM-COMP-08, TERM-COMP-11.
func (t *Terminus) compile(ctx context.Context, req *indirector.Request, node *model.Node, environment string) (*model.Catalog, error) {
	checksum, err := t.checksum(req, environment)
	if err != nil {
		return nil, err
	}
	kind, started := "", t.env.Now()
	if checksum != "" {
		kind = "static "
	}
	in := &Input{Node: node, Environment: environment, Trusted: trusted(req, node), Server: t.server.facts().With("environment", data.OfString(environment)), CodeID: text(req.Option("code_id"))}
	in.Commands = req.Remote != nil || req.Option(compile.OptionCommands) == true
	in.Ruby = t.env.Ruby.For(req)
	if r, ok := req.Option(compile.OptionReceiver).(*compile.Receiver); ok {
		in.Receiver, r.Environment = r, environment
	}
	if node.Facts != nil {
		in.Facts = node.Facts.Values
	} else {
		traces.Explain(ctx, "there are no facts of "+req.Key+", so its catalog was compiled without any")
	}
	catalog, err := t.language(ctx, in)
	if err != nil {
		if t.env.Application == "server" {
			t.env.Log.Error(err.Error())
		}
		return nil, err
	}
	if checksum != "" {
		if err := t.inline(ctx, catalog, checksum); err != nil {
			return nil, err
		}
	}
	catalog.Share()
	t.env.Log.Log(ctx, indirector.LevelNotice, fmt.Sprintf("Compiled %scatalog for %s in environment %s in %.2f seconds", kind, node.Name, environment, t.env.Now().Sub(started).Seconds()))
	return catalog, nil
}

// Filter removes virtual resources, which the cache keeps and nodes do not get. Rule
// TERM-COMP-10.
func (t *Terminus) Filter(_ context.Context, inst indirector.Instance) (indirector.Instance, error) {
	c, ok := inst.(*model.Catalog)
	if !ok || !slices.ContainsFunc(c.Resources, isVirtual) {
		return inst, nil
	}
	filtered, gone := *c, map[string]bool{}
	filtered.Resources, filtered.Edges = nil, nil
	for i := range c.Resources {
		if r := &c.Resources[i]; r.Virtual {
			gone[r.Ref()] = true
		} else {
			filtered.Resources = append(filtered.Resources, *r)
		}
	}
	for _, e := range c.Edges {
		if !gone[e.Source] && !gone[e.Target] {
			filtered.Edges = append(filtered.Edges, e)
		}
	}
	filtered.Share() // from now on it does not change
	return &filtered, nil
}

func isVirtual(r model.Resource) bool { return r.Virtual }

// isTrue reports whether an option is set, by a program or on the network.
func isTrue(option any) bool { return option == true || option == "true" }

// text returns an option that is a string, or "".
func text(option any) string {
	s, _ := option.(string)
	return s
}
