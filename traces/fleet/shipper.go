package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ShipOptions configure Ship. URL and Path are required.
type ShipOptions struct {
	URL  string // postgres://USER@HOST/DATABASE
	Path string // of the recording
	// Others lets what other runs of this machine have left be shipped, too: the
	// recordings beside Path that were made for the same database.
	Others bool
	// Ended returns how many requests have ended, for State; nil if that is not known.
	Ended func() uint64
	// Held returns what is held now; may be nil. It must not wait.
	Held func() []Held
	// Report is called when the database is not reached any longer, and when it is
	// again; may be nil.
	Report func(State)
	// Once ends the shipping when nothing is left.
	Once bool
}

// Held is a request that waits for the user of its instance.
type Held struct {
	Number uint64    `json:"number"`
	Name   string    `json:"name"` // "find catalog web01"
	Since  time.Time `json:"since"`
}

// A State is how far the shipping is.
type State struct {
	Place   string    // the database, without user and password
	Shipped int64     // requests of this recording that are in the database
	Behind  int64     // requests that are not; 0 if that is not known
	Damaged int64     // lines of this process that could not be read
	Missing int64     // parts of recordings that were removed before they were shipped
	Since   time.Time // since when the database is not reached; zero if it is
	Err     error     // why
	Fatal   bool      // it is not tried again
}

// String is as in "shipped to db1/traces, 12 behind", or "db1/traces: not reached
// for 3m0s: connection refused".
func (s State) String() string {
	var parts []string
	switch {
	case s.Fatal:
		parts = append(parts, fmt.Sprintf("nothing is shipped to %s: %v", s.Place, s.Err))
	case !s.Since.IsZero():
		parts = append(parts, fmt.Sprintf("%s not reached for %s: %v", s.Place, time.Since(s.Since).Round(time.Second), s.Err))
	default:
		parts = append(parts, "shipped to "+s.Place)
	}
	for _, n := range []struct {
		n    int64
		what string
	}{{s.Behind, "behind"}, {s.Damaged, "damaged lines"}, {s.Missing, "parts removed before they were shipped"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprint(n.n, " ", n.what))
		}
	}
	return strings.Join(parts, ", ")
}

// A Shipper copies recordings into the database. Its methods are safe for
// concurrent use.
type Shipper struct {
	o       ShipOptions
	cfg     *pgxpool.Config
	pack    *packer
	cancel  context.CancelFunc
	closing chan struct{} // closed by Close
	done    chan struct{}
	once    sync.Once

	mu    sync.Mutex // guards what follows
	state State
}

