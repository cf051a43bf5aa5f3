package providers

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// A Source is what is known of a file that another one is copied from.
type Source struct {
	URL      string // of its own
	Relative string // "." is what was asked for, else the path below it
	Kind     string // file, directory, link
	UID, GID int    // -1 is not known
	Mode     fs.FileMode
	Checksum string // "{sha256}2cf2..."; "" if it has none
	Target   string // of a link
	// ContentURI is where the content is in a version of the code, CodeID, for a file whose
	// metadata a static catalog has. Both may be "".
	ContentURI, CodeID string
}

// A Query is how sources are asked for.
type Query struct {
	Environment string
	Follow      bool   // links
	Checksum    string // its kind
	Permissions string // source_permissions
	Limit       int    // how deep a search goes; -1 is all
	Ignore      []string
	MaxFiles    string
}

// Sources finds what is copied from elsewhere: puppet:, http: and https: URLs.
type Sources interface {
	// Find returns nil if there is nothing.
	Find(ctx context.Context, source string, q Query) (*Source, error)
	// Search returns a source and all below it; nothing if it is not there.
	Search(ctx context.Context, source string, q Query) ([]Source, error)
	Open(ctx context.Context, s *Source) (io.ReadCloser, error)
}

// Buckets keeps files on servers, before they are changed.
type Buckets interface {
	Keep(ctx context.Context, b BucketServer, name string, content []byte) (sum string, err error)
}

// A BucketServer is a server that keeps files. Without a host it is that of the settings.
type BucketServer struct {
	Host, Port string
	Digest     string // the kind of checksums
}

// Inlined are Sources that know what a static catalog has of its files, by the titles of
// these. For that nothing is asked. Rule TERM-COMP-09.
type Inlined interface {
	Sources
	// Of is what the catalog has of a file; nil if that is nothing.
	Of(ctx context.Context, title string) *Source
	// Below is what it has of a source of a directory and all below; false if it has nothing
	// about the directory.
	Below(ctx context.Context, title, source string) ([]Source, bool)
}

// localPath is the path of a source on this machine; "" if it is elsewhere. It is taken as it
// is written, up to a question mark, which Puppet has for the beginning of a query.
func localPath(source string) string {
	name, _, _ := strings.Cut(source, "?")
	if strings.HasPrefix(name, "/") {
		return name
	}
	name, local := strings.CutPrefix(name, "file:")
	if !local {
		return ""
	}
	if host, ok := strings.CutPrefix(name, "//"); ok {
		_, rest, _ := strings.Cut(host, "/") // whatever the host
		return "/" + rest
	}
	return name
}

func (f *file) query(s System, r *types.Resource) Query {
	environment, _ := s.Setting("environment")
	q := Query{
		Environment: environment, Follow: r.Value("links").Text() == "follow", Checksum: checksumKind(s, r),
		Permissions: r.Value("source_permissions").Text(), Limit: -1, MaxFiles: r.Value("max_files").Text(),
	}
	if v := r.Value("recurselimit"); !v.IsNil() {
		q.Limit = int(v.Int())
	}
	for _, p := range elements(r.Value("ignore")) {
		q.Ignore = append(q.Ignore, p.Text())
	}
	return q
}

// find is look for a source that is named: a link to nothing is none.
func (f *file) find(ctx context.Context, s System, source string, q Query) (*Source, error) {
	m, err := f.look(ctx, s, source, q)
	if err == nil && m != nil && m.Kind == "link" && localPath(source) != "" {
		if _, err := s.Stat(ctx, localPath(source)); err != nil {
			return nil, ctx.Err()
		}
	}
	return m, err
}

// look finds one source; nil if it is not there.
func (f *file) look(ctx context.Context, s System, source string, q Query) (*Source, error) {
	at := localPath(source)
	if at == "" {
		if f.remote == nil {
			return nil, errors.New("sources that are not on this machine are not asked for here")
		}
		return f.remote.Find(ctx, source, q)
	}
	stat := s.Lstat
	if q.Follow {
		stat = s.Stat
	}
	info, err := stat(ctx, at)
	if err != nil {
		return nil, ctx.Err() // Ruby asks only whether it is there
	}
	m := &Source{URL: source, Relative: ".", Kind: info.Kind, UID: info.UID, GID: info.GID, Mode: info.Mode}
	switch info.Kind {
	case "file":
		m.Checksum, err = sumFile(ctx, s, at, q.Checksum, info)
	case "link":
		m.Target, err = s.Readlink(ctx, at)
	case "directory", "fifo", "socket":
	default:
		return nil, &indirector.Failure{Class: "ArgumentError", Message: "Cannot manage files of type " + info.Kind, Origin: "file", Path: at}
	}
	if err != nil {
		return nil, inRuby("rb_sysopen", err)
	}
	return m, nil
}

