package screen

import (
	"fmt"
	"strconv"
	"time"

	"indirtui/traces"
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

// Took writes a duration as a person reads it: "38 us", "412 ms", "8.15 s".
func Took(d time.Duration) string {
	switch {
	case 0 < d && d < time.Millisecond:
		return strconv.FormatInt(int64(d/time.Microsecond), 10) + " us"
	case d < time.Second:
		return Millis(d) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
	}
	return traces.Age(d)
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

// ServedBy says who answered a request, in the words of the list: "T exec",
// "C json", with "+C" if the cache was written too.
func ServedBy(r *Row) string {
	s := "T " + r.Terminus
	switch {
	case r.Outcome == traces.Run:
		return "..."
	case r.Outcome == traces.HeldOutcome:
		return "held"
	case r.Served == traces.ByInjection:
		return "sim"
	case r.Served == traces.ByCache:
		s = "C " + r.Cache
	case r.Terminus == "":
		return "-"
	}
	if r.CacheWritten {
		s += " +C"
	}
	return s
}

// VerbCode is a verb in four letters.
func VerbCode(v traces.Verb) string {
	return [...]string{"-", "find", "srch", "head", "save", "dstr", "expr"}[min(v, traces.Expire)]
}

// Name is what a request is called: "#1042 find catalog web01.example.com".
func Name(r *Row) string {
	return fmt.Sprintf("#%d %s %s %s", r.ID, r.Verb, r.Indirection, r.Key)
}
