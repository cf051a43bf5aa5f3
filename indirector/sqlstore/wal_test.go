package sqlstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"indirtui/indirector/sqlstore"
)

// TestCloseLeavesOneFile checks that nothing is left in the log.
func TestCloseLeavesOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: filepath.Join(dir, "stores.db")})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, s, facts(t, "a", 1, `{"k":1}`))
	if _, err := s.Facts(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v", entries, err)
	}
}
