package compile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A siteGenerator writes small random sites: manifests with nodes, modules, data and facts.
// Where the generator of manifests has few kinds of statements in many orders, this one has
// most of what the language can declare. What fails is rare in each, so that about a fifth of them compile.
type siteGenerator struct {
	*rand.Rand
	titles   map[string]int // how many resources of a type have got a title
	virtuals []string       // references to what is virtual
	vars     []string       // variables in sight
	stages   bool
}

func (g *siteGenerator) pick(all ...string) string { return all[g.IntN(len(all))] }

// rarely reports true once in n times.
func (g *siteGenerator) rarely(n int) bool { return g.IntN(n) == 0 }

func (g *siteGenerator) list(least, most int, item func() string) string {
	var out []string
	for range least + g.IntN(most-least+1) {
		out = append(out, item())
	}
	return strings.Join(out, ", ")
}

// site returns the files of one site.
func (g *siteGenerator) site() map[string]string {
	g.titles, g.virtuals, g.vars, g.stages = map[string]int{}, nil, nil, g.rarely(8)
	files := map[string]string{
		"modules/m/manifests/init.pp":        g.class("m", ""),
		"modules/m/manifests/sub.pp":         g.class("m::sub", g.pick("m", "m", "m::params")),
		"modules/m/manifests/params.pp":      "class m::params {\n  $base = " + g.value(1) + "\n  $list = [1, 'b']\n  notify { 'params': }\n}\n",
		"modules/m/manifests/d.pp":           g.define("m::d"),
		"modules/m/functions/f.pp":           "function m::f($a, Optional[Integer] $b = undef) " + g.pick("", ">> Any ", ">> String ") + "{\n  " + g.pick("\"${a}-${b}\"", "$b ? { undef => \"${a}\", default => \"${b}\" }", "notice($a) \"${a}\"") + "\n}\n",
		"modules/m/types/t.pp":               "type M::T = " + g.pick("Enum['a', 'b']", "Variant[Integer[1, 5], String[1]]", "Optional[String]", "Array[M::U]") + "\n",
		"modules/m/types/u.pp":               "type M::U = " + g.pick("Integer", "Variant[String, Integer]", "Pattern[/^[a-z]/]") + "\n",
		"modules/m/templates/a.epp":          g.pick("", "<%- | $x = 'dflt', String $y = 'y' | -%>\n") + "a <%= $x %> <%= $facts['os']['family'] %>\n<% if $title { -%>\nt <%= $title %>\n<% } -%>\n",
		"modules/m/templates/b.erb":          "b <%= @title %> <%= @p1.inspect %> <%= scope['facts']['os']['name'] %>\n<% [1, 2].each do |i| -%>\n<%= i %><%= \"x\" * i %>\n<% end -%>\n" + g.pick("", "", "<%= scope.lookupvar('m::p1') %>\n", "<%= scope['nosuch'].inspect %>\n"),
		"modules/n/manifests/init.pp":        g.class("n", g.pick("", "", "m::params")),
		"modules/n/manifests/x.pp":           g.class("n::x", ""),
		"modules/n/manifests/deep/y.pp":      g.pick(g.define("n::deep::y"), g.class("n::deep::y", "n")),
		"modules/n/hiera.yaml":               "version: 5\nhierarchy:\n  - { name: all, path: common.yaml }\n",
		"modules/n/data/common.yaml":         "n::p1: " + g.datum() + "\n" + g.pick("", "n::x::p1: "+g.datum()+"\n", "other::key: 1\n") + g.pick("", "lookup_options:\n  n::p1: { merge: unique }\n"),
		"hiera.yaml":                         "version: 5\ndefaults: { datadir: data, data_hash: yaml_data }\nhierarchy:\n  - { name: node, path: \"nodes/%{trusted.certname}.yaml\" }\n  - { name: os, path: \"%{facts.os.family}.yaml\" }\n  - { name: all, path: common.yaml }\n",
		"data/nodes/node1.example.test.yaml": g.data(),
		"data/common.yaml":                   g.data() + "key: value\nwords: [a, b]\nwho: \"%{facts.role} %{lookup('key')}\"\nhash: { a: 1, b: { c: 2 } }\n",
		"facts.yaml":                         "os: { family: Debian, name: Debian, release: { major: '12' } }\nrole: web\nhostname: node1\nempty: ''\nlist: [1, two]\nyes: true\n",
		"case.yaml":                          "settings: { strict: " + g.pick("warning", "warning", "warning", "error", "'off'") + ", strict_variables: " + g.pick("false", "false", "false", "true") + " }\n" + g.pick("", "", "", "", "rich_data: false\n"),
	}
	if g.rarely(5) {
		files["node.yaml"] = "classes:\n  " + g.pick("m:", "n:", "m::sub:", "n::x: {}", "nosuch:", "m:\n    p1: "+g.datum()) + "\nparameters:\n  tier: enc\n  extra: [1, 2]\n"
	}
	files["site.pp"] = g.main()
	return files
}

