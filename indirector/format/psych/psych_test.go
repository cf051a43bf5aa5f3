package psych_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
)

var (
	str = data.OfString
	num = data.OfInt
	sym = data.OfSymbol
)

func list(l ...data.Value) data.Value { return data.OfList(l) }

func hash(h ...data.Pair) data.Value { return data.OfHash(h) }

func bigInt(t *testing.T, s string) data.Value {
	t.Helper()
	i, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("no integer: %q", s)
	}
	return data.OfBig(i)
}

// Plain scalars get the types of Psych's patterns. Rule FMT-06.
func TestScalars(t *testing.T) {
	t.Parallel()
	yes, no, null := data.OfBool(true), data.OfBool(false), data.Value{}
	tests := []struct {
		text string
		want data.Value
	}{
		{"~", null},
		{"null", null},
		{"Null", null},
		{"NULL", null},
		{"", null},
		{"yes", yes},
		{"Yes", yes},
		{"on", yes},
		{"ON", yes},
		{"true", yes},
		{"TRUE", yes},
		{"no", no},
		{"off", no},
		{"False", no},
		{"y", str("y")},
		{"n", str("n")},
		{"Y", str("Y")},
		{"nope", str("nope")},
		{"truer", str("truer")},
		{"nulls", str("nulls")},
		{"0", num(0)},
		{"12", num(12)},
		{"+12", num(12)},
		{"-12", num(-12)},
		{"017", num(15)},
		{"-017", num(-15)},
		{"089", str("089")},
		{"0o17", str("0o17")},
		{"0x1F", num(31)},
		{"-0x1f", num(-31)},
		{"0b101", num(5)},
		{"0b2", str("0b2")},
		{"00", num(0)},
		{"1_000", num(1000)},
		{"1,000", num(1000)},
		{"1__0", str("1__0")},
		{"1_", str("1_")},
		{"0_", num(0)},
		{"9223372036854775807", num(math.MaxInt64)},
		{"-9223372036854775808", num(math.MinInt64)},
		{"9223372036854775808", bigInt(t, "9223372036854775808")},
		{"0x1FFFFFFFFFFFFFFFF", bigInt(t, "36893488147419103231")},
		{"10:20:30", num(37230)},
		{"1:30", num(5400)},
		{"-1:30", num(-1800)},
		{"1:60", str("1:60")},
		{"10:20:30.5", data.OfFloat(37230.5)},
		{"00:11:22:33:44:55", str("00:11:22:33:44:55")},
		{"1:2:3:4", str("1:2:3:4")},
		{"1.5", data.OfFloat(1.5)},
		{"1.", data.OfFloat(1)},
		{".5", data.OfFloat(.5)},
		{"-.5", data.OfFloat(-.5)},
		{"1_0.5", data.OfFloat(10.5)},
		{"1e3", str("1e3")},
		{"1.0e+3", data.OfFloat(1000)},
		{"1.0e3", str("1.0e3")},
		{"1.0E-3", data.OfFloat(.001)},
		{"1.e+3", data.OfFloat(1000)},
		{"1.2.3", str("1.2.3")},
		{".", str(".")},
		{"..", str("..")},
		{"1.0e+999", data.OfFloat(math.Inf(1))},
		{".inf", data.OfFloat(math.Inf(1))},
		{"+.INF", data.OfFloat(math.Inf(1))},
		{"-.Inf", data.OfFloat(math.Inf(-1))},
		{"inf", str("inf")},
		{":a", sym("a")},
		{`:"a b"`, sym("a b")},
		{":'a:b'", sym("a:b")},
		{"::a", sym(":a")},
		{"'12'", str("12")},
		{`"yes"`, str("yes")},
		{"! 12", num(12)},
		{"! '12'", num(12)},
		{"!!str 12", str("12")},
		{"!!int '12'", num(12)},
		{"!!float 12", data.OfFloat(12)},
		{"!binary aGk=", str("hi")},
		{"!!binary aGk", str("hi")},
		{"!ruby/sym a", sym("a")},
		{"!ruby/symbol '1'", sym("1")},
		{"!ruby/object:Foo 1", num(1)},
		{"!unknown 1", num(1)},
		{"2021-13-04", str("2021-13-04")},
		{"2021-1", str("2021-1")},
		{"1.2.3.4", str("1.2.3.4")},
		{"a b  c # d", str("a b  c")},
		{"a#b", str("a#b")},
		{"C:\\x", str("C:\\x")},
		{"http://x:1/y", str("http://x:1/y")},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			doc, err := psych.Decode([]byte("--- "+tt.text+"\n"), psych.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !data.Equal(doc.Value, tt.want) {
				t.Errorf("got %v (%v), want %v (%v)", doc.Value, doc.Value.Kind(), tt.want, tt.want.Kind())
			}
			if len(doc.Foreign) > 0 {
				t.Errorf("got foreign %v, want none", doc.Foreign)
			}
		})
	}
}

