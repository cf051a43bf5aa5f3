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
		return k, err
	}
	sum := sha256.Sum256([]byte(project))
	path := filepath.Join(dir, "project-"+hex.EncodeToString(sum[:6])+".json")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.path = path
		return k, nil
	case err != nil:
		return k, err
	case !info.Mode().IsRegular() || info.Size() > maxKept:
		return k, fmt.Errorf("read %s: it is no file of ours", path)
	}
	b, err := os.ReadFile(path)
	if err == nil {
		err = k.read(b)
	}
	if err != nil {
		return k, fmt.Errorf("read %s: %w; remove it to begin anew", path, err)
	}
	k.path = path
	return k, nil
}

// read takes over what a file of the project holds; after an error nothing.
func (k *kept) read(b []byte) error {
	var of struct {
		Ignore   []string
		Baseline string
	}
	if err := json.Unmarshal(b, &of); err != nil {
		return err
	}
	k.Ignore, k.Baseline = of.Ignore, of.Baseline
	return nil
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
