package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/sqlstore"
	"indirtui/termini/internal/storing"
	"indirtui/traces"
)

// Catalogs are stored catalogs.
type Catalogs struct{ store }

func newCatalogs(s store) *Catalogs { return &Catalogs{s} }

// Find finds nothing. Rule STORE-SQL-07.
func (t *Catalogs) Find(ctx context.Context, _ *indirector.Request) (indirector.Instance, error) {
	const why = "stored-only: a catalog is compiled anew, and search catalog KEY returns what is stored"
	traces.Explain(ctx, why)
	return nil, indirector.NotFound(traces.AlwaysNil, why)
}

// Save stores the catalog. Of parameters that were Sensitive the names are kept. Rules
// STORE-SQL-02 to STORE-SQL-05.
func (t *Catalogs) Save(ctx context.Context, req *indirector.Request) (any, error) {
	c, ok := req.Instance.(*model.Catalog)
	if !ok {
		return nil, storing.NoInstance("to_data_hash")
	}
	cmd, err := command.Catalog(c, t.options(req))
	if err != nil {
		return nil, err
	}
	return t.apply(ctx, withSecrets(cmd, c))
}

// withSecrets adds the names of Sensitive parameters to the resources of a command,
// which are those of the catalog in its order.
func withSecrets(cmd *command.Command, c *model.Catalog) *command.Command {
	if !slices.ContainsFunc(c.Resources, func(r model.Resource) bool { return len(r.Sensitive) > 0 }) {
		return cmd
	}
	rows := slices.Clone(cmd.Payload.Get("resources").List())
	for i := range min(len(rows), len(c.Resources)) {
		if names := c.Resources[i].Sensitive; len(names) > 0 {
			rows[i] = rows[i].With("sensitive_parameters", data.OfStrings(names))
		}
	}
	with := *cmd
	with.Payload = cmd.Payload.With("resources", data.OfList(rows))
	return &with
}

// Yield finds the stored catalogs of a key, or of all that fit one with a star.
func (t *Catalogs) Yield(ctx context.Context, req *indirector.Request, yield func(indirector.Instance) error) error {
	db, err := t.db.Existing(ctx)
	if err != nil || db == nil {
		return err
	}
	found, err := names(ctx, db, "catalog", req.Key)
	for i := 0; err == nil && i < len(found); i++ {
		var c *sqlstore.StoredCatalog
		if c, err = db.Catalog(ctx, found[i]); err == nil && c != nil {
			err = yield(c.Catalog)
		}
	}
	return err
}

func catalogOf(n *sqlstore.Node) *sqlstore.Made { return n.Catalog }

// List yields every node that has a catalog.
func (t *Catalogs) List(ctx context.Context, yield func(indirector.Entry) bool) error {
	return t.list(ctx, catalogOf, yield)
}

// Peek returns the entry of one node.
func (t *Catalogs) Peek(ctx context.Context, key string) (indirector.Entry, error) {
	return t.peek(ctx, catalogOf, key)
}

// Factsets are stored facts.
type Factsets struct{ store }

func newFactsets(s store) *Factsets { return &Factsets{s} }

// Find returns the facts of a node: none for one that is not active, or has only a
// catalog. Rule PDB-QRY-03.
func (t *Factsets) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	db, err := t.db.Existing(ctx)
	if err != nil {
		return nil, err
	}
	if db == nil {
		return nil, indirector.NotFound(traces.NotFound, "nothing was ever stored")
	}
	f, err := db.Facts(ctx, req.Key)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, indirector.NotFound(traces.NotFound, "nothing is known of "+req.Key)
	}
	facts := &model.Facts{Name: req.Key, Values: f.Values}
	switch why := inactive(f.Node); {
	case why != "":
		traces.Explain(ctx, fmt.Sprintf("facts are empty because %s is %s, not because it has none", req.Key, why))
	case f.Made == nil:
		traces.Explain(ctx, fmt.Sprintf("facts are empty because none of %s were ever stored; something else was", req.Key))
	default:
		facts.Timestamp = model.At(f.Produced)
		if why := t.why(f); why != "" {
			traces.Explain(ctx, why)
		}
	}
	return facts, nil
}

// old is when facts are no longer what an agent would find now: agents run every half an
// hour.
const old = time.Hour

// why returns why facts are not newer: what was saved since was not stored, or nothing
// was saved. It is "" for facts that are what was saved last, and not long ago.
func (t *Factsets) why(f *sqlstore.Factset) string {
	switch age := t.env.Now().Sub(f.Produced); {
	case f.Ignored != "":
		return fmt.Sprintf("these facts are %s old: what came later was %s", traces.Human(age), f.Ignored)
	case age >= old:
		return fmt.Sprintf("these facts are %s old: none were saved since", traces.Human(age))
	}
	return ""
}

