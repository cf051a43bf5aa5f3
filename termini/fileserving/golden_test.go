package fileserving_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

type scene struct {
	Tree []struct {
		Path, Type, Target, Content, Base64, Mode, MTime string
	}
	Conf         *string `yaml:"fileserver_conf"`
	Environments map[string][]string
	Settings     map[string]string
}

type recorded struct {
	ID, Verb, Key, Indirection, Terminus string
	Options                              map[string]any
	Value                                json.RawMessage
	Error                                string
	RubyError                            bool `json:"ruby_error"`
	Logs                                 []line
}

// TestGoldenFileserver compares with what Puppet answered.
func TestGoldenFileserver(t *testing.T) {
	t.Parallel()
	dir := "testdata"
	if d := os.Getenv("INDIRTUI_GOLDEN"); d != "" {
		dir = d
	}
	files, err := filepath.Glob(filepath.Join(dir, "fileserver", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden data in %s: %v", dir, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			play(t, file)
		})
	}
}

func play(t *testing.T, file string) {
	var s scene
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	var rows []recorded
	text, err = os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".json")
	if err == nil {
		err = json.Unmarshal(text, &rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	root, tmp := filepath.Join(top, "env"), filepath.Join(top, "tmp")
	s.build(t, root, tmp)
	h := newHouse(t, s.settings(root, tmp), s.environments(tmp))
	// Puppet has one configuration in a process, here each indirection has its
	// own: that of file_content is read before anybody listens.
	if _, err := h.Do(t.Context(), &indirector.Request{Indirection: "file_content", Verb: indirector.Find, Key: "nobody/x", Terminus: "file_server"}); !errors.Is(err, indirector.ErrNotFound) {
		t.Fatal(err)
	}
	h.logs.take()
	for _, row := range rows {
		t.Run(row.ID, func(t *testing.T) { row.check(t, h, root, tmp) })
	}
}

func (s *scene) build(t *testing.T, root, tmp string) {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(os.MkdirAll(root, 0o755))
	ok(os.MkdirAll(tmp, 0o755))
	for _, e := range s.Tree {
		path := filepath.Join(root, e.Path)
		ok(os.MkdirAll(filepath.Dir(path), 0o755))
		switch e.Type {
		case "dir":
			ok(os.MkdirAll(path, 0o755))
		case "link":
			ok(os.Symlink(strings.ReplaceAll(e.Target, "<ENV>", root), path))
		default:
			content := []byte(e.Content)
			if e.Base64 != "" {
				var err error
				content, err = base64.StdEncoding.DecodeString(e.Base64)
				ok(err)
			}
			ok(os.WriteFile(path, content, 0o644))
		}
	}
	for _, e := range slices.Backward(s.Tree) {
		if e.Type == "link" {
			continue
		}
		path := filepath.Join(root, e.Path)
		if e.Mode != "" {
			bits, err := strconv.ParseUint(e.Mode, 8, 32)
			ok(err)
			mode := os.FileMode(bits & 0o777)
			if bits&0o4000 != 0 {
				mode |= os.ModeSetuid
			}
			ok(os.Chmod(path, mode))
		}
		at := time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)
		if e.MTime != "" {
			var err error
			at, err = time.Parse(time.RFC3339, e.MTime)
			ok(err)
		}
		ok(os.Chtimes(path, at, at))
	}
	if s.Conf != nil {
		ok(os.WriteFile(filepath.Join(tmp, "fileserver.conf"), []byte(strings.ReplaceAll(*s.Conf, "<ENV>", root)), 0o644))
	}
	if s.Environments == nil {
		s.Environments = map[string][]string{"production": {"modules"}}
	}
	for name, path := range s.Environments {
		dir := filepath.Join(tmp, "code", "environments", name)
		ok(os.MkdirAll(dir, 0o755))
		ok(os.WriteFile(filepath.Join(dir, "environment.conf"), []byte("modulepath = "+modulepath(root, path)+"\n"), 0o644))
	}
}

func modulepath(root string, dirs []string) string {
	var all []string
	for _, d := range dirs {
		all = append(all, filepath.Join(root, d))
	}
	return strings.Join(all, ":")
}

func (s *scene) settings(root, tmp string) values {
	v := values{
		"fileserverconfig": filepath.Join(tmp, "fileserver.conf"), "environment": "production",
		"environmentpath": filepath.Join(tmp, "code", "environments"), "modulepath": modulepath(root, s.Environments["production"]),
		"default_file_terminus": "file_server", "codedir": filepath.Join(tmp, "code"),
	}
	for name, value := range s.Settings {
		v[name] = value
	}
	return v
}

func (s *scene) environments(tmp string) func(string) error {
	return func(name string) error {
		if _, ok := s.Environments[name]; ok {
			return nil
		}
		return &indirector.EnvironmentNotFound{Name: name, Path: filepath.Join(tmp, "code", "environments")}
	}
}

