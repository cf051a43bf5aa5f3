package providers

import (
	commands "os/exec"
	"testing"

	"indirtui/indirector/data"
)

// TestVersions compares with ranges as Puppet does. Rules RES-PKG-02 and RES-PKG-03.
func TestVersions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		is, want string
		in, ok   bool
	}{
		{"1.2-1", "1.2-1", true, true},
		{"1.2-1", ">1.0 <2", true, true},
		{"2.0-1", ">1.0 <2", false, true},
		{"1.0~rc1", "<1.0", true, true},
		{"1:0.1", ">9", true, true},
		{"1.0", "=>1", false, false},
		{"1.0", "a b c d", false, true},
		{"not a version", "1", false, false},
	} {
		in, ok := debianIn(data.OfString(tt.is), data.OfString(tt.want))
		if in != tt.in || ok != tt.ok {
			t.Errorf("%s in %s: got %t, %t; want %t, %t", tt.is, tt.want, in, ok, tt.in, tt.ok)
		}
	}
	for _, tt := range []struct {
		should, is string
		want       int
	}{
		{"1.0-1", "1.0-1.el9", -1},
		{"1.0", "1.0-1.el9", 0},
		{"1.0-1", "1:1.0-1", 0},
		{"2:1.0-1", "1:1.0-1", 1},
		{"1.10", "1.9", 1},
		{"1.0~rc1", "1.0", -1},
		{"1.0-1.x86_64", "1.0-1", 0},
	} {
		if got := compareRPM(tt.should, tt.is); got != tt.want {
			t.Errorf("%s, %s: got %d, want %d", tt.should, tt.is, got, tt.want)
		}
	}
}

// FuzzDebianVersions compares with dpkg where it is installed, and turned round.
func FuzzDebianVersions(f *testing.F) {
	f.Add("1.0-1", "1.0~rc1-1")
	f.Add("1:2.3", "2.3+dfsg-4")
	dpkg, _ := commands.LookPath("dpkg")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !debianValid(a) || !debianValid(b) || len(a) > 100 || len(b) > 100 {
			return
		}
		c := compareDebian(a, b)
		if back := compareDebian(b, a); back != -c {
			t.Errorf("%q, %q: %d, but %d turned round", a, b, c, back)
		}
		if dpkg == "" || a[0] < '0' || a[0] > '9' || b[0] < '0' || b[0] > '9' {
			return
		}
		if commands.Command(dpkg, "--compare-versions", a, "eq", b).Run() == nil && c != 0 {
			t.Errorf("%q, %q: got %d, and dpkg takes them for equal", a, b, c)
		}
	})
}

func FuzzRPMVersions(f *testing.F) {
	f.Add("1:1.0-1.el9", "1.0~rc1-1")
	f.Fuzz(func(t *testing.T, a, b string) {
		if c, back := compareWhole(a, b), compareWhole(b, a); len(a) < 100 && len(b) < 100 && parseEVR(a).release != "" && parseEVR(b).release != "" && c != -back {
			t.Errorf("%q, %q: %d, but %d turned round", a, b, c, back)
		}
		if r, ok := rpmRange(a); ok {
			r.has(b)
		}
	})
}
