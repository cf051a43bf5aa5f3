package fileserving

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
)

const (
	softLimit = 1000      // entries above which Puppet warns
	hardLimit = 1_000_000 // entries above which a search gives up; ours
	maxLinks  = 40        // links that the kernel follows in one path
	shownLost = 20        // losers that a span names one by one
)

// A root is a directory, or a file, that a search begins with.
type root struct {
	path string
	of   module // of a merged mount
}

// An entry is one result of a search: a path below one of the roots.
type entry struct {
	root     int
	relative string
	kind     string // what its directory says it is: "file", "directory"; "" if that must be asked
}

// many returns the instances of all that the roots have. Of several that have
// the same relative path the first wins. A nil walk is made of the request.
func (m *maker) many(ctx context.Context, req *indirector.Request, roots []root, w *walk) ([]indirector.Instance, error) {
	if w == nil {
		var err error
		if w, err = newWalk(req); err != nil {
			return nil, err
		}
	}
	for i, r := range roots {
		if r.path != "/" {
			roots[i].path = strings.TrimSuffix(r.path, "/")
		}
	}
	entries, err := m.list(ctx, roots, w)
	if err != nil {
		return nil, err
	}
	o, err := m.options(req)
	if err != nil {
		return nil, err
	}
	return m.collect(ctx, o, roots, entries)
}

func isNotFound(err error) bool { return errors.Is(err, indirector.ErrNotFound) }

// list walks over all roots.
func (m *maker) list(ctx context.Context, roots []root, w *walk) (entries []entry, err error) {
	_, span := traces.Start(ctx, traces.File, "list "+filepath.Base(roots[0].path))
	if span != nil {
		defer func() {
			for _, r := range roots {
				span.Attr("path", r.path)
			}
			span.End(plural(len(entries), "path"), traces.Because{}, err)
		}()
	}
	if len(roots) == 1 {
		return m.files(ctx, roots[0].path, w)
	}
	owner := make(map[string]int)
	var lost []entry
	for i := range roots {
		found, err := m.files(ctx, roots[i].path, w)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			e.root = i
			if _, taken := owner[e.relative]; !taken {
				owner[e.relative] = i
				entries = append(entries, e)
			} else if span != nil && e.relative != "." {
				lost = append(lost, e)
			}
		}
	}
	if span != nil {
		noteLost(ctx, roots, owner, lost)
	}
	return entries, nil
}

// noteLost says which files of a merged mount nobody gets to see.
func noteLost(ctx context.Context, roots []root, owner map[string]int, lost []entry) {
	var span *traces.Active
	n, first := 0, ""
	for _, l := range lost {
		won := roots[owner[l.relative]]
		a, errA := os.Stat(join(won.path, l.relative))
		b, errB := os.Stat(join(roots[l.root].path, l.relative))
		if errA == nil && errB == nil && a.IsDir() && b.IsDir() {
			continue // both are there: they are laid over each other
		}
		if n++; n == 1 {
			_, span = traces.Start(ctx, traces.Choose, "merged mount")
			first = fmt.Sprintf("%s: %s wins over %s", l.relative, won.of.name, won.of.over(roots[l.root].of))
		}
		if n <= shownLost {
			span.Attr(l.relative, fmt.Sprintf("%s wins over %s", won.of.dir, roots[l.root].of.dir))
		}
	}
	if n > 0 {
		span.End(plural(n, "file")+" hidden", traces.Because{Reason: traces.DefaultInCode, About: first}, nil)
		traces.AddNote(ctx, "merged mount: "+first)
	}
}

// A directory waits to be listed.
type directory struct {
	relative string // "" is the root
	depth    int
	parent   *directory
	device   uint64
	node     uint64
}

// files returns what is at path and below it, "." first, then breadth first in
// the order of the directories.
func (m *maker) files(ctx context.Context, path string, w *walk) ([]entry, error) {
	look, op := lstat, opLstat
	if w.follow {
		look, op = stat, opStat
	}
	if !strings.HasPrefix(path, "/") {
		return nil, refuse("Fileset paths must be fully qualified: %s", path)
	}
	s, err := look(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil, refuse("Fileset paths must exist")
		}
		return nil, fail(op, path, err, "")
	}
	result := []entry{{relative: "."}}
	var queue []*directory
	if s.kind == "directory" && w.recurse {
		queue = append(queue, &directory{device: s.device, node: s.node})
	}
	for len(queue) > 0 {
		d := queue[0]
		queue[0], queue = nil, queue[1:]
		if w.limit >= 0 && d.depth >= w.limit {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("list %q: %w", path, err)
		}
		if result, queue, err = w.children(path, d, result, queue); err != nil {
			return nil, err
		}
	}
	return result, m.limits(path, len(result)-1, w.maxFiles)
}

