//go:build race

package store_test

// slowness is how much slower the race detector makes the writer.
const slowness = 20
