package routes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
)

// maxFile is the size in bytes beyond which a routes file is refused, and
// maxPairs how many entries one mapping may have after merging.
const (
	maxFile  = 4 << 20
	maxPairs = 10_000
)

// A kind is what Ruby makes of a YAML node, as far as routes care.
type kind uint8

const (
	isNil kind = iota
	isFalse
	isString
	isSymbol
	isList
	isMap
	isOther // a number, true
)

// A value is a YAML node as Ruby sees it.
type value struct {
	kind kind
	text string // of scalars; of a symbol without its colon
	node *yaml.Node
}

func (v value) given() bool { return v.kind != isNil && v.kind != isFalse }

func (v value) line() int {
	if v.node == nil {
		return 1
	}
	return v.node.Line
}

// describe names a value of the wrong kind.
func (v value) describe() string {
	switch v.kind {
	case isNil:
		return "empty"
	case isList:
		return "a list"
	case isMap:
		return "a mapping"
	case isString:
		return fmt.Sprintf("the text %q", shorten(v.text))
	case isSymbol:
		return "the symbol :" + shorten(v.text)
	}
	return shorten(v.text)
}

func shorten(s string) string {
	if len(s) > 60 {
		return s[:57] + "…"
	}
	return s
}

// readYAML returns the first document of a routes file.
func readYAML(file string) (value, error) {
	f, err := os.Open(file)
	if err != nil {
		return value{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return value{}, err
	}
	return parseYAML(file, text)
}

// parseYAML reads the text twice: Psych's reader decides what Ruby accepts,
// with Ruby's errors, and yaml.v3 keeps the lines.
func parseYAML(file string, text []byte) (value, error) {
	if len(text) > maxFile {
		return value{}, &Error{File: file, Line: 1, Message: fmt.Sprintf("it is larger than %d bytes", maxFile)}
	}
	doc, err := psych.Decode(text, psych.Limits{})
	if err != nil {
		return value{}, &Error{File: file, Line: lineOf(err), Message: psych.Message(err, file)}
	}
	if f, refused := doc.Refused("Symbol"); refused {
		return value{}, &Error{File: file, Line: f.Line, Message: f.Message(file)}
	}
	var root yaml.Node
	err = yaml.NewDecoder(bytes.NewReader(withoutVersion(text))).Decode(&root)
	if err != nil && !errors.Is(err, io.EOF) {
		return value{}, &Error{File: file, Line: 1, Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	if len(root.Content) == 0 {
		return value{}, nil
	}
	return of(root.Content[0]), nil
}

// withoutVersion makes comments of the directives %YAML before the document:
// yaml.v3 refuses a version that Psych has accepted.
func withoutVersion(text []byte) []byte {
	rest := bytes.TrimPrefix(text, []byte("\ufeff"))
	for len(rest) > 0 && (rest[0] == '%' || rest[0] == '#' || rest[0] == '\n' || rest[0] == '\r') {
		if bytes.HasPrefix(rest, []byte("%YAML")) {
			text = bytes.Clone(text)
			text[len(text)-len(rest)] = '#'
		}
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	return text
}

func lineOf(err error) int {
	var syntax *psych.SyntaxError
	var alias *psych.AliasError
	switch {
	case errors.As(err, &syntax):
		return max(syntax.Line, 1)
	case errors.As(err, &alias):
		return max(alias.Line, 1)
	}
	return 1
}

// of returns what Ruby makes of a node.
func of(n *yaml.Node) value {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	v := value{node: n, text: n.Value}
	switch n.Kind {
	case yaml.MappingNode:
		v.kind = isMap
	case yaml.SequenceNode:
		v.kind = isList
	default:
		v.kind, v.text = scalar(n)
	}
	return v
}

func scalar(n *yaml.Node) (kind, string) {
	v, _ := psych.Resolve(n)
	switch v.Kind() {
	case data.Nil:
		return isNil, ""
	case data.Bool:
		if !v.Bool() {
			return isFalse, n.Value
		}
	case data.String:
		return isString, v.Str()
	case data.Symbol:
		return isSymbol, v.Str()
	}
	return isOther, n.Value
}

// A pair is one entry of a mapping.
type pair struct{ key, value value }

// pairs returns the entries of a mapping in order, with merge keys resolved. Of
// two entries with one key the later value counts, at the earlier position.
func pairs(n *yaml.Node) ([]pair, error) {
	m := merger{at: map[string]int{}}
	err := m.add(n, 0)
	return m.pairs, err
}

// entries returns the entries of a section. Ruby takes a list of pairs for a
// mapping, and any other item of a list for a key without a value.
func (v value) entries() ([]pair, error) {
	if v.kind == isMap {
		return pairs(v.node)
	}
	if v.kind != isList {
		return nil, nil
	}
	var list []pair
	for _, n := range v.node.Content {
		p := pair{key: of(n)}
		if item := p.key; item.kind == isList {
			p.key = value{node: item.node}
			if len(item.node.Content) > 0 {
				p.key = of(item.node.Content[0])
			}
			if len(item.node.Content) > 1 {
				p.value = of(item.node.Content[1])
			}
		}
		list = append(list, p)
	}
	return list, nil
}

type merger struct {
	pairs []pair
	at    map[string]int
	count int
}

func (m *merger) add(n *yaml.Node, depth int) error {
	if depth > 20 {
		return fmt.Errorf("line %d: mappings are merged into each other too deeply", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if m.count++; m.count > maxPairs {
			return fmt.Errorf("line %d: a mapping has more than %d entries", n.Line, maxPairs)
		}
		key, v := of(n.Content[i]), of(n.Content[i+1])
		if key.kind == isString && key.text == "<<" && n.Content[i].Style == 0 && (v.kind == isMap || v.kind == isList) {
			if err := m.merge(v, depth+1); err != nil {
				return err
			}
			continue
		}
		name := strconv.Itoa(int(key.kind)) + key.text
		if key.kind == isMap || key.kind == isList {
			name = fmt.Sprintf("%p", key.node)
		}
		if at, ok := m.at[name]; ok {
			m.pairs[at] = pair{key, v}
			continue
		}
		m.at[name] = len(m.pairs)
		m.pairs = append(m.pairs, pair{key, v})
	}
	return nil
}

// merge adds what "<<" names. Of a list, the first mapping counts most.
func (m *merger) merge(v value, depth int) error {
	if v.kind == isMap {
		return m.add(v.node, depth)
	}
	for i := len(v.node.Content) - 1; i >= 0; i-- {
		if item := of(v.node.Content[i]); item.kind == isMap {
			if err := m.add(item.node, depth); err != nil {
				return err
			}
		}
	}
	return nil
}
