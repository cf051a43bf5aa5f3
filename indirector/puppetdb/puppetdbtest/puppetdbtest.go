// Package puppetdbtest has a PuppetDB in memory, for tests of what speaks with
// one: it takes commands, and answers the queries of the termini.
package puppetdbtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A DB is a PuppetDB. The zero DB is empty and ready for use. It is safe for
// concurrent use.
type DB struct {
	// Queued is set if commands are only queued: nothing is ever stored.
	Queued bool

	mu    sync.Mutex // guards the following
	uuids int
	nodes map[string]*node
}

type node struct {
	values      map[string]any
	resources   []map[string]any
	produced    map[string]string // when what is stored was produced, by command
	deactivated any               // null, or when
}

// kinds are the entities of queries by the command that stores them.
var kinds = map[string]string{"replace_catalog": "catalogs", "replace_facts": "factsets", "store_report": "reports"}

// ServeHTTP implements http.Handler.
func (db *DB) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	db.mu.Lock()
	defer db.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	name, below := strings.CutPrefix(r.URL.Path, "/pdb/query/v4/nodes/")
	switch {
	case r.URL.Path == "/pdb/cmd/v1":
		db.command(w, r, body)
	case r.URL.Path == "/pdb/query/v4":
		db.query(w, body)
	case r.URL.Path == "/pdb/query/v4/nodes":
		rows := []any{}
		for name := range db.nodes {
			rows = append(rows, map[string]any{"certname": name})
		}
		answer(w, rows)
	case r.URL.Path == "/pdb/query/v4/resources":
		answer(w, db.exported(r.URL.Query().Get("query")))
	case below:
		name, facts := strings.CutSuffix(name, "/facts")
		db.node(w, name, facts)
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// command stores what a command has, unless something newer is there.
func (db *DB) command(w http.ResponseWriter, r *http.Request, body []byte) {
	q := r.URL.Query()
	name, kind, produced := q.Get("certname"), q.Get("command"), q.Get("producer-timestamp")
	var payload struct {
		Values    map[string]any
		Resources []map[string]any
	}
	if err := json.Unmarshal(body, &payload); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	db.uuids++
	answer(w, map[string]any{"uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", db.uuids)})
	if db.Queued {
		return
	}
	if db.nodes == nil {
		db.nodes = map[string]*node{}
	}
	n := db.nodes[name]
	if n == nil {
		n = &node{produced: map[string]string{}}
		db.nodes[name] = n
	}
	if n.produced[kind] > produced {
		return
	}
	n.produced[kind] = produced
	switch n.deactivated = nil; kind {
	case "deactivate_node":
		n.deactivated = produced
	case "replace_facts":
		n.values = payload.Values
	case "replace_catalog":
		n.resources = payload.Resources
	}
}

// node answers about one node: what state it is in, or its facts.
func (db *DB) node(w http.ResponseWriter, name string, facts bool) {
	n := db.nodes[name]
	if n == nil {
		w.WriteHeader(http.StatusNotFound)
		answer(w, map[string]any{"error": "No information is known about node " + name})
		return
	}
	if !facts {
		when := func(command string) any {
			if at := n.produced[command]; at != "" {
				return at
			}
			return nil
		}
		answer(w, map[string]any{
			"certname": name, "deactivated": n.deactivated, "expired": nil,
			"facts_timestamp": when("replace_facts"), "catalog_timestamp": when("replace_catalog"), "report_timestamp": when("store_report"),
		})
		return
	}
	rows := []any{}
	if n.deactivated == nil {
		for k, v := range n.values {
			rows = append(rows, map[string]any{"certname": name, "name": k, "value": v})
		}
	}
	answer(w, rows)
}

// exported returns the exported resources of the type that a query begins with,
// but for those of one node. What else it asks does not count.
func (db *DB) exported(query string) []any {
	var ast []any
	if json.Unmarshal([]byte(query), &ast) != nil || len(ast) < 4 {
		return nil
	}
	typ := ast[1].([]any)[2]
	host := ast[3].([]any)[1].([]any)[2]
	rows := []any{}
	for name, n := range db.nodes {
		for _, r := range n.resources {
			if r["exported"] == true && r["type"] == typ && name != host && n.deactivated == nil {
				rows = append(rows, map[string]any{
					"certname": name, "type": typ, "title": r["title"], "parameters": r["parameters"], "file": r["file"], "line": r["line"], "exported": true,
				})
			}
		}
	}
	slices.SortFunc(rows, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return rows
}

// query answers ["from", entity, ["extract", …, condition]] with when what is
// stored of a node was produced. Every other query is answered with nothing.
func (db *DB) query(w http.ResponseWriter, body []byte) {
	var q struct{ Query any }
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rows := []any{}
	text, _ := json.Marshal(q.Query)
	for name, n := range db.nodes {
		for command, entity := range kinds {
			if at := n.produced[command]; at != "" && strings.Contains(string(text), `"`+entity+`"`) && strings.Contains(string(text), `"`+name+`"`) {
				rows = append(rows, map[string]any{"producer_timestamp": at})
			}
		}
	}
	answer(w, rows)
}
