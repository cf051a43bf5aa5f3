package probe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What is held goes on as was decided: edited, skipped, failed, with another
// answer, or as it was.
func TestRubyHolds(t *testing.T) {
	t.Parallel()
	const cached = `Puppet::Probed.indirection.cache_class = :store ; `
	tests := []struct {
		name, arm, verdict string
		script             string // of the case; what it prints is what Puppet got
		prints             string
		out                string
	}{
		{"continue", `"step":"terminus","key":"a"`, `"do":"continue"`, `puts find('a').name`, "a", "ok"},
		{"key", `"step":"route","key":"b"`, `"key":"edited"`, `puts find('b').name`, "edited", "ok"},
		{"key at the terminus", `"step":"terminus","key":"c"`, `"key":"edited"`, `puts find('c').name`, "edited", "ok"},
		{"flags", `"step":"route","key":"d"`, `"flags":{"ignore_terminus":true}`, `puts find('d').inspect`, "nil", "nil"},
		{"options", `"step":"route","key":"e"`, `"options":{"more":"x"}`, `on('e') { |r| Puppet::Probed.new(r.options[:more]) } ; puts find('e').name`, "x", "ok"},
		{"an option is removed", `"step":"route","key":"f"`, `"options":{"more":null}`, `on('f') { |r| Puppet::Probed.new(r.options.inspect) } ; puts find('f', :more => 'x').name`, "{}", "ok"},
		{"environment", `"step":"route","key":"g"`, `"env":"production"`, `on('g') { |r| Puppet::Probed.new(r.environment.name.to_s) } ; puts find('g').name`, "production", "ok"},
		{"fail before", `"step":"terminus","key":"h"`, `"fail":{"message":"injected"}`, `begin ; find('h') ; rescue => e ; puts e.class, e.message ; end`, "Puppet::Error\ninjected", "err"},
		{"fail with a class", `"step":"terminus","key":"i"`, `"fail":{"class":"ArgumentError","message":"injected"}`, `begin ; find('i') ; rescue => e ; puts e.class ; end`, "ArgumentError", "err"},
		{"fail with no class of errors", `"step":"terminus","key":"j"`, `"fail":{"class":"Kernel","message":"injected"}`, `begin ; find('j') ; rescue => e ; puts e.class ; end`, "Puppet::Error", "err"},
		{"value", `"step":"terminus","key":"k"`, `"value":{"model":"probed","format":"json","text":"{\"name\":\"made\",\"text\":\"up\"}"}`, `x = find('k') ; puts x.name + x.text`, "madeup", "sim"},
		{"a value that is none", `"step":"terminus","key":"l"`, `"value":{"model":"probed","format":"json","text":"}"}`, `puts find('l').name`, "l", "ok"},
		{"nil", `"step":"terminus","key":"m"`, `"nil":true`, `puts find('m').inspect`, "nil", "sim"},
		{"value behind the terminus", `"step":"terminus","done":true,"key":"n"`, `"value":{"model":"probed","format":"json","text":"{\"name\":\"made\"}"}`, `puts find('n').name`, "made", "sim"},
		{"an error is cleared", `"step":"terminus","done":true,"key":"o"`, `"value":{"model":"probed","format":"json","text":"{\"name\":\"made\"}"}`, `on('o') { raise 'x' } ; puts find('o').name`, "made", "sim"},
		{"cache read", `"step":"cache read","key":"p"`, `"value":{"model":"probed","format":"json","text":"{\"name\":\"cached\"}"}`, cached + `puts find('p').name`, "cached", "sim"},
		{"the cache is left out", `"step":"cache write","key":"q"`, `"skip":true`, cached + `find('q') ; puts find('q', :ignore_terminus => true).inspect`, "nil", "nil"},
		{"caller", `"step":"caller","key":"r"`, `"value":{"model":"probed","format":"json","text":"{\"name\":\"made\"}"}`, `puts find('r').name`, "made", "sim"},
		{"caller of an error", `"step":"caller","key":"s"`, `"nil":true`, `on('s') { raise 'x' } ; puts find('s').inspect`, "nil", "sim"},
		{"another terminus", `"step":"route","key":"t"`, `"terminus":"store"`, `puts find('t').inspect`, "nil", "nil"},
		{"another cache", `"step":"route","key":"u"`, `"cache":"store"`, `on('cached u') { Puppet::Probed.new('from the cache') } ; puts find('u').name`, "from the cache", "hit"},
		{
			"what is saved", `"step":"terminus","verb":"save","key":"v"`, `"value":{"model":"probed","format":"json","text":"{\"name\":\"v\",\"text\":\"other\"}"}`,
			`on('v') { |r| puts r.instance.text ; r.instance } ; Puppet::Probed.indirection.save(Puppet::Probed.new('v', 'mine'))`, "other", "ok",
		},
		{"head", `"step":"terminus","verb":"head","key":"w"`, `"value":{"text":"true"}`, `class Puppet::Probed::Script ; def head(r) ; false ; end ; end ; Puppet::Probed.indirection.termini.clear ; puts Puppet::Probed.indirection.head('w')`, "true", "sim"},
		{"authorize", `"step":"authorize","key":"x"`, `"skip":true`, `class Puppet::Probed::Script ; def authorized?(r) ; false ; end ; end ; puts find('x', :node => 'n').name`, "x", "ok"},
		{"search", `"step":"terminus","verb":"search","key":"y"`, `"value":{"text":"[{\"name\":\"one\"},{\"name\":\"two\"}]"}`, `puts Puppet::Probed.indirection.search('y').map { |x| x.name }.join`, "onetwo", "sim"},
	}
	var script strings.Builder
	for _, tt := range tests {
		fmt.Fprintf(&script, "one('%s') { puts '== %s' ; %s }\n", tt.name, tt.name, tt.script)
	}
	var held []message
	l := listenHere(t, &listener{
		ready: func(send func(string)) {
			for i, tt := range tests {
				send(fmt.Sprintf(`{"arm":%d,"do":"hold","ind":"probed",%s,"limit":60000}`, i+1, tt.arm))
			}
		},
		held: func(m *message) string {
			held = append(held, *m)
			return fmt.Sprintf(`{"go":%d,%s}`, m.num("held"), tests[m.num("arm")-1].verdict)
		},
	})
	out := l.script(t, script.String())
	l.check(t, 1)
	printed := map[string]string{}
	for part := range strings.SplitSeq(out, "== ") {
		name, text, _ := strings.Cut(part, "\n")
		printed[name] = strings.TrimSpace(text)
	}
	cases := l.cases("trace")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if printed[tt.name] != tt.prints {
				t.Errorf("Puppet got %q, want %q", printed[tt.name], tt.prints)
			}
			of := cases[tt.name]
			if len(of) == 0 {
				t.Fatal("there is no request")
			}
			if got := of[len(of)-1].text("out"); got != tt.out {
				t.Errorf("outcome %s, want %s: %s", got, tt.out, of[len(of)-1].raw)
			}
			if of[0].num("held") == 0 {
				t.Errorf("it was not held: %s", of[0].raw)
			}
		})
	}
	if refused := l.all("refused"); len(refused) != 1 || refused[0].text("refused") != "go" {
		t.Errorf("refused: %v", refused)
	}
	if i := slices.IndexFunc(held, func(m message) bool { return m.text("key") == "n" }); i < 0 || !strings.Contains(held[i].raw, `"answer":{"model":"probed","format":"json","text":"{\"name\":\"n\",\"text\":\"\"}","redacted":0}`) {
		t.Errorf("the answer is not shown: %v", held[max(i, 0)].raw)
	}
}

