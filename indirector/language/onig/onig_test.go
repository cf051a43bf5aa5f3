package onig_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"indirtui/indirector/language/onig"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// Rule LANG-OP-11: what an expression matches is what it matches in Ruby.
func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source, text string
		want         bool
	}{
		{`^b`, "a\nb", true},
		{`a.b`, "a\nb", false},
		{`(?m)a.b`, "a\nb", true},
		{`a\Z`, "a\n", true},
		{`\b\w`, "é", false},
		{`foo(?!bar)`, "foobar", false},
		{`(?<!foo)bar`, "foobar", false},
		{`(.)\1`, "hello", true},
	} {
		re, err := onig.Compile(tt.source)
		if err != nil {
			t.Errorf("%s: %v", tt.source, err)
			continue
		}
		if got, err := re.Match(tt.text); err != nil || got != tt.want {
			t.Errorf("%s matches %q: got %v %v, want %v", tt.source, tt.text, got, err, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	re, err := onig.Compile(`(?<year>\d+)(-)(?<month>\d+)`)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(re.Names(), " "); got != " year month" {
		t.Errorf("got %q, want the names of the groups that capture", got)
	}
}

// What is refused is named.
func TestCompileFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, want string }{
		{`(?~ab)`, "regular expression /(?~ab)/: (?~, a group of what is absent: unsupported operation"},
		{`\X`, `\X, a character with its marks`},
		{`(?<n>\((?:[^()]|\g<n>)*\))`, `\g<n>, a group that calls itself`},
		{`(?<a>(?:\g<a>)+)`, `\g<a>, a group that calls itself`},
		{`(?<a>\g<b>+)(?<b>\g<a>+)`, `a group that calls itself`},
		{doubling(30), "groups that are called make it longer than"},
		{`(a|b\g<1>c)`, `\g<1>, a group that calls itself`},
		{`a\g<0>?`, `\g<0>, a call of the whole expression`},
		{`(?<n>a)\k<n+0>`, `\k<n+0>, a back reference with a level`},
		{`(?<=\g<1>)(c)`, "a call of a group in look-behind"},
		{`(?u)\w`, "the option u of a regular expression"},
		{`(?a)[[:alpha:]]`, "the option a of a regular expression"},
		{`\M-a`, `\M, a byte that is no character`},
		{`\xff`, `\xff, a byte that is no character`},
		{`\377`, `\377, a byte that is no character`},
		{`(a\1?)`, "a reference to group 1 from within"},
		{`(a(?(1)b|c))`, "a reference to group 1 from within"},
		{`(?i)\P{Lu}`, `the property \P{Lu} without regard to case`},
		{`[a-[b]]`, "a range that ends in a class"},
		{`\p{Emoji}`, `the property \p{Emoji}`},
		{doubled(30), "groups that are called make it longer than 1048576 bytes"},
	} {
		if _, err := onig.Compile(tt.source); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("/%s/: got %v, want %s", tt.source, err, tt.want)
		}
	}
}

// What Ruby does not compile is an error in its words.
func TestWords(t *testing.T) {
	t.Parallel()
	var questions []question
	for _, source := range []string{
		"(", ")", "[", "[b-a]", "a{3,1}", "[[:foo:]]", `[\d-z]`, `[a-\d]`, "(?<=a*)b", "(?<=(?:a|bc)d)e", "(?<!(a))b", "(?<=(?=a))b", `(?<=\z)b`,
		`(?<n>a)(?<n>b)\g<n>`, `(?<n>a)\1`, `\k<n>`, `(a)\2`, "(?z)a", "*a", `(x)?(?(1)a|b|c)`,
	} {
		questions = append(questions, question{Source: source})
	}
	for i, want := range ask(t, questions) {
		_, err := onig.Compile(questions[i].Source)
		if err == nil || want.Error == "" || err.Error() != want.Error {
			t.Errorf("/%s/: got %v, want %s", questions[i].Source, err, want.Error)
		}
	}
}

// doubled is an expression whose groups each call the one before twice.
func doubled(times int) string {
	var b strings.Builder
	b.WriteString("(?<a0>x)")
	for i := range times {
		name := func(i int) string { return "a" + strings.Repeat("b", i) }
		if i == 0 {
			b.WriteString(`(?<` + name(1) + `>\g<a0>\g<a0>)`)
			continue
		}
		b.WriteString(`(?<` + name(i+1) + `>\g<` + name(i) + `>\g<` + name(i) + `>)`)
	}
	return b.String()
}

// An expression that runs away is stopped, and named.
func TestLimit(t *testing.T) {
	t.Parallel()
	re, err := onig.Compile(`\A(?=((a+)+)+\z)`)
	if err != nil {
		t.Fatal(err)
	}
	want := `regular expression /\A(?=((a+)+)+\z)/: limit of regular expressions: no answer within 1s`
	if _, err := re.Match(strings.Repeat("a", 60) + "!"); !errors.Is(err, onig.ErrLimit) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := re.FindAll(strings.Repeat("a", 17<<20), -1); !errors.Is(err, onig.ErrLimit) {
		t.Errorf("a long text: got %v, want %v", err, onig.ErrLimit)
	}
	if got, err := re.Match("aaa"); !got || err != nil {
		t.Errorf("afterwards: got %v %v, want a match", got, err)
	}
}

// What Go's engine can do takes linear time.
func TestLinear(t *testing.T) {
	t.Parallel()
	re, err := onig.Compile(`(a|a)+$`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := re.Match(strings.Repeat("a", 5000) + "!"); got || err != nil {
		t.Errorf("got %v %v, want no match", got, err)
	}
}

// What is escaped is what Ruby makes of it, and matches itself.
func TestEscape(t *testing.T) {
	t.Parallel()
	const text = "a b\n\t\r\f\v[x]{}()|-*.\\?+^$#/é&~"
	const want = `a\ b\n\t\r\f\v\[x\]\{\}\(\)\|\-\*\.\\\?\+\^\$\#/é&~`
	got := onig.Escape(text)
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	re, err := onig.Compile(`\A` + got + `\z`)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := re.Match(text); !ok || err != nil {
		t.Errorf("%s does not match its text: %v", got, err)
	}
}

// doubling is groups each of which calls the one before it twice.
func doubling(n int) string {
	text := "(?<g0>a?)"
	for i := range n {
		text += fmt.Sprintf(`(?<g%d>\g<g%d>\g<g%d>)`, i+1, i, i)
	}
	return text
}
