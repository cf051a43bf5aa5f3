package syntax_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/golden"
)

// Random programs mean the same to real Puppet, or fail at the same place in the
// same words. INDIRTUI_PROGRAMS=N makes N of them instead of 500, and
// INDIRTUI_PROGRAMS_SEED others. Each difference that this found is a row of
// TestReal.
func TestRandomPrograms(t *testing.T) {
	t.Parallel()
	count, seed := 500, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("INDIRTUI_PROGRAMS")); err == nil {
		count = n
	}
	if n, err := strconv.ParseUint(os.Getenv("INDIRTUI_PROGRAMS_SEED"), 10, 64); err == nil {
		seed = n
	}
	g := newGenerator(t, seed)
	questions := make([]question, count)
	for i := range questions {
		questions[i] = g.question()
	}
	valid := 0
	for i, want := range askPuppet(t, questions) {
		compare(t, questions[i], want)
		if want.PN != "" {
			valid++
		}
	}
	if valid < count/10 {
		t.Errorf("only %d of %d programs are valid", valid, count)
	}
	if t.Failed() {
		t.Logf("INDIRTUI_PROGRAMS=%d INDIRTUI_PROGRAMS_SEED=%d", count, seed)
	}
}

// A generator writes programs. Its functions are the rules of the grammar; the
// deeper, the simpler.
type generator struct {
	*rand.Rand
	depth    int
	recorded []question
}

func newGenerator(t *testing.T, seed uint64) *generator {
	t.Helper()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	for r := range golden.Rows[recorded](t, filepath.Join("testdata", "trees.jsonl")) {
		g.recorded = append(g.recorded, r.question)
	}
	return g
}

func (g *generator) question() question {
	q := question{Strict: g.one("", "", "error", "off")}
	g.depth = g.IntN(6)
	if g.IntN(4) == 0 {
		q = g.recorded[g.IntN(len(g.recorded))]
		q.Code = g.damaged(q.Code)
		return q
	}
	q.EPP = g.IntN(8) == 0
	if q.EPP {
		q.Code = g.template()
	} else {
		q.Code = g.statements(1 + g.IntN(3))
	}
	for g.IntN(3) == 0 {
		q.Code = g.damaged(q.Code)
	}
	return q
}

func (g *generator) one(some ...string) string { return some[g.IntN(len(some))] }

// times repeats a rule, with something between.
func (g *generator) times(n int, between string, rule func() string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = rule()
	}
	return strings.Join(all, between)
}

func (g *generator) few() int { return g.IntN(3) }

// maybe is a text, or nothing.
func (g *generator) maybe(text string) string { return g.one("", text) }

func (g *generator) statements(n int) string {
	return g.times(n, g.one("\n", "\n", "; ", " "), g.statement)
}

func (g *generator) block() string { return "{ " + g.statements(g.few()) + g.one(" }", "\n}") }

// deep calls a rule one level below, or returns something simple.
func (g *generator) deep(rule func() string) string {
	if g.depth > 5 {
		return g.one("1", "$x", "'s'", "foo", "Foo")
	}
	g.depth++
	defer func() { g.depth-- }()
	return rule()
}

func (g *generator) statement() string {
	return g.deep(func() string {
		switch g.IntN(16) {
		case 0, 1:
			return g.one("$x", "$a::b", "$_y", "[$a, $b]", g.expression()) + g.one(" = ", " = ", "=", " += ", " -= ") + g.expression()
		case 2, 3, 4:
			return g.resource()
		case 5:
			return g.one("include", "notice", "fail", "return", "foo", "require", "tag") + " " + g.times(1+g.few(), ", ", g.expression)
		case 6, 7:
			return g.definition()
		case 8:
			return g.conditional()
		case 9:
			return g.one(g.reference(), g.resource()) + " " + g.one("->", "~>", "<-", "<~") + " " + g.one(g.reference(), g.resource(), g.collector())
		case 10:
			return g.collector()
		}
		return g.expression()
	})
}

func (g *generator) expression() string {
	return g.deep(func() string {
		switch g.IntN(18) {
		case 0, 1, 2:
			return g.expression() + " " + g.one("+", "-", "*", "/", "%", "<<", ">>", "==", "!=", "<", ">", "<=", ">=", "=~", "!~", "in", "and", "or") + " " + g.expression()
		case 3:
			return g.one("!", "-", "*", "- ", "! ") + g.expression()
		case 4:
			return "(" + g.one(g.expression(), g.statement()) + ")"
		case 5:
			return g.one(g.call(), g.call(), g.expression()+"."+g.call(), g.expression()+".foo", g.expression()+".foo "+g.lambda())
		case 6:
			return g.expression() + g.one("[", " [") + g.times(1+g.few(), ", ", g.element) + g.one("]", ",]")
		case 7:
			return g.one("[", "[ ") + g.times(g.few(), ", ", g.element) + g.one("]", " ]", ", ]")
		case 8:
			return "{" + g.times(g.few(), ", ", g.pair) + g.one("}", ",}", " }")
		case 9:
			return g.expression() + " ? " + g.one("{ "+g.times(1+g.few(), ", ", g.pair)+g.one(" }", ", }"), g.pair())
		case 10:
			return g.conditional()
		case 11, 12:
			return g.quoted()
		case 13:
			return g.heredoc()
		case 14:
			return g.reference()
		}
		return g.atom()
	})
}

