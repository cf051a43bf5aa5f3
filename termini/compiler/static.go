package compiler

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nested"
	"indirtui/traces"
)

// checksum returns which checksums a static catalog has: the first that the agent names
// and this server knows. "" means that the catalog is not to be a static one. Rule
// TERM-COMP-08.
func (t *Terminus) checksum(req *indirector.Request, environment string) (string, error) {
	static, _ := t.settingsIn(environment).Get("static_catalogs")
	if static != "true" || !isTrue(req.Option("static_catalog")) || req.Option("code_id") == nil {
		return "", nil
	}
	names := text(req.Option("checksum_type"))
	for name := range strings.SplitSeq(names, ".") {
		if slices.Contains(model.ChecksumTypes, name) {
			return name, nil
		}
	}
	return "", &indirector.Failure{Message: fmt.Sprintf("Unable to find a common checksum type between agent '%s' and master '[:%s]'.", names, strings.Join(model.ChecksumTypes, ", :"))}
}

func (t *Terminus) settingsIn(environment string) indirector.Settings {
	if t.env.SettingsIn == nil {
		return t.env.Settings
	}
	return t.env.SettingsIn(environment)
}

// An inliner puts the metadata of files into a catalog, so that agents need not ask for
// it. Rule TERM-COMP-09.
type inliner struct {
	t           *Terminus
	catalog     *model.Catalog
	environment string         // its directory
	served      *regexp.Regexp // paths of files that modules of the environment serve
	checksum    string
}

func (t *Terminus) inline(ctx context.Context, c *model.Catalog, checksum string) error {
	path, _ := t.env.Settings.Get("environmentpath")
	dir := filepath.Join(path, c.Environment)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	in := &inliner{t, c, dir, regexp.MustCompile(regexp.QuoteMeta(dir) + "/[^/]+/[^/]+/files/."), checksum}
	for i := range c.Resources {
		r := &c.Resources[i]
		sources := sourcesOf(r)
		if r.Type != "File" || len(sources) == 0 || r.Parameters.Get("ensure").Text() == "absent" {
			continue
		}
		inline := in.one
		if recurse := r.Parameters.Get("recurse").Text(); recurse == "true" || recurse == "remote" {
			inline = in.tree
		}
		if err := inline(ctx, r, sources); err != nil {
			return err
		}
	}
	return nil
}

// sourcesOf returns the sources of a file, if all of them are on servers of Puppet.
func sourcesOf(r *model.Resource) []string {
	v := r.Parameters.Get("source")
	all := v.List()
	if v.Kind() != data.List && !v.IsNil() {
		all = []data.Value{v}
	}
	out := make([]string, 0, len(all))
	for _, v := range all {
		if v.IsNil() {
			continue
		}
		if !strings.HasPrefix(v.Text(), "puppet:") {
			return nil
		}
		out = append(out, strings.TrimRight(v.Text(), "/"))
	}
	return out
}

// options returns what file metadata is asked for with.
func (in *inliner) options(r *model.Resource, more ...string) []indirector.Option {
	out := []indirector.Option{
		{Name: "links", Value: orText(r, "links", "manage")},
		{Name: "checksum_type", Value: orText(r, "checksum", in.checksum)},
		{Name: "source_permissions", Value: orText(r, "source_permissions", "ignore")},
	}
	for _, name := range more {
		if v := r.Parameters.Get(name); !v.IsNil() {
			out = append(out, indirector.Option{Name: name, Value: plain(v)})
		}
	}
	return out
}

func orText(r *model.Resource, name, usual string) string {
	if v := r.Parameters.Get(name); v.Truthy() {
		return v.Text()
	}
	return usual
}

// plain returns the value of a parameter as options have it.
func plain(v data.Value) any {
	switch v.Kind() {
	case data.Int:
		return v.Int()
	case data.Float:
		return v.Float()
	case data.List:
		out := make([]string, v.Len())
		for i, x := range v.List() {
			out[i] = x.Text()
		}
		return out
	}
	return v.Text()
}

