package cache

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/session"
)

// An entry is what a terminus keeps under a key, and what is known of its life.
type entry struct {
	indirector.Entry
	id     entryID
	orphan bool // no route leads to its terminus
	cached bool // its terminus is the cache that is routed

	writes, serves int    // that were recorded
	writer         uint64 // the latest that wrote it; 0 if none is known
	wrote          time.Time
	held           bool    // it was held, so that it ended later than wrote
	failed         uint64  // the latest save, if it failed
	events         []event // the newest, oldest first
}

// entryID names an entry.
type entryID struct{ ind, terminus, key string }

// An event is something that happened to an entry.
type event struct {
	id   uint64
	at   time.Time
	end  time.Time
	what string // "written", "failed", "served", "destroyed", "expired"
	out  traces.Outcome
	run  string
}

// maxEvents is how many events of an entry are kept.
const maxEvents = 100

func (e *entry) expired(now time.Time) bool {
	return !e.Expiration.IsZero() && e.Expiration.Before(now)
}

// knownWriter is the request that wrote what is there now: the latest one that
// wrote, unless what is there is from another time. A store ignores what is older.
func (e *entry) knownWriter() uint64 {
	if e.writer == 0 || e.Written.IsZero() {
		return e.writer
	}
	const slack = 2 * time.Second // of clocks, and of disks that round
	if d := e.Written.Sub(e.wrote); d >= -slack && (d <= slack || e.held) {
		return e.writer
	}
	for _, v := range slices.Backward(e.events) {
		if v.what == "written" && e.Written.Sub(v.end).Abs() <= slack {
			return v.id
		}
	}
	return 0
}

// ignored is the latest save, if it is not what is there; else 0.
func (e *entry) ignored() uint64 {
	if known := e.knownWriter(); e.failed == 0 && known != 0 && known != e.writer {
		return e.writer
	}
	return e.failed
}

// expires returns when the entry ends, or why never.
func (e *entry) expires(now time.Time) string {
	switch {
	case e.Err != nil:
		return "unreadable"
	case e.expired(now):
		return "expired " + traces.Age(now.Sub(e.Expiration))
	case !e.Expiration.IsZero():
		return "in " + traces.Age(e.Expiration.Sub(now))
	case e.KeepsExpiry:
		return "never: has none"
	}
	return "never: not kept"
}

// An index is all entries and what requests did to them.
type index struct {
	all   []*entry
	by    map[entryID]*entry
	keys  map[[2]string][]*entry // by indirection and key
	bytes int64
	seen  uint64   // rows up to here have been looked at
	open  []uint64 // of them, those that had not ended
}

func newIndex() *index {
	return &index{by: make(map[entryID]*entry), keys: make(map[[2]string][]*entry)}
}

// add adds entries. All are kept in the order of their names: those that come are
// sorted and merged, since many times as many may be there.
func (x *index) add(list []*entry) {
	slices.SortStableFunc(list, byName)
	for _, e := range list {
		x.by[e.id] = e
		at := [2]string{e.Indirection, clip(e.Key)}
		x.keys[at] = append(x.keys[at], e)
		x.bytes += max(e.Size, 0)
	}
	old := x.all
	if len(old) == 0 || len(list) == 0 || byName(old[len(old)-1], list[0]) <= 0 {
		x.all = append(old, list...)
		return
	}
	x.all = make([]*entry, 0, len(old)+max(len(list), len(old)/2))
	for _, e := range list {
		i := sort.Search(len(old), func(i int) bool { return byName(old[i], e) > 0 })
		x.all = append(append(x.all, old[:i]...), e)
		old = old[i:]
	}
	x.all = append(x.all, old...)
}

func byName(a, b *entry) int {
	return cmp.Or(strings.Compare(a.Indirection, b.Indirection), strings.Compare(a.Key, b.Key), strings.Compare(a.Terminus, b.Terminus))
}

// clip is a key as rows have it.
func clip(key string) string { return key[:min(len(key), 512)] }

// scanRows is how many rows one look takes.
const scanRows = 1 << 14

