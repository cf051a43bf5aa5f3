// Package diff compares two requests with their steps, or two runs or
// recordings. It knows no screen and no command line.
//
// # The comparison of values
//
// It walks both texts itself. Libraries for JSON patches name places by indexes
// that hold only while the patch is applied, do not know that a resource is
// Type[title] wherever it stands, and need memory that grows with the square of
// a list, which may come from anywhere. Longest common sequences are Myers's.
//
// # As a document
//
// A Report is written as JSON like this; what is empty is left out:
//
//	{"diff":1,                       the version of this format
//	 "kind":"requests",              or "runs", or "values" of no requests
//	 "equal":false, "differences":3, "unknown":0, "ignored":1,
//	 "rules":[".parameters.*timestamp"],
//	 "note":"#7 has no value to compare: …",
//	 "a":{…}, "b":{…},               the sides
//	 "changes":[                     of values, in the order of paths
//	   {"path":".classes","sign":"~","a":[…],"b":[…]},
//	   {"path":".parameters.role","sign":"+","b":"web"}],
//	 "steps":[                       of requests
//	   {"step":"terminus","same":false,
//	    "a":{"answer":"instance","because":"returned","took_ns":38000}, "b":{…}}],
//	 "requests":[                    of runs: those that differ
//	   {"sign":"~","what":["outcome","value"],"differences":2,"a":{…},"b":{…}}],
//	 "compared":912,                 of runs: how many requests there were in both
//	 "uncompared":3}                 of runs: how many of those have a value that is not kept
//
// A sign is + for what only B has, - for what only A has, ~ for what differs, and
// ? for what is redacted on both sides and may be equal or not, which counts as
// unknown and not as a difference. A side is
//
//	{"recording":"base.ind","name":"#1050","request":1050,"requests":912,
//	 "verb":"find","ind":"node","key":"web01","env":"production",
//	 "t":"2025-11-20T14:02:17Z","took_ns":412000000,"out":"ok",
//	 "served":"terminus","terminus":"exec","cache":"json",
//	 "decided":"exec: setting node_terminus, puppet.conf:7",
//	 "error":"…","size":1204,"masked":2}
//
// Values in a document are redacted as they are in the recording.
//
// # What is redacted
//
// Redacted values of one recording are equal if kind, length and tag are. A tag
// has only 16 bits, so that secrets cannot be found by trying: one pair of
// different secrets in 65 536 is taken for equal. Those of two recordings, whose
// tags cannot be compared, are unknown.
package diff

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/traces/tree"
)

// version is the version of the document.
const version = 1

// A Log is where requests are read from: a *store.Store.
type Log interface {
	Range() (first, last uint64)
	Rows(from uint64, dst []store.Row) int
	Row(id uint64) (store.Row, bool)
	Trace(id uint64) (*traces.Trace, error)
	Body(traces.Value) ([]byte, error)
	Path() string
}

var _ Log = (*store.Store)(nil)

// A Report is how two things differ, and who decided each side: two equally
// wrong sides look equal. See the package comment for its JSON.
type Report struct {
	Version     int      `json:"diff"`
	Kind        string   `json:"kind"`
	Equal       bool     `json:"equal"`
	Differences int      `json:"differences"`
	Unknown     int      `json:"unknown,omitempty"`
	Ignored     int      `json:"ignored"`
	Rules       []string `json:"rules,omitempty"`
	Note        string   `json:"note,omitempty"` // why values were not compared
	A           Side     `json:"a"`
	B           Side     `json:"b"`
	Changes     []Change `json:"changes,omitempty"`
	Steps       []Step   `json:"steps,omitempty"`
	Requests    []Pair   `json:"requests,omitempty"`
	Compared    int      `json:"compared,omitempty"`
	Uncompared  int      `json:"uncompared,omitempty"` // of runs: pairs of which a value is not kept

	// Values is what Changes was made of, for a screen; nil if values were not
	// compared.
	Values *Values `json:"-"`
	// Headers and Timing are what two requests did over HTTP and how long it took,
	// for a screen.
	Headers []Header `json:"-"`
	Timing  []Timing `json:"-"`
}

// The kinds of a Report.
const (
	ofRequests = "requests"
	ofRuns     = "runs"
	ofValues   = "values"
)

// A Side is one of the two: a request, or a run of them.
type Side struct {
	Recording   string        `json:"recording,omitempty"` // its path; "" if it is live
	Name        string        `json:"name"`                // "#1050", "run 8f3c"
	Request     uint64        `json:"request,omitempty"`
	Requests    int           `json:"requests,omitempty"` // of a run
	Verb        string        `json:"verb,omitempty"`
	Indirection string        `json:"ind,omitempty"`
	Key         string        `json:"key,omitempty"`
	Environment string        `json:"env,omitempty"`
	Start       *time.Time    `json:"t,omitempty"`
	Took        time.Duration `json:"took_ns,omitempty"`
	Outcome     string        `json:"out,omitempty"`
	Served      string        `json:"served,omitempty"`
	Terminus    string        `json:"terminus,omitempty"`
	Cache       string        `json:"cache,omitempty"`
	Decided     string        `json:"decided,omitempty"`
	Error       string        `json:"error,omitempty"`
	Size        int           `json:"size,omitempty"`
	Redacted    int           `json:"masked,omitempty"`
}

