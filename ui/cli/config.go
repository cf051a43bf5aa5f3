package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/ui/command"
	"indirtui/ui/config"
	"indirtui/ui/screen"
)

// A configCommand shows how this program is configured.
type configCommand struct {
	listing
	display interactive
}

func (c *configCommand) build(cmd *cobra.Command) {
	cmd.Long = "How this program itself is configured, and who decided that. Puppet's settings\nare another thing: see settings.\n\n" +
		"Flags are stronger than the environment (INDIRTUI_THEME and so on, NO_COLOR),\nthat is stronger than the file of the project (" + config.ProjectFile + " in the working\ndirectory or above it, up to the top of the git repository), that is stronger\n" +
		"than the file of the user ($XDG_CONFIG_HOME/indirtui/config.yaml, else\n~/.config/indirtui/config.yaml). Both files are YAML, and every key is optional:\n\n" +
		configExample + "\nThe keys\n\n" + keyList() +
		"\nA key that there is not is a warning. A value that is no good is an error with\nfile and line, and the program does not start; config check finds all of them.\n\nExit code: 0 fine, 1 config check found something, 2 usage or a value that is no\ngood."
	cmd.Example = "  indirtui config\n  indirtui config theme fps --json\n  indirtui config check\n  indirtui config path"
	c.flag(cmd, "as JSON")
	c.display.display(cmd)
}

func (c *configCommand) run(_ context.Context, names []string) error {
	own, err := config.Load(c.p.sources())
	if err != nil {
		return configError(err)
	}
	for _, w := range own.Warnings {
		c.p.report("warning: " + w)
	}
	return c.show(own, names)
}

// A configCheckCommand prints all that is wrong with the files, or with one file.
type configCheckCommand struct{ p *program }

func (c *configCheckCommand) run(_ context.Context, args []string) error {
	o := c.p.sources()
	if len(args) == 1 {
		if _, err := os.Stat(args[0]); err != nil {
			return lostError{err}
		}
		o = config.Options{User: args[0]}
	}
	return c.problems(config.Load(o))
}

// A configPathCommand prints where the files are.
type configPathCommand struct{ p *program }

func (c *configPathCommand) run(context.Context, []string) error {
	o := c.p.sources()
	for _, f := range [][2]string{{"user", o.User}, {"project", o.Project}} {
		where := clean(f[1])
		if _, err := os.Stat(f[1]); f[1] == "" {
			where = "none"
		} else if err != nil {
			where += "  (not there)"
		}
		fmt.Fprintf(c.p.out, "%-8s %s\n", f[0], where)
	}
	return nil
}

// configExample is a file as users write it.
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

func (c *configCommand) show(own *config.Config, names []string) error {
	rows := []configRow{}
	for _, v := range own.Values {
		asked := func(name string) bool { return v.Key == name || strings.HasPrefix(v.Key, name+".") }
		if len(names) == 0 || slices.ContainsFunc(names, asked) {
			rows = append(rows, configRow{v.Key, v.Value, v.Source, append([]config.Candidate{}, v.Overruled...)})
		}
	}
	if slices.Contains(names, "keys") {
		rows = append(rows, actions(own)...)
	}
	for _, name := range names {
		top, _, _ := strings.Cut(name, ".")
		if !slices.Contains(config.Keys(), top) {
			return &command.UsageError{What: fmt.Sprintf("there is no key %q", name), Advice: "there are: " + strings.Join(config.Keys(), ", ")}
		}
	}
	return c.print(rows, func(out io.Writer) error { return printConfig(out, rows) })
}

func printConfig(out io.Writer, rows []configRow) error {
	return printTable(out, "KEY\tVALUE\tPLACE", rows, func(r configRow, put func(...string)) {
		put(r.Key, cmp.Or(r.Value, "-"), r.Place)
		for _, o := range r.Overruled {
			put("", "  overruled: "+o.Value+" ("+o.Source+")", "")
		}
	})
}

// actions are the actions with the built-in keys.
func actions(c *config.Config) []configRow {
	keys, _ := screen.NewKeys(nil)
	var rows []configRow
	for _, do := range screen.Actions() {
		if _, given := c.Keys[do]; given {
			continue
		}
		var words []string
		for _, b := range keys.Bindings() {
			for _, k := range b.Keys() {
				if name := screen.KeyName(k); b.Do == do && !slices.Contains(words, name) {
					words = append(words, name)
				}
			}
		}
		rows = append(rows, configRow{"keys." + string(do), strings.Join(words, " "), "default", []config.Candidate{}})
	}
	return rows
}

func (c *configCheckCommand) problems(own *config.Config, err error) error {
	problems := slices.Clone(own.Warnings)
	if err != nil {
		all := []error{err}
		if many, is := err.(interface{ Unwrap() []error }); is {
			all = many.Unwrap()
		}
		for _, e := range all {
			problems = append(problems, e.Error())
		}
	}
	if _, notes := screen.NewKeys(remap(own)); err == nil {
		problems = append(problems, notes...)
	}
	for _, text := range problems {
		fmt.Fprintln(c.p.out, clean(text))
	}
	switch {
	case len(problems) > 0:
		return exit(exitFailed)
	case len(own.Files) == 0:
		fmt.Fprintln(c.p.out, "there is no file: everything is as built in")
	default:
		fmt.Fprintln(c.p.out, clean(strings.Join(own.Files, ", "))+": fine")
	}
	return nil
}
