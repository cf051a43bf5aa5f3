package providers

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// A file is a file, a directory or a link. Rules RES-FILE-01 to RES-FILE-22.
type file struct {
	log    logger
	warned bool // about owners
	// remote has sources that are not files of this machine; it may be nil.
	remote  Sources
	buckets Buckets
	noop    func(*types.Resource) bool  // may be nil
	selinux *bool                       // whether there are contexts; nil is not known yet
	sources map[*types.Resource]*Source // that were found
	last    seen
}

// seen is what was found, up to the next change: by Retrieve, and when a change begins. Puppet
// keeps that, too.
type seen struct {
	r    *types.Resource
	info Info
	ok   bool
}

// seen is what was found of r, or what is there now.
func (f *file) seen(ctx context.Context, s System, r *types.Resource) (info Info, ok bool, err error) {
	if f.last.r == r {
		return f.last.info, f.last.ok, nil
	}
	if info, ok, err = f.stat(ctx, s, r); err == nil {
		f.last = seen{r, info, ok}
	}
	return info, ok, err
}

func newFile(log logger) Provider { return &file{log: log, sources: map[*types.Resource]*Source{}} }

// stat looks at what is there: at a link itself, or at what it leads to. ok is false if
// nothing is there.
func (f *file) stat(ctx context.Context, s System, r *types.Resource) (info Info, ok bool, err error) {
	look := s.Lstat
	if r.Value("links").Text() == "follow" {
		look = s.Stat
	}
	info, err = look(ctx, r.Name())
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return info, false, nil
	case errors.Is(err, fs.ErrPermission):
		f.log.note(r, "warning", "Could not stat; permission denied")
		return info, false, nil
	}
	return info, err == nil, inRuby("rb_file_s_lstat", err)
}

func (f *file) Retrieve(ctx context.Context, s System, r *types.Resource) ([]data.Pair, error) {
	if err := f.adopt(ctx, s, r); err != nil {
		return nil, err
	}
	f.last = seen{}
	if f.selinux == nil {
		on := s.Feature("selinux")
		f.selinux = &on
	}
	if *f.selinux {
		if err := f.defaultContext(ctx, s, r); err != nil {
			return nil, err
		}
	}
	info, ok, err := f.seen(ctx, s, r)
	if err != nil {
		return missing(r), err
	}
	if !ok {
		return missing(r), nil
	}
	if err := f.widen(ctx, s, r, info); err != nil {
		return nil, err
	}
	return retrieved(r, data.OfSymbol(info.Kind), func(name string) (data.Value, error) { return f.get(ctx, s, r, info, name) })
}

// widen gives the wanted modes of a directory x where they have r. Rule RES-FILE-14.
func (f *file) widen(ctx context.Context, s System, r *types.Resource, info Info) error {
	wanted := r.Should("mode")
	if len(wanted) == 0 {
		return nil
	}
	if info.Kind == "link" { // of what it leads to, if there is something
		info, _ = s.Stat(ctx, r.Name())
	}
	if info.Kind != "directory" {
		return nil
	}
	wide := make([]data.Value, len(wanted))
	for i, want := range wanted {
		wide[i] = want
		if n, err := strconv.ParseUint(want.Str(), 8, 32); err == nil {
			wide[i] = data.OfString(strconv.FormatUint(n|n&0o444>>2, 8))
		}
	}
	return r.Set("mode", data.OfList(wide))
}

// get is one property of what is there.
func (f *file) get(ctx context.Context, s System, r *types.Resource, info Info, name string) (data.Value, error) {
	switch name {
	case "content":
		if info.Kind != "file" {
			return data.Value{}, nil
		}
		sum, err := sumFile(ctx, s, r.Name(), checksumKind(s, r), info)
		if err != nil {
			return data.Value{}, failure("Could not read %s %s: %s", info.Kind, r.Title, reason(err))
		}
		return data.OfString(sum), nil
	case "checksum_value":
		if info.Kind != "file" || !r.Has("source") {
			return data.Value{}, nil
		}
		sum, err := sumFile(ctx, s, r.Name(), checksumKind(s, r), info)
		_, sum, _ = strings.Cut(sum, "}")
		return data.OfString(sum), err
	case "target":
		if info.Kind != "link" {
			return data.OfSymbol("notlink"), nil
		}
		to, err := s.Readlink(ctx, r.Name())
		return data.OfString(to), err
	case "owner":
		return data.OfInt(int64(info.UID)), nil
	case "group":
		return data.OfInt(int64(info.GID)), nil
	case "mode":
		return data.OfString(octal(info.Mode)), nil
	case "type":
		return data.OfString(info.Kind), nil
	case "ctime":
		return data.OfString(timeText(info.CTime)), nil
	case "mtime":
		return data.OfString(timeText(info.MTime)), nil
	}
	return f.selected(ctx, s, r, name)
}

// checksumKind is how the content of a file is compared.
func checksumKind(s System, r *types.Resource) string {
	if v := r.Value("checksum"); v.Truthy() {
		return v.Text()
	}
	kind, _ := s.Setting("digest_algorithm")
	return cmp.Or(kind, "sha256")
}

func octal(mode fs.FileMode) string { return fmt.Sprintf("%04s", strconv.FormatUint(uint64(mode), 8)) }

// timeText writes a time as Ruby does.
func timeText(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 -0700") }

// sumFile is the checksum of a file, as "{sha256}...". Rule RES-FILE-09.
func sumFile(ctx context.Context, s System, name, kind string, info Info) (string, error) {
	switch kind {
	case "mtime":
		return "{mtime}" + timeText(info.MTime), nil
	case "ctime":
		return "{ctime}" + timeText(info.CTime), nil
	}
	h, limit := types.NewHash(kind)
	if h == nil {
		return "{" + kind + "}", nil
	}
	file, err := s.Open(ctx, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var from io.Reader = stoppable{ctx, file}
	if limit > 0 {
		from = io.LimitReader(from, limit)
	}
	if err := copySized(h, from, info.Size); err != nil {
		return "", err
	}
	return "{" + kind + "}" + hex.EncodeToString(h.Sum(nil)), nil
}

// copySized copies what is probably of this size: most files are small.
func copySized(to io.Writer, from io.Reader, size int64) error {
	_, err := io.CopyBuffer(to, from, make([]byte, min(max(size+1, 512), 32<<10)))
	return err
}

// stoppable reads until its context ends.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b)
}
