package command_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/ui/command"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want string // as Line writes it, or part of the error
		bad  bool
	}{
		{"find facts web01", "find facts web01", false},
		{"find node web01 terminus=yaml cache=none env=qa ignore_cache", "find node web01 terminus=yaml cache=off env=qa ignore_cache", false},
		{"search facts facts.kernel=Linux opt.x=1", "search facts opt.facts.kernel=Linux opt.x=1", false},
		{"search facts * meta.timestamp.gt=2024", "search facts * opt.meta.timestamp.gt=2024", false},
		{`find file_metadata "puppet:///modules/a b/c" ignore_terminus=true`, `find file_metadata "puppet:///modules/a b/c" ignore_terminus`, false},
		{"find file_content http://h/x?a=b", "find file_content http://h/x?a=b", false},
		{"find node x ignore_cache=false", "find node x", false},
		{"find node x ignore_cache=maybe", "a flag is true or false", true},
		{"find node", "which key?", true},
		{"find node ignore_cache", "which key?", true},
		{"find", "find what?", true},
		{"expire node x", `"expire" is no verb`, true},
		{"fnid node x", `"fnid" is no verb`, true},
		{"find node x nonsense", `"nonsense" is not understood`, true},
		{"find node x terminus=", `"terminus=" has no value`, true},
		{"find node x =3", "has no name", true},
		{`find node "x`, "is not closed", true},
	} {
		words, err := command.Split(tt.line)
		var req *indirector.Request
		if err == nil {
			req, err = command.Request(words[0], words[1:])
		}
		switch {
		case tt.bad && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want %s", tt.line, err, tt.want)
		case !tt.bad && err != nil:
			t.Errorf("%s: %v", tt.line, err)
		case !tt.bad && command.Line(req) != tt.want:
			t.Errorf("%s: got %s, want %s", tt.line, command.Line(req), tt.want)
		}
	}
}

func TestPair(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, termini, rest string }{
		{"node web01 terminus=exec,plain env=qa", "exec plain", "node web01 env=qa"},
		{"terminus=a,b node x", "a b", "node x"},
		{"node x terminus=exec", "", ""},
		{"node x terminus=a,b,c", "", ""},
		{"node x", "", ""},
	} {
		words := strings.Fields(tt.line)
		termini, rest, ok := command.Pair(words)
		if ok != (tt.termini != "") || ok && (strings.Join(termini, " ") != tt.termini || strings.Join(rest, " ") != tt.rest) {
			t.Errorf("%s: got %q, %q, %v", tt.line, termini, rest, ok)
		}
		if strings.Join(words, " ") != tt.line {
			t.Errorf("%s: the words were changed", tt.line)
		}
	}
}

func TestRequestFillsAttributes(t *testing.T) {
	t.Parallel()
	req, err := command.Request("find", []string{"catalog", "web01", "transaction_uuid=8f3c", "node=n1", "ignore_terminus"})
	if err != nil || req.Run != "8f3c" || req.Remote.Node != "n1" || req.Flags != traces.IgnoreTerminus {
		t.Errorf("got %+v, %v", req, err)
	}
}

// What stands behind the words of a command is an expression as it was written,
// with quotes of its own.
func TestSplitBefore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		n    int
		want []string
	}{
		{`base.ind err="connection refused" ind=facts`, 1, []string{"base.ind", `err="connection refused" ind=facts`}},
		{`"my base.ind"   key='a b'  `, 1, []string{"my base.ind", `key='a b'`}},
		{`otlp trace.json err~"a \"b\" \\d"`, 2, []string{"otlp", "trace.json", `err~"a \"b\" \\d"`}},
		{`base.ind key=it's`, 1, []string{"base.ind", `key=it's`}},
		{`  key="x y"`, 0, []string{`key="x y"`}},
		{`base.ind`, 1, []string{"base.ind"}},
		{`csv`, 2, []string{"csv"}},
		{``, 1, nil},
		{" \t ", 0, nil},
	} {
		if got, err := command.SplitBefore(tt.line, tt.n); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, %v, want %q", tt.line, got, err, tt.want)
		}
	}
	if _, err := command.SplitBefore(`"base.ind @run`, 1); err == nil {
		t.Error("a quote in the name that is not closed is taken")
	}
}

func FuzzSplitBefore(f *testing.F) {
	f.Add("base.ind", `err="connection refused" key='a b'`)
	f.Add("my base", `key=it's "\`)
	f.Fuzz(func(t *testing.T, name, expression string) {
		expression = strings.Trim(expression, " \t")
		if name == "" || expression == "" || !utf8.ValidString(name) {
			return // the words of a line are text
		}
		got, err := command.SplitBefore(command.Quote(name)+" "+expression, 1)
		if err != nil || !slices.Equal(got, []string{name, expression}) {
			t.Errorf("%q, %q: got %q, %v", name, expression, got, err)
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add(`find node "a b" 'c"d' e\ f`)
	f.Fuzz(func(t *testing.T, line string) {
		words, err := command.Split(line)
		if err != nil {
			return
		}
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = command.Quote(w)
		}
		again, err := command.Split(strings.Join(quoted, " "))
		if err != nil || !slices.Equal(again, words) {
			t.Errorf("%q: got %q, want %q (%v)", line, again, words, err)
		}
	})
}