// scan looks at rows that came since the last time, and reports whether there
// may be more, and whether an entry was changed by one of them.
func (x *index) scan(log session.Log) (more, changed bool) {
	_, last := log.Range()
	open := x.open
	x.open = nil
	for _, id := range open {
		if row, ok := log.Row(id); ok {
			changed = x.look(&row) || changed
		}
	}
	left := scanRows
	for row := range session.Forward(log, x.seen+1) {
		changed = x.look(row) || changed
		x.seen = row.ID
		if left--; left == 0 {
			break
		}
	}
	return x.seen < last, changed
}

// look takes note of what a request did to entries, and reports whether it
// changed one, or made one.
func (x *index) look(r *session.Row) bool {
	if r.Outcome == traces.Run || r.Outcome == traces.HeldOutcome {
		x.open = append(x.open, r.ID)
		return false
	}
	changed := r.CacheWritten || r.Verb == traces.Save || r.Verb == traces.Destroy || r.Verb == traces.Expire
	for _, e := range x.keys[[2]string{r.Indirection, r.Key}] {
		if what := did(r, e.Terminus); what != "" {
			e.take(r, what)
		}
	}
	return changed
}

// did returns what a request did to an entry; "" is nothing.
func did(r *session.Row, terminus string) string {
	switch {
	case r.Verb == traces.Expire && r.Cache == terminus && r.CacheWritten:
		return "expired"
	case r.CacheWritten && r.Cache == terminus, r.Verb == traces.Save && r.Terminus == terminus && (!r.Outcome.Failed() || r.Outcome == traces.Stale):
		return "written"
	case r.Verb == traces.Save && r.Terminus == terminus:
		return "failed"
	case r.Verb == traces.Destroy && (r.Terminus == terminus || r.Cache == terminus) && !r.Outcome.Failed():
		return "destroyed"
	case r.Sent:
		return "" // looking is not serving
	case r.Served == traces.ByCache && r.Cache == terminus, r.Served == traces.ByTerminus && r.Terminus == terminus && r.Verb == traces.Find:
		return "served"
	}
	return ""
}

func (e *entry) take(r *session.Row, what string) {
	switch what {
	case "written", "expired":
		e.writes++
		e.writer, e.wrote, e.held, e.failed = r.ID, r.Start.Add(r.Took), r.Touched, 0
	case "failed":
		e.failed = r.ID
	case "served":
		e.serves++
	}
	if len(e.events) == maxEvents {
		e.events = slices.Delete(e.events, 0, maxEvents/10)
	}
	e.events = append(e.events, event{r.ID, r.Start, r.Start.Add(r.Took), what, r.Outcome, r.Run})
}

// keep hands what is known of entries on to those of a newer list. An entry that
// is new has a history too: then all rows are looked at again.
func (x *index) keep(old *index) {
	for _, e := range x.all {
		if old.by[e.id] == nil {
			return
		}
	}
	x.seen, x.open = old.seen, old.open
	for _, e := range x.all {
		was := old.by[e.id]
		e.writes, e.serves, e.writer, e.wrote, e.held, e.failed, e.events = was.writes, was.serves, was.writer, was.wrote, was.held, was.failed, was.events
	}
}

// matches reports whether an expression means the entry. It sees what a request
// for the entry would have: ind, key, terminus, cache, size, age, t; and the
// words orphan and expired.
func (e *entry) matches(x *query.Expr, now time.Time) bool {
	t := traces.Trace{
		Verb: traces.Find, Indirection: e.Indirection, Key: e.Key, Start: e.Written, Took: 1, Outcome: traces.Good, Served: traces.ByTerminus,
		Primary: traces.Slot{{Terminus: e.Terminus, Kind: traces.FromRequest}}, Values: &traces.Values{Answer: traces.Value{Model: e.Indirection, Size: int(max(e.Size, 0))}},
	}
	if e.cached {
		t.Served, t.Cache = traces.ByCache, t.Primary
	}
	t.Spans = []traces.Span{{ID: 1, Step: traces.Terminus, Kind: traces.File, At: now.Sub(e.Written), Attrs: []traces.Attr{{Key: traces.AttrWritten, Value: e.Written.Format(time.RFC3339Nano)}}}}
	return x.Match(query.Of(&t))
}
