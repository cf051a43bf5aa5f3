//go:build unix

package foreign_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"indirtui/indirector/host/child"
	"indirtui/indirector/resource/foreign"
)

// fake returns a helper whose interpreter is a shell script: it begins, then does what is given.
func fake(t *testing.T, limit time.Duration, body string) *foreign.Helper {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to write a fake helper in")
	}
	file := filepath.Join(t.TempDir(), "ruby")
	text := "#!/bin/sh\ncat >/dev/null\nask() { read -r question <&3 || exit 0; }\nask\necho '{\"answer\":{}}' >&4\nask\n" + body + "\n"
	if err := child.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	h := foreign.New(foreign.Options{Ruby: file, Setting: func(string) string { return "" }, Limit: limit})
	t.Cleanup(func() { _ = h.Close() }) // it has no errors
	return h
}

// TestHostile: whatever the child does is one error, which names the question.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, want string }{
		{"ends", "exit 3", "the helper process ended: exit status 3"},
		{"explains its end", "echo out of bricks >&2; exit 1", `the helper process ended: exit status 1; it wrote "out of bricks"`},
		{"is killed", "kill -KILL $$", "the helper process ended: signal: killed"},
		{"hangs", "exec sleep 1000", "it takes longer than 2s"},
		{"ignores signals", "trap '' TERM INT HUP; while :; do sleep 1; done", "it takes longer than 2s"},
		{"writes garbage", "echo garbage >&4; ask", "it answers with what is no answer"},
		{"writes an empty line", "echo >&4; ask", "it answers with what is no answer"},
		{"writes a list", "echo '[1]' >&4; ask", "it answers with what is no answer"},
		{"writes half a line", "printf '{\"answer\":' >&4; exit 0", "the helper process ended"},
		{"nests deeply", "head -c 100000 /dev/zero | tr '\\0' '[' >&4; echo >&4; ask", "it answers with what is no answer"},
		{"answers for ever", "yes | tr -d '\\n' >&4", "it answers with more than 16777216 bytes"},
		{"prints much", "yes >&2", "it takes longer than 2s"},
		{"has no namevar", "echo '{\"answer\":{}}' >&4; ask", "it has no namevar"},
		{"has an unknown namevar", "echo '{\"answer\":{\"namevars\":[\"x\"]}}' >&4; ask", `its namevar "x" is no attribute`},
		{"raises", "echo '{\"error\":{\"class\":\"E\",\"message\":\"no such type\"}}' >&4; ask", "no such type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if strings.HasSuffix(tt.want, "2s") {
				limit = 2 * time.Second
			}
			_, err := fake(t, limit, tt.body).Type(t.Context(), "brick")
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.name != "raises" && !strings.Contains(err.Error(), "type brick by helper: ") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestAnew: after a child that broke, the next question has another.
func TestAnew(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "broke")
	h := fake(t, time.Minute, "test -e "+marker+" || { touch "+marker+"; exit 1; }\necho '{\"answer\":[]}' >&4; ask")
	if _, err := h.Search(t.Context(), "brick"); err == nil {
		t.Error("the first child ends, which is no error")
	}
	if found, err := h.Search(t.Context(), "brick"); err != nil || len(found) != 0 {
		t.Errorf("got %v, %v", found, err)
	}
}

// TestEnd: nothing is left of the child when a question is canceled, or the helper closed.
func TestEnd(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"canceled", "closed", "closed while it works"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pids")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Skipf("no named pipe: %v", err)
			}
			body := "sleep 1000 & echo $$ $! >" + pipe + "; wait"
			if how == "closed" {
				body = "sleep 1000 & echo $$ $! >" + pipe + "; echo '{\"answer\":[]}' >&4; wait"
			}
			h := fake(t, time.Minute, body)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pids := make(chan []string, 1)
			go func() {
				b, _ := os.ReadFile(pipe)
				pids <- strings.Fields(string(b))
				switch how {
				case "canceled":
					cancel()
				case "closed while it works":
					_ = h.Close() // it has no errors
				}
			}()
			_, err := h.Search(ctx, "brick")
			if (how == "canceled") != errors.Is(err, context.Canceled) || how == "closed while it works" && (err == nil || !strings.Contains(err.Error(), "the helper was closed")) {
				t.Errorf("got %v", err)
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := h.Search(t.Context(), "brick"); err == nil {
				t.Error("a closed helper answers")
			}
			for _, pid := range <-pids {
				if stat, left := outlives(pid); left {
					t.Errorf("the process %s is left: %s", pid, stat)
				}
			}
		})
	}
}

