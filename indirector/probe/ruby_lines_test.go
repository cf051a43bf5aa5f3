package probe_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
)

// words are those of a closed list of traces.
func words[T interface {
	~uint8
	String() string
}](kind string) []string {
	var all []string
	for i := range 256 {
		name := T(i).String()
		if strings.HasPrefix(name, kind+"(") {
			break
		}
		all = append(all, name)
	}
	return all
}

var wordLists = map[string][]string{
	"step": words[traces.Step]("Step"), "is": words[traces.Answer]("Answer"), "why": words[traces.Reason]("Reason"), "by": words[traces.SourceKind]("Source"),
	"kind": words[traces.Kind]("Kind"), "out": words[traces.Outcome]("Outcome"), "served": words[traces.Served]("Served"), "verb": words[traces.Verb]("Verb"),
	"setby": words[traces.SourceKind]("Source"), "csetby": words[traces.SourceKind]("Source"), "pstep": words[traces.Step]("Step"),
}

// checkWords fails for every word of a trace that traces does not know.
func checkWords(t *testing.T, l *listener) {
	t.Helper()
	var check func(key string, v any)
	check = func(key string, v any) {
		switch v := v.(type) {
		case map[string]any:
			span := v["kind"] != nil // its answer is a text
			for k, x := range v {
				if !(span && k == "is") {
					check(k, x)
				}
			}
		case []any:
			for _, x := range v {
				check(key, x)
			}
		case string:
			if list := wordLists[key]; list != nil && !slices.Contains(list, v) {
				t.Errorf("%q is no %s", v, key)
			}
		}
	}
	for _, m := range append(l.all("trace"), l.all("route")...) {
		check("", m.of)
	}
}

// What a probe writes is a recording: the store reads its lines as they are, with
// the candidates of each route in the place of its number.
func TestRubyLinesAreARecording(t *testing.T) {
	t.Parallel()
	l := listenHere(t, &listener{})
	l.script(t, `
indirection = Puppet::Probed.indirection
indirection.cache_class = :store
on('a') { find('b') ; Puppet.warning('careful') ; Puppet.warning('careful') ; Puppet::Probed.new('a') }
on('bad') { raise ArgumentError, 'broken' }
on('cached odd') { raise 'cannot be read' }
on('none') { nil }
find('a', :environment => 'production', :transaction_uuid => '8ebfc1d0-4c5c-4ef6-a5b1-2f4a9dbea9a8', :more => 'x')
find('a')
find('bad') rescue 0
find('odd')
find('none')
find('old', :ignore_terminus => true)
indirection.save(Puppet::Probed.new('c'))
indirection.search('d')
indirection.destroy('c')
indirection.expire('a')
`)
	l.check(t, 1)
	checkWords(t, l)
	routes := map[int]string{}
	for _, m := range l.all("route") {
		i := strings.Index(m.raw, `"primary":`)
		routes[m.num("route")] = strings.TrimSuffix(strings.TrimSpace(m.raw[i:]), "}")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "{\"indirtui\":1,\"started\":%q,\"source\":\"attached\"}\n", time.Now().UTC().Format(time.RFC3339Nano))
	number := regexp.MustCompile(`"route":(\d+)`)
	for _, m := range l.all("trace") {
		b.WriteString(number.ReplaceAllString(m.raw, routes[m.num("route")]))
	}
	path := filepath.Join(t.TempDir(), "attached.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := store.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for done, total := s.Loading(); done < total; done, total = s.Loading() {
		<-s.Changed()
	}
	if notes := s.Notes(); len(notes) > 0 {
		t.Errorf("the store has problems with them: %v\n%s", notes, b.String())
	}
	got := map[string]*traces.Trace{}
	for _, m := range l.all("trace") {
		tr, err := s.Trace(uint64(m.num("trace")))
		if err != nil {
			t.Fatalf("%v: %s", err, m.raw)
		}
		got[tr.Verb.String()+" "+tr.Key] = tr
		if want, _ := traces.ParseOutcome(m.text("out")); traces.Judge(tr) != want {
			t.Errorf("the outcome is %s, and traces.Judge finds %s: %s", want, traces.Judge(tr), m.raw)
		}
		if tr.Primary.Winner().Terminus == "" || tr.Primary.Winner().Source == "" {
			t.Errorf("who set the terminus? %s", m.raw)
		}
	}
	for name, want := range map[string]string{
		"find bad":  "raised raised(broken)",
		"find odd":  "ok returned",
		"find none": "nil nil",
		"save c":    "written written",
	} {
		if tr := got[name]; tr == nil || tr.Steps[traces.Terminus].Answer.String()+" "+tr.Steps[traces.Terminus].Because.String() != want {
			t.Errorf("%s: %+v", name, tr)
		}
	}
	if b := got["find b"]; b.Parent == 0 || b.ParentStep != traces.Terminus {
		t.Errorf("b is asked by a, at its terminus: %+v", b)
	}
}

