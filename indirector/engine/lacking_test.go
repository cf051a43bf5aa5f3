package engine_test

import (
	"errors"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/traces"
)

// A routes.yaml may name what a plugin of Puppet has and this program lacks: it stays in
// force, and only a request that needs it fails, in our own name.
func TestLackingTermini(t *testing.T) {
	t.Parallel()
	const routes = `server:
  facts:
    terminus: json
    cache: of_a_plugin
  report:
    terminus: of_a_plugin
  node:
    terminus: memory
`
	s := newStage(t, scene{application: "server", routes: routes, files: map[string]string{
		"var/lib/puppet/indirector/report/of_a_plugin.rb": "",
		"var/lib/puppet/indirector/facts/of_a_plugin.rb":  "",
		"var/server_data/facts/n1.json":                   `{"name":"n1","values":{}}`,
	}})
	for _, p := range s.Configuration().Problems {
		if p.Fatal || !strings.Contains(p.Text, "indirtui has no terminus") {
			t.Errorf("problem: %v, fatal %v", p, p.Fatal)
		}
	}
	for _, tt := range []struct {
		name    string
		request indirector.Request
		err     string // "" is none of ours
	}{
		{"of a plugin", indirector.Request{Indirection: "report", Verb: indirector.Find, Key: "n1"}, s.Expand("indirtui has no terminus of_a_plugin yet; a plugin in $dir/var/lib has")},
		{"as a cache", find("facts", "n1"), s.Expand("indirtui has no terminus of_a_plugin yet; a plugin in $dir/var/lib has")},
		{"the cache is left out", indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "n1", Cache: indirector.Off}, ""},
		{"an entry below", find("node", "n1"), ""},
	} {
		_, err := s.ask(tt.request)
		tr := s.trace()
		switch {
		case tt.err == "" && (tr.Error != "" || errors.Is(err, indirector.ErrLacking)):
			t.Errorf("%s: %v", tt.name, err)
		case tt.err != "" && (!errors.Is(err, indirector.ErrLacking) || indirector.Message(err) != tt.err || traces.Story(tr) != tt.err):
			t.Errorf("%s: got %q, story %q; want %q", tt.name, indirector.Message(err), traces.Story(tr), tt.err)
		}
		if want := "routes file"; !strings.Contains(traces.HeadlineOf(tr).Decided, want) {
			t.Errorf("%s: decided by %s", tt.name, traces.HeadlineOf(tr).Decided)
		}
	}
}
