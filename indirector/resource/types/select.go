package types

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"indirtui/indirector/data"
)

// A Candidate is a provider with what counts for and against it.
type Candidate struct {
	Provider    *Provider
	Suitable    bool
	Default     bool     // a defaultfor matches, and no notdefaultfor
	Specificity int      // of several, the highest counts
	Why         []string // "/usr/bin/dnf is not there", "default for os.family = debian"
}

// Select returns the default provider of a type on a host, or nil, and what was thought
// of each: the answer to "why this one". Rule RES-PROV-02.
func Select(t *Type, h Host) (*Provider, []Candidate) {
	all := make([]Candidate, len(t.Providers))
	for i, p := range t.Providers {
		all[i] = weigh(p, h)
	}
	best := contenders(all)
	if len(best) == 0 {
		return nil, all
	}
	return best[0].Provider, all
}

// contenders are the candidates that are equally good, and better than the others.
func contenders(all []Candidate) []Candidate {
	suitable := slices.DeleteFunc(slices.Clone(all), func(c Candidate) bool { return !c.Suitable })
	best := slices.DeleteFunc(slices.Clone(suitable), func(c Candidate) bool { return !c.Default })
	if len(best) == 0 {
		best = suitable
	}
	highest := 0
	for _, c := range best {
		highest = max(highest, c.Specificity)
	}
	return slices.DeleteFunc(best, func(c Candidate) bool { return c.Specificity < highest })
}

func weigh(p *Provider, h Host) Candidate {
	c := Candidate{Provider: p, Suitable: true, Specificity: depth(p)}
	for _, f := range p.Confines {
		if problem := f.problem(h); problem != "" {
			c.Suitable = false
			c.Why = append(c.Why, problem)
		}
	}
	for _, cmd := range p.Commands {
		if !cmd.Optional && h.Which(cmd.Path) == "" {
			c.Suitable = false
			c.Why = append(c.Why, cmd.Path+" is not there")
		}
	}
	if not := matching(p.NotDefaultFor, h); not != nil {
		c.Why = append(c.Why, "not the default for "+not.String())
		return c
	}
	m := matching(p.DefaultFor, h)
	switch {
	case m != nil:
		c.Default = true
		c.Specificity += 100 * len(m)
		c.Why = append(c.Why, "default for "+m.String())
	case p.Last:
		c.Specificity = 1
		c.Why = append(c.Why, "only where there is no other")
	}
	return c
}

// depth is the number of classes from a provider up to Ruby's BasicObject.
func depth(p *Provider) int { return len(p.Parents) + 4 }

// String is "os.family = debian and os.name = ubuntu or mint".
func (f Facts) String() string {
	if len(f) == 0 {
		return "this system"
	}
	var parts []string
	for name, values := range f {
		parts = append(parts, name+" = "+strings.Join(values, " or "))
	}
	sort.Strings(parts)
	return strings.Join(parts, " and ")
}

func matching(all []Facts, h Host) Facts {
	for _, f := range all {
		if f.match(h) {
			return f
		}
	}
	return nil
}

func (f Facts) match(h Host) bool {
	for name, values := range f {
		if name == "feature" {
			if !slices.ContainsFunc(values, h.Feature) {
				return false
			}
			continue
		}
		is := fact(h, name)
		if is == "" || !slices.ContainsFunc(values, func(want string) bool { return matchesFact(is, want) }) {
			return false
		}
	}
	return true
}

// matchesFact compares in lower case; a value in slashes is a regular expression.
func matchesFact(is, want string) bool {
	if len(want) > 1 && want[0] == '/' && want[len(want)-1] == '/' {
		re, err := regexp.Compile(want[1 : len(want)-1])
		return err == nil && re.MatchString(is)
	}
	return is == strings.ToLower(want)
}

func fact(h Host, name string) string {
	v, _ := h.Fact(name)
	return strings.ToLower(v.Text())
}

