package transaction

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
)

// ErrNoPlan is the error for a text that is no plan, but may be something else.
var ErrNoPlan = errors.New("it is no plan")

// ReadPlan reads a plan that was written as JSON. Its totals are counted anew. The error is
// ErrNoPlan if it has none.
func ReadPlan(b []byte) (*Plan, error) {
	var is struct {
		Totals *Totals `json:"totals"`
	}
	if json.Unmarshal(b, &is) != nil || is.Totals == nil {
		return nil, ErrNoPlan
	}
	p := new(Plan)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("read a plan: %w", err)
	}
	p.Totals = Totals{}
	for i := range p.Resources {
		n := &p.Resources[i]
		if _, ok := types.ParseRef(n.Resource); !ok {
			return nil, fmt.Errorf("read a plan: resource %d has the reference %q, which is none", i, n.Resource)
		}
		if !slices.Contains(outcomes, n.Outcome) {
			return nil, fmt.Errorf("read a plan: %s has the outcome %q, which is none", n.Resource, n.Outcome)
		}
		p.Totals.count(n)
	}
	return p, nil
}

// Redacted is the plan with texts as hide returns them. Hide is given the name of a property,
// or "", and a text.
func (p *Plan) Redacted(hide func(name, text string) string) *Plan {
	out := *p
	all := func(texts []string) []string {
		texts = slices.Clone(texts)
		for i := range texts {
			texts[i] = hide("", texts[i])
		}
		return texts
	}
	out.Logs, out.Resources = all(p.Logs), slices.Clone(p.Resources)
	for i := range out.Resources {
		n := &out.Resources[i]
		n.Resource, n.Detail, n.Diff = hide("", n.Resource), hide("", n.Detail), hide("", n.Diff)
		n.Chain, n.RefreshedBy = all(n.Chain), all(n.RefreshedBy)
		n.Changes = slices.Clone(n.Changes)
		for k := range n.Changes {
			c := &n.Changes[k]
			c.Is, c.Should, c.Text = hide(c.Property, c.Is), hide(c.Property, c.Should), hide(c.Property, c.Text)
		}
	}
	return &out
}

// Document is the plan as it is compared with others, and with reports: a list of resources
// sorted by their references, each with its outcome, and of its properties what is and what
// should be. With why it has also why a resource would be skipped or fail, or cannot be
// known, which no report has.
func (p *Plan) Document(why bool) data.Value {
	return document(p.Resources, func(n *Planned) []data.Pair {
		return append(n.summary(why), properties(n.Changes, func(c PlannedChange) data.Value {
			return data.OfHash([]data.Pair{data.P("is", literal(c.Is)), data.P("should", literal(c.Should))})
		})...)
	})
}

// Sides are the properties that are not as they should be: as they are, and as they should
// be.
func (p *Plan) Sides() (is, should data.Value) {
	differing := slices.DeleteFunc(slices.Clone(p.Resources), func(n Planned) bool { return len(n.Changes) == 0 })
	side := func(of func(PlannedChange) string) data.Value {
		return document(differing, func(n *Planned) []data.Pair {
			return properties(n.Changes, func(c PlannedChange) data.Value { return literal(of(c)) })
		})
	}
	return side(func(c PlannedChange) string { return c.Is }), side(func(c PlannedChange) string {
		if c.Is == c.Should { // both are redacted
			return c.Should + ", another one"
		}
		return c.Should
	})
}

// Happened is what became of the resources of a run in the form of a plan, to be compared
// with one. Resources that Puppet adds to every catalog are left out, as plans do.
func Happened(r *model.Report) *Plan {
	p, refreshed := &Plan{Catalog: r.Host}, refreshes(r)
	for i := range r.Statuses {
		s := &r.Statuses[i]
		if _, ok := types.ParseRef(s.Ref); !ok || s.File == "" && slices.Contains(defaults, s.Ref) {
			continue
		}
		n := happened(s, refreshed)
		p.Totals.count(&n)
		p.Resources = append(p.Resources, n)
	}
	return p
}

