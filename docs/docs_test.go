package docs_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"indirtui/ui/command"
	"indirtui/ui/screen"
)

// documents are compared with the program; paths are relative to this folder.
var documents = []string{
	"../README.md", "../indirector/README.md",
	"AGENTS.md", "ARCHITECTURE.md", "CHANGELOG.md", "COMMAND-LINE.md", "CONFIGURATION.md", "CONTRIBUTING.md", "GLOSSARY.md", "RECORDINGS.md", "SPEED.md",
}

// program is the path of the program, built once.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "indirtui-docs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "indirtui")
	build := exec.Command("go", "build", "-o", program, "indirtui")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func text(t *testing.T, document string) string {
	t.Helper()
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCommandLines asks the program whether it understands every command line
// that the documents show: the command and its flags. Requests are read, too.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, document := range documents {
		for _, line := range commandLines(text(t, document)) {
			seen++
			if why := misunderstood(t, line); why != "" {
				t.Errorf("%s: %s: %s", document, line, why)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d command lines were found in %v", seen, documents)
	}
}

// TestMisunderstood makes sure that the check sees what it is there for.
func TestMisunderstood(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, want string }{
		{"indirtui", ""},
		{"indirtui find facts web01 --trace steps", ""},
		{"indirtui --demo", ""},
		{"indirtui fnid facts web01", "no command"},
		{"indirtui routes --jsn", "unknown flag"},
		{"indirtui --application", "flag needs an argument"},
		{"indirtui find facts web01 nonsense", "not understood"},
	} {
		if got := misunderstood(t, tt.line); got != tt.want && (tt.want == "" || !strings.Contains(got, tt.want)) {
			t.Errorf("%s: got %q, want %q", tt.line, got, tt.want)
		}
	}
}

// commandLines returns the command lines of ours in a document, from blocks of
// code and from code within text.
func commandLines(document string) []string {
	var lines []string
	for _, code := range codes(document) {
		for line := range strings.SplitSeq(code, "\n") {
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == '|' || r == ';' }) {
				part = strings.TrimSpace(part)
				if part == "indirtui" || strings.HasPrefix(part, "indirtui ") {
					lines = append(lines, part)
				}
			}
		}
	}
	return lines
}

var (
	fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	span  = regexp.MustCompile("`([^`\n]+)`")
)

// codes returns what stands in blocks of code, and in code within text.
func codes(document string) []string {
	var out []string
	for _, m := range fence.FindAllStringSubmatch(document, -1) {
		out = append(out, m[2])
	}
	for _, m := range span.FindAllStringSubmatch(fence.ReplaceAllString(document, ""), -1) {
		out = append(out, m[1])
	}
	return out
}

var placeholder = regexp.MustCompile(`^[A-Z]+$|…|\[|<|>|^&`)

// misunderstood returns what the program does not understand of a command line,
// or "". Placeholders are left out.
func misunderstood(t *testing.T, line string) string {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	words, err := command.Split(line)
	if err != nil {
		return err.Error()
	}
	var args []string
	for _, w := range words[1:] {
		if strings.HasPrefix(w, ">") || strings.HasPrefix(w, "<") || strings.HasPrefix(w, "2>") || w == "&&" {
			break
		}
		args = append(args, w)
	}
	known := listed(t)
	name := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name = args[0]
		if !slices.Contains(known, name) {
			return fmt.Sprintf("there is no command %q", name)
		}
	}
	if slices.Contains(command.Verbs(), name) && len(args) > 1 && !slices.ContainsFunc(args, placeholder.MatchString) {
		if _, err := command.Request(name, positional(args[1:])); err != nil {
			return err.Error()
		}
	}
	out, err := exec.CommandContext(t.Context(), program, append([]string{"--help=true"}, args...)...).CombinedOutput()
	if err != nil {
		return string(out)
	}
	return ""
}

// positional leaves out the flags, and what belongs to them: all flags of the
// verbs have a value.
func positional(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "--"):
			out = append(out, args[i])
		case args[i] != "--write" && !strings.Contains(args[i], "="):
			i++
		}
	}
	return out
}

// listed returns the commands that --help lists.
func listed(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +[A-Z]`).FindAllSubmatch(out, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// TestExample makes sure that CONTRIBUTING.md shows the terminus that is tested.
func TestExample(t *testing.T) {
	t.Parallel()
	guide := text(t, "CONTRIBUTING.md")
	if file := text(t, "roster/roster.go"); !strings.Contains(guide, "```go\n"+file+"```") {
		t.Error("CONTRIBUTING.md does not show docs/roster/roster.go as it is")
	}
	test := text(t, "roster/roster_test.go")
	_, test, _ = strings.Cut(test, "func TestConformance")
	if test, _, _ = strings.Cut(test, "\n}\n"); !strings.Contains(guide, "func TestConformance"+test+"\n}\n```") {
		t.Error("CONTRIBUTING.md does not show TestConformance of docs/roster/roster_test.go as it is")
	}
}

// TestSessions plays the blocks marked console: every line after "$ " is run by
// a shell in one empty directory for each document, and what the document shows
// must be what comes out. "…" is any text.
func TestSessions(t *testing.T) {
	t.Parallel()
	for _, document := range documents {
		dir := t.TempDir()
		for _, m := range fence.FindAllStringSubmatch(text(t, document), -1) {
			if m[1] == "console" {
				play(t, document, dir, m[2])
			}
		}
	}
}

