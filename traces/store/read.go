package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"indirtui/traces"
)

// Numbers come from a file, which may be hostile: maxGap is the largest
// distance between a request and the others, maxID the greatest number that
// JSON carries.
const (
	maxGap = 1 << 28
	maxID  = 1<<53 - 1
)

// firstPart is how much of a recording is read before OpenFile returns.
const firstPart = 256 << 10

// errNotRecording reports a file that is something else.
var errNotRecording = errors.New("not a recording")

// OpenFile opens a recording. It returns when the first rows are there and
// reads on in the background; see Changed and Loading. Damaged lines are left
// out, and reported by Notes.
func OpenFile(path string) (*Store, error) { return openFile(path, Options{}) }

func openFile(path string, opts Options) (*Store, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open recording: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open recording: %w", err), f.Close())
	}
	opts.Path, opts.Details = path, 1
	s := newStore(opts)
	s.readOnly = true
	s.file = file{f: f, size: info.Size()}
	x := &reading{s: s, r: bufio.NewReaderSize(io.NewSectionReader(f, 0, info.Size()), 256<<10), later: map[uint64][]*line{}}
	if err := x.header(); err != nil {
		return nil, errors.Join(fmt.Errorf("open recording %s: %w", path, err), f.Close())
	}
	if x.read(firstPart) {
		s.done.Go(func() {
			for x.read(firstPart) {
				select {
				case <-s.quit:
					return
				default:
				}
			}
		})
	}
	return s, nil
}

// A reading makes rows of the lines of a recording.
type reading struct {
	s       *Store
	r       *bufio.Reader
	at      int64 // offset of the next line
	buf     []byte
	lines   []found
	later   map[uint64][]*line // marks and comments of requests that come later
	waiting int
	damaged int
}

// A found is a line that was read, with its place.
type found struct {
	at   int64
	line line
}

// header reads the first line. A file that ends within it is an empty
// recording.
func (x *reading) header() error {
	const begin = `{"indirtui":`
	b, whole, err := x.next()
	if err != nil {
		return err
	}
	if !whole {
		if n := min(len(b), len(begin)); string(b[:n]) != begin[:n] {
			return errNotRecording
		}
		x.s.note("the file ends within its first line")
		return nil
	}
	l, err := parse(b)
	if err != nil || l.Version == 0 {
		return errNotRecording
	}
	if l.Version > version {
		return fmt.Errorf("its format is version %d, and this program reads up to %d: use a newer one", l.Version, version)
	}
	return nil
}

// next returns the next line and whether it is whole. Of values it returns the
// beginning only. The bytes are valid until the next call.
func (x *reading) next() (b []byte, whole bool, err error) {
	x.buf = x.buf[:0]
	for {
		part, err := x.r.ReadSlice('\n')
		x.at += int64(len(part))
		if err == nil && len(x.buf) == 0 {
			return part, true, nil
		}
		if len(x.buf) < maxLine && !bytes.HasPrefix(x.buf, []byte(beginBody)) {
			x.buf = append(x.buf, part...)
		}
		switch err {
		case nil:
			return x.buf, true, nil
		case bufio.ErrBufferFull:
		case io.EOF:
			return x.buf, false, nil
		default:
			return nil, false, err
		}
	}
}

// read reads about n bytes and adds what is in them. It reports whether there
// is more.
func (x *reading) read(n int64) bool {
	more := true
	x.lines = x.lines[:0]
	for end := x.at + n; more && x.at < end; {
		at := x.at
		b, whole, err := x.next()
		switch {
		case err != nil:
			x.s.mu.Lock()
			x.s.note("read recording at byte %d: %v", at, err)
			x.s.mu.Unlock()
			more = false
		case !whole:
			if len(b) > 0 {
				x.s.mu.Lock()
				x.s.note("the last line is damaged and was left out: %d bytes from byte %d on", x.at-at, at)
				x.s.mu.Unlock()
			}
			more = false
		default:
			x.take(at, b)
		}
	}
	x.put(more)
	return more
}

