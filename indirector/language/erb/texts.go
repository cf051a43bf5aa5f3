package erb

import (
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/onig"
)

// blanks are what Ruby strips.
const blanks = "\x00\t\n\v\f\r "

// textMethods are those of strings.
func textMethods() map[string]method {
	out := map[string]method{
		"+": func(c *send) (value, error) {
			s, err := c.text(0)
			if err != nil {
				return nil, err
			}
			return c.made(str(own(c) + s))
		},
		"*": func(c *send) (value, error) {
			n, err := c.integer(0, 0)
			if err == nil && n < 0 {
				err = fail("ArgumentError", "argument must be non-negative")
			}
			if err == nil {
				err = c.r.spendTimes(len(own(c))+1, n)
			}
			if err != nil {
				return nil, err
			}
			return str(strings.Repeat(own(c), n)), nil
		},
		"%": func(c *send) (value, error) {
			args := []value{c.self, c.arg(0)}
			if l, ok := c.arg(0).(*list); ok {
				args = append([]value{c.self}, l.l...)
			}
			return formatted(c.r, args, nil)
		},
		"<<":     appended,
		"concat": appended,
		"=~": func(c *send) (value, error) {
			switch p := c.arg(0).(type) {
			case *pattern:
				return c.r.place(p, c.self)
			case *text:
				return nil, fail("TypeError", "wrong argument type String (expected Regexp)")
			}
			return nil, nil
		},
		"match": func(c *send) (value, error) {
			p, err := c.pattern(0)
			if err != nil {
				return nil, err
			}
			return c.r.match(p, c.self)
		},
		"match?": func(c *send) (value, error) {
			p, err := c.pattern(0)
			if err != nil {
				return nil, err
			}
			return c.r.matches(p, own(c))
		},
		"[]": textAt, "slice": textAt,
		"length":   func(c *send) (value, error) { return int64(utf8.RuneCountInString(own(c))), nil },
		"bytesize": func(c *send) (value, error) { return int64(len(own(c))), nil },
		"empty?":   func(c *send) (value, error) { return own(c) == "", nil },
		"include?": func(c *send) (value, error) {
			s, err := c.text(0)
			return err == nil && strings.Contains(own(c), s), err
		},
		"start_with?": affixed(strings.HasPrefix),
		"end_with?":   affixed(strings.HasSuffix),
		"index":       indexOf,
		"split":       splitText,
		"sub":         substitute(false, false), "gsub": substitute(true, false),
		"sub!": substitute(false, true), "gsub!": substitute(true, true),
		"tr": translate,
		"delete": func(c *send) (value, error) {
			in, err := c.charset()
			if err != nil {
				return nil, err
			}
			return str(strings.Map(func(r rune) rune {
				if in(r) {
					return -1
				}
				return r
			}, own(c))), err
		},
		"count": func(c *send) (value, error) {
			in, err := c.charset()
			if err != nil {
				return nil, err
			}
			n := int64(0)
			for _, r := range own(c) {
				if in(r) {
					n++
				}
			}
			return n, err
		},
		"squeeze": squeeze,
		"to_i": func(c *send) (value, error) {
			base, err := c.integer(0, 10)
			if err != nil {
				return nil, err
			}
			return c.r.integerOf(unprefixed(own(c), base), base)
		},
		"hex": func(c *send) (value, error) {
			return c.r.integerOf(strings.TrimPrefix(strings.ToLower(own(c)), "0x"), 16)
		},
		"to_f":   func(c *send) (value, error) { return fn.LeadingFloat(own(c)), nil },
		"to_sym": func(c *send) (value, error) { return symbol(own(c)), nil },
		"intern": func(c *send) (value, error) { return symbol(own(c)), nil },
		"to_str": func(c *send) (value, error) { return c.self, nil },
		"to_s":   func(c *send) (value, error) { return c.self, nil },
		"ord": func(c *send) (value, error) {
			r, size := utf8.DecodeRuneInString(own(c))
			if size == 0 {
				return nil, fail("ArgumentError", "empty string")
			}
			return int64(r), nil
		},
		"lines":     func(c *send) (value, error) { return c.each(lines(own(c)), "each_line") },
		"each_line": func(c *send) (value, error) { return c.each(lines(own(c)), "each_line") },
		"chars":     func(c *send) (value, error) { return c.made(&list{l: characters(own(c))}) },
		"each_char": func(c *send) (value, error) { return c.each(characters(own(c)), "each_char") },
		"bytes": func(c *send) (value, error) {
			out := &list{}
			for _, b := range []byte(own(c)) {
				out.l = append(out.l, int64(b))
			}
			return c.made(out)
		},
		"ljust":  justified(func(missing int) (int, int) { return 0, missing }),
		"rjust":  justified(func(missing int) (int, int) { return missing, 0 }),
		"center": justified(func(missing int) (int, int) { return missing / 2, missing - missing/2 }),
		"scan":   scan,
		"casecmp": func(c *send) (value, error) {
			s, err := c.text(0)
			if err != nil {
				return nil, nil
			}
			return int64(strings.Compare(strings.ToLower(own(c)), strings.ToLower(s))), nil
		},
		"casecmp?": func(c *send) (value, error) {
			s, err := c.text(0)
			if err != nil {
				return nil, nil
			}
			return strings.EqualFold(own(c), s), nil
		},
		"delete_prefix": func(c *send) (value, error) { s, err := c.text(0); return str(strings.TrimPrefix(own(c), s)), err },
		"delete_suffix": func(c *send) (value, error) { s, err := c.text(0); return str(strings.TrimSuffix(own(c), s)), err },
		"partition": func(c *send) (value, error) {
			s, err := c.text(0)
			before, after, ok := strings.Cut(own(c), s)
			if !ok {
				s = ""
			}
			return &list{l: []value{str(before), str(s), str(after)}}, err
		},
		"rpartition": rpartition, "insert": inserted,
		"upto": func(c *send) (value, error) {
			to, err := c.text(0)
			if err != nil {
				return nil, err
			}
			l, err := c.r.elements(&span{c.self, str(to), false})
			if err != nil {
				return nil, err
			}
			return c.each(l, "upto")
		},
		"force_encoding": func(c *send) (value, error) { return c.self, nil },
		"encode":         func(c *send) (value, error) { return c.self, nil },
		"replace":        func(c *send) (value, error) { s, err := c.text(0); return c.change(s, err) },
		"prepend":        func(c *send) (value, error) { s, err := c.text(0); return c.change(s+own(c), err) },
		"unpack":         func(c *send) (value, error) { return nil, c.r.unsupported("the method unpack of String") },
	}
	out["size"] = out["length"]
	maps.Copy(out, comparing())
	for name, change := range map[string]func(string) string{
		"upcase": fn.Upcase, "downcase": strings.ToLower, "capitalize": fn.Capitalize, "swapcase": swapcase, "reverse": reverse,
		"strip":  func(s string) string { return strings.Trim(s, blanks) },
		"lstrip": func(s string) string { return strings.TrimLeft(s, blanks) },
		"rstrip": func(s string) string { return strings.TrimRight(s, blanks) },
		"chomp":  fn.Chomp, "chop": fn.Chop, "succ": fn.Successor, "next": fn.Successor,
		"dump": func(s string) string { return inspect(str(s)) },
	} {
		out[name] = func(c *send) (value, error) {
			if name == "chomp" && len(c.args) > 0 {
				s, err := c.text(0)
				return str(strings.TrimSuffix(own(c), s)), err
			}
			return c.made(str(change(own(c))))
		}
		out[name+"!"] = func(c *send) (value, error) {
			old := own(c)
			v, err := c.change(change(old), nil)
			if err == nil && toS(v) == old {
				return nil, nil
			}
			return v, err
		}
	}
	return out
}

