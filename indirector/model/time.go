package model

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"indirtui/indirector/data"
)

// A Time is a moment and the text that it was read from. The zero Time is
// unset. Rule FMT-07.
type Time struct {
	at   time.Time
	text string
}

// At returns the Time for t, whose text is Puppet's.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{at: t}
}

// Time returns the moment. That of Go's zero time is a nanosecond later: it is
// long gone, not unset.
func (t Time) Time() time.Time {
	if t.at.IsZero() && !t.IsZero() {
		return t.at.Add(1)
	}
	return t.at
}

// IsZero reports whether t is none.
func (t Time) IsZero() bool { return t.at.IsZero() && t.text == "" }

// Text returns the text that was read, else String.
func (t Time) Text() string {
	if t.text != "" {
		return t.text
	}
	return t.String()
}

// String returns t as Puppet writes it: ISO 8601 with nine fractional digits
// and the offset, or Z when the time is flagged as UTC.
func (t Time) String() string {
	switch {
	case t.IsZero():
		return ""
	case written(t.text):
		return t.text
	case t.at.Location() == time.UTC:
		return t.at.Format("2006-01-02T15:04:05.000000000Z")
	}
	return t.at.Format("2006-01-02T15:04:05.000000000-07:00")
}

func (t Time) value() data.Value {
	if t.IsZero() {
		return data.Value{}
	}
	return data.OfString(t.String())
}

// time reads a time; other values than strings stay as they are, as in Puppet.
func (o *odd) time(key string, v data.Value) (Time, error) {
	if v.Kind() == data.String {
		return ParseTime(v.Str())
	}
	if v.Truthy() {
		*o = append(*o, data.P(key, v))
	}
	return Time{}, nil
}

// moment reads a time of a report and refuses other values. Puppet refuses them
// when it writes the report.
func (o *odd) moment(key string, v data.Value) (Time, error) {
	if v.Kind() != data.String && v.Truthy() {
		return Time{}, undefined("iso8601", v)
	}
	return o.time(key, v)
}

// ofTime writes a time.
func (o odd) ofTime(key string, t Time) data.Value {
	if t.IsZero() {
		v, _ := o.find(key)
		return v
	}
	return t.value()
}

const layout = "dddd-dd-ddTdd:dd:dd.ddddddddd"

// written reports whether s is in the form that Puppet writes.
func written(s string) bool {
	n := len(layout)
	if len(s) != n+1 && len(s) != n+6 {
		return false
	}
	if !shaped(s[:n], layout) {
		return false
	}
	if len(s) == n+1 {
		return s[n] == 'Z'
	}
	return (s[n] == '+' || s[n] == '-' && s[n:] != "-00:00") && shaped(s[n+1:], "dd:dd")
}

func shaped(s, shape string) bool {
	for i := range len(shape) {
		if d := isDigit(s[i]); d != (shape[i] == 'd') || !d && s[i] != shape[i] {
			return false
		}
	}
	return true
}

// utc is an offset of zero that is not flagged as UTC, which Puppet writes as
// +00:00 and not as Z.
var utc = time.FixedZone("", 0)

// ParseTime reads a time the way Ruby's Time.parse does, for the forms that
// occur in Puppet's data: ISO 8601 in full or in part, with a space for the T,
// slashes for the hyphens, any number of fractional digits, an offset or the
// name of a zone, and the mail and C forms. A text without an offset is in
// local time.
func ParseTime(s string) (Time, error) {
	if written(s) {
		return parseWritten(s)
	}
	p := timeParser{text: s, year: -1, month: -1, day: -1, hour: -1}
	at, err := p.parse()
	if err != nil {
		return Time{}, err
	}
	return Time{at: at, text: s}, nil
}

func parseWritten(s string) (Time, error) {
	loc := time.UTC
	if n := len(layout); len(s) > n+1 {
		sec := int(two(s[n+1:]))*3600 + int(two(s[n+4:]))*60
		if s[n] == '-' {
			sec = -sec
		}
		loc = offset(sec)
	}
	nsec := 0
	for i := 20; i < 29; i++ {
		nsec = nsec*10 + int(s[i]-'0')
	}
	year := int(two(s))*100 + int(two(s[2:]))
	at, err := date(year, int(two(s[5:])), int(two(s[8:])), int(two(s[11:])), int(two(s[14:])), int(two(s[17:])), nsec, loc)
	return Time{at: at, text: s}, err
}