// problem returns why a confine does not hold, or "". Rule RES-PROV-01.
func (c Confine) problem(h Host) string {
	switch c.Kind {
	case "exists":
		if !h.Exists(c.Name) {
			return c.Name + " is not there"
		}
	case "feature":
		if !h.Feature(c.Name) {
			return "the feature " + c.Name + " is lacking"
		}
	case "true":
		if !h.Feature(c.Name) {
			return c.Name + " does not run here"
		}
	case "false":
		if h.Feature(c.Name) {
			return c.Name + " runs here"
		}
	case "any":
		if matching(c.Any, h) == nil {
			return "it is for other systems"
		}
	case "fact":
		is, ok := h.Setting(c.Name)
		if !ok {
			v, _ := h.Fact(c.Name)
			is = v.Text()
		}
		if !c.has(is) {
			return fmt.Sprintf("%s is %s, not %s", c.Name, known(is), strings.Join(c.Values, " or "))
		}
	case "not":
		if v, _ := h.Fact(c.Name); c.has(v.Text()) {
			return c.Name + " is " + v.Text()
		}
	case "ruby":
		return c.Name
	default:
		return "never suitable"
	}
	return ""
}

func (c Confine) has(is string) bool {
	return slices.ContainsFunc(c.Values, func(want string) bool { return strings.EqualFold(is, want) })
}

func known(is string) string {
	if is == "" {
		return "not known"
	}
	return is
}

// A Selection is a Host on which the default provider of each type is chosen once. It
// may be used from several goroutines.
type Selection struct {
	Host
	log func(level, message string)

	mu     sync.Mutex
	chosen map[*Type]*Provider
}

// NewSelection returns a Selection, which begins with what h has chosen if that is one.
// log takes the warning about several default providers, and may be nil.
func NewSelection(h Host, log func(level, message string)) *Selection {
	s := &Selection{Host: h, log: log, chosen: map[*Type]*Provider{}}
	if before, ok := h.(*Selection); ok {
		before.mu.Lock()
		defer before.mu.Unlock()
		s.Host, s.chosen = before.Host, maps.Clone(before.chosen)
	}
	return s
}

// Default is the default provider of a type, or nil.
func (s *Selection) Default(t *Type) *Provider {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.chosen[t]
	if ok {
		return p
	}
	p, all := Select(t, s.Host)
	s.chosen[t] = p
	if best := contenders(all); len(best) > 1 && s.log != nil {
		s.log("warning", severalDefaults(t, best))
	}
	return p
}

func severalDefaults(t *Type, best []Candidate) string {
	names := make([]string, len(best))
	for i, c := range best {
		names[i] = c.Provider.Name
	}
	return fmt.Sprintf("Found multiple default providers for %s: %s; using %s", t.Name, joined(names), names[0])
}

// defaultProvider is the one of t on r's host.
func (r *Resource) defaultProvider() *Provider {
	if s, ok := r.Host.(*Selection); ok {
		return s.Default(r.Type)
	}
	return NewSelection(r.Host, func(_, message string) { r.warnPuppet(message) }).Default(r.Type)
}

// providerParameter is the attribute provider of types that have providers.
func providerParameter() *Attribute {
	return &Attribute{
		Name: "provider", Kind: Parameter,
		Doc: "How the resource is done on this system. The best that is suitable is the default.",
		Default: func(r *Resource) (data.Value, bool) {
			p := r.defaultProvider()
			if p == nil {
				return data.Value{}, false
			}
			return data.OfSymbol(p.Name), true
		},
		Validate: func(r *Resource, v data.Value) error {
			if name := word(first(v)); r.Type.Provider(name) == nil {
				return refuse("Invalid %s provider '%s'", r.Type.Name, name)
			}
			return nil
		},
		Munge: func(r *Resource, v data.Value) (data.Value, error) {
			name := word(first(v))
			r.Provider = r.Type.Provider(name)
			return data.OfSymbol(name), nil
		},
	}
}

// first is the first element of a list, or the value itself.
func first(v data.Value) data.Value {
	if v.Kind() == data.List && v.Len() > 0 {
		return v.List()[0]
	}
	return v
}

// Home asks the Host, as Target, LastSystemUID and WorkingDirectory do.
func (s *Selection) Home(user string) string { return home(s.Host, user) }

func (s *Selection) LastSystemUID() int64 { return lastSystemUID(s.Host) }

func (s *Selection) WorkingDirectory() string { return workingDirectory(s.Host) }

func (s *Selection) Target(typ string) string {
	if h, ok := s.Host.(Targets); ok {
		return h.Target(typ)
	}
	return ""
}
