package reports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/termini/internal/disk"
)

// store keeps the report as reportdir/host/YYYYMMDDHHMM.yaml, in UTC. Two
// reports of one minute are one file.
func (t *Terminus) store(ctx context.Context, report *model.Report) error {
	if err := validateHost(report.Host); err != nil {
		return err
	}
	dir := filepath.Join(t.reportdir, report.Host)
	if _, err := os.Stat(dir); err != nil {
		if err := makeDir(dir); err != nil {
			return disk.Fail(err, dir, "")
		}
	}
	path := filepath.Join(dir, t.env.Now().UTC().Format("200601021504")+".yaml")
	b, err := format.RenderFile(yamlFormat, report)
	if err == nil {
		err = disk.Replace(ctx, path, 0o640, b)
		format.Release(b)
	}
	if err != nil {
		// This processor does not even fail.
		t.hide(ctx, "store", fmt.Sprintf("Could not write report for %s at %s: %s", report.Host, path, disk.Message(err)), disk.Fail(err, path, ""))
	}
	return nil
}

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.Chmod(dir, 0o750)
}

// validateHost refuses names that would lead out of the directory.
func validateHost(host string) error {
	name := strings.TrimSuffix(host, "\n")
	if !strings.Contains(host, "/") && name != "." && name != ".." {
		return nil
	}
	return &indirector.Failure{Class: "ArgumentError", Message: "Invalid node name " + data.InspectString(host), Err: indirector.ErrInvalid}
}

// unstore removes the files of a host and its directory.
func (t *Terminus) unstore(ctx context.Context, host string) error {
	if err := validateHost(host); err != nil {
		return err
	}
	dir := filepath.Join(t.reportdir, host)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return disk.Fail(err, dir, "")
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := disk.Remove(ctx, path); err != nil {
			return disk.Fail(err, path, "")
		}
	}
	if err := os.Remove(dir); err != nil {
		return disk.Fail(err, dir, "")
	}
	return nil
}
