package authconf_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/network/authconf"
)

func client(name string) authconf.Client {
	return authconf.Client{Name: name, Authenticated: name != "", Address: "192.0.2.7"}
}

var admin = authconf.Client{Name: "puppet", Authenticated: true, Extensions: map[string]string{"pp_cli_auth": "true"}}

// standard are questions that the rules of Puppet Server decide.
var standard = []struct {
	method, path string
	client       authconf.Client
	want         bool
	rule         string
}{
	{"GET", "/puppet/v3/catalog/web01", client("web01"), true, "puppetlabs v3 catalog from agents"},
	{"POST", "/puppet/v3/catalog/web01", client("web01"), true, "puppetlabs v3 catalog from agents"},
	{"POST", "/puppet/v3/catalog/web01.example.com", client("WEB01.example.com"), true, "puppetlabs v3 catalog from agents"},
	{"POST", "/puppet/v3/catalog/web01", client("db01"), false, "puppetlabs v3 catalog from agents"},
	{"POST", "/puppet/v3/catalog/web01", client(""), false, "puppetlabs v3 catalog from agents"},
	{"POST", "/puppet/v3/catalog/web01/x", client("web01"), false, "puppetlabs deny all"},
	{"PUT", "/puppet/v3/catalog/web01", client("web01"), false, "puppetlabs deny all"},
	{"GET", "/puppet/v3/catalogs/web01", client("web01"), false, "puppetlabs deny all"},
	{"POST", "/puppet/v4/catalog", client("web01"), false, "puppetlabs v4 catalog for services"},
	{"GET", "/puppet/v3/node/web01", client("web01"), true, "puppetlabs node"},
	{"GET", "/puppet/v3/node/web01", client("web02"), false, "puppetlabs node"},
	{"PUT", "/puppet/v3/report/web01", client("web01"), true, "puppetlabs report"},
	{"PUT", "/puppet/v3/facts/web01", client("web01"), true, "puppetlabs facts"},
	{"GET", "/puppet/v3/facts/web01", client("web01"), false, "puppetlabs deny all"},
	{"GET", "/puppet/v3/environments", client("web01"), true, "puppetlabs environments"},
	{"GET", "/puppet/v3/environments", client(""), false, "puppetlabs environments"},
	{"HEAD", "/puppet/v3/file_bucket_file/sha256/0", client("web01"), true, "puppetlabs file bucket file"},
	{"DELETE", "/puppet/v3/file_bucket_file/sha256/0", client("web01"), false, "puppetlabs deny all"},
	{"GET", "/puppet/v3/file_content/modules/a/b", client("web01"), true, "puppetlabs file content"},
	{"GET", "/puppet/v3/file_metadatas/plugins", client("web01"), true, "puppetlabs file metadata"},
	{"GET", "/puppet/v3/static_file_content/x", client("web01"), true, "puppetlabs static file content"},
	{"GET", "/puppet-ca/v1/certificate/ca", client(""), true, "puppetlabs certificate"},
	{"GET", "/puppet-ca/v1/certificate_revocation_list/ca", client(""), true, "puppetlabs crl"},
	{"PUT", "/puppet-ca/v1/certificate_request/web01", client(""), true, "puppetlabs csr"},
	{"DELETE", "/puppet-ca/v1/certificate_request/web01", client("web01"), false, "puppetlabs deny all"},
	{"PUT", "/puppet-ca/v1/certificate_status/web01", client("web01"), false, "puppetlabs cert status"},
	{"PUT", "/puppet-ca/v1/certificate_status/web01", admin, true, "puppetlabs cert status"},
	{"GET", "/puppet-ca/v1/certificate_statuses/x", admin, true, "puppetlabs cert status"},
	{"PUT", "/puppet-ca/v1/clean", admin, true, "puppetlabs cert clean"},
	{"PUT", "/puppet-ca/v1/clean", client("web01"), false, "puppetlabs cert clean"},
	{"GET", "/puppet-ca/v1/expirations", client("web01"), true, "puppetlabs CA cert and CRL expirations"},
	{"GET", "/status/v1/simple/server", client(""), true, "puppetlabs status service - simple"},
	{"GET", "/status/v1/services", client(""), true, "puppetlabs status service - full"},
	{"GET", "/production/catalog/web01", client("web01"), false, "puppetlabs deny all"},
	{"OPTIONS", "/puppet/v3/node/web01", client("web01"), false, "puppetlabs deny all"},
}

