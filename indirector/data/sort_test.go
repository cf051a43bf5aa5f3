package data_test

import (
	"errors"
	"slices"
	"testing"

	"indirtui/indirector/data"
)

// Ruby 3.1 on Linux compares these pairs, in this order: p [3, 1, 2, 5, 4].sort { |a, b| p [a, b]; a <=> b }.
func TestSort(t *testing.T) {
	t.Parallel()
	list := []int{3, 1, 2, 5, 4}
	var pairs [][2]int
	if err := data.Sort(list, func(a, b int) (int, error) {
		pairs = append(pairs, [2]int{a, b})
		return a - b, nil
	}); err != nil || !slices.IsSorted(list) {
		t.Errorf("got %v, %v", list, err)
	}
	if want := [][2]int{{3, 1}, {5, 4}, {2, 4}, {1, 2}, {3, 2}, {3, 4}}; !slices.Equal(pairs, want) {
		t.Errorf("compared %v, want %v", pairs, want)
	}
	failed := errors.New("no order")
	if err := data.Sort([]int{1, 2}, func(int, int) (int, error) { return 0, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if err := data.Sort(nil, func(int, int) (int, error) { return 0, failed }); err != nil {
		t.Errorf("got %v", err)
	}
}
