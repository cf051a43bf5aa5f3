//go:build unix

package fileserving_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/terminustest"
	"indirtui/termini/fileserving"
)

var elapsed = regexp.MustCompile(`after [0-9.]+ seconds`)

// TestSelector checks the second choice and its trace.
func TestSelector(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"code/modules/m/files/f": "x"})
	tests := []struct {
		rule, key, setting string
		message            string // Puppet's error; "" is none
		story              []string
	}{
		{
			"TERM-FS-01", "puppet://other.example.test/modules/m/f", "file_server", "Could not find terminus rest for indirection file_metadata",
			[]string{"choose selector rest scheme puppet with server other.example.test", "this program has no such terminus"},
		},
		{
			"TERM-FS-02 rest", "puppet:///modules/m/f", "rest", "Could not find terminus rest for indirection file_metadata",
			[]string{"choose selector rest setting default_file_terminus=rest (test)", "with default_file_terminus=file_server"},
		},
		{
			"TERM-FS-02 file_server, S-23", "puppet:///modules/m/f", "file_server", "",
			[]string{"choose selector file_server setting default_file_terminus=file_server (test)", "puppet:/// means this machine: setting default_file_terminus=file_server"},
		},
		{"TERM-FS-03", "http://127.0.0.1:1/x", "", `Request to http://127.0.0.1:1/x failed after N seconds: Failed to open TCP connection to 127.0.0.1:1 (Connection refused - connect(2) for 127.0.0.1:1)`, []string{"choose selector http scheme http"}},
		{"TERM-FS-04", dir + "/code/modules/m/files/f", "", "", []string{"choose selector file absolute path", "selector chose file: absolute path"}},
		{"TERM-FS-04 file:", "file://" + dir + "/code/modules/m/files/f", "", "", []string{"choose selector file absolute path"}},
		{"TERM-FS-05", "modules/m/f", "", "", []string{"choose selector file_server no scheme, relative key", "selector chose file_server: no scheme, relative key"}},
		{"TERM-FS-06", "ftp://x.example.test/y", "", "URI protocol 'ftp' is not currently supported for file serving", []string{"choose selector nobody scheme ftp"}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, values{"modulepath": dir + "/code/modules", "default_file_terminus": tt.setting}, nil)
			_, err := h.find(t, "selector", tt.key)
			if got := elapsed.ReplaceAllString(indirector.Message(err), "after N seconds"); got != tt.message {
				t.Errorf("got %q, want %q", got, tt.message)
			}
			contains(t, h.story(), tt.story...)
		})
	}
}

func TestSearchThroughSelector(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/a": "x", "d/b": "y"})
	h := newFixture(t, values{}, nil)
	found, err := h.search(t, "selector", dir+"/d", option("recurse", true))
	if err != nil || len(found) != 3 {
		t.Errorf("got %d, %v; want 3", len(found), err)
	}
}

// TestAuthorized asks with a client's name. Rule TERM-FSRV-02, S-47.
func TestAuthorized(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"site/f": "x", "fileserver.conf": "[site]\npath " + dir + "/site\n"})
	for _, terminus := range []string{"file_server", "selector"} {
		for _, tt := range []struct{ key, message string }{
			{"site/f", ""},
			{"nomount/f", "Not authorized to call find on /file_metadata/nomount/f"},
			{"bad mount/f", "Cannot find file: Invalid mount 'bad mount'"},
		} {
			t.Run(terminus+" "+tt.key, func(t *testing.T) {
				t.Parallel()
				h := newFixture(t, values{"fileserverconfig": dir + "/fileserver.conf"}, nil)
				_, err := h.Do(t.Context(), &indirector.Request{
					Indirection: "file_metadata", Verb: indirector.Find, Key: tt.key, Terminus: terminus,
					Remote: &indirector.Remote{Node: "web01.example.test", Authenticated: true},
				})
				if got := indirector.Message(err); got != tt.message {
					t.Errorf("got %q, want %q", got, tt.message)
				}
				if strings.HasPrefix(tt.message, "Not") {
					contains(t, h.story(), "there is no mount \"nomount\" (fileserver.conf)")
				}
			})
		}
	}
}

