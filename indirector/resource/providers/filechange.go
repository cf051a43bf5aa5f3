package providers

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// Set makes one property what it should be. Whatever writes the file also sees to its
// mode and owner.
func (f *file) Set(ctx context.Context, s System, r *types.Resource, property string) error {
	f.last = seen{}
	switch property {
	case "ensure":
		return f.ensure(ctx, s, r)
	case "content", "checksum_value":
		return f.write(ctx, s, r, true)
	case "target":
		return f.link(ctx, s, r)
	case "mode":
		return f.chmod(ctx, s, r)
	case "owner", "group":
		return f.chown(ctx, s, r, property)
	}
	return f.setContext(ctx, s, r, property)
}

// ensure makes what should be there. Rule RES-FILE-04.
func (f *file) ensure(ctx context.Context, s System, r *types.Resource) error {
	want := r.Value("ensure").Text()
	if err := f.clear(ctx, s, r, want); err != nil {
		return err
	}
	switch want {
	case "file", "present":
		return f.write(ctx, s, r, r.Managed("content") || r.Managed("checksum_value"))
	case "directory":
		return f.mkdir(ctx, s, r)
	case "link":
		if !r.Managed("target") {
			return failure("Cannot create a symlink without a target")
		}
		return f.symlink(ctx, s, r)
	}
	return nil
}

// clear removes what is in the way of a kind of file: everything but a directory without
// force. What is removed is backed up.
func (f *file) clear(ctx context.Context, s System, r *types.Resource, want string) error {
	info, ok, err := f.seen(ctx, s, r)
	if err != nil || !ok {
		return err
	}
	force := r.Value("force").Truthy()
	if backup := r.Value("backup"); backup.Truthy() {
		if info.Kind == "file" || info.Kind == "link" || info.Kind == "directory" && force {
			if err := f.backup(ctx, s, r, info); err != nil {
				return err
			}
		} else {
			f.log.note(r, "warning", "Could not back up file of type "+info.Kind)
		}
	}
	if want != "link" && info.Kind == want {
		return nil
	}
	switch info.Kind {
	case "directory":
		if force {
			f.last = seen{}
			return inRuby("rmtree", s.RemoveAll(ctx, r.Name()))
		}
		f.log.note(r, "notice", "Not removing directory; use 'force' to override")
		return nil
	case "link", "file", "fifo", "socket":
		f.last = seen{}
		return inRuby("unlink", s.Remove(ctx, r.Name()))
	}
	return failure("Could not remove files of type %s", info.Kind)
}

// inRuby words an error of a file as Ruby does: "Permission denied @ dir_s_mkdir - /x".
func inRuby(function string, err error) error {
	var errno syscall.Errno
	if err == nil || !errors.As(err, &errno) {
		return err
	}
	name := ""
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		name = p.Path
	}
	text := errno.Error()
	return &indirector.Failure{
		Class: "Errno", Message: strings.ToUpper(text[:1]) + text[1:] + " @ " + function + " - " + name, Origin: "file", Path: name, Err: err,
	}
}

func (f *file) mkdir(ctx context.Context, s System, r *types.Resource) error {
	parent := path.Dir(r.Name())
	if _, err := s.Stat(ctx, parent); err != nil {
		return failure("Cannot create %s; parent directory %s does not exist", r.Name(), parent)
	}
	mode := r.Value("mode")
	bits := uint32(0o777)
	if mode.Truthy() {
		var err error
		if bits, err = types.ApplyMode(mode.Str(), 0o755, true); err != nil {
			return failure("%w", err)
		}
	}
	if err := s.Mkdir(ctx, r.Name(), fs.FileMode(bits)); err != nil {
		return inRuby("dir_s_mkdir", err)
	}
	if mode.Truthy() { // whatever the umask
		if err := s.Chmod(ctx, r.Name(), fs.FileMode(bits)); err != nil {
			return err
		}
	}
	return f.fix(ctx, s, r)
}

// link makes a link where target alone is out of sync.
func (f *file) link(ctx context.Context, s System, r *types.Resource) error {
	if !r.Managed("ensure") {
		if err := r.Set("ensure", data.OfSymbol("link")); err != nil {
			return err
		}
	}
	info, ok, err := f.stat(ctx, s, r)
	if err != nil {
		return err
	}
	is := absent
	if ok {
		is = data.OfSymbol(info.Kind)
	}
	if in, err := r.InSync("ensure", is); err != nil || !in {
		return err
	}
	return f.symlink(ctx, s, r)
}

