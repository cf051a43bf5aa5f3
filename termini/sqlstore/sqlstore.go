// Package sqlstore has the termini of the stores in SQL: sqlite, which is a file and
// needs nothing, and postgresql, which several servers share.
//
//	save catalog web01   stored at once, or refused at once
//	find catalog web01   nil, so that the compiler is asked
//	search catalog web*  the catalogs that are stored
//	find facts web01     the facts as they were saved, with trusted among them
//	search resource File what other nodes export of that type
//	destroy node web01   the node is deactivated
//	find report web01    its latest report
//
// The store is in indirector/sqlstore; what is stored are PuppetDB's commands.
package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/sqlstore"
	"indirtui/termini/internal/storing"
	"indirtui/traces"
)

// Descriptors of the termini that keep a file.
var (
	SQLiteCatalog  = describe(sqlstore.SQLite, "catalog", catalogDoc, newCatalogs)
	SQLiteFacts    = describe(sqlstore.SQLite, "facts", factsDoc, newFactsets)
	SQLiteNode     = describe(sqlstore.SQLite, "node", nodeDoc, newNodes)
	SQLiteReport   = describe(sqlstore.SQLite, "report", reportDoc, newReports)
	SQLiteResource = describe(sqlstore.SQLite, "resource", resourceDoc, newResources)
)

// Descriptors of the termini that ask a server.
var (
	PostgreSQLCatalog  = describe(sqlstore.PostgreSQL, "catalog", catalogDoc, newCatalogs)
	PostgreSQLFacts    = describe(sqlstore.PostgreSQL, "facts", factsDoc, newFactsets)
	PostgreSQLNode     = describe(sqlstore.PostgreSQL, "node", nodeDoc, newNodes)
	PostgreSQLReport   = describe(sqlstore.PostgreSQL, "report", reportDoc, newReports)
	PostgreSQLResource = describe(sqlstore.PostgreSQL, "resource", resourceDoc, newResources)
)

const (
	catalogDoc  = "Stores catalogs in %s, and finds none: it is a cache that is only written, so that the compiler is always asked. A search returns those that are stored."
	factsDoc    = "Stores facts in %s and finds them there, with the trusted data that were saved. A search returns the names of nodes."
	nodeDoc     = "Deactivates a node in %s when it is destroyed. It finds no node, and saves none."
	reportDoc   = "Stores reports in %s. A find returns the latest of a node, a search those of the options status, since, until and limit."
	resourceDoc = "Finds resources of a type that other nodes export, in %s. The options are host, the node that does not count, and filter, what a collector asks for."
)

func describe[T indirector.Terminus](engine, indirection, doc string, make func(store) T) indirector.Descriptor {
	where, party := "an SQLite file", "the file of stores"
	if engine == sqlstore.PostgreSQL {
		where, party = "PostgreSQL", "PostgreSQL"
	}
	var none T
	return indirector.Descriptor{
		Indirection: indirection, Name: engine, Party: party, Note: "a store in " + where, Doc: fmt.Sprintf(doc, where),
		AlwaysNil: indirection == "catalog" || indirection == "node",
		Settings:  sqlstore.Settings(engine), Rules: []string{"IND-TERM-12"}, Type: none,
		New: func(env indirector.Env) (indirector.Terminus, error) {
			return make(store{env, sqlstore.Of(env, engine)}), nil
		},
	}
}

// A store is what the termini have in common.
type store struct {
	env indirector.Env
	db  *sqlstore.Handle
}

// Close closes the store.
func (s *store) Close() error { return s.db.Close() }

// options are what commands have from a request.
func (s *store) options(req *indirector.Request) command.Options { return storing.Options(s.env, req) }

