package puppetdbtest

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/network/client/clienttest"
)

// Stack returns the settings of a host that asks the real PuppetDB of the stack whose
// directory is INDIRTUI_PEERS, and writes its puppetdb.conf. The script is the way to
// stack.sh. Without a PuppetDB the test is skipped.
func Stack(t testing.TB, script string) clienttest.Settings {
	t.Helper()
	stack := os.Getenv("INDIRTUI_PEERS")
	if stack == "" {
		t.Skip("INDIRTUI_PEERS is not set: there is no real PuppetDB to talk to; start one with .ci/peers/stack.sh up full")
	}
	cmd := exec.Command(script, "env")
	cmd.Env = append(os.Environ(), "PEERS_DIR="+stack)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		env[name] = strings.Trim(value, `"'`)
	}
	u, err := url.Parse(env["PUPPETDB_URL"])
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialTimeout("tcp", u.Host, 5*time.Second)
	if err != nil {
		t.Skipf("the stack at %s has no PuppetDB: %v; start it with .ci/peers/stack.sh up full", stack, err)
	}
	conn.Close()
	dir := t.TempDir()
	clienttest.WriteFile(t, filepath.Join(dir, "puppetdb.conf"), []byte("[main]\nserver_urls = "+u.String()+"\n"))
	return clienttest.Settings{
		"confdir": dir, "certname": env["PEERS_CERTNAME"], "node_name_value": env["PEERS_CERTNAME"], "localcacert": env["PEERS_CA"], "hostcrl": env["PEERS_CRL"],
		"hostcert": env["PEERS_CERT"], "hostprivkey": env["PEERS_KEY"], "certificate_revocation": "chain", "http_connect_timeout": "120", "http_read_timeout": "600",
		"http_user_agent": "Puppet/7.23.0 Ruby/3.1.2-p20 (x86_64-linux-gnu)", "runinterval": "1800", "reports": "puppetdb", "puppetdb_confirm": "60",
	}
}
