package api_test

import (
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/api"
	"indirtui/indirector/puppetdb/command"
)

// read returns a file of the recordings.
func read(tb testing.TB, part ...string) []data.Value {
	tb.Helper()
	text, err := os.ReadFile(golden.PathBeside(tb, "..", append([]string{"stores"}, part...)...))
	if err != nil {
		tb.Fatal(err)
	}
	v, err := format.DecodeJSON(text, format.Limits{Depth: 200})
	if err != nil {
		tb.Fatal(err)
	}
	return v.List()
}

// TestGoldenCommands reads what Puppet sent, and writes it again, as if it had been
// changed and changed back: the same bytes, at the same address.
func TestGoldenCommands(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"facts", "catalog", "report"} {
		for _, c := range read(t, "puppetdb", "commands-"+kind+".json") {
			for _, sent := range c.Get("requests").List() {
				t.Run(kind+"/"+c.Get("id").Str(), func(t *testing.T) {
					t.Parallel()
					target, body := sent.Get("target").Str(), sent.Get("body").Str()
					_, query, _ := strings.Cut(target, "?")
					call, err := api.Called(query, []byte(body))
					if err != nil {
						t.Fatal(err)
					}
					payload, err := format.DecodeJSON([]byte(body), format.Limits{Depth: 200})
					if err != nil {
						t.Fatal(err)
					}
					// Puppet does not escape the certname, whose end may be lost.
					whole := payload.Get("certname").Str() == call.Certname && len(call.Checksum) == 40
					if doubt := call.Doubt(); whole && doubt != "" {
						t.Error(doubt)
					}
					req, err := call.Request()
					if err != nil {
						t.Fatal(err)
					}
					if req == nil {
						if strings.Contains(query, "command=replace_catalog_inputs") {
							return // no indirection has them
						}
						t.Fatalf("%s is no request", target)
					}
					m, err := api.Write(req, call)
					if err != nil {
						t.Fatal(err)
					}
					want, err := format.AppendPSON(nil, payload)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(string(want), string(m.Body)); diff != "" {
						t.Errorf("sent (-), written again (+):\n%s", diff)
					}
					same := whole && string(want) == body // a key that is there twice is so no more
					if want, got := parameters(t, target), parameters(t, m.Target); same && !cmp.Equal(want, got) {
						t.Errorf("sent to %s, written again to %s", target, m.Target)
					}
				})
			}
		}
	}
}

// TestGoldenEdits changes one thing of each recorded command: that alone differs from
// what was sent.
func TestGoldenEdits(t *testing.T) {
	t.Parallel()
	edited := 0
	for _, kind := range []string{"facts", "catalog", "report"} {
		for _, c := range read(t, "puppetdb", "commands-"+kind+".json") {
			for _, sent := range c.Get("requests").List() {
				_, query, _ := strings.Cut(sent.Get("target").Str(), "?")
				call, err := api.Called(query, []byte(sent.Get("body").Str()))
				if err != nil {
					t.Fatal(err)
				}
				req, err := call.Request()
				if err != nil {
					t.Fatal(err)
				}
				want, err := format.DecodeJSON(call.Payload, format.Limits{Depth: 200})
				if err != nil {
					t.Fatal(err)
				}
				if req == nil || req.Instance == nil {
					continue
				}
				var unwritable error
				text := data.OfString("edited")
				switch inst := req.Instance.(type) {
				case *model.Facts:
					changed := *inst
					changed.Values = inst.Values.With("edited", text)
					req.Instance, want = &changed, want.With("values", want.Get("values").With("edited", text))
				case *model.Catalog:
					_, unwritable = command.Catalog(inst, command.Options{})
					changed := *inst
					changed.CodeID = "edited"
					req.Instance, want = &changed, want.With("code_id", text)
				case *model.Report:
					changed := *inst
					changed.Status = "edited"
					req.Instance, want = &changed, want.With("status", text)
				}
				m, err := api.Write(req, call)
				if unwritable != nil {
					if err == nil || !strings.Contains(err.Error(), unwritable.Error()) {
						t.Errorf("%s: got error %v, want %v", c.Get("id").Str(), err, unwritable)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", c.Get("id").Str(), err)
					continue
				}
				body, err := format.AppendPSON(nil, want)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(body), string(m.Body)); diff != "" {
					t.Errorf("%s: wanted (-), written (+):\n%s", c.Get("id").Str(), diff)
				}
				edited++
			}
		}
	}
	if edited == 0 {
		t.Error("nothing was edited")
	}
}

