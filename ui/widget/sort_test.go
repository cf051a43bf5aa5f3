package widget_test

import (
	"cmp"
	"slices"
	"testing"

	"indirtui/ui/widget"
)

// FuzzSortKeyed: it is what sorting by comparing is, and stable.
func FuzzSortKeyed(f *testing.F) {
	f.Add([]byte("some bytes that are keys"), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, width uint8) {
		var items []widget.Keyed[int]
		for i := 0; i < len(b); i++ {
			var key uint64
			for _, c := range b[i:min(i+int(width%9), len(b))] {
				key = key<<8 | uint64(c)
			}
			items = append(items, widget.Keyed[int]{Key: key, Of: i})
		}
		want := slices.Clone(items)
		slices.SortStableFunc(want, func(a, b widget.Keyed[int]) int { return cmp.Compare(a.Key, b.Key) })
		if got := widget.SortKeyed(items); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
