package model

import (
	"indirtui/indirector"
	"indirtui/indirector/data"
)

// Masked is what stands in the place of a value that is not to be shown.
const Masked = "(masked)"

// Mask returns the data hash of an instance with everything that Puppet marks
// as sensitive replaced by [Masked]: encoded Sensitive values wherever they
// are, and the parameters that a resource names in sensitive_parameters. It
// also returns how many values were replaced; if there were none, the hash is
// the instance's own. An instance without a data hash is nil.
func Mask(i indirector.Instance) (v data.Value, masked int) {
	v, _ = ToData(i)
	return MaskData(v)
}

// MaskData is Mask for a data hash.
func MaskData(v data.Value) (data.Value, int) {
	var m masker
	v, _ = m.value(v)
	return v, m.masked
}

type masker struct{ masked int }

// value returns v with its sensitive parts replaced, and whether there were
// any. What has none is not copied.
func (m *masker) value(v data.Value) (data.Value, bool) {
	switch v.Kind() {
	case data.List:
		return m.list(v)
	case data.Hash:
		return m.hash(v)
	}
	return v, false
}

func (m *masker) list(v data.Value) (data.Value, bool) {
	var l []data.Value
	for i, x := range v.List() {
		y, changed := m.value(x)
		if !changed {
			continue
		}
		if l == nil {
			l = append(l, v.List()...)
		}
		l[i] = y
	}
	if l == nil {
		return v, false
	}
	return data.OfList(l), true
}

func (m *masker) hash(v data.Value) (data.Value, bool) {
	if v.Get("__ptype").Str() == "Sensitive" {
		m.masked++
		return v.With("__pvalue", data.OfString(Masked)), true
	}
	if s := v.Get("sensitive_parameters"); s.Len() > 0 && v.Get("parameters").Kind() == data.Hash {
		v = v.With("parameters", m.parameters(v.Get("parameters"), texts(s)))
		inner, _ := m.pairs(v)
		return inner, true
	}
	return m.pairs(v)
}

func (m *masker) parameters(v data.Value, sensitive []string) data.Value {
	hide := make(map[string]bool, len(sensitive))
	for _, name := range sensitive {
		hide[name] = true
	}
	h := append([]data.Pair(nil), v.Hash()...)
	for i := range h {
		if hide[h[i].Key.Text()] {
			h[i].Value = data.OfString(Masked)
			m.masked++
		}
	}
	return data.OfHash(h)
}

func (m *masker) pairs(v data.Value) (data.Value, bool) {
	var h []data.Pair
	for i, p := range v.Hash() {
		y, changed := m.value(p.Value)
		if !changed {
			continue
		}
		if h == nil {
			h = append(h, v.Hash()...)
		}
		h[i].Value = y
	}
	if h == nil {
		return v, false
	}
	return data.OfHash(h), true
}
