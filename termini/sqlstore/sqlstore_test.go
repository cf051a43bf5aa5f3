package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/stores"
	"indirtui/termini/sqlstore"
	"indirtui/traces"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type settings map[string]string

func (s settings) Get(name string) (value, source string) { return s[name], "test" }

// A site has termini that share one store, and a clock, which the store also reads in
// the background.
type site struct {
	settings settings
	seconds  atomic.Int64 // since the start
	shared   map[string]any
	live     *traces.Live
}

func newSite(t *testing.T) *site {
	t.Helper()
	return &site{
		settings: settings{"sqlite_database": filepath.Join(t.TempDir(), "stores.db"), "node_name_value": "compiler"},
		shared:   map[string]any{},
	}
}

func (s *site) now() time.Time {
	return time.Date(2026, 11, 22, 8, 0, int(s.seconds.Load()), 0, time.UTC)
}

// terminus makes one, which the test closes.
func (s *site) terminus(t *testing.T, d indirector.Descriptor) indirector.Terminus {
	t.Helper()
	term, err := d.New(indirector.Env{
		Indirection: d.Indirection, Terminus: d.Name, Settings: s.settings, Log: slog.New(slog.DiscardHandler), Now: s.now,
		Shared: func(name string, anew func(any) any) any {
			if s.shared[name] == nil {
				s.shared[name] = anew(nil)
			}
			return s.shared[name]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := term.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	})
	return term
}

// ask asks a terminus one thing.
func (s *site) ask(t *testing.T, d indirector.Descriptor, verb indirector.Verb, req indirector.Request) (any, error) {
	t.Helper()
	s.live = &traces.Live{Context: t.Context(), Trace: new(traces.Trace), Step: traces.Terminus}
	req.Indirection, req.Verb = d.Indirection, verb
	return indirector.VerbsOf(s.terminus(t, d))[verb](s.live, &req)
}

// notes are what the trace of the last question explains.
func (s *site) notes() string {
	var all []string
	for _, n := range s.live.Trace.Notes {
		all = append(all, n.Text)
	}
	return strings.Join(all, "\n")
}

func catalog(resources ...model.Resource) *model.Catalog {
	return &model.Catalog{Name: "a01", Environment: "production", Version: data.OfInt(1), Resources: resources}
}

func notify(title string, change func(*model.Resource)) model.Resource {
	r := model.Resource{Type: "Notify", Title: title, Tags: []string{"notify"}, Exported: true, Parameters: data.OfHash([]data.Pair{data.P("message", data.OfString("hi"))})}
	if change != nil {
		change(&r)
	}
	return r
}

var kernel = &model.Facts{Name: "a01", Values: data.OfHash([]data.Pair{data.P("kernel", data.OfString("Linux")), data.P("cpus", data.OfInt(4))})}

// TestStories are what traces explain, and what callers get.
func TestStories(t *testing.T) {
	t.Parallel()
	option := func(name string, value any) []indirector.Option {
		return []indirector.Option{{Name: name, Value: value}}
	}
	s := newSite(t)
	for i, tt := range []struct {
		at      int
		d       indirector.Descriptor
		verb    indirector.Verb
		req     indirector.Request
		answer  string
		problem string
		notes   string
	}{
		{0, sqlstore.SQLiteFacts, indirector.Find, indirector.Request{Key: "a01"}, "", "nothing was ever stored", ""},
		{0, sqlstore.SQLiteResource, indirector.Search, indirector.Request{Key: "Notify"}, "[]", "", ""},
		{5, sqlstore.SQLiteFacts, indirector.Save, indirector.Request{Key: "a01", Instance: kernel}, "3 facts: 3 new", "", ""},
		{4, sqlstore.SQLiteFacts, indirector.Save, indirector.Request{Key: "a01", Instance: kernel}, "ignored as older: stored is 08:00:05, this one was produced 08:00:04", "", "ignored as older: stored is 08:00:05, this one was produced 08:00:04"},
		{6, sqlstore.SQLiteFacts, indirector.Find, indirector.Request{Key: "a01"}, "a01", "", "these facts are 1 s old: what came later was ignored as older: stored is 08:00:05, this one was produced 08:00:04"},
		{6, sqlstore.SQLiteFacts, indirector.Save, indirector.Request{Key: "a01", Instance: kernel}, "unchanged: 3 facts", "", ""},
		{6, sqlstore.SQLiteFacts, indirector.Find, indirector.Request{Key: "a01"}, "a01", "", ""},
		{4006, sqlstore.SQLiteFacts, indirector.Find, indirector.Request{Key: "a01"}, "a01", "", "these facts are 67 min old: none were saved since"},
		{6, sqlstore.SQLiteFacts, indirector.Save, indirector.Request{Key: "a01"}, "", "undefined method `values' for nil:NilClass", ""},
		{6, sqlstore.SQLiteFacts, indirector.Find, indirector.Request{Key: "b01"}, "", "nothing is known of b01", ""},
		{6, sqlstore.SQLiteFacts, indirector.Search, indirector.Request{Key: "*", Options: option("facts.kernel", "Linux")}, "[a01]", "", ""},
		{6, sqlstore.SQLiteFacts, indirector.Search, indirector.Request{Key: "*", Options: option("facts.cpus.eq", "4")}, "[]", "", `facts are compared as JSON: the text "4" is neither a number nor a truth`},
		{6, sqlstore.SQLiteFacts, indirector.Search, indirector.Request{Key: "*", Options: option("facts.cpus.ge", 4)}, "[a01]", "", ""},
		{6, sqlstore.SQLiteFacts, indirector.Search, indirector.Request{Key: "*", Options: option("facts.cpus.gt", "3")}, "", "Operator '>' not allowed on value '3'", ""},
		{6, sqlstore.SQLiteFacts, indirector.Search, indirector.Request{Key: "*", Options: option("meta.timestamp", "x")}, "", "Fact search against keys of type 'meta' is unsupported", ""},
		{6, sqlstore.SQLiteFacts, indirector.Search, indirector.Request{Key: "*"}, "[a01]", "", ""},
		{7, sqlstore.SQLiteCatalog, indirector.Save, indirector.Request{Key: "a01", Instance: catalog(
			notify("one", nil), notify("secret", func(r *model.Resource) { r.Sensitive = []string{"message"} }),
		)}, "2 resources: 2 new", "", ""},
		{7, sqlstore.SQLiteCatalog, indirector.Find, indirector.Request{Key: "a01"}, "", "stored-only", "stored-only: a catalog is compiled anew, and search catalog KEY returns what is stored"},
		{7, sqlstore.SQLiteCatalog, indirector.Search, indirector.Request{Key: "a*1"}, "[a01]", "", ""},
		{7, sqlstore.SQLiteCatalog, indirector.Search, indirector.Request{Key: "b*"}, "[]", "", ""},
		{7, sqlstore.SQLiteResource, indirector.Search, indirector.Request{Key: "Notify", Options: option("host", "b01")}, "[Notify/one Notify/secret]", "", "message of Notify[secret] was Sensitive at a01 and is not in the store"},
		{7, sqlstore.SQLiteResource, indirector.Search, indirector.Request{Key: "Notify", Options: option("host", "a01")}, "[]", "", ""},
		{7, sqlstore.SQLiteResource, indirector.Search, indirector.Request{Key: "Notify", Options: option("filter", []any{"title", "==", "one"})}, "[Notify/one]", "", ""},
		{7, sqlstore.SQLiteResource, indirector.Search, indirector.Request{Key: "Notify", Options: option("filter", `["title","!=","secret"]`)}, "[Notify/one]", "", ""},
		{7, sqlstore.SQLiteResource, indirector.Search, indirector.Request{Key: "Notify", Options: option("filter", []any{"title", ">", "one"})}, "", `Operator > in ["title", ">", "one"] not supported`, ""},
		{8, sqlstore.SQLiteCatalog, indirector.Save, indirector.Request{Key: "a01", Instance: catalog(notify("x", func(r *model.Resource) { r.Tags = []string{"Upper"} }))}, "", "Could not replace catalog of a01: PuppetDB refuses tags with capital letters: Notify[x] has 'Upper'", ""},
		{9, sqlstore.SQLiteReport, indirector.Save, indirector.Request{Key: "a01", Instance: &model.Report{Host: "a01", Status: "failed", Environment: "production", PuppetVersion: "7.23.0", Format: 12, Time: model.At(s.now())}}, "stored", "", ""},
		{9, sqlstore.SQLiteReport, indirector.Find, indirector.Request{Key: "a01"}, "a01", "", ""},
		{9, sqlstore.SQLiteReport, indirector.Find, indirector.Request{Key: "b01"}, "", "no report of b01 is stored", ""},
		{9, sqlstore.SQLiteReport, indirector.Search, indirector.Request{Key: "*", Options: option("status", "failed")}, "[a01]", "", ""},
		{9, sqlstore.SQLiteReport, indirector.Search, indirector.Request{Key: "*", Options: option("status", "changed")}, "[]", "", ""},
		{9, sqlstore.SQLiteReport, indirector.Search, indirector.Request{Key: "a01", Options: option("since", "2026-11-22T08:00:09Z")}, "[a01]", "", ""},
		{9, sqlstore.SQLiteReport, indirector.Search, indirector.Request{Key: "a01", Options: option("until", "2026-11-22T08:00:09Z")}, "[]", "", ""},
		{9, sqlstore.SQLiteReport, indirector.Search, indirector.Request{Key: "a01", Options: option("limit", "0")}, "", `read the option limit: "0" is no number above zero`, ""},
		{10, sqlstore.SQLiteNode, indirector.Find, indirector.Request{Key: "a01"}, "", "a store has no nodes for Puppet", ""},
		{10, sqlstore.SQLiteNode, indirector.Save, indirector.Request{Key: "a01", Instance: &model.Node{Name: "a01"}}, "<nil>", "", "nothing was stored: a store keeps no nodes of Puppet"},
		{10, sqlstore.SQLiteNode, indirector.Destroy, indirector.Request{Key: "a01"}, "stored", "", "a01 is deactivated: nothing that it exports is collected, and its facts are not found"},
		{11, sqlstore.SQLiteFacts, indirector.Find, indirector.Request{Key: "a01"}, "a01", "", "facts are empty because a01 is deactivated since 2026-11-22 08:00:10, not because it has none"},
		{11, sqlstore.SQLiteResource, indirector.Search, indirector.Request{Key: "Notify", Options: option("host", "b01")}, "[]", "", "a01 exports 2 that would fit, but it is deactivated since 2026-11-22 08:00:10"},
		{11, sqlstore.SQLiteResource, indirector.Search, indirector.Request{Key: "Notify", Options: option("filter", []any{"title", "==", "other"})}, "[]", "", ""},
		{11, sqlstore.SQLiteResource, indirector.Search, indirector.Request{Key: "Notify", Options: option("host", "a01")}, "[]", "", ""},
		{9, sqlstore.SQLiteFacts, indirector.Save, indirector.Request{Key: "a01", Instance: kernel}, "unchanged: 3 facts; the node stays inactive: since 2026-11-22 08:00:10", "", "unchanged: 3 facts; the node stays inactive: since 2026-11-22 08:00:10"},
		{12, sqlstore.PostgreSQLFacts, indirector.Save, indirector.Request{Key: "a01", Instance: kernel}, "", "setting postgresql_url is not set", ""},
	} {
		s.seconds.Store(int64(tt.at))
		got, err := s.ask(t, tt.d, tt.verb, tt.req)
		name := fmt.Sprintf("%d: %s %s %q", i, tt.verb, tt.d.Indirection, tt.req.Key)
		if tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) || tt.problem == "" && err != nil {
			t.Errorf("%s: got the error %v, want %q", name, err, tt.problem)
			continue
		}
		if text := answerText(got); tt.problem == "" && text != tt.answer {
			t.Errorf("%s: got %s, want %s", name, text, tt.answer)
		}
		if diff := cmp.Diff(tt.notes, s.notes()); diff != "" {
			t.Errorf("%s: notes %s", name, diff)
		}
	}
}

