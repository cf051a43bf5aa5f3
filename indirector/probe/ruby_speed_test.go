package probe_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// finds is the processor time of finds of the memory terminus, in us for each.
const finds = `
facts = Puppet::Node::Facts.indirection
facts.terminus_class = :memory
keys = (0...100).map { |i| "k#{i}" }
keys.each { |k| facts.save(Puppet::Node::Facts.new(k, 'a' => 1)) }
GC.start
clock = lambda { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) }
from = clock.call
n = 50_000
n.times { |i| facts.find(keys[i % 100]) }
puts (clock.call - from) / n * 1e6
`

// BenchmarkRubyFind measures, in turns: without the probe, without a listener,
// attached, and with a listener that does not read. The medians are in us for each
// find.
func BenchmarkRubyFind(b *testing.B) {
	l, deaf := listenHere(b, &listener{quiet: true}), listenHere(b, &listener{deaf: true})
	none := &listener{path: l.path + ".none"}
	cases := []struct {
		name string
		run  func() string
	}{
		{"without", func() string { return plainScript(b, finds) }},
		{"nobody", func() string { return none.script(b, finds) }},
		{"attached", func() string { return l.script(b, finds) }},
		{"deaf", func() string { return deaf.script(b, finds) }},
	}
	took := map[string][]float64{}
	for b.Loop() {
		for _, c := range cases {
			took[c.name] = append(took[c.name], number(b, c.run()))
		}
	}
	for _, c := range cases {
		b.ReportMetric(median(took[c.name]), c.name+"_us/find")
	}
}

// BenchmarkRubyStart is puppet config print, which asks for nothing: what the probe costs
// at the start.
func BenchmarkRubyStart(b *testing.B) {
	beside(b, func(string) []string { return []string{"config", "print", "certname"} })
}

// BenchmarkRubyApply is puppet apply of 200 files whose source is in a module.
func BenchmarkRubyApply(b *testing.B) {
	modules := b.TempDir()
	files := filepath.Join(modules, "demo", "files")
	if err := os.MkdirAll(files, 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(files, fmt.Sprint(i)), fmt.Appendf(nil, "file %d\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	beside(b, func(dir string) []string {
		manifest := fmt.Sprintf(`Integer[0, 199].each |$i| { file { "%s/${i}": source => "puppet:///modules/demo/${i}" } }`, dir)
		return []string{"apply", "--modulepath", modules, "-e", manifest}
	})
}

// beside measures the processor time of a command of Puppet with its children, in turns:
// without the probe, without a listener, attached, and with a listener that does not
// read. It reports the medians in ms, and of the others the medians of their ratios to
// the run without the probe of the same turn. Args gets an empty directory.
func beside(b *testing.B, args func(dir string) []string) {
	b.Helper()
	puppetRuby(b)
	attached, deaf := listenHere(b, &listener{quiet: true}), listenHere(b, &listener{deaf: true})
	none := &listener{path: attached.path + ".none"}
	cases := []struct {
		name string
		env  []string
	}{{"without", nil}, {"nobody", none.with(b)}, {"attached", attached.with(b)}, {"deaf", deaf.with(b)}}
	took, ratios := map[string][]float64{}, map[string][]float64{}
	turn := func(first int) {
		this := map[string]float64{}
		for i := range cases {
			c := cases[(first+i)%len(cases)]
			dir := b.TempDir()
			cmd := exec.Command("puppet", append(args(dir), "--confdir", filepath.Join(dir, "conf"), "--vardir", filepath.Join(dir, "var"))...)
			cmd.Env = c.env
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			this[c.name] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() * 1e3
		}
		for name, t := range this {
			took[name], ratios[name] = append(took[name], t), append(ratios[name], t/this["without"])
		}
	}
	turn(0) // nothing is in the cache of files yet
	clear(took)
	clear(ratios)
	for first := 0; b.Loop(); first++ {
		turn(first)
	}
	for _, c := range cases {
		b.ReportMetric(median(took[c.name]), c.name+"_ms")
		if c.name != "without" {
			b.ReportMetric(median(ratios[c.name]), c.name+"_ratio")
		}
	}
}

func plainScript(b *testing.B, text string) string {
	b.Helper()
	cmd := exec.Command(puppetRuby(b), "-W0", "-e", prelude+text)
	cmd.Env = append(cmd.Environ(), "DIR="+b.TempDir())
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	return string(out)
}

func number(b *testing.B, s string) float64 {
	b.Helper()
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

func median(f []float64) float64 {
	slices.Sort(f)
	return f[len(f)/2]
}

// The probe is Ruby 1.9 in its syntax, and is silent under -w.
func TestRubySyntax(t *testing.T) {
	t.Parallel()
	newer := regexp.MustCompile(`&\.\w|<<~|%[iI][\[({]|__dir__|\.match\?|\bdef [\w.]+\([^)]*\w+:[ ,)]|\.(to_h|dig|sum|then|yield_self|filter_map|tally|bind_call)\b[^?_]`)
	for name, text := range rubyFiles(t) {
		out, err := exec.Command(ruby(t), "-wc", name).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "Syntax OK" {
			t.Errorf("%s: %v %s", name, err, out)
		}
		for i, l := range strings.Split(text, "\n") {
			if newer.MatchString(l) && !strings.Contains(l, "bind_call") {
				t.Errorf("%s:%d is newer than Ruby 1.9: %s", name, i+1, l)
			}
		}
	}
	l := listenHere(t, &listener{})
	cmd := l.command(t, `on('a') { find('b') ; Puppet.warning('x') } ; find('a') ; find('a', :ignore_cache => true, :more => [1])`)
	cmd.Args = slices.Replace(cmd.Args, 1, 2, "-w")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, probeDir(t)) {
			t.Errorf("under -w: %s", line)
		}
	}
	l.check(t, 1)
}
