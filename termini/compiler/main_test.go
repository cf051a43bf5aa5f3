package compiler

import (
	"testing"

	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
