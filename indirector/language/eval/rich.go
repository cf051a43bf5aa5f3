package eval

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// This file is what the evaluator knows of the rich values of package types.

// A richKind is a kind of rich values.
type richKind uint8

const (
	notRich richKind = iota
	isType
	isRegexp
	isSensitive
	isTimestamp
	isTimespan
	isVersion
	isVersions
	isBinary
	isURI
	isIterator
)

// richNames are the names of the types of the kinds.
var richNames = [...]string{
	isRegexp: "Regexp", isSensitive: "Sensitive", isTimestamp: "Timestamp", isTimespan: "Timespan",
	isVersion: "SemVer", isVersions: "SemVerRange", isBinary: "Binary", isURI: "URI",
}

// richTypes are the types of the kinds, and of what they are converted through.
var richTypes = sync.OnceValue(func() map[string]types.Type {
	all := map[string]types.Type{}
	for _, name := range append(richNames[isRegexp:], "String", "Class", "Resource", "Integer", "Float", "Iterator", "Iterable", "Variant", "Type") {
		if name != "" {
			all[name] = MustType(name)
		}
	}
	return all
})

// MustType returns the type of a text, which is one of this program.
func MustType(text string) types.Type { return mustType(text, nil) }

func mustType(text string, lookup types.Lookup) types.Type {
	t, err := types.Parse(text, lookup)
	if err != nil {
		panic("eval: type " + text + ": " + err.Error())
	}
	return t
}

// Assignable reports whether a type accepts another: whether that is an instance of the
// type of the first. Rule LANG-TYPE-20.
func Assignable(t, o types.Type) bool {
	v, err := types.Parametrize(richTypes()["Type"], []data.Value{types.OfType(t)})
	of, ok := types.AsType(v)
	return err == nil && ok && types.Instance(of, types.OfType(o))
}

func kindOf(v data.Value) richKind {
	if v.Kind() != data.Rich {
		return notRich
	}
	if _, ok := types.AsType(v); ok {
		return isType
	}
	if _, ok := v.Rich().(*Iterator); ok {
		return isIterator
	}
	for kind, name := range richNames {
		if name != "" && types.Instance(richTypes()[name], v) {
			return richKind(kind)
		}
	}
	return notRich
}

func isTime(k richKind) bool { return k == isTimestamp || k == isTimespan }

func newRich(name string, args ...data.Value) (data.Value, error) {
	return types.New(richTypes()[name], args)
}

func newRegexp(source string) (data.Value, error) { return newRich("Regexp", data.OfString(source)) }

// inner returns what the notation of a rich value as data has as its value.
func inner(v data.Value) data.Value {
	plain, _ := types.ToData(v)
	return plain.Get("__pvalue")
}

// Unwrap returns the value of a secret, and whether v is one.
func Unwrap(v data.Value) (data.Value, bool) {
	if kindOf(v) != isSensitive {
		return v, false
	}
	return types.OfData(inner(v)), true
}

// RegexpSource returns the source of a regular expression, and whether v is one.
func RegexpSource(v data.Value) (string, bool) {
	if kindOf(v) != isRegexp {
		return "", false
	}
	return inner(v).Str(), true
}

// compiled are regular expressions by their sources. They are few: those of programs.
var compiled sync.Map

// CompileRegexp returns a regular expression, which is compiled once. An error is in
// Ruby's words.
func CompileRegexp(source string) (*regexp.Regexp, error) {
	if re, ok := compiled.Load(source); ok {
		return re.(*regexp.Regexp), nil
	}
	re, err := onig.Compile(source)
	if err != nil {
		return nil, err
	}
	compiled.Store(source, re)
	return re, nil
}

// Nanoseconds returns a time in nanoseconds: since 1970, or its length. It is false if v
// is no time.
func Nanoseconds(v data.Value) (ns int64, ok bool) {
	if !isTime(kindOf(v)) {
		return 0, false
	}
	text, err := newRich("String", v, data.OfString("%p"))
	if err != nil {
		return 0, false
	}
	_, digits, _ := strings.Cut(strings.TrimSuffix(text.Str(), ">"), "@nsecs=")
	ns, err = strconv.ParseInt(digits, 10, 64)
	return ns, err == nil
}

// timespanOf returns a length of time.
func timespanOf(ns int64) (data.Value, error) {
	parts := make([]data.Value, 7)
	for i := range parts {
		parts[i] = data.OfInt(0)
	}
	parts[6] = data.OfInt(ns)
	return newRich("Timespan", parts...)
}

// timestampOf returns a point in time.
func timestampOf(ns int64) (data.Value, error) {
	return newRich("Timestamp", data.OfString(timestampText(ns)))
}

// A semver is a semantic version.
type semver struct {
	numbers    [3]uint64
	prerelease string
}

// semverOf reads a version, which is one.
func semverOf(s string) semver {
	var v semver
	core, _, _ := strings.Cut(s, "+")
	core, v.prerelease, _ = strings.Cut(core, "-")
	for i, part := range strings.SplitN(core, ".", 3) {
		v.numbers[i], _ = strconv.ParseUint(part, 10, 64)
	}
	return v
}

// TypePatterns returns the sources of the regular expressions of a type Regexp or Pattern,
// and whether a value is one.
func TypePatterns(v data.Value) ([]string, bool) {
	t, ok := types.AsType(v)
	if !ok || !Assignable(MustType("Variant[Pattern, Regexp]"), t) {
		return nil, false
	}
	text := t.String()
	if _, definition, ok := strings.Cut(text, " = "); ok {
		text = definition
	}
	prog, report := syntax.Parse(&syntax.Source{Text: text}, syntax.Options{})
	if report.Failure != nil {
		return nil, false
	}
	var out []string
	syntax.Walk(prog.Body, func(n syntax.Node) bool {
		if re, ok := n.(*syntax.Regexp); ok {
			out = append(out, re.Source)
		}
		return true
	})
	return out, strings.HasPrefix(text, "Regexp") || strings.HasPrefix(text, "Pattern")
}
