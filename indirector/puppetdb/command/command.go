// Package command has the commands by which a store of catalogs, facts and reports learns
// what to keep: as PuppetDB gets them, and as the stores in SQL take them.
//
// One function makes a command from an instance, whatever the store is. Rule STORE-SQL-04.
//
//	c, err := command.Facts(facts, command.Options{Producer: "compiler.example.com", …})
//	body, warning := c.Body()
//	target := command.Path + "?" + c.Query(body)
//
// [Read] reads what arrives back, and [Command.Instance] makes an instance of it.
package command

import (
	"time"

	"indirtui/indirector/data"
)

// Path is where PuppetDB takes commands.
const Path = "/pdb/cmd/v1"

// The names of the commands.
const (
	ReplaceCatalog       = "replace catalog"
	ReplaceCatalogInputs = "replace catalog inputs"
	ReplaceFacts         = "replace facts"
	StoreReport          = "store report"
	DeactivateNode       = "deactivate node"
)

// A Command is one change of what a store keeps. It does not change.
type Command struct {
	Name     string // "replace facts"
	Version  int    // of the format of the payload, as PuppetDB counts
	Certname string // whom it is about: the key of the request
	// Produced is the producer_timestamp, which decides what is newer, in whole
	// milliseconds.
	Produced time.Time
	// Payload is a hash whose keys are in the order of the wire.
	Payload data.Value
	// Warnings are what Puppet logs as it makes the command. They end no save.
	Warnings []string

	sent data.Value // the payload with what PuppetDB drops as it reads; nil if that is Payload
}

// String returns what the command does, in a few words: "replace facts of web01".
func (c *Command) String() string {
	if c.Name == DeactivateNode {
		return c.Name + " " + c.Certname
	}
	return c.Name + " of " + c.Certname
}

// Options are what a command has from the request and from the sender.
type Options struct {
	// Key is the certname that the command is about. If empty, it is the name of
	// the instance.
	Key string
	// Produced is the moment in the zone of the sender, in which the payload has it.
	// What is below a millisecond is cut.
	Produced time.Time
	// Producer is the name of the sender: the setting node_name_value.
	Producer string
	// Environment is the one of the request; for facts, the option environment goes
	// before it.
	Environment string
	// Trusted is the trusted data of the request: a hash with authenticated, certname,
	// extensions and external. If nil, it is that of a local request for a node that is
	// not known.
	Trusted data.Value
	// TransactionUUID and JobID are options of the request. If empty, they are null.
	TransactionUUID string
	JobID           string
	// Unchanged keeps resources of reports without events: the setting
	// include_unchanged_resources.
	Unchanged bool
}

// command returns the command, with what all have in common.
func (o Options) command(name string, version int, certname string) *Command {
	if o.Key != "" {
		certname = o.Key
	}
	return &Command{Name: name, Version: version, Certname: certname, Produced: o.Produced.Truncate(time.Millisecond)}
}

// Deactivate returns the command that ends what a store shows of a node. Rule
// PDB-NODE-01.
func Deactivate(certname string, o Options) *Command {
	c := o.command(DeactivateNode, 3, certname)
	c.Payload = data.OfHash([]data.Pair{
		data.P("certname", data.OfString(c.Certname)),
		data.P("producer_timestamp", wireTime(c.Produced)),
	})
	return c
}

// wireTime returns a moment as payloads have it: in its own zone, cut to milliseconds.
func wireTime(t time.Time) data.Value {
	if t.Location() == time.UTC {
		return data.OfString(t.Format("2006-01-02T15:04:05.000Z"))
	}
	return data.OfString(t.Format("2006-01-02T15:04:05.000-07:00"))
}

// orNull returns a text, or null for the empty one.
func orNull(s string) data.Value {
	if s == "" {
		return data.Value{}
	}
	return data.OfString(s)
}
