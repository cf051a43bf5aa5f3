package sqlstore_test

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/puppetdb"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/puppetdb/puppetdbtest"
	"indirtui/indirector/sqlstore"
	termini "indirtui/termini/puppetdb"
	"indirtui/termini/reports"
	"indirtui/traces"
)

// A peer is the real PuppetDB, by our termini.
type peer struct {
	set    clienttest.Settings
	client *puppetdb.Client
	shift  time.Duration // from the time of the recordings to that of this run: what is old expires
	suffix string        // of the names of nodes
	marks  int
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	now := time.Now()
	p := &peer{set: puppetdbtest.Stack(t, "../../.ci/peers/stack.sh"), shift: now.Add(-time.Minute).Sub(epoch).Truncate(time.Second), suffix: strconv.FormatInt(now.UnixNano(), 36)}
	p.client = puppetdb.Of(indirector.Env{Settings: p.set.With("puppetdb_confirm", "0"), Log: slog.New(slog.DiscardHandler), Now: time.Now})
	t.Cleanup(func() {
		if err := p.client.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *peer) node(letter, id string) string { return letter + "-" + id + "-" + p.suffix }

// do sends a request at a time of the recordings; zero is now.
func (p *peer) do(t *testing.T, when time.Time, req *indirector.Request) (indirector.Response, error) {
	t.Helper()
	all := []indirector.Descriptor{reports.Processor, termini.Catalog, termini.Facts, termini.Node, termini.Resource}
	routes := indirector.Routes{}
	var specs []indirector.Spec
	for _, d := range all {
		specs = append(specs, indirector.Spec{Name: d.Indirection, Class: "Puppet::" + indirector.Constant(d.Indirection), Default: d.Name})
		routes[d.Indirection] = indirector.Route{Primary: traces.Slot{{Terminus: d.Name, Kind: traces.FromRoutesFile}}}
	}
	registry, err := indirector.NewRegistry(specs, all)
	if err != nil {
		t.Fatal(err)
	}
	cfg := indirector.Config{Registry: registry, Routes: routes, Settings: p.set, Log: slog.New(slog.DiscardHandler)}
	if !when.IsZero() {
		cfg.Settings = p.set.With("puppetdb_confirm", "0") // of a clock that stands still nothing can be awaited
		cfg.Now = func() time.Time { return when.Add(p.shift) }
	}
	host, err := indirector.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	}()
	return host.Do(t.Context(), req)
}

// apply saves what the command has, and waits until PuppetDB is through with it.
func (p *peer) apply(t *testing.T, c *command.Command) {
	t.Helper()
	req := &indirector.Request{Indirection: "node", Verb: indirector.Destroy, Key: c.Certname, Environment: c.Payload.Get("environment").Text()}
	switch inst, err := c.Instance(); {
	case c.Name == command.ReplaceCatalog: // which Instance does not read if Puppet would not send it
		req.Indirection, req.Verb, req.Instance = "catalog", indirector.Save, catalogIn(c.Payload)
	case err != nil:
		t.Fatal(err)
	case c.Name == command.ReplaceFacts:
		req.Indirection, req.Verb, req.Instance = "facts", indirector.Save, inst
	case c.Name == command.StoreReport:
		req.Indirection, req.Verb, req.Instance = "report", indirector.Save, inst
	}
	if _, err := p.do(t, c.Produced, req); err != nil {
		t.Fatal(err)
	}
	p.awaits(t)
}

// awaits waits until PuppetDB has stored what comes now. The stack's works on one
// command after the other, and so is through with all before it.
func (p *peer) awaits(t *testing.T) {
	t.Helper()
	p.marks++
	mark := fmt.Sprintf("mark%d-%s", p.marks, p.suffix)
	save := &indirector.Request{Indirection: "facts", Verb: indirector.Save, Key: mark, Instance: &model.Facts{Name: mark}}
	if _, err := p.do(t, time.Time{}, save); err != nil {
		t.Fatal(err)
	}
	find := &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: mark}
	if _, err := p.do(t, time.Time{}, find); err != nil {
		t.Fatalf("PuppetDB has not stored what came last within a minute: %v", err)
	}
}

// catalogIn is the catalog of a command, whatever is wrong with it.
func catalogIn(payload data.Value) *model.Catalog {
	c := &model.Catalog{Name: payload.Get("certname").Text(), Version: payload.Get("version"), Environment: payload.Get("environment").Text(), CatalogUUID: payload.Get("catalog_uuid").Text()}
	for _, row := range payload.Get("resources").List() {
		r := model.Resource{Type: row.Get("type").Text(), Title: row.Get("title").Text(), Exported: row.Get("exported").Truthy(), Parameters: row.Get("parameters")}
		for _, tag := range row.Get("tags").List() {
			r.Tags = append(r.Tags, tag.Text())
		}
		c.Resources = append(c.Resources, r)
	}
	ref := func(v data.Value) string { return v.Get("type").Text() + "[" + v.Get("title").Text() + "]" }
	for _, e := range payload.Get("edges").List() {
		c.Edges = append(c.Edges, model.Edge{Source: ref(e.Get("source")), Target: ref(e.Get("target"))})
	}
	return c
}