func two(s string) byte { return (s[0]-'0')*10 + s[1] - '0' }

func offset(sec int) *time.Location {
	if sec == 0 {
		return utc
	}
	return time.FixedZone("", sec)
}

func date(year, month, day, hour, minute, sec, nsec int, loc *time.Location) (time.Time, error) {
	switch { // Ruby first looks at how many bits the numbers have
	case month > 15 || day > 31 || hour > 31 || minute > 63 || sec > 63:
		return time.Time{}, errors.New("argument out of range")
	case month < 1 || month > 12:
		return time.Time{}, errors.New("mon out of range")
	case day < 1:
		return time.Time{}, errors.New("mday out of range")
	case hour > 24:
		return time.Time{}, errors.New("hour out of range")
	case minute > 59 || hour == 24 && minute > 0:
		return time.Time{}, errors.New("min out of range")
	case sec > 60 || hour == 24 && sec > 0:
		return time.Time{}, errors.New("sec out of range")
	}
	return time.Date(year, time.Month(month), day, hour, minute, sec, nsec, loc), nil
}

// A timeParser takes the words of a text one by one; their form decides their
// meaning, as in Ruby.
type timeParser struct {
	text                    string
	year, month, day        int
	hour, minute, sec, nsec int
	loc                     *time.Location
	rest                    string
}

// allDigits reads a text of digits alone: how many they are decides what they
// mean.
func (p *timeParser) allDigits(s string) error {
	s = s[:min(len(s), 14)]
	take := func(n int) int {
		v := number(s[:n])
		s = s[n:]
		return v
	}
	yday := -1
	switch n := len(s); n {
	case 5, 6:
		if p.year = 1900 + take(2); p.year < 1969 {
			p.year += 100
		}
	case 7, 8, 10, 12, 14:
		p.year = take(4)
	case 2, 3, 4:
	default:
		return nil
	}
	switch len(s) {
	case 2:
		p.day = take(2)
		return nil
	case 3:
		yday = take(3)
	default:
		p.month, p.day = take(2), take(2)
		p.hour = 0
	}
	for _, to := range []*int{&p.hour, &p.minute, &p.sec} {
		if s != "" {
			*to = take(2)
		}
	}
	if yday < 0 {
		return nil
	}
	year := p.year
	if year < 0 {
		year = time.Now().Year()
	}
	first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	if day := first.AddDate(0, 0, yday-1); yday > 0 && day.Year() == year {
		p.month, p.day = int(day.Month()), day.Day()
		return nil
	}
	return fmt.Errorf("yday %d out of range", yday)
}

func (p *timeParser) parse() (time.Time, error) {
	if span(p.text, isDigit) == len(p.text) && p.text != "" {
		if err := p.allDigits(p.text); err != nil {
			return time.Time{}, err
		}
		if p.day >= 0 {
			return p.moment()
		}
	}
	for p.rest = p.text; p.rest != ""; {
		n := p.word()
		p.rest = p.rest[max(n, 1):]
	}
	if p.hour < 0 && (p.day < 0 || p.month < 0) {
		return time.Time{}, fmt.Errorf("no time information in %s", data.InspectString(p.text))
	}
	return p.moment()
}

// moment returns the time that was read; what was not is taken from the present
// or is the first.
func (p *timeParser) moment() (time.Time, error) {
	now := time.Now()
	if p.year < 0 {
		p.year = now.Year()
	}
	if p.month < 0 {
		p.month = int(now.Month())
		if p.day < 0 {
			p.day = now.Day()
		}
	}
	if p.day < 0 {
		p.day = 1
	}
	if p.loc != nil {
		return date(p.year, p.month, p.day, max(p.hour, 0), p.minute, p.sec, p.nsec, p.loc)
	}
	at, err := date(p.year, p.month, p.day, max(p.hour, 0), p.minute, p.sec, p.nsec, time.Local)
	_, sec := at.Zone()
	return at.In(offset(sec)), err // local time is never flagged as UTC
}

// word takes what p.rest begins with and returns its length; zero if it is
// nothing.
func (p *timeParser) word() int {
	s := p.rest
	switch c := s[0]; {
	case isDigit(c):
		return p.digits(s)
	case isLetter(c):
		return p.letters(s)
	}
	return 0
}