func (f *file) symlink(ctx context.Context, s System, r *types.Resource) error {
	target := r.Value("target").Text()
	if err := f.clear(ctx, s, r, target); err != nil {
		return err
	}
	if _, err := s.Stat(ctx, r.Name()); err == nil {
		return failure("Could not remove existing file")
	}
	if err := s.Symlink(ctx, target, r.Name()); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return inRuby("dir_chdir0", &fs.PathError{Path: path.Dir(r.Name()), Err: syscall.ENOENT})
		}
		return inRuby("rb_file_s_symlink", err)
	}
	return f.fix(ctx, s, r)
}

// write writes the content of a file, which may be empty, or creates one without any. Rules
// RES-FILE-06 to RES-FILE-08.
func (f *file) write(ctx context.Context, s System, r *types.Resource, content bool) error {
	if err := f.clear(ctx, s, r, "file"); err != nil {
		return err
	}
	var mode *fs.FileMode
	if v := r.Value("mode"); v.Truthy() {
		bits, err := types.ApplyMode(v.Str(), 0o644, false)
		if err != nil {
			return failure("%w", err)
		}
		m := fs.FileMode(bits)
		mode = &m
	}
	if text := f.text(r); content && !r.Has("source") && types.IsChecksum(text) {
		return failure("Could not retrieve content for %s from filebucket: Could not get filebucket from file", text)
	}
	if content {
		if err := f.replace(ctx, s, r, mode); err != nil {
			return err
		}
		return f.fix(ctx, s, r)
	}
	created := fs.FileMode(0o644)
	if mode != nil {
		created = *mode
	}
	_, old := s.Stat(ctx, r.Name())
	if err := s.Truncate(ctx, r.Name(), created); err != nil {
		return inRuby("rb_sysopen", err)
	}
	if old != nil {
		if err := s.Chmod(ctx, r.Name(), created); err != nil { // whatever the umask
			return err
		}
	}
	return f.fix(ctx, s, r)
}

// text is the content that was given.
func (f *file) text(r *types.Resource) string {
	given := r.Original("content")
	if len(given) == 0 {
		return ""
	}
	return given[len(given)-1].Text()
}

func (f *file) replace(ctx context.Context, s System, r *types.Resource, mode *fs.FileMode) error {
	if _, ok, err := f.seen(ctx, s, r); err != nil {
		return err
	} else if ok && f.isDirectory(ctx, s, r) {
		return &indirector.Failure{Class: "Errno", Message: "Is a directory - Is a directory: " + r.Name(), Origin: "file", Path: r.Name()}
	}
	w := Writing{Mode: mode, Staging: r.Value("staging_location").Text(), Fill: func(w io.Writer) error { return f.fill(ctx, s, r, w) }}
	if v := r.Value("validate_cmd"); v.Truthy() {
		w.Check = func(temporary string) error {
			line := strings.ReplaceAll(v.Text(), r.Value("validate_replacement").Text(), temporary)
			c := Command{Shell: line}
			if words, direct := directly(line); direct {
				c = Command{Argv: words}
			}
			_, err := executeAs(ctx, s, c)
			if failed := (*ExecutionFailure)(nil); errors.As(err, &failed) {
				puppets := temporaryName(s, r)
				failed.Command = strings.ReplaceAll(failed.Command, temporary, puppets)
				failed.Result.Output = bytes.ReplaceAll(failed.Result.Output, []byte(temporary), []byte(puppets))
			}
			return err
		}
	}
	err := s.Write(ctx, r.Name(), w)
	var failed *indirector.Failure
	switch {
	case errors.As(err, &failed): // of its content
		return err
	case errors.Is(err, fs.ErrNotExist):
		return &indirector.Failure{
			Class: "Errno", Message: fmt.Sprintf("No such file or directory - A directory component in %s does not exist or is a dangling symbolic link", temporaryName(s, r)),
			Origin: "file", Path: r.Name(), Err: err,
		}
	case errors.Is(err, syscall.ENOTDIR):
		err = &fs.PathError{Path: temporaryName(s, r), Err: syscall.ENOTDIR}
	}
	return inRuby("rb_sysopen", err)
}

// isDirectory reports whether there is a directory, or a link to one.
func (f *file) isDirectory(ctx context.Context, s System, r *types.Resource) bool {
	info, err := s.Stat(ctx, r.Name())
	return err == nil && info.Kind == "directory"
}

// temporaryName is what Puppet's temporary file is called: after the file.
func temporaryName(s System, r *types.Resource) string {
	at := r.Name()
	if staging := r.Value("staging_location"); staging.Truthy() {
		at = path.Join(staging.Text(), path.Base(at))
	}
	return fmt.Sprintf("%s%s-%d-1", at, s.Now().Format("20060102"), os.Getpid())
}

