package types

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// A version is a semantic version.
type version struct {
	numbers    [3]uint64
	prerelease string
	text       string
}

// versions are a range of versions: one of several spans.
type versions struct {
	text  string
	spans []span
}

// A span is a range of versions without gaps. A nil end is open.
type span struct {
	from, to                 *version
	excludesFrom, excludesTo bool
}

// String returns a span as comparisons.
func (s span) String() string {
	var parts []string
	if s.from != nil {
		parts = append(parts, chosen(s.excludesFrom, ">", ">=")+s.from.text)
	}
	if s.to != nil {
		parts = append(parts, chosen(s.excludesTo, "<", "<=")+s.to.text)
	}
	return strings.Join(parts, " ")
}

func (v version) String() string { return v.text }

func (v version) EqualRich(o data.RichValue) bool {
	x, ok := o.(version)
	return ok && v.text == x.text
}

func (r versions) String() string { return r.text }

func (r versions) EqualRich(o data.RichValue) bool {
	x, ok := o.(versions)
	return ok && r.meaning() == x.meaning()
}

// meaning returns the spans, which may be those of another text.
func (r versions) meaning() string {
	var b strings.Builder
	for _, s := range r.spans {
		b.WriteString(s.String() + " || ")
	}
	return b.String()
}

func parseVersion(s string) (version, error) {
	s, err := rich.ParseVersion(s)
	if err != nil {
		return version{}, err
	}
	return versionOf(s), nil
}

// versionOf reads a version, which is one.
func versionOf(s string) version {
	v := version{text: s}
	core, _, _ := strings.Cut(s, "+")
	core, v.prerelease, _ = strings.Cut(core, "-")
	for i, part := range strings.SplitN(core, ".", 3) {
		v.numbers[i], _ = strconv.ParseUint(part, 10, 64)
	}
	return v
}

// CompareVersions orders the texts of two semantic versions: a version is later than its
// prereleases.
func CompareVersions(a, b string) int { return versionOf(a).compare(versionOf(b)) }

// compare orders versions. A version is later than its prereleases.
func (v version) compare(o version) int {
	if c := slices.Compare(v.numbers[:], o.numbers[:]); c != 0 {
		return c
	}
	switch {
	case v.prerelease == o.prerelease:
		return 0
	case v.prerelease == "":
		return 1
	case o.prerelease == "":
		return -1
	}
	return slices.CompareFunc(strings.Split(v.prerelease, "."), strings.Split(o.prerelease, "."), compareParts)
}

// compareParts orders numbers before words.
func compareParts(a, b string) int {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}

func onlyVersion(v version) versions {
	return versions{v.text + " - " + v.text, []span{{from: &v, to: &v}}}
}

// include leaves prereleases out, unless an end of the span has the same numbers
// and is one.
func (r versions) include(v version) bool {
	return slices.ContainsFunc(r.spans, func(s span) bool {
		if s.from != nil {
			if c := v.compare(*s.from); c < 0 || c == 0 && s.excludesFrom {
				return false
			}
		}
		if s.to != nil {
			if c := v.compare(*s.to); c > 0 || c == 0 && s.excludesTo {
				return false
			}
		}
		near := func(end *version) bool { return end != nil && end.prerelease != "" && end.numbers == v.numbers }
		return v.prerelease == "" || near(s.from) || near(s.to)
	})
}

// covers reports whether each range of o lies in one of t.
func (t versionType) covers(o versionType) bool {
	if len(t.ranges) == 0 {
		return true
	}
	return len(o.ranges) > 0 && !slices.ContainsFunc(o.ranges, func(x versions) bool {
		return !slices.ContainsFunc(t.ranges, func(r versions) bool { return r.covers(x) })
	})
}

func (r versions) covers(o versions) bool {
	return !slices.ContainsFunc(o.spans, func(x span) bool {
		return !slices.ContainsFunc(r.spans, func(s span) bool { return s.covers(x) })
	})
}

