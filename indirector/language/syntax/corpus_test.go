package syntax_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Every manifest and template of the modules that are installed has the tree that
// real Puppet makes of it.
func TestInstalledModules(t *testing.T) {
	t.Parallel()
	const dir = "/usr/share/puppet"
	var questions []question
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read is left out
		kind := filepath.Ext(path)
		if err != nil || kind != ".pp" && kind != ".epp" {
			return nil
		}
		if text, err := os.ReadFile(path); err == nil {
			questions = append(questions, question{Code: string(text), EPP: kind == ".epp"})
		}
		return nil
	})
	if len(questions) == 0 {
		t.Skipf("no modules are installed in %s, so nothing is compared", dir)
	}
	for i, want := range askPuppet(t, questions) {
		compare(t, questions[i], want)
	}
}
