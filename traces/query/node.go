package query

import (
	"slices"
	"strconv"

	"indirtui/traces"
)

func itoa(i int) string { return strconv.Itoa(i) }

// A scope is what is looked at: a request, or inside of step(...) one step or
// one span of it. It is passed by value, which keeps it off the heap.
type scope struct {
	subject Subject
	row     *Row
	inStep  bool
	step    traces.Step
	span    *traces.Span // nil if the step itself is looked at
}

// steps calls match for every step and every span that c covers until one is
// answered with true.
func (c scope) steps(match func(scope) bool) bool {
	t := c.subject.Trace()
	if t == nil {
		return false
	}
	c.inStep = true
	for i := range t.Steps {
		c.step, c.span = traces.Step(i), nil
		if match(c) {
			return true
		}
	}
	for i := range t.Spans {
		c.step, c.span = t.Spans[i].Step, &t.Spans[i]
		if match(c) {
			return true
		}
	}
	return false
}

// A node is a part of an expression. Nodes print themselves so that the parser
// reads the same node again.
type node interface {
	match(scope) bool
	simple() bool
	append([]byte) []byte
}

type (
	// orNode and andNode have two or more parts, none of their own kind.
	orNode  []node
	andNode []node
	notNode struct{ of node }
	// callNode is parent(...), child(...), run(...), prev(...), next(...).
	callNode struct {
		relation Relation
		of       node
	}
	// stepNode is step(...).
	stepNode struct{ of node }
	// flagNode is a word that stands for a condition.
	flagNode struct{ flag *flag }
	// hasNode is a field alone: it is there, or it is true.
	hasNode struct{ field *field }
	// testNode is a field, an operator and values.
	testNode struct {
		field  *field
		op     string
		values []string
		texts  func(string) bool // the test of one value: of a text,
		ints   func(int64) bool  // or of everything else
		ranges []span            // what ints compares with; nil for a closed list
	}
	// nameNode is @name.
	nameNode string
	// numberNode is #from..to.
	numberNode struct{ from, to uint64 }
	// wordNode is a text to look for.
	wordNode struct {
		text   string
		isStep bool // written without quotes in step(...), where it means a step
		names  bool // the text is the name of step
		step   traces.Step
		pattern
	}
)

func (n orNode) match(c scope) bool {
	for _, of := range n {
		if of.match(c) {
			return true
		}
	}
	return false
}

func (n andNode) match(c scope) bool {
	for _, of := range n {
		if !of.match(c) {
			return false
		}
	}
	return true
}

func (n notNode) match(c scope) bool { return !n.of.match(c) }

func (n callNode) match(c scope) bool {
	return c.subject.Related(n.relation, func(s Subject) bool {
		return n.of.match(scope{subject: s, row: s.Row()})
	})
}

func (n stepNode) match(c scope) bool { return c.steps(n.of.match) }
func (n flagNode) match(c scope) bool { return n.flag.is(c) }

func (n hasNode) match(c scope) bool {
	if n.field.texts != nil {
		_, present := n.field.texts(c, anyText)
		return present
	}
	if n.field.Kind == yesNoKind {
		yes, _ := n.field.ints(c, isTrue)
		return yes
	}
	_, present := n.field.ints(c, anyInt)
	return present
}

// match is false for a field that is missing, also when it compares with !=.
func (n *testNode) match(c scope) bool {
	var equal, present bool
	if n.field.texts != nil {
		equal, present = n.field.texts(c, n.texts)
	} else {
		equal, present = n.field.ints(c, n.ints)
	}
	return present && equal != (n.op[0] == '!')
}

func (n nameNode) match(c scope) bool {
	switch n {
	case "all":
		return true
	case "marked":
		return c.row.Mark != 0
	case "unmarked":
		return c.row.Mark == 0
	}
	return false
}

func (n numberNode) match(c scope) bool { return n.from <= c.row.ID && c.row.ID <= n.to }

func (n *wordNode) match(c scope) bool {
	if c.inStep {
		return n.matchStep(c)
	}
	if n.pattern.match(c.row.Key) || n.pattern.match(c.row.Indirection) || n.pattern.match(c.row.Note) {
		return true
	}
	any, _ := messages(c, n.pattern.match)
	return any
}

func (n *wordNode) matchStep(c scope) bool {
	if n.names && n.step == c.step || n.pattern.match(c.step.String()) {
		return true
	}
	return c.span != nil && (n.pattern.match(c.span.Name) || n.pattern.match(c.span.Kind.String()))
}

