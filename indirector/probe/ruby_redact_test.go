package probe_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/redact"
)

// rubyRedacts asks the probe to redact texts and, where they are JSON, values.
// Texts are in base64, one a line.
const rubyRedacts = `
require ARGV[0] + '/probe.rb'
IndirtuiProbe::Redact.salt = 'salt'
STDIN.binmode
STDOUT.binmode
require 'json'
STDIN.each_line do |line|
  kind, text = line.split(' ')
  text = text.to_s.unpack('m')[0].force_encoding('UTF-8')
  if kind == 'text'
    out = IndirtuiProbe::Redact.text(text)
  else
    out = IndirtuiProbe::Values.json(IndirtuiProbe::Redact.value(JSON.parse(text, :max_nesting => false))[0])
  end
  STDOUT.write([out].pack('m0') + "\n")
end
`

// ruby returns the Ruby that tests run, and skips without one.
func ruby(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("there is no ruby here")
	}
	return path
}

func probeDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("ruby")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// redactedByRuby returns what the probe makes of texts, or of JSON documents.
func redactedByRuby(t testing.TB, kind string, texts []string) []string {
	t.Helper()
	var in bytes.Buffer
	for _, s := range texts {
		fmt.Fprintf(&in, "%s %s\n", kind, base64.StdEncoding.EncodeToString([]byte(s)))
	}
	cmd := exec.Command(ruby(t), "-w", "-e", rubyRedacts, probeDir(t))
	var problems strings.Builder
	cmd.Stdin, cmd.Stderr = &in, &problems
	out, err := cmd.Output()
	if err != nil || problems.Len() > 0 {
		t.Fatalf("ruby: %v\n%s", err, problems.String())
	}
	var got []string
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		b, err := base64.StdEncoding.DecodeString(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(b))
	}
	if len(got) != len(texts) {
		t.Fatalf("%d answers to %d texts", len(got), len(texts))
	}
	return got
}

func salted() *redact.Redactor { return redact.New(redact.Rules{Salt: []byte("salt")}) }

type redactCase struct{ Text, Redacted, Secret string }

// redactCases are those of indirector/redact, with what each becomes; "redacted" is
// empty where nothing is a secret.
func redactCases(t testing.TB) []redactCase {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "redact", "testdata", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []redactCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// The probe passes the cases of indirector/redact, forty planted secrets among
// them.
func TestRubyRedactsCases(t *testing.T) {
	t.Parallel()
	cases := redactCases(t)
	var texts []string
	for _, c := range cases {
		texts = append(texts, c.Text)
	}
	for i, got := range redactedByRuby(t, "text", texts) {
		want := cases[i].Redacted
		if want == "" {
			want = cases[i].Text
		}
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", cases[i].Text, got, want)
		}
	}
}

// pieces are what texts with secrets consist of, and what stands between them.
var pieces = strings.Split("password|passwd|token|secret|private_key|DB_PASSWORD|apiKey|x::token|Authorization|cookie|db_pass|pwd|sig|?|&|=|:|=>|==|::| |  |\n|\r\n|\t|\"|'|\\|\\\"|{|}|[|]|<|>|(|)|-|--|,|;|/|://|https://|u:p@h|@|%20|%3D|%22|+|eyJ|.|"+
	"ghp_|AKIA|$6$|$1$x$|{SSHA}|Basic dXNlcjpwYXNz|Bearer |mysql -p|curl -u a:b|redis-cli -a x|-----BEGIN RSA PRIVATE KEY-----|-----END RSA PRIVATE KEY-----|machine h login x password y|"+
	"IDENTIFIED BY|rocommunity|true|null|12|hunter2|hunter-2_3.4|k3J9xQ0vLm2Tn8RbYc5Wd7Zf1Hg4Ps6Ua0Ei9oXq|é|ü|changed |export |- |#|x|y z|facts=eN|(masked token, 3 B, tag 0000)|*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19", "|")

// Whatever the text, the probe makes of it what Go makes of it.
func TestRubyRedactsLikeGo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 20_000 {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		texts = append(texts, b.String())
	}
	differ := 0
	m := salted()
	for i, got := range redactedByRuby(t, "text", texts) {
		want, _ := m.Text(texts[i])
		if got != strings.ToValidUTF8(want, "\ufffd") {
			if differ++; differ < 10 {
				t.Errorf("%q\n got %q\nwant %q", texts[i], got, want)
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d differ", differ, len(texts))
	}
}

// Values, too.
func TestRubyRedactsValuesLikeGo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var value func(depth int) any
	text := func() string { return strings.ToValidUTF8(pieces[r.IntN(len(pieces))]+pieces[r.IntN(len(pieces))], "") }
	value = func(depth int) any {
		switch n := r.IntN(12); {
		case n < 3 && depth > 0:
			l := make([]any, r.IntN(5))
			for i := range l {
				l[i] = value(depth - 1)
			}
			return l
		case n < 6 && depth > 0:
			h := map[string]any{}
			for range r.IntN(5) {
				h[text()] = value(depth - 1)
			}
			switch r.IntN(8) {
			case 0:
				h["__ptype"], h["__pvalue"] = "Sensitive", text()
			case 1:
				h["parameters"], h["sensitive_parameters"] = map[string]any{"content": value(1), "mode": "0644"}, []any{"content"}
			case 2:
				h["property"], h["desired_value"], h["message"] = "password", text(), text()
			case 3:
				h["redacted"], h["message"] = true, text()
			case 4:
				h["__ptype"], h["__pvalue"] = "Hash", []any{"token", text(), 1, text()}
			}
			return h
		case n == 6:
			return r.IntN(1000)
		case n == 7:
			return []any{nil, true, false, 1.5}[r.IntN(4)]
		case n == 8:
			return []any{"mysql", "-u", "root", "-p" + text(), text()}
		}
		return text()
	}
	var docs []string
	for range 5000 {
		b, err := json.Marshal(value(4))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, string(b))
	}
	differ := 0
	m := salted()
	for i, got := range redactedByRuby(t, "json", docs) {
		in, err := format.DecodeJSON([]byte(docs[i]), format.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := m.Value(in)
		have, err := format.DecodeJSON([]byte(got), format.Limits{})
		if err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if !data.Equal(have, want) {
			if differ++; differ < 10 {
				t.Errorf("%s\n got %s\nwant %s", docs[i], have.Inspect(), want.Inspect())
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d differ", differ, len(docs))
	}
}

// rubyFiles returns the files of the probe.
func rubyFiles(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{"*.rb", "server/*.rb"} {
		names, err := filepath.Glob(filepath.Join(probeDir(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(b)
		}
	}
	return files
}
