// Package tree reads JSON as a tree, and only the part that is looked at: so
// are the values of recordings shown and compared.
package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Node is one value in a JSON text: only its position. Its children are found
// when they are asked for. A Node is not safe for concurrent use.
type Node struct {
	Body     []byte // the whole text
	From, To int    // where the value stands in it
	Key      string // in its hash; "" if it is in none
	Index    int    // in its list; -1 if it is in none
	Parent   *Node  // nil at the root
	Open     bool   // for display: the children of n are rows of their own
	kids     []*Node
	parsed   bool
}

// ErrNotJSON reports a text that is not JSON.
var ErrNotJSON = errors.New("the value is no JSON; raw shows its bytes")

// Parse returns the root of a text of JSON, which is open. The error is
// ErrNotJSON.
func Parse(body []byte) (*Node, error) {
	if !json.Valid(body) {
		return nil, ErrNotJSON
	}
	from := space(body, 0)
	return &Node{Body: body, From: from, To: skip(body, from), Index: -1, Open: true}, nil
}

// JSON returns the text of n, a part of the whole.
func (n *Node) JSON() []byte { return n.Body[n.From:n.To] }

// Alone returns n as the root of a tree of its own.
func (n *Node) Alone() *Node {
	return &Node{Body: n.Body, From: n.From, To: n.To, Index: -1, Open: true}
}

