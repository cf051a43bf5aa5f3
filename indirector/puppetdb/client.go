// Package puppetdb is the client of PuppetDB: puppetdb.conf, commands and
// queries, as the termini of the package puppetdb-termini send them.
//
//	db := puppetdb.Of(env)
//	result, err := db.Submit(ctx, cmd)    // queued: PuppetDB stores it later
//	facts, err := db.Facts(ctx, "web01")  // indirector.ErrNotFound is Puppet's nil
//
// Each of the URLs in puppetdb.conf is asked in turn until one answers. Which
// were tried before, and why each was left, is in the trace: one span for each,
// and in the first line what follows from it.
package puppetdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/network/client"
	"indirtui/indirector/stores"
	"indirtui/traces"
)

// Settings that Puppet does not have.
const (
	settingAnswer  = "puppetdb_max_answer"
	settingDepth   = "puppetdb_max_depth"
	settingConfirm = "puppetdb_confirm"
)

// Their defaults.
const (
	defaultAnswer = 256 // MB
	defaultDepth  = 200
)

// Settings returns those that every Client reads. The slice is the caller's.
func Settings() []indirector.Setting {
	return append([]indirector.Setting{
		{Name: "confdir", Doc: "Directory of puppetdb.conf, which has the URLs of PuppetDB."},
		{Name: "certname", Doc: "Whose certificate is shown, in messages about it."},
		{Name: "hostcrl", Doc: "Revocation lists that PuppetDB's certificate is checked against."},
		{Name: "certificate_revocation", Doc: "Whether the whole chain is checked (chain), only PuppetDB's certificate (leaf), or nothing (false)."},
		{Name: settingAnswer, Doc: "The longest answer of PuppetDB that is read, in MB. Not a setting of Puppet.", Type: "integer", Default: strconv.Itoa(defaultAnswer)},
		{Name: settingDepth, Doc: "How deep lists and hashes in it may be nested. Not a setting of Puppet.", Type: "integer", Default: strconv.Itoa(defaultDepth)},
		{Name: settingConfirm, Doc: "How long a save asks PuppetDB whether the command was stored, as 10s; it waits that long at the most. 0 does not ask. Not a setting of Puppet.", Type: "duration", Default: "0"},
	}, client.Settings()...)
}

// A Client asks the PuppetDB of one puppetdb.conf. It is safe for concurrent
// use and must be closed.
type Client struct {
	net     *client.Client
	log     *slog.Logger
	now     func() time.Time
	path    string // of puppetdb.conf
	answer  int64  // limit in bytes
	depth   int
	confirm time.Duration
	wrong   error       // of a setting
	became  *stores.Log // what became of commands
	sent    Queue       // the catalogs of this process

	mu     sync.Mutex // guards the following
	config *Config    // nil until it was read
	good   int        // the index of the URL that last answered after a failover

	known   sync.Mutex // guards the following; nothing waits while it is held
	late    map[string]bool
	dropped map[string]bool // submit-only URLs that are asked no more
}

// Of returns the Client that the termini of an engine share. Each of them closes
// it.
func Of(env indirector.Env) *Client {
	make := func(before any) any {
		c := newClient(env)
		if old, ok := before.(*Client); ok {
			c.became = old.became
		}
		return c
	}
	if env.Shared == nil {
		return make(nil).(*Client)
	}
	return env.Shared("puppetdb", make).(*Client)
}

func newClient(env indirector.Env) *Client {
	dir, _ := env.Settings.Get("confdir")
	c := &Client{
		net: client.Of(env), log: env.Log, now: env.Now, path: filepath.Join(dir, "puppetdb.conf"),
		late: map[string]bool{}, dropped: map[string]bool{}, became: stores.NewLog("puppetdb"),
	}
	var errs [3]error
	var answer int
	answer, errs[0] = number(env.Settings, settingAnswer, defaultAnswer)
	c.answer = int64(answer) << 20
	c.depth, errs[1] = number(env.Settings, settingDepth, defaultDepth)
	c.confirm, errs[2] = indirector.DurationOf(env.Settings, settingConfirm, 0)
	c.wrong = errors.Join(errs[:]...)
	return c
}

