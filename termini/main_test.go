package termini_test

import (
	"testing"

	"indirtui/indirector/sqlstore/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }
