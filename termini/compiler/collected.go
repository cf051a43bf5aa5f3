package compiler

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nested"
	"indirtui/traces"
)

// exported asks for the resources of a type that other nodes export. Rule LANG-RES-14.
func (l *language) exported(ctx context.Context, in *Input, typ string, filter data.Value) (found compile.Exports, err error) {
	resp, err := nested.Ask(ctx, l.env.Do, &indirector.Request{
		Indirection: "resource", Verb: indirector.Search, Key: typ, Environment: in.Environment,
		Options: []indirector.Option{{Name: "host", Value: in.Node.Name}, {Name: "filter", Value: filter}},
	})
	if resp.Value == nil {
		return found, bare(err)
	}
	found.By = l.owners(resp)
	all, _ := resp.Value.([]indirector.Instance)
	found.Resources = make([]*model.Resource, len(all))
	for i, inst := range all {
		r, ok := inst.(*model.Resource)
		if !ok {
			return found, fmt.Errorf("the answer to %q is no resource", typ)
		}
		found.Resources[i] = r
	}
	return found, nil
}

// owners is who answered a search of resources.
func (l *language) owners(resp indirector.Response) string {
	if resp.Served == traces.ByInjection {
		return "injected"
	}
	to := ""
	if l.env.Passed != nil {
		to = l.env.Passed("resource", resp.From)
	}
	return "terminus " + traces.Owners(resp.From, to)
}

// collections are what the collectors of one compile learned of other nodes.
type collections []compile.Collection

func (c *collections) add(one compile.Collection) { *c = append(*c, one) }

// The most that is listed: of each kind of what a collector learned, and of secrets as
// notes.
const (
	maxListed = 20
	maxNotes  = 5
)

// note adds a span for each collector, and explains the answer or the failure by what they
// learned. Rules STORE-COL-03, STORE-COL-05, STORE-COL-12.
func (c collections) note(ctx context.Context, now time.Time, err error) {
	for i := range c {
		noteCollector(ctx, &c[i], now)
	}
	for i := range c {
		noteSecrets(ctx, c[i].Secrets, err)
	}
	if err != nil {
		return
	}
	for i := range c {
		for _, sentence := range c[i].Nearly {
			traces.Explain(ctx, sentence)
		}
	}
	if s := c.sources(now); s != "" {
		traces.Explain(ctx, s)
	}
}

// noteSecrets explains by what is not stored.
func noteSecrets(ctx context.Context, secrets []compile.Secret, err error) {
	for i, s := range secrets {
		switch {
		case err != nil && strings.Contains(err.Error(), "expects a value for parameter '"+s.Name+"'"):
			traces.ExplainFailure(ctx, s.String())
			return
		case i >= maxNotes:
		case err != nil:
			traces.AddNote(ctx, s.String())
		default:
			traces.Explain(ctx, s.String())
		}
	}
}

// noteCollector adds a span of what one collector learned.
func noteCollector(ctx context.Context, c *compile.Collection, now time.Time) {
	_, span := traces.Start(ctx, traces.Note, "exported for "+c.Collector)
	span.Attr("asked", c.By)
	list := func(n int, of string, attr func(i int) (key, value string)) {
		for i := range min(n, maxListed) {
			span.Attr(attr(i))
		}
		if n > maxListed {
			span.Attr("more", fmt.Sprintf("%d %s", n-maxListed, of))
		}
	}
	list(len(c.Exporters), "nodes", func(i int) (key, value string) { return c.Exporters[i].Node, exporter(&c.Exporters[i], now) })
	list(len(c.Here), "not taken", func(i int) (key, value string) { return "not taken", c.Here[i] + ": another collector had brought it" })
	list(len(c.Nearly), "not found", func(i int) (key, value string) { return "not found", c.Nearly[i] })
	list(len(c.Secrets), "not stored", func(i int) (key, value string) { return "not stored", c.Secrets[i].String() })
	if c.File != "" {
		span.Attr("path", c.File)
		span.Attr("line", strconv.Itoa(c.Line))
	}
	span.End(asked(c), traces.Because{}, nil)
}

// exporter is what was found of one node: "1 resource, produced 2026-…, stored 2026-… (31
// min ago)".
func exporter(e *compile.Exporter, now time.Time) string {
	text := resources(e.Found)
	if !e.Produced.IsZero() {
		text += ", produced " + e.Produced.UTC().Format(time.RFC3339)
	}
	if !e.Stored.IsZero() {
		text += ", stored " + e.Stored.UTC().Format(time.RFC3339) + " (" + traces.Human(now.Sub(e.Stored)) + " ago)"
	}
	if !e.Queued.IsZero() {
		text += ", a newer catalog queued " + e.Queued.UTC().Format(time.RFC3339) + " (" + traces.Human(now.Sub(e.Queued)) + " ago)"
	}
	return text
}

// asked is how often a collector asked, and whether that made a difference.
func asked(c *compile.Collection) string {
	switch {
	case c.Asked == 1:
		return "asked once"
	case c.Changed:
		return fmt.Sprintf("asked %d times, the answers differ", c.Asked)
	}
	return fmt.Sprintf("asked %d times, same answer", c.Asked)
}

// maxSources is how many nodes are named.
const maxSources = 3

// sources is from which nodes resources were collected, and how old that is: "collected 1
// resource of a01, stored 31 min ago". It is "" if neither the store nor this process knows.
func (c collections) sources(now time.Time) string {
	var all []compile.Exporter
	for i := range c {
		for _, e := range c[i].Exporters {
			at := slices.IndexFunc(all, func(x compile.Exporter) bool { return x.Node == e.Node })
			switch {
			case e.Taken == 0 || e.Stored.IsZero() && e.Queued.IsZero():
			case at < 0:
				all = append(all, e)
			default:
				all[at].Taken += e.Taken
			}
		}
	}
	parts := make([]string, 0, maxSources+1)
	for i, e := range all {
		if i == maxSources {
			parts = append(parts, fmt.Sprintf("and those of %d more nodes", len(all)-i))
			break
		}
		parts = append(parts, source(&e, now))
	}
	if len(parts) == 0 {
		return ""
	}
	return "collected " + strings.Join(parts, "; ")
}

// source is what was collected of one node: "1 resource of a01, stored 31 min ago; a newer
// catalog of a01 was queued 4 s ago".
func source(e *compile.Exporter, now time.Time) string {
	text := resources(e.Taken) + " of " + e.Node
	switch {
	case !e.Stored.IsZero():
		text += ", stored " + traces.Human(now.Sub(e.Stored)) + " ago"
	case !e.Produced.IsZero():
		text += ", produced " + traces.Human(now.Sub(e.Produced)) + " ago"
	}
	if !e.Queued.IsZero() {
		text += "; a newer catalog of " + e.Node + " was queued " + traces.Human(now.Sub(e.Queued)) + " ago"
	}
	return text
}

func resources(n int) string {
	if n == 1 {
		return "1 resource"
	}
	return strconv.Itoa(n) + " resources"
}
