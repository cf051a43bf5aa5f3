package types_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A generator writes random types and values of the language.
type generator struct{ *rand.Rand }

func (g generator) pick(all ...string) string { return all[g.IntN(len(all))] }

// size returns the bounds of a size, or nothing.
func (g generator) size() string {
	return g.pick("", "", "", ", 0", ", 1", ", 2", ", 0, 0", ", 0, 1", ", 1, 2", ", 2, 3", ", default, 2")
}

func (g generator) bounds() string {
	return g.pick("", "", "[0]", "[1]", "[1, 5]", "[default, 3]", "[-2, 2]", "[3, 3]", "[6, 9]")
}

func (g generator) scalarType() string {
	switch g.IntN(22) {
	case 0, 1, 2:
		return "Integer" + g.bounds()
	case 3:
		return "Float" + g.pick("", "[0.5]", "[1, 2]", "[default, 1.5]", "[1.5, 1.5]")
	case 4, 5:
		return "String" + g.pick("", "[0]", "[1]", "[1, 1]", "[2, 3]", "[0, 2]", "[Integer[1, 2]]")
	case 6, 7:
		return "Enum" + g.pick("", "['a']", "['a', 'b']", "['b', 'abc']", "['A', true]", "['x', 'Y', true]", "['', 'a']")
	case 8:
		return "Pattern" + g.pick("", "[/a/]", "[/^a/, /b$/]", `[/\A[a-c]+\z/]`)
	case 9:
		return "Boolean" + g.pick("", "[true]", "[false]")
	case 10:
		return "Regexp" + g.pick("", "[/a/]", "[/b/]")
	case 11:
		return g.pick("SemVer", "SemVer['1.x']", "SemVer['>=1.0.0 <2.0.0']", "SemVer['1.2.3']", "SemVerRange")
	case 12:
		return "Timestamp" + g.pick("", "['2020-01-01']", "['2020-01-01', '2021-01-01']", "[default, '2021-01-01']")
	case 13:
		return "Timespan" + g.pick("", "[1]", "[1, 90]", "[default, '1:00:00']")
	case 14:
		return g.pick("Undef", "Default", "Binary", "URI", "URI['http://a.test/x']", "Any")
	case 15:
		return g.pick("Class", "Class['a']", "Class['b']", "File", "File['/x']", "File['/y']", "Resource", "CatalogEntry", "Notify['x']")
	case 16:
		return g.pick("Data", "RichData", "RichDataKey")
	}
	return g.pick("Numeric", "Scalar", "ScalarData", "Any", "Undef", "Data")
}

func (g generator) types(depth, least, most int) []string {
	var out []string
	for range least + g.IntN(most-least+1) {
		out = append(out, g.typ(depth-1))
	}
	return out
}

func (g generator) structType(depth int) string {
	var members []string
	for i := range g.IntN(4) {
		name := "'" + string("abc"[i]) + "'"
		members = append(members, fmt.Sprintf(g.pick("%s", "%s", "Optional[%s]", "NotUndef[%s]"), name)+" => "+g.typ(depth-1))
	}
	return "Struct[{" + strings.Join(members, ", ") + "}]"
}

func (g generator) callable(depth int) string {
	params := strings.Join(g.types(depth, 0, 2), ", ")
	if params == "" {
		params = g.pick("0, 0", "1", "default")
	} else {
		params += g.pick("", "", ", 0, 2", ", 1", ", 1, 1")
	}
	params += g.pick("", "", "", ", Callable[Integer]", ", Optional[Callable]")
	if g.IntN(3) == 0 {
		return "Callable[[" + params + "], " + g.typ(depth-1) + "]"
	}
	return "Callable[" + params + "]"
}

