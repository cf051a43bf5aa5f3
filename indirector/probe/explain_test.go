package probe_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/probe"
	"indirtui/traces"
)

// A fact is something that a probe has reported of a request, or of its process.
type fact func(*traces.Trace, *probe.Process)

func asks(verb traces.Verb, indirection, key string) fact {
	return func(t *traces.Trace, _ *probe.Process) { t.Verb, t.Indirection, t.Key = verb, indirection, key }
}

func of(indirection string) fact {
	return func(t *traces.Trace, _ *probe.Process) { t.Indirection = indirection }
}

func key(key string) fact { return func(t *traces.Trace, _ *probe.Process) { t.Key = key } }

// terminus is the one that is routed.
func terminus(name string) fact {
	return func(t *traces.Trace, _ *probe.Process) {
		t.Primary = traces.Slot{{Terminus: name, Source: "routes.yaml:3"}}
	}
}

func answer(step traces.Step, a traces.Answer, about string) fact {
	return func(t *traces.Trace, _ *probe.Process) {
		t.Steps[step].Answer, t.Steps[step].Because.About = a, about
	}
}

func nothing() fact       { return answer(traces.Terminus, traces.Nothing, "") }
func found(n string) fact { return answer(traces.Terminus, traces.OK, n) }
func fails(error string) fact {
	return func(t *traces.Trace, _ *probe.Process) {
		t.Error = error
		t.Faults = []traces.Fault{{Step: traces.Terminus, Message: error, Shown: true}}
	}
}

// work is a span of a step, with names and values of attributes.
func work(step traces.Step, kind traces.Kind, name string, attrs ...string) fact {
	s := traces.Span{Step: step, Kind: kind, Name: name}
	for pair := range slices.Chunk(attrs, 2) {
		s.Attrs = append(s.Attrs, traces.Attr{Key: pair[0], Value: pair[1]})
	}
	return func(t *traces.Trace, _ *probe.Process) { t.Spans = append(t.Spans, s) }
}

func passes(to, answer string) fact {
	return func(t *traces.Trace, _ *probe.Process) {
		t.Spans = append(t.Spans, traces.Span{
			Step: traces.Terminus, Kind: traces.Choose, Answer: answer, Attrs: []traces.Attr{{Key: traces.AttrTerminus, Value: to}},
		})
	}
}

func noWork(t *traces.Trace, _ *probe.Process) { t.Spans = nil }

func cached(name string) fact {
	return func(t *traces.Trace, _ *probe.Process) {
		t.Served, t.Cache = traces.ByCache, traces.Slot{{Terminus: name}}
	}
}

func option(name string) fact {
	return func(t *traces.Trace, _ *probe.Process) { t.Options = []traces.Option{{Name: name}} }
}

func runs(puppet string) fact { return func(_ *traces.Trace, p *probe.Process) { p.Puppet = puppet } }

func application(name string) fact {
	return func(t *traces.Trace, _ *probe.Process) { t.Application = name }
}

func setting(name, value, place string) fact {
	return func(_ *traces.Trace, p *probe.Process) {
		p.Settings = append(p.Settings, [3]string{name, value, place})
	}
}

func noSettings(_ *traces.Trace, p *probe.Process) { p.Settings = nil }

