package onig_test

import (
	"errors"
	"strings"
	"testing"

	"indirtui/indirector/language/onig"
)

// Rule LANG-OP-11: what an expression matches is what it matches in Ruby.
func TestCompile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, text, want string }{
		{`^b`, "a\nb", "b"},
		{`a.b`, "a\nb", "-"},
		{`(?m)a.b`, "a\nb", "a\nb"},
		{`b\Z`, "ab\n", "b\n"},
		{`\h+`, "xyzff0", "ff0"},
		{`[[:alpha:]]+`, "1é2", "é"},
		{`(?<n>l+)`, "hello", "ll"},
		{`a={,2}\z`, "xa=", "a="},
		{`a{,}`, "a{,}", "a{,}"},
	} {
		re, err := onig.Compile(tt.source)
		if err != nil {
			t.Errorf("%s: %v", tt.source, err)
			continue
		}
		got := "-"
		if at := re.FindStringIndex(tt.text); at != nil {
			got = tt.text[at[0]:at[1]]
		}
		if got != tt.want {
			t.Errorf("%s matches %q in %q, want %q", tt.source, got, tt.text, tt.want)
		}
	}
}

func TestCompileFails(t *testing.T) {
	t.Parallel()
	if _, err := onig.Compile("("); err == nil || !strings.Contains(err.Error(), "unmatched parenthesis") {
		t.Errorf("got %v, want Ruby's words", err)
	}
	if _, err := onig.Compile("(?=x)"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v, want %v", err, errors.ErrUnsupported)
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
	if re, err := onig.Compile(`\A` + got + `\z`); err != nil || !re.MatchString(text) {
		t.Errorf("%s does not match its text: %v", got, err)
	}
}