// data returns a file of data.
func (g *siteGenerator) data() string {
	var b strings.Builder
	for _, class := range []string{"m", "m::sub", "n", "n::x", "c1", "c2"} {
		for _, p := range []string{"p1", "p2"} {
			if g.rarely(16) {
				fmt.Fprintf(&b, "%s::%s: %s\n", class, p, g.datum())
			}
		}
	}
	if g.rarely(4) {
		b.WriteString(g.pick("lookup_options:\n  '^m::.*': { merge: deep }\n", "lookup_options:\n  m::p1: { merge: { strategy: hash } }\n", "lookup_options:\n  c1::p1: { convert_to: Sensitive }\n", "lookup_options:\n  n::p1: { convert_to: [Integer, 16] }\n"))
	}
	if b.Len() == 0 {
		return "--- {}\n"
	}
	return b.String()
}

func (g *siteGenerator) datum() string {
	return g.pick("1", "a", "b", "'12'", "[a, 1]", "{ a: 1 }", "~", "true", "\"%{facts.role}\"", "\"%{lookup('key')}\"", "\"%{alias('words')}\"", "\"%{nothere}\"", "2.5", "''")
}

// typed returns a type, and a value that is an instance most of the time.
func (g *siteGenerator) typed() (typ, value string) {
	switch g.IntN(24) {
	case 0:
		return "Integer", g.pick("1", "2", "'x'")
	case 1:
		return "String", g.pick("'a'", "'b'", "\"${facts['role']}\"")
	case 2:
		return "Optional[String]", g.pick("undef", "'a'")
	case 3:
		return "M::T", g.pick("'a'", "'b'", "undef")
	case 4:
		return "Array[Variant[String, Integer]]", g.pick("['a', 1]", "[]")
	case 5:
		return "Hash", g.pick("{ 'a' => 1 }", "{}")
	case 6:
		return "Struct[{ a => Integer, Optional[b] => String }]", g.pick("{ 'a' => 1 }", "{ 'a' => 1, 'b' => 'x' }")
	case 7:
		return "Variant[Boolean, Undef, String, Integer]", g.pick("true", "'y'", "3")
	case 8:
		return "Any", g.value(1)
	}
	return "", g.value(1)
}

func (g *siteGenerator) parameters(names ...string) string {
	var out []string
	for i, name := range names {
		typ, value := g.typed()
		p := strings.TrimSpace(typ + " $" + name)
		if i > 0 && g.rarely(4) {
			p += " = $" + names[i-1]
		} else if !g.rarely(18) {
			p += " = " + value
		}
		out = append(out, p)
	}
	return "(" + strings.Join(out, ", ") + ")"
}