// TestPlaceholders expands paths by the name of the client. Rule TERM-FSRV-04.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"fileserver.conf":                 "[short]\npath " + dir + "/s/%h\n[long]\npath " + dir + "/l/%H/%%\n[domain]\npath " + dir + "/d/%d/%x\n",
		"s/web01/f":                       "1",
		"l/web01.example.test/%/f":        "2",
		"d/example.test/%x/f":             "3",
		"l/nodots/%/f":                    "4",
		"d/nodots/%x/f":                   "5",
		"s/" + short(t) + "/of-this-host": "6",
	})
	h := newFixture(t, values{"fileserverconfig": dir + "/fileserver.conf"}, nil)
	ask := func(node, key string) error {
		req := &indirector.Request{Indirection: "file_metadata", Verb: indirector.Find, Key: key, Terminus: "file_server"}
		if node != "" {
			req.Remote = &indirector.Remote{Node: node}
		}
		_, err := h.Do(t.Context(), req)
		return err
	}
	for _, q := range [][2]string{
		{"web01.example.test", "short/f"},
		{"web01.example.test", "long/f"},
		{"web01.example.test", "domain/f"},
		{"nodots", "long/f"},
		{"nodots", "domain/f"},
		{"", "short/of-this-host"},
	} {
		if err := ask(q[0], q[1]); err != nil {
			t.Errorf("%q asks for %s: %v", q[0], q[1], err)
		}
	}
	if lines := h.logs.Take(); len(lines) != 1 || lines[0].Message != "No client; expanding '"+dir+"/s/%h' with local host" {
		t.Errorf("got the log %v", lines)
	}
	for _, node := range []string{"..", "../../etc", "a/b"} {
		if err := ask(node, "long/f"); indirector.Message(err) != "Cannot find file: Invalid client name '"+node+"'" {
			t.Errorf("%q: got %v; a client must not choose a directory", node, err)
		}
	}
}

func short(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ = strings.Cut(name, ".")
	return name
}

