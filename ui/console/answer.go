package console

import (
	"errors"

	"indirtui/indirector"
	"indirtui/ui/screen"
)

// traceOf returns the number of the request that was answered so.
func traceOf(resp *indirector.Response, err error) uint64 {
	if resp != nil {
		return resp.Trace
	}
	if located := (*indirector.Error)(nil); errors.As(err, &located) {
		return located.Trace
	}
	return 0
}

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
