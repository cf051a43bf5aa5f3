// Package flatfile keeps each instance in a file of its own, where Puppet keeps
// it: <base>/<indirection>/<key>.<format>.
//
// There are three formats. yaml has Puppet's oldest code and oddities of its
// own: it returns whatever a file holds, and its search does not know of
// extensions. json and msgpack differ in nothing but their format. Facts have
// a search of their own, and the last report is one file whatever the key.
package flatfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/host/fnmatch"
	"indirtui/indirector/model"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

// files is the common part of the formats: where files are, and how they are
// found, replaced and removed.
type files struct {
	env   indirector.Env
	class *model.Class
	ruby  string // class of the terminus in Puppet's messages: "Puppet::Node::Yaml"
	dir   string // of the files of this indirection
	ext   string // ".yaml"
	fixed string // the one file, whatever the key; "" if each key has its own
	mode  fs.FileMode
	// sidecars keeps the expirations that the format drops beside the files;
	// see sidecar.go.
	sidecars bool
}

// newFiles returns the files of a terminus. The run mode decides the
// directory, not the application.
func newFiles(env indirector.Env, server, other string) files {
	setting := other
	if serverMode(env.Settings) {
		setting = server
	}
	base, _ := env.Settings.Get(setting)
	class, _ := model.Lookup(env.Indirection)
	return files{
		env:   env,
		class: class,
		ruby:  class.Ruby + "::" + indirector.Constant(env.Terminus),
		dir:   filepath.Join(base, env.Indirection),
		ext:   "." + env.Terminus,
		mode:  0o660,

		sidecars: keepsSidecars(env, class.Expires),
	}
}

// lastRun returns the one file of reports. Which mode it has depends on the
// format, as in Puppet.
func lastRun(env indirector.Env, mode fs.FileMode) files {
	class, _ := model.Lookup(env.Indirection)
	path, _ := env.Settings.Get("lastrunreport")
	return files{env: env, class: class, fixed: path, mode: mode}
}

func serverMode(s indirector.Settings) bool {
	mode, _ := s.Get("run_mode")
	if m, ok := s.(interface{ RunMode() string }); ok {
		mode = m.RunMode()
	}
	return mode == "server" || mode == "master"
}

// path returns the file of a key, or the error for one that might lead out of
// the directory. Rule IND-KEY-01.
func (f *files) path(ctx context.Context, key, ext string) (string, error) {
	if f.fixed != "" {
		return f.fixed, nil
	}
	if why := unsafe(key); why != "" {
		f.env.Log.Log(ctx, indirector.LevelCritical, fmt.Sprintf("directory traversal detected in %s: %s", f.ruby, data.InspectString(key)))
		return "", &indirector.Failure{Class: "ArgumentError", Message: "invalid key", Hidden: why, Err: indirector.ErrInvalid}
	}
	return f.dir + "/" + key + ext, nil
}

// unsafe returns why a key is not made a file name, or "". For Puppet any line
// of the key has a start.
func unsafe(key string) string {
	if i := strings.IndexAny(key, "/\\\x00"); i >= 0 {
		return fmt.Sprintf("the key holds %s", data.InspectString(key[i:i+1]))
	}
	for line := range strings.SplitSeq(key, "\n") {
		switch {
		case strings.HasPrefix(line, ".."):
			return "a line of the key begins with .."
		case len(line) > 1 && line[1] == ':' && letter(line[0]):
			return "a line of the key begins with a drive letter"
		}
	}
	return ""
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// failed returns an error in Puppet's words, with the path and the hidden
// detail.
func failed(words string, err error, path, hidden string) *indirector.Failure {
	f := &indirector.Failure{Message: words, Path: path, Hidden: hidden, Err: err, Origin: "decode"}
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		f.Origin = "file"
		if hidden == "" {
			f.Hidden = disk.Why(err, path)
		}
	}
	return f
}

// found returns a found instance with its expiration. Of a cached one whose file
// was written after it had expired it explains that; an entry that has merely grown
// old is the step's to report.
func (f *files) found(ctx context.Context, inst indirector.Instance, path string, written time.Time) indirector.Instance {
	if !f.KeepsExpiry() {
		return inst
	}
	inst = f.expiring(ctx, path, inst)
	e, ok := inst.(indirector.Expirer)
	if !ok || e.Expiration().IsZero() {
		return inst
	}
	now := f.env.Now()
	// Only a cache refuses an expired instance.
	live := traces.FromContext(ctx)
	if e.Expiration().Before(now) && written.After(e.Expiration()) && live != nil && live.Step == traces.CacheRead {
		traces.Explain(ctx, traces.LateFile(e.Expiration(), written, now))
	}
	return inst
}

