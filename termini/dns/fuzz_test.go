package dns_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/miekg/dns"

	terminus "indirtui/termini/dns"
)

// FuzzRecords reads texts of records: nothing panics, and their order does not count.
// Rule DNS-05.
func FuzzRecords(f *testing.F) {
	for _, text := range []string{"class=a,b\nclass=c", "role=a\nrole=b", "environment=a\nparent=x", "v=spf1\n=\n==", "a=\xff\nb=\x00", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		texts := bytes.Split(text, []byte("\n"))
		node, err := terminus.Read(texts)
		slices.Reverse(texts)
		again, err2 := terminus.Read(texts)
		if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("%v, and in reverse %v", err, err2)
		}
		if err == nil && dataOf(node) != dataOf(again) {
			t.Errorf("got %s, and in reverse %s", dataOf(node), dataOf(again))
		}
	})
}

// FuzzKey has keys as names: what is asked is the key and nothing else. Rule DNS-01.
func FuzzKey(f *testing.F) {
	for _, key := range []string{"web01.example.com", "a\\.b", "a..b", ".", "", "*.example.com", "a\x00b", "_x.y.", "ü"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if !terminus.IsHostName(key) {
			return
		}
		m := new(dns.Msg).SetQuestion(dns.Fqdn(key), dns.TypeTXT)
		wire, err := m.Pack()
		if err != nil {
			t.Fatalf("%q: %v", key, err)
		}
		var back dns.Msg
		if err := back.Unpack(wire); err != nil || back.Question[0].Name != dns.Fqdn(key) {
			t.Errorf("%q was asked as %q, %v", key, back.Question[0].Name, err)
		}
	})
}
