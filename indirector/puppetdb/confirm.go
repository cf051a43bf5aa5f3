package puppetdb

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/stores"
	"indirtui/traces"
)

// How long to wait between two questions whether a command was stored.
const (
	firstPoll = 100 * time.Millisecond
	lastPoll  = time.Second
)

// confirmed asks PuppetDB until the command is stored, or something newer is, or
// the time of puppetdb_confirm is over. It returns what is known then, "" if
// nothing was asked, and whether it was stored. A trace that has ended does not change, so the save waits.
// Rule PDB-SEM-06.
func (c *Client) confirmed(ctx context.Context, cfg *Config, cmd *command.Command, tried []attempt) (known string, isStored bool) {
	i := slices.IndexFunc(tried, func(t attempt) bool { return t.left == "" && t.answer.OK() && slices.Contains(cfg.ServerURLs, t.url) })
	if c.confirm <= 0 || i < 0 {
		return "", false
	}
	at := &tried[i]
	ctx, span := traces.Start(ctx, traces.Network, "confirm at "+at.url.Redacted())
	known, isStored, err := c.wait(ctx, cfg, cmd, at)
	span.End(known, traces.Because{}, err)
	if err != nil {
		known = fmt.Sprintf("queued at %s, and whether it was stored could not be asked: %s", at.url.Host, reason(err))
	}
	return known, isStored
}

func (c *Client) wait(ctx context.Context, cfg *Config, cmd *command.Command, at *attempt) (known string, isStored bool, err error) {
	begin := c.now()
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		stored, ok, err := c.stored(ctx, cfg, cmd, at)
		took := c.now().Sub(begin)
		switch {
		case err != nil:
			return "", false, err
		case ok && stored.After(cmd.Produced):
			return fmt.Sprintf("ignored as older: stored is %s, this one was produced %s", clock(stored, stored, cmd.Produced), clock(cmd.Produced, stored, cmd.Produced)), false, nil
		case ok && stored.Equal(cmd.Produced):
			c.became.Add(stores.Stored, c.now(), cmd.String()+" at "+at.url.Host)
			return fmt.Sprintf("stored at %s after %s", at.url.Host, took.Round(100*time.Millisecond)), true, nil
		case took >= c.confirm:
			why := refused(cmd)
			if why != "" {
				c.became.Add(stores.Refused, c.now(), cmd.String()+": "+why)
			} else {
				why = c.queue(ctx, cfg, at)
			}
			return fmt.Sprintf("queued at %s, not stored after %s: %s", at.url.Host, c.confirm, why), false, nil
		}
		if err := indirector.Sleep(ctx, min(pause, c.confirm-took)); err != nil {
			return "", false, err
		}
	}
}

// clock is a moment, as exactly as it takes to keep two moments apart.
func clock(t, a, b time.Time) string {
	layout := "15:04:05"
	switch d := a.Sub(b).Abs(); {
	case d < time.Second:
		layout = "15:04:05.000"
	case d >= 12*time.Hour:
		layout = time.DateTime
	}
	return t.In(b.Location()).Format(layout)
}

// entities are what commands change, as queries call it.
var entities = map[string]string{command.ReplaceCatalog: "catalogs", command.ReplaceFacts: "factsets", command.StoreReport: "reports"}

