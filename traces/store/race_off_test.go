//go:build !race

package store_test

const slowness = 1
