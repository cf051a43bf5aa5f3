package compiler_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/traces"
)

// stores are the termini that keep catalogs themselves, with the settings of one that is
// used by a test alone.
var stores = []struct {
	name     string
	settings func(root string) []settings.Override
}{
	{"sqlite", func(root string) []settings.Override {
		return []settings.Override{{Name: "sqlite_database", Value: filepath.Join(root, "stores.db")}}
	}},
}

// Catalogs that are stored by one compile are collected from by the next, with no server.
// Rules STORE-COL-01 to STORE-COL-11.
func TestGoldenCollectStored(t *testing.T) {
	t.Parallel()
	for _, b := range stores {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range collectCases(t) {
				t.Run(c.ID, func(t *testing.T) {
					t.Parallel()
					root := t.TempDir()
					c.play(t, root, b.name, b.settings(root))
				})
			}
		})
	}
}

// play compiles the catalogs of a case, one after the other.
func (c *collectCase) play(t *testing.T, root, backend string, set []settings.Override) {
	e := withStore(t, root, termini.All(), append(set, settings.Override{Name: "storeconfigs_backend", Value: backend})...)
	cache := ""
	for i, s := range c.Steps {
		name := fmt.Sprint(i, " ", s.Compile)
		switch {
		case s.Refuse:
			t.Logf("step %d is about a server that refuses: what follows is left out", i)
			return
		case s.Swallow:
			cache = indirector.Off
		case s.Deactivate != "":
			req := &indirector.Request{Indirection: "node", Verb: indirector.Destroy, Key: s.Deactivate + ".example.com", Terminus: backend, Cache: indirector.Off}
			if _, err := e.Do(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		default:
			s.layOut(t, root, c.Site)
			t.Run(name, func(t *testing.T) {
				resp, err := s.ask(t, e, cache)
				s.compare(t, root, resp, err)
			})
			cache = ""
		}
	}
}

// What the first line of a compile has from the store. Issue 13.
func TestStoredFirstLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, site string
		want       *regexp.Regexp
	}{
		{
			"without its secret", "@@file { '/tmp/secret': content => Sensitive('hunter2') }",
			regexp.MustCompile(`^content of File\[/tmp/secret\] was Sensitive at a01\.example\.com and is not in the store$`),
		},
		{
			"stored when", "@@file { '/tmp/plain': ensure => absent }",
			regexp.MustCompile(`^collected 1 resource of a01\.example\.com, stored \d+ s ago$`),
		},
	} {
		for _, b := range stores {
			t.Run(b.name+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				root := t.TempDir()
				e := withStore(t, root, termini.All(), append(b.settings(root), settings.Override{Name: "storeconfigs_backend", Value: b.name})...)
				site := "node 'a01.example.com' { " + tt.site + " }\nnode default { File <<| |>> }\n"
				var resp indirector.Response
				for _, node := range []string{"a01", "b01"} {
					s := step{Compile: node}
					s.layOut(t, root, site)
					var err error
					if resp, err = s.ask(t, e, ""); err != nil {
						t.Fatal(err)
					}
				}
				if err := e.Store.Flush(); err != nil {
					t.Fatal(err)
				}
				tr, err := e.Store.Trace(resp.Trace)
				if err != nil {
					t.Fatal(err)
				}
				if got := traces.Story(tr); !tt.want.MatchString(got) {
					t.Errorf("got %s, want %v", got, tt.want)
				}
			})
		}
	}
}
