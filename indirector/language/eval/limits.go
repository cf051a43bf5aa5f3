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
		return Issuef("the evaluation makes values of more than %d bytes", t.opts.MaxBytes)
	}
	return nil
}

// Sizes of elements and pairs, roughly.
const (
	listBytes = 32
	hashBytes = 64
)

// charge counts a list or hash that was made with all that is in it, as if nothing were
// shared: a value that has another twice, which has a third twice, would take forever to
// be looked at.
func (t *Thread) charge(v data.Value) error {
	return t.spend(int(weigh(v, t.opts.MaxBytes-t.bytes+1)))
}

// weigh returns the size of a value, or a number from a limit on.
func weigh(v data.Value, limit int64) (size int64) {
	switch v.Kind() {
	case data.List:
		size = listBytes * int64(v.Len())
		for _, x := range v.List() {
			if size >= limit {
				break
			}
			size += weigh(x, limit-size)
		}
	case data.Hash:
		size = hashBytes * int64(v.Len())
		for _, p := range v.Hash() {
			if size >= limit {
				break
			}
			size += weigh(p.Key, limit-size)
			size += weigh(p.Value, limit-size)
		}
	}
	return size
}

// push enters a call.
func (t *Thread) push(name string, s site) error {
	if len(t.stack) >= t.opts.MaxDepth {
		return Issuef("%d calls within each other: %s", len(t.stack), t.cycle(name))
	}
	t.stack = append(t.stack, call{name, s})
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
