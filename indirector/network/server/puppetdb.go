package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
	"indirtui/indirector/network/rest"
	"indirtui/indirector/puppetdb"
	"indirtui/indirector/puppetdb/api"
	"indirtui/indirector/stores"
	"indirtui/traces"
)

// Forward is the terminus that passes requests on to PuppetDB.
const Forward = "forward"

// AuthorizePuppetDB decides about a request of PuppetDB's API: by the rules of
// auth.conf that name /pdb, else as PuppetDB does, which takes every client whose
// certificate its CA has signed. The error is a *rest.Forbidden, or nil.
func (s *Server) AuthorizePuppetDB(r *http.Request) error {
	k, err := s.known(r)
	if err != nil {
		return &rest.Forbidden{Message: err.Error(), Why: err.Error()}
	}
	if d := s.decide(r, k); d.Rule != nil && strings.Contains(d.Rule.Path, "/pdb") {
		return s.Authorize(r, k.remote)
	}
	if k.client.Authenticated {
		return nil
	}
	why := fmt.Sprintf("PuppetDB answers clients with a certificate of its CA only, and %s shows none", k.client)
	if k.doubt != "" {
		why += "; " + k.doubt
	}
	return &rest.Forbidden{Message: "Permission denied: a certificate that the CA has signed is needed", Why: why}
}

// PuppetDB returns termini that pass requests of PuppetDB's API on to the
// PuppetDB at that URL: as they came, unless they were changed. What becomes of
// commands goes to a Log, which they share.
func PuppetDB(at *url.URL, became *stores.Log) []indirector.Descriptor {
	queued := new(puppetdb.Queue)
	describe := func(indirection string, typ indirector.Terminus, as func(forward) indirector.Terminus) indirector.Descriptor {
		return indirector.Descriptor{
			Indirection: indirection, Name: Forward, Party: "PuppetDB", Note: "passes requests of PuppetDB's API on",
			Doc:      "Passes commands and queries of PuppetDB's API on to the PuppetDB behind a proxy, as they came. It takes no other requests.",
			Settings: client.Settings(), Type: typ,
			New: func(env indirector.Env) (indirector.Terminus, error) {
				if env.Shared != nil {
					env.Shared(Forward, func(any) any { return became })
				}
				return as(forward{at: at, spec: env.Spec, client: client.Of(env), now: env.Now, queued: queued, became: became}), nil
			},
		}
	}
	saves := func(f forward) indirector.Terminus { return &saver{f} }
	return []indirector.Descriptor{
		describe("catalog", (*saver)(nil), saves),
		describe("report", (*saver)(nil), saves),
		describe("facts", (*factsForward)(nil), func(f forward) indirector.Terminus { return &factsForward{saver{f}} }),
		describe("node", (*nodeForward)(nil), func(f forward) indirector.Terminus { return &nodeForward{f} }),
		describe("resource", (*resourceForward)(nil), func(f forward) indirector.Terminus { return &resourceForward{f} }),
	}
}

// A forward asks PuppetDB.
type forward struct {
	at     *url.URL
	spec   *indirector.Spec
	client *client.Client
	now    func() time.Time
	queued *puppetdb.Queue // of catalogs
	became *stores.Log
}

// Close closes idle connections.
func (f *forward) Close() error { return f.client.Close() }

// Validate checks the model. PuppetDB checks the certname.
func (f *forward) Validate(_ context.Context, req *indirector.Request) error {
	return f.spec.ValidateModel(req.Instance)
}

// A saver sends commands.
type saver struct{ forward }

// Save sends the command. Its result is PuppetDB's document.
func (f *saver) Save(ctx context.Context, req *indirector.Request) (any, error) {
	return f.command(ctx, req)
}

type factsForward struct{ saver }

func (f *factsForward) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	return f.find(ctx, req)
}

func (f *factsForward) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	return f.search(ctx, req)
}

type nodeForward struct{ forward }

func (f *nodeForward) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	return f.find(ctx, req)
}

// Destroy deactivates the node.
func (f *nodeForward) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	return f.command(ctx, req)
}

