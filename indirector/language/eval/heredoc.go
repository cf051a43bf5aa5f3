package eval

import (
	"encoding/base64"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// heredoc compiles a heredoc. A text that is known was checked when it was parsed. Rule
// LANG-LEX-13.
func (c *compiler) heredoc(n *syntax.Heredoc) code {
	text := c.node(n.Text)
	if _, known := n.Text.(*syntax.String); known || n.Syntax == "" {
		return text
	}
	s := c.site(n)
	return func(f *frame) (data.Value, error) {
		v, err := text(f)
		if err != nil {
			return v, err
		}
		if problem := checkSyntax(n.Syntax, v.Str()); problem != "" {
			return v, s.fail(f, issueAt(n.Text, "Invalid produced text having syntax: '%s'. %s", n.Syntax, problem))
		}
		return v, nil
	}
}

// checkSyntax returns what is wrong with a text in a syntax; segments of its name stand
// for checkers, the most special first.
func checkSyntax(name, text string) string {
	for segments := strings.Split(name, "+"); len(segments) > 0; segments = segments[1:] {
		switch strings.Join(segments, "+") {
		case "json":
			return syntax.CheckJSON(text)
		case "pp":
			if _, report := syntax.Parse(&syntax.Source{Text: text}, syntax.Options{}); report.Failure != nil {
				return "PP syntax checker: " + data.InspectString(report.Failure.Error())
			}
			return ""
		case "base64":
			if _, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "\n", "")); err != nil {
				return "Base64 syntax checker: Cannot parse invalid Base64 string"
			}
			return ""
		}
	}
	return ""
}