// Save stores facts. Rules PDB-FACT-01 to PDB-FACT-03.
func (t *Factsets) Save(ctx context.Context, req *indirector.Request) (any, error) {
	f, ok := req.Instance.(*model.Facts)
	if !ok {
		return nil, storing.NoInstance("values")
	}
	o := t.options(req)
	if environment := storing.Text(req.Option("environment")); environment != "" {
		o.Environment = environment
	}
	cmd, err := command.Facts(f, o)
	if err != nil {
		return nil, err
	}
	return t.apply(ctx, cmd)
}

// Search returns the names of the active nodes whose facts meet all options; without any,
// of all that have facts. The key does not count. Rule PDB-QRY-05.
func (t *Factsets) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	db, err := t.db.Existing(ctx)
	if err != nil || db == nil {
		return []indirector.Instance{}, err
	}
	conditions, err := conditionsOf(ctx, req.Options)
	if err != nil {
		return nil, err
	}
	var found []string
	if len(conditions) == 0 {
		found, err = db.Names(ctx, "facts", false)
	} else if found, err = db.FactSearch(ctx, conditions); err != nil && ctx.Err() == nil {
		err = &indirector.Failure{Class: "Puppet::Util::Puppetdb::InventorySearchError", Message: err.Error(), Err: err}
	}
	if err != nil {
		return nil, err
	}
	all := make([]indirector.Instance, len(found))
	for i, name := range found {
		all[i] = indirector.Name(name)
	}
	return all, nil
}

// conditionsOf reads options facts.NAME.OP, sorted by their names. What comes after
// the third part is not looked at. Rule PDB-QRY-05.
func conditionsOf(ctx context.Context, options []indirector.Option) ([]sqlstore.Condition, error) {
	options = slices.Clone(options)
	slices.SortStableFunc(options, func(a, b indirector.Option) int { return strings.Compare(a.Name, b.Name) })
	var all []sqlstore.Condition
	for _, o := range options {
		parts := append(strings.Split(o.Name, "."), "", "")
		if parts[0] != "facts" {
			return nil, &indirector.Failure{
				Class: "Puppet::Util::Puppetdb::InventorySearchError", Message: fmt.Sprintf("Fact search against keys of type '%s' is unsupported", parts[0]),
			}
		}
		c := sqlstore.Condition{Fact: parts[1], Op: parts[2], Value: data.OfAny(o.Value)}
		if c.Op == "" {
			c.Op = "eq"
		}
		if looksLike(c.Value) && (c.Op == "eq" || c.Op == "ne") {
			traces.AddNote(ctx, fmt.Sprintf("facts are compared as JSON: the text %q is neither a number nor a truth", c.Value.Str()))
		}
		all = append(all, c)
	}
	return all, nil
}

// looksLike reports whether a text may be meant as a number or a truth.
func looksLike(v data.Value) bool {
	if v.Kind() != data.String {
		return false
	}
	_, err := strconv.ParseFloat(v.Str(), 64)
	return err == nil || v.Str() == "true" || v.Str() == "false"
}

func factsOf(n *sqlstore.Node) *sqlstore.Made { return n.Facts }

// List yields every node that has facts.
func (t *Factsets) List(ctx context.Context, yield func(indirector.Entry) bool) error {
	return t.list(ctx, factsOf, yield)
}

// Peek returns the entry of one node.
func (t *Factsets) Peek(ctx context.Context, key string) (indirector.Entry, error) {
	return t.peek(ctx, factsOf, key)
}

// Nodes deactivate nodes. Rule PDB-NODE-01.
type Nodes struct{ store }

func newNodes(s store) *Nodes { return &Nodes{s} }

// Find finds nothing.
func (t *Nodes) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, indirector.NotFound(traces.AlwaysNil, "a store has no nodes for Puppet, only what they made")
}

// Save does nothing.
func (t *Nodes) Save(ctx context.Context, _ *indirector.Request) (any, error) {
	traces.Explain(ctx, "nothing was stored: a store keeps no nodes of Puppet")
	return nil, nil
}

// Destroy deactivates the node, also one that is not known yet. Rule PDB-SEM-02.
func (t *Nodes) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	return t.apply(ctx, command.Deactivate(req.Key, t.options(req)))
}

// Resources are exported resources.
type Resources struct{ store }

func newResources(s store) *Resources { return &Resources{s} }

