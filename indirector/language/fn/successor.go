package fn

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Successor returns the text that Ruby's succ makes of another: the last letter or digit
// goes on, with a carry to those on its left; without any, the last character.
func Successor(s string) string {
	b := []byte(s)
	at := lastAlphanumeric(b, len(b))
	if at < 0 {
		return successorOfBytes(s)
	}
	for {
		carry := b[at]
		switch b[at] {
		case 'z':
			b[at] = 'a'
		case 'Z':
			b[at] = 'A'
		case '9':
			b[at] = '0'
		default:
			b[at]++
			return string(b)
		}
		next := lastAlphanumeric(b, at)
		if next < 0 || next < at-1 && !carries(b, next, at) {
			first := string(b[at])
			if carry == '9' {
				first = "1"
			}
			return string(b[:at]) + first + string(b[at:])
		}
		at = next
	}
}

// carries reports whether a carry passes what lies between two letters or digits: Ruby's
// does within a version, "1.9" and "2.0", but not from a digit to a letter in front of
// other characters.
func carries(b []byte, next, at int) bool { return isDigit(b[next]) == isDigit(b[at]) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func lastAlphanumeric(b []byte, before int) int {
	for i := before - 1; i >= 0; i-- {
		if c := b[i] | 0x20; isDigit(b[i]) || c >= 'a' && c <= 'z' {
			return i
		}
	}
	return -1
}

func successorOfBytes(s string) string {
	r, size := utf8.DecodeLastRuneInString(s)
	if size == 0 {
		return ""
	}
	return s[:len(s)-size] + string(r+1)
}

// Upto calls see for each text from one to another, as the range of both does in Ruby,
// until it returns false. Rule LANG-STD-01.
func Upto(from, to string, exclusive bool, see func(string) bool) {
	if allDigits(from) && allDigits(to) && len(from) < 19 && len(to) < 19 {
		a, _ := strconv.Atoi(from)
		b, _ := strconv.Atoi(to)
		if exclusive {
			b--
		}
		for n := a; n <= b; n++ {
			s := strconv.Itoa(n)
			if !see(strings.Repeat("0", max(0, len(from)-len(s))) + s) {
				return
			}
		}
		return
	}
	if len(from) == 1 && len(to) == 1 && from[0] < 0x80 && to[0] < 0x80 {
		for c := int(from[0]); c <= int(to[0]); c++ {
			if exclusive && c == int(to[0]) || !see(string(rune(c))) {
				return
			}
		}
		return
	}
	if from > to || exclusive && from == to {
		return
	}
	end := Successor(to)
	for s := from; s != end; s = Successor(s) {
		if exclusive && s == to || !see(s) || s == to || len(s) > len(to) || s == "" {
			return
		}
		if len(Successor(s)) > len(to) {
			return
		}
	}
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
