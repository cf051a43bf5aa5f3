package dns_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"indirtui/indirector"
	"indirtui/indirector/network/client/clienttest"
	terminus "indirtui/termini/dns"
	"indirtui/traces"
)

// spans returns the names and answers of what was asked over the network.
func spans(trace *traces.Trace, server string) string {
	var all []string
	for _, s := range trace.Spans {
		if s.Kind == traces.Network {
			all = append(all, strings.ReplaceAll(s.Name, server, "…")+": "+s.Answer)
		}
	}
	return strings.Join(all, "\n")
}

// TestTransport has answers that do not fit, servers in turn, and the flags of answers.
func TestTransport(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf(`many.example.com. 300 IN TXT "class=class%02d_%s"`, i, strings.Repeat("x", 50)))
	}
	lines = append(lines, `one.example.com. 300 IN TXT "class=a"`)
	z := zoneOf(t, lines...)
	server := serve(t, dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) {
		if o := m.IsEdns0(); o == nil || o.UDPSize() != 1232 {
			t.Errorf("EDNS: %v, want 1232 bytes", o)
		}
		if !m.AuthenticatedData {
			t.Error("AD is not asked for")
		}
		z.ServeDNS(w, m)
	}))
	failing := serve(t, dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetRcode(m, dns.RcodeServerFailure))
	}))
	secure := serve(t, dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) {
		reply := new(dns.Msg).SetReply(m)
		reply.AuthenticatedData, reply.RecursionAvailable = true, true
		reply.Answer = z.records[m.Question[0].Name]
		_ = w.WriteMsg(reply)
	}))
	t.Run("DNS-08 by TCP", func(t *testing.T) {
		t.Parallel()
		node, trace, err := find(t, clienttest.Settings{"dns_servers": server}, "many.example.com")
		if err != nil || len(node.ClassNames()) != 40 {
			t.Fatalf("got %v, %v", node, err)
		}
		if got := spans(trace, server); !strings.HasPrefix(got, "TXT many.example.com. at … by udp: NOERROR, ") || !strings.HasSuffix(got, "\nTXT many.example.com. at … by tcp: NOERROR, 40 records") {
			t.Errorf("spans:\n%s", got)
		}
	})
	t.Run("DNS-08 servers in turn, each once", func(t *testing.T) {
		t.Parallel()
		var first atomic.Int32
		refusing := serve(t, dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) {
			first.Add(1)
			_ = w.WriteMsg(new(dns.Msg).SetRcode(m, dns.RcodeRefused))
		}))
		node, _, err := find(t, clienttest.Settings{"dns_servers": refusing + ", " + server}, "one.example.com")
		if err != nil || node == nil || first.Load() != 1 {
			t.Errorf("got %v, %v after %d questions", node, err, first.Load())
		}
	})
	t.Run("DNS-07 all fail", func(t *testing.T) {
		t.Parallel()
		dead := freePort(t)
		_, trace, err := find(t, clienttest.Settings{"dns_servers": dead + " " + failing}, "one.example.com")
		want := "Could not look up node one.example.com in DNS: connection refused from " + dead + ", then SERVFAIL from " + failing
		if indirector.Message(err) != want || note(trace) != "connection refused, then SERVFAIL: an outage, not an unknown node" {
			t.Errorf("got %v, %s\nwant %s", err, note(trace), want)
		}
	})
	t.Run("DNS-08 no AD", func(t *testing.T) {
		t.Parallel()
		_, _, err := find(t, clienttest.Settings{"dns_servers": server, "dns_require_ad": "true"}, "one.example.com")
		if want := "Could not look up node one.example.com in DNS: answer without AD (dns_require_ad) from " + server; err == nil || indirector.Message(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("DNS-08 AD", func(t *testing.T) {
		t.Parallel()
		node, trace, err := find(t, clienttest.Settings{"dns_servers": secure, "dns_require_ad": "true"}, "one.example.com")
		if err != nil || node == nil || !strings.Contains(fmt.Sprint(trace.Spans[0].Attrs), "{flags ra ad}") {
			t.Errorf("got %v, %v, %v", node, err, trace.Spans)
		}
	})
}

// freePort returns the address of a server that is not there.
func freePort(t testing.TB) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().String()
}

// silent returns the address of a server that never answers.
func silent(t testing.TB, asked func()) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		b := make([]byte, 2000)
		for {
			if _, _, err := c.ReadFrom(b); err != nil {
				return
			}
			asked()
		}
	})
	t.Cleanup(func() {
		c.Close()
		ended.Wait()
	})
	return c.LocalAddr().String()
}

