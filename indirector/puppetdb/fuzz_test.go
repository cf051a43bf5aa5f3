package puppetdb_test

import (
	"encoding/json"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/golden"
	"indirtui/indirector/puppetdb"
)

// FuzzConfig reads files: what is accepted has URLs that are https, without a
// path; no error and no line of the log has a password.
func FuzzConfig(f *testing.F) {
	b, err := os.ReadFile(golden.Path(f, "stores", "puppetdb", "config.json"))
	if err != nil {
		f.Fatal(err)
	}
	var cases []configCase
	if err := json.Unmarshal(b, &cases); err != nil {
		f.Fatal(err)
	}
	for _, tt := range cases {
		if tt.Content != nil {
			f.Add(*tt.Content)
		}
	}
	f.Add("\ufeff[main]\n")
	f.Add("[main]\nserver_urls = https://u:hunter2@a/b\n")
	f.Add("[main]\nserver_urls = http//u:hunter2@a\n")
	f.Add("server_urls = https://u:hunter2@a, http://u:hunter2@b\n")
	f.Fuzz(func(t *testing.T, text string) {
		var log strings.Builder
		c, err := puppetdb.ParseConfig("/etc/puppetdb.conf", text, slog.New(slog.NewTextHandler(&log, nil)))
		if logged := log.String(); strings.Contains(logged, ":hunter2@") || err != nil && strings.Contains(err.Error(), ":hunter2@") {
			t.Errorf("a password is shown: %v, %s", err, logged)
		}
		if err != nil {
			return
		}
		if len(c.ServerURLs) < c.MinSubmissions {
			t.Errorf("%d URLs, and %d are needed", len(c.ServerURLs), c.MinSubmissions)
		}
		for _, u := range append(c.ServerURLs, c.SubmitOnly...) {
			if u.Scheme != "https" || u.Path != "" {
				t.Errorf("accepted %q", u)
			}
		}
	})
}

// FuzzAnswers reads answers: rows are whole, or there is an error.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		`[]`, `{}`, `null`, `[{"name":"a","value":1},{"name":"a","value":null}]`, `[{"certname":"a"}]`,
		`[{"type":"File","title":"/a","certname":"b","parameters":{"ensure":"file","x":null},"line":3}]`, `[[["a"]]]`, `[{"name":"a"`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		facts, err := puppetdb.Answer(body).Facts()
		seen := map[string]bool{}
		for _, p := range facts {
			if name := p.Key.Str(); err != nil || name == "" || seen[name] {
				t.Errorf("the fact %q is there, %v", name, err)
			}
			seen[p.Key.Str()] = true
		}
		names, err := puppetdb.Answer(body).Names()
		for _, n := range names {
			if err != nil || n.Key() == "" {
				t.Errorf("a node %q, %v", n.Key(), err)
			}
		}
		all, err := puppetdb.Answer(body).Resources()
		for _, r := range all {
			if err != nil || r.Type == "" || r.Title == "" || r.Exporter == "" {
				t.Errorf("a resource %s of %q, %v", r.Ref(), r.Exporter, err)
			}
		}
	})
}

// FuzzQuery puts texts into questions: what arrives is one parameter, with these
// texts and no others.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"n1", `"],["=","a`, "a&b=c", "a b+c%20", "\x00", "\xff", "ü"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		filter := data.OfList([]data.Value{data.OfString("p" + key), data.OfString("=="), data.OfString(value)})
		ast, err := puppetdb.ResourcesQuery("File", "h"+key, filter)
		if err != nil {
			t.Fatal(err)
		}
		check(t, ast, `["and",["=","type","File"],["=","exported",true],["not",["=","certname",`+quoted("h"+key)+`]],["=",["parameter",`+quoted("p"+key)+`],`+quoted(value)+`]]`)
		ast, err = puppetdb.FactsQuery([]indirector.Option{{Name: "facts.k", Value: value}})
		if err != nil {
			t.Fatal(err)
		}
		check(t, ast, `["and",["=",["fact","k"],`+quoted(value)+`]]`)
	})
}

func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return b.String()
}

// check compares a question with what a server reads of it.
func check(t *testing.T, ast data.Value, want string) {
	t.Helper()
	path, err := puppetdb.QueryPath("/q", ast)
	if err != nil {
		return // bytes that are not UTF-8
	}
	u, err := url.ParseRequestURI(path)
	if err != nil {
		t.Fatal(err)
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil || len(q) != 1 || u.Path != "/q" {
		t.Fatalf("%s: %v, %v", path, q, err)
	}
	var got, wanted any
	if err := json.Unmarshal([]byte(q.Get("query")), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(wanted)
	if string(a) != string(b) {
		t.Errorf("got %s, want %s", a, b)
	}
}
