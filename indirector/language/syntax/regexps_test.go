package syntax_test

import (
	"strings"
	"testing"
)

// What is refused here Ruby refuses, too, in the same words. It refuses more.
func TestRegexps(t *testing.T) {
	t.Parallel()
	sources := []string{
		`[`, `(unclosed`, `(`, `)`, `a)`, `*`, `a|*`, `(*)`, `[]`, `[^]`, `[]a]`, `[a[b]`, `[a[b]]`, `[[:alpha:]]`, `[[:alpha:]`, `[a&&[^b]]`, `\[`, `[\]`, `[\]]`, `(?:a)+`,
		`(?x) # ( `, `(?i-x:[a])`, `(?mx: # [ )`, `(?<n>a)\k<n>`, `(?#()`, `a**`, `a{1,2}{3}`, `{1}`, `x{,2}`, `^*`, `\b+`, `a++`, `(?=a)*`, `(?!a)`, `(?<!a)b`, `(?>a)`, `[a-\]]`, `[:a]`, `[[:a]`, `[[:]`,
	}
	g := newGenerator(t, 1)
	for range 3000 {
		sources = append(sources, g.times(1+g.IntN(9), "", func() string {
			return g.one("a", "b", "(", ")", "[", "]", "*", "+", "?", "|", "^", "$", "-", ":", "[:alpha:]", "&&", "\\", "\\d", "(?:", "(?i)", "(?x)", "(?=", "{", "}", "1", ",", "#", " ", ".", "é")
		}))
	}
	var questions []question
	for _, s := range sources {
		if !strings.HasSuffix(strings.ReplaceAll(s, `\\`, ""), `\`) {
			questions = append(questions, question{Code: "$x = /" + s + "/"})
		}
	}
	found := 0
	for i, want := range askPuppet(t, questions) {
		got := ours(questions[i])
		if got.Error == "" || want.Error != "" { // /* begins a comment
			continue
		}
		found++
		if !strings.HasPrefix(want.Ruby, "RegexpError") {
			t.Errorf("%s: got %q, and Ruby has nothing against it", questions[i].Code, got.Error)
		}
	}
	if found < len(questions)/10 {
		t.Errorf("only %d of %d regular expressions were refused", found, len(questions))
	}
}