func TestDefault(t *testing.T) {
	t.Parallel()
	check(t, authconf.Default())
	for _, tt := range []struct {
		method, path string
		want         bool
	}{
		{"POST", "/puppet-ca/v1/ocsp", true},
		{"GET", "/puppet-ca/v1/ocsp/MFMwUTBP", true},
		{"GET", "/puppet-ca/v1/ocsp/a/b", true},
		{"PUT", "/puppet-ca/v1/ocsp/ca", true},
		{"DELETE", "/puppet-ca/v1/ocsp/ca", false},
		{"GET", "/puppet-ca/v1/ocsps", false},
	} {
		if d := authconf.Default().Decide(authconf.Request{Method: tt.method, Path: tt.path}); d.Allowed != tt.want {
			t.Errorf("%s %s without a certificate: %v by %v", tt.method, tt.path, d.Allowed, d.Rule)
		}
	}
	if w := authconf.Default().Warnings; w != nil {
		t.Error(w)
	}
}

// TestPackaged holds the built-in rules against those of Puppet Server's
// package.
func TestPackaged(t *testing.T) {
	t.Parallel()
	const file = "/etc/puppet/puppetserver/conf.d/auth.conf"
	c, err := authconf.Load(file)
	if os.IsNotExist(err) || err != nil && strings.Contains(err.Error(), "no such file") {
		t.Skip("the package puppetserver is not installed: " + file + " is missing")
	}
	if err != nil {
		t.Fatal(err)
	}
	check(t, c)
	ours := make(map[string]authconf.Rule)
	for _, r := range authconf.Default().Rules {
		ours[r.Name] = r
	}
	for _, r := range c.Rules {
		o := ours[r.Name]
		o.Source, r.Source = "", ""
		if diff := cmp.Diff(r, o, cmp.FilterPath(func(p cmp.Path) bool { return strings.HasPrefix(p.String(), "p") || p.String() == "entries" }, cmp.Ignore())); diff != "" {
			t.Errorf("%s: got +, Puppet Server has -\n%s", r.Name, diff)
		}
	}
}

func check(t *testing.T, c *authconf.Config) {
	t.Helper()
	for _, tt := range standard {
		d := c.Decide(authconf.Request{Method: tt.method, Path: tt.path, Client: tt.client})
		if d.Allowed != tt.want || d.Rule == nil || d.Rule.Name != tt.rule {
			t.Errorf("%s %s of %s: got %v by %v (%s), want %v by %q", tt.method, tt.path, tt.client, d.Allowed, d.Rule, d.Why, tt.want, tt.rule)
		}
		if d.Allowed != (d.Refusal == "") {
			t.Errorf("%s %s of %s: refusal %q", tt.method, tt.path, tt.client, d.Refusal)
		}
	}
}

// wrap makes a file of some rules; the first line of them is line 1.
func wrap(rules string) string { return "authorization { version = 1, rules = [" + rules + "] }" }