const beginBody = `{"body":"`

// take reads one line as far as it is needed now.
func (x *reading) take(at int64, b []byte) {
	if len(bytes.TrimSpace(b)) == 0 {
		return
	}
	x.lines = append(x.lines, found{at: at})
	l := &x.lines[len(x.lines)-1].line
	if err := parseShort(b, l); err != nil {
		x.lines = x.lines[:len(x.lines)-1]
		x.damage(at, err)
	}
}

func (x *reading) damage(at int64, err error) {
	x.damaged++
	if x.damaged == 1 {
		x.s.mu.Lock()
		x.s.note("the line at byte %d is damaged and was left out: %v", at, err)
		x.s.mu.Unlock()
	}
}

// parseShort reads what the index needs: of a request its row, of a value its
// name.
func parseShort(b []byte, l *line) error {
	b = bytes.TrimRight(b, "\r\n")
	if rest, ok := bytes.CutPrefix(b, []byte(beginBody)); ok {
		if len(rest) < 65 || rest[64] != '"' {
			return errors.New("a value without its SHA-256")
		}
		l.Body = string(rest[:64])
		_, err := digestOf(l.Body)
		return err
	}
	if i := bytes.Index(b, []byte(beginSteps)); i > 0 && b[len(b)-1] == '}' {
		if err := json.Unmarshal(append(b[:i:i], '}'), &l.Head); err != nil || l.Verb != "" {
			return err
		}
	}
	return json.Unmarshal(b, l)
}

// put adds what was read.
func (x *reading) put(more bool) {
	s := x.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range x.lines {
		f := &x.lines[i]
		l := &f.line
		switch {
		case l.Body != "":
			k, _ := digestOf(l.Body)
			s.bodies.at[k] = bodyAt{offset: f.at}
		case l.Trace != 0:
			x.putRow(f.at, &l.Head)
		case l.Mark != 0:
			x.putNote(l.Mark, l)
		case l.Comment != 0:
			x.putNote(l.Comment, l)
		case l.Event != "":
			s.setEvent(Event{l.Time, l.Event})
		}
	}
	s.loaded = x.at
	if !more {
		s.loaded = s.file.size
		if x.damaged > 1 {
			s.note("%d lines are damaged and were left out", x.damaged)
		}
		if x.waiting > 0 {
			s.note("marks or comments on %d requests that are not there", len(x.later))
		}
	}
	s.notify()
}

// putRow makes a row of the line of a request.
func (x *reading) putRow(at int64, h *Head) {
	s := x.s
	id := h.Trace
	if id > maxID || s.last != 0 && (id > s.last+maxGap || id+maxGap < s.first) {
		x.damaged++
		s.note("the line at byte %d has a number that cannot be: %d", at, id)
		return
	}
	if id < s.floor {
		s.stats.droppedRows++
		return
	}
	r := s.insert(id, at, h)
	if r == nil {
		x.damaged++
		s.note("the line at byte %d has a number that was there before: %d", at, id)
		return
	}
	s.readLinks(id, r, h)
	for _, l := range x.later[id] {
		x.waiting--
		x.putNote(id, l)
	}
	delete(x.later, id)
}

