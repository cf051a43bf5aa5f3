package rich

import (
	"encoding/base64"
	"regexp"
	"strings"

	"indirtui/indirector/data"
)

// A scalar is a type whose values are written as texts.
type scalar struct {
	function  string // that makes one, and how many arguments it expects
	arguments string
	normal    func(string) (string, error) // the text as Puppet writes it again
}

var scalars = map[string]scalar{
	"Timespan": {"new_timespan", "between 1 and 7 arguments", func(s string) (string, error) {
		if s == "" {
			return "", errorf(emptyTimespan)
		}
		t, err := ParseTimespan(s)
		return t.String(), err
	}},
	"Timestamp": {"new_timestamp", "", func(s string) (string, error) {
		if s == "" {
			return "", errorf(emptyTimestamp)
		}
		t, err := ParseTimestamp(s)
		return FormatTimestamp(t), err
	}},
	"SemVer":      {"new_Version", "between 1 and 5 arguments", ParseVersion},
	"SemVerRange": {"new_VersionRange", "between 1 and 3 arguments", ParseVersionRange},
	"URI":         {"new_error", "1 argument", ParseURI},
	"Binary":      {"new_Binary", "between 1 and 2 arguments", parseBinary},
	"Regexp":      {"new_float", "between 1 and 2 arguments", func(s string) (string, error) { return s, CheckRegexp(s) }},
}

func (s scalar) read(name string, v data.Value) (string, error) {
	switch {
	case v.Kind() == data.String:
		return s.normal(v.Str())
	case v.Kind() == data.Hash && v.Len() == 0 && s.arguments != "":
		return "", errorf(noArguments, s.function, s.arguments)
	case v.Kind() == data.Hash:
		return "", errorf(noMethod, "implementation_class", "#<Puppet::Pops::Types::P"+name+"Type>")
	}
	return "", errorf(badScalar, name, rubyClass(v))
}

func parseBinary(s string) (string, error) {
	if _, err := base64.StdEncoding.Strict().DecodeString(s); err != nil || strings.ContainsAny(s, "\r\n") {
		return "", errorf(badBase64)
	}
	return s, nil
}

const (
	numeric   = `(0|[1-9][0-9]*)`
	parts     = `[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*`
	anyNumber = `(x|X|\*|0|[1-9][0-9]*)`
	partial   = anyNumber + `(?:\.` + anyNumber + `(?:\.` + anyNumber + `(?:-(` + parts + `))?(?:\+(` + parts + `))?)?)?`
)

var (
	version = regexp.MustCompile(`\A` + numeric + `\.` + numeric + `\.` + numeric + `(?:-(` + parts + `))?(?:\+(` + parts + `))?\n?\z`)
	spaced  = regexp.MustCompile(`([><=~^])(?:\s+|\s*v)`)
	either  = regexp.MustCompile(`\s*\|\|\s*`)
	hyphen  = regexp.MustCompile(`\A` + partial + `\s+-\s+` + partial + `\z`)
	simple  = regexp.MustCompile(`\A([<>=~^]|<=|>=|~>|~=)?` + partial + `\z`)
)

// ParseVersion returns a semantic version as it is written.
func ParseVersion(s string) (string, error) {
	groups := version.FindStringSubmatch(s)
	if groups == nil {
		return "", errorf(badVersion, s)
	}
	return strings.TrimSuffix(s, "\n"), checkPrerelease(groups[4])
}

func checkPrerelease(s string) error {
	for part := range strings.SplitSeq(s, ".") {
		if len(part) > 1 && part[0] == '0' && strings.Trim(part, "0123456789") == "" {
			return errorf(leadingZero)
		}
	}
	return nil
}

// ParseVersionRange returns a range of semantic versions as it is written.
func ParseVersionRange(s string) (string, error) {
	if s == "" {
		return "", errorf(emptyRange)
	}
	alternatives := either.Split(spaced.ReplaceAllString(s, "$1"), -1)
	for len(alternatives) > 0 && alternatives[len(alternatives)-1] == "" {
		alternatives = alternatives[:len(alternatives)-1]
	}
	if len(alternatives) == 0 {
		return "*", nil
	}
	for _, a := range alternatives {
		if g := hyphen.FindStringSubmatch(a); g != nil {
			if err := checkPrerelease(g[4]); err != nil {
				return "", err
			}
			if err := checkPrerelease(g[9]); err != nil {
				return "", err
			}
			continue
		}
		if err := checkSimples(s, a); err != nil {
			return "", err
		}
	}
	return s, nil
}

// checkSimples checks the comparisons of one alternative. Puppet cannot read
// some that match all versions.
func checkSimples(whole, alternative string) error {
	all := regexp.MustCompile(`\s+`).Split(alternative, -1)
	for len(all) > 0 && all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		return nil
	}
	for _, one := range all {
		g := simple.FindStringSubmatch(one)
		if g == nil {
			return errorf(badVersions, whole)
		}
		if strings.ContainsAny(g[2], "xX*") {
			if g[1] == "^" || g[1] == "<=" {
				return errorf(noMethod, "SINGLETON", "SemanticPuppet::VersionRange::AllRange:Class")
			}
			if g[1] != ">=" && g[1] != "<" {
				continue // the rest is not looked at
			}
		}
		if strings.ContainsAny(g[3]+g[4], "xX*") && g[1] != ">=" && g[1] != "<" {
			continue
		}
		if err := checkPrerelease(g[5]); err != nil {
			return err
		}
	}
	return nil
}
