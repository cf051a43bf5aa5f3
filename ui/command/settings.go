package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/settings"
)

// A Configured is an engine whose settings can be changed while it runs: an
// *engine.Engine.
type Configured interface {
	Override(set []settings.Override, why string) (follow []string, err error)
	Overridden() []settings.Override
	RedactSetting(name, value string) string
	Routes() indirector.Routes
}

// A SettingsChange changes settings, or takes that back.
type SettingsChange struct {
	Line string // its text form, without secrets: ":set facts_terminus=yaml"

	engine        Configured
	before, after []settings.Override
}

// Set reads NAME=VALUE, one or more.
func Set(h Configured, words []string) (*SettingsChange, error) {
	c := &SettingsChange{Line: ":set", engine: h, before: h.Overridden()}
	c.after = slices.Clone(c.before)
	for _, w := range words {
		name, value, given := strings.Cut(w, "=")
		if !given || name == "" {
			return nil, &UsageError{What: fmt.Sprintf("set %s: to what?", w), Advice: "write NAME=VALUE"}
		}
		c.after = slices.DeleteFunc(c.after, func(o settings.Override) bool { return o.Name == name })
		c.after = append(c.after, settings.Override{Name: name, Value: value})
		c.Line += " " + Quote(name+"="+h.RedactSetting(name, value))
	}
	return c, nil
}

// Unset reads names of settings that were set, one or more, or all.
func Unset(h Configured, words []string) (*SettingsChange, error) {
	c := &SettingsChange{Line: ":unset " + strings.Join(words, " "), engine: h, before: h.Overridden()}
	var names []string
	for _, o := range c.before {
		names = append(names, o.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("nothing is set here")
	}
	advice := "set here: " + strings.Join(names, ", ") + "; or all"
	if len(words) == 0 {
		return nil, &UsageError{What: "unset what?", Advice: advice}
	}
	c.after = slices.Clone(c.before)
	for _, w := range words {
		switch {
		case w == "all" && len(words) == 1:
			c.after = nil
		case !slices.Contains(names, w):
			return nil, &UsageError{What: fmt.Sprintf("%s is not set here", w), Advice: advice}
		}
		c.after = slices.DeleteFunc(c.after, func(o settings.Override) bool { return o.Name == w })
	}
	return c, nil
}

// maxFollow is how many settings are named that follow another.
const maxFollow = 5

// Text is the text form, without secrets.
func (c *SettingsChange) Text() string { return c.Line }

// Do makes the change, and returns what follows from it, a sentence each. With
// an error nothing has changed. It reads files.
func (c *SettingsChange) Do() ([]string, error) { return c.put(c.after, c.Line) }

// Undo takes the change back.
func (c *SettingsChange) Undo() error {
	_, err := c.put(c.before, "undo "+c.Line)
	return err
}

func (c *SettingsChange) put(set []settings.Override, why string) ([]string, error) {
	before := c.engine.Routes()
	follow, err := c.engine.Override(set, why)
	if err != nil {
		return nil, err
	}
	return follows(follow, before, c.engine.Routes()), nil
}

// follows describes what follows from a change: settings, by their names, and
// routes.
func follows(follow []string, before, now indirector.Routes) (lines []string) {
	if n := len(follow); n > 0 {
		more := ""
		if n > maxFollow {
			follow, more = follow[:maxFollow], fmt.Sprintf(" and %d more", n-maxFollow)
		}
		lines = append(lines, "other settings that are another now: "+strings.Join(follow, ", ")+more)
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		was, is := before[name], now[name]
		for _, slot := range []struct{ name, was, is string }{
			{indirector.SlotTerminus, was.Primary.Winner().Terminus, is.Primary.Winner().Terminus},
			{indirector.SlotCache, was.Cache.Winner().Terminus, is.Cache.Winner().Terminus},
		} {
			if slot.was != slot.is {
				lines = append(lines, fmt.Sprintf("route of %s: %s %s -> %s", name, slot.name, orNone(slot.was), orNone(slot.is)))
			}
		}
	}
	return lines
}

func orNone(name string) string {
	if name == "" {
		return "none"
	}
	return name
}
