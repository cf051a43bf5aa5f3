package ldap_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/terminustest"
	"indirtui/termini/ldap"
	"indirtui/traces"
)

// TestGoldenLDAP holds what real Puppet made of a directory against what we make of
// the same conversation. What is different on purpose is LDAP-02 (names are escaped),
// LDAP-07 (one name space), LDAP-09 (two environments) and LDAP-04 (an old library's
// exact case).
func TestGoldenLDAP(t *testing.T) {
	cases := recorded(t)
	trusted, other := clienttest.New(t, "LDAP CA"), clienttest.New(t, "Other CA")
	files := t.TempDir()
	for name, ca := range map[string]*clienttest.Authority{"trusted": trusted, "other": other} {
		clienttest.WriteFile(t, filepath.Join(files, name), ca.PEM())
	}
	leaf := trusted.Issue(t, "localhost", clienttest.Local)
	all := entriesOf(t, cases)
	for _, c := range cases.List() {
		t.Run(c.Get("id").Str(), func(t *testing.T) {
			t.Setenv("LDAPTLS_CACERT", filepath.Join(files, cmp.Or(c.Get("ca").Str(), "trusted")))
			g := &goldenCase{Value: c, t: t, script: newScript(t, c, all)}
			port := func(secure bool) func(string) string {
				return func(ip string) string { return serve(t, g.script, ip, leaf, secure) }
			}
			g.settings = g.configure(port(false), port(true))
			g.run()
		})
	}
}