// outlives reports whether a process that was killed is there for much longer than it
// takes to end.
func outlives(pid string) (stat string, left bool) {
	for range 1000 {
		b, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(b), ") Z ") {
			return "", false
		}
		stat = string(b)
		time.Sleep(10 * time.Millisecond)
	}
	return stat, true
}

// TestNoRuby: an interpreter that is not there is an error.
func TestNoRuby(t *testing.T) {
	t.Parallel()
	h := foreign.New(foreign.Options{Ruby: filepath.Join(t.TempDir(), "none"), Setting: func(string) string { return "" }})
	if _, err := h.Type(t.Context(), "brick"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// TestHostileWork: an answer about a resource that is none is the problem of that resource.
func TestHostileWork(t *testing.T) {
	t.Parallel()
	const typ = `{"answer":{"namevars":["name"],"apply_to":"host","attributes":[{"name":"name"},{"name":"size","property":true}]}}`
	for _, tt := range []struct{ name, answer, want string }{
		{"nothing", `{"answer":null}`, ""},
		{"a text", `{"answer":"x"}`, ""},
		{"an event of no property", `{"answer":{"did":[{"event":{"property":"name","status":"success"}}]}}`, `it answers with the event "success" of "name", which is none`},
		{"an event of no status", `{"answer":{"did":[{"event":{"property":"size","status":"maybe"}}]}}`, `it answers with the event "maybe" of "size", which is none`},
		{"strange events", `{"answer":{"did":[1,null,[],{"event":7}]}}`, `it answers with the event "" of "", which is none`},
		{"strange lines", `{"answer":{"did":[{"line":{"level":"loud","source":"Wall[w](provider=x)"}},{"line":3}],"is":[3,["a"],["size",{":":"absent"}]]}}`, ""},
		{"its own error", `{"answer":{"error":{"class":"Puppet::Error","message":"no clay"}}}`, "no clay"},
		{"another error", `{"error":{"message":"no type"}}`, "no type"},
		{"garbage", "garbage", "it answers with what is no answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := fake(t, time.Minute, "echo '"+typ+"' >&4; ask; echo '{\"answer\":2}' >&4; ask; echo '"+tt.answer+"' >&4; ask")
			s := &site{dir: t.TempDir(), helper: h}
			lines, report := s.applied(t, false, declared("Wall", "w"), declared("Notify", "n"))
			failed := report.Statuses[0]
			if failed.Failed != (tt.want != "") || tt.want != "" && !strings.Contains(strings.Join(lines, "\n"), tt.want) {
				t.Errorf("got %v\n%s", failed, strings.Join(lines, "\n"))
			}
			if !slices.Contains(lines, "Notice: n") {
				t.Errorf("the other resource was not applied: %v", lines)
			}
		})
	}
}

// TestHostileMakes: what a child makes that is none is the problem of what made it.
func TestHostileMakes(t *testing.T) {
	t.Parallel()
	const typ = `{"answer":{"namevars":["name"],"apply_to":"host","generates":true,"attributes":[{"name":"name"}]}}`
	for _, tt := range []struct{ name, answer, want string }{
		{"nothing", `{"answer":null}`, ""},
		{"a number", `{"answer":[7]}`, `"" is no name of a resource type`},
		{"no title", `{"answer":[{"type":"file","title":"","parameters":[]}]}`, "Wall[w] makes what is refused"},
		{"a strange type", `{"answer":[{"type":"../x","title":"x"}]}`, `"../x" is no name of a resource type`},
		{"a strange parameter", `{"answer":[{"type":"notify","title":"x","parameters":[["nothere","1"]]}]}`, "no parameter named 'nothere'"},
		{"strange parameters", `{"answer":[{"type":"notify","title":"x","parameters":[7,[1],{}],"sensitive":7,"line":"x"}]}`, ""},
		{"another of the catalog", `{"answer":[{"type":"notify","title":"n","parameters":[["message","changed"]]}]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body := "echo '" + typ + "' >&4; ask; echo '{\"answer\":2}' >&4; ask; echo '" + tt.answer + "' >&4; ask; echo '{\"answer\":{}}' >&4; ask"
			s := &site{dir: t.TempDir(), helper: fake(t, time.Minute, body)}
			lines, _ := s.applied(t, false, declared("Wall", "w"), declared("Notify", "n"))
			text := strings.Join(lines, "\n")
			if !strings.Contains(text, tt.want) || strings.Contains(text, "Failed to generate") != (tt.want != "") {
				t.Errorf("got\n%s\nwant %s", text, tt.want)
			}
		})
	}
}
