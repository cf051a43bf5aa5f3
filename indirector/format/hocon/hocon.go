// Package hocon reads HOCON, a superset of JSON: the format of some files of data,
// and of facter.conf. Keys are paths, values are put together, and there are
// substitutions and +=. A file that includes others is refused. Substitutions do
// not see the environment of the process.
package hocon

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

// Limits on what is not ours.
const (
	maxDepth  = 200       // of objects and arrays within each other
	maxValues = 1_000_000 // that substitutions may multiply to
)

// Decode returns what a file means, which is a hash. An error names the line.
func Decode(s string) (data.Value, error) {
	p := &parser{s: strings.TrimPrefix(s, "\ufeff")}
	p.skip(true)
	braced := p.eat('{')
	root, err := p.object(braced)
	if err == nil {
		if p.skip(true); p.at < len(p.s) {
			err = p.wrong("the end of the file")
		}
	}
	if err != nil {
		return data.Value{}, err
	}
	r := &resolver{root: root, busy: map[*node]bool{}}
	v, _, err := r.value(root)
	return v, err
}

type kind uint8

const (
	textKind kind = iota // simple, perhaps part of a longer text
	objectKind
	arrayKind
	substitutionKind
	joinedKind // several values beside each other
)

// A node is a value that is not resolved yet.
type node struct {
	kind     kind
	text     string
	quoted   bool // the text is a string, whatever it looks like
	blank    bool // the text only separates
	names    []string
	fields   map[string]*node
	items    []*node
	path     []string // of a substitution
	optional bool
	before   *node // what the field was before
}

func newObject() *node {
	return &node{kind: objectKind, fields: map[string]*node{}}
}

// set gives a field, at the end of a path, another value. Objects are merged.
func (n *node) set(path []string, v *node) {
	name := path[0]
	old := n.fields[name]
	if len(path) > 1 {
		inner := newObject()
		inner.set(path[1:], v)
		v = inner
	}
	switch {
	case old == nil:
		n.names = append(n.names, name)
	case old.kind == objectKind && v.kind == objectKind:
		for _, k := range v.names {
			old.set([]string{k}, v.fields[k])
		}
		// The keys that came later are first.
		rest := slices.DeleteFunc(old.names, func(k string) bool { return slices.Contains(v.names, k) })
		old.names = append(slices.Clone(v.names), rest...)
		return
	case v.kind == objectKind && (old.kind == substitutionKind || old.kind == joinedKind):
		v = &node{kind: joinedKind, items: []*node{old, v}}
	}
	v.before = old
	n.fields[name] = v
}

type parser struct {
	s      string
	at     int
	depth  int
	within []string // the path of the object that is read
}

func (p *parser) wrong(expected string) error {
	line := 1 + strings.Count(p.s[:p.at], "\n")
	return fmt.Errorf("line %d: expected %s", line, expected)
}

func (p *parser) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *parser) eat(c byte) bool {
	if p.at < len(p.s) && p.s[p.at] == c {
		p.at++
		return true
	}
	return false
}

// skip skips blanks and comments, and line breaks if lines is set. It reports
// whether there was a line break.
func (p *parser) skip(lines bool) (broken bool) {
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == '\n':
			broken = true
			if !lines {
				return broken
			}
			p.at++
		case c == ' ' || c == '\t' || c == '\r':
			p.at++
		case c == '#' || strings.HasPrefix(p.s[p.at:], "//"):
			for p.at < len(p.s) && p.s[p.at] != '\n' {
				p.at++
			}
		default:
			return broken
		}
	}
	return broken
}

// separated skips what is between two elements: a comma, line breaks, or both.
func (p *parser) separated() bool {
	broken := p.skip(true)
	comma := p.eat(',')
	p.skip(true)
	return broken || comma
}

func (p *parser) object(braced bool) (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.wrong("less nesting")
	}
	defer func() { p.depth-- }()
	n := newObject()
	for {
		p.skip(true)
		if p.at >= len(p.s) && !braced || braced && p.eat('}') {
			return n, nil
		}
		if err := p.field(n); err != nil {
			return nil, err
		}
		if !p.separated() && p.peek() != '}' && p.at < len(p.s) {
			return nil, p.wrong("a comma or a new line")
		}
		if p.at >= len(p.s) && braced {
			return nil, p.wrong("}")
		}
	}
}

