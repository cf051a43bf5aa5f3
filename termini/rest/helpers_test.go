package rest_test

import (
	"errors"
	"testing"

	"indirtui/indirector"
)

func isNotFound(err error) bool { return errors.Is(err, indirector.ErrNotFound) }

func saidError(t *testing.T, err error) said {
	t.Helper()
	if f := (*indirector.Failure)(nil); errors.As(err, &f) {
		class := f.Class
		if class == "" {
			class = "Puppet::Error"
		}
		return said{Class: class, Message: f.Message}
	}
	return said{Class: "?", Message: indirector.Message(err)}
}