type resourceForward struct{ forward }

func (f *resourceForward) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	return f.search(ctx, req)
}

// command sends a command, and explains that it is not stored yet. Rules
// PDB-HTTP-02, PDB-HTTP-03.
func (f *forward) command(ctx context.Context, req *indirector.Request) (any, error) {
	answer, err := f.ask(ctx, req, false)
	if err != nil {
		return nil, err
	}
	if !answer.OK() {
		return nil, f.refused(answer)
	}
	doc, err := api.Answer(req, answer.Body)
	if err != nil {
		traces.ExplainFailure(ctx, "the command is queued all the same: PuppetDB answered "+answer.URL.Host+" 200, and its body is no JSON")
		return nil, err
	}
	if req.Indirection == "catalog" {
		f.queued.Add(req.Key, time.Time{}, f.now())
	}
	uuid, _ := doc.(data.Value)
	traces.Explain(ctx, fmt.Sprintf("queued at %s with uuid %s: PuppetDB has not stored it yet", f.at.Host, uuid.Get("uuid").Text()))
	return doc, nil
}

func (f *forward) find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	answer, err := f.ask(ctx, req, false)
	switch {
	case err != nil:
		return nil, err
	case answer.Status == http.StatusNotFound:
		return nil, indirector.NotFound(traces.NilFrom404, fmt.Sprintf("404 from %s: %s", answer.URL.Host, problem(answer.Body)))
	case !answer.OK():
		return nil, f.refused(answer)
	}
	found, err := api.Answer(req, answer.Body)
	if err != nil {
		return nil, err
	}
	facts, ok := found.(*model.Facts)
	if ok && facts.Values.Len() == 0 {
		traces.Explain(ctx, fmt.Sprintf("PuppetDB has no facts of %s: the node is deactivated, or only its catalog or reports were stored", req.Key))
	}
	inst, _ := found.(indirector.Instance)
	return inst, nil
}

// keptRows is how much of a list is read for the trace, in bytes; longer ones pass
// unread, unless the answer may be held.
const (
	keptRows = 16 << 20
	heldRows = 256 << 20
)

func (f *forward) search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	w := req.Wire()
	answer, err := f.ask(ctx, req, true)
	if err != nil {
		return nil, err
	}
	if !answer.OK() {
		return nil, f.refused(answer)
	}
	defer answer.Stream.Close()
	most := int64(heldRows)
	if w.Through != nil {
		most = keptRows
	}
	body, err := io.ReadAll(io.LimitReader(answer.Stream, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of PuppetDB: %w", err)
	case int64(len(body)) > most && w.Through == nil:
		return nil, &indirector.Failure{Message: fmt.Sprintf("the answer of PuppetDB is longer than %d bytes", most), Origin: "network"}
	case int64(len(body)) > most:
		_, err := io.Copy(w.Through(), io.MultiReader(bytes.NewReader(body), answer.Stream))
		w.Passed = err == nil
		traces.Explain(ctx, fmt.Sprintf("the answer is longer than %d bytes: it passed unread, its rows were not counted", most))
		return nil, err
	}
	if answer.Coding != "" {
		w.Coded = body
		if body, err = decoded(body); err != nil {
			return nil, fmt.Errorf("read the answer of PuppetDB: %w", err)
		}
	}
	w.Body, w.Kept = body, true
	found, err := api.Answer(req, body)
	if err != nil {
		return nil, err
	}
	all, _ := found.([]indirector.Instance)
	traces.Explain(ctx, f.perNode(req, all))
	return all, nil
}

func decoded(body []byte) ([]byte, error) {
	from, err := client.Decode(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(from, heldRows+1))
	if err == nil && len(plain) > heldRows {
		err = fmt.Errorf("it is longer than %d bytes", heldRows)
	}
	return plain, err
}

// refused returns the error of a refusal, in the words of PuppetDB's client. Rule
// PDB-HTTP-13.
func (f *forward) refused(a *client.Answer) error {
	body := strings.NewReplacer("\r", "", "\n", "").Replace(beginning(a.Body))
	return &indirector.Failure{
		Message: fmt.Sprintf("[%d %s] %s", a.Status, a.Reason, body), Origin: "puppetdb", Path: a.URL.Redacted(), Status: a.Status,
		Hidden: fmt.Sprintf("PuppetDB at %s answered %d %s", a.URL.Host, a.Status, a.Reason),
	}
}

