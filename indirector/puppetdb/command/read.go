package command

import (
	"errors"
	"time"

	"indirtui/indirector"
)

// Read reads a command that arrived: name with blanks or underscores, and the others as
// the URL has them. The body may be 256 MiB, nested 200 deep. The versions that are
// read are 6 to 9 of catalogs, 4 and 5 of facts, 5 to 8 of reports, 3 of deactivations.
func Read(name string, version int, certname string, produced time.Time, body []byte) (*Command, error) {
	return nil, errors.ErrUnsupported
}

// Instance returns what the command stores: a *[model.Facts], *[model.Catalog] or
// *[model.Report]; nil for a command that stores none: a deactivation, and inputs of a catalog.
func (c *Command) Instance() (indirector.Instance, error) { return nil, errors.ErrUnsupported }

// Hash returns a digest of what the command stores, which is the same for two commands that
// differ only in when, by whom and in which transaction they were made.
func (c *Command) Hash() [20]byte { return [20]byte{} }
