//go:build unix

package fleet_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"indirtui/traces/fleet"
	"indirtui/traces/query"
	"indirtui/traces/store"
)

// BenchmarkShip ships recordings of 10 000 requests; the rate is in its output.
func BenchmarkShip(b *testing.B) {
	url := database(b)
	in := record(b, url, "proxy1", store.Options{})
	in.askMany(b, 10_000)
	if err := in.Close(); err != nil {
		b.Fatal(err)
	}
	shipAll(b, url, in.Path()) // makes the tables
	c := connect(b, url)
	n := 0
	for b.Loop() {
		one[bool](b, c, "WITH gone AS (DELETE FROM indirtui.instances) SELECT true")
		server.Exec(b, url, "TRUNCATE indirtui.traces, indirtui.runs")
		shipAll(b, url, in.Path())
		n += 10_000
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "traces/s")
}

// many is a database with as many requests as INDIRTUI_FLEET_ROWS has it, in runs of ten,
// of 5000 nodes and three instances, over three days.
func many(b *testing.B) (url string, n int) {
	n = 100_000
	if text := os.Getenv("INDIRTUI_FLEET_ROWS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	url, _ = filled(b, 100)
	server.Exec(b, url,
		"SELECT indirtui.day(current_date - 1), indirtui.day(current_date - 2)",
		"INSERT INTO indirtui.instances (session, name, source, shipped) SELECT 's' || i, 'proxy' || i, '', 1 FROM generate_series(2, 4) i",
		fmt.Sprintf(`INSERT INTO indirtui.traces SELECT 2 + r %% 3, i, now() - (%d - i) * interval '2 days' / %d, i, 1000000 + i %% 977, 'find',
			(ARRAY['catalog', 'node', 'facts', 'file_metadata'])[1 + i %% 4], 'node' || r %% 5000 || '.example.com', 'production', 'agent node' || r %% 5000 || '.example.com',
			CASE WHEN i %% 500 = 0 THEN 'err' ELSE 'ok' END, 'terminus', 'compiler', '', 'setting', '', lpad(to_hex(r), 8, '0'), '', true, 0, 0, false, 0, '', false, false, false,
			'', '', 100, '', '', substr(t.line, 1)
			FROM generate_series(1, %d) i, LATERAL (SELECT i / 10 AS r) r, (SELECT line FROM indirtui.traces LIMIT 1) t`, n, n, n),
		fmt.Sprintf(`INSERT INTO indirtui.runs SELECT 2 + r %% 3, lpad(to_hex(r), 8, '0'), 'node' || r %% 5000 || '.example.com', '',
			now() - (%d - 10 * r) * interval '2 days' / %d, now() - (%d - 10 * r - 9) * interval '2 days' / %d, 10 FROM generate_series(0, %d / 10) r`, n, n, n, n, n),
		"UPDATE indirtui.instances SET shipped = "+strconv.Itoa(n/3)+" WHERE id > 1",
		"ANALYZE",
	)
	return url, n
}

// BenchmarkOpen is the time until the first screen is there, and the requests of
// one node.
func BenchmarkOpen(b *testing.B) {
	url, n := many(b)
	for _, filter := range []string{"", "node=node77.example.com", "failed", "run=000000ff", "node=nodeless*"} {
		b.Run(fmt.Sprintf("%d/%s", n, filter), func(b *testing.B) {
			e, err := query.Parse(filter)
			if err != nil {
				b.Fatal(err)
			}
			var asked time.Duration
			rows := 0
			for b.Loop() {
				f, err := fleet.Open(b.Context(), url)
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				if filter != "" {
					f.Want(e)
					until(b, "the filter", func() bool { return f.Filtered() })
				}
				asked += time.Since(began)
				v := f.Store.View(e)
				for !v.Extend(0) {
				}
				rows = v.Len()
				_ = f.Close()
			}
			b.ReportMetric(float64(rows), "rows")
			b.ReportMetric(float64(asked.Milliseconds())/float64(b.N), "ms/filter")
		})
	}
}
