package debugger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"indirtui/indirector/host/files"
)

// fileOf returns the file of a project; projects of the same name have
// different ones.
func fileOf(dir, project string) string {
	sum := sha256.Sum256([]byte(project))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, filepath.Base(project))
	return filepath.Join(dir, "breaks-"+name[:min(len(name), 40)]+"-"+hex.EncodeToString(sum[:4])+".txt")
}

// maxFile is the largest file of breakpoints that is read.
const maxFile = 1 << 20

// load reads the breakpoints, disarmed. Lines that cannot be read are reported
// and kept.
func (d *Debugger) load() error {
	if d.path == "" {
		return nil
	}
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read the breakpoints: %w", err)
	case info.Size() > maxFile || !info.Mode().IsRegular():
		return fmt.Errorf("read the breakpoints: %s is no file of at most %d bytes; remove it", d.path, maxFile)
	}
	text, err := os.ReadFile(d.path)
	if err != nil {
		return fmt.Errorf("read the breakpoints: %w", err)
	}
	var errs []error
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		b, err := Parse(strings.TrimPrefix(line, "break "))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", d.path, i+1, err))
			d.unread = append(d.unread, line)
			continue
		}
		d.last++
		n := newBreakpoint(b, fmt.Sprintf("b%d", d.last))
		n.restored = true
		d.breaks = append(d.breaks, n)
	}
	return errors.Join(errs...)
}

// file formats the file. The caller holds d.mu.
func (d *Debugger) file() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# breakpoints of %s, as written behind the colon; they come back disarmed\n", strings.Join(strings.Fields(d.o.Project), " "))
	for _, x := range d.breaks {
		if x.only == 0 {
			b.WriteString("break " + x.Breakpoint.String() + "\n")
		}
	}
	for _, line := range d.unread {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// save replaces the file.
func (d *Debugger) save() error {
	if d.path == "" {
		return nil
	}
	d.saving.Lock()
	defer d.saving.Unlock()
	d.mu.Lock()
	text := d.file()
	d.mu.Unlock()
	if err := files.Write(d.path, []byte(text), files.Options{}); err != nil {
		return fmt.Errorf("keep the breakpoints: %w", err)
	}
	return nil
}
