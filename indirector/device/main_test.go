package device_test

import (
	"testing"

	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
