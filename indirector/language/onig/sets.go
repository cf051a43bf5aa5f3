package onig

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A set is a set of characters: ranges, sorted and apart from each other.
type set []span

type span struct{ from, to rune }

// all are the characters there are.
var all = set{{0, unicode.MaxRune}}

func one(r rune) set { return set{{r, r}} }

// of returns the set of the pairs of a text, as "azAZ__".
func of(pairs string) set {
	var s set
	runes := []rune(pairs)
	for i := 0; i+1 < len(runes); i += 2 {
		s = append(s, span{runes[i], runes[i+1]})
	}
	return s.sorted()
}

// sorted returns a set of ranges in any order.
func (s set) sorted() set {
	slices.SortFunc(s, func(a, b span) int { return int(a.from) - int(b.from) })
	var out set
	for _, r := range s {
		if n := len(out); n > 0 && r.from <= out[n-1].to+1 {
			out[n-1].to = max(out[n-1].to, r.to)
			continue
		}
		out = append(out, r)
	}
	return out
}

func union(sets ...set) set { return set(slices.Concat(sets...)).sorted() }

// not returns the characters that a set lacks.
func (s set) not() set {
	var out set
	next := rune(0)
	for _, r := range s {
		if r.from > next {
			out = append(out, span{next, r.from - 1})
		}
		next = r.to + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, span{next, unicode.MaxRune})
	}
	return out
}

func (s set) and(o set) set { return s.minus(o.not()) }

// minus returns the characters of a set that another lacks.
func (s set) minus(o set) set {
	var out set
	for _, r := range s {
		for len(o) > 0 && o[0].to < r.from {
			o = o[1:]
		}
		for _, gap := range o {
			if gap.from > r.to {
				break
			}
			if gap.from > r.from {
				out = append(out, span{r.from, gap.from - 1})
			}
			r.from = gap.to + 1
		}
		if r.from <= r.to {
			out = append(out, r)
		}
	}
	return out
}

// within reports whether another set has all that a set has.
func (s set) within(o set) bool {
	for _, r := range s {
		for len(o) > 0 && o[0].to < r.to {
			o = o[1:]
		}
		if len(o) == 0 || r.from < o[0].from {
			return false
		}
	}
	return true
}

// folded adds the letters that differ from those of a set in their case alone.
func (s set) folded() set {
	out, size := slices.Clone(s), rune(0)
	for _, r := range s {
		size += r.to - r.from + 1
	}
	among := cased()
	if size < 100 { // as a letter: fewer than there are with another case
		among = s
	}
	for _, r := range among {
		for c := r.from; c <= r.to; c++ {
			if s.has(c) {
				for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
					out = append(out, span{f, f})
				}
			}
		}
	}
	return out.sorted()
}

func (s set) has(c rune) bool {
	_, ok := slices.BinarySearchFunc(s, c, func(r span, c rune) int {
		switch {
		case r.to < c:
			return -1
		case r.from > c:
			return 1
		}
		return 0
	})
	return ok
}

// cased are the characters that have another case.
var cased = sync.OnceValue(func() set {
	var out set
	for _, r := range ofTables(unicode.L, unicode.M, unicode.Nl, unicode.So) {
		for c := r.from; c <= r.to; c++ {
			if unicode.SimpleFold(c) != c {
				out = append(out, span{c, c})
			}
		}
	}
	return out.sorted()
})

func ofTables(tables ...*unicode.RangeTable) set {
	var out set
	for _, t := range tables {
		for _, r := range t.R16 {
			out = out.stepped(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			out = out.stepped(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return out.sorted()
}

func (s set) stepped(from, to, step rune) set {
	if step == 1 {
		return append(s, span{from, to})
	}
	for c := from; c <= to; c += step {
		s = append(s, span{c, c})
	}
	return s
}

// Classes of ASCII, which is all that \d, \s, \w and \h mean in Ruby.
var (
	digits = of("09")
	blanks = of("\t\r  ")
	words  = of("09AZ__az")
	hexes  = of("09AFaf")
)

// posix are the classes within brackets and the properties of the same names, which are
// of Unicode.
var posix = sync.OnceValue(func() map[string]set {
	alpha := ofTables(unicode.L, unicode.Nl, unicode.Other_Alphabetic)
	space := ofTables(unicode.White_Space)
	cntrl := ofTables(unicode.Cc)
	graph := union(space, cntrl, ofTables(unicode.Cn, unicode.Cs)).not()
	return map[string]set{
		"alpha": alpha, "digit": ofTables(unicode.Nd), "alnum": union(alpha, ofTables(unicode.Nd)), "blank": union(of("\t\t"), ofTables(unicode.Zs)),
		"upper": ofTables(unicode.Lu, unicode.Other_Uppercase), "lower": ofTables(unicode.Ll, unicode.Other_Lowercase), "space": space,
		"cntrl": cntrl, "punct": union(ofTables(unicode.P), of("$$++<>^^``||~~")), "xdigit": hexes, "ascii": {{0, 127}}, "graph": graph,
		"print": union(graph, ofTables(unicode.Zs)), "word": union(alpha, ofTables(unicode.M, unicode.Nd, unicode.Pc)),
	}
})

// A category is one of Unicode, of two letters.
type category struct {
	name string
	of   set
}

// categories are those that no other has, by their names.
var categories = sync.OnceValue(func() []category {
	var out []category
	for _, name := range slices.Sorted(maps.Keys(unicode.Categories)) {
		if len(name) == 2 && name != "LC" && name != "Cn" && name != "Cs" {
			out = append(out, category{name, ofTables(unicode.Categories[name])})
		}
	}
	return out
})

// longNames are categories by their other names, as they are compared.
var longNames = map[string]string{
	"letter": "l", "lowercaseletter": "ll", "uppercaseletter": "lu", "mark": "m", "number": "n", "punctuation": "p", "symbol": "s", "separator": "z",
	"control": "cc", "other": "c",
}

// tables are categories and scripts by their names in small letters.
var tables = sync.OnceValue(func() map[string]*unicode.RangeTable {
	out := map[string]*unicode.RangeTable{}
	for _, all := range []map[string]*unicode.RangeTable{unicode.Scripts, unicode.Categories} {
		for name, t := range all {
			out[plainName(name)] = t
		}
	}
	return out
})

func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(name))
}

// property returns the set of \p{Name}; it is false for one that is not known here.
func property(name string) (set, bool) {
	name = plainName(name)
	if long, ok := longNames[name]; ok {
		name = long
	}
	switch name {
	case "any":
		return all, true
	case "assigned":
		return ofTables(unicode.Cn).not(), true
	}
	if s, ok := posix()[name]; ok {
		return s, true
	}
	t, ok := tables()[name]
	if !ok {
		return nil, false
	}
	return ofTables(t), true
}
