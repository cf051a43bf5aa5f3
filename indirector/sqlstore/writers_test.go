package sqlstore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"indirtui/indirector/sqlstore"
	"indirtui/indirector/sqlstore/storetest"
)

// TestManyWriters has 50 writers of five programs store catalogs and facts of ten nodes in
// PostgreSQL, whose parameters and declarations they share, while one sweeps: none fails,
// each node has the last of its catalogs, whole, and what was tried again is shown.
// INDIRTUI_STORES_COMMANDS is how many commands each stores. Rule STORE-SQL-10.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	const writers, nodes, programs = 50, 10, 5
	commands := 6
	if n, err := strconv.Atoi(os.Getenv("INDIRTUI_STORES_COMMANDS")); err == nil {
		commands = n
	}
	o := sqlstore.Options{URL: storetest.Postgres(t), Retention: sqlstore.Retention{Report: time.Hour}}
	stores := make([]*sqlstore.Store, programs)
	for i := range stores {
		stores[i] = open(t, o)
	}
	var retried, older, done atomic.Int64
	var work, sweeps sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			for i := range commands {
				node := fmt.Sprint("n", w%nodes)
				c := catalog(t, node, float64(i), shuffled(i), `[["r0","r1","contains"]]`)
				if (w+i)%3 == 0 {
					c = facts(t, node, float64(i), fmt.Sprintf(`{"generation":%d,"writer":%d}`, i, w))
				}
				o, err := stores[w%programs].Apply(t.Context(), c)
				if err != nil {
					t.Error(err)
				}
				retried.Add(int64(o.Retries))
				if o.Result == sqlstore.Older {
					older.Add(1)
				}
			}
			done.Add(1)
		})
	}
	swept := 0
	sweeps.Go(func() {
		for ; done.Load() < writers; swept++ {
			if _, err := stores[0].Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	work.Wait()
	sweeps.Wait()
	t.Logf("%d commands: %d older, %d transactions tried again; %d sweeps beside them, %d deadlocks in all tests", writers*commands, older.Load(), retried.Load(), swept, deadlocks(t, o))
	checked(t, stores[0])
	for n := range nodes {
		c, err := stores[0].Catalog(t.Context(), fmt.Sprint("n", n))
		if err != nil || c == nil {
			t.Fatal(c, err)
		}
		g := int(c.Produced.Sub(epoch) / time.Second)
		if is, want := len(c.Catalog.Resources), parse(t, shuffled(g)).Len(); is != want || g < commands-2 {
			t.Errorf("n%d has %d resources of generation %d, want %d of one of the last", n, is, g, want)
		}
		for _, r := range c.Catalog.Resources {
			if is := r.Parameters.Get("generation"); !is.IsNil() && int(is.Int()) != g {
				t.Errorf("%s of n%d is of generation %v, others of %d", r.Ref(), n, is, g)
			}
		}
	}
}

// shuffled are resources of a generation in any order: half of them are the same in each.
func shuffled(generation int) string {
	all := make([]string, 60+generation%7)
	for i := range all {
		parameters := fmt.Sprintf(`{"generation":%d,"number":%d}`, generation, i)
		if i%2 == 0 {
			parameters = fmt.Sprintf(`{"number":%d}`, i)
		}
		all[i] = fmt.Sprintf(`{"title":"r%d","file":"/%d.pp","exported":%t,"tags":["t%d"],"parameters":%s}`, i, i%9, i%5 == 0, (generation+i)%9, parameters)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return "[" + strings.Join(all, ",") + "]"
}

// deadlocks returns how many PostgreSQL has ended.
func deadlocks(t *testing.T, o sqlstore.Options) (n int) {
	t.Helper()
	if err := connect(t, o).QueryRowContext(t.Context(), "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
