package store

import (
	"encoding/json"
	"math"
	"unicode/utf8"
)

// A scanner reads the line of a request as probes write it: names that are known, no
// blanks. Of anything else it gives up, and encoding/json reads the line, which takes
// five times as long and decides what is wrong. The texts of requests are mostly the
// same few, so that one is kept for all.
type scanner struct {
	b     []byte
	at    int
	odd   bool // something is not as expected: what was read is worth nothing
	texts map[string]string
}

// What is kept of texts.
const (
	maxTexts = 4096
	maxText  = 96 // bytes
)

// scan reads a line into an empty l. It reports false where encoding/json must.
func (s *scanner) scan(b []byte, l *line) bool {
	s.b, s.at, s.odd = b, 0, false
	s.object(func(name string) { s.field(name, l) })
	return !s.odd && s.at == len(b)
}

// is takes a byte if it comes next.
func (s *scanner) is(c byte) bool {
	if s.at < len(s.b) && s.b[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) must(c byte) { s.odd = !s.is(c) || s.odd }

// object reads an object. Field reads the value of a name.
func (s *scanner) object(field func(name string)) {
	for more := s.open('{', '}'); more; more = s.more('}') {
		name := s.raw()
		s.must(':')
		if !s.odd {
			field(string(name))
		}
	}
}

// array reads an array, element by element.
func (s *scanner) array(element func()) {
	for more := s.open('[', ']'); more; more = s.more(']') {
		element()
	}
}

func (s *scanner) open(first, last byte) bool {
	s.must(first)
	return !s.odd && !s.is(last)
}

func (s *scanner) more(last byte) bool {
	if s.odd || s.is(last) {
		return false
	}
	s.must(',')
	return !s.odd
}

// raw reads a string in which nothing is escaped, and nothing is not ASCII.
func (s *scanner) raw() []byte {
	s.must('"')
	from := s.at
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; {
		case c == '"':
			s.at++
			return s.b[from : s.at-1]
		case c < ' ' || c == '\\' || c >= utf8.RuneSelf:
			s.odd = true
			return nil
		}
	}
	s.odd = true
	return nil
}

// text reads any string.
func (s *scanner) text() string {
	begin := s.at
	b := s.raw()
	if !s.odd {
		return s.keep(b)
	}
	if begin >= len(s.b) || s.b[begin] != '"' {
		return ""
	}
	for s.at = begin + 1; s.at < len(s.b) && s.b[s.at] != '"'; s.at++ {
		if s.b[s.at] == '\\' {
			s.at++
		}
	}
	if s.at >= len(s.b) {
		return ""
	}
	s.at++
	var text string
	s.odd = json.Unmarshal(s.b[begin:s.at], &text) != nil
	return text
}

func (s *scanner) keep(b []byte) string {
	if len(b) > maxText {
		return string(b)
	}
	if text, ok := s.texts[string(b)]; ok {
		return text
	}
	if s.texts == nil || len(s.texts) >= maxTexts {
		s.texts = make(map[string]string)
	}
	text := string(b)
	s.texts[text] = text
	return text
}

// num reads a number without a fraction.
func (s *scanner) num() (n int64) {
	negative := s.is('-')
	from := s.at
	for ; s.at < len(s.b) && s.b[s.at] >= '0' && s.b[s.at] <= '9'; s.at++ {
		digit := int64(s.b[s.at] - '0')
		if n > (math.MaxInt64-digit)/10 {
			s.odd = true
			return 0
		}
		n = 10*n + digit
	}
	if s.at == from || s.b[from] == '0' && s.at > from+1 {
		s.odd = true
	}
	if negative {
		return -n
	}
	return n
}

// id reads a number that is not negative.
func (s *scanner) id() uint64 {
	n := s.num()
	s.odd = s.odd || n < 0
	return uint64(n)
}

func (s *scanner) boolean() bool {
	for _, word := range []string{"true", "false"} {
		if len(s.b)-s.at >= len(word) && string(s.b[s.at:s.at+len(word)]) == word {
			s.at += len(word)
			return word == "true"
		}
	}
	s.odd = true
	return false
}

func (s *scanner) strings(into *[]string) {
	s.odd = s.odd || len(*into) > 0 // it comes twice
	s.array(func() { *into = append(*into, s.text()) })
}

