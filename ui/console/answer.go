package console

import (
	"indirtui/indirector"
	"indirtui/ui/term"
)

// tail adds to an outcome how many instances there are, or whether there is one.
func tail(verb indirector.Verb, resp indirector.Response) string {
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
