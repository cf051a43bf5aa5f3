package ui

import (
	"context"
	"slices"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A work goes on without a screen of its own. It is shown in the line for
// messages. As a screen it only takes the ticks of its clock.
type work struct {
	words       string
	cancel      context.CancelFunc
	done, total atomic.Int64 // total is 0 while it is unknown
	wait        widget.Wait
}

func (w *work) Scope() screen.Scope           { return screen.Everywhere }
func (w *work) Resize(_, _ int)               {}
func (w *work) Handle(screen.Command) tea.Cmd { return nil }
func (w *work) View() term.Lines              { return nil }

func (w *work) Update(msg tea.Msg) tea.Cmd {
	cmd, _ := w.wait.Tick(msg)
	return cmd
}

// worked comes when a work has ended, with its message.
type worked struct {
	work *work
	msg  tea.Msg
}

// startWork begins a work, in a command that keys do not wait for.
func (r *Model) startWork(msg screen.Work) tea.Cmd {
	ctx, cancel := context.WithCancel(r.cfg.ctx)
	w := &work{words: msg.Words, cancel: cancel}
	r.works = append(r.works, w)
	progress := func(done, total int64) {
		w.done.Store(done)
		w.total.Store(total)
	}
	return tea.Batch(w.wait.Begin(&r.env.Shared, w), screen.Later(func() tea.Msg {
		defer cancel()
		return worked{w, msg.Do(ctx, progress)}
	}))
}

// endWork forgets a work, and does what its message is for.
func (r *Model) endWork(m worked) tea.Cmd {
	m.work.wait.End()
	r.works = slices.DeleteFunc(r.works, func(w *work) bool { return w == m.work })
	return screen.Send(m.msg)
}

// stopWorks ends all of them, and reports whether there were any.
func (r *Model) stopWorks() bool {
	for _, w := range r.works {
		w.cancel()
	}
	return len(r.works) > 0
}

// workLine is the oldest work that is worth showing.
func (r *Model) workLine() (l term.Line) {
	for _, w := range r.works {
		if !w.wait.Long() {
			continue
		}
		l.Space(1)
		w.wait.PutPart(&l, term.Plain, w.words, w.done.Load(), w.total.Load())
		if b := r.env.Keys.Of(screen.Stop, screen.Everywhere); b != nil {
			l.Put(term.Quiet, "  "+b.Key()+" stops it")
		}
		break
	}
	return l
}
