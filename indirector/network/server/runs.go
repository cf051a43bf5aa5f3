package server

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"indirtui/indirector"
)

// quiet is the silence after which a client's next request begins a new run.
const quiet = 2 * time.Minute

// maxRuns is how many clients are kept; the longest silent are forgotten.
const maxRuns = 10_000

// runs groups the requests of an agent run: by transaction_uuid, else by
// client, connection and time. An agent sends its uuid with the catalog, after
// the plugins; earlier requests on the same connection belong to the run.
type runs struct {
	mu      sync.Mutex
	clients map[string]*run
}

// A run is the current run of a client.
type run struct {
	name   string // its uuid if it was known at first, else eight hexadecimal digits
	uuid   string
	conn   uint64
	last   time.Time
	closed bool // the report has come
}

// Run returns the run of a request, and whether that is guessed by connection
// and time, without a transaction_uuid.
func (s *Server) Run(r *http.Request, req *indirector.Request) (run string, guessed bool) {
	k, err := s.known(r)
	if err != nil {
		return "", false
	}
	report := req.Indirection == "report" && req.Verb == indirector.Save
	return s.runs.of(k.client.String(), k.remote.Node, connectionOf(r).number, req.Run, report, s.now()), req.Run == ""
}

// RunOf is Run for a request that a server sends for a node: it belongs to the run
// of the agent of that name.
func (s *Server) RunOf(node string, req *indirector.Request) (run string, guessed bool) {
	if node == "" {
		return req.Run, false
	}
	report := req.Indirection == "report" && req.Verb == indirector.Save
	return s.runs.of(node, "", 0, req.Run, report, s.now()), req.Run == ""
}

// of returns the run of a request of a client, whose node is "" if it has none. Conn is
// the number of its connection; 0 is that of another.
func (r *runs) of(client, node string, conn uint64, uuid string, report bool, now time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients == nil {
		r.clients = make(map[string]*run)
	}
	known := r.clients[client]
	if known == nil || !known.takes(conn, uuid, now) {
		known = &run{name: uuid, uuid: uuid}
		if uuid == "" {
			known.name = newName()
		}
		r.forget(now)
		r.clients[client] = known
	}
	if node != "" {
		r.clients[node] = known
	}
	if known.last = now; conn != 0 {
		known.conn = conn
	}
	if known.uuid == "" {
		known.uuid = uuid
	}
	known.closed = known.closed || report
	return known.name
}

// takes reports whether a request belongs to the run.
func (r *run) takes(conn uint64, uuid string, now time.Time) bool {
	switch silent := now.Sub(r.last); {
	case uuid != "" && r.uuid != "":
		return uuid == r.uuid
	case r.closed: // facts may follow the report
		return conn == r.conn && silent < 5*time.Second
	default:
		return silent < quiet
	}
}

// forget makes room.
func (r *runs) forget(now time.Time) {
	if len(r.clients) < maxRuns {
		return
	}
	oldest, at := "", now
	for client, known := range r.clients {
		if now.Sub(known.last) > quiet {
			delete(r.clients, client)
		} else if known.last.Before(at) {
			oldest, at = client, known.last
		}
	}
	if len(r.clients) >= maxRuns {
		delete(r.clients, oldest)
	}
}

func newName() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
