package stdlib_test

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/fn/stdlib"
	"indirtui/indirector/language/syntax"
)

// evaluated evaluates a program that sees the module.
func evaluated(t *testing.T, code string, opts stdlib.Options, more eval.Library, how eval.Options) (string, error) {
	t.Helper()
	library := maps.Clone(fn.Library())
	maps.Copy(library, more)
	opts.Library = library
	for name, f := range stdlib.Functions(opts) {
		if library[name] == nil {
			library[name] = f
		}
	}
	prog, report := syntax.Parse(&syntax.Source{Text: code, File: "site.pp"}, syntax.Options{})
	if report.Failure != nil {
		t.Fatal(report.Failure)
	}
	v, err := eval.NewThread(how).Run(t.Context(), eval.Compile(prog, library))
	return eval.Text(v), err
}

// Without files, resources or commands, functions that need them fail, and name themselves.
func TestNothingOfTheMachine(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"loadyaml('/etc/passwd', 'x')":                          "loadyaml()",
		"loadjson('https://x.example', 'x')":                    "loadjson()",
		"glob('/*')":                                            "glob()",
		"validate_cmd('x', '/bin/true')":                        "validate_cmd()",
		"getparam('File[/x]', 'mode')":                          "resources",
		"parsehocon('a = 1')":                                   "parsehocon()",
		"pw_hash('x', 'bcrypt-x', '05$aaaaaaaaaaaaaaaaaaaaaa')": "pw_hash()",
	} {
		_, err := evaluated(t, code, stdlib.Options{}, nil, eval.Options{})
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", code, err, want)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	opts := stdlib.Options{
		Files: fstest.MapFS{
			"etc/a.yaml": {Data: []byte("x: [1, 2]\n")}, "etc/b.json": {Data: []byte(`{"y": 1}`)}, "etc/d/c.yaml": {}, "etc/.hidden": {},
			"m/metadata.json": {Data: []byte(`{"name": "a-m"}`)}, "etc/bad.yaml": {Data: []byte("[")},
		},
		ModuleDir: func(_ *eval.Invocation, name string) (string, bool) { return "/" + name, name == "m" || name == "n" },
		Now:       func() time.Time { return time.Unix(7, 0) },
	}
	for code, want := range map[string]string{
		"loadyaml('/etc/a.yaml')":             "{x => [1, 2]}",
		"loadjson('/etc/b.json')":             "{y => 1}",
		"loadyaml('/etc/bad.yaml', 'usual')":  "usual",
		"loadyaml('/etc/../etc/a.yaml')['x']": "[1, 2]",
		"glob('/etc/*')":                      "[/etc/a.yaml, /etc/b.json, /etc/bad.yaml, /etc/d]",
		"glob(['/etc/{b,a}.*', '/none'])":     "[/etc/b.json, /etc/a.yaml]",
		"glob('/**/*.yaml')":                  "[/etc/a.yaml, /etc/bad.yaml, /etc/d/c.yaml]",
		"load_module_metadata('m')['name']":   "a-m",
		"load_module_metadata('n', true)":     "{}",
		"get_module_path('m')":                "/m",
		"time('UTC')":                         "7",
	} {
		got, err := evaluated(t, code, opts, nil, eval.Options{})
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", code, got, err, want)
		}
	}
}