// fill writes the new content, which must have the checksum that it should have. Rule
// RES-FILE-09.
func (f *file) fill(ctx context.Context, s System, r *types.Resource, w io.Writer) error {
	in, err := f.open(ctx, s, r)
	if err != nil {
		return err
	}
	defer in.Close()
	kind := checksumKind(s, r)
	h, limit := types.NewHash(kind)
	size := int64(len(f.text(r)))
	if r.Has("source") {
		size = math.MaxInt32
	}
	if h == nil || limit > 0 {
		return copySized(w, stoppable{ctx, in}, size)
	}
	if err := copySized(io.MultiWriter(w, h), stoppable{ctx, in}, size); err != nil {
		return err
	}
	got, want := "{"+kind+"}"+hex.EncodeToString(h.Sum(nil)), ""
	switch sum := r.Value("checksum_value"); {
	case sum.Truthy():
		want = "{" + kind + "}" + sum.Text()
	case r.Has("source"):
		m, err := f.source(ctx, s, r)
		if err != nil {
			return err
		}
		want = m.Checksum
	}
	if want != "" && got != want {
		return failure("File written to disk did not match desired checksum; discarding changes (%s vs %s)", got, want)
	}
	return nil
}

// fix makes mode and owner what they should be, after something was written.
func (f *file) fix(ctx context.Context, s System, r *types.Resource) error {
	f.last = seen{}
	for _, name := range append([]string{"owner", "group", "mode"}, contextParts...) {
		if !r.Managed(name) {
			continue
		}
		info, ok, err := f.stat(ctx, s, r)
		if err != nil || !ok {
			return err
		}
		f.last = seen{r, info, ok}
		if err := f.widen(ctx, s, r, info); err != nil { // it may be a directory since
			return err
		}
		is, err := f.get(ctx, s, r, info, name)
		if err != nil {
			return err
		}
		in, known, err := f.InSync(ctx, s, r, name, is)
		if err != nil {
			return err
		}
		if !in && (known || !r.Matches(name, is)) {
			if err := f.Set(ctx, s, r, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *file) chmod(ctx context.Context, s System, r *types.Resource) error {
	current, dir := fs.FileMode(0o644), false
	if info, ok, err := f.stat(ctx, s, r); err != nil {
		return err
	} else if ok {
		current, dir = info.Mode, info.Kind == "directory"
	}
	mode, err := f.mode(first(r.Should("mode")).Str(), current, dir)
	if err != nil {
		return err
	}
	if err := s.Chmod(ctx, r.Name(), mode); err != nil {
		return failure("failed to set mode %s on %s: %s", strconv.FormatUint(uint64(mode), 8), r.Name(), inRuby("apply2files", err))
	}
	return nil
}

// mode is what a wanted mode makes of the one that is there. Directories get x where they
// get r, if the mode is in digits. Rule RES-FILE-14.
func (f *file) mode(want string, current fs.FileMode, dir bool) (fs.FileMode, error) {
	mode, err := types.ApplyMode(want, uint32(current), dir)
	if err != nil {
		return 0, failure("%w", err)
	}
	if dir && strings.Trim(want, "01234567") == "" {
		mode |= mode & 0o444 >> 2
	}
	return fs.FileMode(mode), nil
}

// number is the id of a user or group that is wanted; false if there is none.
func (f *file) number(ctx context.Context, s System, property string, want data.Value) (int, bool, error) {
	if n, err := strconv.Atoi(want.Text()); err == nil {
		return n, true, nil
	}
	if property == "group" {
		return groupNumber(ctx, s, want)
	}
	uid, _, ok, err := userNumber(ctx, s, want)
	return uid, ok, err
}

func (f *file) chown(ctx context.Context, s System, r *types.Resource, property string) error {
	want := first(r.Should(property))
	id, ok, err := f.number(ctx, s, property, want)
	if err != nil {
		return err
	}
	if !ok {
		return f.unknown(property, want)
	}
	owner := Owner{-1, -1}
	if owner.UID = id; property == "group" {
		owner = Owner{-1, id}
	}
	change := s.Lchown
	if r.Value("links").Text() == "follow" {
		change = s.Chown
	}
	if err := change(ctx, r.Name(), owner); err != nil {
		return failure("Failed to set %s to '%d': %s", property, id, inRuby("apply2files", err))
	}
	return nil
}

// unknown is an account that does not exist.
func (f *file) unknown(property string, want data.Value) error {
	word := map[string]string{"owner": "user", "group": "group"}[property]
	return &indirector.Failure{Class: "RuntimeError", Message: fmt.Sprintf("Could not find %s %s", word, want.Text())}
}

// InSync compares what the system knows better than the type.
func (f *file) InSync(ctx context.Context, s System, r *types.Resource, property string, is data.Value) (in, ok bool, err error) {
	switch property {
	case "content":
		in, err := f.contentIn(ctx, s, r, property, is)
		return in, true, err
	case "checksum_value":
		if !r.Has("source") {
			return true, true, nil // the content is compared by it
		}
		in, err := f.contentIn(ctx, s, r, property, is)
		return in, true, err
	case "target":
		if r.Value("replace").Text() == "false" {
			_, err := s.Stat(ctx, r.Name())
			return err == nil || r.Matches("target", is), true, nil
		}
		return false, false, nil
	case "mode":
		in, err := f.modeIn(ctx, s, r, is)
		return in, true, err
	case "owner", "group":
		in, err := f.ownerIn(ctx, s, r, property, is)
		return in, true, err
	}
	if slices.Contains(contextParts, property) && !labels(ctx, s, r.Name()) {
		return true, true, nil
	}
	return false, false, nil
}

// ownerIn compares ids, which are what is wanted from then on. Only root can change them. Rule
// RES-FILE-17.
func (f *file) ownerIn(ctx context.Context, s System, r *types.Resource, property string, is data.Value) (bool, error) {
	ids := make([]data.Value, len(r.Should(property)))
	for i, want := range r.Should(property) {
		id, ok, err := f.number(ctx, s, property, want)
		switch {
		case err != nil:
			return false, err
		case !ok && f.noop != nil && f.noop(r):
			return false, nil
		case !ok:
			return false, f.unknown(property, want)
		}
		ids[i] = data.OfInt(int64(id))
	}
	r.Substitute(property, ids)
	if len(ids) == 0 || slices.ContainsFunc(ids, func(id data.Value) bool { return data.Equal(id, is) }) {
		return true, nil
	}
	if !s.Feature("root") {
		if !f.warned {
			f.warned = true
			f.log.line(Line{Level: "warning", Message: "Cannot manage ownership unless running as root"})
		}
		return true, nil
	}
	return false, nil
}

func (f *file) modeIn(ctx context.Context, s System, r *types.Resource, is data.Value) (bool, error) {
	info, ok, err := f.seen(ctx, s, r)
	if err != nil || ok && info.Kind == "link" && r.Value("links").Text() != "follow" {
		return err == nil, err
	}
	current, bad := strconv.ParseUint(is.Text(), 8, 32)
	if bad != nil {
		return false, nil
	}
	for _, want := range r.Should("mode") {
		mode, err := f.mode(want.Str(), fs.FileMode(current), info.Kind == "directory")
		if err != nil {
			return false, err
		}
		if uint64(mode) == current {
			return true, nil
		}
	}
	return len(r.Should("mode")) == 0, nil
}

// contentIn compares contents, and logs how they differ. Rules RES-FILE-03, RES-FILE-09,
// RES-FILE-19 and RES-FILE-20.
func (f *file) contentIn(ctx context.Context, s System, r *types.Resource, property string, is data.Value) (bool, error) {
	info, there, err := f.seen(ctx, s, r)
	if err != nil {
		return false, err
	}
	switch ensure := r.Value("ensure").Text(); {
	case ensure == "file", ensure == "" && r.Managed("content"):
	case ensure == "present" && (!there || info.Kind == "file"):
	case ensure == "present":
		f.log.note(r, "warning", "Ensure set to :present but file type is "+info.Kind+" so no content will be synced")
		return true, nil
	case ensure != "" || !there || info.Kind != "file":
		return true, nil
	}
	if isAbsent(is) {
		return false, nil
	}
	if !r.Value("replace").Truthy() || r.Value("replace").Text() == "false" {
		return true, nil
	}
	if property == "checksum_value" && r.Matches(property, is) || property == "content" && f.sameContent(checksumKind(s, r), r, is) {
		return true, nil
	}
	return false, f.showDiff(ctx, s, r)
}

// sameContent compares checksums; a time that is later is as good. One that is given counts, and
// not that of the content.
func (f *file) sameContent(kind string, r *types.Resource, is data.Value) bool {
	if sum := r.Value("checksum_value"); sum.Truthy() {
		return is.Text() == "{"+kind+"}"+sum.Text()
	}
	if r.Matches("content", is) {
		return true
	}
	if kind != "mtime" && kind != "ctime" {
		return false
	}
	at := func(v data.Value) (time.Time, error) {
		_, text, _ := strings.Cut(v.Text(), "}")
		return time.Parse("2006-01-02 15:04:05 -0700", text)
	}
	now, err1 := at(is)
	want, err2 := at(r.Value("content"))
	return err1 == nil && err2 == nil && !now.Before(want)
}
