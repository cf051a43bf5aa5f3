package ldap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	ldap "github.com/go-ldap/ldap/v3"

	"indirtui/indirector"
	"indirtui/traces"
)

const (
	maxEntries = 100_000 // of one search
	maxParents = 100
	maxShown   = 100 // entries that a span lists
)

// entry returns the entry for a name, the last if there are several, and nil if there
// is none. Rules LDAP-01, LDAP-03.
func (t *Terminus) entry(ctx context.Context, name string) (*entry, error) {
	filter := t.config.filterFor(name)
	entries, err := t.search(ctx, name, filter, false)
	if n := len(entries); n > 1 {
		which := "named " + name
		if !strings.Contains(t.config.filter, "%s") {
			which = "match " + filter
		}
		text := fmt.Sprintf("%d entries %s: the last one won, %s", n, which, entries[n-1].Source)
		if n == 2 {
			text += "; not " + entries[0].Source
		}
		traces.Explain(ctx, text)
	}
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return entries[len(entries)-1], nil
}

// parents merges the chain of parents into an entry. Names are compared with case,
// from the entry's own cn on. Rule LDAP-08.
func (t *Terminus) parents(ctx context.Context, e *entry) error {
	chain := []string{e.name}
	last := e.Source
	for parent := e.parent; parent != ""; {
		if slices.Contains(chain, parent) {
			traces.ExplainFailure(ctx, fmt.Sprintf("the parents of %s go round: %s", e.Source, strings.Join(append(chain, parent), ", ")))
			return &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf("Found loop in LDAP node parents; %s appears twice", parent), Path: last}
		}
		if len(chain) > maxParents {
			return &indirector.Failure{Message: fmt.Sprintf("node entry %s has more than %d parents", e.Source, maxParents), Path: last}
		}
		found, err := t.entry(ctx, parent)
		if err != nil {
			return err
		}
		if found == nil {
			traces.ExplainFailure(ctx, fmt.Sprintf("%s names the parent %q, which %s does not find", last, parent, t.config.filterFor(parent)))
			return &indirector.Failure{Message: fmt.Sprintf("Could not find parent node '%s'", parent), Path: last}
		}
		e.Inherit(&found.Node, fmt.Sprintf("parent %d (%s)", len(chain), parent))
		e.binary = append(e.binary, found.binary...)
		chain = append(chain, parent)
		last, parent = found.Source, found.parent
	}
	return nil
}

// search returns the entries that match a filter, by which something is looked for.
// Whatever goes wrong is tried once
// more on a new connection. Rule LDAP-10.
func (t *Terminus) search(ctx context.Context, what, filter string, fqdn bool) ([]*entry, error) {
	for again := false; ; again = true {
		entries, err := t.try(ctx, what, filter, fqdn)
		switch {
		case err == nil:
			return entries, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case again:
			return nil, t.failed(ctx, err)
		}
		t.env.Log.Warn("Retrying LDAP connection")
	}
}

func (t *Terminus) failed(ctx context.Context, err error) error {
	traces.ExplainFailure(ctx, err.Error()+" (Puppet says only: LDAP Search failed)")
	return &indirector.Failure{Message: "LDAP Search failed", Origin: "network", Path: t.config.address(), Hidden: err.Error(), Err: err}
}

// try searches once.
func (t *Terminus) try(ctx context.Context, what, filter string, fqdn bool) ([]*entry, error) {
	l, err := t.client.take(ctx)
	if err != nil {
		if p := (*problem)(nil); errors.As(err, &p) && p.logged != "" {
			t.env.Log.Error("Could not connect to LDAP: Could not connect to LDAP: " + p.logged)
		}
		return nil, err
	}
	entries, err := t.ask(ctx, l, what, filter, fqdn)
	t.client.give(l, err != nil)
	return entries, err
}

// checkFilter refuses a filter that no server would understand.
func (c *config) checkFilter(filter string) error {
	if _, err := ldap.CompileFilter(filter); err != nil {
		return &problem{text: fmt.Sprintf("%s is no filter: %s", c.setting("ldapstring", c.filter), errorText(err)), err: err}
	}
	return nil
}

// ask sends a search and reads its answer within a span. A size limit is no error:
// what came before it counts. Rule LDAP-11.
func (t *Terminus) ask(ctx context.Context, l *link, what, filter string, fqdn bool) (found []*entry, err error) {
	c := t.config
	_, span := traces.Start(ctx, traces.Network, fmt.Sprintf("search %s below %q", what, c.base))
	defer func() {
		answer := fmt.Sprintf("%d entries", len(found))
		switch {
		case err != nil:
			answer = "failed"
		case len(found) == 1:
			answer = "1 entry"
		}
		span.End(answer, traces.Because{}, err)
	}()
	span.Attr("base", c.base)
	span.Attr("filter", filter)
	if c.attributes != nil {
		span.Attr("attributes", strings.Join(c.attributes, ", "))
	}
	if err := c.checkFilter(filter); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	l.wire.allow(c.maxAnswer)
	response := l.conn.SearchAsync(limited, ldap.NewSearchRequest(c.base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 0, int(c.limit.Seconds()), false, filter, c.attributes, nil), 0)
	for response.Next() {
		if referral := response.Referral(); referral != "" {
			traces.AddNote(ctx, "not followed: the server refers to "+referral)
			continue
		}
		if response.Entry() == nil {
			continue
		}
		if len(found) == maxEntries {
			return found, &problem{text: fmt.Sprintf("%s gave more than %d entries for %s", c.address(), maxEntries, filter)}
		}
		e, err := c.read(response.Entry(), fqdn)
		if err != nil {
			return found, err
		}
		found = append(found, e)
	}
	for i, e := range first(found, maxShown) {
		span.Attr(fmt.Sprintf("entry %d", i+1), e.Source)
	}
	err = response.Err()
	switch {
	case ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded):
		traces.Explain(ctx, fmt.Sprintf("server cut the answer off after %d: size limit", len(found)))
		return found, nil
	case limited.Err() != nil || err != nil || l.conn.IsClosing():
		return found, c.searchFailed(limited, l, err)
	}
	return found, nil
}