// explanations are facts that explain a request, and others on top of which they do
// not.
var explanations = []struct {
	name  string
	facts []fact
	want  string
	not   map[string]fact
}{
	{
		"an empty classifier",
		[]fact{asks(traces.Find, "node", "n1"), terminus("exec"), nothing()},
		traces.EmptyClassifier,
		map[string]fact{"another indirection": of("catalog"), "another terminus": terminus("plain"), "an answer": found("")},
	},
	{
		"a classifier that fails",
		[]fact{asks(traces.Find, "node", "n1"), terminus("exec"), fails("no"), work(traces.Terminus, traces.Exec, "exec enc", "command", "/enc", "exit", "3", "stderr", "no db")},
		`the classifier failed (exit 3): "no db", which Puppet does not show`,
		map[string]fact{"another indirection": of("facts"), "a terminus that runs something else": terminus("mine"), "not seen": noWork},
	},
	{
		"an empty file",
		[]fact{asks(traces.Find, "node", "n1"), terminus("yaml"), answer(traces.Terminus, traces.False, ""), work(traces.Terminus, traces.File, "read n1.yaml", "path", "/n1.yaml", "bytes", "0")},
		traces.EmptyYAML,
		map[string]fact{"not seen": noWork, "another answer": nothing()},
	},
	{
		"another environment",
		[]fact{asks(traces.Find, "catalog", "n1"), terminus("compiler"), environment("production"), found(""), work(traces.Terminus, traces.Note, "an empty catalog", traces.AttrEnvironment, "qa")},
		traces.OtherEnvironment("n1", "qa", "production"),
		map[string]fact{"not empty": noWork, "the same": environment("qa"), "not known": environment(""), "of another terminus": terminus("rest")},
	},
	{
		"a catalog of YAML",
		[]fact{asks(traces.Find, "catalog", "n1"), runs("8.4.0"), terminus("rest"), cached("yaml")},
		traces.YAMLCatalog,
		map[string]fact{"an older Puppet": runs("5.5.22"), "a newer one": runs("80.1.0"), "one that is not known": runs(""), "of JSON": cached("json"), "facts": of("facts")},
	},
	{
		"a search of YAML files",
		[]fact{asks(traces.Search, "node", "n1"), terminus("yaml"), found("0")},
		traces.YAMLSearch("n1"),
		map[string]fact{"found": found("1"), "no count": found(""), "a pattern": key("n*"), "a file": key("n1.yaml"), "another terminus": terminus("json"), "facts": of("facts")},
	},
	{
		"a search for a part of a fact",
		[]fact{asks(traces.Search, "facts", "x"), terminus("yaml"), found("0"), option("facts.os.family")},
		traces.NestedFact("os", "family"),
		map[string]fact{"found": found("2"), "an operator": option("facts.os.eq"), "a whole fact": option("facts.os"), "no fact": option("meta.os.family"), "another terminus": terminus("puppetdb"), "another indirection": of("node")},
	},
	{
		"two stores",
		[]fact{asks(traces.Find, "node", "n1"), twins("memory"), nothing()},
		`"memory" from routes.yaml:3 and :memory from code are two different stores`,
		map[string]fact{"one": terminus("memory"), "files, which are the same": twins("json"), "an answer": found("")},
	},
	{
		"a destroy that saves",
		[]fact{asks(traces.Destroy, "node", "n1"), terminus("store_configs"), passes("puppetdb", "save")},
		traces.DestroySaves,
		map[string]fact{"a save": asks(traces.Save, "node", "n1"), "not seen": noWork, "another terminus": terminus("mine")},
	},
	{
		"content for another path",
		[]fact{asks(traces.Find, "file_bucket_file", "sha256/12ab/etc/issue"), terminus("file"), nothing(), work(traces.Terminus, traces.File, "contents", "path", "/b")},
		traces.OtherPath("etc/issue"),
		map[string]fact{"not seen": noWork, "no path": key("sha256/12ab"), "the file terminus of contents": of("file_content"), "elsewhere": terminus("rest")},
	},
	{
		"another digest",
		[]fact{asks(traces.Find, "file_bucket_file", "md5/12ab"), terminus("file"), setting("digest_algorithm", "sha256", ""), fails(`Unsupported checksum type "md5"`)},
		traces.OtherDigest("md5", "sha256"),
		map[string]fact{"another error": fails("no"), "a setting that is not known": noSettings, "elsewhere": terminus("rest")},
	},
	{
		"a bucket here",
		[]fact{asks(traces.Save, "file_bucket_file", "sha256/12ab"), terminus("selector"), passes("file", "save")},
		traces.LocalBucket,
		map[string]fact{"a server": key("puppet://s1/12ab"), "the file terminus itself": terminus("file"), "another indirection": of("file_content")},
	},
	{
		"a bucket elsewhere",
		[]fact{asks(traces.Save, "file_bucket_file", "https://s1/12ab"), runs("7.23.0"), terminus("rest")},
		traces.IgnoredHost,
		map[string]fact{"an older Puppet": runs("6.28.0"), "one that is not known": runs(""), "no server": key("12ab"), "here": terminus("file")},
	},
	{
		"a source here",
		[]fact{asks(traces.Find, "file_metadata", "puppet:///modules/m/f"), terminus("selector"), passes("file_server", "find"), application("apply"), setting("default_file_terminus", "file_server", "application apply")},
		traces.LocalSource("apply"),
		map[string]fact{"a setting that is not known": noSettings, "a server": key("puppet://s1/modules/m/f"), "the file server itself": terminus("file_server")},
	},
	{
		"a source here by a setting",
		[]fact{asks(traces.Find, "file_content", "puppet:///modules/m/f"), terminus("selector"), passes("file_server", "find"), setting("default_file_terminus", "file_server", "puppet.conf:2 [main]")},
		traces.LocalSourceBy("setting default_file_terminus, puppet.conf:2 [main]"), nil,
	},
	{
		"a percent code",
		[]fact{asks(traces.Find, "file_metadata", "modules/m/a%20%b"), terminus("file_server"), nothing()},
		"%20 is taken literally: write a space in the source",
		map[string]fact{"none": key("modules/m/100%"), "found": found(""), "a server, which decodes": terminus("rest")},
	},
	{
		"no mount",
		[]fact{asks(traces.Find, "file_metadata", "no/f"), runs("7.23.0"), terminus("file_server"), fails("no"), answer(traces.Authorize, traces.Denied, "")},
		traces.NoMount("no"),
		map[string]fact{"a Puppet with rules": runs("6.28.0"), "one that is not known": runs(""), "a save": asks(traces.Save, "file_metadata", "no/f"), "allowed": answer(traces.Authorize, traces.Allowed, ""), "another terminus": terminus("file")},
	},
	{
		"a file of an older Puppet",
		[]fact{asks(traces.Find, "node", "n1"), terminus("yaml"), fails("Tried to load unspecified class: Time")},
		traces.OlderYAML,
		map[string]fact{"another class": fails("Tried to load unspecified class: Object"), "another error": fails("no")},
	},
	{
		"no directory",
		[]fact{asks(traces.Save, "node", "n1"), terminus("yaml"), fails("No such file or directory @ dir_s_mkdir - /var/yaml/node")},
		traces.NoYAMLDir("/var/yaml/node"),
		map[string]fact{"another terminus": terminus("json"), "another error": fails("No such file or directory @ rb_sysopen - /var/yaml/node")},
	},
	{
		"a 404",
		[]fact{asks(traces.Find, "node", "n1"), terminus("rest"), nothing(), work(traces.Terminus, traces.Network, "GET https://s1:8140/puppet/v3/node/n1", "status", "404 Not Found", "< Content-Type", "application/json", "body", `{"message":"Not Found: Could not find node n1","issue_kind":"RESOURCE_NOT_FOUND"}`)},
		"the server (s1:8140) has no node n1: 404",
		map[string]fact{"an answer": found(""), "not seen": noWork, "another server": terminus("http")},
	},
	{
		"no format",
		[]fact{asks(traces.Find, "node", "n1"), terminus("rest"), setting("server", "s1", "puppet.conf:2 [main]"), fails("no"), work(traces.Terminus, traces.Network, "GET https://s1:8140/x", "status", "200 OK", "< Content-Type", "text/html")},
		"text/html is not a format of Puppet: s1:8140, setting server (puppet.conf:2 [main]) answered 200 with text/html: " + traces.ProxyInTheWay,
		map[string]fact{"not seen": noWork, "another server": terminus("http")},
	},
	{
		"no checksum",
		[]fact{asks(traces.Find, "file_metadata", "http://s1/f"), terminus("http"), found(""), work(traces.Terminus, traces.Network, "HEAD http://s1/f", "status", "200 OK")},
		traces.NoValidators,
		map[string]fact{"a date": work(traces.Terminus, traces.Network, "HEAD http://s1/f", "status", "200 OK", "< Last-Modified", "x"), "contents": of("file_content"), "Puppet's server": terminus("rest")},
	},
	{
		"no PuppetDB",
		[]fact{asks(traces.Find, "facts", "n1"), terminus("puppetdb"), fails("no"), failed("GET https://s1:8081/x", "connection refused")},
		traces.NoPuppetDB("s1:8081: connection refused"),
		map[string]fact{"an answer": work(traces.Terminus, traces.Network, "GET https://s2:8081/x", "status", "500 no"), "not seen": noWork, "another terminus": terminus("mine")},
	},
	{
		"a file that was written late",
		[]fact{
			asks(traces.Find, "node", "n1"), terminus("plain"), found(""), answer(traces.Expiry, traces.Expired, "2026-01-02T03:00:00Z, 5 hours ago"),
			work(traces.CacheRead, traces.File, "read", traces.AttrWritten, "2026-01-02T04:00:00Z"), start("2026-01-02T08:00:00Z"),
		},
		"the file was written 60 min after it had expired: it was copied, or two clocks disagree",
		map[string]fact{"not expired": answer(traces.Expiry, traces.OK, ""), "no time": answer(traces.Expiry, traces.Expired, "long ago"), "not seen": noWork},
	},
}

