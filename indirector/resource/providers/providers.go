// Package providers does resources on a system: it reads what is, and makes it what
// it should be. A provider never decides: the transaction does. Everything that it
// touches goes through a System, so that recorded systems can be played.
package providers

import (
	"context"
	"io"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// A Provider reads and changes resources of one type. It belongs to one run, or to one
// request, and keeps what it read for many; it is for one goroutine. Errors are those
// of Puppet: an *indirector.Failure, or an *ExecutionFailure.
type Provider interface {
	// Retrieve returns the properties that r has as they are, ensure first; those that
	// are absent have the symbol absent. Rule RES-EV-01.
	Retrieve(ctx context.Context, s System, r *types.Resource) ([]data.Pair, error)
	// Set makes one property what it should be. Rule RES-EV-02.
	Set(ctx context.Context, s System, r *types.Resource, property string) error
}

// What some providers can do besides.
type (
	// A Flusher writes what Set prepared, once for each resource. Rule RES-PROV-05.
	Flusher interface {
		Flush(ctx context.Context, s System, r *types.Resource) error
	}
	// A Contents opens the content that a resource should have, where only sums are
	// compared. The caller closes it.
	Contents interface {
		Contents(ctx context.Context, s System, r *types.Resource) (io.ReadCloser, error)
	}
	// A Refresher takes the events of others. Rule RES-REF-07.
	Refresher interface {
		Refresh(ctx context.Context, s System, r *types.Resource) error
	}
	// A Prefetcher reads once for all resources of it in a run.
	Prefetcher interface {
		Prefetch(ctx context.Context, s System, all []*types.Resource) error
	}
	// A Lister finds the resources that are there, each with its properties.
	Lister interface {
		Instances(ctx context.Context, s System) ([]Instance, error)
	}
	// A Comparer compares properties that only the system can compare: names of accounts,
	// versions of packages. If ok is false, the type compares. Rule RES-TYPE-05.
	Comparer interface {
		InSync(ctx context.Context, s System, r *types.Resource, property string, is data.Value) (in, ok bool, err error)
	}
	// A Generator makes more resources: at the start of a run, or when r is evaluated.
	Generator interface {
		Generate(ctx context.Context, s System, r *types.Resource) ([]*types.Resource, error)
	}
)

// An Instance is a resource that was found by listing.
type Instance struct {
	Name string
	// Namevars are those that differ from what is read from the name. Mostly there are none.
	Namevars []data.Pair
	// Properties are all that were found, ensure first. If there are none, Retrieve
	// finds them.
	Properties []data.Pair
}

var absent = data.OfSymbol("absent")

// What providers do that take the place of a transaction for a resource: they read,
// compare and change it at once, as Puppet itself would.
type (
	// A Whole returns what was, and what it did about that, or would do in noop.
	Whole interface {
		Do(ctx context.Context, s System, r *types.Resource, noop bool) (*Done, error)
		// Restart takes the events of others, as a Refresher does.
		Restart(ctx context.Context, s System, r *types.Resource) (*Done, error)
	}
	// A Suitabler knows itself whether r can be done, each time anew. Rule RES-TX-08.
	Suitabler interface {
		Suitable(ctx context.Context, r *types.Resource) (bool, error)
	}
)

// Done is what a Whole did.
type Done struct {
	Is  []data.Pair // the properties as they were
	Did []Did       // in order
	Err error       // what it ended with: the resource could not be evaluated
}

// Did is a line of the log, or an event.
type Did struct {
	Line  *Line
	Event *Event
}

// An Event is of a property that was not as it should be.
type Event struct {
	Property, Name string
	Status         string // success, noop or failure
	Message        string // in Puppet's words, without what follows from earlier runs
	Is, Should     data.Value
	Unschedules    bool
}
