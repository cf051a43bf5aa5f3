//go:build unix

package cli_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestServeStoresInPuppetDB: what serve compiles for real agents, their facts and their
// reports are in the real PuppetDB, as Puppet's own command shows; another agent
// collects what was exported; and a node is deactivated.
func TestServeStoresInPuppetDB(t *testing.T) {
	t.Parallel()
	peers := needStack(t)
	peers.puppetDB()
	s := newSite(t)
	s.write("code/environments/production/manifests/site.pp", `@@notify { "exported by ${trusted['certname']}": tag => 'stored' }
Notify <<| tag == 'stored' |>>
`)
	conf := "[main]\nserver_urls = " + peers.env["PUPPETDB_URL"] + "\n"
	s.write("srv/puppetdb.conf", conf)
	s.write("srv/puppet.conf", fmt.Sprintf(`[main]
vardir = %[1]s/srv/var
ssldir = %[1]s/srv/ssl
codedir = %[1]s/code
basemodulepath = %[1]s/none
certname = proxy.example.com
[server]
storeconfigs = true
storeconfigs_backend = puppetdb
reports = puppetdb
node_terminus = plain
puppetdb_confirm = 60
`, s.dir))
	peers.ssl(s, "srv/ssl", "proxy.example.com", "localhost", "127.0.0.1", "IP:127.0.0.1")
	l := s.run("serve", "--confdir", s.path("srv"), "--set", "catalog_terminus=compiler")
	run := func(node string) string {
		peers.ssl(s, "agents/"+node+"/ssl", node)
		s.write("agents/"+node+"/conf/puppetdb.conf", conf)
		out, code := s.agent(node, l.port)
		if code != 2 {
			t.Fatalf("%s: exit %d\n%s\n%s", node, code, out, l.output())
		}
		return out
	}
	status := func(node string, wants ...string) {
		out, code := s.puppet(node, l.port, "node", "status", node)
		for _, want := range wants {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("puppet node status %s: exit %d, want %q in it:\n%s\n%s", node, code, want, out, l.output())
			}
		}
	}
	exporter, collector := nodeName(t), nodeName(t)
	run(exporter)
	status(exporter, "Currently active", "Last catalog: 20", "Last facts: 20")
	if out := run(collector); !strings.Contains(out, "exported by "+exporter) {
		t.Errorf("%s did not collect what %s exports:\n%s", collector, exporter, out)
	}
	if got := peers.ask(peers.env["PUPPETDB_URL"] + "/pdb/query/v4/nodes/" + exporter); !strings.Contains(got, `"latest_report_status" : "changed"`) {
		t.Errorf("PuppetDB has no report of %s: %s", exporter, got)
	}
	s.write("confirm/puppetdb.conf", conf)
	(&collection{t: t, peers: peers, s: s}).deactivate(exporter, collector)
	status(exporter, "Deactivated at 20")
}