// TestSilent has a server that never answers: after a while that is an outage, and the
// caller may give up earlier.
func TestSilent(t *testing.T) {
	t.Parallel()
	t.Run("DNS-07 timeout", func(t *testing.T) {
		t.Parallel()
		server := silent(t, func() {})
		_, trace, err := find(t, clienttest.Settings{"dns_servers": server, "dns_timeout": "1"}, "a.example.com")
		if want := "Could not look up node a.example.com in DNS: timeout after 1s (dns_timeout) from " + server; err == nil || indirector.Message(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if got, want := note(trace), "timeout after 1s (dns_timeout): an outage, not an unknown node"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		server := silent(t, cancel)
		_, err := open(t, clienttest.Settings{"dns_servers": server, "dns_timeout": "1h"}).Find(ctx, &indirector.Request{Key: "a.example.com"})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// TestUnderLoad stops the server and starts it again while many ask: what is answered is
// the node, what is not is an outage, and never a node that is not there.
func TestUnderLoad(t *testing.T) {
	t.Parallel()
	z := zoneOf(t, `a.example.com. 300 IN TXT "class=a"`)
	var stopped atomic.Bool
	address := serve(t, dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) {
		if stopped.Load() {
			return // as if there were no server
		}
		z.ServeDNS(w, m)
	}))
	d := open(t, clienttest.Settings{"dns_servers": address + " " + freePort(t), "dns_timeout": "1"})
	var all sync.WaitGroup
	var answered, failed atomic.Int32
	for range 8 {
		all.Go(func() {
			for range 40 {
				switch _, err := d.Find(t.Context(), &indirector.Request{Key: "a.example.com"}); {
				case err == nil:
					if answered.Add(1) == 100 {
						stopped.Store(true)
					}
				case strings.HasPrefix(indirector.Message(err), "Could not look up node a.example.com in DNS: timeout after 1s"):
					failed.Add(1)
					stopped.Store(false)
				default:
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if answered.Load() == 0 || failed.Load() == 0 {
		t.Errorf("%d were answered, %d not", answered.Load(), failed.Load())
	}
}

// TestSettings refuses what cannot be asked, and names the setting.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want string }{
		{"dns_servers", "10.0.0.2, ns.example.com", `setting dns_servers (test): "ns.example.com" is no address of a name server`},
		{"dns_servers", strings.Repeat("10.0.0.2 ", 11), "setting dns_servers (test): more than 10 servers"},
		{"dns_node_prefix", "a b", `setting dns_node_prefix (test): "a b" is no part of a host name`},
		{"dns_timeout", "soon", "setting dns_timeout (test): "},
	} {
		_, err := terminus.Node.New(indirector.Env{Settings: clienttest.Settings{tt.name: tt.value}})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	for _, servers := range []string{"10.0.0.2", "10.0.0.2:5353", "::1", "[::1]:5353", "[::1]", ""} {
		if _, err := terminus.Node.New(indirector.Env{Settings: clienttest.Settings{"dns_servers": servers}}); err != nil {
			t.Errorf("%s: %v", servers, err)
		}
	}
}

// BenchmarkFind asks a server in this process.
func BenchmarkFind(b *testing.B) {
	server := serve(b, zoneOf(b, `a.example.com. 300 IN TXT "class=ntp,web"`, `a.example.com. 300 IN TXT "role=web"`))
	d := open(b, clienttest.Settings{"dns_servers": server})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Find(b.Context(), &indirector.Request{Key: "a.example.com"}); err != nil {
			b.Fatal(err)
		}
	}
}