func (p *peer) answer(t *testing.T, u *url.URL) (answer any, code int, text string) {
	t.Helper()
	query := parse(t, cmp.Or(u.Query().Get("query"), "null"))
	path := strings.Split(u.Path, "/")
	switch {
	case u.Path == "nodes" && query.List()[0].Text() == "and":
		return p.nodesBy(t, query)
	case len(path) == 1:
		rows := p.rows(t, u.Path, query)
		if u.Path == "resources" {
			p.collects(t, query, rows)
		}
		return asJSON(t, p.back(rows)), 200, ""
	}
	node := path[1]
	status, err := p.client.Status(t.Context(), node)
	switch {
	case errors.Is(err, indirector.ErrNotFound):
		return nil, 404, ""
	case err != nil:
		t.Fatal(err)
	case len(path) == 2:
		return asJSON(t, p.back(status)), 200, ""
	case path[2] == "resources":
		rows := p.rows(t, "resources", list(str("="), str("certname"), str(node)))
		if rows.Len() == 0 { // no catalog was stored
			return nil, 404, ""
		}
		return asJSON(t, rows), 200, ""
	}
	return p.factsOf(t, node, status.Get("facts_environment")), 200, ""
}

// rows asks by the query API.
func (p *peer) rows(t *testing.T, entity string, query data.Value) data.Value {
	t.Helper()
	v, err := p.client.Query(t.Context(), list(str("from"), str(entity), query))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// back returns rows with times of the recordings.
func (p *peer) back(v data.Value) data.Value {
	if v.Kind() == data.List {
		var rows []data.Value
		for _, row := range v.List() {
			rows = append(rows, p.back(row))
		}
		return list(rows...)
	}
	for _, pair := range v.Hash() {
		if at, err := time.Parse(time.RFC3339, pair.Value.Text()); err == nil {
			v = v.With(pair.Key.Text(), str(at.Add(-p.shift).UTC().Format("2006-01-02T15:04:05.000Z")))
		}
	}
	return v
}

// factsOf finds facts, without the trusted data that were saved with them.
func (p *peer) factsOf(t *testing.T, node string, environment data.Value) any {
	t.Helper()
	resp, err := p.do(t, time.Time{}, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: node})
	if err != nil {
		t.Fatal(err)
	}
	rows := []any{}
	for _, pair := range resp.Instance().(*model.Facts).Values.Hash() {
		if name := pair.Key.Text(); name != "trusted" {
			rows = append(rows, map[string]any{"certname": node, "environment": environment.Text(), "name": name, "value": asJSON(t, pair.Value)})
		}
	}
	return rows
}

// nodesBy searches for nodes by facts.
func (p *peer) nodesBy(t *testing.T, query data.Value) (answer any, code int, text string) {
	t.Helper()
	req := &indirector.Request{Indirection: "facts", Verb: indirector.Search, Key: "x"}
	for _, c := range query.List()[1:] {
		condition := conditionOf(c)
		req.Options = append(req.Options, indirector.Option{Name: "facts." + condition.Fact + "." + cmp.Or(condition.Op, "none"), Value: condition.Value})
	}
	resp, err := p.do(t, time.Time{}, req)
	if m := regexp.MustCompile(`^\[(\d+) [^]]*\] (.*)`).FindStringSubmatch(indirector.Message(err)); m != nil {
		code, _ = strconv.Atoi(m[1])
		return nil, code, m[2]
	}
	if err != nil {
		return nil, 500, err.Error() // which PuppetDB's client does not pass on
	}
	rows := []any{}
	for _, inst := range resp.Value.([]indirector.Instance) {
		status, err := p.client.Status(t.Context(), inst.Key())
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, asJSON(t, p.back(status)))
	}
	return rows, 200, ""
}

