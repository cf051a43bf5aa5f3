package compiler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/model"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/termini/compiler"
	"indirtui/traces"
)

// systemModules is where Debian has modules.
const systemModules = "/usr/share/puppet/modules"

// moduleDir returns where Debian has a module, which it calls otherwise if it is
// mailalias_core.
func moduleDir(name string) (string, error) {
	dir := filepath.Join(systemModules, strings.Replace(name, "mailalias_core", "mailalias", 1))
	return filepath.EvalSymlinks(dir)
}

const certname = "node1.example.test"

// A recording is a compile of real Puppet, and the site that it is made again in.
type recording struct {
	name, dir string     // of what was recorded
	conf      data.Value // case.yaml
	root      string     // temporary
	site      string     // the environment below it
	plain     *strings.Replacer

	mu     sync.Mutex
	logs   []string
	traces []*traces.Trace
	found  map[uint64]int // how many a search did
}

// Every compile asks, reads and logs what real Puppet does, and has its catalog, or fails
// with its words.
func TestGoldenModules(t *testing.T) {
	t.Parallel()
	root := golden.PathBeside(t, "../../indirector/language/syntax", "lang", "modules")
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for _, entry := range entries {
		path := filepath.Join(root, entry.Name())
		if _, err := os.Stat(filepath.Join(path, "case.yaml")); err != nil {
			continue // the directory of facts
		}
		r := &recording{found: map[uint64]int{}, name: entry.Name(), dir: path, conf: golden.YAML(t, filepath.Join(path, "case.yaml"))}
		if lacks := r.lacks(); lacks != "" {
			t.Logf("%s is left out: it needs %s", r.name, lacks)
			continue
		}
		taken++
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.check(t)
		})
	}
	t.Logf("%d of %d cases are compiled", taken, len(entries)-1)
}

// lacks returns what a case needs that is not there, or "".
func (r *recording) lacks() string {
	var all []string
	for _, m := range r.conf.Get("modules").List() {
		if _, err := moduleDir(m.Str()); err != nil {
			all = append(all, "the module "+m.Str())
		}
	}
	if r.conf.Get("needs_ruby").Bool() && ruby() == "" {
		all = append(all, "Ruby, for functions of its modules")
	}
	return strings.Join(all, ", ")
}

// ruby is the interpreter, or "".
func ruby() string {
	path, err := exec.LookPath("ruby")
	if err != nil {
		return ""
	}
	return path
}

// check compiles a case and compares all that was recorded of it.
func (r *recording) check(t *testing.T) {
	t.Helper()
	r.layOut(t)
	catalog, err := r.compile(t)
	if errors.Is(err, errors.ErrUnsupported) {
		if os.Getenv("INDIRTUI_GOLDEN") == "" { // not in what was recorded for this program
			t.Fatal("this program refuses it now:", indirector.Message(err))
		}
		t.Skip("this program refuses it:", indirector.Message(err))
	}
	message, failed := r.read(t, "error.txt")
	switch {
	case failed && err == nil:
		t.Errorf("it compiles, want the error %s", message)
	case failed:
		if r.plain.Replace(indirector.Message(err)) != strings.TrimSuffix(message, "\n") {
			t.Errorf("error:\n got %s\nwant %s", r.plain.Replace(indirector.Message(err)), message)
		}
	case err != nil:
		t.Errorf("it fails: %v", err)
	default:
		want, _ := r.read(t, "catalog.json")
		differ(t, r.plain.Replace(catalog), want)
	}
	r.checkLogs(t, strings.TrimSuffix(message, "\n"))
	text, _ := r.read(t, "trace.json")
	var want recorded
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	same(t, "requests", r.requests(), want.Requests)
	same(t, "lookups", r.lookups(), want.Lookups)
	// What Puppet loads of itself is its own business, and so is Ruby.
	want.Loaded = slices.DeleteFunc(want.Loaded, func(row [2]string) bool {
		return row[0] == "ruby" || strings.HasPrefix(row[1], "<PUPPET_LIB>")
	})
	loaded, functions := r.uses()
	same(t, "loaded", loaded, want.Loaded)
	if d := gocmp.Diff(want.Functions, functions, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("functions: %s", d)
	}
}