// number reads a setting that is a positive number.
func number(s indirector.Settings, name string, unset int) (int, error) {
	text, source := s.Get(name)
	if text == "" {
		return unset, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1<<20 {
		return unset, fmt.Errorf("setting %s (%s): %q is no number from 1 to %d", name, source, text, 1<<20)
	}
	return n, nil
}

// Close closes idle connections.
func (c *Client) Close() error { return c.net.Close() }

// Config returns what puppetdb.conf has. It is read once; while it is wrong, it
// is read again each time. Rules PDB-CFG-01, PDB-CFG-07.
func (c *Client) Config() (*Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong != nil {
		return nil, c.wrong
	}
	if c.config != nil {
		return c.config, nil
	}
	config, err := LoadConfig(c.path, c.log)
	if err == nil {
		c.config = config
	}
	return config, err
}

// A question is what is asked of each URL.
type question struct {
	name   string // in the trace: "replace_facts"
	method string
	path   string // escaped, and the query
	header http.Header
	body   []byte
}

func (q *question) exchange(u *url.URL, cfg *Config, limit int64) *client.Exchange {
	x := &client.Exchange{URL: u, Method: q.method, Header: q.header.Clone(), Bare: true, Unnamed: !cfg.Certificate, Limit: limit}
	if q.body != nil {
		x.Body, x.Size = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(q.body)), nil }, int64(len(q.body))
	}
	return x
}

// An attempt is what became of asking one URL.
type attempt struct {
	url     *url.URL
	answer  *client.Answer // nil if there is none
	left    string         // why the next was asked: "connection refused"; "" if it answered
	missing bool           // it was a 404 of PuppetDB
	late    bool           // it took too long
}

// errLate is the cause of a context that ended after server_url_timeout.
var errLate = errors.New("server_url_timeout")

const (
	msgNext     = "Failing over to the next PuppetDB server_url in the 'server_urls' list"
	msgLate     = "Request to %s on %s at route %s timed out after %d seconds. " + msgNext
	msgLeft     = "Error connecting to %s on %s at route %s, error message received was '%s'. " + msgNext
	msgMissing  = "HTTP 404 (probably normal) when connecting to %s on %s at route %s, error message received was '%s'. " + msgNext
	msgExecute  = "Failed to execute '%s' on at least %d of the following 'server_urls': %s"
	msgNotThere = "Failed to find '%s' on any of the following 'server_urls': %s"
)

// try asks one URL, within server_url_timeout. An error ends it all; what lets
// the next be asked is in the attempt, and logged. Rules PDB-HTTP-05,
// PDB-HTTP-06.
func (c *Client) try(ctx context.Context, cfg *Config, u *url.URL, q *question) (t attempt, err error) {
	t.url = u
	route, err := url.Parse(u.String() + q.path)
	if err != nil {
		return t, fmt.Errorf("ask PuppetDB %q: %w", u.Redacted(), errors.Unwrap(err))
	}
	if cfg.Timeout < 0 {
		return t, &indirector.Failure{Class: "ArgumentError", Message: "time interval must not be negative", Hidden: "server_url_timeout, " + cfg.Source(urlTimeout)}
	}
	ctx, span := traces.Start(ctx, traces.Network, q.name+" at "+u.Redacted())
	defer func() { span.End(t.outcome(), traces.Because{}, err) }()
	within, cancel := ctx, context.CancelFunc(func() {})
	if cfg.Timeout > 0 {
		within, cancel = context.WithTimeoutCause(ctx, cfg.Timeout, errLate)
	}
	defer cancel()
	t.answer, err = c.net.Do(within, q.exchange(route, cfg, c.answer))
	host, port, at := u.Hostname(), portOf(u), u.Redacted()+q.path
	switch {
	case ctx.Err() != nil:
		return t, fmt.Errorf("ask PuppetDB %q: %w", u.Redacted(), context.Cause(ctx))
	case err != nil && context.Cause(within) == errLate:
		t.late, t.left = true, fmt.Sprintf("no answer within %s, server_url_timeout", cfg.Timeout)
		c.log.Warn(fmt.Sprintf(msgLate, host, port, at, int64(cfg.Timeout/time.Second)))
	case err != nil && passable(err):
		t.left = reason(err)
		c.log.Warn(fmt.Sprintf(msgLeft, host, port, at, indirector.Message(err)))
	case err != nil:
		return t, err
	case t.answer.Status == http.StatusNotFound && bytes.HasPrefix(t.answer.Body, []byte("{")):
		t.missing, t.left = true, "404"
		c.log.Debug(fmt.Sprintf(msgMissing, host, port, at, t.answer.Reason))
	case t.answer.Status == http.StatusNotFound, t.answer.Status >= http.StatusInternalServerError:
		t.left = fmt.Sprintf("%d %s", t.answer.Status, t.answer.Reason)
		c.log.Warn(fmt.Sprintf(msgLeft, host, port, at, t.answer.Reason))
	}
	c.judge(cfg, &t)
	return t, nil
}

// outcome is the attempt in a span.
func (t *attempt) outcome() string {
	switch {
	case t.left != "":
		return "left: " + t.left
	case t.answer == nil:
		return "failed"
	}
	return fmt.Sprintf("%d %s", t.answer.Status, t.answer.Reason)
}

// passable reports whether the next URL is asked after err: not after missing
// files of our own.
func passable(err error) bool {
	f := (*indirector.Failure)(nil)
	return errors.As(err, &f) && (strings.HasPrefix(f.Class, "Puppet::HTTP::") || strings.HasPrefix(f.Class, "Puppet::SSL::") ||
		strings.Contains(f.Message, "did not match server certificate; expected one of"))
}

