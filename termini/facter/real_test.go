package facter_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/termini/facter"
)

// A difference is a fact that need not be equal. The package comment lists
// them, too.
type difference struct {
	fact   string // a pattern over the path of a fact, joined by /
	kind   kind
	reason string
	// without is what Facter needs to know it: commands, files, libraries of Ruby.
	// The difference counts only where one of them is missing. If it is empty, the
	// difference counts everywhere.
	without string
}

type kind int

const (
	missing  kind = iota // we have it not
	zero                 // we have it not, and Facter has nothing in it
	ours                 // Facter may not have it
	volatile             // equal in kind, and, if a number, about as large
)

// What packages of Facter only recommend.
const (
	detectors = "virt-what lspci"
	library   = "ruby:sys/filesystem"
)

var differences = []difference{
	{"ruby", missing, "there is no Ruby here", ""},
	{"ruby*", missing, "legacy: there is no Ruby here", ""},
	{"augeas", missing, "only a program of Augeas knows it", ""},
	{"augeasversion", missing, "legacy: only a program of Augeas knows it", ""},
	{"cloud", missing, "is asked over the network", ""},
	{"*_metadata", missing, "is asked over the network", ""},
	{"ec2_userdata", missing, "is asked over the network", ""},
	{"gce", missing, "is asked over the network", ""},
	{"aio_agent_version", missing, "the file of a package that is not ours", ""},
	{"puppetversion", missing, "added by Puppet, see Options.Extra", ""},
	{"zfs*", missing, "only a program knows it", ""},
	{"zpool*", missing, "only a program knows it", ""},
	{"xendomains", missing, "only a program knows it", ""},
	{"lsbrelease", missing, "only lsb_release knows it", ""},
	{"os/distro/specification", missing, "only lsb_release knows it", ""},
	{"hypervisors/*/version", missing, "only dmidecode knows it", ""},
	{"hypervisors/*/revision", missing, "only dmidecode knows it", ""},
	{"disks/*/serial", missing, "without a database of udev only lsblk knows it", ""},
	{"disks/*/wwn", missing, "without a database of udev only lsblk knows it", ""},
	{"partitions/*/filesystem", missing, "without a database of udev only blkid knows it", ""},
	{"partitions/*/*label", missing, "without a database of udev only blkid knows it", ""},
	{"partitions/*/*uuid", missing, "without a database of udev only blkid knows it", ""},
	{"virtual", missing, "virt-what asks the processor, and here the devices of /sys are asked", "/sys/bus/pci/devices"},
	{"hypervisors", missing, "virt-what asks the processor, and here the devices of /sys are asked", "/sys/bus/pci/devices"},

	{"mountpoints/*/size*", zero, "the file system does not answer", ""},
	{"mountpoints/*/used*", zero, "the file system does not answer", ""},
	{"mountpoints/*/available*", zero, "the file system does not answer", ""},
	{"mountpoints/*/capacity", zero, "the file system does not answer", ""},

	{"is_virtual", ours, "Facter gives up where root may not read /proc/1/environ", ""},
	{"virtual", ours, "Facter gives up where root may not read /proc/1/environ", ""},
	{"hypervisors", ours, "Facter gives up where root may not read /proc/1/environ", ""},
	{"hypervisors/*", ours, "Facter gives up where root may not read /proc/1/environ", ""},
	{"system_uptime", ours, "Facter gives up where root may not read /proc/1/environ", ""},
	{"uptime*", ours, "legacy: Facter gives up where root may not read /proc/1/environ", ""},
	{"mountpoints", ours, "Facter gives up without its library", library},
	{"partitions/*/mount", ours, "Facter gives up without its library", library},

	{"lsb*", ours, "legacy: Facter asks lsb_release", "lsb_release"},

	{"is_virtual", volatile, "Facter takes the machine for a real one without the commands that it asks", detectors},
	{"virtual", volatile, "Facter takes the machine for a real one without the commands that it asks", detectors},
	{"facterversion", volatile, "the version whose shape ours has", ""},
	{"load_averages/*", volatile, "changes", ""},
	{"memory/*/used*", volatile, "changes", ""},
	{"memory/*/available*", volatile, "changes", ""},
	{"memory/*/capacity", volatile, "changes", ""},
	{"memoryfree*", volatile, "changes", ""},
	{"swapfree*", volatile, "changes", ""},
	{"mountpoints/*/used*", volatile, "changes", ""},
	{"mountpoints/*/available*", volatile, "changes", ""},
	{"mountpoints/*/capacity", volatile, "changes", ""},
	{"processors/speed", volatile, "changes", ""},
	{"system_uptime/*", volatile, "changes", ""},
	{"uptime*", volatile, "changes", ""},
}

