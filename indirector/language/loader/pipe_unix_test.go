//go:build unix

package loader_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe is not opened, which would wait for its other end.
func TestPipe(t *testing.T) {
	t.Parallel()
	dir, env := site(t, map[string]string{"modules/a/lib/puppet/type/x.rb": named(rubyType, "x")})
	if err := syscall.Mkfifo(filepath.Join(dir, "modules/a/lib/puppet/type/pipe.rb"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := env.Type("pipe")
	if got != nil && !got.Open || err == nil || !strings.Contains(err.Error(), "pipe.rb: it is no regular file") {
		t.Errorf("got %v, %v", got, err)
	}
}
