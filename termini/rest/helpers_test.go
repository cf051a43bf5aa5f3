package rest_test

import (
	"errors"
	"testing"

	"indirtui/indirector"
)

func isNotFound(err error) bool { return errors.Is(err, indirector.ErrNotFound) }

func outcomeOf(t *testing.T, err error) outcome {
	t.Helper()
	if f := (*indirector.Failure)(nil); errors.As(err, &f) {
		class := f.Class
		if class == "" {
			class = "Puppet::Error"
		}
		return outcome{Class: class, Message: f.Message}
	}
	return outcome{Class: "?", Message: indirector.Message(err)}
}
