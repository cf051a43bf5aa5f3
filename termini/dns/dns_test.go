package dns_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	terminus "indirtui/termini/dns"
	"indirtui/traces"
)

// A zone answers from records in the form of zone files, by name; a function takes a
// question over.
type zone struct {
	records map[string][]dns.RR
	soa     dns.RR
	answer  func(w dns.ResponseWriter, m, reply *dns.Msg) bool // true if it has answered
}

func zoneOf(t testing.TB, lines ...string) *zone {
	t.Helper()
	z := &zone{records: make(map[string][]dns.RR), soa: rr(t, "example.com. 3600 IN SOA ns.example.com. h.example.com. 1 2 3 4 60")}
	for _, l := range lines {
		r := rr(t, l)
		z.records[r.Header().Name] = append(z.records[r.Header().Name], r)
	}
	return z
}

func rr(t testing.TB, line string) dns.RR {
	t.Helper()
	r, err := dns.NewRR(line)
	if err != nil || r == nil {
		t.Fatalf("%s: %v", line, err)
	}
	return r
}

func (z *zone) ServeDNS(w dns.ResponseWriter, m *dns.Msg) {
	reply := new(dns.Msg).SetReply(m)
	reply.Authoritative = true
	if z.answer != nil && z.answer(w, m, reply) {
		return
	}
	name := strings.ToLower(m.Question[0].Name)
	found := false
	for range 9 {
		all, ok := z.records[name]
		found = found || ok
		next := ""
		for _, r := range all {
			if c, alias := r.(*dns.CNAME); alias {
				next = c.Target
				reply.Answer = append(reply.Answer, r)
			} else if r.Header().Rrtype == dns.TypeTXT {
				reply.Answer = append(reply.Answer, r)
			}
		}
		if next == "" {
			break
		}
		name = next
	}
	if !found {
		reply.Rcode = dns.RcodeNameError
	}
	if len(reply.Answer) == 0 || !found {
		reply.Ns = []dns.RR{z.soa}
	}
	if w.LocalAddr().Network() == "udp" {
		size := dns.MinMsgSize
		if o := m.IsEdns0(); o != nil {
			size = int(o.UDPSize())
		}
		reply.Truncate(size)
	}
	_ = w.WriteMsg(reply)
}

// serve starts a server by UDP and TCP, which ends with the test, and returns its
// address.
func serve(t testing.TB, h dns.Handler) string {
	t.Helper()
	packets, streams := listen(t)
	for _, s := range []*dns.Server{{PacketConn: packets, Handler: h}, {Listener: streams, Handler: h}} {
		ready, ended := make(chan struct{}), make(chan error, 1)
		s.NotifyStartedFunc = func() { close(ready) }
		go func() { ended <- s.ActivateAndServe() }()
		<-ready
		t.Cleanup(func() {
			_ = s.Shutdown()
			<-ended
		})
	}
	return packets.LocalAddr().String()
}

// listen returns sockets of both kinds at one address.
func listen(t testing.TB) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 20 {
		streams, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		packets, err := net.ListenPacket("udp", streams.Addr().String())
		if err == nil {
			return packets, streams
		}
		streams.Close() // the port is taken
	}
	t.Fatal("no port is free for both")
	return nil, nil
}

// now is the time in tests.
var now = time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)