func TestDecide(t *testing.T) {
	t.Parallel()
	type question struct {
		name authconf.Client
		path string // "" is /x
		want bool
	}
	dns := client("web01")
	dns.AltNames = map[string][]string{"dns-name": {"alias.example.com"}, "ip": {"192.0.2.9"}}
	env := client("web01")
	env.Extensions = map[string]string{"pp_env": "test", "pp_image": "a"}
	forged := authconf.Client{Name: "web01"}
	tests := []struct {
		name, rule string
		ask        []question
	}{
		{"one name", `allow: "web01"`, []question{{client("web01"), "", true}, {client("WEB01"), "", true}, {client("web02"), "", false}, {client(""), "", false}, {forged, "", false}}},
		{"a list", `allow: [web01, "b.example.com"]`, []question{{client("web01"), "", true}, {client("B.Example.com"), "", true}, {client("c.example.com"), "", false}}},
		{"everybody", `allow: "*"`, []question{{client("web01"), "", true}, {forged, "", false}, {client(""), "", false}}},
		{"a glob", `allow: "*.Example.com"`, []question{{client("a.example.com"), "", true}, {client("a.b.example.com"), "", true}, {client("example.com"), "", true}, {client("badexample.com"), "", false}}},
		{"a pattern", `allow: "/^web\\d+$/"`, []question{{client("web01"), "", true}, {client("xweb01"), "", false}, {client("WEB01"), "", false}}},
		{"deny wins", `allow: "*", deny: "web01"`, []question{{client("web01"), "", false}, {client("web02"), "", true}}},
		{"deny alone allows nobody", `deny: "web01"`, []question{{client("web01"), "", false}, {client("web02"), "", false}}},
		{"a map of a name", `allow: { certname: "web01" }`, []question{{client("web01"), "", true}, {client("web02"), "", false}}},
		{"an extension", `allow: { extensions: { pp_env: [prod, test] } }`, []question{{env, "", true}, {client("web01"), "", false}, {admin, "", false}}},
		{"all extensions", `allow: { extensions: { pp_env: test, pp_image: b } }`, []question{{env, "", false}}},
		{"alternative names count", `allow: "alias.example.com"`, []question{{dns, "", true}}},
		{"subject-alt-name", `allow: { extensions: { subject-alt-name: { dns-name: x, ip: ["192.0.2.8", "192.0.2.9"] } } }`, []question{{dns, "", true}, {client("web01"), "", false}}},
		{"an upper-case name without a dot fits nobody", `allow: "Web01"`, []question{{client("Web01"), "", false}, {client("web01"), "", false}}},
		{"unauthenticated", `allow-unauthenticated: true`, []question{{client(""), "", true}, {forged, "", true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := authconf.Parse("auth.conf", wrap(`{ name: a, sort-order: 1, match-request: { path: "/x", type: path }, `+tt.rule+` }`))
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range tt.ask {
				if d := c.Decide(authconf.Request{Method: "GET", Path: "/x", Client: q.name}); d.Allowed != q.want {
					t.Errorf("%s: got %v (%s), want %v", q.name, d.Allowed, d.Why, q.want)
				}
			}
		})
	}
}

func TestBackReferences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		allow, path, name string
		want              bool
	}{
		{"$1", "/x/web01", "web01", true},
		{"$1", "/x/WEB01", "web01", true},
		{"$1", "/x/web02", "web01", false},
		{"$1", "/x/*", "web01", false}, // a name from a path is never a wildcard
		{"$1", "/x/*.com", "a.com", false},
		{"$1.example.com", "/x/web01", "web01.example.com", true},
		{"*.$1", "/x/example.com", "web01.example.com", true},
		{"/^$1-/", "/x/web", "web-01", true},
		{"/^$1-/", "/x/.*", "web-01", false},
	} {
		c, err := authconf.Parse("auth.conf", wrap(`{ name: a, sort-order: 1, match-request: { path: "^/x/([^/]+)$", type: regex }, allow: "`+tt.allow+`" }`))
		if err != nil {
			t.Fatal(err)
		}
		if d := c.Decide(authconf.Request{Method: "GET", Path: tt.path, Client: client(tt.name)}); d.Allowed != tt.want {
			t.Errorf("allow %s, %s asks for %s: got %v (%s), want %v", tt.allow, tt.name, tt.path, d.Allowed, d.Why, tt.want)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	c, err := authconf.Parse("conf.d/auth.conf", `
authorization {
  version: 1
  allow-header-cert-info: true
  rules: [
    { name: late,   sort-order: 900, allow: "*",   match-request { path: "/", type: path } }
    { name: "b",    sort-order: 100, allow: "web", match-request { path: "/x", type: path, method: GET } }
    { name: "a",    sort-order: 100, allow: "db",  match-request { path: "/x", type: path, query-params { environment: [dev, test] } } }
  ]
}`)
	if err != nil {
		t.Fatal(err)
	}
	if !c.HeaderCertInfo {
		t.Error("allow-header-cert-info is lost")
	}
	for _, tt := range []struct {
		method, query, name string
		want                string
	}{
		{"GET", "environment=dev", "db", "yes a"},
		{"GET", "environment=dev", "web", "no a"},
		{"GET", "environment=prod&environment=test", "db", "yes a"},
		{"GET", "environment=prod", "web", "yes b"},
		{"GET", "", "db", "no b"},
		{"PUT", "", "db", "yes late"},
	} {
		q, _ := url.ParseQuery(tt.query)
		d := c.Decide(authconf.Request{Method: tt.method, Path: "/x/y", Query: q, Client: client(tt.name)})
		got := map[bool]string{true: "yes ", false: "no "}[d.Allowed] + d.Rule.Name
		if got != tt.want {
			t.Errorf("%s ?%s of %s: got %s, want %s", tt.method, tt.query, tt.name, got, tt.want)
		}
	}
	d := c.Decide(authconf.Request{Method: "GET", Path: "/x/y", Client: client("db")})
	if want := "Forbidden request: /x/y (method :get). Please see the server logs for details."; d.Refusal != want {
		t.Errorf("got %q, want %q", d.Refusal, want)
	}
	if want := "rule 'b' (conf.d/auth.conf:7, sort-order 100) refuses db(192.0.2.7), who is not of those allowed (web): get /x/y"; d.Why != want {
		t.Errorf("got %q, want %q", d.Why, want)
	}
	d = (&authconf.Config{File: "none"}).Decide(authconf.Request{Method: "GET", Path: "/x", Client: client("db")})
	if d.Allowed || d.Refusal != "global deny all - no rules matched" || !strings.Contains(d.Why, "no rule of none fits") {
		t.Errorf("without rules: got %+v", d)
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	rule := func(s string) string { return wrap("\n{ " + s + " }") }
	const match = `match-request: { path: "/x", type: path }`
	tests := []struct{ name, file, want string }{
		{"empty", ``, "f:1: there is no section authorization"},
		{"not closed", "authorization {\n", "f:2: the map that begins on line 1 has no end"},
		{"list not closed", "authorization { version: 1, rules: [\n", "f:2: the list that begins on line 1"},
		{"text not closed", "a: \"b\nc", "f:1: a text in quotes goes over the end of its line"},
		{"long text not closed", "a: \"\"\"b\nc", `want """`},
		{"no value", "a:\n", "want a value"},
		{"no separator", "a b\n", "want = or : or {"},
		{"empty key", ".a: 1", "empty part"},
		{"reference", "a: ${b}", "references are not read here"},
		{"bare reference", rule(`allow: $1`), "text with $ needs quotes"},
		{"include", "include \"x.conf\"", "include is not read here"},
		{"escape", `a: "\q"`, `\q is no escape`},
		{"escape u", `a: "\u12"`, "four hexadecimal digits"},
		{"two commas", "a: [1,,2]", "two commas"},
		{"no comma", "a: [\"b\" {}]", "want a comma or a new line"},
		{"deep", strings.Repeat("a{", 100), "more than 32 levels"},
		{"deep lists", "a:" + strings.Repeat("[", 100), "more than 32 levels"},
		{"deep key", strings.Repeat("a.", 100) + "a: 1", "more than 32 parts"},
		{"many keys", "\n" + strings.Repeat("a: 1\n", 5) + manyKeys(), "f:1006: a map has more than 1000 keys"},
		{"large", strings.Repeat("#", 2<<20), "larger than"},
		{"not UTF-8", "a: \xff", "not UTF-8"},
		{"after the end", "{} x", "after the end of the map"},
		{"+= to text", "a: b\na += c", "+= to"},
		{"version", "authorization { version: 2, rules: [] }", "version must be 1"},
		{"rules", "authorization { version: 1, rules: x }", "rules must be a list, got text"},
		{"no rules", "authorization { version: 1 }", "no list of rules"},
		{"header info", "authorization { version: 1, allow-header-cert-info: maybe, rules: [] }", "must be true or false"},
		{"no name", rule(`sort-order: 1`), "f:2: the rule has no name"},
		{"same name", wrap(`{name: a, sort-order: 1, allow: b, ` + match + "},\n" + `{name: a, sort-order: 1, allow: b, ` + match + `}`), "f:2: a rule at f:1 is called \"a\", too"},
		{"no order", rule(`name: a, allow: b, ` + match), "has no sort-order"},
		{"order", rule(`name: a, sort-order: 1000, allow: b, ` + match), "from 1 to 999"},
		{"order as text", rule(`name: a, sort-order: "1", allow: b, ` + match), "from 1 to 999"},
		{"no match", rule(`name: a, sort-order: 1, allow: b`), "has no match-request"},
		{"no path", rule(`name: a, sort-order: 1, allow: b, match-request: { type: path }`), "has no path"},
		{"no type", rule(`name: a, sort-order: 1, allow: b, match-request: { path: "/" }`), "has no type"},
		{"type", rule(`name: a, sort-order: 1, allow: b, match-request: { path: "/", type: glob }`), "must be path or regex"},
		{"regex", rule(`name: a, sort-order: 1, allow: b, match-request: { path: "(?=x)", type: regex }`), "those of RE2"},
		{"method", rule(`name: a, sort-order: 1, allow: b, match-request: { path: "/", type: path, method: patch }`), `method "patch"`},
		{"no methods", rule(`name: a, sort-order: 1, allow: b, match-request: { path: "/", type: path, method: [] }`), "methods of rule"},
		{"no entry", rule(`name: a, sort-order: 1, ` + match), "neither allow nor deny"},
		{"open and closed", rule(`name: a, sort-order: 1, allow: b, allow-unauthenticated: true, ` + match), "neither allow nor deny"},
		{"open as text", rule(`name: a, sort-order: 1, allow-unauthenticated: "true", ` + match), "must be true or false"},
		{"group", rule(`name: a, sort-order: 1, allow: "$2", match-request: { path: "/(x)", type: regex }`), "refers to $2, and its path has 1 groups"},
		{"group of a path", rule(`name: a, sort-order: 1, allow: "$1", ` + match), "has 0 groups"},
		{"entry", rule(`name: a, sort-order: 1, allow: "a b", ` + match), "neither a name"},
		{"entry number", rule(`name: a, sort-order: 1, allow: 7, ` + match), "must be a name"},
		{"entry pattern", rule(`name: a, sort-order: 1, allow: "/(/", ` + match), "missing closing )"},
		{"entry map", rule(`name: a, sort-order: 1, allow: {}, ` + match), "exactly one of certname and extensions"},
		{"no extension", rule(`name: a, sort-order: 1, allow: { extensions: {} }, ` + match), "would fit everybody"},
		{"rbac", rule(`name: a, sort-order: 1, allow: { rbac: { permission: "a:b:c" } }, ` + match), "Puppet Enterprise"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := authconf.Parse("f", tt.file)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v, want an error with %q", c, err, tt.want)
			}
		})
	}
}

