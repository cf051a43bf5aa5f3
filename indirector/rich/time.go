package rich

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Timespan is a length of time in nanoseconds, of any size. The zero value is
// none at all.
type Timespan struct{ ns big.Int }

// spanFormats are Puppet's formats, in the order in which they are tried, and
// how many nanoseconds the groups are; the last group may be a fraction.
var spanFormats = []struct {
	pattern *regexp.Regexp
	units   []int64
	seconds bool // a fraction follows
}{
	{regexp.MustCompile(`\A-?([0-9]+)-([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})\.([0-9]{1,9})\z`), []int64{86400, 3600, 60, 1}, true},
	{regexp.MustCompile(`\A-?([0-9]+):([0-9]{1,2}):([0-9]{1,2})\.([0-9]{1,9})\z`), []int64{3600, 60, 1}, true},
	{regexp.MustCompile(`\A-?([0-9]+):([0-9]{1,2})\.([0-9]{1,9})\z`), []int64{60, 1}, true},
	{regexp.MustCompile(`\A-?([0-9]+)\.([0-9]{1,9})\z`), []int64{1}, true},
	{regexp.MustCompile(`\A-?([0-9]+)-([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})\z`), []int64{86400, 3600, 60, 1}, false},
	{regexp.MustCompile(`\A-?([0-9]+):([0-9]{1,2}):([0-9]{1,2})\z`), []int64{3600, 60, 1}, false},
	{regexp.MustCompile(`\A-?([0-9]+)-([0-9]{1,2}):([0-9]{1,2})\z`), []int64{86400, 3600, 60}, false},
	{regexp.MustCompile(`\A-?([0-9]+)\z`), []int64{1}, false},
}

// ParseTimespan reads a timespan in one of Puppet's default formats.
func ParseTimespan(s string) (Timespan, error) {
	for _, f := range spanFormats {
		groups := f.pattern.FindStringSubmatch(s)
		if groups == nil {
			continue
		}
		var t Timespan
		for i, unit := range f.units {
			var n big.Int
			n.SetString(groups[i+1], 10)
			t.ns.Add(&t.ns, n.Mul(&n, big.NewInt(unit*int64(time.Second))))
		}
		if f.seconds {
			fraction := groups[len(groups)-1]
			n, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
			t.ns.Add(&t.ns, big.NewInt(n))
		}
		if s[0] == '-' {
			t.ns.Neg(&t.ns)
		}
		return t, nil
	}
	return Timespan{}, errorf(badTimespan, s)
}

// timespanOf returns the timespan of so many seconds.
func timespanOf(seconds float64) Timespan {
	var t Timespan
	f := new(big.Float).SetFloat64(seconds * 1e9)
	f.Int(&t.ns)
	return t
}

// String returns days, hours, minutes, seconds and the digits of the fraction
// without zeros at the end. Puppet also leaves out those at the front, so that
// 5 ms are written like 500 ms.
func (t Timespan) String() string {
	var days, rest big.Int
	days.QuoRem(new(big.Int).Abs(&t.ns), big.NewInt(86400*int64(time.Second)), &rest)
	ns := rest.Int64()
	s := ns / int64(time.Second)
	b := days.Append(nil, 10)
	if t.ns.Sign() < 0 {
		b = append([]byte{'-'}, b...)
	}
	for i, n := range []int64{s / 3600, s / 60 % 60, s % 60} {
		b = append(b, "-::"[i], byte('0'+n/10), byte('0'+n%10))
	}
	fraction := ns % int64(time.Second)
	for fraction != 0 && fraction%10 == 0 {
		fraction /= 10
	}
	return string(strconv.AppendInt(append(b, '.'), fraction, 10))
}

// The parts of the formats of timestamps.
const (
	dateFormat = `([+-]?[0-9]+)-([0-9]{1,2})-( [0-9]|[0-9]{1,2})`
	timeFormat = `( [0-9]|[0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})`
	fraction   = `\.([+-]?[0-9]+)`
	zoneFormat = `\s*((?i:(?:gmt|utc?)?[-+][0-9]+(?:[,.:][0-9]+(?::[0-9]+)?)?|(?:[\p{L}.\s]+)(?:standard|daylight)\s+time\b|(?:\p{L}+)(?:\sdst)?\b))`
)

// stampFormats are Puppet's, in the order in which they are tried.
var stampFormats = sync.OnceValue(func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, f := range []string{
		dateFormat + "T" + timeFormat + fraction + zoneFormat, dateFormat + "T" + timeFormat + zoneFormat,
		dateFormat + `\s*` + timeFormat + fraction + zoneFormat, dateFormat + `\s*` + timeFormat + zoneFormat,
		dateFormat + zoneFormat,
		dateFormat + "T" + timeFormat + fraction, dateFormat + "T" + timeFormat,
		dateFormat + `\s*` + timeFormat + fraction, dateFormat + `\s*` + timeFormat,
		dateFormat,
	} {
		all = append(all, regexp.MustCompile(`\A`+f+`\z`))
	}
	return all
})

