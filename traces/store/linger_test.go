package store_test

import (
	"cmp"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
)

// Requests pile up for a moment before the writer takes them, but not where they are
// waited for, and not as many as there is room for.
func TestLinger(t *testing.T) {
	t.Parallel()
	const many = 64
	for _, c := range []struct {
		name  string
		keep  int
		then  func(*store.Store)
		after time.Duration // the most
	}{
		{"one", 1, func(*store.Store) { time.Sleep(5 * time.Millisecond) }, 5 * time.Millisecond},
		{"one that is waited for", 1, func(s *store.Store) { _ = s.Flush() }, 0},
		{"many", many / 2, func(*store.Store) { synctest.Wait() }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, err := store.Open(store.Options{Details: many})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				ask := func(n int) (first uint64) {
					for i := range n {
						id := s.Keep(&traces.Trace{Verb: traces.Find, Indirection: "facts", Key: fmt.Sprint(i), Took: 1}, nil)
						first = cmp.Or(first, id)
					}
					return first
				}
				synctest.Wait()
				id := ask(1)
				synctest.Wait()
				if _, waits := s.Asked(id); !waits {
					t.Error("the writer took the first one at once")
				}
				began := time.Now()
				id = ask(c.keep)
				c.then(s)
				if _, waits := s.Asked(id); waits || time.Since(began) > c.after {
					t.Errorf("it waits: %v, after %v", waits, time.Since(began))
				}
			})
		})
	}
}