// parameters are those of an address. Puppet does not escape the certname.
func parameters(t *testing.T, target string) url.Values {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// TestGoldenCollectors reads what Puppet Server asks for a collector, and the rows of
// the answer. Rules PDB-QRY-01, PDB-QRY-02.
func TestGoldenCollectors(t *testing.T) {
	t.Parallel()
	for _, c := range read(t, "collect", "cases.json") {
		for _, step := range c.Get("steps").List() {
			for _, asked := range step.Get("puppetdb").List() {
				query, ok := asked.Get("query").AsStr()
				if !ok {
					continue
				}
				t.Run(c.Get("id").Str(), func(t *testing.T) { collects(t, query, asked) })
			}
		}
	}
}

func collects(t *testing.T, query string, asked data.Value) {
	target := asked.Get("path").Str() + "?query=" + url.QueryEscape(query)
	req := api.Asked(asked.Get("path").Str(), "query="+url.QueryEscape(query))
	if req == nil || req.Indirection != "resource" || req.Verb != indirector.Search {
		t.Fatalf("%s became %+v, no search of resource", query, req)
	}
	m, err := api.Write(req, nil)
	if err != nil || m.Target != target {
		t.Errorf("%s is written again as %s, %v", target, m.Target, err)
	}
	rows, ok := asked.Get("answered").Get("body").List(), asked.Get("answered").Get("status").Int() == 200
	if !ok {
		return
	}
	body, err := format.AppendJSON(nil, data.OfList(rows))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := api.Answer(req, body)
	if err != nil {
		t.Fatal(err)
	}
	found := answer.([]indirector.Instance)
	if len(found) != len(rows) {
		t.Fatalf("got %d resources, want %d", len(found), len(rows))
	}
	for i, row := range rows {
		r := found[i].(*model.Resource)
		if r.Type != req.Key || r.Title != row.Get("title").Str() || r.Exporter != row.Get("certname").Str() || len(r.Tags) != row.Get("tags").Len() {
			t.Errorf("got %+v of %v", r, row)
		}
		for _, p := range row.Get("parameters").Hash() {
			if got, there := r.Parameters.Lookup(p.Key.Str()); there == p.Value.IsNil() || !data.Equal(got, p.Value) {
				t.Errorf("%s: parameter %s is %v, want %v", r.Ref(), p.Key, got, p.Value)
			}
		}
	}
}

// TestGoldenFactSearches reads what Puppet Server asks for a search of facts. Rule
// PDB-QRY-05.
func TestGoldenFactSearches(t *testing.T) {
	t.Parallel()
	understood := 0
	for _, c := range read(t, "puppetdb", "search-facts.json") {
		for _, sent := range c.Get("requests").List() {
			target := sent.Get("target").Str()
			path, query, _ := strings.Cut(target, "?")
			req := api.Asked(path, query)
			if req == nil {
				if !strings.Contains(query, "null") { // of which there is no operator, and no fact
					t.Errorf("%s: %s is no request", c.Get("id").Str(), target)
				}
				continue
			}
			understood++
			m, err := api.Write(req, nil)
			if err != nil || m.Target != target {
				t.Errorf("%s: %s is written again as %+v, %v", c.Get("id").Str(), target, m, err)
			}
		}
	}
	if understood == 0 {
		t.Error("none of the recorded searches is a request")
	}
}
