package ui_test

import (
	"testing"

	"indirtui/traces/leaktest"
)

// Nothing of the program goes on when it has ended.
func TestMain(m *testing.M) { leaktest.Main(m) }
