package probe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Who connects is asked of the kernel: another user is refused with a message, also
// where the modes of the socket would let it connect, and the others are served.
func TestOtherUsers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	const other = 65534
	s := newSite(t, nil)
	for path, mode := range map[string]os.FileMode{filepath.Dir(s.Path()): 0o755, s.Path(): 0o777} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(ruby(t), "-rsocket", "-e", `
c = UNIXSocket.new(ARGV[0])
begin
  c.puts ARGV[1]
  p c.gets
rescue SystemCallError => e
  p e.class
end`, s.Path(), `{"listen":1,"conn":"`+connName(1)+`","pid":1}`)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
	out, err := cmd.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || !slices.Contains([]string{"nil", "Errno::EPIPE", "Errno::ECONNRESET"}, got) {
		t.Errorf("another user got %s, %v", got, err)
	}
	s.until(t, "the refusal", func() bool {
		e := s.store.Events()
		return len(e) > 0 && strings.Contains(e[0].Text, "a connection of user 65534 was refused: only the user of this program, root and the one of --for may connect")
	})
	p := s.attach(t, connName(1), "apply", 1)
	if got := p.read(); got != `{"ping":1}` {
		t.Errorf("root got %s", got)
	}
	p.write(traceLine(1, 0, "facts", ""))
	s.ended(t, 1)
}
