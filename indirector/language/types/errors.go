package types

import "fmt"

// errorf returns an error in Puppet's words, which users know: they are not those of
// other errors of this program.
func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }
