package ui_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Nothing of the program goes on when it has ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
