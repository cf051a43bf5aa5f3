//go:build unix

package cli_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"indirtui/traces/export"
	"indirtui/traces/store"
)

// TestKilledAtRandom kills the program without a warning while it records, when
// its recording has arbitrary sizes. What it leaves opens, and all
// that is whole in it can be read and exported.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(12, 5)) // the same sizes every time
	for range 8 {
		size := dice.Int64N(1_200_000)
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			path := killedAt(t, size)
			log, err := store.OpenFile(path)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			ids, err := export.Select(log, "")
			if err != nil {
				t.Fatal(err)
			}
			if len(ids) == 0 && size > 10_000 {
				t.Error("nothing is left")
			}
			r, err := export.Write(io.Discard, log, ids, export.Options{Format: export.JSONL, Redact: func(s string) (string, int) { return s, 0 }})
			if err != nil || r.Requests != len(ids) || r.Bare > 0 {
				t.Errorf("of %d requests %+v can be read: %v", len(ids), r, err)
			}
			for _, note := range log.Notes() {
				t.Log(note)
			}
		})
	}
}

// killedAt plays the demo in another process, kills it when its recording has
// the size, and returns the recording.
func killedAt(t *testing.T, size int64) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "killed.jsonl")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "--plain", "--demo", "--record", path)
	c.Args[0] = "indirtui" // which TestMain makes the program
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "TMPDIR="+dir)
	in, err := c.StdinPipe() // it goes on as long as its input is open
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "a recording", func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() >= size
	})
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	_ = in.Close()
	return path
}