func (p *timeParser) digits(s string) int {
	n := span(s, isDigit)
	switch {
	case n <= 2 && n < len(s) && s[n] == ':' && p.hour < 0:
		return p.clock(s)
	case n == 4 && n < len(s) && (s[n] == '-' || s[n] == '/') && p.year < 0:
		return p.ymd(s)
	case n == 8 && p.year < 0: // before a time of day
		p.year, p.month, p.day = number(s[:4]), number(s[4:6]), number(s[6:8])
	case n == 6 && p.year >= 0 && p.hour < 0:
		p.hour, p.minute, p.sec = number(s[:2]), number(s[2:4]), number(s[4:6])
		return n + p.fraction(s[n:])
	case n == 4 && p.year < 0:
		p.year = number(s[:4])
	case n <= 2 && p.day < 0:
		p.day = number(s[:n])
	}
	return n
}

// ymd takes 2021-01-02, 2021-1-2 and 2021/01/02.
func (p *timeParser) ymd(s string) int {
	month := span(s[5:], isDigit)
	if month == 0 || month > 2 || 5+month >= len(s) || s[5+month] != s[4] {
		return 4
	}
	day := span(s[6+month:], isDigit)
	if day == 0 || day > 2 {
		return 4
	}
	p.year, p.month, p.day = number(s[:4]), number(s[5:5+month]), number(s[6+month:6+month+day])
	return 6 + month + day
}

// clock takes 10:20, 10:20:30 and 10:20:30.5, with what follows: the half of
// the day and the zone.
func (p *timeParser) clock(s string) int {
	n := span(s, isDigit)
	p.hour = number(s[:n])
	i := n + 1
	n = span(s[i:], isDigit)
	p.minute = number(s[i : i+min(n, 2)])
	i += n
	if i+1 < len(s) && s[i] == ':' && isDigit(s[i+1]) {
		n = span(s[i+1:], isDigit)
		p.sec = number(s[i+1 : i+1+min(n, 2)])
		i += 1 + n
	}
	return i + p.fraction(s[i:])
}

// fraction takes the digits after the seconds and the zone after them.
func (p *timeParser) fraction(s string) int {
	i := 0
	if len(s) > 1 && (s[0] == '.' || s[0] == ',') && isDigit(s[1]) {
		n := span(s[1:], isDigit)
		digits := s[1 : 1+n]
		for k := range 9 {
			p.nsec *= 10
			if k < n {
				p.nsec += int(digits[k] - '0')
			}
		}
		i = 1 + n
	}
	for i < len(s) && s[i] == ' ' {
		i++
	}
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		return i + p.offset(s[i:])
	}
	return i
}

// offset takes +01, +0100 and +01:00. Minus zero is UTC. Rule FMT-07.
func (p *timeParser) offset(s string) int {
	n := span(s[1:], isDigit)
	if n != 2 && n != 4 {
		return 1
	}
	sec := number(s[1:3]) * 3600
	end := 1 + n
	switch {
	case n == 4:
		sec += number(s[3:5]) * 60
	case len(s) >= 6 && s[3] == ':' && isDigit(s[4]) && isDigit(s[5]):
		sec += number(s[4:6]) * 60
		end = 6
	}
	switch {
	case s[0] == '-' && sec == 0:
		p.loc = time.UTC
	case s[0] == '-':
		p.loc = offset(-sec)
	default:
		p.loc = offset(sec)
	}
	return end
}

var zones = map[string]int{
	"gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
	"cet": 1, "cest": 2, "bst": 1, "wet": 0, "west": 1, "eet": 2, "eest": 3, "msk": 3, "jst": 9,
}

func (p *timeParser) letters(s string) int {
	n := span(s, isLetter)
	w := strings.ToLower(s[:n])
	switch {
	case (w == "z" || w == "utc") && p.hour >= 0:
		p.loc = time.UTC
	case w == "pm" && p.hour >= 0:
		p.hour = p.hour%12 + 12
	case w == "am" && p.hour >= 0:
		p.hour %= 12
	case n >= 3 && monthOf(w) > 0 && p.month < 0:
		p.month = monthOf(w)
	default:
		if h, ok := zones[w]; ok && p.hour >= 0 {
			p.loc = offset(h * 3600)
		}
	}
	return n
}

func monthOf(w string) int {
	const months = "janfebmaraprmayjunjulaugsepoctnovdec"
	if i := strings.Index(months, w[:3]); i >= 0 && i%3 == 0 && strings.HasPrefix(strings.ToLower(time.Month(i/3+1).String()), w) {
		return i/3 + 1
	}
	return 0
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func span(s string, in func(byte) bool) int {
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}

func number(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}
