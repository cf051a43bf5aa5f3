package ldap_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	goldap "github.com/go-ldap/ldap/v3"

	"indirtui/termini/ldap"
)

// FuzzFilter has keys in filters: each stays one value, which is the key. Rule LDAP-02.
func FuzzFilter(f *testing.F) {
	for _, key := range []string{"web01", "*", "x)(cn=y", `\2a`, "a\x00b", "grüße", "\xff", "", "(", " ", "%s"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		filter := ldap.FilterFor("(&(objectclass=puppetClient)(cn=%s))", key)
		p, err := goldap.CompileFilter(filter)
		if err != nil {
			t.Fatalf("%q: %v", filter, err)
		}
		if len(p.Children) != 2 {
			t.Fatalf("%q has %d parts", filter, len(p.Children))
		}
		name := p.Children[1]
		if name.Tag != goldap.FilterEqualityMatch || name.Children[0].Data.String() != "cn" || name.Children[1].Data.String() != key {
			t.Errorf("%q asks for %q = %q", filter, name.Children[0].Data.String(), name.Children[1].Data.String())
		}
	})
}

// FuzzEntry reads entries that are all wrong: nothing panics, every attribute but the
// environment is a parameter, and each class is there once.
func FuzzEntry(f *testing.F) {
	f.Add("cn=a,dc=b", "puppetClass", "a", "b")
	f.Add("", "", "", "")
	f.Add("CN = x", "puppetvar", "a=b", "=")
	f.Add("dc=\xff", "environment", "x", "\x00")
	f.Add("cn=,", "PARENTNODE", "p", "p")
	f.Fuzz(func(t *testing.T, dn, attribute, first, second string) {
		e := goldap.NewEntry(dn, map[string][]string{attribute: {first, second}, "cn": {first}})
		node, err := ldap.Read(e, true)
		if err != nil {
			if !strings.EqualFold(attribute, "parentnode") {
				t.Errorf("%q: %v", attribute, err)
			}
			return
		}
		if name := strings.ToLower(attribute); name != "environment" && node.Parameters.Get(name).IsNil() && utf8.ValidString(name) {
			t.Errorf("there is no parameter %q", name)
		}
		if names := node.ClassNames(); len(names) == 2 && names[0] == names[1] {
			t.Errorf("a class twice: %q", names)
		}
	})
}
