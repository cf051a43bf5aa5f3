package puppetdb

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A State is what a [Client] knows from what it has asked so far: no command was sent
// by others, and what PuppetDB did since is not in it. The zero State is that of a
// client that sent no command.
type State struct {
	Queued, Confirmed     time.Time // when a command was last queued, and known to be stored; zero if none was
	QueuedAt, ConfirmedAt string    // where: "pdb1:8081"
	Waiting               int64     // commands in PuppetDB's queue when it was last asked
	Asked                 time.Time // when that was; zero if it never was
	Failed                time.Time // when a command last failed; zero if none did
	Failure               string    // why, in Puppet's words
	Dropped               []string  // submit-only URLs that get no commands any more, sorted; without passwords
}

// Made returns the Client that the termini of an engine share, by its shared values;
// nil if none has needed it yet. It stays theirs, and is not closed.
func Made(shared func(name string) any) *Client {
	c, _ := shared(sharedName).(*Client)
	return c
}

// State returns what is known. It asks nothing, and is safe for concurrent use.
func (c *Client) State() State {
	c.known.Lock()
	defer c.known.Unlock()
	s := c.state
	s.Dropped = slices.Sorted(maps.Keys(c.dropped))
	return s
}

// Retry sends commands again to the submit-only URLs that were dropped, and returns
// these, sorted. Rule PDB-HTTP-10.
func (c *Client) Retry() []string {
	c.known.Lock()
	defer c.known.Unlock()
	back := slices.Sorted(maps.Keys(c.dropped))
	clear(c.dropped)
	clear(c.late)
	return back
}

// note changes what is known.
func (c *Client) note(change func(*State)) {
	c.known.Lock()
	defer c.known.Unlock()
	change(&c.state)
}

// Line returns the state in a few words with times of a zone, and whether all is well;
// what is wrong stands alone. It is "" if there is nothing to report.
//
//	puppetdb: queued 10:42:07, 3 waiting
func (s State) Line(zone *time.Location) (text string, well bool) {
	at := func(what string, t time.Time) string { return what + " " + t.In(zone).Format(time.TimeOnly) }
	var bad, good []string
	if n := len(s.Dropped); n > 0 {
		bad = append(bad, fmt.Sprintf("%d submit-only dropped, :stores retry", n))
	}
	if s.Failed.After(s.Queued) {
		bad = append(bad, at("failed", s.Failed))
	}
	switch {
	case !s.Confirmed.IsZero() && !s.Queued.After(s.Confirmed):
		good = append(good, at("confirmed", s.Confirmed))
	case !s.Queued.IsZero():
		good = append(good, at("queued", s.Queued))
	}
	if !s.Asked.IsZero() && !s.Asked.Before(s.Confirmed) {
		good = append(good, fmt.Sprintf("%d waiting", s.Waiting))
	}
	switch {
	case len(bad) > 0:
		return "puppetdb: " + strings.Join(bad, ", "), false
	case len(good) > 0:
		return "puppetdb: " + strings.Join(good, ", "), true
	}
	return "", true
}

// Lines returns all of the state, a line for each thing, with times of a zone. There are
// none if there is nothing to report.
func (s State) Lines(zone *time.Location) (lines []string) {
	for _, x := range []struct {
		at        time.Time
		what, end string
	}{
		{s.Queued, "queued", " at " + s.QueuedAt},
		{s.Confirmed, "confirmed", " at " + s.ConfirmedAt},
		{s.Asked, fmt.Sprintf("%d waiting", s.Waiting), ""},
		{s.Failed, "failed", ": " + s.Failure},
	} {
		if !x.at.IsZero() {
			lines = append(lines, "puppetdb: "+x.what+" "+x.at.In(zone).Format(time.TimeOnly)+x.end)
		}
	}
	for _, u := range s.Dropped {
		lines = append(lines, "puppetdb: "+u+" did not answer twice in a row, and gets no commands; :stores retry brings it back")
	}
	return lines
}
