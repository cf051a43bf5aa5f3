package routes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
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

// describe names what was found where something else belongs.
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
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return value{}, err
	}
	return parseYAML(file, data)
}

func parseYAML(file string, data []byte) (value, error) {
	if len(data) > maxFile {
		return value{}, &Error{File: file, Line: 1, Message: fmt.Sprintf("it is larger than %d bytes", maxFile)}
	}
	var doc yaml.Node
	err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&doc)
	if errors.Is(err, io.EOF) {
		return value{}, nil
	}
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "yaml: ")
		return value{}, &Error{File: file, Line: lineOf(text), Message: fmt.Sprintf("(%s): %s", file, text)}
	}
	if class, node := foreign(&doc); class != "" {
		return value{}, &Error{File: file, Line: node.Line, Message: fmt.Sprintf("(%s): Tried to load unspecified class: %s", file, class)}
	}
	if len(doc.Content) == 0 {
		return value{}, nil
	}
	return of(doc.Content[0]), nil
}

var parserLine = regexp.MustCompile(`^line (\d+): `)

func lineOf(text string) int {
	if m := parserLine.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 1
}

// foreign returns the first class that Puppet refuses to load, and where.
// Symbols are the only class beyond plain data that a routes file may hold.
func foreign(n *yaml.Node) (string, *yaml.Node) {
	if class := classOf(n); class != "" {
		return class, n
	}
	for _, c := range n.Content {
		if class, at := foreign(c); class != "" {
			return class, at
		}
	}
	return "", nil
}

var dateOnly = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`)

func classOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" && dateOnly.MatchString(n.Value):
		return "Date"
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp":
		return "Time"
	case n.Tag == "!!set":
		return "Psych::Set"
	case !strings.HasPrefix(n.Tag, "!ruby/"):
		return ""
	}
	name := strings.TrimPrefix(n.Tag, "!ruby/")
	if builtin, ok := map[string]string{"regexp": "Regexp", "range": "Range", "class": "Class", "module": "Module"}[name]; ok {
		return builtin
	}
	_, class, _ := strings.Cut(name, ":")
	return class
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
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch {
	case n.Tag == "!ruby/sym" || n.Tag == "!ruby/symbol":
		return isSymbol, n.Value
	case quoted || n.Style&yaml.TaggedStyle != 0 && n.ShortTag() == "!!str":
		return isString, n.Value
	case len(n.Value) > 1 && n.Value[0] == ':':
		return isSymbol, strings.Trim(n.Value[1:], `"'`)
	}
	switch strings.ToLower(n.Value) {
	case "", "~", "null":
		return isNil, ""
	case "no", "false", "off":
		return isFalse, n.Value
	case "yes", "true", "on":
		return isOther, n.Value
	}
	if tag := n.ShortTag(); tag == "!!int" || tag == "!!float" {
		return isOther, n.Value
	}
	return isString, n.Value
}

// A pair is one entry of a mapping.
type pair struct{ key, value value }

// pairs returns the entries of a mapping in order, with merge keys resolved. Of
// two entries with one key the later counts, in the place of the earlier.
func pairs(n *yaml.Node) ([]pair, error) {
	m := merger{at: map[string]int{}}
	err := m.add(n, 0)
	return m.pairs, err
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
