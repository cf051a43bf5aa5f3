// Package filebucket keeps copies of files under the checksums of their
// contents, where Puppet keeps them:
//
//	<bucket>/5/e/8/8/4/8/9/8/5e884898da2804…/contents
//	<bucket>/5/e/8/8/4/8/9/8/5e884898da2804…/paths
//
// The second file lists, line by line, where the contents came from. A save
// locks it, so that this program and Puppet may share a bucket. Contents are
// never held in memory: they are hashed while they are written to a temporary
// file in the bucket, which is then renamed.
package filebucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

// File describes the file terminus of the file_bucket_file indirection.
var File = indirector.Descriptor{
	Indirection: "file_bucket_file",
	Name:        "file",
	Note:        "in directories named by checksums",
	Doc: "Keeps copies of files in directories named by their checksums. " +
		"The option bucket_path names another bucket; diff_with=CHECKSUM compares two copies; list_all lists what is kept, between fromdate and todate. " +
		"A save keeps the contents under the checksum that they have, whatever the key says, and records the path in the key.",
	Settings: []indirector.Setting{
		{Name: "bucketdir", Doc: "The bucket, unless the request names one."},
		{Name: "digest_algorithm", Doc: "The only type of checksum that a key may have: md5, sha1, sha224, sha256, sha384 or sha512. Nothing is sha256."},
		{Name: "diff", Doc: "The command for diff_with. No shell is involved."},
		{Name: "diff_args", Doc: "Its arguments, split at blanks."},
	},
	Rules: []string{
		"TERM-FB-01", "TERM-FB-02", "TERM-FB-03", "TERM-FB-04", "TERM-FB-05", "TERM-FB-06", "TERM-FB-07", "TERM-FB-08", "TERM-FB-09", "TERM-FB-10",
		"IND-VAL-02",
	},
	Type: (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		t := &Terminus{env: env}
		t.dir, _ = env.Settings.Get("bucketdir")
		t.diff, _ = env.Settings.Get("diff")
		args, _ := env.Settings.Get("diff_args")
		t.diffArgs = strings.Fields(args)
		var source string
		t.algorithm, source = env.Settings.Get("digest_algorithm")
		t.algorithm = cmp.Or(t.algorithm, "sha256")
		digest := model.NewDigest(t.algorithm)
		if digest == nil || strings.HasSuffix(t.algorithm, "lite") {
			return nil, fmt.Errorf("setting digest_algorithm (%s): a bucket cannot be kept by %q; use md5, sha1, sha224, sha256, sha384 or sha512", source, t.algorithm)
		}
		t.digits = 2 * digest.Size()
		return t, nil
	},
}

// A Terminus keeps files in a bucket. It is safe for concurrent use, also with
// other processes on the same bucket.
type Terminus struct {
	env       indirector.Env
	dir       string // the bucket of the settings
	algorithm string
	digits    int // of a checksum of that algorithm
	diff      string
	diffArgs  []string
}

var (
	_ indirector.Finder    = (*Terminus)(nil)
	_ indirector.Header    = (*Terminus)(nil)
	_ indirector.Saver     = (*Terminus)(nil)
	_ indirector.Validator = (*Terminus)(nil)
	_ indirector.Lister    = (*Terminus)(nil)
	_ indirector.Peeker    = (*Terminus)(nil)
)

// Messages of Puppet, word for word.
const (
	msgType       = "Unsupported checksum type %s"                                                                                               // TERM-FB-04
	msgChecksum   = "Invalid checksum %s"                                                                                                        // TERM-FB-04
	msgRead       = "FileBucket read %s"                                                                                                         // TERM-FB-05
	msgNoOther    = "could not find diff_with %s"                                                                                                // TERM-FB-06
	msgNoDiff     = "Unable to diff on this platform"                                                                                            // TERM-FB-06
	msgRemoteList = "Listing remote file buckets is not allowed"                                                                                 // TERM-FB-07
	msgDate       = "Error while parsing '%s'"                                                                                                   // TERM-FB-07
	msgDuplicate  = "FileBucket got a duplicate file %s"                                                                                         // TERM-FB-08
	msgCollision  = "Existing backup and new file have different content but same checksum, %s. Verify existing backup and remove if incorrect." // TERM-FB-08
	msgUnverified = "Unable to verify existing FileBucket backup at '%s'."                                                                       // TERM-FB-08
	msgCorrupt    = "Existing backup does not match its expected sum, %s. Overwriting corrupted backup."                                         // TERM-FB-08
	msgLock       = "Timeout waiting for exclusive lock on %s"                                                                                   // TERM-FB-03
	msgChanged    = "the contents changed while they were read: their checksum is %s, it was %s; save them again"                                // ours
	msgNoBucket   = "there is no bucket: set bucketdir, or give bucket_path"                                                                     // ours; Puppet would use the root of the file system
)