func (g *generator) atom() string {
	if g.IntN(20) > 0 {
		return g.one("1", "0x1F", "017", "1.5", "2e3", "1.0e-3", "true", "undef", "default", "$x", "$a::b", "$1", "foo", "a::b", "::d", "Foo", "Foo::Bar", "a-b", "/re\\/x/", "/[a-z]+/",
			"''", "'it\\'s \\\\ \\n'")
	}
	return g.one("1", "0x1F", "017", "1.5", "2e3", "1.0e-3", "true", "false", "undef", "default", "$x", "$a::b", "$::c", "$1", "foo", "a::b",
		"::d", "Foo", "Foo::Bar", "::Foo", "a-b", "_w", "/re\\/x/", "/[a-z]+/", "''", "'it\\'s \\\\ \\n'", "type", "function", "private", "attr", "application",
		"9223372036854775808", "08", "1a", "0xg", "1.5.6", "1.2x", "0.0e5", "é", "$", "&", "plan", "é")
}

func (g *generator) element() string {
	return g.one(g.expression(), g.expression(), g.pair(), g.statement())
}

func (g *generator) pair() string {
	return g.one("a", "'b'", "default", "1", "type", g.expression()) + " => " + g.expression()
}

func (g *generator) call() string {
	return g.one("foo", "type", "Foo", "a::b", "notice") + g.one("(", "(", " (", "\n(") + g.times(g.few(), ", ", g.element) + g.one(")", ")", ",)") + g.maybe(" "+g.lambda())
}

func (g *generator) lambda() string {
	return "|" + g.times(g.few(), ", ", g.parameter) + "| " + g.one("", "", ">> Foo ", ">> Foo[1] ") + g.block()
}

func (g *generator) parameter() string {
	return g.one("", "", "Foo ", "Foo[1, b => 2] ", "Optional[Foo] ") + g.one("", "", "", "", "*") + g.one("$a", "$b", "$c", "$title", "$x::y", "$1", "$A") + g.one("", "", " = "+g.expression(), " = "+g.statement())
}

func (g *generator) parameters() string {
	return g.one("", "()", "("+g.times(1+g.few(), ", ", g.parameter)+g.one(")", ",)"))
}

func (g *generator) reference() string {
	return g.one("Foo", "Resource", "Class", "::Foo::Bar") + "[" + g.times(1+g.few(), ", ", g.expression) + "]"
}

func (g *generator) resource() string {
	form := g.one("", "", "", "", "@", "@@")
	switch g.IntN(6) {
	case 0:
		return form + g.one("Foo", g.reference(), g.atom()) + " { " + g.attributes() + " }"
	case 1:
		return form + g.one("foo", "include", "class") + " { " + g.attributes() + " }"
	}
	return form + g.one("foo", "a::b", "class", "Foo", g.reference(), g.expression()) + " { " + g.times(1+g.few(), g.one(";", "; "), g.body) + g.one("", ";") + " }"
}

func (g *generator) body() string { return g.expression() + ": " + g.attributes() }

func (g *generator) attributes() string {
	return g.times(g.few(), ", ", func() string {
		return g.one("a", "b", "type", "class", "if", "and", "default", "*", "undef", "ensure") + g.one(" => ", " => ", " => ", " +> ") + g.expression()
	}) + g.maybe(",")
}

func (g *generator) collector() string {
	return g.one("Foo", "Foo", "Foo::Bar", "foo", "Foo[1]") + " " + g.one("<| "+g.query()+" |>", "<<| "+g.query()+" |>>") + g.one("", "", " { "+g.attributes()+" }")
}

func (g *generator) query() string {
	return g.one("", "a == 1", "a != b and (c == $d or e == undef)", g.expression()+" == "+g.expression(), g.expression())
}

func (g *generator) conditional() string {
	switch g.IntN(4) {
	case 0:
		return "unless " + g.expression() + " " + g.block() + g.one("", " else "+g.block())
	case 1:
		return "case " + g.expression() + " { " + g.times(1+g.few(), " ", func() string {
			return g.one(g.times(1+g.few(), ", ", g.expression), "default") + ": " + g.block()
		}) + " }"
	}
	return "if " + g.expression() + " " + g.block() + g.one("", "", " elsif "+g.expression()+" "+g.block()) + g.one("", " else "+g.block())
}

