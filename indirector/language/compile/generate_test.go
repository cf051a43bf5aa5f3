package compile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator writes small random manifests: classes, defines and resources that refer to
// one another, override and collect each other. About half of them compile.
type generator struct {
	*rand.Rand
	titles map[string]int // how many resources of a type have got a title
}

func (g *generator) pick(all ...string) string { return all[g.IntN(len(all))] }

// fresh returns a title that is new most of the time.
func (g *generator) fresh(typ string) string {
	n := g.titles[typ]
	if g.IntN(20) > 0 {
		g.titles[typ]++
	} else if n > 0 {
		n = g.IntN(n)
	}
	return titleOf(typ, n) + map[bool]string{true: "/"}[typ == "file" && g.IntN(8) == 0]
}

func titleOf(typ string, n int) string {
	switch typ {
	case "file":
		return fmt.Sprintf("/f%d", n)
	case "exec":
		return fmt.Sprintf("/bin/e%d", n)
	}
	return fmt.Sprintf("%s%d", typ[:1], n)
}

// ref refers to a resource that is there, most of the time.
func (g *generator) ref() string {
	typ := g.pick("notify", "notify", "file", "d", "exec")
	if g.titles[typ] == 0 && g.IntN(10) > 0 {
		return "Stage['main']"
	}
	n := g.IntN(g.titles[typ] + 1)
	if n == g.titles[typ] && n > 0 && g.IntN(10) > 0 {
		n--
	}
	return strings.ToUpper(typ[:1]) + typ[1:] + "['" + titleOf(typ, n) + "']"
}

var attributesOf = map[string][]string{
	"notify": {"message", "tag", "noop", "before", "require", "loglevel", "alias"},
	"file":   {"mode", "owner", "tag", "require", "path", "noop"},
	"d":      {"p", "tag", "noop", "before", "schedule"},
	"e":      {"p", "tag", "require"},
	"exec":   {"path", "tag", "notify", "noop"},
}

func (g *generator) attributes(typ string, most int) string {
	var out []string
	for range g.IntN(most + 1) {
		name := g.pick(attributesOf[typ]...)
		v := ""
		switch name {
		case "tag":
			v = g.pick("'t1'", "['t1', 't2']", "'a::b'", "undef")
		case "noop":
			v = g.pick("true", "false", "undef")
		case "before", "require", "notify":
			v = g.pick(g.ref(), "["+g.ref()+"]", "["+g.ref()+", "+g.ref()+"]")
		case "alias", "path":
			v = fmt.Sprintf("'/%s%d'", name, g.IntN(100))
		case "message":
			v = g.pick("'m'", `"m${title}"`, "undef", "[1, 2]", "{ 'k' => Integer[1] }", "Sensitive('s')")
		case "p":
			v = g.pick("1", "'s'", "undef")
		default:
			v = g.pick("'v1'", "'v2'")
		}
		if !strings.Contains(strings.Join(out, " "), name+" =>") {
			out = append(out, name+" => "+v)
		}
	}
	return strings.Join(out, ", ")
}

// statement returns one that may stand in a class. What fails often is rare.
func (g *generator) statement() string {
	typ := g.pick("notify", "file", "d")
	capital := strings.ToUpper(typ[:1]) + typ[1:]
	switch n := g.IntN(100); {
	case n < 45:
		typ = g.pick("notify", "notify", "file", "d", "e", "exec")
		return fmt.Sprintf("%s%s { '%s': %s }", g.pick("", "", "", "@"), typ, g.fresh(typ), g.attributes(typ, 3))
	case n < 50:
		return fmt.Sprintf("%s { %s }", capital, g.attributes(typ, 2))
	case n < 54:
		return fmt.Sprintf("%s { %s }", g.ref(), g.pick("noop => true", "tag +> 't3'", "loglevel => 'err'", "tag => 'x'"))
	case n < 68:
		query := g.pick("", "title == 'n0'", "tag == 't1'", "message == 'm'", "noop != true and title != 'n1'", "title == '/f0' or tag == 'c1'")
		return fmt.Sprintf("%s <| %s |>%s", capital, query, g.pick("", "", " { tag => q }", " { noop => true }", " { tag +> 'z' }"))
	case n < 77:
		return fmt.Sprintf("%s %s %s", g.pick(g.ref(), capital+" <| |>"), g.pick("->", "~>", "<-", "<~"), g.ref())
	case n < 89:
		return g.pick("include", "contain", "require") + " " + g.pick("c1", "c2", "c3")
	case n < 91:
		return "realize(" + g.ref() + ")"
	case n < 93:
		return fmt.Sprintf("class { '%s': %s }", g.pick("c1", "c2", "c3"), g.pick("", "noop => true", "tag => tt"))
	case n < 95:
		return fmt.Sprintf("create_resources('notify', { '%s' => { %s } })", g.fresh("notify"), g.attributes("notify", 2))
	case n < 98:
		return "tag('" + g.pick("tg", "n::m") + "')"
	}
	return fmt.Sprintf("if tagged('c1') { notify { '%s': } }", g.fresh("notify"))
}

func (g *generator) body(most int) string {
	var out []string
	for range 1 + g.IntN(most) {
		out = append(out, g.statement())
	}
	return strings.Join(out, "\n  ")
}

// manifest returns one manifest.
func (g *generator) manifest() string {
	g.titles = map[string]int{}
	parent := g.pick("", "", " inherits c1")
	inside := g.pick(`notify { "in${name}": }`, `file { "/d${name}": }`, "include c3", `notify { "in${name}": } Notify["in${name}"] { message => x }`)
	return "class c1($q = 1) {\n  " + g.body(3) + "\n}\nclass c2($q = 'x')" + parent + " {\n  " + g.body(3) + "\n}\nclass c3 {\n  " + g.body(2) +
		"\n}\ndefine d($p = 1) {\n  " + inside + "\n}\ndefine e($p = $title) {\n  notify { \"e${name}\": }\n}\n" + g.body(8) + "\n"
}
