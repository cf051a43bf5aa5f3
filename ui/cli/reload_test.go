package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rewrite puts a text in the place of another in a file of Puppet's, at a time.
func (tr *trip) rewrite(name, old, text string, at time.Time) {
	tr.t.Helper()
	path := filepath.Join(setting(tr.session.engine, "confdir"), name)
	b, err := os.ReadFile(path)
	if err != nil {
		tr.t.Fatal(err)
	}
	after := strings.Replace(string(b), old, text, 1)
	if after == string(b) {
		tr.t.Fatalf("%s has no %q", name, old)
	}
	if err := os.WriteFile(path, []byte(after), 0o600); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		tr.t.Fatal(err)
	}
}

// Files that change on disk are noticed, and can be read again; that is in the
// history of routes, and can be taken back. Pain P16.
func TestConfigurationChangesOnDisk(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		at := time.Date(2025, 11, 20, 12, 3, 4, 0, time.Local)
		tr.sees("1 problem").Not("2 problems")
		tr.rewrite("routes.yaml", "facts:\n    cache: json", "facts:\n    cache: yaml", at)
		what, ok := watchFiles(tr.t.Context(), tr.session.engine)
		if want := "routes.yaml changed on disk at 12:03:04; :reload reads it again"; what != want || !ok {
			tr.t.Fatalf("noticed %q", what)
		}
		tr.Sync()
		tr.key("3", "routes.yaml changed on disk at 12:03:04", "2 problems")
		tr.key("1", "- Requests ")
		tr.command("problems", "2 problems of the configuration", "routes.yaml changed on disk at 12:03:04; :reload reads it again")
		tr.key("esc", "- Requests ")
		tr.key("3", "- Routes ").to("facts").cursor("facts", "facter", "json")
		tr.key("ctrl+r", "did :reload   z undo", "1 problem").cursor("facts", "facter", "yaml").Not("2 problems")
		tr.key("H", "Routes > facts > history")
		tr.key("/", "text on this page")
		tr.Keys("changed on disk")
		tr.key("enter", "read again, routes.yaml changed on disk at", "12:03:04: cache json -> yaml")
		tr.key("esc", "- Routes ")
		tr.key("z", "undone :reload").cursor("facts", "facter", "json")
		tr.key("Z", "redone :reload").cursor("facts", "facter", "yaml")

		// What does not parse changes nothing.
		tr.rewrite("puppet.conf", "[agent]", "[agent", at.Add(time.Minute))
		tr.command("reload", "puppet.conf", "what was read before stays in force", "| : reload_").Keys("esc")
		tr.cursor("facts", "facter", "yaml")
		tr.command("problems", "puppet.conf changed on disk at 12:04:04 and cannot be used: ")
		tr.key("esc", "- Routes ")
		tr.rewrite("puppet.conf", "[agent", "[agent]", at.Add(2*time.Minute))
		tr.command("reload", "did :reload")

		ctx, cancel := context.WithCancel(tr.t.Context())
		cancel()
		if _, ok := watchFiles(ctx, tr.session.engine); ok {
			tr.t.Error("something was noticed that did not happen")
		}
	})
}