// TestConfigurationIsReread changes fileserver.conf under a server.
// Rule TERM-FSRV-04.
func TestConfigurationIsReread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf := filepath.Join(dir, "fileserver.conf")
	write(t, dir, map[string]string{"a/f": "x", "b/f": "y"})
	now := time.Unix(1e9, 0)
	var log terminustest.Log
	env := indirector.Env{
		Indirection: "file_metadata", Terminus: "file_server", Settings: values{"fileserverconfig": conf, "filetimeout": "15s"},
		Log: slog.New(&log), Now: func() time.Time { return now }, Go: func(f func()) { go f() },
	}
	made, err := fileserving.MetadataServer.New(env)
	if err != nil {
		t.Fatal(err)
	}
	finds := func(key string) bool {
		_, err := made.(indirector.Finder).Find(t.Context(), &indirector.Request{Verb: indirector.Find, Key: key})
		if err != nil && !errors.Is(err, indirector.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	set := func(text string) {
		if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if finds("m/f") {
		t.Error("there is no configuration yet")
	}
	set("[m]\npath " + dir + "/a\n")
	now = now.Add(14 * time.Second)
	if finds("m/f") {
		t.Error("the file is believed unchanged for 15 seconds")
	}
	now = now.Add(time.Second)
	if !finds("m/f") {
		t.Error("the file is there and was not read")
	}
	set("[other]\npath " + dir + "/b\nnonsense\n")
	now = now.Add(15 * time.Second)
	if !finds("m/f") || finds("other/f") {
		t.Error("a file with an error must leave the old configuration")
	}
	if lines := log.Take(); len(lines) != 1 || !strings.HasSuffix(lines[0].Message, "line: 3): 'nonsense'; using old configuration") {
		t.Errorf("got the log %v", lines)
	}
	if err := os.Remove(conf); err != nil {
		t.Fatal(err)
	}
	now = now.Add(15 * time.Second)
	if !finds("m/f") {
		t.Error("without a file the old configuration stays")
	}
	set("[other]\npath " + dir + "/b\n")
	now = now.Add(15 * time.Second)
	if finds("m/f") || !finds("other/f") {
		t.Error("the new configuration does not count")
	}
}

// TestMerged lets two modules ship the same file. Rule TERM-FSRV-03, S-24.
func TestMerged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"one/a/lib/facter/x.rb": "of a", "one/a/lib/facter/only_a.rb": "", "two/b/lib/facter/x.rb": "of b", "two/b/lib/facter/only_b.rb": "",
		"two/a/lib/facter/hidden.rb": "a module of that name came before", "two/Bad/lib/y": "no name of a module", "two/c/files/f": "",
	})
	h := newFixture(t, values{"modulepath": dir + "/one:" + dir + "/missing:" + dir + "/two"}, nil)
	found, err := h.search(t, "file_server", "plugins", option("recurse", true))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range found {
		got = append(got, strings.TrimPrefix(m.Path, dir)+" "+m.RelativePath)
	}
	slices.Sort(got)
	want := []string{"/one/a/lib .", "/one/a/lib facter", "/one/a/lib facter/only_a.rb", "/one/a/lib facter/x.rb", "/two/b/lib facter/only_b.rb"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	contains(t, h.story(), "merged mount: facter/x.rb: a wins over b by modulepath order", "1 file hidden", dir+"/one/a wins over "+dir+"/two/b")

	if m, err := h.find(t, "file_server", "plugins/facter/x.rb"); err != nil || m.Path != dir+"/one/a/lib/facter/x.rb" {
		t.Errorf("got %v, %v; want that of a", m, err)
	}
	contains(t, h.story(), "two modules have this file: a wins over b by modulepath order", "loses "+dir+"/two/b")

	// No module has any: the client gets an empty directory, not an error.
	found, err = h.search(t, "file_server", "locales", option("recurse", true))
	if err != nil || len(found) != 1 || found[0].Path != dir+"/one" || found[0].RelativePath != "." {
		t.Errorf("got %v, %v; want the first directory of the modulepath alone", found, err)
	}
}

// TestModules looks at metadata.json, which decides whether there is a module.
func TestModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{}
	for name, metadata := range map[string]string{
		"good": `{"source":"s","author":"a","version":"1","license":"l","dependencies":[]}`, "empty": `{}`,
		"half": `{"name":"x"}`, "wrong": `{"source":"s","author":"a","version":"1","license":"l","dependencies":{}}`, "broken": `{`,
	} {
		files[name+"/metadata.json"], files[name+"/files/f"] = metadata, "x"
	}
	write(t, dir, files)
	for _, tt := range []struct{ module, strict, log string }{
		{"good", "warning", ""},
		{"empty", "warning", ""},
		{"half", "warning", "No source module metadata provided for half"},
		{"wrong", "warning", "The value for the key dependencies in the file metadata.json of the module wrong must be an array, not: '{}'"},
		{"broken", "warning", "broken has an invalid and unparsable metadata.json file. The parse error: unexpected end of JSON input"},
		{"broken", "error", "broken has an invalid and unparsable metadata.json file. The parse error: unexpected end of JSON input"},
		{"broken", "off", ""},
	} {
		t.Run(tt.module+" "+tt.strict, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, values{"modulepath": dir, "strict": tt.strict}, nil)
			_, err := h.find(t, "file_server", "modules/"+tt.module+"/f")
			lines := h.logs.Take()
			served := tt.log == "" || tt.module == "broken" && tt.strict == "warning"
			if (err == nil) != served || tt.log == "" && len(lines) > 0 || tt.log != "" && (len(lines) != 1 || lines[0].Message != tt.log) {
				t.Errorf("got %v and the log %v; want %q", err, lines, tt.log)
			}
		})
	}
}