// children adds what is in a directory to the result, and the directories
// among it to the queue.
func (w *walk) children(path string, d *directory, result []entry, queue []*directory) ([]entry, []*directory, error) {
	dir := full(path, d.relative)
	found, err := list(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range found {
		name := e.Name()
		if w.ignored(name) {
			continue
		}
		relative := name
		if d.relative != "" {
			relative = d.relative + "/" + name
		}
		if len(result) > hardLimit {
			return nil, nil, &indirector.Failure{
				Message: fmt.Sprintf("The directory '%s' contains more than %d entries", path, hardLimit), Path: path,
				Hidden: "a search gives up here; use recurselimit or ignore",
			}
		}
		kind := ""
		switch {
		case e.Type() == 0:
			kind = "file"
		case e.IsDir():
			kind = "directory"
		}
		result = append(result, entry{relative: relative, kind: kind})
		if e.IsDir() && !w.follow {
			queue = append(queue, &directory{relative: relative, depth: d.depth + 1})
			continue
		}
		if !w.follow || !e.IsDir() && e.Type() != fs.ModeSymlink {
			continue
		}
		s, err := stat(join(path, relative))
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				continue // it is looked at again when it is collected
			}
			return nil, nil, fail(opStat, join(path, relative), err, "")
		}
		if s.kind != "directory" {
			continue
		}
		next := &directory{relative: relative, depth: d.depth + 1, parent: d, device: s.device, node: s.node}
		if up := next.loop(); up != nil && (w.limit < 0 || w.limit > maxLinks) {
			return nil, nil, fail(opStat, join(path, relative), syscall.ELOOP, fmt.Sprintf("%s leads back to %s; use recurselimit, ignore, or links=manage", join(path, relative), full(path, up.relative)))
		}
		queue = append(queue, next)
	}
	return result, queue, nil
}

// loop returns the directory above d that d is itself, if there is one.
func (d *directory) loop() *directory {
	for up := d.parent; up != nil; up = up.parent {
		if up.node == d.node && up.device == d.device && d.node != 0 {
			return up
		}
	}
	return nil
}

// list returns the entries of a directory in the order of the file system.
func list(dir string) ([]fs.DirEntry, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fail(opList, dir, err, "")
	}
	entries, err := d.ReadDir(-1)
	if err = errors.Join(err, d.Close()); err != nil {
		return nil, fail(opList, dir, err, "")
	}
	return entries, nil
}

func (w *walk) ignored(name string) bool {
	for _, pattern := range w.ignore {
		if fnmatch(pattern, name) {
			return true
		}
	}
	return false
}

func (m *maker) limits(path string, n, limit int) error {
	const advice = "may cause excessive resource consumption and degraded performance. To remove this warning set a value for `max_files` parameter or consider using an alternate method to manage large directory trees"
	switch {
	case limit > 0 && n > limit:
		return &indirector.Failure{Message: fmt.Sprintf("The directory '%s' contains %d entries, which exceeds the limit of %d specified by the max_files parameter for this resource. The limit may be increased, but be aware that large number of file resources can result in excessive resource consumption and degraded performance. Consider using an alternate method to manage large directory trees", path, n, limit), Path: path}
	case limit == 0 && n > softLimit:
		m.env.Log.Warn(fmt.Sprintf("The directory '%s' contains %d entries, which exceeds the default soft limit %d and %s", path, n, softLimit, advice))
	}
	return nil
}

// collect makes the instances, on all processors. If some fail, the error is
// that of the first in order, as if one had been made after the other.
func (m *maker) collect(ctx context.Context, o *options, roots []root, entries []entry) (found []indirector.Instance, err error) {
	_, span := traces.Start(ctx, traces.File, "look at "+plural(len(entries), "file"))
	found = make([]indirector.Instance, len(entries))
	var (
		next, bytes atomic.Int64
		mu          sync.Mutex // guards failed and err
		failed      = len(entries)
		work        sync.WaitGroup
	)
	made := make([]model.FileMetadata, len(entries)) // one piece of memory for all
	run := func() {
		w := worker{ctx: ctx, uid: os.Geteuid(), gid: os.Getegid()}
		defer func() { bytes.Add(int64(w.bytes)) }()
		for {
			i := int(next.Add(1)) - 1
			if i >= len(entries) {
				return
			}
			e := ctx.Err()
			if e == nil {
				w.kind = entries[i].kind
				found[i], e = m.make(&w, o, roots[entries[i].root].path, entries[i].relative, &made[i])
			}
			if e == nil {
				continue
			}
			mu.Lock()
			if i < failed {
				failed, err = i, e
			}
			mu.Unlock()
			next.Store(int64(len(entries))) // all before i have been taken
			return
		}
	}
	for range min(runtime.GOMAXPROCS(0), 1+len(entries)/16) - 1 {
		work.Add(1)
		m.env.Go(func() {
			defer work.Done()
			run()
		})
	}
	run()
	work.Wait()
	if err == nil {
		for i := range found {
			if found[i] == nil {
				err = fmt.Errorf("look at %q: a goroutine broke off", entries[i].relative)
				break
			}
		}
	}
	if span != nil {
		span.Attr("bytes hashed", fmt.Sprint(bytes.Load()))
		span.End(plural(len(entries), "file"), traces.Because{}, err)
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}
