//go:build !linux

package system

import (
	"context"
	"errors"
)

// Context fails: only Linux has SELinux.
func (s *System) Context(context.Context, string) (string, error) { return "", errors.ErrUnsupported }

// SetContext fails, too.
func (s *System) SetContext(context.Context, string, string) error { return errors.ErrUnsupported }
