package probe

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// files are the probe: probe.rb with what it requires, and below server a puppet.rb
// for the load path of Puppet Server.
//
//go:embed ruby
var files embed.FS

// The variables by which a probe is started. It takes them out of its environment.
const (
	EnvSocket      = "INDIRTUI_ATTACH"      // the socket
	EnvWait        = "INDIRTUI_WAIT"        // 1: wait at the start until this program is ready
	EnvTraceparent = "INDIRTUI_TRACEPARENT" // no: add no header to Puppet's requests
)

// WriteFiles writes the probe into a directory, which is made if it is not there.
func WriteFiles(dir string) error {
	err := fs.WalkDir(files, "ruby", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, "ruby")))
		if e.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		if path.Ext(name) != ".rb" {
			return nil
		}
		b, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, 0o644)
	})
	if err != nil {
		return fmt.Errorf("write the probe: %w", err)
	}
	return nil
}

// A Launch is how a command is started with the probe.
type Launch struct {
	Argv          []string // the command; the first is looked up in PATH
	Env           []string // as os.Environ
	Dir           string   // where the probe was written
	Socket        string
	NoTraceparent bool
}

// Command returns the command with the probe in its environment. A shell script that
// takes the probe out of it, as the packages of Puppet's makers have for puppet, is
// left out: the program that it runs is run, and noted. An error names why that
// cannot be.
func (l Launch) Command() (cmd *exec.Cmd, note string, err error) {
	if strings.ContainsAny(l.Dir, " \t\n") {
		return nil, "", fmt.Errorf("the directory of the probe, %q, has a blank, which RUBYOPT cannot have: set TMPDIR", l.Dir)
	}
	program, err := exec.LookPath(l.Argv[0])
	if err != nil {
		return nil, "", err
	}
	env := l.Env
	behind, unset, err := behindWrapper(program)
	if err != nil {
		return nil, "", err
	}
	if behind != "" {
		note = fmt.Sprintf("%s unsets RUBYOPT, so %s is run", program, behind)
		program = behind
		env = without(env, unset)
	}
	cmd = exec.Command(program, l.Argv[1:]...)
	options := "-r" + filepath.Join(l.Dir, "probe.rb")
	for _, e := range env {
		if theirs, ok := strings.CutPrefix(e, "RUBYOPT="); ok && theirs != "" {
			options += " " + theirs
		}
	}
	cmd.Env = append(without(env, []string{"RUBYOPT"}), "RUBYOPT="+options, EnvSocket+"="+l.Socket, EnvWait+"=1")
	if l.NoTraceparent {
		cmd.Env = append(cmd.Env, EnvTraceparent+"=no")
	}
	return cmd, note, nil
}

func without(env, names []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(names, name)
	})
}

var (
	unsets = regexp.MustCompile(`(?m)^[ \t]*unset[ \t]+([A-Z0-9_ \t]*)`)
	execs  = regexp.MustCompile(`(?m)^[ \t]*exec[ \t]+("[^"\n]+"|'[^'\n]+'|[^ \t\n]+)`)
	itself = regexp.MustCompile("\\$\\{?COMMAND\\}?|\\$\\(basename \"?\\$\\{?0\\}?\"?\\)|`basename \"?\\$\\{?0\\}?\"?`")
)

// behindWrapper returns the program that a shell script runs which unsets RUBYOPT,
// and all that it unsets; "" if this is no such script.
func behindWrapper(program string) (behind string, unset []string, err error) {
	const most = 64 << 10
	f, err := os.Open(program)
	if err != nil {
		return "", nil, nil // it may be run without being read
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return "", nil, nil // likewise
	}
	first, rest, _ := strings.Cut(string(b), "\n")
	if !strings.HasPrefix(first, "#!") || !strings.Contains(first, "sh") {
		return "", nil, nil
	}
	for _, m := range unsets.FindAllStringSubmatch(rest, -1) {
		unset = append(unset, strings.Fields(m[1])...)
	}
	if !slices.Contains(unset, "RUBYOPT") {
		return "", nil, nil
	}
	all := execs.FindAllStringSubmatch(rest, -1)
	if len(all) == 0 {
		return "", nil, fmt.Errorf("%q unsets RUBYOPT, by which the probe gets in, and what it runs is not found: name that program", program)
	}
	behind = itself.ReplaceAllLiteralString(strings.Trim(all[len(all)-1][1], `"'`), filepath.Base(program))
	info, err := os.Stat(behind)
	if err == nil && (info.IsDir() || info.Mode()&0o111 == 0) {
		err = errors.New("it is no program")
	}
	if err != nil {
		return "", nil, fmt.Errorf("%q unsets RUBYOPT, by which the probe gets in, and runs %q: %w; name the program behind it", program, behind, err)
	}
	return behind, unset, nil
}
