package facter_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"indirtui/indirector/data"
	"indirtui/indirector/host/namespacetest"
	"indirtui/termini/facter"
)

// containers are places to run in as images and continuous integration make
// them. Each function changes the namespaces of its process.
var containers = []struct {
	name  string
	build func(scratch string) error
}{
	{"with few devices and another name", func(scratch string) error {
		return errors.Join(
			unix.Sethostname([]byte("strange-host")), devices(scratch), hide(scratch, "/proc/partitions"), empty("/run"),
			unix.Mount("/sys", "/sys", "", unix.MS_BIND|unix.MS_REC, ""), unix.Mount("", "/sys", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""),
		)
	}},
	{"without sys", func(string) error { return empty("/sys") }},
	{"without what the package of Facter recommends", func(scratch string) error {
		var files []string
		for _, command := range []string{"virt-what", "lspci", "dmidecode", "lsblk", "blkid", "lsb_release"} {
			for _, dir := range []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/bin", "/usr/local/sbin"} {
				files = append(files, filepath.Join(dir, command))
			}
		}
		library, err := exec.Command("ruby", "-rsys/filesystem", "-e", `puts File.dirname($".grep(%r{/sys/filesystem.rb$}).min_by(&:size))`).Output()
		if err == nil {
			err = empty(strings.TrimSpace(string(library)))
		} else {
			err = nil // it is not there
		}
		return errors.Join(err, hide(scratch, files...))
	}},
}

// devices leaves four of them.
func devices(scratch string) error {
	dev := filepath.Join(scratch, "dev")
	if err := os.Mkdir(dev, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "random", "urandom"} {
		at := filepath.Join(dev, name)
		if err := os.WriteFile(at, nil, 0o666); err != nil {
			return err
		}
		if err := unix.Mount("/dev/"+name, at, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("bind /dev/%s: %w", name, err)
		}
	}
	return unix.Mount(dev, "/dev", "", unix.MS_BIND|unix.MS_REC, "")
}

// hide puts an empty file over others, those that are there.
func hide(scratch string, paths ...string) error {
	nothing := filepath.Join(scratch, "nothing")
	if err := os.WriteFile(nothing, nil, 0o644); err != nil {
		return err
	}
	for _, path := range paths {
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if err := unix.Mount(nothing, target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
	}
	return nil
}

// empty puts an empty file system over a directory.
func empty(dir string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("empty %s: %w", dir, err)
	}
	return nil
}

// TestRealFacterInContainers compares with Facter in containers. It is skipped
// with the reason where no namespaces can be made.
func TestRealFacterInContainers(t *testing.T) {
	for _, c := range containers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scratch, inside := namespacetest.Enter(t, syscall.CLONE_NEWNS|syscall.CLONE_NEWPID|syscall.CLONE_NEWUTS)
			if !inside {
				return
			}
			err := errors.Join(unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""), unix.Mount("proc", "/proc", "proc", 0, ""), c.build(scratch))
			if err != nil {
				t.Skipf("no container can be made here: %v", err)
			}
			same(t, func() (got, want data.Value) {
				want = real(t, "--no-external-facts", "--show-legacy")
				got, _ = collect(t, facter.Options{Legacy: true, Environ: plainEnviron()})
				return got, want
			})
		})
	}
}
