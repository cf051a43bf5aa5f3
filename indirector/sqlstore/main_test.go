package sqlstore_test

import (
	"path/filepath"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/sqlstore"
	"indirtui/indirector/sqlstore/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// epoch is the zero of seconds in recordings.
var epoch = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// everyDialect runs a test over SQLite and over PostgreSQL.
func everyDialect(t *testing.T, test func(t *testing.T, o sqlstore.Options)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, sqlstore.Options{Path: filepath.Join(t.TempDir(), "stores.db")})
	})
	t.Run("postgresql", func(t *testing.T) {
		t.Parallel()
		test(t, sqlstore.Options{URL: storetest.Postgres(t)})
	})
}

func open(tb testing.TB, o sqlstore.Options) *sqlstore.Store {
	tb.Helper()
	s, err := sqlstore.Open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func apply(tb testing.TB, s *sqlstore.Store, c *command.Command) sqlstore.Outcome {
	tb.Helper()
	o, err := s.Apply(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// parse reads JSON.
func parse(tb testing.TB, text string) data.Value {
	tb.Helper()
	v, err := format.DecodeJSON([]byte(text), format.Limits{})
	if err != nil {
		tb.Fatalf("%v in %s", err, text)
	}
	return v
}

func hash(pairs ...data.Pair) data.Value { return data.OfHash(pairs) }

func list(all ...data.Value) data.Value { return data.OfList(all) }

func str(s string) data.Value { return data.OfString(s) }

// facts is a command; values is JSON.
func facts(tb testing.TB, certname string, seconds float64, values string) *command.Command {
	return &command.Command{
		Name: command.ReplaceFacts, Version: 5, Certname: certname, Produced: at(seconds),
		Payload: hash(data.P("certname", str(certname)), data.P("values", parse(tb, values)), data.P("environment", str("production")), data.P("producer", str("puppet"))),
	}
}

// catalog is a command; resources and edges are JSON. A resource has what is missing
// from Notify.
func catalog(tb testing.TB, certname string, seconds float64, resources, edges string) *command.Command {
	var rows []data.Value
	for _, r := range parse(tb, resources).List() {
		for _, p := range []data.Pair{
			data.P("type", str("Notify")), data.P("tags", list(str("notify"))), data.P("exported", data.OfBool(false)),
			data.P("parameters", hash()), data.P("file", data.Value{}), data.P("line", data.Value{}),
		} {
			if _, given := r.Lookup(p.Key.Text()); !given {
				r = r.With(p.Key.Text(), p.Value)
			}
		}
		rows = append(rows, r)
	}
	var lines []data.Value
	for _, e := range parse(tb, edges).List() {
		end := func(i int) data.Value {
			return hash(data.P("type", str("Notify")), data.P("title", e.List()[i]))
		}
		lines = append(lines, hash(data.P("source", end(0)), data.P("target", end(1)), data.P("relationship", e.List()[2])))
	}
	return &command.Command{
		Name: command.ReplaceCatalog, Version: 9, Certname: certname, Produced: at(seconds),
		Payload: hash(data.P("version", str("1")), data.P("code_id", data.Value{}), data.P("catalog_uuid", data.Value{}),
			data.P("resources", list(rows...)), data.P("edges", list(lines...)), data.P("certname", str(certname)),
			data.P("environment", str("production")), data.P("producer", str("puppet"))),
	}
}

// report is a command with one event for each title.
func report(certname string, seconds float64, status string, titles ...string) *command.Command {
	var resources []data.Value
	stamp := str(at(seconds).Format(time.RFC3339))
	for _, title := range titles {
		event := hash(data.P("status", str("success")), data.P("timestamp", stamp), data.P("name", str("file_created")), data.P("property", str("ensure")),
			data.P("new_value", str("file")), data.P("old_value", str("absent")), data.P("corrective_change", data.OfBool(false)), data.P("message", str("created")))
		resources = append(resources, hash(data.P("skipped", data.OfBool(false)), data.P("timestamp", stamp), data.P("resource_type", str("File")), data.P("resource_title", str(title)),
			data.P("file", str("/site.pp")), data.P("line", data.OfInt(3)), data.P("containment_path", list(str("Stage[main]"))), data.P("corrective_change", data.OfBool(false)), data.P("events", list(event))))
	}
	return &command.Command{
		Name: command.StoreReport, Version: 8, Certname: certname, Produced: at(seconds),
		Payload: hash(data.P("certname", str(certname)), data.P("puppet_version", str("7.23.0")), data.P("report_format", data.OfInt(12)),
			data.P("configuration_version", str("1")), data.P("start_time", stamp), data.P("end_time", stamp), data.P("environment", str("production")),
			data.P("status", str(status)), data.P("noop", data.OfBool(false)), data.P("noop_pending", data.OfBool(false)), data.P("corrective_change", data.Value{}),
			data.P("logs", list()), data.P("metrics", list()), data.P("resources", list(resources...)), data.P("cached_catalog_status", str("not_used"))),
	}
}

func deactivate(certname string, seconds float64) *command.Command {
	return &command.Command{
		Name: command.DeactivateNode, Version: 3, Certname: certname, Produced: at(seconds),
		Payload: hash(data.P("certname", str(certname))),
	}
}

// render writes JSON.
func render(tb testing.TB, v data.Value) string {
	tb.Helper()
	b, err := format.AppendJSON(nil, v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func decoded(text string) (data.Value, error) {
	return format.DecodeJSON([]byte(text), format.Limits{})
}
