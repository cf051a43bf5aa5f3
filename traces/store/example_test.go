package store_test

import (
	"fmt"
	"time"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
)

// A store is a recorder, and what a screen reads from.
func Example() {
	s, err := store.Open(store.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	for _, key := range []string{"web01", "db07"} {
		t := &traces.Trace{Verb: traces.Find, Indirection: "node", Key: key, Start: time.Now()}
		t.ID = s.Begin(t)
		t.Outcome = traces.Good
		s.End(t, nil)
	}

	e, err := query.Parse("key=db*")
	if err != nil {
		fmt.Println(err)
		return
	}
	v := s.View(e)
	for !v.Extend(0) {
	}
	for i := range v.Len() {
		row, _ := s.Row(v.At(i))
		fmt.Println(row.ID, row.Verb, row.Indirection, row.Key, row.Outcome)
	}
	// Output: 2 find node db07 ok
}
