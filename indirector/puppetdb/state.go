package puppetdb

import (
	"maps"
	"slices"

	"indirtui/indirector/stores"
)

var _ stores.Store = (*Client)(nil)

// State returns what is known from what this client has asked so far: no command was
// sent by others, and what PuppetDB did since is not in it.
func (c *Client) State() stores.State {
	s := c.became.State()
	c.known.Lock()
	defer c.known.Unlock()
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
