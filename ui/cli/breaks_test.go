package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"indirtui/indirector/network/client/clienttest"
	"indirtui/termini"
)

// Limits of breakpoints and wrappers count from when they were armed or chosen,
// and the list shows how far they are.
func TestLimitsOnTheScreen(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		find := func(want string) {
			tr.t.Helper()
			tr.command("find node web01.example.com", "ms  "+want+"  ")
		}
		tr.command(`break ind=node do fail "no luck" once`, "did :break")
		find("err")
		tr.key("5", "- Breaks ", "0 armed", "b1 ind=node before terminus do fail 'no luck' once  hits 1 of 1, spent").cursor("b1", "off", "1/1")
		find("ok")
		tr.key("5", "- Breaks ").key("space", "1 armed", "hits 0 of 1").cursor("on", "0/1")
		find("err")

		tr.command("break b1 ind=node do fail 'no luck' every 2", "did :break b1")
		find("ok")
		tr.key("5", "hits 0, matched 1, next at 2")
		find("err")
		tr.key("5", "hits 1, matched 2, next at 4")
		tr.key("x", "No breakpoints").key("z", "undone", "hits 0, matched 0, next at 2").key("space", "0 armed")

		tr.command("fault node 'no luck' once", "did :route node")
		find("err")
		find("ok")
		tr.command("fault node 'no luck' once", "did :route node")
		tr.key("3", "- Routes ").to("node").sees("fault: acted 0 of 1 times, asked 0 times")
		find("err")
		tr.key("3", "fault: acted 1 of 1 times, asked 1 times")
		tr.leave()
	})
}

// What was kept for a project is there for serve and proxy, too: breakpoints come
// back disarmed, and the rules of what does not count.
func TestBreakpointsComeBackWhereAgentsAsk(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	conf, vardir := t.TempDir(), t.TempDir()
	authority := clienttest.New(t, "Puppet CA")
	files := authority.Write(t, t.TempDir(), authority.Issue(t, "proxy.example.com"))
	begin := func() *program {
		p := &program{Streams: Streams{Out: io.Discard, Err: io.Discard}, specs: termini.Specs(), termini: termini.All()}
		p.ui = interactive{ascii: true, record: filepath.Join(t.TempDir(), "recording.jsonl")}
		configure(t, p, "")
		p.confDir, p.varDir, p.set = conf, vardir, []string{"keylength=2048", "ssldir=" + vardir + "/ssl", "cadir=" + vardir + "/ca"}
		return p
	}
	own := begin()
	if err := os.WriteFile(filepath.Join(conf, "puppet.conf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := viewer{own}.session()
	if err != nil {
		t.Fatal(err)
	}
	tr := &trip{t: t, size: "80x24", program: own}
	tr.show(s, 80, 24)
	tr.command("break ind=catalog key=db07* before cache-read", "did :break")
	tr.command("ignore .parameters.*timestamp", "did :ignore")
	tr.leave()
	tr.close()

	at := listening{listen: "127.0.0.1:0", ui: true, connections: 10, atOnce: 10}
	for name, start := range map[string]func(*program) (*answering, error){
		"serve": func(p *program) (*answering, error) {
			at.p = p
			return (&serveCommand{listening: at}).start(t.Context())
		},
		"proxy": func(p *program) (*answering, error) {
			at.p = p
			return (&proxyCommand{
				listening: at, upstream: "https://puppet.invalid:8140", upstreamHost: "puppet.invalid", upsPort: "8140",
				cert: files["hostcert"], key: files["hostprivkey"], ca: files["localcacert"], crl: files["hostcrl"],
			}).start(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin()
			v, err := start(p)
			if err != nil {
				t.Fatal(err)
			}
			tr := &trip{t: t, size: "80x24", program: p}
			tr.show(v.session, 80, 24)
			tr.key("5", "1 breakpoint · 0 armed", "restored from last time, disarmed: 1").cursor("b1", "off", "ind=catalog key=db07*", "before cache-read")
			tr.command("ignore", "ignored in comparisons: .parameters.*timestamp")
			tr.key("space", "1 armed").key("space", "0 armed")
			tr.leave()
			tr.close()
		})
	}
}
