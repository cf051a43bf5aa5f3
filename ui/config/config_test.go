package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/ui/config"
	"indirtui/ui/screen"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if n, v, _ := strings.Cut(p, "="); n == name {
				return v
			}
		}
		return ""
	}
}

func value(t *testing.T, c *config.Config, key string) config.Value {
	t.Helper()
	for _, v := range c.Values {
		if v.Key == key {
			return v
		}
	}
	t.Fatalf("there is nothing about %s", key)
	return config.Value{}
}

// Flags are stronger than the environment, that than the project, that than the
// user, that than what is built in; and each value names its source.
func TestWhoDecides(t *testing.T) {
	t.Parallel()
	user := write(t, "config.yaml", "theme: dark\nfps: 10\ntimes: ago\nmask: [licence]\nkeys:\n  follow: f5\n  filter: [/, space]\n")
	project := write(t, config.ProjectFile, "theme: light\nfps: 20\nmask: [apikey, licence]\nkeys:\n  follow: [f6]\n")
	for _, tt := range []struct {
		name              string
		o                 config.Options
		key, want, source string
		overruled         int
	}{
		{"built in", config.Options{}, "theme", "auto", "default", 0},
		{"user", config.Options{User: user}, "theme", "dark", user + ":1", 1},
		{"project", config.Options{User: user, Project: project}, "theme", "light", project + ":1", 2},
		{"NO_COLOR", config.Options{User: user, Getenv: env("NO_COLOR=1")}, "theme", "mono", "environment NO_COLOR", 2},
		{"our own variable", config.Options{Getenv: env("NO_COLOR=1", "INDIRTUI_THEME=dark")}, "theme", "dark", "environment INDIRTUI_THEME", 2},
		{"flag", config.Options{User: user, Getenv: env("NO_COLOR=1"), Flags: []config.Flag{{Key: "theme", Value: "none", Text: "--theme=none"}}}, "theme", "none", "--theme=none", 3},
		{"two words", config.Options{Getenv: env("INDIRTUI_FUNCTION_KEYS=on")}, "function-keys", "on", "environment INDIRTUI_FUNCTION_KEYS", 1},
		{"off", config.Options{Getenv: env("INDIRTUI_MOTION=off")}, "motion", "off", "environment INDIRTUI_MOTION", 1},
		{"a list is all of it", config.Options{User: user, Project: project, Getenv: env("INDIRTUI_MASK=tok1,tok2")}, "mask", "tok1, tok2, apikey, licence", "environment INDIRTUI_MASK, " + project + ":3", 0},
		{"keys", config.Options{User: user, Project: project}, "keys.follow", "f6", project + ":5", 1},
		{"space", config.Options{User: user}, "keys.filter", "/ space", user + ":7", 0},
		{"no file", config.Options{User: "/nowhere/config.yaml"}, "fps", "30", "default", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := config.Load(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			v := value(t, c, tt.key)
			if v.Value != tt.want || v.Source != tt.source || len(v.Overruled) != tt.overruled {
				t.Errorf("got %+v, want %s by %s, overruling %d", v, tt.want, tt.source, tt.overruled)
			}
		})
	}
	c, err := config.Load(config.Options{User: user, Project: project})
	if err != nil {
		t.Fatal(err)
	}
	if c.FPS != 20 || c.Times != "ago" || !slices.Equal(c.Secrets, []string{"apikey", "licence"}) || !slices.Equal(c.Keys[screen.FilterBy], []string{"/", " "}) || c.Memory != 256<<20 || !c.Mouse || !c.Motion {
		t.Errorf("in force: %+v", c)
	}
}

// The file of a project, which may be a stranger's, does not let programs run.
func TestProjectRunsNothing(t *testing.T) {
	t.Parallel()
	text := "ruby: auto\nruby-serve: true\n"
	c, err := config.Load(config.Options{Project: write(t, config.ProjectFile, text)})
	if err != nil || c.Ruby != "resources" || c.RubyServe || len(c.Warnings) != 2 || !strings.Contains(c.Warnings[0], ":1: ruby lets programs run") {
		t.Errorf("project: got %q, %v, %q, %v", c.Ruby, c.RubyServe, c.Warnings, err)
	}
	c, err = config.Load(config.Options{User: write(t, "config.yaml", text)})
	if err != nil || c.Ruby != "auto" || !c.RubyServe || len(c.Warnings) > 0 {
		t.Errorf("user: got %q, %v, %q, %v", c.Ruby, c.RubyServe, c.Warnings, err)
	}
}

