package facter_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/termini/facter"
)

// write makes files in a new directory. A name that ends with * is made
// executable.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if n, ok := strings.CutSuffix(name, "*"); ok {
			name, mode = n, 0o755
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := child.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func collect(t testing.TB, o facter.Options) (data.Value, []facter.Problem) {
	t.Helper()
	if o.Environ == nil {
		o.Environ = []string{"PATH=" + os.Getenv("PATH")}
	}
	v, problems, err := facter.Collect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return v, problems
}

// about returns the messages of the problems with files below dir.
func about(dir string, problems []facter.Problem) []string {
	var got []string
	for _, p := range problems {
		if rel, err := filepath.Rel(dir, p.Path); err == nil && !strings.HasPrefix(rel, "..") {
			got = append(got, rel+": "+strings.ReplaceAll(p.Message, dir+"/", ""))
		}
	}
	return got
}

// external returns the facts of v that are not core facts, as text.
func external(v data.Value) string {
	core := []string{
		"dmi", "disks", "facterversion", "filesystems", "fips_enabled", "hypervisors", "identity", "is_virtual",
		"kernelmajversion", "kernelrelease", "kernelversion", "load_averages", "memory", "mountpoints", "networking",
		"os", "partitions", "path", "processors", "ssh", "system_uptime", "timezone", "virtual",
	}
	return v.Without(core...).Without("kernel").String()
}

