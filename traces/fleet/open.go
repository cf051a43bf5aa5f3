package fleet

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"indirtui/traces/query"
	"indirtui/traces/store"
)

// Sizes of what is loaded. The rest stays in the database.
const (
	firstPage = 500
	nextPage  = 2000
	maxLoaded = 300_000
	edge      = 100 // so near to the oldest row the next page is read
	frame     = time.Second / 30
	patience  = 30 * time.Second // of one question
)

// A Fleet shows what all instances have shipped as a Store: the newest requests
// first, older ones when those that are there have been looked at, and what a
// filter means. Its methods are safe for concurrent use.
type Fleet struct {
	Store *store.Store

	place  string
	pool   *pgxpool.Pool
	cancel context.CancelFunc
	done   sync.WaitGroup
	wake   chan struct{} // something is wanted

	mu        sync.Mutex // guards what follows
	instances map[int32]*Instance
	ids       map[key]uint64
	refs      map[uint64]ref
	spans     map[string]key // what was sent, by the ids of traceparents
	runs      map[runKey][]uint64
	joins     map[runKey]joined
	arrived   map[int32]int64 // so much of each instance was read
	low, next uint64          // the numbers of the oldest row of all, and of the next new one
	oldest    *found          // of all
	ended     bool            // there is nothing older
	older     bool            // it is wanted
	wanted    *query.Expr     // the filter
	filter    *filter
	listening bool
	err       error
}

// A ref is where a request is.
type ref struct {
	key
	at time.Time
}

// A filter is what was loaded for an expression beyond the newest requests.
type filter struct {
	of     *query.Expr
	page   *page
	low    uint64 // number of its oldest row
	order  []key  // what has numbers from low on
	oldest *found
	ended  bool
	err    error // why it ended early
}

// Open connects, and reads the newest requests. What comes is read as it comes
// until Close.
func Open(ctx context.Context, url string) (*Fleet, error) {
	cfg, err := configOf(url)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 4
	cfg.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	cfg.ConnConfig.RuntimeParams["statement_timeout"] = strconv.FormatInt(patience.Milliseconds(), 10)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", Place(url), err)
	}
	f := &Fleet{
		place: Place(url), pool: pool, wake: make(chan struct{}, 1), instances: map[int32]*Instance{}, ids: map[key]uint64{},
		refs: map[uint64]ref{}, spans: map[string]key{}, runs: map[runKey][]uint64{}, joins: map[runKey]joined{}, arrived: map[int32]int64{},
	}
	f.Store = store.Follow(f)
	if err := f.begin(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open %s: %w", f.place, err)
	}
	run, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.done.Go(func() { f.read(run) })
	f.done.Go(func() { f.listen(run) })
	return f, nil
}

// Close ends the connections. The store stays as it is.
func (f *Fleet) Close() error {
	f.cancel()
	f.done.Wait()
	f.pool.Close()
	return f.Store.Close()
}

// begin reads instances and the newest requests, as they are at one moment.
func (f *Fleet) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return pgx.BeginTxFunc(ctx, f.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if err := known(ctx, tx); err != nil {
			return err
		}
		all, err := instances(ctx, tx)
		if err != nil {
			return err
		}
		var total int64
		for _, i := range all {
			f.instances[i.id], f.arrived[i.id] = i, i.Shipped
			total += i.Shipped
		}
		const most = 1 << 27
		f.next = uint64(min(2*total+1_000_000, most)) // older ones may still be shipped, and what asked has a number before it is there
		f.low = f.next
		return f.loadOlder(ctx, tx, firstPage)
	})
}

// isFiltered reports whether what was wanted is loaded, as far as it fills a
// screen. f.mu is held.
func (f *Fleet) isFiltered() bool {
	return !f.filterChanged() && (f.filter == nil || f.filter.page != nil || f.filter.err != nil || f.ended)
}