// TestOtherEnvironment finds the modules of an environment that is not the
// current one. Rule TERM-FSRV-03.
func TestOtherEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"envs/plain/modules/m/files/f": "1", "base/m2/files/f": "2",
		"envs/custom/environment.conf": "# x\nmanifest = site.pp\nmodulepath = site:$codedir/$environment:$basemodulepath\n", "envs/custom/site/m/files/f": "3",
		"$environment/m3/files/f": "4", // Puppet leaves that variable as it is
	})
	h := newFixture(t, values{
		"environment": "production", "basemodulepath": dir + "/base", "environmentpath": dir + "/envs", "codedir": dir,
	}, func(string) error { return nil })
	for key, env := range map[string]string{"modules/m/f": "plain", "modules/m2/f": "plain", "modules/m3/f": "custom"} {
		if _, err := h.Do(t.Context(), &indirector.Request{Indirection: "file_metadata", Verb: indirector.Find, Key: key, Environment: env, Terminus: "file_server"}); err != nil {
			t.Errorf("%s in %s: %v", key, env, err)
		}
	}
	resp, err := h.Do(t.Context(), &indirector.Request{Indirection: "file_metadata", Verb: indirector.Find, Key: "modules/m/f", Environment: "custom", Terminus: "file_server"})
	if err != nil || resp.Instance().Key() != dir+"/envs/custom/site/m/files/f" {
		t.Errorf("got %v, %v", resp, err)
	}
}

// TestKeys tries to get out of a mount. Rule TERM-FSRV-01.
func TestKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"m/f": "x", "m/sub/x": "x", "secret": "s", "fileserver.conf": "[m]\npath " + dir + "/m\n"})
	h := newFixture(t, values{"fileserverconfig": dir + "/fileserver.conf", "modulepath": dir}, nil)
	for key, message := range map[string]string{
		"m/../secret":                   "Cannot find file: Invalid relative path '../secret'",
		"m/sub/../../secret":            "Cannot find file: Invalid relative path 'sub/../../secret'",
		"m/..":                          "Cannot find file: Invalid relative path '..'",
		"../secret":                     "Cannot find file: Invalid mount '..'",
		"/" + "m/f":                     "Cannot find file: Invalid mount ''",
		"m/%2e%2e/secret":               "",
		"m/..%2fsecret":                 "",
		`m/..\secret`:                   "",
		"m/.../secret":                  "",
		"m/\xc0\xae\xc0\xae/s":          "",
		"m/f\x00":                       "pathname contains null byte",
		"\xff/f":                        "Cannot find file: Invalid mount '\xff'",
		"modules/../m/f":                "Cannot find file: Invalid relative path '../m/f'",
		"modules/m\n/f":                 "",
		"m\nx/f":                        "",
		"m/" + strings.Repeat("n", 256): "",
		"m/f/g":                         "",
	} {
		for _, verb := range []indirector.Verb{indirector.Find, indirector.Search} {
			_, err := h.Do(t.Context(), &indirector.Request{Indirection: "file_metadata", Verb: verb, Key: key, Terminus: "file_server"})
			if absent := errors.Is(err, indirector.ErrNotFound); message == "" && !absent || message != "" && indirector.Message(err) != message {
				t.Errorf("%v %q: got %v, want %q", verb, key, err, message)
			}
		}
	}
	if _, err := h.find(t, "file_server", "m/%66"); !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("S-45: got %v", err)
	}
	contains(t, h.story(), "%66 is taken literally: write \"f\" in the source")
}

