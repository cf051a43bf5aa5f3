// Package dns finds nodes in the domain name system: the classes, parameters and the
// environment of a node are TXT records of its name.
//
//	web01.example.com. 300 IN TXT "class=ntp,web::front"
//	web01.example.com. 300 IN TXT "environment=staging"
//	web01.example.com. 300 IN TXT "role=web"
//
// Puppet has no such terminus; articles about the indirector name it as the example of
// one that a user may write. A name that does not exist is no node, a server that does
// not answer is an error, and the time to live of the records is that of the node.
package dns

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nodefacts"
	"indirtui/traces"
)

// Node describes the dns terminus of the node indirection.
var Node = indirector.Descriptor{
	Indirection: "node",
	Name:        "dns",
	Party:       "DNS",
	Note:        "asks DNS for TXT records",
	Doc: "Reads a node from the TXT records of its name, and merges the facts of the same name into its parameters. " +
		"class=NAME,… adds classes, environment=NAME sets the environment, parent=NAME names another name whose records fill gaps, any other name=value is a parameter. " +
		"The smallest time to live of the records is when the node expires in a cache. It is not a terminus of Puppet.",
	Settings: []indirector.Setting{
		{Name: settingPrefix, Doc: "What goes before the name, with a dot; _puppet asks for _puppet.web01.example.com. Not a setting of Puppet."},
		{Name: settingServers, Doc: "Addresses of name servers, perhaps with ports, in the order in which they are asked; none is those of /etc/resolv.conf. Not a setting of Puppet."},
		{Name: settingTimeout, Type: "duration", Default: "5s", Doc: "How long one server may take. Not a setting of Puppet."},
		{Name: settingAD, Type: "boolean", Default: "false", Doc: "Refuses answers that the server has not authenticated by DNSSEC. Not a setting of Puppet."},
	},
	Rules: []string{"DNS-01", "DNS-02", "DNS-03", "DNS-04", "DNS-05", "DNS-06", "DNS-07", "DNS-08", "DNS-09", "DNS-10"},
	Type:  (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		c, err := newConfig(env.Settings)
		if err != nil {
			return nil, err
		}
		return &Terminus{env: env, facts: nodefacts.Merger{Env: env}, config: c}, nil
	},
}

// A Terminus asks name servers about nodes. Nothing is kept between requests.
type Terminus struct {
	env    indirector.Env
	facts  nodefacts.Merger
	config *config
}

// maxName is the length of a domain name, in bytes.
const maxName = 253

var hostName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?$`)

// isHostName reports whether a name can be asked for. Rule DNS-01.
func isHostName(name string) bool { return len(name) <= maxName && hostName.MatchString(name) }

// Find returns the node of the records of a name. It expires with the first of them.
// Rules DNS-01, DNS-09, DNS-10.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	if !isHostName(t.config.question(req.Key)) {
		traces.Explain(ctx, fmt.Sprintf("DNS was not asked: %.300q is no host name", t.config.question(req.Key)))
		return nil, indirector.NotFound(traces.NotFound, "a name that is no host name")
	}
	r, err := t.records(ctx, req.Key, req.Key)
	if err != nil {
		return nil, err
	}
	if r.absent != "" {
		traces.Explain(ctx, r.absent)
		return nil, indirector.NotFound(traces.NotFound, r.question)
	}
	if err := t.parents(ctx, req.Key, r); err != nil {
		return nil, err
	}
	if r.texts == 0 {
		traces.Explain(ctx, fmt.Sprintf("%s has %d TXT records, none of them about the node", r.question, len(r.ignored)))
	}
	node := r.Model(req.Key, req.Environment).WithExpiration(t.env.Now().Add(r.ttl)).(*model.Node)
	merged, err := t.facts.Merge(ctx, req, node)
	if err != nil {
		return nil, err
	}
	r.Record(ctx, merged)
	return merged, nil
}

// maxParents is how deep parents may be nested. Rule DNS-03.
const maxParents = 10

// parents merges the records of the parents into those of a node. Names are compared
// without case, as those of DNS are. Rule DNS-03.
func (t *Terminus) parents(ctx context.Context, key string, r *records) error {
	chain := map[string]bool{strings.ToLower(key): true}
	last := r.question
	for parent := r.parent; parent != ""; {
		name := strings.ToLower(parent)
		switch {
		case chain[name]:
			return &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf("Found loop in DNS node parents; %s appears twice", parent), Path: last}
		case len(chain) > maxParents:
			return &indirector.Failure{Message: fmt.Sprintf("node %s has more than %d parents", key, maxParents), Path: last}
		}
		why := fmt.Sprintf("%.300q is no host name", parent)
		var found *records
		if isHostName(t.config.question(parent)) {
			var err error
			if found, err = t.records(ctx, key, parent); err != nil {
				return err
			}
			why = found.absent
		}
		if why != "" {
			traces.ExplainFailure(ctx, fmt.Sprintf("%s names the parent %.300q: %s", last, parent, why))
			return &indirector.Failure{Message: fmt.Sprintf("Could not find parent node '%s'", parent), Path: last}
		}
		r.Inherit(&found.Node, fmt.Sprintf("parent %d (%s)", len(chain), parent))
		r.ttl = min(r.ttl, found.ttl)
		chain[name] = true
		last, parent = found.question, found.parent
	}
	return nil
}

// records asks for the records of one name.
func (t *Terminus) records(ctx context.Context, node, key string) (*records, error) {
	a, err := t.config.ask(ctx, t.config.question(key))
	if err != nil {
		return nil, failed(ctx, node, err)
	}
	r, err := read(a.question, a.texts)
	if err != nil {
		traces.ExplainFailure(ctx, a.question+": "+err.Error())
		return nil, &indirector.Failure{Message: fmt.Sprintf("Could not read node %s in DNS: %s", node, err), Origin: "decode", Path: a.question}
	}
	r.absent, r.ttl = a.absent, time.Duration(a.ttl)*time.Second
	r.record(ctx)
	return r, nil
}
