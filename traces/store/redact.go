package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"indirtui/traces"
)

// finish returns t as it may be shown: a redacted copy with its value, and the
// number of redactions. It may be called concurrently for one trace.
func (s *Store) finish(t *traces.Trace, instance any) (*traces.Trace, int) {
	m := *t
	n := s.values(&m, instance)
	if s.opts.RedactText != nil {
		n += redactTrace(&m, s.opts.RedactText)
		n += s.redactSlot(&m.Primary) + s.redactSlot(&m.Cache)
	}
	return &m, n
}

// values gives m values of its own, with the rendered instance, and returns the
// number of redactions in them.
func (s *Store) values(m *traces.Trace, instance any) int {
	if m.Values == nil && (instance == nil || s.opts.Render == nil) {
		return 0
	}
	own := traces.Values{Answer: m.Value(), Sent: m.Sent(), Origins: m.Origins()}
	value := &own.Answer
	if m.Verb == traces.Save {
		value = &own.Sent
	}
	n := 0
	for _, v := range own.All() {
		digest(v.Value)
	}
	if instance != nil && s.opts.Render != nil && value.Model == "" {
		*value = s.render(m, m.Indirection, instance, s.opts.Render)
		if s.opts.Origins != nil && m.Verb != traces.Save {
			own.Origins = s.render(m, originsOf, instance, s.opts.Origins)
		}
	}
	for _, v := range own.All() {
		n += v.Redacted
	}
	m.Values = &own
	return n
}

// originsOf is what origins are remembered by, which are no model of Puppet.
const originsOf = "origins"

// Redacted returns a redacted copy of t, which need not have ended.
func Redacted(t *traces.Trace, redact func(string) (string, int)) *traces.Trace {
	m := *t
	redactTrace(&m, redact)
	redactSlot(&m.Primary, redact)
	redactSlot(&m.Cache, redact)
	return &m
}

// A cleanSlots remembers slots without secrets, which requests share.
type cleanSlots struct {
	mu   sync.Mutex // guards what follows
	last [16]*traces.Choice
	next int
}

// redactSlot redacts the candidates of a slot that was not seen lately.
func (s *Store) redactSlot(slot *traces.Slot) (n int) {
	if len(*slot) == 0 {
		return 0
	}
	c, first := &s.clean, &(*slot)[0]
	c.mu.Lock()
	known := slices.Contains(c.last[:], first)
	c.mu.Unlock()
	if known {
		return 0
	}
	if n = redactSlot(slot, s.opts.RedactText); n == 0 {
		c.mu.Lock()
		c.last[c.next%len(c.last)] = first
		c.next++
		c.mu.Unlock()
	}
	return n
}

// redactSlot replaces a slot with secrets by a redacted copy.
func redactSlot(slot *traces.Slot, redact func(string) (string, int)) (n int) {
	redacted := slices.Clone(*slot)
	for i := range redacted {
		c := &redacted[i]
		for _, t := range []*string{&c.Terminus, &c.Source, &c.Why, &c.Note, &c.Setting} {
			n += redactText(t, redact)
		}
	}
	if n > 0 {
		*slot = redacted
	}
	return n
}

// redactText redacts a text in place.
func redactText(s *string, redact func(string) (string, int)) (n int) {
	if *s != "" {
		*s, n = redact(*s)
	}
	return n
}

// render renders an instance, or what is known of it, as a model. If that panics, there is
// no value but a note.
func (s *Store) render(t *traces.Trace, model string, instance any, render func(model string, instance any) traces.Value) (v traces.Value) {
	defer func() {
		if p := recover(); p != nil {
			v = traces.Value{}
			t.Notes = append(t.Notes[:len(t.Notes):len(t.Notes)], traces.Remark{Step: traces.Caller, Text: fmt.Sprintf("the value cannot be shown: %v", p)})
		}
	}()
	if v, ok := s.rendered.find(model, instance); ok {
		return v
	}
	v = render(model, instance)
	digest(&v)
	if v.Model != "" && (!s.opts.Once || int64(len(v.Body)) <= s.opts.Memory/64) {
		s.rendered.keep(model, instance, v)
	}
	return v
}

// A rendered remembers the values of the newest instances. These do not change,
// so the same pointer is the same value: what a memory cache answers repeatedly
// is redacted once.
type rendered struct {
	mu   sync.Mutex // guards what follows
	last [8]struct {
		model    string
		instance any
		value    traces.Value
	}
	next int
}

