//go:build !unix

package systemtest

import "errors"

func pipe(string) error { return errors.ErrUnsupported }
