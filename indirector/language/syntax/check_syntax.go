package syntax

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

// checkSyntax looks at the text of a heredoc whose syntax is known. The first
// problem ends the check of everything, as in Puppet. Rule LANG-LEX-13.
func (c *checker) checkSyntax(h *Heredoc) {
	text, ok := h.Text.(*String)
	if !ok || h.Syntax == "" {
		return
	}
	if problem := c.syntaxProblem(h.Syntax, text.Value); problem != "" {
		panic(failure{c.source.problem(int(text.offset), fmt.Sprintf("Invalid produced text having syntax: '%s'. %s", h.Syntax, problem))})
	}
}

// syntaxProblem returns what is wrong with a text. A syntax a+b is checked as b if
// a+b is not known.
func (c *checker) syntaxProblem(syntax, text string) string {
	name := syntax[strings.LastIndexByte(syntax, '+')+1:]
	switch {
	case name == "json":
		return CheckJSON(text)
	case name == "base64":
		return base64Problem(text)
	case syntax == "pp":
		return c.sourceProblem("PP", text, false)
	case syntax == "epp":
		return c.sourceProblem("EPP", text, true)
	}
	return ""
}

// CheckJSON returns what Puppet's checker of heredocs reports of a text that is not JSON, or "".
func CheckJSON(text string) string {
	problem := JSONProblem(text)
	if problem == "" {
		return ""
	}
	return `JSON syntax checker: Cannot parse invalid JSON string. "` + short(problem, 100) + `"`
}

// sourceProblem checks a manifest or a template in a heredoc, and what is in its
// own heredocs.
func (c *checker) sourceProblem(name, text string, template bool) string {
	o := c.options
	o.EPP, o.Allowed, o.depth = template, nil, o.depth+1
	if o.depth > maxNesting {
		return fmt.Sprintf(tooNested, maxNesting)
	}
	_, report := Parse(&Source{Text: text}, o)
	c.report.Logged = append(c.report.Logged, report.Logged...)
	if report.Failure == nil {
		return ""
	}
	return name + ` syntax checker: "` + short(report.Failure.Error(), 500) + `"`
}

// short returns the beginning of a message, on one line.
func short(message string, characters int) string {
	runes := []rune(message)
	return lineBreaks.ReplaceAllString(string(runes[:min(len(runes), characters)]), `\n`)
}

var (
	lineBreaks   = regexp.MustCompile(`\r?\n`)
	base64Blanks = regexp.MustCompile(`[\r?\n\p{Zs}\t]`)
)

func base64Problem(text string) string {
	text = base64Blanks.ReplaceAllString(text, "")
	if _, err := base64.StdEncoding.Strict().DecodeString(text); err == nil {
		return ""
	}
	if len(text)*8%6 != 0 {
		return "Base64 syntax checker: Cannot parse invalid Base64 string - padding is not correct"
	}
	return "Base64 syntax checker: Cannot parse invalid Base64 string - contains letters outside strict base 64 range (or whitespace)"
}
