package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/puppetdb/puppetdbtest"
	"indirtui/termini"
	"indirtui/ui/cli"
	"indirtui/ui/uitest"
)

// TestMain makes the test binary also the program, for the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"indirtui": func() {
		os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, termini.Specs(), termini.All()))
	}})
}

// TestScript plays the scripts of the command line. Besides the commands of
// testscript they have
//
//	tui CODE WORD...   indirtui over conf/ and var/ of the script; it must end with CODE
//	exits CODE WORD... any command; it must end with CODE
//	same FILE          what it printed is that file, with a line break after text
//	lacks FILE BYTES   the file holds none of the bytes, written as in Go
//	puppetdb           starts a PuppetDB that is empty, and configures it
//	bytes FILE         makes an empty file, whose name is written as in Go
//
// What Puppet wrote is in puppet/. $KEY is a key that would command a terminal.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *uitest.Update, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("KEY", "a\x1b[31mb\u202ec\rd\ne\u009bf")
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			for _, d := range []string{"conf", "var/yaml", "var/client_yaml", "code/environments/production"} {
				if err := os.MkdirAll(filepath.Join(env.WorkDir, d), 0o755); err != nil {
					return err
				}
			}
			return os.CopyFS(filepath.Join(env.WorkDir, "puppet"), os.DirFS("testdata/puppet"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"tui": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: tui CODE WORD...")
				}
				site := []string{
					"--confdir=" + ts.MkAbs("conf"), "--vardir=" + ts.MkAbs("var"),
					"--set=codedir=" + ts.MkAbs("code"), "--set=certname=n1",
				}
				exits(ts, args[0], append([]string{"indirtui"}, append(args[1:], site...)...))
			},
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: exits CODE WORD...")
				}
				exits(ts, args[0], args[1:])
			},
			"same": func(ts *testscript.TestScript, neg bool, args []string) {
				if got, want := ts.ReadFile("stdout"), ts.ReadFile(args[0]); (got == want || got == want+"\n") == neg {
					ts.Fatalf("%s:\ngot  %q\nwant %q", args[0], got, want)
				}
			},
			"puppetdb": func(ts *testscript.TestScript, _ bool, _ []string) {
				writePuppetDB(t, ts.MkAbs("conf"), ts.MkAbs("ssl"))
			},
			"bytes": func(ts *testscript.TestScript, neg bool, args []string) {
				name, err := strconv.Unquote(`"` + args[0] + `"`)
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(name), nil, 0o644))
			},
			"lacks": func(ts *testscript.TestScript, neg bool, args []string) {
				bytes, err := strconv.Unquote(`"` + args[1] + `"`)
				ts.Check(err)
				if got := ts.ReadFile(args[0]); strings.Contains(got, bytes) != neg {
					ts.Fatalf("%s: %q holds %q: %v", args[0], got, bytes, !neg)
				}
			},
		},
	})
}

// writePuppetDB starts an empty PuppetDB, and writes what asks it into the
// directories of configuration and of certificates.
func writePuppetDB(t *testing.T, conf, ssl string) {
	t.Helper()
	ca := clienttest.New(t, "Puppet CA")
	leaf := ca.Issue(t, "localhost", clienttest.Local)
	db := clienttest.Serve(t, leaf, new(puppetdbtest.DB))
	set := ca.Write(t, ssl, leaf)
	lines := "[main]\n"
	for _, name := range []string{"localcacert", "hostcrl", "hostcert", "hostprivkey"} {
		lines += name + " = " + set[name] + "\n"
	}
	clienttest.WriteFile(t, filepath.Join(conf, "puppet.conf"), []byte(lines))
	clienttest.WriteFile(t, filepath.Join(conf, "puppetdb.conf"), []byte("[main]\nserver_urls = "+db.URL+"\n"))
}

func exits(ts *testscript.TestScript, code string, args []string) {
	err := ts.Exec(args[0], args[1:]...)
	got := "0"
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		got = strconv.Itoa(e.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v: %v", args, err)
	}
	if got != code {
		ts.Fatalf("it ended with %s, want %s", got, code)
	}
}
