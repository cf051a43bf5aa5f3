package onig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// maxWritten is the largest size of an expression that is written out with the groups
// that it calls, in bytes.
const maxWritten = 1 << 20

// A dialect is the syntax of an engine, where it is not that of both.
type dialect struct {
	anchors map[anchor]string
	numbers bool // groups are written with their numbers
	escape  func(r rune) string
	none    string // what matches nothing
}

// forward is the syntax of Go. Places where \b, ^ and \Z are not what they are in Ruby are
// looked for by the other engine.
var forward = dialect{
	anchors: map[anchor]string{'^': `(?m:^)`, '$': `(?m:$)`, 'A': `\A`, 'z': `\z`, 'Z': `\z`, 'b': `\b`, 'B': `\B`},
	escape:  func(r rune) string { return fmt.Sprintf(`\x{%x}`, r) },
	none:    `[^\x00-\x{10FFFF}]`,
}

// backward is the syntax of regexp2.
var backward = sync.OnceValue(func() dialect {
	d := dialect{
		numbers: true,
		anchors: map[anchor]string{'^': `(?:\A|(?<=\n)(?!\z))`, '$': `(?m:$)`, 'A': `\A`, 'z': `\z`, 'Z': `\Z`, 'G': `\G`},
		escape: func(r rune) string {
			if r > 0xffff {
				return string(r)
			}
			return fmt.Sprintf(`\u%04x`, r)
		},
		none: `(?!)`,
	}
	w := writer{dialect: d}
	w.chars(posix()["word"])
	word := w.b.String()
	d.anchors['b'] = `(?:(?<=` + word + `)(?!` + word + `)|(?<!` + word + `)(?=` + word + `))`
	d.anchors['B'] = `(?:(?<=` + word + `)(?=` + word + `)|(?<!` + word + `)(?!` + word + `))`
	return d
})

// A writer writes a tree in the syntax of an engine.
type writer struct {
	dialect

	b    strings.Builder
	keep int // the number of the group that \K becomes
	err  error
}

func (d dialect) write(tree node, keep int) (string, error) {
	w := writer{dialect: d, keep: keep}
	w.node(tree)
	return w.b.String(), w.err
}

func (w *writer) node(n node) {
	if w.b.Len() > maxWritten {
		w.err = fmt.Errorf("groups that are called make it longer than %d bytes: %w", maxWritten, errors.ErrUnsupported)
	}
	if w.err != nil {
		return
	}
	switch n := n.(type) {
	case sequence:
		for _, p := range n {
			w.node(p)
		}
	case choice:
		w.group("(?:", func() {
			for i, p := range n {
				if i > 0 {
					w.b.WriteByte('|')
				}
				w.node(p)
			}
		})
	case chars:
		w.chars(n.of)
	case anchor:
		w.b.WriteString(w.anchors[n])
	case keep:
		w.b.WriteString("(?<" + strconv.Itoa(w.keep) + ">)")
	case *group:
		w.capture(n)
	case repeat:
		w.repeat(n)
	case look:
		w.group(lookSigns[n.behind][n.negative], func() { w.node(n.body) })
	case atomic:
		w.group("(?>", func() { w.node(n.body) })
	case *reference:
		w.reference(n)
	case condition:
		w.group("(?("+strconv.Itoa(n.group)+")", func() {
			w.node(n.yes)
			w.b.WriteByte('|')
			w.node(n.no)
		})
	case *call:
		w.node(n.body)
	default:
		panic(fmt.Sprintf("onig: a node of type %T", n))
	}
}

// lookSigns begin what looks behind or ahead, for what is there or is not.
var lookSigns = map[bool]map[bool]string{false: {false: "(?=", true: "(?!"}, true: {false: "(?<=", true: "(?<!"}}

func (w *writer) group(begin string, inside func()) {
	w.b.WriteString(begin)
	inside()
	w.b.WriteByte(')')
}

func (w *writer) capture(g *group) {
	begin := "("
	if w.numbers {
		begin = "(?<" + strconv.Itoa(g.number) + ">"
	}
	w.group(begin, func() { w.node(g.body) })
}

func (w *writer) repeat(n repeat) {
	if n.possessive {
		n.possessive = false
		w.group("(?>", func() { w.repeat(n) })
		return
	}
	w.group("(?:", func() { w.node(n.body) })
	switch {
	case n.most < 0:
		fmt.Fprintf(&w.b, "{%d,}", n.least)
	default:
		fmt.Fprintf(&w.b, "{%d,%d}", n.least, n.most)
	}
	if n.lazy {
		w.b.WriteByte('?')
	}
}

func (w *writer) reference(n *reference) {
	begin := "(?>"
	if n.fold {
		begin = "(?>(?i)"
	}
	w.group(begin, func() {
		for i, g := range n.groups {
			if i > 0 {
				w.b.WriteByte('|')
			}
			w.b.WriteString(`\k<` + strconv.Itoa(g) + ">")
		}
	})
}

func (c *call) label() string {
	if c.name != "" {
		return c.name
	}
	return strconv.Itoa(c.number)
}

// chars writes a set as a class, in the shorter of two ways.
func (w *writer) chars(s set) {
	switch others := s.not(); {
	case len(s) == 0:
		w.b.WriteString(w.none)
	case len(others) == 0:
		w.b.WriteString(`[\s\S]`)
	case len(s) == 1 && s[0].from == s[0].to:
		w.char(s[0].from)
	case len(others) < len(s):
		w.class("[^", others)
	default:
		w.class("[", s)
	}
}

// fewRanges is how many ranges are written without a look for categories among them.
// With each range that is written, regexp2 sorts those before it.
const fewRanges = 30

func (w *writer) class(begin string, s set) {
	w.b.WriteString(begin)
	if len(s) > fewRanges {
		for _, c := range categories() {
			if c.of.within(s) {
				w.b.WriteString(`\p{` + c.name + `}`)
				s = s.minus(c.of)
			}
		}
	}
	for _, r := range s {
		w.char(r.from)
		if r.to > r.from {
			w.b.WriteByte('-')
			w.char(r.to)
		}
	}
	w.b.WriteByte(']')
}

// char writes letters and digits of ASCII as they are, all else escaped.
func (w *writer) char(r rune) {
	if r <= unicode.MaxASCII && words.has(r) {
		w.b.WriteRune(r)
		return
	}
	w.b.WriteString(w.escape(r))
}
