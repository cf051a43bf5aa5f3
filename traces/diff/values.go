package diff

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"indirtui/traces/tree"
)

// A Kind is how a place differs. Its byte is the sign that is shown.
type Kind byte

// The kinds.
const (
	Same    Kind = ' '
	Inside  Kind = '/' // something below it differs
	Added   Kind = '+' // only on side B
	Removed Kind = '-' // only on side A
	Changed Kind = '~'
	Unknown Kind = '?' // redacted on both sides under different salts
)

// Differs reports whether a place differs itself, not only something below it.
func (k Kind) Differs() bool { return k != Same && k != Inside }

// A Line is one place of a comparison with its text on both sides.
type Line struct {
	Path  string // ".parameters.role", `.resources[File[/etc/motd]].parameters."odd key"`
	Label string // the last step of it: "role", "File[/etc/motd]"
	Depth int    // below the top, which has no line
	Kind  Kind
	Part  bool       // it differs because the line above it does, and is not counted
	A, B  *tree.Node // nil if absent on that side
}

// Values are how two values differ.
type Values struct {
	// Lines are what differs, what is above that, and what is equal at the top,
	// in the order of keys.
	Lines       []Line
	Differences int  // places that differ, those below another not counted
	Unknown     int  // places that cannot be compared, see Unknown; not differences
	Ignored     int  // places that a rule ignores
	Cut         bool // there are more than MaxLines
}

// Equal reports whether nothing differs, except what is ignored or unknown.
func (v *Values) Equal() bool { return v.Differences == 0 }

// MaxLines bounds the lines of a comparison. Differences are counted on.
const MaxLines = 20_000

// maxDepth bounds how deep it looks: what is below counts as one value.
const maxDepth = 100

// Options configure the comparison. The zero value ignores nothing.
type Options struct {
	// Ignore are rules: paths of places that do not count, with all below them.
	// A * stands for any text: ".parameters.*timestamp".
	Ignore []string
	// Apart is set if the sides were redacted under different salts, as two
	// recordings are: equal secrets then have different tags.
	Apart bool
	// Progress is called by Runs with how many requests of all are compared. May be
	// nil.
	Progress func(done, total int)
}

// compareJSON compares two values that are written as JSON. Hashes are compared by
// key; lists of resources by Type[title], of edges by their ends; other lists by
// what they have in common. The error is tree.ErrNotJSON.
func compareJSON(a, b []byte, o Options) (*Values, error) {
	left, err := tree.Parse(a)
	if err != nil {
		return nil, err
	}
	right, err := tree.Parse(b)
	if err != nil {
		return nil, err
	}
	d := differ{ignore: rules(o.Ignore), apart: o.Apart}
	d.compare("", "", left, right, 0)
	return &d.Values, nil
}

type differ struct {
	Values
	ignore ruleset
	apart  bool
}

func (d *differ) add(l Line) {
	if len(d.Lines) < MaxLines {
		d.Lines = append(d.Lines, l)
		return
	}
	d.Cut = true
}

// compare adds what differs between a and b, and reports whether anything does.
// Equal things are listed only directly below the top.
func (d *differ) compare(path, label string, a, b *tree.Node, depth int) bool {
	if d.ignore.has(path) {
		d.Ignored++
		return false
	}
	l := Line{Path: path, Label: label, Depth: depth, A: a, B: b}
	switch {
	case a == nil:
		return d.all(l, Added)
	case b == nil:
		return d.all(l, Removed)
	case same(a, b):
		l.Kind = Same
		if depth == 1 {
			d.add(l)
		}
		return false
	case depth < maxDepth && a.IsHash() && b.IsHash():
		return d.below(l, func() bool { return d.hashes(path, a, b, depth+1) })
	case depth < maxDepth && a.IsList() && b.IsList():
		return d.below(l, func() bool { return d.lists(path, a, b, depth+1) })
	}
	l.Kind = Changed
	if d.apart && sameButTags(a, b) {
		l.Kind = Unknown
		d.Unknown++
	} else {
		d.Differences++
	}
	d.add(l)
	return true
}

// below adds l, and then what differs below it; nothing if nothing does.
func (d *differ) below(l Line, inner func() bool) bool {
	at, cut := len(d.Lines), d.Cut
	l.Kind = Inside
	if l.Depth > 0 {
		d.add(l)
	}
	if inner() {
		return true
	}
	if at < len(d.Lines) {
		d.Lines = d.Lines[:at]
		d.Cut = cut
	}
	if l.Depth == 1 {
		l.Kind = Same
		d.add(l)
	}
	return false
}

// maxParts is how much of what is on one side only is listed.
const maxParts = 50

// all adds what is on one side only, with what is directly below it.
func (d *differ) all(l Line, kind Kind) bool {
	l.Kind = kind
	d.Differences++
	d.add(l)
	n := cmp.Or(l.A, l.B)
	for i, kid := range n.Children() {
		if l.Depth >= 2 || i == maxParts {
			break
		}
		part := Line{Path: tree.Join(l.Path, kid), Label: name(kid), Depth: l.Depth + 1, Kind: kind, Part: true}
		if l.A != nil {
			part.A = kid
		} else {
			part.B = kid
		}
		d.add(part)
	}
	return true
}

// name is what an element is called: a resource by its identity, a word in a
// list by itself.
func name(n *tree.Node) string {
	if n.Index < 0 {
		return n.Key
	}
	if id := identity(n); id != "" {
		return id
	}
	if !n.Folds() {
		return tree.Clip(n.Text())
	}
	return n.Label()
}

