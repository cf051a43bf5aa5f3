package data

// Sort sorts as Ruby does, which is C's qsort there: it merges halves. So equal values
// keep their order, and compare sees the same pairs in the same order, which shows in its
// errors. The first error ends it, and leaves the list in any order.
func Sort[T any](list []T, compare func(a, b T) (int, error)) error {
	return mergeHalves(list, make([]T, len(list)), compare)
}

func mergeHalves[T any](list, room []T, compare func(a, b T) (int, error)) error {
	if len(list) <= 1 {
		return nil
	}
	left, right := list[:len(list)/2], list[len(list)/2:]
	if err := mergeHalves(left, room, compare); err != nil {
		return err
	}
	if err := mergeHalves(right, room, compare); err != nil {
		return err
	}
	out := room[:0]
	for len(left) > 0 && len(right) > 0 {
		order, err := compare(left[0], right[0])
		if err != nil {
			return err
		}
		if order <= 0 {
			out, left = append(out, left[0]), left[1:]
		} else {
			out, right = append(out, right[0]), right[1:]
		}
	}
	copy(list, append(out, left...)) // what is left of the right half is in its place
	return nil
}
