package flatfile

import (
	"hash/maphash"
	"sync"

	"indirtui/indirector"
	"indirtui/indirector/format"
)

// decoded remembers the instances of the files that were decoded last, by the
// bytes that were read: whoever asks again for what has not changed gets the same
// instance, which nothing changes. Of a document of 15 kB, decoding is two thirds
// of a find. A digest with two random seeds stands for the bytes, since a file may
// be hostile. It is safe for concurrent use.
type decoded struct {
	seeds [2]maphash.Seed

	mu   sync.Mutex // guards what follows
	last [8]decodedFile
	next int // the place in last that is written next
}

type decodedFile struct {
	decodedKey
	inst indirector.Instance
}

type decodedKey struct {
	format *format.Format
	digest [2]uint64
}

// maxDecoded is the size of the largest file that is remembered, in bytes. An
// instance takes four times as much: 8 MB for one terminus at the most.
const maxDecoded = 256 << 10

func newDecoded() *decoded {
	return &decoded{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// intern returns what decode makes of b, which has the format f, as it was made
// before if it was. What has notes or an error is not remembered.
func (d *decoded) intern(f *format.Format, b []byte, decode func() (indirector.Instance, format.Notes, error)) (indirector.Instance, format.Notes, error) {
	if len(b) > maxDecoded {
		return decode()
	}
	key := decodedKey{f, [2]uint64{maphash.Bytes(d.seeds[0], b), maphash.Bytes(d.seeds[1], b)}}
	if inst := d.find(key); inst != nil {
		return inst, nil, nil
	}
	inst, notes, err := decode()
	if err == nil && len(notes) == 0 {
		d.keep(key, inst)
	}
	return inst, notes, err
}

func (d *decoded) find(key decodedKey) indirector.Instance {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.last {
		if d.last[i].decodedKey == key {
			return d.last[i].inst
		}
	}
	return nil
}

func (d *decoded) keep(key decodedKey, inst indirector.Instance) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last[d.next] = decodedFile{key, inst}
	d.next = (d.next + 1) % len(d.last)
}
