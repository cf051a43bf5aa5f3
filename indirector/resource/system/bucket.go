package system

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"indirtui/indirector/host/files"
)

// Backup writes what a file has as Puppet's local bucket has it: below the first eight
// digits of the sum, with the paths that it was at, which have no links in them.
func (s *System) Backup(ctx context.Context, name, bucket string) (sum string, known bool, err error) {
	content, err := s.ReadFile(ctx, name)
	if err != nil {
		return "", false, err
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	digest := sha256.Sum256(content)
	sum = hex.EncodeToString(digest[:])
	if bucket == "" {
		local, _ := s.Setting("clientbucketdir")
		if bucket = cmp.Or(s.Bucket, local); bucket == "" {
			return sum, false, nil
		}
		if err := os.MkdirAll(bucket, 0o750); err != nil {
			return "", false, fmt.Errorf("back up %q: %w", name, err)
		}
	}
	dir := filepath.Join(append(append([]string{bucket}, strings.Split(sum[:8], "")...), sum)...)
	if err := directories(dir); err != nil {
		return "", false, fmt.Errorf("back up %q: %w", name, err)
	}
	_, missing := os.Stat(filepath.Join(dir, "contents"))
	if missing != nil {
		if err := change(ctx, "write", filepath.Join(dir, "contents"), files.Write(filepath.Join(dir, "contents"), content, files.Options{Mode: 0o440})); err != nil {
			return "", false, fmt.Errorf("back up %q: %w", name, err)
		}
	}
	paths := filepath.Join(dir, "paths")
	old, _ := os.ReadFile(paths) // there may be none yet
	if slices.Contains(strings.Split(string(old), "\n"), name) {
		return sum, false, nil // Puppet asks for content and path first, and saves nothing
	}
	err = files.Write(paths, append(old, name+"\n"...), files.Options{Mode: 0o640})
	return sum, missing == nil, change(ctx, "write", paths, err)
}

// directories makes a directory and those above it, which are for the owner and the group,
// whatever the umask.
func directories(dir string) error {
	err := os.Mkdir(dir, 0o770)
	if errors.Is(err, fs.ErrNotExist) {
		if err := directories(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o770)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return os.Chmod(dir, 0o770)
}
