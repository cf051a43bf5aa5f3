package hiera

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"indirtui/indirector/data"
)

// A cache does not grow with the number of nodes, each of which has files of its own.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte("a: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewCache()
	for i := range maxFiles {
		c.files[strconv.Itoa(i)] = &file{}
	}
	f, err := c.load(path, nil, func([]byte) (data.Value, error) { return data.OfHash([]data.Pair{data.P("a", data.OfInt(1))}), nil })
	if err != nil || f.index["a"].Int() != 1 || len(c.files) != 1 {
		t.Errorf("%v: got %d files", err, len(c.files))
	}
}
