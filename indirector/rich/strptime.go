package rich

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// composed are the directives that stand for others.
var composed = map[byte]string{
	'c': "%a %b %e %H:%M:%S %Y", 'D': "%m/%d/%y", 'x': "%m/%d/%y", 'F': "%Y-%m-%d", 'R': "%H:%M", 'r': "%I:%M:%S %p",
	'T': "%H:%M:%S", 'X': "%H:%M:%S", 'v': "%e-%b-%Y", '+': "%a %b %e %H:%M:%S %Z %Y", 'n': " ", 't': " ",
}

// A clockNumber is a directive that reads digits: up to how many, and between what they
// must be.
type clockNumber struct {
	digits, least, most int
	blank               bool // a blank may stand for the first digit
}

var clockNumbers = map[byte]clockNumber{
	'd': {2, 1, 31, true}, 'e': {2, 1, 31, true}, 'H': {2, 0, 24, true}, 'k': {2, 0, 24, true}, 'I': {2, 1, 12, true}, 'l': {2, 1, 12, true},
	'm': {2, 1, 12, false}, 'M': {2, 0, 59, false}, 'S': {2, 0, 60, false}, 'y': {2, 0, 99, false}, 'j': {3, 1, 366, false},
	'g': {2, 0, 99, false}, 'V': {2, 1, 53, false}, 'U': {2, 0, 53, false}, 'W': {2, 0, 53, false}, 'u': {1, 1, 7, false}, 'w': {1, 0, 6, false},
}

var (
	monthNames = strings.Fields("january february march april may june july august september october november december")
	dayNames   = strings.Fields("sunday monday tuesday wednesday thursday friday saturday")
	half       = regexp.MustCompile(`(?i)\A[ap](?:m|\.m\.)`)
	zoneName   = regexp.MustCompile(`\A(?:` + strings.TrimPrefix(zoneFormat, `\s*`) + `)`)
)

// A stampReader reads a point in time by the directives of Ruby's strptime. Those that
// Puppet takes nothing from, as weeks and days of the week, are read and forgotten.
type stampReader struct {
	s    string // the rest
	ok   bool
	got  map[byte]int // numbers by the directives Y m d H M S; C is a century that is added to Y
	ns   int
	half byte // a or p
	zone string
}

// stored are the directives whose numbers replace those of another.
var stored = map[byte]byte{'e': 'd', 'k': 'H', 'I': 'H', 'l': 'H'}

// read reads what a format describes.
func (r *stampReader) read(format string) {
	for format != "" && r.ok {
		c := format[0]
		format = format[1:]
		switch {
		case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			r.s = strings.TrimLeft(r.s, " \t\n\v\f\r")
		case c != '%' || format == "":
			r.literal(string(c))
		default:
			colons := len(format) - len(strings.TrimLeft(format, ":"))
			if colons > 0 && colons < 4 && strings.HasPrefix(format[colons:], "z") {
				format = format[colons:]
			}
			directive := format[0]
			format = format[1:]
			r.directive(directive, isNumeric(format))
		}
	}
}

// isNumeric reports whether a format goes on with digits, which those before then may
// not take.
func isNumeric(format string) bool {
	if format == "" {
		return false
	}
	if format[0] == '%' && len(format) > 1 {
		return strings.IndexByte("CDdeFGgHIjkLlMmNQRrSsTUuVvWwXxYy0123456789", format[1]) >= 0
	}
	return isDigit(format[0])
}

func (r *stampReader) literal(s string) {
	rest, ok := strings.CutPrefix(r.s, s)
	r.s, r.ok = rest, r.ok && ok
}

func (r *stampReader) directive(c byte, numeric bool) {
	if format, ok := composed[c]; ok {
		r.read(format)
		return
	}
	if n, ok := clockNumbers[c]; ok {
		r.number(c, n)
		return
	}
	switch c {
	case 'Y', 'G':
		r.signed(c, numeric, 4)
	case 'C':
		if r.ok = r.s != "" && isDigit(r.s[0]); r.ok {
			r.signed(c, numeric, 2)
		}
	case 's', 'Q':
		r.signed(c, false, 0)
	case 'L', 'N':
		r.fraction(c, numeric)
	case 'b', 'B', 'h':
		r.got['m'] = r.name(monthNames) + 1
	case 'a', 'A':
		r.name(dayNames)
	case 'p', 'P':
		g := half.FindString(r.s)
		if r.ok = g != ""; r.ok {
			r.half, r.s = g[0]|0x20, r.s[len(g):]
		}
	case 'z', 'Z':
		r.zone = zoneName.FindString(r.s)
		r.ok = r.zone != ""
		r.s = r.s[len(r.zone):]
	case '%':
		r.literal("%")
	default:
		r.literal("%" + string(c))
	}
}

