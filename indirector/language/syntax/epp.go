package syntax

import "strings"

// What the scanner is in. A manifest is none of these.
type eppMode uint8

const (
	eppNone eppMode = iota
	eppText
	eppCode // <% … %>
	eppExpr // <%= … %>, whose end is a token
)

// beginTemplate makes a scanner that of a template. Rule LANG-EPP-01.
func (s *scanner) beginTemplate() {
	s.epp = eppText
	s.enqueue(token{kind: tEppBegin})
	s.templateText(false)
}

// endsTag reports whether %> or -%> stands at pos, and goes on behind the text
// that follows.
func (s *scanner) endsTag() bool {
	from, trim := s.pos, false
	switch rest := s.text[from:]; {
	case strings.HasPrefix(rest, "%>"):
		s.pos += 2
	case strings.HasPrefix(rest, "-%>"):
		s.pos += 3
		trim = true
	default:
		return false
	}
	if s.epp == eppExpr {
		s.enqueue(s.make(tEppEnd, from, s.text[from:s.pos]))
	}
	if !trim {
		s.epp = eppText
	}
	s.templateText(trim)
	return true
}

// templateText puts the text up to the next tag, and that tag, into the queue.
func (s *scanner) templateText(trim bool) {
	from := s.pos
	text, lost, mode := s.untilTag(trim)
	if !lost && (text != "" || mode == eppText && s.pos > from) {
		s.enqueue(s.make(tEppText, from, text))
	}
	s.eppOpen = mode != eppText
	if mode == eppText {
		return
	}
	if mode == eppExpr {
		s.enqueue(token{kind: tEppExpr, offset: int32(s.global(from))})
	}
	s.epp = mode
}

// untilTag reads text up to the tag that begins code. A text that a comment or
// <%% ends is lost at the end of the template: that is what Puppet does.
func (s *scanner) untilTag(trim bool) (text string, lost bool, mode eppMode) {
	var b strings.Builder
	for s.pos < len(s.text) {
		part := s.text[s.pos:]
		tag := strings.Index(part, "<%")
		if tag >= 0 {
			part = part[:tag]
		}
		s.pos += len(part)
		if trim {
			part = trimLine(part)
		}
		trim = false
		b.WriteString(strings.ReplaceAll(part, "%%>", "%>"))
		if tag < 0 {
			return b.String(), false, eppText
		}
		if s.pos += 2; s.pos == len(s.text) {
			s.fail(s.pos, eppUnbalancedExpression)
		}
		switch s.text[s.pos] {
		case '-':
			s.pos++
			return strings.TrimRight(b.String(), " \t"), false, eppCode
		case '=':
			s.pos++
			return b.String(), false, eppExpr
		case '%':
			s.pos++
			b.WriteString("<%")
		case '#':
			text := b.String()
			if text, trim = s.templateComment(text); len(text) < b.Len() {
				b.Reset()
				b.WriteString(text)
			}
		default:
			return b.String(), false, eppCode
		}
	}
	return "", true, eppText
}

// trimLine removes blanks at the beginning of a text, and the line break behind
// them.
func trimLine(text string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimLeft(text, " \t"), "\r"), "\n")
}

// templateComment skips a comment. With a hyphen at its beginning the blanks before
// it go, with one at its end the rest of the line.
func (s *scanner) templateComment(before string) (text string, trim bool) {
	comment := s.text[s.pos:]
	for end := 1; ; end++ {
		i := strings.Index(comment[end:], "%>")
		if i < 0 {
			s.fail(s.pos, eppUnbalancedComment)
		}
		if end += i; comment[end-1] != '%' {
			comment = comment[:end]
			break
		}
	}
	s.pos += len(comment) + 2
	if strings.HasPrefix(comment, "#-") {
		before = strings.TrimRight(before, " \t")
	}
	return before, strings.HasSuffix(comment, "-")
}
