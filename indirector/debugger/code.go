package debugger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
)

// A Place is one in the programs that a terminus runs: a line of a file, or where a class,
// define, node or function begins or a resource is declared. The zero Place is none.
type Place struct {
	Kind string // "file", "class", "define", "node", "function" or "resource"
	Name string // of a file the path, or its end
	Line int    // of a file
}

// kinds are what a Place may be beside a line of a file.
var kinds = []string{"class", "define", "node", "function", "resource"}

// PlaceKinds returns what a Place may be beside a line of a file.
func PlaceKinds() []string { return slices.Clone(kinds) }

func (p Place) String() string {
	if p.Kind == "file" {
		return quote(p.Name + ":" + strconv.Itoa(p.Line))
	}
	return p.Kind + " " + quote(p.Name)
}

// fits reports whether a program is at the place.
func (p Place) fits(at *indirector.Code) bool {
	switch p.Kind {
	case "file":
		isPlace := at.Kind != "function" && at.Kind != "resource" // which are within a statement
		return isPlace && at.Line == p.Line && (at.File == p.Name || strings.HasSuffix(at.File, "/"+strings.TrimPrefix(p.Name, "/")))
	case "node":
		return at.Kind == p.Kind && slices.Contains(strings.Split(at.Name, ", "), strings.ToLower(p.Name))
	case "resource":
		return at.Kind == p.Kind && strings.EqualFold(at.Name, p.Name)
	}
	return at.Kind == p.Kind && strings.EqualFold(at.Name, strings.TrimPrefix(p.Name, "::"))
}

// place reads a place in programs: FILE:LINE, or a kind and a name. It takes nothing if
// there is none.
func (p *clauses) place() (at Place, ok bool, err error) {
	if p.i == len(p.tokens) {
		return at, false, nil
	}
	word := p.tokens[p.i].text
	for _, kind := range kinds {
		if word != kind {
			continue
		}
		p.i++
		if p.i == len(p.tokens) {
			return at, false, p.fail("at which "+kind+"?", "write its name")
		}
		p.i++
		return Place{Kind: kind, Name: p.tokens[p.i-1].text}, true, nil
	}
	i := strings.LastIndexByte(word, ':')
	if i <= 0 || word[i-1] == ':' {
		return at, false, nil
	}
	line, err := strconv.Atoi(word[i+1:])
	if err != nil || line < 1 {
		return at, false, p.fail(fmt.Sprintf("%q is no line", word[i+1:]), "write FILE:LINE, such as site.pp:12")
	}
	p.i++
	return Place{Kind: "file", Name: word[:i], Line: line}, true, nil
}

// stopsIn reports whether a walk stops at a place of a program: at statements only.
func (w *walk) stopsIn(id uint64, at *indirector.Code) bool {
	if at.Kind != indirector.Statement {
		return false
	}
	switch {
	case w.how == Step, w.depths[id] < w.depths[w.at]:
		return true
	case id != w.at:
		return false
	case w.how == Over:
		return at.Depth <= w.code
	}
	return at.Depth < w.code
}
