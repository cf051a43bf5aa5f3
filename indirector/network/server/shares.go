package server

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// shares bound how many requests run at the same time: in all, of each client,
// and of those without a certificate, so that none takes the places of others.
type shares struct {
	limits    Limits
	all       chan struct{} // a token for each running request
	strangers chan struct{} // for each of a client without a certificate

	mu    sync.Mutex // guards users
	users map[string]*user
}

// A user is a client with requests that run or wait.
type user struct {
	tokens   chan struct{}
	requests int
}

func newShares(l Limits) *shares {
	return &shares{
		limits: l, all: make(chan struct{}, l.Requests), strangers: make(chan struct{}, l.Strangers),
		users: make(map[string]*user),
	}
}

// enter waits for a place and returns what gives it back, or why there is none.
func (s *shares) enter(ctx context.Context, name string, stranger bool) (leave func(), why string) {
	most, wait := s.limits.Client, s.limits.Wait
	if stranger {
		most, wait = max(s.limits.Strangers/4, 1), wait/8
	}
	u := s.user(name, most)
	if u == nil {
		return nil, fmt.Sprintf("%s has as many requests as it may: %d run, and as many wait", name, most)
	}
	needs := []chan struct{}{u.tokens, s.all}
	switch {
	case stranger && most == cap(s.strangers):
		needs = []chan struct{}{s.strangers, s.all}
	case stranger:
		needs = []chan struct{}{u.tokens, s.strangers, s.all}
	case most >= cap(s.all):
		needs = needs[1:]
	}
	var timer *time.Timer
	for i, tokens := range needs {
		select {
		case tokens <- struct{}{}:
			continue
		default:
		}
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		}
		select {
		case tokens <- struct{}{}:
			continue
		case <-ctx.Done():
		case <-timer.C:
		}
		s.leave(name, u, needs[:i])
		whose := ""
		switch tokens {
		case u.tokens:
			whose = " of " + name
		case s.strangers:
			whose = " of clients without a certificate"
		}
		return nil, fmt.Sprintf("%d requests%s were worked on, and none of them ended within %s", cap(tokens), whose, wait)
	}
	return func() { s.leave(name, u, needs) }, ""
}

// user returns the client of that name with one more request; nil if it has too
// many.
func (s *shares) user(name string, most int) *user {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[name]
	if u == nil {
		u = &user{tokens: make(chan struct{}, most)}
		s.users[name] = u
	}
	if u.requests == 2*cap(u.tokens) {
		return nil
	}
	u.requests++
	return u
}

// leave gives tokens back.
func (s *shares) leave(name string, u *user, tokens []chan struct{}) {
	for _, t := range tokens {
		<-t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.requests--; u.requests == 0 {
		delete(s.users, name)
	}
}