func own(c *send) string { return c.self.(*text).s }

// change gives the string itself another text.
func (c *send) change(s string, err error) (value, error) {
	if err != nil {
		return nil, err
	}
	t := c.self.(*text)
	if t.frozen {
		return nil, fail("FrozenError", "can't modify frozen String: %s", inspect(t))
	}
	t.s = s
	return t, c.r.spend(len(s))
}

func appended(c *send) (value, error) {
	if n, ok := c.arg(0).(int64); ok {
		return c.change(own(c)+string(rune(n)), nil)
	}
	s, err := c.text(0)
	return c.change(own(c)+s, err)
}

// pattern returns an argument as a regular expression.
func (c *send) pattern(i int) (*pattern, error) {
	if p, ok := c.arg(i).(*pattern); ok {
		return p, nil
	}
	s, err := c.text(i)
	if err != nil {
		return nil, fail("TypeError", "wrong argument type %s (expected Regexp)", ofType(c.arg(i)))
	}
	v, err := c.r.pattern(s, 0)
	if err != nil {
		return nil, err
	}
	return v.(*pattern), nil
}

// bounds returns the part of so many elements that a range or a place and a length mean.
func (c *send) bounds(size int) (from, to int, ok bool, err error) {
	var length int
	if r, isRange := c.arg(0).(*span); isRange {
		ends := &send{r: c.r, args: []value{r.from, r.to}}
		if r.from != nil {
			if from, err = ends.integer(0, 0); err != nil {
				return 0, 0, false, err
			}
		}
		to = size - 1
		if r.to != nil {
			if to, err = ends.integer(1, 0); err != nil {
				return 0, 0, false, err
			}
			if to < 0 {
				to += size
			}
			if r.exclusive {
				to--
			}
		}
		if from < 0 {
			from += size
		}
		length = to + 1 - from
	} else {
		if from, err = c.integer(0, 0); err != nil {
			return 0, 0, false, err
		}
		if length, err = c.integer(1, 1); err != nil {
			return 0, 0, false, err
		}
		if from < 0 {
			from += size
		}
		if length < 0 {
			return 0, 0, false, nil
		}
	}
	if from < 0 || from > size {
		return 0, 0, false, nil
	}
	return from, min(from+max(length, 0), size), true, nil
}