func (g *siteGenerator) class(name, parent string) string {
	g.vars = []string{"$p1", "$p2", "$title", "$name", "$module_name", "$v"}
	head := "class " + name + g.parameters("p1", "p2")
	if parent != "" {
		head += " inherits " + parent
		g.vars = append(g.vars, g.pick("$base", "$list", "$p1"))
	}
	short := strings.ReplaceAll(name, ":", "")
	body := []string{"$v = " + g.value(1), fmt.Sprintf("notify { 'in %s': message => %s }", short, g.value(1))}
	if g.rarely(2) {
		body = append(body, fmt.Sprintf("file { '/%s': mode => '0644', tag => 'own', require => Notify['in %s'] }", short, short))
	}
	for range g.IntN(3) {
		body = append(body, g.statement(1))
	}
	switch {
	case parent == "m" || parent == "n":
		body = append(body, fmt.Sprintf("Notify['in %s'] { %s }", parent, g.pick("message => 'over'", "tag +> 'more'", "require +> Stage['main']", "message => undef", "noop => true, tag => ['o']", "message +> 'x'", "nosuch => 1")))
	case parent == "m::params":
		body = append(body, "Notify['params'] { message => \"${base}\" }")
	}
	return head + " {\n  " + strings.Join(body, "\n  ") + "\n}\n"
}

func (g *siteGenerator) define(name string) string {
	g.vars = []string{"$p1", "$p2", "$title", "$name", "$module_name", "$caller_module_name"}
	short := strings.ReplaceAll(name, ":", "")
	body := []string{fmt.Sprintf("notify { \"%s ${title}\": message => %s }", short, g.value(1))}
	switch g.IntN(6) {
	case 0:
		body = append(body, "include "+g.pick("n::x", "c3"))
	case 1:
		body = append(body, "@file { \"/"+short+"/${name}\": owner => 'root', tag => [$title, 'virt'] }")
	case 2:
		body = append(body, "if $p1 =~ String { "+g.pick("warning(\"w ${p1}\")", "notice($title)", "return()")+" }\n  file { \"/"+short+"/${name}\": content => epp('m/a.epp', { 'x' => $p1 }) }")
	case 3:
		body = append(body, "Notify { loglevel => 'debug' }\n  exec { \"/bin/"+short+" ${title}\": refreshonly => true, subscribe => Notify[\""+short+" ${title}\"] }")
	}
	return "define " + name + g.parameters("p1", "p2") + " {\n  " + strings.Join(body, "\n  ") + "\n}\n"
}