// reason is why an exchange failed, in a few words.
func reason(err error) string {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "connection refused"
	}
	f := (*indirector.Failure)(nil)
	if errors.As(err, &f) && f.Hidden != "" {
		if _, why, ok := strings.Cut(f.Hidden, ": "); ok { // behind the server
			return why
		}
	}
	return indirector.Message(err)
}

// judge drops a submit-only URL that took too long twice in a row. Puppet does
// so without a word. Rule PDB-HTTP-10.
func (c *Client) judge(cfg *Config, t *attempt) {
	if !slices.Contains(cfg.SubmitOnly, t.url) {
		return
	}
	at := t.url.Redacted()
	c.known.Lock()
	drop := t.late && c.late[at]
	if drop {
		c.dropped[at] = true
	}
	if t.late || t.answer != nil {
		c.late[at] = t.late && !c.dropped[at]
	}
	c.known.Unlock()
	if drop {
		c.log.Warn(fmt.Sprintf("%s: %s did not answer twice in a row, and gets no commands any more from this process; :stores retry brings it back", cfg.Source(submitOnlyURLs), at))
	}
}

// submitURLs are where commands go. Rule PDB-HTTP-08.
func (c *Client) submitURLs(cfg *Config) []*url.URL {
	all := slices.Clone(cfg.ServerURLs)
	c.known.Lock()
	defer c.known.Unlock()
	for _, u := range cfg.SubmitOnly {
		if !c.dropped[u.Redacted()] {
			all = append(all, u)
		}
	}
	return all
}

// failover asks one URL after another until one answers; the answer is that of
// the last attempt. Rules PDB-HTTP-05, PDB-HTTP-07, PDB-HTTP-11.
func (c *Client) failover(ctx context.Context, cfg *Config, urls []*url.URL, sticky bool, q *question) ([]attempt, error) {
	first := 0
	if sticky {
		c.mu.Lock()
		first = c.good
		c.mu.Unlock()
	}
	var tried []attempt
	for i := range urls {
		index := (i + first) % len(urls)
		t, err := c.try(ctx, cfg, urls[index], q)
		tried = append(tried, t)
		if err != nil {
			return tried, err
		}
		if t.left != "" {
			continue
		}
		if i > 0 {
			c.mu.Lock()
			c.good = index // also for a command, which may go to more URLs than queries do
			c.mu.Unlock()
		}
		return tried, nil
	}
	return tried, unanswered(cfg, q, tried)
}

// toAll asks all URLs. The answer that counts is that of the last good attempt,
// and a refusal counts as good. Rule PDB-HTTP-09.
func (c *Client) toAll(ctx context.Context, cfg *Config, urls []*url.URL, q *question) ([]attempt, error) {
	var tried []attempt
	good := 0
	for _, u := range urls {
		t, err := c.try(ctx, cfg, u, q)
		tried = append(tried, t)
		if err != nil {
			return tried, err
		}
		if t.left == "" {
			good++
		}
	}
	if good == 0 || good < cfg.MinSubmissions {
		return tried, unanswered(cfg, q, tried)
	}
	return tried, nil
}

// answered returns the last attempt that was not left; nil if there is none.
func answered(tried []attempt) *attempt {
	for i := len(tried) - 1; i >= 0; i-- {
		if tried[i].left == "" && tried[i].answer != nil {
			return &tried[i]
		}
	}
	return nil
}

// errMissing is the cause of a failure of a PuppetDB that has nothing.
var errMissing = errors.New("PuppetDB has nothing there")

// unanswered is the error of a question that too few URLs answered. The last
// answer that came decides, so that a 404 of one hides the outage of the others.
// Rule PDB-HTTP-07.
func unanswered(cfg *Config, q *question, tried []attempt) error {
	list := strings.Join(texts(cfg.ServerURLs), ", ")
	f := &indirector.Failure{Origin: "network", Hidden: leftBehind(tried), Message: fmt.Sprintf(msgExecute, q.path, cfg.MinSubmissions, list)}
	for i := len(tried) - 1; i >= 0; i-- {
		if tried[i].answer == nil {
			continue
		}
		if tried[i].missing {
			f.Class, f.Message, f.Err = "Puppet::Util::Puppetdb::NotFoundError", fmt.Sprintf(msgNotThere, q.path, list), errMissing
		}
		break
	}
	return f
}

// leftBehind is why each URL was left: "a:8081: connection refused; b:8081: 404".
func leftBehind(tried []attempt) string {
	var parts []string
	for _, t := range tried {
		if t.left != "" {
			parts = append(parts, t.url.Host+": "+t.left)
		}
	}
	return strings.Join(parts, "; ")
}
