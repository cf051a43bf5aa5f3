package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"indirtui/traces"
)

// A redactor redacts one request and reports every redaction in it, old or new.
type redactor struct {
	redact func(string) (string, int)
	note   func(Redaction)
	id     uint64
}

// trace returns a redacted copy of t, which is the store's.
func (m *redactor) trace(t *traces.Trace) *traces.Trace {
	var out traces.Trace
	m.copy("", reflect.ValueOf(t).Elem(), reflect.ValueOf(&out).Elem())
	return &out
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	optionType = reflect.TypeFor[traces.Option]()
	attrType   = reflect.TypeFor[traces.Attr]()
	valuesType = reflect.TypeFor[*traces.Values]()
)

// copy copies a value deeply and redacts its texts, also those of fields that
// traces may get later.
func (m *redactor) copy(where string, from, to reflect.Value) {
	switch {
	case from.Type() == timeType:
		to.Set(from)
	case from.Type() == optionType, from.Type() == attrType:
		name, value := from.Field(0).String(), from.Field(1).String()
		redacted := m.text(where, name)
		to.Field(0).SetString(redacted)
		to.Field(1).SetString(m.pair(where+" "+redacted, name, value))
	case from.Kind() == reflect.String:
		to.SetString(m.text(where, from.String()))
	case from.Type() == valuesType:
		if from.IsNil() {
			return
		}
		own := new(traces.Values)
		to.Set(reflect.ValueOf(own))
		all := own.All()
		for i, v := range from.Interface().(*traces.Values).All() {
			m.copy(within(where, v.Name), reflect.ValueOf(v.Value).Elem(), reflect.ValueOf(all[i].Value).Elem())
		}
	case from.Kind() == reflect.Struct:
		for i := range from.NumField() {
			m.copy(within(where, from.Type().Field(i).Name), from.Field(i), to.Field(i))
		}
	case from.Kind() == reflect.Array:
		for i := range from.Len() {
			m.copy(where, from.Index(i), to.Index(i))
		}
	case from.Kind() == reflect.Slice && from.Type().Elem().Kind() != reflect.Uint8:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			m.copy(where, from.Index(i), to.Index(i))
		}
	default: // numbers, and bytes, which are not changed
		to.Set(from)
	}
}

func within(where, field string) string {
	field = strings.ToLower(field)
	if where == "" {
		return field
	}
	return where + " " + field
}

// text redacts a text.
func (m *redactor) text(where, s string) string {
	if s == "" {
		return s
	}
	s, _ = m.redact(s)
	m.find(where, s)
	return s
}

// pair redacts the value of a name, which may call it a secret.
func (m *redactor) pair(where, name, value string) string {
	prefix := name + ": "
	if whole, n := m.redact(prefix + value); n > 0 && strings.HasPrefix(whole, prefix) {
		value = whole[len(prefix):]
		m.find(where, value)
		return value
	}
	return m.text(where, value)
}

// body redacts the bytes of a value, and reports the parts of JSON that are
// redacted.
func (m *redactor) body(where, format string, b []byte) []byte {
	text, n := m.redact(string(b))
	if n == 0 {
		text = string(b)
	}
	if !strings.Contains(text, "(masked") {
		return []byte(text)
	}
	if format == "json" && m.parts(where, json.NewDecoder(strings.NewReader(text))) == nil {
		return []byte(text)
	}
	m.find(where, text)
	return []byte(text)
}

// parts reports the redactions in a JSON document, by its path.
func (m *redactor) parts(where string, d *json.Decoder) error {
	d.UseNumber()
	var seen []Redaction
	keep := redactor{note: func(f Redaction) { seen = append(seen, f) }, id: m.id}
	if err := keep.part(where+" ", d, 0); err != nil {
		return err
	}
	for _, f := range seen {
		m.note(f)
	}
	return nil
}

const maxDepth = 1000

func (m *redactor) part(path string, d *json.Decoder, depth int) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return fmt.Errorf("deeper than %d", maxDepth)
	}
	switch t := token.(type) {
	case string:
		m.find(strings.TrimSuffix(path, " "), t)
	case json.Delim:
		for i := 0; d.More(); i++ {
			sub := path + "[" + strconv.Itoa(i) + "]"
			if t == '{' {
				key, err := d.Token()
				if err != nil {
					return err
				}
				name, _ := key.(string)
				m.find(path+" key", name)
				if sub = path + "." + name; strings.HasSuffix(path, " ") {
					sub = path + name
				}
			}
			if err := m.part(sub, d, depth+1); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

// find reports the redactions in s.
func (m *redactor) find(where, s string) {
	const begin = "(masked"
	for {
		i := strings.Index(s, begin)
		if i < 0 {
			return
		}
		s = strings.TrimLeft(s[i+len(begin):], ", ")
		if found, ok := parseRedaction(s); ok {
			found.Request, found.Where = m.id, where
			m.note(found)
		}
	}
}

// parseRedaction reads what the redactor writes, "KIND, LENGTH B, tag XXXX)", and what
// the client writes for a header, "LENGTH bytes)".
func parseRedaction(s string) (Redaction, bool) {
	s, _, closed := strings.Cut(s[:min(len(s), 100)], ")")
	if length, ok := strings.CutSuffix(s, " bytes"); ok && closed {
		n, err := strconv.Atoi(length)
		return Redaction{Kind: "header", Bytes: n}, err == nil
	}
	kind, rest, a := strings.Cut(s, ", ")
	length, tag, b := strings.Cut(rest, " B, tag ")
	n, err := strconv.Atoi(length)
	return Redaction{Kind: kind, Bytes: n, Tag: tag}, closed && a && b && err == nil && len(tag) == 4
}

// appendJSON appends v as JSON in which a terminal finds nothing to obey.
func appendJSON(b []byte, v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return b, err
	}
	return append(b, traces.SafeJSON(bytes.TrimSuffix(out.Bytes(), []byte("\n")))...), nil
}
