package facter_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/termini/facter"
	"indirtui/traces"
)

// conf writes a facter.conf and returns its path.
func conf(t testing.TB, text string) string {
	t.Helper()
	return filepath.Join(write(t, map[string]string{"facter.conf": text}), "facter.conf")
}

func TestReadConfig(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		dirs       string
		hide       bool
		problem    string // prefix, behind the path
	}{
		{name: "empty"},
		{name: "directories", text: `global : { external-dir : "/a", custom-dir : [ "/b", "/c" ], show-legacy : false }`, dirs: "/a|/b|/c", hide: true},
		{name: "sections that are ignored", text: `cli : { debug : true }, global { show-legacy: true, sequential: false, no-external-facts: true }`},
		{name: "RES-FACT-01 broken", text: "facts : {", problem: "Facter failed to read config file F with the following error: line 1: expected "},
		{name: "RES-FACT-01 no hash", text: "[1]", problem: "Facter failed to read config file F with the following error: "},
		{name: "RES-FACT-01 no UTF-8", text: "a = \xff", problem: "Facter failed to read config file F with the following error: is not valid UTF-8"},
		{name: "sections of other kinds", text: `facts : 5, global : [1], fact-groups : x`},
		{name: "blocklist of another kind", text: `facts.blocklist : memory`, problem: "the blocklist of F is no list, but a string"},
		{name: "RES-FACT-03 unit", text: `facts.ttls : [{ os : 3 weeks }]`, problem: "Could not parse time unit weeks (try ns, nanos,"},
		{name: "ttls of another kind", text: `facts.ttls : [ 1, [x], {a : [1]}, {b : 99999999999999999999 days}, {c : ""} ]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := conf(t, tt.text)
			cfg := facter.ReadConfig(path)
			if got := strings.Join(slices.Concat(cfg.ExternalDirs, cfg.CustomDirs), "|"); got != tt.dirs || cfg.HideLegacy != tt.hide {
				t.Errorf("got %q, %t", got, cfg.HideLegacy)
			}
			var got []string
			for _, p := range cfg.Problems {
				got = append(got, strings.ReplaceAll(p.Error(), path, "F"))
			}
			if all := strings.Join(got, "; "); (all == "") != (tt.problem == "") || !strings.HasPrefix(all, tt.problem) {
				t.Errorf("got problems %q, want %q", got, tt.problem)
			}
			collect(t, facter.Options{Config: cfg, Legacy: true})
		})
	}
	if cfg := facter.ReadConfig(filepath.Join(t.TempDir(), "none")); cfg.Problems != nil {
		t.Errorf("got problems %v of a file that is not there", cfg.Problems)
	}
}

// Facter hides what we hide. Rules RES-FACT-02, RES-FACT-04.
func TestRealFacterBlocks(t *testing.T) {
	dir := write(t, map[string]string{"mine.txt": "one=1\ntwo=2\nos.more=3\n", "other.yaml": "kernel: Other\nnew.point: 1\nnew.line: 2\n"})
	for _, text := range []string{
		`facts.blocklist : [ "memory", "os.release", "mine.txt" ]`,
		`facts.blocklist : [ "operating system", "file system", "two" ]`,
		`facts.blocklist : [ "osfamily", "processors.count", "new" ]`,
		`facts.blocklist : [ "legacy" ]`,
		`facts.blocklist : [ "id", "ipaddress", "nosuch", "kernel" ]`,
		`facts.blocklist : [ "memory", "own" ]` + "\n" + `fact-groups : { memory : [ "timezone" ], own : [ "one", "networking.i.*" ] }`,
		`global.force-dot-resolution : true`,
	} {
		t.Run(text, func(t *testing.T) {
			path := conf(t, text)
			same(t, func() (got, want data.Value) {
				want = real(t, "--external-dir", dir, "--show-legacy", "--config", path)
				got, _ = collect(t, facter.Options{Config: facter.ReadConfig(path), ExternalDirs: []string{dir}, Legacy: true, Environ: plainEnviron()})
				return facter.Stringify(got), want
			})
		})
	}
}

// realCached runs Facter with its cache in a directory.
func realCached(t *testing.T, cache string, args ...string) data.Value {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ruby", append([]string{"testdata/facter.rb", "--json"}, args...)...)
	cmd.Env = append(plainEnviron(), "CACHE="+cache)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, _ := cmd.Output() // fails when any fact does
	v, err := format.DecodeJSON(out, format.Limits{})
	if err != nil {
		t.Fatalf("run facter: %v: %s", err, stderr.String())
	}
	return v
}

// edit changes a file and keeps its time.
func edit(t *testing.T, path, old, with string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s lacks %q:\n%s", path, old, b)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte(old), []byte(with)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

const caching = `facts.ttls : [ { legacy : 1 minute }, { kernel : 1 hour }, { "operating system" : 30 days }, { "mine.txt" : 1 day }, { own : 5 minutes } ]
fact-groups.own : [ "timezone", "is_virtual" ]`

// TestRealFacterCachesCustom: custom facts are not resolved again as long as they are
// cached, by Facter or by this program, and facts that ask for them get what is cached.
// Rule RES-FACT-03.
func TestRealFacterCachesCustom(t *testing.T) {
	real(t, "--no-external-facts") // skips where there is none
	ruby := ruby(t)
	path := conf(t, `facts.ttls : [ { mine : 1 hour }, { own : 1 day } ]
fact-groups.own : [ "second", "nothing" ]`)
	ours := func(t *testing.T, cache, dir string) data.Value {
		t.Helper()
		v, problems := collect(t, facter.Options{
			Config: facter.ReadConfig(path), CacheDir: cache, CustomDirs: []string{dir}, Ruby: ruby, Environ: append(plainEnviron(), "HOME="+t.TempDir()),
		})
		if got := about(dir, problems); got != nil {
			t.Error(got)
		}
		return v
	}
	theirs := func(t *testing.T, cache, dir string) data.Value {
		t.Helper()
		return realCached(t, cache, "--no-external-facts", "--custom-dir", dir, "--config", path)
	}
	for _, tt := range []struct {
		name        string
		write, read func(t *testing.T, cache, dir string) data.Value
	}{
		{"of Facter", theirs, ours}, {"of ours", ours, theirs}, {"of ours, for us", ours, ours},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cache, log := filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "log")
			logged := "File.write('" + log + "', \"%s\\n\", mode: 'a'); "
			dir := write(t, map[string]string{
				"a_asks.rb":  "Facter.add(:asks) { setcode { Facter.value(:mine) + '!' } }\n",
				"mine.rb":    "Facter.add(:mine) { setcode { " + fmt.Sprintf(logged, "mine") + "'first' } }\n",
				"others.rb":  "Facter.add(:second) { setcode { " + fmt.Sprintf(logged, "second") + "[1, {'a' => 'first'}] } }\nFacter.add(:free) { setcode { 'free' } }\n",
				"nothing.rb": "Facter.add(:nothing) { setcode { " + fmt.Sprintf(logged, "nothing") + "nil } }\n",
			})
			tt.write(t, cache, dir)
			edit(t, filepath.Join(cache, "mine"), "first", "cached")
			edit(t, filepath.Join(cache, "own"), "first", "cached")
			if err := os.Remove(log); err != nil {
				t.Fatal(err)
			}
			got := tt.read(t, cache, dir)
			for fact, want := range map[string]string{"mine": `"cached"`, "asks": `"cached!"`, "second": `[1, {"a"=>"cached"}]`, "free": `"free"`, "nothing": "nil"} {
				if is := got.Get(fact).String(); is != want {
					t.Errorf("%s: got %s, want %s", fact, is, want)
				}
			}
			if resolved, _ := os.ReadFile(log); string(resolved) != "nothing\n" {
				t.Errorf("resolved again: %q", resolved)
			}
			for _, group := range []string{"mine", "own"} {
				old := time.Now().Add(-48 * time.Hour)
				if err := os.Chtimes(filepath.Join(cache, group), old, old); err != nil {
					t.Fatal(err)
				}
			}
			if got := tt.read(t, cache, dir); got.Get("mine").Str() != "first" {
				t.Errorf("expired: got %s", got.Get("mine"))
			}
		})
	}
}

// What Facter has cached, we read, and what we have cached, Facter reads. Rule
// RES-FACT-03.
func TestRealFacterCache(t *testing.T) {
	real(t, "--no-external-facts") // skips where there is none
	path, dir := conf(t, caching), write(t, map[string]string{"mine.txt": "one=1\n"})
	ours := func(t *testing.T, cache string) data.Value {
		t.Helper()
		v, problems := collect(t, facter.Options{
			Config: facter.ReadConfig(path), CacheDir: cache, ExternalDirs: []string{dir}, Legacy: true, Environ: plainEnviron(),
		})
		for _, p := range problems {
			if strings.Contains(p.Error(), "cache") {
				t.Error(p)
			}
		}
		return v
	}
	theirs := func(t *testing.T, cache string) data.Value {
		t.Helper()
		return realCached(t, cache, "--external-dir", dir, "--show-legacy", "--config", path)
	}
	for _, tt := range []struct {
		name        string
		write, read func(t *testing.T, cache string) data.Value
	}{
		{"of Facter", theirs, ours}, {"of ours", ours, theirs},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cache := filepath.Join(t.TempDir(), "new", "cache")
			tt.write(t, cache)
			edit(t, filepath.Join(cache, "kernel"), `"Linux"`, `"cached kernel"`)
			edit(t, filepath.Join(cache, "operating system"), `"os.family": "`, `"os.family": "cached `)
			edit(t, filepath.Join(cache, "operating system"), `"osfamily": "`, `"osfamily": "cached `)
			edit(t, filepath.Join(cache, "mine.txt"), `"1"`, `"cached one"`)
			edit(t, filepath.Join(cache, "legacy"), `"hostname": "`, `"hostname": "cached `)
			edit(t, filepath.Join(cache, "own"), `"timezone": "`, `"timezone": "cached `)
			got := tt.read(t, cache)
			for fact, want := range map[string]data.Value{
				"kernel": got.Get("kernel"), "os.family": got.Dig("os", "family"), "osfamily": got.Get("osfamily"),
				"one": got.Get("one"), "timezone": got.Get("timezone"), "hostname": got.Get("hostname"),
			} {
				if !strings.HasPrefix(want.Str(), "cached ") {
					t.Errorf("%s: got %s, want that of the cache", fact, want)
				}
			}
			if got.Dig("os", "name").IsNil() {
				t.Error("what is not changed is missing")
			}
		})
	}
}

// Rule RES-FACT-03.
func TestCache(t *testing.T) {
	t.Parallel()
	path, dir := conf(t, caching), write(t, map[string]string{"mine.txt": "one=1\n"})
	run := func(cache string, readOnly bool) (data.Value, []facter.Problem) {
		return collect(t, facter.Options{
			Config: facter.ReadConfig(path), CacheDir: cache, ReadOnly: readOnly, ExternalDirs: []string{dir},
		})
	}
	t.Run("nothing is written by who looks", func(t *testing.T) {
		t.Parallel()
		cache := filepath.Join(t.TempDir(), "cache")
		run(cache, true)
		if _, err := os.Stat(cache); err == nil {
			t.Error("the cache was made")
		}
	})
	t.Run("expired", func(t *testing.T) {
		t.Parallel()
		cache := t.TempDir()
		run(cache, false)
		file := filepath.Join(cache, "mine.txt")
		edit(t, file, `"1"`, `"old"`)
		for _, age := range []time.Duration{23 * time.Hour, 25 * time.Hour} {
			then := time.Now().Add(-age)
			if err := os.Chtimes(file, then, then); err != nil {
				t.Fatal(err)
			}
			want := "old"
			if age > 24*time.Hour {
				want = "1"
			}
			if v, _ := run(cache, false); v.Get("one").Str() != want {
				t.Errorf("after %s: got %s, want %s", age, v.Get("one"), want)
			}
		}
		if info, err := os.Stat(file); err != nil || time.Since(info.ModTime()) > time.Hour {
			t.Errorf("the file was not written anew: %v", err)
		}
	})
	t.Run("fresh files keep their time", func(t *testing.T) {
		t.Parallel()
		cache := write(t, map[string]string{"kernel": `{"kernel":"cached","other":1,"cache_format_version":1}`})
		file, then := filepath.Join(cache, "kernel"), time.Now().Add(-30*time.Minute).Truncate(time.Second)
		if err := os.Chtimes(file, then, then); err != nil {
			t.Fatal(err)
		}
		if v, _ := run(cache, false); v.Get("kernel").Str() != "cached" {
			t.Errorf("got %s", v.Get("kernel"))
		}
		b, _ := os.ReadFile(file)
		info, err := os.Stat(file)
		if err != nil || !info.ModTime().Equal(then) || !strings.Contains(string(b), `"kernelrelease": "`) || !strings.Contains(string(b), `"other": 1`) {
			t.Errorf("got %v, %s", info.ModTime(), b)
		}
	})
	for name, text := range map[string]string{
		"broken": "{", "no hash": "[1]", "another version": `{"kernel":"x","cache_format_version":2}`, "without version": `{"kernel":"x"}`,
		"no UTF-8": "{\"kernel\":\"\xff\",\"cache_format_version\":1}", "large": strings.Repeat(" ", 9<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache := write(t, map[string]string{"kernel": text})
			if v, _ := run(cache, false); v.Get("kernel").Str() == "x" || v.Get("kernel").IsNil() {
				t.Errorf("got %s", v.Get("kernel"))
			}
			if b, _ := os.ReadFile(filepath.Join(cache, "kernel")); !strings.Contains(string(b), `"cache_format_version": 1`) {
				t.Errorf("was not written anew: %.100s", b)
			}
		})
	}
}

