// Package disk reads and replaces whole files as Puppet does, records that in
// the trace, and words errors as Ruby does.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/host/files"
	"indirtui/traces"
)

// MaxSize is the most that Read takes into memory, in bytes.
const MaxSize = 256 << 20

// A File is what was read, and what is known of it besides.
type File struct {
	Content []byte
	Written time.Time
	buffer  *[]byte
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxKept is the size of the largest buffer that is used again.
const maxKept = 1 << 20

// Release gives the content back: its memory is used for other files. Call it
// when nothing refers to the content any more.
func (f *File) Release() {
	if f.buffer != nil && cap(*f.buffer) <= maxKept {
		buffers.Put(f.buffer)
	}
	f.Content, f.buffer = nil, nil
}

// allocate makes room for n bytes.
func (f *File) allocate(n int) {
	f.buffer = buffers.Get().(*[]byte)
	if cap(*f.buffer) < n {
		*f.buffer = make([]byte, n)
	}
	f.Content = (*f.buffer)[:n]
}

// Read returns the whole content of a file with one read: files are replaced
// by renaming, so that an open one does not change. The error is an
// *fs.PathError. It opens a span of the request of ctx.
func Read(ctx context.Context, path string) (f File, err error) {
	_, span := traces.Start(ctx, traces.File, "read "+filepath.Base(path))
	if span != nil {
		span.Attr("path", path)
		defer func() {
			if err == nil {
				span.Attr("bytes", strconv.Itoa(len(f.Content)))
				span.Attr(traces.AttrWritten, f.Written.UTC().Format(time.RFC3339))
			}
			span.End(answer(len(f.Content), err), traces.Because{}, err)
		}()
	}
	if err := ctx.Err(); err != nil {
		return f, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	file, is, err := open(path)
	if err != nil {
		return f, err
	}
	defer file.Close()
	switch {
	case is.kind.IsDir():
		return f, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case is.size > MaxSize:
		return f, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%d bytes are more than the limit of %d", is.size, MaxSize)}
	case is.kind != 0:
		return f, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is no regular file, but %s", is.kind)}
	}
	f.Written = is.written
	f.allocate(int(is.size))
	n, err := io.ReadFull(file, f.Content)
	f.Content = f.Content[:n]
	switch e := (*fs.PathError)(nil); {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = nil // truncated in place; what is left is the content
	case err != nil && !errors.As(err, &e):
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return f, err
}

// opened is the status of an open file.
type opened struct {
	kind    fs.FileMode // type bits only; zero is a regular file
	size    int64
	written time.Time
}

func answer(n int, err error) string {
	if err != nil {
		return "failed"
	}
	return strconv.Itoa(n) + " bytes"
}

// Replace puts content into a file as files.Write does. The owner of the old
// file is kept; if that is not allowed, it is an error. It opens a span of the
// request of ctx.
func Replace(ctx context.Context, path string, mode fs.FileMode, content []byte) (err error) {
	_, span := traces.Start(ctx, traces.File, "write "+filepath.Base(path))
	if span != nil {
		span.Attr("path", path)
		span.Attr("bytes", strconv.Itoa(len(content)))
		span.Attr("mode", fmt.Sprintf("%04o", mode))
		defer func() { span.End(answer(len(content), err), traces.Because{}, err) }()
	}
	if err := ctx.Err(); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return files.Write(path, content, files.Options{Mode: mode, Owner: files.Must})
}

// Remove unlinks a file. It opens a span of the request of ctx.
func Remove(ctx context.Context, path string) error {
	_, span := traces.Start(ctx, traces.File, "unlink "+filepath.Base(path))
	span.Attr("path", path)
	err := unlink(path)
	word := "removed"
	if err != nil {
		word = "failed"
	}
	span.End(word, traces.Because{}, err)
	return err
}

// unlink removes what is no directory: os.Remove would take an empty one too.
func unlink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return &fs.PathError{Op: "remove", Path: path, Err: syscall.EISDIR}
	}
	return os.Remove(path)
}

// ruby is what Ruby calls the system calls that Go names by their purpose.
var ruby = map[string]string{
	"open": "rb_sysopen", "read": "io_fread", "write": "io_writev", "mkdir": "dir_s_mkdir",
	"remove": "apply2files", "rename": "rb_file_s_rename", "lstat": "rb_file_lstat", "chmod": "apply2files",
}

var errnoClasses = map[syscall.Errno]string{
	syscall.ENOENT: "ENOENT", syscall.EACCES: "EACCES", syscall.EPERM: "EPERM", syscall.EISDIR: "EISDIR",
	syscall.ENOTDIR: "ENOTDIR", syscall.EEXIST: "EEXIST", syscall.ENOSPC: "ENOSPC", syscall.EROFS: "EROFS",
	syscall.ENAMETOOLONG: "ENAMETOOLONG", syscall.EIO: "EIO", syscall.EMFILE: "EMFILE", syscall.ELOOP: "ELOOP",
	syscall.EINVAL: "EINVAL", syscall.ENOTEMPTY: "ENOTEMPTY",
}

// Message returns err in Ruby's words: "Permission denied @ rb_sysopen -
// /etc/x".
func Message(err error) string {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return err.Error()
	}
	words := []byte(code.Error())
	if 'a' <= words[0] && words[0] <= 'z' {
		words[0] -= 'a' - 'A'
	}
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return fmt.Sprintf("%s @ %s - %s", words, ruby[e.Op], e.Path)
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		return fmt.Sprintf("%s @ %s - (%s, %s)", words, ruby[e.Op], e.Old, e.New)
	}
	return string(words)
}

// Fail returns a failure of the file system as Ruby raises it when Puppet does
// not rescue it.
func Fail(err error, path, hidden string) *indirector.Failure {
	f := &indirector.Failure{Class: "IOError", Message: Message(err), Origin: "file", Path: path, Hidden: hidden, Err: err}
	if code := syscall.Errno(0); errors.As(err, &code) {
		f.Class = "SystemCallError"
		if name := errnoClasses[code]; name != "" {
			f.Class = "Errno::" + name
		}
	}
	if f.Hidden == "" {
		f.Hidden = Why(err, path)
	}
	return f
}

// Why returns what Ruby leaves out of an error: who may not do what with path.
// It is never "".
func Why(err error, path string) string {
	why := err.Error()
	if !errors.Is(err, fs.ErrPermission) {
		return why
	}
	for p := path; p != "/" && p != "."; p = filepath.Dir(p) {
		if info, e := os.Stat(p); e == nil {
			return fmt.Sprintf("%s; uid %d meets %s %s%s", why, os.Geteuid(), p, info.Mode(), ownerOf(info))
		}
	}
	return why
}
