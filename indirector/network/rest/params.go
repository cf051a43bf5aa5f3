package rest

import (
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
)

// parameters are those of a query or a form, in order.
type parameters []parameter

type parameter struct{ name, value string }

func (p *parameters) add(name, value string) { *p = append(*p, parameter{name, value}) }

func (p *parameters) addAll(options []indirector.Option) error {
	for _, o := range options {
		if err := p.addValue(o.Name, o.Value); err != nil {
			return err
		}
	}
	return nil
}

// addValue adds a scalar, or each element of a list; nil adds nothing. Rule
// REST-PAR-06.
func (p *parameters) addValue(name string, v any) error {
	switch l := v.(type) {
	case nil:
		return nil
	case []string:
		for _, s := range l {
			p.add(name, s)
		}
		return nil
	case []any:
		for _, e := range l {
			s, ok := scalar(e)
			if !ok {
				return unwritable(e)
			}
			p.add(name, s)
		}
		return nil
	}
	s, ok := scalar(v)
	if !ok {
		return unwritable(v)
	}
	p.add(name, s)
	return nil
}

func unwritable(v any) error {
	return &indirector.Failure{
		Class: "Puppet::HTTP::SerializationError", Origin: "encode",
		Message: fmt.Sprintf("HTTP REST queries cannot handle values of type '%T'", v),
	}
}

// scalar returns a scalar as Ruby writes it.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case *big.Int:
		return v.String(), true
	case float64:
		s := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s, true
	}
	return "", false
}

func (p parameters) encode() string {
	var b []byte
	for i, q := range p {
		if i > 0 {
			b = append(b, '&')
		}
		b = appendEscaped(b, q.name, queryByte)
		b = append(b, '=')
		b = appendEscaped(b, q.value, queryByte)
	}
	return string(b)
}

// parseParameters reads a query or a form as Puppet Server does: text without
// any "=" has none, and an undecodable pair is dropped.
func parseParameters(p parameters, text string) parameters {
	if !strings.Contains(text, "=") {
		return p
	}
	for text != "" {
		var pair string
		pair, text, _ = strings.Cut(text, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			continue
		}
		if value, err = url.QueryUnescape(value); err == nil {
			p.add(strings.ToValidUTF8(name, "\uFFFD"), strings.ToValidUTF8(value, "\uFFFD"))
		}
	}
	return p
}

// maxCloned is the length below which a parameter of a form is copied, in bytes.
const maxCloned = 1 << 10

// readParameters returns those of the query and of a form, which is stronger.
func (s Space) readParameters(r *http.Request) (parameters, error) {
	query := parseParameters(nil, r.URL.RawQuery)
	if !isForm(r) {
		return query, nil
	}
	b, err := readBody(r, s.Form, defaultForm)
	if err != nil {
		return nil, err
	}
	if err := shareOf(r).grow(2 * int64(len(b))); err != nil { // as text, and unescaped
		return nil, err
	}
	form := parseParameters(nil, string(b))
	if len(form) == 0 {
		return query, nil
	}
	for i := range form { // a trace keeps the small ones, and would keep all of the form
		if q := &form[i]; len(q.value) < maxCloned {
			q.name, q.value = strings.Clone(q.name), strings.Clone(q.value)
		}
	}
	query = slices.DeleteFunc(query, func(q parameter) bool {
		_, both := form.last(q.name)
		return both
	})
	return append(query, form...), nil
}

func isForm(r *http.Request) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), formType)
}

// last returns the last value of that name and whether there is one.
func (p parameters) last(name string) (string, bool) {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].name == name {
			return p[i].value, true
		}
	}
	return "", false
}

// only returns the value of that name and whether there is one. Several
// different ones are what Ruby makes of a list.
func (p parameters) only(name string) (string, bool) {
	value, given := p.last(name)
	var all []string
	for _, q := range p {
		if q.name == name {
			all = append(all, strconv.Quote(q.value))
		}
	}
	if len(all) > 1 && slices.ContainsFunc(all, func(s string) bool { return s != all[0] }) {
		return "[" + strings.Join(all, ", ") + "]", true
	}
	return value, given
}

// dropped are the parameters that no client may set: the server knows the
// client and its own buckets. Rules REST-PAR-01, REST-PAR-02.
var dropped = [...]string{"", "node", "ip", "authenticated", "bucket_path", "environment", "instance"}

// options returns the parameters as options of a request, several values as a
// list. Rules REST-PAR-03, REST-PAR-05.
func (p parameters) options() []indirector.Option {
	if len(p) == 0 {
		return nil
	}
	all := make([]indirector.Option, 0, len(p))
	var seen map[string]int // for many parameters; else a scan is cheaper
	if len(p) > 16 {
		seen = make(map[string]int, len(p))
	}
	at := func(name string) int {
		if seen != nil {
			if i, ok := seen[name]; ok {
				return i
			}
			return -1
		}
		return slices.IndexFunc(all, func(o indirector.Option) bool { return o.Name == name })
	}
	for _, q := range p {
		if slices.Contains(dropped[:], q.name) {
			continue
		}
		v := decodeScalar(q.value)
		i := at(q.name)
		if i < 0 {
			if seen != nil {
				seen[q.name] = len(all)
			}
			all = append(all, indirector.Option{Name: q.name, Value: v})
			continue
		}
		l, many := all[i].Value.([]any)
		if !many {
			l = []any{all[i].Value}
		}
		all[i].Value = append(l, v)
	}
	return all
}

// decodeScalar returns a boolean or a number where the text looks like one. A
// leading zero is octal, as in Ruby. Rule REST-PAR-03.
func decodeScalar(s string) any {
	switch {
	case s == "true":
		return true
	case s == "false":
		return false
	case s == "" || s[0] < '0' || '9' < s[0] || len(s) > 400:
		return s
	}
	whole, fraction, point := strings.Cut(s, ".")
	switch {
	case !digits(whole):
		return s
	case point && digits(fraction):
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		return f
	case point:
		return s
	}
	base := 10
	if whole[0] == '0' && len(whole) > 1 {
		base = 8
	}
	if n, err := strconv.ParseInt(whole, base, 64); err == nil {
		return n
	}
	if n, ok := new(big.Int).SetString(whole, base); ok {
		return n
	}
	return s
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || '9' < s[i] {
			return false
		}
	}
	return s != ""
}

// isWord reports whether s is Ruby's \w+.
func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < '0' || '9' < c) && (c < 'A' || 'Z' < c) && (c < 'a' || 'z' < c) {
			return false
		}
	}
	return s != ""
}

// pathByte reports whether a byte of a path stays unescaped, queryByte one of a
// query. Rule REST-URL-06.
func pathByte(c byte) bool { return queryByte(c) || strings.IndexByte("!*'();/:@&=+$,[]", c) >= 0 }

func queryByte(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c == '-' || c == '_' || c == '.' || c == '~'
}

// escapePath escapes a path as Puppet's client does, which takes what follows a
// # for a fragment and escapes it like a query.
func escapePath(s string) string {
	path, fragment, ok := strings.Cut(s, "#")
	if !ok {
		return escape(s, pathByte)
	}
	return escape(path, pathByte) + "%23" + escape(fragment, queryByte)
}

func escape(s string, plain func(byte) bool) string {
	for i := range len(s) {
		if !plain(s[i]) {
			return string(appendEscaped(make([]byte, 0, len(s)+32), s, plain))
		}
	}
	return s
}

func appendEscaped(b []byte, s string, plain func(byte) bool) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; plain(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return b
}
