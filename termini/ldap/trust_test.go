package ldap_test

import (
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/network/client/clienttest"
	"indirtui/traces"
)

// TestTrust has what libldap's files and variables make of the CAs. Rule LDAP-12.
func TestTrust(t *testing.T) {
	ca, other := clienttest.New(t, "LDAP CA"), clienttest.New(t, "Other CA")
	dir := t.TempDir()
	path := func(name string, content []byte) string {
		p := filepath.Join(dir, name)
		clienttest.WriteFile(t, p, content)
		return p
	}
	good, bad := path("good", ca.PEM()), path("bad", other.PEM())
	path("both/1", other.PEM())
	both := filepath.Dir(path("both/2", ca.PEM()))
	empty := path("empty", nil)
	d := &directory{entries: map[string][]*recordedEntry{"a": {node("cn=a,dc=example")}}}
	port := serve(t, d, "127.0.0.1", ca.Issue(t, "localhost", clienttest.Local), true)
	tests := []struct {
		name, local string
		env         map[string]string
		trusted     string // of the span; "" if that is not reached
		fails       string // in the story
	}{
		{"localcacert", good, map[string]string{"LDAPNOINIT": "1"}, good + " (localcacert)", ""},
		{"ldap.conf over localcacert", bad, map[string]string{"LDAPCONF": path("conf", []byte("# comment\ntls_cacert\t"+good+"\n"))}, good + " (TLS_CACERT, " + filepath.Join(dir, "conf") + ")", ""},
		{"variable over ldap.conf", bad, map[string]string{"LDAPCONF": path("conf2", []byte("TLS_CACERT "+bad+"\n")), "LDAPTLS_CACERT": good}, good + " (LDAPTLS_CACERT)", ""},
		{"no file of that name", bad, map[string]string{"LDAPCONF": filepath.Join(dir, "nosuch"), "LDAPTLS_CACERT": good}, good + " (LDAPTLS_CACERT)", ""},
		{"directory", bad, map[string]string{"LDAPTLS_CACERT": bad, "LDAPTLS_CACERTDIR": both}, both + " (LDAPTLS_CACERTDIR) and " + bad + " (LDAPTLS_CACERT)", ""},
		{"not checked", bad, map[string]string{"LDAPTLS_REQCERT": "never"}, "never (LDAPTLS_REQCERT)", ""},
		{"nothing in it", empty, map[string]string{"LDAPNOINIT": "1"}, "", "there is no certificate in " + empty + " (localcacert)"},
		{"other", good, map[string]string{"LDAPTLS_CACERT": bad}, bad + " (LDAPTLS_CACERT)", "trusted is " + bad + " (LDAPTLS_CACERT)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			_, trace, _, err := asked(t, at(port).With("ldapssl", "true", "localcacert", tt.local), "a")
			if story := traces.Story(trace); (err != nil) != (tt.fails != "") || !strings.Contains(story, tt.fails) {
				t.Errorf("got %s, %v, want %q", story, err, tt.fails)
			}
			trusted := ""
			for _, s := range trace.Spans {
				for _, a := range s.Attrs {
					if a.Key == "trusted" {
						trusted = a.Value
					}
				}
			}
			if trusted != tt.trusted {
				t.Errorf("trusted: got %s, want %s", trusted, tt.trusted)
			}
		})
	}
}
