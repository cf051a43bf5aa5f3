package psych_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
)

// program answers lines of JSON: {"dump": value} with the bytes of YAML.dump,
// {"load": text} with the value or the message of the safe loader. Texts
// travel as base64 and values as lists that begin with their kind.
const program = `
require 'yaml'
require 'json'
require 'base64'
abort 'this Psych is not the one of the tests' unless Psych::VERSION >= '4.0' && Psych.libyaml_version == [0, 2, 5]

def build(x)
  kind, v = x
  case kind
  when 'nil' then nil
  when 'bool' then v
  when 'int' then Integer(v)
  when 'float' then v == 'NaN' ? Float::NAN : v == '+Inf' ? Float::INFINITY : v == '-Inf' ? -Float::INFINITY : Float(v)
  when 'str' then (s = Base64.decode64(v).force_encoding('UTF-8')).valid_encoding? ? s : s.b
  when 'sym' then Base64.decode64(v).force_encoding('UTF-8').to_sym
  when 'list' then v.map { |e| build(e) }
  when 'hash' then v.each_with_object({}) { |(k, e), h| h[build(k)] = build(e) }
  end
end

def show(x)
  case x
  when nil then ['nil']
  when true, false then ['bool', x]
  when Integer then ['int', x.to_s]
  when Float then ['float', x.nan? ? 'NaN' : x.infinite? ? (x > 0 ? '+Inf' : '-Inf') : x.to_s]
  when String then ['str', Base64.strict_encode64(x.b)]
  when Symbol then ['sym', Base64.strict_encode64(x.to_s.b)]
  when Array then ['list', x.map { |e| show(e) }]
  when Hash then ['hash', x.map { |k, e| [show(k), show(e)] }]
  else ['other', x.class.name]
  end
end

STDOUT.sync = true
STDIN.each_line do |line|
  ask = JSON.parse(line, max_nesting: false)
  begin
    answer =
      if ask.key?('dump')
        ['ok', Base64.strict_encode64(YAML.dump(build(ask['dump'])))]
      else
        text = Base64.decode64(ask['load']).force_encoding('UTF-8')
        ['ok', show(Psych.safe_load(text, permitted_classes: [Symbol], aliases: true, fallback: 'EMPTY'))]
      end
  rescue SystemStackError, StandardError, Psych::Exception => e
    answer = ['error', e.class.name, Base64.strict_encode64(e.message.b)]
  end
  puts JSON.generate(answer, max_nesting: false)
end
`

// A ruby is a running Ruby that answers questions one by one.
type ruby struct {
	in  *bufio.Writer
	out *bufio.Reader
}

// startRuby starts Ruby, or skips the test where there is none.
func startRuby(t *testing.T) *ruby {
	t.Helper()
	path, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("ruby is not installed: nothing to compare with")
	}
	cmd := exec.Command(path, "-W0", "-e", program)
	cmd.Env = append(cmd.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &ruby{bufio.NewWriter(in), bufio.NewReaderSize(out, 1<<20)}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	if _, err := r.ask(map[string]any{"dump": []any{"nil"}}); err != nil {
		cmd.Wait()
		t.Skipf("ruby cannot be compared with: %v: %s", err, stderr.String())
	}
	return r
}

