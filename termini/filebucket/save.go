package filebucket

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/host/files"
	"indirtui/indirector/model"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

// Save keeps the contents of the instance under their checksum. It returns an
// empty file, as in Puppet. A killed process leaves a hidden file ".save-…" in
// the bucket that is never read. Rule TERM-FB-08.
func (t *Terminus) Save(ctx context.Context, req *indirector.Request) (any, error) {
	file, ok := req.Instance.(*model.FileBucketFile)
	if !ok {
		return nil, &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf("a bucket keeps files, not a %T", req.Instance), Err: indirector.ErrInvalid}
	}
	bucket := t.dir
	if file.BucketPath != "" && !req.IsRemote() {
		bucket = file.BucketPath
	}
	_, path, err := t.lookUp(ctx, bucket, req.Key)
	if err != nil {
		return nil, err
	}
	temp, checksum, err := t.stage(ctx, bucket, file)
	if err != nil {
		return nil, err
	}
	err = t.keep(ctx, entry{bucket, checksum}, temp, path)
	if e := temp.Abort(); e != nil {
		err = errors.Join(err, disk.Fail(e, bucket, ""))
	}
	if err != nil {
		return nil, err
	}
	return model.NewFileBucketFile(t.algorithm, nil)
}

// stage writes the contents into a file of the bucket that has no name yet, and
// returns it with their checksum. What was hashed before and is different now
// is not kept.
func (t *Terminus) stage(ctx context.Context, bucket string, file *model.FileBucketFile) (temp *files.Writer, checksum string, err error) {
	_, span := traces.Start(ctx, traces.Stream, "hash and write contents")
	var n int64
	defer func() {
		span.Attr("bytes", strconv.FormatInt(n, 10))
		if err != nil {
			span.End("failed", traces.Because{}, err)
			return
		}
		span.End("{"+t.algorithm+"}"+checksum, traces.Because{}, nil)
	}()
	if err := makeDir(bucket); err != nil {
		return nil, "", disk.Fail(err, bucket, "")
	}
	var source io.ReadCloser = io.NopCloser(bytes.NewReader(nil))
	if file.Contents != nil {
		if source, err = file.Contents.Open(); err != nil {
			return nil, "", disk.Fail(err, "", "the contents that are to be saved")
		}
	}
	defer source.Close()
	nameless := filepath.Join(bucket, "contents") // until the checksum is known
	temp, err = files.Create(nameless, files.Options{Mode: contentsMode, Owner: files.Must})
	if err != nil {
		return nil, "", disk.Fail(renamed(err, nameless, bucket), bucket, "")
	}
	digest := model.NewDigest(t.algorithm)
	n, err = write(ctx, temp, source, digest)
	if err == nil {
		err = temp.Truncate(n) // it may end with a hole
	}
	checksum = hex.EncodeToString(digest.Sum(nil))
	switch {
	case err == nil && file.ChecksumType == t.algorithm && file.Checksum != "" && file.Checksum != checksum:
		err = &indirector.Failure{Class: "Puppet::FileBucket::BucketError", Message: fmt.Sprintf(msgChanged, checksum, file.Checksum), Err: indirector.ErrInvalid}
	case err != nil && ctx.Err() == nil:
		err = disk.Fail(renamed(err, nameless, bucket), bucket, "")
	}
	if err != nil {
		return nil, "", errors.Join(err, temp.Abort())
	}
	return temp, checksum, nil
}

// renamed attributes an error about one path to another.
func renamed(err error, from, to string) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) && e.Path == from {
		return &fs.PathError{Op: e.Op, Path: to, Err: e.Err}
	}
	return err
}

// block is the size of a read, in bytes. Contents need no more memory.
const block = 256 << 10

var zeros [block]byte

// write copies source to temp and to the digest. Whole blocks of zeros become
// holes.
func write(ctx context.Context, temp io.WriteSeeker, source io.Reader, digest hash.Hash) (n int64, err error) {
	buffer := make([]byte, block)
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		size, err := io.ReadFull(source, buffer)
		b := buffer[:size]
		digest.Write(b)
		if size == block && bytes.Equal(b, zeros[:]) {
			if _, err := temp.Seek(block, io.SeekCurrent); err != nil {
				return n, err
			}
		} else if _, err := temp.Write(b); err != nil {
			return n, err
		}
		n += int64(size)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
	}
}