// insert makes the row of a request that was read, or returns nil if there is
// one already.
func (s *Store) insert(id uint64, at int64, h *Head) *row {
	if id < s.last {
		s.touch(id) // views may be beyond it
	}
	s.last = max(s.last, id)
	c, r := s.make(id)
	if r.bits&present != 0 {
		return nil
	}
	s.rows++
	child, next := r.child, r.next // from lines before
	caller := h.Caller
	if h.From != "" {
		caller += "\x00" + h.From
	}
	*r = row{
		start: nanos(h.Time), took: h.Took, line: at, child: child, next: next,
		ind: c.intern(ofIndirection, h.Indirection), key: c.intern(ofKey, h.Key), env: c.intern(ofEnvironment, h.Environment),
		run: c.intern(ofRun, h.Run), caller: c.intern(ofCaller, caller), terminus: c.intern(ofTerminus, h.Terminus),
		cache: c.intern(ofCache, h.Cache), origin: c.intern(ofOrigin, h.Origin), fault: c.intern(ofFault, h.Fault),
		good: distance(h.Good, id), size: uint32(min(max(h.Size, 0), 1<<32-1)), bits: present | ended | settled,
		verb: uint8(traces.ParseVerb(h.Verb)), outcome: uint8(h.outcome()), served: uint8(serveds[h.Served]),
		flags: uint8(flagsOf(h.Flags)), setBy: uint8(sources[h.SetBy]), cacheBy: uint8(sources[h.CacheSetBy]),
		slot: 1 << 31,
	}
	for _, b := range []struct {
		set bool
		bit uint16
	}{{h.CacheWrote, cacheWritten}, {h.Caller == "you", sent}, {h.Guessed, runGuessed}, {h.Touched, touched}, {h.Lost, lost}} {
		if b.set {
			r.bits |= b.bit
		}
	}
	if h.Lost {
		s.stats.droppedDetails++
	}
	s.stats.begin(r.start)
	s.stats.end(&traces.Trace{Indirection: h.Indirection, Caller: h.Caller, Outcome: h.outcome(), Took: time.Duration(h.Took)})
	return r
}

// readLinks makes the links that Begin and End would have made.
func (s *Store) readLinks(id uint64, r *row, h *Head) {
	s.linkParent(id, r, h.Parent)
	if h.Replay {
		s.linkReplay(id, r, h.Previous)
	} else {
		s.linkRun(id, r, h.Previous)
	}
	s.nameRun(id, r, h.Transaction)
	before := s.byKey.at(s.keyHash(h.Indirection, h.Key))
	r.same = s.sameBefore(before.last, id)
	before.last = id
}

// maxWaiting is how many marks and comments may come before their requests.
const maxWaiting = 10_000

// putNote applies a mark or a comment, now or when its request is there.
func (x *reading) putNote(id uint64, l *line) {
	r, _ := x.s.row(id)
	switch {
	case r == nil:
		if x.waiting < maxWaiting {
			keep := *l
			x.later[id] = append(x.later[id], &keep)
			x.waiting++
		}
	case l.Mark != 0:
		var mark byte
		for _, r := range l.As {
			mark = byte(r)
		}
		x.s.setMark(id, r, mark)
	default:
		x.s.setComment(id, r, Comment{l.Time, l.Text})
	}
}

// Loading returns how many bytes of a recording were read, and of how many.
// They are equal when all was; both are zero for a store that records.
func (s *Store) Loading() (done, total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.readOnly {
		return 0, 0
	}
	return s.loaded, s.file.size
}

// An Info describes a recording in a list.
type Info struct {
	Path     string
	Version  int
	Source   string
	Started  time.Time
	Size     int64
	Ended    bool // it was closed; the fields below are known only then
	Requests uint64
	Comments uint64
}

// Inspect reads only the first and the last line of a recording. The error is
// errNotRecording, or that of the file.
func Inspect(path string) (Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return Info{}, fmt.Errorf("inspect recording: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return Info{}, fmt.Errorf("inspect recording: %w", err)
	}
	b := make([]byte, 4<<10)
	n, _ := f.ReadAt(b, 0)
	first, _, _ := strings.Cut(string(b[:n]), "\n")
	l, err := parse([]byte(first))
	if err != nil || l.Version == 0 {
		return Info{}, fmt.Errorf("inspect recording %s: %w", path, errNotRecording)
	}
	i := Info{Path: path, Version: l.Version, Source: l.Source, Started: l.Started, Size: st.Size()}
	n, _ = f.ReadAt(b, max(st.Size()-int64(len(b)), 0))
	tail := strings.TrimRight(string(b[:n]), "\n")
	if l, err := parse([]byte(tail[strings.LastIndexByte(tail, '\n')+1:])); err == nil && l.End != nil {
		i.Ended, i.Requests, i.Comments = true, l.End.Requests, l.End.Comments
	}
	return i, nil
}
