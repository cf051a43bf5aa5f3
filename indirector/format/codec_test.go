package format_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

// What Ruby's json 2.6.1 makes of a text, as Ruby inspects it; "" is an error.
func TestDecodeJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`42`: `42`, `"x"`: `"x"`, ``: ``, ` `: ``, `nul`: ``, `nullx`: ``, `[nullx]`: ``, `[truefalse]`: ``, `tru`: ``, `fals`: ``,
		`[1.]`: ``, `[01]`: ``, `[-]`: ``, `-`: ``, `[-a]`: ``, `[--1]`: ``, `[1-]`: ``, `[2e3-1]`: ``, `[1.0.0]`: ``, `[1.5e]`: ``, `[0x1]`: ``, `[.5]`: ``, `[+1]`: ``,
		`[-0]`: `[0]`, `[-0.0]`: `[-0.0]`, `[1e5]`: `[100000.0]`, `[1E+5]`: `[100000.0]`, `[1e05]`: `[100000.0]`, `[1.0E2]`: `[100.0]`,
		`[1e400]`: `[Infinity]`, `[-1e400]`: `[-Infinity]`, `[NaN]`: ``, `[Infinity]`: ``, `-Infinity`: ``,
		`[9223372036854775807]`: `[9223372036854775807]`, `[-9223372036854775808]`: `[-9223372036854775808]`,
		`[9223372036854775808]`: `[9223372036854775808]`, `[1234567890123456789012]`: `[1234567890123456789012]`,
		`["\q"]`: `["q"]`, `["\/"]`: `["/"]`, `["\é"]`: `["é"]`, `["\uZZZZ"]`: ``, `["\u00"]`: ``, `["\u"]`: ``, `["\`: ``, `["abc`: ``, "[\"\\\x01\"]": ``,
		`["\u00e9"]`: `["é"]`, `["\ud83d\ude00"]`: `["😀"]`, `["\ud800abcdefgh"]`: `["?bcdefgh"]`, `["\ud800\n123456789"]`: `["?n123456789"]`,
		`["\ud800\u0041"]`: `["𐁁"]`, `["\ud800\ud800"]`: `["𐀀"]`, `["\ud800\ud800\udc00"]`: `["𐀀\xED\xB0\x80"]`, `["\udc00"]`: `["\xED\xB0\x80"]`,
		`["\ud83d\u"]`: ``, `["\ud83d\uzzzz"]`: ``, `"\ud83dxxxxxx"`: `"?xxxxx"`, `"\ud83dx"`: ``, `["\ud800ab\"de"]`: `["?b\"de"]`, `["\ud800\"bcdef"]`: `["?\"bcdef"]`, `["\ud800\\bcdef"]`: `["?\bcdef"]`, `["x\udbff\"]`: ``,
		"[\"a\tb\"]": ``, "[\"a\x7fb\"]": `["a\u007Fb"]`, "[\"a\x00b\"]": ``, "[\"\xff\"]": `["\xFF"]`, "[1]\x00": ``, "\x00": ``,
		"// a\n1": `1`, `// a`: ``, `1 // a`: ``, `1 /* a`: ``, `1 /**/`: `1`, `[1,/* */2]`: `[1, 2]`, `{/**/"a"/**/:/**/1/**/}`: `{"a"=>1}`, `/[1]`: ``, `[1]/`: ``, `/**/`: ``, `[1]/*`: ``,
		`{"a":1,}`: ``, `[1,]`: ``, `[,1]`: ``, `[1 2]`: ``, `{"a" 1}`: ``, `{"a":1 "b":2}`: ``, `{1:2}`: ``, `{"a":}`: ``, `{"a":1]`: ``, `[1}`: ``, `{,}`: ``, `{"a"}`: ``,
		`[ ]`: `[]`, `{ }`: `{}`, "\f[1]": ``, "\u00a0[1]": ``, "\ufeff1": ``, " \t\r\n[ 1 , 2 ] ": `[1, 2]`, `{ "a" : 1 , "b" : 2 }`: `{"a"=>1, "b"=>2}`,
		`{"a":1,"b":2,"a":3}`: `{"a"=>3, "b"=>2}`, `{"a":1,"\u0061":2}`: `{"a"=>2}`, `{"":1,"":2}`: `{""=>2}`,
		strings.Repeat("[", 100) + strings.Repeat("]", 100): strings.Repeat("[", 100) + strings.Repeat("]", 100),
		strings.Repeat("[", 101) + strings.Repeat("]", 101): ``,
	} {
		v, err := format.DecodeJSON([]byte(text), format.Limits{})
		if got := v.Inspect(); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q: got %s, error %v, want %s", text, got, err, want)
		}
	}
}