// problem returns the error that a body has, or its beginning.
func problem(body []byte) string {
	if doc, err := format.DecodeJSON(body, format.Limits{Bytes: 64 << 10}); err == nil {
		if text, ok := doc.Get("error").AsStr(); ok {
			body = []byte(text)
		}
	}
	return beginning(body)
}

// beginning returns the beginning of a body as text.
func beginning(body []byte) string {
	const most = 1000
	text := strings.ToValidUTF8(string(body[:min(len(body), most)]), "\uFFFD")
	if len(body) > most {
		text += "…"
	}
	return text
}

// ask sends the request: as it came, or written anew if it was changed.
func (f *forward) ask(ctx context.Context, req *indirector.Request, stream bool) (*client.Answer, error) {
	w := req.Wire()
	if w == nil || w.Came == nil || !strings.HasPrefix(w.Came.Target, "/pdb/") {
		return nil, errors.New("pass a request on to PuppetDB: it is none of PuppetDB's API, so route it elsewhere")
	}
	came := w.Came
	x := &client.Exchange{
		URL: f.at, Method: came.Method, Header: http.Header(came.Header).Clone(), Trailer: came.Trailer, Chunked: came.Chunked,
		Body: came.Body, Size: came.Size, Again: came.Again, Target: came.Target, Once: true, Stream: stream, Coded: stream, Wire: w,
	}
	if w.Changed {
		if err := f.anew(x, req); err != nil {
			return nil, err
		}
	}
	x.Path, x.Query, _ = strings.Cut(x.Target, "?")
	answer, err := f.client.Do(ctx, x)
	switch what := fmt.Sprintf("%s %s %s", req.Verb, req.Indirection, req.Key); {
	case ctx.Err() != nil:
	case err == nil && x.Method != http.MethodPost:
		f.became.Reached()
	default:
		note(f.became, f.now(), what, answer, err)
	}
	return answer, err
}

// note takes note of what became of a command, or why PuppetDB was not reached.
func note(became *stores.Log, now time.Time, what string, answer *client.Answer, err error) {
	switch {
	case err != nil:
		became.Add(stores.Failed, now, what+": "+indirector.Message(err))
	case !answer.OK():
		became.Add(stores.Refused, now, fmt.Sprintf("%s: %d %s", what, answer.Status, answer.Reason))
	default:
		became.Add(stores.Queued, now, what)
	}
}

// anew replaces what came by what the request is now. A command is not compressed.
func (f *forward) anew(x *client.Exchange, req *indirector.Request) error {
	var was *api.Call
	if x.Method == http.MethodPost {
		_, query, _ := strings.Cut(x.Target, "?")
		body, err := f.came(x)
		if err == nil {
			was, err = api.Called(query, body)
		}
		if err != nil {
			return fmt.Errorf("write the command anew: %w", err)
		}
	}
	m, err := api.Write(req, was)
	if err != nil {
		return err
	}
	x.Method, x.Target, x.Again = m.Method, m.Target, true
	if m.Body == nil {
		return nil
	}
	x.Header.Del("Content-Encoding")
	x.Chunked, x.Size, x.Trailer = false, int64(len(m.Body)), nil
	x.Body = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(m.Body)), nil }
	if _, sized := x.Header["X-Uncompressed-Length"]; sized {
		x.Header.Set("X-Uncompressed-Length", fmt.Sprint(len(m.Body)))
	}
	return nil
}

// came returns the body that came, unpacked.
func (f *forward) came(x *client.Exchange) ([]byte, error) {
	if x.Body == nil {
		return nil, errors.New("it has no body")
	}
	body, err := x.Body()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(body)
	err = errors.Join(err, body.Close())
	if err != nil || x.Header.Get("Content-Encoding") == "" {
		return b, err
	}
	return decoded(b)
}
