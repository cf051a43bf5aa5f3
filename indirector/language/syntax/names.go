package syntax

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isWord reports whether a byte is of a name.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func wordEnd(text string, from int) int {
	for from < len(text) && isWord(text[from]) {
		from++
	}
	return from
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' || c == '_' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// follows reports whether :: and a byte of a class stand at an offset.
func follows(text string, at int, class func(byte) bool) bool {
	return at+2 < len(text) && text[at] == ':' && text[at+1] == ':' && class(text[at+2])
}

// name finds a name, a keyword or a word. Rules LANG-LEX-03 and LANG-LEX-04.
func (s *scanner) name() (token, found) {
	end, isName := bareWord(s.text, s.pos)
	if !isName {
		return s.word(tWord, s.pos, end)
	}
	if k, ok := keywords[s.text[s.pos:end]]; ok && end-s.pos <= len("function") {
		return s.word(k, s.pos, end)
	}
	return s.word(tName, s.pos, end)
}

// bareWord returns the end of a word whose first segment begins at an offset, and
// whether it is a name. A hyphen may stand in a segment, not at its end.
func bareWord(text string, at int) (end int, isName bool) {
	isName = true
	for {
		if text[at] == '_' {
			isName = false
		}
		end = wordEnd(text, at+1)
		for hyphen := end; hyphen < len(text) && text[hyphen] == '-'; {
			for hyphen < len(text) && text[hyphen] == '-' {
				hyphen++
			}
			next := wordEnd(text, hyphen)
			if next == hyphen {
				break
			}
			end, hyphen, isName = next, next, false
		}
		if !follows(text, end, isLower) {
			return end, isName
		}
		at = end + 2
	}
}

// typeName finds the name of a type.
func (s *scanner) typeName() (token, found) {
	end := typeNameEnd(s.text, s.pos)
	if strings.HasPrefix(s.text[end:], "::") {
		s.fail(end+1, illegalClassReference)
	}
	return s.word(tTypeName, s.pos, end)
}

func typeNameEnd(text string, at int) int {
	for {
		end := wordEnd(text, at+1)
		if !follows(text, end, isUpper) {
			return end
		}
		at = end + 2
	}
}

// colon finds a colon, or a name that begins with two. Where Puppet fails inside
// because nothing follows, the name is illegal.
func (s *scanner) colon() (token, found) {
	from := s.pos
	switch {
	case !strings.HasPrefix(s.text[from:], "::"):
		s.pos++
		return s.make(tColon, from, ":"), one
	case follows(s.text, from, isUpper):
		end := typeNameEnd(s.text, from+2)
		if strings.HasPrefix(s.text[end:], "::") {
			s.fail(end+3, illegalFullClassReference)
		}
		return s.word(tTypeName, from, end)
	case !follows(s.text, from, isLower):
		s.fail(from+2, illegalFullName)
	}
	end, isName := bareWord(s.text, from+2)
	if !isName {
		return s.word(tWord, from, end)
	}
	return s.word(tName, from, end)
}

// variable finds a variable. Without a name it is empty, which the checker
// reports. Rule LANG-LEX-05.
func (s *scanner) variable() (token, found) {
	from := s.pos
	end := variableEnd(s.text, from+1)
	if end == 0 {
		s.pos++
		s.matchedFrom = -1
		return s.make(tVariable, from, ""), one
	}
	t, _ := s.word(tVariable, from, end)
	t.text = t.text[1:]
	return t, one
}

// variableEnd returns the end of the name of a variable, or 0 if there is none.
func variableEnd(text string, at int) int {
	if follows(text, at, isWord) {
		at += 2
	}
	if at >= len(text) || !isWord(text[at]) {
		return 0
	}
	for {
		end := wordEnd(text, at)
		if !follows(text, end, isWord) {
			return end
		}
		at = end + 2
	}
}

// number finds a number, or reports why it is none. Rule LANG-LEX-06.
func (s *scanner) number() (token, found) {
	if end := numberEnd(s.text, s.pos); end > 0 {
		s.checkNumber(s.text[s.pos:end], s.pos)
		return s.word(tNumber, s.pos, end)
	}
	from, end := s.pos, wordEnd(s.text, s.pos)
	if from > 1 && s.text[from-1] == '.' { // of 1.2x the message has all
		whole := from - 1
		for whole > 0 && isDigit(s.text[whole-1]) {
			whole--
		}
		if whole < from-1 {
			from = whole
		}
	}
	s.checkNumber(s.text[from:end], from)
	s.fail(from+1, illegalNumber, s.text[from:end])
	return token{}, none
}

// numberEnd returns the end of the longest number that ends at the boundary of a
// word, or 0.
func numberEnd(text string, from int) int {
	if end := hexEnd(text, from); end > 0 && atBoundary(text, end) {
		return end
	}
	whole := digitsEnd(text, from)
	fraction := whole
	if whole < len(text) && text[whole] == '.' {
		if end := digitsEnd(text, whole+1); end > whole+1 {
			fraction = end
		}
	}
	for _, end := range [...]int{exponentEnd(text, fraction), fraction, whole} {
		if atBoundary(text, end) {
			return end
		}
	}
	return 0
}

func digitsEnd(text string, from int) int {
	for from < len(text) && isDigit(text[from]) {
		from++
	}
	return from
}

func hexEnd(text string, from int) int {
	if from+2 >= len(text) || text[from] != '0' || text[from+1]|0x20 != 'x' {
		return 0
	}
	end := from + 2
	for end < len(text) && isHex(text[end]) {
		end++
	}
	if end == from+2 {
		return 0
	}
	return end
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// exponentEnd returns the end of the exponent at an offset, or the offset.
func exponentEnd(text string, from int) int {
	if from >= len(text) || text[from]|0x20 != 'e' {
		return from
	}
	digits := from + 1
	if digits < len(text) && text[digits] == '-' {
		digits++
	}
	if end := digitsEnd(text, digits); end > digits {
		return end
	}
	return from
}

// atBoundary reports whether no character of a word stands at an offset. For
// Ruby these are letters of all alphabets here.
func atBoundary(text string, at int) bool {
	if at >= len(text) {
		return true
	}
	if text[at] < utf8.RuneSelf {
		return !isWord(text[at])
	}
	r, _ := utf8.DecodeRuneInString(text[at:])
	return !unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc)
}

// The forms of numbers, by how they begin.
var numberForms = []struct {
	begin, form *regexp.Regexp
	message     string
}{
	{regexp.MustCompile(`^0[xX]`), regexp.MustCompile(`^0[xX][0-9A-Fa-f]+$`), invalidHex},
	{regexp.MustCompile(`^0[^.]`), regexp.MustCompile(`^0[0-7]+$`), invalidOctal},
	{regexp.MustCompile(`^\d+[eE.]`), regexp.MustCompile(`^\d+(?:\.\d+)?(?:[eE]-?\d+)?$`), invalidDecimal},
	{regexp.MustCompile(``), regexp.MustCompile(`^\d+$`), illegalNumber},
}

// checkNumber fails unless a text is a number.
func (s *scanner) checkNumber(text string, at int) {
	if allDigits(text) && (text[0] != '0' || len(text) == 1) {
		return
	}
	for _, f := range numberForms {
		if !f.begin.MatchString(text) {
			continue
		}
		if !f.form.MatchString(text) {
			s.fail(at, f.message, text)
		}
		return
	}
}

func allDigits(text string) bool { return digitsEnd(text, 0) == len(text) }