// ask returns what Ruby answers: "ok" and a result, or "error", class, message.
func (r *ruby) ask(question any) ([]any, error) {
	b, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	r.in.Write(b)
	r.in.WriteByte('\n')
	if err := r.in.Flush(); err != nil {
		return nil, err
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var answer []any
	return answer, json.Unmarshal(line, &answer)
}

// show is the show of program.
func show(v data.Value) any {
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	switch v.Kind() {
	case data.Nil:
		return []any{"nil"}
	case data.Bool:
		return []any{"bool", v.Bool()}
	case data.Int, data.Big:
		return []any{"int", v.Text()}
	case data.Float:
		switch f := v.Float(); {
		case math.IsNaN(f):
			return []any{"float", "NaN"}
		case math.IsInf(f, 0):
			return []any{"float", fmt.Sprintf("%+v", f)}
		}
		return []any{"float", strings.TrimSuffix(strings.TrimPrefix(string(psych.Encode(v, "")), "--- "), "\n")}
	case data.String:
		return []any{"str", encode(v.Str())}
	case data.Symbol:
		return []any{"sym", encode(v.Str())}
	case data.List:
		l := []any{}
		for _, x := range v.List() {
			l = append(l, show(x))
		}
		return []any{"list", l}
	}
	h := []any{}
	for _, p := range v.Hash() {
		h = append(h, []any{show(p.Key), show(p.Value)})
	}
	return []any{"hash", h}
}

func text64(t *testing.T, x any) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(x.(string))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A source makes random values and texts.
type source struct{ *rand.Rand }

func (r source) pick(of []string) string { return of[r.IntN(len(of))] }

// atoms are pieces of which strings are made that mean something to someone.
var atoms = func() []string {
	l := strings.Split(`a b word yes No ON off y n Y ~ null NULL Null true False 0 1 12 017 089 0o17 0x1F 0b11 1_000 1,000 1e3 1.5 -1 +2 . .5 -. 1. .inf -.INF .NaN +.inf 10:20 10:20:30 1:70 1:2:3.5 2021-03-04 2021-3-4 2021-13-04 2021-02-30 2021-03-04T05:06:07Z 2021-03-04 05:06:07 - -- --- ... : :: :a ? ! !! & * # % @ ' " | > { } [ ] , < = / \ $ ^ ( ) ; _ << é ß 日本 😀 ÿ \u00a0 \u0085 \u2028 \u2029 \ufeff \u0300 \u00b2 Ⅷ ⓐ ‿ \t \r \x01 \x7f \x1b \x00`, " ")
	for i, a := range l {
		if s, err := strconv.Unquote(`"` + a + `"`); err == nil && len(a) > 1 {
			l[i] = s
		}
	}
	return append(l, " ", " ", " ", "  ", "\n", "\n", "\n\n", " \n", "\n ")
}()

func (r source) text() string {
	var b strings.Builder
	n := r.IntN(6)
	switch r.IntN(12) {
	case 0:
		n = 20 + r.IntN(60) // long enough to be folded
	case 1:
		n = 1
	}
	for range n {
		b.WriteString(r.pick(atoms))
		if r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
		if n > 10 && r.IntN(2) == 0 {
			b.WriteString(r.pick([]string{"lorem ", "ipsum", "dolor  ", "sit-amet ", "a ", "it's ", "\"quoted\" "}))
		}
	}
	return b.String()
}

func (r source) scalar() data.Value {
	switch r.IntN(16) {
	case 0:
		return data.Value{}
	case 1:
		return data.OfBool(r.IntN(2) == 0)
	case 2:
		return data.OfInt(r.Int64() >> r.IntN(64) * int64(1-2*r.IntN(2)))
	case 3:
		return data.OfFloat([]float64{0, 1, -1.5, 1e16, 1e15, 1e-4, 1e-5, 123456789.125, math.Inf(1), math.Inf(-1), math.NaN(), r.NormFloat64() * math.Pow10(r.IntN(40)-20)}[r.IntN(12)])
	case 4:
		i := new(big.Int).Lsh(big.NewInt(r.Int64()), uint(r.IntN(100)))
		return data.OfBig(i)
	case 5, 6:
		return data.OfSymbol(r.text())
	case 7:
		if r.IntN(4) == 0 {
			return data.OfString(r.text() + "\xff\xfe")
		}
	}
	return data.OfString(r.text())
}

func (r source) value(depth int) data.Value {
	n := r.IntN(4)
	if depth == 0 {
		return r.scalar()
	}
	switch r.IntN(4) {
	case 0:
		return r.scalar()
	case 1:
		l := make([]data.Value, n)
		for i := range l {
			l[i] = r.value(depth - 1)
		}
		return data.OfList(l)
	}
	var h []data.Pair
	for range n {
		k := r.scalar()
		if r.IntN(10) == 0 {
			k = r.value(depth - 1)
		}
		if k.Kind() == data.Float && math.IsNaN(k.Float()) {
			continue
		}
		p := data.Pair{Key: k, Value: r.value(depth - 1)}
		found := false
		for _, q := range h {
			found = found || data.Equal(q.Key, k)
		}
		if !found {
			h = append(h, p)
		}
	}
	return data.OfHash(h)
}

// Thousands of values are written with the bytes of Ruby's YAML.dump.
func TestEncodeLikeRuby(t *testing.T) {
	t.Parallel()
	r := startRuby(t)
	src := source{rand.New(rand.NewPCG(1, seed(t)))}
	bad := 0
	for range rounds(t) {
		v := src.value(src.IntN(4))
		answer, err := r.ask(map[string]any{"dump": show(v)})
		if err != nil {
			t.Fatal(err)
		}
		if answer[0] != "ok" {
			continue // Ruby cannot write it, such as a text for which its time parser fails
		}
		want := text64(t, answer[1])
		if got := string(psych.Encode(v, "")); got != want {
			t.Errorf("%v\ngot\n%q\nwant\n%q", v, got, want)
			if bad++; bad > 10 {
				t.FailNow()
			}
		}
	}
}

// pieces are what random documents are made of.
var pieces = []string{
	"a", "b", "key", "- ", "- ", "-", ": ", ": ", ":", "? ", "?", "\n", "\n", "\n", "\n  ", "\n  ", "\n    ", " ", "  ", "\t",
	"[", "]", "{", "}", ",", ", ", "'", "''", "\"", "\\n", "\\x41", "\\", "\\\n", "|", "|-\n", "|+\n", "|2\n", ">\n", ">-\n", ">1\n", "#", " # c\n",
	"&x ", "*x", "*y", "!", "! ", "!a ", "!!str ", "!!int ", "!!float ", "!<tag:yaml.org,2002:str> ", "!binary ", "!ruby/sym ", "!ruby/object:Hash ",
	"!e!x ", "%TAG !e! tag:x,\n", "%YAML 1.1\n", "--- ", "---\n", "...\n", "%", "@", "`", "~", "<<: ", "<<: *x", "<<: [*x, {a: 1}]",
	"12", "017", "1.5", ".5e+3", ".e+3", "0x_", "0b1", "10:20:30", "-1:30", "1:2.5", "yes", "No", "null", "é", "日本", "\u00a0", "\u0085", "\u2028", "\ufeff",
	"a: 1\n", "b: c\n", "- x\n", "key:\n  - a\n  - b\n", "k: v\n", "a: b: c", "\r\n", "\r", ":sym", ":\"a b\"", "'x y'", "\"p q\"", "\"a\n  b\"", "x\n  y", "!%41 ", "!a%", "\x01", "\xff", "\x00",
	"1_000", "1,000", "0,1", "2021-03-04", "2021-01-02 03:04:05 Z", "\\u263a", "\\U0001F600", "\\ud800", "\\/", "\\'", "\\_", "\\\t", "\\q",
}

func (r source) document() string {
	var b strings.Builder
	for range 1 + r.IntN(14) {
		b.WriteString(r.pick(pieces))
	}
	return b.String()
}

// rubyResult is what Decode gives, in the form of Ruby's answers.
func rubyResult(text string) string {
	doc, err := psych.Decode([]byte(text), psych.Limits{KeepBOM: true})
	if doc != nil {
		if f, ok := doc.Refused("Symbol"); ok {
			return "error " + f.Message("<unknown>")
		}
	}
	if err != nil {
		return "error " + psych.Message(err, "<unknown>")
	}
	if doc.Empty {
		return fmt.Sprint(show(data.OfString("EMPTY")))
	}
	return fmt.Sprint(show(doc.Value))
}

// Thousands of texts, broken ones mostly, are read as Ruby reads them: to the
// same value, or to the same message at the same position.
func TestDecodeLikeRuby(t *testing.T) {
	t.Parallel()
	r := startRuby(t)
	src := source{rand.New(rand.NewPCG(2, seed(t)))}
	bad, good := 0, 0
	for i := range rounds(t) {
		text := src.document()
		if i%4 == 0 {
			text = mutate(src, string(psych.Encode(src.value(3), "")))
		}
		answer, err := r.ask(map[string]any{"load": base64.StdEncoding.EncodeToString([]byte(text))})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(answer[1])
		if answer[0] != "ok" {
			want = text64(t, answer[2])
			if strings.Contains(want, "not allowed as an instance variable name") || strings.Contains(want, "stack level too deep") {
				continue // a string with odd instance variables, a value inside of itself
			}
			if answer[1] == "Psych::DisallowedClass" {
				want = "(<unknown>): " + want
			}
			want = "error " + want
		} else {
			good++
		}
		if got := rubyResult(text); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
			if bad++; bad > 10 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d documents were valid", good)
}

// mutate damages one byte or piece of text.
func mutate(r source, text string) string {
	at := r.IntN(len(text) + 1)
	end := min(len(text), at+r.IntN(3))
	return text[:at] + r.pick(pieces) + text[end:]
}

// libyaml decodes a text in pieces: errors in a later one are not seen if an
// earlier one fails or ends the document.
func TestBrokenBytesLikeRuby(t *testing.T) {
	t.Parallel()
	r := startRuby(t)
	long := strings.Repeat("- \u00e9aaaaaaaaaaaaa\n", 2000)
	for name, text := range map[string]string{
		"only":                     long + "\xff\n",
		"after an error":           "a: b: c\n" + long + "\xff\n",
		"after an error near it":   long + "a: b: c\n\xff\n",
		"after the first document": "a\n---\n" + long + "\xff\n",
		"at the start":             "\xffa\n",
		"incomplete":               long + "\xe2\x82",
		"overlong":                 "a: \xc0\x80",
		"surrogate":                "a: \xed\xa0\x80",
		"too large":                "a: \xf5\x80\x80\x80",
		"beyond the last":          "a: \xf4\x90\x80\x80",
		"trailing":                 "a: \xe2\x28\xa1",
		"nul":                      long + "\x00",
		"not a character":          "a: \uffff",
		"delete":                   "a: \x7f",
		"in quotes":                "a: \"" + strings.Repeat("\u00e9 ", 20000) + "\xff",
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := r.ask(map[string]any{"load": base64.StdEncoding.EncodeToString([]byte(text))})
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprint(answer[1])
			if answer[0] != "ok" {
				want = "error " + text64(t, answer[2])
			}
			if got := rubyResult(text); got != want {
				t.Errorf("got  %.200s\nwant %.200s", got, want)
			}
		})
	}
}
