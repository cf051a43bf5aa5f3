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
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/terminustest"
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
	Logs                                 []terminustest.LogLine
}

// TestGoldenFileserver compares with what Puppet answered.
func TestGoldenFileserver(t *testing.T) {
	t.Parallel()
	dir := golden.Path(t, "fileserver")
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
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
	h := newFixture(t, s.settings(root, tmp), s.environments(tmp))
	confs := &confLog{readers: map[string]bool{}}
	for _, row := range rows {
		t.Run(row.ID, func(t *testing.T) { row.check(t, h, confs, root, tmp) })
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
			for bit, special := range map[uint64]os.FileMode{0o4000: os.ModeSetuid, 0o2000: os.ModeSetgid, 0o1000: os.ModeSticky} {
				if bits&bit != 0 {
					mode |= special
				}
			}
			ok(os.Chmod(path, mode))
		}
	}
	ok(filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type()&os.ModeSymlink != 0 {
			return exec.Command("touch", "-h", "-d", "2021-03-04T05:06:07Z", path).Run()
		}
		at := time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)
		return errors.Join(err, os.Chtimes(path, at, at))
	}))
	for _, e := range s.Tree {
		if e.MTime != "" {
			at, err := time.Parse(time.RFC3339, e.MTime)
			ok(err)
			ok(os.Chtimes(filepath.Join(root, e.Path), at, at))
		}
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

// A confLog knows which lines Puppet logged when it read fileserver.conf. Puppet
// reads the file once, and we once for each indirection and terminus.
type confLog struct {
	first   []terminustest.LogLine
	readers map[string]bool // that have read the file
}

var ofConf = regexp.MustCompile(`(?i)fileserver.?conf|^Removing mount|can not have a path`)

// check compares what was logged about the file in one request.
func (c *confLog) check(t *testing.T, reader string, want, got []terminustest.LogLine) {
	t.Helper()
	if c.first == nil {
		c.first = want
	}
	if !c.readers[reader] && len(want) == 0 && len(got) > 0 {
		want = c.first
	}
	c.readers[reader] = c.readers[reader] || len(got) > 0
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("logs about fileserver.conf (-want +got):\n%s", diff)
	}
}

// split takes what is about the configuration out of the lines of one request.
func split(lines []terminustest.LogLine) (conf, rest []terminustest.LogLine) {
	for _, l := range lines {
		if ofConf.MatchString(l.Message) {
			conf = append(conf, l)
		} else {
			rest = append(rest, l)
		}
	}
	return conf, rest
}

func (row *recorded) check(t *testing.T, h *fixture, confs *confLog, root, tmp string) {
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
	want := row.answer(t, root, got)
	if row.RubyError && strings.HasPrefix(got, "error: ") {
		got = want
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s %s %v (-want +got):\n%s", row.Verb, row.Key, row.Options, diff)
	}
	lines := h.logs.Take()
	for i := range lines {
		lines[i].Message = back.Replace(lines[i].Message)
	}
	wantConf, wantLines := split(row.Logs)
	gotConf, lines := split(lines)
	confs.check(t, req.Indirection+req.Terminus, wantConf, gotConf)
	if diff := gocmp.Diff(wantLines, lines); diff != "" {
		t.Errorf("%s %s: logs (-want +got):\n%s", row.Verb, row.Key, diff)
	}
}

// answer is what the golden data keeps of an answer.
func answer(t *testing.T, resp indirector.Response, err error, back *strings.Replacer) string {
	t.Helper()
	failed := func(err error) string { return "error: " + back.Replace(indirector.Message(err)) }
	if errors.Is(err, indirector.ErrNotFound) {
		return "null"
	}
	if err != nil {
		return failed(err)
	}
	if list, ok := resp.Value.([]indirector.Instance); ok {
		slices.SortFunc(list, func(a, b indirector.Instance) int { return strings.Compare(relative(a), relative(b)) })
		var parts []string
		for _, inst := range list {
			part, err := item(t, inst)
			if err != nil {
				return failed(err)
			}
			parts = append(parts, back.Replace(part))
		}
		return normal(t, "["+strings.Join(parts, ",")+"]")
	}
	text, err := item(t, resp.Instance())
	if err != nil {
		return failed(err)
	}
	return normal(t, back.Replace(text))
}

func relative(i indirector.Instance) string {
	if c, ok := i.(*model.FileContent); ok {
		return c.RelativePath
	}
	return i.(*model.FileMetadata).RelativePath
}

func contents(c *model.FileContent) ([]byte, error) {
	r, err := c.Contents.Open()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// item is the JSON of metadata, and of contents what the recorder wrote. An
// error is one of reading the contents.
func item(t *testing.T, inst indirector.Instance) (string, error) {
	t.Helper()
	c, ok := inst.(*model.FileContent)
	if !ok {
		return shown(t, inst), nil
	}
	b, err := contents(c)
	path := "null"
	if c.RelativePath != "" {
		path = strconv.Quote(c.RelativePath)
	}
	return fmt.Sprintf(`{"path":%q,"relative_path":%s,"content_base64":%q}`, c.Path, path, base64.StdEncoding.EncodeToString(b)), err
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
func (row *recorded) answer(t *testing.T, root, got string) string {
	t.Helper()
	if row.Error != "" {
		return "error: " + row.Error
	}
	if len(row.Value) == 0 {
		return "null"
	}
	text := string(row.Value)
	switch mount, _, _ := strings.Cut(strings.TrimPrefix(row.Key, "puppet:///"), "/"); mount {
	case "plugins", "pluginfacts", "locales":
		if !strings.HasPrefix(got, "error: ") {
			text = likeHere(t, root, text, got)
		}
	}
	return normal(t, text)
}

// likeHere turns what was recorded where one module came first into what is
// right where another one does: the one that got is from, if it has the file.
func likeHere(t *testing.T, root, text, got string) string {
	t.Helper()
	wanted, is := entries(t, text), map[string]string{}
	for _, e := range entries(t, got) {
		relative, _ := e["relative_path"].(string)
		is[relative], _ = e["path"].(string)
	}
	for _, e := range wanted {
		relative, _ := e["relative_path"].(string)
		path, _ := e["path"].(string)
		other := is[relative]
		was, is := strings.Split(path, "/"), strings.Split(other, "/")
		if other == path || len(was) != len(is) || len(is) < 4 || was[1] != is[1] || !slices.Equal(was[3:], is[3:]) {
			continue // it is not the same file of another module
		}
		onDisk := filepath.Join(strings.Replace(other, "<ENV>", root, 1), relative)
		info, err := os.Stat(onDisk)
		if err != nil {
			continue
		}
		e["path"] = other
		if sum, ok := e["checksum"].(map[string]any); ok && !info.IsDir() && sum["type"] == "sha256" {
			b, err := os.ReadFile(onDisk)
			if err != nil {
				t.Fatal(err)
			}
			sum["value"] = fmt.Sprintf("{sha256}%x", sha256.Sum256(b))
		}
	}
	var v any = wanted
	if !strings.HasPrefix(strings.TrimSpace(text), "[") {
		v = wanted[0]
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// entries reads one answer, or a list of them.
func entries(t *testing.T, text string) (list []map[string]any) {
	t.Helper()
	if !strings.HasPrefix(strings.TrimSpace(text), "[") {
		text = "[" + text + "]"
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return list
}
