// Package puppetdb has the termini of PuppetDB: they send what is saved as
// commands, and ask for facts and exported resources.
//
//	save catalog web01   replace catalog: queued, and stored later
//	find catalog web01   nil: PuppetDB's catalogs are not Puppet's
//	find facts web01     the facts as they were saved, with trusted among them
//	search resource File what other nodes export of that type
//	destroy node web01   deactivate node
//
// The client, its URLs and their order are in indirector/puppetdb.
package puppetdb

import (
	"context"
	"errors"
	"sync/atomic"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb"
	"indirtui/indirector/puppetdb/command"
	"indirtui/termini/internal/storing"
	"indirtui/traces"
)

const party = "PuppetDB"

// Catalog describes the puppetdb terminus of the catalog indirection.
var Catalog = indirector.Descriptor{
	Indirection: "catalog", Name: "puppetdb", Party: party, Note: "sends it to PuppetDB, finds nothing", REST: true, AlwaysNil: true,
	Doc: "Sends catalogs to PuppetDB, and finds none: it is a cache that is only written, so that the compiler is always asked. " +
		"An answer means that the catalog is queued; whether PuppetDB stores it shows later, or with the setting puppetdb_confirm.",
	Settings: settings(), Rules: []string{"IND-TERM-12"},
	Type: (*Catalogs)(nil),
	New:  func(env indirector.Env) (indirector.Terminus, error) { return &Catalogs{newStore(env)}, nil },
}

// Facts describes the puppetdb terminus of the facts indirection.
var Facts = indirector.Descriptor{
	Indirection: "facts", Name: "puppetdb", Party: party, Note: "asks PuppetDB, and sends to it", REST: true,
	Doc: "Sends facts to PuppetDB and finds them there, without their times and with the trusted data that were saved. " +
		"An answer to a save means that they are queued. A search returns the names of nodes.",
	Settings: settings(), Rules: []string{"IND-TERM-12"},
	Type: (*Factsets)(nil),
	New:  func(env indirector.Env) (indirector.Terminus, error) { return &Factsets{newStore(env)}, nil },
}

// FactsApply describes the puppetdb_apply terminus of the facts indirection.
var FactsApply = indirector.Descriptor{
	Indirection: "facts", Name: "puppetdb_apply", Party: party, Note: "sends to PuppetDB once, finds nothing", REST: true, AlwaysNil: true,
	Doc:      "Sends facts to PuppetDB as the cache of `puppet apply`: once in the life of the process, and finds none.",
	Settings: settings(), Rules: []string{"IND-TERM-12"},
	Type: (*ApplyFactsets)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		return &ApplyFactsets{Factsets: Factsets{newStore(env)}}, nil
	},
}

// Node describes the puppetdb terminus of the node indirection.
var Node = indirector.Descriptor{
	Indirection: "node", Name: "puppetdb", Party: party, Note: "deactivates nodes, finds nothing", REST: true, AlwaysNil: true,
	Doc:      "Deactivates a node in PuppetDB when it is destroyed. It finds no node, and saves none: nothing is sent then.",
	Settings: settings(), Rules: []string{"IND-TERM-12"},
	Type: (*Nodes)(nil),
	New:  func(env indirector.Env) (indirector.Terminus, error) { return &Nodes{newStore(env)}, nil },
}

// Resource describes the puppetdb terminus of the resource indirection.
var Resource = indirector.Descriptor{
	Indirection: "resource", Name: "puppetdb", Party: party, Note: "finds exported resources", REST: true,
	Doc: "Finds resources of a type that other nodes export. The options are host, the node that does not count, and filter, " +
		"what a collector asks for.",
	Settings: settings(), Rules: []string{"IND-TERM-12"},
	Type: (*Resources)(nil),
	New:  func(env indirector.Env) (indirector.Terminus, error) { return &Resources{newStore(env)}, nil },
}

func settings() []indirector.Setting {
	return append(puppetdb.Settings(), indirector.Setting{Name: "node_name_value", Doc: "Name of this host in commands, as their producer."})
}

// A store is what the termini have in common.
type store struct {
	env indirector.Env
	db  *puppetdb.Client
}

