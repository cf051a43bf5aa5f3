package dns_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"indirtui/indirector/network/client/clienttest"
)

// startNSD starts a real name server with a zone, which ends with the test.
func startNSD(t testing.TB, zone string) string {
	t.Helper()
	program, err := exec.LookPath("/usr/sbin/nsd")
	if err != nil {
		t.Skipf("there is no NSD here: %v", err)
	}
	dir := t.TempDir()
	address := freePort(t)
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
	c := exec.Command(program, "-d", "-c", conf)
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it ends its own processes
		_ = c.Wait()
	})
	client := &dns.Client{Timeout: time.Second}
	for late := time.Now().Add(time.Minute); ; {
		m, _, err := client.Exchange(new(dns.Msg).SetQuestion("example.com.", dns.TypeSOA), address)
		if err == nil && m.Rcode == dns.RcodeSuccess {
			return address
		}
		if time.Now().After(late) {
			t.Fatalf("NSD does not answer: %v\n%s", err, out.String())
		}
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
			node, trace, err := find(t, clienttest.Settings{"dns_servers": server}, tt.key)
			if err != nil {
				if got := strings.ReplaceAll(note(trace), server, "…"); got != tt.want {
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