func (p *parser) field(n *node) error {
	path, err := p.path("=:+{")
	if err != nil {
		return err
	}
	if len(path) == 1 && path[0] == "include" || strings.HasPrefix(path[0], "include ") {
		return p.wrong("a key: include is refused here")
	}
	p.skip(false)
	add := strings.HasPrefix(p.s[p.at:], "+=")
	switch {
	case add:
		p.at += 2
	case p.peek() == '=' || p.peek() == ':':
		p.at++
	case p.peek() != '{':
		return p.wrong("= or : after a key")
	}
	p.skip(true)
	outer := p.within
	p.within = append(slices.Clip(outer), path...)
	v, err := p.value()
	whole := p.within
	p.within = outer
	if err != nil {
		return err
	}
	if add {
		self := &node{kind: substitutionKind, path: whole, optional: true}
		v = &node{kind: joinedKind, items: []*node{self, {kind: arrayKind, items: []*node{v}}}}
	}
	n.set(path, v)
	return nil
}

// path reads names with dots between them, up to one of the bytes of end.
func (p *parser) path(end string) ([]string, error) {
	var path []string
	for {
		p.skip(false)
		name := ""
		if p.peek() == '"' {
			text, err := p.quoted()
			if err != nil {
				return nil, err
			}
			name = text
		} else {
			from := p.at
			for p.at < len(p.s) && strings.IndexByte(end+".\n\"}]$,#", p.s[p.at]) < 0 {
				p.at++
			}
			if name = strings.TrimSpace(p.s[from:p.at]); name == "" {
				return nil, p.wrong("a key")
			}
		}
		path = append(path, name)
		p.skip(false)
		if !p.eat('.') {
			return path, nil
		}
	}
}

func (p *parser) quoted() (string, error) {
	if rest, ok := strings.CutPrefix(p.s[p.at:], `"""`); ok {
		end := strings.Index(rest, `"""`)
		if end < 0 {
			return "", p.wrong(`"""`)
		}
		for strings.HasPrefix(rest[end+1:], `"""`) {
			end++ // further quotes belong to the text
		}
		p.at += end + 6
		return rest[:end], nil
	}
	end := p.at + 1
	for end < len(p.s) && p.s[end] != '"' && p.s[end] != '\n' {
		if p.s[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(p.s) || p.s[end] != '"' {
		return "", p.wrong("a quote at the end of a string")
	}
	v, err := format.DecodeJSON([]byte(p.s[p.at:end+1]), format.Limits{})
	if err != nil {
		return "", p.wrong("a string of JSON")
	}
	p.at = end + 1
	return v.Str(), nil
}

// value reads values up to the end of the element: several beside each other are
// put together.
func (p *parser) value() (*node, error) {
	var items []*node
	for {
		from := p.at
		p.skip(false)
		c := p.peek()
		if p.at >= len(p.s) || strings.IndexByte("\n,}]", c) >= 0 {
			break
		}
		if between := p.s[from:p.at]; between != "" && len(items) > 0 {
			items = append(items, &node{text: between, blank: true})
		}
		n, err := p.piece(c)
		if err != nil {
			return nil, err
		}
		items = append(items, n)
	}
	switch len(items) {
	case 0:
		return nil, p.wrong("a value")
	case 1:
		return items[0], nil
	}
	return &node{kind: joinedKind, items: items}, nil
}

func (p *parser) piece(c byte) (*node, error) {
	switch {
	case c == '{':
		p.at++
		return p.object(true)
	case c == '[':
		p.at++
		return p.array()
	case c == '"':
		text, err := p.quoted()
		return &node{text: text, quoted: true}, err
	case strings.HasPrefix(p.s[p.at:], "${"):
		p.at += 2
		n := &node{kind: substitutionKind, optional: p.eat('?')}
		var err error
		if n.path, err = p.path(""); err == nil && !p.eat('}') {
			err = p.wrong("} after a substitution")
		}
		return n, err
	}
	from := p.at
	for p.at < len(p.s) && strings.IndexByte("$\"{}[]:=,+#`^?!@*&\\\n \t\r", p.s[p.at]) < 0 && !strings.HasPrefix(p.s[p.at:], "//") {
		p.at++
	}
	if p.at == from {
		return nil, p.wrong("a value")
	}
	return &node{text: p.s[from:p.at]}, nil
}

func (p *parser) array() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.wrong("less nesting")
	}
	defer func() { p.depth-- }()
	n := &node{kind: arrayKind}
	for {
		p.skip(true)
		if p.eat(']') {
			return n, nil
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, v)
		if !p.separated() && p.peek() != ']' {
			return nil, p.wrong("a comma or ]")
		}
	}
}

