package console

import (
	"indirtui/indirector"
	"indirtui/ui/term"
)

// tail says of an answer what its outcome does not: how many there are, and
// whether there is one.
func tail(verb indirector.Verb, resp *indirector.Response) string {
	if resp == nil {
		return ""
	}
	switch v := resp.Value.(type) {
	case int:
		if verb == indirector.Search {
			return term.Plural(v, "instance")
		}
	case bool:
		if v {
			return "it exists"
		}
		return "it does not exist"
	}
	return ""
}