// A request is stepped through, with those that it asks.
func TestRubySteppingInto(t *testing.T) {
	t.Parallel()
	var stops []string
	l := new(listener)
	l.ready = func(send func(string)) {
		send(`{"arm":1,"do":"hold","step":"route","key":"a","once":true,"limit":60000}`)
	}
	l.held = func(m *message) string {
		stops = append(stops, m.text("key")+" "+m.text("step"))
		if m.num("arm") == 1 {
			l.send(m.conn, fmt.Sprintf(`{"only":%d,"arm":2,"do":"hold","nested":true,"limit":60000}`, m.num("held")))
		}
		return fmt.Sprintf(`{"go":%d,"do":"step"}`, m.num("held"))
	}
	listenHere(t, l)
	l.script(t, `on('a') { find('b') } ; find('a') ; find('c')`)
	l.check(t, 1)
	want := "a route, a authorize, a validate, a cache read, a expiry, a terminus, b route, b authorize, b validate, b cache read, b expiry, b terminus, b caller, a caller"
	if got := strings.Join(stops, ", "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Termini are swapped for all and for a thread, and back; what cannot be is
// refused.
func TestRubySwaps(t *testing.T) {
	t.Parallel()
	l := new(listener)
	l.held = func(m *message) string {
		switch m.text("key") {
		case "one":
			l.send(m.conn, `{"swap":1,"ind":"probed","slot":"terminus","to":"store","for":"process"}`)
			l.send(m.conn, `{"swap":2,"ind":"probed","slot":"terminus","to":"gone","for":"process"}`)
			l.send(m.conn, `{"swap":3,"ind":"gone","slot":"terminus","to":"store","for":"process"}`)
			l.send(m.conn, `{"swap":4,"ind":"probed","slot":"terminus","to":"store","for":"thread"}`)
			l.send(m.conn, `{"swap":5,"ind":"probed","slot":"cache","to":"store","for":"process"}`)
		case "two":
			l.send(m.conn, `{"unswap":1}`)
			l.send(m.conn, fmt.Sprintf(`{"swap":6,"ind":"probed","slot":"terminus","to":"store","for":"thread","thread":%d}`, m.num("thread")))
		}
		return fmt.Sprintf(`{"go":%d}`, m.num("held"))
	}
	l.ready = func(send func(string)) { send(`{"arm":1,"do":"hold","step":"caller","limit":60000}`) }
	listenHere(t, l)
	out := l.script(t, `%w[one a two b].each { |k| puts find(k).inspect[0, 5] } ; Thread.new { puts find('c').inspect[0, 5] }.join`)
	l.check(t, 1)
	if want := "#<Pup\nnil\nnil\nnil\n#<Pup\n"; out != want {
		t.Errorf("Puppet got %q, want %q", out, want)
	}
	if n := len(l.all("swapped")); n != 3 {
		t.Errorf("%d swaps, want 3", n)
	}
	var refused []string
	for _, m := range l.all("refused") {
		refused = append(refused, fmt.Sprint(m.num("id"), " ", m.text("why")))
	}
	if want := "2 Could not find terminus gone for indirection probed, 3 there is no indirection gone, 4 it is for a thread, and names none"; strings.Join(refused, ", ") != want {
		t.Errorf("refused %s, want %s", strings.Join(refused, ", "), want)
	}
	for _, m := range l.all("trace") {
		if m.text("key") == "a" && (m.text("setby") != "you" || m.text("csetby") != "you") {
			t.Errorf("who set the terminus of a swap: %s", m.raw)
		}
	}
}

// When indirtui dies or falls silent, what is held goes on at once, as it was, and
// nothing that was asked for stays.
func TestRubyGoesOn(t *testing.T) {
	t.Parallel()
	l := new(listener)
	held := make(chan struct{})
	l.held = func(m *message) string {
		close(held)
		return ""
	}
	l.ready = func(send func(string)) {
		send(`{"arm":1,"do":"hold","step":"route","key":"a","limit":600000}`)
		send(`{"swap":1,"ind":"probed","slot":"terminus","to":"store","for":"process"}`)
	}
	listenHere(t, l)
	cmd := l.command(t, `puts find('a').name ; puts find('b').name ; find('a') ; exit 3`)
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-held
	l.close()
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() != 3 || out.String() != "a\nb\n" {
		t.Errorf("%v: %q", err, out.String())
	}
}

// The limit of an arm ends a hold, too; delays and failures need no answer.
func TestRubyArms(t *testing.T) {
	t.Parallel()
	l := listenHere(t, &listener{ready: func(send func(string)) {
		send(`{"arm":1,"do":"hold","step":"route","key":"a","limit":50}`)
		send(`{"arm":2,"do":"delay","step":"terminus","key":"b","ms":30}`)
		send(`{"arm":3,"do":"fail","step":"terminus","key":"c","message":"injected","once":true}`)
		send(`{"arm":4,"do":"set","step":"route","key":"d","set":{"flags":{"ignore_terminus":true}}}`)
		send(`{"arm":5,"do":"fail","step":"terminus","key":"e*","nth":3,"message":"the third"}`)
		send(`{"arm":6,"do":"fail","step":"terminus","key":"f","message":"gone"}`)
		send(`{"disarm":6}`)
	}})
	out := l.script(t, `
def try(k) r = find(k) ; r ? r.name : 'nil' ; rescue => e ; e.message ; end
puts %w[a b c c d e1 e2 e3 f].map { |k| try(k) }.join(' ')`)
	l.check(t, 1)
	if want := "a b injected c nil e1 e2 the third f\n"; out != want {
		t.Errorf("Puppet got %q, want %q", out, want)
	}
	if w := l.all("went"); len(w) != 1 || w[0].text("why") != "limit" {
		t.Errorf("went: %v", w)
	}
}

// Values come when they are wanted, before the line of their request; that of an
// earlier request as long as Puppet has it.
func TestRubyValues(t *testing.T) {
	t.Parallel()
	l := new(listener)
	l.ready = func(send func(string)) { send(`{"arm":1,"do":"hold","step":"route","key":"now","limit":60000}`) }
	l.held = func(m *message) string {
		for _, earlier := range l.all("trace") {
			l.send(m.conn, fmt.Sprintf(`{"open":%d}`, earlier.num("trace")))
		}
		l.send(m.conn, `{"values":"on"}`)
		return fmt.Sprintf(`{"go":%d}`, m.num("held"))
	}
	listenHere(t, l)
	l.script(t, `
kept = find('kept')
IndirtuiProbe::Values.module_eval { remove_const(:SECONDS); const_set(:SECONDS, 60) } # the machine may be busy
on('large') { Puppet::Probed.new('large', "\u00e9\"" * 200_000) }
on('endless') { Puppet::Probed.new('endless', (0..1_000_000).lazy) }
sleep 0.2 # lines are written every now and then
find('now')
find('endless')
find('large')
`)
	l.check(t, 1)
	texts := map[int]string{}
	for _, m := range l.all("value") {
		texts[m.num("value")] += m.text("text")
	}
	for _, m := range l.all("trace") {
		text := texts[m.num("trace")]
		switch key := m.text("key"); key {
		case "kept", "now", "endless":
			if !strings.HasPrefix(text, `{"name":"`+key+`","text":"`) {
				t.Errorf("%s: %.200q", key, text)
			}
		case "large":
			if len(text) < 600_000 || !strings.HasSuffix(text, `é\""}`) {
				t.Errorf("large: %d bytes, %q", len(text), text[max(0, len(text)-20):])
			}
		}
	}
	raw := l.raw()
	if last := l.all("trace"); strings.Index(raw, fmt.Sprintf(`{"value":%d,`, last[len(last)-1].num("trace"))) > strings.Index(raw, fmt.Sprintf(`{"trace":%d,`, last[len(last)-1].num("trace"))) {
		t.Error("a value comes behind its request")
	}
}
