package types

import (
	"math"
	"strconv"
)

// An interval is a range of integers that includes its ends. An end may be open.
// A nil *interval is a size that is not restricted.
type interval struct {
	from, to     int64
	noFrom, noTo bool
}

// unlimited holds all integers.
var unlimited = interval{noFrom: true, noTo: true}

// anySize holds all sizes.
var anySize = interval{noTo: true}

func (r interval) contains(n int64) bool {
	return (r.noFrom || r.from <= n) && (r.noTo || n <= r.to)
}

// covers reports whether all of o is in r.
func (r interval) covers(o interval) bool {
	return (r.noFrom || !o.noFrom && r.from <= o.from) && (r.noTo || !o.noTo && o.to <= r.to)
}

func (r interval) isZero() bool { return !r.noFrom && !r.noTo && r.from == 0 && r.to == 0 }

func (r interval) isFinite() bool { return !r.noFrom && !r.noTo }

func (r interval) isUnlimited() bool { return r.noFrom && r.noTo }

// hull returns the shortest interval with both in it.
func (r interval) hull(o interval) interval {
	out := interval{from: min(r.from, o.from), to: max(r.to, o.to), noFrom: r.noFrom || o.noFrom, noTo: r.noTo || o.noTo}
	if out.noFrom {
		out.from = 0
	}
	if out.noTo {
		out.to = 0
	}
	return out
}

// touches reports whether both have a number in common, or are neighbours if
// near.
func (r interval) touches(o interval, near bool) bool {
	return r.reaches(o, near) && o.reaches(r, near)
}

// reaches reports whether r does not end before o begins.
func (r interval) reaches(o interval, near bool) bool {
	if r.noTo || o.noFrom || r.to >= o.from {
		return true
	}
	return near && r.to != math.MaxInt64 && r.to+1 == o.from
}

// toSize returns a range of sizes, which are not negative. An end that was left
// out becomes 0.
func (r *interval) toSize() *interval {
	if r == nil || !r.noFrom && r.from >= 0 {
		return r
	}
	out := interval{to: max(r.to, 0), noTo: r.noTo}
	return &out
}

// orAny returns the range of a size that may not be restricted.
func (r *interval) orAny() interval {
	if r == nil {
		return anySize
	}
	return *r
}

func exactly(n int) interval { return interval{from: int64(n), to: int64(n)} }

// appendEnds appends the parameters that print the range: none if it is
// unlimited.
func (r interval) appendEnds(b []byte) []byte {
	if r.isUnlimited() {
		return b
	}
	if r.noFrom {
		b = append(b, "default"...)
	} else {
		b = strconv.AppendInt(b, r.from, 10)
	}
	if !r.noTo {
		b = strconv.AppendInt(append(b, ", "...), r.to, 10)
	}
	return b
}

// phrase is the range in messages: "at least 1". Zero has its own word.
func (r interval) phrase(zero string) string {
	switch {
	case !r.noTo && r.from == r.to:
		if r.from == 0 {
			return zero
		}
		return strconv.FormatInt(r.from, 10)
	case r.from == 0 && r.noTo:
		return "unlimited"
	case r.from == 0:
		return "at most " + strconv.FormatInt(r.to, 10)
	case r.noTo:
		return "at least " + strconv.FormatInt(r.from, 10)
	}
	return "between " + strconv.FormatInt(r.from, 10) + " and " + strconv.FormatInt(r.to, 10)
}