func TestCacheProblems(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"mine.txt": "one=1\n"})
	twin := write(t, map[string]string{"mine.txt": "one=2\nthree=3\n"})
	for _, tt := range []struct{ name, text, cache, problem string }{
		{
			"custom group", "facts.ttls : [{ own : 1 day }]\nfact-groups.own : [ mine.txt ]", t.TempDir(),
			"Cannot cache 'mine.txt' fact from 'own' group. Caching custom group is not supported for external facts.",
		},
		{
			"two files", `facts.ttls : [{ "mine.txt" : 1 day }]`, t.TempDir(),
			`Caching is enabled for group "mine.txt" while there are at least two external facts files with the same filename`,
		},
		{"group that leads elsewhere", "facts.ttls : [{ \"../x\" : 1 day }]\nfact-groups : { \"../x\" : [ kernel ] }", t.TempDir(), `the group "../x" has no name for a file`},
		{"cannot be written", `facts.ttls : [{ kernel : 1 day }]`, "/dev/null/cache", "Could not write cache: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, problems := collect(t, facter.Options{
				Config: facter.ReadConfig(conf(t, tt.text)), CacheDir: tt.cache, ExternalDirs: []string{dir, twin},
			})
			if !slices.ContainsFunc(problems, func(p facter.Problem) bool { return strings.Contains(p.Error(), tt.problem) }) {
				t.Errorf("got problems %v, want %q", problems, tt.problem)
			}
			if v.Get("kernel").IsNil() || v.Get("one").Str() != "1" {
				t.Errorf("got kernel %s, one %s", v.Get("kernel"), v.Get("one"))
			}
		})
	}
}

