package syntax

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// heredocTag is what stands in @( ): the tag, the syntax, the escapes. Rule
// LANG-LEX-12.
var heredocTag = regexp.MustCompile(`@\(([^:/\r\n)]+)(?::[\p{Zs}\t]*([a-z][a-zA-Z0-9_+]+)[\p{Zs}\t]*)?(?:/([\w$]*)[\p{Zs}\t]*)?\)`)

// A heredocHead is what @( ) asks for.
type heredocHead struct {
	tag, syntax, escapes string
	interpolates         bool
}

// heredoc puts the tokens of a heredoc into the queue. Its text is below the line;
// the scanner goes on behind the tag, and jumps over the text at the end of the
// line.
func (s *scanner) heredoc() found {
	from := s.pos
	if s.margin != nil { // within another one Puppet fails inside
		s.fail(from, "%s", nestedHeredoc)
	}
	head := s.heredocHead()
	behind := s.pos
	s.enqueue(s.make(tHeredoc, from, head.syntax))
	begin := s.jump
	if begin == 0 {
		if begin = behind + lineEnd(s.text[behind:]) + 1; begin > len(s.text) {
			s.fail(behind, heredocWithoutText)
		}
	}
	s.deeper(from)
	body := s.heredocBody(begin, head.tag)
	sub := &scanner{
		source: s.source, report: s.report, depth: s.depth, text: body.text, escapes: head.escapes, dollar: strings.Contains(head.escapes, "$"),
		margin: &margin{parent: s, offset: begin, removed: body.removed, lines: lineStarts(body.text)},
	}
	s.depth--
	sub.checkBOM()
	s.queue = append(s.queue, sub.heredocTokens(head.interpolates)...)
	s.jump, s.pos = body.end, behind
	return none
}

// heredocHead reads what stands in @( ), and goes on behind it.
func (s *scanner) heredocHead() (h heredocHead) {
	end := strings.IndexByte(s.text[s.pos:], ')')
	if end < 0 {
		s.fail(s.pos, heredocUnclosed, s.followedBy())
	}
	written := s.text[s.pos : s.pos+end+1]
	s.pos += end + 1
	m := heredocTag.FindStringSubmatchIndex(written)
	if m == nil {
		s.fail(s.pos, heredocInvalid)
	}
	h.tag = strings.Trim(written[m[2]:m[3]], " \t\n\v\f\r\x00")
	if m[4] >= 0 {
		h.syntax = written[m[4]:m[5]]
	}
	if n := len(h.tag); n > 1 && h.tag[0] == '"' && h.tag[n-1] == '"' {
		h.tag, h.interpolates = strings.Trim(h.tag[1:n-1], " \t\n\v\f\r\x00"), true
	}
	if h.tag == "" {
		s.fail(s.pos, heredocEmptyTag)
	}
	if m[6] >= 0 {
		h.escapes = s.heredocEscapes(written[m[6]:m[7]])
	}
	return h
}

// heredocEscapes checks the letters behind the slash. None are all of them, and
// with any of them \\ is an escape, too.
func (s *scanner) heredocEscapes(letters string) string {
	if letters == "" {
		letters = "trnsuL$"
	}
	for i, c := range letters {
		if strings.ContainsRune(letters[:i], c) {
			s.fail(s.pos, heredocTwice, strings.Join(strings.Split(letters, ""), ", "))
		}
	}
	for _, c := range letters {
		if !strings.ContainsRune("trnsuL$", c) {
			s.fail(s.pos, heredocEscape, c)
		}
	}
	return `\` + letters
}

// A heredocBody is the text of a heredoc, without its margin.
type heredocBody struct {
	text    string
	removed []int // of the margin up to the end of each line, in characters; nil if there is no margin
	end     int   // of the line with the tag
}

// heredocBody reads lines up to the one that ends with the tag.
func (s *scanner) heredocBody(begin int, tag string) (b heredocBody) {
	var lines []string
	for at := begin; at < len(s.text); {
		line := s.text[at:]
		if end := lineEnd(line); end < len(line) {
			line = line[:end+1]
		}
		at += len(line)
		margin, bar, dash, ends := endLine(line, tag)
		if !ends {
			lines = append(lines, line)
			continue
		}
		b.end = at
		if bar {
			b.removed = removeMargin(lines, margin)
		}
		b.text = strings.Join(lines, "")
		if whole, broken := strings.CutSuffix(b.text, "\n"); dash && broken {
			b.text = strings.TrimSuffix(whole, "\r")
		}
		return b
	}
	s.fail(begin, heredocWithoutEnd)
	return b
}

func removeMargin(lines []string, margin string) []int {
	removed := make([]int, len(lines))
	for i, sum := 0, 0; i < len(lines); i++ {
		if rest, ok := strings.CutPrefix(lines[i], margin); ok {
			lines[i] = rest
			sum += utf8.RuneCountInString(margin)
		}
		removed[i] = sum
	}
	return removed
}

// endLine reports whether a line ends a heredoc, and what stands before the tag.
// Whatever stands before that does not matter to Puppet.
func endLine(line, tag string) (margin string, bar, dash, ends bool) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	line, ends = strings.CutSuffix(trimBlanks(line), tag)
	if !ends {
		return "", false, false, false
	}
	rest := trimBlanks(line)
	if before, ok := strings.CutSuffix(rest, "-"); ok {
		dash, line, rest = true, before, trimBlanks(before)
	}
	if before, ok := strings.CutSuffix(rest, "|"); ok {
		bar, line, rest = true, before, trimBlanks(before)
	}
	return line[len(rest):], bar, dash, true
}

func trimBlanks(text string) string { return strings.TrimRightFunc(text, isBlank) }

// A margin maps offsets in the text of a heredoc to offsets in what it stands in.
type margin struct {
	parent  *scanner
	offset  int   // of the first line
	removed []int // up to the end of each line; nil if there is no margin
	lines   []int // where they begin in the text
}

func (m *margin) global(offset int) int {
	at := m.offset + offset
	if n := min(len(m.removed), lineAt(m.lines, offset)); n > 0 && offset > 0 { // the beginning counts as that of the line, Puppet's way
		at += m.removed[n-1]
	}
	return m.parent.global(at)
}

// heredocTokens returns the tokens of the text of a heredoc.
func (s *scanner) heredocTokens(interpolates bool) []token {
	read := s.heredocText
	if !interpolates {
		read = s.wholeText
	}
	text, more := s.pieces(0, tTextBegin, read)
	if !more {
		s.enqueue(s.make(tString, 0, text))
		return s.queue
	}
	from := s.pos
	for more {
		from = s.pos
		text, more = s.pieces(from, tTextMiddle, read)
	}
	s.enqueue(s.make(tTextEnd, from, text))
	return s.queue
}

func (s *scanner) wholeText() (string, ending) {
	s.pos = len(s.text)
	return s.unescape(s.text, s.escapes), textEnds
}

// heredocText reads a piece of a heredoc that interpolates. Only if $ is among the
// escapes, a backslash keeps it from that.
func (s *scanner) heredocText() (string, ending) {
	from := s.pos
	end := strings.IndexByte(s.text[from:], '$') + from
	if s.dollar {
		end = textEnd(s.text, from, "$")
	}
	if end >= from {
		kind := s.endText(from, end)
		return s.unescape(s.text[from:end], s.escapes), kind
	}
	s.pos = len(s.text)
	if s.dollar && backslashes(s.text[from:])%2 == 1 { // here Puppet fails inside
		s.fail(s.pos, unclosedQuote, s.lastMatched(), s.followedBy())
	}
	return s.unescape(s.text[from:], s.escapes), textEnds
}