// Children returns what is directly below n, in order.
func (n *Node) Children() []*Node {
	if n.parsed {
		return n.kids
	}
	n.parsed = true
	b := n.Body
	switch b[n.From] {
	case '[':
		for i := space(b, n.From+1); b[i] != ']'; {
			end := skip(b, i)
			n.kids = append(n.kids, &Node{Body: b, From: i, To: end, Index: len(n.kids), Parent: n})
			if i = space(b, end); b[i] == ',' {
				i = space(b, i+1)
			}
		}
	case '{':
		for i := space(b, n.From+1); b[i] != '}'; {
			end := skip(b, i)
			key := unquote(b[i:end])
			i = space(b, space(b, end)+1)
			end = skip(b, i)
			n.kids = append(n.kids, &Node{Body: b, From: i, To: end, Key: key, Index: -1, Parent: n})
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

// Kind returns the first byte of n: {, [, ", t, f, n, a digit or a sign.
func (n *Node) Kind() byte { return n.Body[n.From] }

// IsHash reports whether n is a hash.
func (n *Node) IsHash() bool { return n.Kind() == '{' }

// IsList reports whether n is a list.
func (n *Node) IsList() bool { return n.Kind() == '[' }

// Folds reports whether there is anything below n.
func (n *Node) Folds() bool {
	return (n.IsHash() || n.IsList()) && space(n.Body, n.From+1) < n.To-1
}

// Text returns a scalar without quotes, and any other value as it is written.
func (n *Node) Text() string {
	if n.Kind() == '"' {
		return unquote(n.Body[n.From:n.To])
	}
	return string(n.Body[n.From:n.To])
}

// Redacted reports whether n was redacted.
func (n *Node) Redacted() bool {
	return n.Kind() == '"' && strings.HasPrefix(string(n.Body[n.From+1:min(n.From+8, n.To)]), "(masked")
}

// Get returns the child of a hash by its key, or nil.
func (n *Node) Get(key string) *Node {
	if !n.IsHash() {
		return nil
	}
	for _, kid := range n.Children() {
		if kid.Key == key {
			return kid
		}
	}
	return nil
}

// Identity is the name of a resource, "File[/etc/app.conf]"; "" if n is none.
func (n *Node) Identity() string {
	typ, title := n.Get("type"), n.Get("title")
	if typ == nil || title == nil || typ.Kind() != '"' || title.Kind() != '"' {
		return ""
	}
	return typ.Text() + "[" + title.Text() + "]"
}

// Label is what n is called below its parent.
func (n *Node) Label() string {
	switch {
	case n.Index >= 0:
		return "[" + strconv.Itoa(n.Index) + "]"
	case n.Parent == nil:
		return ""
	}
	return n.Key
}

// Summary is n in one line.
func (n *Node) Summary() string {
	switch n.Kind() {
	case '[':
		return fmt.Sprintf("[%d]", len(n.Children()))
	case '{':
		if id := n.Identity(); id != "" {
			return id
		}
		return fmt.Sprintf("{%d}", len(n.Children()))
	case '"':
		if n.Redacted() {
			return n.Text()
		}
		return strconv.Quote(Clip(n.Text()))
	}
	return n.Text()
}

// Clip shortens a text of which one line will be shown.
func Clip(s string) string {
	const enough = 4096
	if len(s) > enough {
		return s[:enough]
	}
	return s
}

// Path names the place of n: ".resources[17].parameters.content".
func (n *Node) Path() string {
	if n.Parent == nil {
		return ""
	}
	return Join(n.Parent.Path(), n)
}

// Join is the path of n when that of what it is in is known.
func Join(path string, n *Node) string {
	if n.Index >= 0 {
		return path + n.Label()
	}
	if strings.ContainsAny(n.Key, ".[] \"") || n.Key == "" {
		return path + "." + strconv.Quote(n.Key)
	}
	return path + "." + n.Key
}

// At returns the deepest node that holds the byte at offset, and opens what is
// above it.
func (n *Node) At(offset int) *Node {
	for {
		var next *Node
		for _, kid := range n.Children() {
			if kid.From <= offset && offset < kid.To {
				next = kid
				break
			}
			// A key belongs to what follows it.
			if offset < kid.From {
				next = kid
				break
			}
		}
		if next == nil {
			return n
		}
		n.Open = true
		if offset < next.From {
			return next
		}
		n = next
	}
}

// A Row is a Node as it is shown, so deep below the root.
type Row struct {
	*Node
	Depth int
}

// maxRows bounds the rows of a tree.
const maxRows = 500_000

// Rows returns the nodes that are not folded away. The root itself is one row.
func (n *Node) Rows() []Row {
	out := []Row{{n, 0}}
	type frame struct {
		kids []*Node
		next int
	}
	var stack []frame
	if n.Open {
		stack = append(stack, frame{n.Children(), 0})
	}
	for len(stack) > 0 && len(out) < maxRows {
		top := &stack[len(stack)-1]
		if top.next == len(top.kids) {
			stack = stack[:len(stack)-1]
			continue
		}
		kid := top.kids[top.next]
		top.next++
		out = append(out, Row{kid, len(stack)})
		if kid.Open && kid.Folds() {
			stack = append(stack, frame{kid.Children(), 0})
		}
	}
	return out
}

// FoldAll opens or closes everything below n, as far as maxRows go.
func (n *Node) FoldAll(open bool) {
	todo, left := []*Node{n}, maxRows
	for len(todo) > 0 && left > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		left--
		if x.Parent != nil {
			x.Open = open
		}
		if open || x.parsed {
			todo = append(todo, x.Children()...)
		}
	}
}

// AppendYAML writes n as YAML. It stops when the text is longer than limit, or
// deeper than is good.
func AppendYAML(b []byte, n *Node, depth, limit int) []byte {
	const deepest = 200
	if len(b) > limit || depth > deepest {
		return b
	}
	pad := strings.Repeat("  ", depth)
	for _, kid := range n.Children() {
		if len(b) > limit {
			return b
		}
		if n.IsList() && kid.Folds() {
			// The dash stands where the first line below it is indented.
			at := len(b) + len(pad)
			if b = AppendYAML(b, kid, depth+1, limit); at < len(b) {
				b[at] = '-'
			}
			continue
		}
		b = append(b, pad...)
		if n.IsList() {
			b = append(b, '-')
		} else {
			b = append(append(b, yamlScalar(kid.Key)...), ':')
		}
		if kid.Folds() {
			b = append(b, '\n')
			b = AppendYAML(b, kid, depth+1, limit)
			continue
		}
		b = append(append(append(b, ' '), YAMLLeaf(kid)...), '\n')
	}
	return b
}

// YAMLLeaf writes a value with nothing below it as YAML would.
func YAMLLeaf(n *Node) string {
	if n.Kind() == '"' {
		return yamlScalar(n.Text())
	}
	return n.Text()
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
