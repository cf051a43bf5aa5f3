package types

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// choices are the values of an enumeration that have no more than a name.
func choices(names ...string) []Choice {
	all := make([]Choice, len(names))
	for i, n := range names {
		all[i].Name = n
	}
	return all
}

func patterns(sources ...string) []Pattern {
	all := make([]Pattern, len(sources))
	for i, s := range sources {
		all[i] = NewPattern(s)
	}
	return all
}

// nameParameter is the namevar name of most types.
func nameParameter(doc string) *Attribute {
	return &Attribute{Name: "name", Kind: Parameter, Doc: doc}
}

// boolean is a parameter that takes true, false, yes and no. Rule RES-TYPE-04.
func boolean(a Attribute) *Attribute {
	a.Kind = Parameter
	a.Choices = choices("true", "false", "yes", "no")
	a.Munge = mungeBoolean
	return &a
}

func mungeBoolean(_ *Resource, v data.Value) (data.Value, error) {
	switch strings.ToLower(word(v)) {
	case "true", "yes":
		return data.OfBool(true), nil
	case "false", "no":
		return data.OfBool(false), nil
	}
	return v, badArgument("expected a boolean value")
}

// ensurable is the property ensure of what is there or not. Rule RES-TYPE-07.
func ensurable(doc string) *Attribute {
	return &Attribute{
		Name: "ensure", Doc: doc, Creates: true, Choices: choices("present", "absent"),
		Default: presentIfManaged,
	}
}

func presentIfManaged(r *Resource) (data.Value, bool) {
	return data.OfSymbol("present"), r.AnyManaged()
}

// pathParameter is a parameter that takes a path, or several of them.
func pathParameter(a Attribute, several bool) *Attribute {
	a.Kind = Parameter
	a.Validate = func(r *Resource, v data.Value) error {
		if v.Kind() == data.List && !several {
			return refuse("%s only accepts a single path, not an array of paths", a.Name)
		}
		if slices.ContainsFunc(elements(v), func(p data.Value) bool { return !r.absolute(p) }) {
			return refuse("%s must be a fully qualified path", a.Name)
		}
		return nil
	}
	return &a
}

// elements is list, with the pairs of a hash as its elements: Ruby's Array().
func elements(v data.Value) []data.Value {
	if v.Kind() != data.Hash {
		return list(v)
	}
	var all []data.Value
	for _, p := range v.Hash() {
		all = append(all, data.OfList([]data.Value{p.Key, p.Value}))
	}
	return all
}

var lineAtRoot = regexp.MustCompile(`(?m)^/`)

// absolute reports whether v is a path that begins at the root: a line of it is enough
// for Puppet. What is no text is logged.
func (r *Resource) absolute(v data.Value) bool {
	if v.Kind() != data.String {
		r.warnPuppet(fmt.Sprintf("Cannot check if %s is an absolute path because it is a '%s' and not a String'", v.Text(), data.RubyClass(v)))
	}
	return v.Kind() == data.String && lineAtRoot.MatchString(v.Str())
}

// expanded is a path without "..", double slashes and a slash at its end, but for slashes
// at its beginning, which Ruby keeps. A relative one is seen from the working directory.
func (r *Resource) expanded(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = workingDirectory(r.Host) + "/" + p
	}
	root := len(p) - len(strings.TrimLeft(p, "/"))
	return p[1:root] + path.Clean(p)
}

// A listing is how a property that is a list of words joins and compares them.
// Rule RES-TYPE-08.
type listing struct {
	separator  string
	ordered    bool
	membership string // the parameter that is minimum where words are added; "" is never
}

// listed makes a property a list of words: what is shown, compared and written are its
// words, joined.
func listed(a Attribute, l listing) *Attribute {
	a.Wanted = func(r *Resource, should []data.Value, is data.Value) data.Value {
		words := should
		if l.membership != "" && r.Value(l.membership).Str() != "inclusive" {
			words = added(should, l.split(is))
		}
		return data.OfString(l.join(words))
	}
	a.InSync = func(r *Resource, is data.Value) (bool, error) {
		if !is.Truthy() {
			return true, nil
		}
		return l.join(l.split(is)) == r.Wanted(a.Name, is).Str(), nil
	}
	a.ShowIs = func(_ *Resource, v data.Value) string {
		if isAbsent(v) {
			return Display(v)
		}
		return JoinWords(l.split(v), l.separator)
	}
	return &a
}

// split is what a property is as words.
func (l listing) split(is data.Value) []data.Value {
	switch {
	case is.Kind() == data.List:
		return is.List()
	case isAbsent(is) || is.Text() == "":
		return nil
	}
	return data.OfStrings(strings.Split(is.Text(), l.separator)).List()
}

// added are wanted words with those that are there besides, each once.
func added(should, is []data.Value) []data.Value {
	var all []data.Value
	seen := map[string]bool{}
	for _, w := range slices.Concat(should, is) {
		if key := w.Inspect(); !seen[key] {
			seen[key] = true
			all = append(all, w)
		}
	}
	return all
}

func (l listing) join(words []data.Value) string {
	if !l.ordered {
		words = slices.Clone(words)
		slices.SortFunc(words, func(a, b data.Value) int { return strings.Compare(a.Text(), b.Text()) })
	}
	return JoinWords(words, l.separator)
}

// JoinWords joins texts, and those of lists among them, as Ruby's join does.
func JoinWords(words []data.Value, separator string) string {
	var texts []string
	for _, w := range flat(data.OfList(words)) {
		texts = append(texts, w.Text())
	}
	return strings.Join(texts, separator)
}