func TestExternalFiles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		files    map[string]string
		want     string
		problems []string // prefixes
	}{
		{"none", nil, `{}`, nil},
		{"yaml", map[string]string{"a.yaml": "a: 1\nb: [x, {c: 2.5}]\nd: true\n"}, `{"a"=>1, "b"=>["x", {"c"=>2.5}], "d"=>true}`, nil},
		{"json", map[string]string{"a.json": `{"a":{"b":[1,2.0,null,"x"]}}`}, `{"a"=>{"b"=>[1, 2.0, nil, "x"]}}`, nil},
		{"last of equal JSON keys", map[string]string{"a.json": `{"a":1,"a":2}`}, `{"a"=>2}`, nil},
		{"large JSON integer", map[string]string{"a.json": `{"a":123456789012345678901}`}, `{"a"=>123456789012345678901}`, nil},
		{"txt", map[string]string{"a.txt": "a=1\nbad\n=x\nb==c\nd=e=f\n g = h \nk=\r\n"}, `{" g "=>" h ", "a"=>"1", "b"=>"=c", "d"=>"e=f"}`, nil},
		{"last of equal txt keys", map[string]string{"a.txt": "a=1\na=2\n"}, `{"a"=>"2"}`, nil},
		{"names in small letters", map[string]string{"a.txt": "FOO=Bar\n"}, `{"foo"=>"Bar"}`, nil},
		{"names with points", map[string]string{"a.yaml": "a.b: 1\n"}, `{"a.b"=>1}`, nil},
		{"names that are no text", map[string]string{"a.yaml": "1: one\n"}, `{"1"=>"one"}`, nil},
		{"extension in any case", map[string]string{"a.TXT": "a=1\n"}, `{"a"=>"1"}`, nil},
		{"time keeps its spelling", map[string]string{"a.yaml": "a: 2020-01-02 03:04:05\nb: 1\n"}, `{"a"=>"2020-01-02 03:04:05", "b"=>1}`, nil},
		{"date", map[string]string{"a.yaml": "a: 2020-01-02\n"}, `{"a"=>"2020-01-02"}`, nil},
		{"last file wins", map[string]string{"a.txt": "a=1\n", "b.txt": "a=2\n"}, `{"a"=>"2"}`, nil},
		{"nil does not win", map[string]string{"a.txt": "a=1\n", "b.yaml": "a:\n"}, `{"a"=>"1"}`, nil},
		{"nil", map[string]string{"a.yaml": "a:\nb: {c: }\n"}, `{"b"=>{"c"=>nil}}`, nil},
		{"list", map[string]string{"a.yaml": "- a\n- b\n"}, `{}`, nil},
		{"empty", map[string]string{"a.yaml": "", "b.txt": ""}, `{}`, nil},
		{"hidden", map[string]string{".a.yaml": "a: 1\n"}, `{}`, nil},
		{"other extension", map[string]string{"README": "a=1\n"}, `{}`, nil},
		{"yml", map[string]string{"a.yml": "a: 1\n"}, `{}`, []string{"a.yml: not read: Facter reads .yaml"}},
		{"directory", map[string]string{"a.yaml/x": ""}, `{}`, []string{"a.yaml: Failed to handle a.yaml as LegacyFacter::Util::Parser::YamlParser facts: is no regular file"}},
		{"empty JSON", map[string]string{"a.json": ""}, `{}`, []string{"a.json: Failed to handle a.json as LegacyFacter::Util::Parser::JsonParser facts: unexpected end"}},
		{
			"scalar",
			map[string]string{"a.yaml": "text\n", "b.json": "5"},
			`{}`,
			[]string{"b.json: Failed to handle b.json as LegacyFacter::Util::Parser::JsonParser facts: a hash of facts was expected, got a integer", "a.yaml: Failed to handle a.yaml as LegacyFacter::Util::Parser::YamlParser facts: a hash of facts was expected, got a string"},
		},
		{"bad JSON", map[string]string{"a.json": "{\n\"a\" 1}", "b.txt": "b=1"}, `{"b"=>"1"}`, []string{"a.json: Failed to handle a.json as LegacyFacter::Util::Parser::JsonParser facts: unexpected token at '1}' at line 2"}},
		{"JSON with more behind it", map[string]string{"a.json": "{} {}"}, `{}`, []string{"a.json: Failed to handle a.json as LegacyFacter::Util::Parser::JsonParser facts: unexpected token"}},
		{"bad YAML", map[string]string{"a.yaml": "a: [\n", "b.txt": "b=1"}, `{"b"=>"1"}`, []string{"a.yaml: Failed to handle a.yaml as LegacyFacter::Util::Parser::YamlParser facts: "}},
		{
			"no UTF-8",
			map[string]string{"a.txt": "a=\xff\nb=1\n", "b.yaml": "c: \xff\n", "c.json": "{\"d\":\"\xff\"}"},
			`{}`,
			[]string{"c.json: Failed to handle c.json as LegacyFacter::Util::Parser::JsonParser facts: is not valid UTF-8", "b.yaml: Failed to handle b.yaml as LegacyFacter::Util::Parser::YamlParser facts: is not valid UTF-8", "a.txt: Failed to handle a.txt as LegacyFacter::Util::Parser::TextParser facts: is not valid UTF-8"},
		},
		{"deep JSON", map[string]string{"a.json": `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}"}, `{}`, []string{"a.json: Failed to handle a.json as LegacyFacter::Util::Parser::JsonParser facts: "}},
		{"deep YAML", map[string]string{"a.yaml": "a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)}, `{}`, []string{"a.yaml: Failed to handle a.yaml as LegacyFacter::Util::Parser::YamlParser facts: "}},
		{"endless number", map[string]string{"a.json": `{"a":` + strings.Repeat("9", 1<<20) + "}"}, `{}`, []string{"a.json: Failed to handle a.json as LegacyFacter::Util::Parser::JsonParser facts: an integer of 1048576 digits"}},
		{"large file", map[string]string{"a.txt": "a=" + strings.Repeat("x", 9<<20)}, `{}`, []string{"a.txt: Failed to handle a.txt as LegacyFacter::Util::Parser::TextParser facts: larger than 8 MiB"}},
		{"many aliases", map[string]string{"a.yaml": bomb()}, `{}`, []string{"a.yaml: Failed to handle a.yaml as LegacyFacter::Util::Parser::YamlParser facts: line 6 column 14: the aliases stand for more than"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := write(t, tt.files)
			v, problems := collect(t, facter.Options{ExternalDirs: []string{dir}})
			if got := external(v); got != tt.want {
				t.Errorf("got %.200s, want %s", got, tt.want)
			}
			got := about(dir, problems)
			if !slices.EqualFunc(got, tt.problems, strings.HasPrefix) {
				t.Errorf("got problems %q, want %q", got, tt.problems)
			}
		})
	}
}

// bomb is a small text that is huge once its aliases are followed.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return b.String()
}

func TestExternalPrecedence(t *testing.T) {
	t.Parallel()
	one := write(t, map[string]string{"a.yaml": "a: one\nkernel: ~\nos: {name: Mine}\n"})
	two := write(t, map[string]string{"z.yaml": "a: two\nb: two\n"})
	v, problems := collect(t, facter.Options{
		ExternalDirs: []string{one, two, filepath.Join(one, "missing")},
		Environ:      []string{"FACTER_B=env", "facter_c=small", "FACTERLIB=/lib", "FACTER_bad-name=x", "FACTER_d=\xff", "OTHER=x"},
		Extra:        []data.Pair{data.P("a", data.OfString("extra")), data.P("puppetversion", data.Value{})},
		Legacy:       true,
	})
	for key, want := range map[string]string{"a": "extra", "b": "env", "c": "small", "lib": "/lib", "kernel": kernel(t), "os": `{"name"=>"Mine"}`} {
		if got := v.Get(key).Text(); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	for _, key := range []string{"bad-name", "d", "puppetversion", "other"} {
		if got, ok := v.Lookup(key); ok {
			t.Errorf("%s: got %s, want no such fact", key, got)
		}
	}
	if v.Get("osfamily").IsNil() {
		t.Error("an external fact os hides the legacy fact osfamily")
	}
	if got := about(one, problems); got != nil {
		t.Errorf("got problems %q, want none", got)
	}
}

func kernel(t *testing.T) string {
	v, _ := collect(t, facter.Options{})
	return v.Get("kernel").Str()
}

// Executables are made and run one after the other: a file that is open for
// writing in a process forked meanwhile cannot be run.
func TestExternalExecutables(t *testing.T) {
	tests := []struct {
		name     string
		files    map[string]string
		want     string
		problems []string // prefixes
	}{
		{"pairs", map[string]string{"a.sh*": "#!/bin/sh\necho a=1; echo B= 2\n"}, `{"a"=>"1", "b"=>" 2"}`, nil},
		{"yaml", map[string]string{"a*": "#!/bin/sh\necho 'a: {b: 1}'\n"}, `{"a"=>{"b"=>1}}`, nil},
		{"json", map[string]string{"a*": "#!/bin/sh\necho '{\"a\": [1, true]}'\n"}, `{"a"=>[1, true]}`, nil},
		{"nothing", map[string]string{"a*": "#!/bin/sh\n"}, `{}`, nil},
		{"noise", map[string]string{"a*": "#!/bin/sh\necho hello\n"}, `{}`, []string{"a: Fact file a was parsed but no key=>value data was returned"}},
		{"extension first", map[string]string{"a.txt*": "#!/bin/sh\necho a=1\n"}, `{"echo a"=>"1"}`, nil},
		{"not for this system", map[string]string{"a.exe*": "#!/bin/sh\necho a=1\n"}, `{}`, nil},
		{
			"stderr and exit code",
			map[string]string{"a*": "#!/bin/sh\necho a=1; echo oops >&2; exit 3\n"},
			`{"a"=>"1"}`,
			[]string{"a: Command a completed with the following stderr message: oops", "a: exit status 3"},
		},
		{"not run at all", map[string]string{"a*": "#!/no/such/program\n"}, `{}`, []string{"a: no such file"}},
		{"blank in the name, no shell", map[string]string{"a b;$(touch x)*": "#!/bin/sh\necho \"a=$#\"\n"}, `{"a"=>"0"}`, nil},
		{"C locale, no input", map[string]string{"a*": "#!/bin/sh\nread x\necho \"a=$LC_ALL$x\"\n"}, `{"a"=>"C"}`, nil},
		{"environment", map[string]string{"a*": "#!/bin/sh\necho \"a=$MARK\"\n"}, `{"a"=>"seen"}`, nil},
		{"no UTF-8", map[string]string{"a*": "#!/bin/sh\nprintf 'a=\\377'\n"}, `{}`, []string{"a: its output is not valid UTF-8"}},
		{
			"too much",
			map[string]string{"a*": "#!/bin/sh\nwhile :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1; done\n", "b.txt": "b=1"},
			`{"b"=>"1"}`,
			[]string{"a: more than 8 MiB of output"},
		},
		{
			"endless stderr",
			map[string]string{"a*": "#!/bin/sh\ni=0; while [ $i -lt 3000 ]; do echo xxxxxxxxxxxxxxxxxxxxxxxxxx >&2; i=$((i+1)); done; echo a=1\n"},
			`{"a"=>"1"}`,
			[]string{"a: Command a completed with the following stderr message: xxx"},
		},
		{
			"left behind",
			map[string]string{"a*": "#!/bin/sh\necho a=1\nsleep 60 &\n"},
			`{"a"=>"1"}`,
			[]string{"a: ended, but a process that it left behind"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, tt.files)
			v, problems := collect(t, facter.Options{
				ExternalDirs: []string{dir},
				Environ:      []string{"PATH=" + os.Getenv("PATH"), "MARK=seen"},
			})
			if got := external(v); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := about(dir, problems); !slices.EqualFunc(got, tt.problems, strings.HasPrefix) {
				t.Errorf("got problems %.300q, want %q", got, tt.problems)
			}
		})
	}
}

// A script that hangs is killed with the child that it waits for.
const hanging = "#!/bin/sh\nsleep 600 &\necho $! > \"$PIDFILE\"\necho a=1\nwait\n"

func TestExecutableHangs(t *testing.T) {
	dir := write(t, map[string]string{"a*": hanging, "b.txt": "b=1"})
	pid := filepath.Join(t.TempDir(), "pid")
	// It may take a busy machine longer to start the script than the script gets:
	// then it gets more.
	for _, limit := range []time.Duration{300 * time.Millisecond, 5 * time.Second, time.Minute} {
		start := time.Now()
		v, problems := collect(t, facter.Options{
			ExternalDirs: []string{dir},
			Timeout:      limit,
			Environ:      []string{"PATH=" + os.Getenv("PATH"), "PIDFILE=" + pid},
		})
		if got, want := external(v), `{"b"=>"1"}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := about(dir, problems), []string{fmt.Sprintf("a: killed: not finished after %s", limit)}; !slices.Equal(got, want) {
			t.Errorf("got problems %q, want %q", got, want)
		}
		if d := time.Since(start); d > limit+2*time.Minute { // the child sleeps for ten
			t.Errorf("took %s", d)
		}
		if _, err := os.Stat(pid); err == nil {
			break
		}
	}
	gone(t, pid)
}

func TestCancelEndsExecutable(t *testing.T) {
	dir := write(t, map[string]string{"a*": hanging})
	pid := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(pid); err == nil {
				cancel(fmt.Errorf("enough"))
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	v, _, err := facter.Collect(ctx, facter.Options{
		ExternalDirs: []string{dir},
		Environ:      []string{"PATH=" + os.Getenv("PATH"), "PIDFILE=" + pid},
	})
	if err == nil || err.Error() != "enough" || !v.IsNil() {
		t.Errorf("got %s and error %v, want nothing and the cause of the end", v, err)
	}
	gone(t, pid)
}

// gone waits until the process whose id is in a file has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return // it was killed before it had started the child
	}
	stat := "/proc/" + strings.TrimSpace(string(b)) + "/stat"
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		b, err := os.ReadFile(stat)
		if err != nil || strings.Contains(string(b), ") Z ") {
			return
		}
	}
	t.Errorf("the process of %s is still there", stat)
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, _, err := facter.Collect(ctx, facter.Options{}); err != context.Canceled || !v.IsNil() {
		t.Errorf("got %s and error %v, want nothing and %v", v, err, context.Canceled)
	}
}

