package eval

import (
	"bytes"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// match compiles =~ and !~. Rule LANG-OP-08.
func (c *compiler) match(n *syntax.Binary) code {
	s, left, right, want := c.site(n), c.node(n.Left), c.node(n.Right), n.Op == "=~"
	return func(f *frame) (data.Value, error) {
		a, err := left(f)
		if err != nil {
			return a, err
		}
		b, err := right(f)
		if err != nil {
			return b, err
		}
		ok, err := matches(f, n, a, b)
		if err != nil {
			return data.Value{}, s.fail(f, err)
		}
		return data.OfBool(ok == want), nil
	}
}

func matches(f *frame, n *syntax.Binary, v, pattern data.Value) (bool, error) {
	if t, ok := types.AsType(pattern); ok {
		return f.thread.check(t, v)
	}
	source, ok := types.RegexpSource(pattern)
	switch {
	case ok:
	case kindOf(pattern) == isVersions:
		return includes(pattern, v), nil
	case pattern.Kind() != data.String:
		return false, issueAt(n.Right, "Can not convert right match operand to a regular expression. Caused by '%s'.", NoString(pattern))
	default:
		source = pattern.Str()
	}
	re, err := onig.Shared(source)
	if err != nil {
		return false, issueAt(n.Right, "Can not convert right match operand to a regular expression. Caused by '%s'.", err)
	}
	if v.Kind() != data.String {
		return false, issueAt(n.Left, "Left match operand must result in a String value. Got %s.", withArticle(Label(v)))
	}
	return f.find(re, v.Str())
}

// find matches a text, and sets the match variables if it does.
func (f *frame) find(re *onig.Regexp, s string) (bool, error) {
	at, err := f.thread.Within(re).Find(s)
	if at == nil {
		return false, err
	}
	f.match = Groups(s, at)
	return true, nil
}

// Groups returns what the groups of a match are, by their places; one that took no part
// is undef.
func Groups(s string, at []int) []data.Value {
	out := make([]data.Value, len(at)/2)
	for i := range out {
		if from := at[2*i]; from >= 0 {
			out[i] = data.OfString(s[from:at[2*i+1]])
		}
	}
	return out
}

// includes reports whether a range of versions has a version, or a text that is one.
func includes(versions, v data.Value) bool {
	if v.Kind() == data.String {
		version, err := newRich("SemVer", v)
		if err != nil {
			return false
		}
		v = version
	}
	if kindOf(v) != isVersion {
		return false
	}
	t, err := types.Parametrize(richTypes()["SemVer"], []data.Value{versions})
	if err != nil {
		return false
	}
	ranged, _ := types.AsType(t)
	return types.Instance(ranged, v)
}

// NoString is Ruby's message about a value that should be a string.
func NoString(v data.Value) string {
	return "no implicit conversion of " + RubyClass(v) + " into String"
}

// RubyClass returns the name of the class that a value has in Puppet, as Ruby's messages
// show it; those of constants by their values.
func RubyClass(v data.Value) string {
	switch v.Kind() {
	case data.Nil:
		return "nil"
	case data.Bool:
		return v.Text()
	case data.Symbol:
		return "Symbol"
	case data.Rich:
		return richClass(v)
	}
	return Label(v)
}

// ClassName is RubyClass that names the classes of constants, too.
func ClassName(v data.Value) string {
	switch v.Kind() {
	case data.Nil:
		return "NilClass"
	case data.Bool:
		if v.Bool() {
			return "TrueClass"
		}
		return "FalseClass"
	}
	return RubyClass(v)
}

func richClass(v data.Value) string {
	switch kind := kindOf(v); kind {
	case isType:
		t, _ := types.AsType(v)
		if ref, ok := types.AsReference(t); ok && ref.Type != "Class" {
			return "Puppet::Pops::Types::PResourceType"
		}
		name, _, _ := strings.Cut(t.String(), "[")
		if strings.Contains(name, " = ") {
			name = "TypeAlias"
		}
		return "Puppet::Pops::Types::P" + name + "Type"
	case isTimestamp, isTimespan:
		return "Puppet::Pops::Time::" + richNames[kind]
	case isSensitive:
		return "Puppet::Pops::Types::PSensitiveType::Sensitive"
	case isBinary:
		return "Puppet::Pops::Types::PBinaryType::Binary"
	case isVersion:
		return "SemanticPuppet::Version"
	case isVersions:
		return "SemanticPuppet::VersionRange"
	case isURI:
		return "URI::Generic"
	}
	if isDeferred(v) {
		return "Deferred"
	}
	return Label(v)
}

// inclusion compiles the operator in. Rule LANG-OP-09.
func (c *compiler) inclusion(n *syntax.Binary) code {
	s, left, right := c.site(n), c.node(n.Left), c.node(n.Right)
	return func(f *frame) (data.Value, error) {
		a, err := left(f)
		if err != nil {
			return a, err
		}
		b, err := right(f)
		if err != nil {
			return b, err
		}
		ok, err := f.contains(b, a)
		if err != nil {
			return data.Value{}, s.fail(f, err)
		}
		return data.OfBool(ok), nil
	}
}

// contains reports whether a value is in another.
func (f *frame) contains(whole, v data.Value) (bool, error) {
	switch whole.Kind() {
	case data.String:
		return f.inString(whole.Str(), v)
	case data.List:
		return f.inList(whole.List(), v)
	case data.Hash:
		keys := make([]data.Value, whole.Len())
		for i, p := range whole.Hash() {
			keys[i] = p.Key
		}
		return f.inList(keys, v)
	}
	switch kindOf(whole) {
	case isBinary:
		return inBinary(Bytes(whole), v), nil
	case isVersions:
		return includes(whole, v), nil
	}
	return false, nil
}

func (f *frame) inString(s string, v data.Value) (bool, error) {
	if v.Kind() == data.String {
		return strings.Contains(strings.ToLower(s), strings.ToLower(v.Str())), nil
	}
	source, ok := types.RegexpSource(v)
	if !ok {
		return false, nil
	}
	re, err := onig.Shared(source)
	if err != nil {
		return false, err
	}
	return f.find(re, s)
}

func inBinary(b []byte, v data.Value) bool {
	switch {
	case v.Kind() == data.String:
		return bytes.Contains(b, []byte(v.Str()))
	case v.Kind() == data.Int:
		return v.Int() >= 0 && v.Int() < 256 && bytes.IndexByte(b, byte(v.Int())) >= 0
	case kindOf(v) == isBinary:
		return bytes.Contains(b, Bytes(v))
	}
	return false
}

func (f *frame) inList(l []data.Value, v data.Value) (bool, error) {
	t, isType := types.AsType(v)
	if source, ok := types.RegexpSource(v); ok {
		re, err := onig.Shared(source)
		if err != nil {
			return false, err
		}
		for _, x := range l {
			if x.Kind() != data.String {
				continue
			}
			if ok, err := f.find(re, x.Str()); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	for _, x := range l {
		switch {
		case isType:
			if ok, err := f.thread.check(t, x); ok || err != nil {
				return ok, err
			}
		case v.Kind() == data.String, kindOf(v) == isVersion:
			if ok, err := f.option(v, x); ok || err != nil {
				return ok, err
			}
		case Equal(x, v):
			return true, nil
		}
	}
	return false, nil
}

// option reports whether an option of a case takes a value. Rule LANG-EV-04.
func (f *frame) option(v, option data.Value) (bool, error) {
	if t, ok := types.AsType(option); ok {
		return f.thread.check(t, v)
	}
	switch option.Kind() {
	case data.List:
		if v.Kind() != data.List || v.Len() != option.Len() {
			return false, nil
		}
		for i, x := range option.List() {
			if ok, err := f.option(v.List()[i], x); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	case data.Hash:
		if v.Kind() != data.Hash {
			return false, nil
		}
		for _, p := range option.Hash() {
			x, _ := Lookup(v, p.Key)
			if ok, err := f.option(x, p.Value); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	case data.Symbol:
		return true, nil
	case data.Rich:
		return f.richOption(v, option)
	}
	return Equal(v, option), nil
}

func (f *frame) richOption(v, option data.Value) (bool, error) {
	switch kindOf(option) {
	case isRegexp:
		if v.Kind() != data.String {
			return false, nil
		}
		source, _ := types.RegexpSource(option)
		re, err := onig.Shared(source)
		if err != nil {
			return false, err
		}
		return f.find(re, v.Str())
	case isVersions:
		return includes(option, v), nil
	case isVersion:
		if v.Kind() == data.String {
			version, err := newRich("SemVer", v)
			return err == nil && data.Equal(version, option), nil
		}
	}
	return Equal(v, option), nil
}
