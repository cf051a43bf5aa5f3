package fileserving

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

// lite is the number of bytes that the lite checksums cover.
const lite = 512

// Names of Ruby's functions, which are part of Puppet's messages.
const (
	opStat     = "rb_file_s_stat"
	opLstat    = "rb_file_s_lstat"
	opOpen     = "rb_sysopen"
	opRead     = "io_fread"
	opReadlink = "rb_readlink"
	opList     = "dir_initialize"
)

// fail returns what Ruby raises for an error of the file system.
func fail(op, path string, err error, hidden string) error {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return err
	}
	f := disk.Fail(err, path, hidden)
	f.Message = fmt.Sprintf("%s @ %s - %s", disk.Message(code), op, path)
	return f
}

// A worker hashes one file after the other, always in the same memory.
type worker struct {
	ctx      context.Context
	uid, gid int    // of this process
	kind     string // of the next file, by its directory; "" if unknown
	digests  string // the type of digest
	digest   hash.Hash
	sum      []byte
	text     []byte
	bytes    int    // hashed
	status   status // of the last hashed file
}

// chunks are the buffers that files are read into.
var chunks = sync.Pool{New: func() any { return new([128 << 10]byte) }}

// collect fills in the metadata of the file. Rules TERM-MD-02 to TERM-MD-04.
func (w *worker) collect(f *model.FileMetadata, o *options) error {
	path := full(f.Path, f.RelativePath)
	if done, err := w.known(f, o, path); done || err != nil {
		return err
	}
	op, look := opLstat, lstat
	if o.links == "follow" {
		op, look = opStat, stat
	}
	s, err := look(path)
	if err != nil {
		return fail(op, path, err, "")
	}
	f.Type = s.kind
	w.own(f, o, &s)
	switch s.kind {
	case "file":
		f.Checksum, err = w.checksum(o.checksum, path, o.links == "manage")
	case "directory":
		// Puppet takes the time of the root of the search, also for files below
		// it.
		f.ChecksumType = "ctime"
		f.Checksum, err = w.checksum("ctime", f.Path, false)
	case "link":
		if f.Destination, err = os.Readlink(path); err != nil {
			return fail(opReadlink, path, errors.Unwrap(err), "the link has been replaced since it was looked at")
		}
		if f.Checksum, err = w.checksum(o.checksum, path, false); w.ctx.Err() == nil {
			err = nil // a link to what cannot be read has no checksum
		}
	case "fifo", "socket":
		f.ChecksumType, f.Checksum = "none", "{none}"
	default:
		err = &indirector.Failure{
			Class: "ArgumentError", Message: "Cannot manage files of type " + s.kind, Path: path, Hidden: path + " is a " + s.kind,
		}
	}
	return err
}

// known needs fewer system calls: the directory has given the kind of the file,
// and a file to be hashed gives the rest when it is open. It is not done if the
// file differs from its entry in the directory.
func (w *worker) known(f *model.FileMetadata, o *options, path string) (done bool, err error) {
	switch {
	case w.kind == "file" && o.checksum == "none" && !o.real:
		f.Checksum = "{none}"
	case w.kind == "file" && isDigest(o.checksum):
		if f.Checksum, err = w.checksum(o.checksum, path, true); err != nil {
			return false, w.ctx.Err()
		}
	case w.kind == "directory" && !o.real:
		f.ChecksumType = "ctime"
		if f.Checksum, err = w.checksum("ctime", f.Path, false); err != nil {
			return false, err
		}
	default:
		return false, nil
	}
	f.Type = w.kind
	w.own(f, o, &w.status)
	return true, nil
}

func isDigest(kind string) bool { return kind != "none" && kind != "mtime" && kind != "ctime" }

// own fills in owner, group and mode.
func (w *worker) own(f *model.FileMetadata, o *options, s *status) {
	owner, group, mode := w.uid, w.gid, 0o644
	if o.real {
		owner, group, mode = s.uid, s.gid, s.mode
	}
	f.Owner, f.Group, f.Mode = data.OfInt(int64(owner)), data.OfInt(int64(group)), data.OfInt(int64(mode))
}

