package traces_test

import (
	"strings"
	"testing"

	"indirtui/traces"
)

// Messages are those of Puppet 7.23 and Ruby 3.1, and of this program where it has
// words of its own.
func TestWrong(t *testing.T) {
	t.Parallel()
	facts := func(s traces.Step) traces.Trace {
		return traces.Trace{Verb: traces.Find, Indirection: "facts", Key: "n1", Cache: traces.Slot{{Terminus: "json"}}, Primary: traces.Slot{{Terminus: "yaml"}}, Faults: []traces.Fault{{Step: s}}}
	}
	read, asked, write := facts(traces.CacheRead), facts(traces.Terminus), facts(traces.CacheWrite)
	catalog, head, save := facts(traces.CacheRead), facts(traces.Terminus), facts(traces.Terminus)
	catalog.Indirection, head.Verb, save.Verb = "catalog", traces.Head, traces.Save
	const unparsed = "Could not parse JSON data for facts n1: Could not intern from json: "
	for _, tt := range []struct {
		name   string
		trace  traces.Trace
		fault  traces.Fault
		wanted string
	}{
		{"misspelt terminus", asked, traces.Fault{Message: "Could not find terminus yml for indirection node", Hidden: "nearest: yaml; there are: exec, yaml"}, "there is no terminus yml; did you mean yaml?"},
		{"no such terminus", asked, traces.Fault{Message: "Could not find terminus ldap for indirection node", Hidden: "there are: exec, yaml"}, "there is no terminus ldap of node; there are exec, yaml"},
		{"no such terminus, unknown which there are", asked, traces.Fault{Message: "Could not find terminus yml for indirection node"}, "there is no terminus yml of node"},
		{"a terminus of Puppet that is missing here", asked, traces.Fault{Message: "indirtui has no terminus ral yet; Puppet has"}, "indirtui has no terminus ral yet; Puppet has"},
		{"misspelt indirection", asked, traces.Fault{Message: "Could not find indirection 'factz'", Hidden: "nearest: facts"}, "there is no indirection factz; did you mean facts?"},

		{"a verb that is missing", head, traces.Fault{Message: "undefined method `head' for #<Puppet::Node::Facts::Yaml:0x00007f00432b2dd0>\n\n    !!(find_in_cache(request) || terminus.head(request))\n                                         ^^^^^"}, "terminus yaml cannot do head"},
		{"a verb that is missing, Ruby 3.4", head, traces.Fault{Message: "undefined method 'head' for an instance of Puppet::Node::Facts::Yaml"}, "terminus yaml cannot do head"},
		{"a verb that the cache lacks", write, traces.Fault{Message: "undefined method `save' for #<Puppet::Node::Facts::Json>"}, "the cache (json) cannot do save"},
		{"a method of another object", asked, traces.Fault{Message: "undefined method `head' for #<Hash>"}, "undefined method `head' for #<Hash>"},
		{"a method of nil", head, traces.Fault{Message: "undefined method `head' for nil:NilClass"}, "undefined method `head' for nil:NilClass"},

		{"a cache file that is cut off", read, traces.Fault{Message: unparsed + "unexpected end at line 1 column 41", Hidden: `the file has 40 bytes and begins with "{"`}, "the cached facts are no JSON: cut off at byte 40"},
		{"cut off, in the recording of another program", read, traces.Fault{Message: unparsed + "unexpected end at line 1 column 41"}, "the cached facts are no JSON: cut off in line 1, column 41"},
		{"cut off, in Ruby's words", read, traces.Fault{Message: unparsed + "451: unexpected token at ''"}, "the cached facts are no JSON: cut off"},
		{"a wrong token, which may be anywhere", read, traces.Fault{Message: unparsed + `859: unexpected token at '{"name":"n1","val'`}, `the cached facts are no JSON: unexpected token at '{"name":"n1","val'`},
		{"a wrong token", catalog, traces.Fault{Message: "Could not parse JSON data for catalog n1: Could not intern from rich_data_json: unexpected token at '1}' at line 1 column 9"}, "the cached catalog is no JSON: unexpected token at '1}' in line 1, column 9"},
		{"an empty file", read, traces.Fault{Message: unparsed + "859: unexpected token at ''", Hidden: "the file is empty"}, "the cached facts are no JSON: the file is empty"},
		{"JSON that is no facts", read, traces.Fault{Message: unparsed + "undefined method `[]' for nil:NilClass\n\n    @name = data['name']\n                ^^^^^^^^"}, "the cached facts cannot be read: undefined method `[]' for nil:NilClass"},
		{"YAML that is cut off", read, traces.Fault{Message: "Could not parse YAML data for facts n1: (/v/n1.yaml): found unexpected end of stream while scanning a quoted scalar at line 1 column 4", Hidden: `the file has 5 bytes and begins with "a: 'x"`}, "the cached facts are no YAML: cut off at byte 5"},
		{"YAML that may be cut off", asked, traces.Fault{Message: "Could not parse YAML data for facts n1: (/v/n1.yaml): did not find expected node content while parsing a flow node at line 2 column 1", Path: "/v/n1.yaml"}, "n1.yaml is no YAML: did not find expected node content while parsing a flow node in line 2, column 1"},
		{"MessagePack that is cut off", read, traces.Fault{Message: "Could not parse MessagePack data for facts n1: Could not intern from msgpack: end of buffer reached", Hidden: `the file has 3 bytes and begins with "a"`}, "the cached facts are no MessagePack: cut off at byte 3"},
		{"an answer that is no JSON", asked, traces.Fault{Message: "Failed to deserialize Puppet::Node from rich_data_json: unexpected end at line 1 column 9"}, "the answer is no JSON: cut off in line 1, column 9"},
		{"a classifier that prints no YAML", asked, traces.Fault{Message: "Could not load external node results for n1: (<unknown>): did not find expected node content while parsing a flow node at line 2 column 1"}, "the classifier printed no YAML: did not find expected node content while parsing a flow node in line 2, column 1"},
		{"a classifier that fails", asked, traces.Fault{Message: "Failed to find n1 via exec: Execution of '/etc/enc n1' returned 3: "}, "the classifier failed (exit 3)"},

		{"a directory where a file is replaced", write, traces.Fault{Message: "Is a directory @ rb_file_s_rename - (/v/state/.save-104, /v/state/last_run_report.yaml)", Path: "/v/state/last_run_report.yaml"}, "last_run_report.yaml is a directory"},
		{"a directory where Puppet replaces a file", write, traces.Fault{Message: "Is a directory - Is a directory: /v/state/last_run_report.yaml"}, "last_run_report.yaml is a directory"},
		{"a directory where a file is read", asked, traces.Fault{Message: "Could not read JSON data for facts n1: Is a directory @ io_fread - /v/facts/n1.json"}, "n1.json is a directory"},
		{"a file where a directory is", write, traces.Fault{Message: "Not a directory @ dir_s_mkdir - /v/client_data/catalog"}, "a file is in the way of the directory catalog"},
		{"a file where Puppet makes a directory", write, traces.Fault{Message: "File exists @ dir_s_mkdir - /v/client_data/catalog"}, "a file is in the way of the directory catalog"},
		{"a file above", asked, traces.Fault{Message: "Not a directory @ rb_sysopen - /v/f/n1.json"}, "a directory above n1.json is a file"},
		{"no permission", asked, traces.Fault{Message: "Permission denied @ rb_sysopen - /v/n1.json"}, "permission denied for n1.json"},
		{"no file", asked, traces.Fault{Message: "No such file or directory @ rb_sysopen - /v/n1.json"}, "there is no n1.json"},
		{"no directory to write to", save, traces.Fault{Message: "No such file or directory @ rb_sysopen - /v/no/n1.yaml"}, "the directory of n1.yaml does not exist"},
		{"no space for what is written under another name first", write, traces.Fault{Message: "No space left on device @ fptr_finalize_flush - /v/facts/.save-77", Path: "/v/facts/n1.json"}, "no space is left on the disk for n1.json"},
		{"no space, and no file is named", write, traces.Fault{Message: "No space left on device"}, "no space left on device"},
		{"read-only", write, traces.Fault{Message: "Read-only file system @ rb_sysopen - /v/n1.json"}, "n1.json is on a read-only file system"},
		{"too long", asked, traces.Fault{Message: "File name too long @ rb_sysopen - /v/nnn"}, "the file name nnn is too long"},
		{"a loop", asked, traces.Fault{Message: "Too many levels of symbolic links @ rb_sysopen - /v/l"}, "l is a symbolic link that leads back to itself"},
		{"an error of the system that has no sentence", asked, traces.Fault{Message: "Input/output error @ fptr_finalize_flush - /proc/version"}, "input/output error: version"},
		{"one that nothing knows", asked, traces.Fault{Message: "Device or resource busy @ rb_file_s_rename - (/a/b, /a/c)"}, "device or resource busy: c"},
		{"what was done when the system failed", asked, traces.Fault{Message: "Could not back up /etc/issue: Permission denied @ rb_sysopen - /b/contents"}, "Could not back up /etc/issue: permission denied for contents"},

		{"a report that got an error", save, traces.Fault{Origin: "terminus processor › http", Message: "Unable to submit report to http://h:80/up [500] Internal Server Error", Hidden: "database is locked\n"}, "the report processor http got error 500: database is locked"},
		{"a report that got a page", save, traces.Fault{Origin: "terminus processor › http", Message: "Unable to submit report to http://h:80/up [502] Bad Gateway", Hidden: "<html>"}, "the report processor http got error 502: Bad Gateway"},
		{"a report that was forbidden", save, traces.Fault{Origin: "terminus processor › http", Message: "Unable to submit report to http://h:80/up [403] Forbidden", Hidden: "the answer has no body"}, "the report processor http was refused (403): Forbidden"},
		{"a report that nothing took", save, traces.Fault{Origin: "terminus processor › http", Message: "Report processor failed: Request to http://127.0.0.1:1/up failed after 0.005 seconds: Failed to open TCP connection to 127.0.0.1:1 (Connection refused - connect(2) for \"127.0.0.1\" port 1)\nWrapped exception:\nFailed to open TCP connection to 127.0.0.1:1"}, "the report processor http was refused by 127.0.0.1:1"},
		{"a report that was waited for", save, traces.Fault{Origin: "terminus processor › http", Message: "Report processor failed: Request to http://h:80/up timed out read operation after 10.018 seconds"}, "the report processor http failed: no answer from h:80 within 10 s"},
		{"a report that is not stored", save, traces.Fault{Origin: "terminus processor › store", Message: "Could not write report for n1 at /r/n1/2026.yaml: Permission denied @ rb_sysopen - /r/n1/2026.yaml"}, "the report processor store failed: permission denied for 2026.yaml"},
		{"a report without a directory", save, traces.Fault{Origin: "terminus processor › store", Message: "Report processor failed: No such file or directory @ dir_s_mkdir - /proc/nope"}, "the report processor store failed: the directory of nope does not exist"},

		{"nothing listens", asked, traces.Fault{Message: `Request to https://puppet:8140/puppet/v3 failed after 0.001 seconds: Failed to open TCP connection to puppet:8140 (Connection refused - connect(2) for "puppet" port 8140)`}, "connection refused by puppet:8140"},
		{"nothing listens, without more", asked, traces.Fault{Message: `Failed to find facts for n1 to PuppetDB: Connection refused (connect(2) for "puppetdb" port 8081)`}, "connection refused by puppetdb:8081"},
		{"nothing listens, and where is hidden", asked, traces.Fault{Message: "Failed to find facts for n1 to PuppetDB: Connection refused", Hidden: `connect(2) for "puppetdb" port 8081`}, "connection refused by puppetdb:8081"},
		{"nothing listens, and it is not known where", asked, traces.Fault{Message: "Failed to find facts for n1 to PuppetDB: Connection refused"}, "connection refused"},
		{"no name", asked, traces.Fault{Message: "Request to https://nope.invalid:8140/x failed after 0.001 seconds: Failed to open TCP connection to nope.invalid:8140 (getaddrinfo: Name or service not known)"}, "the name nope.invalid has no address (DNS)"},
		{"no name server", asked, traces.Fault{Message: "Request to https://a.b:8140/x failed after 5.001 seconds: Failed to open TCP connection to a.b:8140 (getaddrinfo: Temporary failure in name resolution)"}, "the name a.b cannot be looked up now (DNS)"},
		{"no route", asked, traces.Fault{Message: "Request to https://h:1/x failed after 0.001 seconds: Failed to open TCP connection to h:1 (No route to host - connect(2) for \"h\" port 1)"}, "no connection to h:1: no route to host"},
		{"no connection in time", asked, traces.Fault{Message: "Request to https://h:8140 timed out connect operation after 120.003 seconds"}, "no connection to h:8140 within 120 s"},
		{"no answer in time", asked, traces.Fault{Message: "Request to http://h:8140/x timed out read operation after 1.018 seconds"}, "no answer from h:8140 within 1 s"},
		{"closed", asked, traces.Fault{Message: "Request to http://h:8140/x interrupted after 0.008 seconds"}, "h:8140 closed the connection before its answer was complete"},
		{"broken", asked, traces.Fault{Message: "Request to http://h:8140/x failed after 0.001 seconds: Connection reset by peer"}, "no answer from h:8140: connection reset by peer"},
		{"no HTTP", asked, traces.Fault{Message: `Request to http://h:8140/x failed after 0.006 seconds: wrong status line: "hello"`}, "h:8140 does not speak HTTP"},
		{"no TLS", asked, traces.Fault{Message: "Request to https://h:8140/x failed after 0.006 seconds: SSL_connect returned=1 errno=0 peeraddr=127.0.0.1:8140 state=error: wrong version number"}, "TLS with h:8140 failed: wrong version number"},
		{"an alert", asked, traces.Fault{Message: "Request to https://h:8140/x failed after 0.006 seconds: SSL_read: tlsv1 alert unknown ca"}, "TLS with h:8140 failed: tlsv1 alert unknown ca"},
		{"no trust", asked, traces.Fault{Message: "certificate verify failed [certificate has expired for CN=puppet]"}, "the certificate of CN=puppet is not trusted: certificate has expired"},
		{"another name", asked, traces.Fault{Message: "Server hostname '127.0.0.1' did not match server certificate; expected one of puppet, DNS:puppet.example.com"}, "the server's certificate is not for 127.0.0.1, but for puppet, DNS:puppet.example.com"},
		{"none of a list", asked, traces.Fault{Message: "No more routes to puppet"}, "no server could be reached (puppet)"},

		{"an error of the server's code", asked, traces.Fault{Message: "Error 500 on SERVER: Server Error: Evaluation Error: Unknown variable: 'role'. (file: /etc/code/environments/production/manifests/site.pp, line: 12, column: 3) on node web01"}, "Error 500: Unknown variable 'role', site.pp line 12"},
		{"in a module", asked, traces.Fault{Message: "Error 500 on SERVER: Server Error: Evaluation Error: Error while evaluating a Resource Statement, Unknown resource type: 'foo' (file: /etc/code/environments/production/site/role/manifests/init.pp, line: 2, column: 3) on node web01"}, "Error 500: Unknown resource type: 'foo', role/manifests/init.pp line 2"},
		{"an error of the server's files", asked, traces.Fault{Message: "Error 500 on SERVER: Server Error: Permission denied @ rb_sysopen - /v/n1.json"}, "Error 500: permission denied for n1.json"},
		{"forbidden", asked, traces.Fault{Message: "Error 403 on SERVER: Forbidden request: /puppet/v3/node/web01 (method :get). Please see the server logs for details."}, "Error 403: auth.conf of the server forbids GET of /puppet/v3/node/web01"},
		{"a proxy", asked, traces.Fault{Message: "Error 502 on SERVER: <html>Bad Gateway</html>"}, "Error 502: a page of HTML"},
		{"without a body", asked, traces.Fault{Message: "Error 500 on SERVER: "}, "Error 500"},
		{"no environment", asked, traces.Fault{Message: "Could not find a directory environment named 'qa2' anywhere in the path: /etc/code/environments. Does the directory exist?"}, "there is no environment qa2 in /etc/code/environments"},
		{"what is a sentence already", asked, traces.Fault{Message: "Could not find node 'db07.example.com'; cannot compile"}, "Could not find node 'db07.example.com'; cannot compile"},
		{"a body of somebody else", asked, traces.Fault{Message: "Permission denied @ rb_sysopen - /v/" + strings.Repeat("n", 5000)}, "Permission denied @ rb_sysopen - /v/" + strings.Repeat("n", 5000)},
		{"lines", asked, traces.Fault{Message: "one\ntwo\n"}, "one two"},
		{"nothing", asked, traces.Fault{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.fault.Step == 0 {
				tt.fault.Step = tt.trace.Faults[0].Step
			}
			if got := tt.trace.Wrong(&tt.fault); got != tt.wanted {
				t.Errorf("got  %s\nwant %s", got, tt.wanted)
			}
		})
	}
}

// A note that explains the failure knows more than the message, and belongs to one
// step.
func TestWrongIsExplained(t *testing.T) {
	t.Parallel()
	tr := traces.Trace{Notes: []traces.Remark{{Step: traces.Terminus, Explains: traces.AnyFailure, Text: "the classifier printed\nnonsense"}}}
	for step, want := range map[traces.Step]string{traces.Terminus: "the classifier printed nonsense", traces.CacheRead: "an error"} {
		if got := tr.Wrong(&traces.Fault{Step: step, Message: "an error"}); got != want {
			t.Errorf("%v: got %q, want %q", step, got, want)
		}
	}
}
