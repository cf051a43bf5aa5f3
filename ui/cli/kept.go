package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"indirtui/indirector/engine"
	"indirtui/indirector/host/files"
)

// kept is what is kept for a project from one time to the next, besides its
// breakpoints: a file of JSON beside the recordings.
//
//	{"project":"/etc/puppet","ignore":[".parameters.*timestamp"],"baseline":"/…/base.ind"}
type kept struct {
	Project  string   `json:"project"`
	Ignore   []string `json:"ignore,omitempty"`
	Baseline string   `json:"baseline,omitempty"`

	mu   sync.Mutex // guards the file, and what is above
	path string     // "" is nowhere
}

// maxKept bounds the file.
const maxKept = 1 << 20

// keptFor reads what is kept for a project. If it cannot be read, what is
// returned with the error is usable, and keeps nothing.
func keptFor(project string) (*kept, error) {
	k := &kept{Project: project}
	if project == "" {
		return k, nil
	}
	dir, err := engine.StateDir()
	if err != nil {
		return k, nil // as nothing is kept, which is reported once
	}
	sum := sha256.Sum256([]byte(project))
	path := filepath.Join(dir, "project-"+hex.EncodeToString(sum[:6])+".json")
	read, err := readKept(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.path = path
		return k, nil
	case err != nil:
		return k, err
	}
	read.path, read.Project = path, project
	return read, nil
}

func readKept(path string) (*kept, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxKept {
		return nil, fmt.Errorf("read %s: it is no file of ours", path)
	}
	k := new(kept)
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, k)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; remove it to begin anew", path, err)
	}
	return k, nil
}

// keep writes one thing down. It fits screen.Env.Keep.
func (k *kept) keep(name string, v any) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch name {
	case "ignore":
		k.Ignore, _ = v.([]string)
	case "baseline":
		k.Baseline, _ = v.(string)
	}
	if k.path == "" {
		return nil
	}
	b, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return files.Write(k.path, append(b, '\n'), files.Options{})
}
