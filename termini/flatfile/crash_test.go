package flatfile_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// crashDir names the directory to save in, for a process that is to be killed.
const crashDir = "INDIRTUI_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		saveForever(dir)
	}
	os.Exit(m.Run())
}

var crashTermini = [][2]string{{"facts", "yaml"}, {"facts", "json"}, {"node", "msgpack"}, {"node", "json"}, {"report", "yaml"}}

// saveForever saves instances of many sizes under one key and prints a line
// after each.
func saveForever(dir string) {
	t := new(testing.B) // only the exit code shows a failure
	var all []*made
	for _, c := range crashTermini {
		all = append(all, newTerminus(t, c[0], c[1], everywhere(dir)))
	}
	for n := 1; ; n = n*7%1013 + 1 {
		for _, m := range all {
			if _, err := m.save(context.Background(), "web01", sized(m.indirection, n)); err != nil {
				fmt.Println("failed:", err)
				os.Exit(1)
			}
			fmt.Println(n)
		}
	}
}

// sized returns an instance whose first value is the number of values.
func sized(indirection string, n int) indirector.Instance {
	values := make([]data.Pair, 0, n+1)
	values = append(values, data.P("count", data.OfInt(int64(n))))
	for i := range n {
		values = append(values, data.P(fmt.Sprintf("fact_%d", i), data.OfString(strings.Repeat("v", 40))))
	}
	switch indirection {
	case "facts":
		return &model.Facts{Name: "web01", Values: data.OfHash(values)}
	case "node":
		return &model.Node{Name: "web01", Environment: "production", Parameters: data.OfHash(values)}
	}
	logs := make([]model.Log, n)
	for i := range logs {
		logs[i] = model.Log{Level: "notice", Message: strings.Repeat("m", 40), Source: "Puppet"}
	}
	return &model.Report{Host: "web01", ConfigurationVersion: data.OfInt(int64(n)), Logs: logs}
}

// complete reports what is wrong with an instance that sized made.
func complete(inst indirector.Instance) error {
	var want, got int64
	switch x := inst.(type) {
	case *model.Facts:
		want, got = x.Get("count").Int(), int64(x.Values.Len()-1)
	case *model.Node:
		want, got = x.Parameters.Get("count").Int(), int64(x.Parameters.Len()-1)
	case *model.Report:
		want, got = x.ConfigurationVersion.Int(), int64(len(x.Logs))
	}
	if want == 0 || got != want {
		return fmt.Errorf("%T has %d values of %d", inst, got, want)
	}
	return nil
}

// TestKilledWhileSaving kills a process that saves, again and again: whatever
// it was doing, every file is a complete instance. Rule TERM-FILE-08.
func TestKilledWhileSaving(t *testing.T) {
	t.Parallel()
	kills := 200
	if testing.Short() {
		kills = 20
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range kills {
		killAfter(t, dir, random.IntN(25))
		for _, c := range crashTermini {
			m := newTerminus(t, c[0], c[1], everywhere(dir))
			inst, err := m.find(t.Context(), "web01")
			if i == 0 && err != nil && strings.Contains(err.Error(), "not found") {
				continue // it did not get so far
			}
			if err == nil {
				err = complete(inst)
			}
			if err != nil {
				t.Fatalf("%s/%s after %d kills: %v", c[0], c[1], i+1, err)
			}
			checkListed(t, m)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*", ".save-*"))
	t.Logf("%d kills left %d hidden files behind", kills, len(left))
}

// checkListed looks that what a killed process left behind is not taken for an
// entry.
func checkListed(t *testing.T, m *made) {
	t.Helper()
	err := m.Terminus.(indirector.Lister).List(t.Context(), func(e indirector.Entry) bool {
		if e.Key != "web01" && e.Key != "last_run_report" {
			t.Errorf("%s lists %q", m.indirection, e.Key)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

// killAfter starts a process that saves and kills it in the middle of what
// comes after n saves.
func killAfter(t *testing.T, dir string, n int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range n + 1 {
		if !lines.Scan() || strings.HasPrefix(lines.Text(), "failed") {
			t.Fatalf("the process that saves ended: %s", lines.Text())
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // fails, since it was killed
}
