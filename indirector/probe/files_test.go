package probe_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/probe"
)

// wrapper is as the packages of Puppet's makers have it since 5.5.21 and 6.16.
const wrapper = `#!/bin/sh
# Licence, and so on.

unset GEM_HOME GEM_PATH DLN_LIBRARY_PATH RUBYLIB RUBYLIB_PREFIX RUBYOPT RUBYPATH RUBYSHELL

if [ -z "${PATH}" ]; then
  export PATH=/bin
fi

COMMAND=` + "`basename \"${0}\"`" + `
exec BIN/${COMMAND} "$@"
`

// lines is as they have it where each variable has a line.
var lines = strings.ReplaceAll(strings.ReplaceAll(wrapper, "unset GEM_HOME GEM_PATH", "unset GEM_HOME\nunset GEM_PATH"), " RUBYOPT RUBYPATH", "\nunset RUBYOPT\nunset RUBYPATH")

func TestCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "BIN", filepath.Join(dir, "bin"))), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	real := write("bin/puppet", "#!/usr/bin/ruby\n")
	wrapped := write("puppet", wrapper)
	link := filepath.Join(dir, "link", "puppet")
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(wrapped, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, program, want, err string }{
		{"Ruby", real, real, ""},
		{"another script", write("other", "#!/bin/sh\nunset FOO\nexec BIN/puppet\n"), filepath.Join(dir, "other"), ""},
		{"a wrapper", wrapped, real, ""},
		{"a link to it", link, real, ""},
		{"as on other systems", write("lines/puppet", lines), real, ""},
		{"quoted", write("quoted", "#!/bin/bash\nunset RUBYOPT\nexec \"BIN/puppet\" \"$@\"\n"), real, ""},
		{"without exec", write("lost", "#!/bin/sh\nunset RUBYOPT\npuppet\n"), "", "what it runs is not found"},
		{"computed", write("computed", "#!/bin/sh\nunset RUBYOPT\nexec $SOMETHING\n"), "", "name the program behind it"},
		{"not there", filepath.Join(dir, "none"), "", "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := probe.Launch{Argv: []string{tt.program, "agent", "-t"}, Env: []string{"HOME=/h", "GEM_HOME=/g", "RUBYOPT=-w"}, Dir: "/p", Socket: "/s", NoTraceparent: true}
			cmd, note, err := l.Command()
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if cmd.Path != tt.want || !slices.Equal(cmd.Args[1:], []string{"agent", "-t"}) {
				t.Errorf("got %s %q, want %s", cmd.Path, cmd.Args, tt.want)
			}
			if (note != "") != (tt.want != tt.program) {
				t.Errorf("got note %q", note)
			}
			options := "RUBYOPT=-r/p/probe.rb -w"
			if note != "" {
				if slices.Contains(cmd.Env, "GEM_HOME=/g") && tt.name != "quoted" {
					t.Error("what the wrapper unsets is there")
				}
				options = "RUBYOPT=-r/p/probe.rb"
			}
			for _, want := range []string{"HOME=/h", options, "INDIRTUI_ATTACH=/s", "INDIRTUI_WAIT=1", "INDIRTUI_TRACEPARENT=no"} {
				if !slices.Contains(cmd.Env, want) {
					t.Errorf("%q lacks %s", cmd.Env, want)
				}
			}
		})
	}
	if _, _, err := (probe.Launch{Argv: []string{real}, Dir: "/a b"}).Command(); err == nil {
		t.Error("a directory with a blank was taken")
	}
}

func TestGuide(t *testing.T) {
	t.Parallel()
	text := probe.Guide("/run/indirtui/attach", "")
	for _, want := range []string{"RUBYOPT=-r/opt/indirtui/probe/probe.rb", "ruby-load-path: [/opt/indirtui/probe/server", "INDIRTUI_ATTACH: /run/indirtui/attach", "--print-probe"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