// A Change is a place where two values differ.
type Change struct {
	Path string          `json:"path"`
	Sign string          `json:"sign"`
	A    json.RawMessage `json:"a,omitempty"`
	B    json.RawMessage `json:"b,omitempty"`
	// FromA and FromB are where the values are from, as far as whoever asked has added that.
	FromA string `json:"from_a,omitempty"`
	FromB string `json:"from_b,omitempty"`
}

// A Step is one question of two requests.
type Step struct {
	Step string   `json:"step"`
	Same bool     `json:"same"`
	A    Question `json:"a"`
	B    Question `json:"b"`
}

// A Question is what was answered to it, and why.
type Question struct {
	Answer  string        `json:"answer"`
	Because string        `json:"because,omitempty"`
	Took    time.Duration `json:"took_ns,omitempty"`

	words string // answer and reason as users read them
}

// Write writes the report as one document of JSON.
func (r *Report) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Requests compares the answers to two requests, and their steps. If one has no
// value to compare, Note is the reason and the steps decide. The error reports a
// missing request.
func Requests(la Log, a uint64, lb Log, b uint64, o Options) (*Report, error) {
	ta, err := la.Trace(a)
	if err != nil {
		return nil, fmt.Errorf("compare #%d: %w", a, err)
	}
	tb, err := lb.Trace(b)
	if err != nil {
		return nil, fmt.Errorf("compare #%d: %w", b, err)
	}
	r := &Report{Version: version, Kind: ofRequests, Rules: o.Ignore, A: sideOf(la, ta), B: sideOf(lb, tb)}
	values, err := compare(la, ta, lb, tb, o)
	if err != nil {
		r.Note = err.Error()
	}
	r.take(values)
	r.Headers, r.Timing = headers(ta, tb), timings(ta, tb)
	steps := 0
	for i := range traces.Step(traces.StepCount) {
		s := Step{Step: i.String(), A: question(ta, i), B: question(tb, i)}
		s.Same = s.A.Answer == s.B.Answer && s.A.Because == s.B.Because
		if !s.Same {
			steps++
		}
		r.Steps = append(r.Steps, s)
	}
	if values == nil {
		r.Differences = steps
		r.Equal = steps == 0
	}
	return r, nil
}

// take adds what was found about values.
func (r *Report) take(v *Values) {
	if v == nil {
		return
	}
	r.Values = v
	r.Equal, r.Differences, r.Unknown, r.Ignored = v.Equal(), v.Differences, v.Unknown, v.Ignored
	for _, l := range v.Lines {
		if l.Kind.Differs() && !l.Part {
			r.Changes = append(r.Changes, Change{Path: l.Path, Sign: string(rune(l.Kind)), A: raw(l.A), B: raw(l.B)})
		}
	}
}

// compare compares the values of two requests. The error reports why that is
// impossible.
func compare(la Log, a *traces.Trace, lb Log, b *traces.Trace, o Options) (*Values, error) {
	one, err := bodyOf(la, a)
	if err != nil {
		return nil, err
	}
	two, err := bodyOf(lb, b)
	if err != nil {
		return nil, err
	}
	v, err := compareJSON(one, two, o)
	if errors.Is(err, tree.ErrNotJSON) {
		return texts(one, two), nil
	}
	return v, err
}

// texts compares two values of which one is no JSON.
func texts(a, b []byte) *Values {
	if string(a) == string(b) {
		return &Values{}
	}
	quoted := func(s []byte) *tree.Node {
		text, _ := json.Marshal(string(s)) // a string can always be written
		n, _ := tree.Parse(text)
		return n
	}
	return &Values{Lines: []Line{{Label: "text", Depth: 1, Kind: Changed, A: quoted(a), B: quoted(b)}}, Differences: 1}
}

func bodyOf(log Log, t *traces.Trace) ([]byte, error) {
	v := valueOf(t)
	if v.Model == "" {
		return nil, fmt.Errorf("#%d has no value to compare", t.ID)
	}
	b, err := log.Body(v)
	if err != nil {
		return nil, fmt.Errorf("#%d has no value to compare: %w", t.ID, err)
	}
	return b, nil
}

// valueOf is the value that counts in a comparison: the answer, or what was
// sent.
func valueOf(t *traces.Trace) traces.Value {
	if t.Value().Model == "" {
		return t.Sent()
	}
	return t.Value()
}

