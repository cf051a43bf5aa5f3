// Package export writes what a store keeps as JSON lines, OTLP, HAR, CSV and text,
// and sends it to a collector as it happens.
//
//	report, err := export.Write(w, log, ids, export.Options{Format: export.OTLP, Redact: redactor.Text})
//
// # Secrets
//
// A store has redacted what it keeps. An export redacts once more, and keys and
// sources of routes too, because a recording may come from anywhere. The number
// of redactions and where they are is in the export, if the format allows, and
// in the [Report].
//
// # Terminals
//
// Control characters, those that turn the direction of text and those of zero
// width are written as escapes in every format: \u001b in JSON, \x1b in text.
//
// # JSON lines
//
// One line for each request, in the order that was asked for, and one at the
// end. A request is the line of a recording (see package store) with
//
//	"story":…        the first sentence of its story
//	"body":…         its value, if it has one: as JSON if it is, else as text
//	"sent_body":…    that of the instance of a save, likewise
//	"mark":…, "comments":[…]
//
// The last line is
//
//	{"end":{"requests":…,"without_detail":…,"masked":…,"list":[{"request":…,"where":…,"kind":…,"bytes":…,"tag":…}]}}
//
// # CSV
//
// A line of names, see [Columns], and one for each request. Times are RFC 3339,
// durations are microseconds. A cell that a spreadsheet would take for a formula
// begins with an apostrophe.
package export

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
)

// A Format is how an export is written.
type Format string

// The formats. A recording is what store.Store.Save writes; the others are
// written by Write.
const (
	Recording Format = "recording"
	JSONL     Format = "jsonl"
	OTLP      Format = "otlp"
	HAR       Format = "har"
	CSV       Format = "csv"
	Story     Format = "story"
)

// Formats returns every format, in the order in which they are offered.
func Formats() []Format { return []Format{Recording, JSONL, OTLP, HAR, CSV, Story} }

// Parse returns the format spelled s; the error names those that there are.
func Parse(s string) (Format, error) {
	f := Format(strings.ToLower(s))
	if slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("no format is called %q; there are: %s", s, names())
}

func names() string {
	var all []string
	for _, f := range Formats() {
		all = append(all, string(f))
	}
	return strings.Join(all, ", ")
}

// Bodies selects the requests whose values are exported. Model, size and digest
// of a value always are.
type Bodies string

// The choices. "" is "all".
const (
	AnyBody      Bodies = "all"
	SmallBodies  Bodies = "small"  // those of up to MaxSmall bytes
	FailedBodies Bodies = "failed" // those of requests in which something went wrong, seen or not
	NoBody       Bodies = "none"
)

// MaxSmall is the size in bytes up to which a value is small.
const MaxSmall = 1 << 20

// AllBodies returns every choice, in the order in which they are offered.
func AllBodies() []Bodies { return []Bodies{AnyBody, SmallBodies, FailedBodies, NoBody} }

// ParseBodies returns the choice spelled s; the error names those that there
// are.
func ParseBodies(s string) (Bodies, error) {
	b := Bodies(strings.ToLower(s))
	if slices.Contains(AllBodies(), b) {
		return b, nil
	}
	return "", fmt.Errorf("bodies=%s is not known; there are: all, small, failed, none", s)
}

// want reports whether a value of t goes along.
func (b Bodies) want(t *traces.Trace, v *traces.Value) bool {
	switch b {
	case SmallBodies:
		return v.Size <= MaxSmall
	case FailedBodies:
		return t.Outcome.Failed()
	case NoBody:
		return false
	}
	return true
}

// Options are the options of Write.
type Options struct {
	Format Format
	Bodies Bodies // of recordings, JSON lines and HAR
	// Source names where the requests were traced; may be "".
	Source string
	// Redact redacts a text and returns the number of redactions. It is
	// required.
	Redact func(string) (string, int)
	// Step is called for each request with how many of all are done; an error
	// ends the export. May be nil.
	Step func(done, total int) error
}

