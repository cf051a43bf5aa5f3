package types

import (
	"slices"

	"indirtui/indirector/data"
)

// InSync reports whether what is is what should be. Rule RES-TYPE-05.
func (r *Resource) InSync(property string, is data.Value) (bool, error) {
	x := r.values[property]
	if x == nil || x.should == nil {
		return true, nil
	}
	if x.of.InSync != nil {
		return x.of.InSync(r, is)
	}
	return r.Matches(property, is), nil
}

// Matches is the usual comparison: any of the wanted values, or the whole list, also as
// texts. An empty list is always in sync.
func (r *Resource) Matches(property string, is data.Value) bool {
	x := r.values[property]
	switch {
	case x == nil || len(x.should) == 0:
		return true
	case !x.of.All:
		return slices.ContainsFunc(x.should, func(want data.Value) bool { return same(is, want) })
	case is.Kind() != data.List || is.Len() != len(x.should):
		return false
	}
	return equalAll(is.List(), x.should) || equalAll(is.List(), texts(x.should))
}

// same compares as Puppet does: what is may also be the text of what should be.
func same(is, want data.Value) bool {
	return equal(is, want) || is.Kind() == data.String && is.Str() == want.Text()
}

// equal is data.Equal with numbers compared by their values, as in Ruby.
func equal(a, b data.Value) bool {
	if a.Kind() == data.Int && b.Kind() == data.Float {
		return float64(a.Int()) == b.Float()
	}
	if a.Kind() == data.Float && b.Kind() == data.Int {
		return a.Float() == float64(b.Int())
	}
	return data.Equal(a, b)
}

func equalAll(a, b []data.Value) bool { return slices.EqualFunc(a, b, equal) }

func texts(all []data.Value) []data.Value {
	out := make([]data.Value, len(all))
	for i, v := range all {
		out[i] = data.OfString(v.Text())
	}
	return out
}

// ChangeText is the message for a change of a property. It shows values: for a
// sensitive property it must not be used. Rule RES-EV-04.
func (r *Resource) ChangeText(property string, is data.Value) string {
	x := r.values[property]
	if x == nil {
		return ""
	}
	should := r.Wanted(property, is)
	if x.of.Change != nil {
		return x.of.Change(r, is, should)
	}
	return r.usualChange(x.of, is, should)
}

func (r *Resource) usualChange(a *Attribute, is, should data.Value) string {
	undefined := isAbsent(should) || should.Len() == 1 && should.Kind() == data.List && isAbsent(should.List()[0])
	switch {
	case a.Creates && (isAbsent(is) || is.IsNil()):
		return "created"
	case a.Creates && isAbsent(should):
		return "removed"
	case isAbsent(is):
		return "defined '" + a.Name + "' as " + r.showShould(a, should)
	case undefined:
		return "undefined '" + a.Name + "' from " + r.showIs(a, is)
	}
	return a.Name + " changed " + r.showIs(a, is) + " to " + r.showShould(a, should)
}

// ShowIs prints what a property is for a message. Rule RES-TYPE-11.
func (r *Resource) ShowIs(property string, v data.Value) string {
	if x := r.values[property]; x != nil {
		return r.showIs(x.of, v)
	}
	return Display(v)
}

// ShowShould prints what a property should be for a message. Rule RES-TYPE-11.
func (r *Resource) ShowShould(property string, v data.Value) string {
	if x := r.values[property]; x != nil {
		return r.showShould(x.of, v)
	}
	return Display(v)
}

func (r *Resource) showIs(a *Attribute, v data.Value) string {
	if a.ShowIs != nil {
		return a.ShowIs(r, v)
	}
	return Display(v)
}

func (r *Resource) showShould(a *Attribute, v data.Value) string {
	if x := r.values[a.Name]; x != nil && !x.settled.IsNil() {
		v = x.settled
	}
	if a.ShowShould != nil {
		return a.ShowShould(r, v)
	}
	return Display(v)
}

// EventName is "mode_changed" or the name that the value of ensure has. Rule RES-EV-03.
func (r *Resource) EventName(property string) string {
	x := r.values[property]
	if x == nil {
		return property + "_changed"
	}
	if x.of.Event != "" {
		return x.of.Event
	}
	if c, ok := r.Choice(property); ok && c.Event != "" {
		return c.Event
	}
	if property != "ensure" {
		return property + "_changed"
	}
	switch r.Value(property).Str() {
	case "present":
		return r.Type.Name + "_created"
	case "absent":
		return r.Type.Name + "_removed"
	}
	return r.Type.Name + "_changed"
}

// Choice is the choice that a property should be; ok is false if it is none.
func (r *Resource) Choice(property string) (c Choice, ok bool) {
	x := r.values[property]
	if x == nil || len(x.should) == 0 {
		return c, false
	}
	return x.of.Match(x.should[0])
}
