package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

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
	own, err := x.own(ctx)
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

// own opens the recording of this process. While it is rotated its file is not there, or
// has no first line, for a moment.
func (x *shipping) own(ctx context.Context) (*queue, error) {
	const moment = time.Second
	for began := time.Now(); ; {
		q, err := openQueue(x.s.o.Path)
		young := errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.EOF)
		if !young || x.s.isClosing() || time.Since(began) > moment || ctx.Err() != nil {
			return q, err
		}
		x.s.pause(ctx, moment/20)
	}
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
