package model

import "fmt"

// Puppet's errors for data hashes, word for word, because users search for
// them.
const (
	noName          = "No name provided in serialized data"                                      // FMT-NODE-03
	notMatched      = "string not matched"                                                       // FMT-NODE-03
	noType          = "No resource type provided in serialized data"                             // FMT-CAT-02
	noTitle         = "No resource title provided in serialized data"                            // FMT-CAT-02
	badReference    = "No title provided and %s is not a valid resource reference"               // FMT-CAT-04
	noSource        = "Could not intern from data: Could not find relationship source %s for %s" // FMT-CAT-04
	noTarget        = "Could not intern from data: Could not find relationship target %s for %s" // FMT-CAT-04
	noCallback      = "You must pass a callback for non-NONE events"                             // FMT-CAT-04
	declaredTwice   = "Duplicate declaration: %s is already declared%s; cannot redeclare%s"      // FMT-CAT-05
	aliasTaken      = "Cannot alias %s to %s%s; resource %s already declared%s"                  // FMT-CAT-05
	badTag          = "Invalid tag '%s'"                                                         // FMT-CAT-02
	notAbsolute     = "Paths must be fully qualified"                                            // formats, 6
	notRelative     = "Relative paths must not be fully qualified"                               // formats, 6
	unknownChecksum = "Unsupported checksum type %s"                                             // TERM-FB-04
)

// errorf returns an error in these words.
func errorf(words string, args ...any) error { return fmt.Errorf(words, args...) }