// The formats that have a time of day, a fraction and a zone.
var (
	hasTime     = [10]bool{true, true, true, true, false, true, true, true, true, false}
	hasFraction = [10]bool{0: true, 2: true, 5: true, 7: true}
	hasZone     = [10]bool{true, true, true, true, true}
)

// ParseTimestamp reads a point in time in one of Puppet's default formats.
func ParseTimestamp(s string) (time.Time, error) {
	for i, f := range stampFormats() {
		groups := f.FindStringSubmatch(s)
		if groups == nil || cutsDay(s, groups) {
			continue
		}
		n, ok := stampNumbers(groups[1:], hasTime[i])
		if !ok {
			continue
		}
		ns := 0
		rest := groups[4:]
		if hasTime[i] {
			rest = groups[7:]
		}
		if hasFraction[i] {
			if strings.HasPrefix(rest[0], "-") && strings.Trim(rest[0], "-0") != "" {
				return time.Time{}, errorf(outOfRange, "subsecx")
			}
			ns, _ = strconv.Atoi((strings.TrimLeft(rest[0], "+-") + "000000000")[:9])
			rest = rest[1:]
		}
		offset := 0
		if hasZone[i] {
			if offset, ok = zoneOffset(rest[0]); !ok {
				return time.Time{}, errorf(badZone, rest[0])
			}
		}
		switch {
		case n[3] == 24 && n[4] > 0:
			return time.Time{}, errorf(outOfRange, "min")
		case n[3] == 24 && n[5] > 0:
			return time.Time{}, errorf(outOfRange, "sec")
		}
		return time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5]-offset, ns, time.UTC), nil
	}
	return time.Time{}, errorf(badTimestamp, s)
}

// cutsDay reports whether the day of a match ends between two digits: Ruby reads
// both, whatever follows.
func cutsDay(s string, groups []string) bool {
	end := len(groups[1]) + len(groups[2]) + len(groups[3]) + len("--")
	return len(groups[3]) == 1 && end < len(s) && isDigit(s[end])
}

// stampNumbers returns year, month, day, hour, minute and second if they are in
// their ranges.
func stampNumbers(groups []string, clock bool) (n [6]int, ok bool) {
	least := [...]int{-1e9, 1, 1, 0, 0, 0}
	most := [...]int{1e9, 12, 31, 24, 59, 60}
	for i := range n {
		if i > 2 && !clock {
			break
		}
		v, err := strconv.Atoi(strings.TrimLeft(groups[i], " "))
		if err != nil || v < least[i] || v > most[i] {
			return n, false
		}
		n[i] = v
	}
	return n, true
}

// FormatTimestamp writes a point in time as Puppet does.
func FormatTimestamp(t time.Time) string {
	year := t.Year()
	sign := ""
	if year < 0 {
		sign, year = "-", -year
	}
	digits := strconv.Itoa(year)
	return sign + strings.Repeat("0", max(0, 4-len(digits))) + digits + t.Format("-01-02T15:04:05.000000000 UTC")
}

var (
	numericZone = regexp.MustCompile(`\A(?:gmt|utc?)?([-+])([0-9]+)(?:([,.:])([0-9]+)(?::([0-9]+))?)?\z`)
	namedZones  = sync.OnceValue(func() map[string]int {
		m := map[string]int{}
		for line := range strings.Lines(strings.TrimSpace(zones)) {
			fields := strings.Fields(line)
			h, _ := strconv.Atoi(fields[0][1:3])
			minutes, _ := strconv.Atoi(fields[0][4:])
			offset := 3600*h + 60*minutes
			if fields[0][0] == '-' {
				offset = -offset
			}
			for _, name := range fields[1:] {
				m[name] = offset
			}
		}
		return m
	})
)

// zoneOffset returns the seconds that a time zone is ahead of UTC.
func zoneOffset(s string) (int, bool) {
	name := strings.ToLower(strings.Join(strings.Fields(s), " "))
	if g := numericZone.FindStringSubmatch(name); g != nil {
		offset := numericOffset(g)
		if g[1] == "-" {
			offset = -offset
		}
		return offset, true
	}
	summer := 0
	for suffix, more := range map[string]int{" standard time": 0, " daylight time": 3600, " dst": 3600} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			name, summer = base, more
		}
	}
	offset, ok := namedZones()[name]
	return offset + summer, ok
}

func numericOffset(g []string) int {
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	if g[3] == ":" {
		return 3600*number(g[2]) + 60*number(g[4]) + number(g[5])
	}
	if g[3] != "" { // a fraction of an hour
		f, _ := strconv.ParseFloat("0."+g[4], 64)
		return 3600*number(g[2]) + int(f*3600+0.5)
	}
	digits := g[2]
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	offset := 0
	for i, unit := range []int{3600, 60, 1} {
		if 2*i+2 <= len(digits) {
			offset += unit * number(digits[2*i:2*i+2])
		}
	}
	return offset
}

// TimespanOf returns a timespan of so many nanoseconds.
func TimespanOf(ns *big.Int) Timespan {
	var t Timespan
	t.ns.Set(ns)
	return t
}

// Nanoseconds returns the length of t in nanoseconds, which may be of any size.
func (t Timespan) Nanoseconds() *big.Int { return new(big.Int).Set(&t.ns) }