// Load has the database asked for what an expression means, as Want does, and
// waits until all of it is loaded, or as much as is kept.
func (f *Fleet) Load(ctx context.Context, e *query.Expr) error {
	f.Want(e)
	for {
		f.mu.Lock()
		if f.wanted == nil && !f.ended {
			f.older = true
		}
		done := f.ended || len(f.refs) >= maxLoaded || f.wanted != nil && f.isFiltered() && f.filter.ended
		err := f.err
		f.mu.Unlock()
		if done || err != nil {
			return err
		}
		f.signal()
		select {
		case <-time.After(frame):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Near implements store.Remote.
func (f *Fleet) Near(id uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(f.refs) >= maxLoaded:
	case id < f.low+edge && id >= f.low && !f.ended && !f.older:
		f.older = true
		f.signal()
	case f.filter != nil && id < f.filter.low+edge && !f.filter.ended:
		f.signal()
	}
}

// Want has the database asked for what an expression means; nil is everything.
func (f *Fleet) Want(e *query.Expr) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.String() == "" {
		e = nil
	}
	if e.String() != f.wanted.String() {
		f.wanted = e
		f.signal()
	}
}

func (f *Fleet) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// About is what is not seen on the screen: how far the filter goes, and what is
// held where. It is "" if there is nothing.
func (f *Fleet) About() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var parts []string
	if f.err != nil {
		parts = append(parts, f.place+" not reached: "+f.err.Error())
	}
	if p := f.filter; p != nil && p.err != nil {
		parts = append(parts, "the filter is applied to what is loaded: "+p.err.Error())
	}
	if p := f.filter; p != nil && p.page != nil && !p.page.exact {
		parts = append(parts, "not all of the filter has a column: the rest is applied to what is loaded")
	}
	if len(f.refs) >= maxLoaded {
		parts = append(parts, fmt.Sprintf("%d requests are loaded, and no more: filter them", len(f.refs)))
	}
	for _, id := range slices.Sorted(maps.Keys(f.instances)) {
		if i := f.instances[id]; !i.Ended && len(i.Held) > 0 {
			parts = append(parts, fmt.Sprintf("%s holds #%d %s", i.Name, i.Held[0].Number, i.Held[0].Name))
		}
	}
	return strings.Join(parts, "; ")
}

// Place names the database, without user and password.
func (f *Fleet) Place() string { return f.place }

// Summary is what there is, in one sentence.
func (f *Fleet) Summary() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var requests int64
	names := map[string]bool{}
	for _, i := range f.instances {
		requests += i.Shipped
		names[i.Name] = true
	}
	return fmt.Sprintf("fleet %s: %d requests of %s", f.place, requests, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
}

// Line implements store.Remote.
func (f *Fleet) Line(id uint64) ([]byte, error) {
	f.mu.Lock()
	r, ok := f.refs[id]
	f.mu.Unlock()
	if !ok {
		return nil, store.ErrDropped
	}
	return f.packed("SELECT line FROM indirtui.traces WHERE instance = $1 AND sequence = $2 AND at = $3", r.instance, r.sequence, r.at)
}

// Body implements store.Remote.
func (f *Fleet) Body(digest string) ([]byte, error) {
	b, err := hex.DecodeString(digest)
	if err != nil {
		return nil, err
	}
	return f.packed(`SELECT line FROM indirtui."values" WHERE digest = $1`, b)
}

func (f *Fleet) packed(sql string, args ...any) (line []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var packed []byte
	switch err := f.pool.QueryRow(ctx, sql, args...).Scan(&packed); {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, store.ErrDropped
	case err != nil:
		return nil, fmt.Errorf("ask %s: %w", f.place, err)
	}
	return unpack(packed)
}

// Number implements store.Remote.
func (f *Fleet) Number(id, recorded uint64) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.ids[key{f.refs[id].instance, int64(recorded)}]
	if _, there := f.refs[n]; !there {
		return 0
	}
	return n
}

func limitText(n int) string { return strconv.Itoa(n) }
