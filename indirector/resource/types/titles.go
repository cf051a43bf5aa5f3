package types

import (
	"regexp"
	"strings"

	"indirtui/indirector/data"
)

// A TitlePattern is a regular expression of Ruby, and the namevars of its groups.
type TitlePattern struct {
	Pattern  string
	Dotall   bool // . is the end of a line, too: Ruby's option m
	Namevars []string
}

// titles makes a function of patterns: it returns what the first gives that matches.
func titles(patterns []TitlePattern) func(string) ([]data.Pair, error) {
	all := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		flags := "(?m)" // ^ and $ are at every line
		if p.Dotall {
			flags = "(?ms)"
		}
		all[i] = regexp.MustCompile(flags + strings.ReplaceAll(p.Pattern, `\Z`, `\n?\z`))
	}
	return func(title string) ([]data.Pair, error) {
		for i, re := range all {
			m := re.FindStringSubmatch(title)
			if m == nil {
				continue
			}
			var pairs []data.Pair
			for j, name := range patterns[i].Namevars {
				pairs = append(pairs, data.P(name, data.OfString(m[j+1])))
			}
			return pairs, nil
		}
		return nil, refuse("No set of title patterns matched the title \"%s\".", title)
	}
}
