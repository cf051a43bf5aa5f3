package sqlstore_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/sqlstore"
)

// A semanticsCase are commands to PuppetDB, and what it answered then.
type semanticsCase struct {
	ID    string         `json:"id"`
	Steps []semanticStep `json:"steps"`
}

type semanticStep struct {
	Do          string          `json:"do"`
	Node        string          `json:"node"`
	At          float64         `json:"at"`
	Environment string          `json:"environment"`
	Values      json.RawMessage `json:"values"`
	Resources   json.RawMessage `json:"resources"`
	Edges       [][3]string     `json:"edges"`
	CatalogUUID *string         `json:"catalog_uuid"`
	Extra       map[string]any  `json:"extra"`
	Ask         string          `json:"ask"`
	Only        []string        `json:"only"`
	Code        int             `json:"code"`
	Answer      json.RawMessage `json:"answer"`
	Text        string          `json:"text"`
}

// A semanticStore is what the recordings are compared with.
type semanticStore interface {
	// apply stores a command, if it is not refused.
	apply(t *testing.T, c *command.Command)
	// answer asks what PuppetDB was asked by a URL.
	answer(t *testing.T, u *url.URL) (answer any, code int, text string)
	// node is the name of a node that no other case has.
	node(letter, id string) string
}

// TestGoldenSemantics applies what PuppetDB got, and asks what it was asked: the stores in
// SQL, and by the puppetdb termini the real one. Rules PDB-SEM-01 to PDB-SEM-05,
// STORE-SQL-03.
func TestGoldenSemantics(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(golden.PathBeside(t, "../puppetdb", "stores", "puppetdb", "semantics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []semanticsCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	everyDialect(t, func(t *testing.T, o sqlstore.Options) { semantics(t, sqlSemantics{open(t, o)}, cases) })
	t.Run("puppetdb", func(t *testing.T) {
		t.Parallel()
		semantics(t, newPeer(t), cases)
	})
}

func semantics(t *testing.T, s semanticStore, cases []semanticsCase) {
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			statuses := statusesIn(t, c)
			for i := range c.Steps {
				step := &c.Steps[i]
				name := strings.NewReplacer("{a}", s.node("a", c.ID), "{b}", s.node("b", c.ID), "{A}", s.node("A", c.ID))
				if step.Do != "" {
					s.apply(t, step.command(t, name.Replace("{"+step.Node+"}"), name, statuses))
					continue
				}
				step.ask(t, s, name)
			}
		})
	}
}

// sqlSemantics are those of a store in SQL.
type sqlSemantics struct{ *sqlstore.Store }

func (s sqlSemantics) node(letter, id string) string { return letter + "-" + id }

func (s sqlSemantics) apply(t *testing.T, c *command.Command) {
	t.Helper()
	_, err := s.Apply(t.Context(), c)
	if refusal := (*sqlstore.Refusal)(nil); err != nil && !errors.As(err, &refusal) {
		t.Fatal(err)
	}
}

// command is the one of a step. A 200 of PuppetDB does not mean that it was stored.
func (x *semanticStep) command(t *testing.T, node string, name *strings.Replacer, statuses reportStatuses) (c *command.Command) {
	t.Helper()
	or := func(text json.RawMessage, other string) string {
		if text == nil {
			return other
		}
		return name.Replace(string(text))
	}
	switch x.Do {
	case "facts":
		c = facts(t, node, x.At, or(x.Values, "{}"))
	case "catalog":
		edges, err := json.Marshal(x.Edges)
		if err != nil {
			t.Fatal(err)
		}
		c = catalog(t, node, x.At, or(x.Resources, `[{"title":"x"}]`), strings.Replace(string(edges), "null", "[]", 1))
		if x.CatalogUUID != nil {
			c.Payload = c.Payload.With("catalog_uuid", str(*x.CatalogUUID))
		}
		for key := range x.Extra {
			c.Payload = c.Payload.With(key, data.OfInt(1))
		}
	case "report":
		c = report(node, x.At, statuses.of(x.At))
	case "deactivate":
		c = deactivate(node, x.At)
	default:
		t.Fatalf("the step %q is unknown", x.Do)
	}
	if x.Environment != "" {
		c.Payload = c.Payload.With("environment", str(x.Environment))
	}
	return c
}

// reportStatuses are those of reports, by their times, and under "" that of all others.
// Recordings do not have what was sent, but what was answered.
type reportStatuses map[string]string

func (r reportStatuses) of(seconds float64) string {
	return cmp.Or(r[at(seconds).Format("2006-01-02T15:04:05.000Z")], r[""], "changed")
}

func statusesIn(t *testing.T, c semanticsCase) reportStatuses {
	t.Helper()
	found := reportStatuses{}
	for _, step := range c.Steps {
		if step.Answer == nil {
			continue
		}
		answer := parse(t, string(step.Answer))
		if latest := answer.Get("latest_report_status"); !latest.IsNil() {
			found[""] = latest.Text()
		}
		for _, row := range answer.List() {
			if status := row.Get("status"); !status.IsNil() {
				found[row.Get("producer_timestamp").Text()] = status.Text()
			}
		}
	}
	return found
}