func textAt(c *send) (value, error) {
	switch k := c.arg(0).(type) {
	case *text:
		if strings.Contains(own(c), k.s) {
			return str(k.s), nil
		}
		return nil, nil
	case *pattern:
		m, err := c.r.match(k, c.self)
		if m == nil || err != nil {
			return nil, err
		}
		return c.r.call(m, "[]", []value{argOr(c.args, 1, int64(0))}, nil)
	}
	runes := []rune(own(c))
	from, to, ok, err := c.bounds(len(runes))
	if !ok || err != nil {
		return nil, err
	}
	if _, isRange := c.arg(0).(*span); len(c.args) == 1 && !isRange && from >= len(runes) {
		return nil, nil
	}
	return str(string(runes[from:to])), nil
}

func argOr(args []value, i int, usual value) value {
	if i < len(args) {
		return args[i]
	}
	return usual
}

func affixed(has func(s, affix string) bool) method {
	return func(c *send) (value, error) {
		for i := range c.args {
			if p, ok := c.args[i].(*pattern); ok {
				at, err := p.re.Find(own(c))
				if err != nil {
					return nil, err
				}
				if at != nil && at[0] == 0 {
					return true, nil
				}
				continue
			}
			s, err := c.text(i)
			if err != nil {
				return nil, err
			}
			if has(own(c), s) {
				return true, nil
			}
		}
		return false, nil
	}
}

func indexOf(c *send) (value, error) {
	if p, ok := c.arg(0).(*pattern); ok && len(c.args) == 1 {
		return c.r.place(p, c.self)
	}
	s, err := c.text(0)
	if err != nil {
		return nil, err
	}
	from, err := c.integer(1, 0)
	runes := []rune(own(c))
	if err != nil || from < 0 || from > len(runes) {
		return nil, err
	}
	i := strings.Index(string(runes[from:]), s)
	if i < 0 {
		return nil, nil
	}
	return int64(from + utf8.RuneCountInString(string(runes[from:])[:i])), nil
}