// encode renders the instance of a save.
func encode(ctx context.Context, f *format.Format, inst indirector.Instance, because traces.Because) ([]byte, error) {
	_, span := traces.Start(ctx, traces.Codec, "encode "+f.Name)
	b, err := format.RenderFile(f, inst)
	if span != nil {
		span.End(size(len(b), err), because, err)
	}
	return b, err
}

func size(n int, err error) string {
	if err != nil {
		return "failed"
	}
	return strconv.Itoa(n) + " bytes"
}

// renderFailed is the error of an instance that the format cannot hold.
func renderFailed(err error) error {
	return &indirector.Failure{Class: "Puppet::Network::FormatHandler::FormatError", Message: err.Error(), Origin: "encode", Err: err}
}

// replace writes the file of an instance, and releases b. Rules TERM-FILE-08, TERM-FILE-10.
func (f *files) replace(ctx context.Context, path string, b []byte, inst indirector.Instance) (any, error) {
	defer format.Release(b)
	if err := disk.Replace(ctx, path, f.mode, b); err != nil {
		return nil, disk.Fail(err, path, "")
	}
	return 0, f.keepExpiration(ctx, path, inst)
}

// mkdirAll creates the directory of path and its parents.
func mkdirAll(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return disk.Fail(err, dir, "")
	}
	return nil
}

// destroy unlinks. Rule TERM-FILE-11.
func (f *files) destroy(ctx context.Context, path string) (bool, error) {
	err := disk.Remove(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, f.forgetExpiration(ctx, path)
	}
	if err != nil {
		return false, err
	}
	return true, f.forgetExpiration(ctx, path)
}

// ---- list and peek ----

// List yields an entry for every file of the terminus, by key.
func (f *files) List(ctx context.Context, yield func(indirector.Entry) bool) error {
	if f.fixed != "" {
		if e, err := f.Peek(ctx, lastReport); err != nil || e.Key != "" {
			yield(e)
		}
		return nil
	}
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return disk.Fail(err, f.dir, "")
	}
	for _, d := range entries {
		key, ok := strings.CutSuffix(d.Name(), f.ext)
		if !ok || strings.HasPrefix(d.Name(), ".save-") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if e := f.entry(key, f.dir+"/"+d.Name()); e.Key != "" && !yield(e) {
			break
		}
	}
	return nil
}

// lastReport is the key under which the one file is listed; any would do.
const lastReport = "last_run_report"

// Peek returns the entry of one key. Of the file it reads the expiration only.
func (f *files) Peek(ctx context.Context, key string) (indirector.Entry, error) {
	path := f.fixed
	if path == "" {
		if unsafe(key) != "" {
			return indirector.Entry{}, nil
		}
		path = f.dir + "/" + key + f.ext
	}
	return f.entry(key, path), ctx.Err()
}

func (f *files) entry(key, path string) indirector.Entry {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return indirector.Entry{}
	}
	e := indirector.Entry{
		Indirection: f.env.Indirection, Terminus: f.env.Terminus, Key: key, Path: path,
		Size: -1, KeepsExpiry: f.KeepsExpiry(), Err: err,
	}
	if err == nil && info.IsDir() {
		e.Err = &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	}
	if e.Err != nil {
		return e
	}
	e.Size, e.Written = info.Size(), info.ModTime()
	switch {
	case f.sidecars:
		e.Expiration, e.Err = readSidecar(path)
	case e.KeepsExpiry:
		e.Expiration, e.Err = expiration(path, info.Size())
	}
	return e
}

// ---- search ----

// loadAll loads the files at paths. One that has gone since its directory was
// read is passed over.
func loadAll(paths []string, load func(path string) (indirector.Instance, error)) ([]indirector.Instance, error) {
	found := make([]indirector.Instance, 0, len(paths))
	for _, p := range paths {
		inst, err := load(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, inst)
	}
	return found, nil
}

// glob returns the paths in the directory of f that the pattern matches, as
// Ruby's Dir.glob. A pattern without meta-characters is a name.
func (f *files) glob(pattern string) ([]string, error) {
	if f.fixed != "" {
		if _, err := os.Lstat(f.fixed); err != nil {
			return nil, nil
		}
		return []string{f.fixed}, nil
	}
	var found []string
	for _, p := range fnmatch.Braces(pattern) {
		if !strings.ContainsAny(p, "*?[") {
			if _, err := os.Lstat(f.dir + "/" + p); err == nil {
				found = append(found, f.dir+"/"+p)
			}
			continue
		}
		entries, err := os.ReadDir(f.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, disk.Fail(err, f.dir, "")
		}
		for _, d := range entries {
			if fnmatch.Match(p, d.Name()) {
				found = append(found, f.dir+"/"+d.Name())
			}
		}
	}
	return found, nil
}
