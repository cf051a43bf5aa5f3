package fleet

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"indirtui/traces/store"
)

// maxLine is the longest line that is shipped: what a recording can hold. Longer
// ones are passed over.
const maxLine = 128 << 20

// A place is where a recording is read: a byte of one of its parts.
type place struct {
	part int
	at   int64
}

// A queue reads the recording of one session from a place on, across its parts.
// It is used by one goroutine.
type queue struct {
	path   string // of the part that is written, or was written last
	header store.Header
	place
	f *os.File // nil until it was opened
	r *bufio.Reader
}

// openQueue reads whose recording a file is. One that was not made to be shipped
// gets an id that follows from its first line.
func openQueue(path string) (*queue, error) {
	h, first, err := headerOf(path)
	if err != nil {
		return nil, err
	}
	if h.ID == "" {
		sum := sha256.Sum256(first)
		h.ID = hex.EncodeToString(sum[:16])
	}
	return &queue{path: path, header: *h}, nil
}

// headerOf reads the first line of a recording.
func headerOf(path string) (*store.Header, []byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read recording: %w", err)
	}
	defer f.Close()
	const enough = 64 << 10
	line, err := bufio.NewReader(io.LimitReader(f, enough)).ReadBytes('\n')
	if err != nil {
		return nil, nil, fmt.Errorf("read recording %q: its first line is not whole: %w", path, err)
	}
	c, err := store.ReadCopied(line)
	if err != nil || c.Header == nil {
		return nil, nil, fmt.Errorf("read recording %q: its first line is none of a recording", path)
	}
	return c.Header, line, nil
}

// parts are the files of the session by their numbers.
func (q *queue) parts() map[int]string {
	ext := filepath.Ext(q.path)
	others, _ := filepath.Glob(globbed(strings.TrimSuffix(q.path, ext)) + ".*" + ext) // the pattern is good
	all := map[int]string{}
	for _, path := range append(others, q.path) {
		h, _, err := headerOf(path)
		if err == nil && (h.ID == q.header.ID || path == q.path && h.ID == "") {
			all[h.Part] = path
		}
	}
	return all
}

// globbed is a name as part of a pattern.
func globbed(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// seek goes to a place, or to the oldest part that is left behind it. Missing is
// how many parts were removed before they were shipped.
func (q *queue) seek(to place) (missing int, err error) {
	q.close()
	q.place = to
	all := q.parts()
	path, ok := all[to.part]
	if !ok {
		later := laterParts(all, to.part)
		if len(later) == 0 {
			return 0, nil // nothing was written yet, or nothing is left
		}
		missing = later[0] - to.part
		q.place = place{part: later[0]}
		path = all[later[0]]
	}
	f, err := os.Open(path)
	if err != nil {
		return missing, fmt.Errorf("read recording: %w", err)
	}
	if _, err := f.Seek(q.at, io.SeekStart); err != nil {
		return missing, errors.Join(fmt.Errorf("read recording: %w", err), f.Close())
	}
	q.f, q.r = f, bufio.NewReaderSize(f, 256<<10)
	return missing, nil
}

func laterParts(all map[int]string, than int) (later []int) {
	for n := range all {
		if n > than {
			later = append(later, n)
		}
	}
	slices.Sort(later)
	return later
}

// next returns the next whole line, or nil if there is none yet. One that is too
// long is empty. The bytes are valid until the next call.
func (q *queue) next() (line []byte, err error) {
	if q.f == nil {
		return nil, nil
	}
	var long []byte
	read, tooLong := 0, false
	for {
		b, err := q.r.ReadSlice('\n')
		read += len(b)
		switch {
		case err == nil && long == nil && !tooLong:
			q.at += int64(read)
			return b, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("read recording at byte %d: %w", q.at, err)
		case errors.Is(err, io.EOF):
			return nil, q.rewind()
		case read > maxLine:
			long, tooLong = nil, true
		case !tooLong:
			long = append(long, b...)
		}
		if err == nil {
			q.at += int64(read)
			return bytes.Clone(long), nil
		}
	}
}

// rewind goes back to the beginning of a line that is not whole yet.
func (q *queue) rewind() error {
	if _, err := q.f.Seek(q.at, io.SeekStart); err != nil {
		return fmt.Errorf("read recording: %w", err)
	}
	q.r.Reset(q.f)
	return nil
}

// turn goes on to the next part if the recording was rotated; missing is as in
// seek. It reports false if there is none.
func (q *queue) turn() (missing int, ok bool, err error) {
	if q.isLast() {
		return 0, false, nil
	}
	later := laterParts(q.parts(), q.part)
	if len(later) == 0 {
		return 0, false, nil
	}
	missing = later[0] - q.part - 1
	_, err = q.seek(place{part: later[0]})
	return missing, err == nil, err
}

// isLast reports whether the part that is read is still the one that is written.
func (q *queue) isLast() bool {
	if q.f == nil {
		return false
	}
	here, err := q.f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(q.path)
	return err == nil && os.SameFile(here, there)
}

func (q *queue) close() {
	if q.f != nil {
		_ = q.f.Close() // it was only read
		q.f = nil
	}
}
