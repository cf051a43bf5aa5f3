//go:build unix

package fileserving_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/host/fnmatch"
	"indirtui/traces"
)

// ruby runs a script with JSON on its standard input, and reads JSON from its
// standard output.
func ruby(t *testing.T, script string, in, out any) {
	t.Helper()
	if err := exec.Command("ruby", "-e", "require 'puppet'").Run(); err != nil {
		t.Skipf("real Puppet is not installed: ruby -e \"require 'puppet'\": %v", err)
	}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("ruby", "-rjson", "-e", script)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &stderr
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C.UTF-8")
	answer, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(answer, out); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
}

// TestPeerSearch lets real Puppet search the same trees: one with everything
// that a tree can have, and the modules of the distribution.
func TestPeerSearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a": "x", ".hidden": "h", "empty": "", "large": strings.Repeat("0123456789", 100_000), "b.conf": "", "d/c.txt": "c", "d/.svn/entries": "s",
		"d/deep/er/f": "f", "to_file": "-> a", "to_dir": "-> d", "sp ace\nline é": "odd",
	})
	if err := syscall.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir+"/a", 0o4751); err != nil {
		t.Fatal(err)
	}
	type question struct {
		Path    string         `json:"path"`
		Options map[string]any `json:"options"`
	}
	var asked []question
	for _, path := range []string{dir, dir + "/", dir + "/a", dir + "/to_dir", "/usr/share/puppet/modules", "/usr/share/puppet/modules.available"} {
		if _, err := os.Stat(path); err != nil {
			t.Logf("there is no %s, so it is not compared", path)
			continue
		}
		for _, o := range []map[string]any{
			{"recurse": true},
			{"recurse": false},
			{"recurse": true, "links": "follow"},
			{"recurse": true, "recurselimit": 1, "checksum_type": "md5"},
			{"recurse": true, "checksum_type": "mtime", "source_permissions": "use"},
			{"recurse": true, "checksum_type": "sha1lite", "source_permissions": "use_when_creating"},
			{"recurse": true, "checksum_type": "ctime", "links": "follow"},
			{"recurse": true, "checksum_type": "none", "ignore": []any{"d*", "*.conf"}},
			{"recurse": "remote", "checksum_type": "md5lite", "links": "follow", "source_permissions": "use"},
			{"recurse": true, "ignore": ".*", "checksum_type": "sha512"},
			{"recurse": true, "max_files": 3},
			{"recurse": true, "recurselimit": "2", "max_files": "-1", "checksum_type": "none", "source_permissions": "use"},
		} {
			asked = append(asked, question{path, o})
		}
	}
	var answers []any
	ruby(t, `
		require 'puppet'; require 'puppet/file_serving/metadata'
		Puppet.initialize_settings
		Puppet::Util::Log.level = :crit
		Puppet.push_context({current_environment: Puppet::Node::Environment.create(:production, [])})
		Puppet::FileServing::Metadata.indirection.terminus_class = :file
		puts JSON.generate(JSON.parse(STDIN.read).map { |q|
		  begin
		    o = q['options'].each_with_object({}) { |(k, v), h| h[k.to_sym] = %w[links checksum_type source_permissions].include?(k) ? v.to_sym : v }
		    Puppet::FileServing::Metadata.indirection.search(q['path'], o).map(&:to_data_hash)
		  rescue => e
		    e.message
		  end
		})`, asked, &answers)
	h := newFixture(t, values{}, nil)
	for i, q := range asked {
		t.Run(fmt.Sprint(q.Path, q.Options), func(t *testing.T) {
			var options []indirector.Option
			for name, v := range q.Options {
				options = append(options, option(name, v))
			}
			got := any(nil)
			found, err := h.search(t, "file", q.Path, options...)
			if err != nil {
				got = indirector.Message(err)
			} else {
				list := make([]any, len(found))
				for i, m := range found {
					if err := json.Unmarshal([]byte(shown(t, m)), &list[i]); err != nil {
						t.Fatal(err)
					}
				}
				got = list
			}
			if diff := gocmp.Diff(answers[i], got); diff != "" {
				t.Errorf("-Puppet +here:\n%s", diff)
			}
		})
	}
}