func open(t testing.TB, s clienttest.Settings) *terminus.Terminus {
	t.Helper()
	made, err := terminus.Node.New(indirector.Env{
		Indirection: "node", Terminus: "dns", Settings: s, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		Do: func(_ context.Context, req *indirector.Request) (indirector.Response, error) {
			if strings.HasPrefix(req.Key, "facts") {
				return indirector.Response{Value: &model.Facts{Name: req.Key, Values: data.OfHash([]data.Pair{data.P("kernel", data.OfString("Linux")), data.P("role", data.OfString("db"))})}}, nil
			}
			return indirector.Response{}, indirector.ErrNotFound
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.(*terminus.Terminus)
}

// find finds a node, and returns it with the first note of the trace.
func find(t testing.TB, s clienttest.Settings, key string) (*model.Node, *traces.Trace, error) {
	t.Helper()
	live := &traces.Live{Context: t.Context(), Trace: new(traces.Trace), Step: traces.Terminus}
	inst, err := open(t, s).Find(live, &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: key, Environment: "production"})
	node, _ := inst.(*model.Node)
	return node, live.Trace, err
}

func note(trace *traces.Trace) string {
	if len(trace.Notes) == 0 {
		return ""
	}
	return trace.Notes[0].Text
}

// TestNodes reads nodes from records.
func TestNodes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 250)
	server := serve(t, zoneOf(t,
		`all.example.com. 300 IN TXT "class=ntp,web::front"`, `all.example.com. 60 IN TXT "environment=staging"`,
		`all.example.com. 300 IN TXT "role=web"`, `all.example.com. 300 IN TXT "up=true"`, `all.example.com. 300 IN TXT "eq=a=b"`,
		`split.example.com. 300 IN TXT "cla" "ss=n" "tp"`,
		`odd.example.com. 300 IN TXT "v=spf1 -all"`, `odd.example.com. 300 IN TXT "no equals"`, `odd.example.com. 300 IN TXT "Role=x"`, `odd.example.com. 300 IN TXT "x=\255"`, `odd.example.com. 300 IN TXT "environment="`,
		`twice.example.com. 300 IN TXT "role=b"`, `twice.example.com. 300 IN TXT "role=a"`, `twice.example.com. 300 IN TXT "class=z"`, `twice.example.com. 300 IN TXT "class=b,b,,a"`,
		`bytes.example.com. 300 IN TXT "q=say \"hi\" \\ \000\195\188"`,
		`long.example.com. 300 IN TXT "long=`+long+`" "`+long+`"`,
		`child.example.com. 300 IN TXT "parent=base.example.com"`, `child.example.com. 300 IN TXT "role=child"`, `child.example.com. 300 IN TXT "class=demo"`,
		`base.example.com. 30 IN TXT "parent=root.example.com"`, `base.example.com. 300 IN TXT "role=base"`, `base.example.com. 300 IN TXT "class=base"`, `base.example.com. 300 IN TXT "environment=staging"`,
		`root.example.com. 300 IN TXT "top=yes"`, `root.example.com. 300 IN TXT "environment=other"`,
		`alias.example.com. 5 IN CNAME all.example.com.`,
		`facts.example.com. 300 IN TXT "role=web"`,
		`_puppet.web01. 300 IN TXT "class=prefixed"`,
		`zero.example.com. 0 IN TXT "class=a"`,
		`huge.example.com. 2147483648 IN TXT "class=a"`,
	))
	tests := []struct {
		name, key, prefix string
		want              string
		ttl               time.Duration
	}{
		{"DNS-03 all kinds", "all.example.com", "", `{"name"=>"all.example.com", "environment"=>"staging", "classes"=>["ntp", "web::front"], "parameters"=>{"eq"=>"a=b", "role"=>"web", "up"=>true}}`, time.Minute},
		{"DNS-02 strings are joined", "split.example.com", "", `{"name"=>"split.example.com", "environment"=>"production", "classes"=>["ntp"]}`, 300 * time.Second},
		{"DNS-04 DNS-10 nothing is left", "odd.example.com", "", `{"name"=>"odd.example.com", "environment"=>"production"}`, 300 * time.Second},
		{"DNS-03 DNS-05 a name twice", "twice.example.com", "", `{"name"=>"twice.example.com", "environment"=>"production", "classes"=>["b", "a", "z"], "parameters"=>{"role"=>["a", "b"]}}`, 300 * time.Second},
		{"DNS-02 bytes, not escapes", "bytes.example.com", "", `{"name"=>"bytes.example.com", "environment"=>"production", "parameters"=>{"q"=>"say \"hi\" \\ \u0000ü"}}`, 300 * time.Second},
		{"DNS-02 beyond 255 bytes", "long.example.com", "", `{"name"=>"long.example.com", "environment"=>"production", "parameters"=>{"long"=>"` + long + long + `"}}`, 300 * time.Second},
		{"DNS-03 DNS-09 parents fill gaps", "child.example.com", "", `{"name"=>"child.example.com", "environment"=>"staging", "classes"=>["demo", "base"], "parameters"=>{"role"=>"child", "top"=>"yes"}}`, 30 * time.Second},
		{"DNS-06 DNS-09 an alias", "alias.example.com", "", `{"name"=>"alias.example.com", "environment"=>"staging", "classes"=>["ntp", "web::front"], "parameters"=>{"eq"=>"a=b", "role"=>"web", "up"=>true}}`, 5 * time.Second},
		{"DNS-10 facts", "facts.example.com", "", `{"name"=>"facts.example.com", "environment"=>"production", "parameters"=>{"role"=>"web", "kernel"=>"Linux"}}`, 300 * time.Second},
		{"DNS-01 a prefix", "web01", "_puppet", `{"name"=>"web01", "environment"=>"production", "classes"=>["prefixed"]}`, 300 * time.Second},
		{"DNS-09 no time to live", "zero.example.com", "", `{"name"=>"zero.example.com", "environment"=>"production", "classes"=>["a"]}`, 0},
		{"DNS-09 too long to live", "huge.example.com", "", `{"name"=>"huge.example.com", "environment"=>"production", "classes"=>["a"]}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			node, _, err := find(t, clienttest.Settings{"dns_servers": server, "dns_node_prefix": tt.prefix}, tt.key)
			if err != nil {
				t.Fatal(err)
			}
			if got := dataOf(node); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
			if got := node.Expiration().Sub(now); got != tt.ttl {
				t.Errorf("it lives %s, want %s", got, tt.ttl)
			}
		})
	}
}

func dataOf(node *model.Node) string {
	v, _ := model.ToData(node)
	return v.Without("expiration").Inspect()
}

// TestNothing has what is no node, and what is an outage.
func TestNothing(t *testing.T) {
	t.Parallel()
	z := zoneOf(t,
		`empty.example.com. 300 IN A 192.0.2.1`, `lame.example.com. 300 IN CNAME x.elsewhere.`,
		`envs.example.com. 300 IN TXT "environment=b"`, `envs.example.com. 300 IN TXT "environment=a"`,
		`reserved.example.com. 300 IN TXT "trusted=x"`, `parents.example.com. 300 IN TXT "parent=a"`, `parents.example.com. 300 IN TXT "parent=b"`,
		`loop.example.com. 300 IN TXT "parent=Loop2.example.com"`, `loop2.example.com. 300 IN TXT "parent=LOOP.example.com"`,
		`orphan.example.com. 300 IN TXT "parent=nowhere.example.com"`, `bad.example.com. 300 IN TXT "parent=a b"`,
		`round.example.com. 300 IN CNAME about.example.com.`, `about.example.com. 300 IN CNAME round.example.com.`,
	)
	z.answer = func(w dns.ResponseWriter, m, reply *dns.Msg) bool {
		name := m.Question[0].Name
		switch {
		case strings.HasPrefix(name, "servfail"):
			reply.Rcode = dns.RcodeServerFailure
		case strings.HasPrefix(name, "refused"):
			reply.Rcode = dns.RcodeRefused
		case strings.HasPrefix(name, "referral"):
			reply.Ns = []dns.RR{rr(t, "com. 300 IN NS a.example.net.")}
		case strings.HasPrefix(name, "other"):
			reply.Question[0].Name = "different.example.com."
		case strings.HasPrefix(name, "malformed"):
			b, _ := reply.Pack()
			_, _ = w.Write(b[:len(b)-3])
			return true
		case strings.HasPrefix(name, "deep"):
			var n int
			_, _ = fmt.Sscanf(name, "deep%d.", &n)
			reply.Answer = []dns.RR{rr(t, fmt.Sprintf(`%s 300 IN TXT "parent=deep%d.example.com"`, name, n+1))}
		case strings.HasPrefix(name, "lame"):
			reply.Answer = z.records[name]
		default:
			return false
		}
		_ = w.WriteMsg(reply)
		return true
	}
	server := serve(t, z)
	tests := []struct {
		name, key string
		err       string // "" is nil; … is the address
		note      string
	}{
		{"DNS-01 no host name", "a b", "", `DNS was not asked: "a b" is no host name`},
		{"DNS-01 an empty label", "a..b", "", `DNS was not asked: "a..b" is no host name`},
		{"DNS-01 no key", "", "", `DNS was not asked: "" is no host name`},
		{"DNS-01 too long", strings.Repeat("a.", 130) + "com", "", `DNS was not asked: "` + strings.Repeat("a.", 130) + `com" is no host name`},
		{"DNS-06 NXDOMAIN", "nosuch.example.com", "", "NXDOMAIN from …, asked again after 60 s (zone example.com.)"},
		{"DNS-06 NODATA", "empty.example.com", "", "NODATA from …: empty.example.com. has no TXT records, asked again after 60 s (zone example.com.)"},
		{"DNS-07 SERVFAIL", "servfail.example.com", "Could not look up node servfail.example.com in DNS: SERVFAIL from …", "SERVFAIL: an outage, not an unknown node"},
		{"DNS-07 REFUSED", "refused.example.com", "Could not look up node refused.example.com in DNS: REFUSED from …", "REFUSED: an outage, not an unknown node"},
		{"DNS-07 a referral", "referral.example.com", "Could not look up node referral.example.com in DNS: a referral (the server does not follow referral.example.com.) from …", "a referral (the server does not follow referral.example.com.): an outage, not an unknown node"},
		{"DNS-06 an alias that is not followed", "lame.example.com", "Could not look up node lame.example.com in DNS: a referral (the server does not follow x.elsewhere.) from …", "a referral (the server does not follow x.elsewhere.): an outage, not an unknown node"},
		{"DNS-07 another question", "other.example.com", "Could not look up node other.example.com in DNS: malformed answer: it is to another question from …", "malformed answer: it is to another question: an outage, not an unknown node"},
		{"DNS-07 malformed", "malformed.example.com", "Could not look up node malformed.example.com in DNS: malformed answer: dns: overflow unpacking uint16 from …", "malformed answer: dns: overflow unpacking uint16: an outage, not an unknown node"},
		{"DNS-06 aliases go round", "round.example.com", "Could not look up node round.example.com in DNS: CNAME loop, or more than 32 aliases, at round.example.com. from …", "CNAME loop, or more than 32 aliases, at round.example.com.: an outage, not an unknown node"},
		{"DNS-05 two environments", "envs.example.com", "Could not read node envs.example.com in DNS: two environments: a and b", "envs.example.com.: two environments: a and b"},
		{"DNS-10 reserved", "reserved.example.com", "Could not read node reserved.example.com in DNS: the parameter trusted is reserved", "reserved.example.com.: the parameter trusted is reserved"},
		{"DNS-03 two parents", "parents.example.com", "Could not read node parents.example.com in DNS: more than one parent: a and b", "parents.example.com.: more than one parent: a and b"},
		{"DNS-03 parents go round", "loop.example.com", "Found loop in DNS node parents; LOOP.example.com appears twice", ""},
		{"DNS-03 no parent", "orphan.example.com", "Could not find parent node 'nowhere.example.com'", `orphan.example.com. names the parent "nowhere.example.com": NXDOMAIN from …, asked again after 60 s (zone example.com.)`},
		{"DNS-03 a parent that is no host name", "bad.example.com", "Could not find parent node 'a b'", `bad.example.com. names the parent "a b": "a b" is no host name`},
		{"DNS-03 too many parents", "deep0.example.com", "node deep0.example.com has more than 10 parents", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			node, trace, err := find(t, clienttest.Settings{"dns_servers": server}, tt.key)
			if node != nil || (tt.err == "") != errors.Is(err, indirector.ErrNotFound) {
				t.Fatalf("got %v, %v", node, err)
			}
			if want := strings.ReplaceAll(tt.err, "…", server); want != "" && indirector.Message(err) != want {
				t.Errorf("error: got %s\nwant %s", indirector.Message(err), want)
			}
			if want := strings.ReplaceAll(tt.note, "…", server); note(trace) != want {
				t.Errorf("note: got %s\nwant %s", note(trace), want)
			}
		})
	}
}
