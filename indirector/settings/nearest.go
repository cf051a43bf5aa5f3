package settings

import "strings"

// Nearest returns the name that is closest to s by edits, or "" if none is
// close enough to have been meant.
func Nearest(s string, names []string) string {
	if len(s) > 100 {
		return "" // nobody's misspelt name, and long to compare
	}
	best, distance := "", len(s)/3+2
	for _, n := range names {
		if d := edits(strings.ToLower(s), n); d < distance {
			best, distance = n, d
		}
	}
	return best
}

// edits counts insertions, removals and replacements.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
