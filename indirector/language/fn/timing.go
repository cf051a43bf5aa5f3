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
				text, err := rich.FormatTimespan(rich.TimespanOf(ns), c.Args[1].Str())
				return data.OfString(text), err
			}),
			way("Timestamp time_object; String format; String timezone?", func(c *eval.Invocation) (data.Value, error) {
				t, _ := types.TimeOf(c.Args[0])
				return formatTime(t, c.Args[1].Str(), c.Arg(2).Str())
			}),
			way("String format; String timezone?", func(c *eval.Invocation) (data.Value, error) {
				c.WarnOnce(eval.Deprecations, "The argument signature (String format, [String timezone]) is deprecated for #strftime. See #strftime documentation and Timespan type for more info", true)
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
// What looks like a directive and is none is text.
func directives(format string, text func(string), write func(d directive, whole string) error) error {
	for rest := format; ; {
		before, after, ok := strings.Cut(rest, "%")
		text(before)
		if !ok {
			return nil
		}
		d, n := readDirective(after)
		if n == 0 {
			return eval.Errorf("invalid format: %s", format)
		}
		whole := "%" + after[:n]
		if d.letter == 0 {
			text(whole)
		} else if err := write(d, whole); err != nil {
			return err
		}
		rest = after[n:]
	}
}

// readDirective returns what stands behind a %, and its length, which is 0 if it has no end.
// Without a letter it is no directive.
func readDirective(s string) (directive, int) {
	d := directive{width: -1}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case strings.IndexByte("-0^#_", c) >= 0:
			d.flags += string(c)
		case c >= '1' && c <= '9':
			from := i
			for i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' && i-from < 3 {
				i++
			}
			d.width, _ = strconv.Atoi(s[from : i+1])
		case c == ':':
			colons := len(s[i:]) - len(strings.TrimLeft(s[i:], ":"))
			if colons > 3 || !strings.HasPrefix(s[i+colons:], "z") {
				return d, i + 1
			}
			d.flags += s[i : i+colons]
			i += colons - 1
		case c == 'E' || c == 'O':
			if next := s[i+1:]; next == "" || strings.IndexByte(alternatives[c], next[0]) < 0 {
				return d, i + 1
			}
		default:
			d.letter = c
			return d, i + 1
		}
	}
	return d, 0
}

// alternatives are the letters that may follow E and O, which change nothing.
var alternatives = map[byte]string{'E': "cCxXyY", 'O': "deHkIlmMSuUVwWy"}

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
	'r': "%I:%M:%S %p", 'c': "%a %b %e %H:%M:%S %Y", 'v': "%e-%^b-%4Y",
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
		return zonePart(t, d, zone)
	case 'n':
		return d.word("\n")
	case 't':
		return d.word("\t")
	case '%':
		return d.word("%")
	}
	return whole
}

// zonePart writes an offset. The sign of UTC is - with the flag -, and what a width has more
// goes to the hours.
func zonePart(t time.Time, d directive, zone string) string {
	_, offset := t.Zone()
	sign := "+"
	if offset < 0 || zone == "UTC" && strings.Contains(d.flags, "-") {
		sign, offset = "-", max(offset, -offset)
	}
	tail := []string{"", fmt.Sprintf(":%02d", offset/60%60), fmt.Sprintf(":%02d", offset%60)}
	colons := strings.Count(d.flags, ":")
	switch {
	case colons == 0:
		tail = []string{"", tail[1][1:]}
	case colons == 3 && offset%3600 == 0:
		tail = tail[:1]
	case colons == 1, colons == 3 && offset%60 == 0:
		tail = tail[:2]
	}
	rest := strings.Join(tail, "")
	width := max(d.width-len(rest)-1, 2)
	if strings.Contains(d.flags, "_") {
		return fmt.Sprintf("%*s%s", width+1, sign+strconv.Itoa(offset/3600), rest)
	}
	return fmt.Sprintf("%s%0*d%s", sign, width, offset/3600, rest)
}
