// Package rtype knows resource types as a compiler has to: which attributes each
// has, which of them name the resource, and how a title becomes these. Values are
// not checked by a server; the agent does that. Rule LANG-RT-02.
//
// What is known comes from three places: the table of the types that are built
// into Puppet ([BuiltIn]), files that "puppet generate types" wrote
// ([Generated]), and Ruby files of modules ([Ruby]). Ruby is read and never
// executed. What such a file does that cannot be read makes the type open: a
// compiler must accept any attribute, and a note names file and line. Rule
// LANG-RT-03.
package rtype

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of ours, of one file. Puppet has none.
const (
	maxAttributes = 10_000
	maxNotes      = 50
)

// A Type is what is known of a resource type. It does not change.
type Type struct {
	Name       string
	Attributes []Attribute    // properties first, in the order of their declaration
	Keys       []string       // the attributes that name the resource; perhaps none
	Titles     []TitlePattern // how a title becomes keys; nil if the title is the name
	Many       bool           // equal keys may name different resources: not isomorphic
	Open       bool           // it may have attributes that are not known
	Define     bool           // it is a define of the language
	Notes      []Note         // what was not understood
	File       string         // "" if it is built in
	Line       int            // from 1
}

// A Kind is a kind of attribute.
type Kind uint8

// Kinds of attributes.
const (
	Property Kind = iota
	Parameter
)

// An Attribute is a property or a parameter. Metaparameters are those of all types;
// see [Metaparameters].
type Attribute struct {
	Name string
	Kind Kind
}

// A TitlePattern is a regular expression and the attributes that its groups name.
type TitlePattern struct {
	Pattern    string   `json:"pattern"`
	Options    int      `json:"options"` // as Ruby counts: ignore case 1, extended 2, multi-line 4
	Attributes []string `json:"attributes"`
	Converted  bool     `json:"converted,omitempty"` // code changes what a group matched; it is not known how
}

// String returns the pattern as Ruby writes it, and the attributes behind it.
func (p TitlePattern) String() string {
	text := "/" + p.Pattern + "/"
	for i, option := range []string{"i", "x", "m"} {
		if p.Options&(1<<i) != 0 {
			text += option
		}
	}
	return text + " " + strings.Join(p.Attributes, " ")
}

// A Note is something that was not understood.
type Note struct {
	File string
	Line int // from 1; 0 if it is the file
	Text string
}

// String returns the note with its place.
func (n Note) String() string {
	if n.Line == 0 {
		return n.File + ": " + n.Text
	}
	return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Text)
}

// note keeps a note, if there are not too many.
func (t *Type) note(line int, text string) {
	n := Note{t.File, line, text}
	if len(t.Notes) < maxNotes && !slices.Contains(t.Notes, n) {
		t.Notes = append(t.Notes, n)
	}
}

// open keeps a note about something that may have declared attributes.
func (t *Type) open(line int, text string) {
	t.Open = true
	t.note(line, text)
}

// Unreadable returns the type of a file that cannot be read: it is open.
func Unreadable(name, file string, err error) *Type {
	t := &Type{Name: name, File: file}
	t.open(0, err.Error())
	return t
}

func (t *Type) has(name string) bool {
	return slices.ContainsFunc(t.Attributes, func(a Attribute) bool { return a.Name == name })
}

// WithProvider returns the type with the parameter that it has if there are providers for it.
func (t *Type) WithProvider() *Type {
	with := *t
	with.Attributes = slices.Clip(t.Attributes)
	with.addProvider()
	return &with
}

func (t *Type) addProvider() {
	if !t.has("provider") {
		t.Attributes = append(t.Attributes, Attribute{"provider", Parameter})
	}
}

// WholeTitle returns the pattern of a type that has one key. Rule LANG-RT-04.
func WholeTitle(key string) []TitlePattern {
	return []TitlePattern{{Pattern: "(.*)", Options: 4, Attributes: []string{key}}}
}
