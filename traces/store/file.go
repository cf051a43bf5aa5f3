package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A file is the recording. Offsets count from the first part on; the line at
// zero is a header, so that zero is no line of a request.
type file struct {
	f     *os.File
	base  int64 // where f begins
	size  int64 // where the next line goes
	parts []part
	next  int      // the number that the next part gets
	ended uint64   // requests that had ended when f was begun
	lines [][]byte // what waits to be written beside traces

	err   error // why nothing is written, since and last tried
	since time.Time
	tried time.Time
}

// A part is a file of the recording that is complete.
type part struct {
	path       string
	base, size int64
}

// tryAgain is how long a recording that stopped waits before it goes on.
const tryAgain = 5 * time.Second

// A lineAt is where a line is: at an offset of an open file, or of one that is
// opened for it.
type lineAt struct {
	f      io.ReaderAt
	path   string
	offset int64
}

// first is the offset of the oldest part that is left.
func (x *file) first() int64 {
	if len(x.parts) > 0 {
		return x.parts[0].base
	}
	return x.base
}

// find returns where the line with that offset is, and whether it is anywhere.
func (x *file) find(offset int64) (lineAt, bool) {
	if offset > x.base && x.f != nil {
		return lineAt{f: x.f, offset: offset - x.base}, true
	}
	for _, p := range x.parts {
		if offset > p.base && offset < p.base+p.size {
			return lineAt{path: p.path, offset: offset - p.base}, true
		}
	}
	return lineAt{}, false
}

// read reads the line. That of a part which was removed is ErrDropped.
func (at lineAt) read() (*line, error) {
	if at.f != nil {
		return readLine(at.f, at.offset)
	}
	f, err := os.Open(at.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrDropped
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLine(f, at.offset)
}

// stop notes that nothing can be written any more.
func (s *Store) stop(err error) {
	now := s.opts.Now()
	s.mu.Lock()
	first := s.file.err == nil
	if first {
		s.file.since = now
		s.note("%v; what came later is kept in memory only", err)
	}
	s.file.err, s.file.tried = err, now
	s.mu.Unlock()
	if first && s.opts.Stopped != nil {
		s.opts.Stopped(err)
	}
}

// resume goes on with a recording that stopped some time ago, or at once if it
// must, and writes down what is missing.
func (s *Store) resume(must bool) {
	now := s.opts.Now()
	s.mu.Lock()
	x := s.file
	s.mu.Unlock()
	if x.err == nil || !must && now.Sub(x.tried) < tryAgain {
		return
	}
	missing := Event{At: now, Text: fmt.Sprintf("nothing was recorded since %s: %v", x.since.Format(time.RFC3339), x.err)}
	line := appendEvent(nil, missing)
	if _, err := x.f.Write(line); err != nil {
		s.stop(fmt.Errorf("write recording: %w", errors.Join(err, x.f.Truncate(x.size-x.base))))
		return
	}
	s.mu.Lock()
	s.file.err = nil
	s.file.size += int64(len(line))
	s.setEvent(missing)
	s.note("the recording goes on; %s", missing.Text)
	s.mu.Unlock()
	if s.opts.Stopped != nil {
		s.opts.Stopped(nil)
	}
}

// rotate begins a new file if the one that is written is large enough, and
// removes the oldest ones. If that fails, the old one goes on.
func (s *Store) rotate() {
	s.mu.Lock()
	x := s.file
	comments := s.end()
	s.mu.Unlock()
	if x.f == nil || x.err != nil || s.opts.Rotate <= 0 || x.size-x.base < s.opts.Rotate || s.opts.Now().Sub(x.tried) < tryAgain {
		return
	}
	f, path, err := s.nextFile(&x, comments)
	if err != nil {
		err = errors.Join(err, x.f.Truncate(s.file.size-s.file.base)) // it has an end already
		s.mu.Lock()
		s.file.tried = s.opts.Now()
		s.note("the recording cannot be rotated: %v", err)
		s.mu.Unlock()
		return
	}
	header := appendHeader(nil, s.opts.Now(), s.opts.Source, s.opts.Session, x.next)
	_, err = f.Write(header)
	s.mu.Lock()
	old := s.file.f
	s.file.parts = append(x.parts, part{path: path, base: x.base, size: x.size - x.base})
	s.file.f, s.file.base, s.file.next = f, x.size, x.next
	s.file.size = x.size + int64(len(header))
	s.file.ended = s.stats.ended
	s.bodies.written = 0
	s.mu.Unlock()
	s.retain()
	if err = errors.Join(err, old.Close()); err != nil {
		s.stop(fmt.Errorf("rotate recording: %w", err))
	}
}

// nextFile ends the file that is written, gives it a number in its name, and
// makes a new one.
func (s *Store) nextFile(x *file, e lineEnd) (f *os.File, path string, err error) {
	last := appendEnd(nil, e, s.opts.Now())
	if _, err := x.f.Write(last); err != nil {
		return nil, "", err
	}
	x.size += int64(len(last))
	ext := filepath.Ext(s.opts.Path)
	for err == nil {
		x.next++
		path = fmt.Sprintf("%s.%d%s", strings.TrimSuffix(s.opts.Path, ext), x.next, ext)
		_, err = os.Lstat(path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	if err := os.Rename(s.opts.Path, path); err != nil {
		return nil, "", err
	}
	f, err = os.OpenFile(s.opts.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		err = errors.Join(err, os.Rename(path, s.opts.Path))
	}
	return f, path, err
}

// retain removes the oldest files of the recording that are too many or too
// large.
func (s *Store) retain() {
	s.mu.Lock()
	total := s.file.size - s.file.base
	for _, p := range s.file.parts {
		total += p.size
	}
	tooMany := func() bool {
		return s.opts.Keep > 0 && len(s.file.parts) >= s.opts.Keep || s.opts.KeepBytes > 0 && total > s.opts.KeepBytes-s.opts.Rotate
	}
	var gone []string
	for len(s.file.parts) > 0 && tooMany() {
		gone = append(gone, s.file.parts[0].path)
		total -= s.file.parts[0].size
		s.file.parts = slices.Delete(s.file.parts, 0, 1)
	}
	first := s.file.first()
	for k, at := range s.bodies.at {
		if at.bytes == nil && at.offset < first {
			delete(s.bodies.at, k)
		}
	}
	s.mu.Unlock()
	for _, path := range gone {
		if err := os.Remove(path); err != nil {
			s.mu.Lock()
			s.note("an old part of the recording stays: %v", err)
			s.mu.Unlock()
		}
	}
}

// end is the last line of the file that is written.
func (s *Store) end() lineEnd {
	e := lineEnd{Requests: s.stats.ended - s.file.ended}
	for _, c := range s.comments {
		e.Comments += uint64(len(c))
	}
	return e
}
