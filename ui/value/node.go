package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A node is one value in a text of JSON: where it stands, and nothing else. What
// is below it is found when somebody looks, so that a large value costs no more
// than what is seen of it.
type node struct {
	body     []byte
	from, to int    // bytes
	key      string // in its hash
	index    int    // in its list; -1 if it is in none
	parent   *node
	open     bool
	kids     []*node
	parsed   bool
}

var errNotJSON = errors.New("the value is no JSON; raw shows its bytes")

// parse returns the root of a text of JSON.
func parse(body []byte) (*node, error) {
	if !json.Valid(body) {
		return nil, errNotJSON
	}
	from := space(body, 0)
	return &node{body: body, from: from, to: skip(body, from), index: -1, open: true}, nil
}

// children returns what is directly below n, in order.
func (n *node) children() []*node {
	if n.parsed {
		return n.kids
	}
	n.parsed = true
	b := n.body
	switch b[n.from] {
	case '[':
		for i := space(b, n.from+1); b[i] != ']'; {
			end := skip(b, i)
			n.kids = append(n.kids, &node{body: b, from: i, to: end, index: len(n.kids), parent: n})
			if i = space(b, end); b[i] == ',' {
				i = space(b, i+1)
			}
		}
	case '{':
		for i := space(b, n.from+1); b[i] != '}'; {
			end := skip(b, i)
			key := unquote(b[i:end])
			i = space(b, space(b, end)+1)
			end = skip(b, i)
			n.kids = append(n.kids, &node{body: b, from: i, to: end, key: key, index: -1, parent: n})
			if i = space(b, end); b[i] == ',' {
				i = space(b, i+1)
			}
		}
	}
	return n.kids
}

// space returns the first place from i on that is no blank.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skip returns the end of the value that begins at i. The text is known to be
// JSON.
func skip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '[', '{':
			depth++
			i++
		case ']', '}':
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			i++
		default:
			for i < len(b) && !strings.ContainsRune(",:]} \n\t\r", rune(b[i])) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(b))
}

// unquote returns the text of a JSON string. Bytes that are no UTF-8 stay.
func unquote(b []byte) string {
	inner := b[1 : len(b)-1]
	for _, c := range inner {
		if c == '\\' {
			var s string
			if json.Unmarshal(b, &s) == nil {
				return s
			}
			break
		}
	}
	return string(inner)
}

func (n *node) kind() byte { return n.body[n.from] }

func (n *node) isHash() bool { return n.kind() == '{' }
func (n *node) isList() bool { return n.kind() == '[' }

// folds reports whether there is anything below n.
func (n *node) folds() bool {
	return (n.isHash() || n.isList()) && space(n.body, n.from+1) < n.to-1
}

// text returns a scalar as a person reads it without quotes, and the text of
// everything else as it stands.
func (n *node) text() string {
	if n.kind() == '"' {
		return unquote(n.body[n.from:n.to])
	}
	return string(n.body[n.from:n.to])
}

// masked reports whether n is a value that was masked.
func (n *node) masked() bool {
	return n.kind() == '"' && strings.HasPrefix(string(n.body[n.from+1:min(n.from+8, n.to)]), "(masked")
}

// get returns the child of a hash by its key, or nil.
func (n *node) get(key string) *node {
	if !n.isHash() {
		return nil
	}
	for _, kid := range n.children() {
		if kid.key == key {
			return kid
		}
	}
	return nil
}

// identity is the name of a resource, "File[/etc/app.conf]"; "" if n is none.
func (n *node) identity() string {
	typ, title := n.get("type"), n.get("title")
	if typ == nil || title == nil || typ.kind() != '"' || title.kind() != '"' {
		return ""
	}
	return typ.text() + "[" + title.text() + "]"
}

// label is what n is called below its parent.
func (n *node) label() string {
	switch {
	case n.index >= 0:
		return "[" + strconv.Itoa(n.index) + "]"
	case n.parent == nil:
		return ""
	}
	return n.key
}

