package cache

import (
	"context"
	"fmt"

	"indirtui/indirector"
	"indirtui/ui/session"
)

// Biographies returns what is known of the entries of one key, in lines. It looks
// at all requests of the log.
func Biographies(ctx context.Context, env *session.Env, engine Engine, indirection, key string) ([]string, error) {
	c := New(ctx, env, engine)
	var found []*entry
	err := engine.Walk(ctx, func(e indirector.Entry) bool {
		if e.Key == key {
			found = append(found, c.entryOf(e))
		}
		return true
	}, indirection)
	if err != nil {
		return nil, err
	}
	c.index.add(found)
	for more := true; more; {
		more, _ = c.index.scan(env.Log)
	}
	var lines []string
	for _, e := range c.index.all {
		c.plans[e.id] = planned{id: e.id, save: c.story(e.ignored())}
		lines = append(lines, fmt.Sprintf("%s %s in %s", e.Indirection, env.Redacted(e.Key), e.Terminus))
		for _, f := range c.biography(e) {
			lines = append(lines, "  "+f.Label+": "+f.Text)
		}
	}
	return lines, nil
}