// checksum returns the checksum of that type, which follows links. Known is
// that it has just been a regular file.
func (w *worker) checksum(kind, path string, known bool) (string, error) {
	switch kind {
	case "none":
		return "{none}", nil
	case "mtime", "ctime":
		s, err := stat(path)
		if err != nil {
			return "", fail(opStat, path, err, "")
		}
		t := s.mtime
		if kind == "ctime" {
			t = s.ctime
		}
		w.text = append(append(append(w.text[:0], '{'), kind...), '}')
		return string(t.Local().AppendFormat(w.text, "2006-01-02 15:04:05 -0700")), nil
	}
	if err := w.hash(kind, path, known); err != nil {
		return "", err
	}
	w.text = append(append(append(w.text[:0], '{'), kind...), '}')
	return string(hex.AppendEncode(w.text, w.sum)), nil
}

// hash leaves the digest of a file in sum. Only regular files are read: what
// was one a moment ago may be something else by now.
func (w *worker) hash(kind, path string, known bool) (err error) {
	if w.digests != kind {
		w.digests, w.digest = kind, model.NewDigest(kind)
	}
	w.digest.Reset()
	file, s, err := open(path, known)
	if err != nil {
		return err
	}
	w.status = s
	defer func() {
		if e := file.Close(); err == nil && e != nil {
			err = fail(opRead, path, e, "")
		}
	}()
	buffer := chunks.Get().(*[128 << 10]byte)
	defer chunks.Put(buffer)
	chunk, total := buffer[:], int64(0)
	short := strings.HasSuffix(kind, "lite")
	if short {
		chunk = chunk[:lite]
	}
	for {
		n, err := file.Read(chunk)
		if n > 0 {
			w.digest.Write(chunk[:n])
			total += int64(n)
		}
		if err == io.EOF || short && total > 0 || total == s.size && n < len(chunk) {
			break
		}
		if err != nil {
			return fail(opRead, path, err, "")
		}
		if n == len(chunk) {
			if err := w.ctx.Err(); err != nil {
				return fmt.Errorf("hash %q: %w", path, err)
			}
		}
	}
	if !short && total != s.size {
		traces.AddNote(w.ctx, fmt.Sprintf("%s changed while it was read: it had %d bytes, %d were hashed", path, s.size, total))
	}
	w.bytes += int(total)
	w.sum = w.digest.Sum(w.sum[:0])
	return nil
}

// open opens a regular file and never blocks. Known reports that it has just
// been a regular file, and not a link.
func open(path string, known bool) (file io.ReadCloser, s status, err error) {
	if !known {
		// A device is not even opened: opening some has effects.
		s, err := stat(path)
		if err != nil {
			return nil, s, fail(opOpen, path, err, "")
		}
		if err := readable(path, s.kind); err != nil {
			return nil, s, err
		}
	}
	if file, s, err = openFile(path, !known); err != nil {
		return nil, s, fail(opOpen, path, err, "")
	}
	if err := readable(path, s.kind); err != nil {
		return nil, s, errors.Join(err, file.Close())
	}
	return file, s, nil
}

// readable returns nil for a regular file.
func readable(path, kind string) error {
	switch kind {
	case "file":
		return nil
	case "directory":
		return fail(opRead, path, syscall.EISDIR, "")
	}
	return &indirector.Failure{
		Class: "ArgumentError", Message: "Cannot manage files of type " + kind, Origin: "file", Path: path,
		Hidden: fmt.Sprintf("%s is a %s; reading it might never end", path, kind),
	}
}

// A Path is the contents of a file of this machine, following links.
type Path string

var _ model.Kept = Path("")

// Path returns the path.
func (p Path) Path() string { return string(p) }

// Open opens the file, with Puppet's words for a file that cannot be read or is
// not regular. The reader is an *os.File, which the kernel can copy.
func (p Path) Open() (io.ReadCloser, error) {
	path := string(p)
	s, err := stat(path)
	if err != nil {
		return nil, fail(opOpen, path, err, "")
	}
	if err := readable(path, s.kind); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fail(opOpen, path, err, "")
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(readable(path, "file that has just been replaced"), err, f.Close())
	}
	return f, nil
}

// Size returns the number of bytes, or -1 if it is no regular file.
func (p Path) Size() int64 {
	info, err := os.Stat(string(p))
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

// A status is the file system's description of a file.
type status struct {
	kind         string // as Ruby calls it
	uid, gid     int
	mode         int // with set-uid and the like, without the kind
	size         int64
	mtime, ctime time.Time
	device, node uint64
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
