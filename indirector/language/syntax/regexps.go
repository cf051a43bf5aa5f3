package syntax

import "strings"

// regexpProblem returns what Ruby has against a regular expression, in its words, or
// nothing. It finds what a typing error makes: brackets that are not closed, and
// nothing to repeat. What it lets pass Ruby may still refuse.
func regexpProblem(source string) string {
	if extendedSyntax(source) { // # may begin a comment there
		return ""
	}
	depth, repeatable := 0, false
	for i := 0; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
			repeatable = true
		case '[':
			end, problem := classEnd(source, i)
			if problem != "" {
				return problem
			}
			i, repeatable = end, true
		case '(':
			rest := source[i:]
			if strings.HasPrefix(rest, "(?#") {
				return "" // a comment may have anything
			}
			if depth++; strings.HasPrefix(rest, "(?") {
				i++
			}
			repeatable = false
		case ')':
			if depth--; depth < 0 {
				return "unmatched close parenthesis"
			}
			repeatable = true
		case '|':
			repeatable = false
		case '*', '+', '?':
			if !repeatable {
				return "target of repeat operator is not specified"
			}
		default:
			repeatable = true
		}
	}
	if depth > 0 {
		return "end pattern with unmatched parenthesis"
	}
	return ""
}

// extendedSyntax reports whether an option x may be on, as in (?x) or (?mx-i:…).
func extendedSyntax(source string) bool {
	for {
		_, rest, ok := strings.Cut(source, "(?")
		if !ok {
			return false
		}
		options := rest[:len(rest)-len(strings.TrimLeft(rest, "imxadu-"))]
		if strings.Contains(options, "x") {
			return true
		}
		source = rest
	}
}

// classEnd returns where the class ends that begins at an offset. Classes nest; a ]
// that is the first character counts as itself if another follows.
func classEnd(source string, at int) (end int, problem string) {
	open := 0
	for i := at; i < len(source); i++ {
		switch rest := source[i:]; {
		case source[i] == '\\':
			i++
		case posixBracket(rest) > 0 && open > 0:
			i += posixBracket(rest) - 1
		case source[i] == '[':
			open++
			if strings.HasPrefix(source[i+1:], "^") {
				i++
			}
			if strings.HasPrefix(source[i+1:], "]") {
				if !strings.Contains(source[i+2:], "]") {
					return 0, "empty char-class"
				}
				i++
			}
		case source[i] == ']':
			if open--; open == 0 {
				return i, ""
			}
		}
	}
	return 0, "premature end of char-class"
}

// posixBracket returns the length of [:name:] at the beginning of a text, or 0.
func posixBracket(text string) int {
	if !strings.HasPrefix(text, "[:") {
		return 0
	}
	end := strings.Index(text[2:], ":]")
	if end < 0 {
		return 0
	}
	return end + 4
}
