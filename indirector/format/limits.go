package format

import "fmt"

// Limits protect a reader from hostile input. The zero value of every field is
// its default.
type Limits struct {
	// Own gives the input away: with eight bytes of spare capacity it is not
	// copied, and its bytes change.
	Own bool

	Bytes int // of the input; 0 is 256 MiB
	Items int // list elements and hash pairs in all; 0 is 8 million, some 400 MB
	Depth int // of lists and hashes; 0 is the format's own: 100 for JSON, 19 for PSON, 128 for MessagePack

	// Grow is asked before elements need more memory, with its size in bytes.
	// Its error ends the reading. If nil, only Items bounds it.
	Grow func(bytes int64) error
}

// The defaults.
const (
	defaultBytes = 256 << 20
	defaultItems = 8 << 20

	portion     = 8 << 10 // elements that Grow is asked for at once
	elementSize = 64      // bytes of an element, on the average

	jsonDepth    = 100
	psonDepth    = 19
	msgpackDepth = 128
)

func (l Limits) bytes() int {
	if l.Bytes > 0 {
		return l.Bytes
	}
	return defaultBytes
}

func (l Limits) items() int {
	if l.Items > 0 {
		return l.Items
	}
	return defaultItems
}

func (l Limits) depth(own int) int {
	if l.Depth > 0 {
		return l.Depth
	}
	return own
}

func (l Limits) check(b []byte) error {
	if len(b) > l.bytes() {
		return fmt.Errorf("%d bytes are more than the limit of %d", len(b), l.bytes())
	}
	return nil
}

func tooMany(items int) error {
	return fmt.Errorf("more than %d elements, the limit", items)
}

func tooDeep(depth int) error {
	return fmt.Errorf("nesting of %d is too deep", depth)
}
