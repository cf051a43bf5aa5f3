package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/settings"
)

// SetHere is the source of a setting that was changed at run time.
const SetHere = "set here by :set"

// Overridden returns what was set by Override, oldest first.
func (e *Engine) Overridden() []settings.Override {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.set)
}

// Override replaces the settings that are stronger than puppet.conf and the
// command line, as if Puppet had been started with them: files and routes are read
// again, and routes assigned since the start stay on top. Termini that read a
// changed setting are made anew; requests on their way end as they began, see
// [indirector.Indirector.Reconfigure]. Why is for the journal.
//
// It returns the names of other settings whose value changes with them. With an
// error nothing has changed; an invalid name or value is a *RefusedError.
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
	for _, s := range c.Settings.All() {
		was, _ := old.Settings.Get(s.Name)
		named := func(o settings.Override) bool { return o.Name == s.Name }
		if was != s.Value && !slices.ContainsFunc(set, named) && !slices.ContainsFunc(e.set, named) {
			follow = append(follow, s.Name)
		}
	}
	e.set = set
	e.prefer(c)
	e.replace(c, why)
	return follow, nil
}

// fatal joins the problems that keep Puppet from starting.
func fatal(c *Configuration) string {
	var all []string
	for _, p := range c.Problems {
		if p.Fatal {
			all = append(all, p.String())
		}
	}
	return strings.Join(all, "; ")
}

// A RefusedError reports an unknown setting or an invalid value.
type RefusedError struct{ Name, Why string }

func (e *RefusedError) Error() string { return e.Why }
