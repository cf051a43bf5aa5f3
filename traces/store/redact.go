package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"sync"

	"indirtui/traces"
)

// finish returns t as it may be shown: a redacted copy with its value, and the
// number of redactions. It may be called concurrently for one trace.
func (s *Store) finish(t *traces.Trace, instance any) (*traces.Trace, int) {
	m := *t
	value := &m.Value
	if m.Verb == traces.Save {
		value = &m.Sent
	}
	digest(&m.Value)
	digest(&m.Sent)
	if instance != nil && s.opts.Render != nil && value.Model == "" {
		*value = s.render(&m, instance)
	}
	n := m.Value.Redacted + m.Sent.Redacted
	if s.opts.RedactText != nil {
		n += redactTrace(&m, s.opts.RedactText)
	}
	return &m, n
}

// render renders an instance. If that panics, there is no value but a note.
func (s *Store) render(t *traces.Trace, instance any) (v traces.Value) {
	defer func() {
		if p := recover(); p != nil {
			v = traces.Value{}
			t.Notes = append(t.Notes[:len(t.Notes):len(t.Notes)], fmt.Sprintf("the value cannot be shown: %v", p))
		}
	}()
	if v, ok := s.rendered.find(t.Indirection, instance); ok {
		return v
	}
	v = s.opts.Render(t.Indirection, instance)
	digest(&v)
	if !s.opts.Once || int64(len(v.Body)) <= s.opts.Memory/64 {
		s.rendered.keep(t.Indirection, instance, v)
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

// redactTrace redacts the texts of m, whose slices are copied since they are
// shared. Keys and routes are not redacted.
func redactTrace(m *traces.Trace, redact func(string) (string, int)) (n int) {
	text := func(s *string) {
		if *s == "" {
			return
		}
		var k int
		*s, k = redact(*s)
		n += k
	}
	for i := range m.Steps {
		text(&m.Steps[i].Because.About)
	}
	m.Options = append([]traces.Option(nil), m.Options...)
	for i := range m.Options {
		// A name such as "password" marks the value as a secret.
		o := &m.Options[i]
		n += redactPair(&o.Name, &o.Value, redact)
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
	m.Notes = append([]string(nil), m.Notes...)
	for i := range m.Notes {
		text(&m.Notes[i])
	}
	text(&m.Error)
	text(&m.FailedWith)
	return n
}

// redactPair redacts the value of a name. The function gets both, since the
// name may mark a secret; its answer counts if it left the name alone.
func redactPair(name, value *string, redact func(string) (string, int)) int {
	if *value == "" {
		return 0
	}
	prefix := *name + ": "
	if whole, n := redact(prefix + *value); n > 0 && len(whole) >= len(prefix) && whole[:len(prefix)] == prefix {
		*value = whole[len(prefix):]
		return n
	}
	var n int
	*value, n = redact(*value)
	return n
}