// ask compares the answer to a question.
func (x *semanticStep) ask(t *testing.T, s semanticStore, name *strings.Replacer) {
	t.Helper()
	u, err := url.Parse(strings.NewReplacer("%", "%25", " ", "%20").Replace(name.Replace(x.Ask)))
	if err != nil {
		t.Fatal(err)
	}
	answer, code, text := s.answer(t, u)
	if code != x.Code && !(code == 400 && x.Code == 500) {
		t.Errorf("%s: got the code %d, want %d", x.Ask, code, x.Code)
	}
	want400, _, _ := strings.Cut(x.Text, "{:") // a hash is written as Clojure does
	if x.Code == 400 && !strings.HasPrefix(text, want400) {
		t.Errorf("%s: got %q, want %q", x.Ask, text, x.Text)
	}
	if x.Code != 200 {
		return
	}
	want := normal(t, json.RawMessage(name.Replace(string(x.Answer))), x.Only)
	if diff := gocmp.Diff(want, normal(t, answer, x.Only)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", x.Ask, diff)
	}
}

// normal returns an answer without what is new in each run, lists in one order, and
// numbers as they are written.
func normal(t *testing.T, answer any, only []string) any {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	rows, isList := v.([]any)
	if !isList {
		rows = []any{v}
	}
	for _, r := range rows {
		row, ok := r.(map[string]any)
		if !ok {
			continue
		}
		for key, value := range row {
			switch {
			case only != nil && !slices.Contains(only, key):
				delete(row, key)
			case key == "resource":
				row[key] = "<HASH>"
			case key == "latest_report_hash" && value != nil:
				row[key] = "<HASH>"
			case strings.HasSuffix(key, "_timestamp") && value != nil && only == nil:
				row[key] = "<TIME>"
			case key == "tags":
				slices.SortFunc(value.([]any), func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
			}
		}
	}
	if isList {
		slices.SortFunc(rows, func(a, b any) int {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return strings.Compare(string(x), string(y))
		})
	}
	return v
}

func (x sqlSemantics) answer(t *testing.T, u *url.URL) (answer any, code int, text string) {
	t.Helper()
	s := x.Store
	query := parse(t, `null`)
	if q := u.Query().Get("query"); q != "" {
		query = parse(t, q)
	}
	path := strings.Split(u.Path, "/")
	switch {
	case u.Path == "nodes":
		return nodesBy(t, s, query)
	case u.Path == "resources":
		return resourcesBy(t, s, query), 200, ""
	case u.Path == "reports":
		return reportsOf(t, s, query.List()[2].Text()), 200, ""
	case path[0] == "nodes" && len(path) > 1:
		n, err := s.Node(t.Context(), path[1])
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case n == nil:
			return nil, 404, ""
		case len(path) == 2:
			return statusOf(n), 200, ""
		case path[2] == "facts":
			return factsOf(t, s, n), 200, ""
		case path[2] == "resources":
			return catalogOf(t, s, path[1]), 200, ""
		}
	}
	t.Fatalf("the question %s is unknown", u)
	return nil, 0, ""
}

// statusOf is a node as PuppetDB shows it.
func statusOf(n *sqlstore.Node) map[string]any {
	v := map[string]any{
		"certname": n.Certname, "deactivated": moment(n.Deactivated), "expired": moment(n.Expired),
		"latest_report_hash": nil, "facts_environment": nil, "cached_catalog_status": nil, "report_environment": nil, "latest_report_corrective_change": nil,
		"catalog_environment": nil, "facts_timestamp": nil, "latest_report_noop": nil, "latest_report_noop_pending": nil, "report_timestamp": nil,
		"catalog_timestamp": nil, "latest_report_job_id": nil, "latest_report_status": nil,
	}
	if f := n.Facts; f != nil {
		v["facts_environment"], v["facts_timestamp"] = f.Environment, moment(f.Produced)
	}
	if c := n.Catalog; c != nil {
		v["catalog_environment"], v["catalog_timestamp"] = c.Environment, moment(c.Produced)
	}
	if r := n.Report; r != nil {
		v["report_environment"], v["report_timestamp"], v["latest_report_hash"] = r.Environment, moment(r.Produced), r.Hash
		v["cached_catalog_status"], v["latest_report_status"] = r.CachedCatalogStatus, r.Status
		v["latest_report_noop"], v["latest_report_noop_pending"], v["latest_report_corrective_change"] = r.Noop, r.NoopPending, r.CorrectiveChange
	}
	return v
}

