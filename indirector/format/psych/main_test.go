package psych_test

import (
	"flag"
	"testing"
)

var (
	roundsFlag = flag.Int("rounds", 4000, "random values and texts to compare with Ruby")
	seedFlag   = flag.Uint64("seed", 1, "of the random values and texts")
)

func rounds(testing.TB) int  { return *roundsFlag }
func seed(testing.TB) uint64 { return *seedFlag }
