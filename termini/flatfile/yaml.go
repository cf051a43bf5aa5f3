package flatfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

// YAMLFiles keep instances in YAML files. Rules TERM-FILE-01 to TERM-FILE-13.
type YAMLFiles struct {
	files
	older bool // read what Ruby refuses
}

func newYAML(env indirector.Env) (*YAMLFiles, error) {
	return &YAMLFiles{files: newFiles(env, "yamldir", "clientyamldir"), older: readsOlder(env)}, nil
}

func readsOlder(env indirector.Env) bool {
	older, _ := env.Settings.Get(settingOlder)
	return older == "true"
}

// yamlFormat is Puppet's yaml format.
var yamlFormat = mustFormat("yaml")

// mustFormat returns a format that exists.
func mustFormat(name string) *format.Format {
	f, ok := format.ByName(name)
	if !ok {
		panic("flatfile: there is no format " + name)
	}
	return f
}

// Find returns the content of the file: an instance, a Raw if it is something
// else, or False if it is empty.
func (t *YAMLFiles) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	path, err := t.path(ctx, req.Key, t.ext)
	if err != nil {
		return nil, err
	}
	inst, err := t.load(ctx, path, req.Key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, indirector.NotFound(traces.NotFound, path)
	case unreachable(err, path):
		traces.Explain(ctx, "Puppet takes this for absent: "+disk.Why(err, path))
		return nil, indirector.NotFound(traces.NotFound, path)
	}
	if f := (*indirector.Failure)(nil); errors.As(err, &f) && f.Class == yamlLoadError {
		return nil, failed(fmt.Sprintf("Could not parse YAML data for %s %s: %s", t.env.Indirection, req.Key, f.Message), f.Err, path, f.Hidden)
	}
	return inst, err
}

// unreachable reports whether a file cannot even be seen: Ruby's exist? is
// false, and so Puppet finds nothing.
func unreachable(err error, path string) bool {
	if err == nil {
		return false
	}
	_, statErr := os.Stat(path)
	return statErr != nil
}

// yamlLoadError is the class of errors in the content of a file.
const yamlLoadError = "Puppet::Util::Yaml::YamlLoadError"

// load reads a file. The only classes that may be loaded are the model and
// symbols. Rule TERM-FILE-06.
func (t *YAMLFiles) load(ctx context.Context, path, key string) (indirector.Instance, error) {
	file, err := disk.Read(ctx, path)
	if err != nil {
		return nil, disk.Fail(err, path, "")
	}
	defer file.Release() // decoded values have a copy
	_, span := traces.Start(ctx, traces.Codec, "decode yaml")
	inst, err := t.decode(ctx, file.Content, path, key)
	if span != nil {
		span.End(describe(inst, err), traces.Because{Reason: traces.FormatRequested}, err)
	}
	if err != nil {
		return nil, err
	}
	return t.found(ctx, inst, path, file.Written), nil
}

func describe(inst indirector.Instance, err error) string {
	switch inst := inst.(type) {
	case nil:
		return "failed"
	case *model.Raw:
		return "a " + inst.Value.Kind().String()
	default:
		if inst == indirector.False {
			return "false"
		}
		return model.ClassOf(inst).Ruby
	}
}

func (t *YAMLFiles) decode(ctx context.Context, b []byte, path, key string) (indirector.Instance, error) {
	inst, notes, err := format.InternFile(yamlFormat, t.class.Name, path, b, format.Options{Lenient: t.older})
	if err != nil {
		f := &indirector.Failure{Class: yamlLoadError, Message: err.Error(), Origin: "decode", Path: path, Hidden: hint(b), Err: err}
		if why := refused(err, t.class.Ruby); why != "" {
			traces.ExplainFailure(ctx, why)
			f.Hidden = why
		}
		return nil, f
	}
	switch x := inst.(type) {
	case *model.Raw:
		x.Name = key
		traces.Explain(ctx, fmt.Sprintf("%s holds a %s, not a %s", filepath.Base(path), x.Value.Kind(), t.class.Ruby))
	case *model.Catalog:
		traces.Explain(ctx, traces.YAMLCatalog)
	default:
		if inst == indirector.False {
			traces.Explain(ctx, traces.EmptyYAML)
		} else if t.older {
			addNotes(ctx, notes)
		}
	}
	return inst, nil
}

func addNotes(ctx context.Context, notes format.Notes) {
	for _, n := range notes {
		traces.AddNote(ctx, n)
	}
}

// refused explains the error of a file with something that Ruby will not load,
// or returns "".
func refused(err error, model string) string {
	_, class, ok := strings.Cut(err.Error(), "Tried to load unspecified class: ")
	switch {
	case !ok:
		return ""
	case class == "Time" || class == "Date":
		return traces.OlderYAML
	case slices.Contains(nested, class):
		return fmt.Sprintf("file written by an older Puppet (nested %s)", class)
	}
	return fmt.Sprintf("the file holds a %s, and only %s may be loaded", class, model)
}

// nested are the classes of objects that older Puppets nested in others.
var nested = []string{
	"Puppet::Util::Log", "Puppet::Util::Metric", "Puppet::Resource::Status", "Puppet::Transaction::Event",
	"Puppet::Node::Environment", "Puppet::Resource", "Puppet::Util::TagSet", "Puppet::Relationship",
}

// Save replaces the file. It creates the last directory only. Rules
// TERM-FILE-07, TERM-FILE-08.
func (t *YAMLFiles) Save(ctx context.Context, req *indirector.Request) (any, error) {
	if model.ClassOf(req.Instance) == nil {
		return nil, &indirector.Failure{Class: "ArgumentError", Message: "You can only save objects that respond to :name"}
	}
	path, err := t.path(ctx, req.Key, t.ext)
	if err != nil {
		return nil, err
	}
	if err := t.makeDir(ctx, path); err != nil {
		return nil, err
	}
	b, err := encode(ctx, yamlFormat, req.Instance, traces.Because{Reason: traces.FormatRequested})
	if err != nil {
		return nil, renderFailed(err)
	}
	return t.replace(ctx, path, b, req.Instance)
}

func (t *YAMLFiles) makeDir(ctx context.Context, path string) error {
	if t.fixed != "" {
		return mkdirAll(path)
	}
	err := os.Mkdir(t.dir, 0o777)
	switch {
	case err == nil, errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		why := traces.NoYAMLDir(t.dir)
		traces.ExplainFailure(ctx, why)
		return disk.Fail(err, t.dir, why)
	}
	return disk.Fail(err, t.dir, "")
}

// Destroy unlinks the file; 1 is that there was one. Rule TERM-FILE-11.
func (t *YAMLFiles) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	path, err := t.path(ctx, req.Key, t.ext)
	if err != nil {
		return nil, err
	}
	was, err := t.destroy(ctx, path)
	if err != nil {
		return nil, disk.Fail(err, path, "")
	}
	if !was {
		return nil, nil
	}
	return 1, nil
}

// Search returns the instances of all files that the key matches. The key is a
// glob without an extension, so that a name matches nothing. Rule TERM-FILE-12.
func (t *YAMLFiles) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	if _, err := t.path(ctx, req.Key, ""); err != nil {
		return nil, err
	}
	paths, err := t.glob(req.Key)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		if e, _ := t.Peek(ctx, req.Key); e.Key != "" {
			traces.Explain(ctx, traces.YAMLSearch(req.Key))
		}
	}
	return loadAll(paths, func(path string) (indirector.Instance, error) { return t.load(ctx, path, req.Key) })
}
