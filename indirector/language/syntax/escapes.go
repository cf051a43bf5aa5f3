package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Escapes by their letters; L joins lines.
const quotedEscapes = `\$'"rntsuL`

// unescape replaces the escapes of a set in a text. Others stay as they are, which
// is a warning in a string and nothing in a heredoc. Rules LANG-LEX-10 and
// LANG-LEX-12.
func (s *scanner) unescape(text, set string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	if strings.Contains(set, "u") && strings.Contains(text, `\u`) {
		text = s.unescapeUnicode(text)
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			break
		}
		b.WriteString(text[:i])
		text = text[i+1:]
		n := s.unescapeOne(&b, text, set)
		text = text[n:]
	}
	b.WriteString(text)
	return b.String()
}

// unescapeOne writes what the escape at the beginning of a text, without its
// backslash, stands for, and returns its length.
func (s *scanner) unescapeOne(b *strings.Builder, text, set string) int {
	switch {
	case strings.HasPrefix(text, "\r\n"), text[0] == '\n':
		n := strings.IndexByte(text, '\n') + 1
		if !strings.Contains(set, "L") {
			b.WriteString(`\` + text[:n])
		}
		return n
	case text[0] == '\r':
		b.WriteString(`\`)
		return 0
	}
	_, n := utf8.DecodeRuneInString(text)
	c := text[:n]
	switch {
	case c == "L" || !strings.Contains(set, c):
		if s.margin == nil {
			s.warn(unrecognizedEscape + c + "'")
		}
		b.WriteString(`\` + c)
	case c == "r":
		b.WriteByte('\r')
	case c == "n":
		b.WriteByte('\n')
	case c == "t":
		b.WriteByte('\t')
	case c == "s":
		b.WriteByte(' ')
	case c == "u":
		s.badUnicode()
		b.WriteString(`\u`)
	default:
		b.WriteString(c)
	}
	return n
}

// badUnicode reports \u without digits. In a heredoc Puppet fails inside.
func (s *scanner) badUnicode() {
	if s.margin != nil {
		s.fail(s.pos, "%s", illegalUnicode)
	}
	s.warn(illegalUnicode)
}

// unescapeUnicode replaces \u and its digits, before all other escapes and again
// and again: a character that comes of it may belong to another escape. A
// backslash before \u counts unless there is an even number of them.
func (s *scanner) unescapeUnicode(text string) string {
	out := make([]byte, 0, len(text))
	for run := 0; text != ""; { // run is how many backslashes out ends with
		odd := run%2 == 1
		switch r, n := unicodeEscape(text, odd); {
		case n == 0 && text[0] == '\\':
			out, text, run = append(out, '\\'), text[1:], run+1
		case n == 0:
			out, text, run = append(out, text[0]), text[1:], 0
		default:
			if !utf8.ValidRune(r) { // here Puppet fails inside, at no place
				panic(failure{&Problem{Message: invalidUnicode, File: s.source.File}})
			}
			if odd { // the backslash is in out already
				out, run = out[:len(out)-1], run-1
			}
			out, text = utf8.AppendRune(out, r), text[n:]
			if run++; r != '\\' {
				run = 0
			}
		}
	}
	return string(out)
}

// unicodeEscape returns the character and the length of the escape at the
// beginning of a text, or 0. If open, the backslash was before the text.
func unicodeEscape(text string, open bool) (rune, int) {
	rest := text
	if !open {
		rest = strings.TrimPrefix(text, `\`)
	}
	if open == (len(rest) < len(text)) || !strings.HasPrefix(rest, "u") {
		return 0, 0
	}
	digits, n := "", 0
	if braced, ok := strings.CutPrefix(rest[1:], "{"); ok {
		end := strings.IndexByte(braced[:min(len(braced), 7)], '}')
		if end < 1 {
			return 0, 0
		}
		digits, n = braced[:end], end+3
	} else if len(rest) >= 5 {
		digits, n = rest[1:5], 5
	}
	r, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || strings.ContainsAny(digits, "+_") {
		return 0, 0
	}
	return rune(r), n + len(text) - len(rest)
}