func allowed(fact string, k kind) bool {
	for _, d := range differences {
		if ok, err := path.Match(d.fact, fact); err == nil && ok && d.kind == k && (d.without == "" || lacks(d.without)) {
			return true
		}
	}
	return false
}

// lacks reports whether one of the things that Facter needs is missing.
func lacks(things string) bool {
	return slices.ContainsFunc(strings.Fields(things), func(thing string) bool {
		if library, ok := strings.CutPrefix(thing, "ruby:"); ok {
			return exec.Command("ruby", "-r"+library, "-e", "").Run() != nil
		}
		if strings.HasPrefix(thing, "/") {
			_, err := os.Stat(thing)
			return err != nil
		}
		return !slices.ContainsFunc(append(filepath.SplitList(os.Getenv("PATH")), "/sbin", "/usr/sbin"), func(dir string) bool {
			_, err := exec.LookPath(filepath.Join(dir, thing))
			return err == nil
		})
	})
}

// nothing reports whether Facter has no more in a fact than that there is none.
func nothing(v data.Value) bool {
	switch v.Kind() {
	case data.Int:
		return v.Int() == 0
	case data.Hash:
		return v.Len() == 0
	}
	return v.Str() == "0 bytes" || v.Str() == "100%"
}

// real runs Facter and returns what it prints.
func real(t *testing.T, args ...string) data.Value {
	t.Helper()
	program, err := exec.LookPath("facter")
	if err != nil {
		t.Skip("facter is not installed: nothing to compare with")
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all facts")
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, append(args, "--json")...)
	cmd.Stderr = &stderr
	out, failed := cmd.Output() // fails when any fact does, and still prints the others
	v, err := format.DecodeJSON(out, format.Limits{})
	if err != nil {
		t.Fatalf("run facter: %v: %v: %s", failed, err, stderr.String())
	}
	if version := v.Get("facterversion").Str(); !strings.HasPrefix(version, "4.3.") {
		t.Skipf("facter is version %q, and the facts have the shape of 4.3", version)
	}
	return v
}

func TestRealFacter(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		t.Run(fmt.Sprintf("legacy=%t", legacy), func(t *testing.T) {
			args := []string{"--no-external-facts"}
			if legacy {
				args = append(args, "--show-legacy")
			}
			same(t, func() (got, want data.Value) {
				want = real(t, args...)
				got, problems := collect(t, facter.Options{Legacy: legacy, Environ: plainEnviron()})
				t.Log(problems)
				return got, want
			})
		})
	}
}

// plainEnviron is the environment without facts of its own.
func plainEnviron() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(strings.ToLower(kv), "facter") {
			env = append(env, kv)
		}
	}
	return env
}

// same checks that Facter and we have the same facts. The machine may change
// between the one and the other, but not each time.
func same(t *testing.T, facts func() (got, want data.Value)) {
	t.Helper()
	var all differing
	for range 10 {
		all = nil
		got, want := facts()
		compare(&all, "", got, want)
		if len(all) == 0 {
			return
		}
	}
	t.Errorf("%s", strings.Join(all, "\n"))
}

// differing is what compare finds.
type differing []string

func (d *differing) Errorf(text string, args ...any) { *d = append(*d, fmt.Sprintf(text, args...)) }

func compare(t *differing, at string, got, want data.Value) {
	if got.Kind() != want.Kind() {
		t.Errorf("%s: got %s, Facter has %s", at, got, want)
		return
	}
	if got.Kind() != data.Hash {
		if !data.Equal(got, want) && !(allowed(at, volatile) && similar(got, want)) {
			t.Errorf("%s: got %s, Facter has %s", at, got, want)
		}
		return
	}
	for _, p := range want.Hash() {
		fact := join(at, p.Key.Str())
		if v, ok := got.Lookup(p.Key.Str()); ok {
			compare(t, fact, v, p.Value)
		} else if !allowed(fact, missing) && !(allowed(fact, zero) && nothing(p.Value)) {
			t.Errorf("%s: missing, Facter has %s", fact, p.Value)
		}
	}
	for _, p := range got.Hash() {
		fact := join(at, p.Key.Str())
		if _, ok := want.Lookup(p.Key.Str()); !ok && !allowed(fact, ours) {
			t.Errorf("%s: got %s, Facter has no such fact", fact, p.Value)
		}
	}
}