// A key of a megabyte, escapes, bytes that are no text, objects whose methods raise
// or never return: nothing of it breaks a request or a line, and nothing raw leaves.
func TestRubyHostile(t *testing.T) {
	t.Parallel()
	l := listenHere(t, &listener{ready: func(send func(string)) { send(`{"values":"on"}`) }})
	out := l.script(t, `
class Raises
  %w[to_s inspect name to_str hash == to_data_hash expiration respond_to? class to_sym].each { |m| define_method(m) { |*a| raise NotImplementedError, 'never' } }
end
class Sleeps
  def to_s ; sleep ; end
  def inspect ; sleep ; end
  def to_data_hash ; sleep ; end
end
class Spins < StandardError
  def message ; loop { } ; end
end
class Odd < String
  def to_s ; raise 'odd' ; end
  def encoding ; raise 'odd' ; end
  def bytesize ; -1 ; end
  def hash ; raise 'odd' ; end
  def =~(x) ; raise 'odd' ; end
end
class Bare < BasicObject
end
class Code < Puppet::Indirector::Request
end
ANSWERS = {}
class Puppet::Probed::Script
  def find(request)
    a = ANSWERS[request.options[:n]]
    a ? a.call : Puppet::Probed.new('x', request.options[:text])
  end
end
n = 0
texts = ["\e[31mred\e]0;title\a", "\xff\xfe\x00", "a\u202eb\u200bc", "\u{1f600}\u{e0001}", "line\nline\r\n\t\"quoted\" \\ ", "k" * 1_000_000, "\u00e4" * 500_000,
         "caf\xe9".dup.force_encoding('ISO-8859-1'), "\xd8\x3d".dup.force_encoding('UTF-16BE'), "\x80".dup.force_encoding('BINARY'), Odd.new('odd'), '', "\0", "{\"trace\":1}\n{\"bye\":1}"]
objects = [Sleeps.new, 12, 1.5, nil, :sym, [1, [2]], { 1 => Sleeps.new }, Bare.new, Time.now]
texts.each do |text|
  Puppet::Probed.indirection.find('key ' + String.new(text).force_encoding('BINARY').force_encoding('UTF-8'), :text => text, :n => n) rescue puts "#{$!.class} #{$!.message[0, 100]}"
  ANSWERS[n += 1] = lambda { raise ArgumentError, text }
  begin
    Puppet::Probed.indirection.find('raises', :n => n)
    puts 'no error'
  rescue ArgumentError
  end
end
objects.each do |o|
  begin
    Puppet::Probed.indirection.find('object', :more => o, :text => 'x')
  rescue StandardError
    puts "#{$!.class} #{$!.message[0, 100]}"
  end
  ANSWERS[n += 1] = lambda { o }
  Puppet::Probed.indirection.find('answer', :n => n) rescue 0
end
begin
  ANSWERS[n += 1] = lambda { raise Spins }
  Puppet::Probed.indirection.find('spins', :n => n)
rescue Spins
  puts 'spun'
end
ANSWERS[n += 1] = lambda { Raises.new }
begin
  Puppet::Probed.indirection.find('hostile answer', :n => n)
rescue NotImplementedError # Puppet itself asks it for its expiration
  puts 'refused'
end
100.times { |i| Puppet.warning("log \e[1m#{i}\xff") }
puts 'end'
`)
	if !strings.HasSuffix(out, "spun\nrefused\nend\n") || strings.Contains(out, "no error") {
		t.Errorf("Puppet got %q", out)
	}
	l.wait(t, "bye", func(m *message) bool { return m.is("bye") }) // what others raise counts as a fault of the probe
	for _, key := range []string{"answer", "raises", "object", "spins", "hostile answer"} {
		if !slices.ContainsFunc(l.all("trace"), func(m message) bool { return m.text("key") == key }) {
			t.Errorf("there is no request %q", key)
		}
	}
	for _, p := range l.problems {
		t.Error(p)
	}
	checkWords(t, l)
	raw := l.raw()
	for i, r := range raw {
		if r != '\n' && !traces.Shows(r) {
			t.Fatalf("%U leaves the process: %.100q", r, raw[max(0, i-50):])
		}
	}
	if !strings.Contains(raw, `\u001b[31mred`) {
		t.Error("the escapes are not there at all")
	}
}

// Secrets do not leave: not in keys, options, errors, log lines, values, URLs.
func TestRubyKeepsSecrets(t *testing.T) {
	t.Parallel()
	var planted []string
	var secrets []string
	for _, c := range redactCases(t) {
		if c.Secret != "" && strings.HasPrefix(c.Secret, "Hunter2") {
			planted, secrets = append(planted, c.Text), append(secrets, c.Secret)
		}
	}
	if len(planted) < 40 {
		t.Fatalf("%d secrets are planted", len(planted))
	}
	b, err := json.Marshal(planted)
	if err != nil {
		t.Fatal(err)
	}
	l := listenHere(t, &listener{
		ready: func(send func(string)) {
			send(`{"values":"on"}`)
			send(`{"arm":1,"do":"hold","step":"terminus","limit":1}`)
			send(`{"arm":2,"do":"hold","step":"caller","limit":1}`)
		},
	})
	l.script(t, `
require 'json'
JSON.parse(ENV.fetch('PLANTED')).each do |text|
  on(text) { Puppet.warning(text) ; Puppet::Probed.new(text, text) }
  find(text, :more => text, :list => ['x', text], :db_password => text)
  on('raises') { Puppet.err(text) ; raise ArgumentError, text }
  find('raises') rescue 0
  Puppet.notice(text)
  Puppet::Probed.indirection.save(Puppet::Probed.new('x', text)) 
end
find('sensitive', :password => 'Hunter2xSensitive')
on('rich') { Puppet::Probed.new('rich', Puppet::Pops::Types::PSensitiveType::Sensitive.new('Hunter2xSensitive')) }
find('rich')
`, "PLANTED="+string(b))
	l.check(t, 1)
	raw := l.raw()
	for i, s := range append(secrets, "Hunter2xSensitive") {
		if at := strings.Index(raw, s[:min(len(s), 14)]); at >= 0 {
			t.Errorf("secret %d leaves: %.300s", i, raw[max(0, at-200):])
		}
	}
	if n := strings.Count(raw, "(masked "); n < 200 {
		t.Errorf("%d are redacted: were they there?", n)
	}
	if len(l.all("value")) < 80 || len(l.all("held")) < 80 {
		t.Errorf("%d values, %d held", len(l.all("value")), len(l.all("held")))
	}
}