// value returns an expression that has one.
func (g *siteGenerator) value(depth int) string {
	if depth > 0 && g.rarely(3) {
		switch g.IntN(12) {
		case 0:
			return "[" + g.list(0, 3, func() string { return g.value(depth - 1) }) + "]"
		case 1:
			return "{ " + g.pick("a", "'k'", "1", "\"x${1 + 1}\"") + " => " + g.value(depth-1) + " }"
		case 2:
			return "Sensitive(" + g.value(depth-1) + ")"
		case 3:
			return "if $facts['role'] == 'web' { " + g.value(depth-1) + " } else { " + g.value(depth-1) + " }"
		case 4:
			return "$facts['role'] ? { /^w(.)/ => \"m${1}\", 'db' => " + g.value(depth-1) + ", default => " + g.value(depth-1) + " }"
		case 5:
			return "case " + g.value(0) + " { 'a', 1: { " + g.value(depth-1) + " } String: { 's' } default: { " + g.value(depth-1) + " } }"
		case 6:
			return "[" + g.list(1, 3, func() string { return g.value(0) }) + "].map |$i, $x| { \"${i}${x}\" }"
		case 7:
			return "m::f(" + g.value(0) + g.pick("", ", 2", ", undef", ", 'no'") + ")"
		case 8:
			return "lookup('" + g.pick("key", "who", "words", "hash.b.c", "m::p1", "nosuch") + "'" + g.pick("", ", { default_value => 'd' }", ", { 'default_value' => [1] }", ", String", ", Data, 'first', 'z'") + ")"
		case 9:
			return "inline_epp(" + g.pick("'<%= 1 %>'", "'<%- |$x| -%>[<%= $x %>]', { 'x' => 1 }", "'<%- |Integer $x| -%>[<%= $x %>]', { x => 'y' }") + ")"
		case 10:
			return "Deferred('" + g.pick("upcase", "upcase", "inline_epp", "m::f", "nosuch") + "', ['" + g.pick("a", "b") + "'])"
		}
		return "epp('m/a.epp', { 'x' => " + g.value(0) + " })"
	}
	if len(g.vars) > 0 && g.rarely(4) {
		return g.pick(g.vars...)
	}
	switch g.IntN(26) {
	case 0:
		return g.pick("1", "42", "-1", "0x1F", "2.5", "1e3")
	case 1:
		return g.pick("undef", "true", "false", "default")
	case 2:
		return g.ref()
	case 3:
		return g.pick("Integer[1, 3]", "String", "/a+/", "Class['m']", "M::T", "Notify")
	case 4:
		return "\"${" + g.pick("facts['os']['family']", "trusted['certname']", "role", "::hostname", "server_facts['servername']", "environment", "title", "m::p1", "n::x::p2", "m::params::base", "list", "empty", "serverversion") + "}\""
	case 5:
		if !g.rarely(3) {
			return "'five'"
		}
		return g.pick("$nosuch", "$::nosuch", "$m::v", "$n::nosuch", "$c1::p1", "$m::nosuch::x", "$facts['nosuch']", "$facts['nosuch']['deeper']")
	case 6:
		if !g.rarely(3) {
			return "'six'"
		}
		return g.ref() + "[" + g.pick("'message'", "'mode'", "message", "'p1'", "'title'") + "]"
	case 7:
		return g.pick("defined('m')", "defined(Notify['n1'])", "defined('$role')", "defined(Class['n'])", "tagged('m')", "defined('m::d')", "defined(m::sub)")
	case 8:
		return g.pick("template('m/b.erb')", "inline_epp('<%= $title %>')", "inline_template('<%= @p1 %>')", "getvar('m::p1')", "getvar('facts.os.name')", "$facts.get('os.release.major')", "$trusted['extensions']", "pick_default")
	case 9:
		return g.pick("'a' in ['a']", "1 + 2", "'x' * 3", "10 / 4", "[1] + [2]", "{a => 1} + {b => 2}", "!true", "'a' < 'B'", "$list[0]", "$facts['list'][1]", "\"${facts['os']}\"")
	}
	return "'" + g.pick("a", "b", "m1", "x y", "t", "1", "") + "'"
}

func titleIn(typ string, n int) string {
	switch typ {
	case "file":
		return fmt.Sprintf("/f%d", n)
	case "exec":
		return fmt.Sprintf("/bin/e%d", n)
	}
	return fmt.Sprintf("%s%d", strings.ReplaceAll(typ, ":", "")[:1], n)
}

func capitals(typ string) string {
	parts := strings.Split(typ, "::")
	for i, p := range parts {
		parts[i] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "::")
}

// fresh returns a title that is new most of the time.
func (g *siteGenerator) fresh(typ string) string {
	n := g.titles[typ]
	if n > 0 && g.rarely(40) {
		return titleIn(typ, g.IntN(n))
	}
	g.titles[typ]++
	return titleIn(typ, n)
}

// ref refers to a resource that is there, most of the time.
func (g *siteGenerator) ref() string {
	switch {
	case g.rarely(10):
		return "Class[" + g.pick("m", "'n'", "'m::sub'", "c1", "'n::x'", "'::m'", "m, n") + "]"
	case g.rarely(3):
		return "Stage['main']"
	case g.rarely(20) && len(g.virtuals) > 0:
		return g.pick(g.virtuals...)
	}
	typ := g.pick("notify", "notify", "file", "d", "exec", "user", "m::d")
	n := g.titles[typ]
	switch {
	case n == 0 && !g.rarely(12):
		return "Stage['main']"
	case n == 0 || g.rarely(40):
		n++
	}
	ref := capitals(typ) + "['" + titleIn(typ, g.IntN(max(n, 1))) + "'"
	if g.rarely(12) && n > 1 {
		ref += ", '" + titleIn(typ, g.IntN(n)) + "'"
	}
	return ref + "]"
}

