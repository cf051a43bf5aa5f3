package fn

import (
	"encoding/base64"
	"errors"
	"os/exec"
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// Where modules have files and templates.
const (
	filesDir     = "files"
	templatesDir = "templates"
)

// files are functions that read files of modules, or look for them.
func files() map[string][]eval.Way {
	return map[string][]eval.Way{
		"find_file":     finding("find_file", filesDir),
		"find_template": finding("find_template", templatesDir),
		"module_directory": firstOf("names", "names", func(c *eval.Invocation, name string) (string, bool, error) {
			h, err := hostOf(c, "module_directory")
			if err != nil {
				return "", false, err
			}
			dir, ok := h.ModuleDir(name)
			return dir, ok, nil
		}),
		"binary_file": {way("String path", binaryFile)},
	}
}

func finding(function, below string) []eval.Way {
	return firstOf("paths", "paths_array", func(c *eval.Invocation, name string) (string, bool, error) {
		h, err := hostOf(c, function)
		if err != nil {
			return "", false, err
		}
		path, ok := h.Find(below, name)
		return path, ok, nil
	})
}

// firstOf returns a function of names, or of lists of such, that returns what find finds
// first.
func firstOf(names, lists string, find func(c *eval.Invocation, name string) (string, bool, error)) []eval.Way {
	first := func(c *eval.Invocation) (data.Value, error) {
		for _, name := range flat(c.Args) {
			path, ok, err := find(c, name.Str())
			if ok || err != nil {
				return data.OfString(path), err
			}
		}
		return undef, nil
	}
	return []eval.Way{way("String "+names+"*", first), way("Array[String] "+lists+"*", first)}
}

func binaryFile(c *eval.Invocation) (data.Value, error) {
	h, err := hostOf(c, "binary_file")
	if err != nil {
		return undef, err
	}
	path, ok := h.Find(filesDir, c.Arg(0).Str())
	if !ok {
		return undef, eval.Errorf("binary_file(): The given file '%s' does not exist", c.Arg(0).Str())
	}
	b, err := read(c, h, path)
	if err != nil {
		return undef, err
	}
	return types.New(eval.MustType("Binary"), []data.Value{data.OfString(base64.StdEncoding.EncodeToString(b)), data.OfString("%b")})
}

// read counts what it reads.
func read(c *eval.Invocation, h Host, path string) ([]byte, error) {
	b, err := h.Read(path)
	if err != nil {
		return nil, err
	}
	return b, c.Spend(len(b))
}

// file returns the contents of the first file that there is.
func file(c *eval.Invocation) (data.Value, error) {
	h, err := hostOf(c, "file")
	if err == nil {
		err = atLeastOne(c, "file")
	}
	if err != nil {
		return undef, err
	}
	names := flat(c.Args)
	for _, name := range names {
		if path, ok := h.Find(filesDir, name.Text()); ok {
			b, err := read(c, h, path)
			return data.OfString(string(b)), err
		}
	}
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = name.Text()
	}
	return undef, eval.Errorf("Could not find any files from %s", strings.Join(words, ", "))
}

var generator = regexp.MustCompile(`(?m)^[-/\w.+]+$`)

// generate returns what a command writes.
func generate(c *eval.Invocation) (data.Value, error) {
	h, err := hostOf(c, "generate")
	if err == nil {
		err = atLeastOne(c, "generate")
	}
	if err != nil {
		return undef, err
	}
	command := make([]string, len(c.Args))
	for i, v := range c.Args {
		command[i] = v.Text()
	}
	switch {
	case !strings.HasPrefix(command[0], "/"):
		return undef, eval.Errorf("Generators must be fully qualified")
	case !generator.MatchString(command[0]):
		return undef, eval.Errorf("Generators can only contain alphanumerics, file separators, and dashes")
	case strings.Contains(command[0], ".."):
		return undef, eval.Errorf("Can not use generators with '..' in them.")
	}
	text, err := h.Generate(c.Context(), command)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return undef, eval.Errorf("Failed to execute generator %s: Execution of '%s' returned %d: %s", command[0], strings.Join(command, " "), exit.ExitCode(), text)
	}
	if err != nil {
		return undef, eval.Errorf("Failed to execute generator %s: %w", command[0], err)
	}
	return data.OfString(text), c.Spend(len(text))
}