// source is the first of r's sources that is there. Rule RES-FILE-11.
func (f *file) source(ctx context.Context, s System, r *types.Resource) (*Source, error) {
	if m := f.sources[r]; m != nil {
		return m, nil
	}
	if in, ok := f.remote.(Inlined); ok {
		if m := in.Of(ctx, r.Title); m != nil {
			f.sources[r] = m
			return m, nil
		}
	}
	q := f.query(s, r)
	for _, v := range elements(r.Value("source")) {
		m, err := f.find(ctx, s, v.Text(), q)
		if err != nil {
			return nil, failure("Could not retrieve file metadata for %s: %w", v.Text(), err)
		}
		if m != nil {
			f.sources[r] = m
			return m, nil
		}
	}
	var all []string
	for _, v := range elements(r.Value("source")) {
		all = append(all, v.Text())
	}
	return nil, failure("Could not retrieve information from environment %s source(s) %s", q.Environment, strings.Join(all, ", "))
}

// adopt gives r what its source has: kind, content, and owner, group and mode if they are
// to be copied.
func (f *file) adopt(ctx context.Context, s System, r *types.Resource) error {
	if !r.Has("source") || r.Has("checksum_value") {
		return nil
	}
	m, err := f.source(ctx, s, r)
	if err != nil {
		return err
	}
	if m.Checksum != "" && (!r.Managed("content") || isAbsent(r.Value("content"))) {
		r.SetSum(m.Checksum)
	}
	if err := f.copyPermissions(ctx, s, r, m); err != nil {
		return err
	}
	ensure := m.Kind
	switch {
	case r.Managed("ensure") && isAbsent(r.Value("ensure")):
		return nil
	case m.Kind == "link" && r.Value("links").Text() == "follow":
		ensure = "present"
	case m.Kind == "link":
		if err := r.Set("target", data.OfString(m.Target)); err != nil {
			return err
		}
	}
	return r.Set("ensure", data.OfString(ensure)) // of a pipe it is any text: a link that leads to "fifo"
}

