// Package memory keeps instances in memory and nowhere else.
package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"indirtui/indirector"
	"indirtui/traces"
)

// Facts describes the memory terminus of the facts indirection.
var Facts = describe("facts", "Keeps facts in memory, and nowhere else. It is used for one compilation, and as a cache that lives as long as the process.")

// Node describes the memory terminus of the node indirection.
var Node = describe("node", "Keeps nodes in memory, and nowhere else. As a cache it is the only one that makes a node grow old: files do not keep its expiration.")

func describe(indirection, doc string) indirector.Descriptor {
	return indirector.Descriptor{
		Indirection:  indirection,
		Name:         "memory",
		Doc:          doc,
		Rules:        []string{"IND-EXP-05", "IND-HEAD-03"},
		KeepsExpiry:  true,
		ProcessLocal: true,
		Brief:        true,
		Type:         (*Terminus)(nil),
		New: func(env indirector.Env) (indirector.Terminus, error) {
			return &Terminus{env: env}, nil
		},
	}
}

// A Terminus is a map from key to instance that remembers the order in which
// keys came, as Ruby's does. It is safe for concurrent use.
type Terminus struct {
	env indirector.Env

	mu        sync.RWMutex // guards what follows
	instances map[string]indirector.Instance
	order     []string
}

// Find returns the stored instance itself, not a copy.
func (t *Terminus) Find(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
	t.mu.RLock()
	inst, ok := t.instances[req.Key]
	t.mu.RUnlock()
	if !ok || inst == nil {
		return nil, errAbsent
	}
	return inst, nil
}

var errAbsent = indirector.NotFound(traces.NotFound, "")

// Head reports whether an instance is stored under the key.
func (t *Terminus) Head(_ context.Context, req *indirector.Request) (bool, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.instances[req.Key] != nil, nil
}

// Search returns all instances whose key contains that of the request, by the
// time at which their keys were added.
func (t *Terminus) Search(_ context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	found := []indirector.Instance{}
	for _, key := range t.order {
		if strings.Contains(key, req.Key) && t.instances[key] != nil {
			found = append(found, t.instances[key])
		}
	}
	return found, nil
}

// Save stores the instance and returns it.
func (t *Terminus) Save(_ context.Context, req *indirector.Request) (any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.instances[req.Key]; !ok {
		if t.instances == nil {
			t.instances = make(map[string]indirector.Instance)
		}
		t.order = append(t.order, req.Key)
	}
	t.instances[req.Key] = req.Instance
	if req.Instance == nil {
		return nil, nil
	}
	return req.Instance, nil
}

// Shared stores an instance that got an expiration since it was found, unless
// another has been stored meanwhile.
func (t *Terminus) Shared(key string, was, is indirector.Instance) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.instances[key] == was {
		t.instances[key] = is
	}
}

// Destroy removes the instance and returns it. That there is none is an error
// here, unlike in every other terminus.
func (t *Terminus) Destroy(_ context.Context, req *indirector.Request) (any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	inst, ok := t.instances[req.Key]
	if !ok {
		return nil, &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf("Could not find %s to destroy", req.Key)}
	}
	delete(t.instances, req.Key)
	t.order = slices.DeleteFunc(t.order, func(key string) bool { return key == req.Key })
	if inst == nil {
		return nil, nil
	}
	return inst, nil
}

// List yields every instance, by the time at which its key was added.
func (t *Terminus) List(_ context.Context, yield func(indirector.Entry) bool) error {
	t.mu.RLock()
	entries := make([]indirector.Entry, 0, len(t.order))
	for _, key := range t.order {
		entries = append(entries, t.entry(key, t.instances[key]))
	}
	t.mu.RUnlock()
	for _, e := range entries {
		if !yield(e) {
			break
		}
	}
	return nil
}

// Peek returns the entry of one instance.
func (t *Terminus) Peek(_ context.Context, key string) (indirector.Entry, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	inst, ok := t.instances[key]
	if !ok || inst == nil {
		return indirector.Entry{}, nil
	}
	return t.entry(key, inst), nil
}

func (t *Terminus) entry(key string, inst indirector.Instance) indirector.Entry {
	e := indirector.Entry{
		Indirection: t.env.Indirection, Terminus: t.env.Terminus,
		Key: key, Size: -1, KeepsExpiry: true,
	}
	if x, ok := inst.(indirector.Expirer); ok {
		e.Expiration = x.Expiration()
	}
	return e
}