// typ returns the text of a type.
func (g generator) typ(depth int) string {
	if depth <= 0 {
		return g.scalarType()
	}
	switch g.IntN(18) {
	case 0, 1:
		return "Array[" + g.typ(depth-1) + g.size() + "]"
	case 2, 3:
		return "Hash[" + g.pick("String", "String[1]", "Enum['a', 'b']", "Scalar", g.typ(depth-1)) + ", " + g.typ(depth-1) + g.size() + "]"
	case 4, 5:
		return "Tuple[" + strings.Join(g.types(depth, 1, 3), ", ") + g.size() + "]"
	case 6, 7:
		return g.structType(depth)
	case 8, 9:
		return "Variant[" + strings.Join(g.types(depth, 1, 3), ", ") + "]"
	case 10, 11:
		return "Optional[" + g.typ(depth-1) + "]"
	case 12:
		return g.pick("NotUndef", "Iterable", "Type", "Sensitive", "Iterator") + "[" + g.typ(depth-1) + "]"
	case 13:
		return g.pick("Array", "Hash", "Tuple", "Struct", "Variant", "Optional", "NotUndef", "Iterable", "Iterator", "Type", "Sensitive", "Callable", "Collection", "Collection[1]", "Collection[0, 2]", "Array[1, 2]", "Hash[0, 0]", "Array[0, 0]")
	case 14:
		return g.callable(depth)
	case 15:
		return "Init[" + g.pick("Integer", "Float", "Boolean", "String", "Array", "Hash", "Numeric", "Timespan", "Integer, 16") + "]"
	}
	return g.scalarType()
}

func (g generator) scalar() string {
	return g.pick("0", "1", "2", "5", "-3", "7", "42", "0.5", "1.5", "-2.25", "1e20", "true", "false", "undef", "default",
		"''", "'a'", "'b'", "'abc'", "'A'", "'héé'", "'5'", "'0x1f'", "'1.5'", "'yes'", "'x y'", `"a\nb"`, `'it\'s'`,
		"/a/", "/b/", "Integer", "Integer[1, 5]", "Enum['a', 'b']", "String", "File['/x']", "Class['a']",
		"Sensitive('a')", "Sensitive(5)", "SemVer('1.2.3')", "SemVer('2.0.0')", "Timestamp('2020-06-01')", "Timespan(60)", "Binary('aGk=')", "URI('http://a.test/x')")
}

