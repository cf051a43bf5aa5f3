package ui

import (
	"reflect"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/widget"
)

// A typeahead makes keys wait for what the key before them has begun. A key may open
// a prompt, which takes a message; the keys that are typed ahead belong into it,
// whether the user or a script types them.
type typeahead struct {
	inflight int          // commands that the last key has begun
	round    int          // counts releases: what was let go does not count any more
	queue    []tea.KeyMsg // typed ahead
	free     []tea.Cmd    // commands that no key waits for
}

// patience is how long a key waits at most. Commands that take longer should
// have been run by screen.Later.
const patience = 50 * time.Millisecond

// maxQueue bounds what is typed ahead.
const maxQueue = 4096

type (
	// settled is the message of a command that keys wait for.
	settled struct {
		round int
		msg   tea.Msg
	}
	release struct{ round int }
)

// typed takes keys, of which a slow line may deliver several at once.
func (r *Model) typed(msg tea.KeyMsg) tea.Cmd {
	r.clicked = clicked{}
	if len(r.typeahead.queue) >= maxQueue {
		return nil
	}
	if msg.Type == tea.KeyRunes && len(msg.Runes) > 1 && !msg.Paste {
		for i, one := range msg.Runes {
			r.typeahead.queue = append(r.typeahead.queue, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{one}, Alt: msg.Alt && i == 0})
		}
	} else {
		r.typeahead.queue = append(r.typeahead.queue, msg)
	}
	return r.play()
}

// play runs the waiting keys, until one of them has begun something.
func (r *Model) play() tea.Cmd {
	var cmds []tea.Cmd
	for r.typeahead.inflight == 0 && len(r.typeahead.queue) > 0 {
		msg := r.typeahead.queue[0]
		r.typeahead.queue = r.typeahead.queue[1:]
		if msg.Alt && !r.knows(msg) {
			msg.Alt = false
			r.typeahead.queue = append([]tea.KeyMsg{msg}, r.typeahead.queue...)
			msg = tea.KeyMsg{Type: tea.KeyEscape}
		}
		cmds = append(cmds, r.gated(r.key(msg)))
	}
	if len(r.typeahead.queue) > 0 {
		round := r.typeahead.round
		r.typeahead.free = append(r.typeahead.free, r.env.After(patience, release{round}))
	}
	return tea.Batch(cmds...)
}

// knows reports whether a key with alt means something here. If not it is an
// escape and another key, which a slow line has delivered at once: to a terminal
// that is the same.
func (r *Model) knows(msg tea.KeyMsg) bool {
	if r.width < MinWidth || r.height < MinHeight {
		return false
	}
	top := r.shown()
	if top.Captures() {
		return widget.Edits(msg)
	}
	return msg.Type != tea.KeySpace && r.env.Keys.Find(screen.KeyOf(msg), top.Scope()) != nil
}

// gated returns cmd so that keys wait for it.
func (r *Model) gated(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	r.typeahead.inflight++
	round := r.typeahead.round
	cmd = r.cfg.guard(cmd)
	return func() tea.Msg { return settled{round, cmd()} }
}

// settle takes the message of a command that keys wait for. What it begins is
// waited for too, but not what a screen does with its own answers.
func (r *Model) settle(m settled) tea.Cmd {
	if m.round == r.typeahead.round {
		r.typeahead.inflight--
	}
	var cmd tea.Cmd
	switch msg := m.msg.(type) {
	case nil:
	case tea.BatchMsg:
		cmds := make([]tea.Cmd, len(msg))
		for i, c := range msg {
			cmds[i] = r.gated(c)
		}
		cmd = tea.Batch(cmds...)
	default:
		switch {
		case isTea(msg):
			cmd = func() tea.Msg { return msg }
		case isAnswer(msg):
			cmd = r.update(msg)
		default:
			cmd = r.gated(r.update(msg))
		}
	}
	return tea.Batch(cmd, r.play())
}

// release lets keys go on although something is not done.
func (r *Model) release(m release) tea.Cmd {
	if m.round != r.typeahead.round || r.typeahead.inflight == 0 {
		return nil
	}
	r.typeahead.round++
	r.typeahead.inflight = 0
	return r.play()
}

// isAnswer reports whether a message is the answer to a command of a screen.
func isAnswer(msg tea.Msg) bool {
	_, ok := msg.(screen.For)
	return ok
}

// isTea reports whether a message is for Bubble Tea itself: quit, suspend, a
// sequence.
func isTea(msg tea.Msg) bool {
	return reflect.TypeOf(msg).PkgPath() == reflect.TypeFor[tea.QuitMsg]().PkgPath()
}