func TestJSONKeepsTheLastOfManyKeys(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString(`{"k0":-1`)
	for i := range 300 {
		b.WriteString(`,"key number ` + hex.EncodeToString([]byte{byte(i % 200)}) + `":` + big.NewInt(int64(i)).String())
	}
	b.WriteString(`}`)
	v, err := format.DecodeJSON(b.Bytes(), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Len() != 201 || v.Hash()[1].Value.Int() != 200 || v.Get("key number c7").Int() != 199 {
		t.Errorf("got %d pairs, first %s", v.Len(), v.Hash()[1].Value)
	}
}

// What Puppet's PSON parser makes of a text; an error is in its words.
func TestDecodePSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`: `{}`, `[`: `[]`, `{"a":1,`: `{"a"=>1}`, `[1,`: `[1]`,
		`{"a":`: `expected value in object at ''!`, `{"a":1`: `expected ',' or '}' in object at ''!`, `[1`: `expected ',' or ']' in array at ''!`,
		`[1]x`: `source 'x' not in PSON!`, `[1] [2]`: `source '2]' not in PSON!`, `["\u0041\u0042"]`: `["AB"]`, `["\u7f7f"]`: `["罿"]`, `["\q"]`: `["q"]`,
		`["\u00e9"]`:       `Caught Encoding::InvalidByteSequenceError: incomplete "\xA9" on UTF-16BE`,
		`["\ud83d\ude00"]`: `["쎘㷃鸀"]`, `["\u8080"]`: `["슀슀"]`, `["\uffff\u0001"]`: `["쎿쎿\u0001"]`, `["\u00c3\u00a9"]`: `["Ã茀슩"]`, `["\ue9ab"]`: `["쎩슫"]`,
		`["\u12"]`: `Caught ArgumentError: wrong number of arguments (given 1, expected 0)`,
		`[01]`:     `expected ',' or ']' in array at '1]'!`, `[-]`: `unexpected token in array at '-]'!`, `[1.]`: `expected ',' or ']' in array at '.]'!`, `[.5]`: `unexpected token in array at '.5]'!`,
		`[1e5]`: `[100000.0]`, `[1E5]`: `[100000.0]`, `[-0]`: `[0]`, `[-0.0]`: `[-0.0]`, `[1e400]`: `[Infinity]`,
		"// x\n[1]": `[1]`, `// x`: `source '// x' not in PSON!`, `[1]// x`: `source '// x' not in PSON!`, `[1,/*a*/2]`: `[1, 2]`, `[1]/***/`: `source '/***/' not in PSON!`, `/* x`: `source '/* x' not in PSON!`, `[1]/* /* */`: `source '/* /* */' not in PSON!`,
		`[1 2]`: `expected ',' or ']' in array at '2]'!`, `{"a" 1}`: `expected ':' in object at '1}'!`, `{1:2}`: `unexpected token in object at '1:2}'!`, `[NaN]`: `unexpected token in array at 'NaN]'!`,
		``: `source did not contain any PSON!`, ` `: `source did not contain any PSON!`, `1`: `source '1' not in PSON!`, `["abc`: `unexpected token in array at '"abc'!`, `{"a":[}`: `unexpected token in array at '}'!`,
		`{"a":tru}`: `expected value in object at 'tru}'!`, "[\"a\tb\"]": "unexpected token in array at '\"a\tb\"]'!", `{"a":{`: `expected ',' or '}' in object at ''!`, `[[`: `expected ',' or ']' in array at ''!`,
		`[1,]`: `expected next element in array at ''!`, "[\"\xff\"]": `["\xFF"]`, `["\n\t\/\"\\"]`: `["\n\t/\"\\"]`, `{"a":1,"a":2}`: `{"a"=>2}`,
		strings.Repeat("[", 20): `nesting of 20 is too deep`,
	} {
		v, err := format.DecodePSON([]byte(text), format.Limits{})
		got := v.Inspect()
		if err != nil {
			got = err.Error()
		}
		if want == `["쎿쎿\u0001"]` {
			want = `["쎿쎿\x01"]`
		}
		if got != want && got != strings.ReplaceAll(want, `\x01`, `\u0001`) {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestMsgpack(t *testing.T) {
	t.Parallel()
	huge := new(big.Int).SetUint64(math.MaxUint64)
	ints := []int64{-1, -32, -33, -128, -129, -32768, -32769, 127, 128, 255, 256, 65535, 65536, 1<<32 - 1, 1 << 32}
	l := make([]data.Value, len(ints))
	for i, n := range ints {
		l[i] = data.OfInt(n)
	}
	for want, v := range map[string]data.Value{ // hex as Ruby's msgpack 1.4.2 writes it
		"9fffe0d0dfd080d1ff7fd18000d2ffff7fff7fcc80ccffcd0100cdffffce00010000ceffffffffcf0000000100000000": data.OfList(l),
		"cfffffffffffffffff":                              data.OfBig(huge),
		"cb3ff8000000000000":                              data.OfFloat(1.5),
		"d920" + strings.Repeat("61", 32):                 data.OfString(strings.Repeat("a", 32)),
		"bf" + strings.Repeat("61", 31):                   data.OfString(strings.Repeat("a", 31)),
		"da0100" + strings.Repeat("61", 256):              data.OfString(strings.Repeat("a", 256)),
		"82a4" + "6e616d65" + "a161" + "a676616c75657380": data.OfHash([]data.Pair{data.P("name", data.OfString("a")), data.P("values", data.OfHash(nil))}), // FMT-04
		"93c0c3c2":                          data.OfList([]data.Value{{}, data.OfBool(true), data.OfBool(false)}),
		"dc0010" + strings.Repeat("c0", 16): data.OfList(make([]data.Value, 16)),
	} {
		b, err := format.AppendMsgpack(nil, v)
		if err != nil || hex.EncodeToString(b) != want {
			t.Errorf("%s: got %x, error %v, want %s", v, b, err, want)
		}
		if back, err := format.DecodeMsgpack(b, format.Limits{}); err != nil || !data.Equal(back, v) {
			t.Errorf("%s: read back as %s, error %v", v, back, err)
		}
	}
	for in, want := range map[string]string{
		"8201020103": "{1=>3}", "ca3f800000": "1.0", "82a161c0": "end of buffer reached", "d4ff01": "unexpected extension type", "c1": "invalid byte",
		"2a2a": "1 extra bytes after the deserialized object", "ddffffffff": "end of buffer reached", "dfffffffff": "end of buffer reached", "dbffffffff": "end of buffer reached",
		"c403616263": `"abc"`, strings.Repeat("91", 128) + "c0": strings.Repeat("[", 128) + "nil" + strings.Repeat("]", 128), strings.Repeat("91", 129) + "c0": "stack level too deep",
	} {
		b, _ := hex.DecodeString(in)
		v, err := format.DecodeMsgpack(b, format.Limits{})
		got := v.Inspect()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if _, err := format.AppendMsgpack(nil, data.OfBig(new(big.Int).Lsh(huge, 1))); err == nil {
		t.Error("an integer beyond 64 bits was written")
	}
}

func TestAppendJSON(t *testing.T) {
	t.Parallel()
	deep := data.Value{}
	for range 101 {
		deep = data.OfList([]data.Value{deep})
	}
	for _, tt := range []struct {
		v          data.Value
		json, pson string // an error begins with "!"
	}{
		{data.OfString("a\x7f\u2028</script>\x1b/"), "\"a\x7f\u2028</script>\\u001b/\"", "\"a\x7f\u2028</script>\\u001b/\""},
		{data.OfString("\x00\x1f\b\f\n\r\t\"\\"), `"\u0000\u001f\b\f\n\r\t\"\\"`, `"\u0000\u001f\b\f\n\r\t\"\\"`},
		{data.OfString("\xff"), "!partial character in source, but hit end", "\"\xff\""},
		{data.OfString("\xffabcdefgh"), "!source sequence is illegal/malformed utf-8", "\"\xffabcdefgh\""},
		{data.OfString("\xed\xa0\x80"), "!source sequence is illegal/malformed utf-8", "\"\xed\xa0\x80\""},
		{data.OfFloat(math.Inf(1)), "!Infinity not allowed in JSON", "Infinity"},
		{data.OfFloat(math.NaN()), "!NaN not allowed in JSON", "NaN"},
		{data.OfFloat(1e20), "1.0e+20", "1.0e+20"},
		{data.OfFloat(-0.5), "-0.5", "-0.5"},
		{data.OfFloat(100), "100.0", "100.0"},
		{data.OfFloat(0), "0.0", "0.0"},
		{data.OfHash([]data.Pair{{Key: data.OfInt(1), Value: data.OfSymbol("b")}, {}, {Key: data.OfFloat(1.5)}}), `{"1":"b","":null,"1.5":null}`, `{"1":"b","":null,"1.5":null}`},
		{deep, "!nesting of 100 is too deep", strings.Repeat("[", 101) + "null" + strings.Repeat("]", 101)},
	} {
		for name, write := range map[string]func([]byte, data.Value) ([]byte, error){"json": format.AppendJSON, "pson": format.AppendPSON} {
			want := map[string]string{"json": tt.json, "pson": tt.pson}[name]
			b, err := write([]byte("x"), tt.v)
			got := strings.TrimPrefix(string(b), "x")
			if err != nil {
				got = "!" + err.Error()
			}
			if got != want {
				t.Errorf("%s of %.80s: got %s, want %s", name, tt.v, got, want)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, decode := range map[string]func([]byte, format.Limits) (data.Value, error){
		"json": format.DecodeJSON, "pson": format.DecodePSON,
	} {
		for _, tt := range []struct {
			text   string
			limits format.Limits
			want   string
		}{
			{"[1,2,3]", format.Limits{Bytes: 6}, "7 bytes are more than the limit of 6"},
			{"[1,2,3]", format.Limits{Items: 2}, "more than 2 elements, the limit"},
			{`[{"a":1},{"b":1}]`, format.Limits{Items: 3}, "more than 3 elements, the limit"},
			{"[[1]]", format.Limits{Depth: 1}, "nesting of 2 is too deep"},
			{"[" + strings.Repeat("1", 200_000) + "]", format.Limits{}, "an integer of 200000 digits is longer than the limit of 100000"},
		} {
			if _, err := decode([]byte(tt.text), tt.limits); err == nil || err.Error() != tt.want {
				t.Errorf("%s of %.20s: got %v, want %s", name, tt.text, err, tt.want)
			}
		}
	}
	if _, err := format.DecodeMsgpack([]byte{0x92, 1, 2}, format.Limits{Items: 1}); err == nil || err.Error() != "more than 1 elements, the limit" {
		t.Errorf("msgpack: got %v", err)
	}
}

// TestCountsWhileReading refuses lists and hashes that never end before they
// are held in memory.
func TestCountsWhileReading(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	decoders := map[string]func([]byte, format.Limits) error{
		"json":    func(b []byte, l format.Limits) error { _, err := format.DecodeJSON(b, l); return err },
		"pson":    func(b []byte, l format.Limits) error { _, err := format.DecodePSON(b, l); return err },
		"msgpack": func(b []byte, l format.Limits) error { _, err := format.DecodeMsgpack(b, l); return err },
		"yaml": func(b []byte, l format.Limits) error {
			f, _ := format.ByName("yaml")
			_, _, err := format.Intern(f, "facts", b, format.Options{Limits: l})
			return err
		},
	}
	list, hash := "["+strings.Repeat("0,", n), "{"+strings.Repeat(`"a":0,`, n)
	for _, tt := range []struct{ format, name, text string }{
		{"json", "list", list},
		{"json", "hash", hash},
		{"pson", "list", list},
		{"pson", "hash", hash},
		{"msgpack", "list", "\xdd\x00\x20\x00\x00" + strings.Repeat("\x00", 2*n-1) + "\xc1"},
		{"msgpack", "hash", "\xdf\x00\x10\x00\x00" + strings.Repeat("\xa1a\x00", n-1) + "\xc1"},
		{"yaml", "list", list},
		{"yaml", "hash", "{" + strings.Repeat("a: 0,", n)},
	} {
		decode := decoders[tt.format]
		if err := decode([]byte(tt.text), format.Limits{Items: 1000}); err == nil || !strings.Contains(err.Error(), "more than 1000 ") {
			t.Errorf("%s %s: got %v, want that there are too many elements", tt.format, tt.name, err)
		}
		var asked int64
		err := decode([]byte(tt.text), format.Limits{Grow: func(n int64) error {
			if asked += n; asked > 2<<20 {
				return errors.New("no room")
			}
			return nil
		}})
		if err == nil || !strings.Contains(err.Error(), "no room") {
			t.Errorf("%s %s: got %v after %d bytes, want that there is no room", tt.format, tt.name, err, asked)
		}
	}
}

func TestOwnedInputIsNotCopied(t *testing.T) {
	t.Parallel()
	b := append(make([]byte, 0, 64), `{"a\u0062":"c\nd"}`...)
	v, err := format.DecodeJSON(b, format.Limits{Own: true})
	if err != nil || v.Inspect() != `{"ab"=>"c\nd"}` {
		t.Fatalf("got %s, error %v", v, err)
	}
	b[2] = 'x'
	if v.Inspect() != `{"xb"=>"c\nd"}` {
		t.Errorf("the input was copied: %s", v)
	}
}

// Several instances are a list of them. Rules FMT-09, FMT-10.
func TestMultiple(t *testing.T) {
	t.Parallel()
	nodes := []indirector.Instance{&model.Node{Name: "a", Environment: "e"}, &model.Node{Name: "b", Environment: "e"}}
	for _, tt := range []struct{ format, want string }{
		{"json", `[{"name":"a","environment":"e"},{"name":"b","environment":"e"}]`},
		{"pson", `[{"name":"a","environment":"e"},{"name":"b","environment":"e"}]`},
		{"msgpack", "\x92\x82\xa4name\xa1a\xabenvironment\xa1e\x82\xa4name\xa1b\xabenvironment\xa1e"},
		{"yaml", "---\n- !ruby/object:Puppet::Node\n  name: a\n  environment: e\n- !ruby/object:Puppet::Node\n  name: b\n  environment: e\n"},
	} {
		f := mustFormat(t, tt.format)
		b, err := format.RenderMultiple(f, nodes)
		if err != nil || string(b) != tt.want {
			t.Errorf("%s: got %q, error %v, want %q", tt.format, b, err, tt.want)
		}
		for n := range len(nodes) + 1 {
			want, err := format.RenderMultiple(f, nodes[:n])
			var one bytes.Buffer
			l := format.NewListWriter(&one, f)
			for _, node := range nodes[:n] {
				err = errors.Join(err, l.Add(node))
			}
			if err = errors.Join(err, l.Close()); err != nil || one.String() != string(want) {
				t.Errorf("%s: %d one by one: got %q, error %v, want %q", tt.format, n, one.String(), err, want)
			}
		}
		back, _, err := format.InternMultiple(f, "node", b, format.Options{})
		if err != nil || len(back) != 2 || back[1].Key() != "b" {
			t.Errorf("%s: read back as %v, error %v", tt.format, back, err)
		}
		if _, _, err := format.InternMultiple(f, "node", []byte("{"), format.Options{}); err == nil || !strings.HasPrefix(err.Error(), "Could not intern_multiple from "+tt.format+": ") {
			t.Errorf("%s: got error %v", tt.format, err)
		}
	}
	if _, err := format.RenderMultiple(mustFormat(t, "binary"), nodes); err == nil {
		t.Error("a list of nodes was rendered to binary")
	}
	if err := format.NewListWriter(io.Discard, mustFormat(t, "binary")).Add(nodes[0]); err == nil {
		t.Error("a list of nodes was begun in binary")
	}
}

func TestByContentType(t *testing.T) {
	t.Parallel()
	if f, ok := format.ByContentType("application/json; charset=utf-8"); !ok || f.Name != "json" {
		t.Errorf("content type with parameters: got %v", f)
	}
}

const oldReport = `--- !ruby/object:Puppet::Transaction::Report
  metrics:
    time: !ruby/object:Puppet::Util::Metric
      name: time
      label: Time
      values:
        - - total
          - Total
          - 0.25
  logs:
    - !ruby/object:Puppet::Util::Log
      level: !ruby/sym info
      message: Applying configuration version '1305000000'
      source: Puppet
      tags:
        - info
      time: 2011-05-10 04:05:06.123456 -07:00
      version: &id001 2.6.8
  host: n1
  time: 2011-05-10 04:05:06.123456 -07:00
  kind: apply
  report_format: 2
  puppet_version: *id001
  status: changed
  resource_statuses:
    "File[/tmp/a]": !ruby/object:Puppet::Resource::Status
      resource: File[/tmp/a]
      resource_type: File
      title: /tmp/a
      time: 2011-05-10 04:05:06.123456 -07:00
      change_count: 1
      events:
        - !ruby/object:Puppet::Transaction::Event
          property: ensure
          name: !ruby/sym file_created
          previous_value: !ruby/sym absent
          status: success
          message: created
          time: 2011-05-10 04:05:06.123456 -07:00
`

// Rule FMT-REP-08: reports of format 2, which Puppet 7 cannot load, are shown.
func TestOldReportIsReadLeniently(t *testing.T) {
	t.Parallel()
	f := mustFormat(t, "yaml")
	if _, _, err := format.InternFile(f, "report", "r.yaml", []byte(oldReport), format.Options{}); err == nil || !strings.HasPrefix(err.Error(), "(r.yaml): Tried to load unspecified class: ") {
		t.Errorf("as Puppet: got error %v", err)
	}
	i, notes, err := format.InternFile(f, "report", "r.yaml", []byte(oldReport), format.Options{Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	r := i.(*model.Report)
	if r.Host != "n1" || r.Format != 2 || r.Logs[0].Level != "info" || r.Metrics[0].Values.List()[0].List()[2].Float() != 0.25 ||
		r.Statuses[0].Events[0].Name != "file_created" || r.Time.String() != "2011-05-10T04:05:06.123456000-07:00" {
		t.Errorf("got %+v", r)
	}
	if len(notes) == 0 {
		t.Error("no note says that Puppet refuses it")
	}
}

func TestPlainMappingIsReadLeniently(t *testing.T) {
	t.Parallel()
	f, text := mustFormat(t, "yaml"), []byte("name: n\nvalues: {a: 1}\n")
	if i, notes, err := format.InternFile(f, "facts", "x", text, format.Options{}); err != nil || model.ClassOf(i) != nil || len(notes) != 1 { // TERM-FILE-05
		t.Errorf("as Puppet: got %T, notes %q, error %v", i, notes, err)
	}
	i, notes, err := format.InternFile(f, "facts", "x", text, format.Options{Lenient: true}) // FMT-06
	if err != nil || i.Key() != "n" || model.ClassOf(i) == nil || len(notes) != 1 {
		t.Errorf("leniently: got %T, notes %q, error %v", i, notes, err)
	}
}

func TestOldCatalogIsReported(t *testing.T) {
	t.Parallel()
	old := "--- !ruby/object:Puppet::Resource::Catalog\nresource_table: {}\nvertices: {}\n"
	_, _, err := format.InternFile(mustFormat(t, "yaml"), "catalog", "c.yaml", []byte(old), format.Options{Lenient: true})
	if err == nil || !strings.Contains(err.Error(), "Puppet 3 or older") { // FMT-CAT-08
		t.Errorf("got error %v", err)
	}
}

func TestRichValuesOfUnknownTypesAreKept(t *testing.T) {
	t.Parallel()
	text := `{"type":"A","title":"a","tags":[],"exported":false,"parameters":{"x":{"__ptype":"My::Thing","y":{"__ptype":"Pcore::IntegerType","from":1}}}}`
	i, notes, err := format.Intern(mustFormat(t, "json"), "resource", []byte(text), format.Options{})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "My::Thing") {
		t.Fatalf("got notes %q, error %v", notes, err)
	}
	if b, err := format.Render(mustFormat(t, "json"), i); err != nil || string(b) != text {
		t.Errorf("got %s, error %v", b, err)
	}
}

func TestTextFormats(t *testing.T) {
	t.Parallel()
	node := &model.Node{Name: "n", Environment: "e", Parameters: data.OfHash([]data.Pair{data.P("b", data.OfList([]data.Value{data.OfInt(1), data.OfHash([]data.Pair{data.P("c", data.OfString("d"))})}))})}
	for _, tt := range []struct{ format, want string }{
		{"console", "environment  \"e\"\nname         \"n\"\nparameters   {\"b\":[1,{\"c\":\"d\"}]}\n"},
		{"console odd", "{\n  \"a\": {\n    \"x\": [\n      1,\n      {\n      }\n    ],\n    \"z\": [\n\n    ]\n  }\n}"},
		{"flat", "name=n\nenvironment=e\nparameters.b.0=1\nparameters.b.1.c=d\n"},
	} {
		v, _ := model.ToData(node)
		name, odd := strings.CutSuffix(tt.format, " odd")
		if odd { // a key that is a symbol
			x := data.OfList([]data.Value{data.OfInt(1), data.OfHash(nil)})
			v = data.OfHash([]data.Pair{{Key: data.OfSymbol("a"), Value: data.OfHash([]data.Pair{data.P("x", x), data.P("z", data.OfList(nil))})}})
		}
		b, err := format.Render(mustFormat(t, name), &model.Raw{Value: v})
		if err != nil || string(b) != tt.want {
			t.Errorf("%s: got %q, error %v, want %q", tt.format, b, err, tt.want)
		}
	}
}

func TestWriteStreamsContents(t *testing.T) {
	t.Parallel()
	var w bytes.Buffer
	f := &model.FileContent{Path: "/a", Contents: model.Bytes("bytes \xff")}
	if err := format.Write(&w, mustFormat(t, "binary"), f); err != nil || w.String() != "bytes \xff" {
		t.Errorf("got %q, error %v", w.String(), err)
	}
}

// Input that was made to be slow is read in time that grows with its length.
func TestHostileInputIsNotSlow(t *testing.T) {
	t.Parallel()
	const n = 40_000
	var keys, tags strings.Builder
	keys.WriteString(`{"x":0`)
	tags.WriteString(`{"type":"A","title":"a","tags":["x"`)
	for i := range n {
		fmt.Fprintf(&keys, `,"aaaaaaaa%07dbbbbbbbb":%d`, i, i) // first and last eight bytes agree
		fmt.Fprintf(&tags, `,"t%d"`, i)
	}
	keys.WriteString(`}`)
	tags.WriteString(`]}`)
	var took time.Duration
	for range 5 { // the machine may be busy with something else, but not all the time
		start := time.Now()
		v, err := format.DecodeJSON([]byte(keys.String()), format.Limits{})
		if err != nil || v.Len() != n+1 {
			t.Errorf("keys: got %d, error %v", v.Len(), err)
		}
		i, _, err := format.Intern(mustFormat(t, "json"), "resource", []byte(tags.String()), format.Options{})
		if err != nil || len(i.(*model.Resource).Tags) != n+1 {
			t.Errorf("tags: error %v", err)
		}
		if took = time.Since(start); took <= 10*time.Second {
			return
		}
	}
	t.Errorf("it took %s", took) // quadratic work takes minutes
}

// A shrinking file loses its end between opening and reading.
type shrinking string

func (s shrinking) Size() int64 { return -1 }

func (s shrinking) Open() (io.ReadCloser, error) {
	f, err := os.Open(string(s))
	return cut{f}, err
}

type cut struct{ *os.File }

func (c cut) Read(b []byte) (int, error) {
	if err := os.Truncate(c.Name(), 10); err != nil {
		return 0, err
	}
	return c.File.Read(b)
}

// A part of a file is not written as if it were the whole.
func TestWriteShrinking(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	for _, to := range []func(io.Writer) io.Writer{
		func(w io.Writer) io.Writer { return w },
		func(w io.Writer) io.Writer { return struct{ io.Writer }{w} },
	} {
		if err := os.WriteFile(path, make([]byte, 5000), 0o600); err != nil {
			t.Fatal(err)
		}
		var w bytes.Buffer
		err := format.Write(to(&w), mustFormat(t, "binary"), &model.FileContent{Path: path, Contents: shrinking(path)})
		if err == nil || !strings.Contains(err.Error(), "the file became shorter while it was read: 10 of 5000 bytes") || w.Len() != 10 {
			t.Errorf("got %v after %d bytes", err, w.Len())
		}
	}
}