func manyKeys() string {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

// TestHOCON reads one file in many spellings.
func TestHOCON(t *testing.T) {
	t.Parallel()
	want, err := authconf.Parse("f", wrap(`{ name: "a b", sort-order: 5, match-request: { path: "/x", type: path, method: [get, put] }, allow: "c" }`))
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"JSON":       `{"authorization":{"version":1,"rules":[{"name":"a b","sort-order":5,"match-request":{"path":"/x","type":"path","method":["get","put"]},"allow":"c"}]}}`,
		"crlf":       "authorization.version = 1\r\nauthorization.rules = [\r\n{ name = a b, sort-order: 5\r\nmatch-request { path: \"/x\"\r\ntype: path\r\nmethod = [\r\n get\r\n put\r\n] }, allow: c }\r\n]\r\n",
		"merged":     "authorization { version: 2 }\nauthorization { version: 1 } // x\n# y\nauthorization.rules += { name: a\"\"\" b\"\"\", sort-order: 5, match-request.path: /x\n match-request.type: path, match-request { method: [get] [put] }, allow: c, }",
		"byte order": "\ufeffauthorization { version: 1, rules: [ { name: \"a\\u0020b\", \"sort-order\": 5, match-request: {path: \"/\"x, type: path} { method: [ get, put, ] }, allow: \"c\" } ] }",
	} {
		got, err := authconf.Parse("f", file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range got.Rules {
			got.Rules[i].Source = want.Rules[i].Source
		}
		if diff := cmp.Diff(want.Rules, got.Rules, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".entries" || p.Last().String() == ".pattern" }, cmp.Ignore())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	c, err := authconf.Parse("f", wrap(`{ name: a, sort-order: 1, alow: x, match-request: { path: "/x", type: path }, allow: "Web" }`))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(c.Warnings, "\n")
	for _, want := range []string{`f:1: rule "a" has a key "alow", which means nothing`, `allow "Web" of rule "a" fits nobody`} {
		if !strings.Contains(all, want) {
			t.Errorf("got %q, want it to have %q", all, want)
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := authconf.Load(filepath.Join(dir, "absent")); !os.IsNotExist(unwrapped(err)) {
		t.Errorf("got %v", err)
	}
	if _, err := authconf.Load(dir); err == nil {
		t.Error("a directory was read")
	}
	file := filepath.Join(dir, "auth.conf")
	if err := os.WriteFile(file, []byte(wrap("")), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := authconf.Load(file); err != nil || c.File != file || len(c.Rules) != 0 {
		t.Errorf("got %v, %v", c, err)
	}
}

func unwrapped(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || os.IsNotExist(err) {
			return err
		}
		err = u.Unwrap()
	}
}

// FuzzParse: no file is a panic or takes long, and every rule that was read
// can be asked.
func FuzzParse(f *testing.F) {
	f.Add(wrap(`{ name: a, sort-order: 1, allow: ["$1", { extensions: { pp_env: x } }], match-request: { path: "^/(.*)$", type: regex, query-params: { a: b } } }`), "/x", "web01")
	f.Add("a.\"b\".c += \"\"\"x\"\"\"\"\nd { e = 1 } # f", "/", "")
	f.Add(`include "x"`, "", "")
	if b, err := os.ReadFile("default.conf"); err == nil {
		f.Add(string(b), "/puppet/v3/catalog/a", "a")
	}
	f.Fuzz(func(t *testing.T, file, path, name string) {
		c, err := authconf.Parse("f", file)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("%v has no place", err)
			}
			return
		}
		d := c.Decide(authconf.Request{Method: "GET", Path: path, Client: client(name)})
		if d.Allowed != (d.Refusal == "") || d.Why == "" {
			t.Fatalf("got %+v", d)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	c := authconf.Default()
	for _, path := range []string{"/puppet/v3/catalog/web01", "/puppet/v3/file_content/modules/a/b", "/x"} {
		b.Run(strings.ReplaceAll(path, "/", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Decide(authconf.Request{Method: "GET", Path: path, Client: client("web01")})
			}
		})
	}
}