// step reports that so many of all requests are done.
func (o *Options) step(done, total int) error {
	if o.Step == nil {
		return nil
	}
	return o.Step(done, total)
}

// A Redaction is something redacted in an export.
type Redaction struct {
	Request uint64 `json:"request"`
	Where   string `json:"where"` // "value resources[0].parameters.content", "error", …
	Kind    string `json:"kind"`  // of the secret: "password", "Sensitive", …
	Bytes   int    `json:"bytes"` // its length
	Tag     string `json:"tag"`   // equal secrets of one recording have equal tags; may be ""
}

func (m Redaction) String() string {
	s := fmt.Sprintf("#%d %s: %s, %d B", m.Request, m.Where, m.Kind, m.Bytes)
	if m.Tag != "" {
		s += ", tag " + m.Tag
	}
	return s
}

// maxListed is how many things a Report lists; it counts them all.
const maxListed = 1000

// A Report is what was exported.
type Report struct {
	Requests int         // how many
	Bare     int         // of them, how many of which only the row was left
	Entries  int         // of HAR: how many exchanges over HTTP they had
	Redacted int         // number of redactions
	Without  int         // values left out because of Options.Bodies
	List     []Redaction // where, in order; the first maxListed

	kinds map[string]int
}

// Kinds counts the redactions by kind: "41 Sensitive, 9 header"; "" if there
// are none.
func (r Report) Kinds() string {
	var parts []string
	for kind, n := range r.kinds {
		parts = append(parts, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// String is the line that the command prints: "14 requests; masked 2".
func (r Report) String() string {
	s := count(r.Requests, "request")
	if r.Bare > 0 {
		s += fmt.Sprintf(", %d of them without detail", r.Bare)
	}
	if r.Without > 0 {
		s += fmt.Sprintf("; %s left out", count(r.Without, "value"))
	}
	return s + fmt.Sprintf("; masked %d", r.Redacted)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// A request is a redacted request to be exported.
type request struct {
	trace    *traces.Trace
	bare     bool // only the row was left
	trunk    [16]byte
	parent   *parent // the request that asked it; nil if none did
	value    []byte  // the bytes of its value, redacted; may be nil
	sent     []byte
	mark     byte
	comments []store.Comment
}

// A parent is what the id of a request is made of.
type parent struct {
	id    uint64
	start time.Time
}

// A writer writes one format. It is begun, given every request, and ended.
type writer interface {
	begin(w io.Writer) error
	add(w io.Writer, r *request) error
	end(w io.Writer, r *Report) error
}

// Write writes the requests with the given numbers, in that order, to w. Those
// that still run or are gone are left out. The error is one of w, or of the
// recording; what was written until then stays written.
func Write(w io.Writer, s *store.Store, ids []uint64, o Options) (Report, error) {
	x := &exporting{s: s, o: o}
	var f writer
	switch o.Format {
	case JSONL:
		f = new(lines)
	case OTLP:
		f = &otlp{source: o.Source}
	case HAR:
		f = new(har)
	case CSV:
		f = new(table)
	case Story:
		f = new(stories)
	default:
		return x.report, fmt.Errorf("format %q cannot be written here; there are: %s", o.Format, names())
	}
	if o.Redact == nil {
		return x.report, errors.New("an export without a mask")
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := f.begin(out); err != nil {
		return x.report, err
	}
	for i, id := range ids {
		if err := o.step(i, len(ids)); err != nil {
			return x.report, err
		}
		r, err := x.take(id, o.Format == JSONL || o.Format == HAR)
		if err != nil {
			return x.report, err
		}
		if r == nil {
			continue
		}
		if err := f.add(out, r); err != nil {
			return x.report, err
		}
		if h, ok := f.(*har); ok {
			x.report.Entries = h.entries
		}
	}
	if err := f.end(out, &x.report); err != nil {
		return x.report, err
	}
	return x.report, out.Flush()
}

// Save writes the requests with the given numbers to a new recording, see
// store.Store.Save; its last event counts the redactions.
func Save(f store.File, s *store.Store, ids []uint64, o Options) (Report, error) {
	x := &exporting{s: s, o: o}
	m := redactor{redact: o.Redact, note: x.note}
	var err error
	x.report.Requests, err = s.SaveEdited(f, ids, store.Edit{
		Trace: func(t *traces.Trace) *traces.Trace {
			m.id = t.ID
			return m.trace(t)
		},
		Keep: x.want,
		Body: func(id uint64, where, format string, b []byte) []byte {
			m.id = id
			return m.body(where, format, b)
		},
		Text: func(id uint64, where, text string) string {
			m.id = id
			return m.text(where, text)
		},
		Step: func(done int) error { return o.step(done, len(ids)) },
		End:  func() string { return x.report.summary() },
	})
	return x.report, err
}

// summary counts the redactions in one line.
func (r Report) summary() string {
	const enough = 100
	text := fmt.Sprintf("masked %d", r.Redacted)
	if r.Without > 0 {
		text = fmt.Sprintf("saved without %s, %s", count(r.Without, "value"), text)
	}
	for i, m := range r.List {
		if i == enough {
			return text + fmt.Sprintf("; and %d more", r.Redacted-enough)
		}
		text += "; " + m.String()
	}
	return text
}

// exporting is an export that goes on.
type exporting struct {
	s      *store.Store
	o      Options
	report Report
}

// take returns one request, or nil if there is nothing to export, and counts
// its redactions.
func (x *exporting) take(id uint64, bodies bool) (*request, error) {
	row, ok := x.s.Row(id)
	if !ok || row.Outcome == traces.Run || row.Outcome == traces.HeldOutcome {
		return nil, nil
	}
	t, err := x.s.Trace(id)
	r := &request{mark: row.Mark, comments: x.s.Comments(id)}
	switch {
	case errors.Is(err, store.ErrDropped):
		t, r.bare = ofRow(&row), true
		x.report.Bare++
	case err != nil:
		return nil, err
	}
	m := redactor{redact: x.o.Redact, note: x.note, id: id}
	r.trace = m.trace(t)
	for i := range r.comments {
		r.comments[i].Text = m.text("comment", r.comments[i].Text)
	}
	r.trunk, r.parent = trunkOf(x.s, t)
	if bodies {
		r.value, r.sent = x.body(&m, "value", t, t.Value()), x.body(&m, "sent", t, t.Sent())
	}
	x.report.Requests++
	return r, nil
}

// want reports whether a value of t goes along, and counts those that do not.
func (x *exporting) want(t *traces.Trace, v *traces.Value) bool {
	if x.o.Bodies.want(t, v) {
		return true
	}
	x.report.Without++
	return false
}

// body returns the bytes of a value, or nil if they are gone.
func (x *exporting) body(m *redactor, where string, t *traces.Trace, v traces.Value) []byte {
	if v.Digest == "" || !x.want(t, &v) {
		return nil
	}
	b, err := x.s.Body(v)
	if err != nil {
		return nil
	}
	return m.body(where, v.Format, b)
}

// maxKinds bounds the kinds of secrets that are counted: a recording may name
// any.
const maxKinds = 16

func (x *exporting) note(m Redaction) {
	x.report.Redacted++
	if x.report.kinds == nil {
		x.report.kinds = make(map[string]int)
	}
	if _, known := x.report.kinds[m.Kind]; known || len(x.report.kinds) < maxKinds {
		x.report.kinds[m.Kind]++
	}
	if len(x.report.List) < maxListed {
		x.report.List = append(x.report.List, m)
	}
}

// ofRow is the trace of a request of which only the row is left.
func ofRow(r *store.Row) *traces.Trace {
	choice := func(terminus string, by traces.SourceKind) traces.Slot {
		if terminus == "" {
			return nil
		}
		return traces.Slot{{Terminus: terminus, Kind: by}}
	}
	t := &traces.Trace{
		ID: r.ID, Parent: r.Parent, Run: r.Run, Transaction: r.Transaction, RunGuessed: r.RunGuessed, Caller: r.Caller, Verb: r.Verb, Indirection: r.Indirection, Key: r.Key,
		Environment: r.Environment, Flags: r.Flags, Start: r.Start, Took: r.Took, Outcome: r.Outcome, Served: r.Served,
		Primary: choice(r.Terminus, r.SetBy), Cache: choice(r.Cache, r.CacheSetBy), Error: r.Fault,
	}
	if r.Size > 0 {
		t.Values = &traces.Values{Answer: traces.Value{Size: r.Size}}
	}
	if r.Fault != "" {
		t.Faults = []traces.Fault{{Origin: r.Origin, Message: r.Fault, Shown: r.Outcome == traces.Err}}
	}
	return t
}

// Select returns the numbers of the requests that an expression means, in
// order; "" means all. A recording that is still being read is waited for.
// @run is the newest run; other selectors that need a screen are an error.
func Select(s *store.Store, expression string) ([]uint64, error) {
	return SelectOn(s, expression, nil)
}

// A Screen is what the user looks at, for selectors such as @run.
type Screen struct {
	Filter string // of the list of requests: @shown
	At     uint64 // the request at the cursor; 0 if there is none
}

// SelectOn is Select with a Screen, which may be zero.
func SelectOn(s *store.Store, expression string, on *Screen) ([]uint64, error) {
	if err := Loaded(s); err != nil {
		return nil, err
	}
	x, err := query.ParseAt(expression, end(s))
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", expression, err)
	}
	var unknown string
	x = x.Resolve(func(name string) (*query.Expr, bool) {
		switch name {
		case "all", "marked", "unmarked":
			return nil, false
		case "run":
			if run := runOf(s, on); run != "" {
				e, err := query.Parse("run=" + query.Quote(run))
				return e, err == nil
			}
			unknown = "there is no run"
		case "shown":
			if on != nil {
				e, err := query.Parse(on.Filter)
				return e, err == nil
			}
			fallthrough
		default:
			unknown = fmt.Sprintf("@%s needs the screen; there are: @all, @marked, @unmarked, @run, #N and #N..M", name)
		}
		return nil, false
	})
	if unknown != "" {
		return nil, fmt.Errorf("selector %q: %s", expression, unknown)
	}
	v := s.View(x)
	for !v.Extend(0) {
	}
	ids := make([]uint64, 0, v.Len())
	for i := range v.Len() {
		ids = append(ids, v.At(i))
	}
	return ids, nil
}

// Loaded waits until a recording has been read to its end.
func Loaded(s *store.Store) error {
	return Load(context.Background(), s, func(_, _ int64) {})
}

// Load is like Loaded, but reports how many bytes of all have been read, and ends
// with ctx, whose error it then returns.
func Load(ctx context.Context, s *store.Store, progress func(done, total int64)) error {
	for done, total := s.Loading(); done < total; done, total = s.Loading() {
		progress(done, total)
		select {
		case _, ok := <-s.Changed():
			if !ok {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// end is when the last request of s began: what "an hour ago" counts from when
// nothing happens any longer.
func end(s *store.Store) time.Time {
	if _, total := s.Loading(); total > 0 {
		if _, last := s.Range(); last != 0 {
			if row, ok := s.Row(last); ok {
				return row.Start
			}
		}
	}
	return time.Now()
}

// runOf is the run at the cursor, or the newest.
func runOf(s *store.Store, on *Screen) string {
	if on != nil && on.At != 0 {
		row, _ := s.Row(on.At)
		return row.Run
	}
	return newestRun(s)
}

// newestRun is the run of the newest request that has one.
func newestRun(s *store.Store) string {
	first, last := s.Range()
	for id := last; id != 0 && id >= first; id-- {
		if row, ok := s.Row(id); ok && row.Run != "" {
			return row.Run
		}
	}
	return ""
}

// micros writes a duration for tables.
func micros(d time.Duration) string { return fmt.Sprint(d.Microseconds()) }

func orNone(s string) string { return cmp.Or(s, "none") }
