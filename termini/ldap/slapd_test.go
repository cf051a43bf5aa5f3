package ldap_test

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/terminustest"
	"indirtui/termini/ldap"
)

// A slapd is a real server, with the nodes of the recordings.
type slapd struct {
	plain, secure string // ports
	conf          string
	cmd           *exec.Cmd
}

// startSlapd starts one, which ends with the test; without the program the test is
// skipped.
func startSlapd(t testing.TB, leaf *clienttest.Leaf) *slapd {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("there is no slapd here: %v", err)
	}
	dir := t.TempDir()
	peers, err := filepath.Abs("../../.ci/peers/ldap")
	if err != nil {
		t.Fatal(err)
	}
	clienttest.WriteFile(t, filepath.Join(dir, "crt"), leaf.PEM())
	clienttest.WriteFile(t, filepath.Join(dir, "key"), leaf.KeyPEM(t))
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "slapd.conf")
	clienttest.WriteFile(t, conf, fmt.Appendf(nil, `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
include %[2]s/puppet.schema
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile %[1]s/crt
TLSCertificateKeyFile %[1]s/key
database mdb
maxsize 16777216
suffix "dc=example,dc=com"
rootdn "cn=admin,dc=example,dc=com"
rootpw peers
directory %[1]s/data
dbnosync
index objectClass,cn eq
limits dn.exact="cn=limited,dc=example,dc=com" size=1
access to dn.subtree="ou=secret,dc=example,dc=com" by users read by * none
access to attrs=userPassword by anonymous auth by * read
access to * by * read
`, dir, peers))
	limited := filepath.Join(dir, "limited.ldif")
	clienttest.WriteFile(t, limited, []byte("dn: cn=limited,dc=example,dc=com\nobjectClass: person\ncn: limited\nsn: limited\nuserPassword: narrow\n"))
	for _, ldif := range []string{filepath.Join(peers, "nodes.ldif"), limited, golden.PathBeside(t, "../../indirector/puppetdb", "stores", "ldap", "more.ldif")} {
		if out, err := exec.Command("/usr/sbin/slapadd", "-q", "-f", conf, "-l", ldif).CombinedOutput(); err != nil {
			t.Fatalf("slapadd: %v\n%s", err, out)
		}
	}
	s := &slapd{plain: free(t, "127.0.0.1"), secure: free(t, "127.0.0.1"), conf: conf}
	s.up(t)
	t.Cleanup(func() { s.down(syscall.SIGKILL) })
	return s
}

// program is the server of Debian's package.
const program = "/usr/sbin/slapd"

// up starts the server, and waits until it answers.
func (s *slapd) up(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command(program, "-d", "0", "-f", s.conf, "-h", fmt.Sprintf("ldap://127.0.0.1:%s/ ldaps://127.0.0.1:%s/ ldaps://127.0.0.2:%s/", s.plain, s.secure, s.secure))
	var out strings.Builder
	s.cmd.Stdout, s.cmd.Stderr = &out, &out
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var logs terminustest.Log
	waiting := open(t, at(s.plain).With("ldapbase", "dc=example,dc=com"), &logs, nothing).(*ldap.Terminus)
	defer waiting.Close()
	for late := time.Now().Add(time.Minute); ; {
		_, err := waiting.Find(t.Context(), &indirector.Request{Key: "agent02"})
		if err == nil {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("slapd does not answer: %v\n%s", err, out.String())
		}
	}
}

// down ends the server.
func (s *slapd) down(signal syscall.Signal) {
	_ = s.cmd.Process.Signal(signal)
	_ = s.cmd.Wait()
}

