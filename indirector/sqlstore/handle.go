package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/stores"
)

// The engines, by the names of their termini.
const (
	SQLite     = "sqlite"
	PostgreSQL = "postgresql"
)

// Settings returns those that the termini of an engine read. The slice is the caller's.
func Settings(engine string) []indirector.Setting {
	own := []indirector.Setting{
		{Name: "sqlite_database", Default: "$vardir/indirtui/stores.db", Doc: "The file of the store, which is made when something is saved. Not a setting of Puppet."},
		{Name: "sqlite_synchronous", Default: "normal", Doc: "How safe against a loss of power SQLite writes: off, normal, full or extra. Not a setting of Puppet."},
	}
	if engine == PostgreSQL {
		own = []indirector.Setting{
			{Name: "postgresql_url", Doc: "Where the store is: postgres://user@host/database. A password may also be in the file that PGPASSFILE names. Not a setting of Puppet."},
		}
	}
	return append(own,
		indirector.Setting{Name: "node_name_value", Doc: "Name of this host in what is stored, as its producer."},
		indirector.Setting{Name: "store_strict", Type: "boolean", Default: "true", Doc: "Whether data that PuppetDB would refuse fail the save; false stores them, and the trace names the deviation. Not a setting of Puppet."},
		indirector.Setting{Name: "node_ttl", Type: "duration", Default: "7d", Doc: "After that time without a command a node expires: it is not shown any longer. 0 is never. Not a setting of Puppet."},
		indirector.Setting{Name: "node_purge_ttl", Type: "duration", Default: "14d", Doc: "That long after it was deactivated or expired a node is removed. 0 is never. Not a setting of Puppet."},
		indirector.Setting{Name: "report_ttl", Type: "duration", Default: "14d", Doc: "How long reports are kept. 0 is for ever. Not a setting of Puppet."},
	)
}

// OptionsOf reads the settings of an engine.
func OptionsOf(s indirector.Settings, engine string) (o Options, err error) {
	get := func(name string) string {
		text, _ := s.Get(name)
		return text
	}
	strict := get("store_strict")
	o = Options{Lax: strict == "false"}
	const day = 24 * time.Hour
	var node, purge, report error
	o.Retention.Node, node = indirector.DurationOf(s, "node_ttl", 7*day)
	o.Retention.Purge, purge = indirector.DurationOf(s, "node_purge_ttl", 14*day)
	o.Retention.Report, report = indirector.DurationOf(s, "report_ttl", 14*day)
	err = errors.Join(node, purge, report)
	if engine == PostgreSQL {
		if o.URL = get("postgresql_url"); o.URL == "" {
			err = errors.Join(errors.New("setting postgresql_url is not set: it names the server and the database"), err)
		}
		return o, err
	}
	o.Synchronous = get("sqlite_synchronous")
	if o.Path = get("sqlite_database"); o.Path == "" {
		err = errors.Join(errors.New("setting sqlite_database is not set: it names the file of the store"), err)
	}
	return o, err
}

// A Handle is the store of an engine, which the termini of one Indirector share. It is
// opened when it is first needed, and tried again after a failure. It is safe for
// concurrent use.
type Handle struct {
	o    Options
	err  error // of the settings
	lock chan struct{}
	// The fields below are guarded by lock.
	store  *Store
	closed bool
}

var _ stores.Store = (*Handle)(nil)

// State returns what became of what was stored by this handle. Others that store in the
// same file or database are not in it.
func (h *Handle) State() stores.State { return h.o.became.State() }

// Of returns the handle of an engine.
func Of(env indirector.Env, engine string) *Handle {
	anew := func(before any) any {
		o, err := OptionsOf(env.Settings, engine)
		o.Now, o.became = env.Now, stores.NewLog(engine)
		if h, ok := before.(*Handle); ok {
			o.became = h.o.became
		}
		return &Handle{o: o, err: err, lock: make(chan struct{}, 1)}
	}
	if env.Shared == nil {
		return anew(nil).(*Handle)
	}
	return env.Shared("store "+engine, anew).(*Handle)
}

// Configured reports whether the settings name a store.
func (h *Handle) Configured() bool { return h.o.Path != "" || h.o.URL != "" }

// Open returns the store, and makes it if there is none.
func (h *Handle) Open(ctx context.Context) (*Store, error) { return h.open(ctx, false) }

// Existing returns the store to read from; nil if nothing was ever stored.
func (h *Handle) Existing(ctx context.Context) (*Store, error) {
	s, err := h.open(ctx, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return s, err
}

func (h *Handle) open(ctx context.Context, existing bool) (*Store, error) {
	if h.err != nil {
		return nil, h.err
	}
	select {
	case h.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("open the store: %w", ctx.Err())
	}
	defer func() { <-h.lock }()
	if h.closed {
		return nil, errClosed
	}
	if h.store != nil {
		return h.store, nil
	}
	o := h.o
	o.Existing = existing
	s, err := Open(ctx, o)
	if err == nil {
		h.store = s
	} else if ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist) {
		h.o.became.Add(stores.Failed, h.o.Now(), err.Error())
	}
	return s, err
}

// Close closes the store.
func (h *Handle) Close() error {
	h.lock <- struct{}{}
	defer func() { <-h.lock }()
	h.closed = true
	if h.store == nil {
		return nil
	}
	return h.store.Close()
}
