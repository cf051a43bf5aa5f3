package fileserving

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/modules"
	"indirtui/traces"
)

// Server serves what lies below mounts.
type Server struct {
	maker
	config *configuration

	mu   sync.Mutex      // guards host
	host map[byte]string // the words of this host for placeholders; nil before the first use
}

var (
	_ indirector.Finder     = (*Server)(nil)
	_ indirector.Searcher   = (*Server)(nil)
	_ indirector.Yielder    = (*Server)(nil)
	_ indirector.Authorizer = (*Server)(nil)
)

func newServer(env indirector.Env) (indirector.Terminus, error) {
	return &Server{maker: newMaker(env), config: newConfiguration(env)}, nil
}

// split splits a key. A key without a known mount is not an error; ok is false.
// Rule TERM-FSRV-01.
func (c *configuration) split(key string) (m mount, path string, ok bool, err error) {
	name, path, _ := strings.Cut(key, "/")
	m, ok = c.mount(name) // first: a bad key reads the configuration, too
	if !isMountName(name) {
		return m, "", false, refuse("Cannot find file: Invalid mount '%s'", name)
	}
	if strings.IndexByte(path, 0) >= 0 {
		return m, "", false, refuse("pathname contains null byte")
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == ".." {
			return m, "", false, refuse("Cannot find file: Invalid relative path '%s'", path)
		}
	}
	return m, squeeze(path), ok, nil
}

// isMountName reports whether a line of name is letters, digits, - and _.
func isMountName(name string) bool {
	for line := range strings.SplitSeq(name, "\n") {
		if line != "" && strings.Trim(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
			return true
		}
	}
	return false
}

// Authorized refuses other verbs than find and search, and unknown mounts: with
// a client's name they are an error, without one only absent. Rule
// TERM-FSRV-02.
func (t *Server) Authorized(ctx context.Context, req *indirector.Request) bool {
	return t.config.authorized(ctx, req)
}

func (c *configuration) authorized(ctx context.Context, req *indirector.Request) bool {
	if req.Verb != indirector.Find && req.Verb != indirector.Search {
		return false
	}
	m, _, ok, err := c.split(req.Key)
	if err != nil {
		return true // the terminus reports a bad key, in Puppet's words
	}
	if !ok {
		traces.ExplainFailure(ctx, traces.NoMount(m.name))
	}
	return ok
}

// Find returns the file below a mount. Rule TERM-FSRV-03.
func (t *Server) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	m, path, ok, err := t.config.split(req.Key)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, indirector.NotFound(traces.NotFound, fmt.Sprintf("there is no mount %s", m.name))
	}
	file, err := t.find(ctx, m, path, req)
	if err != nil {
		if why := traces.Percent(req.Key); why != "" {
			traces.Explain(ctx, why)
		}
		return nil, err
	}
	return t.one(ctx, req, file)
}

// Search returns the files below a mount; of a merged one those of all
// modules. Rule TERM-FSRV-03.
func (t *Server) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	roots, w, err := t.roots(ctx, req)
	if err != nil {
		return nil, err
	}
	return t.many(ctx, req, roots, w)
}

func (t *Server) Yield(ctx context.Context, req *indirector.Request, yield func(indirector.Instance) error) error {
	roots, w, err := t.roots(ctx, req)
	if err != nil {
		return err
	}
	return t.each(ctx, req, roots, w, yield)
}

// roots returns where the files of a search are.
func (t *Server) roots(ctx context.Context, req *indirector.Request) (roots []root, w *walk, err error) {
	m, path, ok, err := t.config.split(req.Key)
	if err != nil {
		return nil, nil, err
	}
	flat := false
	switch {
	case !ok:
		err = indirector.NotFound(traces.NotFound, fmt.Sprintf("there is no mount %s", m.name))
	case m.path == "" && merged[m.name] != "":
		roots, flat, err = t.merge(m.name, req)
	default:
		var file string
		file, err = t.find(ctx, m, path, req)
		roots = []root{{path: file}}
	}
	if isNotFound(err) {
		t.env.Log.Info(fmt.Sprintf("Could not find filesystem info for file '%s' in environment %s", req.Key, req.Environment))
	}
	if err != nil {
		return nil, nil, err
	}
	w, err = newWalk(req, flat)
	return roots, w, err
}

// merged are the mounts that merge the directories of all modules.
var merged = map[string]string{"plugins": "lib", "pluginfacts": "facts.d", "locales": "locales"}

// find returns the path that a key stands for.
func (t *Server) find(ctx context.Context, m mount, path string, req *indirector.Request) (string, error) {
	switch {
	case m.path != "":
		return t.custom(ctx, m, path, req)
	case merged[m.name] != "":
		return t.first(ctx, m.name, path, req.Environment)
	case path == "" && m.name == "tasks":
		return "", &indirector.Failure{Class: "RuntimeError", Message: "No task specified"}
	case path == "":
		return "", &indirector.Failure{Class: "RuntimeError", Message: "No module specified"}
	}
	name, relative, below := strings.Cut(path, "/")
	mod, ok := t.module(req.Environment, name)
	if !ok {
		return "", indirector.NotFound(traces.NotFound, fmt.Sprintf("environment %s has no module %s", req.Environment, name))
	}
	kind := m.name
	if kind == "modules" {
		kind = "files"
	}
	file := join(mod.Dir, kind)
	if below {
		file = join(file, relative)
	}
	return file, t.inside(ctx, join(mod.Dir, kind), file)
}

// inside returns nil if there is something at path. A link that leads out of
// root is followed, as Puppet does, but noted.
func (t *Server) inside(ctx context.Context, root, path string) error {
	if err := exists(path); err != nil {
		return err
	}
	noteEscape(ctx, root, path)
	return nil
}