// apply stores a command. What became of it is the answer, and a note if it is not what
// was to be expected.
func (s *store) apply(ctx context.Context, c *command.Command) (any, error) {
	db, err := s.db.Open(ctx)
	if err != nil {
		return nil, err
	}
	o, err := db.Apply(ctx, c)
	if err != nil {
		return nil, failure(err)
	}
	if c.Name == command.DeactivateNode && o.Result == sqlstore.Stored {
		traces.Explain(ctx, o.Certname+" is deactivated: nothing that it exports is collected, and its facts are not found")
	}
	if o.Result == sqlstore.Older || !o.Inactive.IsZero() && c.Name != command.DeactivateNode || len(o.Deviations) > 0 {
		traces.Explain(ctx, o.String())
	}
	return o.String(), nil
}

// failure is what a save ends with that is refused.
func failure(err error) error {
	if r := (*sqlstore.Refusal)(nil); errors.As(err, &r) {
		return &indirector.Failure{Message: "Could not " + r.Command + " of " + r.Certname + ": " + r.Reason, Err: indirector.ErrInvalid}
	}
	return err
}

// names returns the certnames that a key means: all for "*" or "", those that fit for
// one with a star, and else the key.
func names(ctx context.Context, db *sqlstore.Store, kind, key string) ([]string, error) {
	if key != "" && !strings.Contains(key, "*") {
		return []string{key}, nil
	}
	all, err := db.Names(ctx, kind, false)
	return slices.DeleteFunc(all, func(name string) bool { return key != "" && !fits(key, name) }), err
}

// fits reports whether a name fits a pattern, in which a star is any text.
func fits(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(name, parts[0])
	for _, p := range parts[1:last] {
		_, rest, ok = cutIf(ok, rest, p)
	}
	return ok && strings.HasSuffix(rest, parts[last])
}

func cutIf(ok bool, text, sep string) (before, after string, found bool) {
	if !ok {
		return "", "", false
	}
	return strings.Cut(text, sep)
}

// entry is what is stored of a node, for lists.
func (s *store) entry(n *sqlstore.Node, m *sqlstore.Made) indirector.Entry {
	e := indirector.Entry{
		Indirection: s.env.Indirection, Terminus: s.env.Terminus, Key: n.Certname, Size: -1, Written: m.Stored, Produced: m.Produced,
	}
	if m.Producer != "" {
		e.Note = "made by " + m.Producer
	}
	if why := inactive(n); why != "" {
		e.Note = strings.TrimPrefix(e.Note+"; the node is "+why, "; ")
	}
	return e
}

// inactive returns since when a node is not active; "" if it is.
func inactive(n *sqlstore.Node) string {
	if !n.Deactivated.IsZero() {
		return "deactivated since " + n.Deactivated.UTC().Format(time.DateTime)
	}
	if !n.Expired.IsZero() {
		return "expired since " + n.Expired.UTC().Format(time.DateTime)
	}
	return ""
}

// list yields an entry for each node that has something.
func (s *store) list(ctx context.Context, of func(*sqlstore.Node) *sqlstore.Made, yield func(indirector.Entry) bool) error {
	if !s.db.Configured() {
		return nil
	}
	db, err := s.db.Existing(ctx)
	if err != nil || db == nil {
		return err
	}
	var all []indirector.Entry
	err = db.Nodes(ctx, true, func(n *sqlstore.Node) bool {
		if m := of(n); m != nil {
			all = append(all, s.entry(n, m))
		}
		return true
	})
	for _, e := range all {
		if !yield(e) {
			break
		}
	}
	return err
}

// peek returns the entry of one node.
func (s *store) peek(ctx context.Context, of func(*sqlstore.Node) *sqlstore.Made, key string) (indirector.Entry, error) {
	if !s.db.Configured() {
		return indirector.Entry{}, nil
	}
	db, err := s.db.Existing(ctx)
	if err != nil || db == nil {
		return indirector.Entry{}, err
	}
	n, err := db.Node(ctx, key)
	if err != nil || n == nil || of(n) == nil {
		return indirector.Entry{}, err
	}
	return s.entry(n, of(n)), nil
}