func play(t *testing.T, document, dir, session string) {
	t.Helper()
	for _, step := range strings.Split("\n"+session, "\n$ ")[1:] {
		line, want, _ := strings.Cut(step, "\n")
		for strings.HasSuffix(line, "\\") {
			more, rest, _ := strings.Cut(want, "\n")
			line, want = line+"\n"+more, rest
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "LANG=C.UTF-8"}
		out, err := cmd.CombinedOutput()
		if exit := new(exec.ExitError); err != nil && !asExit(err, &exit) {
			t.Fatal(err)
		}
		got := strings.TrimRight(string(out), "\n")
		if want = strings.TrimRight(want, "\n"); !shows(want, got) {
			t.Errorf("%s: %s\nsays\n%s\nnot\n%s", document, line, got, want)
		}
	}
}

func asExit(err error, to **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*to = e
	return ok
}

// shows reports whether a text is what a document shows, where "…" is any text.
func shows(want, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "…", "(?s:.*)")
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(got)
}

// TestShows makes sure that the comparison can fail.
func TestShows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want, got string
		ok        bool
	}{
		{"a\nb", "a\nb", true}, {"a", "a\nb", false}, {"a…", "a\nb", true}, {"a…c", "a\nb", false}, {"1.5", "1x5", false},
	} {
		if shows(tt.want, tt.got) != tt.ok {
			t.Errorf("%q shows %q: want %v", tt.want, tt.got, tt.ok)
		}
	}
}

var (
	link   = regexp.MustCompile(`(?:\]\(|src=")([^)"#]+)`)
	within = regexp.MustCompile(`^(?:(?:indirector|termini|traces|ui|docs|\.ci)/[\w./-]*|main\.go|go\.mod|LICENSE)$`)
	symbol = regexp.MustCompile(`\x60([\w./-]+\.go)\x60[: ]+\x60([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)\x60`)
)

// TestFiles looks for every file and folder that the documents name, and for
// the functions that they name behind a file.
func TestFiles(t *testing.T) {
	t.Parallel()
	for _, document := range documents {
		body := text(t, document)
		prose := fence.ReplaceAllString(body, "")
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			if !strings.Contains(m[1], "://") {
				exists(t, document, filepath.Join(filepath.Dir(document), m[1]))
			}
		}
		for _, m := range span.FindAllStringSubmatch(prose, -1) {
			if within.MatchString(m[1]) {
				exists(t, document, filepath.Join("..", m[1]))
			}
		}
		for _, m := range symbol.FindAllStringSubmatch(prose, -1) {
			if why := undeclared(filepath.Join("..", m[1]), m[2]); why != "" {
				t.Errorf("%s: %s", document, why)
			}
		}
	}
}

func exists(t *testing.T, document, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%s: %v", document, err)
	}
}

// undeclared is "" if a file declares a function, a method, a type, a variable
// or a field. Type.Method is a method of that type.
func undeclared(path, name string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	receiver, method, isMethod := strings.Cut(name, ".")
	pattern := `(?m)^(?:func (?:\(.*?\) )?|type |var |\t)` + name + `\b`
	if isMethod {
		pattern = `(?m)^func \((?:\w+ )?\*?` + receiver + `(?:\[.*?\])?\) ` + method + `\(`
	}
	if !regexp.MustCompile(pattern).Match(b) {
		return fmt.Sprintf("%s does not declare %s", path, name)
	}
	return ""
}

// TestUndeclared makes sure that a name that is gone is found.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	const path = "../indirector/walk.go"
	for name, gone := range map[string]bool{"Indirector.Do": false, "call.watch": false, "newPlans": false, "nobody": true, "Nobody.Do": true} {
		if why := undeclared(path, name); (why != "") != gone {
			t.Errorf("%s: got %q", name, why)
		}
	}
}

// TestKeys looks up the keys that the documents name, as <kbd>x</kbd>.
func TestKeys(t *testing.T) {
	t.Parallel()
	keys, _ := screen.NewKeys(nil)
	names := map[string]bool{}
	for _, b := range keys.Bindings() {
		for _, k := range b.Keys() {
			names[screen.KeyName(k)] = true
		}
	}
	kbd := regexp.MustCompile(`<kbd>(.*?)</kbd>`)
	if !kbd.MatchString(text(t, "../README.md")) {
		t.Error("README.md names no key")
	}
	for _, document := range documents {
		for _, m := range kbd.FindAllStringSubmatch(text(t, document), -1) {
			key := strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(m[1])
			if !names[key] {
				t.Errorf("%s: no key is called %s", document, key)
			}
		}
	}
}

// TestBenchmarks looks for the benchmarks and tests that command lines of go
// test name, in the packages that they name.
func TestBenchmarks(t *testing.T) {
	t.Parallel()
	flags := regexp.MustCompile(`-(?:bench|run|fuzz)[ =]'?\^?([A-Za-z]\w*)`)
	for _, document := range documents {
		for _, code := range codes(text(t, document)) {
			for s := bufio.NewScanner(bytes.NewReader([]byte(code))); s.Scan(); {
				line := s.Text()
				if !strings.Contains(line, "go test ") {
					continue
				}
				for _, m := range flags.FindAllStringSubmatch(line, -1) {
					if m[1] != "XXX" && !named(t, line, m[1]) {
						t.Errorf("%s: %s: nothing is called %s there", document, line, m[1])
					}
				}
			}
		}
	}
}

// named reports whether a test, benchmark or fuzz target whose name begins so
// is in the packages of a command line.
func named(t *testing.T, line, name string) bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (?:Test|Benchmark|Fuzz)\w*` + name + `|^func ` + name)
	for _, p := range regexp.MustCompile(`\s\./(\S+)`).FindAllStringSubmatch(line, -1) {
		pattern, all := strings.CutSuffix("../"+p[1], "...")
		files, err := filepath.Glob(filepath.Join(pattern, "*_test.go"))
		if all {
			files, err = below(pattern)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil && declared.Match(b) {
				return true
			}
		}
	}
	return false
}

func below(dir string) ([]string, error) {
	var files []string
	return files, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return err
	})
}