var siteAttributes = map[string][]string{
	"notify": {"message", "withpath", "name"},
	"file":   {"mode", "owner", "ensure", "content", "path", "source"},
	"exec":   {"path", "command", "unless", "creates"},
	"user":   {"uid", "groups", "shell", "ensure"},
	"d":      {"p1", "p2"}, "e": {"p1"}, "m::d": {"p1", "p2"},
}

func (g *siteGenerator) attributes(typ string, most int) []string {
	var out []string
	taken := map[string]bool{}
	add := func(name, value string) {
		if !taken[name] || g.rarely(60) {
			taken[name] = true
			out = append(out, name+" => "+value)
		}
	}
	for range g.IntN(most + 1) {
		if g.rarely(3) {
			switch name := g.pick("tag", "tag", "noop", "before", "require", "notify", "subscribe", "loglevel", "alias", "schedule", "audit", "*"); name {
			case "tag":
				add(name, g.pick("'t1'", "['t1', 't2']", "'a::b'", "[]", "'T1'", "undef", "1", "$title"))
			case "noop":
				add(name, g.pick("true", "false", "undef", "'yes'"))
			case "before", "require", "notify", "subscribe":
				add(name, g.pick(g.ref(), g.ref(), "["+g.ref()+", "+g.ref()+"]", "undef", "["+g.ref()+", ["+g.ref()+"]]"))
			case "loglevel":
				add(name, g.pick("'debug'", "'err'", "crit"))
			case "alias":
				if typ == "d" || typ == "e" || typ == "m::d" {
					continue // they hand it on to all they contain
				}
				add(name, fmt.Sprintf("'al%d'", g.IntN(60)))
			case "schedule":
				add(name, g.pick("'daily'", "'never'"))
			case "audit":
				add(name, g.pick("all", "[mode]"))
			default:
				add("*", g.pick("{}", "{ 'tag' => 'splat' }", "{ 'noop' => true, 'loglevel' => 'info' }", "$p1", "undef"))
			}
			continue
		}
		name := g.pick(siteAttributes[typ]...)
		switch name {
		case "name", "path", "command":
			if g.rarely(3) {
				add(name, fmt.Sprintf("'/%s%d'", name, g.IntN(40)))
			}
		case "mode":
			add(name, g.pick("'0644'", "'0600'", "undef", "'u+x'"))
		case "ensure":
			add(name, g.pick("present", "absent", "undef", "'present'"))
		case "groups":
			add(name, g.pick("['a', 'b']", "'a'", "[]"))
		default:
			add(name, g.value(1))
		}
	}
	if g.rarely(150) {
		add("nosuch", "1")
	}
	return out
}

// isSplat reports whether an attribute is one that only resources have.
func isSplat(attribute string) bool { return attribute[0] == '*' }

// bodies returns one or more titles with their attributes.
func (g *siteGenerator) bodies(typ string) string {
	bodies := []string{}
	for range 1 + g.IntN(5)/4 {
		title := "'" + g.fresh(typ) + "'"
		switch {
		case g.rarely(10):
			title = "[" + title + ", '" + g.fresh(typ) + "']"
		case g.rarely(60):
			title = g.pick("[]", "undef", "''", "1", "$title", "['u', ['v']]", "default")
		}
		bodies = append(bodies, title+": "+strings.Join(g.attributes(typ, 3), ", "))
	}
	if g.rarely(14) {
		bodies = append([]string{"default: " + strings.Join(g.attributes(typ, 2), ", ")}, bodies...)
	}
	return strings.Join(bodies, ";\n    ")
}

func (g *siteGenerator) query() string {
	switch g.IntN(10) {
	case 0, 1, 2:
		return ""
	case 3:
		return g.query1() + " and " + g.query1()
	case 4:
		return g.query1() + " or " + g.query1()
	case 5:
		return "(" + g.query1() + " or " + g.query1() + ") and " + g.query1()
	}
	return g.query1()
}

