package sqlstore_test

import (
	"database/sql"
	"sync"
	"testing"
	"time"

	"indirtui/indirector/sqlstore"
	"indirtui/indirector/sqlstore/storetest"
)

// Connections that PostgreSQL has closed because they were idle are not noticed by those
// who ask again, nor tried again as a conflict is. Rule STORE-SQL-10.
func TestIdle(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	s := open(t, sqlstore.Options{URL: url + "&application_name=idle&idle_session_timeout=200"})
	watch, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	for range 2 {
		for name, ask := range map[string]func() error{
			"write": func() error {
				_, err := s.Apply(t.Context(), facts(t, "n1", 1, `{"a":1}`))
				return err
			},
			"read": func() error {
				_, err := s.Facts(t.Context(), "n1")
				return err
			},
		} {
			var all sync.WaitGroup
			for range 8 { // so that there are several connections
				all.Go(func() {
					if err := ask(); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			all.Wait()
			tick := time.NewTicker(50 * time.Millisecond)
			for open, late := 1, time.Now().Add(time.Minute); open > 0; <-tick.C {
				if err := watch.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'idle'").Scan(&open); err != nil {
					t.Fatal(err)
				}
				if time.Now().After(late) {
					t.Fatalf("%d connections are not closed", open)
				}
			}
			tick.Stop()
			if err := ask(); err != nil { // alone
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
