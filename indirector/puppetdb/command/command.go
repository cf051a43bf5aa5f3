// Package command has the commands by which a store of catalogs, facts and reports learns
// what to keep: as PuppetDB gets them, and as the stores in SQL take them.
//
// One function makes a command from an instance, whatever the store is. Rule STORE-SQL-04.
package command

import (
	"time"

	"indirtui/indirector/data"
)

// The names of the commands.
const (
	ReplaceCatalog = "replace catalog"
	ReplaceFacts   = "replace facts"
	StoreReport    = "store report"
	DeactivateNode = "deactivate node"
)

// A Command is one change of what a store keeps.
type Command struct {
	Name     string // "replace facts"
	Version  int    // of the format of the payload, as PuppetDB counts
	Certname string // whom it is about: the key of the request
	// Produced is the producer_timestamp, which decides what is newer, in whole
	// milliseconds.
	Produced time.Time
	// Payload is a hash whose keys are in the order of the wire.
	Payload data.Value
}
