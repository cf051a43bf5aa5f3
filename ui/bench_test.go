package ui_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/screen"
	"indirtui/ui/uitest"
)

// million returns a log of n requests.
func million(b *testing.B, n int) *store.Store {
	b.Helper()
	s, err := store.Open(store.Options{Now: func() time.Time { return uitest.Began }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprintf("web%04d.example.com", i)
	}
	inds := []string{"facts", "node", "catalog", "file_metadata"}
	slot := traces.Slot{{Terminus: "yaml", Kind: traces.FromSetting, Source: "setting"}}
	for i := range n {
		tr := &traces.Trace{
			Verb: traces.Find, Indirection: inds[i%4], Key: keys[i%1000], Primary: slot, Outcome: traces.Good, Served: traces.ByTerminus,
			Start: uitest.Began.Add(time.Duration(i) * time.Millisecond), Took: time.Duration(i%500) * time.Millisecond,
		}
		if i%1000 == 7 {
			tr.Outcome = traces.NilHidden
		}
		tr.ID = s.Begin(tr)
		s.End(tr, nil)
	}
	if err := s.Flush(); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkKeyToFrame is what the user waits for: a key, and the frame after
// it, at a million rows.
func BenchmarkKeyToFrame(b *testing.B) {
	log := million(b, 1_000_000)
	p := uitest.New(b, ui.Config{Log: log}, 140, 40)
	m := p.Model()
	for _, bench := range []struct {
		name string
		keys []tea.KeyMsg
	}{
		{"down-up", []tea.KeyMsg{{Type: tea.KeyUp}, {Type: tea.KeyDown}}},
		{"first-last", []tea.KeyMsg{{Type: tea.KeyRunes, Runes: []rune("g")}, {Type: tea.KeyRunes, Runes: []rune("G")}}},
		{"places", []tea.KeyMsg{{Type: tea.KeyRunes, Runes: []rune("2")}, {Type: tea.KeyRunes, Runes: []rune("1")}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				p.Send(bench.keys[i%len(bench.keys)])
				_ = m.View()
				i++
			}
		})
	}
}

// BenchmarkFrame is one frame of the list.
func BenchmarkFrame(b *testing.B) {
	m := uitest.New(b, ui.Config{Log: uitest.Site(b)}, 140, 40).Model()
	b.ReportAllocs()
	for b.Loop() {
		_ = m.View()
	}
}

// BenchmarkFilter is a filter over a million rows, from the last key until it
// is complete.
func BenchmarkFilter(b *testing.B) {
	log := million(b, 1_000_000)
	p := uitest.New(b, ui.Config{Log: log}, 140, 40)
	b.ReportAllocs()
	for b.Loop() {
		p.Keys("/", "ctrl+u")
		p.Paste("out=nil!")
		p.Keys("enter").Want("1 000 shown")
	}
}

// BenchmarkMonkey is the slowest frames when keys are pressed at random
// at a million rows, in the order of numbers and sorted by a column: 99 of 100 are
// there within 50 ms.
func BenchmarkMonkey(b *testing.B) {
	log := million(b, 1_000_000)
	for _, column := range []string{"#", "key"} {
		b.Run(column, func(b *testing.B) { benchmarkMonkey(b, log, column) })
	}
}

func benchmarkMonkey(b *testing.B, log *store.Store, column string) {
	p := uitest.New(b, ui.Config{Log: log}, 140, 40)
	m := p.Model()
	p.Send(screen.Sort{Column: column})
	keys := []string{"j", "k", "G", "g", "ctrl+d", "ctrl+u", "pgup", "enter", "esc", "1", "2", "5j", "F", "t", "]", "[", "space", "<"}
	r := rand.New(rand.NewPCG(1, 9))
	var took []time.Duration
	for b.Loop() {
		key := keys[r.IntN(len(keys))]
		p.Busy = 0
		p.Keys(key)
		began := time.Now()
		_ = m.View()
		took = append(took, p.Busy+time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
}

// BenchmarkSort is sorting a million rows by each column, from the key until
// the order is there.
func BenchmarkSort(b *testing.B) {
	p := uitest.New(b, ui.Config{Log: million(b, 1_000_000)}, 140, 40)
	for _, column := range []string{"verb", "ind", "key", "served", "ms", "out"} {
		b.Run(column, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Send(screen.Sort{Column: column})
			}
			p.Want("sort: " + column)
		})
	}
}