func sideOf(log Log, t *traces.Trace) Side {
	v := valueOf(t)
	return Side{
		Recording: log.Path(), Name: fmt.Sprintf("#%d", t.ID), Request: t.ID, Verb: t.Verb.String(), Indirection: t.Indirection, Key: t.Key,
		Environment: t.Environment, Start: &t.Start, Took: t.Took, Outcome: t.Outcome.String(), Served: t.Served.String(),
		Terminus: t.Owners(traces.Terminus), Cache: t.Owners(cacheStep(t)), Decided: traces.HeadlineOf(t).Decided,
		Error: t.Error, Size: v.Size, Redacted: v.Redacted,
	}
}

// cacheStep is the step in which the cache was asked.
func cacheStep(t *traces.Trace) traces.Step {
	if t.Verb == traces.Save || t.Verb == traces.Destroy {
		return traces.CacheWrite
	}
	return traces.CacheRead
}

func question(t *traces.Trace, s traces.Step) Question {
	q := t.Steps[s]
	out := Question{Answer: q.Answer.String(), Because: q.Because.String(), Took: q.Took, words: q.Answer.Words()}
	if s == traces.Route && q.Answer == traces.Chosen {
		out.Answer = strings.TrimSpace("terminus " + t.Owners(traces.Terminus))
		if cache := t.Owners(cacheStep(t)); cache != "" {
			out.Answer += ", cache " + cache
		}
		out.words = out.Answer
	}
	if why := t.Why(s); why != "" {
		out.words += ", " + why
	}
	return out
}

// Text returns the report as plain text, one difference a line.
func (r *Report) Text() string {
	var b strings.Builder
	for _, s := range []struct {
		name string
		side *Side
	}{{"A", &r.A}, {"B", &r.B}} {
		fmt.Fprintf(&b, "%s  %s\n", s.name, s.side)
	}
	for _, c := range r.Changes {
		fmt.Fprintln(&b, c.String())
		if c.FromA != "" {
			fmt.Fprintln(&b, "    A", c.FromA)
		}
		if c.FromB != "" {
			fmt.Fprintln(&b, "    B", c.FromB)
		}
	}
	for i := range r.Requests {
		fmt.Fprintln(&b, r.Requests[i].String())
	}
	if len(r.Changes)+len(r.Requests) == 0 {
		for _, s := range r.Steps {
			if !s.Same {
				fmt.Fprintf(&b, "~ %s: %s | %s\n", s.Step, s.A, s.B)
			}
		}
	}
	if r.Note != "" {
		fmt.Fprintln(&b, r.Note)
	}
	for _, rule := range r.Rules {
		fmt.Fprintf(&b, "ignored %s\n", rule)
	}
	fmt.Fprintln(&b, r.Summary())
	return b.String()
}

// Summary is the report in one sentence: "3 differences, 1 ignored".
func (r *Report) Summary() string {
	s := "equal"
	switch {
	case r.Differences == 1:
		s = "1 difference"
	case r.Differences > 1:
		s = fmt.Sprintf("%d differences", r.Differences)
	}
	if r.Unknown > 0 {
		s += fmt.Sprintf(", %d masked on both sides", r.Unknown)
	}
	if r.Ignored > 0 {
		s += fmt.Sprintf(", %d ignored", r.Ignored)
	}
	if r.Uncompared > 0 {
		s += fmt.Sprintf(", values of %d not compared: not recorded", r.Uncompared)
	}
	return s
}

// String names the side and who decided it.
func (s *Side) String() string {
	parts := []string{s.Name}
	if s.Verb != "" {
		parts = append(parts, s.Verb, s.Indirection, s.Key)
	}
	if s.Requests > 0 {
		parts = append(parts, fmt.Sprintf("%d requests", s.Requests))
	}
	switch s.Served {
	case traces.ByTerminus.String():
		parts = append(parts, " T "+s.Terminus)
	case traces.ByCache.String():
		parts = append(parts, " C "+s.Cache)
	}
	if s.Outcome != "" {
		parts = append(parts, s.Outcome)
	}
	if s.Environment != "" {
		parts = append(parts, " env "+s.Environment)
	}
	if s.Recording != "" {
		parts = append(parts, " in "+s.Recording)
	}
	text := strings.Join(parts, " ")
	if s.Decided != "" {
		text += "; decided by " + s.Decided
	}
	return text
}

// String is the answer with its reason, as users read them.
func (q Question) String() string { return q.words }

// String is the change in one line: "~ .role: "web" | "db"".
func (c *Change) String() string {
	if c.A == nil && c.B == nil {
		return c.Sign + " " + c.Path
	}
	return fmt.Sprintf("%s %s: %s | %s", c.Sign, c.Path, brief(c.A), brief(c.B))
}

// brief is one side of a change in one line.
func brief(m json.RawMessage) string {
	if m == nil {
		return "-"
	}
	n, err := tree.Parse(m)
	if err != nil {
		return string(m)
	}
	return n.Summary()
}
