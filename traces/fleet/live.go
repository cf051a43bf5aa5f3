package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"indirtui/traces/query"
)

// listen wakes the reader when something was shipped.
func (f *Fleet) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := f.listenOnce(ctx); err != nil && ctx.Err() == nil {
			f.fail(err)
		}
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
		}
	}
}

func (f *Fleet) listenOnce(ctx context.Context) error {
	c, err := f.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Hijack().Close(context.Background()) }() // it listens, and is of no other use
	if _, err := c.Exec(ctx, "LISTEN indirtui"); err != nil {
		return err
	}
	for {
		f.mu.Lock()
		f.listening = true // also what came before, or while this did not listen
		f.signal()
		f.mu.Unlock()
		if _, err := c.Conn().WaitForNotification(ctx); err != nil {
			return err
		}
	}
}

func (f *Fleet) fail(err error) {
	f.mu.Lock()
	f.err = err
	f.mu.Unlock()
	f.Store.Notify()
}

// read answers what is wanted, at most thirty times a second. Rule FLEET-05.
func (f *Fleet) read(ctx context.Context) {
	for {
		select {
		case <-f.wake:
		case <-ctx.Done():
			return
		}
		began := time.Now()
		err := f.readOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		f.fail(err)
		select {
		case <-time.After(frame - time.Since(began)):
		case <-ctx.Done():
			return
		}
	}
}

// readOnce reads what is new, what is older, and what the filter means, as far as
// it is wanted.
func (f *Fleet) readOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	f.mu.Lock()
	news, older, changed := f.listening, f.older, f.filterChanged()
	f.listening = false
	more := f.filter != nil && !changed && !f.filter.ended
	f.mu.Unlock()
	if news {
		if err := f.loadNew(ctx); err != nil {
			f.mu.Lock()
			f.listening = true // it is still to be read
			f.mu.Unlock()
			return fmt.Errorf("read what is new: %w", err)
		}
	}
	if older {
		if err := f.loadOlder(ctx, f.pool, nextPage); err != nil {
			return fmt.Errorf("read what is older: %w", err)
		}
	}
	if changed {
		f.dropFilter()
	}
	if changed || more && !news && !older {
		f.filterFailed(f.loadFilter(ctx))
	}
	return nil
}

// filterFailed notes that the database could not answer a filter, which is not asked
// again: it may have taken too long.
func (f *Fleet) filterFailed(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.filter != nil && err != nil {
		f.filter.err, f.filter.ended = err, true
	}
}

// filterChanged reports whether another filter is wanted than was loaded. f.mu is
// held.
func (f *Fleet) filterChanged() bool {
	var of *query.Expr
	if f.filter != nil {
		of = f.filter.of
	}
	return of.String() != f.wanted.String()
}

// loadNew reads what was shipped since. What is older than all that is loaded is
// left where it is.
func (f *Fleet) loadNew(ctx context.Context) error {
	all, err := instances(ctx, f.pool)
	if err != nil {
		return err
	}
	f.mu.Lock()
	since := map[int32]int64{}
	for _, i := range all {
		f.instances[i.id] = i
		if i.Shipped > f.arrived[i.id] {
			since[i.id] = f.arrived[i.id]
		}
	}
	f.mu.Unlock()
	for instance, arrived := range since {
		list, err := rows(ctx, f.pool, "WHERE instance = $1 AND arrived > $2 ORDER BY arrived LIMIT "+limitText(nextPage), instance, arrived)
		if err != nil {
			return err
		}
		if err := f.join(ctx, f.pool, list); err != nil {
			return err
		}
		f.addNew(instance, list)
	}
	return nil
}

func (f *Fleet) addNew(instance int32, list []*found) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(list) == 0 { // what was shipped was removed
		f.arrived[instance] = f.instances[instance].Shipped
		return
	}
	f.arrived[instance] = list[len(list)-1].arrived
	if f.arrived[instance] < f.instances[instance].Shipped {
		f.listening = true
		f.signal()
	}
	if f.oldest == nil {
		f.oldest = slices.MinFunc(list, func(a, b *found) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
	}
	list = slices.DeleteFunc(list, func(r *found) bool { return r.before(f.oldest) && !f.ended })
	order := f.order(list)
	from := f.next
	f.next += uint64(len(order))
	f.add(order, from, list)
	f.trim()
}

// trim drops the oldest requests where too many have come. f.mu is held.
func (f *Fleet) trim() {
	const slack = maxLoaded / 10
	if len(f.refs) < maxLoaded+slack {
		return
	}
	last := f.low
	for ; len(f.refs) > maxLoaded-slack && last < f.next; last++ {
		if r, there := f.refs[last]; there {
			f.oldest = &found{key: r.key, at: r.at}
			delete(f.refs, last)
			delete(f.ids, r.key)
			f.Store.Remove([]uint64{last})
		}
	}
	f.low, f.ended = last, false
	f.forgetRuns()
	clear(f.spans)
	clear(f.joins)
}

// forgetRuns takes out of the runs what is not loaded any longer. f.mu is held.
func (f *Fleet) forgetRuns() {
	for k, ids := range f.runs {
		ids = slices.DeleteFunc(ids, func(id uint64) bool { _, there := f.refs[id]; return !there })
		if f.runs[k] = ids; len(ids) == 0 {
			delete(f.runs, k)
		}
	}
}

// dropFilter takes out what was loaded for the filter before.
func (f *Fleet) dropFilter() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.filter != nil {
		for _, k := range f.filter.order {
			f.forget(k)
		}
		f.forgetRuns()
	}
	f.filter = nil
	if f.wanted != nil {
		f.filter = &filter{of: f.wanted, low: f.low / 2}
	}
}

// loadFilter reads the next page of what the filter means, from where all requests
// are loaded on back.
func (f *Fleet) loadFilter(ctx context.Context) error {
	f.mu.Lock()
	p, than := f.filter, f.oldest
	if p == nil || f.ended || len(f.refs) >= maxLoaded {
		f.mu.Unlock()
		return nil
	}
	if p.oldest != nil {
		than = p.oldest
	}
	f.mu.Unlock()
	var failed error
	next := pageOf(p.of, func(run string) []string {
		names, err := alsoNamed(ctx, f.pool, run)
		failed = err
		return names
	})
	if failed != nil {
		return failed
	}
	var list []*found
	if next.where != "TRUE" { // else no part of it has a column
		var err error
		if list, err = next.older(ctx, f.pool, than, nextPage); err != nil {
			return err
		}
	}
	if err := f.join(ctx, f.pool, list); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p.page, p.ended = next, len(list) < nextPage
	if len(list) == 0 || f.filter != p {
		return nil
	}
	p.oldest = list[len(list)-1]
	order := f.order(list)
	if p.ended = p.ended || uint64(len(order)) >= p.low; uint64(len(order)) >= p.low {
		return errors.New("there are no numbers left: open it again")
	}
	p.low -= uint64(len(order))
	p.order = append(p.order, order...)
	f.add(order, p.low, list)
	return nil
}