// one puts in the metadata of a file, from the first source that there is.
func (in *inliner) one(ctx context.Context, r *model.Resource, sources []string) error {
	for _, source := range sources {
		inst, err := nested.Find(ctx, in.t.env.Do, &indirector.Request{
			Indirection: "file_metadata", Verb: indirector.Find, Key: source, Environment: in.catalog.Environment, Options: in.options(r),
		})
		if err != nil {
			return bare(err)
		}
		found, ok := inst.(*model.FileMetadata)
		if !ok {
			continue
		}
		if !in.inside(found, source) {
			return nil
		}
		m := *found
		m.Source, m.ContentURI = source, in.contentURI(found, source)
		in.catalog.Metadata = append(in.catalog.Metadata, model.NamedMetadata{Title: r.Title, Metadata: &m})
		return nil
	}
	traces.ExplainFailure(ctx, fmt.Sprintf("none of the sources of %s is there: %s", r.Ref(), strings.Join(sources, ", ")))
	return &indirector.Failure{Message: "Could not get metadata for " + r.Parameters.Get("source").Text()}
}

// tree puts in the metadata of all files below a directory.
func (in *inliner) tree(ctx context.Context, r *model.Resource, sources []string) error {
	var all []data.Pair
	given := append(in.options(r, "recurselimit", "max_files", "ignore"), indirector.Option{Name: "recurse", Value: true})
	for _, source := range sources {
		resp, err := nested.Ask(ctx, in.t.env.Do, &indirector.Request{
			Indirection: "file_metadata", Verb: indirector.Search, Key: source, Environment: in.catalog.Environment, Options: given,
		})
		if err != nil {
			return bare(err)
		}
		files := metadataOf(resp)
		if files == nil {
			continue
		}
		root := slices.IndexFunc(files, func(m *model.FileMetadata) bool { return m.RelativePath == "." })
		if root < 0 || !in.inside(files[root], source) {
			return nil // all of it is left to the agent
		}
		list := make([]data.Value, len(files))
		for i, found := range files {
			m := *found
			m.ContentURI = in.contentURI(files[root], source)
			if m.RelativePath != "." {
				m.ContentURI += "/" + m.RelativePath
			}
			list[i] = m.Data()
		}
		all = append(all, data.Pair{Key: data.OfString(source), Value: data.OfList(list)})
		if orText(r, "sourceselect", "first") == "first" {
			break
		}
	}
	if len(all) > 0 {
		in.catalog.RecursiveMetadata = in.catalog.RecursiveMetadata.With(r.Title, data.OfHash(all))
	}
	return nil
}

func metadataOf(resp indirector.Response) []*model.FileMetadata {
	all, _ := resp.Value.([]indirector.Instance)
	var out []*model.FileMetadata
	for _, inst := range all {
		if m, ok := inst.(*model.FileMetadata); ok {
			out = append(out, m)
		}
	}
	return out
}

// inside reports whether a file is one that a module of the environment serves.
func (in *inliner) inside(m *model.FileMetadata, source string) bool {
	u, err := url.Parse(source)
	return err == nil && strings.HasPrefix(u.Path, "/modules/") && in.served.MatchString(fullPath(m))
}

func fullPath(m *model.FileMetadata) string {
	if m.RelativePath == "" || m.RelativePath == "." {
		return m.Path
	}
	return filepath.Join(m.Path, m.RelativePath)
}

// contentURI returns where an agent gets the content of a file as it was when the catalog
// was compiled.
func (in *inliner) contentURI(m *model.FileMetadata, source string) string {
	u, err := url.Parse(source)
	if err != nil {
		return source
	}
	path, err := filepath.Rel(in.environment, fullPath(m))
	if err != nil {
		return source
	}
	return "puppet://" + u.Host + "/" + filepath.ToSlash(path)
}