// objects reads an array of objects. Field reads the value of a name into an element.
func objects[T any](s *scanner, into *[]T, field func(name string, e *T)) {
	s.odd = s.odd || len(*into) > 0 // it comes twice
	s.array(func() {
		var e T
		s.object(func(name string) { field(name, &e) })
		*into = append(*into, e)
	})
}

// field reads a field of the line.
func (s *scanner) field(name string, l *line) {
	switch name {
	case "t":
		from := s.at
		s.raw()
		s.odd = s.odd || l.Time.UnmarshalJSON(s.b[from:s.at]) != nil
	case "steps":
		objects(s, &l.Steps, s.step)
	case "spans":
		objects(s, &l.Spans, s.span)
	case "faults":
		objects(s, &l.Faults, s.fault)
	case "primary":
		objects(s, &l.Primary, s.choice)
	case "caches":
		objects(s, &l.Caches, s.choice)
	case "options":
		objects(s, &l.Options, s.pair)
	case "flags":
		s.strings(&l.Flags)
	case "notes":
		s.strings(&l.Notes)
	case "noted":
		s.strings(&l.About)
	case "changes":
		s.strings(&l.Changes)
	case "cwritten":
		l.CacheWrote = s.boolean()
	case "touched":
		l.Touched = s.boolean()
	case "direct": // means nothing here
		s.boolean()
	case "thread": // likewise
		s.num()
	case "trace":
		l.Trace = s.id()
	case "begin":
		l.Begin = s.id()
	case "route":
		l.Route = s.id()
	case "parent":
		l.Parent = s.id()
	case "took":
		l.Took = s.num()
	case "at":
		l.At = s.num()
	case "held":
		l.Held = s.num()
	default:
		if text := l.textOf(name); text != nil {
			*text = s.text()
		} else {
			s.odd = true
		}
	}
}

// textOf returns the text of a line that has a name, or nil.
func (l *line) textOf(name string) *string {
	switch name {
	case "verb":
		return &l.Verb
	case "ind":
		return &l.Indirection
	case "key":
		return &l.Key
	case "env":
		return &l.Environment
	case "run":
		return &l.Run
	case "caller":
		return &l.Caller
	case "out":
		return &l.Outcome
	case "served":
		return &l.Served
	case "terminus":
		return &l.Terminus
	case "cache":
		return &l.Cache
	case "setby":
		return &l.SetBy
	case "csetby":
		return &l.CacheSetBy
	case "origin":
		return &l.Origin
	case "fault":
		return &l.Fault
	case "pstep":
		return &l.ParentStep
	case "traceparent":
		return &l.Traceparent
	case "app":
		return &l.Application
	case "error":
		return &l.Error
	}
	return nil
}

func (s *scanner) step(name string, q *lineStep) {
	switch name {
	case "step":
		q.Step = s.text()
	case "is":
		q.Is = s.text()
	case "why":
		q.Why = s.text()
	case "about":
		q.About = s.text()
	case "at":
		q.At = s.num()
	case "took":
		q.Took = s.num()
	default:
		s.odd = true
	}
}

func (s *scanner) span(name string, x *lineSpan) {
	switch name {
	case "id":
		x.ID = int(s.num())
	case "parent":
		x.Parent = int(s.num())
	case "step":
		x.Step = s.text()
	case "kind":
		x.Kind = s.text()
	case "name":
		x.Name = s.text()
	case "is":
		x.Is = s.text()
	case "err":
		x.Err = s.text()
	case "at":
		x.At = s.num()
	case "took":
		x.Took = s.num()
	case "attrs":
		objects(s, &x.Attrs, s.pair)
	default:
		s.odd = true
	}
}

func (s *scanner) pair(name string, p *linePair) {
	switch name {
	case "name":
		p.Name = s.text()
	case "value":
		p.Value = s.text()
	default:
		s.odd = true
	}
}

func (s *scanner) fault(name string, f *lineFault) {
	switch name {
	case "origin":
		f.Origin = s.text()
	case "step":
		f.Step = s.text()
	case "message":
		f.Message = s.text()
	case "hidden":
		f.Hidden = s.text()
	case "path":
		f.Path = s.text()
	case "shown":
		f.Shown = s.boolean()
	default:
		s.odd = true
	}
}

func (s *scanner) choice(name string, c *lineChoice) {
	switch name {
	case "terminus":
		c.Terminus = s.text()
	case "by":
		c.By = s.text()
	case "place":
		c.Place = s.text()
	case "setting":
		c.Setting = s.text()
	case "symbol":
		c.Symbol = s.boolean()
	default:
		s.odd = true
	}
}