// ensure_resource and its relatives create what is not there with the same parameters.
func TestResources(t *testing.T) {
	t.Parallel()
	there := map[string]data.Value{"package[vim]": data.OfHash([]data.Pair{data.P("ensure", data.OfString("installed"))})}
	var created []string
	more := eval.Library{"create_resources": &eval.Builtin{Name: "create_resources", Old: true, Ways: []eval.Way{{Params: "Any args*", Do: func(c *eval.Invocation) (data.Value, error) {
		created = append(created, eval.Text(c.Args[0])+" "+eval.Text(c.Args[1]))
		return data.Value{}, nil
	}}}}}
	opts := stdlib.Options{Find: func(_ *eval.Invocation, kind, title string) (data.Value, bool) {
		v, ok := there[strings.ToLower(kind)+"["+title+"]"]
		return v, ok
	}}
	for _, tt := range []struct{ code, want string }{
		{"ensure_packages(['vim', 'curl'])", "Package {curl => {ensure => installed}}"},
		{"ensure_packages('vim', {'ensure' => 'present'})", ""},
		{"ensure_packages({'vim' => {'ensure' => 'absent'}})", "Package {vim => {ensure => absent}}"},
		{"ensure_resources('notify', {'a' => {}, 'b' => {'message' => 'x'}}, {'tag' => 't'})", "Notify {a => {tag => t}}; Notify {b => {tag => t, message => x}}"},
		{"ensure_resource('package', 'vim', {})", ""},
		{"getparam(Package['vim'], 'ensure')", ""},
	} {
		created = nil
		got, err := evaluated(t, tt.code, opts, more, eval.Options{})
		if strings.HasPrefix(tt.code, "getparam") && got != "installed" {
			t.Errorf("%s: got %s", tt.code, got)
		}
		if err != nil || strings.Join(created, "; ") != tt.want {
			t.Errorf("%s: got %v, %v, want %s", tt.code, created, err, tt.want)
		}
	}
}

// What crypt(3) makes of passwords.
func TestPasswords(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"pw_hash('password', 'SHA-256', 'salt')":                             "$5$salt$Gcm6FsVtF/Qa77ZKD.iwsJlCVPY0XSMgLJL0Hnww/c1",
		"pw_hash(Sensitive('U*U'), 'bcrypt-a', '05$CCCCCCCCCCCCCCCCCCCCC.')": "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
		"pw_hash('', 'MD5', 'x')":                                            "",
	} {
		got, err := evaluated(t, code, stdlib.Options{}, nil, eval.Options{})
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", code, got, err, want)
		}
	}
}

// A deprecated function logs where it was called, once; the setting strict decides.
func TestDeprecation(t *testing.T) {
	t.Parallel()
	var logs []string
	log := func(e eval.LogEntry) { logs = append(logs, e.Message) }
	code := "function f() {\n is_bool(1)\n is_bool(2)\n}\nf()"
	_, err := evaluated(t, code, stdlib.Options{Dir: "/m/stdlib"}, nil, eval.Options{Log: log})
	if err != nil || len(logs) != 1 || !strings.HasSuffix(logs[0], ` at ["site.pp", 2]:["site.pp", 5]`+"\n   (location: /m/stdlib/lib/puppet/functions/deprecation.rb:36:in `deprecation')") {
		t.Errorf("got %q, %v", logs, err)
	}
	if _, err := evaluated(t, code, stdlib.Options{}, nil, eval.Options{Strict: syntax.StrictError}); err == nil || !strings.Contains(err.Error(), "deprecation. is_bool. This method") {
		t.Errorf("got %v", err)
	}
	logs = nil
	if _, err := evaluated(t, code, stdlib.Options{}, nil, eval.Options{Log: log, Strict: syntax.StrictOff}); err != nil || len(logs) != 0 {
		t.Errorf("got %q, %v", logs, err)
	}
}

// Steps and bytes are counted.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"range('a', 'zzzzzzz')", "seeded_rand_string(1000000000, 'x')", "fqdn_rand_string(1000000000)", "range(0, 99999999).zip([])",
		"50.reduce(['a']) |$m, $x| { concat($m, $m) }", "glob('/{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}*')",
	} {
		var files fs.FS = fstest.MapFS{}
		_, err := evaluated(t, code, stdlib.Options{Files: files}, nil, eval.Options{MaxSteps: 5000, MaxBytes: 1 << 20})
		if err == nil && !strings.HasPrefix(code, "glob") {
			t.Errorf("%s: no error", code)
		}
	}
}

// The reasons of several signatures are made one, also where they are about several
// arguments. Rule LANG-TYPE-31.
func TestMergedReasons(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"merge('10.0.0.0/8', Integer)": "'merge' parameter 'args' expects a value of type Undef, Hash[Scalar, Any], String[0, 0], or Iterable, got String (",
		"merge('', -3, true)":          "'merge' parameter 'args' expects a value of type Undef, Hash[Scalar, Any], String[0, 0], or Iterable, got Integer[-3, -3] (",
	} {
		if _, err := evaluated(t, code, stdlib.Options{}, nil, eval.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", code, err, want)
		}
	}
}
