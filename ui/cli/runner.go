package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/debugger"
	"indirtui/indirector/engine"
	"indirtui/traces/store"
	"indirtui/ui/command"
	"indirtui/ui/console"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
)

// A runner runs lines as they are written behind the colon, where there is no
// screen. What the interactive program does with the commands of its screens, it
// does one after the other. It belongs to one goroutine.
type runner struct {
	ctx      context.Context
	log      *store.Store
	debugger *debugger.Debugger // nil in a recording
	env      *session.Env
	console  *console.Console
	take     func(*job, tea.Msg) // does what is left to be done with a message
	msgs     chan reply
	jobs     map[*job]bool // those that have not ended
	last     uint64        // the request that was answered last
	undos    screen.Undos
	playing  <-chan struct{} // closed when the demo has played; nil if there is none
}

// A job is all that one line has set going.
type job struct{ left int }

type reply struct {
	job *job
	msg tea.Msg
}

func newRunner(ctx context.Context, log *store.Store, take func(*job, tea.Msg)) runner {
	return runner{ctx: ctx, log: log, take: take, msgs: make(chan reply), jobs: map[*job]bool{}}
}

// engineEnv is what commands may use where there is no screen.
func engineEnv(e *engine.Engine, now func() time.Time) *session.Env {
	return &session.Env{
		Shared: screen.Shared{Theme: term.NewTheme(func(string) string { return "" }, nil), Now: now, Zone: time.Local},
		Log:    e.Store, Debugger: e.Debugger, Routes: e, RedactText: e.Redactor.Text, Problems: func() []string { return problemsOf(e) }, State: session.State{Writable: e.Writes()},
	}
}

// own are the commands that every runner has.
func (r *runner) own() map[string]func(string) (tea.Cmd, error) {
	return map[string]func(string) (tea.Cmd, error){
		"wait": func(rest string) (tea.Cmd, error) { return nil, r.wait(rest) },
		"sleep": func(rest string) (tea.Cmd, error) {
			d, err := time.ParseDuration(rest)
			if err != nil || d < 0 || d > time.Hour {
				return nil, &command.UsageError{What: fmt.Sprintf("sleep %s: how long?", rest), Advice: "write 250ms or 2s; an hour is the most"}
			}
			return nil, r.until(d, func() bool { return false })
		},
		"echo": func(rest string) (tea.Cmd, error) {
			r.console.Print(rest)
			return nil, nil
		},
		"undo": func(string) (tea.Cmd, error) { return r.change("undone ", r.undos.Undo) },
		"redo": func(string) (tea.Cmd, error) { return r.change("redone ", r.undos.Redo) },
	}
}

// change takes back the last change, or does it again.
func (r *runner) change(did string, step func() (string, tea.Cmd)) (tea.Cmd, error) {
	text, do := step()
	if text == "" {
		return nil, fmt.Errorf("nothing can be %s", strings.TrimSpace(did))
	}
	r.console.Print(did + text)
	return do, nil
}

// end ends what still runs, and waits for it.
func (r *runner) end(cancel context.CancelFunc) {
	if r.debugger != nil {
		r.debugger.Close()
	}
	cancel()
	for len(r.jobs) > 0 {
		r.receive(<-r.msgs)
	}
}

// held is how many requests are held.
func (r *runner) held() int {
	if r.debugger == nil {
		return 0
	}
	return len(r.debugger.Held())
}

// line runs one line, and waits until it is done or a request is held; not with
// & behind it.
func (r *runner) line(text string) error {
	text, aside := strings.CutSuffix(text, " &")
	before := r.held()
	do, err := r.console.Do(text)
	if err != nil {
		return err
	}
	j := &job{}
	r.jobs[j] = true
	r.start(j, do)
	if aside {
		return nil
	}
	name, _, _ := strings.Cut(text, " ")
	return r.until(0, func() bool {
		held := r.held()
		switch name {
		case "step", "over", "finish", "continue", "inject", "abort", "break", "breaks":
			return !r.jobs[j] && (held > 0 || len(r.jobs) == 0)
		}
		return !r.jobs[j] || held > before
	})
}

// start runs a command in a goroutine of its own, for a job.
func (r *runner) start(j *job, do tea.Cmd) {
	if do == nil {
		if j.left == 0 {
			delete(r.jobs, j)
		}
		return
	}
	j.left++
	go func() { r.msgs <- reply{j, do()} }()
}

// until receives messages until done returns true; a limit of zero is none, and
// reaching a limit is no error.
func (r *runner) until(limit time.Duration, done func() bool) error {
	var up <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		up = timer.C
	}
	for !done() {
		select {
		case m := <-r.msgs:
			r.receive(m)
		case <-r.changed():
		case <-r.playing:
			r.playing = nil
		case <-up:
			return nil
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
	}
	return nil
}

// changed receives when requests are held or go on.
func (r *runner) changed() <-chan struct{} {
	if r.debugger == nil {
		return nil
	}
	return r.debugger.Changed()
}

// receive does with a message what the program would do.
func (r *runner) receive(m reply) {
	m.job.left--
	switch msg := m.msg.(type) {
	case tea.BatchMsg:
		for _, do := range msg {
			r.start(m.job, do)
		}
	case screen.Work:
		r.start(m.job, func() tea.Msg { return msg.Do(r.ctx, func(_, _ int64) {}) })
	case screen.Background:
		r.start(m.job, msg.Cmd)
	case screen.For:
		if msg.Screen == screen.Screen(r.console) {
			r.start(m.job, r.console.Update(msg.Msg))
		}
	case session.Set:
		r.start(m.job, r.env.Apply(msg))
	default:
		if done, is := msg.(screen.Done); is && done.Change != nil {
			r.undos.Add(*done.Change)
		}
		r.take(m.job, msg)
	}
	if m.job.left == 0 {
		delete(r.jobs, m.job)
	}
}

// maxWait is how long a script waits for what may never come.
const maxWait = 5 * time.Minute

// wait waits until all has ended, or until requests are held.
func (r *runner) wait(rest string) error {
	words := strings.Fields(rest)
	ended := func() bool { return len(r.jobs) == 0 && r.playing == nil }
	if len(words) == 0 {
		if err := r.until(maxWait, ended); err != nil {
			return err
		}
		if !ended() {
			return fmt.Errorf("waited %v, and not all requests have ended", maxWait)
		}
		return nil
	}
	n := 1
	if len(words) == 2 {
		n, _ = strconv.Atoi(words[1])
	}
	if words[0] != "held" || len(words) > 2 || n < 1 {
		return &command.UsageError{What: fmt.Sprintf("wait %s is not understood", rest), Advice: "write wait, wait held or wait held 3"}
	}
	held := func() bool { return r.held() >= n }
	if err := r.until(maxWait, func() bool { return held() || ended() }); err != nil {
		return err
	}
	if !held() {
		return fmt.Errorf("%d requests are held, and nothing is on its way that could be", r.held())
	}
	return nil
}
