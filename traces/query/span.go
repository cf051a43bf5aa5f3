package query

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A span is the numbers that a value stands for, from lo up to but not
// including hi: one for 404, a minute's worth for 14:02. A span of times of day
// holds the nanoseconds since midnight.
type span struct {
	lo, hi int64
	clock  *time.Location // of a time of day; nil for everything else
}

func (s span) holds(i int64) bool {
	if s.hi <= s.lo { // 23:50..00:10
		return i >= s.lo || i < s.hi
	}
	return s.lo <= i && i < s.hi
}

// of is i as s counts.
func (s span) of(i int64) int64 {
	if s.clock == nil {
		return i
	}
	t := time.Unix(0, i).In(s.clock)
	h, m, sec := t.Clock()
	return int64(time.Duration(h)*time.Hour+time.Duration(m)*time.Minute+time.Duration(sec)*time.Second) + int64(t.Nanosecond())
}

// compare returns the test for op. For != it is that of =; the node inverts it.
func compare(op string, spans []span) func(int64) bool {
	s := spans[0]
	switch op {
	case "<":
		return func(i int64) bool { return s.of(i) < s.lo }
	case "<=":
		return func(i int64) bool { return s.of(i) < s.hi }
	case ">":
		return func(i int64) bool { return s.of(i) >= s.hi }
	case ">=":
		return func(i int64) bool { return s.of(i) >= s.lo }
	}
	if len(spans) == 1 {
		return func(i int64) bool { return s.holds(s.of(i)) }
	}
	return func(i int64) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.holds(s.of(i)) })
	}
}

func parseSpan(k kind, v string, now time.Time) (span, bool) {
	if k == timeKind {
		return parseTimes(v, now)
	}
	i, ok := parseAmount(v, units[k])
	return span{lo: i, hi: i + 1}, ok
}

type unit struct {
	name string
	size int64
}

// units are those of each kind, longest first where one begins another.
var units = map[kind][]unit{
	numberKind:   {{"", 1}},
	durationKind: {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}},
	sizeKind:     {{"kB", 1e3}, {"MB", 1e6}, {"B", 1}, {"", 1}},
}

// parseAmount reads one or more numbers with their units: 404, 1.5s, 1h30m.
func parseAmount(v string, units []unit) (int64, bool) {
	if v == "0" {
		return 0, true
	}
	var sum float64
	for again := false; v != "" || !again; again = true {
		digits := strings.IndexFunc(v, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if digits < 0 {
			digits = len(v)
		}
		n, err := strconv.ParseFloat(v[:digits], 64)
		if err != nil {
			return 0, false
		}
		v = v[digits:]
		letters := strings.IndexFunc(v, func(r rune) bool { return r <= '9' })
		if letters < 0 {
			letters = len(v)
		}
		i := slices.IndexFunc(units, func(u unit) bool { return strings.EqualFold(u.name, v[:letters]) })
		if i < 0 {
			return 0, false
		}
		sum += n * float64(units[i].size)
		v = v[letters:]
	}
	if sum >= math.MaxInt64/2 {
		return 0, false
	}
	return int64(math.Round(sum)), true
}

// parseTimes reads one time, or two with ".." between them, both ends included.
func parseTimes(v string, now time.Time) (span, bool) {
	from, to, isRange := strings.Cut(v, "..")
	a, ok := parseTime(from, now)
	if !ok || !isRange {
		return a, ok
	}
	b, ok := parseTime(to, now)
	if !ok || (a.clock == nil) != (b.clock == nil) || a.clock == nil && b.hi <= a.lo {
		return span{}, false
	}
	return span{a.lo, b.hi, a.clock}, true
}

// layouts of times, and how long what each of them names is.
var layouts = []struct {
	layout string
	clock  bool
	length time.Duration
}{
	{"15:04", true, time.Minute},
	{"15:04:05", true, time.Second},
	{"15:04:05.000", true, time.Millisecond},
	{"2006-01-02", false, 0}, // a day, which is not always 24 hours
	{"2006-01-02T15:04", false, time.Minute},
	{"2006-01-02T15:04:05", false, time.Second},
	{"2006-01-02T15:04:05.000", false, time.Millisecond},
	{"2006-01-02T15:04:05Z07:00", false, time.Second},
}

func parseTime(v string, now time.Time) (span, bool) {
	if v == "now" {
		return span{lo: now.UnixNano(), hi: now.UnixNano() + 1}, true
	}
	if ago, ok := strings.CutPrefix(v, "-"); ok {
		d, ok := parseAmount(ago, units[durationKind])
		at := now.UnixNano() - d
		return span{lo: at, hi: at + 1}, ok
	}
	for _, l := range layouts {
		t, err := time.ParseInLocation(l.layout, v, now.Location())
		switch {
		case err != nil:
			continue
		case l.clock:
			at := int64(t.Sub(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())))
			return span{at, at + int64(l.length), now.Location()}, true
		case t.Year() < 1900 || t.Year() > 2200: // beyond what nanoseconds can count
			return span{}, false
		case l.length == 0:
			return span{lo: t.UnixNano(), hi: t.AddDate(0, 0, 1).UnixNano()}, true
		}
		return span{lo: t.UnixNano(), hi: t.Add(l.length).UnixNano()}, true
	}
	return span{}, false
}
