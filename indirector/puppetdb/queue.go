package puppetdb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
	"indirtui/traces"
)

// A Queue remembers which catalogs were queued lately, and are perhaps not stored yet. The
// zero Queue is empty. It is safe for concurrent use.
type Queue struct {
	mu sync.Mutex // guards at
	at map[string]queued
}

// queued is the catalog of a node that was queued last.
type queued struct{ produced, at time.Time }

// The nodes that a Queue remembers, and for how long: until then PuppetDB has usually
// stored a command.
const (
	maxQueued = 10_000
	queuedFor = time.Minute
)

// Add remembers a catalog. Produced may be zero if it is unknown.
func (q *Queue) Add(node string, produced, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.at) >= maxQueued {
		maps.DeleteFunc(q.at, func(_ string, x queued) bool { return now.Sub(x.at) > queuedFor })
	}
	if q.at == nil {
		q.at = map[string]queued{}
	}
	if len(q.at) < maxQueued {
		q.at[node] = queued{produced, now}
	}
}

// Ago returns how long ago the catalog of a node was queued, and whether that was lately.
func (q *Queue) Ago(node string, now time.Time) (time.Duration, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x, ok := q.at[node]
	ago := now.Sub(x.at)
	return ago, ok && ago <= queuedFor
}

// stored forgets the catalog of a node, unless a newer one than that was queued.
func (q *Queue) stored(node string, produced time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if x, ok := q.at[node]; ok && !x.produced.After(produced) {
		delete(q.at, node)
	}
}

// lately returns the catalogs that were queued lately.
func (q *Queue) lately(now time.Time) map[string]queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := maps.Clone(q.at)
	maps.DeleteFunc(out, func(_ string, x queued) bool { return now.Sub(x.at) > queuedFor })
	return out
}

// maxAsked is for how many nodes is asked whether their catalogs are stored.
const maxAsked = 20

// awaited explains what was found of exporters by catalogs that this process queued lately:
// PuppetDB is asked which of them it has stored. It asks only if there are any, and a
// trace. Rule STORE-COL-12.
func (c *Client) awaited(ctx context.Context, host string, found []*model.Resource) {
	if traces.FromContext(ctx) == nil {
		return
	}
	lately := c.sent.lately(c.now())
	delete(lately, host)
	if len(lately) == 0 {
		return
	}
	nodes := slices.SortedFunc(maps.Keys(lately), func(a, b string) int { return lately[b].at.Compare(lately[a].at) })
	nodes = nodes[:min(len(nodes), maxAsked)]
	stored, err := c.producedAt(ctx, nodes)
	if err != nil {
		traces.AddNote(ctx, "which of the catalogs that were queued lately are stored could not be asked: "+reason(err))
		return
	}
	slices.Sort(nodes)
	for _, node := range nodes {
		at, there := stored[node]
		if there && !at.Before(lately[node].produced) {
			c.sent.stored(node, at)
			continue
		}
		what := "the catalog"
		if there {
			what = "a newer catalog"
		}
		note := traces.AddNote
		if len(found) == 0 {
			note = traces.Explain
		}
		for _, r := range found {
			if r.Exporter == node {
				r.Produced, r.Queued = at, lately[node].at
				note = traces.Explain
			}
		}
		note(ctx, fmt.Sprintf("%s of %s was queued %s ago, and is not stored yet", what, node, traces.Human(c.now().Sub(lately[node].at))))
	}
}

// producedAt returns when the catalogs of nodes that PuppetDB has were produced.
func (c *Client) producedAt(ctx context.Context, nodes []string) (map[string]time.Time, error) {
	these := []data.Value{word("or")}
	for _, node := range nodes {
		these = append(these, list(word("="), word("certname"), word(node)))
	}
	v, err := c.Query(ctx, list(word("from"), word(entities[command.ReplaceCatalog]), list(word("extract"), list(word("certname"), word(timestamp)), list(these...))))
	if err != nil {
		return nil, err
	}
	out := map[string]time.Time{}
	for _, row := range v.List() {
		if at, err := time.Parse(time.RFC3339Nano, row.Get(timestamp).Str()); err == nil {
			out[row.Get("certname").Str()] = at
		}
	}
	return out, nil
}

// timestamp is the field of catalogs, facts and reports by which they are newer or older.
const timestamp = "producer_timestamp"
