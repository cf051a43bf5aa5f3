package format

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// checkRich checks the rich values of a catalog or resource as Puppet does when
// it reads one. Values stay encoded. A value that Puppet could not decode is an
// error; an unknown type is kept and noted, because a module may define it.
// Rule: rich data, 4.1.
func checkRich(i indirector.Instance, notes Notes, lenient bool) (Notes, error) {
	c := richChecker{notes: notes, lenient: lenient}
	switch x := i.(type) {
	case *model.Catalog:
		for n := range x.Resources {
			c.parameters(&x.Resources[n])
		}
	case *model.Resource:
		c.parameters(x)
	}
	return c.notes, c.err
}

type richChecker struct {
	notes   Notes
	err     error
	lenient bool
}

func (c *richChecker) parameters(r *model.Resource) {
	for _, p := range r.Parameters.Hash() {
		c.value(p.Value)
	}
}

func (c *richChecker) value(v data.Value) {
	switch v.Kind() {
	case data.List:
		for _, x := range v.List() {
			c.value(x)
		}
	case data.Hash:
		for _, p := range v.Hash() {
			c.value(p.Value)
		}
		if t := v.Get("__ptype"); t.Kind() == data.String {
			c.typed(t.Str(), v.Get("__pvalue"))
		}
	}
}

// known are the types whose values are not checked, beside those of the type
// system, which begin with Pcore::.
var known = []string{
	"Hash", "Sensitive", "Default", "Symbol", "LocalRef", "Deferred", "Binary", "Timespan",
	"Regexp", "SemVer", "SemVerRange", "URI", "Error", "TypeSet", "CatalogEntry", "Target", "Parameter",
}

// scalars are the types whose values are strings.
var scalars = []string{"Timestamp", "Timespan", "Binary", "Regexp", "SemVer", "SemVerRange", "URI"}

func rubyClass(v data.Value) string {
	if v.Kind() == data.Bool {
		return map[bool]string{true: "TrueClass", false: "FalseClass"}[v.Bool()]
	}
	return [...]string{data.Int: "Integer", data.Big: "Integer", data.Float: "Float", data.Symbol: "Symbol", data.List: "Array", data.Hash: "Hash"}[v.Kind()]
}

func (c *richChecker) typed(name string, value data.Value) {
	switch {
	case name == "Timestamp" && value.Kind() == data.String:
		if !isTimestamp(value.Str()) {
			c.refuse(errorf(badTimestamp, value.Str()))
		}
	case name == "Binary" && value.Kind() == data.String:
		if _, err := base64.StdEncoding.Strict().DecodeString(value.Str()); err != nil {
			c.refuse(errors.New("invalid base64"))
		}
	case slices.Contains(scalars, name) && value.Kind() != data.String && value.Kind() != data.Hash && !value.IsNil():
		c.refuse(errorf(badScalar, name, rubyClass(value)))
	case strings.HasPrefix(name, "Pcore::"), slices.Contains(known, name):
	default:
		note := "real Puppet refuses this unless a module defines it: No implementation mapping found for Puppet Type " + name
		if !slices.Contains(c.notes, note) && len(c.notes) < 100 {
			c.notes = append(c.notes, note)
		}
	}
}

func (c *richChecker) refuse(err error) {
	if c.lenient {
		c.notes = append(c.notes, "real Puppet refuses this: "+err.Error())
		return
	}
	if c.err == nil {
		c.err = err
	}
}

// isTimestamp reports whether s is in one of the formats of a Timestamp.
func isTimestamp(s string) bool {
	if _, err := time.Parse("2006-01-02T15:04:05.000000000 UTC", s); err == nil {
		return true // as Puppet writes it
	}
	rest := ""
	if len(s) > 10 {
		s, rest = s[:10], s[10:]
	}
	if _, err := time.Parse("2006-01-02", s); err != nil {
		return false
	}
	if rest != "" && (rest[0] == 'T' || rest[0] == ' ' && len(rest) > 1 && isDigit(rest[1])) {
		clock, zone, _ := strings.Cut(rest[1:], " ")
		clock, _, _ = strings.Cut(clock, ".")
		if _, err := time.Parse("15:04:05", clock); err != nil {
			return false
		}
		rest = zone
	}
	return len(strings.Fields(rest)) <= 1
}