// TestOutages stops and starts the server while it is asked. INDIRTUI_OUTAGES is how long
// that goes on.
func TestOutages(t *testing.T) {
	server := startSlapd(t, clienttest.New(t, "CA").Issue(t, "localhost", clienttest.Local))
	signals := 0
	terminustest.Outages(t, ldap.Node, terminustest.Outage{
		Settings: at(server.plain).With("ldapbase", "dc=example,dc=com"), Key: "agent01.example.com", For: duration(t),
		Down: func() {
			signals++
			server.down([]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[signals%2])
		},
		Up: func() { server.up(t) },
		Known: func(inst indirector.Instance) error {
			if n, ok := inst.(*model.Node); !ok || len(n.ClassNames()) == 0 {
				return fmt.Errorf("got %v, want a node with classes", inst)
			}
			return nil
		},
		Failed: func(message string) bool { return message == "LDAP Search failed" },
	})
}

// duration is how long the nightly checks want it.
func duration(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("INDIRTUI_OUTAGES")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSlapd asks a real server what was recorded: with TLS, a user whose answers
// are cut off, and a subtree that not all may see.
func TestSlapd(t *testing.T) {
	cases := recorded(t)
	trusted, other := clienttest.New(t, "LDAP CA"), clienttest.New(t, "Other CA")
	files := t.TempDir()
	clienttest.WriteFile(t, filepath.Join(files, "trusted"), trusted.PEM())
	clienttest.WriteFile(t, filepath.Join(files, "other"), other.PEM())
	server := startSlapd(t, trusted.Issue(t, "localhost", clienttest.Local))
	all := entriesOf(t, cases)
	for _, c := range cases.List() {
		if c.Get("exact_case").Truthy() {
			continue // of an old library, not of a server
		}
		t.Run(c.Get("id").Str(), func(t *testing.T) {
			t.Setenv("LDAPTLS_CACERT", filepath.Join(files, cmp.Or(c.Get("ca").Str(), "trusted")))
			g := &goldenCase{Value: c, t: t, script: newScript(t, c, all)}
			g.script.left = nil // the server knows what it has
			g.settings = g.configure(func(string) string { return server.plain }, func(string) string { return server.secure })
			g.run()
		})
	}
}

// TestSizeLimit has the sentence about an answer that a real server cut off.
func TestSizeLimit(t *testing.T) {
	server := startSlapd(t, clienttest.New(t, "CA").Issue(t, "localhost", clienttest.Local))
	s := at(server.plain).With("ldapbase", "dc=example,dc=com", "ldapuser", "cn=limited,dc=example,dc=com", "ldappassword", "narrow", "ldapstring", "(objectclass=puppetClient)")
	_, trace, _, err := asked(t, s, "x")
	if got, want := fmt.Sprint(trace.Notes), "[server cut the answer off after 1: size limit]"; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// TestIdleTimeout lets a real server close the connection that was idle for too long: the
// next find makes another, and has the node.
func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	server := startSlapd(t, clienttest.New(t, "CA").Issue(t, "localhost", clienttest.Local))
	server.down(syscall.SIGTERM)
	conf, err := os.ReadFile(server.conf)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(server.conf, append([]byte("idletimeout 1\n"), conf...), 0o600); err != nil {
		t.Fatal(err)
	}
	server.up(t)
	var logs terminustest.Log
	terminus := open(t, at(server.plain).With("ldapbase", "dc=example,dc=com"), &logs, nothing).(*ldap.Terminus)
	for i, want := range []string{"", "warning Retrying LDAP connection", "warning Retrying LDAP connection"} {
		_, err := terminus.Find(t.Context(), &indirector.Request{Key: "agent02"})
		if got := logs.String(); err != nil || got != want {
			t.Errorf("find %d: got %q, %v, want %q", i, got, err, want)
		}
		logs.Take()
		idle, err := net.Dial("tcp", "127.0.0.1:"+server.plain) // younger: when it is closed, so is the other
		if err != nil {
			t.Fatal(err)
		}
		if n, err := idle.Read(make([]byte, 1)); err == nil {
			t.Errorf("the server has written %d bytes", n)
		}
		_ = idle.Close()
	}
}
