// Package ldap finds nodes in an LDAP directory, as the node terminus of that
// name did up to Puppet 5.
//
// A node is an entry: attributes that settings name hold its classes, its
// variables and the name of its parent, whose entry fills the gaps. Puppet has one
// sentence for everything that goes wrong, "LDAP Search failed"; here the trace
// leads with the cause, and shows which entry won and where each class and
// parameter came from.
package ldap

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nodefacts"
	"indirtui/traces"
)

// Node describes the ldap terminus of the node indirection.
var Node = indirector.Descriptor{
	Indirection: "node",
	Name:        "ldap",
	Party:       "the directory",
	Note:        "asks an LDAP directory",
	Doc: "Asks an LDAP directory for the entry of a node, and merges the facts of the same name into its parameters. " +
		"It looks for the name, then for its part before the first dot, then for default. Parents named by entries fill gaps. " +
		"Puppet had it up to version 5; the settings are still there. The name is escaped in the filter, which Puppet does not do.",
	Settings: []indirector.Setting{
		{Name: "ldapserver", Doc: "Host of the server."},
		{Name: "ldapport", Doc: "Its port, also with TLS."},
		{Name: "ldapssl", Doc: "TLS from the start."},
		{Name: "ldaptls", Doc: "StartTLS; wins over ldapssl."},
		{Name: "ldapuser", Doc: "DN to bind as; none is anonymous."},
		{Name: "ldappassword", Doc: "Its password."},
		{Name: "ldapbase", Doc: "Where to search, with everything below."},
		{Name: "ldapstring", Doc: "The filter; %s is the name."},
		{Name: "ldapclassattrs", Doc: "Attributes with names of classes."},
		{Name: "ldapstackedattrs", Doc: "Attributes with name=value, which become parameters."},
		{Name: "ldapattrs", Doc: "Attributes to ask for besides those of classes and the parent; all is all."},
		{Name: "ldapparentattr", Doc: "Attribute with the name of the parent; none is no parents."},
		{Name: "localcacert", Doc: "CAs to trust, unless libldap's ldap.conf or LDAPTLS_CACERT names others."},
		{Name: settingTimeout, Type: "duration", Default: "30s", Doc: "How long a connection or a search may take. Not a setting of Puppet."},
		{Name: settingAnswer, Default: "64", Doc: "How large the answer to a search may be, in MiB. Not a setting of Puppet."},
	},
	Rules: []string{
		"LDAP-01", "LDAP-02", "LDAP-03", "LDAP-04", "LDAP-05", "LDAP-06", "LDAP-07", "LDAP-08", "LDAP-09", "LDAP-10",
		"LDAP-11", "LDAP-12", "LDAP-13", "LDAP-14",
	},
	Type: (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		c, err := newConfig(env.Settings)
		if err != nil {
			return nil, err
		}
		return &Terminus{env: env, facts: nodefacts.Merger{Env: env}, config: c, client: &client{config: c}}, nil
	},
}

// A Terminus asks one directory over one connection, which it keeps.
type Terminus struct {
	env    indirector.Env
	facts  nodefacts.Merger
	config *config
	client *client
}

var _ indirector.Searcher = (*Terminus)(nil)

// Close closes the connection when the last search has ended.
func (t *Terminus) Close() error {
	t.client.close()
	return nil
}

// Find returns the node of the first name that has an entry. Rules LDAP-01,
// LDAP-03.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	names := names(req.Key)
	if note := t.config.escaped(req.Key); note != "" {
		traces.Explain(ctx, note)
	}
	for i, name := range names {
		e, err := t.entry(ctx, name)
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue
		}
		if i > 0 && i == len(names)-1 {
			traces.Explain(ctx, fmt.Sprintf("no entry for %s: %s answered", strings.Join(names[:i], " or "), name))
		} else if i > 0 {
			traces.AddNote(ctx, fmt.Sprintf("no entry for %s: %s answered", names[0], name))
		}
		node, err := t.node(ctx, req, req.Key, e)
		if err != nil {
			return nil, err
		}
		return node, nil
	}
	return nil, indirector.NotFound(traces.NotFound, fmt.Sprintf("%s below %q", strings.Join(names, ", "), t.config.base))
}

var domain = regexp.MustCompile(`\..+`)

// names returns what is looked for, in order.
func names(key string) []string {
	all := []string{key}
	if strings.Contains(key, ".") {
		short := key
		if at := domain.FindStringIndex(key); at != nil {
			short = key[:at[0]] + key[at[1]:]
		}
		all = append(all, short)
	}
	return append(all, "default")
}

// Search returns the nodes of all entries that are puppet clients, or of those that
// have all classes of the option class. The key does not count. Rule LDAP-13.
func (t *Terminus) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	filter := "(objectclass=puppetClient)"
	if classes := texts(req.Option("class")); classes != nil {
		filter = "(&" + filter
		for _, c := range classes {
			filter += "(puppetclass=" + escape(c) + ")"
		}
		filter += ")"
	}
	entries, err := t.search(ctx, filter, filter, truthy(req.Option("fqdn")))
	if err != nil {
		return nil, err
	}
	nodes := make([]indirector.Instance, len(entries))
	for i, e := range entries {
		if e.name == "" {
			traces.ExplainFailure(ctx, fmt.Sprintf("the entry %q has no cn, so the node has no name", e.Source))
			return nil, &indirector.Failure{Class: "ArgumentError", Message: "Node names cannot be nil", Path: e.Source}
		}
		if nodes[i], err = t.node(ctx, req, e.name, e); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// texts returns an option as a list, nil if it is not given.
func texts(option any) []string {
	switch o := option.(type) {
	case nil:
		return nil
	case []string:
		return o
	case []any:
		all := make([]string, len(o))
		for i, x := range o {
			all[i] = fmt.Sprint(x)
		}
		return all
	}
	return []string{fmt.Sprint(option)}
}

// truthy is Ruby's notion of an option, whose false may be a text here.
func truthy(option any) bool {
	return option != nil && option != false && option != "false"
}

// node makes the node of an entry and its parents. Rule LDAP-09.
func (t *Terminus) node(ctx context.Context, req *indirector.Request, name string, e *entry) (*model.Node, error) {
	if err := t.parents(ctx, e); err != nil {
		return nil, err
	}
	if n := len(e.Environments); n > 1 {
		message := fmt.Sprintf("node entry %s has %d environments", e.Of, n)
		traces.ExplainFailure(ctx, message+": "+strings.Join(first(e.Environments, 10), ", "))
		return nil, &indirector.Failure{Message: message, Path: e.Of}
	}
	if len(e.binary) > 0 {
		traces.AddNote(ctx, fmt.Sprintf("not UTF-8 in %q: %s; the node cannot be written as JSON", e.Source, strings.Join(first(e.binary, 10), ", ")))
	}
	merged, err := t.facts.Merge(ctx, req, e.Model(name, req.Environment))
	if err != nil {
		return nil, err
	}
	e.Record(ctx, merged)
	return merged, nil
}

func first[T any](all []T, n int) []T { return all[:min(n, len(all))] }
