package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/termini"
)

// A request for a file in another environment goes by the environment.conf that
// is there now. Rule TERM-FSRV-03.
func TestOtherEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put("code/environments/production/modules/m/files/f", "production")
	put("code/environments/staging/first/m/files/f", "first")
	put("code/environments/staging/second/m/files/f", "second")
	put("puppet.conf", "[main]\ncodedir = "+dir+"/code\n")
	e, err := engine.New(engine.Options{Specs: termini.Specs(), Termini: termini.All(), ConfDir: dir, VarDir: dir + "/var"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, tt := range []struct{ conf, environment, want string }{
		{"", "", "production/modules"},
		{"", "production", "production/modules"},
		{"modulepath = first\n", "staging", "staging/first"},
		{"modulepath = second:first\n", "staging", "staging/second"},
		{"modulepath = third\n", "staging", ""},
	} {
		if tt.conf != "" {
			put("code/environments/staging/environment.conf", tt.conf)
		}
		resp, err := e.Do(t.Context(), &indirector.Request{
			Indirection: "file_metadata", Verb: indirector.Find, Key: "modules/m/f", Terminus: "file_server", Environment: tt.environment,
		})
		switch {
		case tt.want == "":
			if !errors.Is(err, indirector.ErrNotFound) {
				t.Errorf("%+v: got %v, %v", tt, resp, err)
			}
		case err != nil || resp.Instance().Key() != dir+"/code/environments/"+tt.want+"/m/files/f":
			t.Errorf("%+v: got %v, %v", tt, resp, err)
		}
	}
}
