package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"indirtui/indirector/redact"
	"indirtui/ui/command"
	"indirtui/ui/config"
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// mine is how the user wants the program to be. It is read once. A program that
// was not started by a command line is as built in.
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

// mask masks what no engine has masked.
func (p *program) mask() *redact.Redactor {
	mine, _ := p.mine() // what is wrong was said at the start
	return redact.New(redact.Rules{Names: mine.Mask})
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

// configuration is the command that shows how this program is configured.
func (p *program) configuration() *cobra.Command {
	var asJSON bool
	var i interactive
	cmd := &cobra.Command{
		Use: "config [KEY ...]", GroupID: "look",
		Short: "How this program itself is configured, and who decided that",
		Long: "How this program itself is configured, and who decided that. Puppet's settings\nare another thing: see settings.\n\n" +
			"Flags are stronger than the environment (INDIRTUI_THEME and so on, NO_COLOR),\nthat is stronger than the file of the project (" + config.ProjectFile + " in the working\ndirectory or above it, up to the top of the git repository), that is stronger\n" +
			"than the file of the user ($XDG_CONFIG_HOME/indirtui/config.yaml, else\n~/.config/indirtui/config.yaml). Both files are YAML, and every key is optional:\n\n" +
			configExample + "\nThe keys\n\n" + keyList() +
			"\nA key that there is not is a warning. A value that is no good is an error with\nfile and line, and the program does not start; config check finds all of them.\n\nExit code: 0 fine, 1 config check found something, 2 usage or a value that is no\ngood.",
		Example: "  indirtui config\n  indirtui config theme fps --json\n  indirtui config check\n  indirtui config path",
		RunE: func(_ *cobra.Command, names []string) error {
			c, err := config.Load(p.sources())
			if err != nil {
				return configError(err)
			}
			for _, w := range c.Warnings {
				p.complain("warning: " + w)
			}
			return p.showConfiguration(c, names, asJSON)
		},
	}
	check := &cobra.Command{
		Use: "check [FILE]", Args: usageArgs(cobra.MaximumNArgs(1)),
		Short: "Check the files, or one file, and say all that is wrong",
		RunE: func(_ *cobra.Command, args []string) error {
			o := p.sources()
			if len(args) == 1 {
				if _, err := os.Stat(args[0]); err != nil {
					return lostError{err}
				}
				o = config.Options{User: args[0]}
			}
			return p.checkConfiguration(config.Load(o))
		},
	}
	path := &cobra.Command{
		Use: "path", Args: usageArgs(cobra.NoArgs),
		Short: "Print where the files are, and whether they are there",
		RunE: func(*cobra.Command, []string) error {
			o := p.sources()
			for _, f := range [][2]string{{"user", o.User}, {"project", o.Project}} {
				where := clean(f[1])
				if _, err := os.Stat(f[1]); f[1] == "" {
					where = "none"
				} else if err != nil {
					where += "  (not there)"
				}
				fmt.Fprintf(p.out, "%-8s %s\n", f[0], where)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	i.display(cmd)
	cmd.AddCommand(check, path)
	return cmd
}

// configExample is a file as people write it.
const configExample = `  theme: dark
  fps: 5
  mask: [apikey, licence_key]
  ignore: [.parameters.uptime]
  keys:
    follow: f5
    filter: [/, ctrl+g]
`

func keyList() string {
	c, _ := config.Load(config.Options{}) // what is built in is good
	var b strings.Builder
	for _, v := range c.Values {
		fmt.Fprintf(&b, "  %-14s %s\n", v.Key, v.Doc)
	}
	fmt.Fprintf(&b, "  %-14s %s\n", "keys", "keys of actions, instead of the built-in ones: ACTION: KEY, or a list;")
	fmt.Fprintf(&b, "  %-14s %s\n", "", "indirtui config keys lists the actions")
	return b.String()
}

// A configRow is one key, as --json prints it.
type configRow struct {
	Key       string             `json:"key"`
	Value     string             `json:"value"`
	Place     string             `json:"place"`
	Overruled []config.Candidate `json:"overruled"`
}

func (p *program) showConfiguration(c *config.Config, names []string, asJSON bool) error {
	rows := []configRow{}
	for _, v := range c.Values {
		asked := func(name string) bool { return v.Key == name || strings.HasPrefix(v.Key, name+".") }
		if len(names) == 0 || slices.ContainsFunc(names, asked) {
			rows = append(rows, configRow{v.Key, v.Value, v.Source, append([]config.Candidate{}, v.Overruled...)})
		}
	}
	if slices.Contains(names, "keys") {
		rows = append(rows, actions(c)...)
	}
	for _, name := range names {
		top, _, _ := strings.Cut(name, ".")
		if !slices.Contains(config.Keys(), top) {
			return &command.UsageError{What: fmt.Sprintf("there is no key %q", name), Advice: "there are: " + strings.Join(config.Keys(), ", ")}
		}
	}
	if asJSON {
		return p.jsonOut(rows)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tVALUE\tPLACE")
	for _, r := range rows {
		value := r.Value
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", clean(r.Key), clean(value), clean(r.Place))
		for _, o := range r.Overruled {
			fmt.Fprintf(w, "\t  overruled: %s (%s)\t\n", clean(o.Value), clean(o.Source))
		}
	}
	return w.Flush()
}

// actions are the actions that nobody has given other keys.
func actions(c *config.Config) []configRow {
	keys, _ := screen.NewKeys(nil)
	var rows []configRow
	for _, do := range screen.Actions() {
		if _, given := c.Keys[do]; given {
			continue
		}
		var words []string
		for _, b := range keys.Bindings() {
			for _, k := range b.Keys {
				if name := screen.KeyName(k); b.Do == do && !slices.Contains(words, name) {
					words = append(words, name)
				}
			}
		}
		rows = append(rows, configRow{"keys." + string(do), strings.Join(words, " "), "default", []config.Candidate{}})
	}
	return rows
}

func (p *program) checkConfiguration(c *config.Config, err error) error {
	problems := slices.Clone(c.Warnings)
	if err != nil {
		all := []error{err}
		if many, is := err.(interface{ Unwrap() []error }); is {
			all = many.Unwrap()
		}
		for _, e := range all {
			problems = append(problems, e.Error())
		}
	}
	if _, notes := screen.NewKeys(remap(c)); err == nil {
		problems = append(problems, notes...)
	}
	for _, text := range problems {
		fmt.Fprintln(p.out, clean(text))
	}
	switch {
	case len(problems) > 0:
		return exit(exitFailed)
	case len(c.Files) == 0:
		fmt.Fprintln(p.out, "there is no file: everything is as built in")
	default:
		fmt.Fprintln(p.out, clean(strings.Join(c.Files, ", "))+": fine")
	}
	return nil
}
