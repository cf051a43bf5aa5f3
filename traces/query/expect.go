package query

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"indirtui/traces"
)

// An Expectation is a sentence about many requests that is true or not:
//
//	count(out=stale) = 0
//	max(took, ind=catalog) < 2s, max(took) < 5s
//	none(hidden)
//	same(baseline, verb=find)
type Expectation struct {
	Kind     string // "count", "max", "none" or "same"
	Expr     *Expr  // which requests it is about
	Field    *field // of max
	Op       string // of count and max
	Value    string // of count and max, as written
	Baseline string // of same: the name or path of a recording, as written

	test func(int64) bool
}

// ParseExpectation parses one expectation. The error is a *SyntaxError.
func ParseExpectation(text string) (*Expectation, error) {
	return ParseExpectationAt(text, time.Now())
}

// ParseExpectationAt is ParseExpectation with another now, see [ParseAt].
func ParseExpectationAt(text string, now time.Time) (x *Expectation, err error) {
	p := &parser{text: text, now: now}
	defer p.rescue(&err)
	if len(text) > maxText {
		p.fail(maxText, "more", "at most "+itoa(maxText)+" bytes", "")
	}
	return p.expectation(), nil
}

func (p *parser) expectation() *Expectation {
	p.blanks()
	start := p.pos
	x := &Expectation{Kind: strings.ToLower(p.bareWord())}
	switch x.Kind {
	case "count", "max", "none", "same":
	default:
		p.fail(start, p.got(start), "count(EXPR), max(FIELD, EXPR), none(EXPR) or same(baseline, EXPR)", "")
	}
	p.blanks()
	if !p.take('(') {
		p.fail(p.pos, p.got(p.pos), `"("`, "")
	}
	switch x.Kind {
	case "max":
		x.Field = p.fieldOfMax()
		if p.next() != ')' {
			p.comma()
		}
	case "same":
		x.Baseline = p.value(&field{Name: "baseline"}, bareValue)
		p.comma()
	}
	x.Expr = p.rest()
	switch x.Kind {
	case "count":
		p.compare(x, &field{Name: "count", Kind: numberKind, ints: func(scope, func(int64) bool) (bool, bool) { return false, false }})
	case "max":
		p.compare(x, x.Field)
	}
	if p.pos < len(p.text) {
		p.fail(p.pos, p.got(p.pos), "the end", "")
	}
	return x
}

func (p *parser) comma() {
	p.blanks()
	if !p.take(',') {
		p.fail(p.pos, p.got(p.pos), `","`, "")
	}
}

func (p *parser) fieldOfMax() *field {
	start := p.pos
	name := p.bareWord()
	f := findField(name)
	switch {
	case f == nil:
		p.unknownField(start, p.pos, name)
	case f.Kind != durationKind && f.Kind != sizeKind && f.Kind != numberKind:
		p.fail(start, p.got(start), "a field with numbers, such as took or size", "")
	}
	return f
}

// rest reads an expression, which may be missing, and the parenthesis behind.
func (p *parser) rest() *Expr {
	e := &Expr{}
	if p.next() != ')' {
		p.enter()
		e = newExpr(p.expr())
		p.leave()
	}
	if !p.take(')') {
		p.fail(p.pos, p.got(p.pos), `")"`, "")
	}
	return e
}

func (p *parser) compare(x *Expectation, f *field) {
	start := p.pos
	x.Op = p.operator()
	if x.Op == "" || x.Op == "in" || !f.Kind.takes(x.Op) {
		p.fail(start, p.got(start), "one of = != < <= > >=", "")
	}
	at := p.pos
	x.Value = p.value(f, bareValue)
	n := &testNode{field: f, op: x.Op, values: []string{x.Value}}
	p.compile(n, []int{at})
	x.test = n.ints
	if x.Op == "!=" {
		x.test = func(i int64) bool { return !n.ints(i) }
	}
}

// String returns the canonical text of x.
func (x *Expectation) String() string {
	s := x.Kind + "("
	switch x.Kind {
	case "max":
		s += x.Field.Name + ", "
	case "same":
		s += Quote(x.Baseline) + ", "
	}
	s += x.Expr.String() + ")"
	if x.Op != "" {
		s += " " + x.Op + " " + Quote(x.Value)
	}
	return s
}