func (g *siteGenerator) query1() string {
	return g.pick("title", "tag", "tag", "message", "mode", "noop", "p1", "owner", "groups", "require", "nosuch") + " " + g.pick("==", "==", "!=") + " " +
		g.pick("'t1'", "'n0'", "'own'", "'a'", "'m'", "'/f0'", "true", "undef", "1", "'root'", "$role", "Stage['main']", "'c1'", "\"m${1}\"")
}

func (g *siteGenerator) resourceType() string {
	return g.pick("notify", "notify", "file", "file", "d", "e", "exec", "user", "m::d")
}

// statement returns one that may stand in a class. What fails often is rare.
func (g *siteGenerator) statement(depth int) string {
	typ := g.resourceType()
	capital := capitals(typ)
	switch n := g.IntN(200); {
	case n < 70:
		at := g.pick("", "", "", "", "@", "@@")
		if at == "@@" && !g.rarely(3) {
			at = "@"
		}
		bodies := g.bodies(typ)
		if at != "" && g.titles[typ] > 0 {
			g.virtuals = append(g.virtuals, capital+"['"+titleIn(typ, g.titles[typ]-1)+"']")
		}
		return at + typ + " { " + bodies + " }"
	case n < 78:
		return capital + " { " + strings.Join(slices.DeleteFunc(g.attributes(typ, 2), isSplat), ", ") + " }"
	case n < 82:
		return g.ref() + " { " + g.pick("noop => true", "tag +> 't3'", "loglevel => 'err'", "tag => 'x'", "message => 'o'", "mode => '0640'", "require +> Stage['main']") + " }"
	case n < 98:
		query := "<| " + g.query() + " |>"
		if g.rarely(10) {
			query = "<<| " + g.query() + " |>>"
		}
		return capital + " " + query + g.pick("", "", " { tag => q }", " { noop => true }", " { tag +> 'z' }", " { p1 => 'c' }", " { message => 'c', loglevel => 'err' }", " { require +> Stage['main'] }")
	case n < 112:
		operand := func() string {
			return g.pick(g.ref(), g.ref(), "["+g.ref()+", "+g.ref()+"]", capital+" <| "+g.query1()+" |>", "Class['m']", "notify { '"+g.fresh("notify")+"': }")
		}
		out := operand()
		for range 1 + g.IntN(2) {
			out += " " + g.pick("->", "~>", "<-", "<~") + " " + operand()
		}
		return out
	case n < 128:
		return g.pick("include", "contain", "require", "include") + " " + g.pick("c1", "c2", "c3", "m", "m::sub", "n", "n::x", "::m", "[m, n]", "c1, c3", "Class['c2']", "'n'", "[c3, ['m']]")
	case n < 130:
		return "realize(" + g.ref() + g.pick("", ", "+g.ref()) + ")"
	case n < 134:
		return fmt.Sprintf("class { '%s': %s }", g.pick("c1", "c2", "c3", "m", "n::x", "m::sub"), g.pick("", "noop => true", "tag => tt", "p1 => 'given'", "p1 => undef, p2 => 1", "require => Stage['main']", "stage => 'main'", "stage => 'pre'", "p2 => 'x', loglevel => 'err'"))
	case n < 138:
		attributes := slices.DeleteFunc(g.attributes("notify", 2), isSplat)
		return fmt.Sprintf("create_resources(%s, { '%s' => { %s } }%s)", g.pick("'notify'", "notify", "'@notify'", "'@@notify'"), g.fresh("notify"), strings.Join(attributes, ", "), g.pick("", ", { 'tag' => 'cr' }", ", { message => 'dflt' }"))
	case n < 140:
		return fmt.Sprintf("create_resources('class', { '%s' => { %s } })", g.pick("c2", "n", "m"), g.pick("", "'p1' => 'a'", "'tag' => 'x'"))
	case n < 143:
		return "tag(" + g.pick("'tg'", "'n::m', 'other'", "'Bad Tag!'", "['in', 'list']") + ")"
	case n < 147:
		return g.pick("warning", "notice", "info", "debug", "alert") + "(" + g.list(1, 2, func() string { return g.value(1) }) + ")"
	case n < 154 && depth > 0:
		return g.pick("[1, 2]", "['a', 'b']", "{ 'k' => 1 }", "$facts['list']", "Integer[1, 2]") + ".each |$i| {\n    " + g.pick("notify", "file", "user") + fmt.Sprintf(" { \"/l%d-${i}\": }", g.IntN(1000)) + "\n    " + g.statement(0) + "\n  }"
	case n < 160 && depth > 0:
		return "if " + g.value(1) + " {\n    " + g.statement(0) + "\n  }" + g.pick("", " else {\n    "+g.statement(0)+"\n  }", " elsif "+g.value(0)+" { "+g.statement(0)+" }")
	case n < 164 && depth > 0:
		return "case " + g.value(1) + " { " + g.value(0) + ": { " + g.statement(0) + " } default: { " + g.statement(0) + " } }"
	case n < 166 && depth > 0:
		return fmt.Sprintf("$h%d = @(%s)\n    text ${role} \\t\n      $list\n    |%s END\n", g.IntN(200), g.pick("END", "\"END\"", "END/t", "\"END\"/L"), g.pick("", "-"))
	case n < 168:
		return fmt.Sprintf("$x%d = %s", g.IntN(200), g.value(2))
	case n < 172:
		return fmt.Sprintf("Resource[%s] { '%s': }", g.pick("notify", "'file'", "'m::d'"), g.fresh("d"))
	case n < 173:
		return g.pick("fail('no')", "return()", "next()", "$p1 = 1", "nosuch('x')", "include nosuch", "nosuch { 'x': }", "m::f()", "m::d { 'bad': nosuch => 1 }", "class { 'm': nosuch => 1 }", "assert_type(Integer, 'x')", "$a = [1][1, 2, 3]", "Notify['nosuch'] -> Notify['n0']", "realize(Notify['nosuch'])", "contain", "fail()", "Class['c1'] { noop => true }", "break()")
	case n < 178:
		return "[" + g.list(1, 3, func() string { return "'" + g.fresh("m::d") + "'" }) + "].each |$t| { m::d { $t: p1 => $t } }"
	}
	return fmt.Sprintf("notify { '%s': message => %s }", g.fresh("notify"), g.value(2))
}

