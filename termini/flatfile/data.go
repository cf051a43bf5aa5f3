package flatfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

// DataFiles keep instances in files of a format that has no classes, JSON or
// MessagePack. Rules TERM-FILE-01 to TERM-FILE-13.
type DataFiles struct {
	files
	format *format.Format
	label  string         // of the format in Puppet's messages
	second *format.Format // for what the format cannot hold; nil if there is none
	plain  bool           // rich values are written as strings
	known  *decoded
}

func newJSON(env indirector.Env) (*DataFiles, error) {
	return &DataFiles{files: newFiles(env, "server_datadir", "client_datadir"), format: mustFormat("json"), label: "JSON", known: newDecoded()}, nil
}

func newMsgpack(env indirector.Env) (*DataFiles, error) {
	return &DataFiles{files: newFiles(env, "server_datadir", "client_datadir"), format: mustFormat("msgpack"), label: "MessagePack", known: newDecoded()}, nil
}

// newCatalogJSON returns the terminus for catalogs, with rich data unless the
// setting is off, and with PSON for strings that are not UTF-8.
func newCatalogJSON(env indirector.Env) (*DataFiles, error) {
	t, err := newJSON(env)
	if err != nil {
		return nil, err
	}
	if rich, _ := env.Settings.Get("rich_data"); rich == "false" {
		t.plain = true
	} else {
		t.format = mustFormat("rich_data_json")
	}
	t.second = mustFormat("pson")
	return t, nil
}

// Find returns the instance that the file holds.
func (t *DataFiles) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	path, err := t.path(ctx, req.Key, t.ext)
	if err != nil {
		return nil, err
	}
	inst, err := t.load(ctx, path, req.Key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, indirector.NotFound(traces.NotFound, path)
	}
	return inst, err
}

// load reads a file. That there is none is an fs.ErrNotExist.
func (t *DataFiles) load(ctx context.Context, path, key string) (indirector.Instance, error) {
	file, err := disk.Read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, failed(fmt.Sprintf("Could not read %s data for %s %s: %s", t.label, t.env.Indirection, key, disk.Message(err)), err, path, "")
	}
	defer file.Release() // decoded values have a copy
	f := t.format
	if t.second != nil && !utf8.Valid(file.Content) {
		t.env.Log.Info("Unable to deserialize catalog from json, retrying with pson")
		f = t.second
	}
	inst, err := t.intern(ctx, f, file.Content)
	if err != nil {
		return nil, failed(fmt.Sprintf("Could not parse %s data for %s %s: %s", t.label, t.env.Indirection, key, err), err, path, hint(file.Content))
	}
	return t.found(ctx, inst, path, file.Written), nil
}

// hint describes content that cannot be parsed.
func hint(content []byte) string {
	if len(content) == 0 {
		return "the file is empty"
	}
	return fmt.Sprintf("the file has %d bytes and begins with %s", len(content), data.InspectString(string(content[:min(len(content), 40)])))
}

func (t *DataFiles) intern(ctx context.Context, f *format.Format, b []byte) (indirector.Instance, error) {
	_, span := traces.Start(ctx, traces.Codec, "decode "+f.Name)
	inst, notes, err := t.known.intern(f, b, func() (indirector.Instance, format.Notes, error) {
		return format.Intern(f, t.class.Name, b, format.Options{})
	})
	addNotes(ctx, notes)
	if span != nil {
		span.End(describe(inst, err), traces.Because{Reason: traces.FormatRequested}, err)
	}
	return inst, err
}

// Save replaces the file, and creates all directories above it. Rules
// TERM-FILE-07, TERM-FILE-08.
func (t *DataFiles) Save(ctx context.Context, req *indirector.Request) (any, error) {
	path, err := t.path(ctx, req.Key, t.ext)
	if err != nil {
		return nil, err
	}
	if err := mkdirAll(path); err != nil {
		return nil, err
	}
	if model.ClassOf(req.Instance) == nil {
		return nil, &indirector.Failure{Class: "NoMethodError", Message: "undefined method `render' for " + rubyName(req.Instance)}
	}
	inst, because := req.Instance, traces.Because{Reason: traces.FormatRequested}
	if t.plain {
		var warnings []string
		inst, warnings = model.Plain(inst)
		for _, w := range warnings {
			t.env.Log.Warn(w)
		}
		if len(warnings) > 0 {
			because = traces.Because{Reason: traces.Lossy, About: warnings[0]}
			traces.Explain(ctx, model.PlainSentence(warnings))
		}
	}
	b, err := encode(ctx, t.format, inst, because)
	if err != nil && t.second != nil {
		t.env.Log.Info("Unable to serialize catalog to json, retrying with pson")
		t.env.Log.Debug(err.Error())
		traces.AddNote(ctx, "written as PSON: "+err.Error())
		b, err = encode(ctx, t.second, inst, traces.Because{Reason: traces.FellBack, About: t.format.Name})
	}
	if err != nil {
		return nil, renderFailed(err)
	}
	return t.replace(ctx, path, b, inst)
}

// rubyName returns Ruby's name in messages for a value that is not an instance
// of a model.
func rubyName(inst indirector.Instance) string {
	switch inst := inst.(type) {
	case nil:
		return "nil:NilClass"
	case *model.Raw:
		return inst.Value.Inspect()
	case indirector.Name:
		return data.InspectString(string(inst)) + ":String"
	}
	if inst == indirector.False {
		return "false:FalseClass"
	}
	return fmt.Sprintf("%T", inst)
}

// Destroy unlinks the file. The answer is 1 also if there was none. Rule
// TERM-FILE-11.
func (t *DataFiles) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	path, err := t.path(ctx, req.Key, t.ext)
	if err != nil {
		return nil, t.notDestroyed(err, req.Key, "")
	}
	was, err := t.destroy(ctx, path)
	if err != nil {
		return nil, t.notDestroyed(err, req.Key, path)
	}
	if !was {
		traces.Explain(ctx, "there was no file; Puppet answers as if there had been one")
	}
	return 1, nil
}

// notDestroyed wraps every error, that of an invalid key too.
func (t *DataFiles) notDestroyed(err error, key, path string) error {
	f := failed(fmt.Sprintf("Could not destroy %s %s: %s", t.env.Terminus, key, disk.Message(err)), err, path, "")
	if inner := (*indirector.Failure)(nil); errors.As(err, &inner) {
		f.Origin, f.Hidden = inner.Origin, inner.Hidden
	}
	return f
}

// Search returns the instances of all files that the key matches. Rule
// TERM-FILE-12.
func (t *DataFiles) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	if _, err := t.path(ctx, req.Key, t.ext); err != nil {
		return nil, err
	}
	paths, err := t.glob(req.Key + t.ext)
	if err != nil {
		return nil, err
	}
	return loadAll(paths, func(path string) (indirector.Instance, error) { return t.load(ctx, path, req.Key) })
}
