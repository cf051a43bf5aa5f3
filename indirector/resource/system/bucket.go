package system

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"indirtui/indirector/host/files"
)

// Backup writes what a file has as Puppet's local bucket has it: below the first eight
// digits of the sum, with the paths that it was at.
func (s *System) Backup(ctx context.Context, name string) (string, error) {
	content, err := s.ReadFile(ctx, name)
	if err != nil || s.Bucket == "" {
		return "", err
	}
	digest := sha256.Sum256(content)
	sum := hex.EncodeToString(digest[:])
	dir := filepath.Join(append([]string{s.Bucket}, append(strings.Split(sum[:8], ""), sum)...)...)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("back up %q: %w", name, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "contents")); err != nil {
		if err := change(ctx, "write", filepath.Join(dir, "contents"), files.Write(filepath.Join(dir, "contents"), content, files.Options{Mode: 0o440})); err != nil {
			return "", fmt.Errorf("back up %q: %w", name, err)
		}
	}
	paths := filepath.Join(dir, "paths")
	known, _ := os.ReadFile(paths) // there may be none yet
	at := strings.TrimPrefix(name, "/")
	if slices.Contains(strings.Split(string(known), "\n"), at) {
		return sum, nil
	}
	err = files.Write(paths, append(known, at+"\n"...), files.Options{Mode: 0o640})
	return sum, change(ctx, "write", paths, err)
}
