package fleet

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
)

// loadOlder reads the next page of all requests.
func (f *Fleet) loadOlder(ctx context.Context, c conn, limit int) error {
	f.mu.Lock()
	than := f.oldest
	f.mu.Unlock()
	list, err := (&page{where: "TRUE"}).older(ctx, c, than, limit)
	if err != nil {
		return err
	}
	if err := f.join(ctx, c, list); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.older = len(list) < limit, false
	if len(list) == 0 {
		return nil
	}
	f.oldest = list[len(list)-1]
	for _, r := range list {
		f.forget(r.key) // a filter may have had it
		f.forget(key{r.instance, r.parent})
	}
	order := f.order(list)
	if uint64(len(order)) >= f.low-f.low/2 { // many old ones were shipped since
		f.ended = true
		return errors.New("there are no numbers left: open it again")
	}
	f.low -= uint64(len(order))
	f.add(order, f.low, list)
	return nil
}

// forget takes out a request that was loaded for a filter. f.mu is held.
func (f *Fleet) forget(k key) {
	id, known := f.ids[k]
	if !known || id >= f.low {
		return
	}
	delete(f.ids, k)
	if _, there := f.refs[id]; there {
		delete(f.refs, id)
		f.Store.Remove([]uint64{id})
	}
}

// order is in which the keys of requests get numbers: by time, but what asked
// comes before what was asked, also where it is not there yet. f.mu is held.
func (f *Fleet) order(list []*found) (order []key) {
	byKey := make(map[key]*found, len(list))
	for _, r := range list {
		byKey[r.key] = r
		for id := range strings.FieldsSeq(r.sent) {
			f.spans[id] = r.key
		}
	}
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b *found) int {
		if c := f.corrected(a).Compare(f.corrected(b)); c != 0 {
			return c
		}
		if a.before(b) {
			return -1
		}
		return 1
	})
	placed := map[key]bool{}
	var put func(k key, depth int)
	put = func(k key, depth int) {
		if _, known := f.ids[k]; known || placed[k] {
			return
		}
		const deepest = 100
		if r := byKey[k]; r != nil && depth < deepest { // which ends loops
			if up, ok := f.cause(r); ok && up != k {
				put(up, depth+1)
			}
		}
		if !placed[k] {
			placed[k] = true
			order = append(order, k)
		}
	}
	for _, r := range sorted {
		put(r.key, 0)
	}
	return order
}

// cause is the request that asked r: in its process, or over the network.
func (f *Fleet) cause(r *found) (key, bool) {
	if r.parent != 0 {
		return key{r.instance, r.parent}, true
	}
	if p, ok := traces.ParseTraceparent(r.traceparent); ok {
		k, ok := f.spans[hex.EncodeToString(p.Span[:])]
		return k, ok
	}
	return key{}, false
}

// corrected is when a request began by the database's clock.
func (f *Fleet) corrected(r *found) time.Time {
	if i := f.instances[r.instance]; i != nil {
		return r.at.Add(-i.Offset)
	}
	return r.at
}

// add numbers requests in an order, and gives them to the store. f.mu is held.
func (f *Fleet) add(order []key, from uint64, list []*found) {
	for i, k := range order {
		f.ids[k] = from + uint64(i)
	}
	entries := make([]store.Entry, 0, len(list))
	for _, r := range list {
		id := f.ids[r.key]
		if _, there := f.refs[id]; there {
			continue
		}
		f.refs[id] = ref{r.key, r.at}
		e := store.Entry{ID: id, Head: r.head}
		if up, ok := f.cause(r); ok {
			e.Parent = f.ids[up]
		}
		if r.good != 0 {
			e.Good = f.ids[key{r.instance, r.good}]
		}
		if i := f.instances[r.instance]; i != nil {
			e.Head.From = i.Name
		}
		if r.head.Run != "" {
			k := runKey{r.instance, r.head.Run}
			f.runs[k] = append(f.runs[k], id)
			if j, ok := f.joins[k]; ok && j.name != r.head.Run {
				e.Head.Run, e.Head.Transaction = j.name, ""
				e.Head.Guessed = e.Head.Guessed || j.guessed
			}
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b store.Entry) int { return int(int64(a.ID) - int64(b.ID)) })
	f.Store.Add(entries, f.low)
}

// join reads the runs around requests, and finds out which are one.
func (f *Fleet) join(ctx context.Context, c conn, list []*found) error {
	var first, last time.Time
	known := map[runKey]bool{}
	var of []int32
	var names []string
	for _, r := range list {
		k := runKey{r.instance, r.head.Run}
		if k.run == "" {
			continue
		}
		if first.IsZero() || r.at.Before(first) {
			first = r.at
		}
		if r.at.After(last) {
			last = r.at
		}
		if !known[k] {
			known[k] = true
			of, names = append(of, k.instance), append(names, k.run)
		}
	}
	if first.IsZero() {
		return nil
	}
	// What their nodes did meanwhile, and those of which the node is not known.
	const these = "unnest($1::int[], $2::text[]) AS x(instance, run)"
	parts, err := partsOf(ctx, c, `lower(r.node) IN (SELECT lower(k.node) FROM indirtui.runs k JOIN `+these+` USING (instance, run) WHERE k.node <> '')
		AND r.last >= $3 AND r.first <= $4`, of, names, first.Add(-2*near), last.Add(2*near))
	if err != nil {
		return err
	}
	alone, err := partsOf(ctx, c, "r.node = '' AND (r.instance, r.run) IN (SELECT * FROM "+these+")", of, names)
	if err != nil {
		return err
	}
	parts = append(parts, alone...)
	f.mu.Lock()
	defer f.mu.Unlock()
	for k, j := range join(parts) {
		old := f.joins[k]
		f.joins[k] = j
		if old != j {
			for _, id := range f.runs[k] {
				f.Store.SetRun(id, j.name, "", j.guessed)
			}
		}
	}
	return nil
}
