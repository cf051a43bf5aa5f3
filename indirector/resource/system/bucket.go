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
// digits of the sum, with the paths that it was at.
func (s *System) Backup(ctx context.Context, name, bucket string) (sum string, known bool, err error) {
	content, err := s.ReadFile(ctx, name)
	if err != nil {
		return "", false, err
	}
	digest := sha256.Sum256(content)
	sum = hex.EncodeToString(digest[:])
	if bucket == "" {
		local, _ := s.Setting("clientbucketdir")
		bucket = cmp.Or(s.Bucket, local)
	}
	if bucket == "" {
		return sum, false, nil
	}
	dir, err := below(bucket, append(strings.Split(sum[:8], ""), sum))
	if err != nil {
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

// below makes directories, which are for the owner and the group, whatever the umask.
func below(dir string, names []string) (string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	for _, name := range names {
		dir = filepath.Join(dir, name)
		err := os.Mkdir(dir, 0o770)
		if err == nil {
			err = os.Chmod(dir, 0o770)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return dir, nil
}
