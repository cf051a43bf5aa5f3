package filebucket_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// TestInterchange lets real Puppet read, compare and list what we kept, and
// reads, compares and lists what real Puppet kept.
func TestInterchange(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "puppet", "--version").CombinedOutput(); err != nil {
		t.Skipf("real Puppet is not on this machine: %v %s", err, out)
	}
	for _, algorithm := range []string{"sha256", "md5"} {
		t.Run("TERM-FB-02 "+algorithm, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, settings{"digest_algorithm": algorithm})
			puppet := func(args ...string) string {
				t.Helper()
				base := filepath.Join(filepath.Dir(h.dir), "puppet")
				c := exec.CommandContext(t.Context(), "puppet", append(append([]string{"filebucket"}, args...),
					"--confdir", base+"/conf", "--vardir", base+"/var", "--digest_algorithm", algorithm, "--bucket", h.dir)...)
				c.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8")
				var stderr strings.Builder
				c.Stderr = &stderr
				out, err := c.Output()
				if err != nil {
					t.Fatalf("puppet filebucket %v: %v %s", args, err, stderr.String())
				}
				return string(out)
			}
			all := option("list_all", true)

			ours, err := model.NewFileBucketFile(algorithm, []byte("kept here\n\x00\xff"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.do(t, indirector.Save, ours.Key()+"//etc/ours ü", ours); err != nil {
				t.Fatal(err)
			}
			is(t, "Puppet gets", puppet("get", ours.Checksum), "kept here\n\x00\xff")
			is(t, "Puppet lists", puppet("list"), h.found(t, algorithm+"/", all))

			dir, err := filepath.EvalSymlinks(t.TempDir()) // as Puppet records it
			if err != nil {
				t.Fatal(err)
			}
			source := filepath.Join(dir, "theirs")
			if err := os.WriteFile(source, []byte("kept by Puppet\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			theirs := strings.TrimSpace(strings.TrimPrefix(puppet("backup", source), source+":"))
			is(t, "we find", h.found(t, algorithm+"/"+theirs+"/"+source), "kept by Puppet\n")
			is(t, "we compare", h.found(t, ours.Key(), option("diff_with", theirs)), puppet("diff", ours.Checksum, theirs))

			// Each saves what the other has: a duplicate, with one more path.
			if _, err := h.do(t, indirector.Save, algorithm+"/"+theirs+"//b", file("kept by Puppet\n")); err != nil {
				t.Fatal(err)
			}
			has(t, "the log", h.logs.String(), "FileBucket got a duplicate file {"+algorithm+"}"+theirs)
			if err := os.WriteFile(source, []byte("kept here\n\x00\xff"), 0o600); err != nil {
				t.Fatal(err)
			}
			is(t, "Puppet keeps", puppet("backup", source), source+": "+ours.Checksum+"\n")
			is(t, "Puppet lists", puppet("list"), h.found(t, algorithm+"/", all))
			is(t, "we list", h.found(t, algorithm+"/", all, option("fromdate", "2100-01-01")), "")
			modes := map[string]bool{}
			for name, text := range tree(t, h.dir) {
				mode, _, _ := strings.Cut(text, " ")
				modes[filepath.Base(name)+" "+mode] = true
			}
			for _, want := range []string{"contents -r--r-----", "paths -rw-r-----"} {
				delete(modes, want)
			}
			for other := range modes {
				if !strings.HasSuffix(other, "drwxrwx---") {
					t.Errorf("a mode that is not as the others: %s", other)
				}
			}
		})
	}
}
