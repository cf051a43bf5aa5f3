package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/settings"
)

// SetHere is the place of a setting that a person has changed while the house
// runs.
const SetHere = "set here by :set"

// Overridden returns what was set by Override, oldest first.
func (e *Engine) Overridden() []settings.Override {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.set)
}

// Override lets a list of settings, and no others any more, be stronger than
// puppet.conf and the command line from now on, as if Puppet had been started
// with them: files are read again, the route table is worked out again, and
// what was chosen by hand since the start stays on top of it. Termini that read
// a setting which is another now are made anew; requests on their way end as
// they began, see [indirector.Indirector.Reconfigure]. Why is for the journal of
// the routes.
//
// It returns the other settings whose value follows, by name. With an error
// nothing has changed: a name or value that is no good is a *RefusedError.
func (e *Engine) Override(set []settings.Override, why string) (follow []string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	set = slices.Clone(set)
	for i := range set {
		set[i].Source = SetHere
	}
	old := e.now.Load()
	c, err := e.read(set, e.Registry())
	if unknown := (*settings.UnknownError)(nil); errors.As(err, &unknown) {
		return nil, &RefusedError{unknown.Name, unknown.What()}
	}
	if err != nil {
		return nil, err
	}
	for _, s := range set {
		if now, _ := c.Settings.Setting(s.Name); now.Err != nil {
			why := now.Err.Error()
			if s.Value != "" {
				why = strings.ReplaceAll(why, s.Value, e.RedactSetting(s.Name, s.Value))
			}
			return nil, &RefusedError{s.Name, why}
		}
	}
	if p := fatal(c); p != "" && p != fatal(old) {
		return nil, fmt.Errorf("%s; nothing was changed", p)
	}
	for _, p := range e.preferred {
		c.Routes = c.Routes.With(p.indirection, indirector.SlotTerminus, p.choice)
	}
	changed := func(name string) bool {
		was, before := old.Settings.Get(name)
		is, now := c.Settings.Get(name)
		return was != is || before != now
	}
	for _, s := range c.Settings.All() {
		was, _ := old.Settings.Get(s.Name)
		named := func(o settings.Override) bool { return o.Name == s.Name }
		if was != s.Value && !slices.ContainsFunc(set, named) && !slices.ContainsFunc(e.set, named) {
			follow = append(follow, s.Name)
		}
	}
	e.set = set
	e.Settings.Replace(c.Settings)
	e.now.Store(c)
	e.Reconfigure(c.surroundings(), indirector.Rebase(e.Routes(), old.Routes, c.Routes), changed, why)
	return follow, nil
}

// fatal is what Puppet would not start with, or "".
func fatal(c *Configuration) string {
	var all []string
	for _, p := range c.Problems {
		if p.Fatal {
			all = append(all, p.String())
		}
	}
	return strings.Join(all, "; ")
}

// A RefusedError is that a setting cannot be set to what somebody wants.
type RefusedError struct{ Name, Why string }

func (e *RefusedError) Error() string { return e.Why }