func (g *generator) definition() string {
	name := g.one("a", "b", "a::b", "Foo", "a-b", "::c", "plan", "string", "'q'", "class", "_x")
	switch g.IntN(7) {
	case 0, 1:
		return "class " + name + g.parameters() + g.one("", " inherits "+g.one("z", "default", "::y")) + " " + g.block()
	case 2:
		return "define " + name + g.parameters() + " " + g.block()
	case 3:
		return "function " + name + g.parameters() + g.one("", " >> Foo", " >> Foo[1]") + " " + g.block()
	case 4:
		return "node " + g.times(1+g.few(), ", ", func() string {
			return g.one("default", "a.b", "'a.b'", "/x/", "1.2.3.4", "a-b", "\"x${y}\"", "'a b'", g.heredoc(), "a", "\"q\"")
		}) + g.one("", "", " inherits a") + " " + g.block()
	case 5:
		return "type " + g.one("Foo", "Foo", "Foo::Bar", "::Foo", "Runtime[a, b]", "Runtime[a, [/x/, 'y']]", "foo") + " = " +
			g.one(g.reference(), "Foo", "{ a => 1 }", "Foo { a => 1 }", "Object { a => 1 }", "[/x/, 'y']", "["+g.expression()+"]", g.expression())
	}
	return "type " + g.one("Foo", "Plan") + g.one("", " inherits Bar") + " " + g.block()
}

func (g *generator) quoted() string {
	return `"` + g.text() + `"`
}

// text is what a string has, with interpolation.
func (g *generator) text() string {
	return g.times(g.few()+1, "", func() string {
		return g.one("a ", "\\n", "\\$", "\\q", "\\\\", "\\u00e9", "\\u{1F600}", "\\uzz", "$", "$$", "$x", "$a::b", "$::c::", "$x[1]", "é", "'", "\\\"", "\n", "\\\n", "${x}",
			"${ x.y }", "${x[1].z}", "${class}", "${1}", "${}", "${a-b}", "${$x}", "${foo(1)}", "${"+g.expression()+"}", "${"+g.statement()+"}", "${a::b}", "{", "}")
	})
}

func (g *generator) heredoc() string {
	tag := g.one("E", "E", " END ", `"E"`, `"E"`, `"END"`)
	name := strings.Trim(tag, ` "`)
	end := g.one("", "", "| ", "|- ", "- ", "  | ", "  |- ") + name
	return "@(" + tag + g.one("", "", ":json", ":pp", ":x+y") + g.one("", "", "/", "/n", "/tL", "/$", "/u", "/zz") + ")" + g.one("", "", ".foo", "[1]", ", @(X)\nx\nX") + "\n" +
		g.times(g.few(), "\n", func() string { return g.one("", "  ", "    ") + g.text() }) + "\n" + end + g.one("\n", "", " \n")
}

func (g *generator) template() string {
	params := g.one("", "", "<%- | "+g.times(g.few(), ", ", g.parameter)+" | -%>\n", "<% |$a| %>")
	return params + g.times(1+g.few(), "", func() string {
		return g.one("text\n", "  ", "a <%% b %%> c", "<%# comment %>", "<%#- c -%>\n", "<%= "+g.expression()+" %>", "<%= "+g.expression()+" -%>\n x", "<%= { "+g.statements(1+g.few())+" } %>",
			"<% "+g.statements(1)+" %>", "  <%- "+g.statements(1)+" -%>\n", "<% if "+g.expression()+" { %>yes\n<% } else { -%>\n no<%- } %>", "<% [1].each |$x| { %> x <% } %>", "(", "<% (1) %>", "<%", "%>")
	})
}

// damaged changes a few characters, or words.
func (g *generator) damaged(code string) string {
	words := strings.SplitAfter(code, " ")
	at := g.IntN(len(words))
	word := g.one("{", "}", "(", ")", "[", "]", ",", ";", ":", "=>", "=", "|", "@", "$x", "1", "foo", "Foo", "'s'", "if", "else", "class", "node", "and", "in", "type", "->", "<|", "|>", ".", "?", "default",
		"/", "*", "-", "!", "\"", "'", "\n", "#", "function", "%", "+>", "::", "/*", "~", "\t")
	switch g.IntN(4) {
	case 0:
		words[at] = word + g.one("", " ")
	case 1:
		words[at] += word + g.one("", " ")
	case 2:
		words = append(words[:at], words[at+1:]...)
	default:
		if runes := []rune(words[at]); len(runes) > 0 {
			i := g.IntN(len(runes))
			words[at] = string(runes[:i]) + string(runes[i+1:])
		}
	}
	return strings.Join(words, "")
}
