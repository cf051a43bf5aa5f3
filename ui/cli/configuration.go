package cli

import (
	"fmt"
	"image/color"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"indirtui/indirector"
	"indirtui/indirector/redact"
	"indirtui/ui/command"
	"indirtui/ui/config"
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A configuration is that of this program, as far as commands know it.
type configuration struct {
	ui    interactive
	given *pflag.FlagSet // what stood on the command line; nil if nothing did
	own   *config.Config // see mine

	background color.Color // of the terminal; nil if it is not known
}

// mine is the configuration of this program. It is read once. Without a command
// line it is the built-in one.
func (c *configuration) mine() (*config.Config, error) {
	if c.own != nil {
		return c.own, nil
	}
	var o config.Options
	if c.given != nil {
		o = c.sources()
	}
	own, err := config.Load(o)
	if err != nil {
		return own, configError(err)
	}
	c.own = own
	return own, nil
}

// sources are where the configuration of this program is looked for.
func (c *configuration) sources() config.Options {
	o := config.Options{User: config.UserFile(os.Getenv), Getenv: os.Getenv, Flags: displayFlags(c.given)}
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
	add("ruby", "ruby", same)
	add("rotate", "rotate", same)
	add("keep", "keep", same)
	add("keep-size", "keep-size", same)
	add("record", "record", func(string) string { return "true" })
	return all
}

// ruby is what may be run in Ruby, and by what: resources of types that are written in Ruby,
// and, unless it is left to them, functions and templates, too. Rule LANG-ERB-10.
func (c *configuration) ruby(mine *config.Config) indirector.Ruby {
	r := indirector.Ruby{Path: mine.Ruby, Resources: mine.Ruby, Remote: mine.RubyServe}
	switch mine.Ruby {
	case "never", "off":
		r.Path, r.Resources, r.None = "", "", "ruby is set to "+mine.Ruby
	case "resources":
		r.Path = ""
		r.Resources, r.None = puppetsRuby()
	case "auto":
		r.Path = "ruby"
		if found, err := exec.LookPath(r.Path); err == nil { // without one, what needs it fails
			r.Path = found
		}
		r.Resources, r.None = puppetsRuby()
	}
	return r
}

// puppetsRuby is the interpreter that packages of Puppet bring, or else the one in PATH.
func puppetsRuby() (path, none string) {
	const packaged = "/opt/puppetlabs/puppet/bin/ruby"
	for _, name := range []string{packaged, "ruby"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, ""
		}
	}
	return "", "there is no ruby in PATH"
}

// redactor redacts what no engine has redacted.
func (c *configuration) redactor() *redact.Redactor {
	mine, _ := c.mine() // problems were reported at the start
	return redact.New(redact.Rules{Names: mine.Secrets})
}

// askTerminal asks the terminal for its background, unless the colours were chosen
// already. It returns the keyboard if that was read meanwhile, else nil.
func (p *program) askTerminal() *term.Input {
	mine, _ := p.mine()
	in, isFile := p.In.(*os.File)
	out, toFile := p.Out.(*os.File)
	if mine.Theme != "auto" || p.ui.light || os.Getenv("NO_COLOR") != "" || !isFile || !toFile {
		return nil
	}
	background, input := term.Ask(in, out)
	p.background = background
	return input
}

// theme is how the terminal is drawn on.
func (c *configuration) theme(mine *config.Config) *term.Theme {
	background := c.background
	if c.ui.light {
		background = color.White
	}
	th := term.NewTheme(func(name string) string {
		switch {
		case mine.Glyphs == "ascii" && (name == "LC_ALL" || name == "LC_CTYPE" || name == "LANG"):
			return "C"
		}
		return os.Getenv(name)
	}, background)
	if mine.Glyphs == "unicode" {
		th.Glyphs, th.SevenBits = term.Unicode, false
	}
	palettes := map[string]term.Palette{
		"terminal": term.Sixteen, "dark": term.TrueDark, "light": term.TrueLight, "mono": term.NoColour, "none": term.NoStyle,
	}
	if palette, chosen := palettes[mine.Theme]; chosen {
		th.Palette, th.Bar = palette, true
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
