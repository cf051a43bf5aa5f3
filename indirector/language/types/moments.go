package types

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// A moment is a time as far from its beginning as 64 bits of seconds are. Puppet has no limit.
type moment struct{ seconds, nanoseconds int64 }

const perSecond = 1_000_000_000

// momentOf returns the moment of so many nanoseconds.
func momentOf(ns *big.Int) (moment, error) {
	s, rest := new(big.Int).DivMod(ns, big.NewInt(perSecond), new(big.Int))
	if !s.IsInt64() {
		return moment{}, fmt.Errorf("times of %s nanoseconds: %w", ns, errors.ErrUnsupported)
	}
	return moment{s.Int64(), rest.Int64()}, nil
}

// total returns the moment in nanoseconds.
func (m moment) total() *big.Int {
	n := new(big.Int).Mul(big.NewInt(m.seconds), big.NewInt(perSecond))
	return n.Add(n, big.NewInt(m.nanoseconds))
}

// float returns the moment in seconds.
func (m moment) float() float64 {
	r := new(big.Rat).SetFrac(m.total(), big.NewInt(perSecond))
	if r.Num().IsInt64() { // Ruby divides two floats then
		return float64(r.Num().Int64()) / float64(r.Denom().Int64())
	}
	f, _ := r.Float64()
	return f
}

// whole returns the seconds of the moment, without what Go cuts off a fraction.
func (m moment) whole() int64 {
	if m.seconds < 0 && m.nanoseconds > 0 {
		return m.seconds + 1
	}
	return m.seconds
}

func (m moment) time() time.Time { return time.Unix(m.seconds, m.nanoseconds).UTC() }

func (m moment) after(o moment) bool {
	return m.seconds > o.seconds || m.seconds == o.seconds && m.nanoseconds > o.nanoseconds
}

func (m moment) timestamp() string { return rich.FormatTimestamp(m.time()) }

func (m moment) timespan() string { return rich.TimespanOf(m.total()).String() }

// A period is a range of moments that includes its ends. An end may be open.
type period struct {
	from, to     moment
	noFrom, noTo bool
}

// always holds all moments.
var always = period{noFrom: true, noTo: true}

func at(m moment) period { return period{from: m, to: m} }

func (r period) contains(m moment) bool { return r.covers(at(m)) }

// covers reports whether all of o is in r.
func (r period) covers(o period) bool {
	return (r.noFrom || !o.noFrom && !r.from.after(o.from)) && (r.noTo || !o.noTo && !o.to.after(r.to))
}

func (r period) isUnlimited() bool { return r.noFrom && r.noTo }

// hull returns the shortest period with both in it.
func (r period) hull(o period) period {
	if !r.noFrom && (o.noFrom || r.from.after(o.from)) {
		r.from, r.noFrom = o.from, o.noFrom
	}
	if !r.noTo && (o.noTo || o.to.after(r.to)) {
		r.to, r.noTo = o.to, o.noTo
	}
	return r
}

// touches reports whether both have a moment in common, or are neighbours if near.
func (r period) touches(o period, near bool) bool {
	return r.reaches(o, near) && o.reaches(r, near)
}

// reaches reports whether r does not end before o begins.
func (r period) reaches(o period, near bool) bool {
	if r.noTo || o.noFrom || !o.from.after(r.to) {
		return true
	}
	next := r.to
	if next.nanoseconds++; next.nanoseconds == perSecond {
		next = moment{next.seconds + 1, 0}
	}
	return near && next == o.from
}

// NanosecondsOf returns a time in nanoseconds: since 1970, or its length. It is false if v
// is no time.
func NanosecondsOf(v data.Value) (*big.Int, bool) {
	switch r := v.Rich().(type) {
	case timestamp:
		return r.total(), true
	case timespan:
		return r.total(), true
	}
	return new(big.Int), false
}

// TimeOf returns a point in time, and whether v is one.
func TimeOf(v data.Value) (time.Time, bool) {
	r, ok := v.Rich().(timestamp)
	if !ok {
		return time.Time{}, false
	}
	return r.time(), true
}

// OfTimestamp returns a point in time, in nanoseconds since 1970. It fails if that is farther
// away than 64 bits of seconds.
func OfTimestamp(ns *big.Int) (data.Value, error) {
	m, err := momentOf(ns)
	return data.OfRich(timestamp{&m}), err
}

// OfTimespan returns a length of time in nanoseconds, as [OfTimestamp].
func OfTimespan(ns *big.Int) (data.Value, error) {
	m, err := momentOf(ns)
	return data.OfRich(timespan{&m}), err
}