func (d *differ) hashes(path string, a, b *tree.Node, depth int) bool {
	left, right := byKey(a), byKey(b)
	differs := false
	for len(left) > 0 || len(right) > 0 {
		var x, y *tree.Node
		switch {
		case len(right) == 0 || len(left) > 0 && left[0].Key < right[0].Key:
			x, left = left[0], left[1:]
		case len(left) == 0 || right[0].Key < left[0].Key:
			y, right = right[0], right[1:]
		default:
			x, left = left[0], left[1:]
			y, right = right[0], right[1:]
		}
		n := cmp.Or(x, y)
		if d.compare(tree.Join(path, n), n.Key, x, y, depth) {
			differs = true
		}
	}
	return differs
}

// byKey returns the pairs of a hash sorted by key. Of duplicate keys the last
// counts, as in JSON.
func byKey(n *tree.Node) []*tree.Node {
	kids := slices.Clone(n.Children())
	slices.SortStableFunc(kids, func(a, b *tree.Node) int { return strings.Compare(a.Key, b.Key) })
	kept := kids[:0]
	for i, kid := range kids {
		if i+1 == len(kids) || kids[i+1].Key != kid.Key {
			kept = append(kept, kid)
		}
	}
	return kept
}

func (d *differ) lists(path string, a, b *tree.Node, depth int) bool {
	left, right := byIdentity(a), byIdentity(b)
	if left != nil && right != nil {
		return d.named(path, a, b, left, right, depth)
	}
	differs := false
	for _, p := range align(a.Children(), b.Children()) {
		n := cmp.Or(p[0], p[1])
		if d.compare(tree.Join(path, n), name(n), p[0], p[1], depth) {
			differs = true
		}
	}
	return differs
}

// identity is what a thing in a list is known by: "File[/etc/motd]", or
// "Class[A] -> Class[B]" for an edge; "" if by nothing.
func identity(n *tree.Node) string {
	if id := n.Identity(); id != "" {
		return id
	}
	from, to := n.Get("source"), n.Get("target")
	if from == nil || to == nil || len(n.Children()) != 2 || from.Kind() != '"' || to.Kind() != '"' {
		return ""
	}
	return from.Text() + " -> " + to.Text()
}

// byIdentity returns the things of a list by their names, or nil if one has
// none, or two have the same. An empty list may be a list of anything.
func byIdentity(n *tree.Node) map[string]*tree.Node {
	kids := n.Children()
	m := make(map[string]*tree.Node, len(kids))
	for _, kid := range kids {
		id := identity(kid)
		if id == "" || m[id] != nil {
			return nil
		}
		m[id] = kid
	}
	return m
}

func (d *differ) named(path string, a, b *tree.Node, left, right map[string]*tree.Node, depth int) bool {
	differs := false
	see := func(id string) {
		if d.compare(path+"["+id+"]", id, left[id], right[id], depth) {
			differs = true
		}
	}
	for _, kid := range a.Children() {
		see(identity(kid))
	}
	for _, kid := range b.Children() {
		if id := identity(kid); left[id] == nil {
			see(id)
		}
	}
	return differs
}

func same(a, b *tree.Node) bool { return bytes.Equal(a.JSON(), b.JSON()) }

// sameButTags reports whether two texts are equal but for the tags of redacted
// parts.
func sameButTags(a, b *tree.Node) bool {
	if a.Kind() != '"' || b.Kind() != '"' {
		return false
	}
	left, redacted := untagged(a.Text())
	right, _ := untagged(b.Text())
	return redacted && left == right
}

// untagged takes the tags out of a text, and reports whether there were any.
func untagged(s string) (string, bool) {
	const open, tag = "(masked ", ", tag "
	var b strings.Builder
	found := false
	for {
		i := strings.Index(s, open)
		if i < 0 {
			break
		}
		j := strings.Index(s[i:], tag)
		k := strings.IndexByte(s[i:], ')')
		if j < 0 || k < j {
			b.WriteString(s[:i+len(open)])
			s = s[i+len(open):]
			continue
		}
		found = true
		b.WriteString(s[:i+j])
		s = s[i+k:]
	}
	b.WriteString(s)
	return b.String(), found
}

// A ruleset is rules made ready: those that are plain paths, and patterns.
type ruleset struct {
	exact    map[string]bool
	patterns [][]string // the pieces between the stars
}

func rules(list []string) ruleset {
	r := ruleset{exact: make(map[string]bool)}
	for _, rule := range list {
		rule = Rule(rule)
		if rule == "" {
			continue
		}
		if strings.Contains(rule, "*") {
			r.patterns = append(r.patterns, strings.Split(rule, "*"))
		} else {
			r.exact[rule] = true
		}
	}
	return r
}

// Rule returns a rule as it is kept: a path begins with a dot or a bracket.
func Rule(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && !strings.ContainsAny(s[:1], ".[*") {
		s = "." + s
	}
	return s
}

func (r *ruleset) has(path string) bool {
	return path != "" && (r.exact[path] || slices.ContainsFunc(r.patterns, func(p []string) bool { return fits(p, path) }))
}

// fits reports whether a text is made of the pieces in their order, with
// anything between them.
func fits(pieces []string, s string) bool {
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, p := range pieces[1 : len(pieces)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return true
}

// raw is a node as a part of a document, or nil.
func raw(n *tree.Node) json.RawMessage {
	if n == nil {
		return nil
	}
	return n.JSON()
}
