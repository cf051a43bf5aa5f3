package filebucket_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/termini/filebucket"
	"indirtui/traces"
)

type settings map[string]string

func (s settings) Get(name string) (value, source string) { return s[name], "test" }

// A fixture is an Indirector with the termini of buckets, a bucket of its own,
// and a recorder of traces and logs. Safe for concurrent use.
type fixture struct {
	*indirector.Indirector
	dir  string
	logs log

	mu    sync.Mutex // guards ended
	ended []*traces.Trace
}

func (h *fixture) Begin(*traces.Trace) uint64 { return 1 }

func (h *fixture) End(t *traces.Trace, _ any) {
	c := *t
	c.Notes, c.Spans = slices.Clone(t.Notes), slices.Clone(t.Spans)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = append(h.ended, &c)
}

// story returns the last trace as text.
func (h *fixture) story() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.ended[len(h.ended)-1]
	return string(traces.AppendSteps(traces.AppendStory(nil, t), t))
}

type log struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func spec() indirector.Spec {
	return indirector.Spec{
		Name: "file_bucket_file", Class: "Puppet::FileBucket::File", Default: "selector",
		Model: func(i indirector.Instance) bool { _, ok := i.(*model.FileBucketFile); return ok },
	}
}

func newFixture(t testing.TB, more settings) *fixture {
	t.Helper()
	h := &fixture{dir: filepath.Join(t.TempDir(), "bucket")}
	s := settings{"bucketdir": h.dir, "digest_algorithm": "sha256", "diff": "diff", "diff_args": "-u"}
	for name, value := range more {
		s[name] = value
	}
	registry, err := indirector.NewRegistry([]indirector.Spec{spec()}, []indirector.Descriptor{filebucket.File, filebucket.BySelector})
	if err != nil {
		t.Fatal(err)
	}
	h.Indirector, err = indirector.New(indirector.Config{
		Registry: registry, Settings: s, Recorder: h,
		Routes: indirector.Routes{"file_bucket_file": {Primary: traces.Slot{{Terminus: "selector", Kind: traces.FromDeclaration}}}},
		Log:    slog.New(slog.NewTextHandler(&h.logs, nil)),
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

func (h *fixture) do(t testing.TB, verb indirector.Verb, key string, inst indirector.Instance, options ...indirector.Option) (indirector.Response, error) {
	t.Helper()
	return h.Do(t.Context(), indirector.NewRequest("file_bucket_file", verb, key, inst, options))
}

func option(name string, value any) indirector.Option {
	return indirector.Option{Name: name, Value: value}
}

// save saves a text, and returns its checksum.
func (h *fixture) save(t testing.TB, text, path string) string {
	t.Helper()
	sum := sumOf(text)
	if _, err := h.do(t, indirector.Save, "sha256/"+sum+"/"+path, file(text)); err != nil {
		t.Fatalf("save %q: %v", text, err)
	}
	return sum
}

func file(text string) *model.FileBucketFile {
	return &model.FileBucketFile{ChecksumType: "sha256", Contents: model.Bytes(text)}
}

// found returns the contents that a find answers with, or the words of Puppet
// for why not.
func (h *fixture) found(t testing.TB, key string, options ...indirector.Option) string {
	t.Helper()
	r, err := h.do(t, indirector.Find, key, nil, options...)
	switch {
	case errors.Is(err, indirector.ErrNotFound):
		return "nil"
	case err != nil:
		return "error: " + indirector.Message(err)
	}
	return read(t, r.Value.(*model.FileBucketFile).Contents)
}

func read(t testing.TB, c model.Contents) string {
	t.Helper()
	r, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil || c.Size() != int64(len(b)) {
		t.Fatalf("read %d bytes of %d: %v", len(b), c.Size(), err)
	}
	return string(b)
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// at is the file of an entry, "contents" or "paths".
func (h *fixture) at(sum, name string) string {
	return filepath.Join(h.dir, strings.Join(strings.Split(sum[:8], ""), "/"), sum, name)
}

// tree returns all that is in a directory: modes and contents by path.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(b)
		}
		name, err := filepath.Rel(dir, path)
		all[name] = text
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}
