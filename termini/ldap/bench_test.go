package ldap_test

import (
	"log/slog"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/termini/ldap"
)

// BenchmarkFind finds a node with two parents in a real directory.
func BenchmarkFind(b *testing.B) {
	server := startSlapd(b, clienttest.New(b, "CA").Issue(b, "localhost", clienttest.Local))
	terminus, err := ldap.Node.New(indirector.Env{Settings: at(server.plain).With("ldapbase", "dc=example,dc=com"), Log: slog.New(slog.DiscardHandler), Now: time.Now, Do: nothing})
	if err != nil {
		b.Fatal(err)
	}
	defer terminus.(*ldap.Terminus).Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := terminus.(indirector.Finder).Find(b.Context(), &indirector.Request{Key: "child01.example.com", Environment: "production"}); err != nil {
			b.Fatal(err)
		}
	}
}
