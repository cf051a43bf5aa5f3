// Crash is indirtui with a terminus that panics in a goroutine of its own.
package main

import (
	"context"
	"os"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/termini"
	"indirtui/ui/cli"
)

var crash = indirector.Descriptor{
	Indirection: "status",
	Name:        "crash",
	Doc:         "Panics: in the background when it is asked, and at once when somebody only looks.",
	Type:        (*terminus)(nil),
	New:         func(env indirector.Env) (indirector.Terminus, error) { return &terminus{env}, nil },
}

type terminus struct{ env indirector.Env }

// Find implements indirector.Finder.
func (t *terminus) Find(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
	t.env.Go(func() { panic("in the background of " + req.Key) })
	return &model.Status{Name: req.Key, IsAlive: true}, nil
}

// Peek implements indirector.Peeker.
func (t *terminus) Peek(_ context.Context, key string) (indirector.Entry, error) {
	panic("while looking at " + key)
}

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, termini.Specs(), append(termini.All(), crash)))
}
