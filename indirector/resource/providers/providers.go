// Package providers does resources on a system: it reads what is, and makes it what
// it should be. A provider never decides: the transaction does. Everything that it
// touches goes through a System, so that recorded systems can be played.
package providers

import (
	"context"
	"io/fs"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// A Provider reads and changes resources of one type.
type Provider interface {
	// Retrieve returns properties as they are, ensure first; those that are absent
	// have the symbol absent. Rule RES-EV-01.
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
	// A Generator makes more resources: at the start of a run, or when r is evaluated.
	Generator interface {
		Generate(ctx context.Context, s System, r *types.Resource) ([]*types.Resource, error)
	}
)

// An Instance is a resource that was found by listing.
type Instance struct {
	Name       string
	Properties []data.Pair
}

// A System is all of a machine that providers touch. Methods may be called from
// several goroutines. Everything that is asked of it becomes a sub-step in the trace.
type System interface {
	types.Host
	Files
	Run(ctx context.Context, c Command) (Result, error)
	Accounts
	Now() time.Time
}

// A Command is a program to run.
type Command struct {
	Argv  []string
	Shell string // given to /bin/sh -c in place of Argv
	Stdin []byte
	Env   []string // added to Puppet's usual environment
	Dir   string
	UID   int // -1 is that of the process
	GID   int
	Umask int           // -1 is that of the process
	Limit time.Duration // 0 is the usual one
	Read  bool          // it only looks. Rule RES-SAFE-01.
}

// A Result is what a command answered: its output, stdout and stderr together.
type Result struct {
	Output []byte
	Exit   int
	Signal string
}

// Files is the file system.
type Files interface {
	Lstat(name string) (fs.FileInfo, error)
	Stat(name string) (fs.FileInfo, error)
	ReadFile(name string) ([]byte, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Readlink(name string) (string, error)
}

// Accounts are users and groups.
type Accounts interface {
	User(name string) (User, bool, error)
	Group(name string) (Group, bool, error)
	Users() ([]User, error)
	Groups() ([]Group, error)
}

// A User is a line of passwd.
type User struct {
	Name, Comment, Home, Shell string
	UID, GID                   int
}

// A Group is a line of group.
type Group struct {
	Name    string
	GID     int
	Members []string
}