func TestCustomFactsAreProblems(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"role.rb": "Facter.add(:role)", "notes.txt": ""})
	_, problems := collect(t, facter.Options{CustomDirs: []string{dir}})
	if got := about(dir, problems); len(got) != 1 || !strings.HasPrefix(got[0], "role.rb: a custom fact is Ruby") {
		t.Errorf("got problems %q, want one about role.rb", got)
	}
}

func TestCommand(t *testing.T) {
	dir := write(t, map[string]string{
		"facter*": "#!/bin/sh\necho note >&2\necho \"{\\\"args\\\": \\\"$*\\\"}\"\n",
		"bad*":    "#!/bin/sh\necho no; exit 1\n",
		"list*":   "#!/bin/sh\necho '[]'\n",
		"text*":   "#!/bin/sh\necho hello\n",
	})
	tests := []struct {
		name, command string
		o             facter.Options
		want, err     string
	}{
		{"plain", "facter", facter.Options{}, "--json --no-color --no-external-facts", ""},
		{
			"all", "facter",
			facter.Options{Legacy: true, CustomDirs: []string{"c"}, ExternalDirs: []string{"d", "e"}},
			"--json --no-color --show-legacy --custom-dir c --external-dir d --external-dir e", "",
		},
		{"fails", "bad", facter.Options{}, "", "exit status 1"},
		{"list", "list", facter.Options{}, "", "a hash of facts was expected, got a list"},
		{"no JSON", "text", facter.Options{}, "", "unexpected token"},
		{"missing", "missing", facter.Options{}, "", "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Command = filepath.Join(dir, tt.command)
			v, problems, err := facter.Collect(t.Context(), tt.o)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), tt.o.Command) {
					t.Errorf("got error %v, want one with %q that names the command", err, tt.err)
				}
				return
			}
			if err != nil || v.Get("args").Str() != tt.want {
				t.Errorf("got %s, error %v; want arguments %q", v, err, tt.want)
			}
			if len(problems) != 1 || problems[0].Message != "note" {
				t.Errorf("got problems %q, want what is on stderr", problems)
			}
		})
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	v, _ := collect(t, facter.Options{Extra: model.LocalFacts("web01", "8.0.0", true)})
	got := fmt.Sprint(v.Get("clientcert"), v.Get("clientversion"), v.Get("clientnoop"))
	if want := `"web01" "8.0.0" true`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDefaultExternalDirs(t *testing.T) {
	t.Parallel()
	if got := facter.DefaultExternalDirs(true, "/root"); !slices.Contains(got, "/etc/facter/facts.d") {
		t.Errorf("root: got %q", got)
	}
	if got := facter.DefaultExternalDirs(false, "/home/u"); got[0] != "/home/u/.facter/facts.d" {
		t.Errorf("user: got %q", got)
	}
	if got := facter.DefaultExternalDirs(false, ""); got != nil {
		t.Errorf("nobody: got %q, want none", got)
	}
}

func FuzzExternal(f *testing.F) {
	for _, s := range []string{"a: 1", `{"a":1}`, "a=1", "\xff", "a: &x [*x]", "- a", "2020-01-02 03:04:05", "!!binary x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		facter.DecodeAll(s)
	})
}

func BenchmarkCollect(b *testing.B) {
	dir := write(b, map[string]string{"a.yaml": "a: 1\nb: [1, 2]\n", "b.txt": "c=1\n", "c.json": `{"d": {"e": 1}}`})
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := facter.Collect(b.Context(), facter.Options{ExternalDirs: []string{dir}, Legacy: true}); err != nil {
			b.Fatal(err)
		}
	}
}