// value returns the text of a value.
func (g generator) value(depth int) string {
	var parts []string
	switch n := g.IntN(10); {
	case depth <= 0 || n < 4:
		return g.scalar()
	case n < 7:
		for range g.IntN(4) {
			parts = append(parts, g.value(depth-1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		odd := g.IntN(4) == 0
		for i := range g.IntN(4) {
			key := "'" + string("abc"[i]) + "'"
			if odd {
				key = []string{"1", "''", "true"}[i]
			}
			parts = append(parts, key+" => "+g.value(depth-1))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
}

func (g generator) format() string {
	if g.IntN(5) == 0 {
		return "{" + g.pick("Integer", "Numeric", "Scalar", "Any", "String", "Float") + " => '" + g.plainFormat() + "', " +
			g.pick("Array => '%#a'", "Array => '%#"+g.pick("", "(", " ", "<")+g.pick("", "1", "5", "20")+"a'", "Array => '%#a', Hash => '%# h'", "Array => {format => '%#5a', separator => '"+g.pick(",", " ", ";  ")+"', string_formats => {"+g.pick("Integer", "String", "Any", "Numeric", "Scalar")+" => '"+g.plainFormat()+"'}}", "Hash => {format => '%#h', separator => ' ;', string_formats => {String => '%s', Any => '%p'}}, Array => '%#3a'", "Array => {format => '%(a', separator => '; '}", "Hash => {format => '%#h', separator2 => ': '}", "Boolean => '%y'", "Hash => '%a'") + "}"
	}
	return "'" + g.plainFormat() + "'"
}

func (g generator) plainFormat() string {
	return "%" + g.pick("", "", "", "#", "+", "-", "0", " ", "(", "[", "#+", "#0") + g.pick("", "", "", "3", "8", "12") + g.pick("", "", "", ".0", ".2", ".5") +
		g.pick("d", "x", "X", "o", "b", "B", "e", "E", "f", "g", "G", "s", "p", "a", "h", "c", "C", "u", "t", "T", "y", "Y", "A", "D", "v")
}

// parametrized returns a type with parameters that it may not take.
func (g generator) parametrized() string {
	name := g.pick("Integer", "Float", "String", "Enum", "Pattern", "Boolean", "Regexp", "SemVer", "Timestamp", "Timespan", "Collection", "Array", "Hash", "Tuple",
		"Struct", "Variant", "Optional", "NotUndef", "Iterable", "Iterator", "Type", "Sensitive", "Init", "Callable", "Class", "Resource", "File", "Runtime",
		"Numeric", "Any", "Undef", "Data", "Binary", "Default", "CatalogEntry", "Scalar", "URI")
	args := make([]string, 1+g.IntN(3))
	for i := range args {
		switch g.IntN(5) {
		case 0, 1:
			args[i] = g.typ(1)
		case 2:
			args[i] = g.value(1)
		default:
			args[i] = g.scalar()
		}
	}
	return name + "[" + strings.Join(args, ", ") + "]"
}

// subject returns a text for a regular expression.
func (g generator) subject() string {
	var b strings.Builder
	for range g.IntN(6) {
		b.WriteString(g.pick("a", "b", "ab", "A", "0", "9f", "é", " ", `\n`, `\t`, "_", "-", ".", "]", "É", "/", "[", "^"))
	}
	return `"` + b.String() + `"`
}

// expression returns a regular expression.
func (g generator) expression(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		part := g.pick("a", "b", ".", "^", "$", `\A`, `\z`, `\Z`, `\h`, `\H`, `\d`, `\w`, `\W`, `\s`, `\S`, `\R`, "[ab]", "[^a]", "[a-z0-9_]", "[[:alpha:]]", "[[:upper:][:digit:]]",
			"[^[:space:]]", `[\h.]`, `[\]a]`, `\.`, `\/`, "é", "(?i:a)", "(?m:.)", "(?#x)", "(?<n>b)", `[\-a]`, `\t`, "[^\\n]")
		if depth > 0 && g.IntN(3) == 0 {
			part = g.pick("(", "(?:", "(?i:", "(?m-i:") + g.expression(depth-1) + g.pick("", "|"+g.expression(depth-1)) + ")"
		}
		b.WriteString(part)
		if !strings.HasSuffix(part, "^") && !strings.HasSuffix(part, "$") && !strings.HasSuffix(part, "x)") {
			b.WriteString(g.pick("", "", "", "?", "*", "+", "{1,2}", "*?"))
		}
	}
	return b.String()
}

// directives returns a format of times, and a text that may be of it. What is between the
// directives is the same in both, but for a few.
func (g generator) directives(all map[string][]string, joints ...string) (format, text string) {
	names := slices.Sorted(maps.Keys(all))
	for range 1 + g.IntN(5) {
		name := g.pick(names...)
		joint := g.pick(joints...)
		format += name + joint
		text += g.pick(all[name]...) + joint
	}
	if g.IntN(8) == 0 {
		text += g.pick("x", " ", "0", "-")
	}
	return format, g.pick("", "", "", "-") + text
}

var spanTexts = map[string][]string{
	"%D": {"1", "12", "400"}, "%H": {"1", "02", "23", "99", "100"}, "%-H": {"1", "10"}, "%_H": {" 1", "12", "  3"}, "%M": {"5", "59", "75"}, "%3M": {"005", "120"},
	"%-2M": {"7", "07"}, "%_3S": {"  5", " 45"}, "%S": {"0", "59", "61"}, "%L": {"5", "050", "999"}, "%-L": {"1", "25"}, "%N": {"1", "000000001", "5"}, "%3N": {"120"}, "%-3N": {"12"},
	"%%": {"%"}, "%Q": {"1"}, "%": {"%"}, "%--D": {"1"}, "%05": {"5"},
}

var stampTexts = map[string][]string{
	"%Y": {"2020", "1999", "0001", "-5", "20201"}, "%m": {"1", "02", "12", "13"}, "%d": {"1", " 2", "31", "32"}, "%e": {"9", " 9"}, "%H": {"0", "05", "24", "25"}, "%I": {"1", "12", "13"},
	"%M": {"0", "59", "60"}, "%S": {"1", "60"}, "%L": {"5", "500", "5000"}, "%N": {"1", "123456789", "1234567891"}, "%p": {"am", "PM", "a.m.", "x"}, "%b": {"Jan", "february", "MAR", "foo"},
	"%B": {"May", "december"}, "%a": {"Mon", "tuesday"}, "%y": {"20", "69", "68", "7"}, "%C": {"19", "20"}, "%z": {"+0100", "-05:30", "UTC", "CET", "nope"}, "%Z": {"GMT", "+1", "EST"},
	"%j": {"1", "366", "367"}, "%F": {"2020-02-03", "2021-12-31"}, "%T": {"01:02:03", "24:00:00"}, "%D": {"02/03/20"}, "%R": {"11:12"}, "%s": {"100"}, "%%": {"%"}, "%k": {" 7", "17"},
	"%l": {" 7", "11"}, "%r": {"01:02:03 PM"}, "%u": {"1", "8"}, "%n": {" ", ""}, "%q": {"%q"}, "%::z": {"+01:00:00"},
}

// time returns an expression that reads a time in a format.
func (g generator) time() string {
	if g.IntN(2) == 0 {
		format, text := g.directives(spanTexts, ":", "-", ".", " ", "", "x")
		return "Timespan(" + g.pick("'"+text+"', '"+format+"'", "'"+text+"', ['%Q', '"+format+"']", "'"+text+"', ['"+format+"', '%H:%M']", "{string => '"+text+"', format => '"+format+"'}") + ")"
	}
	format, text := g.directives(stampTexts, "-", "/", ":", " ", "")
	if g.IntN(3) > 0 {
		format, text = "%Y "+format, "2021 "+text
	}
	zone := g.pick("", "", "", ", 'CET'", ", '+02:00'", ", 'nope'")
	return "Timestamp(" + g.pick("'"+text+"', '"+format+"'"+zone, "'"+text+"', ['%F', '"+format+"']"+zone, "{string => '"+text+"', format => '"+format+"'}", "{string => '2020-01-02 03:04:05', timezone => 'EST'}") + ")"
}

// made returns an expression that makes a rich value.
func (g generator) made() string {
	text := g.pick("'1.2.3'", "'1.2.3-rc1'", "'1.0.0+b'", "'01.2.3'", "''", "'>=1.0.0'", "'1.x || 2.x'", "'http://a.test:80/x?y#z'", "'mailto:a@b'", "'aGVsbG8='", "'aGVsbG8'", "'h\u00e9'", "'a.b[c]'", "'a('", g.scalar())
	args := g.pick("", "", ", true", ", '%s'", ", '%b'", ", '%u'", ", '%r'", ", 2", ", 2, 3", ", 2, 3, 'a'", ", SemVer('2.0.0')", ", default", ", SemVer('2.0.0'), true")
	hash := g.pick("{major => 1, minor => 2, patch => 3}", "{major => 1, minor => 2, patch => 3, prerelease => 'a', build => 'b'}", "{min => SemVer('1.0.0'), max => default}",
		"{min => SemVer('1.0.0'), max => SemVer('2.0.0'), exclude_max => true}", "{value => 'aGk='}", "{value => [1, 255]}", "{value => [256]}", "{scheme => 'http', host => 'a', port => 8080, path => '/x'}",
		"{scheme => 'mailto', opaque => 'a@b'}", "{foo => 1}", "{days => 1, negative => true}", "{hours => 25, nanoseconds => 5}", "[1, 2, 255]", "[300]")
	t := g.pick("SemVer", "SemVerRange", "URI", "Binary", "Regexp", "Type", "Sensitive", "Timespan", "Timestamp", "Init[SemVer]", "Init[Timespan]", "Init[Binary]", "Init[URI]", "Optional[SemVer]", "Variant[SemVer, String]")
	if g.IntN(2) == 0 {
		return t + "(" + hash + ")"
	}
	return t + "(" + text + args + ")"
}

// features returns members of a definition.
func (g generator) features() string {
	var attributes []string
	for _, name := range []string{"a", "b", "c", "k"}[:g.IntN(4)+1] {
		switch g.IntN(6) {
		case 0:
			options := g.pick("", ", value => "+g.scalar(), ", value => 1", ", kind => constant, value => 1", ", kind => derived", ", kind => given_or_derived", ", kind => reference", ", final => true", ", final => false", ", bogus => 1")
			attributes = append(attributes, name+" => {type => "+g.pick("Integer", "Scalar", "Any", g.scalarType())+options+g.pick("", "", ", override => true")+"}")
		case 1, 2, 3:
			attributes = append(attributes, name+" => "+g.pick("Integer", "Scalar", "String", "Optional[Integer]"))
		}
	}
	parts := []string{"attributes => {" + strings.Join(attributes, ", ") + "}"}
	for _, part := range []string{
		"constants => {" + g.pick("d", "a") + " => 1}", "functions => {" + g.pick("f", "a") + " => " + g.pick("Callable", "Callable[Integer]", "{type => Callable, override => true}", "Integer") + "}",
		"equality => " + g.pick("[]", "[a]", "a", "[a, b]", "[d]", "[f]"), "equality_include_type => " + g.pick("true", "false"), "type_parameters => {" + g.pick("k", "a", "z") + " => " + g.pick("Scalar", "{type => Any}", "1") + "}",
		"annotations => {}", "checks => 1", "bogus => 1",
	} {
		if g.IntN(7) == 0 {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// objects returns a program with Object types, and a question about them.
func (g generator) objects() string {
	arguments := func() string {
		if g.IntN(3) == 0 {
			return "({" + g.pick("", "a => 1", "a => 1, b => 'x'", "b => 2, a => 'y', c => true", "k => 'k'", "a => 1, k => 'k'") + "})"
		}
		return "(" + g.pick("", "1", "'x'", "1, 2", "1, 'x'", "1, 2, 3", "'k'", "1, undef") + ")"
	}
	types := "type P = Object[{" + g.features() + "}] type Q = Object[{" + g.pick("parent => P, ", "parent => P, ", "") + g.features() + "}] "
	question := g.pick("P", "Q", "Q <= P", "P <= Q", "type(P"+arguments()+")", "Q"+arguments(), "Q"+arguments()+" == Q"+arguments(), "P"+arguments()+" == Q"+arguments(), "Q"+arguments()+" =~ P",
		"P"+arguments()+" =~ P["+g.scalar()+"]", "P["+g.scalar()+"]", "[P, Q]", "Array[Q]", "assert_type(P, Q"+arguments()+")", "assert_type(Q, P"+arguments()+")", "assert_type(P, "+g.scalar()+")", "String(Q"+arguments()+")",
		"P"+arguments()+" =~ RichData", "type([P"+arguments()+", Q"+arguments()+"], "+g.pick("reduced", "generalized")+")", "Q <= Object", "Variant[P, Q]", "Q"+arguments()+".a", "P == Q")
	// Real Puppet keeps what was defined before.
	suffix := strconv.Itoa(g.IntN(1e9))
	return ownNames.ReplaceAllString(types+question, "${1}"+suffix)
}

// readAlike matches types whose wrong parameters we describe as Puppet does when it reads a
// text; others are rare.
var readAlike = regexp.MustCompile(`\A(?:Integer|Float|String|Enum|Pattern|Boolean|Regexp|SemVer|Collection|Struct|Variant|Optional|NotUndef|Iterable|Iterator|Type|Sensitive|Numeric|Any|Undef|Data)\[[^\[\]]*\]\z`)

var ownNames = regexp.MustCompile(`\b([PQ])\b`)

// question returns an expression about types.
func (g generator) question() string {
	switch g.IntN(17) {
	case 16:
		return g.objects()
	case 15:
		return g.time()
	case 14:
		return g.made()
	case 13:
		return g.subject() + " =~ " + "Pattern[/" + g.expression(2) + "/]"
	case 12:
		if text := g.parametrized(); g.IntN(2) == 0 && !strings.ContainsAny(text, `'"`) && readAlike.MatchString(text) {
			return "Type('" + text + "')"
		}
		return g.parametrized()
	case 0, 1, 2:
		return g.typ(2) + " <= " + g.typ(2)
	case 3, 4:
		return g.value(2) + " =~ " + g.typ(2)
	case 5, 6:
		return "assert_type(" + g.typ(2) + ", " + g.value(2) + ")"
	case 7:
		return "type(" + g.value(3) + ", " + g.pick("detailed", "reduced", "generalized") + ")"
	case 8:
		return g.typ(3)
	case 9:
		t := g.pick("Integer", "Float", "Numeric", "Boolean", "Array", "Hash", "String", "Integer[1, 5]", "Array[Integer]", "Tuple[Integer, String]", "Optional[Integer]", "Init[Integer]", "Init[Float]", "Init[Array]", "NotUndef[Float]", "Sensitive", g.typ(1))
		return t + ".new(" + g.value(2) + g.pick("", "", "", "", ", true", ", false", ", 16", ", 'tree'") + ")"
	case 10:
		return "String(" + g.value(2) + ")"
	}
	return "String(" + g.value(2) + ", " + g.format() + ")"
}
