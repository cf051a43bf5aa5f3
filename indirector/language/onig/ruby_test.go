package onig_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/golden"
	"indirtui/indirector/language/onig"
)

// A question is an expression and a text.
type question struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// An answer is where all matches and their groups begin and end.
type answer struct {
	Found [][]int `json:"found"`
	Error string  `json:"error"`
}

func ask(t *testing.T, questions []question) []answer {
	t.Helper()
	return golden.Ask[answer](t, questions, "-E", "UTF-8:UTF-8", "testdata/scan.rb")
}

// ours is what an expression finds. It is false if that is refused.
func ours(t *testing.T, q question) (answer, bool) {
	t.Helper()
	re, err := onig.Compile(q.Source)
	if errors.Is(err, errors.ErrUnsupported) {
		return answer{}, false
	}
	if err != nil {
		return answer{Error: err.Error()}, true
	}
	found, err := re.FindAll(q.Text, -1)
	if err != nil {
		return answer{Error: err.Error()}, true
	}
	first, err := re.Find(q.Text)
	if err != nil || len(found) == 0 != (first == nil) || first != nil && !cmp.Equal(first, found[0]) {
		t.Errorf("/%s/ in %q: the first is %v (%v), but all are %v", q.Source, q.Text, first, err, found)
	}
	if found == nil {
		found = [][]int{}
	}
	return answer{Found: found}, true
}

// Each line of the table is an expression and texts, which are held against Ruby.
func TestTable(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/expressions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var questions []question
	breaks := strings.NewReplacer(`\n`, "\n", `\r`, "\r")
	for line := range strings.Lines(string(table)) {
		source, texts, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for _, text := range strings.Split(texts, "\t") {
			questions = append(questions, question{source, breaks.Replace(text)})
		}
	}
	for i, want := range ask(t, questions) {
		q := questions[i]
		got, ok := ours(t, q)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("/%s/ in %q (refused: %v):\n%s", q.Source, q.Text, !ok, diff)
		}
	}
	t.Logf("%d questions", len(questions))
}

// A generator writes random expressions, most of which find something.
type generator struct{ *rand.Rand }

func (g generator) pick(all ...string) string { return all[g.IntN(len(all))] }

func (g generator) expression(depth int) string {
	if depth == 0 {
		return g.pick("a", "b", "c", ".", `\d`, `\w`, `\s`, `\h`, `\H`, "[ab]", "[^a]", "[[:alpha:]]", "[[:space:]x]", `[\h-]`, "^", "$", `\A`, `\z`, `\Z`, `\b`,
			`\B`, `\.`, `\/`, "é", `\R`, `[\]b]`, `[a-c&&[^b]]`, `\p{L}`, `\P{Lu}`, `\G`, `\K`)
	}
	a, b := g.expression(depth-1), g.expression(depth-1)
	switch g.IntN(14) {
	case 0:
		return "(?:" + a + "|" + b + ")"
	case 1:
		return "(" + a + ")" + b
	case 2:
		return "(?:" + a + ")" + g.pick("?", "+", "{1,2}", "{2}", "??", "+?", "*", "*?", "*+", "++", "{,2}", "{2}+")
	case 3:
		return g.pick("(?i:", "(?m:", "(?m-i:", "(?<n>", "(?>", "(?=", "(?!", "(?x:") + a + ")"
	case 4:
		return a + "(?#note)" + b
	case 5:
		return g.pick("(?<=", "(?<!") + g.expression(0) + ")" + b
	case 6:
		return "(" + a + ")" + b + `\1`
	case 7:
		return "(?<n>" + a + ")" + b + g.pick(`\k<n>`, `\g<n>`)
	case 8:
		return "(" + a + ")?" + "(?(1)" + b + "|" + a + ")"
	default:
		return a + b
	}
}

func (g generator) text() string {
	var b strings.Builder
	for range g.IntN(12) {
		b.WriteString(g.pick("a", "b", "c", "A", "1", " ", "\n", "é", ".", "/", "]", "x", "-"))
	}
	return b.String()
}

// Random expressions find what they find in Ruby.
func TestRandom(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(1, 2))}
	questions := make([]question, 3000)
	for i := range questions {
		questions[i] = question{g.expression(1 + g.IntN(3)), g.text()}
	}
	compared := 0
	for i, want := range ask(t, questions) {
		q := questions[i]
		got, ok := ours(t, q)
		if !ok {
			continue
		}
		compared++
		if !cmp.Equal(want.Found, got.Found) || (want.Error == "") != (got.Error == "") {
			t.Errorf("/%s/ in %q: got %v, want %v", q.Source, q.Text, got, want)
		}
	}
	t.Logf("%d of %d expressions were compared", compared, len(questions))
}

// Any expression is compiled or refused, and what is compiled ends.
func FuzzCompile(f *testing.F) {
	g := generator{rand.New(rand.NewPCG(3, 4))}
	for range 200 {
		f.Add(g.expression(3), g.text())
	}
	f.Add(`(a*)*b`, strings.Repeat("a", 100))
	f.Add(`(?<n>a(?<m>b))\g<n>`, "abab")
	f.Add(`(?i)[[:^alpha:]&&[^k]]\p{^Lu}`, "K1")
	f.Add(`(?x) a{2,}+ # b`, "aaa")
	f.Add(`(x)?(?(1)\u{41 42}|\x{e9}+)`, "xAB")
	f.Fuzz(func(t *testing.T, source, text string) { ours(t, question{source, text}) })
}
