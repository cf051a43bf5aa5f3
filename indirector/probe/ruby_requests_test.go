package probe_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever a find ends with, later ones have the right parents.
func TestRubyParents(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, script, want string }{
		{"nested", `on('a') { find('b'); find('c') } ; find('a') ; find('d')`, "a: ok\nb < a: ok\nc < a: ok\nd: ok\n"},
		{"throw", `on('a') { find('b') } ; on('b') { throw :out } ; catch(:out) { find('a') } ; find('c')`, "a: err\nb < a: err\nc: ok\n"},
		{"an error that is no StandardError", `on('a') { find('b') } ; on('b') { raise NotImplementedError, 'x' } ; begin ; find('a') ; rescue NotImplementedError ; end ; find('c')`, "a: err\nb < a: err\nc: ok\n"},
		{"an error that the terminus swallows", `on('a') { begin ; find('b') ; rescue ; end ; Puppet::Probed.new('a') } ; on('b') { raise 'x' } ; find('a') ; find('c')`, "a: ok\nb < a: err\nc: ok\n"},
		{"Timeout", `on('a') { find('b') } ; on('b') { sleep } ; begin ; Timeout.timeout(0.2) { find('a') } ; abort ; rescue Timeout::Error ; end ; find('c')`, "a: err\nb < a: err\nc: ok\n"},
		{"threads", `on('a') { Thread.new { find('b') ; find('c') }.join ; find('d') } ; on('b') { find('e') } ; find('a')`, "a: ok\nb: ok\ne < b: ok\nc: ok\nd < a: ok\n"},
		{"a thread that is killed", `on('a') { find('b') } ; on('b') { Thread.stop } ; t = Thread.new { find('a') } ; Thread.pass until t.stop? ; t.kill ; t.join ; find('c')`, "a: err\nb < a: err\nc: ok\n"},
		{"a fiber", `on('a') { Fiber.new { find('b') }.resume ; find('c') } ; find('a')`, "a: ok\nb: ok\nc < a: ok\n"},
		{"another terminus is asked", `on('a') { Puppet::Probed.indirection.terminus(:store).find(Puppet::Probed.indirection.request(:find, 'b', nil)) ; find('c') } ; find('a')`, "a: ok\nc < a: ok\n"},
		{"past the indirection", `Puppet::Node::Facts.indirection.terminus_class = :memory ; on('a') { Puppet::Node::Facts.indirection.terminus(:memory).find(Puppet::Node::Facts.indirection.request(:find, 'b', nil)) ; find('c') } ; find('a')`, "a: ok\nb < a: nil\nc < a: ok\n"},
		{"exit", `on('a') { find('b') } ; on('b') { exit 0 } ; find('a')`, "a: err\nb < a: err\n"},
	}
	var script strings.Builder
	script.WriteString("require 'timeout'\n")
	for _, tt := range tests {
		fmt.Fprintf(&script, "one('%s') { %s }\n", tt.name, tt.script)
	}
	l := listenHere(t, &listener{})
	l.script(t, script.String())
	l.check(t, 1)
	got := l.cases("trace")
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, tree(got[tt.name])); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, d)
		}
	}
}

