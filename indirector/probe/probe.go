// Package probe watches Puppet processes in which the probe of this program runs:
// a file of Ruby that reports each request of the indirector over a Unix socket.
//
// A [Listener] owns the socket. Each process, each fork of one and each instance
// of JRuby opens a pair of connections: one that it writes and never reads, one that
// it reads and never writes. In JRuby a thread that waits in a read locks its
// socket, so that one connection for both would let requests wait.
//
// What a process writes are lines of JSON, which are those of a recording with a
// few more kinds: see docs/ATTACH.md. They become requests of a store, with numbers
// of the store's: what was asked may be reported before what asked it, and what a
// process asks of another is below the request that sent it. A line that is none
// ends its connection, never the program.
package probe

import (
	"context"
	"log/slog"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
)

// Options are those of a Listener. Store is required.
type Options struct {
	Store *store.Store
	// Path is the socket; its directory is made, with the mode 0700, if it is not
	// there.
	Path string
	// For is the user who may connect besides the one of this program and root, and
	// whom the socket and its directory are given to. "" is none.
	For string
	// Render shows a value, redacted. If nil, values are kept as they came.
	Render func(model string, json []byte) traces.Value
	// RedactText redacts a text, and counts redactions. Nil redacts nothing.
	RedactText func(string) (string, int)
	// Holder decides about requests that are held. If nil, they go on at once.
	Holder Holder
	// Log gets what goes wrong. Nil is nowhere.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// A Holder decides what becomes of a request that is held.
type Holder interface {
	// Held waits until it is decided, or until ctx ends: then the request has gone
	// on, or its process has, which is the cause. It is called from a goroutine of
	// its own.
	Held(ctx context.Context, h *Held) Go
	// Ended completes a request that has ended, with what was done to it here. It is
	// called for every request, and must not wait.
	Ended(t *traces.Trace)
	// Swapped reports what a process has answered to a [Swap].
	Swapped(p Process, id int, text string, refused bool)
}

func (o *Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

func (o *Options) redacted(text string) string {
	if o.RedactText != nil {
		text, _ = o.RedactText(text)
	}
	return text
}

func (o *Options) render(model string, text []byte) traces.Value {
	if o.Render != nil {
		return o.Render(model, text)
	}
	return traces.Value{Model: model, Format: "json", Body: text, Size: len(text)}
}

// ended completes a request that is about to be handed over.
func (o *Options) ended(t *traces.Trace) {
	if o.Holder != nil {
		o.Holder.Ended(t)
	}
}

func (o *Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}