// TestPeerIgnore compares patterns with Ruby's File.fnmatch.
func TestPeerIgnore(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"*", ".*", "*.txt", "a*", "*a", "?", "??", "a?c", "[abc]", "[!abc]", "[^a]*", "[a-c]x", "[c-a]", "[a-]", "[-a]", "[]", "[]a]", "[!]", "[", "[a",
		`\*`, `\a`, `[\]]`, `[\a-c]`, `\`, `a\`, "**", "**/a", "*/a", "a/b", "{a,b}", "é", "?é", "[é]", "[à-ü]", "", "*.*", "a**b", "[.]x", `\.x`, "[[]", "*[", "[a-c-e]", "a[", "d*", "*é*",
	}
	names := []string{"a", "b", "c", "-", "]", "[", "*", `\`, "a.txt", ".txt", "abc", "axc", "aéc", "ax", "bx", ".x", "x", "é", "aé", "ü", "{a,b}", "", "..", "a.b.c", "ab", "d", "deep", "^", "!", "e", `a\`, "a["}
	var want []bool
	ruby(t, `p, n = JSON.parse(STDIN.read); puts JSON.generate(p.product(n).map { |a, b| File.fnmatch?(a, b) })`, []any{patterns, names}, &want)
	for i, p := range patterns {
		for j, n := range names {
			if got, w := fnmatch.Match(p, n), want[i*len(names)+j]; got != w {
				t.Errorf("%q on %q: got %v, want %v", p, n, got, w)
			}
		}
	}
}

// modulesOfDebian is where the packages puppet-module-puppetlabs-* put modules.
const modulesOfDebian = "/usr/share/puppet/modules"

// TestPeerModules lets real Puppet serve the modules of Debian's packages, by
// file_server as an agent asks it, and compares every search, and a find of
// every file that they list.
func TestPeerModules(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stdlib", "apache", "concat"} {
		if _, err := os.Stat(modulesOfDebian + "/" + name); err != nil {
			t.Skipf("the package puppet-module-puppetlabs-%s is not installed: %v", name, err)
		}
	}
	type question struct {
		Verb    string         `json:"verb"`
		Key     string         `json:"key"`
		Options map[string]any `json:"options"`
	}
	h := newFixture(t, values{"modulepath": modulesOfDebian, "environment": "production", "digest_algorithm": "sha256"}, nil)
	var asked []question
	for _, key := range []string{"modules/stdlib", "modules/apache", "modules/concat", "plugins", "pluginfacts", "locales", "tasks/apache", "scripts/stdlib", "modules/none", "plugins/puppet"} {
		for _, o := range []map[string]any{
			{"recurse": true},
			{"recurse": true, "links": "follow", "checksum_type": "md5", "source_permissions": "use"},
			{"recurse": true, "checksum_type": "sha512", "ignore": []any{".git", "*.erb", "d*"}},
			{"recurse": true, "recurselimit": 2, "checksum_type": "mtime"},
			{"recurse": false},
			{"recurse": true, "checksum_type": "none", "source_permissions": "use_when_creating", "max_files": -1},
		} {
			asked = append(asked, question{"search", key, o})
		}
	}
	for _, key := range []string{"modules/stdlib", "modules/apache", "modules/concat", "plugins"} {
		found, err := h.search(t, "file_server", key, option("recurse", true))
		if err != nil && !errors.Is(err, indirector.ErrNotFound) {
			t.Fatal(err)
		}
		for _, m := range found {
			if m.RelativePath != "." {
				asked = append(asked, question{"find", key + "/" + m.RelativePath, map[string]any{"links": "follow", "checksum_type": "sha256", "source_permissions": "use"}})
			}
		}
	}
	var answers []any
	ruby(t, `
		require 'puppet'; require 'puppet/file_serving/metadata'
		Puppet.initialize_settings
		Puppet::Util::Log.level = :crit
		env = Puppet::Node::Environment.create(:production, ['`+modulesOfDebian+`'])
		Puppet.push_context({current_environment: env, environments: Puppet::Environments::Static.new(env)})
		Puppet::FileServing::Metadata.indirection.terminus_class = :file_server
		puts JSON.generate(JSON.parse(STDIN.read).map { |q|
		  begin
		    o = q['options'].each_with_object({environment: env}) { |(k, v), h| h[k.to_sym] = %w[links checksum_type source_permissions].include?(k) ? v.to_sym : v }
		    found = Puppet::FileServing::Metadata.indirection.send(q['verb'], q['key'], **o)
		    found.nil? ? nil : q['verb'] == 'find' ? found.to_data_hash : found.map(&:to_data_hash)
		  rescue => e
		    e.message
		  end
		})`, asked, &answers)
	files := 0
	for i, q := range asked {
		var options []indirector.Option
		for name, v := range q.Options {
			options = append(options, option(name, v))
		}
		resp, err := h.Do(t.Context(), &indirector.Request{
			Indirection: "file_metadata", Verb: traces.ParseVerb(q.Verb), Key: q.Key, Terminus: "file_server", Environment: "production", Options: options,
		})
		var got any
		decode := func(inst indirector.Instance) (v any) {
			files++
			if err := json.Unmarshal([]byte(shown(t, inst)), &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		switch {
		case errors.Is(err, indirector.ErrNotFound):
		case err != nil:
			got = indirector.Message(err)
		case q.Verb == "find":
			got = decode(resp.Instance())
		default:
			list := []any{}
			for _, inst := range resp.Value.([]indirector.Instance) {
				list = append(list, decode(inst))
			}
			got = list
		}
		if diff := gocmp.Diff(answers[i], got); diff != "" {
			t.Errorf("%v: -Puppet +here:\n%s", q, diff)
		}
	}
	t.Logf("%d requests, %d answers with metadata", len(asked), files)
}