// TestOptions tries what the options take. Rules TERM-MD-01,
// TERM-MD-02, TERM-MD-03, TERM-MD-04, TERM-MD-05.
func TestOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"f": "x", "link": "-> f", "d/g": "y"})
	if err := os.Chmod(dir+"/f", 0o640); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(dir+"/fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	h := newFixture(t, values{"digest_algorithm": "md5"}, nil)
	for _, tt := range []struct {
		rule, path string
		options    []indirector.Option
		want       string // type, mode, checksum
	}{
		{"TERM-MD-01 links=ignore is manage", "link", []indirector.Option{option("links", "ignore")}, "link 644 {md5}9dd4e461268c8034f5c8564e155c67a6"},
		{"TERM-MD-02 follow", "link", []indirector.Option{option("links", "follow")}, "file 644 {md5}9dd4e461268c8034f5c8564e155c67a6"},
		{"TERM-MD-03 use", "f", []indirector.Option{option("source_permissions", "use")}, "file 640 {md5}9dd4e461268c8034f5c8564e155c67a6"},
		{"TERM-MD-03 false is nothing", "f", []indirector.Option{option("source_permissions", false)}, "file 644 {md5}9dd4e461268c8034f5c8564e155c67a6"},
		{"TERM-MD-04 fifo", "fifo", nil, "fifo 644 {none}"},
		{"TERM-MD-04 none", "f", []indirector.Option{option("checksum_type", "none")}, "file 644 {none}"},
		{"TERM-MD-05", "f", nil, "file 644 {md5}9dd4e461268c8034f5c8564e155c67a6"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			m, err := h.find(t, "file", dir+"/"+tt.path, tt.options...)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s %o %s", m.Type, m.Mode.Int(), m.Checksum); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, tt := range []struct{ name, value, want string }{
		{"source_permissions", "x", "Unsupported source_permission x"},
		{"source_permissions", "", "Unsupported source_permission "},
		{"checksum_type", "x", "Unsupported checksum type x"},
		{"checksum_type", "", "Unsupported checksum type "},
		{"links", "x", ":links can only be set to :manage or :follow"},
		{"links", "", ":links can only be set to :manage or :follow"},
	} {
		if _, err := h.find(t, "file", dir+"/f", option(tt.name, tt.value)); indirector.Message(err) != tt.want {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
	const huge = "99999999999999999999" // fits no machine's integers, which Ruby's need not
	const notLimit = "comparison of Integer with String failed"
	number, _ := new(big.Int).SetString(huge, 10)
	for _, tt := range []struct {
		name          string
		value         any
		recurse, want string
	}{
		{"links", "x", "false", "Invalid :links value 'x'"},
		{"links", "", "false", "Invalid :links value ''"},
		{"recurselimit", "x", "true", notLimit},
		{"recurselimit", "", "true", notLimit},
		{"recurselimit", "-1", "true", notLimit},
		{"recurselimit", "infinite", "true", notLimit}, // a text is not the symbol
		{"recurselimit", "x", "false", ""},
		{"max_files", "-2", "false", "comparison of String with 0 failed"},
		{"max_files", "", "false", "comparison of String with 0 failed"},
		{"max_files", "-1", "true", ""},
		{"max_files", huge, "true", ""},
		{"max_files", number, "true", ""},
		{"recurselimit", huge, "true", ""},
		{"recurselimit", number, "true", ""},
		{"recurselimit", 1.5, "true", ""},
		{"max_files", 1000.5, "true", ""},
		{"unknown", "", "1", "Fileset recurse parameter must not be a number anymore, please use recurselimit"},
	} {
		_, err := h.search(t, "file", dir, option(tt.name, tt.value), option("recurse", tt.recurse))
		if got := indirector.Message(err); got != tt.want {
			t.Errorf("%s=%v: got %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
	if _, err := h.find(t, "file", "rules_test.go"); indirector.Message(err) != "Paths must be fully qualified" {
		t.Errorf("relative path: got %v", err)
	}
	if _, err := h.search(t, "file", "rules_test.go"); indirector.Message(err) != "Fileset paths must be fully qualified: rules_test.go" {
		t.Errorf("relative path: got %v", err)
	}
}

// TestHostileTrees searches what is not made to be searched.
func TestHostileTrees(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"loop/a/f": "x", "loop/a/up": "-> ..", "self": "-> self", "odd/new\nline": "1", "odd/\xff\xfe": "2", "odd/" + strings.Repeat("n", 255): "3", "odd/ ": "4",
		"outside/secret": "s", "out/link": "-> ../outside", "dev/null": "-> /dev/null", "dev/zero": "-> /dev/zero",
		"mine/f": "x", "fileserver.conf": "[out]\npath " + dir + "/out\n",
	})
	h := newFixture(t, values{"fileserverconfig": dir + "/fileserver.conf"}, nil)
	everything := option("recurse", true)

	t.Run("a loop of directories", func(t *testing.T) {
		_, err := h.search(t, "file", dir+"/loop", everything, option("links", "follow"))
		if got, want := indirector.Message(err), "Too many levels of symbolic links @ rb_file_s_stat - "+dir+"/loop/a/up"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		contains(t, h.story(), "leads back to "+dir+"/loop")
		found, err := h.search(t, "file", dir+"/loop", everything, option("links", "follow"), option("recurselimit", 6))
		if err != nil || len(found) != 10 {
			t.Errorf("with a limit: got %d, %v; want 10", len(found), err)
		}
		if found, err := h.search(t, "file", dir+"/loop", everything); err != nil || len(found) != 4 {
			t.Errorf("links=manage: got %d, %v; want 4", len(found), err)
		}
	})
	t.Run("a link to itself", func(t *testing.T) {
		if _, err := h.find(t, "file", dir+"/self"); !errors.Is(err, indirector.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		contains(t, h.story(), "too many levels of symbolic links")
	})
	t.Run("odd names", func(t *testing.T) {
		found, err := h.search(t, "file", dir+"/odd", everything)
		if err != nil || len(found) != 5 {
			t.Fatalf("got %d, %v; want 5", len(found), err)
		}
		for _, m := range found[1:] {
			if !strings.HasPrefix(m.Checksum, "{sha256}") {
				t.Errorf("%q: got %q", m.RelativePath, m.Checksum)
			}
		}
	})
	t.Run("a link out of the mount is followed and said", func(t *testing.T) {
		if _, err := h.find(t, "file_server", "out/link/secret"); err != nil {
			t.Error(err)
		}
		contains(t, h.story(), "leads out of the mount to "+dir+"/outside/secret")
	})
	t.Run("devices", func(t *testing.T) {
		_, err := h.find(t, "file", "/dev/zero", option("links", "follow"))
		if got := indirector.Message(err); got != "Cannot manage files of type characterSpecial" {
			t.Errorf("got %q", got)
		}
		found, err := h.search(t, "file", dir+"/dev", everything)
		if err != nil || len(found) != 3 || found[1].Checksum != "" || found[2].Checksum != "" {
			t.Errorf("got %v, %v; a link to a device has no checksum", found, err)
		}
		if _, err := fileserving.Path("/dev/zero").Open(); indirector.Message(err) != "Cannot manage files of type characterSpecial" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a directory that may not be read", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root may read everything")
		}
		if err := os.Chmod(dir+"/mine", 0o311); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Chmod(dir+"/mine", 0o755); err != nil {
				t.Error(err)
			}
		})
		_, err := h.search(t, "file", dir+"/mine", everything)
		if got, want := indirector.Message(err), "Permission denied @ dir_initialize - "+dir+"/mine"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("max_files", func(t *testing.T) {
		write(t, dir, func() map[string]string {
			m := map[string]string{}
			for i := range 1001 {
				m[fmt.Sprintf("many/%04d", i)] = ""
			}
			return m
		}())
		h.logs.Take()
		if found, err := h.search(t, "file", dir+"/many", everything, option("checksum_type", "none")); err != nil || len(found) != 1002 {
			t.Errorf("got %d, %v", len(found), err)
		}
		if lines := h.logs.Take(); len(lines) != 1 || !strings.HasPrefix(lines[0].Message, "The directory '"+dir+"/many' contains 1001 entries, which exceeds the default soft limit 1000 and may") {
			t.Errorf("got the log %v", lines)
		}
		contains(t, h.story(), dir+"/many holds 1001 entries; without max_files Puppet warns above 1000")
		// An explicit limit is held against each directory as a whole, before a file
		// is looked at: this one cannot be.
		write(t, dir, map[string]string{"many/zzz": "-> nowhere"})
		for _, tt := range []struct {
			limit any
			err   string
		}{
			{1001, "The directory '" + dir + "/many' contains 1002 entries, which exceeds the limit of 1001 specified by the max_files parameter for this resource. The"},
			{"1", "The directory '" + dir + "/many' contains 1002 entries, which exceeds the limit of 1 specified by the max_files parameter for this resource. The"},
			{1002, "No such file or directory"},
			{"-1", "No such file or directory"},
		} {
			yielded := 0
			_, err := h.Do(t.Context(), &indirector.Request{
				Indirection: "file_metadata", Verb: indirector.Search, Key: dir + "/many", Terminus: "file",
				Options: []indirector.Option{everything, option("links", "follow"), option("max_files", tt.limit)},
				Wants:   &indirector.Wants{Yield: func(indirector.Instance) error { yielded++; return nil }},
			})
			if !strings.HasPrefix(indirector.Message(err), tt.err) || strings.Contains(tt.err, "exceeds") != (yielded == 0) {
				t.Errorf("%v: got %v after %d, want %q", tt.limit, err, yielded, tt.err)
			}
		}
		if lines := h.logs.Take(); len(lines) != 0 {
			t.Errorf("with a limit got the log %v", lines)
		}
	})
}

// TestContents reads what file_content finds, a large sparse file without
// taking it into memory.
func TestContents(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"f": "read me", "d/x": ""})
	h := newFixture(t, values{}, nil)
	find := func(key string) *model.FileContent {
		t.Helper()
		resp, err := h.Do(t.Context(), &indirector.Request{Indirection: "file_content", Verb: indirector.Find, Key: key, Terminus: "file"})
		if err != nil {
			t.Fatal(err)
		}
		return resp.Instance().(*model.FileContent)
	}
	c := find(dir + "/f")
	for range 2 {
		if b, err := contents(c); err != nil || string(b) != "read me" || c.Contents.Size() != 7 {
			t.Errorf("got %q of %d, %v", b, c.Contents.Size(), err)
		}
	}
	if err := os.Remove(dir + "/f"); err != nil {
		t.Fatal(err)
	}
	if _, err := contents(c); indirector.Message(err) != "No such file or directory @ rb_sysopen - "+dir+"/f" || c.Contents.Size() != -1 {
		t.Errorf("a file that has gone: got %v", err)
	}
	if _, err := contents(find(dir + "/d")); indirector.Message(err) != "Is a directory @ io_fread - "+dir+"/d" {
		t.Errorf("a directory: got %v", err)
	}

	const size = 256 << 20
	large, err := os.Create(dir + "/large")
	if err == nil {
		err = errors.Join(large.Truncate(size), large.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := h.find(t, "file", dir+"/large")
	if err != nil || m.Checksum != "{sha256}a6d72ac7690f53be6ae46ba88506bd97302a093f7108472bd9efc3cefda06484" {
		t.Errorf("got %v, %v", m, err)
	}
	r, err := find(dir + "/large").Contents.Open()
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, r)
	if err = errors.Join(err, r.Close()); err != nil || n != size {
		t.Errorf("got %d bytes, %v", n, err)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 4<<20 {
		t.Errorf("%d bytes of memory for a file of %d", taken, size)
	}
}

// TestFirstErrorCounts lets several files fail: the first in order is reported,
// as if nothing were done at the same time.
func TestFirstErrorCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d/%03d", i)] = "x"
		files[fmt.Sprintf("d/%03d-dangling", i)] = "-> nothing"
	}
	write(t, dir, files)
	h := newFixture(t, values{}, nil)
	first := ""
	for range 20 {
		_, err := h.search(t, "file", dir+"/d", option("recurse", true), option("links", "follow"))
		got := indirector.Message(err)
		if !strings.HasPrefix(got, "No such file or directory @ rb_file_s_stat - "+dir+"/d/") || first != "" && got != first {
			t.Fatalf("got %q, before %q", got, first)
		}
		first = got
	}
}

// TestCancelled stops a search and the hashing of a large file.
func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := os.Create(dir + "/large")
	if err == nil {
		err = errors.Join(f.Truncate(1<<40), f.Close())
	}
	if err != nil {
		t.Skipf("the file system has no sparse file of a TiB: %v", err)
	}
	for _, verb := range []indirector.Verb{indirector.Find, indirector.Search} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		h := newFixture(t, values{}, nil)
		_, err := h.Do(ctx, &indirector.Request{Indirection: "file_metadata", Verb: verb, Key: dir + "/large", Terminus: "file"})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: got %v, want that the time is over", verb, err)
		}
	}
}

