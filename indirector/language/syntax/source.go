package syntax

import (
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of ours; Puppet has none. Rule LANG-LEX-15.
const (
	// MaxBytes is the size of the largest file, and so of the longest token.
	MaxBytes = 16 << 20
	// maxNesting is how deep expressions, interpolations and heredocs may nest.
	maxNesting = 1000
	// maxHeight is the height of the highest tree. A long chain of operators
	// (1 + 1 + …) is as high as it is long, and everything that walks a tree
	// recurses.
	maxHeight = 10_000
	// maxProblems is how many problems of a severity are kept; more are counted.
	maxProblems = 1000
)

// A Source is a text, and where it came from. It is safe for concurrent use.
type Source struct {
	File string // as messages name it; "" if it came from no file
	Text string

	mu    sync.Mutex
	lines []int // where each line begins; nil until it was asked
	last  place // what was asked last: problems often share a line
}

// A place is an offset in bytes with its line and column.
type place struct{ offset, line, column int }

// Position returns line and column of an offset in bytes, both from 1. Columns
// count characters. Rule LANG-LEX-02.
func (s *Source) Position(offset int) (line, column int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = lineStarts(s.Text)
	}
	line = lineAt(s.lines, offset)
	from := place{s.lines[line-1], line, 1}
	if s.last.line == line && s.last.offset <= offset {
		from = s.last
	}
	s.last = place{offset, line, from.column + utf8.RuneCountInString(s.Text[from.offset:offset])}
	return line, s.last.column
}

func lineStarts(text string) []int {
	starts := make([]int, 1, strings.Count(text, "\n")+1)
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func lineAt(starts []int, offset int) int {
	return sort.Search(len(starts), func(i int) bool { return starts[i] > offset })
}