// What became of commands is known without asking the store: stored, refused, and that
// the file cannot be opened.
func TestState(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	line := func() string {
		st := s.shared["store sqlite"].(stores.Store).State()
		text, _ := st.Line(time.UTC)
		return text
	}
	save := func(at int, inst indirector.Instance, d indirector.Descriptor) {
		s.seconds.Store(int64(at))
		_, _ = s.ask(t, d, indirector.Save, indirector.Request{Key: "a01", Instance: inst})
	}
	bad := catalog(notify("x", func(r *model.Resource) { r.Tags = []string{"Upper"} }))
	s.settings["sqlite_database"] = filepath.Join(t.TempDir(), "none")
	clienttest.WriteFile(t, s.settings["sqlite_database"], []byte(strings.Repeat("no database ", 100)))
	for i, tt := range []struct {
		do   func()
		want string
	}{
		{func() { save(1, kernel, sqlstore.SQLiteFacts) }, "sqlite: failed 08:00:01"},
		{func() { _ = os.Remove(s.settings["sqlite_database"]); save(2, kernel, sqlstore.SQLiteFacts) }, "sqlite: stored 08:00:02, 1 failed"},
		{func() { save(3, bad, sqlstore.SQLiteCatalog) }, "sqlite: refused 08:00:03"},
		{func() { save(1, kernel, sqlstore.SQLiteFacts) }, "sqlite: refused 08:00:03"}, // it is older
		{func() { save(4, kernel, sqlstore.SQLiteFacts) }, "sqlite: stored 08:00:04, 1 refused, 1 failed"},
	} {
		tt.do()
		if got := line(); got != tt.want {
			t.Errorf("%d: got %q, want %q", i, got, tt.want)
		}
	}
	if got := s.shared["store sqlite"].(stores.Store).State().Last[stores.Refused].What; got != "replace catalog of a01: PuppetDB refuses tags with capital letters: Notify[x] has 'Upper'" {
		t.Errorf("got %q", got)
	}
}

