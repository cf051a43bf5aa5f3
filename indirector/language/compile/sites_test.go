package compile_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/golden"
)

// A siteRow is a row of sites.jsonl: its files by their names, and what testdata/sites.rb
// recorded.
type siteRow struct {
	Files map[string]string `json:"files"`
	outcome
}

// check compiles a site in a directory of its own.
func (s *siteRow) check(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range s.Files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := openRecording(t, dir)
	if why := r.beyond(); why != "" {
		t.Skip("it needs " + why)
	}
	r.compare(t, s.outcome)
	if t.Failed() {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(s.Files)) {
			b.WriteString("== " + name + "\n" + s.Files[name])
		}
		t.Log(b.String())
	}
}

// Sites about which we once differed from real Puppet, and what it made of them.
// testdata/sites.rb recorded them.
func TestRecordedSites(t *testing.T) {
	t.Parallel()
	for i, s := range recordedSites(t) {
		t.Run(strconv.Itoa(i), func(t *testing.T) { s.check(t) })
	}
}

// The recordings are what the Puppet that is installed answers.
func TestRecordedSitesAgain(t *testing.T) {
	t.Parallel()
	golden.NeedsPuppet(t)
	if _, err := os.Stat(systemModules + "/stdlib"); err != nil {
		t.Skip("the module stdlib is not installed, which some rows need")
	}
	rows := recordedSites(t)
	for i, a := range golden.Ask[siteRow](t, rows, "testdata/sites.rb") {
		if a.Error != rows[i].Error || string(a.Catalog) != string(rows[i].Catalog) || !slices.Equal(a.Logs, rows[i].Logs) {
			t.Errorf("%v\nis answered otherwise now: %s %s %v", a.Files, a.Error, a.Catalog, a.Logs)
		}
	}
}

// Random sites become what they become with real Puppet. INDIRTUI_SITES is how many there
// are, INDIRTUI_SITES_SEED which.
func TestRandomSites(t *testing.T) {
	t.Parallel()
	golden.NeedsPuppet(t)
	count, seed := 250, uint64(1)
	if s := os.Getenv("INDIRTUI_SITES"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("INDIRTUI_SITES_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	g := siteGenerator{Rand: rand.New(rand.NewPCG(seed, 1))}
	questions := make([]siteRow, count)
	for i := range questions {
		questions[i].Files = g.site()
	}
	catalogs := 0
	for i, s := range golden.Ask[siteRow](t, questions, "testdata/sites.rb") {
		if s.Error == "" {
			catalogs++
		}
		t.Run(strconv.Itoa(i), func(t *testing.T) { s.check(t) })
	}
	t.Logf("%d of %d sites are catalogs; INDIRTUI_SITES_SEED=%d has them again", catalogs, count, seed)
	if catalogs*10 < count {
		t.Errorf("only %d of %d sites compile", catalogs, count)
	}
}

func recordedSites(t *testing.T) []siteRow {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "sites.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return golden.Decode[siteRow](t, f)
}
