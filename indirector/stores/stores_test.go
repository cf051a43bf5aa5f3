package stores_test

import (
	"slices"
	"testing"
	"time"

	"indirtui/indirector/stores"
)

// What the screen has of a store, and whether it draws attention.
func TestState(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 1, 2, 10, 42, second, 0, time.UTC) }
	const facts = "replace facts of web01"
	queue := func(l *stores.Log) { l.Add(stores.Queued, at(7), facts+" at pdb1:8081") }
	for _, tt := range []struct {
		name    string
		events  []func(*stores.Log)
		dropped []string
		line    string
		bad     bool
		lines   []string
	}{
		{name: "nothing was sent"},
		{name: "it answers", events: []func(*stores.Log){(*stores.Log).Reached}},
		{name: "queued", events: []func(*stores.Log){queue}, line: "db: queued 10:42:07", lines: []string{"db: queued 10:42:07, replace facts of web01 at pdb1:8081"}},
		{
			name: "some wait", events: []func(*stores.Log){queue, func(l *stores.Log) { l.Waits(3, at(8)) }},
			line: "db: queued 10:42:07, 3 waiting", lines: []string{"db: queued 10:42:07, replace facts of web01 at pdb1:8081", "db: 3 waiting 10:42:08"},
		},
		{
			name: "stored", events: []func(*stores.Log){queue, func(l *stores.Log) { l.Add(stores.Stored, at(8), facts) }},
			line: "db: stored 10:42:08", lines: []string{"db: queued 10:42:07, replace facts of web01 at pdb1:8081", "db: stored 10:42:08, replace facts of web01"},
		},
		{
			name: "queued after that", events: []func(*stores.Log){func(l *stores.Log) { l.Add(stores.Stored, at(6), facts) }, queue},
			line: "db: queued 10:42:07",
		},
		{
			name: "none wait any more", events: []func(*stores.Log){queue, func(l *stores.Log) { l.Waits(3, at(8)); l.Add(stores.Stored, at(9), facts) }},
			line: "db: stored 10:42:09",
		},
		{
			name: "PDB-HTTP-10 dropped", events: []func(*stores.Log){queue}, dropped: []string{"https://pdb2:8081"}, bad: true,
			line: "db: 1 submit-only dropped, :stores retry",
			lines: []string{
				"db: queued 10:42:07, replace facts of web01 at pdb1:8081",
				"db: https://pdb2:8081 did not answer twice in a row, and gets no commands; :stores retry brings it back",
			},
		},
		{
			name: "refused", events: []func(*stores.Log){queue, func(l *stores.Log) { l.Add(stores.Refused, at(8), "it has a NUL") }}, bad: true,
			line: "db: refused 10:42:08", lines: []string{"db: queued 10:42:07, replace facts of web01 at pdb1:8081", "db: refused 10:42:08, it has a NUL"},
		},
		{
			name: "refused before", events: []func(*stores.Log){func(l *stores.Log) {
				l.Add(stores.Refused, at(6), "it has a NUL")
				l.Add(stores.Refused, at(6), "again")
			}, queue},
			line: "db: queued 10:42:07, 2 refused", lines: []string{"db: queued 10:42:07, replace facts of web01 at pdb1:8081", "db: refused 10:42:06, again; 2 in all"},
		},
		{
			name: "failed", events: []func(*stores.Log){queue, func(l *stores.Log) { l.Add(stores.Failed, at(7), "connection refused") }}, bad: true,
			line: "db: failed 10:42:07", lines: []string{"db: queued 10:42:07, replace facts of web01 at pdb1:8081", "db: failed 10:42:07, connection refused"},
		},
		{
			name: "failed, and it answers again", events: []func(*stores.Log){func(l *stores.Log) { l.Add(stores.Failed, at(8), "connection refused") }, (*stores.Log).Reached},
			line: "db: 1 failed", lines: []string{"db: failed 10:42:08, connection refused"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := stores.NewLog("db")
			for _, e := range tt.events {
				e(l)
			}
			s := l.State()
			s.Dropped = tt.dropped
			if line, well := s.Line(time.UTC); line != tt.line || well == tt.bad {
				t.Errorf("got %q, well %v, want %q", line, well, tt.line)
			}
			if got := s.Lines(time.UTC); (tt.lines != nil || tt.line == "") && !slices.Equal(got, tt.lines) {
				t.Errorf("got %q, want %q", got, tt.lines)
			}
			if len(tt.events) > 1 && s.Newest().Before(at(6)) {
				t.Errorf("the newest is of %v", s.Newest())
			}
		})
	}
	l := stores.NewLog("db")
	queue(l)
	s := l.State()
	if line, _ := s.Line(time.FixedZone("", 3600)); line != "db: queued 11:42:07" {
		t.Errorf("in another zone: %q", line)
	}
}