func document(all []Planned, of func(*Planned) []data.Pair) data.Value {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Planned) int { return strings.Compare(a.Resource, b.Resource) })
	list := make([]data.Value, len(all))
	for i := range all {
		ref, _ := types.ParseRef(all[i].Resource)
		list[i] = data.OfHash(append([]data.Pair{data.P("type", valid(ref.Type)), data.P("title", valid(ref.Title))}, of(&all[i])...))
	}
	return data.OfList(list)
}

// valid is a text as JSON can have it: titles and values may be any bytes.
func valid(text string) data.Value { return data.OfString(strings.ToValidUTF8(text, "\uFFFD")) }

// literal is a value of a plan without the quotes around a text.
func literal(text string) data.Value {
	if n := len(text); n >= 2 && text[0] == '\'' && text[n-1] == '\'' {
		text = text[1 : n-1]
	}
	return valid(text)
}

// summary is what a document has of a resource besides its properties.
func (n *Planned) summary(why bool) []data.Pair {
	pairs := []data.Pair{data.P("outcome", data.OfString(string(n.Outcome)))}
	if text := n.Why(); why && text != "" && n.Outcome != WouldChange && n.Outcome != Same {
		pairs = append(pairs, data.P("why", valid(text)))
	}
	if len(n.RefreshedBy) > 0 {
		pairs = append(pairs, data.P("refreshed", data.OfBool(true)))
	}
	return pairs
}

func properties(changes []PlannedChange, of func(PlannedChange) data.Value) []data.Pair {
	if len(changes) == 0 {
		return nil
	}
	pairs := make([]data.Pair, len(changes))
	for i, c := range changes {
		pairs[i] = data.P(c.Property, of(c))
	}
	return []data.Pair{data.P("properties", data.OfHash(pairs))}
}

// happened is what became of a resource, as a plan would have it.
func happened(s *model.ResourceStatus, refreshed map[string]bool) Planned {
	n := Planned{Resource: s.Ref, Outcome: Same}
	if refreshed["/"+strings.Join(s.ContainmentPath, "/")] {
		n.RefreshedBy = []string{"noop"}
	}
	for i := range s.Events {
		switch e := &s.Events[i]; {
		case e.Status == "audit":
		case !e.Property.IsNil():
			n.Changes = append(n.Changes, changed(s, e))
		case e.Name == "refresh":
			n.RefreshedBy = []string{e.Message}
		}
	}
	switch {
	case s.Skipped:
		n.Outcome = WouldSkip
	case s.Failed:
		n.Outcome = WouldFail
	case len(n.Changes) > 0:
		n.Outcome = WouldChange
	case len(n.RefreshedBy) > 0:
		n.Outcome = WouldRefresh
	}
	return n
}

// changed is an event of a report as a plan has it: the content of a file is in base64 there.
func changed(s *model.ResourceStatus, e *model.Event) PlannedChange {
	c := PlannedChange{Property: e.Property.Text(), Is: types.Display(e.PreviousValue), Should: types.Display(e.DesiredValue)}
	if s.Type == "File" && c.Property == "content" {
		if sum, err := base64.StdEncoding.DecodeString(e.DesiredValue.Str()); err == nil && bytes.HasPrefix(sum, []byte("{")) {
			c.Should = types.Display(data.OfString(string(sum)))
		}
	}
	return c
}

// refreshes are the sources of the lines by which a noop logs what it would have refreshed:
// its report has no events of that.
func refreshes(r *model.Report) map[string]bool {
	sources := map[string]bool{}
	for _, l := range r.Logs {
		if strings.HasPrefix(l.Message, "Would have triggered 'refresh'") {
			sources[l.Source] = true
		}
	}
	return sources
}

// defaults are the resources that Puppet adds to every catalog.
var defaults = []string{
	"Schedule[puppet]", "Schedule[hourly]", "Schedule[daily]", "Schedule[weekly]", "Schedule[monthly]", "Schedule[never]",
	"Filebucket[puppet]",
}
