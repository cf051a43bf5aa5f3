package console

import (
	"indirtui/indirector"
	"indirtui/ui/screen"
)

// tail says of an answer what its outcome does not: how many there are, and
// whether there is one.
func tail(resp *indirector.Response) string {
	if resp == nil {
		return ""
	}
	switch v := resp.Value.(type) {
	case []indirector.Instance:
		return screen.Plural(len(v), "instance")
	case bool:
		if v {
			return "it exists"
		}
		return "it does not exist"
	}
	return ""
}