func (r *recording) read(t *testing.T, name string) (text string, exists bool) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b), true
}

// layOut copies a case into an environment. Only the modules that it names are beside its
// own, and its files are of the time that the recorder gave them.
func (r *recording) layOut(t testing.TB) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r.root, r.site = root, filepath.Join(root, "environments", "production")
	if err := os.CopyFS(r.site, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	manifest := r.conf.Get("manifest").Str()
	if manifest == "" {
		manifest = "site.pp"
	}
	write(t, filepath.Join(r.site, "environment.conf"), "manifest = "+manifest+"\n", 0o644)
	system := filepath.Join(root, "system")
	words := []string{r.site, "<ENV>", system, "<SYSTEM_MODULES>", systemModules, "<SYSTEM_MODULES>", root, "<TMP>"}
	for _, dir := range []string{system, filepath.Join(root, "var", "yaml", "facts")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range r.conf.Get("modules").List() {
		real, err := moduleDir(m.Str())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, filepath.Join(system, m.Str())); err != nil {
			t.Fatal(err)
		}
		words = append([]string{real, "<SYSTEM_MODULES>/" + m.Str()}, words...)
	}
	r.plain = strings.NewReplacer(words...)
	if _, err := os.Stat(filepath.Join(r.dir, "node.yaml")); err == nil {
		write(t, filepath.Join(root, "enc"), "#!/bin/sh\ncat '"+filepath.Join(r.site, "node.yaml")+"'\n", 0o755)
	}
	at := time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)
	err = filepath.WalkDir(r.site, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, at, at))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// server is what the recorder's server knew of itself.
var server = data.OfHash([]data.Pair{
	data.P("serverversion", data.OfString("7.23.0")), data.P("servername", data.OfString("puppet.example.test")),
	data.P("serverip", data.OfString("192.0.2.1")),
})

// engine returns an engine of a server for the site.
func (r *recording) engine(t testing.TB) *engine.Engine {
	t.Helper()
	set := map[string]string{
		"certname": certname, "codedir": r.root, "environmentpath": filepath.Join(r.root, "environments"), "basemodulepath": filepath.Join(r.root, "system"),
		"hiera_config": filepath.Join(r.site, "global", "hiera.yaml"), "facts_terminus": "yaml",
	}
	if _, err := os.Stat(filepath.Join(r.root, "enc")); err == nil {
		set["node_terminus"], set["external_nodes"] = "exec", filepath.Join(r.root, "enc")
	}
	for _, p := range r.conf.Get("settings").Hash() {
		set[p.Key.Str()] = p.Value.Text()
	}
	all := termini.All()
	for i, d := range all {
		if d.Indirection == "catalog" && d.Name == "compiler" {
			all[i] = compiler.WithServer(d, server)
		}
	}
	o := engine.Options{
		Specs: termini.Specs(), Termini: all, ConfDir: filepath.Join(r.root, "conf"), VarDir: filepath.Join(r.root, "var"),
		Application: "server", Write: true, Log: slog.New(r),
	}
	if r.conf.Get("needs_ruby").Bool() { // all others do without it
		o.Ruby = indirector.Ruby{Path: ruby(), Remote: true}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		o.Set = append(o.Set, settings.Override{Name: name, Value: set[name]})
	}
	e, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	if err := e.Prefer("the recorder", map[string]string{"file_metadata": "file_server", "file_content": "file_server"}); err != nil {
		t.Fatal(err)
	}
	return e
}

