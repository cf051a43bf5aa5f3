package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/rtype"
)

// A checkTypesCommand lists what is known of resource types.
type checkTypesCommand struct {
	listing
	modulepath string
}

// A typeTable is what check-types prints as JSON.
type typeTable struct {
	Metaparameters []string  `json:"metaparameters"` // of all types
	Types          []typeRow `json:"types"`
}

// A typeRow is what is known of one type.
type typeRow struct {
	Name       string               `json:"name"`
	Kind       string               `json:"kind"` // type or define
	Properties []string             `json:"properties"`
	Parameters []string             `json:"parameters"`
	Namevars   []string             `json:"namevars"`
	Titles     []rtype.TitlePattern `json:"title_patterns"` // null if the title is the name
	Isomorphic bool                 `json:"isomorphic"`
	Open       bool                 `json:"open"` // there may be other attributes
	Source     string               `json:"source"`
	File       string               `json:"file,omitempty"`
	Line       int                  `json:"line,omitempty"`
	Module     string               `json:"module,omitempty"`
	Version    string               `json:"version,omitempty"`
	Notes      []typeNote           `json:"not_understood"`
}

type typeNote struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

func (c *checkTypesCommand) build(cmd *cobra.Command) {
	c.flag(cmd, "as JSON, with the attributes and title patterns of each")
	cmd.Flags().StringVar(&c.modulepath, "modulepath", "", "directories of modules, instead of those of the environment")
	cmd.Long = `What is known of each resource type, as a compiler has to know it: the built-in
types, those that "puppet generate types" wrote into .resource_types of the
environment, and those of the Ruby files of modules, which are read and never
executed. What is not understood is listed with file and line. A type with a + may
have attributes besides those that are counted.

Of the types that are named all attributes are listed; a define has a name like
apache::vhost.

Exit code: 0 listed, 1 there is no type of a name or a file cannot be read, 2 usage.`
	cmd.Example = "  indirtui check-types\n  indirtui check-types file apache::vhost\n  indirtui check-types --modulepath modules --json"
}

func (c *checkTypesCommand) run(_ context.Context, args []string) error {
	return c.p.withEngine(func(e *engine.Engine) error {
		env, err := environmentOf(e, c.modulepath)
		if err != nil {
			return err
		}
		for _, problem := range env.Problems() {
			fmt.Fprintln(c.p.Err, "warning: "+clean(problem.Error()))
		}
		types, err := namedTypes(env, args)
		table := typeTable{rtype.Metaparameters(), []typeRow{}}
		for _, t := range types {
			table.Types = append(table.Types, newTypeRow(env, t))
		}
		printErr := c.print(table, func(out io.Writer) error { return printTypes(out, table.Types, len(args) > 0) })
		if err != nil {
			c.report(err)
			return errors.Join(printErr, exit(exitFailed))
		}
		return printErr
	})
}

// environmentOf opens the environment in force.
func environmentOf(e *engine.Engine, modulepath string) (*loader.Environment, error) {
	now := e.Settings.Load()
	o := loader.Options{Dir: now.EnvironmentDir(), Modulepath: modulepath}
	if name, source := now.Get("environment"); o.Dir == "" && source != "default" {
		path, _ := now.Get("environmentpath")
		return nil, fmt.Errorf("there is no environment %q in %s", name, path)
	}
	if o.Modulepath == "" {
		o.Modulepath, _ = now.Get("modulepath")
	}
	o.Manifest, _ = now.Get("manifest")
	o.Strict, _ = now.Get("strict")
	return loader.Open(o)
}

// typeNames are the names of the resource types of the environment, as far as its
// directories can be listed.
func typeNames(e *engine.Engine) []string {
	env, err := environmentOf(e, "")
	if err != nil {
		return nil
	}
	names, _ := env.Names()
	return names
}

// namedTypes returns the types of these names, or all. The error is of all that is
// missing or cannot be read.
func namedTypes(env *loader.Environment, names []string) ([]*rtype.Type, error) {
	if len(names) == 0 {
		return env.Types()
	}
	var types []*rtype.Type
	var problems []error
	for _, name := range names {
		t, err := env.Type(name)
		problems = append(problems, err)
		if t != nil {
			types = append(types, t)
		}
	}
	return types, errors.Join(problems...)
}

// report prints what is missing, with the files that were tried, and what cannot
// be read.
func (c *checkTypesCommand) report(err error) {
	var all interface{ Unwrap() []error }
	if errors.As(err, &all) {
		for _, one := range all.Unwrap() {
			c.report(one)
		}
		return
	}
	c.p.report(err.Error())
	if missing := (*loader.MissingError)(nil); errors.As(err, &missing) {
		for _, file := range missing.Tried {
			fmt.Fprintln(c.p.Err, "  tried "+clean(file))
		}
	}
}

func newTypeRow(env *loader.Environment, t *rtype.Type) typeRow {
	r := typeRow{
		Name: t.Name, Kind: "type", Properties: []string{}, Parameters: []string{}, Namevars: append([]string{}, t.Keys...),
		Titles: t.Titles, Isomorphic: !t.Many, Open: t.Open, File: t.File, Line: t.Line, Notes: []typeNote{},
	}
	for _, a := range t.Attributes {
		if a.Kind == rtype.Property {
			r.Properties = append(r.Properties, a.Name)
		} else {
			r.Parameters = append(r.Parameters, a.Name)
		}
	}
	switch {
	case t.Define:
		r.Kind, r.Source = "define", "manifest"
	case t.File == "":
		r.Source = "built in"
	case filepath.Ext(t.File) == ".pp":
		r.Source = "generated"
	default:
		r.Source = "ruby"
	}
	r.Module, r.Version = env.Module(t.File)
	for _, n := range t.Notes {
		r.Notes = append(r.Notes, typeNote(n))
	}
	return r
}

// printTypes prints the table, and what belongs to each type if that is wanted.
func printTypes(out io.Writer, rows []typeRow, attributes bool) error {
	err := printTable(out, "TYPE\tPROPERTIES\tPARAMETERS\tNAMEVARS\tFROM", rows, func(r typeRow, put func(...string)) {
		more := ""
		if r.Open {
			more = "+"
		}
		from := r.Source
		if r.File != "" {
			from = r.File
			if r.Line > 0 {
				from += fmt.Sprint(":", r.Line)
			}
		}
		put(r.Name, fmt.Sprint(len(r.Properties), more), fmt.Sprint(len(r.Parameters), more), dash(strings.Join(r.Namevars, " ")), from)
		for _, n := range r.Notes {
			put("", "", "", "", "  not understood: "+rtype.Note(n).String())
		}
	})
	for _, r := range rows {
		if attributes && err == nil {
			_, err = fmt.Fprint(out, "\n", mapLines(r.text(), clean))
		}
	}
	return err
}

// text is what belongs to a type.
func (r typeRow) text() string {
	titles := []string{}
	for _, p := range r.Titles {
		titles = append(titles, p.String())
	}
	text := r.Name + "\n"
	for _, row := range []struct {
		title string
		words []string
		by    string
	}{
		{"properties", r.Properties, " "},
		{"parameters", r.Parameters, " "},
		{"title patterns", titles, "\n" + strings.Repeat(" ", 18)},
	} {
		text += fmt.Sprintf("  %-16s%s\n", row.title, dash(strings.Join(row.words, row.by)))
	}
	if !r.Isomorphic {
		text += "  equal namevars may be different resources\n"
	}
	return text
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
