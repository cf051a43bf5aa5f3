package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/host/filelock"
	"indirtui/indirector/host/terminal"
	"indirtui/indirector/probe"
	"indirtui/indirector/probe/hold"
	"indirtui/traces"
	"indirtui/ui/attached"
	"indirtui/ui/session"
)

// A watching is the processes that are watched in a session, beside its engine.
type watching struct {
	engine   *engine.Engine
	listener *probe.Listener
	terminal *terminal.Terminal // of the command that was started; nil if none was
	dir      *filelock.TempDir  // of the probe; nil is none
	notes    []string
	unhold   func() // ends what lets the debugger hold their requests
}

var _ attached.Source = (*watching)(nil)

// watchProcesses opens a socket for processes, whose requests come into the store of an engine,
// and are held by h. No path is the default one.
func watchProcesses(e *engine.Engine, h *hold.Holder, path, forUser string) (*watching, error) {
	if path == "" {
		var err error
		if path, err = probe.DefaultPath(); err != nil {
			return nil, err
		}
	}
	render := engine.NewRenderer(e.Redactor).Render
	l, err := probe.Listen(probe.Options{
		Store: e.Store, Path: path, For: forUser, RedactText: e.Redactor.Text, Holder: h,
		Render: func(model string, text []byte) traces.Value {
			v, err := format.DecodeJSON(text, format.Limits{})
			if err != nil {
				text, n := e.Redactor.Text(string(text))
				return traces.Value{Model: model, Format: "text", Body: []byte(text), Size: len(text), Redacted: n}
			}
			return render(model, v)
		},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { h.Follow(ctx, l) })
	return &watching{engine: e, listener: l, unhold: func() { cancel(); following.Wait() }}, nil
}

// start starts a command with the probe. What it writes is printed to out, line by
// line.
func (w *watching) start(words []string, noTraceparent bool, out io.Writer) error {
	if err := probe.WriteFiles(w.dir.Path); err != nil {
		return err
	}
	cmd, note, err := probe.Launch{Argv: words, Env: os.Environ(), Dir: w.dir.Path, Socket: w.listener.Path(), NoTraceparent: noTraceparent}.Command()
	if err != nil {
		return err
	}
	if note != "" {
		w.notes = append(w.notes, note)
	}
	w.terminal, err = terminal.Start(cmd, terminal.Options{
		Line:    func(text string) { fmt.Fprintln(out, clean(text)) },
		Changed: w.engine.Store.Notify,
	})
	return err
}

// Processes implements attached.Source, as the others do.
func (w *watching) Processes() []probe.Process { return w.listener.Processes() }

func (w *watching) Terminal() *terminal.Terminal { return w.terminal }

func (w *watching) Guide() string { return probe.Guide(w.listener.Path(), "") }

// source is what is watched, for the line of tabs.
func (w *watching) source() string {
	if titles := probe.Titles(w.Processes()); titles != "" {
		return "attached: " + titles
	}
	if all := w.Processes(); len(all) > 0 {
		return "attached: " + all[len(all)-1].Title() + " has gone"
	}
	return "attached: no process"
}

// tables are the routes that processes have announced.
func (w *watching) tables() (all []session.Table) {
	for _, p := range w.Processes() {
		t := session.Table{Process: p.Name, Title: p.Title(), Routes: indirector.Routes{}}
		for _, r := range w.listener.Routes(p.Name) {
			t.Routes[r.Indirection] = indirector.Route{Primary: r.Primary, Cache: r.Cache}
		}
		if len(t.Routes) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// several reports whether more than one process has come.
func (w *watching) several() bool { return len(w.Processes()) > 1 }

// settle waits until the last lines of all processes were read.
func (w *watching) settle() {
	late := time.After(settling)
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		gone := true
		for _, p := range w.Processes() {
			gone = gone && p.Gone
		}
		if gone {
			tick.Stop()
			return
		}
		select {
		case <-tick.C:
		case <-late:
			return
		}
	}
}

// summary reports what was watched, and what of it is missing.
func (w *watching) summary(std Streams) {
	all := w.Processes()
	for i := range all {
		p := &all[i]
		text := fmt.Sprintf("%s: %d requests", p.Title(), p.Requests)
		if p.Dropped > 0 {
			text += fmt.Sprintf(", %d lines dropped", p.Dropped)
		}
		if p.Faults > 0 {
			text += fmt.Sprintf(", %d faults of the probe, the last one %s", p.Faults, p.Fault)
		}
		switch {
		case p.Why != "":
			text += ", " + p.Why
		case !p.Gone: // the command was that of a daemon
			text += "; it goes on, and is watched no longer"
		}
		std.report(text)
	}
	if len(all) == 0 {
		std.report("no process has attached: no Puppet ran, or it runs without RUBYOPT")
	}
}

// close ends the command and the socket.
func (w *watching) close() error {
	if w.terminal != nil {
		w.terminal.Stop()
	}
	err := w.listener.Close()
	w.unhold()
	return errors.Join(err, w.dir.Remove())
}