func (r *stampReader) number(c byte, n clockNumber) {
	end := 0
	if n.blank && strings.HasPrefix(r.s, " ") {
		end = 1
	}
	for end < len(r.s) && end < n.digits && isDigit(r.s[end]) {
		end++
	}
	v, err := strconv.Atoi(strings.TrimPrefix(r.s[:end], " "))
	if r.ok = err == nil && v >= n.least && v <= n.most; !r.ok {
		return
	}
	r.s = r.s[end:]
	if other, ok := stored[c]; ok {
		c = other
	}
	if c == 'y' { // Ruby adds the century of the first short year to the last year of all
		c = 'Y'
		if _, ok := r.got['C']; !ok {
			r.got['C'] = 19
			if v < 69 {
				r.got['C'] = 20
			}
		}
	}
	r.got[c] = v
}

// signed reads a number of any size, unless digits follow.
func (r *stampReader) signed(c byte, numeric bool, digits int) {
	text := r.digits(numeric, digits)
	v, err := strconv.Atoi(text)
	if r.ok = err == nil; r.ok {
		r.got[c] = v
	}
}

func (r *stampReader) digits(numeric bool, digits int) string {
	end := 0
	if r.s != "" && (r.s[0] == '-' || r.s[0] == '+') {
		end = 1
	}
	first := end
	for end < len(r.s) && isDigit(r.s[end]) && (!numeric || end-first < digits) {
		end++
	}
	text := r.s[:end]
	r.s = r.s[end:]
	return text
}

func (r *stampReader) fraction(c byte, numeric bool) {
	digits := map[byte]int{'L': 3, 'N': 9}[c]
	text := r.digits(numeric, digits)
	number := strings.TrimLeft(text, "+-")
	if r.ok = number != ""; !r.ok {
		return
	}
	r.ns, _ = strconv.Atoi((number + "000000000")[:9])
	if text[0] == '-' {
		r.ns = -r.ns
	}
}

// name reads one of some names, or its first three letters, and returns which.
func (r *stampReader) name(names []string) int {
	low := strings.ToLower(r.s[:min(len(r.s), 9)])
	for i, name := range names {
		for _, form := range []string{name, name[:3]} {
			if strings.HasPrefix(low, form) {
				r.s = r.s[len(form):]
				return i
			}
		}
	}
	r.ok = false
	return 0
}

// time returns what was read as if it were UTC.
func (r *stampReader) time() (time.Time, error) {
	year, ok := r.got['Y']
	if !ok {
		return time.Time{}, errorf("can't convert nil into an exact number")
	}
	year += 100 * r.got['C']
	hour, ok := r.got['H']
	if ok && r.half != 0 {
		hour = hour%12 + map[byte]int{'p': 12}[r.half]
	}
	switch {
	case r.ns < 0:
		return time.Time{}, errorf(outOfRange, "subsecx")
	case hour == 24 && r.got['M'] > 0:
		return time.Time{}, errorf(outOfRange, "min")
	case hour == 24 && r.got['S'] > 0:
		return time.Time{}, errorf(outOfRange, "sec")
	}
	return time.Date(year, time.Month(max(r.got['m'], 1)), max(r.got['d'], 1), hour, r.got['M'], r.got['S'], r.ns, time.UTC), nil
}

// withoutZone are Puppet's formats where the time zone is given apart.
var withoutZone = []string{"%FT%T.%N", "%FT%T", "%F %T.%N", "%F %T", "%F"}

// ParseTimestampBy reads a point in time in the first of several formats that fits; one
// alone has errors of its own. A zone, unless it is "", is that of a text without one;
// then there need be no formats. Errors are in Puppet's words.
func ParseTimestampBy(s string, formats []string, several bool, zone string) (time.Time, error) {
	if formats == nil && zone == "" {
		return ParseTimestamp(s)
	}
	if formats == nil {
		formats, several = withoutZone, true
	}
	for _, format := range formats {
		r := stampReader{s: s, ok: true, got: map[byte]int{}}
		r.read(format)
		switch fits := r.ok && r.s == ""; {
		case !fits && !several:
			return time.Time{}, errorf("Unable to parse '%s' using format '%s'", s, format)
		case fits && zone != "" && r.zone != "" && !several:
			return time.Time{}, errorf("Using a Timezone designator in format specification is mutually exclusive to providing an explicit timezone argument")
		case fits && (zone == "" || r.zone == ""):
			return r.inZone(zone)
		}
	}
	return time.Time{}, errorf("Unable to parse '%s' using any of the formats %s", s, strings.Join(formats, ", "))
}

// inZone returns what was read in a zone: that of the text, or the one that is given.
func (r *stampReader) inZone(zone string) (time.Time, error) {
	t, err := r.time()
	if err != nil {
		return t, err
	}
	if r.zone != "" {
		zone = r.zone
	}
	switch {
	case zone == "":
		return t, nil
	case strings.EqualFold(zone, "current"):
		_, offset := time.Now().Zone()
		return t.Add(-time.Duration(offset) * time.Second), nil
	}
	offset, ok := zoneOffset(zone)
	if !ok {
		return t, errorf(badZone, zone)
	}
	return t.Add(-time.Duration(offset) * time.Second), nil
}
