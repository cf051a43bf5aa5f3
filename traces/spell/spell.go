// Package spell guesses which name a misspelt one was meant to be.
package spell

import "strings"

// Nearest returns the name that is closest to s, or "" if none is close enough
// to have been meant: at most two letters left out, added, exchanged or swapped
// with their neighbour, and less than half of s. Names are in lower case.
func Nearest(s string, names []string) string {
	if len(s) > 100 {
		return "" // no misspelt name, and slow to compare
	}
	best, least := "", 3
	for _, n := range names {
		if d := edits(strings.ToLower(s), n); d < least && 2*d < len(s) {
			best, least = n, d
		}
	}
	return best
}

// edits counts what must be done to a to make it b.
func edits(a, b string) int {
	var before []int // the row of a[i-2]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			same := row[j]
			if a[i] != b[j] {
				same++
			}
			next[j+1] = min(same, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