func answerText(v any) string {
	switch v := v.(type) {
	case indirector.Instance:
		return v.Key()
	case []indirector.Instance:
		keys := []string{}
		for _, i := range v {
			keys = append(keys, i.Key())
		}
		return fmt.Sprint(keys)
	}
	return fmt.Sprint(v)
}

// TestLax stores what PuppetDB refuses, and names it. Rule STORE-SQL-03.
func TestLax(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.settings["store_strict"] = "false"
	got, err := s.ask(t, sqlstore.SQLiteCatalog, indirector.Save, indirector.Request{Key: "a01", Instance: catalog(notify("x", func(r *model.Resource) { r.Tags = []string{"Upper"} }))})
	if err != nil || !strings.Contains(s.notes(), "not as PuppetDB: tags with capital letters: Notify[x] has 'Upper'") {
		t.Errorf("got %v, %v, notes %s", got, err, s.notes())
	}
}

// TestEntries are what lists show of what is stored.
func TestEntries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, err := s.ask(t, sqlstore.SQLiteFacts, indirector.Save, indirector.Request{Key: "a01", Instance: kernel}); err != nil {
		t.Fatal(err)
	}
	at := s.now()
	s.seconds.Store(60)
	if _, err := s.ask(t, sqlstore.SQLiteNode, indirector.Destroy, indirector.Request{Key: "a01"}); err != nil {
		t.Fatal(err)
	}
	want := indirector.Entry{
		Indirection: "facts", Terminus: "sqlite", Key: "a01", Size: -1, Written: at, Produced: at,
		Note: "made by compiler; the node is deactivated since 2026-11-22 08:01:00",
	}
	facts := s.terminus(t, sqlstore.SQLiteFacts)
	var got []indirector.Entry
	err := facts.(indirector.Lister).List(t.Context(), func(e indirector.Entry) bool { got = append(got, e); return true })
	if diff := cmp.Diff([]indirector.Entry{want}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for _, d := range []indirector.Descriptor{sqlstore.SQLiteCatalog, sqlstore.SQLiteReport, sqlstore.PostgreSQLFacts} {
		err := s.terminus(t, d).(indirector.Lister).List(t.Context(), func(e indirector.Entry) bool { t.Errorf("%+v", e); return true })
		if err != nil {
			t.Error(err)
		}
	}
}

// TestClosed: who asks after the end gets an error, and no second store is opened.
func TestClosed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	term := s.terminus(t, sqlstore.SQLiteFacts)
	if err := errors.Join(term.(io.Closer).Close(), term.(io.Closer).Close()); err != nil {
		t.Fatal(err)
	}
	_, err := term.(indirector.Saver).Save(context.Background(), &indirector.Request{Key: "a01", Instance: kernel})
	if err == nil || !strings.Contains(err.Error(), "the store is closed") {
		t.Errorf("got %v", err)
	}
}