func environment(name string) fact {
	return func(t *traces.Trace, _ *probe.Process) { t.Environment = name }
}

func start(at string) fact {
	return func(t *traces.Trace, _ *probe.Process) { t.Start, _ = time.Parse(time.RFC3339, at) }
}

// twins are a terminus for the string and one for the symbol.
func twins(name string) fact {
	return func(t *traces.Trace, _ *probe.Process) {
		t.Primary = traces.Slot{{Terminus: name, Source: "routes.yaml:3"}, {Terminus: name, Source: "node.rb:1", Symbol: true}}
	}
}

func failed(name, err string) fact {
	return func(t *traces.Trace, _ *probe.Process) {
		t.Spans = append(t.Spans, traces.Span{Step: traces.Terminus, Kind: traces.Network, Name: name, Err: err})
	}
}

// explained is what explains a request of these facts; "" if nothing does.
func explained(facts ...fact) string {
	t, p := new(traces.Trace), new(probe.Process)
	for _, f := range facts {
		f(t, p)
	}
	probe.Explain(t, p)
	var all []string
	for _, n := range t.Notes {
		all = append(all, n.Text)
	}
	return strings.Join(all, "\n")
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, tt := range explanations {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := explained(tt.facts...); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			for _, name := range slices.Sorted(maps.Keys(tt.not)) {
				if got := explained(append(slices.Clip(tt.facts), tt.not[name])...); got == tt.want {
					t.Errorf("%s: %q must not be claimed", name, got)
				}
			}
		})
	}
}