// compile asks for the catalog, as an agent does, and returns it as it was recorded.
func (r *recording) compile(t *testing.T) (string, error) {
	t.Helper()
	e := r.engine(t)
	name := certname
	if other := r.conf.Get("facts_name").Str(); other != "" {
		name = other
	}
	remote := &indirector.Remote{Node: certname, Authenticated: true, Extensions: map[string]string{}}
	for _, p := range r.conf.Get("extensions").Hash() {
		remote.Extensions[p.Key.Str()] = p.Value.Text()
	}
	req := &indirector.Request{
		Indirection: "catalog", Verb: indirector.Find, Key: certname, Environment: "production", Remote: remote,
		Options: []indirector.Option{{Name: "facts", Value: &model.Facts{Name: name, Values: r.facts(t)}}, {Name: "facts_format", Value: "application/json"}},
	}
	for _, p := range r.conf.Get("request").Hash() {
		req.Options = append(req.Options, indirector.Option{Name: p.Key.Str(), Value: p.Value.Text()})
	}
	resp, err := e.Do(t.Context(), req)
	if flushed := e.Store.Flush(); flushed != nil {
		t.Fatal(flushed)
	}
	first, last := e.Store.Range()
	for id := first; id <= last; id++ {
		tr, lost := e.Store.Trace(id)
		if lost != nil {
			t.Fatal(lost)
		}
		r.traces = append(r.traces, tr)
		if tr.Verb != traces.Search {
			continue
		}
		var all []any
		body, lost := e.Store.Body(tr.Value())
		if err := errors.Join(lost, json.Unmarshal(body, &all)); err != nil {
			t.Fatal(err)
		}
		r.found[tr.ID] = len(all)
	}
	if err != nil {
		return "", err
	}
	catalog, ok := resp.Instance().(*model.Catalog)
	if !ok {
		return "", fmt.Errorf("there is no catalog, but %v", resp.Value)
	}
	text, err := format.AppendJSON(nil, r.constant(catalog))
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// facts are those that the request carries.
func (r *recording) facts(t testing.TB) data.Value {
	t.Helper()
	own := golden.YAML(t, filepath.Join(r.dir, "facts.yaml"))
	name := r.conf.Get("facts").Str()
	if name == "" {
		return own
	}
	all := golden.YAML(t, filepath.Join(r.dir, "..", "facts", name+".yaml"))
	for _, p := range own.Hash() {
		all = all.With(p.Key.Str(), p.Value)
	}
	return all
}

// constant is a catalog without what is another in every compile and on every host.
func (r *recording) constant(c *model.Catalog) data.Value {
	v := c.Data().With("catalog_uuid", data.OfString("<UUID>"))
	if v.Get("version").Kind() == data.Int {
		v = v.With("version", data.OfString("<VERSION>"))
	}
	if r.conf.Dig("request", "code_id").IsNil() {
		v = v.With("code_id", data.Value{})
	}
	if all := v.Get("metadata"); all.Len() > 0 {
		v = v.With("metadata", each(all, steady))
	}
	if all := v.Get("recursive_metadata"); all.Len() > 0 {
		v = v.With("recursive_metadata", each(all, func(v data.Value) data.Value {
			return each(v, func(v data.Value) data.Value { return each(v, steady) })
		}))
	}
	return v
}

// each returns a list or hash with other values.
func each(v data.Value, of func(data.Value) data.Value) data.Value {
	if v.Kind() == data.List {
		out := make([]data.Value, v.Len())
		for i, x := range v.List() {
			out[i] = of(x)
		}
		return data.OfList(out)
	}
	out := make([]data.Pair, v.Len())
	for i, p := range v.Hash() {
		out[i] = data.Pair{Key: p.Key, Value: of(p.Value)}
	}
	return data.OfHash(out)
}

// steady is the metadata of a file without what depends on the host.
func steady(v data.Value) data.Value {
	for _, name := range []string{"owner", "group", "mode"} {
		if v.Get(name).Truthy() {
			v = v.With(name, data.OfString("<"+strings.ToUpper(name)+">"))
		}
	}
	if sum := v.Get("checksum"); slices.Contains([]string{"ctime", "mtime"}, sum.Get("type").Text()) {
		v = v.With("checksum", sum.With("value", data.OfString("<TIME>")))
	}
	return v
}

// Enabled implements slog.Handler.
func (r *recording) Enabled(_ context.Context, l slog.Level) bool {
	return l >= indirector.Levels["info"]
}

// Handle implements slog.Handler. What the recorder left out is left out.
func (r *recording) Handle(_ context.Context, rec slog.Record) error {
	for _, begin := range []string{"Compiled", "Inlined", "Caching"} {
		if strings.HasPrefix(rec.Message, begin) {
			return nil
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, level := range indirector.Levels {
		if level == rec.Level {
			r.logs = append(r.logs, name+": "+rec.Message)
			break
		}
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (r *recording) WithAttrs([]slog.Attr) slog.Handler { return r }

// WithGroup implements slog.Handler.
func (r *recording) WithGroup(string) slog.Handler { return r }

// column is what the recorder left out of places.
var column = regexp.MustCompile(`(, line: \d+), column: \d+\)$`)

// checkLogs compares messages, without the error that the compile ends with.
func (r *recording) checkLogs(t *testing.T, failure string) {
	t.Helper()
	var rows []struct {
		Level, Message, Source, File string
		Line                         int
	}
	if text, ok := r.read(t, "logs.json"); ok {
		if err := json.Unmarshal([]byte(text), &rows); err != nil {
			t.Fatal(err)
		}
	}
	var want, got []string
	for _, row := range rows {
		e := eval.LogEntry{Level: row.Level, Message: row.Message, Source: row.Source, File: row.File, Line: row.Line}
		want = append(want, row.Level+": "+e.String())
	}
	for _, message := range r.logs {
		if message = column.ReplaceAllString(r.plain.Replace(message), "$1)"); message != column.ReplaceAllString("err: "+failure, "$1)") {
			got = append(got, message)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("logs:\n got %q\nwant %q", got, want)
	}
}

// differ shows the first lines that are not those of a recording.
func differ(t *testing.T, got, want string) {
	t.Helper()
	a, b := lines(t, got), lines(t, want)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			show := func(all []string) string {
				return strings.Join(all[min(max(0, i-12), len(all)):min(len(all), i+6)], "\n")
			}
			t.Errorf("line %d of %d:\n got\n%s\nwant\n%s", i+1, len(b), show(a), show(b))
			return
		}
	}
}

// lines returns JSON a line for each value.
func lines(t *testing.T, text string) []string {
	t.Helper()
	var compact, out bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&out, compact.Bytes(), "", " "); err != nil {
		t.Fatal(err)
	}
	return strings.Split(out.String(), "\n")
}

// recorded is a trace of real Puppet.
type recorded struct {
	Requests  []request
	Loaded    [][2]string
	Lookups   []lookup
	Functions map[string]int
}

// A request is one of the indirector. Its parent is a number in the list, from 1.
type request struct {
	Indirection, Verb, Key, Terminus, Cache, Result string
	Parent                                          int
}

// A lookup is one for a key, and the levels that had it.
type lookup struct {
	Key, Within              string
	Parameter, Found, Raised bool
	Where                    [][]string
}

// same reports the first row that differs.
func same[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s: row %d of %d:\n got %+v\nwant %+v", what, i+1, len(want), got[i:min(i+3, len(got))], want[min(i, len(want)):min(i+3, len(want))])
			return
		}
	}
}

// requests are those of the compile, in order, without those for data, which Puppet looks
// up without the indirector.
func (r *recording) requests() []request {
	var out []request
	number := map[uint64]int{}
	for _, tr := range r.traces {
		if tr.Indirection == "data_binding" || tr.Verb == traces.Expire { // the recorder did not see expire
			continue
		}
		q := request{
			Indirection: tr.Indirection, Verb: tr.Verb.String(), Key: r.plain.Replace(tr.Key),
			Terminus: tr.Primary.Winner().Terminus, Cache: tr.Cache.Winner().Terminus, Parent: number[tr.Parent], Result: "ok",
		}
		switch {
		case tr.Error != "":
			q.Result = "raised"
		case tr.Outcome == traces.Nil:
			q.Result = "nil"
		case tr.Verb == traces.Search:
			q.Result = fmt.Sprintf("%d found", r.found[tr.ID])
		}
		out = append(out, q)
		number[tr.ID] = len(out)
	}
	return out
}

// uses are the files that the compile used, and how often it called each function.
func (r *recording) uses() (loaded [][2]string, functions map[string]int) {
	functions = map[string]int{}
	for _, s := range r.traces[0].Spans {
		if kind, ok := strings.CutPrefix(s.Name, "use "); ok {
			loaded = append(loaded, [2]string{kind, r.plain.Replace(s.Attr("path"))})
		}
		if name, ok := strings.CutPrefix(s.Name, "call "); ok {
			functions[name], _ = strconv.Atoi(strings.Fields(s.Answer)[0])
		}
	}
	return loaded, functions
}

// lookups are the requests for data, with the lookups of other keys within them.
func (r *recording) lookups() []lookup {
	var out []lookup
	for _, tr := range r.traces {
		if tr.Indirection == "data_binding" {
			out = append(out, r.lookedUp(tr)...)
		}
	}
	return out
}

// within reports whether a span of a name lies below another, or below a merge there.
func within(tr *traces.Trace, id int, name string) bool {
	return slices.ContainsFunc(tr.Spans, func(o traces.Span) bool {
		return o.Parent == id && (strings.HasPrefix(o.Name, name) || strings.HasPrefix(o.Name, "merge ") && within(tr, o.ID, name))
	})
}

func (r *recording) lookedUp(tr *traces.Trace) []lookup {
	var out []lookup
	isParameter := slices.ContainsFunc(tr.Options, func(o traces.Option) bool { return o.Name == "parameter" })
	name := map[int]string{} // of spans
	around := map[int]int{}  // the lookup that a span belongs to
	up := map[int]int{}
	for _, s := range tr.Spans {
		name[s.ID], up[s.ID], around[s.ID] = s.Name, s.Parent, around[s.Parent]
		if key, ok := strings.CutPrefix(s.Name, "look up "); ok {
			if key == "lookup_options" {
				continue
			}
			in, _ := strings.CutPrefix(name[around[s.ID]], "look up ")
			out = append(out, lookup{Key: key, Within: in, Parameter: isParameter, Found: s.Answer == "found", Raised: tr.Error != ""})
			around[s.ID] = s.ID
		}
		if at, ok := strings.CutPrefix(s.Name, "level "); ok && s.Answer == "found" && len(out) > 0 && up[around[s.ID]] == 0 && !within(tr, s.ID, "look in ") {
			title := `Hierarchy entry "` + at + `"`
			if function, legacy := strings.CutPrefix(at, "Legacy function '"); legacy {
				title = `Deprecated API function "` + strings.TrimSuffix(function, "'") + `"`
			}
			out[0].Where = append(out[0].Where, []string{title})
		}
		path, ok := strings.CutPrefix(s.Name, "look in ")
		if ok && s.Answer == "found" && len(out) > 0 && up[around[s.ID]] == 0 {
			in := s.Parent
			for strings.HasPrefix(name[in], "merge ") {
				in = up[in]
			}
			level := strings.TrimPrefix(name[in], "level ")
			out[0].Where = append(out[0].Where, []string{`Hierarchy entry "` + level + `"`, r.plain.Replace(path)})
		}
	}
	if len(out) == 0 && tr.Error != "" { // before it was looked for
		out = append(out, lookup{Key: tr.Key, Parameter: isParameter, Raised: true})
	}
	return out
}
