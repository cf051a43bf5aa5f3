// Package onig finds what regular expressions of Ruby find.
//
// An expression is read into a tree, and written in the syntax of one of two engines. Go's
// takes linear time, whatever the expression, and has all that it can do as Ruby does it.
// What looks around, refers back to groups, calls them or does not go back is done by
// regexp2, which goes back and may run away: it is stopped after [Limit]. So are the texts
// in which Go's engine would find \b, ^ or \Z elsewhere than Ruby: with letters beyond
// ASCII, or with a line feed at their end.
//
// Refused by name are groups that call themselves, \X, the options a and u, what is
// absent (?~), back references with levels or to a group from within, properties that are
// denied without regard to case, and bytes that are no characters. The letter ß is not the
// same as ss without regard to case; and what groups have that matched nothing the last
// time they were repeated, as places or \K, may be another than Ruby's. Rule LANG-OP-11.
package onig

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"

	"indirtui/indirector/rich"
)

// Limit is how long an expression may look for one match.
const Limit = time.Second

// maxText is the longest text that an expression is held against which may go back.
const maxText = 16 << 20

// ErrLimit is wrapped by errors of expressions that were stopped.
var ErrLimit = errors.New("limit of regular expressions")

// A Regexp is a compiled expression. It is safe for concurrent use.
type Regexp struct {
	source string
	names  []string
	keep   int // the group that is where the match begins, if it took part
	empty  bool

	linear *regexp.Regexp // nil if it is not for Go's engine
	feed   bool           // not in texts that end with a line feed
	wide   bool           // not in texts beyond ASCII
	full   func() (*regexp2.Regexp, error)
	budget *Budget // of matches by full; nil has no end
}

// String returns the expression as errors name it.
func (re *Regexp) String() string { return "regular expression /" + re.source + "/" }

// Compile compiles an expression. What Ruby does not compile is an error in its words;
// what is not done here is one in ours, which wraps [errors.ErrUnsupported].
func Compile(source string) (*Regexp, error) {
	if err := rich.CheckRegexp(source); err != nil {
		return nil, err
	}
	tree, names, err := parse(source)
	if err != nil {
		return nil, failed(source, err)
	}
	if err := (&resolver{tree, names, map[*group]int{}}).resolve(tree); err != nil {
		return nil, failed(source, err)
	}
	re := &Regexp{source: source, names: names, keep: len(names)}
	re.full = sync.OnceValues(func() (*regexp2.Regexp, error) { return re.compileFull(tree) })
	if !contains(tree, backtracks) {
		text, err := forward.write(tree, 0)
		if err != nil {
			return nil, failed(source, err)
		}
		re.linear, _ = regexp.Compile(text) // or it is larger than Go's engine takes
	}
	if re.linear == nil {
		if _, err := re.full(); err != nil {
			return nil, err
		}
	}
	re.feed = contains(tree, func(n node) bool { return n == anchor('^') || n == anchor('Z') })
	re.wide = contains(tree, func(n node) bool { return n == anchor('b') || n == anchor('B') })
	re.empty = empty(tree)
	return re, nil
}

func failed(source string, err error) error {
	if !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: /%s/", err, source)
	}
	return fmt.Errorf("regular expression /%s/: %w", source, err)
}

func (re *Regexp) compileFull(tree node) (*regexp2.Regexp, error) {
	text, err := backward().write(tree, re.keep)
	if err != nil {
		return nil, failed(re.source, err)
	}
	full, err := regexp2.Compile(text, regexp2.None)
	if err != nil {
		return nil, failed(re.source, fmt.Errorf("%w: %w", err, errors.ErrUnsupported))
	}
	full.MatchTimeout = Limit
	return full, nil
}

// A resolver gives calls the groups that they call.
type resolver struct {
	tree  node
	names []string
	state map[*group]int
}

// The states of groups: those within which a call is found are open.
const (
	open = 1 + iota
	resolved
)

func (r *resolver) resolve(n node) error {
	g, isGroup := n.(*group)
	if isGroup {
		if r.state[g] == resolved {
			return nil
		}
		r.state[g] = open
	}
	if c, ok := n.(*call); ok {
		return r.call(c)
	}
	for _, p := range parts(n) {
		if err := r.resolve(p); err != nil {
			return err
		}
	}
	if isGroup {
		r.state[g] = resolved
	}
	return nil
}

// call resolves the group that is called first, so that what is known of the call is known
// without a look into it.
func (r *resolver) call(c *call) error {
	called := c.called(r.tree, r.names)
	switch {
	case len(called) == 0:
		return fmt.Errorf(`\g<%s>, a call of the whole expression: %w`, c.label(), errors.ErrUnsupported)
	case len(called) > 1:
		return fmt.Errorf("multiplex definition name <%s> call", c.name)
	case r.state[called[0]] == open:
		return fmt.Errorf(`\g<%s>, a group that calls itself: %w`, c.label(), errors.ErrUnsupported)
	}
	c.body = called[0]
	if err := r.resolve(c.body); err != nil {
		return err
	}
	c.empty = empty(c.body)
	return nil
}