// TestExplainServer asks which server an error is from: a setting is named only where
// it is the one that named the server.
func TestExplainServer(t *testing.T) {
	t.Parallel()
	facts := []fact{
		asks(traces.Find, "node", "n1"), terminus("rest"), fails("no"), setting("server", "s1", "puppet.conf:2"), setting("server_list", "", "default"),
		work(traces.Terminus, traces.Network, "GET https://s1:8140/x", "status", "500 Bad"),
	}
	for _, tt := range []struct {
		name string
		also fact
		want string
	}{
		{"the server", func(*traces.Trace, *probe.Process) {}, "s1:8140, setting server (puppet.conf:2) answered 500 Bad"},
		{"one of a list", func(_ *traces.Trace, p *probe.Process) { p.Settings[1][2] = "puppet.conf:3" }, "s1:8140, setting server_list (puppet.conf:3) answered 500 Bad"},
		{"of reports, not known", of("report"), "s1:8140 answered 500 Bad"},
		{"of certificates", of("certificate"), "s1:8140 answered 500 Bad"},
		{"of another terminus", terminus("puppetdb"), "s1:8140 answered 500 Bad"},
		{"settings that are not known", noSettings, "s1:8140 answered 500 Bad"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, p := new(traces.Trace), new(probe.Process)
			for _, f := range append(slices.Clip(facts), tt.also) {
				f(r, p)
			}
			probe.Explain(r, p)
			if got, _, _ := strings.Cut(r.Faults[0].Hidden, "\n"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
