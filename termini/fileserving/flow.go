package fileserving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// How many entries are collected together, and how many such groups at a time:
// the memory of a search does not grow with its result.
const (
	handful = 16
	window  = 256
)

// A flow makes instances of entries on all processors, and yields them in the
// order in which they were found. The goroutine that walks is the one that
// yields; when it would have to wait it makes some itself.
type flow struct {
	m     *maker
	o     *options
	roots []root
	yield func(indirector.Instance) error

	own     worker
	next    *few   // is being filled
	waiting []*few // in order
	spare   []*few
	work    chan *few
	helpers sync.WaitGroup
	helping int
	bytes   atomic.Int64 // hashed
	n       int          // yielded
	over    atomic.Bool  // nothing more needs to be made
	failed  error        // of the first entry in order that could not be made
	stopped error        // what yield returned
}

// A few is a group of entries, and their instances.
type few struct {
	entries []entry
	found   []indirector.Instance // as far as it went well
	err     error
	done    chan struct{} // one slot: they are made
}

// collect lists the roots and yields an instance for each entry. If some fail,
// the error is that of the first in order, as if one had been made after the
// other; an error of the listing comes before those, because Puppet lists first.
func (m *maker) collect(ctx context.Context, o *options, roots []root, w *walk, yield func(indirector.Instance) error) (err error) {
	_, span := traces.Start(ctx, traces.File, "look at what is listed")
	f := &flow{m: m, o: o, roots: roots, yield: yield, own: newWorker(ctx), work: make(chan *few, window)}
	defer func() {
		f.end()
		if span != nil {
			span.Attr("bytes hashed", fmt.Sprint(f.bytes.Load()))
			span.End(plural(f.n, "file"), traces.Because{}, err)
		}
	}()
	err = m.list(ctx, roots, w, f.add)
	if err == nil {
		err = f.drain()
	}
	if err == nil {
		err = f.failed
	}
	return err
}

func newWorker(ctx context.Context) worker {
	return worker{ctx: ctx, uid: os.Geteuid(), gid: os.Getegid()}
}

// add takes an entry. It fails if the instances are no longer taken.
func (f *flow) add(e entry) error {
	if f.failed != nil {
		return nil // the listing goes on: it may find a worse error
	}
	if f.next == nil {
		f.next = f.fresh()
	}
	f.next.entries = append(f.next.entries, e)
	if len(f.next.entries) < handful {
		return nil
	}
	f.send()
	for len(f.waiting) > 0 {
		if len(f.waiting) == window {
			f.await(f.waiting[0])
		} else if !isDone(f.waiting[0]) {
			break
		}
		if err := f.pass(); err != nil {
			return err
		}
	}
	return nil
}

func (f *flow) fresh() *few {
	if n := len(f.spare); n > 0 {
		next := f.spare[n-1]
		f.spare = f.spare[:n-1]
		return next
	}
	return &few{
		entries: make([]entry, 0, handful), found: make([]indirector.Instance, 0, handful), done: make(chan struct{}, 1),
	}
}

// send hands the group to a goroutine that makes its instances. Further ones
// start when there is more than one group to be made.
func (f *flow) send() {
	f.work <- f.next
	f.waiting = append(f.waiting, f.next)
	f.next = nil
	if f.helping < runtime.GOMAXPROCS(0)-1 && len(f.waiting) > 1 {
		f.helping++
		f.helpers.Add(1)
		f.m.env.Go(f.help)
	}
}

func isDone(c *few) bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// await returns when c is made, and makes other groups meanwhile.
func (f *flow) await(c *few) {
	for {
		select {
		case <-c.done:
			return
		case next := <-f.work:
			f.make(&f.own, next)
		}
	}
}

// pass yields the first of those that wait, which is made.
func (f *flow) pass() error {
	c := f.waiting[0]
	f.waiting[0], f.waiting = nil, f.waiting[1:]
	for _, inst := range c.found {
		if f.failed != nil {
			break
		}
		if f.stopped = f.yield(inst); f.stopped != nil {
			f.over.Store(true)
			return f.stopped
		}
		f.n++
	}
	if c.err != nil && f.failed == nil {
		f.failed = c.err
		f.over.Store(true)
	}
	clear(c.entries)
	clear(c.found)
	c.entries, c.found, c.err = c.entries[:0], c.found[:0], nil
	f.spare = append(f.spare, c)
	return nil
}

// drain yields all that is left.
func (f *flow) drain() error {
	if f.next != nil && f.failed == nil {
		f.send()
	}
	for len(f.waiting) > 0 {
		f.await(f.waiting[0])
		if err := f.pass(); err != nil {
			return err
		}
	}
	return nil
}

// end sends the helpers home.
func (f *flow) end() {
	f.over.Store(true)
	close(f.work)
	f.helpers.Wait()
	f.bytes.Add(int64(f.own.bytes))
}

func (f *flow) help() {
	w := newWorker(f.own.ctx)
	defer func() {
		f.bytes.Add(int64(w.bytes))
		f.helpers.Done()
	}()
	for c := range f.work {
		f.make(&w, c)
	}
}

var errBroken = errors.New("look at files: a goroutine broke off")

// make makes the instances of c.
func (f *flow) make(w *worker, c *few) {
	c.err = errBroken
	defer func() { c.done <- struct{}{} }()
	var made []model.FileMetadata // one piece of memory for all
	if !f.m.content {
		made = make([]model.FileMetadata, len(c.entries))
	}
	for i, e := range c.entries {
		var err error
		if f.over.Load() {
			break
		}
		if err = w.ctx.Err(); err == nil {
			w.kind = e.kind
			var metadata *model.FileMetadata
			if made != nil {
				metadata = &made[i]
			}
			var inst indirector.Instance
			if inst, err = f.m.make(w, f.o, f.roots[e.root].path, e.relative, metadata); err == nil {
				c.found = append(c.found, inst)
				continue
			}
		}
		c.err = err
		return
	}
	c.err = nil
}
