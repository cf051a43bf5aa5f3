package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"indirtui/indirector"
)

// A file is one that the configuration was read from, as it was then.
type file struct {
	path string
	info fs.FileInfo // nil if it could not be found
}

func look(path string) file {
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	return file{path, info}
}

// same reports whether the file on disk is still the one that was read.
func (f file) same(now file) bool {
	if f.info == nil || now.info == nil {
		return f.info == nil && now.info == nil
	}
	return os.SameFile(f.info, now.info) && f.info.Size() == now.info.Size() && f.info.ModTime().Equal(now.info.ModTime())
}

// look finds puppet.conf and routes.yaml as they are now.
func (c *Configuration) look(o Options) []file {
	conf, _ := c.Settings.Get("config")
	routeFile, _ := c.Settings.Get("route_file")
	var all []file
	for _, path := range []string{conf, cmp.Or(o.RouteFile, routeFile)} {
		if path != "" {
			all = append(all, look(path))
		}
	}
	return all
}

// different describes the files that are not as they were read: "routes.yaml
// changed on disk at 12:03:04".
func (e *Engine) different(c *Configuration) (all []string) {
	for _, f := range c.files {
		now := look(f.path)
		name := filepath.Base(f.path)
		switch {
		case f.same(now):
		case now.info == nil:
			all = append(all, name+" is not on disk any more")
		default:
			at := now.info.ModTime()
			if e.options.Zone != nil {
				at = at.In(e.options.Zone)
			}
			all = append(all, name+" changed on disk at "+at.Format("15:04:05"))
		}
	}
	return all
}

// Recheck compares puppet.conf and routes.yaml with what was read of them. What is
// different is found, and a Problem of the Configuration until it is read again. News
// reports whether that is another than before. It asks the disk, and may wait. Pain
// P16.
func (e *Engine) Recheck() (found []Problem, news bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.now.Load()
	for _, text := range e.different(old) {
		switch {
		case e.unusable != "":
			text += " and cannot be used: " + e.unusable + "; what was read before stays in force"
		default:
			text += "; :reload reads it again"
		}
		found = append(found, Problem{Text: text, onDisk: true})
	}
	kept := slices.DeleteFunc(slices.Clone(old.Problems), func(p Problem) bool { return p.onDisk })
	all := slices.Concat(found, kept)
	if slices.Equal(all, old.Problems) {
		return found, false
	}
	c := *old
	c.Problems = all
	e.now.Store(&c)
	return found, true
}

// A Reload is what became of reading the configuration again.
type Reload struct {
	Files         []string // what had changed on disk, in words
	Follow        []string // names of settings whose value is another now
	Before, After *Configuration
}

// Reload reads puppet.conf and routes.yaml again. What was set or assigned since the
// start stays on top, and requests on their way end as they began, as with Override.
// With an error what was read before stays in force.
func (e *Engine) Reload() (Reload, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.now.Load()
	r := Reload{Files: e.different(old), Before: old}
	c, err := e.read(e.set, e.Registry())
	if err == nil {
		if p := fatal(c); p != "" && p != fatal(old) {
			err = errors.New(p)
		}
	}
	if err != nil {
		e.unusable = err.Error()
		return r, fmt.Errorf("%w; what was read before stays in force", err)
	}
	e.unusable = ""
	r.After = c
	for _, s := range c.Settings.All() {
		if was, _ := old.Settings.Get(s.Name); was != s.Value {
			r.Follow = append(r.Follow, s.Name)
		}
	}
	e.prefer(c)
	e.replace(c, strings.Join(append([]string{"read again"}, r.Files...), ", "))
	return r, nil
}

// Restore puts a configuration in force that was read earlier. Why is for the
// journal.
func (e *Engine) Restore(c *Configuration, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.replace(c, why)
}

// prefer lets a configuration that was just read have what Prefer named.
func (e *Engine) prefer(c *Configuration) {
	for _, p := range e.preferred {
		c.Routes = c.Routes.With(p.indirection, indirector.SlotTerminus, p.choice)
	}
}

// replace puts another configuration in force.
func (e *Engine) replace(c *Configuration, why string) {
	old := e.now.Load()
	changed := func(name string) bool {
		was, before := old.Settings.Get(name)
		is, now := c.Settings.Get(name)
		return was != is || before != now
	}
	e.Settings.Replace(c.Settings)
	e.now.Store(c)
	e.Reconfigure(c.surroundings(), indirector.Rebase(e.Routes(), old.Routes, c.Routes), changed, why)
}