// Find opens, compares or lists the contents, by the options. Rules TERM-FB-05,
// TERM-FB-06, TERM-FB-07.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	bucket := t.bucket(ctx, req)
	if asked(req.Option("list_all")) {
		return t.list(ctx, req, bucket)
	}
	e, path, err := t.lookUp(ctx, bucket, req.Key)
	if err != nil {
		return nil, err
	}
	size, err := e.look(ctx, path)
	if err != nil {
		return nil, err
	}
	if other := req.Option("diff_with"); other != nil {
		return t.compare(ctx, e, bucket, fmt.Sprint(other))
	}
	t.env.Log.Info(fmt.Sprintf(msgRead, e.checksum))
	return &model.FileBucketFile{ChecksumType: t.algorithm, Checksum: e.checksum, BucketPath: bucket, Contents: stored{e.contents(), size}}, nil
}

// Head reports whether a find would find the contents. Rule TERM-FB-09.
func (t *Terminus) Head(ctx context.Context, req *indirector.Request) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	e, path, err := t.lookUp(ctx, t.bucket(ctx, req), req.Key)
	if err != nil {
		return false, err
	}
	if _, err = e.look(ctx, path); errors.Is(err, indirector.ErrNotFound) {
		traces.Explain(ctx, err.Error())
		return false, nil
	}
	return err == nil, err
}

// Validate checks the model only: keys do not decide access to a bucket. Rules
// TERM-FB-09, IND-VAL-02.
func (t *Terminus) Validate(_ context.Context, req *indirector.Request) error {
	return t.env.Spec.ValidateModel(req.Instance)
}

// bucket returns the directory for a find or head. Requests from the network
// cannot name it. Rules TERM-FB-01, TERM-FB-10.
func (t *Terminus) bucket(ctx context.Context, req *indirector.Request) string {
	named := req.Option("bucket_path")
	switch {
	case named == nil:
		return t.dir
	case req.IsRemote():
		traces.AddNote(ctx, "bucket_path is dropped: the request came over the network")
		return t.dir
	}
	return fmt.Sprint(named)
}

// asked reports whether an option is on. On the command line it is a word.
func asked(option any) bool { return option != nil && option != false && option != "false" }

// lookUp takes a key apart: which entry of the bucket it names, and the
// original path, "" if it has none. Gap S-22.
func (t *Terminus) lookUp(ctx context.Context, bucket, key string) (e entry, path string, err error) {
	kind, rest, given := strings.Cut(key, "/")
	if kind != t.algorithm {
		why := traces.OtherDigest(kind, t.algorithm)
		traces.ExplainFailure(ctx, why)
		return e, "", &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf(msgType, inspect(kind, key != "")), Hidden: why, Err: indirector.ErrInvalid}
	}
	checksum, path, _ := strings.Cut(rest, "/")
	if why := t.malformed(checksum); why != "" {
		return e, "", &indirector.Failure{Class: "RuntimeError", Message: fmt.Sprintf(msgChecksum, inspect(checksum, given)), Hidden: why, Err: indirector.ErrInvalid}
	}
	if bucket == "" {
		return e, "", &indirector.Failure{Class: "ArgumentError", Message: msgNoBucket}
	}
	return entry{bucket, checksum}, path, nil
}

// inspect writes a part of a key as Ruby does; one that is absent is nil.
func inspect(s string, given bool) string {
	if !given {
		return "nil"
	}
	return data.InspectString(s)
}

// malformed returns the problem of a checksum, or "". Nothing else becomes a
// part of a file name. Puppet checks single lines, so that there other lines
// may stand before and after. Rule TERM-FB-04.
func (t *Terminus) malformed(checksum string) string {
	for i := range len(checksum) {
		if c := checksum[i]; (c < '0' || '9' < c) && (c < 'a' || 'f' < c) {
			return fmt.Sprintf("%s at byte %d is no lower case hex digit", data.InspectString(checksum[i:i+1]), i)
		}
	}
	if len(checksum) != t.digits {
		return fmt.Sprintf("it has %d digits, %s has %d", len(checksum), t.algorithm, t.digits)
	}
	return ""
}

// An entry is the directory of one checksum.
type entry struct{ bucket, checksum string }

// dir is the directory of the entry: eight of one letter each, and one of the
// whole checksum. Rule TERM-FB-02.
func (e entry) dir() string {
	b := make([]byte, 0, len(e.bucket)+len(e.checksum)+20)
	b = append(b, e.bucket...)
	for i := range 8 {
		b = append(b, '/', e.checksum[i])
	}
	return string(append(append(b, '/'), e.checksum...))
}

