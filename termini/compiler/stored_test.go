package compiler_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/settings"
	"indirtui/termini"
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
			if !slices.ContainsFunc(termini.All(), func(d indirector.Descriptor) bool { return d.Indirection == "resource" && d.Name == b.name }) {
				t.Skipf("this program has no terminus %s of resource", b.name)
			}
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
