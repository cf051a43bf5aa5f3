package onig_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"indirtui/indirector/language/onig"
)

// A question is an expression and a text.
type question struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// A generator writes random expressions, most of which find something.
type generator struct{ *rand.Rand }

func (g generator) pick(all ...string) string { return all[g.IntN(len(all))] }

func (g generator) expression(depth int) string {
	if depth == 0 {
		return g.pick("a", "b", "c", ".", `\d`, `\w`, `\s`, `\h`, `\H`, "[ab]", "[^a]", "[[:alpha:]]", "[[:space:]x]", `[\h-]`, "^", "$", `\A`, `\z`, `\Z`, `\b`, `\.`, `\/`, "é", `\R`, `[\]b]`)
	}
	a, b := g.expression(depth-1), g.expression(depth-1)
	switch g.IntN(9) {
	case 0:
		return "(?:" + a + "|" + b + ")"
	case 1:
		return "(" + a + ")" + b
	case 2:
		return "(?:" + a + ")" + g.pick("?", "+", "{1,2}", "{2}", "??", "+?")
	case 3:
		return g.pick("(?i:", "(?m:", "(?m-i:", "(?<n>") + a + ")"
	case 4:
		return a + "(?#note)" + b
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

// ours is what an expression finds, as the script writes it; it is false if Go cannot have
// the expression.
func ours(q question) (string, bool) {
	re, err := onig.Compile(q.Source)
	if errors.Is(err, errors.ErrUnsupported) {
		return "", false
	}
	if err != nil {
		return "error", true
	}
	at := re.FindStringIndex(q.Text)
	if at == nil {
		return "none", true
	}
	return fmt.Sprint(at[0], " ", at[1]), true
}

const script = `require 'json'
JSON.parse(STDIN.read).each do |q|
  begin
    $VERBOSE = nil
    m = Regexp.new(q['source']).match(q['text'])
    from = m && m.pre_match.bytesize
    puts m ? "#{from} #{from + m[0].bytesize}" : 'none'
  rescue RegexpError
    puts 'error'
  end
end`

// Random expressions find what they find in Ruby, but for what is documented.
func TestRuby(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("ruby is not installed, so no expression is compared")
	}
	g := generator{rand.New(rand.NewPCG(1, 2))}
	questions := make([]question, 3000)
	for i := range questions {
		questions[i] = question{g.expression(1 + g.IntN(3)), g.text()}
	}
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "ruby", "-E", "UTF-8:UTF-8", "-e", script)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	compared := 0
	for i, q := range questions {
		got, ok := ours(q)
		if !ok || documented(q) {
			continue
		}
		compared++
		if got != answers[i] {
			t.Errorf("/%s/ in %q: got %s, want %s", q.Source, q.Text, got, answers[i])
		}
	}
	t.Logf("%d of %d expressions were compared", compared, len(questions))
}

// documented reports whether the package comment has a difference for a question.
func documented(q question) bool {
	feed := strings.HasSuffix(q.Text, "\n")
	return strings.Contains(q.Source, `\b`) && strings.Contains(q.Text, "é") || strings.Contains(q.Source, "^") && feed ||
		strings.Contains(q.Source, `\Z`) && feed || repeatedPlace.MatchString(q.Source)
}

var repeatedPlace = regexp.MustCompile(`(?:\\[AzZb]|[\^$])\)(?:[+?]|\{)`)

// Any expression is compiled or refused, and what is compiled ends.
func FuzzCompile(f *testing.F) {
	g := generator{rand.New(rand.NewPCG(3, 4))}
	for range 200 {
		f.Add(g.expression(3), g.text())
	}
	f.Add(`(a*)*b`, strings.Repeat("a", 100))
	f.Add(`(?<n>a(?<m>b))\g<n>`, "abab")
	f.Fuzz(func(t *testing.T, source, text string) {
		if got, ok := ours(question{source, text}); ok && got == "" {
			t.Errorf("/%s/ has no answer", source)
		}
	})
}
