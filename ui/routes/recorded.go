package routes

import (
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/ui/screen"
	"indirtui/ui/session"
)

// recorded are the routes of a recording: those that the newest request of each
// indirection went by.
type recorded struct {
	last  uint64 // the newest request that was looked at
	busy  bool
	table indirector.Routes
}

type recordedRoutes struct {
	last  uint64
	table indirector.Routes
}

// depth is how many of the newest requests are looked at.
const depth = 16 << 10

// look reads the newest requests, if there are any that it has not seen.
func (c *recorded) look(r *Routes, last uint64) tea.Cmd {
	if r.engine != nil || c.busy || last == c.last {
		return nil
	}
	c.busy = true
	log := r.env.Log
	return func() tea.Msg {
		return screen.For{Screen: r, Msg: recordedRoutes{last, readRoutes(log)}}
	}
}

func (c *recorded) take(m recordedRoutes) { c.last, c.table, c.busy = m.last, m.table, false }

func readRoutes(log session.Log) indirector.Routes {
	newest := make(map[string]uint64)
	_, last := log.Range()
	for row := range session.Forward(log, last-min(last, depth)) {
		newest[row.Indirection] = row.ID
	}
	table := make(indirector.Routes, len(newest))
	for name, id := range newest {
		if t, err := log.Trace(id); err == nil {
			table[name] = indirector.Route{Primary: t.Primary, Cache: t.Cache}
		}
	}
	return table
}

func (c *recorded) rows(log session.Log) []row {
	rows := make([]row, 0, len(c.table))
	for _, name := range slices.Sorted(maps.Keys(c.table)) {
		rows = append(rows, row{name: name, route: c.table[name], traffic: log.Traffic(name)})
	}
	return rows
}
