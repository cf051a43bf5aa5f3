package providers

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/host/fnmatch"
	"indirtui/indirector/resource/listfile"
	"indirtui/indirector/resource/types"
)

// metaparameters are those that r has, for what it generates.
func metaparameters(r *types.Resource) []data.Pair {
	var all []data.Pair
	for _, name := range r.Names() {
		a := r.Type.Attribute(name)
		if a == nil || a.Kind != types.Metaparameter || name == "alias" {
			continue
		}
		v := r.Value(name)
		if given := r.Original(name); len(given) == 1 {
			v = given[0]
		} else if len(given) > 1 {
			v = data.OfList(given)
		}
		all = append(all, data.P(name, v))
	}
	return all
}

// declared reports whether the catalog of r has a resource.
func declared(r *types.Resource, typ *types.Type, title string) bool {
	return r.Catalog != nil && r.Catalog.Resource(types.Ref{Type: typ.Title(), Title: title}) != nil
}

// A purger removes what is not in the catalog. Rule RES-MISC-05.
type purger struct{ set *Set }

func (p *purger) Retrieve(context.Context, System, *types.Resource) ([]data.Pair, error) {
	return nil, nil
}

func (p *purger) Set(context.Context, System, *types.Resource, string) error { return nil }

// Generate returns absent resources for all that was found and is not declared.
func (p *purger) Generate(ctx context.Context, s System, r *types.Resource) ([]*types.Resource, error) {
	t := types.All()[r.Name()]
	if t == nil || !isTrue(r.Value("purge")) {
		return nil, nil
	}
	found, err := p.set.List(ctx, s, r.Host, t, Listing{})
	if err != nil {
		return nil, err
	}
	var all []*types.Resource
	for _, is := range found {
		if declared(r, t, is.Name) {
			continue
		}
		more := append(metaparameters(r), data.P("ensure", data.OfString("absent")))
		if t.Name == "user" && r.Value("unless_system_user").Truthy() {
			if p.stays(r, is) {
				continue
			}
			more = append(more, data.P("audit", data.OfString("uid")))
		}
		purged, err := is.Resource(r.Host, more...)
		if err != nil {
			return nil, err
		}
		all = append(all, purged)
	}
	return all, nil
}

func isTrue(v data.Value) bool { return v.Truthy() && v.Text() != "false" }

// systemUsers stay, whatever their number.
var systemUsers = []string{"root", "nobody", "bin", "noaccess", "daemon", "sys"}

func (p *purger) stays(r *types.Resource, is Found) bool {
	uid := value(is.Properties, "uid")
	return slices.Contains(systemUsers, is.Name) || uid.Int() <= r.Value("unless_system_user").Int() ||
		slices.ContainsFunc(elements(r.Value("unless_uid")), func(v data.Value) bool { return data.Equal(v, uid) })
}

// Generate returns absent keys for those of a user that are not declared. Rule RES-USER-04.
func (u *user) Generate(ctx context.Context, s System, r *types.Resource) ([]*types.Resource, error) {
	t := types.All()["ssh_authorized_key"]
	var all []*types.Resource
	for _, file := range elements(r.Value("purge_ssh_keys")) {
		text, err := s.ReadFile(ctx, file.Text())
		if err != nil {
			continue // it is not there, or not for this process
		}
		records, err := listfile.AuthorizedKeys.Parse(string(text), file.Text(), 0)
		if err != nil {
			return nil, failure("%w", err)
		}
		for _, rec := range records {
			if name := rec.String("name"); rec.Kind == "parsed" && !declared(r, t, name) {
				key, err := types.New(t, r.Host, types.Given{Title: name, Values: append(metaparameters(r),
					data.P("target", file), data.P("ensure", data.OfString("absent")), data.P("user", data.OfString(r.Name())))}, nil)
				if err != nil {
					return nil, err
				}
				all = append(all, key)
			}
		}
	}
	return all, nil
}

// A tidy finds files to remove. Rule RES-MISC-02.
type tidy struct {
	nothing
	log logger
}

func newTidy(log logger) Provider { return &tidy{log: log} }

// Generate returns absent files, the deepest first.
func (t *tidy) Generate(ctx context.Context, s System, r *types.Resource) ([]*types.Resource, error) {
	root := r.Name()
	if _, err := s.Lstat(ctx, root); err != nil {
		return nil, nil //nolint:nilerr // there is nothing to tidy
	}
	files := []string{root}
	if v := r.Value("recurse"); v.Truthy() {
		limit := -1
		if v.Kind() == data.Int {
			limit = int(v.Int())
		}
		found, err := walk(ctx, s, root, walking{limit: limit})
		if err != nil {
			return nil, err
		}
		if err := countFiles(t.log, root, len(found), r.Value("max_files")); err != nil {
			return nil, err
		}
		for _, name := range found {
			files = append(files, path.Join(root, name))
		}
	}
	var all []*types.Resource
	for _, name := range files {
		if !t.removes(ctx, s, r, name) {
			continue
		}
		file, err := types.New(types.All()["file"], r.Host, types.Given{Title: name, Values: append(metaparameters(r),
			data.P("backup", data.OfBool(false)), data.P("ensure", data.OfString("absent")), data.P("force", data.OfBool(true)))}, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, file)
	}
	slices.SortFunc(all, func(a, b *types.Resource) int { return cmp.Compare(b.Name(), a.Name()) })
	if isTrue(r.Value("rmdirs")) {
		if err := emptied(all); err != nil {
			return nil, err
		}
	}
	if len(all) > 0 {
		t.log.note(r, "notice", fmt.Sprintf("Tidying %d files", len(all)))
	}
	return all, nil
}

