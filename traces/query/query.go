// Package query is the language that selects requests: for filters, breakpoints,
// colours, exports and checks.
//
//	ind=catalog took>5s step(terminus took>4s)   slow because of the terminus itself
//	node=db07* prev(ind=node out=nil)            what happened right after a nil node
//	@marked or #1042..1050                       these
//
// An expression is parsed once, into a tree that prints itself and that matches
// a request without allocating as long as only its row is asked. What needs the
// detail of a request asks for it last.
//
// Rule: UI design, section 7.
package query

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"indirtui/traces"
)

// A Row is what is known of a request without looking at its detail. A zero
// field is one that is missing.
type Row struct {
	ID          uint64 // its number, from 1
	Parent      uint64 // the request that asked this one; 0 if none did
	Start       time.Time
	Took        time.Duration // means nothing while it runs
	Verb        traces.Verb
	Outcome     traces.Outcome
	Served      traces.Served
	Flags       traces.Flags
	SetBy       traces.SourceKind // source of the terminus
	CacheSetBy  traces.SourceKind // source of the cache
	Mark        byte              // 'a' to 'z', or anything else for a mark without a letter
	Sent        bool              // sent from the screen
	RunGuessed  bool              // joined to its run by connection and time
	Indirection string
	Key         string
	Environment string
	Terminus    string
	Cache       string
	Run         string
	Transaction string // Puppet's transaction_uuid of the run, if known and not Run itself
	Caller      string
	Instance    string // which program of a fleet traced it; "" in this process
	Source      string // where it was watched: "proxy", "tap"; "" in this process
	Thread      string // of the watched process
	Note        string // the user's comment
	Tag         string // the user's tag
}

// RowOf returns the row of t, which may still be running.
func RowOf(t *traces.Trace) Row {
	var r Row
	ReadRow(&r, t)
	return r
}

// ReadRow is RowOf into an existing row; fields that the trace leaves empty
// keep their texts.
func ReadRow(r *Row, t *traces.Trace) {
	r.ID, r.Parent, r.Start, r.Took = t.ID, t.Parent, t.Start, t.Took
	r.Verb, r.Outcome, r.Served, r.Flags, r.Sent = t.Verb, t.Outcome, t.Served, t.Flags, t.Caller == "you"
	r.RunGuessed = t.RunGuessed
	r.Indirection, r.Key, r.Environment, r.Caller = t.Indirection, t.Key, t.Environment, t.Caller
	r.Run, r.Transaction = t.Run, t.Transaction
	r.Terminus, r.SetBy = winner(t.Primary)
	r.Cache, r.CacheSetBy = winner(t.Cache)
	if r.Instance = ""; t.From != nil {
		r.Instance = t.From.Name
	}
}

// winner is Slot.Winner without the copy of a large struct.
func winner(s traces.Slot) (terminus string, by traces.SourceKind) {
	for i := range s {
		if s[i].Terminus != "" && s[i].Why == "" {
			return s[i].Terminus, s[i].Kind
		}
	}
	return "", traces.NoSource
}

// A Relation leads from a request to others.
type Relation uint8

// The relations.
const (
	Parent   Relation = iota // the request that asked it
	Children                 // the requests that it asked
	Run                      // all of its run, itself included; itself alone if it has none
	Previous                 // the one before it in its run
	Next                     // the one after it in its run
)

// A Subject is a request that an expression may match. It is used by one
// goroutine at a time.
type Subject interface {
	// Row returns the row. It is never nil and may be overwritten when the match
	// is over.
	Row() *Row
	// Trace returns the detail, or nil if it was dropped. A match may call it
	// several times, and does not call it at all when the row decides.
	Trace() *traces.Trace
	// Related calls match for the requests that the relation leads to until one
	// is answered with true, and reports whether one was.
	Related(r Relation, match func(Subject) bool) bool
}

// Of returns t as a Subject that is related to nothing but itself: what a
// breakpoint looks at.
func Of(t *traces.Trace) Subject { return &single{RowOf(t), t} }

type single struct {
	row   Row
	trace *traces.Trace
}

func (s *single) Row() *Row            { return &s.row }
func (s *single) Trace() *traces.Trace { return s.trace }
func (s *single) Related(r Relation, match func(Subject) bool) bool {
	return r == Run && match(s)
}

// An Expr is a parsed expression. It is immutable and safe for concurrent use.
// A nil Expr matches every request.
type Expr struct {
	root   node // nil matches every request
	simple bool
}

