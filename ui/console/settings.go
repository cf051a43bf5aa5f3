package console

import (
	"fmt"
	"indirtui/traces/spell"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/settings"
	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/widget"
)

// showSettings shows one setting with every opinion on it, or all of them:
// first those that somebody set.
func showSettings(c *Console, l call) (tea.Cmd, error) {
	p := widget.Page{Title: "settings"}
	if len(l.words) > 0 {
		s, ok := c.o.Settings.Setting(l.words[0])
		if !ok {
			return nil, &command.UsageError{What: fmt.Sprintf("no setting is called %q", l.words[0]), Advice: "nearest: " + spell.Nearest(l.words[0], c.settingNames())}
		}
		p.Title = "settings > " + s.Name
		pageOf(&p, s)
		return screen.Send(screen.Push{Screen: widget.NewPager(c.env, p)}), nil
	}
	all := c.o.Settings.All()
	p.Add("", "set somewhere", screen.Bold)
	list(&p, all, func(s settings.Setting) bool { return s.Place != "default" })
	p.Add("", "", screen.Plain)
	p.Add("", "by default", screen.Bold)
	list(&p, all, func(s settings.Setting) bool { return s.Place == "default" })
	return screen.Send(screen.Push{Screen: widget.NewPager(c.env, p)}), nil
}

func list(p *widget.Page, all []settings.Setting, is func(settings.Setting) bool) {
	width := 0
	for _, s := range all {
		if is(s) {
			width = max(width, min(len(s.Name), 28))
		}
	}
	for _, s := range all {
		if is(s) {
			text := fmt.Sprintf("%-*s  %s", width, s.Name, shown(s.Name, s.Value))
			if s.Place != "default" {
				text += "   " + s.Place
			}
			p.Add("", text, screen.Plain)
		}
	}
}

func pageOf(p *widget.Page, s settings.Setting) {
	p.Add("value", shown(s.Name, s.Value), screen.Bold)
	p.Add("by", s.Place, screen.Plain)
	if s.Raw != s.Value && s.Raw != "" {
		p.Add("as written", shown(s.Name, s.Raw), screen.Plain)
	}
	if s.Err != nil {
		p.Add("wrong", s.Err.Error(), screen.Attention)
	}
	for i, o := range s.Overruled {
		label := ""
		if i == 0 {
			label = "overruled"
		}
		text := shown(s.Name, o.Value) + "   " + o.Place
		if o.Why != "" {
			text += "  NOT APPLIED (" + o.Why + ")"
		}
		p.Add(label, text, screen.Quiet)
	}
	if s.Doc != "" {
		p.Add("", "", screen.Plain)
		p.Add("", s.Doc, screen.Plain)
	}
}

// shown is a value, unless its name says that it is a secret. Rule: UI design,
// section 12.
func shown(name, value string) string {
	for _, secret := range []string{"password", "passwd", "secret", "token"} {
		if strings.Contains(name, secret) && value != "" {
			return fmt.Sprintf("(masked, %d B)", len(value))
		}
	}
	return value
}

func (c *Console) settingNames() []string {
	var names []string
	for _, s := range c.o.Settings.All() {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}