func recorded(t *testing.T) data.Value {
	t.Helper()
	text, err := os.ReadFile(golden.PathBeside(t, "../../indirector/puppetdb", "stores", "ldap", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := format.DecodeJSON(text, format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A goldenCase is one recorded request.
type goldenCase struct {
	data.Value
	t        *testing.T
	script   *script
	settings clienttest.Settings
	logs     terminustest.Log
}

// configure returns the settings of the case; plain and secure return the ports of
// servers at an address.
func (g *goldenCase) configure(plain, secure func(ip string) string) clienttest.Settings {
	s := defaults.With("ldapserver", "localhost", "ldapport", "PLAIN", "ldapbase", "dc=example,dc=com")
	for _, p := range g.Get("settings").Hash() {
		s[p.Key.Str()] = p.Value.Text()
	}
	ip := "127.0.0.1"
	if s["ldapserver"] == "127.0.0.2" {
		ip = s["ldapserver"]
	}
	switch s["ldapport"] {
	case "PLAIN":
		s["ldapport"] = plain(ip)
	case "TLS":
		s["ldapport"] = secure(ip)
	case "DEAD":
		s["ldapport"] = free(g.t, ip)
	default:
		g.t.Fatalf("port %s", s["ldapport"])
	}
	if strings.HasSuffix(s["ldapserver"], ".invalid") {
		s["ldapserver"], s["ldapport"] = "127.0.0.1", free(g.t, ip) // no name server is asked in tests
	}
	return s
}

// defaults are those of Puppet.
var defaults = clienttest.Settings{
	"ldapserver": "ldap", "ldapport": "389", "ldapssl": "false", "ldaptls": "false",
	"ldapstring": "(&(objectclass=puppetClient)(cn=%s))", "ldapclassattrs": "puppetclass",
	"ldapstackedattrs": "puppetvar", "ldapattrs": "all", "ldapparentattr": "parentnode",
}

// environments are those that were there when it was recorded.
var environments = []string{"production", "staging", "development"}

func (g *goldenCase) run() {
	terminus := open(g.t, g.settings, &g.logs, g.do)
	req := &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: g.Get("key").Str(), Environment: cmp.Or(g.Get("environment").Str(), "production")}
	for _, p := range g.Get("options").Hash() {
		req.Options = append(req.Options, indirector.Option{Name: p.Key.Str(), Value: optionOf(p.Key.Str(), p.Value)})
	}
	var got []indirector.Instance
	var err error
	switch verb := g.Get("verb").Str(); verb {
	case "", "find":
		var one indirector.Instance
		if one, err = terminus.(indirector.Finder).Find(g.t.Context(), req); err == nil {
			got = []indirector.Instance{one}
		} else if errors.Is(err, indirector.ErrNotFound) {
			err = nil
		}
	case "search":
		got, err = terminus.(indirector.Searcher).Search(g.t.Context(), req)
	default:
		v := traces.ParseVerb(verb)
		if v.String() != verb || indirector.VerbsOf(terminus)[v] != nil || g.Get("exception").Str() != "NoMethodError" {
			g.t.Errorf("the verb %s is there, and was not", verb)
		}
		return
	}
	if g.script.free {
		g.checkEscaped(got, err)
		return
	}
	g.checkError(err)
	g.checkNodes(got)
	g.checkLogs()
	g.script.checkDone()
}

// do answers the nested request for facts, and refuses environments that are not
// there.
func (g *goldenCase) do(_ context.Context, req *indirector.Request) (indirector.Response, error) {
	if !slices.Contains(environments, req.Environment) {
		return indirector.Response{}, &indirector.EnvironmentNotFound{Name: req.Environment, Path: "<TMP>/code/environments"}
	}
	for _, p := range g.Get("stored_facts").Hash() {
		if p.Key.Str() == req.Key {
			return indirector.Response{Value: &model.Facts{Name: req.Key, Values: p.Value}}, nil
		}
	}
	return indirector.Response{}, indirector.ErrNotFound
}

func optionOf(name string, v data.Value) any {
	switch {
	case name == "facts":
		return &model.Facts{Name: v.Get("name").Str(), Values: v.Get("values")}
	case v.Kind() == data.Bool:
		return v.Bool()
	case v.Kind() == data.List:
		list := make([]any, v.Len())
		for i, x := range v.List() {
			list[i] = x.Text()
		}
		return list
	}
	return v.Text()
}

// escapes reports whether a value means something else in an unescaped filter.
func escapes(value string) bool { return strings.ContainsAny(value, "*()\\") }

// checkEscaped expects the entries that have exactly such values, as what was recorded
// is what became of the filter: the last that is named so, or else by its short name
// or default; or those that have all classes. Rule LDAP-02.
func (g *goldenCase) checkEscaped(got []indirector.Instance, err error) {
	if err != nil {
		g.t.Fatal(err)
	}
	var dns, want []string
	for _, n := range got {
		dns = append(dns, n.(*model.Node).Parameters.Get("dn").Str())
	}
	short, _, _ := strings.Cut(g.Get("key").Str(), ".")
	switch {
	case g.script.classes != nil:
		for _, e := range g.script.matching("(objectclass=puppetClient)", g.settings["ldapbase"]) {
			want = append(want, e.dn)
		}
	default:
		for _, name := range []string{"default", short, g.Get("key").Str()} {
			if e := g.script.named(name, g.settings["ldapbase"]); e != nil {
				want = []string{e.dn}
			}
		}
	}
	if !slices.Equal(dns, want) {
		g.t.Errorf("got %q, want %q", dns, want)
	}
}

func (g *goldenCase) checkError(err error) {
	want, class := g.Get("error").Str(), cmp.Or(g.Get("exception").Str(), "Puppet::Error")
	if want == "" || err == nil {
		if (err != nil) != (want != "") {
			g.t.Fatalf("error: got %v, want %q", err, want)
		}
		return
	}
	if g.Get("ruby_error").Truthy() {
		return // Ruby's words are free
	}
	f := (*indirector.Failure)(nil)
	if !errors.As(err, &f) || f.Message != want || cmp.Or(f.Class, "Puppet::Error") != class {
		g.t.Errorf("error: got %#v, want %s %q", err, class, want)
	}
}

func (g *goldenCase) checkNodes(got []indirector.Instance) {
	want := g.Get("value")
	var nodes []data.Value
	switch want.Kind() {
	case data.List:
		nodes = want.List()
	case data.Hash:
		nodes = []data.Value{want}
	}
	if len(got) != len(nodes) {
		g.t.Fatalf("got %d nodes, want %d", len(got), len(nodes))
	}
	for i, n := range nodes {
		g.checkNode(got[i].(*model.Node), n)
	}
}

func (g *goldenCase) checkNode(got *model.Node, want data.Value) {
	if got.Name != want.Get("name").Str() || got.Environment != want.Get("environment").Str() {
		g.t.Errorf("got %s in %s, want %s in %s", got.Name, got.Environment, want.Get("name").Str(), want.Get("environment").Str())
	}
	if got, want := fmt.Sprint(got.ClassNames()), fmt.Sprint(textsOf(want.Get("classes"))); got != want {
		g.t.Errorf("classes: got %s, want %s", got, want)
	}
	g.checkParameters(got, want.Get("parameters").List())
}

func textsOf(v data.Value) []string {
	all := []string{}
	for _, x := range v.List() {
		all = append(all, x.Text())
	}
	return all
}

// checkParameters compares names, order and values, of names that were there twice the
// first. Rule LDAP-07.
func (g *goldenCase) checkParameters(got *model.Node, recorded []data.Value) {
	var want []data.Pair
	seen := map[string]bool{"environment": true}
	for _, p := range recorded {
		name, value := p.List()[1].Str(), p.List()[2]
		if seen[name] {
			continue
		}
		seen[name] = true
		if value.Kind() == data.List && value.Len() == 0 {
			value = got.Parameters.Get(name) // Puppet took the parent out of the list that it shares
			if !strings.EqualFold(name, g.settings["ldapparentattr"]) || value.Kind() != data.String {
				g.t.Errorf("parameter %s: got %v, recorded an empty list", name, value)
			}
		}
		if b := value.Get("base64"); b.Kind() == data.String {
			bytes, err := base64.StdEncoding.DecodeString(b.Str())
			if err != nil {
				g.t.Fatal(err)
			}
			value = data.OfString(string(bytes))
		}
		want = append(want, data.P(name, value))
	}
	if got, want := g.script.restore(got.Parameters).Inspect(), data.OfHash(want).Inspect(); got != want {
		g.t.Errorf("parameters:\n got %s\nwant %s", got, want)
	}
}

var displaced = regexp.MustCompile("^The node parameter '(.*?)' for node ")

// checkLogs compares levels and texts. A fact that is displaced by an attribute is
// warned about, which Puppet does not do, as it has two name spaces. Rule LDAP-07.
func (g *goldenCase) checkLogs() {
	var want, got []string
	for _, l := range g.Get("logs").List() {
		want = append(want, l.List()[0].Str()+" "+l.List()[1].Str())
	}
	twice := make(map[string]int)
	for _, p := range g.Get("value").Get("parameters").List() {
		twice[p.List()[1].Str()]++
	}
	for _, l := range g.logs.Take() {
		if m := displaced.FindStringSubmatch(l.Message); m != nil && twice[m[1]] > 1 {
			continue
		}
		got = append(got, l.String())
	}
	if !slices.Equal(got, want) {
		g.t.Errorf("logs:\n got %q\nwant %q", got, want)
	}
}

// open makes a terminus that is closed with the test.
func open(t testing.TB, s indirector.Settings, logs *terminustest.Log, do func(context.Context, *indirector.Request) (indirector.Response, error)) indirector.Terminus {
	t.Helper()
	terminus, err := ldap.Node.New(indirector.Env{Indirection: "node", Terminus: "ldap", Settings: s, Log: slog.New(logs), Now: time.Now, Do: do})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminus.(*ldap.Terminus).Close() })
	return terminus
}
