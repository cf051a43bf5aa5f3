package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// A session keeps the servers found for one agent run, as Puppet does. Requests
// outside of runs share one session: it ends when its server cannot be reached,
// and SRV records in it count for srvKept.
type session struct {
	found map[Service]found
	list  *found // the one of server_list that answered
	srv   map[string]looked
}

type found struct {
	host, candidate string
	until           time.Time // outside of runs; zero is for ever
}

// Looked are the records of a name. Missing ones are not kept.
type looked struct {
	records []*net.SRV
	until   time.Time
}

// srvKept is how long SRV records count. Puppet goes by their TTL, which the
// system's resolver does not report, and looks them up again for each run.
const srvKept = time.Minute

// maxSessions is how many runs are kept.
const maxSessions = 256

// sessions are guarded by the mutex of their client.
type sessions struct {
	by    map[string]*session
	order []string // oldest first
}

func (s *sessions) of(run string) *session {
	if got := s.by[run]; got != nil {
		return got
	}
	if s.by == nil {
		s.by = map[string]*session{}
	}
	if len(s.order) >= maxSessions {
		delete(s.by, s.order[0])
		s.order = s.order[1:]
	}
	n := &session{found: map[Service]found{}}
	s.by[run] = n
	if run != "" {
		s.order = append(s.order, run)
	}
	return n
}

// forget drops the session outside of runs.
func (c *Client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions.by, "")
}

func (c *Client) known(run string, s Service) (found, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.sessions.of(run).found[s]
	return f, ok && (run != "" || f.until.IsZero() || c.now().Before(f.until))
}

func (c *Client) remember(run string, s Service, f found) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions.of(run).found[s] = f
}

// runOf returns the run of the request of ctx; "" if none.
func runOf(ctx context.Context) string {
	live := traces.FromContext(ctx)
	if live == nil {
		return ""
	}
	_, run, _ := live.Request()
	return run
}

// A way finds the server of a service.
type way struct {
	source string
	// each calls try with one candidate after another until try is done or the
	// search is over. An error ends all ways.
	each func(ctx context.Context, try func(f found) (done bool)) (over bool, err error)
}

// route finds the server of the service and asks it. Puppet connects first;
// here the request itself connects. Rules REST-CLI-02, REST-CLI-03.
func (c *Client) route(ctx context.Context, x *Exchange) (*Answer, error) {
	run := runOf(ctx)
	if f, ok := c.known(run, x.Service); ok {
		answer, err := c.follow(ctx, x, c.target(x, f, false))
		if unreachable(err) && run == "" {
			c.forget()
		}
		return answer, err
	}
	var (
		answer *Answer
		err    error
		tried  []string
	)
	for _, w := range c.ways(run, x.Service, &tried) {
		done := false
		over, fatal := w.each(ctx, func(f found) bool {
			t := c.target(x, f, true)
			answer, err = c.follow(ctx, x, t)
			if unreachable(err) && ctx.Err() == nil {
				c.log.Error(fmt.Sprintf("Connection to %s failed, trying next route: %s", text(t.base), indirector.Message(err)))
				tried = append(tried, f.candidate+": "+cause(err))
				return false
			}
			done = true
			c.remember(run, x.Service, f)
			if len(tried) > 0 {
				traces.Explain(ctx, fmt.Sprintf("%s answered after %s did not", f.candidate, strings.Join(tried, " and ")))
			}
			return true
		})
		if done {
			return answer, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("find the service %s: %w", x.Service, ctx.Err())
		}
		if fatal != nil {
			return nil, fatal
		}
		if over {
			break
		}
	}
	return nil, &indirector.Failure{
		Class: "Puppet::HTTP::RouteError", Message: "No more routes to " + string(x.Service), Origin: "network",
		Hidden: strings.Join(tried, "; "), Err: err,
	}
}

// cause returns the hidden cause of err without the candidate.
func cause(err error) string {
	f, ok := err.(*indirector.Failure)
	if !ok || f.Hidden == "" {
		return indirector.Message(err)
	}
	if _, why, ok := strings.Cut(f.Hidden, ": "); ok {
		return why
	}
	return f.Hidden
}

func (c *Client) target(x *Exchange, f found, first bool) target {
	u := &url.URL{Scheme: "https", Host: f.host}
	t := target{url: withPath(u, x), candidate: f.candidate}
	if first {
		u.Path = x.Service.base()
		t.base = u
	}
	return t
}

// ways returns the ways that the settings allow, in order.
func (c *Client) ways(run string, s Service, tried *[]string) []way {
	var ways []way
	if c.get("use_srv_records") == "true" {
		ways = append(ways, way{"SRV records", func(ctx context.Context, try func(found) bool) (bool, error) {
			return c.bySRV(ctx, run, s, tried, try), nil
		}})
	}
	if list, source := c.settings.Get("server_list"); list != "" && !c.explicit(s) {
		ways = append(ways, way{"server_list", func(ctx context.Context, try func(found) bool) (bool, error) {
			return c.byList(ctx, run, list, source, tried, try)
		}})
	}
	return append(ways, way{"settings", func(_ context.Context, try func(found) bool) (bool, error) {
		try(c.bySettings(s))
		return false, nil
	}})
}

// explicit reports whether the service has a host of its own, which is stronger
// than the list.
func (c *Client) explicit(s Service) bool {
	name := ""
	switch s {
	case CA:
		name = "ca_server"
	case Report:
		name = "report_server"
	default:
		return false
	}
	_, source := c.settings.Get(name)
	return source != "" && source != "default"
}

