// Package fileserving has the termini that serve files: their metadata
// (file_metadata) and their contents (file_content).
//
// Four termini answer. file takes an absolute path of this machine, file_server
// a mount and a path below it, http a URL; selector chooses one of them for
// each request, and the trace gives the reason:
//
//	puppet:///modules/web/index.html    file_server or rest, by default_file_terminus
//	/etc/motd                           file
//	modules/web/index.html              file_server
//	https://example.com/index.html      http
//
// Contents are never held in memory: they are hashed as they are read, and a
// FileContent opens its file when it is read.
package fileserving

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

var (
	digestSetting  = indirector.Setting{Name: "digest_algorithm", Doc: "Type of checksum if the request names none."}
	serverSettings = []indirector.Setting{
		{Name: "fileserverconfig", Doc: "File with the mounts besides those of the modules."},
		{Name: "filetimeout", Doc: "How long that file is believed unchanged."},
		{Name: "modulepath", Doc: "Directories of modules, of the environment of the request."},
		{Name: "codedir", Doc: "What a merged mount serves where there is no directory of modules."},
		{Name: "strict", Doc: "Whether a module with a damaged metadata.json is left out."},
		{Name: "certname", Doc: "Whose facts fill in a path with %h, %H or %d if no client asks."},
	}
	httpSettings     = append(client.Settings(), indirector.Setting{Name: "ssl_trust_store", Doc: "More certificates that are trusted."})
	selectorSettings = []indirector.Setting{
		{Name: "default_file_terminus", Doc: "Terminus for puppet: addresses that name no server."},
	}

	metadataRules = []string{"TERM-MD-01", "TERM-MD-02", "TERM-MD-03", "TERM-MD-04", "TERM-MD-05"}
	serverRules   = []string{"TERM-FSRV-01", "TERM-FSRV-02", "TERM-FSRV-03", "TERM-FSRV-04"}
	selectorRules = []string{"TERM-FS-01", "TERM-FS-02", "TERM-FS-03", "TERM-FS-04", "TERM-FS-05", "TERM-FS-06"}
	httpRules     = []string{"TERM-HTTP-01", "TERM-HTTP-02", "TERM-HTTP-03", "TERM-HTTP-04"}
)

func with[T any](list []T, more ...T) []T { return append(list[:len(list):len(list)], more...) }

// Termini of file_metadata.
var (
	MetadataFile = indirector.Descriptor{
		Indirection: "file_metadata", Name: "file",
		Settings: []indirector.Setting{digestSetting}, Rules: metadataRules, Type: (*Files)(nil), New: newFiles,
		Doc: "Looks at files of this machine. The key is an absolute path.",
	}
	MetadataServer = indirector.Descriptor{
		Indirection: "file_metadata", Name: "file_server", Note: "files below the mounts",
		Settings: with(serverSettings, digestSetting), Rules: with(serverRules, metadataRules...), Type: (*Server)(nil), New: newServer,
		Doc: "Looks at files below the mounts: those of fileserver.conf, and modules, plugins, pluginfacts, locales, scripts and tasks of the environment. The key is a mount and a path below it.",
	}
	MetadataHTTP = indirector.Descriptor{
		Indirection: "file_metadata", Name: "http", Note: "a web server; owner and mode stay unknown",
		Settings: httpSettings, Rules: httpRules, Type: (*HTTP)(nil), New: newHTTP,
		Doc: "Asks a web server with HEAD what it says of a file. Owner, group and mode stay unknown. The key is an address.",
	}
	MetadataSelector = indirector.Descriptor{
		Indirection: "file_metadata", Name: "selector", Note: "one of the others, by the key",
		Settings: selectorSettings, Rules: selectorRules, Type: (*Selector)(nil), New: newSelector, Passes: passes,
		Doc: "Passes each request on to rest, file_server, http or file, by the scheme and the server of its key.",
	}
)

// Termini of file_content.
var (
	ContentFile = indirector.Descriptor{
		Indirection: "file_content", Name: "file",
		Settings: []indirector.Setting{digestSetting}, Type: (*Files)(nil), New: newFiles,
		Doc: "Reads files of this machine. The key is an absolute path.",
	}
	ContentServer = indirector.Descriptor{
		Indirection: "file_content", Name: "file_server", Note: "files below the mounts",
		Settings: with(serverSettings, digestSetting), Rules: serverRules, Type: (*Server)(nil), New: newServer,
		Doc: "Reads files below the mounts. The key is a mount and a path below it.",
	}
	ContentHTTP = indirector.Descriptor{
		Indirection: "file_content", Name: "http",
		Settings: httpSettings, Rules: []string{"TERM-HTTP-05"}, Type: (*HTTP)(nil), New: newHTTP,
		Doc: "Reads a file from a web server. Puppet 7 and 8 have no such terminus any more, though their selector still chooses it; this is what Puppet 6 did. The key is an address.",
	}
	ContentSelector = indirector.Descriptor{
		Indirection: "file_content", Name: "selector", Note: "one of the others, by the key",
		Settings: selectorSettings, Rules: selectorRules, Type: (*Selector)(nil), New: newSelector, Passes: passes,
		Doc: "Passes each request on to rest, file_server, http or file, by the scheme and the server of its key.",
	}
)

