package fleet

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"indirtui/traces"
)

// A runKey is a run as one instance knows it.
type runKey struct {
	instance int32
	run      string
}

// A part is a run as one instance has seen it; times are those of the database's
// clock.
type part struct {
	runKey
	node, transaction string
	first, last       time.Time
}

// uuid is Puppet's transaction_uuid, or "" if the instance never learned it.
func (p *part) uuid() string {
	if _, ok := traces.TraceID(p.transaction); ok {
		return p.transaction
	}
	if _, ok := traces.TraceID(p.run); ok {
		return p.run
	}
	return ""
}

// A joined is the run of the fleet that a run of an instance is part of.
type joined struct {
	name    string
	guessed bool // by certname and time alone
}

// near is how far apart parts of one run may be: Puppet Server's clients are silent
// for as long between two runs.
const near = 2 * time.Minute

// join puts the parts of runs together: those of one certname and transaction_uuid;
// and one whose uuid its instance never learned with what the certname did
// elsewhere at that time, if that is one run. Rule FLEET-04.
func join(parts []part) map[runKey]joined {
	all := make(map[runKey]joined, len(parts))
	byNode := map[string][]*part{}
	for i := range parts {
		p := &parts[i]
		all[p.runKey] = joined{name: p.run}
		if uuid := p.uuid(); uuid != "" {
			all[p.runKey] = joined{name: uuid}
		}
		if p.node != "" {
			byNode[strings.ToLower(p.node)] = append(byNode[strings.ToLower(p.node)], p)
		}
	}
	for _, of := range byNode {
		slices.SortFunc(of, func(a, b *part) int {
			if c := a.first.Compare(b.first); c != 0 {
				return c
			}
			return strings.Compare(a.run, b.run)
		})
		for i, p := range of {
			if p.uuid() == "" {
				joinByTime(all, of, i)
			}
		}
	}
	return all
}

// joinByTime joins a part without uuid to the nearest run of other instances: one
// with a uuid, else one before it in the list.
func joinByTime(all map[runKey]joined, of []*part, i int) {
	p := of[i]
	name, least := "", near
	for j, other := range of {
		if other.instance == p.instance || other.uuid() == "" && j > i || all[other.runKey].name == name {
			continue
		}
		if d := apart(p, other); d < least && !follows(all, of, all[other.runKey].name, p) {
			name, least = all[other.runKey].name, d
		}
	}
	if name != "" {
		all[p.runKey] = joined{name: name, guessed: true}
	}
}

// follows reports whether the instance of p has an earlier part of the run: it has
// decided that p is another.
func follows(all map[runKey]joined, of []*part, name string, p *part) bool {
	return slices.ContainsFunc(of, func(o *part) bool {
		return o.instance == p.instance && o != p && all[o.runKey].name == name && !o.first.After(p.first)
	})
}

// apart is the time between two parts; 0 if they overlap.
func apart(a, b *part) time.Duration {
	return max(0, a.first.Sub(b.last), b.first.Sub(a.last))
}

// partsOf reads the runs that a condition means.
func partsOf(ctx context.Context, c conn, where string, args ...any) ([]part, error) {
	const enough = 100_000
	r, err := c.Query(ctx, `SELECT r.instance, r.run, r.node, r.transaction,
		r.first - make_interval(secs => i.clock_offset), r.last - make_interval(secs => i.clock_offset)
		FROM indirtui.runs r JOIN indirtui.instances i ON i.id = r.instance WHERE `+where+` ORDER BY r.last DESC LIMIT `+limitText(enough), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(r, func(r pgx.CollectableRow) (p part, err error) {
		err = r.Scan(&p.instance, &p.run, &p.node, &p.transaction, &p.first, &p.last)
		return p, err
	})
}

// alsoNamed are the names that the parts of a run have at instances.
func alsoNamed(ctx context.Context, c conn, run string) (names []string, err error) {
	known, err := partsOf(ctx, c, "r.run = $1 OR r.transaction = $1", run)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	first, last, nodes := known[0].first, known[0].last, []string{}
	for _, p := range known {
		nodes = append(nodes, strings.ToLower(p.node))
		if p.first.Before(first) {
			first = p.first
		}
		if p.last.After(last) {
			last = p.last
		}
	}
	parts, err := partsOf(ctx, c, "lower(r.node) = ANY ($1) AND r.last >= $2 AND r.first <= $3", nodes, first.Add(-2*near), last.Add(2*near))
	if err != nil {
		return nil, err
	}
	all := join(append(parts, known...))
	for _, p := range known {
		for k, j := range all {
			if j.name == all[p.runKey].name && !slices.Contains(names, k.run) {
				names = append(names, k.run)
			}
		}
	}
	return names, nil
}
