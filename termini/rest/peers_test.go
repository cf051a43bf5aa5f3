package rest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/traces"
)

// peer returns settings of an agent of the running Puppet Server, and its
// ssldir.
func peer(t *testing.T) (clienttest.Settings, string) {
	t.Helper()
	dir := os.Getenv("INDIRTUI_PEERS")
	if dir == "" {
		t.Skip("INDIRTUI_PEERS is not set: there is no real Puppet Server to talk to; start one with .ci/peers/stack.sh up")
	}
	cmd := exec.Command("../../.ci/peers/stack.sh", "env")
	cmd.Env = append(os.Environ(), "PEERS_DIR="+dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		env[name] = strings.Trim(value, `"'`)
	}
	name := env["PEERS_CERTNAME"]
	ssldir := t.TempDir()
	copyFile := func(to, from string) string {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(ssldir, to)
		clienttest.WriteFile(t, path, b)
		return path
	}
	return clienttest.Settings{
		"certname": name, "localcacert": copyFile("certs/ca.pem", env["PEERS_CA"]), "hostcrl": copyFile("crl.pem", env["PEERS_CRL"]),
		"hostcert": copyFile("certs/"+name+".pem", env["PEERS_CERT"]), "hostprivkey": copyFile("private_keys/"+name+".pem", env["PEERS_KEY"]),
		"certificate_revocation": "chain", "http_connect_timeout": "120", "http_read_timeout": "600", "preferred_serialization_format": "json",
		"http_user_agent": "Puppet/7.23.0 Ruby/3.1.2-p20 (x86_64-linux-gnu)", "runinterval": "1800",
	}.At(t, env["PUPPETSERVER_URL"]), ssldir
}