// Parse parses text. Blank text matches every request. The error is a
// *SyntaxError. Times that count back from now ("t>-5m") count from the moment
// of the call.
func Parse(text string) (*Expr, error) { return ParseAt(text, time.Now()) }

// ParseAt is Parse with another now: the end of a recording, a fixed clock.
// Times of day are those of its location.
func ParseAt(text string, now time.Time) (*Expr, error) {
	p := &parser{text: text, now: now}
	return p.whole()
}

// ParsePrefix parses the expression at the beginning of a text, which ends
// before the first word that stop accepts. It returns where that is. Words in
// quotes or in parentheses belong to the expression.
func ParsePrefix(text string, stop func(word string) bool) (e *Expr, rest int, err error) {
	p := &parser{text: text, now: time.Now(), stop: stop}
	e, err = p.whole()
	return e, p.pos, err
}

// Match reports whether s is meant. It does not allocate when e is Simple.
func (e *Expr) Match(s Subject) bool {
	return e == nil || e.root == nil || e.root.match(scope{subject: s, row: s.Row()})
}

// Simple reports whether the row alone always decides.
func (e *Expr) Simple() bool { return e == nil || e.root == nil || e.simple }

// String returns the canonical text of e: parsing it gives e again.
func (e *Expr) String() string {
	if e == nil || e.root == nil {
		return ""
	}
	return string(e.root.append(nil))
}

// Resolve returns e with every selector that find knows ("run" for @run)
// replaced by find's expression. A selector that is left matches nothing,
// except @all, @marked and @unmarked.
func (e *Expr) Resolve(find func(name string) (*Expr, bool)) *Expr {
	if e == nil || e.root == nil {
		return e
	}
	return newExpr(resolve(e.root, find))
}

func newExpr(root node) *Expr { return &Expr{root, root.simple()} }

// A SyntaxError reports why a text is no expression.
type SyntaxError struct {
	Offset int    // in bytes, where the caret belongs
	Got    string // what is there: `"part"`, "the end"
	Want   string // what would have been right there
	Fix    string // the whole text as it may have been meant; "" if there is no guess
}

func (e *SyntaxError) Error() string {
	s := "at " + itoa(e.Offset+1) + ": got " + cmp.Or(e.Got, "nothing") + ", want " + e.Want
	if e.Fix != "" {
		s += "; perhaps: " + e.Fix
	}
	return s
}

// Names returns the fields and flags that e asks for, in no order and perhaps
// several times; a word asks for many and is "".
func (e *Expr) Names() []string {
	if e == nil || e.root == nil {
		return nil
	}
	return mentioned(e.root, nil)
}

func mentioned(n node, all []string) []string {
	switch n := n.(type) {
	case orNode:
		for _, of := range n {
			all = mentioned(of, all)
		}
	case andNode:
		for _, of := range n {
			all = mentioned(of, all)
		}
	case notNode:
		return mentioned(n.of, all)
	case callNode:
		return mentioned(n.of, all)
	case stepNode:
		return mentioned(n.of, all)
	case flagNode:
		return append(all, n.flag.Name)
	case hasNode:
		return append(all, n.field.Name)
	case *testNode:
		return append(all, n.field.Name)
	case *wordNode:
		return append(all, "")
	}
	return all
}

// IsField reports whether name is a field of expressions: "key", "opt.server".
func IsField(name string) bool { return findField(name) != nil }

// Show returns the value of a field of s as expressions write it, or "" if it
// is missing. Of several values it is all of them, with commas.
func Show(s Subject, name string) string {
	f := findField(name)
	if f == nil {
		return ""
	}
	c := scope{subject: s, row: s.Row()}
	var all []string
	add := func(text string) bool {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
		return false
	}
	if f.texts != nil {
		f.texts(c, add)
	} else {
		f.ints(c, func(i int64) bool { return add(f.text(i)) })
	}
	return strings.Join(all, ",")
}

// text is a value of f that is no text, as expressions write it.
func (f *field) text(i int64) string {
	switch f.Kind {
	case closedKind:
		if 0 <= i && i < int64(len(f.Values)) {
			return f.Values[i]
		}
	case yesNoKind:
		if i != 0 {
			return "yes"
		}
		return "no"
	case durationKind:
		return time.Duration(i).String()
	case timeKind:
		return time.Unix(0, i).UTC().Format(time.RFC3339Nano)
	}
	return itoa(int(i))
}
