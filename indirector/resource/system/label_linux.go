package system

import (
	"context"
	"strings"

	"golang.org/x/sys/unix"
)

// label is the attribute of files that SELinux keeps contexts in.
const label = "security.selinux"

// Context reads the context of a file, a link itself.
func (s *System) Context(ctx context.Context, name string) (string, error) {
	b := make([]byte, 4096)
	span := looked(ctx, "label of", name)
	n, err := unix.Lgetxattr(name, label, b)
	span.end("", err)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(b[:n]), "\x00"), nil
}

// SetContext writes it.
func (s *System) SetContext(ctx context.Context, name, context string) error {
	return change(ctx, "label", name, unix.Lsetxattr(name, label, append([]byte(context), 0), 0))
}
