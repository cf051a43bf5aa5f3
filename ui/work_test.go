package ui_test

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
)

// A worker is a place whose enter begins something that takes long.
type worker struct {
	begun, goOn chan struct{}
	total       int64
}

func (w *worker) Scope() screen.Scope    { return screen.InList }
func (w *worker) Resize(_, _ int)        {}
func (w *worker) Update(tea.Msg) tea.Cmd { return nil }
func (w *worker) View() term.Lines       { return nil }
func (w *worker) Disabled(a screen.Action) string {
	return screen.ReasonIf(a != screen.Enter, screen.Unknown)
}

func (w *worker) Handle(screen.Command) tea.Cmd {
	return screen.Send(screen.Work{Words: "saving x.ind", Do: func(ctx context.Context, progress func(done, total int64)) tea.Msg {
		progress(w.total/4, w.total)
		close(w.begun)
		<-ctx.Done()
		<-w.goOn
		return screen.Toast{Text: "save x.ind: " + ctx.Err().Error()}
	}})
}

// What takes long and has no screen shows how much of it is done in the line for
// messages, while everything else goes on, and ctrl+c stops it.
func TestWork(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		total int64
		want  string
	}{
		{"a known end", 8, " ====------------ 25%  saving x.ind  0.5 s  ctrl+c stops it"},
		{"an unknown end", 0, " / saving x.ind  0.5 s  ctrl+c stops it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			now := uitest.Began
			w := &worker{begun: make(chan struct{}), goOn: make(chan struct{}), total: tt.total}
			p := uitest.New(t, ui.Config{
				Log: uitest.Site(t), Now: func() time.Time { return now },
				Places: func(*session.Env) []ui.Place { return []ui.Place{{Key: "3", Name: "Work", Screen: w}} },
			}, 80, 24)
			p.Patience = time.Millisecond
			p.Keys("3", "enter").Not("saving")
			<-w.begun
			now = now.Add(500 * time.Millisecond)
			p.Wait(time.Second)
			if got := p.Line("saving"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			p.Keys("1").Want("- Requests ", strings.TrimSpace(tt.want)).Keys("ctrl+c").Want("stopped; ctrl+c again quits")
			close(w.goOn)
			if !p.Rest(time.Minute) {
				t.Fatal("it goes on")
			}
			p.Want("save x.ind: context canceled").Not("stops it")
			if p.Wait(time.Minute); p.Quit {
				t.Error("one ctrl+c ended the program")
			}
		})
	}
}
