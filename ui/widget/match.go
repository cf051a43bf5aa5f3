package widget

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"

	"indirtui/ui/term"
)

// A Match is a text that has what was typed: as it stands, or its letters in their
// order.
type Match struct {
	Index int   // of the text
	bytes []int // of the cleaned text, where the letters are
}

// Find returns the texts that have what was typed, the best first. That are those
// that have it as it stands, at the beginning of a word before all; then
// those with its letters in their order, as sahilm/fuzzy rates them. All texts
// match nothing at all.
func Find(want string, texts []string) []Match {
	want = term.Clean(strings.ToLower(strings.TrimSpace(want))).String()
	clean := make([]string, len(texts))
	for i, s := range texts {
		clean[i] = term.Clean(s).String()
	}
	if want == "" {
		all := make([]Match, len(texts))
		for i := range all {
			all[i].Index = i
		}
		return all
	}
	found := fuzzy.FindNoSort(want, clean)
	rates := make([]int, len(found))
	for i := range found {
		rates[i] = rate(want, &found[i])
	}
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rates[b] - rates[a] })
	out := make([]Match, len(order))
	for i, at := range order {
		out[i] = Match{found[at].Index, found[at].MatchedIndexes}
	}
	return out
}

// asItStands is more than what letters in their order are worth.
const asItStands = 1 << 20

// rate returns how good a match is. One that has what was typed as it stands
// has its letters there.
func rate(want string, m *fuzzy.Match) int {
	lower := strings.ToLower(m.Str)
	if len(lower) != len(m.Str) {
		return m.Score
	}
	worth, at := 2*asItStands, wordAt(lower, want)
	if at < 0 {
		worth, at = asItStands, strings.Index(lower, want)
	}
	if at < 0 {
		return m.Score
	}
	m.MatchedIndexes = m.MatchedIndexes[:0]
	for i := range want {
		m.MatchedIndexes = append(m.MatchedIndexes, at+i)
	}
	return worth
}

// wordAt returns where a word of the text begins with want; -1 if none does.
func wordAt(text, want string) int {
	for at := 0; ; {
		i := strings.Index(text[at:], want)
		if i < 0 {
			return -1
		}
		if i += at; startsWord(text, i) {
			return i
		}
		at = i + len(want)
	}
}

// Marked returns a part of the text in which the match was found, the letters that
// were found underlined. The part begins at the byte from of the text.
func (m *Match) Marked(style term.Style, part string, from int) (l term.Line) {
	text := term.Clean(part)
	clean := text.String()
	begin := 0
	put := func(end int, style term.Style) {
		if begin < end {
			l.Put(style, clean[begin:end])
			begin = end
		}
	}
	for i, r := range clean {
		if slices.Contains(m.bytes, from+i) {
			put(i, style)
			put(i+len(string(r)), style|term.Under|term.Bold)
		}
	}
	put(len(clean), style)
	if l.Width() != text.Width() { // what belongs to a letter was torn from it
		var whole term.Line
		whole.Add(style, text)
		return whole
	}
	return l
}

// startsWord reports whether a word begins at a byte of the text.
func startsWord(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
