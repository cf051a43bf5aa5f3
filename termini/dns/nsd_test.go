package dns_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/terminustest"
	terminus "indirtui/termini/dns"
)

// An nsd is a real name server.
type nsd struct {
	address, conf string
	cmd           *exec.Cmd
	ended         chan struct{}
}

// startNSD starts one with a zone, which ends with the test.
func startNSD(t testing.TB, zone string) *nsd {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("there is no NSD here: %v", err)
	}
	dir := t.TempDir()
	address := freeOfBoth(t)
	clienttest.WriteFile(t, filepath.Join(dir, "zone"), []byte(zone))
	conf := filepath.Join(dir, "nsd.conf")
	clienttest.WriteFile(t, conf, fmt.Appendf(nil, `server:
  ip-address: %s
  username: ""
  chroot: ""
  zonesdir: %[2]q
  pidfile: ""
  database: ""
  xfrdfile: "%[3]s/xfrd"
  zonelistfile: "%[3]s/zones"
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: example.com
  zonefile: zone
`, strings.Replace(address, ":", "@", 1), dir, dir))
	s := &nsd{address: address, conf: conf}
	s.up(t)
	t.Cleanup(s.down)
	return s
}

// freeOfBoth is an address that nothing has, by UDP and by TCP.
func freeOfBoth(t testing.TB) string {
	t.Helper()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.ListenPacket("udp", l.Addr().String())
		l.Close()
		if err == nil {
			c.Close()
			return l.Addr().String()
		}
	}
}

// program is the server of Debian's package.
const program = "/usr/sbin/nsd"

// up starts the server, again if its port is another's for a while, and waits until it
// answers.
func (s *nsd) up(t testing.TB) {
	t.Helper()
	client := &dns.Client{Timeout: time.Second}
	for late := time.Now().Add(time.Minute); ; {
		s.cmd = exec.Command(program, "-d", "-c", s.conf)
		var out strings.Builder
		s.cmd.Stdout, s.cmd.Stderr = &out, &out
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = s.cmd.Wait()
			close(ended)
		}()
		s.ended = ended
		for up := true; up; {
			m, _, err := client.Exchange(new(dns.Msg).SetQuestion("example.com.", dns.TypeSOA), s.address)
			if err == nil && m.Response && m.Rcode == dns.RcodeSuccess { // a socket may be its own peer
				return
			}
			select {
			case <-ended:
				up = false
			default:
			}
		}
		if time.Now().After(late) {
			t.Fatalf("NSD does not answer:\n%s", out.String())
		}
	}
}

// down ends the server, which ends its own processes.
func (s *nsd) down() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.ended
}

// TestOutages stops and starts the server while it is asked, by UDP and where that is cut
// off by TCP. INDIRTUI_OUTAGES is how long that goes on.
func TestOutages(t *testing.T) {
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "many 0 IN TXT \"class=class%02d_%s\"\n", i, strings.Repeat("x", 50))
	}
	server := startNSD(t, "$ORIGIN example.com.\n@ 3600 IN SOA ns h 1 3600 600 86400 60\n@ 3600 IN NS ns\nns 3600 IN A 127.0.0.1\nweb01 0 IN TXT \"class=ntp\"\n"+long.String())
	duration := time.Duration(0)
	if text := os.Getenv("INDIRTUI_OUTAGES"); text != "" {
		var err error
		if duration, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	for key, classes := range map[string]int{"web01.example.com": 1, "many.example.com": 40} {
		t.Run(key, func(t *testing.T) {
			terminustest.Outages(t, terminus.Node, terminustest.Outage{
				Settings: clienttest.Settings{"dns_servers": server.address, "dns_timeout": "1s"}, Key: key, For: duration / 2, Down: server.down, Up: func() { server.up(t) },
				Known: func(inst indirector.Instance) error {
					if n, ok := inst.(*model.Node); !ok || len(n.ClassNames()) != classes {
						return fmt.Errorf("got %v, want a node with %d classes", inst, classes)
					}
					return nil
				},
				Failed: func(message string) bool {
					return strings.HasPrefix(message, "Could not look up node "+key+" in DNS: ")
				},
			})
		})
	}
}

// TestNSD asks a real server.
func TestNSD(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&many, "many 300 IN TXT \"class=class%02d_%s\"\n", i, strings.Repeat("x", 50))
	}
	server := startNSD(t, `$ORIGIN example.com.
@ 3600 IN SOA ns h 1 3600 600 86400 60
@ 3600 IN NS ns
ns 3600 IN A 127.0.0.1
web01 300 IN TXT "class=ntp" "" ",web::front"
web01 120 IN TXT "role=\"a\\b\""
*.wild 30 IN TXT "class=wild"
alias 10 IN CNAME web01
out 10 IN CNAME elsewhere.example.net.
zero 0 IN TXT "class=a"
bare 300 IN A 192.0.2.1
`+many.String())
	tests := []struct {
		key  string
		want string // classes, or the note
		ttl  time.Duration
	}{
		{"web01.example.com", "[ntp web::front]", 120 * time.Second},
		{"many.example.com", "40", 300 * time.Second},
		{"x.wild.example.com", "[wild]", 30 * time.Second},
		{"alias.example.com", "[ntp web::front]", 10 * time.Second},
		{"zero.example.com", "[a]", 0},
		{"nosuch.example.com", "NXDOMAIN from …, asked again after 60 s (zone example.com.)", 0},
		{"bare.example.com", "NODATA from …: bare.example.com. has no TXT records, asked again after 60 s (zone example.com.)", 0},
		{"out.example.com", "a referral (the server does not follow elsewhere.example.net.): an outage, not an unknown node", 0},
		{"web01.example.org", "REFUSED: an outage, not an unknown node", 0},
	}
	for _, tt := range tests {
		t.Run(tt.key, func(t *testing.T) {
			node, trace, err := find(t, clienttest.Settings{"dns_servers": server.address}, tt.key)
			if err != nil {
				if got := strings.ReplaceAll(note(trace), server.address, "…"); got != tt.want {
					t.Errorf("got %s (%v), want %s", got, err, tt.want)
				}
				return
			}
			got := fmt.Sprint(node.ClassNames())
			if len(node.ClassNames()) > 9 {
				got = fmt.Sprint(len(node.ClassNames()))
			}
			if got != tt.want || node.Expiration().Sub(now) != tt.ttl {
				t.Errorf("got %s for %s, want %s for %s", got, node.Expiration().Sub(now), tt.want, tt.ttl)
			}
		})
	}
}