// A Verdict is whether an expectation was met.
type Verdict struct {
	Met      bool
	Found    string   // "3 requests", "4.2s", "nothing to compare", "find facts web01: hit by cache, was ok by terminus"
	Requests []uint64 // the first of those that speak against it
}

// MaxRequests is how many requests a Verdict names.
const MaxRequests = 1000

// Check holds x against all requests, and for same also against those of the
// baseline. A maximum of nothing is as small as anyone may wish.
func (x *Expectation) Check(all, baseline iter.Seq[Subject]) Verdict {
	switch x.Kind {
	case "max":
		return x.checkMax(all)
	case "same":
		return x.checkSame(all, baseline)
	}
	return x.checkCount(all)
}

func (x *Expectation) checkCount(all iter.Seq[Subject]) Verdict {
	var v Verdict
	count := 0
	for s := range all {
		if x.Expr.Match(s) {
			count++
			v.against(s)
		}
	}
	v.Found = plural(count, "request")
	v.Met = count == 0
	if x.test != nil {
		v.Met = x.test(int64(count))
	}
	if v.Met || x.Op == ">" || x.Op == ">=" || x.Op == "!=" {
		v.Requests = nil // there are none too many
	}
	return v
}

func (x *Expectation) checkMax(all iter.Seq[Subject]) Verdict {
	var v Verdict
	most, any := int64(0), false
	for s := range all {
		if !x.Expr.Match(s) {
			continue
		}
		against := false
		x.Field.ints(scope{subject: s, row: s.Row()}, func(i int64) bool {
			most, any = max(most, i), true
			against = against || !x.test(i)
			return false
		})
		if against {
			v.against(s)
		}
	}
	if !any {
		return Verdict{Met: x.Op[0] == '<' || x.Op == "!=", Found: "nothing to compare"}
	}
	v.Found = strconv.FormatInt(most, 10)
	if x.Field.Kind == durationKind {
		v.Found = time.Duration(most).String()
	}
	v.Met = x.test(most)
	if v.Met || x.Op[0] != '<' {
		v.Requests = nil
	}
	return v
}

// A question is what was asked, and the answers in the order in which they came.
type question struct {
	verb     traces.Verb
	ind, key string
}

type reply struct {
	outcome  traces.Outcome
	served   traces.Served
	terminus string
}

func (r reply) String() string {
	if r.served == traces.ByTerminus {
		return r.outcome.String() + " by terminus " + r.terminus
	}
	return r.outcome.String() + " by " + r.served.String()
}

// checkSame compares questions, their number, outcomes, and who answered.
// Values are not compared: catalogs are new each time, and tags of redacted
// values differ between recordings.
func (x *Expectation) checkSame(all, baseline iter.Seq[Subject]) Verdict {
	want := map[question][]reply{}
	var order []question
	for s := range baseline {
		if x.Expr.Match(s) {
			q, r := asked(s)
			if want[q] == nil {
				order = append(order, q)
			}
			want[q] = append(want[q], r)
		}
	}
	v := Verdict{Met: true}
	differ := func(q question, what string) {
		if v.Met {
			v.Met, v.Found = false, fmt.Sprintf("%v %s %s: %s", q.verb, q.ind, q.key, what)
		}
	}
	count := 0
	for s := range all {
		if !x.Expr.Match(s) {
			continue
		}
		count++
		q, r := asked(s)
		switch before := want[q]; {
		case len(before) == 0:
			differ(q, "was not asked before")
			v.against(s)
		case before[0] != r:
			differ(q, r.String()+", was "+before[0].String())
			v.against(s)
			want[q] = before[1:]
		default:
			want[q] = before[1:]
		}
	}
	for _, q := range order {
		if len(want[q]) > 0 {
			differ(q, "is not asked any more")
		}
	}
	if v.Met {
		v.Found = plural(count, "request") + " alike"
	}
	return v
}

func asked(s Subject) (question, reply) {
	r := s.Row()
	return question{r.Verb, r.Indirection, r.Key}, reply{r.Outcome, r.Served, r.Terminus}
}

func (v *Verdict) against(s Subject) {
	if len(v.Requests) < MaxRequests {
		v.Requests = append(v.Requests, s.Row().ID)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return itoa(n) + " " + what + "s"
}