// Files serves absolute paths of this machine.
type Files struct{ maker }

var (
	_ indirector.Finder   = (*Files)(nil)
	_ indirector.Searcher = (*Files)(nil)
	_ indirector.Yielder  = (*Files)(nil)
)

func newFiles(env indirector.Env) (indirector.Terminus, error) { return &Files{newMaker(env)}, nil }

// Find returns the file at the key. What does not exist is nil, also a link to
// nothing.
func (t *Files) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	if err := exists(req.Key); err != nil {
		return nil, err
	}
	return t.one(ctx, req, req.Key)
}

// Search returns the file at the key and, with the option recurse, all below
// it. What does not exist is nil.
func (t *Files) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	if err := exists(req.Key); err != nil {
		return nil, err
	}
	return t.many(ctx, req, []root{{path: req.Key}}, nil)
}

func (t *Files) Yield(ctx context.Context, req *indirector.Request, yield func(indirector.Instance) error) error {
	if err := exists(req.Key); err != nil {
		return err
	}
	return t.each(ctx, req, []root{{path: req.Key}}, nil, yield)
}

// exists returns nil if there is something at path, following links. Puppet
// calls everything else absent; the error has the reason.
func exists(path string) error {
	if strings.IndexByte(path, 0) >= 0 {
		return &indirector.Failure{Class: "ArgumentError", Message: "pathname contains null byte", Origin: "file", Path: path}
	}
	if _, err := os.Stat(path); err != nil {
		return indirector.NotFound(traces.NotFound, disk.Why(err, path))
	}
	return nil
}

// maker makes the instances of one of the two models.
type maker struct {
	env     indirector.Env
	content bool   // file_content, not file_metadata
	digest  string // type of checksum by default. Rule TERM-MD-05.
}

func newMaker(env indirector.Env) maker {
	m := maker{env: env, content: env.Indirection == "file_content", digest: "sha256"}
	if name, _ := env.Settings.Get("digest_algorithm"); name != "" {
		m.digest = name
	}
	return m
}

// one returns the instance of a single path.
func (m *maker) one(ctx context.Context, req *indirector.Request, path string) (inst indirector.Instance, err error) {
	o, err := m.ofFiles(req)
	if err != nil {
		return nil, err
	}
	_, span := traces.Start(ctx, traces.File, "look at "+filepath.Base(path))
	w := newWorker(ctx)
	inst, err = m.make(&w, o, path, "", new(model.FileMetadata))
	if span != nil {
		span.Attr("path", path)
		span.End(describe(inst, &w, err), traces.Because{}, err)
	}
	return inst, err
}

func describe(inst indirector.Instance, w *worker, err error) string {
	switch inst := inst.(type) {
	case *model.FileMetadata:
		if inst.Type == "file" && w.bytes > 0 {
			return "file, " + plural(w.bytes, "byte") + " hashed"
		}
		return inst.Type
	case *model.FileContent:
		return "opened when it is read"
	}
	if err != nil {
		return "failed"
	}
	return ""
}

// make returns the instance of relative below base; "" is base itself.
// Metadata is put into f.
func (m *maker) make(w *worker, o *options, base, relative string, f *model.FileMetadata) (indirector.Instance, error) {
	if !strings.HasPrefix(base, "/") {
		return nil, &indirector.Failure{
			Class: "ArgumentError", Message: "Paths must be fully qualified",
			Path: base, Hidden: "the path is " + base + "; it must begin with /",
		}
	}
	if m.content {
		path := full(base, relative)
		if o.links == "follow" { // Puppet looks where the link leads before it reads
			if _, err := stat(path); err != nil {
				return nil, fail(opStat, path, err, "")
			}
		}
		return &model.FileContent{Path: base, RelativePath: relative, Links: o.links, Contents: Path(path)}, nil
	}
	f.Path, f.RelativePath, f.Links, f.ChecksumType = base, relative, o.links, o.checksum
	return f, w.collect(f, o)
}

// full is the path of relative below base.
func full(base, relative string) string {
	if relative != "" && relative != "." {
		base = join(base, relative)
	}
	if strings.Contains(base, "//") {
		base = squeeze(base)
	}
	return base
}

// squeeze makes one slash of several.
func squeeze(path string) string {
	b := make([]byte, 0, len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			b = append(b, path[i])
		}
	}
	return string(b)
}

// join is Ruby's File.join of two: one slash between them, also before "".
func join(a, b string) string { return strings.TrimRight(a, "/") + "/" + strings.TrimLeft(b, "/") }