// bySettings returns the host and port of the settings.
func (c *Client) bySettings(s Service) found {
	host, port := "server", "serverport"
	switch s {
	case CA:
		host, port = "ca_server", "ca_port"
	case Report:
		host, port = "report_server", "report_port"
	}
	h, source := c.settings.Get(host)
	p, _ := c.settings.Get(port)
	address := net.JoinHostPort(h, p)
	return found{host: address, candidate: fmt.Sprintf("%s, setting %s (%s)", address, host, source)}
}

// bySRV tries SRV records. Those of equal priority come in random order, by
// weight.
func (c *Client) bySRV(ctx context.Context, run string, s Service, tried *[]string, try func(found) bool) bool {
	domain := c.get("srv_domain")
	if domain == "" {
		*tried = append(*tried, "SRV records: the setting srv_domain is empty")
		return false
	}
	names := []string{"x-puppet"}
	if s != Puppet {
		names = []string{"x-puppet-" + string(s), "x-puppet"}
	}
	for _, name := range names {
		record := fmt.Sprintf("_%s._tcp.%s", name, domain)
		answer, err := c.lookup(ctx, run, name, domain, record)
		if len(answer.records) == 0 {
			if err != nil {
				*tried = append(*tried, fmt.Sprintf("%s: %v", record, err))
			}
			continue
		}
		for _, r := range answer.records {
			address := net.JoinHostPort(strings.TrimSuffix(r.Target, "."), fmt.Sprint(r.Port))
			if try(found{address, fmt.Sprintf("%s, record %s (priority %d, weight %d)", address, record, r.Priority, r.Weight), answer.until}) || ctx.Err() != nil {
				return true
			}
		}
		return false
	}
	return false
}

// lookup returns the records of a name, from the session if they are there.
func (c *Client) lookup(ctx context.Context, run, name, domain, record string) (looked, error) {
	c.mu.Lock()
	answer, ok := c.sessions.of(run).srv[record]
	c.mu.Unlock()
	if ok && c.now().Before(answer.until) {
		return answer, nil
	}
	_, span := traces.Start(ctx, traces.Network, "SRV "+record)
	_, records, err := c.o.LookupSRV(ctx, name, "tcp", domain)
	span.End(fmt.Sprintf("%d records", len(records)), traces.Because{}, err)
	answer = looked{records, c.now().Add(srvKept)}
	if len(records) == 0 {
		return answer, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions.of(run)
	if s.srv == nil {
		s.srv = make(map[string]looked)
	}
	s.srv[record] = answer
	return answer, err
}

// byList takes the first server of the list that reports its status; there is
// no other candidate after it. TLS errors end the search: Puppet goes on for
// other errors only. Gap S-35.
func (c *Client) byList(ctx context.Context, run, list, source string, tried *[]string, try func(found) bool) (over bool, err error) {
	c.mu.Lock()
	known := c.sessions.of(run).list
	c.mu.Unlock()
	if known != nil {
		try(*known)
		return true, nil
	}
	port, _ := c.settings.Get("serverport")
	entries := strings.Split(list, ",")
	for i, entry := range entries {
		f := found{host: listed(entry, port)}
		f.candidate = fmt.Sprintf("%s, setting server_list (%s), %d of %d", f.host, source, i+1, len(entries))
		err := c.probe(ctx, f)
		if ctx.Err() != nil {
			return true, nil
		}
		if err == nil {
			c.mu.Lock()
			c.sessions.of(run).list = &f
			c.mu.Unlock()
			try(f)
			return true, nil
		}
		if failure := (*indirector.Failure)(nil); errors.As(err, &failure) && strings.HasPrefix(failure.Class, "Puppet::SSL::") {
			if rest := len(entries) - i - 1; rest > 0 {
				traces.ExplainFailure(ctx, fmt.Sprintf("Puppet stops at a TLS error, so %d more of server_list was not asked: %s: %s", rest, f.candidate, cause(err)))
			}
			return true, err
		}
		*tried = append(*tried, f.candidate+": "+cause(err))
		message, next, log := indirector.Message(err), "", c.log.Error
		if i < len(entries)-1 {
			next, log = " Trying with next server from server_list.", c.log.Warn
		}
		if status := (*statusError)(nil); errors.As(err, &status) {
			log(fmt.Sprintf("Puppet server %s is unavailable: %d %s", f.host, status.answer.Status, status.answer.Reason) + next)
		} else {
			log("Unable to connect to server from server_list setting: " + message + next)
		}
	}
	return true, nil
}

// listed returns the address of an entry of server_list.
func listed(entry, port string) string {
	entry = strings.TrimSpace(entry)
	host, p, ok := strings.Cut(entry, ":")
	if ok && p != "" {
		port = p
	}
	return net.JoinHostPort(host, port)
}

// probe asks for the status of a server. Older servers have another path.
func (c *Client) probe(ctx context.Context, f found) error {
	for _, path := range []string{"/status/v1/simple/server", "/status/v1/simple/master"} {
		x := &Exchange{Service: PuppetServer, Method: http.MethodGet, Path: path, Limit: maxErrorBody}
		answer, err := c.follow(ctx, x, c.target(x, f, true))
		switch {
		case err != nil:
			return err
		case answer.OK():
			return nil
		case answer.Status != http.StatusNotFound || path != "/status/v1/simple/server":
			return &statusError{answer}
		}
	}
	return nil
}

// A statusError is a status other than 2xx as an error.
type statusError struct{ answer *Answer }

func (e *statusError) Error() string {
	return fmt.Sprintf("%s answered %d %s", e.answer.URL.Host, e.answer.Status, e.answer.Reason)
}
