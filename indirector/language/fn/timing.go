package fn

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
	"indirtui/indirector/rich"
)

// timing are functions of times.
func timing() map[string][]eval.Way {
	return map[string][]eval.Way{
		"strftime": {
			way("Timespan time_object; String format", func(c *eval.Invocation) (data.Value, error) {
				ns, _ := types.NanosecondsOf(c.Args[0])
				return formatSpan(ns, c.Args[1].Str())
			}),
			way("Timestamp time_object; String format; String timezone?", func(c *eval.Invocation) (data.Value, error) {
				ns, _ := types.NanosecondsOf(c.Args[0])
				return formatTime(time.Unix(0, ns).UTC(), c.Args[1].Str(), c.Arg(2).Str())
			}),
			way("String format; String timezone?", func(c *eval.Invocation) (data.Value, error) {
				c.WarnOnce("The argument signature (String format, [String timezone]) is deprecated for #strftime. See #strftime documentation and Timespan type for more info", true)
				return formatTime(time.Now().UTC(), c.Args[0].Str(), c.Arg(1).Str())
			}),
		},
	}
}

// A directive is one of a format of times.
type directive struct {
	flags  string // of - 0 ^ # _ :
	width  int    // -1 if none is given
	letter byte
}

// directives calls write for each directive of a format, and text for what lies between.
func directives(format string, text func(string), write func(d directive, whole string) error) error {
	for {
		before, rest, ok := strings.Cut(format, "%")
		text(before)
		if !ok {
			return nil
		}
		d, i := directive{width: -1}, 0
		for i < len(rest) && strings.IndexByte("-0^#_:", rest[i]) >= 0 {
			i++
		}
		d.flags = rest[:i]
		from := i
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' && i-from < 4 {
			i++
		}
		if i > from {
			d.width, _ = strconv.Atoi(rest[from:i])
		}
		for i < len(rest) && rest[i] == ':' {
			d.flags += ":"
			i++
		}
		if i == len(rest) {
			text("%" + rest)
			return nil
		}
		d.letter = rest[i]
		if err := write(d, "%"+rest[:i+1]); err != nil {
			return err
		}
		format = rest[i+1:]
	}
}

// number writes a number with the usual width and padding of a directive, unless its
// flags change them.
func (d directive) number(n int64, width int, padding byte) string {
	return d.padded(strconv.FormatInt(n, 10), width, padding)
}

func (d directive) padded(s string, width int, padding byte) string {
	for _, f := range d.flags {
		switch f {
		case '-':
			return s
		case '0':
			padding = '0'
		case '_':
			padding = ' '
		}
	}
	if d.width >= 0 {
		width = d.width
	}
	if missing := width - len(s); missing > 0 {
		if padding == '0' && s[0] == '-' {
			return "-" + strings.Repeat("0", missing) + s[1:]
		}
		return strings.Repeat(string(padding), missing) + s
	}
	return s
}

func (d directive) word(s string) string {
	switch {
	case strings.Contains(d.flags, "^"):
		s = strings.ToUpper(s)
	case strings.Contains(d.flags, "#"):
		if s = strings.ToUpper(s); d.letter == 'p' || d.letter == 'Z' {
			s = strings.ToLower(s)
		}
	}
	padding := byte(' ')
	if strings.Contains(d.flags, "0") {
		padding = '0'
	}
	return d.padded(s, 0, padding)
}

// composed are directives that stand for formats.
var composed = map[byte]string{
	'F': "%Y-%m-%d", 'T': "%H:%M:%S", 'X': "%H:%M:%S", 'D': "%m/%d/%y", 'x': "%m/%d/%y", 'R': "%H:%M",
	'r': "%I:%M:%S %p", 'c': "%a %b %e %H:%M:%S %Y", 'v': "%e-%^b-%4Y", '+': "%a %b %e %H:%M:%S %Z %Y",
}

// formatTime writes a point in time as Ruby's strftime does. Rule LANG-NEW-03.
func formatTime(t time.Time, format, zone string) (data.Value, error) {
	name := "UTC"
	if zone != "" && zone != "default" {
		offset, err := offsetOf(zone)
		if err != nil {
			return undef, err
		}
		t, name = t.In(time.FixedZone("", offset)), ""
		if offset == 0 && strings.EqualFold(zone, "UTC") {
			name = "UTC"
		}
	}
	var b strings.Builder
	err := directives(format, func(s string) { b.WriteString(s) }, func(d directive, whole string) error {
		if inner, ok := composed[d.letter]; ok {
			v, err := formatTime(t, inner, "")
			b.WriteString(d.word(v.Str()))
			return err
		}
		b.WriteString(timePart(t, d, whole, name))
		return nil
	})
	return data.OfString(b.String()), err
}

// offsetOf returns how many seconds a zone is ahead of UTC: that of a point in time which
// is read in it.
func offsetOf(zone string) (int, error) {
	t, err := rich.ParseTimestampBy("2000-01-01 00:00:00", []string{"%Y-%m-%d %H:%M:%S"}, false, zone)
	if err != nil {
		return 0, err
	}
	return int(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Sub(t).Seconds()), nil
}