// Yield yields what other nodes than the option host export of the type that is the
// key. Rules STORE-SQL-06, PDB-QRY-01.
func (t *Resources) Yield(ctx context.Context, req *indirector.Request, yield func(indirector.Instance) error) error {
	db, err := t.db.Existing(ctx)
	if err != nil || db == nil {
		return err
	}
	filter := data.OfAny(req.Option("filter"))
	if s := strings.TrimSpace(filter.Str()); strings.HasPrefix(s, "[") {
		if filter, err = format.DecodeJSON([]byte(s), format.Limits{}); err != nil {
			return fmt.Errorf("read the option filter: %w", err)
		}
	}
	q := sqlstore.Collection{Type: req.Key, Filter: filter, Host: storing.Text(req.Option("host"))}
	var absent []*sqlstore.Node
	if traces.FromContext(ctx) != nil {
		q.Inactive = func(n *sqlstore.Node) { absent = append(absent, n) }
	}
	err = db.EachExported(ctx, q, func(r *model.Resource) error {
		explainAbsent(ctx, absent)
		absent = nil
		for _, name := range r.Sensitive {
			traces.AddNote(ctx, fmt.Sprintf("%s of %s was Sensitive at %s and is not in the store", name, r.Ref(), r.Exporter))
		}
		return yield(r)
	})
	if err != nil {
		return err
	}
	explainAbsent(ctx, absent)
	return nil
}

// explainAbsent notes which nodes would export more if they were active. There is a node
// for each resource, sorted by their names. Rule STORE-SQL-06.
func explainAbsent(ctx context.Context, nodes []*sqlstore.Node) {
	const most = 3 // the others are counted
	for i := 0; len(nodes) > 0; i++ {
		n := nodes[0]
		rest := slices.DeleteFunc(slices.Clone(nodes), func(o *sqlstore.Node) bool { return o.Certname == n.Certname })
		if i == most {
			traces.AddNote(ctx, fmt.Sprintf("other nodes that are not active export %d more that would fit", len(nodes)))
			return
		}
		traces.Explain(ctx, fmt.Sprintf("%s exports %d that would fit, but it is %s", n.Certname, len(nodes)-len(rest), inactive(n)))
		nodes = rest
	}
}

// Reports are stored reports.
type Reports struct{ store }

func newReports(s store) *Reports { return &Reports{s} }

// Find returns the latest report of a node. Rule STORE-SQL-07.
func (t *Reports) Find(ctx context.Context, req *indirector.Request) (found indirector.Instance, err error) {
	db, err := t.db.Existing(ctx)
	if err == nil && db != nil {
		err = db.Reports(ctx, sqlstore.ReportQuery{Certname: req.Key, Limit: 1}, func(r *model.Report) error {
			found = r
			return nil
		})
	}
	if err == nil && found == nil {
		err = indirector.NotFound(traces.NotFound, "no report of "+req.Key+" is stored")
	}
	return found, err
}

// Yield finds reports, the newest first, by the options status, since, until (times) and
// limit. The key is a certname; "*" or nothing is all.
func (t *Reports) Yield(ctx context.Context, req *indirector.Request, yield func(indirector.Instance) error) error {
	q := sqlstore.ReportQuery{Certname: req.Key, Status: storing.Text(req.Option("status"))}
	if q.Certname == "*" {
		q.Certname = ""
	}
	for name, into := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		if at := storing.Text(req.Option(name)); at != "" {
			moment, err := model.ParseTime(at)
			if err != nil {
				return fmt.Errorf("read the option %s: %w", name, err)
			}
			*into = moment.Time()
		}
	}
	if limit := storing.Text(req.Option("limit")); limit != "" {
		n, err := strconv.Atoi(limit)
		if err != nil || n < 1 {
			return fmt.Errorf("read the option limit: %q is no number above zero", limit)
		}
		q.Limit = n
	}
	db, err := t.db.Existing(ctx)
	if err != nil || db == nil {
		return err
	}
	return db.Reports(ctx, q, func(r *model.Report) error { return yield(r) })
}

// Save stores the report, unless it is there. Rules PDB-REP-01, PDB-REP-02.
func (t *Reports) Save(ctx context.Context, req *indirector.Request) (any, error) {
	r, ok := req.Instance.(*model.Report)
	if !ok {
		return nil, storing.NoInstance("host")
	}
	cmd, err := command.Report(r, t.options(req))
	if err != nil {
		return nil, err
	}
	return t.apply(ctx, cmd)
}

func reportOf(n *sqlstore.Node) *sqlstore.Made {
	if n.Report == nil {
		return nil
	}
	return &n.Report.Made
}

// List yields every node that has a report.
func (t *Reports) List(ctx context.Context, yield func(indirector.Entry) bool) error {
	return t.list(ctx, reportOf, yield)
}

// Peek returns the entry of one node.
func (t *Reports) Peek(ctx context.Context, key string) (indirector.Entry, error) {
	return t.peek(ctx, reportOf, key)
}
