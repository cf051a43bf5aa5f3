package session

import (
	"fmt"
	"strconv"
	"time"

	"indirtui/traces"
	"indirtui/ui/term"
)

// ServedBy returns who answered a request, in the words of the list: "T exec",
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

// Took returns a duration in its best unit: "38 us", "412 ms", "8.15 s".
func Took(d time.Duration) string {
	switch {
	case 0 < d && d < time.Millisecond:
		return strconv.FormatInt(int64(d/time.Microsecond), 10) + " us"
	case d < time.Second:
		return term.Millis(d) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
	}
	return traces.Age(d)
}
