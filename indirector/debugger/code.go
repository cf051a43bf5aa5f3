package debugger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
)

// A Place is one in the programs that a terminus runs: a line of a file, or where a class,
// define, node or function begins or a resource is declared. Or it is before a step of a
// resource that is applied, or behind one that has failed. The zero Place is none.
type Place struct {
	Kind string // "file", "class", "define", "node", "function", "resource", "failure" or a step of a resource
	Name string // of a file the path, or its end; of a change the property, of a failure the step: "" is any
	Line int    // of a file
}

// kinds are what a Place may be beside a line of a file.
var kinds = []string{"class", "define", "node", "function", "resource"}

// PlaceKinds returns what a Place may be beside a line of a file.
func PlaceKinds() []string { return slices.Clone(kinds) }

// ResourcePlaces returns what a Place of a resource that is applied may be, as it is written.
func ResourcePlaces() []string {
	all := append(indirector.ResourceSteps(), indirector.StepFailed)
	for i, step := range all {
		all[i] = strings.ReplaceAll(step, " ", "-")
	}
	return all
}

func (p Place) String() string {
	switch {
	case p.Kind == "file":
		return quote(p.Name + ":" + strconv.Itoa(p.Line))
	case p.Name == "":
		return strings.ReplaceAll(p.Kind, " ", "-")
	}
	return p.Kind + " " + quote(p.Name)
}

// ofResource reports whether the place is one of a resource that is applied.
func (p Place) ofResource() bool {
	return p.Kind == indirector.StepFailed || slices.Contains(indirector.ResourceSteps(), p.Kind)
}

// fitsStep reports whether a resource that is applied is at the place. One that is declared
// there is so before its first step.
func (p Place) fitsStep(at *indirector.Code) bool {
	switch {
	case p.Kind == "resource":
		return at.Kind == indirector.ResourceSteps()[0] && strings.EqualFold(at.Of, p.Name)
	case p.Kind != at.Kind:
		return false
	}
	return p.Name == "" || strings.EqualFold(at.Name, p.Name) || p.Kind == indirector.StepFailed && strings.HasPrefix(at.Name, p.Name+" ")
}

// fits reports whether a program is at the place.
func (p Place) fits(at *indirector.Code) bool {
	if at.Of != "" || p.ofResource() {
		return at.Of != "" && p.fitsStep(at)
	}
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

// ofResource reads a place of a resource that is applied: a step, of which the first word is
// enough, of a change perhaps with the property, or a failure.
func (p *clauses) ofResource() (at Place, ok bool) {
	word := strings.ReplaceAll(p.tokens[p.i].text, "-", " ")
	for _, step := range append(indirector.ResourceSteps(), indirector.StepFailed) {
		if first, _, _ := strings.Cut(step, " "); word != step && word != first {
			continue
		}
		p.i++
		if step == indirector.StepFailed || step == "change" {
			if t, is := p.next(); is {
				at.Name = t.text
			}
		}
		at.Kind = step
		return at, true
	}
	return at, false
}

// place reads a place in programs: FILE:LINE, or a kind and a name. It takes nothing if
// there is none.
func (p *clauses) place() (at Place, ok bool, err error) {
	if p.i == len(p.tokens) {
		return at, false, nil
	}
	if at, ok := p.ofResource(); ok {
		return at, true, nil
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

// stopsIn reports whether a walk stops at a place of a program: at statements only, and at
// each step of a resource.
func (w *walk) stopsIn(id uint64, at *indirector.Code) bool {
	if at.Kind != indirector.Statement && at.Of == "" {
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