func splitText(c *send) (value, error) {
	s := own(c)
	limit, err := c.integer(1, 0)
	if err != nil {
		return nil, err
	}
	var parts []string
	switch sep := c.arg(0).(type) {
	case *pattern:
		var err error
		if parts, err = splitBy(sep, s, limit); err != nil {
			return nil, err
		}
	case nil, *text:
		separator := " "
		if t, ok := sep.(*text); ok {
			separator = t.s
		}
		switch {
		case separator == " " && limit > 0:
			parts = fieldsN(s, limit)
		case separator == " ":
			parts = strings.Fields(s)
		case limit > 0:
			parts = strings.SplitN(s, separator, limit)
		default:
			parts = strings.Split(s, separator)
		}
	default:
		return nil, fail("TypeError", "wrong argument type %s (expected Regexp)", ofType(sep))
	}
	if limit == 0 {
		for len(parts) > 0 && parts[len(parts)-1] == "" {
			parts = parts[:len(parts)-1]
		}
	}
	out := &list{}
	for _, p := range parts {
		if s == "" {
			break
		}
		out.l = append(out.l, str(p))
	}
	return c.made(out)
}

// fieldsN splits at blank space into so many parts.
func fieldsN(s string, limit int) []string {
	var out []string
	for s = strings.TrimLeft(s, blanks); s != "" && len(out) < limit-1; s = strings.TrimLeft(s, blanks) {
		end := strings.IndexAny(s, blanks)
		if end < 0 {
			break
		}
		out, s = append(out, s[:end]), s[end:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

// splitBy splits at matches. Groups are parts, too; an empty match is between two
// characters.
func splitBy(p *pattern, s string, limit int) ([]string, error) {
	var out []string
	if s == "" {
		return nil, nil
	}
	all, err := p.re.FindAll(s, -1)
	if err != nil {
		return nil, err
	}
	from := 0
	for _, at := range all {
		if limit > 0 && len(out) >= limit-1 {
			break
		}
		if at[1] == at[0] {
			if at[0] == 0 || at[0] >= len(s) {
				continue
			}
		}
		out = append(out, s[from:at[0]])
		for i := 2; i < len(at); i += 2 {
			if at[i] >= 0 {
				out = append(out, s[at[i]:at[i+1]])
			}
		}
		from = at[1]
	}
	return append(out, s[from:]), nil
}

// substitute is sub and gsub: with a text, a hash or a block.
func substitute(all, inPlace bool) method {
	return func(c *send) (value, error) {
		if len(c.args) < 2 && c.block == nil {
			return nil, c.r.unsupported("gsub without a replacement")
		}
		p, isPattern := c.arg(0).(*pattern)
		if !isPattern {
			s, err := c.text(0)
			if err != nil {
				return nil, fail("TypeError", "wrong argument type %s (expected Regexp)", ofType(c.arg(0)))
			}
			v, err := c.r.pattern(onig.Escape(s), 0)
			if err != nil {
				return nil, err
			}
			p = v.(*pattern)
		}
		count := 1
		if all {
			count = -1
		}
		s, from := own(c), 0
		var b strings.Builder
		matches, err := p.re.FindAll(s, count)
		if err != nil {
			return nil, err
		}
		for _, at := range matches {
			b.WriteString(s[from:at[0]])
			m := &found{s, at, p.re}
			c.r.last = m
			by, err := c.replacement(m)
			if err == nil {
				err = c.r.spend(len(by))
			}
			if err != nil {
				return nil, err
			}
			b.WriteString(by)
			from = at[1]
		}
		b.WriteString(s[from:])
		if !inPlace {
			return c.made(str(b.String()))
		}
		v, err := c.change(b.String(), nil)
		if err == nil && len(matches) == 0 {
			return nil, nil
		}
		return v, err
	}
}

func (c *send) replacement(m *found) (string, error) {
	if len(c.args) < 2 {
		v, err := c.yield(m.group(0))
		return toS(v), err
	}
	if t, ok := c.args[1].(*table); ok {
		v, err := c.r.call(t, "[]", []value{m.group(0)}, nil)
		return toS(v), err
	}
	s, err := c.text(1)
	if err != nil {
		return "", err
	}
	return expand(s, m), nil
}

// expand puts groups where a replacement names them: \1, \0, \k<name>.
func expand(s string, m *found) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch ch := s[i]; {
		case ch >= '0' && ch <= '9':
			if int(ch-'0') < len(m.at)/2 {
				b.WriteString(toS(m.group(int(ch - '0'))))
			}
		case ch == '&':
			b.WriteString(toS(m.group(0)))
		case ch == '\\':
			b.WriteByte('\\')
		case ch == 'k' && strings.HasPrefix(s[i+1:], "<") && strings.Contains(s[i+1:], ">"):
			name, _, _ := strings.Cut(s[i+2:], ">")
			if at := m.re.Named(name, m.at); at > 0 {
				b.WriteString(toS(m.group(at)))
			}
			i += len(name) + 2
		default:
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String()
}

// members returns the characters of a specification such as "a-z", and whether it means
// all others.
func members(spec string) (runes []rune, others bool) {
	if len(spec) > 1 && spec[0] == '^' {
		spec, others = spec[1:], true
	}
	all := []rune(spec)
	for i := 0; i < len(all); i++ {
		if all[i] == '\\' && i+1 < len(all) {
			i++
		}
		if i+2 < len(all) && all[i+1] == '-' && all[i+2] >= all[i] && all[i+2]-all[i] < 0x1000 {
			for r := all[i]; r <= all[i+2]; r++ {
				runes = append(runes, r)
			}
			i += 2
			continue
		}
		runes = append(runes, all[i])
	}
	return runes, others
}

func (c *send) charset() (func(rune) bool, error) {
	if len(c.args) == 0 {
		return nil, fail("ArgumentError", "wrong number of arguments (given 0, expected 1+)")
	}
	s, err := c.text(0)
	runes, others := members(s)
	return func(r rune) bool { return slices.Contains(runes, r) != others }, err
}

func squeeze(c *send) (value, error) {
	in := func(rune) bool { return true }
	var err error
	if len(c.args) > 0 {
		in, err = c.charset()
	}
	var b strings.Builder
	last := rune(-1)
	for _, r := range own(c) {
		if r != last || !in(r) {
			b.WriteRune(r)
		}
		last = r
	}
	return str(b.String()), err
}

func translate(c *send) (value, error) {
	from, err := c.text(0)
	if err != nil {
		return nil, err
	}
	to, err := c.text(1)
	if err != nil {
		return nil, err
	}
	olds, others := members(from)
	news, _ := members(to)
	return str(strings.Map(func(r rune) rune {
		i := slices.Index(olds, r)
		if others {
			if i >= 0 {
				return r
			}
			i = len(news) - 1
		} else if i < 0 {
			return r
		}
		if len(news) == 0 {
			return -1
		}
		return news[min(i, len(news)-1)]
	}, own(c))), nil
}

// maxDigits is how many an integer may have that is read.
const maxDigits = maxBits / 4

// integerOf reads the number that a text begins with.
func rpartition(c *send) (value, error) {
	s, err := c.text(0)
	at := strings.LastIndex(own(c), s)
	if at < 0 || err != nil {
		return &list{l: []value{str(""), str(""), str(own(c))}}, err
	}
	return &list{l: []value{str(own(c)[:at]), str(s), str(own(c)[at+len(s):])}}, nil
}

func inserted(c *send) (value, error) {
	at, err := c.integer(0, 0)
	if err != nil {
		return nil, err
	}
	added, err := c.text(1)
	s := []rune(own(c))
	if at < 0 {
		at += len(s) + 1
	}
	if err == nil && (at < 0 || at > len(s)) {
		err = fail("IndexError", "index %d out of string", at)
	}
	if err != nil {
		return nil, err
	}
	return c.change(string(s[:at])+added+string(s[at:]), nil)
}

// radixPrefixes are what may stand before the digits of a radix.
var radixPrefixes = map[int]string{2: "0b", 8: "0o", 16: "0x"}

// unprefixed returns digits without what stands before them for the radix.
func unprefixed(s string, base int) string {
	s = strings.TrimLeft(s, blanks)
	sign := s[:len(s)-len(strings.TrimLeft(s, "+-"))]
	rest, ok := strings.CutPrefix(strings.ToLower(s[len(sign):]), radixPrefixes[base])
	if !ok || radixPrefixes[base] == "" || len(sign) > 1 {
		return s
	}
	return sign + rest
}

func (r *run) integerOf(s string, base int) (value, error) {
	switch {
	case base == 0:
		return nil, r.unsupported("a radix that the text has")
	case base < 2 || base > 36:
		return nil, fail("ArgumentError", "invalid radix %d", base)
	}
	s = strings.TrimLeft(s, blanks)
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	end := 0
	for end < len(s) && (s[end] == '_' && end > 0 || digit(s[end]) < base) {
		end++
	}
	if end > maxDigits {
		return nil, r.unsupported("an integer of more than %d digits", maxDigits)
	}
	n, ok := new(big.Int).SetString(sign+strings.ReplaceAll(s[:end], "_", ""), base)
	if !ok {
		return int64(0), nil
	}
	return whole(n), nil
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return int(c|0x20-'a') + 10
	}
	return 99
}

func lines(s string) []value {
	var out []value
	for l := range strings.Lines(s) {
		out = append(out, str(l))
	}
	return out
}

func characters(s string) []value {
	var out []value
	for _, r := range s {
		out = append(out, str(string(r)))
	}
	return out
}

// justified pads a text on both sides.
func justified(sides func(missing int) (left, right int)) method {
	return func(c *send) (value, error) {
		width, err := c.integer(0, 0)
		if err != nil {
			return nil, err
		}
		by := " "
		if len(c.args) > 1 {
			if by, err = c.text(1); err != nil {
				return nil, err
			}
		}
		missing := width - utf8.RuneCountInString(own(c))
		if missing <= 0 {
			return str(own(c)), nil
		}
		if by == "" {
			return nil, fail("ArgumentError", "zero width padding")
		}
		if err := c.r.spendTimes(len(by), missing); err != nil {
			return nil, err
		}
		left, right := sides(missing)
		return str(padding(by, left) + own(c) + padding(by, right)), nil
	}
}

func padding(by string, n int) string {
	runes := []rune(strings.Repeat(by, n/utf8.RuneCountInString(by)+1))
	return string(runes[:n])
}

func scan(c *send) (value, error) {
	p, err := c.pattern(0)
	if err != nil {
		return nil, err
	}
	all, err := p.re.FindAll(own(c), -1)
	if err != nil {
		return nil, err
	}
	out, s := &list{}, own(c)
	for _, at := range all {
		m := &found{s, at, p.re}
		c.r.last = m
		v := m.group(0)
		if len(at) > 2 {
			groups := &list{}
			for i := 1; i < len(at)/2; i++ {
				groups.l = append(groups.l, m.group(i))
			}
			v = groups
		}
		if c.block == nil {
			out.l = append(out.l, v)
		} else if _, err := c.yield(v); err != nil {
			return nil, err
		}
	}
	if c.block != nil {
		return c.self, nil
	}
	return c.made(out)
}

func swapcase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func reverse(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

// ofType names the class of an argument as Ruby does when it is the wrong one: true, false
// and nil are named themselves.
func ofType(v value) string {
	switch v {
	case nil:
		return "nil"
	case true:
		return "true"
	case false:
		return "false"
	}
	return classOf(v)
}
