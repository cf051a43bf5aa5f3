package flatfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

// settingSidecar makes all cache entries expire. Puppet does not have it:
// there, an entry whose format drops the expiration is served for ever. Gap L6.
const settingSidecar = "expiry_sidecar"

var sidecarSetting = indirector.Setting{
	Name: settingSidecar,
	Doc:  "true keeps the expiration of nodes and catalogs in a hidden file beside theirs, so that they expire. Not a setting of Puppet.",
}

func keepsSidecars(env indirector.Env, keptInside bool) bool {
	on, _ := env.Settings.Get(settingSidecar)
	return on == "true" && !keptInside
}

// sidecar returns the file that keeps the expiration of the one at path. It is
// hidden, so that no search of Puppet's finds it.
func sidecar(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".expires")
}

// KeepsExpiry reports whether the format or a sidecar keeps expirations.
func (f *files) KeepsExpiry() bool { return f.class.Expires || f.sidecars }

// keepExpiration writes the sidecar of an instance, or removes an older one.
func (f *files) keepExpiration(ctx context.Context, path string, inst indirector.Instance) error {
	if !f.sidecars {
		return nil
	}
	at := time.Time{}
	if e, ok := inst.(indirector.Expirer); ok {
		at = e.Expiration()
	}
	if at.IsZero() {
		return f.forgetExpiration(ctx, path)
	}
	text := at.UTC().Format(time.RFC3339Nano) + "\n"
	if err := disk.Replace(ctx, sidecar(path), f.mode, []byte(text)); err != nil {
		return disk.Fail(err, sidecar(path), "")
	}
	return nil
}

func (f *files) forgetExpiration(ctx context.Context, path string) error {
	if !f.sidecars {
		return nil
	}
	if err := disk.Remove(ctx, sidecar(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return disk.Fail(err, sidecar(path), "")
	}
	return nil
}

// expiring returns inst with the expiration that its sidecar keeps.
func (f *files) expiring(ctx context.Context, path string, inst indirector.Instance) indirector.Instance {
	e, ok := inst.(indirector.Expirer)
	if !f.sidecars || !ok {
		return inst
	}
	at, err := readSidecar(path)
	if err != nil {
		traces.AddNote(ctx, "the expiration is not known: "+err.Error())
	}
	if at.IsZero() {
		return inst
	}
	return e.WithExpiration(at)
}

// readSidecar returns the kept expiration; zero if none is kept.
func readSidecar(path string) (time.Time, error) {
	b, err := os.ReadFile(sidecar(path))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(b)))
	if err != nil {
		return time.Time{}, fmt.Errorf("read %s: want a time as 2006-01-02T15:04:05Z", sidecar(path))
	}
	return at, nil
}