// A fork has connections of its own, and leaves those of its parent alone.
func TestRubyForks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script, parent, child string }{
		{"in a block", `on('a') { pid = fork { find('b') ; find('c') } ; Process.wait(pid) ; find('d') } ; on('b') { find('e') } ; find('a')`, "a: ok\nd < a: ok\n", "b: ok\ne < b: ok\nc: ok\n"},
		{"that goes on", `on('a') { pid = fork ; pid ? Process.wait(pid) : find('b') ; find('d') } ; find('a') ; find('c')`, "a: ok\nd < a: ok\nc: ok\n", "b: ok\nd: ok\nc: ok\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := listenHere(t, &listener{})
			l.script(t, tt.script)
			l.check(t, 2)
			parent := l.all("attach")[0].conn
			trees := map[bool][]message{}
			for _, m := range l.cases("trace")[""] {
				trees[m.conn == parent] = append(trees[m.conn == parent], m)
			}
			if d := cmp.Diff([]string{tt.parent, tt.child}, []string{tree(trees[true]), tree(trees[false])}); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// All ten questions are answered as in-process.
func TestRubySteps(t *testing.T) {
	t.Parallel()
	const cached = `Puppet::Probed.indirection.cache_class = :store ; `
	tests := []struct {
		name, script string
		want         string // step: answer reason, of the last request
	}{
		{"no cache", `find('a')`, `
route: chosen application
authorize: not checked no-node-in-request
validate: ok nothing-to-validate
cache read: not asked no-cache-routed
expiry: not asked no-cache-routed
terminus: ok returned
expiry set: set ttl(now + 1800 s)
cache write: not asked no-cache-routed
filter: none terminus-has-no-filter
caller: returned caller-returned
out: ok terminus`},
		{"a miss", cached + `find('a')`, `
cache read: miss not-found
expiry: not asked not-found
terminus: ok returned
cache write: written written
out: ok terminus`},
		{"a hit", cached + `find('a') ; find('a')`, `
cache read: found found
expiry: ok not-expired(for 30m0s)
terminus: not asked skipped(cache-hit)
expiry set: not asked earlier-step-answered
cache write: not asked skipped(cache-hit)
filter: none terminus-has-no-filter
out: hit cache`},
		{"expired", cached + `x = Puppet::Probed.new('a') ; x.expiration = Time.now - 60 ; on('cached a') { x } ; find('a')`, `
cache read: found found
terminus: ok returned
cache write: written written
out: ok terminus`},
		{"ignore_cache", cached + `find('a', :ignore_cache => true)`, `
cache read: not asked ignored-by-caller
expiry: not asked ignored-by-caller
terminus: ok returned
out: ok terminus`},
		{"ignore_cache_save", cached + `find('a', :ignore_cache_save => true)`, `
cache write: not asked skipped(ignore_cache_save)
out: ok terminus`},
		{"ignore_terminus", cached + `find('a', :ignore_terminus => true)`, `
cache read: miss not-found
terminus: not asked skipped(ignore_terminus)
expiry set: not asked skipped(no-result)
cache write: not asked skipped(no-result)
filter: not asked skipped(no-result)
out: nil none`},
		{"nil", `on('a') { nil } ; find('a')`, `
terminus: nil nil
expiry set: not asked skipped(no-result)
out: nil none`},
		{"the terminus raises", `on('a') { raise ArgumentError, 'no such thing' } ; find('a') rescue 0`, `
terminus: raised raised(no such thing)
expiry set: not reached earlier-step-raised
caller: raised caller-raised
out: err none`},
		{"the cache raises", cached + `on('cached a') { raise 'broken' } ; find('a')`, `
cache read: swallowed read-failed(broken)
expiry: not asked read-failed
terminus: ok returned
out: err~ terminus`},
		{"what the cache has cannot expire", cached + `on('cached a') { 'text' } ; find('a')`, `
cache read: swallowed read-failed
terminus: ok returned
out: err~ terminus`},
		{"the cache cannot be written", cached + `on('write a') { raise 'full' } ; find('a') rescue 0`, `
terminus: ok returned
cache write: raised failed(full)
filter: not reached earlier-step-raised
out: err terminus`},
		{"save", cached + `Puppet::Probed.indirection.save(Puppet::Probed.new('a'))`, `
validate: ok <nil>
terminus: written written
cache write: written written
out: ok terminus`},
		{"save fails half", cached + `on('write a') { raise 'full' } ; Puppet::Probed.indirection.save(Puppet::Probed.new('a')) rescue 0`, `
terminus: written written
cache write: raised failed(full)
out: part terminus`},
		{"save of another model", `Puppet::Probed.indirection.save(Puppet::Node.new('a'), 'a') rescue 0`, `
validate: invalid validation-failed(Invalid instance type Puppet::Node, expected Puppet::Probed)
terminus: not reached earlier-step-raised
out: err none`},
		{"search", `Puppet::Probed.indirection.search('a')`, `
cache read: not asked verb-has-no-cache(search)
terminus: ok returned(1)
out: ok terminus`},
		{"destroy", cached + `find('a') ; Puppet::Probed.indirection.destroy('a')`, `
terminus: removed returned
cache write: removed found
out: ok terminus`},
		{"expire", cached + `find('a') ; Puppet::Probed.indirection.expire('a')`, `
cache read: found found
expiry set: set ttl(now - 60 s)
cache write: written written
out: hit cache`},
		{"head that the terminus lacks", `Puppet::Probed.indirection.head('a') rescue 0`, `
terminus: raised raised`},
		{"denied", `class Puppet::Probed::Script ; def authorized?(request) ; false ; end ; end ; find('a', :node => 'web01') rescue 0`, `
authorize: denied denied(web01)
validate: not reached earlier-step-raised
caller: raised caller-raised(agent web01)
out: err none`},
		{"allowed", `class Puppet::Probed::Script ; def authorized?(request) ; true ; end ; end ; find('a', :node => 'web01')`, `
authorize: allowed allowed(web01)
out: ok terminus`},
		{"filter", `class Puppet::Probed::Script ; def filter(x) ; x ; end ; end ; Puppet::Probed.indirection.termini.clear ; find('a')`, `
filter: filtered filter-applied
out: ok terminus`},
		{"no such terminus", `class Puppet::Indirector::Indirection ; def validate_terminus_class(x) ; end ; end ; Puppet::Probed.indirection.terminus_class = :gone ; find('a') rescue 0`, `
route: raised raised(Could not find terminus gone for indirection probed)
terminus: not reached earlier-step-raised
out: err none`},
	}
	var script strings.Builder
	for _, tt := range tests {
		fmt.Fprintf(&script, "one('%s') { %s }\n", tt.name, tt.script)
	}
	l := listenHere(t, &listener{})
	l.script(t, script.String())
	l.check(t, 1)
	cases := l.cases("trace")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			traces := cases[tt.name]
			if len(traces) == 0 {
				t.Fatal("there is no request")
			}
			m := traces[len(traces)-1]
			for want := range strings.SplitSeq(strings.TrimPrefix(tt.want, "\n"), "\n") {
				step, answer, _ := strings.Cut(want, ": ")
				got := m.step(step)
				if step == "out" {
					got = m.text("out") + " " + m.text("served")
				}
				if got != answer && !strings.HasPrefix(got, answer+"(") {
					t.Errorf("%s: got %q, want %q", step, got, answer)
				}
			}
			if t.Failed() {
				t.Log(m.raw)
			}
		})
	}
}

