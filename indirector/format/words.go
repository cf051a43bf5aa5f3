package format

import "fmt"

// Puppet's errors for bytes that it cannot read, word for word, because users
// search for them. Rule FMT-10.
const (
	notInstance      = "Serialized YAML did not contain a valid instance of %s"
	notInstanceSince = notInstance + ": %w"
	notCollection    = "Serialized YAML did not contain a collection of instances when calling intern_multiple"

	noTitlePattern = "No set of title patterns matched the title %s."

	notPSON     = "source '%s' not in PSON!"
	noPSON      = "source did not contain any PSON!"
	psonNext    = "%s '%s'!"
	mixedPSON   = "Caught Encoding::CompatibilityError: incompatible character encodings: %s and %s"
	halfPSON    = "Caught Encoding::InvalidByteSequenceError: incomplete %s on UTF-16BE"
	shortEscape = "Caught ArgumentError: wrong number of arguments (given 1, expected 0)"
)

// errorf returns an error in these words.
func errorf(words string, args ...any) error { return fmt.Errorf(words, args...) }
