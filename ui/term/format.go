package term

import (
	"strconv"
	"time"
)

// Millis writes a duration in milliseconds, without the unit.
func Millis(d time.Duration) string {
	switch {
	case d < 50*time.Microsecond:
		return "0"
	case d < time.Millisecond-50*time.Microsecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64)
	}
	return strconv.FormatInt(int64((d+time.Millisecond/2)/time.Millisecond), 10)
}

// MillisIn is Millis in at most the given cells: what is longer is written in
// seconds or days, with the unit.
func MillisIn(d time.Duration, cells int) string {
	for _, s := range []string{Millis(d), strconv.FormatInt(int64(d/time.Second), 10) + "s"} {
		if len(s) <= cells {
			return s
		}
	}
	return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
}

// Bytes writes a size with its unit: "214 B", "41 kB", "182 MB".
func Bytes(n int64) string {
	switch {
	case n < 10_000:
		return Grouped(n) + " B"
	case n < 10_000_000:
		return Grouped(n/1000) + " kB"
	}
	return Grouped(n/1_000_000) + " MB"
}

// Grouped writes a number in groups of three digits: "182 341".
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// Plural writes a number and a noun, with an s unless it is one.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(int64(n)) + " " + noun + "s"
}