// TestVanishing searches a tree that is removed meanwhile: the search succeeds
// with what was there, or reports what has gone.
func TestVanishing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("d/%d/f%d", i%20, i)] = "x"
	}
	h := newFixture(t, values{}, nil)
	for range 5 {
		write(t, dir, files)
		gone := make(chan error)
		go func() { gone <- os.RemoveAll(dir + "/d") }()
		found, err := h.search(t, "file", dir, option("recurse", true))
		for _, m := range found {
			if m.Type == "file" && !strings.HasPrefix(m.Checksum, "{sha256}") {
				t.Errorf("%s: got the checksum %q", m.RelativePath, m.Checksum)
			}
		}
		if got := indirector.Message(err); err != nil && !strings.HasPrefix(got, "No such file or directory @ ") {
			t.Errorf("got %q", got)
		}
		if err := <-gone; err != nil {
			t.Fatal(err)
		}
	}
}

// TestLimits meets a configuration that is too large, and a link to a pipe
// without a writer. Rules TERM-FSRV-04, TERM-MD-04.
func TestLimits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"fileserver.conf": strings.Repeat("# a comment\n", 100_000), "link": "-> pipe"})
	if err := syscall.Mkfifo(dir+"/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	h := newFixture(t, values{"fileserverconfig": dir + "/fileserver.conf"}, nil)
	if _, err := h.find(t, "file_server", "m/f"); !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	want := "Error parsing fileserver configuration: " + dir + "/fileserver.conf has 1200000 bytes; more than 1048576 are not read; using old configuration"
	if lines := h.logs.Take(); len(lines) != 1 || lines[0].Message != want {
		t.Errorf("got the log %v, want %q", lines, want)
	}
	if m, err := h.find(t, "file", dir+"/link"); err != nil || m.Type != "link" || m.Checksum != "" {
		t.Errorf("got %v, %v; want a link without a checksum", m, err)
	}
	if _, err := fileserving.Path(dir + "/link").Open(); indirector.Message(err) != "Cannot manage files of type fifo" {
		t.Errorf("contents of a pipe: got %v", err)
	}
}

// Contents through a link that leads nowhere fail when they are found if links
// are followed, and when they are read if not, in the words of Ruby's calls.
func TestDanglingLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "fileserver.conf")
	if err := os.WriteFile(conf, []byte("[m]\npath "+dir+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newFixture(t, values{"fileserverconfig": conf}, nil)
	for links, want := range map[string]string{
		"follow": "No such file or directory @ rb_file_s_stat - " + link,
		"manage": "No such file or directory @ rb_sysopen - " + link,
	} {
		req := indirector.NewRequest("file_content", indirector.Find, "m/link", nil, []indirector.Option{option("links", links)})
		req.Terminus = "file_server"
		resp, err := h.Do(t.Context(), req)
		if err == nil {
			_, err = contents(resp.Value.(*model.FileContent))
		}
		if got := indirector.Message(err); got != want {
			t.Errorf("links=%s: got %q, want %q", links, got, want)
		}
	}
}