func (row *recorded) check(t *testing.T, h *house, root, tmp string) {
	var options []indirector.Option
	for name, v := range row.Options {
		if n, ok := v.(float64); ok {
			v = int(n)
		}
		options = append(options, indirector.Option{Name: name, Value: v})
	}
	verb := indirector.Find
	if row.Verb == "search" {
		verb = indirector.Search
	}
	req := indirector.NewRequest(cmp.Or(row.Indirection, "file_metadata"), verb, strings.ReplaceAll(row.Key, "<ENV>", root), nil, options)
	req.Terminus = cmp.Or(row.Terminus, "file_server")
	resp, err := h.Do(t.Context(), req)
	back := strings.NewReplacer(root, "<ENV>", tmp, "<TMP>")
	got := answer(t, resp, err, back)
	want := row.answer(t, root)
	if row.RubyError && strings.HasPrefix(got, "error: ") {
		got = want
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s %s %v (-want +got):\n%s", row.Verb, row.Key, row.Options, diff)
	}
	lines := h.logs.take()
	for i := range lines {
		lines[i].Message = back.Replace(lines[i].Message)
	}
	if diff := gocmp.Diff(row.Logs, lines); diff != "" {
		t.Errorf("%s %s: logs (-want +got):\n%s", row.Verb, row.Key, diff)
	}
}

// answer is what the golden data keeps of an answer.
func answer(t *testing.T, resp *indirector.Response, err error, back *strings.Replacer) string {
	t.Helper()
	failed := func(err error) string { return "error: " + back.Replace(indirector.Message(err)) }
	if errors.Is(err, indirector.ErrNotFound) {
		return "null"
	}
	if err != nil {
		return failed(err)
	}
	if list, ok := resp.Value.([]indirector.Instance); ok {
		slices.SortFunc(list, func(a, b indirector.Instance) int {
			return strings.Compare(a.(*model.FileMetadata).RelativePath, b.(*model.FileMetadata).RelativePath)
		})
		var parts []string
		for _, inst := range list {
			parts = append(parts, back.Replace(shown(t, inst)))
		}
		return normal(t, "["+strings.Join(parts, ",")+"]")
	}
	if c, ok := resp.Value.(*model.FileContent); ok {
		b, err := contents(c)
		if err != nil {
			return failed(err)
		}
		return normal(t, back.Replace(fmt.Sprintf(`{"path":%q,"relative_path":null,"content_base64":%q}`, c.Path, base64.StdEncoding.EncodeToString(b))))
	}
	return normal(t, back.Replace(shown(t, resp.Instance())))
}

func contents(c *model.FileContent) ([]byte, error) {
	r, err := c.Contents.Open()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// shown is the JSON of metadata without what differs from run to run.
func shown(t *testing.T, inst indirector.Instance) string {
	t.Helper()
	f, ok := format.ByName("json")
	if !ok {
		t.Fatal("there is no format json")
	}
	b, err := format.Render(f, inst)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func normal(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		if _, ok := m["owner"].(float64); ok {
			m["owner"], m["group"] = "<OWNER>", "<GROUP>"
		}
		if sum, ok := m["checksum"].(map[string]any); ok && sum["type"] == "ctime" {
			sum["value"] = "{ctime}<TIME>"
		}
	}
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// answer is what Puppet answered, in the order of directories of this file
// system: merged mounts depend on it.
func (row *recorded) answer(t *testing.T, root string) string {
	t.Helper()
	if row.Error != "" {
		return "error: " + row.Error
	}
	if len(row.Value) == 0 {
		return "null"
	}
	text := string(row.Value)
	if mount, _, _ := strings.Cut(row.Key, "/"); mount == "plugins" && moduleOrder(t, root)[0] == "db" {
		text = dbFirst(t, root, text)
	}
	return normal(t, text)
}

func moduleOrder(t *testing.T, root string) []string {
	t.Helper()
	d, err := os.Open(filepath.Join(root, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n != "db" && n != "web" })
}

// dbFirst turns an answer that was recorded where the module web comes first
// into that where db does.
func dbFirst(t *testing.T, root, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		path, _ := m["path"].(string)
		relative, _ := m["relative_path"].(string)
		other := strings.Replace(path, "<ENV>/modules/web/", "<ENV>/modules/db/", 1)
		onDisk := filepath.Join(strings.Replace(other, "<ENV>", root, 1), relative)
		info, err := os.Stat(onDisk)
		if err != nil {
			continue
		}
		m["path"] = other
		if info.IsDir() {
			continue
		}
		b, err := os.ReadFile(onDisk)
		if err != nil {
			t.Fatal(err)
		}
		m["checksum"].(map[string]any)["value"] = fmt.Sprintf("{sha256}%x", sha256.Sum256(b))
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