// Ship begins to ship. Nothing is waited for; State has what became of it. The
// error is one of the URL. Close must be called.
func Ship(o ShipOptions) (*Shipper, error) {
	cfg, err := configOf(o.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Shipper{
		o: o, cfg: cfg, pack: newPacker(), cancel: cancel, closing: make(chan struct{}), done: make(chan struct{}),
		state: State{Place: Place(o.URL)},
	}
	go func() {
		defer close(s.done)
		s.run(ctx)
	}()
	return s, nil
}

// State returns how far it is.
func (s *Shipper) State() State {
	s.mu.Lock()
	st := s.state
	s.mu.Unlock()
	if s.o.Ended != nil {
		st.Behind = max(int64(s.o.Ended())-st.Shipped, 0)
	}
	return st
}

// Wait waits until everything is shipped, of a Shipper with Once. The error is
// that of ctx, or why nothing is shipped any longer.
func (s *Shipper) Wait(ctx context.Context) error {
	select {
	case <-s.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if st := s.State(); st.Fatal {
		return st.Err
	}
	return nil
}

// Close ships what is left of a recording that was closed, until ctx ends: what
// is left then is shipped by the next run of the program here.
func (s *Shipper) Close(ctx context.Context) State {
	s.once.Do(func() { close(s.closing) })
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	s.cancel()
	<-s.done
	return s.State()
}

func (s *Shipper) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// Waits between attempts, and between looks at a recording that has nothing new.
const (
	firstWait = 500 * time.Millisecond
	lastWait  = time.Minute
	look      = 200 * time.Millisecond
	beat      = 10 * time.Second
)

// run connects again and again. It ends with ctx, when nothing is left, and for
// what another attempt does not mend.
func (s *Shipper) run(ctx context.Context) {
	wait := firstWait
	for {
		began := time.Now()
		err := s.session(ctx)
		if err == nil || ctx.Err() != nil || s.isClosing() && errors.Is(err, fs.ErrNotExist) { // nothing was recorded
			return
		}
		fatal := errors.Is(err, ErrNewer) || errors.Is(err, errLocal)
		s.reached(began, err, fatal)
		if fatal {
			return
		}
		if time.Since(began) > lastWait {
			wait = firstWait
		}
		if s.pause(ctx, wait); ctx.Err() != nil {
			return
		}
		wait = min(2*wait, lastWait)
	}
}

// pause waits until the next attempt, or until Close wants one.
func (s *Shipper) pause(ctx context.Context, wait time.Duration) {
	closing := s.closing
	if s.isClosing() {
		closing, wait = nil, firstWait
	}
	select {
	case <-time.After(wait):
	case <-closing:
	case <-ctx.Done():
	}
}

// reached notes that the database is reached, or since when and why it is not.
func (s *Shipper) reached(since time.Time, err error, fatal bool) {
	s.mu.Lock()
	other := s.state.Since.IsZero() != since.IsZero()
	if since.IsZero() || s.state.Since.IsZero() {
		s.state.Since = since
	}
	s.state.Err, s.state.Fatal = err, fatal
	s.mu.Unlock()
	if other && s.o.Report != nil {
		s.o.Report(s.State())
	}
}

// errLocal reports a recording that cannot be read.
var errLocal = errors.New("the recording cannot be read")

// session ships over one connection, until that breaks or nothing is left.
func (s *Shipper) session(ctx context.Context) error {
	c, err := pgx.ConnectConfig(ctx, s.cfg.ConnConfig.Copy())
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() {
		bye, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = c.Close(bye) // all that counts was committed
		cancel()
	}()
	if err := prepare(ctx, c, migrations); err != nil {
		return err
	}
	x := &shipping{s: s, c: c, days: map[time.Time]bool{}}
	defer x.close()
	if err := x.open(ctx); err != nil {
		return err
	}
	for {
		busy, err := x.round(ctx)
		if err != nil {
			return err
		}
		s.reached(time.Time{}, nil, false)
		if busy {
			continue
		}
		if s.o.Once || s.isClosing() {
			return nil
		}
		select {
		case <-time.After(look):
		case <-s.closing:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A shipping is what is shipped over one connection.
type shipping struct {
	s       *Shipper
	c       *pgx.Conn
	sources []*source // the first is the recording of this process
	days    map[time.Time]bool
	held    string // as it was sent last
	beaten  time.Time
}

// A source is a recording on its way into the database.
type source struct {
	*queue
	instance int
	shipped  int64
	careful  int // so many batches hold one line: one of these is refused
}

// open finds out what is to be shipped, and how far each is.
func (x *shipping) open(ctx context.Context) error {
	own, err := openQueue(x.s.o.Path)
	if err != nil {
		return fmt.Errorf("%w: %w", errLocal, err)
	}
	all := []*queue{own}
	if x.s.o.Others {
		all = append(all, leftBehind(own)...)
	}
	for _, q := range all {
		src := &source{queue: q}
		if err := x.enter(ctx, src); err != nil {
			return err
		}
		x.sources = append(x.sources, src)
	}
	x.s.mu.Lock()
	x.s.state.Shipped = x.sources[0].shipped
	x.s.mu.Unlock()
	return nil
}

// leftBehind are the recordings beside one that were made for the same database.
func leftBehind(own *queue) (all []*queue) {
	const enough = 1000
	ext := filepath.Ext(own.path)
	paths, _ := filepath.Glob(globbed(filepath.Dir(own.path)) + "/*" + ext) // the pattern is good
	sessions := map[string]*queue{own.header.ID: own}
	for _, path := range paths[:min(len(paths), enough)] {
		q, err := openQueue(path)
		if err != nil || q.header.To != own.header.To || q.header.To == "" {
			continue
		}
		if known := sessions[q.header.ID]; known == nil {
			sessions[q.header.ID] = q
			all = append(all, q)
		} else if known != own && q.header.Part > known.header.Part {
			*known = *q
		}
	}
	return all
}

// enter reads from the database how far a recording was shipped.
func (x *shipping) enter(ctx context.Context, src *source) error {
	h := src.header
	var at place
	err := x.c.QueryRow(ctx, "SELECT instance, from_part, from_position, so_far FROM indirtui.enter($1, $2, $3, $4)",
		h.ID, text(cmp.Or(h.Instance, filepath.Base(src.path))), text(h.Source), time.Now()).Scan(&src.instance, &at.part, &at.at, &src.shipped)
	if err != nil {
		return fmt.Errorf("find out how far %s was shipped: %w", filepath.Base(src.path), err)
	}
	src.close()
	src.place = at
	return nil
}

// round ships one batch of each recording, and reports whether there was one.
func (x *shipping) round(ctx context.Context) (busy bool, err error) {
	for i := 0; i < len(x.sources); i++ {
		src := x.sources[i]
		some, err := x.ship(ctx, src)
		if errors.Is(err, errLocal) && i > 0 {
			some, err = false, nil // another time: it must not stop what is recorded now
		}
		if err != nil {
			return false, err
		}
		busy = busy || some
		if !some && i > 0 { // what was left is shipped
			src.close()
			x.sources = slices.Delete(x.sources, i, i+1)
			i--
		}
	}
	return busy, x.beat(ctx)
}

// ship ships the next lines of a recording.
func (x *shipping) ship(ctx context.Context, src *source) (some bool, err error) {
	b := newBatch(src.place, x.s.pack, src.shipped, func(string) int { return src.instance })
	if src.f == nil {
		if b.missing, err = src.seek(src.place); err != nil {
			return false, fmt.Errorf("%w: %w", errLocal, err)
		}
		b.to = src.place
	}
	most := maxRows
	if src.careful > 0 {
		most = 1
		src.careful--
	}
	if err := b.fill(src.queue, most); err != nil {
		return false, fmt.Errorf("%w: %w", errLocal, err)
	}
	if b.empty() {
		return false, nil
	}
	err = x.commit(ctx, src, b)
	if errors.Is(err, errRefused) {
		if most > 1 {
			src.careful = 4 * b.lines
		} else {
			*b = batch{from: b.from, to: b.to, missing: b.missing, damaged: b.damaged + b.lines, over: b.over}
			err = x.commit(ctx, src, b)
		}
		if errors.Is(err, errRefused) {
			src.close()
			src.place = b.from
			return true, nil
		}
	}
	if errors.Is(err, errMoved) {
		return true, x.enter(ctx, src)
	}
	if err != nil {
		return false, err
	}
	x.shipped(src, b)
	return true, nil
}

func (x *shipping) shipped(src *source, b *batch) {
	src.shipped += int64(len(b.rows))
	st := &x.s.state
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	st.Damaged += int64(b.damaged)
	st.Missing += int64(b.missing)
	if src == x.sources[0] {
		st.Shipped = src.shipped
	}
}

// errMoved reports that another shipper of the same recording was faster.
var errMoved = errors.New("another process has shipped this")

// errRefused reports a row that the database does not take.
var errRefused = errors.New("refused")

// refused marks the error of a row: its data, constraints, limits. All else is the
// database's, and is tried again.
func refused(err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && (strings.HasPrefix(e.Code, "22") || strings.HasPrefix(e.Code, "23") || e.Code == "54000") {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

// commit adds a batch, and goes on in the recording, in one transaction.
func (x *shipping) commit(ctx context.Context, src *source, b *batch) error {
	for day := range b.days {
		if x.days[day] {
			continue
		}
		if _, err := x.c.Exec(ctx, "SELECT indirtui.day($1)", day); err != nil {
			return fmt.Errorf("make the partition of a day: %w", err)
		}
		x.days[day] = true
	}
	runs, err := json.Marshal(b.sortedRuns())
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, x.c, func(tx pgx.Tx) error {
		var ours bool
		err := tx.QueryRow(ctx, "SELECT indirtui.advance($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", src.instance, b.from.part, b.from.at,
			b.to.part, b.to.at, len(b.rows), b.bare, b.damaged, b.missing, b.over).Scan(&ours)
		switch {
		case err != nil:
			return fmt.Errorf("go on in the recording: %w", err)
		case !ours:
			return errMoved
		}
		if len(b.values) > 0 {
			if err := addValues(ctx, tx, b); err != nil {
				return err
			}
		}
		if len(b.rows) > 0 {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{"indirtui", "traces"}, columns, pgx.CopyFromRows(b.rows)); err != nil {
				return fmt.Errorf("add requests: %w", refused(err))
			}
		}
		if len(b.runs)+len(b.used) > 0 {
			if _, err := tx.Exec(ctx, "SELECT indirtui.note($1, $2, $3)", src.instance, string(runs), digests(b.used)); err != nil {
				return fmt.Errorf("note the runs: %w", err)
			}
		}
		return nil
	})
}

func addValues(ctx context.Context, tx pgx.Tx, b *batch) error {
	keys := digests(b.values)
	lines := make([][]byte, len(keys))
	for i, k := range keys {
		lines[i] = b.values[fmt.Sprintf("%x", k)]
	}
	_, err := tx.Exec(ctx, `INSERT INTO indirtui."values" (digest, line) SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT DO NOTHING`, keys, lines)
	if err != nil {
		return fmt.Errorf("add values: %w", refused(err))
	}
	return nil
}

// beat reports that the program is alive, and what it holds.
func (x *shipping) beat(ctx context.Context) error {
	held := []Held{}
	if x.s.o.Held != nil {
		held = append(held, x.s.o.Held()...)
	}
	b, err := json.Marshal(held)
	if err != nil {
		return err
	}
	if string(b) == x.held && time.Since(x.beaten) < beat {
		return nil
	}
	if _, err := x.c.Exec(ctx, "SELECT indirtui.alive($1, $2, $3)", x.sources[0].instance, time.Now(), string(b)); err != nil {
		return fmt.Errorf("report that the program is alive: %w", err)
	}
	x.held, x.beaten = string(b), time.Now()
	return nil
}

func (x *shipping) close() {
	for _, src := range x.sources {
		src.close()
	}
}

// Done is closed when nothing is shipped any longer.
func (s *Shipper) Done() <-chan struct{} { return s.done }
