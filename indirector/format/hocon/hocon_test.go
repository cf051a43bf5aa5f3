package hocon_test

import (
	"testing"

	"indirtui/indirector/format"
	"indirtui/indirector/format/hocon"
)

// The values are those of Ruby's library hocon 1.3.1.
func TestHOCON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"a = 1", `{"a":1}`},
		{"a: {b: 1}\na: {c: 2}", `{"a":{"c":2,"b":1}}`},
		{"a.b.c = 3\na.b.d = 4", `{"a":{"b":{"d":4,"c":3}}}`},
		{"a = [1,2]\na = ${a} [3]", `{"a":[1,2,3]}`},
		{"a = [1]\na += 2", `{"a":[1,2]}`},
		{"a = foo bar ${b} baz\nb = 5", `{"a":"foo bar 5 baz","b":5}`},
		{"a = ${?x}\nb=2", `{"b":2}`},
		{"a = \"\"\"x\n\"y\" \"\"\"", `{"a":"x\n\"y\" "}`},
		{"a = 1\na = {b: 2}", `{"a":{"b":2}}`},
		{"a = {x: 1}\nb = ${a} {y: 2}", `{"a":{"x":1},"b":{"y":2,"x":1}}`},
		{"a = 10 s\nb = 1.50\nc = 1e3\nd = 007", `{"a":"10 s","b":1.5,"c":1000,"d":7}`},
		{"a = true\nb = \"true\"\nc = null\nd = yes", `{"a":true,"b":"true","c":null,"d":"yes"}`},
		{"# c\n// d\na = 1 # x\nb = 2 // y", `{"a":1,"b":2}`},
		{"a = [1\n2\n3]", `{"a":[1,2,3]}`},
		{"a = [1,2,]", `{"a":[1,2]}`},
		{"a = {b: ${c}}\nc = {d: ${e}}\ne = 7", `{"a":{"b":{"d":7}},"c":{"d":7},"e":7}`},
		{"a {b = 1}\na.b = 2", `{"a":{"b":2}}`},
		{"path = \"/bin\"\npath = ${path}\":/usr/bin\"", `{"path":"/bin:/usr/bin"}`},
		{"a b = 3", `{"a b":3}`},
		{"a = x\"y\"z", `{"a":"xyz"}`},
		{"\"a.b\" = 1\n\"a.b\".c = 2", `{"a.b":{"c":2}}`},
		{"a = ${?x} 5", `{"a":" 5"}`},
		{"a = 5 ${?x}", `{"a":"5 "}`},
		{"a = [${?x}, 1]", `{"a":[1]}`},
		{"b = {x: {y: 1}}\nb = ${b} {x: {z: 2}}", `{"b":{"x":{"z":2,"y":1}}}`},
		{"a = 1 2", `{"a":"1 2"}`},
		{"a.1 = x", `{"a":{"1":"x"}}`},
		{"a = []\nb = {}", `{"a":[],"b":{}}`},
		{"", `{}`},
	} {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			v, err := hocon.Decode(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := format.AppendJSON(nil, v)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	for _, text := range []string{
		`a = ${b}
b = ${a}`,
		"a = ${nope}",
		`include "x"`,
		"a = ",
		"a = {",
		"a = [1",
		`a = -5
b = +5`,
		"a=http://x.y/z",
	} {
		if v, err := hocon.Decode(text); err == nil {
			t.Errorf("%q: got %v", text, v)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"k = 1", "k = ${k}", "a = [${?b}] [1]", "a {b = ${a.c}, c = 2}", "k += 2", "include x", "{", "a = \"\"\"x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { _, _ = hocon.Decode(text) })
}