func noteEscape(ctx context.Context, root, path string) {
	if traces.FromContext(ctx) == nil {
		return
	}
	outer, err := filepath.EvalSymlinks(root)
	if err != nil {
		return
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != outer && !strings.HasPrefix(real, strings.TrimSuffix(outer, "/")+"/") {
		traces.AddNote(ctx, fmt.Sprintf("%s leads out of the mount to %s; Puppet serves it", path, real))
	}
}

// custom returns the path below a mount of fileserver.conf.
func (t *Server) custom(ctx context.Context, m mount, path string, req *indirector.Request) (string, error) {
	base := m.path
	if placeholder.MatchString(base) {
		words, err := t.words(ctx, base, req)
		if err != nil {
			return "", err
		}
		base = expand(base, words)
		traces.AddNote(ctx, fmt.Sprintf("mount %s: %s is %s", m.name, m.path, base))
	}
	if path == "" {
		return base, nil
	}
	file := join(base, path)
	if _, err := os.Lstat(file); err != nil {
		t.env.Log.Info("File does not exist or is not accessible: " + file)
		return "", indirector.NotFound(traces.NotFound, err.Error())
	}
	noteEscape(ctx, base, file)
	return file, nil
}

// words returns the values of the placeholders: parts of the name of the
// client, or of this host if there is none.
func (t *Server) words(ctx context.Context, path string, req *indirector.Request) (map[byte]string, error) {
	if req.Remote == nil || req.Remote.Node == "" {
		t.env.Log.Log(ctx, indirector.LevelNotice, fmt.Sprintf("No client; expanding '%s' with local host", path))
		return t.hostWords(ctx), nil
	}
	node := req.Remote.Node
	if strings.ContainsAny(node, "/\x00") || node == ".." {
		return nil, &indirector.Failure{
			Class: "ArgumentError", Message: fmt.Sprintf("Cannot find file: Invalid client name '%s'", node), Path: path,
			Hidden: "the name would lead out of the mount",
		}
	}
	host, _, _ := strings.Cut(node, ".")
	domain := node
	if first, rest, ok := strings.Cut(node, "."); ok && first != "" {
		domain = rest
	}
	return map[byte]string{'h': host, 'H': node, 'd': domain}, nil
}

// hostWords asks for the facts of this host, once.
func (t *Server) hostWords(ctx context.Context) map[byte]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.host != nil {
		return maps.Clone(t.host)
	}
	host, domain := "", ""
	certname, _ := t.env.Settings.Get("certname")
	resp, err := t.env.Do(ctx, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: certname, Terminus: "facter", Cache: indirector.Off})
	if facts, ok := resp.Instance().(*model.Facts); err == nil && ok {
		host = facts.Values.Dig("networking", "hostname").Text()
		domain = facts.Values.Dig("networking", "domain").Text()
	}
	if host == "" {
		name, err := os.Hostname()
		if err != nil {
			name = certname
		}
		host, domain, _ = strings.Cut(name, ".")
	}
	words := map[byte]string{'h': host, 'H': host + "." + domain}
	if domain != "" { // without one %d stays as it is
		words['d'] = domain
	}
	if ctx.Err() == nil {
		t.host = words
	}
	return maps.Clone(words)
}

// first returns the path in the first module that has it.
func (t *Server) first(ctx context.Context, name, path, environment string) (string, error) {
	all, err := t.modules(environment)
	if err != nil {
		return "", err
	}
	var have []modules.Module
	for _, m := range all {
		if exists(below(m, name, path)) != nil {
			continue
		}
		have = append(have, m)
		if traces.FromContext(ctx) == nil {
			break // the hidden ones are not wanted
		}
	}
	if len(have) == 0 {
		return "", indirector.NotFound(traces.NotFound, fmt.Sprintf("none of %s has %s", plural(len(all), "module"), join(merged[name], path)))
	}
	won := have[0]
	if len(have) > 1 {
		_, span := traces.Start(ctx, traces.Choose, "merged mount "+name)
		span.Attr("wins", won.Dir)
		for _, m := range have[1:] {
			span.Attr("loses", m.Dir)
		}
		span.End(won.Name, traces.Because{Reason: traces.DefaultInCode, About: "wins over " + over(won, have[1])}, nil)
		if path != "" {
			traces.Explain(ctx, fmt.Sprintf("two modules have this file: %s wins over %s", won.Name, over(won, have[1])))
		}
	}
	file := below(won, name, path)
	noteEscape(ctx, join(won.Dir, merged[name]), file)
	return file, nil
}

func below(m modules.Module, name, path string) string {
	dir := join(m.Dir, merged[name])
	if path == "" {
		return dir
	}
	return join(dir, path)
}

// over returns the module that another hides, and the reason.
func over(m, other modules.Module) string {
	if m.In != other.In {
		return other.Name + " by modulepath order"
	}
	return other.Name + " by directory order"
}

// merge returns the directories of a merged mount. If there is none, flat is
// true: the client sees one directory, and nothing below it.
func (t *Server) merge(name string, req *indirector.Request) (roots []root, flat bool, err error) {
	all, err := t.modules(req.Environment)
	if err != nil {
		return nil, false, err
	}
	for _, m := range all {
		if dir := below(m, name, ""); exists(dir) == nil {
			roots = append(roots, root{path: dir, of: m})
		}
	}
	if len(roots) > 0 {
		return roots, false, nil
	}
	for _, dir := range t.modulepath(req.Environment) {
		roots = append(roots, root{path: dir})
	}
	if len(roots) == 0 {
		dir, _ := t.env.Settings.Get("codedir")
		roots = append(roots, root{path: dir})
	}
	return roots, true, nil
}
