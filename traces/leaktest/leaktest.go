// Package leaktest lets the tests of a package fail that leave goroutines
// behind.
//
//	func TestMain(m *testing.M) { leaktest.Main(m) }
package leaktest

import (
	"time"

	"go.uber.org/goleak"
)

// Main runs the tests of a package and ends the process. When a goroutine is
// left that has not ended after a minute, the exit code is 1. What is about to
// end may take its time: goleak alone waits for less than half a second.
func Main(m goleak.TestingM) { goleak.VerifyTestMain(patient{m}) }

type patient struct{ m goleak.TestingM }

func (p patient) Run() int {
	code := p.m.Run()
	for late := time.Now().Add(time.Minute); code == 0 && goleak.Find() != nil && time.Now().Before(late); {
		continue // Find waits itself
	}
	return code
}
