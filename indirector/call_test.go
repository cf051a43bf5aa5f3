package indirector

import (
	"testing"
	"unsafe"
)

// TestCallSize keeps the allocation of a request in a small size class. Above
// 512 bytes the allocator puts a header before each object that has pointers,
// and takes a slower path: two thirds of the time of an untraced find. What few
// callers need goes into Wants.
func TestCallSize(t *testing.T) {
	t.Parallel()
	const class = 416 // of the allocator; the next are 448 and 480
	if size := unsafe.Sizeof(call{}); size > class {
		t.Errorf("a call has %d bytes, and should have %d at the most: a Request has %d, a Response %d", size, class,
			unsafe.Sizeof(Request{}), unsafe.Sizeof(Response{}))
	}
}