// TestPeer asks a real Puppet Server, as Puppet's client does: both must get the
// same. Issue 4.
func TestPeer(t *testing.T) {
	t.Parallel()
	settings, ssldir := peer(t)
	puppet := ruby(t, ssldir)
	name := settings["certname"]
	ours := newEngine(t, settings)
	toPuppet := map[string]string{"http_extra_headers": "", "server_list": "", "no_proxy": "localhost, 127.0.0.1"}
	for _, s := range []string{"server", "serverport", "report_server", "report_port", "localcacert", "hostcrl", "hostcert", "hostprivkey", "certificate_revocation", "http_read_timeout"} {
		toPuppet[s] = settings[s]
	}
	facts := &model.Facts{Name: name, Values: data.OfHash([]data.Pair{
		data.P("clientcert", data.OfString(name)), data.P("fqdn", data.OfString(name)), data.P("hostname", data.OfString("agent01")),
		data.P("kernel", data.OfString("Linux")), data.P("motto", data.OfString("é & 100% +")),
		data.P("networking", data.OfHash([]data.Pair{data.P("fqdn", data.OfString(name))})), data.P("peers_target", data.OfString("/srv/peers-target")),
	})}
	file, err := model.NewFileBucketFile("sha256", []byte("kept by a test of the rest terminus\n"))
	if err != nil {
		t.Fatal(err)
	}
	report := parse("report", fmt.Sprintf(`{"host":%q,"time":"2026-01-02T03:04:05.000000000Z","configuration_version":1,"transaction_uuid":"u","report_format":12,"puppet_version":"7.23.0","status":"unchanged","transaction_completed":true,"noop":false,"noop_pending":false,"environment":"production","logs":[],"metrics":{},"resource_statuses":{},"corrective_change":false}`, name))
	absent := "sha256/" + strings.Repeat("0", 64)
	for _, o := range []op{
		{name: "node", indirection: "node", verb: "find", key: name},
		{name: "node of another", indirection: "node", verb: "find", key: "other.example.com"},
		{name: "node in no environment", indirection: "node", verb: "find", key: name, environment: "nosuch"},
		{name: "save facts", indirection: "facts", verb: "save", key: name, instance: facts},
		{name: "facts", indirection: "facts", verb: "find", key: name},
		{name: "catalog", indirection: "catalog", verb: "find", key: name, facts: facts},
		{name: "static catalog", indirection: "catalog", verb: "find", key: name, facts: facts, options: map[string]any{"static_catalog": true, "transaction_uuid": "u"}},
		{name: "catalog in staging", indirection: "catalog", verb: "find", key: name, facts: facts, environment: "staging"},
		{name: "catalog that does not compile", indirection: "catalog", verb: "find", key: name, facts: facts, environment: "broken"},
		{name: "catalog without facts, as puppet catalog find asks for it", indirection: "catalog", verb: "find", key: name},
		{name: "metadata", indirection: "file_metadata", verb: "find", key: "puppet:///modules/demo/hello.txt"},
		{name: "metadata of nothing", indirection: "file_metadata", verb: "find", key: "puppet:///modules/demo/nothing"},
		{name: "metadata of nothing fails", indirection: "file_metadata", verb: "find", key: "puppet:///modules/demo/nothing", flags: traces.FailOn404},
		{name: "metadata below", indirection: "file_metadata", verb: "search", key: "puppet:///modules/demo/tree", options: map[string]any{"recurse": true, "checksum_type": "md5", "ignore": []string{"*.skip"}}},
		{name: "metadata below nothing", indirection: "file_metadata", verb: "search", key: "puppet:///modules/nosuch/tree"},
		{name: "content", indirection: "file_content", verb: "find", key: "puppet:///modules/demo/hello.txt"},
		{name: "content of an odd name", indirection: "file_content", verb: "find", key: "puppet:///modules/demo/tree/name with spaces.txt"},
		{name: "content of nothing", indirection: "file_content", verb: "find", key: "puppet:///modules/demo/nothing"},
		{name: "content of a directory", indirection: "file_content", verb: "find", key: "puppet:///modules/demo/tree"},
		{name: "save a file", indirection: "file_bucket_file", verb: "save", key: file.Key(), instance: file},
		{name: "is it there", indirection: "file_bucket_file", verb: "head", key: file.Key()},
		{name: "get it", indirection: "file_bucket_file", verb: "find", key: file.Key()},
		{name: "is nothing there", indirection: "file_bucket_file", verb: "head", key: absent},
		{name: "get nothing", indirection: "file_bucket_file", verb: "find", key: absent},
		{name: "a bad key", indirection: "file_bucket_file", verb: "find", key: "sha256/zz"},
		{name: "report", indirection: "report", verb: "save", key: name, instance: report},
	} {
		t.Run(o.name, func(t *testing.T) {
			want, got := puppet.ask(t, &o, toPuppet), ours.ask(t, &o)
			if o.verb == "head" || o.indirection == "file_bucket_file" && o.verb == "save" {
				want.Value, got.Value = want.Value != nil, got.Value != nil
			}
			for _, v := range []any{want.Value, got.Value} {
				if m, ok := v.(map[string]any); ok {
					delete(m, "catalog_uuid") // of this compilation
					delete(m, "version")
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-Puppet +ours:\n%s", diff)
			}
		})
	}
}

// TestPeerKinds has a real server's nil of each kind. Gap L8, scenario S-18.
func TestPeerKinds(t *testing.T) {
	t.Parallel()
	settings, _ := peer(t)
	h := newEngine(t, settings)
	for _, tt := range []struct{ name, indirection, key, environment, want string }{
		{"instance", "file_metadata", "puppet:///modules/demo/nothing", "", "no such instance (RESOURCE_NOT_FOUND): Not Found: Could not find file_metadata modules/demo/nothing"},
		{"environment", "file_metadata", "puppet:///modules/demo/hello.txt", "nosuch", "no such environment (RUNTIME_ERROR): Not Found: Could not find environment 'nosuch'"},
		{"route", "facts", settings["certname"], "", "not answered by Puppet itself: Not Found"},
	} {
		t.Run("L8 "+tt.name, func(t *testing.T) {
			o := op{indirection: tt.indirection, verb: "find", key: tt.key, environment: tt.environment}
			_, err := h.Do(t.Context(), o.request())
			trace := h.recorder.last(t)
			if !isNotFound(err) || trace.Outcome != traces.NilHidden || !strings.Contains(trace.Steps[traces.Terminus].Because.About, tt.want) {
				t.Errorf("got %v, %v, %v; want %q", err, trace.Outcome, trace.Steps[traces.Terminus].Because, tt.want)
			}
		})
	}
}

// TestPeerForward names the client: a server that trusts the headers allows it;
// this one does not, and sees the proxy's certificate.
func TestPeerForward(t *testing.T) {
	t.Parallel()
	settings, _ := peer(t)
	name := settings["certname"]
	settings = settings.With("rest_forward", "certificate", "certdir", filepath.Dir(settings["hostcert"]), "privatekeydir", filepath.Dir(settings["hostprivkey"]))
	h := newEngine(t, settings)
	ask := func(remote string) error {
		req := &indirector.Request{
			Indirection: "node", Verb: indirector.Find, Key: name, Environment: "production", Terminus: "rest",
			Remote: &indirector.Remote{Node: remote, IP: "127.0.0.1", Authenticated: true},
		}
		_, err := h.Do(t.Context(), req)
		return err
	}
	if err := ask(name); err != nil {
		t.Error(err)
	}
	if err := ask("other.example.com"); err == nil || !strings.Contains(indirector.Message(err), "The private key is missing") {
		t.Errorf("without a key of that node: %v", err)
	}
}