func timePart(t time.Time, d directive, whole, zone string) string {
	hour12 := int64((t.Hour()+11)%12 + 1)
	week := func(first int) int64 { return int64((t.YearDay() + 6 - (int(t.Weekday())-first+7)%7) / 7) }
	isoYear, isoWeek := t.ISOWeek()
	switch d.letter {
	case 'Y':
		return d.number(int64(t.Year()), 4, '0')
	case 'C':
		return d.number(int64(t.Year()/100), 2, '0')
	case 'y':
		return d.number(int64(t.Year()%100), 2, '0')
	case 'm':
		return d.number(int64(t.Month()), 2, '0')
	case 'B':
		return d.word(t.Month().String())
	case 'b', 'h':
		return d.word(t.Month().String()[:3])
	case 'd':
		return d.number(int64(t.Day()), 2, '0')
	case 'e':
		return d.number(int64(t.Day()), 2, ' ')
	case 'j':
		return d.number(int64(t.YearDay()), 3, '0')
	case 'H':
		return d.number(int64(t.Hour()), 2, '0')
	case 'k':
		return d.number(int64(t.Hour()), 2, ' ')
	case 'I':
		return d.number(hour12, 2, '0')
	case 'l':
		return d.number(hour12, 2, ' ')
	case 'P':
		return strings.ToLower(t.Format("PM"))
	case 'p':
		return d.word(t.Format("PM"))
	case 'M':
		return d.number(int64(t.Minute()), 2, '0')
	case 'S':
		return d.number(int64(t.Second()), 2, '0')
	case 'A':
		return d.word(t.Weekday().String())
	case 'a':
		return d.word(t.Weekday().String()[:3])
	case 'u':
		return d.number(int64((t.Weekday()+6)%7+1), 1, '0')
	case 'w':
		return d.number(int64(t.Weekday()), 1, '0')
	case 'G':
		return d.number(int64(isoYear), 4, '0')
	case 'g':
		return d.number(int64(isoYear%100), 2, '0')
	case 'V':
		return d.number(int64(isoWeek), 2, '0')
	case 'U':
		return d.number(week(0), 2, '0')
	case 'W':
		return d.number(week(1), 2, '0')
	}
	return clockPart(t, d, whole, zone)
}

// clockPart writes what timePart does not.
func clockPart(t time.Time, d directive, whole, zone string) string {
	switch d.letter {
	case 's':
		return d.number(t.Unix(), 1, '0')
	case 'L', 'N':
		usual := map[byte]int{'L': 3, 'N': 9}[d.letter]
		if d.width > 0 {
			usual = d.width
		}
		digits := fmt.Sprintf("%09d", t.Nanosecond())
		for len(digits) < usual {
			digits += "0"
		}
		return digits[:usual]
	case 'Z':
		return d.word(zone)
	case 'z':
		return zonePart(t, d)
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '%':
		return "%"
	}
	return whole
}

func zonePart(t time.Time, d directive) string {
	_, offset := t.Zone()
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	hours, minutes, seconds := offset/3600, offset/60%60, offset%60
	switch strings.Count(d.flags, ":") {
	case 0:
		return fmt.Sprintf("%s%02d%02d", sign, hours, minutes)
	case 1:
		return fmt.Sprintf("%s%02d:%02d", sign, hours, minutes)
	}
	return fmt.Sprintf("%s%02d:%02d:%02d", sign, hours, minutes, seconds)
}

// units of a length of time, the largest first, and their usual widths.
var units = []struct {
	letter byte
	ns     int64
	width  int
}{{'D', 86400e9, 1}, {'H', 3600e9, 2}, {'M', 60e9, 2}, {'S', 1e9, 2}}

// formatSpan writes a length of time. The largest unit of a format has all that is not
// in others, where it stands first.
func formatSpan(ns int64, format string) (data.Value, error) {
	largest := len(units)
	_ = directives(format, func(string) {}, func(d directive, _ string) error {
		for i, u := range units {
			if u.letter == d.letter {
				largest = min(largest, i)
			}
		}
		return nil
	})
	totaled := false
	var b strings.Builder
	if ns < 0 {
		b.WriteByte('-')
		ns = -ns
	}
	err := directives(format, func(s string) { b.WriteString(s) }, func(d directive, whole string) error {
		for i, u := range units {
			if u.letter != d.letter {
				continue
			}
			n := ns / u.ns
			if i != largest || totaled {
				n = ns % units[max(i, 1)-1].ns / u.ns
			}
			totaled = totaled || i == largest
			b.WriteString(d.number(n, u.width, '0'))
			return nil
		}
		return spanFraction(&b, ns, d, whole, format, largest == len(units))
	})
	return data.OfString(b.String()), err
}

// spanFraction writes the fraction of a second; without another unit it is everything.
func spanFraction(b *strings.Builder, ns int64, d directive, whole, format string, alone bool) error {
	switch d.letter {
	case '%':
		b.WriteByte('%')
	case 'L', 'N':
		digits := map[byte]int{'L': 3, 'N': 9}[d.letter]
		if d.letter == 'N' && d.width > 0 {
			digits = min(d.width, 9)
		}
		n := ns
		if !alone {
			n %= 1e9
		}
		for range 9 - digits {
			n /= 10
		}
		text := fmt.Sprintf("%0*d", digits, n)
		if strings.Contains(d.flags, "-") {
			text = strings.TrimRight(text, "0")
		}
		b.WriteString(text)
	default:
		at := strings.Index(format, whole) + len(whole) - 1
		return eval.Errorf("Bad format specifier '%s' in '%s', at position %d", whole[:len(whole)-1], format, at)
	}
	return nil
}
