package providers

import (
	"regexp"
	"strconv"
	"strings"

	debversion "github.com/knqyf263/go-deb-version"
	rpmversion "github.com/knqyf263/go-rpm-version"

	"indirtui/indirector/data"
)

// A versionRange is one version, or bounds that all must hold: >1.0 <2.
type versionRange struct {
	exact   bool
	bounds  []bound
	compare func(a, b string) int
}

type bound struct{ operator, version string }

var boundPattern = regexp.MustCompile(`^([<>=]*)(.+)$`)

// parseRange reads a range; ok is false if it is none. Of more than two bounds only two
// count, as in Puppet.
func parseRange(text string, valid func(string) bool, compare func(a, b string) int) (r versionRange, ok bool) {
	r.compare = compare
	for _, word := range strings.Fields(text) {
		m := boundPattern.FindStringSubmatch(word)
		if m == nil || !valid(m[2]) {
			return r, false
		}
		switch m[1] {
		case "", "<", "<=", ">", ">=":
			r.bounds = append(r.bounds, bound{m[1], m[2]})
		default:
			return r, false
		}
	}
	r.exact = len(r.bounds) == 1 && r.bounds[0].operator == ""
	r.bounds = r.bounds[:min(len(r.bounds), 2)]
	return r, len(r.bounds) > 0
}

// has reports whether a version is within the bounds.
func (r versionRange) has(version string) bool {
	for _, b := range r.bounds {
		c := r.compare(version, b.version)
		in := map[string]bool{"": c == 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}
		if !in[b.operator] {
			return false
		}
	}
	return true
}

var debianPattern = regexp.MustCompile(`^(?:[0-9]+:)?[.+~0-9a-zA-Z-]+?(?:-[.+~0-9a-zA-Z]*)?$`)

func debianValid(version string) bool { return debianPattern.MatchString(version) }

// compareDebian compares by Debian's rules. Versions that the library refuses, since they
// begin with a letter, compare as texts.
func compareDebian(a, b string) int {
	va, err1 := debversion.NewVersion(a)
	vb, err2 := debversion.NewVersion(b)
	if err1 != nil || err2 != nil {
		return strings.Compare(a, b)
	}
	return va.Compare(vb)
}

func debianRange(text string) (versionRange, bool) {
	return parseRange(text, debianValid, compareDebian)
}

// debianIn reports whether an installed version is in the range that is wanted; ok is
// false if one of them is no version.
func debianIn(is, want data.Value) (in, ok bool) {
	if is.Kind() != data.String || want.Kind() != data.String || !debianValid(is.Str()) {
		return false, false
	}
	r, ok := debianRange(want.Str())
	return ok && r.has(is.Str()), ok
}

// An evr is a version of RPM. What is not there is "".
type evr struct{ epoch, version, release string }

// architectures that may stand at the end of a release.
var architectures = regexp.MustCompile(`\.?(?:noarch|i386|i686|ppc64|ppc|armv3l|armv4b|armv4l|armv4tl|armv5tel|armv5tejl|armv6l|armv7l|m68kmint|s390x|s390|ia64|x86_64|sh3|sh4)`)

func parseEVR(text string) evr {
	var v evr
	if epoch, rest, ok := strings.Cut(text, ":"); ok {
		text = rest
		if n, err := strconv.Atoi(epoch); err == nil {
			v.epoch = strconv.Itoa(n)
		}
	}
	v.version, v.release, _ = strings.Cut(text, "-")
	v.release = architectures.ReplaceAllString(v.release, "")
	return v
}

// compareRPM compares what should be with what is. An epoch or release that should not
// be anything is equal to all.
func compareRPM(should, is string) int {
	a, b := parseEVR(should), parseEVR(is)
	if a.epoch != "" {
		if c := compareSegments(a.epoch, b.epoch); c != 0 {
			return c
		}
	}
	if c := compareSegments(a.version, b.version); c != 0 || a.release == "" {
		return c
	}
	return compareSegments(a.release, b.release)
}

// compareWhole is compareRPM where no epoch is epoch 0, as ranges compare.
func compareWhole(a, b string) int {
	for _, v := range []*string{&a, &b} {
		if parseEVR(*v).epoch == "" {
			_, rest, found := strings.Cut(*v, ":")
			if !found {
				rest = *v
			}
			*v = "0:" + rest
		}
	}
	return compareRPM(a, b)
}

// compareSegments compares one part. What is not there is less than anything.
func compareSegments(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return -1
	case b == "":
		return 1
	}
	return rpmversion.NewVersion("0:" + strings.ReplaceAll(a, "-", ".")).Compare(rpmversion.NewVersion("0:" + strings.ReplaceAll(b, "-", ".")))
}

func rpmRange(text string) (versionRange, bool) {
	return parseRange(text, func(string) bool { return true }, compareWhole)
}