func newStore(env indirector.Env) store { return store{env, puppetdb.Of(env)} }

// Close closes idle connections.
func (s *store) Close() error { return s.db.Close() }

// options are what commands have from a request.
func (s *store) options(req *indirector.Request) command.Options { return storing.Options(s.env, req) }

// submit sends a command. That it was not taken is logged, too. Rule PDB-HTTP-13.
func (s *store) submit(ctx context.Context, c *command.Command) (any, error) {
	result, err := s.db.Submit(ctx, c)
	if f := (*indirector.Failure)(nil); errors.As(err, &f) && f.Class == puppetdb.NotSubmitted {
		s.env.Log.Error(f.Message)
	}
	return result, err
}

// Catalogs are the catalogs of PuppetDB.
type Catalogs struct{ store }

// Find finds nothing. Rule PDB-CAT-09.
func (t *Catalogs) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, indirector.NotFound(traces.AlwaysNil, "PuppetDB's catalogs are not read back")
}

// Save sends the catalog. Rules PDB-CAT-01 to PDB-CAT-09.
func (t *Catalogs) Save(ctx context.Context, req *indirector.Request) (any, error) {
	c, ok := req.Instance.(*model.Catalog)
	if !ok {
		return nil, storing.NoInstance("to_data_hash")
	}
	cmd, err := command.Catalog(c, t.options(req))
	if err != nil {
		return nil, err
	}
	return t.submit(ctx, cmd)
}

// Factsets are the facts of PuppetDB.
type Factsets struct{ store }

// Find finds facts; see [puppetdb.Client.Facts]. Rule PDB-QRY-03.
func (t *Factsets) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	f, err := t.db.Facts(ctx, req.Key)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Save sends facts. Rules PDB-FACT-01 to PDB-FACT-03.
func (t *Factsets) Save(ctx context.Context, req *indirector.Request) (any, error) {
	f, ok := req.Instance.(*model.Facts)
	if !ok {
		return nil, storing.NoInstance("values")
	}
	cmd, err := command.Facts(f, t.options(req))
	if err != nil {
		return nil, err
	}
	return t.submit(ctx, cmd)
}

// Search returns the names of nodes. The key does not count. Rule PDB-QRY-05.
func (t *Factsets) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	return t.db.SearchFacts(ctx, req.Options)
}

// ApplyFactsets are Factsets that are written once. Rule PDB-APPLY-01.
type ApplyFactsets struct {
	Factsets
	saved atomic.Bool
}

// Find finds nothing.
func (t *ApplyFactsets) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, indirector.NotFound(traces.AlwaysNil, "puppetdb_apply is only written")
}

// Save sends the first facts, and no others, whatever became of them.
func (t *ApplyFactsets) Save(ctx context.Context, req *indirector.Request) (any, error) {
	if t.saved.Swap(true) {
		traces.Explain(ctx, "nothing was sent: puppetdb_apply saves once in the life of the process")
		return nil, nil
	}
	return t.Factsets.Save(ctx, req)
}

// Nodes are the nodes of PuppetDB. Rule PDB-NODE-01.
type Nodes struct{ store }

// Find finds nothing.
func (t *Nodes) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, indirector.NotFound(traces.AlwaysNil, "PuppetDB has no nodes for Puppet")
}

// Save does nothing.
func (t *Nodes) Save(ctx context.Context, _ *indirector.Request) (any, error) {
	traces.Explain(ctx, "nothing was sent: PuppetDB keeps no nodes of Puppet")
	return nil, nil
}

// Destroy deactivates the node.
func (t *Nodes) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	return t.submit(ctx, command.Deactivate(req.Key, t.options(req)))
}

// Resources are the exported resources of PuppetDB.
type Resources struct{ store }

// Search returns what other nodes than the option host export of the type that is
// the key. Rule PDB-QRY-01.
func (t *Resources) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	found, err := t.db.SearchResources(ctx, req.Key, storing.Text(req.Option("host")), data.OfAny(req.Option("filter")))
	if err != nil {
		return nil, err
	}
	all := make([]indirector.Instance, len(found))
	for i, r := range found {
		all[i] = r
	}
	return all, nil
}
