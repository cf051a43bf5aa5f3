package query

import (
	"strings"
)

// A Suggestion is a text that may stand at the caret.
type Suggestion struct {
	Start, End int    // the bytes that Text replaces
	Text       string // "served=", "cache", "step("
	Doc        string // "" for values
}

// Complete returns what may stand at the byte pos of text: fields, flags, calls
// and selectors where a term begins, values behind an operator.
func Complete(text string, pos int) []Suggestion {
	pos = min(max(pos, 0), len(text))
	p := &parser{text: text[:pos]}
	// How far the text is right matters here, not whether it is finished.
	_, _ = p.whole()
	w := p.last
	typed := text[w.at:pos]
	if w.field != nil && (typed == "" || isQuote(typed[0]) || bareValue(typed) == len(typed)) {
		return w.values(typed, pos)
	}
	if at := strings.LastIndexAny(typed, " \t\n()"); at >= 0 {
		// Behind a finished term another one may begin.
		w = want{at: w.at + at + 1, inStep: w.inStep && !strings.Contains(typed, ")")}
		typed = text[w.at:pos]
	}
	return w.terms(typed, pos)
}

func (w want) values(typed string, pos int) []Suggestion {
	var all []Suggestion
	for _, v := range w.field.Values {
		if v := Quote(v); hasPrefixFold(v, typed) {
			all = append(all, Suggestion{w.at, pos, v, ""})
		}
	}
	return all
}

func (w want) terms(typed string, pos int) []Suggestion {
	var all []Suggestion
	add := func(text, doc string) {
		if hasPrefixFold(text, typed) {
			all = append(all, Suggestion{w.at, pos, text, doc})
		}
	}
	if w.inStep {
		for _, s := range stepNames {
			add(s, "the step")
		}
	}
	for i := range fields {
		f := &fields[i]
		switch before, after, is := strings.Cut(f.Name, "NAME"); {
		case !is && f.Kind == yesNoKind:
			add(f.Name, f.Doc)
		case !is:
			add(f.Name+"=", f.Doc)
		case !hasPrefixFold(typed, before):
			if after != ".answer" && after != ".because" { // one line for all of step.
				add(before, f.Doc)
			}
		case before == "step.":
			for _, s := range stepNames {
				add(before+s+after+"=", f.Doc)
			}
		case before == "flag.":
			for _, s := range flagNames {
				add(before+s, f.Doc)
			}
		}
	}
	for i := range flags {
		add(flags[i].Name, flags[i].Doc)
	}
	for _, c := range callDocs {
		add(c[0], c[1])
	}
	for _, s := range selectors {
		add("@"+s, "")
	}
	return all
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

var callDocs = [...][2]string{
	{"step(", "one step fulfils all of it"},
	{"parent(", "the request that asked it"},
	{"child(", "one of the requests that it asked"},
	{"run(", "one request of its run"},
	{"prev(", "the one before it in its run"},
	{"next(", "the one after it in its run"},
	{"not ", "it is not so, or the field is missing"},
}