func (f *file) copyPermissions(ctx context.Context, s System, r *types.Resource, m *Source) error {
	switch r.Value("source_permissions").Text() {
	case "use":
	case "use_when_creating":
		if _, err := s.Stat(ctx, r.Name()); err == nil {
			return nil
		}
	default:
		return nil
	}
	values := map[string]data.Value{"mode": data.OfString(strconv.FormatUint(uint64(m.Mode), 8))}
	if s.Feature("root") && m.UID >= 0 {
		values["owner"], values["group"] = data.OfInt(int64(m.UID)), data.OfInt(int64(m.GID))
	}
	for _, name := range []string{"owner", "mode", "group"} {
		if v, ok := values[name]; ok && !r.Managed(name) {
			if err := r.Set(name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// open opens the new content of r.
func (f *file) open(ctx context.Context, s System, r *types.Resource) (io.ReadCloser, error) {
	if !r.Has("source") {
		return io.NopCloser(strings.NewReader(f.text(r))), nil
	}
	m, err := f.source(ctx, s, r)
	if err != nil {
		return nil, err
	}
	if at := localPath(m.URL); at != "" {
		in, err := s.Open(ctx, at)
		return in, inRuby("rb_sysopen", err)
	}
	return f.remote.Open(ctx, m)
}

// Contents opens the new content of r, to be compared with what is there.
func (f *file) Contents(ctx context.Context, s System, r *types.Resource) (io.ReadCloser, error) {
	return f.open(ctx, s, r)
}

// recurses reports whether r is about all that is in a directory.
func recurses(r *types.Resource) bool {
	v := r.Value("recurse")
	return v.Truthy() && v.Text() != "false"
}

// A child is a file that recursion makes.
type child struct {
	values []data.Pair
	source *Source
}

// Generate makes a resource of each file below a directory: of those that are there, and
// of those of its target or its sources. Rules RES-FILE-13 and RES-FILE-15.
func (f *file) Generate(ctx context.Context, s System, r *types.Resource) ([]*types.Resource, error) {
	if !recurses(r) {
		return nil, nil
	}
	q := f.query(s, r)
	children := map[string]*child{}
	if r.Value("recurse").Text() != "remote" {
		found, err := f.below(ctx, s, r.Name(), q)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			children[name] = new(child)
		}
	}
	var err error
	if target := r.Value("target"); r.Managed("target") && target.Kind() == data.String {
		err = f.ofTarget(ctx, s, r, q, children)
	} else if r.Has("source") {
		err = f.ofSources(ctx, s, r, q, children)
	}
	if err != nil {
		return nil, err
	}
	var all []*types.Resource
	for _, name := range f.specific(r, children) {
		c := children[name]
		if isTrue(r.Value("purge")) && c.source == nil {
			c.values = append(c.values, data.P("ensure", data.OfString("absent")))
		}
		made, err := f.child(r, path.Join(r.Name(), name), c)
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

// below lists a directory of this machine.
func (f *file) below(ctx context.Context, s System, dir string, q Query) ([]string, error) {
	found, err := walk(ctx, s, dir, walking{limit: q.Limit, ignore: q.Ignore, follow: q.Follow})
	if err != nil {
		return nil, err
	}
	limit := data.OfString(q.MaxFiles)
	if n, bad := strconv.Atoi(q.MaxFiles); bad == nil {
		limit = data.OfInt(int64(n))
	}
	return found, countFiles(f.log, dir, len(found), limit)
}

// ofTarget makes links to what the target has, in directories of their own.
func (f *file) ofTarget(ctx context.Context, s System, r *types.Resource, q Query, children map[string]*child) error {
	target := r.Value("target").Text()
	if info, err := s.Lstat(ctx, target); err != nil {
		return nil //nolint:nilerr // nothing is there
	} else if info.Kind == "directory" {
		if err := r.Set("ensure", data.OfSymbol("directory")); err != nil {
			return err
		}
	}
	found, err := f.below(ctx, s, target, q)
	if err != nil {
		return err
	}
	for _, name := range found {
		if children[name] == nil {
			children[name] = new(child)
		}
		c, at := children[name], path.Join(target, name)
		if info, err := s.Lstat(ctx, at); err == nil && info.Kind == "directory" {
			c.values = append(c.values, data.P("ensure", data.OfString("directory")))
			continue
		}
		c.values = append(c.values, data.P("ensure", data.OfString("link")), data.P("target", data.OfString(at)))
	}
	return nil
}

// ofSources makes copies of what the first source has, or of what all have, the earliest
// first. If one of these is no directory, its content is all there is, and nothing is copied.
func (f *file) ofSources(ctx context.Context, s System, r *types.Resource, q Query, children map[string]*child) error {
	var all []Source
	for _, v := range elements(r.Value("source")) {
		found, err := f.search(ctx, s, r, v.Text(), q)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(found, func(m Source) bool { return m.Relative == "." && m.Kind != "directory" }) {
			return nil
		}
		all = append(all, found...)
		if len(found) > 0 && r.Value("sourceselect").Text() == "first" {
			break
		}
	}
	taken := map[string]bool{}
	for i := range all {
		m := &all[i]
		switch {
		case taken[m.Relative]:
			continue
		case m.Relative == ".":
			f.sources[r] = m
		case children[m.Relative] == nil:
			children[m.Relative] = &child{source: m}
		default:
			children[m.Relative].source = m
		}
		taken[m.Relative] = true
	}
	return nil
}

func (f *file) search(ctx context.Context, s System, r *types.Resource, source string, q Query) ([]Source, error) {
	if in, ok := f.remote.(Inlined); ok {
		if all, has := in.Below(ctx, r.Title, source); has {
			return all, nil
		}
	}
	at := localPath(source)
	if at == "" && f.remote != nil {
		return f.remote.Search(ctx, source, q)
	}
	top, err := f.find(ctx, s, source, q)
	if err != nil || top == nil {
		return nil, err
	}
	all := []Source{*top}
	if top.Kind != "directory" {
		return all, nil
	}
	found, err := f.below(ctx, s, at, q)
	if err != nil {
		return nil, err
	}
	for _, name := range found {
		m, err := f.look(ctx, s, source+"/"+name, q)
		if err != nil {
			return nil, err
		}
		if m != nil {
			m.Relative = name
			all = append(all, *m)
		}
	}
	return all, nil
}

// specific are the children in order, without those that are declared themselves, or are
// below one that is.
func (f *file) specific(r *types.Resource, children map[string]*child) []string {
	var others []string
	if r.Catalog != nil {
		for _, o := range r.Catalog.Resources("File") {
			if rest, ok := strings.CutPrefix(o.Name(), strings.TrimSuffix(r.Name(), "/")+"/"); ok {
				others = append(others, rest)
			}
		}
	}
	var names []string
	for name := range children {
		if !slices.ContainsFunc(others, func(o string) bool { return name == o || strings.HasPrefix(name, o+"/") }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// notInherited are parameters that are of the directory alone.
var notInherited = []string{"path", "parent", "ensure", "recurse", "recurselimit", "max_files", "target", "alias", "source", "provider", "checksum"}

func (f *file) child(r *types.Resource, name string, c *child) (*types.Resource, error) {
	values := c.values
	for _, of := range r.Names() {
		given := r.Original(of)
		if len(given) == 0 || slices.Contains(notInherited, of) {
			continue
		}
		v := given[0]
		if len(given) > 1 {
			v = data.OfList(given)
		}
		values = append(values, data.P(of, v))
	}
	if c.source != nil {
		values = append(values, data.P("source", data.OfString(c.source.URL)))
	}
	if v := r.Value("checksum"); v.Truthy() {
		values = append(values, data.P("checksum", v))
	}
	made, err := types.New(r.Type, r.Host, types.Given{Title: name, Values: values}, nil)
	if err == nil && c.source != nil {
		f.sources[made] = c.source
	}
	return made, err
}