// Commands and files of termini are spans, under the names that termini of this program
// give them. Other files are left out, and what fails fails as without the probe.
func TestRubyWork(t *testing.T) {
	t.Parallel()
	l := listenHere(t, &listener{})
	out := l.script(t, `
facts = Puppet::Node::Facts.indirection
facts.terminus_class = :yaml
require 'fileutils'
FileUtils.mkdir_p(Puppet[:clientyamldir])
facts.save(Puppet::Node::Facts.new('web01', 'kernel' => 'Linux'))
puts facts.find('web01').values['kernel']
puts facts.destroy('web01').inspect
on('runs') { |r| Puppet::Probed.new(Puppet::Util::Execution.execute(['/bin/echo', '--password', 'hunter2secret'], :failonfail => true, :combine => false)) }
puts find('runs').name
on('fails') { Puppet::Util::Execution.execute('/bin/sh -c "exit 3"', :failonfail => true) }
begin ; find('fails') ; rescue Puppet::ExecutionFailure => e ; puts e.message ; end
on('reads') { |r| Puppet::Probed.new(Puppet::FileSystem.read('/dev/null')) }
find('reads')
Puppet::Util::Execution.execute(['/bin/true'])
`)
	l.check(t, 1)
	if !strings.Contains(out, "Linux\n") || !strings.Contains(out, "hunter2secret") || !strings.Contains(out, "returned 3: ") {
		t.Errorf("Puppet printed %q", out)
	}
	if strings.Contains(l.raw(), "hunter2secret") {
		t.Error("the password is in the lines")
	}
	got := map[string][]string{}
	for _, m := range l.all("trace") {
		spans, _ := m.of["spans"].([]any)
		name := m.text("verb") + " " + m.text("key")
		for _, s := range spans {
			s := s.(map[string]any)
			text := fmt.Sprintf("%v %v %v: %v", s["step"], s["kind"], s["name"], s["is"])
			attributes, _ := s["attrs"].([]any)
			for _, a := range attributes {
				a := a.(map[string]any)
				text += fmt.Sprintf(", %v", a["name"])
			}
			got[name] = append(got[name], regexp.MustCompile(`\d+ bytes|/tmp\S*/|\(masked [^)]*\)`).ReplaceAllString(text, "*"))
		}
	}
	want := map[string][]string{
		"save web01":    {"terminus file write web01.yaml: *, path, bytes, mode"},
		"find web01":    {"terminus file read web01.yaml: *, path, bytes, written"},
		"destroy web01": {"terminus file unlink web01.yaml: removed, path"},
		"find runs":     {"terminus exec exec /bin/echo --password *: exit 0, command, exit, stdout"},
		"find fails":    {`terminus exec exec /bin/sh -c "exit 3": exit 3, command, exit`},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("spans (-want +got)\n%s\n%s", d, l.raw())
	}
}
