package eval

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// A call is one that is under way.
type call struct {
	name string
	site site
	// from is the call of a function without a lambda, such as include, that began this
	// part, which is a class, a define or a node; its node is nil if there was none.
	from   site
	isPart bool
}

// Calls is informed of calls of functions. They are within each other.
type Calls interface {
	Began(name string)
	Ended(name string)
}

// calls returns the calls under way. Rule LANG-ERR-09.
func (t *Thread) calls() []Call {
	out := make([]Call, len(t.stack))
	for i, c := range t.stack {
		line, _ := c.site.position(c.site.node)
		out[i] = Call{c.name, c.site.source.File, line}
	}
	return out
}

// step counts a statement, a call or a turn of a loop, and looks now and then whether
// the evaluation was cancelled. Rule LANG-EV-10.
func (t *Thread) step() error {
	t.steps++
	if t.steps > t.opts.MaxSteps {
		return Issuef("the evaluation takes more than %d steps", t.opts.MaxSteps)
	}
	if t.steps&0xff == 0 {
		return t.ctx.Err()
	}
	return nil
}

// spend counts bytes of values that are made, whether they are kept or not.
func (t *Thread) spend(n int) error {
	t.bytes += int64(n)
	if t.bytes > t.opts.MaxBytes {
		return t.tooMuch()
	}
	return nil
}

func (t *Thread) tooMuch() error {
	return Issuef("the evaluation makes values of more than %d bytes", t.opts.MaxBytes)
}

// Sizes of elements and pairs, roughly.
const (
	listBytes = 32
	hashBytes = 64
)

// maxNesting is how deep values may lie within each other, which functions follow
// by calling themselves.
const maxNesting = 1000

// charge counts a list or hash that was made: its elements, not what they share with
// others.
func (t *Thread) charge(v data.Value) error {
	if err := t.bounded(v); err != nil {
		return err
	}
	switch v.Kind() {
	case data.List:
		return t.spend(listBytes * v.Len())
	case data.Hash:
		return t.spend(hashBytes * v.Len())
	}
	return nil
}

// bounded reports a value that is too large or too deep as if nothing in it were shared:
// one that has another twice, which has a third twice, would take forever to be looked
// at. To look counts as steps, too.
func (t *Thread) bounded(v data.Value) error {
	if v.Kind() != data.List && v.Kind() != data.Hash {
		return nil
	}
	m := measure{left: t.opts.MaxBytes}
	m.look(v, maxNesting)
	t.steps += m.seen / 64
	switch {
	case m.tooDeep:
		return Issuef("values lie more than %d deep within each other", maxNesting)
	case m.left < 0:
		return t.tooMuch()
	}
	return nil
}

// A measure is what is seen of a value until it is too much.
type measure struct {
	left    int64 // bytes
	seen    int64 // elements
	tooDeep bool
}

func (m *measure) look(v data.Value, depth int) {
	switch v.Kind() {
	case data.List:
		m.take(v.Len(), listBytes)
		for _, x := range v.List() {
			m.within(x, depth)
		}
	case data.Hash:
		m.take(v.Len(), hashBytes)
		for _, p := range v.Hash() {
			m.within(p.Key, depth)
			m.within(p.Value, depth)
		}
	}
}

func (m *measure) take(n int, bytes int64) {
	m.left -= bytes * int64(n)
	m.seen += int64(n)
}

func (m *measure) within(v data.Value, depth int) {
	switch {
	case v.Kind() != data.List && v.Kind() != data.Hash:
	case depth == 0:
		m.tooDeep = true
	case m.left >= 0 && !m.tooDeep:
		m.look(v, depth-1)
	}
}

// push enters a call.
func (t *Thread) push(name string, s site) error {
	if len(t.stack) >= t.opts.MaxDepth {
		return Issuef("%d calls within each other: %s", len(t.stack), t.cycle(name))
	}
	t.stack = append(t.stack, call{name: name, site: s})
	return t.step()
}

func (t *Thread) pop() { t.stack = t.stack[:len(t.stack)-1] }

// cycle names the calls that repeat, from the one that would be next back to itself.
func (t *Thread) cycle(name string) string {
	names := []string{name}
	for _, c := range slices.Backward(t.stack) {
		if isIteration(c.site.node) {
			continue
		}
		names = append(names, c.name)
		if c.name == name || len(names) > 10 {
			break
		}
	}
	slices.Reverse(names)
	return strings.Join(names, " calls ")
}

// isIteration reports whether a call has a lambda, and so is no part of a recursion by
// itself.
func isIteration(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Call:
		return n.Lambda != nil
	case *syntax.Method:
		return n.Lambda != nil
	}
	return false
}
