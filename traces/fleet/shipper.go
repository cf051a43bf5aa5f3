package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
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
