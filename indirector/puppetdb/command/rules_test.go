package command_test

import (
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
)

// value returns a text of JSON as data.
func value(tb testing.TB, text string) data.Value {
	tb.Helper()
	v, err := format.DecodeJSON([]byte(text), format.Limits{})
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// catalogOf returns the command of a catalog with these resources, and the types that
// modules bring.
func catalogOf(tb testing.TB, types map[string]model.ResourceType, resources ...model.Resource) (*command.Command, error) {
	tb.Helper()
	return command.Catalog(&model.Catalog{Name: "n", Resources: resources, Types: types}, command.Options{})
}

func TestParameters(t *testing.T) {
	t.Parallel()
	modules := map[string]model.ResourceType{"Vcsrepo": {Keys: []string{"path"}}, "Any": {Many: true}, "Two": {Keys: []string{"name", "part"}}}
	for _, tt := range []struct{ name, typ, given, want string }{
		{"PDB-CAT-03 keys are text", "N", `{"v":{"__ptype":"Hash","__pvalue":[1,"a",null,"b",{"__ptype":"Default"},"c",[1,"x"],"d"]}}`, `{"v":{"1":"a","":"b","default":"c","[1, \"x\"]":"d"}}`},
		{"PDB-CAT-03 the last of equal keys", "N", `{"v":{"__ptype":"Hash","__pvalue":[1,"a","1","b"]}}`, `{"v":{"1":"b"}}`},
		{"PDB-CAT-03 reserved keys", "N", `{"v":{"__pvalue":1}}`, `{"v":{"reserved key: __pvalue":1}}`},
		{
			"PDB-CAT-03 secrets are numbered within a catalog", "N", `{"v":[{"__ptype":"Sensitive","__pvalue":"x"},{"a":{"__ptype":"Sensitive","__pvalue":"x"}}]}`,
			`{"v":["#<Sensitive [value redacted]:1>",{"a":"#<Sensitive [value redacted]:2>"}]}`,
		},
		{"PDB-CAT-04 a type of a module", "Vcsrepo", `{"path":"/srv/x"}`, `{"path":"/srv/x","alias":["/srv/x"]}`},
		{"PDB-CAT-04 two names", "Two", `{"name":"x","part":"y","alias":"b"}`, `{"name":"x","part":"y","alias":"b"}`},
		{"PDB-CAT-04 not isomorphic", "Any", `{"name":"x"}`, `{"name":"x"}`},
		{"PDB-CAT-04 an unknown type", "Other", `{"name":"x","alias":"b"}`, `{"name":"x","alias":["b","x"]}`},
		{"PDB-CAT-04 the name is an alias already", "Notify", `{"name":"x","alias":["x"]}`, `{"name":"x","alias":["x"]}`},
		{"PDB-CAT-04 built in all the same", "Exec", `{"command":"/bin/x","alias":"b"}`, `{"command":"/bin/x","alias":["b"]}`},
		{"PDB-CAT-05 as text", "N", `{"tag":[10,"9",["b"],true],"other":["b","a"]}`, `{"tag":[10,"9",["b"],true],"other":["b","a"]}`},
		{"PDB-CAT-05 sorted", "N", `{"audit":["b","a"],"check":[["b"],"B"]}`, `{"audit":["a","b"],"check":["B",["b"]]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := catalogOf(t, modules, model.Resource{Type: tt.typ, Title: "t", Parameters: value(t, tt.given)})
			if err != nil {
				t.Fatal(err)
			}
			got := c.Payload.Get("resources").List()[0].Get("parameters")
			if text, _ := format.AppendPSON(nil, got); string(text) != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
}

// Bytes that are no text become U+FFFD in parameters; elsewhere they change the whole body. Rules
// PDB-CAT-03, PDB-HTTP-02.
func TestBytes(t *testing.T) {
	t.Parallel()
	c, err := catalogOf(t, nil, model.Resource{Type: "N", Title: "t", Parameters: data.OfHash([]data.Pair{
		data.P("v", data.OfString("ü\xff\xfe \xe2\x82x \xf0\x9f\x98")),
	})})
	if err != nil {
		t.Fatal(err)
	}
	if body, warning := c.Body(); !strings.Contains(string(body), `"v":"ü`+"\uFFFD\uFFFD \uFFFDx \uFFFD"+`"`) || warning != "" {
		t.Errorf("got %s, warning %q", body, warning)
	}
	c, err = catalogOf(t, nil, model.Resource{Type: "N", Title: "\xffü", Parameters: value(t, `{"v":"ä"}`)})
	if err != nil {
		t.Fatal(err)
	}
	body, warning := c.Body()
	if !strings.Contains(string(body), `"title":"`+"\uFFFD\uFFFD\uFFFD"+`"`) || !strings.Contains(string(body), `"v":"`+"\uFFFD\uFFFD"+`"`) || warning == "" {
		t.Errorf("got %s, warning %q", body, warning)
	}
}

func TestRelations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, require, want string }{
		{"PDB-CAT-06 by alias", `"N[other]"`, `required-by N[b] N[a]`},
		{"PDB-CAT-06 a file with slashes", `"File[/x//]"`, `required-by File[/x] N[a]`},
		{"PDB-CAT-06 none twice", `[["N[b]"],["N[b]"]]`, `required-by N[b] N[a]`},
		{"PDB-CAT-06 itself", `"N[a]"`, `required-by N[a] N[a]`},
		{"PDB-CAT-07 a number", `5`, "Invalid relationship: N[a] { require => 5 }, because 5 doesn't seem to be in the correct format."},
		{"PDB-CAT-07 a hash", `{"a":1}`, `Invalid relationship: N[a] { require => {"a"=>1} }, because {"a"=>1} doesn't seem to be in the correct format.`},
		{"PDB-CAT-07 a number as an alias", `"N[1]"`, "Invalid relationship: N[a] { require => N[1] }, because N[1] doesn't seem to be in the catalog"},
		{"PDB-CAT-07 virtual", `"N[v]"`, "Invalid relationship: N[a] { require => N[v] }, because N[v] is exported but not collected"},
		{"PDB-CAT-07 the root is no file to Puppet", `"File[/]"`, "Invalid relationship: N[a] { require => File[/] }, because File[/] doesn't seem to be in the catalog"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := catalogOf(t, nil,
				model.Resource{Type: "N", Title: "a", Parameters: value(t, `{"require":`+tt.require+`}`)},
				model.Resource{Type: "N", Title: "b", Parameters: value(t, `{"alias":["other",1]}`)},
				model.Resource{Type: "File", Title: "/x"}, model.Resource{Type: "File", Title: "/"},
				model.Resource{Type: "N", Title: "v", Exported: true, Virtual: true, Parameters: value(t, `{"require":"N[nowhere]"}`)},
			)
			var got []string
			if err != nil {
				got = append(got, err.Error())
			} else {
				for _, e := range c.Payload.Get("edges").List() {
					end := func(k string) string { return e.Dig(k, "type").Str() + "[" + e.Dig(k, "title").Str() + "]" }
					got = append(got, e.Get("relationship").Str()+" "+end("source")+" "+end("target"))
				}
			}
			if len(got) != 1 || !strings.HasPrefix(got[0], tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Agents send events with their edges, which stay. Rule PDB-CAT-06.
func TestContainment(t *testing.T) {
	t.Parallel()
	e := model.Edge{Source: "N[a]", Target: "N[b]", Event: "ALL_EVENTS", Callback: "refresh", Extra: []data.Pair{data.P("x", data.OfInt(1))}}
	c, err := command.Catalog(&model.Catalog{Name: "n", Edges: []model.Edge{e, e}}, command.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := format.AppendPSON(nil, c.Payload.Get("edges"))
	want := `[{"source":{"type":"N","title":"a"},"target":{"type":"N","title":"b"},"event":"ALL_EVENTS","callback":"refresh","relationship":"contains"}]`
	if string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

// The payload has the trusted data once; what is sent has both, as Puppet sends them. Rule
// PDB-FACT-02.
func TestTrusted(t *testing.T) {
	t.Parallel()
	f := &model.Facts{Name: "a.b.c", Values: value(t, `{"trusted":"mine","x":1}`)}
	c, err := command.Facts(f, command.Options{Trusted: value(t, `{"authenticated":false,"certname":"a.b.c","extra":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	const trusted = `{"authenticated":false,"certname":"a.b.c","extensions":{},"hostname":"a","domain":"b.c","external":{}}`
	if text, _ := format.AppendPSON(nil, c.Payload.Get("values")); string(text) != `{"trusted":`+trusted+`,"x":1}` {
		t.Errorf("got %s", text)
	}
	if body, _ := c.Body(); !strings.Contains(string(body), `"values":{"trusted":"mine","x":1,"trusted":`+trusted+`}`) {
		t.Errorf("got %s", body)
	}
}

func TestFactsAreAHash(t *testing.T) {
	t.Parallel()
	const want = `make command "replace facts" version 5 of "n": the values are a string, not a hash`
	if _, err := command.Facts(&model.Facts{Name: "n", Values: data.OfString("x")}, command.Options{}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	c := command.Deactivate("a&command=x y+ü", command.Options{Produced: time.Date(2026, 1, 2, 3, 4, 5, 999999999, time.FixedZone("", 3600))})
	body, _ := c.Body()
	if want := `{"certname":"a&command=x y+ü","producer_timestamp":"2026-01-02T03:04:05.999+01:00"}`; string(body) != want {
		t.Errorf("got %s, want %s", body, want)
	}
	_, got, _ := strings.Cut(c.Query(body), "&")
	if want := "version=3&certname=a%26command%3Dx%20y%2B%C3%BC&command=deactivate_node&producer-timestamp=2026-01-02T02:04:05.999Z"; got != want {
		t.Errorf("PDB-HTTP-02: got %s, want %s", got, want)
	}
}

// A report that Puppet cannot send fails, and the error names the part. Rule PDB-REP-03.
func TestReportFaults(t *testing.T) {
	t.Parallel()
	class, _ := model.Lookup("report")
	for want, text := range map[string]string{
		"Environment is nil":               `{"host":"r"}`,
		"it has no time":                   `{"host":"r","environment":"e"}`,
		"log 1: it has no time":            `{"host":"r","environment":"e","time":"2026-01-01T00:00:00Z","logs":[{"level":"err","message":"m"}]}`,
		"File[a]: nothing is known of it":  `{"host":"r","environment":"e","time":"2026-01-01T00:00:00Z","resource_statuses":{"File[a]":{}}}`,
		"File[a]: event 1: it has no time": `{"host":"r","environment":"e","time":"2026-01-01T00:00:00Z","resource_statuses":{"File[a]":{"title":"a","events":[{}]}}}`,
	} {
		v := value(t, text)
		if v.Get("logs").IsNil() {
			v = v.With("logs", data.OfList(nil))
		}
		if v.Get("resource_statuses").IsNil() {
			v = v.With("resource_statuses", data.OfHash(nil))
		}
		i, err := class.FromData(v.With("metrics", data.OfHash(nil)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := command.Report(i.(*model.Report), command.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, command string
		version       int
		body, want    string
	}{
		{"unknown", "replace universe", 1, `{}`, `read command "replace universe" version 1 of "n": there is no such command`},
		{"too new", "replace_catalog", 10, `{}`, `read command "replace catalog" version 10 of "n": the versions that are known are 6 to 9`},
		{"too old", "replace facts", 3, `{}`, `the versions that are known are 4 to 5`},
		{"no JSON", "replace facts", 5, `{`, `read command "replace facts" version 5 of "n"`},
		{"no hash", "deactivate node", 3, `"n"`, `the body is a string, not a hash`},
		{"too deep", "replace facts", 5, strings.Repeat(`{"a":`, 201) + "1" + strings.Repeat("}", 201), "nesting of 201 is too deep"},
		{"no time", "replace facts", 5, `{}`, "producer_timestamp: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := command.Read(tt.command, tt.version, "n", time.Time{}, []byte(tt.body)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// What is no catalog is an error in Puppet's words, which names the command.
func TestInstanceRefuses(t *testing.T) {
	t.Parallel()
	at := time.Unix(1800000000, 0)
	for body, want := range map[string]string{
		`{"certname":"n","resources":[{"type":"N","title":"a"},{"type":"N","title":"a"}],"edges":[]}`: "Duplicate declaration: N[a] is already declared",
		`{"certname":"n","resources":5}`: `understand command "replace catalog" version 9 of "n": `,
		`{"certname":"n","resources":[],"edges":[{"source":{"type":"N","title":"a"},"target":{},"relationship":"contains"}]}`: `"n": `,
	} {
		c, err := command.Read(command.ReplaceCatalog, 9, "n", at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Instance(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
}

// Reports of version 5 have events, not resources.
func TestOldReport(t *testing.T) {
	t.Parallel()
	c, err := command.Read("store_report", 5, "n", time.Time{}, []byte(`{"certname":"n","puppet_version":"4.0.0","report_format":4,"configuration_version":"1",
		"producer_timestamp":"2016-01-02T03:04:05.678Z","start_time":"2016-01-02T03:04:05.000Z","end_time":"2016-01-02T03:04:06.000Z","environment":"e",
		"transaction_uuid":"u","status":"failed","noop":false,"logs":[],"metrics":[{"category":"time","name":"total","value":1.5}],"resource_events":[
		{"status":"success","timestamp":"2016-01-02T03:04:05.500Z","resource_type":"File","resource_title":"/a","property":"ensure","new_value":"x","old_value":"y","message":"m","file":"/m.pp","line":1,"containment_path":["Stage[main]"]},
		{"status":"failure","timestamp":"2016-01-02T03:04:05.600Z","resource_type":"File","resource_title":"/a","property":"mode"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	i, err := c.Instance()
	if err != nil {
		t.Fatal(err)
	}
	r := i.(*model.Report)
	if len(r.Statuses) != 1 || len(r.Statuses[0].Events) != 2 {
		t.Fatalf("got %+v", r.Statuses)
	}
	s := r.Statuses[0]
	if s.Ref != "File[/a]" || !s.Failed || !s.Changed || s.ChangeCount != 1 || s.OutOfSyncCount != 2 || s.File != "/m.pp" || s.Events[0].DesiredValue.Str() != "x" {
		t.Errorf("got %+v", s)
	}
	if m := r.Metrics[0]; m.Key != "time" || m.Label != "Time" || m.Values.Inspect() != `[["total", "Total", 1.5]]` {
		t.Errorf("got %+v", m)
	}
	if !c.Produced.Equal(time.Date(2016, 1, 2, 3, 4, 5, 678000000, time.UTC)) {
		t.Errorf("got %v", c.Produced)
	}
}

// The digest has what is stored, and nothing of the transaction.
func TestHash(t *testing.T) {
	t.Parallel()
	of := func(message string, o command.Options) *command.Command {
		r := model.Resource{Type: "N", Title: "a", Parameters: data.OfHash([]data.Pair{data.P("message", data.OfString(message))})}
		c, err := command.Catalog(&model.Catalog{Name: "n", Resources: []model.Resource{r}}, o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := of("x", command.Options{})
	if again := of("x", command.Options{Produced: time.Unix(1, 0), Producer: "p", TransactionUUID: "t", JobID: "1"}); again.Hash() != first.Hash() {
		t.Error("the same catalog of another transaction has another digest")
	}
	if other := of("y", command.Options{}); other.Hash() == first.Hash() {
		t.Error("another catalog has the same digest")
	}
}