// keep puts what was staged in its place, unless it is there already, and adds
// the path. Rules TERM-FB-03, TERM-FB-08.
func (t *Terminus) keep(ctx context.Context, e entry, temp *files.Writer, path string) (err error) {
	if err := makeDir(e.dir()); err != nil {
		return disk.Fail(err, e.dir(), "")
	}
	paths, err := e.lockPaths(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, paths.Close()) }()
	if err := t.place(ctx, e, temp); err != nil {
		return err
	}
	if bytes.ContainsRune([]byte(path), '\n') {
		traces.AddNote(ctx, fmt.Sprintf("the path holds a line break: paths lists it as several, and no find by it matches: %s", data.InspectString(path)))
	}
	if err := addPath(ctx, paths, path); err != nil {
		return disk.Fail(err, e.paths(), "the contents are kept; their path is not")
	}
	return nil
}

func (t *Terminus) place(ctx context.Context, e entry, temp *files.Writer) error {
	sum := "{" + t.algorithm + "}" + e.checksum
	there, err := t.state(ctx, e, temp.Name())
	if err != nil {
		return err
	}
	switch there {
	case same:
		t.env.Log.Info(fmt.Sprintf(msgDuplicate, sum))
		now := t.now()
		if err := os.Chtimes(e.contents(), now, now); err != nil {
			return disk.Fail(err, e.contents(), "")
		}
		return nil
	case collides:
		// Puppet's message does not show a client where the server keeps its
		// files.
		t.env.Log.Error(fmt.Sprintf(msgUnverified, e.contents()))
		return &indirector.Failure{
			Class: "Puppet::FileBucket::BucketError", Message: fmt.Sprintf(msgCollision, sum), Origin: "file", Path: e.contents(),
			Hidden: "two contents with one checksum; the one that was there is untouched",
		}
	case corrupt:
		t.env.Log.Warn(fmt.Sprintf(msgCorrupt, sum))
		traces.AddNote(ctx, "the copy in the bucket was damaged; it is replaced")
	case absent:
	default:
		panic(there)
	}
	_, span := traces.Start(ctx, traces.File, "write contents")
	span.Attr("path", e.contents())
	span.Attr("mode", fmt.Sprintf("%04o", contentsMode))
	if err := temp.CommitTo(e.contents()); err != nil {
		span.End("failed", traces.Because{}, err)
		return disk.Fail(err, e.contents(), "")
	}
	span.End("kept", traces.Because{}, nil)
	return nil
}

// A state is the state of a bucket's entry before a save.
type state uint8

const (
	absent   state = iota
	same           // the same contents
	collides       // others, with the same checksum
	corrupt        // what does not match its checksum
)

var states = [...]string{"absent", "the same", "a collision", "damaged"}

func (t *Terminus) state(ctx context.Context, e entry, temp string) (there state, err error) {
	old, err := openRegular(e.contents())
	if errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	if err != nil {
		return 0, disk.Fail(err, e.contents(), "")
	}
	defer old.Close()
	_, span := traces.Start(ctx, traces.File, "compare contents")
	span.Attr("path", e.contents())
	defer func() { span.End(states[there], traces.Because{}, err) }()
	incoming, err := os.Open(temp)
	if err != nil {
		return 0, disk.Fail(err, temp, "")
	}
	defer incoming.Close()
	if equal, err := equal(ctx, old, incoming); err != nil {
		return 0, disk.Fail(err, e.contents(), "")
	} else if equal {
		return same, nil
	}
	if _, err := old.Seek(0, io.SeekStart); err != nil {
		return 0, disk.Fail(err, e.contents(), "")
	}
	digest := model.NewDigest(t.algorithm)
	if _, err := io.CopyBuffer(digest, reader{ctx, old}, make([]byte, block)); err != nil {
		return 0, disk.Fail(err, e.contents(), "")
	}
	if hex.EncodeToString(digest.Sum(nil)) == e.checksum {
		return collides, nil
	}
	return corrupt, nil
}

// equal compares two files, sizes first.
func equal(ctx context.Context, a, b *os.File) (bool, error) {
	ia, err := a.Stat()
	if err != nil {
		return false, err
	}
	ib, err := b.Stat()
	if err != nil || ia.Size() != ib.Size() {
		return false, err
	}
	ba, bb := make([]byte, block), make([]byte, block)
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		na, erra := io.ReadFull(a, ba)
		nb, errb := io.ReadFull(b, bb)
		switch {
		case na != nb || !bytes.Equal(ba[:na], bb[:nb]):
			return false, nil
		case errors.Is(erra, io.EOF), errors.Is(erra, io.ErrUnexpectedEOF):
			return true, nil
		case erra != nil || errb != nil:
			return false, errors.Join(erra, errb)
		}
	}
}

// A reader ends when its context does.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}
