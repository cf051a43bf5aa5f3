package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// retired are words that this project once had for things that have a standard
// word. See GLOSSARY.md. They occur neither in the names that the code declares,
// nor in comments, nor in the prose of documents. What the screen shows and what
// recordings hold are strings, which other tests pin.
var retired = map[string]string{
	"house": "Indirector, engine", "houses": "engines",
	"flight": "call", "flights": "calls",
	"gate": "hold, debugger", "gates": "holds",
	"opinion": "candidate, choice", "opinions": "candidates, choices",
	"outdated": "expired", "outdate": "expire", "outdates": "expires",
	"nobody": "unset, none, anonymous", "somebody": "a user, a caller", "anybody": "any client",
	"person": "user", "persons": "users",
	"say": "report, return, log", "says": "reports, returns, logs", "said": "reported, returned, logged",
	"tell": "report", "tells": "reports", "told": "reported",
	"hear": "receive", "hears": "receives", "heard": "received",
	"mask": "redact", "masks": "redacts", "masked": "redacted", "masking": "redacting",
	"complaint": "problem", "complaints": "problems", "complain": "report", "complains": "reports",
	"evil": "hostile",
}

// kept are the uses of retired words that stay, by the beginning of a path.
var kept = []struct{ file, word, why string }{
	{"docs/words_test.go", "*", "the list itself"},
	{"docs/GLOSSARY.md", "*", "the glossary names what is retired"},
	{"docs/CHANGELOG.md", "*", "it names what was renamed"},
	{"termini/facter/", "mask", "netmasks of networks"},
	{"README.md", "masked", "the word on the screen"},
	{"termini/REFERENCE.md", "*", "what the program prints about termini, which is text for users"},
}

// riddle is the beginning of a comment that defines a name by a clause.
var riddle = regexp.MustCompile(`(?m)^(?://|/\*) ?\w+(?:\.\w+)? is that\b`)

func TestRetiredWords(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		switch {
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go"):
			seen++
			for _, use := range usesInCode(t, path) {
				report(t, name, use)
			}
		case strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, ".ci/peers/"):
			seen++
			prose := span.ReplaceAllString(fence.ReplaceAllString(text(t, path), ""), "")
			for _, use := range usesInText(prose) {
				report(t, name, use)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 500 {
		t.Errorf("only %d files were read", seen)
	}
}

func report(t *testing.T, file string, u use) {
	t.Helper()
	if !slices.ContainsFunc(kept, func(k struct{ file, word, why string }) bool {
		return strings.HasPrefix(file, k.file) && (k.word == "*" || k.word == u.word)
	}) {
		t.Errorf("%s:%d: %q is retired, write %s: %s", file, u.line, u.word, retired[u.word], u.in)
	}
}

// A use is one use of a retired word.
type use struct {
	line     int
	word, in string
}

// usesInCode looks at the names that a file declares and at its comments.
func usesInCode(t *testing.T, path string) []use {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []use
	for _, id := range declared(file) {
		for _, word := range wordsOf(id.Name) {
			if retired[word] != "" {
				out = append(out, use{set.Position(id.Pos()).Line, word, id.Name})
			}
		}
	}
	for _, group := range file.Comments {
		at := set.Position(group.Pos()).Line
		for _, u := range usesInText(group.Text()) {
			out = append(out, use{at + u.line - 1, u.word, u.in})
		}
		for _, c := range group.List {
			if first := riddle.FindString(c.Text); first != "" {
				out = append(out, use{set.Position(c.Pos()).Line, "is that", first})
			}
		}
	}
	return out
}

// declared returns the names that a file declares, local ones, too.
func declared(file *ast.File) []*ast.Ident {
	names := []*ast.Ident{file.Name}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names = append(names, id)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names = append(names, id)
				}
			}
		}
		return true
	})
	return names
}

// wordsOf splits a name at capitals: "newHouse" is new, house.
func wordsOf(name string) []string {
	var words []string
	start := 0
	for i, r := range name {
		if i > 0 && (unicode.IsUpper(r) || r == '_') {
			words = append(words, strings.ToLower(strings.Trim(name[start:i], "_")))
			start = i
		}
	}
	return append(words, strings.ToLower(strings.Trim(name[start:], "_")))
}

var (
	word   = regexp.MustCompile(`[A-Za-z]+`)
	quoted = regexp.MustCompile("\"[^\"\n]*\"|`[^`\n]*`")
)

// usesInText looks at prose. What stands in quotes is what the screen shows.
func usesInText(text string) []use {
	var out []use
	for i, line := range strings.Split(text, "\n") {
		for _, w := range word.FindAllString(quoted.ReplaceAllString(line, ""), -1) {
			if w = strings.ToLower(w); retired[w] != "" {
				out = append(out, use{i + 1, w, strings.TrimSpace(line)})
			}
		}
	}
	return out
}

// TestUses makes sure that the search finds what it is for.
func TestUses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The house asks a person.": "house person", "A \"masked\" value.": "", "`nobody` is a user.": "", "Nobody else": "nobody", "warehouse": "",
	} {
		var got []string
		for _, u := range usesInText(text) {
			got = append(got, u.word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %v, want %q", text, got, want)
		}
	}
	if got := strings.Join(wordsOf("newHouseOf_x"), " "); got != "new house of x" {
		t.Errorf("got %q", got)
	}
	if !riddle.MatchString("// ErrX is that the end is near.") || riddle.MatchString("// ErrX reports that.") {
		t.Error("the pattern of definitions by a clause is wrong")
	}
}