// stored returns when what PuppetDB has now was produced: of a report that one, if
// it is there.
func (c *Client) stored(ctx context.Context, cfg *Config, cmd *command.Command, at *attempt) (time.Time, bool, error) {
	key := timestamp
	q := &question{method: http.MethodPost, path: "/pdb/query/v4", header: jsonHeader}
	if entity := entities[cmd.Name]; entity != "" {
		node := list(word("="), word("certname"), word(cmd.Certname))
		if cmd.Name == command.StoreReport {
			node = list(word("and"), node, list(word("="), word(key), word(cmd.Produced.UTC().Format(time.RFC3339Nano))))
		}
		ast := list(word("from"), word(entity), list(word("extract"), list(word(key)), node))
		body, err := format.AppendJSON(nil, data.OfHash([]data.Pair{data.P("query", ast)}))
		if err != nil {
			return time.Time{}, false, err
		}
		q.body = body
	} else { // a node that is not active is in no list
		path, err := nodePath(cmd.Certname)
		if err != nil {
			return time.Time{}, false, err
		}
		key, q.method, q.path = "deactivated", http.MethodGet, path
	}
	v, err := c.once(ctx, cfg, at, q)
	if err != nil {
		return time.Time{}, false, err
	}
	if all := v.List(); len(all) > 0 {
		v = all[0]
	}
	stored, err := time.Parse(time.RFC3339Nano, v.Get(key).Str())
	return stored, err == nil, nil // nothing is there yet
}

// once asks the URL of an attempt alone. A 404 is nothing.
func (c *Client) once(ctx context.Context, cfg *Config, at *attempt, q *question) (data.Value, error) {
	u := *at.url
	u.Path, u.RawPath = "", ""
	route, err := u.Parse(q.path)
	if err != nil {
		return data.Value{}, err
	}
	answer, err := c.net.Do(ctx, q.exchange(route, cfg, c.answer))
	switch {
	case err != nil:
		return data.Value{}, err
	case answer.Status == http.StatusNotFound:
		return data.Value{}, nil
	case !answer.OK():
		return data.Value{}, &indirector.Failure{Message: refusal(answer), Status: answer.Status}
	}
	return format.DecodeJSON(answer.Body, format.Limits{Depth: c.depth})
}

// queue is how many commands wait in PuppetDB, if that is known.
func (c *Client) queue(ctx context.Context, cfg *Config, at *attempt) string {
	v, err := c.once(ctx, cfg, at, &question{method: http.MethodGet, path: "/status/v1/services", header: plainHeader})
	depth := v.Dig("puppetdb-status", "status", "queue_depth")
	if err != nil || depth.IsNil() {
		return "it waits in the queue, or PuppetDB has refused it"
	}
	c.became.Waits(depth.Int(), c.now())
	return fmt.Sprintf("%s commands are in the queue, and if this is none of them, PuppetDB has refused it", depth.Text())
}

var uuids = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// refused is why PuppetDB refuses a command, if that can be seen; "" if not. Rule
// PDB-SEM-04.
func refused(cmd *command.Command) string {
	if lacks := cmd.Lacks(); lacks != "" {
		return "PuppetDB refuses " + lacks
	}
	payload := cmd.Payload
	for _, key := range []string{"catalog_uuid", "transaction_uuid"} {
		if v := payload.Get(key); v.Kind() == data.String && !uuids.MatchString(v.Str()) {
			return fmt.Sprintf("PuppetDB refuses what is no UUID: %s is %q", key, v.Str())
		}
	}
	ref := func(v data.Value) string { return v.Get("type").Text() + "[" + v.Get("title").Text() + "]" }
	there := map[string]bool{}
	for _, r := range payload.Get("resources").List() {
		if there[ref(r)] {
			return "PuppetDB refuses a resource that is there twice: " + ref(r)
		}
		there[ref(r)] = true
		for _, tag := range r.Get("tags").List() {
			if strings.ToLower(tag.Text()) != tag.Text() {
				return fmt.Sprintf("PuppetDB refuses tags with capital letters: %s has '%s'", ref(r), tag.Text())
			}
		}
	}
	for _, e := range payload.Get("edges").List() {
		for _, end := range []string{"source", "target"} {
			if x := ref(e.Get(end)); !there[x] {
				return fmt.Sprintf("PuppetDB refuses an edge to nowhere: %s %s %s", ref(e.Get("source")), e.Get("relationship").Text(), ref(e.Get("target")))
			}
		}
	}
	return ""
}
