package traces

import (
	"bytes"
	"encoding/json"
)

// catalogOf returns the environment of a catalog that is JSON, and the number of its
// resources; not ok is what is none. The resources are passed over, not read: to decode
// them was an eighth of what a server that compiles did.
func catalogOf(body []byte) (environment string, resources int, ok bool) {
	s := jsonScan{b: body}
	if !s.next('{') {
		return "", 0, false
	}
	for !s.next('}') {
		key := s.value()
		if !s.next(':') {
			return "", 0, false
		}
		if bytes.Equal(key, []byte(`"resources"`)) && s.next('[') {
			if resources, ok = s.elements(); !ok {
				return "", 0, false
			}
		} else if v := s.value(); bytes.Equal(key, []byte(`"environment"`)) && json.Unmarshal(v, &environment) != nil ||
			bytes.Equal(key, []byte(`"resources"`)) && !bytes.Equal(v, []byte("null")) {
			return "", 0, false
		}
		if !s.next(',') && (s.i >= len(body) || body[s.i] != '}') {
			return "", 0, false
		}
	}
	return environment, resources, true
}

// A jsonScan passes over JSON that is in order. Of other texts it makes anything, but it
// ends.
type jsonScan struct {
	b []byte
	i int
}

// next passes over blanks and c, if that is what comes next.
func (s *jsonScan) next(c byte) bool {
	for s.i < len(s.b) && s.b[s.i] <= ' ' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// elements counts those of a list that has begun.
func (s *jsonScan) elements() (n int, ok bool) {
	if s.next(']') {
		return 0, true
	}
	for {
		if len(s.value()) == 0 {
			return n, false
		}
		n++
		if s.next(']') {
			return n, true
		}
		if !s.next(',') {
			return n, false
		}
	}
}

// value passes over one value, and returns its text; it is empty if there is none.
func (s *jsonScan) value() []byte {
	s.next(0) // blanks
	from, depth := s.i, 0
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case '"':
			s.i++
			s.text()
		case '{', '[':
			depth++
			s.i++
		case '}', ']', ',', ':':
			if depth == 0 {
				return bytes.TrimRight(s.b[from:s.i], " \t\r\n")
			}
			if c == '}' || c == ']' {
				depth--
			}
			s.i++
		default:
			s.i++
		}
	}
	return s.b[from:s.i]
}

// text passes over the rest of a string, with its quote.
func (s *jsonScan) text() {
	for s.i < len(s.b) {
		n := bytes.IndexByte(s.b[s.i:], '"')
		if n < 0 {
			s.i = len(s.b)
			return
		}
		end := s.i + n
		s.i = end + 1
		escapes := 0
		for end-1-escapes >= 0 && s.b[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return
		}
	}
}
