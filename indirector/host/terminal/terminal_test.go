package terminal_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"indirtui/indirector/host/terminal"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func start(t *testing.T, script string, o terminal.Options) *terminal.Terminal {
	t.Helper()
	tm, err := terminal.Start(exec.Command("sh", "-c", script), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tm.Stop)
	return tm
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		want         []string
		code         int
	}{
		{"plain", `echo one; echo two; exit 4`, []string{"one", "two"}, 4},
		{"a terminal", `test -t 0 && test -t 1 && stty size`, []string{"24 80"}, 0},
		{"colours", `printf '\033[1;33mWarning\033[0m: \033]0;title\007x\n'`, []string{"Warning: x"}, 0},
		{"progress", `printf '10%%\r20%%\rdone\n'`, []string{"done"}, 0},
		{"no end", `printf 'prompt> '`, []string{"prompt> "}, 0},
		{"bytes", `printf 'a\377b\n'`, []string{"a�b"}, 0},
		{"signal", `kill -9 $$`, nil, 137},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var seen []string
			tm := start(t, tt.script, terminal.Options{Line: func(s string) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, s)
			}})
			<-tm.Done()
			if got, _, _ := tm.Lines(0); !slices.Equal(got, tt.want) || !slices.Equal(seen, tt.want) {
				t.Errorf("got %q and %q, want %q", got, seen, tt.want)
			}
			if _, code, err := tm.Ended(); code != tt.code || err != nil {
				t.Errorf("got exit code %d, %v, want %d", code, err, tt.code)
			}
		})
	}
}

func TestTyped(t *testing.T) {
	t.Parallel()
	tm := start(t, `stty -echo; read name; echo "hello $name"`, terminal.Options{})
	if _, err := fmt.Fprint(tm, "web01\r"); err != nil {
		t.Fatal(err)
	}
	<-tm.Done()
	if got, _, _ := tm.Lines(0); !slices.Contains(got, "hello web01") {
		t.Errorf("got %q", got)
	}
}

// What is kept has a bound, and a line too.
func TestBounds(t *testing.T) {
	t.Parallel()
	tm := start(t, `seq 1 12000; head -c 20000 /dev/zero | tr '\0' x`, terminal.Options{})
	<-tm.Done()
	got, first, _ := tm.Lines(0)
	if len(got) != 10_000 || first != 2003 || len(got[len(got)-1]) != 20000-2*8192 {
		t.Errorf("got %d lines from %d on, the last of %d bytes", len(got), first, len(got[len(got)-1]))
	}
	if got, first, _ := tm.Lines(12_000); len(got) != 3 || first != 12_000 {
		t.Errorf("got %d lines from %d on", len(got), first)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	tm := start(t, `echo there; sleep 1000`, terminal.Options{})
	tm.Stop()
	if ended, code, _ := tm.Ended(); !ended || code != 143 {
		t.Errorf("got %v with exit code %d", ended, code)
	}
	if _, err := terminal.Start(exec.Command("/no/such/program"), terminal.Options{}); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("got %v", err)
	}
}