// summary is n in one line.
func (n *node) summary() string {
	switch n.kind() {
	case '[':
		return fmt.Sprintf("[%d]", len(n.children()))
	case '{':
		if id := n.identity(); id != "" {
			return id
		}
		return fmt.Sprintf("{%d}", len(n.children()))
	case '"':
		if n.masked() {
			return n.text()
		}
		return strconv.Quote(clip(n.text()))
	}
	return n.text()
}

// clip shortens a text of which one line will be shown.
func clip(s string) string {
	const enough = 4096
	if len(s) > enough {
		return s[:enough]
	}
	return s
}

// path names the place of n: ".resources[17].parameters.content".
func (n *node) path() string {
	if n.parent == nil {
		return ""
	}
	if n.index >= 0 {
		return n.parent.path() + n.label()
	}
	if strings.ContainsAny(n.key, ".[] \"") || n.key == "" {
		return n.parent.path() + "." + strconv.Quote(n.key)
	}
	return n.parent.path() + "." + n.key
}

// at returns the deepest node that holds the byte at offset, and opens what is
// above it.
func (n *node) at(offset int) *node {
	for {
		var next *node
		for _, kid := range n.children() {
			if kid.from <= offset && offset < kid.to {
				next = kid
				break
			}
			// A key belongs to what follows it.
			if offset < kid.from {
				next = kid
				break
			}
		}
		if next == nil {
			return n
		}
		n.open = true
		if offset < next.from {
			return next
		}
		n = next
	}
}

// A row is a node on the screen.
type row struct {
	*node
	depth int
}

// maxRows bounds how many rows a tree has: nobody goes further down.
const maxRows = 500_000

// rows returns the nodes that are not folded away. The root itself is one row.
func (n *node) rows() []row {
	out := []row{{n, 0}}
	type frame struct {
		kids []*node
		next int
	}
	var stack []frame
	if n.open {
		stack = append(stack, frame{n.children(), 0})
	}
	for len(stack) > 0 && len(out) < maxRows {
		top := &stack[len(stack)-1]
		if top.next == len(top.kids) {
			stack = stack[:len(stack)-1]
			continue
		}
		kid := top.kids[top.next]
		top.next++
		out = append(out, row{kid, len(stack)})
		if kid.open && kid.folds() {
			stack = append(stack, frame{kid.children(), 0})
		}
	}
	return out
}

// foldAll opens or closes everything below n, as far as maxRows go.
func (n *node) foldAll(open bool) {
	todo, left := []*node{n}, maxRows
	for len(todo) > 0 && left > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		left--
		if x.parent != nil {
			x.open = open
		}
		if open || x.parsed {
			todo = append(todo, x.children()...)
		}
	}
}

// appendYAML writes n as YAML. It stops when the text is longer than limit, or
// deeper than is good.
func appendYAML(b []byte, n *node, depth, limit int) []byte {
	const deepest = 200
	if len(b) > limit || depth > deepest {
		return b
	}
	pad := strings.Repeat("  ", depth)
	for _, kid := range n.children() {
		if n.isList() && kid.folds() {
			// The dash stands where the first line below it is indented.
			at := len(b) + len(pad)
			if b = appendYAML(b, kid, depth+1, limit); at < len(b) {
				b[at] = '-'
			}
			continue
		}
		b = append(b, pad...)
		if n.isList() {
			b = append(b, '-')
		} else {
			b = append(append(b, yamlScalar(kid.key)...), ':')
		}
		if kid.folds() {
			b = append(b, '\n')
			b = appendYAML(b, kid, depth+1, limit)
			continue
		}
		b = append(append(append(b, ' '), yamlLeaf(kid)...), '\n')
	}
	return b
}

func yamlLeaf(n *node) string {
	if n.kind() == '"' {
		return yamlScalar(n.text())
	}
	return n.text()
}

// yamlScalar writes a string as YAML would, quoted where it must be.
func yamlScalar(s string) string {
	switch strings.ToLower(s) {
	case "", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(s)
	}
	if strings.ContainsAny(s[:1], "!&*-?|>@`\"'%{}[],#: =<0123456789+.") || strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") || strings.HasSuffix(s, " ") {
		return strconv.Quote(s)
	}
	for _, r := range s {
		if r < ' ' || r == 0x7f || r > '~' && !strconv.IsPrint(r) {
			return strconv.Quote(s)
		}
	}
	return s
}
