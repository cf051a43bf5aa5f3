package fnmatch

// MaxBraces bounds what a pattern such as {a,b}{a,b}{a,b} can grow to.
const MaxBraces = 1024

// Braces returns the patterns that {a,b} stands for, in Ruby's order. A brace
// that is not closed stands for nothing.
func Braces(pattern string) []string {
	var all []string
	budget := MaxBraces
	expand(pattern, &all, &budget)
	return all
}

func expand(pattern string, all *[]string, budget *int) {
	open, end, depth := -1, -1, 0
	for i := 0; i < len(pattern) && end < 0; i++ {
		switch pattern[i] {
		case '{':
			if depth == 0 {
				open = i
			}
			depth++
		case '}':
			if depth--; depth == 0 {
				end = i
			}
			depth = max(depth, 0)
		}
	}
	if open < 0 {
		*all = append(*all, pattern)
		*budget--
		return
	}
	if *budget--; end < 0 {
		return
	}
	for _, choice := range commas(pattern[open+1 : end]) {
		if *budget <= 0 {
			return
		}
		expand(pattern[:open]+choice+pattern[end+1:], all, budget)
	}
}

// commas splits at those commas that are not within braces.
func commas(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				parts, start = append(parts, s[start:i]), i+1
			}
		}
	}
	return append(parts, s[start:])
}
