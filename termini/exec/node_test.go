//go:build unix

package exec_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/termini/exec"
	"indirtui/traces"
)

type settings map[string]string

func (s settings) Get(name string) (value, source string) { return s[name], "test" }

// ask runs a classifier on the node n1 and returns what came of it, and its
// trace.
func ask(ctx context.Context, t *testing.T, s settings) (*model.Node, *traces.Trace, error) {
	t.Helper()
	terminus, err := exec.Node.New(indirector.Env{
		Settings: s, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Do: func(context.Context, *indirector.Request) (indirector.Response, error) {
			return indirector.Response{}, indirector.ErrNotFound
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	live := &traces.Live{Context: ctx, Trace: new(traces.Trace), Step: traces.Terminus}
	inst, err := terminus.(indirector.Finder).Find(live, &indirector.Request{Key: "n1", Environment: "production"})
	node, _ := inst.(*model.Node)
	return node, live.Trace, err
}

// script writes an executable file.
func script(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "enc")
	if err := child.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAnswers holds what a classifier prints against what Puppet makes of it.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const load = "Could not load external node results for n1: "
	tests := []struct {
		name, stdout string
		want         string // the data of the node
		err          string // Puppet's words; a final … stands for anything
	}{
		{"TERM-ENC-06 all keys", "classes: {ntp: {servers: [a]}, web: }\nparameters: {a: 1}\nenvironment: staging\nother: x", `{"name"=>"n1", "environment"=>"staging", "classes"=>{"ntp"=>{"servers"=>["a"]}, "web"=>nil}, "parameters"=>{"a"=>1}}`, ""},
		{"TERM-ENC-06 list of classes", "classes: [a, b]", `{"name"=>"n1", "environment"=>"production", "classes"=>["a", "b"]}`, ""},
		{"TERM-ENC-06 one class", "classes: a", `{"name"=>"n1", "environment"=>"production", "classes"=>"a"}`, ""},
		{"TERM-ENC-06 nothing known", "x: 1", `{"name"=>"n1", "environment"=>"production"}`, ""},
		{"TERM-ENC-06 null environment", "environment: ~", `{"name"=>"n1", "environment"=>"production"}`, ""},
		{"TERM-ENC-05 symbols", ":classes: [a]\n:environment: :staging", `{"name"=>"n1", "environment"=>"staging", "classes"=>["a"]}`, ""},
		{"TERM-ENC-05 list", "- classes\n- a", `{"name"=>"n1", "environment"=>"production"}`, ""},
		{"TERM-ENC-05 list of pairs", "- [classes, [a]]", `{"name"=>"n1", "environment"=>"production", "classes"=>["a"]}`, ""},
		{"TERM-ENC-05 integer key", "1: a", "", load + "key is a Integer, not a string or symbol"},
		{"TERM-ENC-05 boolean key", "true: a", "", load + "key is a TrueClass, not a string or symbol"},
		{"TERM-ENC-05 scalar", "just words", "", load + "undefined method `inject' for \"just words\":String"},
		{"TERM-ENC-05 nothing but ---", "---", "", load + "undefined method `inject' for false:FalseClass"},
		{"TERM-ENC-05 bad YAML", "a: [", "", load + "(<unknown>): …"},
		{"TERM-ENC-05 foreign tag", "--- !ruby/object:OpenStruct {}", "", load + "(<unknown>): Tried to load unspecified class: OpenStruct"},
		{"TERM-ENC-05 date", "a: 2021-01-02", "", load + "(<unknown>): Tried to load unspecified class: Date"},
		{"parameters that are a list", "parameters: [a]", "", "no implicit conversion of String into Integer"},
		{"parameters that are words", "parameters: a", "", "string not matched"},
		{"parameters that are a number", "parameters: 3", "", "undefined method `[]=' for 3:Integer"},
		{"TERM-ENC-05 list of numbers", "- 5", "", load + "key is a Integer, not a string or symbol"},
		{"TERM-ENC-05 list of mappings", "- {a: 1}", "", load + "key is a NilClass, not a string or symbol"},
		{"TERM-ENC-05 list of floats", "- 1.5", "", load + "undefined method `[]' for 1.5:Float"},
		{"environment that is a number", "environment: 3", "", "undefined method `name' for 3:Integer"},
		{"the environment is no parameter", "parameters: {environment: x, a: b}", `{"name"=>"n1", "environment"=>"production", "parameters"=>{"a"=>"b"}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			enc := script(t, "#!/bin/sh\ncat <<'END'\n"+tt.stdout+"\nEND\n")
			node, _, err := ask(t.Context(), t, settings{"external_nodes": enc})
			if tt.err != "" {
				checkMessage(t, err, tt.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := node.Data().Inspect(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func checkMessage(t *testing.T, err error, want string) {
	t.Helper()
	f := (*indirector.Failure)(nil)
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a Failure", err)
	}
	want, open := strings.CutSuffix(want, "…")
	if open && !strings.HasPrefix(f.Message, want) || !open && f.Message != want {
		t.Errorf("got  %s\nwant %s", f.Message, want)
	}
	if f.Hidden == "" {
		t.Errorf("the failure hides nothing: %+v", f)
	}
}

// TestCommand is about how the command is run. In commands and messages ENC
// stands for the path of the script.
func TestCommand(t *testing.T) {
	t.Parallel()
	const found = "Failed to find n1 via exec: Execution of 'ENC"
	tests := []struct {
		name, script, command string
		want                  string // the classes of the node
		err                   string
		note                  string
	}{
		{"TERM-ENC-01 arguments without a shell", "#!/bin/sh\necho \"classes: [\\\"$*\\\"]\"", "ENC  -v\t$HOME 'a b'", `["-v $HOME 'a b' n1"]`, "", ""},
		{"TERM-ENC-02 exit code", "#!/bin/sh\necho some words\nexit 3", "ENC", "", found + " n1' returned 3: some words", "the classifier failed (exit 3) and wrote nothing to stderr"},
		{"TERM-ENC-02 killed by a signal", "#!/bin/sh\nkill -9 $$", "ENC", "", found + " n1' returned : ", "the classifier was ended by a signal: signal: killed"},
		{"TERM-ENC-03 stderr of a success", "#!/bin/sh\necho careful >&2\necho 'classes: [a]'", "ENC", `["a"]`, "", `the classifier wrote to stderr: "careful", which Puppet does not show`},
		{"no interpreter", "#!/no/such/interpreter\n", "ENC", "", found + " n1' returned 1: ", "the classifier could not be started: no such file: the interpreter of the first line of ENC"},
		{"no first line", "echo 'classes: [a]'", "ENC", `["a"]`, "", ""},
		{"locale and user", "#!/bin/sh\necho \"classes: ['$LANG$LC_ALL-$HOME$USER$LOGNAME-']\"", "ENC", `["CC--"]`, "", ""},
		{"no input", "#!/bin/sh\necho \"classes: ['$(cat)']\"", "ENC", `[""]`, "", ""},
		{"something holds the output", "#!/bin/sh\necho 'classes: [a]'\nsleep 300 &\n", "ENC", `["a"]`, "", "the classifier ended, but something that it started held its output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			enc := script(t, tt.script)
			fill := strings.NewReplacer("ENC ", enc+" ", "ENC", enc)
			tt.note = fill.Replace(tt.note)
			node, trace, err := ask(t.Context(), t, settings{"external_nodes": fill.Replace(tt.command)})
			if tt.err != "" {
				checkMessage(t, err, fill.Replace(tt.err))
			} else if err != nil {
				t.Fatal(err)
			} else if got := node.Classes.Inspect(); got != tt.want {
				t.Errorf("classes: got %s, want %s", got, tt.want)
			}
			if got := strings.Trim(fmt.Sprint(trace.Notes), "[]"); got != tt.note {
				t.Errorf("notes: got %q, want %q", got, tt.note)
			}
			if len(trace.Spans) == 0 || trace.Spans[0].Kind != traces.Exec || !strings.HasPrefix(trace.Spans[0].Name, "exec "+enc) {
				t.Errorf("spans: %+v", trace.Spans)
			}
		})
	}
}

// TestNoCommand is about settings that name none. Rule TERM-ENC-01.
func TestNoCommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"none":    "You must set the 'external_nodes' parameter to use the external node terminus",
		"enc":     "You must set the exec parameter to a fully qualified command",
		"":        "You must set the exec parameter to a fully qualified command",
		"./enc x": "You must set the exec parameter to a fully qualified command",
	} {
		_, _, err := ask(t.Context(), t, settings{"external_nodes": command})
		f := (*indirector.Failure)(nil)
		if !errors.As(err, &f) || f.Message != want || f.Class != "ArgumentError" {
			t.Errorf("%q: got %v, want %s", command, err, want)
		}
	}
}

// TestLimit kills a command that takes too long, and what it started.
func TestLimit(t *testing.T) {
	t.Parallel()
	enc := script(t, "#!/bin/sh\necho early >&2\nsleep 300\n")
	var got, want string
	// A busy machine may need longer than that to start it: then it gets more.
	for _, limit := range []string{"1s", "10s", "60s"} {
		_, trace, err := ask(t.Context(), t, settings{"external_nodes": enc, "external_nodes_timeout": limit})
		checkMessage(t, err, "Failed to find n1 via exec: Execution of '"+enc+" n1' returned : ")
		if trace.Spans[0].Took > 4*time.Minute {
			t.Errorf("what it started was waited for: %v", trace.Spans[0].Took)
		}
		got, want = fmt.Sprint(trace.Notes), "[the classifier was killed: it took longer than "+limit+" (external_nodes_timeout): \"early\", which Puppet does not show]"
		if got == want {
			return
		}
	}
	t.Errorf("got %q, want %q", got, want)
}

// TestCancel gives up when the caller does.
func TestCancel(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	if err := syscall.Mkfifo(started, 0o666); err != nil {
		t.Fatal(err)
	}
	enc := script(t, "#!/bin/sh\necho > "+started+"\nsleep 300\n")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(started) // ends when the script has written
		cancel()
	}()
	_, trace, err := ask(ctx, t, settings{"external_nodes": enc})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if got := fmt.Sprint(trace.Notes); !strings.HasPrefix(got, "[the classifier was stopped after ") || !strings.HasSuffix(got, " s, as the request was cancelled]") {
		t.Errorf("got %s", got)
	}
}

// TestTooMuch stops a command that never ends to print.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	_, trace, err := ask(t.Context(), t, settings{"external_nodes": script(t, "#!/bin/sh\nexec yes\n")})
	if err == nil || !strings.Contains(fmt.Sprint(trace.Notes), "the classifier was killed: it printed more than 64 MiB") {
		t.Errorf("got %q", trace.Notes)
	}
	if len(err.Error()) > 1<<20 {
		t.Errorf("the message has %d bytes", len(err.Error()))
	}
}

func TestBadLimit(t *testing.T) {
	t.Parallel()
	_, err := exec.Node.New(indirector.Env{Settings: settings{"external_nodes_timeout": "soon"}})
	if err == nil || !strings.Contains(err.Error(), "external_nodes_timeout (test)") {
		t.Errorf("got %v, want an error that names the setting and its place", err)
	}
}