// called returns the groups that are called within a tree.
func (c *call) called(tree node, names []string) []*group {
	var out []*group
	if g, ok := tree.(*group); ok && (c.name != "" && names[g.number] == c.name || c.name == "" && g.number == c.number) {
		out = append(out, g)
	}
	for _, p := range parts(tree) {
		out = append(out, c.called(p, names)...)
	}
	return out
}

// Names are the names of the groups by their numbers, "" of those without. The first is
// that of the whole.
func (re *Regexp) Names() []string { return re.names }

// Named returns the number of the group of a name: of several the last that took part in a
// match. It is -1 if there is none.
func (re *Regexp) Named(name string, at []int) int {
	out := -1
	for i, n := range re.names {
		if i > 0 && n == name && (out < 0 || at[2*i] >= 0) {
			out = i
		}
	}
	return out
}

// Texts returns the texts of the first match and its groups, "" of those that took no
// part. It is nil if there is no match.
func (re *Regexp) Texts(s string) ([]string, error) {
	at, err := re.Find(s)
	if at == nil {
		return nil, err
	}
	out := make([]string, len(at)/2)
	for i := range out {
		if at[2*i] >= 0 {
			out[i] = s[at[2*i]:at[2*i+1]]
		}
	}
	return out, nil
}

// Match reports whether the expression matches anywhere in a text. An error wraps
// [ErrLimit], as those of the other methods do.
func (re *Regexp) Match(s string) (bool, error) {
	if re.forward(s) {
		return re.linear.MatchString(s), nil
	}
	at, err := re.Find(s)
	return at != nil, err
}

// Find returns where the first match and its groups begin and end, in bytes; both are -1
// of groups that took no part. It is nil if there is none.
func (re *Regexp) Find(s string) ([]int, error) {
	if re.forward(s) {
		return re.linear.FindStringSubmatchIndex(s), nil
	}
	all, err := re.findFull(s, 1)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// FindAll returns all matches as [Regexp.Find] does, or so many if that is not negative:
// each behind the one before, as scan and gsub find them.
func (re *Regexp) FindAll(s string, most int) ([][]int, error) {
	if re.forward(s) && (!re.empty || most == 1) { // Go's leaves out what is empty behind another
		return re.linear.FindAllStringSubmatchIndex(s, most), nil
	}
	return re.findFull(s, most)
}

// forward reports whether Go's engine finds the same in a text as Ruby.
func (re *Regexp) forward(s string) bool {
	return re.linear != nil && !(re.feed && strings.HasSuffix(s, "\n")) && !(re.wide && !ascii(s))
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// findFull finds by the engine that goes back.
func (re *Regexp) findFull(s string, most int) ([][]int, error) {
	full, err := re.full()
	if err != nil {
		return nil, err
	}
	if len(s) > maxText {
		return nil, fmt.Errorf("regular expression /%s/: %w: a text of more than %d bytes", re.source, ErrLimit, maxText)
	}
	runes := []rune(s)
	offset := offsets(s, len(runes))
	used := re.budget.Begin(re)
	var out [][]int
	for from := 0; from <= len(runes) && len(out) != most; {
		m, err := full.FindRunesMatchStartingAt(runes, from)
		spent := used()
		if err != nil {
			return nil, fmt.Errorf("regular expression /%s/: %w: no answer within %v", re.source, ErrLimit, Limit)
		}
		if spent != nil {
			return nil, spent
		}
		if m == nil {
			break
		}
		at := re.places(m)
		for i, r := range at {
			if r >= 0 {
				at[i] = offset(r)
			}
		}
		out = append(out, at)
		if from = m.Index + m.Length; at[0] == at[1] {
			from++
		}
	}
	return out, nil
}

// places returns where groups begin and end, in characters.
func (re *Regexp) places(m *regexp2.Match) []int {
	at := make([]int, 0, 2*len(re.names))
	for i := range re.names {
		if g := m.GroupByNumber(i); len(g.Captures) > 0 {
			at = append(at, g.Index, g.Index+g.Length)
		} else {
			at = append(at, -1, -1)
		}
	}
	if g := m.GroupByNumber(re.keep); g != nil && len(g.Captures) > 0 {
		at[0] = min(g.Index, at[1]) // \K of what looks ahead may stand behind the end
	}
	return at
}

// offsets returns where characters begin, in bytes.
func offsets(s string, n int) func(i int) int {
	if n == len(s) {
		return func(i int) int { return i }
	}
	at := make([]int, 0, n+1)
	for i := range s {
		at = append(at, i)
	}
	at = append(at, len(s))
	return func(i int) int { return at[i] }
}

// Escape returns an expression that matches a text, as Ruby's Regexp.escape writes it.
func Escape(text string) string { return escaper.Replace(text) }

var escaper = func() *strings.Replacer {
	pairs := []string{"\n", `\n`, "\t", `\t`, "\r", `\r`, "\f", `\f`, "\v", `\v`}
	for _, c := range `[]{}()|-*.\?+^$# ` {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()