// Whole documents. Rule FMT-06.
func TestDocuments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		tag        string
		want       data.Value
	}{
		{"tag", "--- !ruby/object:Puppet::Node\nname: n\n", "Puppet::Node", hash(data.P("name", str("n")))},
		{"tag and trailing blank", "--- !ruby/object:Puppet::Node \nname: n\n", "Puppet::Node", hash(data.P("name", str("n")))},
		{"start with trailing blank", "--- \nname: n\n", "", hash(data.P("name", str("n")))},
		{"no start", "name: n\n", "", hash(data.P("name", str("n")))},
		{"byte order mark", "\ufeffname: n\n", "", hash(data.P("name", str("n")))},
		{"carriage returns", "name: n\r\nl:\r\n- a\r\n", "", hash(data.P("name", str("n")), data.P("l", list(str("a"))))},
		{
			"old symbols", "a: !ruby/sym b\n!ruby/sym _timestamp: Thu Jan 01 2012\n", "",
			hash(data.P("a", sym("b")), data.Pair{Key: sym("_timestamp"), Value: str("Thu Jan 01 2012")}),
		},
		{"duplicate keys", "a: 1\nb: 2\na: 3\n", "", hash(data.P("a", num(3)), data.P("b", num(2)))},
		{"aliases", "a: &x [1]\nb: *x\n", "", hash(data.P("a", list(num(1))), data.P("b", list(num(1))))},
		{
			"merge", "a: &x {p: 1, q: 2}\nb:\n  q: 0\n  <<: *x\n  r: 3\n", "",
			hash(data.P("a", hash(data.P("p", num(1)), data.P("q", num(2)))),
				data.P("b", hash(data.P("q", num(2)), data.P("p", num(1)), data.P("r", num(3))))),
		},
		{"merge of several", "<<: [{a: 1}, {a: 2, b: 3}]\n", "", hash(data.P("a", num(1)), data.P("b", num(3)))},
		{"merge of text", "<<: a\n", "", hash(data.P("<<", str("a")))},
		{"key of text", "!!str <<: {a: 1}\n", "", hash(data.P("<<", hash(data.P("a", num(1)))))},
		{"second document", "a\n--- [\n", "", str("a")},
		{"ordered map", "!!omap\n- a: 1\n- b: 2\n", "", hash(data.P("a", num(1)), data.P("b", num(2)))},
		{"literal", "a: |\n  x\n   y\n\n  z\nb: >-\n  x\n  y\n\n  z\n", "", hash(data.P("a", str("x\n y\n\nz\n")), data.P("b", str("x y\nz")))},
		{
			"folded plain and quoted", "a: x\n  y\n\n  z\nb: 'x\n  y\n\n  it''s'\nc: \"x \\\n  y\n\n  z\"\n", "",
			hash(data.P("a", str("x y\nz")), data.P("b", str("x y\nit's")), data.P("c", str("x y\nz"))),
		},
		{"complex key", "? [a, b]\n: c\n? x\n", "", hash(data.Pair{Key: list(str("a"), str("b")), Value: str("c")}, data.P("x", data.Value{}))},
		{"tag directive", "%TAG !r! !ruby/\n--- !r!object:A\nb: 1\n", "A", hash(data.P("b", num(1)))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := psych.Decode([]byte(tt.text), psych.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if doc.Tag != tt.tag || doc.Value.Inspect() != tt.want.Inspect() || !data.Equal(doc.Value, tt.want) {
				t.Errorf("got %q %v, want %q %v", doc.Tag, doc.Value, tt.tag, tt.want)
			}
			if bom := strings.HasPrefix(tt.text, "\ufeff"); doc.BOM != bom {
				t.Errorf("got byte order mark %v, want %v", doc.BOM, bom)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, "# a\n": true, " \n\n": true, "---\n": false, "~": false, "--- # a\n...\n": false} {
		doc, err := psych.Decode([]byte(text), psych.Limits{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if doc.Empty != want || !doc.Value.IsNil() {
			t.Errorf("%q: got empty %v, value %v, want empty %v", text, doc.Empty, doc.Value, want)
		}
	}
}

// What Ruby refuses is read and reported, with its position. Rules FMT-06,
// FMT-FACT-05, TERM-FILE-06.
func TestForeign(t *testing.T) {
	t.Parallel()
	const text = `--- !ruby/object:Puppet::Node::Facts
expiration: 2012-01-01 00:30:00.5 +00:00
name: n
values:
  !ruby/sym _timestamp: Thu Jan 01 2012
  list:
  - a
  - !ruby/object:OpenStruct
    table: 1
  day: 2012-01-01
`
	doc, err := psych.Decode([]byte(text), psych.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []psych.Foreign{
		{Class: "Time", Line: 2, Column: 13, Path: "expiration"},
		{Class: "OpenStruct", Line: 8, Column: 5, Path: "values.list[1]"},
		{Class: "Date", Line: 10, Column: 8, Path: "values.day"},
	}
	if len(doc.Foreign) != len(want) {
		t.Fatalf("got %v, want %v", doc.Foreign, want)
	}
	for i, f := range want {
		if doc.Foreign[i] != f {
			t.Errorf("got %v, want %v", doc.Foreign[i], f)
		}
	}
	if got := doc.Value.Get("expiration"); !data.Equal(got, str("2012-01-01 00:30:00.5 +00:00")) {
		t.Errorf("got expiration %v, want its text", got)
	}
	if got := doc.Value.Get("values").Get("list").List()[1].Get("table"); !data.Equal(got, num(1)) {
		t.Errorf("got %v, want the object's variable 1", got)
	}
	for _, tt := range []struct {
		permitted []string
		want      string
	}{
		{nil, "Puppet::Node::Facts"},
		{[]string{"Puppet::Node::Facts"}, "Time"},
		{[]string{"Puppet::Node::Facts", "Time"}, "Symbol"},
		{[]string{"Puppet::Node::Facts", "Time", "Symbol", "OpenStruct", "Date"}, ""},
	} {
		if got, refused := doc.Refused(tt.permitted...); got.Class != tt.want || refused != (tt.want != "") {
			t.Errorf("permitted %v: got %q, %v, want %q", tt.permitted, got.Class, refused, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, ours, puppet string }{
		{"a: b: c", "line 1 column 5: mapping values are not allowed in this context", "(f): mapping values are not allowed in this context at line 1 column 5"},
		{"a: \"b\n", "line 2 column 1: found unexpected end of stream while scanning a quoted scalar that began at line 1 column 4", "(f): found unexpected end of stream while scanning a quoted scalar at line 1 column 4"},
		{"a:\n\tb: 1", "line 2 column 1: found character that cannot start any token while scanning for the next token", "(f): found character that cannot start any token while scanning for the next token at line 2 column 1"},
		{"a: *b", `line 1 column 4: unknown alias "b"`, "Unknown alias: b"},
		{"a: &b [*b]", `line 1 column 8: alias "b" stands inside of its own anchor`, `line 1 column 8: alias "b" stands inside of its own anchor`},
		{"a: .e+3", `line 1 column 4: invalid value for Float(): "e+3"`, `invalid value for Float(): "e+3"`},
		{"a: \xff", "invalid leading UTF-8 octet", "(f): invalid leading UTF-8 octet at line 1 column 1"},
		{"a: \x01", "control characters are not allowed", "(f): control characters are not allowed at line 1 column 1"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			_, err := psych.Decode([]byte(tt.text), psych.Limits{})
			if err == nil {
				t.Fatal("got no error")
			}
			if err.Error() != tt.ours {
				t.Errorf("got  %s\nwant %s", err, tt.ours)
			}
			if got := psych.Message(err, "f"); got != tt.puppet {
				t.Errorf("got  %s\nwant %s", got, tt.puppet)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 10; i++ {
		before := string(rune('0' + i - 1))
		bomb += "a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat("*a"+before+",", 9) + "*a" + before + "]\n"
	}
	tests := []struct {
		name, text string
		limits     psych.Limits
		want       string
	}{
		{"billion laughs", bomb, psych.Limits{}, "aliases stand for more than 1048576 values"},
		{"deep flow", strings.Repeat("[", 1_000_000), psych.Limits{}, "nested deeper than 1000"},
		{"deep block", strings.Repeat("- ", 100_000), psych.Limits{}, "nested deeper than 1000"},
		{"deep mappings", strings.Repeat("{a: ", 100_000), psych.Limits{}, "nested deeper than 1000"},
		{"bytes", "aaaaaaaaaaa", psych.Limits{Bytes: 10}, "11 bytes of YAML: more than 10"},
		{"nodes", "[1,2,3,4]", psych.Limits{Nodes: 4}, "more than 4 values"},
		{"digits", strings.Repeat("1", 1_000_000), psych.Limits{}, "1000000 characters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := psych.Decode([]byte(tt.text), tt.limits)
			if !errors.Is(err, psych.ErrLimit) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// The writer beyond what Ruby's dump can be asked for. Rules FMT-05, FMT-09,
// FMT-FACT-04.
func TestAppend(t *testing.T) {
	t.Parallel()
	h := hash(data.P("a", str("b:c")), data.P("d", list(num(1), data.Value{})))
	tests := []struct {
		name  string
		value data.Value
		opts  psych.EncodeOptions
		want  string
	}{
		{"plain", h, psych.EncodeOptions{}, "---\na: b:c\nd:\n- 1\n-\n"},
		{"tag", h, psych.EncodeOptions{Tag: "A::B"}, "--- !ruby/object:A::B\na: b:c\nd:\n- 1\n-\n"},
		{"tag of an empty object", hash(), psych.EncodeOptions{Tag: "A"}, "--- !ruby/object:A {}\n"},
		{"several objects", list(h, hash()), psych.EncodeOptions{Tag: "A", Each: true}, "---\n- !ruby/object:A\n  a: b:c\n  d:\n  - 1\n  -\n- !ruby/object:A {}\n"},
		{"no objects", list(), psych.EncodeOptions{Tag: "A", Each: true}, "--- []\n"},
		{"colons", h, psych.EncodeOptions{QuoteColons: true}, "---\na: \"b:c\"\nd:\n- 1\n-\n"},
		{"colons of symbols", list(sym("a"), sym("b c: d")), psych.EncodeOptions{QuoteColons: true}, "---\n- \":a\"\n- \":b c: d\"\n"},
		{
			"members", hash(data.P("a", hash(data.P("b", num(1)))), data.P("c", hash())),
			psych.EncodeOptions{Tag: "A", Members: map[string]string{"a": "B", "c": "C"}},
			"--- !ruby/object:A\na: !ruby/object:B\n  b: 1\nc: !ruby/object:C {}\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := string(psych.Append([]byte("x"), tt.value, tt.opts)); got != "x"+tt.want {
				t.Errorf("got\n%s\nwant\nx%s", got, tt.want)
			}
		})
	}
}

// Nodes of yaml.v3 are typed as Psych does.
func TestResolve(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		want  data.Value
		class string
	}{
		{"yes", data.OfBool(true), ""},
		{"'yes'", str("yes"), ""},
		{"017", num(15), ""},
		{"0o17", str("0o17"), ""},
		{"1e3", str("1e3"), ""},
		{":a", sym("a"), ""},
		{"!!str 12", str("12"), ""},
		{"", data.Value{}, ""},
		{".e+3", str(".e+3"), ""},
		{"2021-03-04", str("2021-03-04"), "Date"},
		{"2021-03-04 05:06:07", str("2021-03-04 05:06:07"), "Time"},
		{"!ruby/regexp /a/", str("/a/"), "Regexp"},
		{"[1]", data.Value{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			var n yaml.Node
			if err := yaml.Unmarshal([]byte("\n key: "+tt.text+"\n"), &n); err != nil {
				t.Fatal(err)
			}
			v, foreign := psych.Resolve(n.Content[0].Content[1])
			if !data.Equal(v, tt.want) {
				t.Errorf("got %v, want %v", v, tt.want)
			}
			if tt.class == "" {
				if foreign != nil {
					t.Errorf("got %v, want nothing foreign", *foreign)
				}
				return
			}
			if foreign == nil || foreign.Class != tt.class || foreign.Line != 2 || foreign.Column != 7 {
				t.Errorf("got %v, want %s at line 2 column 7", foreign, tt.class)
			}
		})
	}
	if v, foreign := psych.Resolve(nil); !v.IsNil() || foreign != nil {
		t.Errorf("got %v, %v for no node", v, foreign)
	}
}

// FuzzDecode: no text makes the reader panic, and what was read is written so
// that the same is read again.
func FuzzDecode(f *testing.F) {
	src := source{rand.New(rand.NewPCG(3, 3))}
	for range 50 {
		f.Add([]byte(src.document()))
		f.Add(psych.Encode(src.value(3), ""))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := psych.Decode(text, psych.Limits{Aliases: 10_000})
		if err != nil {
			if psych.Message(err, "f") == "" || err.Error() == "" {
				t.Errorf("%q: an error without words", text)
			}
			return
		}
		if len(doc.Foreign) > 0 {
			return // a time is read as its text, which is then quoted
		}
		first := psych.Encode(doc.Value, doc.Tag)
		again, err := psych.Decode(first, psych.Limits{KeepBOM: true})
		if err != nil {
			t.Fatalf("%q\nwas written as\n%q\n%v", text, first, err)
		}
		if second := psych.Encode(again.Value, again.Tag); !bytes.Equal(first, second) && lossless(doc.Value) {
			t.Errorf("%q\nwas written as\n%q\nthen as\n%q", text, first, second)
		}
	})
}

// lossless reports whether Psych reads v as it was written.
func lossless(v data.Value) bool {
	switch v.Kind() {
	case data.Symbol:
		// :"a" and :'a' lose their quotes, ::a keeps one colon only if not quoted.
		return !strings.ContainsAny(v.Str(), "\"'\n") && v.Str() != ""
	case data.List:
		for _, x := range v.List() {
			if !lossless(x) {
				return false
			}
		}
	case data.Hash:
		for _, p := range v.Hash() {
			if !lossless(p.Key) || !lossless(p.Value) || p.Key.IsNil() {
				return false
			}
		}
	}
	return true
}

// What Psych 4 writes with the option indentation.
func TestIndent(t *testing.T) {
	t.Parallel()
	v := data.OfHash([]data.Pair{
		data.P("a", data.OfList([]data.Value{data.OfInt(1), data.OfHash([]data.Pair{
			data.P("b", data.OfInt(2)), data.P("c", data.OfList([]data.Value{data.OfInt(3)})),
		})})),
		data.P("t", data.OfString("x\ny\n")),
		data.P("s", data.OfString(" x\ny\n")),
		data.P("h", data.OfHash([]data.Pair{data.P("k", data.OfHash(nil))})),
	})
	got := string(psych.Append(nil, v, psych.EncodeOptions{Indent: 4}))
	want := "---\na:\n- 1\n-   b: 2\n    c:\n    - 3\nt: |\n    x\n    y\ns: |4\n     x\n    y\nh:\n    k: {}\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
