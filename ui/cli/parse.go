package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/indirector/language/syntax"
)

// A parseCommand validates manifests and templates, as puppet parser validate
// and puppet epp validate do.
type parseCommand struct {
	p      *program
	tree   string // pn, source or none
	epp    bool
	format string

	environment string
	options     syntax.Options
}

// A parseResult is what parse prints as JSON: schema parse.
type parseResult struct {
	Valid bool         `json:"valid"` // every file is
	Files []parsedFile `json:"files"`
}

type parsedFile struct {
	File     string         `json:"file"`
	Valid    bool           `json:"valid"`
	Problems []parseProblem `json:"problems"`       // in the order in which Puppet reports them
	Tree     string         `json:"tree,omitempty"` // with --tree
}

type parseProblem struct {
	Level   string `json:"level"` // err or warning
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`

	text string // as Puppet prints it
}

func (c *parseCommand) build(cmd *cobra.Command) {
	cmd.Long = `Validate manifests and templates, in Puppet's words: what is wrong goes to standard
error as "puppet parser validate" prints it, for .epp files as "puppet epp validate"
does. Of a directory all .pp and .epp files are validated; - is standard input.

With --tree the tree of each valid file is printed, in the notation of "puppet
parser dump --format pn --pretty"; with --tree=source as a source that means the
same, without comments. "indirtui schema parse" prints the schema of
--format json. Puppet's setting strict decides what a key is that a hash has twice
(--set strict=error); max_errors, max_warnings, max_deprecations and
disable_warnings count, too.

Exit code: 0 all are valid, 1 one is not, 2 usage, 3 a file cannot be read.`
	cmd.Example = "  indirtui parse manifests\n  indirtui parse --tree site.pp\n  git show HEAD:site.pp | indirtui parse -"
	cmd.Flags().StringVar(&c.tree, "tree", "none", "print the tree of what is valid: pn, source or none")
	cmd.Flags().Lookup("tree").NoOptDefVal = "pn"
	cmd.Flags().BoolVar(&c.epp, "epp", false, "standard input is a template")
	cmd.Flags().StringVar(&c.format, "format", "text", "text or json")
}

func (c *parseCommand) run(_ context.Context, args []string) error {
	if err := cmp.Or(checkFormat(c.format), checkOneOf("tree", c.tree, "pn", "source", "none")); err != nil {
		return err
	}
	if err := c.p.withEngine(c.configure); err != nil {
		return err
	}
	result := parseResult{Valid: true, Files: []parsedFile{}}
	var lost error
	for _, arg := range args {
		names, err := sources(arg)
		lost = errors.Join(lost, err)
		for _, name := range names {
			one, err := c.parse(name)
			if err != nil {
				lost = errors.Join(lost, err)
				continue
			}
			result.Valid = result.Valid && one.Valid
			result.Files = append(result.Files, one)
		}
	}
	if err := c.print(result); err != nil {
		return err
	}
	switch {
	case lost != nil:
		return lostError{lost}
	case !result.Valid:
		return exit(exitFailed)
	}
	return nil
}

// configure reads the settings that decide how files are read.
func (c *parseCommand) configure(e *engine.Engine) error {
	now := e.Settings.Load()
	value := func(name string) string {
		v, _ := now.Get(name)
		return v
	}
	c.environment = value("environment")
	c.options = syntax.OptionsOf(value)
	return nil
}

// sources returns the files that an argument means.
func sources(arg string) (names []string, err error) {
	if info, err := os.Stat(arg); arg == "-" || err == nil && !info.IsDir() {
		return []string{arg}, nil
	}
	err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".pp", ".epp"}, filepath.Ext(path)) {
			names = append(names, path)
		}
		return err
	})
	return names, err
}

// parse validates one file.
func (c *parseCommand) parse(name string) (parsedFile, error) {
	src := &syntax.Source{File: name}
	template := filepath.Ext(name) == ".epp"
	if name == "-" {
		src.File, template = "", c.epp
	}
	var err error
	if src.Text, err = c.read(name); err != nil {
		return parsedFile{}, err
	}
	o := c.options
	o.EPP = template
	prog, report := syntax.Parse(src, o)
	before := "" // errors in templates, of several errors, and of what is defined twice, stand alone
	switch {
	case template:
	case report.Failure == nil:
		syntax.LogDefinitions(prog, report)
	case !slices.ContainsFunc(report.Logged, isError):
		before = "Could not parse for environment " + c.environment + ": "
	}
	one := parsedFile{File: name, Valid: report.Failure == nil, Problems: []parseProblem{}}
	for _, p := range report.Logged {
		one.add(p, "")
	}
	switch {
	case report.Failure == nil && c.tree == "pn":
		one.Tree = syntax.PN(prog, true)
	case report.Failure == nil && c.tree == "source":
		one.Tree = syntax.Print(prog)
	case report.Failure != nil:
		one.add(report.Failure, before)
	}
	return one, nil
}

func isError(p *syntax.Problem) bool { return p.Severity == syntax.Error }

func (f *parsedFile) add(p *syntax.Problem, before string) {
	word := "Error: "
	if p.Severity != syntax.Error {
		word = "Warning: "
	}
	f.Problems = append(f.Problems, parseProblem{p.Severity.String(), p.Message, p.Line, p.Column, word + before + p.Error()})
}

// read returns the text of a file, and a little too much if there is too much.
func (c *parseCommand) read(name string) (string, error) {
	in := c.p.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, syntax.MaxBytes+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return string(b), nil
}

func (c *parseCommand) print(result parseResult) error {
	if c.format == "json" {
		return writeJSON(c.p.out, result)
	}
	for _, f := range result.Files {
		for _, p := range f.Problems {
			fmt.Fprintln(c.p.Err, clean(p.text))
		}
		if c.tree == "none" || !f.Valid {
			continue
		}
		if len(result.Files) > 1 {
			fmt.Fprintf(c.p.out, "--- %s\n", clean(f.File))
		}
		fmt.Fprint(c.p.out, mapLines(f.Tree, clean))
	}
	return nil
}