func FuzzReadConfig(f *testing.F) {
	for _, seed := range []string{caching, `facts.blocklist : [ "a(", "os", "legacy" ]`, `global : { external-dir : [ 1, null ] }`, "fact-groups { a = b, c = [[1]] }"} {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), "facter.conf")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		facter.ReadConfig(path)
	})
}

// What is not found out is not cached as missing.
func TestCacheWithoutLegacy(t *testing.T) {
	t.Parallel()
	path := conf(t, `facts.ttls : [{ "load_average" : 1 hour }, { uptime : 1 hour }, { "operating system" : 1 hour }]`)
	cache := t.TempDir()
	for _, legacy := range []bool{true, false, true} {
		v, _ := collect(t, facter.Options{Config: facter.ReadConfig(path), CacheDir: cache, Legacy: legacy})
		if got := !v.Get("osfamily").IsNil(); got != legacy {
			t.Errorf("legacy %t: osfamily is %s", legacy, v.Get("osfamily"))
		}
		if legacy { // as if another program had not cached it
			file := filepath.Join(cache, "operating system")
			edit(t, file, `"osfamily"`, `"unused"`)
		}
	}
}

// Each source is a span with its time, and an answer. Rule RES-FACT-05.
func TestSpans(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	path := conf(t, `facts : { blocklist : [ memory, "c.txt" ], ttls : [ { kernel : 1 hour } ] }`)
	dir := write(t, map[string]string{"a.yaml": "a: 1\n", "b*": "#!/bin/sh\necho b=1\n", "c.txt": "c=1\n"})
	for _, kernel := range []string{"4 facts", "4 facts of the cache"} {
		live := &traces.Live{Context: t.Context(), Trace: traces.NewTrace()}
		if _, _, err := facter.Collect(live, facter.Options{
			Config: facter.ReadConfig(path), CacheDir: cache, ExternalDirs: []string{dir}, CustomDirs: []string{write(t, stdlib)},
		}); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, s := range live.Trace.Spans {
			if s.Took <= 0 {
				t.Errorf("%s took no time", s.Name)
			}
			got[strings.ReplaceAll(s.Name, dir+"/", "")] = s.Kind.String() + " " + s.Answer
		}
		for name, want := range map[string]string{
			"core facts: kernel": "file " + kernel, "core facts: memory": "file blocked", "external facts: a.yaml": "file 1 fact",
			"external facts: b": "exec 1 fact", "external facts: c.txt": "file blocked",
		} {
			if got[name] != want {
				t.Errorf("%s: got %q, want %q", name, got[name], want)
			}
		}
	}
}
