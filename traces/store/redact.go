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
// number of redactions. It may be called concurrently for one trace. Spans that are
// made later still are.
func (s *Store) finish(t *traces.Trace, instance any) (*traces.Trace, int) {
	m := *t
	n := s.values(&m, instance)
	if s.opts.RedactText != nil {
		n += redactTrace(&m, s.opts.RedactText, s.pairs)
		n += s.redactSlot(&m.Primary) + s.redactSlot(&m.Cache)
	}
	return &m, n
}

// complete returns t with all spans, redacted; it is t itself if none are missing.
func (s *Store) complete(t *traces.Trace) *traces.Trace {
	m := t.Completed()
	if m != t {
		m.Spans = s.redactSpans(m.Spans)
	}
	return m
}

// redactSpans returns the spans without secrets: the same ones if there are none.
func (s *Store) redactSpans(spans []traces.Span) []traces.Span {
	if s.opts.RedactText == nil {
		return spans
	}
	r := &texts{redact: s.opts.RedactText, pairs: s.pairs}
	return each(r, spans, (*texts).span)
}

// redactKnown redacts spans in place, for the writer. Those that it has just written are not
// looked at again.
func (s *Store) redactKnown(spans []traces.Span) {
	r := &texts{redact: s.opts.RedactText, pairs: s.pairs}
	for i := range spans {
		if !s.phrases.knows(i, &spans[i]) {
			spans[i] = r.span(spans[i])
		}
	}
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
	redactTrace(&m, redact, nil)
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
	sum := sha256.Sum256(v.Body)
	if v.Pieces != nil {
		h := sha256.New()
		for _, p := range v.Pieces {
			h.Write(p.Text)
		}
		h.Sum(sum[:0])
	}
	v.Digest = hex.EncodeToString(sum[:])
	v.Size = max(v.Size, len(v.Body))
}

// redactTrace redacts the texts of m but those of its slots. Slices are shared: one is
// copied when the first of its texts changes, which few do.
func redactTrace(m *traces.Trace, redact func(string) (string, int), pairs *cleanPairs) int {
	r := &texts{redact: redact, pairs: pairs}
	for _, t := range []*string{
		&m.Key, &m.Run, &m.Transaction, &m.Caller, &m.Indirection, &m.Environment, &m.Application, &m.Named, &m.Party, &m.Error, &m.FailedWith,
	} {
		r.text(t)
	}
	m.Values = r.values(m.Values)
	for i := range m.Steps {
		r.text(&m.Steps[i].Because.About)
	}
	m.Options = each(r, m.Options, func(r *texts, o traces.Option) traces.Option {
		// A name such as "password" marks the value as a secret.
		r.pair(&o.Name, &o.Value)
		if cut := cutOption(o.Value); cut != o.Value {
			o.Value, r.changed = cut, true
		}
		return o
	})
	m.Spans = each(r, m.Spans, (*texts).span)
	m.Faults = each(r, m.Faults, func(r *texts, f traces.Fault) traces.Fault {
		for _, t := range []*string{&f.Origin, &f.Message, &f.Hidden, &f.Path} {
			r.text(t)
		}
		return f
	})
	m.Notes = each(r, m.Notes, func(r *texts, n traces.Remark) traces.Remark {
		r.text(&n.Text)
		return n
	})
	m.Touched = each(r, m.Touched, func(r *texts, s string) string {
		r.text(&s)
		return s
	})
	return r.n
}

// texts redacts the texts of one request, and counts.
type texts struct {
	redact  func(string) (string, int)
	pairs   *cleanPairs // may be nil
	n       int         // redactions
	changed bool        // a text was changed since this was last cleared
}

// each redacts the elements of a slice, and returns it, or a copy if one has changed.
func each[T any](r *texts, all []T, redact func(*texts, T) T) []T {
	if len(all) == 0 {
		return all
	}
	outer, own := r.changed, false
	for i := range all {
		r.changed = false
		if e := redact(r, all[i]); r.changed {
			if !own {
				all, own = slices.Clone(all), true
			}
			all[i] = e
		}
	}
	r.changed = outer || own
	return all
}

// text redacts a text in place.
func (r *texts) text(s *string) {
	if *s == "" {
		return
	}
	out, n := r.redact(*s)
	r.changed = r.changed || out != *s
	*s, r.n = out, r.n+n
}

// values returns values whose sources are redacted: the same ones if none has a secret.
func (r *texts) values(all *traces.Values) *traces.Values {
	if all == nil {
		return nil
	}
	clean := true
	for _, v := range all.All() {
		if v.Source != "" {
			out, _ := r.redact(v.Source)
			clean = clean && out == v.Source
		}
	}
	if clean {
		return all
	}
	own := *all
	for _, v := range own.All() {
		r.text(&v.Source)
	}
	return &own
}

func (r *texts) span(s traces.Span) traces.Span {
	for _, t := range [...]*string{&s.Name, &s.Answer, &s.Because.About, &s.Err} {
		r.text(t)
	}
	s.Attrs = each(r, s.Attrs, func(r *texts, a traces.Attr) traces.Attr {
		r.pair(&a.Key, &a.Value)
		return a
	})
	return s
}

// pair redacts a name and its value. The function gets both, since the name may
// mark a secret; its answer counts if it left the name alone. A value that was cut
// still ends as one.
func (r *texts) pair(name, value *string) {
	if *value == "" {
		r.text(name)
		return
	}
	if r.pairs.has(*name, *value) {
		return
	}
	const cut = "…"
	prefix, was, before, redactions := *name+": ", *value, *name, r.n
	whole, n := r.redact(prefix + was)
	if n > 0 && strings.HasPrefix(whole, prefix) {
		*value = whole[len(prefix):]
		r.n, r.changed = r.n+n, r.changed || *value != was
	} else {
		r.text(name)
		r.text(value)
	}
	if strings.HasSuffix(was, cut) && !strings.HasSuffix(*value, cut) {
		*value += cut
	}
	if n == 0 && r.n == redactions && *name == before && *value == was {
		r.pairs.add(*name, *value)
	}
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