// Every error names file, line and key, and what was expected.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, err, warning string }{
		{"", "", ""},
		{"# nothing\n", "", ""},
		{"theme:\nkeys:\n", "", ""},
		{"them: dark\n", "", `:1: there is no key "them"; did you mean theme?`},
		{"keys:\n  folow: f5\n", "", `:2: there is no action "folow"; did you mean follow?`},
		{"\nfps: 61\n", `:2: fps: "61" is no number from 1 to 60`, ""},
		{"fps: [1, 2]\n", ":1: fps: want one value", ""},
		{"theme: blue\n", `:1: theme: "blue" is not one of auto, terminal, dark, light, mono, none`, ""},
		{"mouse: perhaps\n", `:1: mouse: "perhaps" is neither true nor false`, ""},
		{"motion: slow\n", `:1: motion: "slow" is neither true nor false`, ""},
		{"memory: 1M\n", `:1: memory: "1M" is no size`, ""},
		{"memory: 99999999999999999999G\n", "is no size", ""},
		{"zone: Nowhere/Town\n", `"Nowhere/Town" is no time zone`, ""},
		{"ruby: bin/ruby\n", `"bin/ruby" is neither auto nor never nor resources nor a path`, ""},
		{"mask: [a b]\n", `"a b" is no word`, ""},
		{"ignore: uptime\n", `"uptime" is no path`, ""},
		{"theme: dark\ntheme: light\n", ":2: theme: it is already given in line 1", ""},
		{"keys: follow\n", ":1: keys: want ACTION: KEY lines", ""},
		{"keys:\n  follow: {a: b}\n", ":2: keys.follow: want a key or a list of keys", ""},
		{"keys:\n  follow: 'a b'\n", `:2: keys.follow: "a b" is no key`, ""},
		{"- a\n", "want KEY: VALUE lines", ""},
		{"a: &x [1]\ntheme: *x\n", ":2: theme: want one value", `:1: there is no key "a"`},
		{"theme: [\n", "config.yaml:", ""},
		{"theme: dark\n---\nfps: 3\n", "more than one document", ""},
		{"\x00", "config.yaml:1", ""},
	} {
		path := write(t, "config.yaml", tt.text)
		c, err := config.Load(config.Options{User: path})
		switch {
		case tt.err == "" && err != nil:
			t.Errorf("%q: %v", tt.text, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%q: got %v, want %s", tt.text, err, tt.err)
		}
		if bad := (*config.ValueError)(nil); err != nil && !errors.As(err, &bad) {
			t.Errorf("%q: %T", tt.text, err)
		}
		if got := strings.Join(c.Warnings, "\n"); !strings.Contains(got, tt.warning) || tt.warning == "" && got != "" {
			t.Errorf("%q: warned %q, want %q", tt.text, got, tt.warning)
		}
	}
	if _, err := config.Load(config.Options{User: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("a directory: %v", err)
	}
}

func TestWhereFilesAre(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		getenv func(string) string
		want   string
	}{
		{env("XDG_CONFIG_HOME=/x", "HOME=/h"), "/x/indirtui/config.yaml"},
		{env("XDG_CONFIG_HOME=x", "HOME=/h"), "/h/.config/indirtui/config.yaml"},
		{env(), ""},
	} {
		if got := config.UserFile(tt.getenv); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	top := t.TempDir()
	deep := filepath.Join(top, "repo", "site", "data")
	if err := errors.Join(os.MkdirAll(deep, 0o700), os.MkdirAll(filepath.Join(top, "repo", ".git"), 0o700),
		os.WriteFile(filepath.Join(top, config.ProjectFile), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := config.FindProject(deep, ""); got != "" {
		t.Errorf("got %s, which is above the repository", got)
	}
	want := filepath.Join(top, "repo", config.ProjectFile)
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := config.FindProject(deep, ""); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever is in a file: what is returned is in force or is reported as wrong,
// with the file, and what is in force is within its limits.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"theme: dark\nfps: 5\n", "keys:\n  follow: [f5, space]\n", "mask: [a, b]\nignore: .x\n", "a: &a [*a]\n", "? [x]\n: y\n", "{theme: dark}", "\xff\xfe"} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "config.yaml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Options{User: path})
		if err != nil && !strings.Contains(err.Error(), "config.yaml") {
			t.Errorf("which file? %v", err)
		}
		if c.FPS < 1 || c.FPS > 60 || c.Zone == nil || c.Memory < 64<<20 || !slices.Contains(config.Themes(), c.Theme) {
			t.Errorf("in force: %+v", c)
		}
		for do := range c.Keys {
			if !slices.Contains(screen.Actions(), do) {
				t.Errorf("keys of %q, which is no action", do)
			}
		}
		for _, v := range c.Values {
			if v.Source == "" {
				t.Errorf("%s: who decided?", v.Key)
			}
		}
	})
}