// A resolver makes data of nodes.
type resolver struct {
	root  *node
	busy  map[*node]bool
	count int
}

// value returns the value of a node, or false if an optional substitution leaves
// none.
func (r *resolver) value(n *node) (data.Value, bool, error) {
	if r.count++; r.count > maxValues {
		return data.Value{}, false, fmt.Errorf("more than %d values", maxValues)
	}
	r.busy[n] = true
	defer delete(r.busy, n)
	switch n.kind {
	case textKind:
		return n.simple(), true, nil
	case substitutionKind:
		return r.substitution(n)
	case joinedKind:
		return r.joined(n)
	case arrayKind:
		list := []data.Value{}
		for _, item := range n.items {
			v, ok, err := r.value(item)
			if err != nil {
				return v, false, err
			}
			if ok {
				list = append(list, v)
			}
		}
		return data.OfList(list), true, nil
	case objectKind:
		h := []data.Pair{}
		for _, name := range n.names {
			v, ok, err := r.value(n.fields[name])
			if err != nil {
				return v, false, err
			}
			if ok {
				h = append(h, data.P(name, v))
			}
		}
		return data.OfHash(h), true, nil
	}
	panic(n.kind)
}

var (
	integer = regexp.MustCompile(`\A-?[0-9]+\z`)
	float   = regexp.MustCompile(`\A-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\z`)
)

// simple is the value of a text alone. A number without a fraction is an integer,
// however it is written.
func (n *node) simple() data.Value {
	switch {
	case n.quoted:
	case n.text == "true", n.text == "false":
		return data.OfBool(n.text == "true")
	case n.text == "null":
		return data.Value{}
	case integer.MatchString(n.text):
		if i, ok := new(big.Int).SetString(n.text, 10); ok {
			return data.OfBig(i)
		}
	case float.MatchString(n.text):
		f, err := strconv.ParseFloat(n.text, 64)
		if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return data.OfInt(int64(f))
		}
		if err == nil {
			return data.OfFloat(f)
		}
	}
	return data.OfString(n.text)
}

// substitution looks a path up from the root. A field that refers to itself means
// what it was before.
func (r *resolver) substitution(n *node) (data.Value, bool, error) {
	at := r.root
	for _, name := range n.path {
		for at != nil && at.kind != objectKind && r.busy[at] {
			at = at.before
		}
		if at == nil || at.kind != objectKind {
			at = nil
			break
		}
		at = at.fields[name]
	}
	for at != nil && r.busy[at] {
		at = at.before
	}
	if at == nil {
		if n.optional {
			return data.Value{}, false, nil
		}
		return data.Value{}, false, fmt.Errorf("could not resolve substitution to a value: ${%s}", strings.Join(n.path, "."))
	}
	return r.value(at)
}

// joined puts values together: objects are merged, arrays joined, and all else is
// text with the blanks between.
func (r *resolver) joined(n *node) (v data.Value, found bool, err error) {
	var texts strings.Builder
	for _, item := range n.items {
		next, ok, err := r.value(item)
		switch {
		case err != nil:
			return v, false, err
		case !ok:
			continue
		case item.blank:
			texts.WriteString(item.text)
			continue
		case next.Kind() == data.Hash && (!found || v.Kind() == data.Hash):
			v = mergedDeep(v, next)
		case next.Kind() == data.List && (!found || v.Kind() == data.List):
			v = data.OfList(append(slices.Clone(v.List()), next.List()...))
		case next.Kind() == data.Hash || next.Kind() == data.List || found && v.Kind() != data.String:
			return v, false, fmt.Errorf("cannot put a %s and a %s together", v.Kind(), next.Kind())
		default:
			if item.kind == textKind {
				texts.WriteString(item.text)
			} else {
				texts.WriteString(next.Text())
			}
			v = data.OfString("")
		}
		found = true
	}
	if found && v.Kind() == data.String {
		v = data.OfString(texts.String())
	}
	return v, found, nil
}

// mergedDeep merges high over low, objects in objects too. The keys of high are
// first.
func mergedDeep(low, high data.Value) data.Value {
	if low.Kind() != data.Hash || high.Kind() != data.Hash {
		return high
	}
	var h []data.Pair
	for _, p := range high.Hash() {
		h = append(h, data.Pair{Key: p.Key, Value: mergedDeep(low.Get(p.Key.Str()), p.Value)})
	}
	for _, p := range low.Hash() {
		if _, ok := high.Lookup(p.Key.Str()); !ok {
			h = append(h, p)
		}
	}
	return data.OfHash(h)
}