// emptied lets directories wait for what is in them.
func emptied(files []*types.Resource) error {
	within := map[string][]data.Value{}
	for _, f := range files {
		dir := path.Dir(f.Name())
		within[dir] = append(within[dir], data.OfString("File["+f.Name()+"]"))
	}
	for _, f := range files {
		if refs := within[f.Name()]; refs != nil {
			if err := f.Set("require", data.OfList(refs)); err != nil {
				return err
			}
		}
	}
	return nil
}

// removes reports whether a file fits: by its name, and by its age or size if they are given.
func (t *tidy) removes(ctx context.Context, s System, r *types.Resource, name string) bool {
	info, err := s.Lstat(ctx, name)
	if err != nil || declared(r, types.All()["file"], name) || info.Kind == "directory" && !isTrue(r.Value("rmdirs")) {
		return false
	}
	if r.Has("matches") &&
		!slices.ContainsFunc(elements(r.Value("matches")), func(p data.Value) bool { return fnmatch.Match("x"+p.Text(), "x"+path.Base(name)) }) { // names that begin with a dot, too
		return false
	}
	age, size := r.Value("age"), r.Value("size")
	at := map[string]int64{"atime": info.ATime.Unix(), "mtime": info.MTime.Unix(), "ctime": info.CTime.Unix()}[r.Value("type").Text()]
	return age.IsNil() && size.IsNil() || !age.IsNil() && s.Now().Unix()-at >= age.Int() || !size.IsNil() && info.Size >= size.Int()
}

// walking is how a directory is walked.
type walking struct {
	limit  int // how deep; -1 is all
	ignore []string
	follow bool // links
}

// maxWalked bounds what is found in one directory.
const maxWalked = 1_000_000

// walk returns the paths below a directory, seen from it, a directory before what it has.
// A link to nothing is an error if links are followed. Rule RES-FILE-13.
func walk(ctx context.Context, s System, root string, w walking) ([]string, error) {
	look := s.Lstat
	if w.follow {
		look = s.Stat
	}
	var found []string
	var step func(dir string, depth int) error
	step = func(dir string, depth int) error {
		if w.limit >= 0 && depth >= w.limit {
			return nil
		}
		names, err := s.ReadDir(ctx, path.Join(root, dir))
		if err != nil {
			return inRuby("dir_initialize", err)
		}
		for _, name := range names {
			if slices.ContainsFunc(w.ignore, func(p string) bool { return fnmatch.Match(p, name) }) {
				continue
			}
			if len(found) >= maxWalked {
				return fmt.Errorf("walk %q: it has more than %d entries", root, maxWalked)
			}
			at := strings.TrimPrefix(dir+"/"+name, "/")
			info, err := look(ctx, path.Join(root, at))
			if err != nil && w.follow {
				return inRuby("rb_file_s_stat", err) // it is a link to nothing
			}
			if err != nil {
				continue // it went
			}
			found = append(found, at)
			if info.Kind == "directory" {
				if err := step(at, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	info, err := look(ctx, root)
	if err != nil || info.Kind != "directory" {
		return nil, nil //nolint:nilerr // there is nothing below it
	}
	err = step("", 0)
	return found, err
}

// countFiles warns of many files, and refuses more than max_files. Rule RES-FILE-13.
func countFiles(log logger, dir string, n int, limit data.Value) error {
	const soft = 1000
	most := int(limit.Int())
	if limit.Kind() == data.String && limit.Str() == "-1" {
		most = -1
	}
	switch {
	case most > 0 && n > most:
		return failure("The directory '%s' contains %d entries, which exceeds the limit of %d specified by the max_files parameter for this resource. The limit may be increased, but be aware that large number of file resources can result in excessive resource consumption and degraded performance. Consider using an alternate method to manage large directory trees", dir, n, most)
	case most == 0 && n > soft:
		log.line(Line{Level: "warning", Message: fmt.Sprintf("The directory '%s' contains %d entries, which exceeds the default soft limit %d and may cause excessive resource consumption and degraded performance. To remove this warning set a value for `max_files` parameter or consider using an alternate method to manage large directory trees", dir, n, soft)})
	}
	return nil
}
