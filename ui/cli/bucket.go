package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
)

// bucketFile makes a file of a bucket of standard input or of --file, with the
// checksum of the type that the settings want. It may be larger than memory:
// what cannot be read twice, as a pipe, is copied to a temporary file. Call
// done when the request has been answered.
func (a *askCommand) bucketFile(ctx context.Context, e *engine.Engine, req *indirector.Request) (inst indirector.Instance, done func() error, err error) {
	algorithm, place := e.Settings.Get("digest_algorithm")
	digest := model.NewDigest(algorithm)
	if digest == nil {
		return nil, nil, fmt.Errorf("setting digest_algorithm (%s): there is no digest %q", place, algorithm)
	}
	file := &model.FileBucketFile{ChecksumType: algorithm}
	if bucket := req.Option("bucket_path"); bucket != nil {
		file.BucketPath = fmt.Sprint(bucket)
	}
	in := a.p.In
	done = func() error { return nil }
	if a.file != "-" {
		f, err := os.Open(a.file)
		if err != nil {
			return nil, nil, fmt.Errorf("read the instance: %w", err)
		}
		in, done = f, f.Close
	}
	contents, ok := inPlace(in)
	if ok {
		_, err = io.CopyBuffer(digest, reader{ctx, contents.reader()}, make([]byte, 256<<10))
	} else {
		opened := done
		contents, done, err = spool(io.TeeReader(reader{ctx, in}, digest))
		err = errors.Join(err, opened())
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read the instance: %w", err), done())
	}
	file.Checksum = hex.EncodeToString(digest.Sum(nil))
	file.Contents = contents
	return file, done, nil
}

// A section is a part of a file, as contents.
type section struct {
	file       *os.File
	from, size int64
}

func (s section) reader() *io.SectionReader    { return io.NewSectionReader(s.file, s.from, s.size) }
func (s section) Open() (io.ReadCloser, error) { return io.NopCloser(s.reader()), nil }
func (s section) Size() int64                  { return s.size }

// inPlace returns what is left to be read of a file, if it can be read twice.
func inPlace(in io.Reader) (s section, ok bool) {
	f, ok := in.(*os.File)
	if !ok {
		return s, false
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return s, false
	}
	from, err := f.Seek(0, io.SeekCurrent)
	return section{f, from, max(0, info.Size()-from)}, err == nil
}

// spool copies what comes to a temporary file, which done removes.
func spool(in io.Reader) (s section, done func() error, err error) {
	done = func() error { return nil }
	f, err := os.CreateTemp("", "indirtui-*")
	if err != nil {
		return s, done, err
	}
	done = func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
	n, err := io.CopyBuffer(f, in, make([]byte, 256<<10))
	return section{f, 0, n}, done, err
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