func (s span) covers(o span) bool {
	if s.from != nil {
		if o.from == nil {
			return false
		}
		if c := s.from.compare(*o.from); c > 0 || c == 0 && s.excludesFrom && !o.excludesFrom {
			return false
		}
	}
	if s.to != nil {
		if o.to == nil {
			return false
		}
		if c := s.to.compare(*o.to); c < 0 || c == 0 && s.excludesTo && !o.excludesTo {
			return false
		}
	}
	return true
}

// parseVersions reads a range of versions.
func parseVersions(s string) (versions, error) {
	s, err := rich.ParseVersionRange(s)
	if err != nil {
		return versions{}, err
	}
	out := versions{text: s}
	for alternative := range strings.SplitSeq(s, "||") {
		out.spans = append(out.spans, parseSpan(alternative))
	}
	return out, nil
}

// parseSpan reads comparisons that must all hold. They were checked before.
func parseSpan(s string) span {
	fields := strings.Fields(s)
	if len(fields) == 3 && fields[1] == "-" {
		from, _ := bounds(fields[0])
		_, to := bounds(fields[2])
		return meet(span{from: from}, to)
	}
	var out span
	for i := 0; i < len(fields); i++ {
		op := strings.TrimRight(fields[i], "0123456789.xX*+-abcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWYZ")
		rest := strings.TrimPrefix(fields[i], op)
		if rest == "" && i+1 < len(fields) {
			i++
			rest = fields[i]
		}
		out = meet(out, comparisonOf(op, strings.TrimPrefix(rest, "v")))
	}
	return out
}

// comparisonOf returns the versions of one comparison.
func comparisonOf(op, s string) span {
	from, next := bounds(s)
	if from == nil {
		return span{}
	}
	switch op {
	case ">":
		if next.to != nil && next.excludesTo {
			return span{from: next.to}
		}
		return span{from: from, excludesFrom: true}
	case ">=":
		return span{from: from}
	case "<":
		return span{to: from, excludesTo: true}
	case "<=":
		return span{to: next.to, excludesTo: next.excludesTo}
	case "~", "~>", "~=":
		return span{from: from, to: successor(from, min(numbersIn(s), 2)-1), excludesTo: true}
	case "^":
		i := 0
		for i < 2 && from.numbers[i] == 0 {
			i++
		}
		return span{from: from, to: successor(from, i), excludesTo: true}
	}
	next.from = from
	return next
}

// numbersIn returns how many numbers of a version are given.
func numbersIn(s string) int {
	s, _, _ = strings.Cut(s, "-")
	n := 0
	for p := range strings.SplitSeq(s, ".") {
		if p == "" || strings.ContainsAny(p, "xX*") {
			break
		}
		n++
	}
	return min(n, 3)
}

// bounds returns the first version that a partial one means, nil if it means all,
// and where they end.
func bounds(s string) (*version, span) {
	n := numbersIn(s)
	if n == 0 {
		return nil, span{}
	}
	if n == 3 {
		v, err := parseVersion(s)
		if err != nil {
			return nil, span{}
		}
		return &v, span{to: &v}
	}
	var v version
	for i, p := range strings.Split(s, ".")[:n] {
		v.numbers[i], _ = strconv.ParseUint(p, 10, 64)
	}
	v.text = numbersText(v.numbers)
	return &v, span{to: successor(&v, n-1), excludesTo: true}
}

// successor returns the version with one number more, and zeros behind it.
func successor(v *version, i int) *version {
	out := version{numbers: v.numbers}
	out.numbers[i]++
	for i++; i < 3; i++ {
		out.numbers[i] = 0
	}
	out.text = numbersText(out.numbers)
	return &out
}

func numbersText(n [3]uint64) string {
	return strconv.FormatUint(n[0], 10) + "." + strconv.FormatUint(n[1], 10) + "." + strconv.FormatUint(n[2], 10)
}

// meet returns what is in both.
func meet(a, b span) span {
	if a.from == nil || b.from != nil && b.from.compare(*a.from) > 0 {
		a.from, a.excludesFrom = b.from, b.excludesFrom
	}
	if a.to == nil || b.to != nil && b.to.compare(*a.to) < 0 {
		a.to, a.excludesTo = b.to, b.excludesTo
	}
	return a
}