func moment(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

// asJSON returns a value for encoding/json.
func asJSON(t *testing.T, v data.Value) json.RawMessage {
	t.Helper()
	return json.RawMessage(render(t, v))
}

func factsOf(t *testing.T, s *sqlstore.Store, n *sqlstore.Node) any {
	t.Helper()
	f, err := s.Facts(t.Context(), n.Certname)
	if err != nil {
		t.Fatal(err)
	}
	rows := []any{}
	for _, p := range f.Values.Hash() {
		rows = append(rows, map[string]any{"certname": n.Certname, "environment": f.Environment, "name": p.Key.Text(), "value": asJSON(t, p.Value)})
	}
	return rows
}

// nodesBy answers a search for nodes by facts, or for one of a name.
func nodesBy(t *testing.T, s *sqlstore.Store, query data.Value) (any, int, string) {
	t.Helper()
	var conditions []sqlstore.Condition
	want := ""
	l := query.List()
	switch {
	case l[0].Text() == "=" && l[1].Text() == "certname":
		want = l[2].Text()
	default:
		for _, c := range l[1:] {
			conditions = append(conditions, conditionOf(c))
		}
	}
	rows := []any{}
	if want != "" {
		err := s.Nodes(t.Context(), false, func(n *sqlstore.Node) bool {
			if n.Certname == want {
				rows = append(rows, statusOf(n))
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return rows, 200, ""
	}
	names, err := s.FactSearch(t.Context(), conditions)
	if err != nil {
		return nil, 400, err.Error()
	}
	for _, name := range names {
		n, err := s.Node(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, statusOf(n))
	}
	return rows, 200, ""
}

// conditionOf reads ["=", ["fact", NAME], VALUE], perhaps within ["not", …].
func conditionOf(v data.Value) sqlstore.Condition {
	l := v.List()
	if l[0].Text() == "not" {
		c := conditionOf(l[1])
		c.Op = "ne"
		return c
	}
	op := map[string]string{"=": "eq", ">": "gt", "<": "lt", ">=": "ge", "<=": "le"}[l[0].Text()]
	return sqlstore.Condition{Fact: l[1].List()[1].Text(), Op: op, Value: l[2]}
}

// collectionOf reads a search for exported resources.
func collectionOf(query data.Value) (q sqlstore.Collection) {
	for _, c := range query.List()[1:] {
		l := c.List()
		switch {
		case l[0].Text() == "=" && l[1].Text() == "type":
			q.Type = l[2].Text()
		case l[0].Text() == "=" && l[1].Text() == "exported":
		case l[0].Text() == "not" && l[1].List()[1].Text() == "certname":
			q.Host = l[1].List()[2].Text()
		default:
			f := filterOf(c)
			if q.Filter.IsNil() {
				q.Filter = f
			} else {
				q.Filter = list(q.Filter, str("and"), f)
			}
		}
	}
	return q
}

// resourcesBy answers a search for exported resources.
func resourcesBy(t *testing.T, s *sqlstore.Store, query data.Value) any {
	t.Helper()
	found, err := s.Exported(t.Context(), collectionOf(query))
	if err != nil {
		t.Fatal(err)
	}
	rows := []any{}
	for _, r := range found {
		n, err := s.Node(t.Context(), r.Exporter)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, map[string]any{
			"certname": r.Exporter, "type": r.Type, "title": r.Title, "tags": r.Tags, "exported": r.Exported, "file": nil, "line": nil,
			"resource": "", "environment": n.Catalog.Environment, "parameters": asJSON(t, withNulls(t, s, r.Exporter, r.Ref())),
		})
	}
	return rows
}

// filterOf reads a condition of PuppetDB's as a collector has it.
func filterOf(v data.Value) data.Value {
	l := v.List()
	switch l[0].Text() {
	case "not":
		f := filterOf(l[1]).List()
		return list(f[0], str("!="), f[2])
	case "and", "or":
		return list(filterOf(l[1]), l[0], filterOf(l[2]))
	}
	name := l[1]
	if name.Kind() == data.List {
		name = name.List()[1]
	}
	return list(name, str("=="), l[2])
}

// stored returns the catalog of a node.
func stored(t *testing.T, s *sqlstore.Store, certname string) *sqlstore.StoredCatalog {
	t.Helper()
	c, err := s.Catalog(t.Context(), certname)
	if err != nil || c == nil {
		t.Fatalf("the catalog of %s: %v, %v", certname, c, err)
	}
	return c
}

// withNulls returns the parameters of a resource with those that are null.
func withNulls(t *testing.T, s *sqlstore.Store, certname, ref string) data.Value {
	t.Helper()
	for _, r := range stored(t, s, certname).Catalog.Resources {
		if r.Ref() == ref {
			return r.Parameters
		}
	}
	t.Fatalf("%s has no %s", certname, ref)
	return data.Value{}
}

func catalogOf(t *testing.T, s *sqlstore.Store, certname string) any {
	t.Helper()
	rows := []any{}
	c := stored(t, s, certname)
	for _, r := range c.Catalog.Resources {
		rows = append(rows, map[string]any{
			"certname": certname, "type": r.Type, "title": r.Title, "tags": r.Tags, "exported": r.Exported, "file": nil, "line": nil,
			"resource": "", "environment": c.Environment, "parameters": asJSON(t, r.Parameters),
		})
	}
	return rows
}

func reportsOf(t *testing.T, s *sqlstore.Store, certname string) any {
	t.Helper()
	rows := []any{}
	err := s.Reports(t.Context(), sqlstore.ReportQuery{Certname: certname}, func(r *model.Report) error {
		rows = append(rows, map[string]any{"status": r.Status, "noop": r.Noop, "producer_timestamp": moment(r.Time.Time())})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
