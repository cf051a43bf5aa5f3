package api_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/puppetdb/api"
)

// FuzzCalled reads any command. One that is a request is written again, and then read
// as the same request.
func FuzzCalled(f *testing.F) {
	f.Add("version=5&certname=a&command=replace_facts&producer-timestamp=2026-11-20T16:03:23.884Z", `{"certname":"a","values":{"a":1},"environment":"e","producer_timestamp":"2026-11-20T16:03:23.884Z"}`)
	f.Add("version=9&certname=a&command=replace_catalog", `{"certname":"a","resources":[{"type":"Notify","title":"x"}],"edges":[],"producer_timestamp":"2026-11-20T16:03:23.884Z"}`)
	f.Add("version=3&certname=a&command=deactivate+node&x=%zz&y", `{"certname":"a"}`)
	f.Add("", `{"command":"replace facts","version":5,"payload":{"certname":"a","values":{}}}`)
	f.Add("", `{"command":"replace facts","version":5,"payload":"{\"certname\":\"a\"}"}`)
	f.Fuzz(func(t *testing.T, query, body string) {
		call, err := api.Called(query, []byte(body))
		call.Doubt()
		if err != nil {
			return
		}
		req, err := call.Request()
		if err != nil || req == nil {
			return
		}
		m, err := api.Write(req, call)
		if err != nil {
			return // an instance that no command can have
		}
		_, query, _ = strings.Cut(m.Target, "?")
		again, err := api.Called(query, m.Body)
		if err != nil {
			t.Fatalf("%s, written again: %v", m.Target, err)
		}
		if doubt := again.Doubt(); doubt != "" {
			t.Error(doubt)
		}
		if again.Certname != strings.ToValidUTF8(req.Key, "\uFFFD") || again.Name != call.Name || again.Version != call.Version {
			t.Errorf("%+v became %+v", call, again)
		}
	})
}

// FuzzAsked reads any query. One that is a request is written again, and then read as
// the same request: nothing in it leads elsewhere.
func FuzzAsked(f *testing.F) {
	for _, query := range []string{
		pdbResources + `]`, pdbResources + `,["=","tag","a"]]`, pdbResources + `,["or",["not",["=","title","t"]],["=",["parameter","p"],1.5]]]`,
		`["and",["not",["=",["fact","a.b"],"x y&z"]],[">=",["fact","c"],1]]`, `["and"]`,
	} {
		f.Add("/pdb/query/v4/resources", "query="+url.QueryEscape(query))
		f.Add("/pdb/query/v4/nodes", "query="+url.QueryEscape(query))
	}
	f.Add("/pdb/query/v4/nodes/a%2fb/facts", "")
	f.Add("/pdb/query/v4/nodes/..", "")
	f.Fuzz(func(t *testing.T, path, query string) {
		req := api.Asked(path, query)
		if req == nil {
			return
		}
		m, err := api.Write(req, nil)
		if err != nil {
			t.Fatalf("%+v: %v", req, err)
		}
		path, query, _ = strings.Cut(m.Target, "?")
		again := api.Asked(path, query)
		equal := cmp.Comparer(func(a, b data.Value) bool { return data.Equal(a, b) })
		if diff := cmp.Diff(about(req), about(again), equal); diff != "" {
			t.Errorf("%s: read (-), written and read again (+):\n%s", m.Target, diff)
		}
	})
}

const pdbResources = `["and",["=","type","Notify"],["=","exported",true],["not",["=","certname","b"]]`

// about is what a query asks.
func about(req *indirector.Request) any {
	if req == nil {
		return nil
	}
	return struct {
		Indirection, Key string
		Verb             indirector.Verb
		Options          []indirector.Option
	}{req.Indirection, req.Key, req.Verb, req.Options}
}

// FuzzAnswer reads any answer to any request, and writes what it is.
func FuzzAnswer(f *testing.F) {
	f.Add(`[{"type":"Notify","title":"x","certname":"a","parameters":{"a":null},"tags":[1]}]`)
	f.Add(`[{"name":"a","value":1},{"name":"a","value":{}}]`)
	f.Add(`{"uuid":"x"}`)
	f.Add(`[{"certname":1}]`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, req := range []*indirector.Request{
			{Indirection: "resource", Verb: indirector.Search},
			{Indirection: "facts", Verb: indirector.Search},
			{Indirection: "facts", Verb: indirector.Find},
			{Indirection: "node", Verb: indirector.Find},
			{Indirection: "catalog", Verb: indirector.Save},
		} {
			value, err := api.Answer(req, []byte(body))
			if err != nil {
				continue
			}
			if _, err := api.Reply(req, value); err != nil && utf8.ValidString(body) {
				t.Errorf("%s %s: %q cannot be written: %v", req.Verb, req.Indirection, body, err)
			}
		}
	})
}
