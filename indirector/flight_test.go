package indirector

import (
	"testing"
	"unsafe"
)

// TestFlightSize holds that what a request allocates is of a small size class.
// Above 512 bytes the allocator puts a header before each object that has
// pointers, and takes a slower path: that has cost two thirds of a find which
// nobody records. Every class below that is a collection less often. What only
// few callers need goes into Wants.
func TestFlightSize(t *testing.T) {
	t.Parallel()
	const class = 448 // of the allocator; the next are 480 and 512
	if size := unsafe.Sizeof(flight{}); size > class {
		t.Errorf("a flight has %d bytes, and should have %d at the most: a Request has %d, a Response %d", size, class,
			unsafe.Sizeof(Request{}), unsafe.Sizeof(Response{}))
	}
}
