package sqlstore_test

import (
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/sqlstore"
	"indirtui/indirector/stores"
)

type settings map[string]string

func (s settings) Get(name string) (value, source string) { return s[name], "test" }

// What is known of a store stays when settings change and it is made anew.
func TestStateStays(t *testing.T) {
	t.Parallel()
	var last any
	handle := func(path string) *sqlstore.Handle {
		h := sqlstore.Of(indirector.Env{
			Settings: settings{"sqlite_database": path}, Now: time.Now,
			Shared: func(_ string, make func(before any) any) any {
				last = make(last)
				return last
			},
		}, sqlstore.SQLite)
		t.Cleanup(func() {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
		return h
	}
	if _, err := handle("/dev/null/stores.db").Open(t.Context()); err == nil {
		t.Fatal("a store is open that cannot be")
	}
	if s := handle(t.TempDir() + "/stores.db").State(); s.Last[stores.Failed].Count != 1 || !s.Failing {
		t.Errorf("got %+v, want what was known before", s)
	}
}