func (r *rendered) find(model string, instance any) (traces.Value, bool) {
	if !isPointer(instance) {
		return traces.Value{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.last {
		if l := &r.last[i]; l.instance == instance && l.model == model {
			return l.value, true
		}
	}
	return traces.Value{}, false
}

func (r *rendered) keep(model string, instance any, v traces.Value) {
	if !isPointer(instance) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &r.last[r.next%len(r.last)]
	l.model, l.instance, l.value = model, instance, v
	r.next++
}

func isPointer(instance any) bool { return reflect.TypeOf(instance).Kind() == reflect.Pointer }

// hasBody reports whether v has the bytes of its body with it.
func hasBody(v *traces.Value) bool { return v.Body != nil || v.Pieces != nil }

func digest(v *traces.Value) {
	if !hasBody(v) {
		return
	}
	h := sha256.New()
	h.Write(v.Body)
	for _, p := range v.Pieces {
		h.Write(p.Text)
	}
	var sum [sha256.Size]byte
	v.Digest = hex.EncodeToString(h.Sum(sum[:0]))
	v.Size = max(v.Size, len(v.Body))
}

// redactTrace redacts the texts of m but those of its slots. Slices are copied
// since they are shared.
func redactTrace(m *traces.Trace, redact func(string) (string, int)) (n int) {
	text := func(s *string) { n += redactText(s, redact) }
	for _, t := range []*string{
		&m.Key, &m.Run, &m.Transaction, &m.Caller, &m.Indirection, &m.Environment, &m.Application, &m.Named, &m.Party, &m.Error, &m.FailedWith,
	} {
		text(t)
	}
	if m.Values != nil {
		own := *m.Values
		for _, v := range own.All() {
			text(&v.Source)
		}
		m.Values = &own
	}
	for i := range m.Steps {
		text(&m.Steps[i].Because.About)
	}
	m.Options = append([]traces.Option(nil), m.Options...)
	for i := range m.Options {
		// A name such as "password" marks the value as a secret.
		o := &m.Options[i]
		n += redactPair(&o.Name, &o.Value, redact)
		o.Value = cutOption(o.Value)
	}
	m.Spans = append([]traces.Span(nil), m.Spans...)
	for i := range m.Spans {
		sp := &m.Spans[i]
		for _, t := range []*string{&sp.Name, &sp.Answer, &sp.Because.About, &sp.Err} {
			text(t)
		}
		sp.Attrs = append([]traces.Attr(nil), sp.Attrs...)
		for j := range sp.Attrs {
			n += redactPair(&sp.Attrs[j].Key, &sp.Attrs[j].Value, redact)
		}
	}
	m.Faults = append([]traces.Fault(nil), m.Faults...)
	for i := range m.Faults {
		f := &m.Faults[i]
		for _, t := range []*string{&f.Origin, &f.Message, &f.Hidden, &f.Path} {
			text(t)
		}
	}
	m.Notes = append([]traces.Remark(nil), m.Notes...)
	for i := range m.Notes {
		text(&m.Notes[i].Text)
	}
	m.Touched = append([]string(nil), m.Touched...)
	for i := range m.Touched {
		text(&m.Touched[i])
	}
	return n
}

// cutOption shortens the value of an option that is known to be cut. A token
// that stands in for a secret stays whole.
func cutOption(s string) string {
	const end, token = "…", "(masked "
	if len(s) <= traces.LongestOption+len(end) || !strings.HasSuffix(s, end) {
		return s
	}
	at := traces.LongestOption
	for !utf8.RuneStart(s[at]) {
		at--
	}
	if begin := strings.LastIndex(s[:at], token); begin >= 0 {
		if length := strings.IndexByte(s[begin:], ')') + 1; begin+length > at {
			at = begin + length
		}
	}
	return strings.TrimSuffix(s[:at], end) + end
}

// redactPair redacts a name and its value. The function gets both, since the
// name may mark a secret; its answer counts if it left the name alone. A value
// that was cut still ends as one.
func redactPair(name, value *string, redact func(string) (string, int)) (n int) {
	if *value == "" {
		return redactText(name, redact)
	}
	if strings.HasSuffix(*value, "…") {
		defer func() { *value = strings.TrimSuffix(*value, "…") + "…" }()
	}
	prefix := *name + ": "
	if whole, n := redact(prefix + *value); n > 0 && strings.HasPrefix(whole, prefix) {
		*value = whole[len(prefix):]
		return n
	}
	return redactText(name, redact) + redactText(value, redact)
}