// main returns site.pp.
func (g *siteGenerator) main() string {
	var b strings.Builder
	g.vars = []string{"$role", "$facts", "$hostname"}
	if g.rarely(3) {
		fmt.Fprintf(&b, "$top = %s\n", g.value(2))
		g.vars = append(g.vars, "$top", "$::top")
	}
	if g.stages {
		b.WriteString("stage { 'pre': before => Stage['main'] }\n")
	}
	top := g.vars
	b.WriteString(g.class("c1", "") + g.class("c2", g.pick("", "c3", "m")) + "class c3 {\n  notify { 'in c3': }\n  " + g.statement(1) + "\n}\n")
	b.WriteString(g.define("d") + "define e($p1 = $title) {\n  notify { \"e${name}\": }\n  " + g.pick("", "d { \"e${name}\": p1 => $p1 }", "contain n::x", "realize(Notify['n0'])", "Notify <| title == $title |>") + "\n}\n")
	g.vars = top
	for range 1 + g.IntN(7) {
		b.WriteString(g.statement(1) + "\n")
	}
	if g.rarely(3) {
		g.vars = append(g.vars, "$nv")
		fmt.Fprintf(&b, "node %s {\n  $nv = %s\n  %s\n}\n", g.pick("default", "'node1.example.test'", "/^node\\d/", "'other', default", "default"), g.value(1), g.statement(1)+"\n  "+g.statement(1))
		if g.rarely(4) {
			b.WriteString("node " + g.pick("default", "'x'", "/example/") + " { notify { 'node': } }\n")
		}
	}
	return b.String()
}