func (n orNode) simple() bool     { return !slices.ContainsFunc(n, isDetail) }
func (n andNode) simple() bool    { return !slices.ContainsFunc(n, isDetail) }
func (n notNode) simple() bool    { return n.of.simple() }
func (n callNode) simple() bool   { return false }
func (n stepNode) simple() bool   { return false }
func (n flagNode) simple() bool   { return !n.flag.Detail }
func (n hasNode) simple() bool    { return !n.field.Detail }
func (n *testNode) simple() bool  { return !n.field.Detail }
func (n nameNode) simple() bool   { return true }
func (n numberNode) simple() bool { return true }
func (n *wordNode) simple() bool  { return false }

func isDetail(n node) bool { return !n.simple() }

func (n orNode) append(b []byte) []byte {
	for i, of := range n {
		if i > 0 {
			b = append(b, " or "...)
		}
		b = of.append(b)
	}
	return b
}

func (n andNode) append(b []byte) []byte {
	for i, of := range n {
		_, group := of.(orNode)
		switch {
		case i == 0:
		case group:
			b = append(b, " and "...) // not "run (a or b)", which would be a call
		default:
			b = append(b, ' ')
		}
		b = appendGroup(b, of, group)
	}
	return b
}

func (n notNode) append(b []byte) []byte {
	b = append(b, "not "...)
	switch n.of.(type) {
	case orNode, andNode, notNode:
		return appendGroup(b, n.of, true)
	}
	return n.of.append(b)
}

func appendGroup(b []byte, n node, group bool) []byte {
	if !group {
		return n.append(b)
	}
	return append(n.append(append(b, '(')), ')')
}

func (n callNode) append(b []byte) []byte {
	return appendGroup(append(b, relations[n.relation]...), n.of, true)
}

func (n stepNode) append(b []byte) []byte { return appendGroup(append(b, "step"...), n.of, true) }
func (n flagNode) append(b []byte) []byte { return append(b, n.flag.Name...) }
func (n hasNode) append(b []byte) []byte  { return append(b, n.field.Name...) }

func (n *testNode) append(b []byte) []byte {
	b = append(b, n.field.Name...)
	if len(n.values) == 1 {
		return appendValue(append(b, n.op...), n.values[0])
	}
	if n.op == "=" {
		b = append(b, " in ("...)
	} else {
		b = append(append(b, n.op...), '(')
	}
	for i, v := range n.values {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendValue(b, v)
	}
	return append(b, ')')
}

func (n nameNode) append(b []byte) []byte { return append(append(b, '@'), n...) }

func (n numberNode) append(b []byte) []byte {
	b = strconv.AppendUint(append(b, '#'), n.from, 10)
	if n.to != n.from {
		b = strconv.AppendUint(append(b, ".."...), n.to, 10)
	}
	return b
}

func (n *wordNode) append(b []byte) []byte {
	if n.isStep {
		return append(b, n.text...)
	}
	return appendWord(b, n.text)
}

// resolve returns n with its selectors replaced, see [Expr.Resolve].
func resolve(n node, find func(string) (*Expr, bool)) node {
	switch n := n.(type) {
	case nameNode:
		switch e, ok := find(string(n)); {
		case !ok:
			return n
		case e == nil || e.root == nil:
			return nameNode("all")
		default:
			return e.root
		}
	case orNode:
		var all orNode
		for _, of := range n {
			all = addOr(all, resolve(of, find))
		}
		return all
	case andNode:
		var all andNode
		for _, of := range n {
			all = addAnd(all, resolve(of, find))
		}
		return all
	case notNode:
		return notNode{resolve(n.of, find)}
	case callNode:
		return callNode{n.relation, resolve(n.of, find)}
	case stepNode:
		return stepNode{resolve(n.of, find)}
	}
	return n
}

// addOr and addAnd keep the tree flat: (a or b) or c is one node.
func addOr(all orNode, n node) orNode {
	if or, ok := n.(orNode); ok {
		return append(all, or...)
	}
	return append(all, n)
}

func addAnd(all andNode, n node) andNode {
	if and, ok := n.(andNode); ok {
		return append(all, and...)
	}
	return append(all, n)
}

func anyText(string) bool { return true }
func anyInt(int64) bool   { return true }
func isTrue(i int64) bool { return i != 0 }