func (e entry) contents() string { return e.dir() + "/contents" }
func (e entry) paths() string    { return e.dir() + "/paths" }

// look returns the size of the contents. It is ErrNotFound if there are none,
// or if they never were at that path. Puppet's own look creates a paths file
// where there is none; this one only reads. Rule TERM-FB-05, gap S-21.
func (e entry) look(ctx context.Context, path string) (size int64, err error) {
	_, span := traces.Start(ctx, traces.File, "look for contents")
	span.Attr("path", e.contents())
	size, err = e.size()
	if errors.Is(err, fs.ErrNotExist) {
		err = indirector.NotFound(traces.NotFound, e.contents())
		span.End("absent", traces.Because{Reason: traces.NotFound}, nil)
		return 0, err
	}
	if err != nil {
		span.End("failed", traces.Because{}, err)
		return 0, disk.Fail(err, e.contents(), "")
	}
	span.End(strconv.FormatInt(size, 10)+" bytes", traces.Because{}, nil)
	if path == "" {
		return size, nil
	}
	return size, e.lists(ctx, path)
}

// size opens the contents, so that what cannot be read is known now.
func (e entry) size() (int64, error) {
	f, err := openRegular(e.contents())
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// openRegular opens a regular file: a device or a pipe may never end.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errIsDir}
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is no regular file, but %s", info.Mode().Type())}
	}
	return os.Open(path)
}

// lists is an error unless the contents once were at that path.
func (e entry) lists(ctx context.Context, path string) error {
	_, span := traces.Start(ctx, traces.File, "read paths")
	span.Attr("path", e.paths())
	listed, err := func() (bool, error) {
		f, err := openRegular(e.paths())
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		defer f.Close()
		return lists(f, path)
	}()
	switch {
	case err != nil:
		span.End("failed", traces.Because{}, err)
		return disk.Fail(err, e.paths(), "")
	case !listed:
		span.End("not listed", traces.Because{Reason: traces.NotFound, About: path}, nil)
		why := traces.OtherPath(path)
		traces.Explain(ctx, why)
		return indirector.NotFound(traces.NotFound, why)
	}
	span.End("listed", traces.Because{}, nil)
	return nil
}

// stored are contents in a bucket.
type stored struct {
	path string
	size int64
}

func (s stored) Open() (io.ReadCloser, error) { return openRegular(s.path) }
func (s stored) Size() int64                  { return s.size }
func (s stored) Path() string                 { return s.path }

var _ model.Kept = stored{}

// ---- list and peek ----

// List yields every entry of the bucket of the settings that a key can name.
func (t *Terminus) List(ctx context.Context, yield func(indirector.Entry) bool) error {
	return filepath.WalkDir(t.dir, func(path string, d fs.DirEntry, err error) error {
		if e := ctx.Err(); e != nil {
			return e
		}
		switch {
		case err != nil && path == t.dir && !errors.Is(err, fs.ErrNotExist):
			return disk.Fail(err, path, "")
		case err != nil || d.Name() != "contents" || d.IsDir():
			return nil // what cannot be read has no key
		}
		e := entry{t.dir, filepath.Base(filepath.Dir(path))}
		if t.malformed(e.checksum) != "" || filepath.Clean(e.contents()) != path {
			return nil
		}
		if !yield(t.entry(e)) {
			return fs.SkipAll
		}
		return nil
	})
}

// Peek returns the entry that a key names; the original path does not count.
func (t *Terminus) Peek(ctx context.Context, key string) (indirector.Entry, error) {
	kind, rest, _ := strings.Cut(key, "/")
	checksum, _, _ := strings.Cut(rest, "/")
	if kind != t.algorithm || t.malformed(checksum) != "" {
		return indirector.Entry{}, ctx.Err()
	}
	return t.entry(entry{t.dir, checksum}), ctx.Err()
}

func (t *Terminus) entry(e entry) indirector.Entry {
	info, err := os.Stat(e.contents())
	if errors.Is(err, fs.ErrNotExist) {
		return indirector.Entry{}
	}
	kept := indirector.Entry{
		Indirection: t.env.Indirection, Terminus: t.env.Terminus, Key: t.algorithm + "/" + e.checksum,
		Path: e.contents(), Size: -1, Err: err,
	}
	if err == nil {
		kept.Size, kept.Written = info.Size(), info.ModTime()
	}
	return kept
}

func (t *Terminus) now() time.Time {
	if t.env.Now == nil {
		return time.Now()
	}
	return t.env.Now()
}
