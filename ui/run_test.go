package ui_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
)

// A tty is what the program writes to, and reports when a text was written.
type tty struct {
	mu   sync.Mutex
	b    bytes.Buffer
	want map[string]chan struct{}
}

func (w *tty) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p)
	for text, seen := range w.want {
		if strings.Contains(w.b.String(), text) {
			close(seen)
			delete(w.want, text)
		}
	}
	return len(p), nil
}

func (w *tty) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// on returns a channel that is closed when text has been written.
func (w *tty) on(text string) <-chan struct{} {
	seen := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.want == nil {
		w.want = map[string]chan struct{}{}
	}
	w.want[text] = seen
	return seen
}

const (
	altScreen   = "\x1b[?1049h"
	mainScreen  = "\x1b[?1049l"
	showsCursor = "\x1b[?25h"
)

// run starts the program as a terminal would, and returns when it has ended.
func run(t *testing.T, cfg ui.Config, during func(in io.Writer, out *tty)) (ui.Exit, string) {
	t.Helper()
	r, w := io.Pipe()
	out := new(tty)
	cfg.Log, cfg.In, cfg.Out, cfg.Zone = uitest.Site(t), r, out, time.UTC
	cfg.Theme = &term.Theme{Glyphs: term.ASCII, Palette: term.NoStyle}
	started := out.on(altScreen)
	done := make(chan ui.Exit, 1)
	go func() { done <- ui.Run(t.Context(), cfg) }()
	<-started
	during(w, out)
	exit := <-done
	_ = w.Close()
	return exit, out.String()
}

func TestRunRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config func(*ui.Config)
		during func(t *testing.T, cfg *ui.Config, in io.Writer)
		code   int
		want   string
	}{
		{"q", nil, func(_ *testing.T, _ *ui.Config, in io.Writer) { _, _ = io.WriteString(in, "q") }, 0, "recording: r.jsonl"},
		{"panic of a goroutine", nil, func(_ *testing.T, cfg *ui.Config, _ io.Writer) { cfg.Guard.Crash("out of cheese", []byte("stack")) }, 70, "out of cheese"},
		{"panic of a command", func(cfg *ui.Config) {
			cfg.Commands = func(*session.Env) session.Commander { return panics{} }
		}, func(_ *testing.T, _ *ui.Config, in io.Writer) { _, _ = io.WriteString(in, ":boom\r") }, 70, "a bug of ours: boom"},
		{"panic of a screen", func(cfg *ui.Config) {
			cfg.Places = func(*session.Env) []ui.Place { return []ui.Place{{Key: "3", Name: "Bad", Screen: bad{}}} }
		}, func(_ *testing.T, _ *ui.Config, in io.Writer) { _, _ = io.WriteString(in, "3") }, 70, "bad screen"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := ui.Config{Guard: new(ui.Guard)}
			if tt.config != nil {
				tt.config(&cfg)
			}
			exit, out := run(t, cfg, func(in io.Writer, _ *tty) { tt.during(t, &cfg, in) })
			if exit.Code() != tt.code {
				t.Errorf("code: got %d, want %d (%v)", exit.Code(), tt.code, exit.Err)
			}
			if strings.LastIndex(out, mainScreen) < strings.LastIndex(out, altScreen) || strings.LastIndex(out, showsCursor) < 0 {
				t.Errorf("the terminal was not restored: %q", out[max(0, len(out)-200):])
			}
			var report strings.Builder
			if err := exit.Report(&report, "r.jsonl"); err != nil || !strings.Contains(report.String(), tt.want) {
				t.Errorf("said %q, want %q", report.String(), tt.want)
			}
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	out := new(tty)
	started := out.on(altScreen)
	done := make(chan ui.Exit, 1)
	go func() { done <- ui.Run(ctx, ui.Config{Log: uitest.Site(t), In: r, Out: out}) }()
	<-started
	cancel()
	if exit := <-done; exit.Code() != 0 {
		t.Errorf("got %+v, want code 0", exit)
	}
}

// panics is a Commander whose command panics.
type panics struct{ commands }

func (panics) Run(text string) (tea.Cmd, error) { return func() tea.Msg { panic(text) }, nil }

// bad is a screen that panics when it is shown.
type bad struct{ place }

func (bad) View() term.Lines { panic("bad screen") }

// What panicked, and the path of a recording, may hold what a terminal obeys.
func TestReportIsClean(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	e := ui.Exit{Panic: "a\x1b]2;b\n\u202ec", Stack: []byte("d\x1bc\n\te\r\n")}
	if err := e.Report(&out, "r\x1bc.jsonl"); err != nil {
		t.Fatal(err)
	}
	want := `d\x1bc` + "\n\te" + `\r` + "\n\nindirtui: a bug of ours: " + `a\x1b]2;b\n\u202ec` + "\n" + `recording: r\x1bc.jsonl` + "\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
