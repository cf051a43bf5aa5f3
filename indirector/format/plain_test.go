package format

import (
	"bytes"
	"testing"
)

// TestPlainSeesEveryByte puts each byte at each place of texts that are
// shorter, as long and longer than what is looked at in one go.
func TestPlainSeesEveryByte(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		for i := range n {
			for c := range 256 {
				text := bytes.Repeat([]byte{' '}, n)
				text[i] = byte(c)
				want := n
				if c < 0x20 || c == '"' || c == '\\' {
					want = i
				}
				if got := plainRun(text); got != want {
					t.Fatalf("plainRun(%q): got %d, want %d", text, got, want)
				}
				if got := plain(text); got != (want == n) {
					t.Fatalf("plain(%q): got %v", text, got)
				}
			}
		}
	}
}
