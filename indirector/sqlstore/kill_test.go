package sqlstore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"indirtui/indirector/sqlstore"
	"indirtui/indirector/sqlstore/storetest"
)

// killEnv names the store of a child that stores until it is killed, and the
// generation with which it begins.
const (
	killEnv       = "INDIRTUI_STORES_CHILD"
	generationEnv = "INDIRTUI_STORES_GENERATION"
	writers       = 3
)

// TestChild is no test: it is the process that TestKill kills.
func TestChild(t *testing.T) {
	at := os.Getenv(killEnv)
	if at == "" {
		t.Skip("it is the child of TestKill")
	}
	o := sqlstore.Options{Path: at}
	if strings.HasPrefix(at, "postgres:") {
		o = sqlstore.Options{URL: at}
	}
	s := open(t, o)
	first, err := strconv.Atoi(os.Getenv(generationEnv))
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			for g := first; ; g++ {
				if _, err := s.Apply(context.Background(), catalog(t, fmt.Sprint("n", w), float64(g), generation(g), `[["r0","r1","contains"]]`)); err != nil {
					t.Error(err)
					return
				}
				fmt.Println("stored", g)
			}
		})
	}
	work.Wait()
}

// generation are resources that all have the same number, and of which a third come and go.
func generation(g int) string {
	var all []string
	for i := range 60 {
		if i > 1 && i%3 == g%3 {
			continue
		}
		all = append(all, fmt.Sprintf(`{"title":"r%d","exported":%t,"tags":["g%d"],"parameters":{"generation":%d}}`, i, i%7 == 0, g%5, g))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// TestKill kills a process that stores, and looks at what it leaves: each node has one
// whole catalog, and the hashes are right. INDIRTUI_STORES_KILLS is how often. Rule
// STORE-SQL-02.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 20
	if n, err := strconv.Atoi(os.Getenv("INDIRTUI_STORES_KILLS")); err == nil {
		kills = n
	}
	for name, o := range map[string]func() sqlstore.Options{
		"sqlite":     func() sqlstore.Options { return sqlstore.Options{Path: filepath.Join(t.TempDir(), "stores.db")} },
		"postgresql": func() sqlstore.Options { return sqlstore.Options{URL: storetest.Postgres(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := o()
			last := 0
			for range kills {
				last = max(last, killed(t, o, last+1))
				s, err := sqlstore.Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				checked(t, s)
				for w := range writers {
					last = max(last, whole(t, s, fmt.Sprint("n", w)))
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if last < kills {
				t.Errorf("only %d generations were stored", last)
			}
		})
	}
}

// killed starts a child, and kills it at a moment of chance. It returns the last
// generation that was reported as stored.
func killed(t *testing.T, o sqlstore.Options, first int) (last int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), killEnv+"="+o.Path+o.URL, generationEnv+"="+strconv.Itoa(first))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var read []string
	for n := 1 + rand.IntN(20); n > 0 && lines.Scan(); n-- {
		read = append(read, lines.Text())
		if g, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "stored ")); err == nil {
			last = g
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // it was killed
	if last == 0 {
		t.Fatalf("the child stored nothing: %q", read)
	}
	return last
}

// whole checks that the catalog of a node, if there is one, is of one generation, which
// it returns.
func whole(t *testing.T, s *sqlstore.Store, certname string) int {
	t.Helper()
	c, err := s.Catalog(t.Context(), certname)
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		return 0
	}
	g := int(c.Catalog.Resources[0].Parameters.Get("generation").Int())
	want := parse(t, generation(g)).Len()
	if len(c.Catalog.Resources) != want {
		t.Errorf("%s has %d resources of generation %d, want %d", certname, len(c.Catalog.Resources), g, want)
	}
	for _, r := range c.Catalog.Resources {
		if is := int(r.Parameters.Get("generation").Int()); is != g {
			t.Errorf("%s: %s is of generation %d, others of %d", certname, r.Ref(), is, g)
		}
	}
	return g
}
