package fileserving_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/settings"
	"indirtui/indirector/terminustest"
	"indirtui/termini/fileserving"
	"indirtui/traces"
)

type values map[string]string

func (s values) Get(name string) (value, source string) { return s[name], "test" }

// in returns the settings of other environments as Puppet reads them.
func (s values) in(t testing.TB) func(string) indirector.Settings {
	dir := t.TempDir()
	return func(environment string) indirector.Settings {
		o := settings.Options{ConfDir: dir, Environment: environment}
		for _, name := range []string{"environmentpath", "basemodulepath", "codedir"} {
			if s[name] != "" {
				o.Overrides = append(o.Overrides, settings.Override{Name: name, Value: s[name]})
			}
		}
		read, err := settings.Load(o)
		if err != nil {
			t.Error(err)
		}
		return read
	}
}

// A fixture has the file serving indirections, with a directory of its own.
type fixture struct {
	*indirector.Indirector
	logs     terminustest.Log
	recorder terminustest.Recorder
}

func newFixture(t testing.TB, values values, environments func(string) error) *fixture {
	t.Helper()
	registry, err := indirector.NewRegistry([]indirector.Spec{
		{Name: "file_metadata", Class: "Puppet::FileServing::Metadata", Default: "selector"},
		{Name: "file_content", Class: "Puppet::FileServing::Content", Default: "selector"},
		{Name: "facts", Class: "Puppet::Node::Facts", Default: "facter"},
	}, []indirector.Descriptor{
		fileserving.MetadataFile, fileserving.MetadataServer, fileserving.MetadataHTTP, fileserving.MetadataSelector,
		fileserving.ContentFile, fileserving.ContentServer, fileserving.ContentHTTP, fileserving.ContentSelector,
	})
	if err != nil {
		t.Fatal(err)
	}
	h := new(fixture)
	route := indirector.Route{Primary: traces.Slot{{Terminus: "selector", Kind: traces.FromDeclaration}}}
	h.Indirector, err = indirector.New(indirector.Config{
		Registry: registry, Routes: indirector.Routes{"file_metadata": route, "file_content": route},
		Settings: values, SettingsIn: values.in(t), Environments: environments, Recorder: &h.recorder, Log: slog.New(&h.logs),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func option(name string, value any) indirector.Option {
	return indirector.Option{Name: name, Value: value}
}

// find asks file_metadata.
func (h *fixture) find(t testing.TB, terminus, key string, options ...indirector.Option) (*model.FileMetadata, error) {
	t.Helper()
	resp, err := h.Do(t.Context(), &indirector.Request{Indirection: "file_metadata", Verb: indirector.Find, Key: key, Terminus: terminus, Options: options})
	m, _ := resp.Instance().(*model.FileMetadata)
	return m, err
}

func (h *fixture) search(t testing.TB, terminus, key string, options ...indirector.Option) ([]*model.FileMetadata, error) {
	t.Helper()
	resp, err := h.Do(t.Context(), &indirector.Request{Indirection: "file_metadata", Verb: indirector.Search, Key: key, Terminus: terminus, Options: options})
	if err != nil {
		return nil, err
	}
	list, _ := resp.Value.([]indirector.Instance)
	found := make([]*model.FileMetadata, len(list))
	for i := range list {
		found[i] = list[i].(*model.FileMetadata)
	}
	return found, nil
}

// story returns the last trace as text.
func (h *fixture) story() string {
	var b bytes.Buffer
	t := h.recorder.Last()
	for _, n := range t.Notes {
		fmt.Fprintln(&b, n)
	}
	for _, s := range t.Spans {
		fmt.Fprintln(&b, s.Kind, s.Name, s.Answer, s.Because, s.Attrs, s.Err)
	}
	for _, f := range t.Faults {
		fmt.Fprintln(&b, f.Message, f.Hidden)
	}
	for _, s := range t.Steps {
		fmt.Fprintln(&b, s.Because)
	}
	return b.String()
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("got\n%s\nwant it to say %q", text, p)
		}
	}
}

// write puts files below dir. A content "-> x" is a link to x.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