// join keeps a path of the fact apart from slashes in its keys.
func join(at, key string) string {
	key = strings.ReplaceAll(key, "/", "|")
	if at == "" {
		return key
	}
	return at + "/" + key
}

// similar reports whether two values that change look like the same: the same
// text but for its numbers, or numbers that are not far apart.
func similar(a, b data.Value) bool {
	number := func(v data.Value) (float64, string, bool) {
		switch v.Kind() {
		case data.Int:
			return float64(v.Int()), "", true
		case data.Float:
			return v.Float(), "", true
		}
		digits, unit, _ := strings.Cut(strings.TrimSuffix(v.Str(), "%"), " ")
		f, err := strconv.ParseFloat(digits, 64)
		return f, unit, err == nil
	}
	x, unitX, okX := number(a)
	y, unitY, okY := number(b)
	if !okX || !okY {
		return okX == okY
	}
	return unitX != unitY || math.Abs(x-y) <= 5+0.5*max(x, y)
}

// What Facter makes of a directory of external facts, we make of it too.
func TestRealFacterExternal(t *testing.T) {
	dir := write(t, map[string]string{
		"a.yaml":      "foo: one\nBar: {x: [1, 2.5, true, ~]}\nnone:\nkernel: ~\ntimezone: Mine\na.b: c\n1: x\n",
		"times.yaml":  "d: 2020-01-02\nt: 2020-01-02 03:04:05\nu: 2020-01-02T03:04:05Z\nlast: 2020-01-02 03:04:05\n",
		"types.yaml":  "oct: 010\nhex: 0x1F\nsex: 1:30\nno1: no\ny1: y\ncomma: 1,000\nfloat: 1_0.5\nexp: 1e3\nquoted: '1'\nbig: 123456789012345678901\n",
		"symbol.yaml": "lost: 1\ns: :x\n",
		"list.yaml":   "- p\n- q\n",
		"b.yml":       "yml: 1\n",
		"bad.json":    "{",
		"j.json":      `{"foo":"json","j":{"a":null,"b":1e2,"c":"\u00e9"},"j2":1,"j2":2}`,
		"k.txt":       "foo=text\nbad\n=x\nb==c\nd=e=f\n sp = v \nMixed=1\nempty=\n",
		"u.txt":       "utf=\xc3\xa9\n",
		"n.txt":       "nonutf=\xff\n",
		".h.txt":      "hidden=1\n",
		"plain":       "plain=1\n",
		"e1*":         "#!/bin/sh\necho e1=1\necho E2= 2\necho err >&2\nexit 3\n",
		"e2.sh*":      "#!/bin/sh\necho 'sym: :s'\necho 'ex: {a: [1]}'\n",
		"e3.exe*":     "#!/bin/sh\necho exe=1\n",
		"e4*":         "#!/bin/sh\necho '{\"ej\": {\"a\": 1.0}}'\n",
		"e5*":         "#!/bin/sh\nprintf 'nonutf2=\\377'\n",
		"z.yaml":      "foo:\n",
	})
	t.Setenv("FACTER_Seen", "by both")
	t.Setenv("FACTER_foo", "of the environment")
	var problems []facter.Problem
	same(t, func() (got, want data.Value) {
		want = real(t, "--external-dir", dir)
		got, problems = collect(t, facter.Options{
			ExternalDirs: []string{dir},
			Environ:      append(plainEnviron(), "FACTER_Seen=by both", "FACTER_foo=of the environment"),
		})
		return facter.Stringify(got), want
	})
	if n := len(about(dir, problems)); n != 7 {
		t.Errorf("got %d problems, want 7: %q", n, about(dir, problems))
	}
}

// A real facter run as a command gives what it prints.
func TestRealFacterCommand(t *testing.T) {
	program, _ := exec.LookPath("facter")
	same(t, func() (got, want data.Value) {
		want = real(t, "--no-external-facts")
		got, _ = collect(t, facter.Options{Command: program, Environ: plainEnviron()})
		return got, want
	})
}
