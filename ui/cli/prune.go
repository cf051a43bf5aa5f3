package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"indirtui/traces/store"
)

// ours are the names that recording makes, and those of parts.
var ours = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9.]{15}(\.[0-9]+)?\.jsonl$`)

// alive is how long a recording without an end may be unchanged until its
// program is taken for dead.
const alive = 24 * time.Hour

// prune makes room for a new recording among those that were made by
// themselves: it removes the oldest until fewer than keep files and size bytes
// are left; zeros are no limits. What is still written, and what a project
// compares with, stays.
func (p *program) prune(dir string, keep int, size int64) {
	all, total, err := oldRecordings(dir)
	if err != nil {
		return
	}
	for len(all) > 0 && (keep > 0 && len(all) >= keep || size > 0 && total > size) {
		if err := os.Remove(all[0].path); err != nil {
			fmt.Fprintf(p.Err, "warning: an old recording stays: %s\n", clean(err.Error()))
		}
		total -= all[0].size
		all = all[1:]
	}
}

// An oldRecording was made by itself, and may be removed.
type oldRecording struct {
	path string
	size int64
	at   time.Time // of the last change
}

// oldRecordings are those of a directory, oldest first, and the size of all that
// were made by themselves, also of those that must stay.
func oldRecordings(dir string) (all []oldRecording, total int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	spared := baselines(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !ours.MatchString(e.Name()) {
			continue
		}
		total += info.Size()
		path := filepath.Join(dir, e.Name())
		if slices.Contains(spared, path) {
			continue
		}
		if known, err := store.Inspect(path); (err != nil || !known.Ended) && time.Since(info.ModTime()) < alive {
			continue
		}
		all = append(all, oldRecording{path, info.Size(), info.ModTime()})
	}
	slices.SortFunc(all, func(a, b oldRecording) int { return a.at.Compare(b.at) })
	return all, total, nil
}

// baselines are the recordings that projects compare with.
func baselines(dir string) (paths []string) {
	projects, _ := filepath.Glob(filepath.Join(dir, "project-*.json")) // the pattern is good
	for _, path := range projects {
		if k, err := readKept(path); err == nil && k.Baseline != "" {
			paths = append(paths, k.Baseline)
		}
	}
	return paths
}
