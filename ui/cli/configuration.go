package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"indirtui/indirector/redact"
	"indirtui/ui/command"
	"indirtui/ui/config"
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// mine is the configuration of this program. It is read once. Without a command
// line it is the built-in one.
func (p *program) mine() (*config.Config, error) {
	if p.own != nil {
		return p.own, nil
	}
	o := config.Options{Flags: p.ui.given()}
	if p.given != nil {
		o = p.sources()
	}
	c, err := config.Load(o)
	if err != nil {
		return c, configError(err)
	}
	p.own = c
	return c, nil
}

// sources are where the configuration of this program is looked for.
func (p *program) sources() config.Options {
	o := config.Options{User: config.UserFile(os.Getenv), Getenv: os.Getenv, Flags: displayFlags(p.given)}
	if dir, err := os.Getwd(); err == nil {
		o.Project = config.FindProject(dir, os.Getenv("HOME"))
	}
	return o
}

// configError is one error about a configuration, however many there are.
func configError(err error) error {
	first, more := err, 0
	if all, is := err.(interface{ Unwrap() []error }); is {
		list := all.Unwrap()
		first, more = list[0], len(list)-1
	}
	e := &command.UsageError{What: first.Error()}
	if more > 0 {
		e.Advice = fmt.Sprintf("%s more: see indirtui config check", term.Plural(more, "problem"))
	}
	return e
}

// displayFlags are the flags that were given, as the configuration calls them.
func displayFlags(given *pflag.FlagSet) []config.Flag {
	var all []config.Flag
	add := func(flag, key string, value func(string) string) {
		if f := given.Lookup(flag); f != nil && f.Changed {
			text := "--" + flag
			if f.Value.Type() != "bool" || f.Value.String() != "true" {
				text += "=" + f.Value.String()
			}
			all = append(all, config.Flag{Key: key, Value: value(f.Value.String()), Text: text})
		}
	}
	same := func(v string) string { return v }
	choose := func(yes, no string) func(string) string {
		return func(v string) string {
			if on, _ := strconv.ParseBool(v); on {
				return yes
			}
			return no
		}
	}
	add("theme", "theme", same)
	add("light", "theme", choose("auto", "auto"))
	add("ascii", "glyphs", choose("ascii", "auto"))
	add("no-mouse", "mouse", choose("false", "true"))
	add("fps", "fps", same)
	add("function-keys", "function-keys", same)
	add("plain", "plain", same)
	add("rotate", "rotate", same)
	add("keep", "keep", same)
	add("keep-size", "keep-size", same)
	add("record", "record", func(string) string { return "true" })
	return all
}

// given are the flags of a program that was not started by a command line.
func (i *interactive) given() []config.Flag {
	var all []config.Flag
	for _, f := range []struct {
		on   bool
		flag config.Flag
	}{
		{i.ascii, config.Flag{Key: "glyphs", Value: "ascii", Text: "--ascii"}},
		{i.noMouse, config.Flag{Key: "mouse", Value: "false", Text: "--no-mouse"}},
		{i.functionKeys, config.Flag{Key: "function-keys", Value: "true", Text: "--function-keys"}},
		{i.plain, config.Flag{Key: "plain", Value: "true", Text: "--plain"}},
	} {
		if f.on {
			all = append(all, f.flag)
		}
	}
	return all
}

// redactor redacts what no engine has redacted.
func (p *program) redactor() *redact.Redactor {
	mine, _ := p.mine() // problems were reported at the start
	return redact.New(redact.Rules{Names: mine.Secrets})
}

// theme is how the terminal is drawn on.
func (p *program) theme(mine *config.Config) *term.Theme {
	th := term.NewTheme(func(name string) string {
		switch {
		case mine.Glyphs == "ascii" && (name == "LC_ALL" || name == "LC_CTYPE" || name == "LANG"):
			return "C"
		case p.ui.light && name == "COLORFGBG":
			return ""
		}
		return os.Getenv(name)
	}, !p.ui.light)
	if mine.Glyphs == "unicode" {
		th.Glyphs, th.SevenBits = term.Unicode, false
	}
	palettes := map[string]term.Palette{
		"terminal": term.Sixteen, "dark": term.TrueDark, "light": term.TrueLight, "mono": term.NoColour, "none": term.NoStyle,
	}
	if palette, chosen := palettes[mine.Theme]; chosen {
		th.Palette = palette
	}
	return th
}

// remap is the keys of the user on top of the function keys, if he wants those.
func remap(mine *config.Config) map[screen.Action][]string {
	keys := map[screen.Action][]string{}
	if mine.FunctionKeys {
		keys = screen.FunctionKeys()
	}
	maps.Copy(keys, mine.Keys)
	return keys
}

// also returns the rules of two lists, each once.
func also(a, b []string) []string {
	all := slices.Clone(a)
	for _, rule := range b {
		if !slices.Contains(all, rule) {
			all = append(all, rule)
		}
	}
	return all
}