// collects searches for the resources by our terminus, which must find those that the
// query API has found.
func (p *peer) collects(t *testing.T, query, rows data.Value) {
	t.Helper()
	q := collectionOf(query)
	resp, err := p.do(t, time.Time{}, &indirector.Request{
		Indirection: "resource", Verb: indirector.Search, Key: cmp.Or(q.Type, "Notify"),
		Options: []indirector.Option{{Name: "host", Value: cmp.Or(q.Host, "z")}, {Name: "filter", Value: q.Filter}},
	})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, inst := range resp.Value.([]indirector.Instance) {
		r := inst.(*model.Resource)
		found[r.Exporter+" "+r.Ref()] = true
	}
	for _, row := range rows.List() {
		ref := row.Get("certname").Text() + " " + row.Get("type").Text() + "[" + row.Get("title").Text() + "]"
		if !found[ref] {
			t.Errorf("the terminus does not find %s for %v", ref, query)
		}
		delete(found, ref)
	}
	for ref := range found {
		t.Errorf("the terminus finds %s for %v", ref, query)
	}
}

// TestPeerRefuses: a command with a null is stored by the real PuppetDB if the stores in
// SQL store it, and refused if they refuse it. Rule PDB-SEM-04.
func TestPeerRefuses(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	s := open(t, sqlstore.Options{Path: filepath.Join(t.TempDir(), "stores.db")})
	wants := map[string]bool{} // whether it is stored, by entity and certname
	paths := map[string][]string{}
	for _, entity := range []string{"reports", "catalogs", "factsets"} {
		for i, path := range pathsIn(p.whole(t, entity, "x").Payload) {
			if path[0] == "certname" || path[0] == "producer_timestamp" {
				continue // our stores have them beside the payload
			}
			name := p.node(entity, strconv.Itoa(i))
			c := p.whole(t, entity, name)
			c.Payload = nulled(c.Payload, path)
			if _, err := p.client.Submit(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			out, err := s.Apply(t.Context(), c)
			if refusal := (*sqlstore.Refusal)(nil); err != nil && !errors.As(err, &refusal) {
				t.Fatal(err)
			}
			wants[entity+" "+name] = out.Result != sqlstore.Refused
			paths[entity+" "+name] = path
		}
	}
	p.awaits(t)
	for _, entity := range []string{"reports", "catalogs", "factsets"} {
		there := map[string]bool{}
		for _, row := range p.rows(t, entity, list(str("~"), str("certname"), str(p.suffix+"$"))).List() {
			there[row.Get("certname").Text()] = true
		}
		for key, want := range wants {
			if kind, name, _ := strings.Cut(key, " "); kind == entity && there[name] != want {
				t.Errorf("%s with a null at %v: PuppetDB stores it: %v, our stores: %v", kind, paths[key], there[name], want)
			}
		}
	}
}

// whole is a command that has all that PuppetDB asks for.
func (p *peer) whole(t *testing.T, entity, name string) *command.Command {
	t.Helper()
	o := command.Options{Key: name, Produced: time.Now().UTC(), Producer: "puppet", Environment: "production"}
	var c *command.Command
	var err error
	switch entity {
	case "reports":
		r := &model.Report{
			Host: name, Status: "changed", Environment: "production", PuppetVersion: "7.23.0", ConfigurationVersion: str("1"), Time: model.At(o.Produced), Format: 12,
			Logs:    []model.Log{{Level: "notice", Message: "m", Source: "s", Tags: []string{"t"}, Time: model.At(o.Produced)}},
			Metrics: []model.Metric{{Key: "time", Name: "time", Label: "Time", Values: list(list(str("total"), str("Total"), data.OfInt(1)))}},
			Statuses: []model.ResourceStatus{{
				Ref: "File[/x]", Resource: "File[/x]", Type: "File", Title: "/x", ContainmentPath: []string{"Stage[main]"}, Time: model.At(o.Produced),
				Events: []model.Event{{Property: str("ensure"), Name: "file_created", Status: "success", Message: "created", Time: model.At(o.Produced)}},
			}},
		}
		c, err = command.Report(r, o)
	case "catalogs":
		c, err = command.Catalog(catalogIn(catalog(t, name, 1, `[{"title":"x"},{"title":"y"}]`, `[["x","y","contains"]]`).Payload), o)
	default:
		c, err = command.Facts(&model.Facts{Name: name, Values: parse(t, `{"k":1}`)}, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pathsIn are the ways to all that is in a payload, of lists to the first elements.
func pathsIn(v data.Value) (all [][]string) {
	if l := v.List(); len(l) > 0 {
		v = hash(data.P("0", l[0]))
	}
	for _, p := range v.Hash() {
		all = append(all, []string{p.Key.Text()})
		for _, below := range pathsIn(p.Value) {
			all = append(all, append([]string{p.Key.Text()}, below...))
		}
	}
	return all
}

// nulled returns the payload with a null.
func nulled(v data.Value, path []string) data.Value {
	switch l := v.List(); {
	case len(path) == 0:
		return data.Value{}
	case len(l) > 0:
		return list(append([]data.Value{nulled(l[0], path[1:])}, l[1:]...)...)
	}
	return v.With(path[0], nulled(v.Get(path[0]), path[1:]))
}
