package fileserving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"indirtui/indirector"
	"indirtui/indirector/host/fnmatch"
	"indirtui/indirector/modules"
	"indirtui/traces"
)

const (
	softLimit = 1000      // entries above which Puppet warns
	hardLimit = 1_000_000 // entries of one directory above which a search gives up; ours
	nameLimit = 128 << 20 // bytes of names above which a merged mount does; ours
	maxLinks  = 40        // links that the kernel follows in one path
	shownLost = 20        // losers that a span names one by one
)

// A root is a directory, or a file, that a search begins with.
type root struct {
	path string
	of   modules.Module // of a merged mount
}

// An entry is one result of a search: a path below one of the roots.
type entry struct {
	root     int
	relative string
	kind     string // by its directory: "file", "directory"; "" if unknown
}

// many returns the instances of all that the roots have. Of several that have
// the same relative path the first wins. A nil walk is made of the request.
func (m *maker) many(ctx context.Context, req *indirector.Request, roots []root, w *walk) (found []indirector.Instance, err error) {
	err = m.each(ctx, req, roots, w, func(i indirector.Instance) error {
		found = append(found, i)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// each yields the result of many while it still walks, and holds nothing. A
// directory's error may then come late. Only max_files is checked before the
// first is yielded: Puppet, too, reads no file of a directory that has too
// many.
func (m *maker) each(ctx context.Context, req *indirector.Request, roots []root, w *walk, yield func(indirector.Instance) error) error {
	if w == nil {
		var err error
		if w, err = newWalk(req, false); err != nil {
			return err
		}
	}
	for i, r := range roots {
		if r.path != "/" {
			roots[i].path = strings.TrimSuffix(r.path, "/")
		}
	}
	o, err := m.ofFiles(req)
	if err != nil || w.maxFiles > 0 {
		if err := m.count(ctx, roots, w); err != nil {
			return err // errors of the tree come first
		}
	}
	if err != nil {
		return err
	}
	return m.collect(ctx, o, roots, w, yield)
}

// count walks over all roots and looks at no file, for the errors that there
// may be. That takes a small part of the time that looking takes.
func (m *maker) count(ctx context.Context, roots []root, w *walk) (err error) {
	_, span := traces.Start(ctx, traces.File, "count "+filepath.Base(roots[0].path))
	n := 0
	if span != nil {
		defer func() {
			if w.maxFiles > 0 {
				span.Attr("max_files", strconv.Itoa(w.maxFiles))
			}
			span.End(plural(n, "path"), traces.Because{}, err)
		}()
	}
	for _, r := range roots {
		if err := m.files(ctx, r.path, w, func(entry) error { n++; return nil }); err != nil {
			return err
		}
	}
	return nil
}

func isNotFound(err error) bool { return errors.Is(err, indirector.ErrNotFound) }

func tooLarge(path, message string) error {
	return &indirector.Failure{Message: message, Path: path, Hidden: "a search gives up here; use recurselimit or ignore"}
}

// list walks over all roots and gives each entry to emit. Of a merged mount it
// remembers the paths: 100 000 of them take some ten megabytes.
func (m *maker) list(ctx context.Context, roots []root, w *walk, emit func(entry) error) (err error) {
	_, span := traces.Start(ctx, traces.File, "list "+filepath.Base(roots[0].path))
	n := 0
	count := func(e entry) error {
		n++
		return emit(e)
	}
	if span != nil {
		defer func() {
			for _, r := range roots {
				span.Attr("path", r.path)
			}
			span.End(plural(n, "path"), traces.Because{}, err)
		}()
	}
	if len(roots) == 1 {
		return m.files(ctx, roots[0].path, w, count)
	}
	owner := make(map[string]int)
	bytes := 0
	lost := losers{ctx: ctx, roots: roots, owner: owner}
	for i := range roots {
		err := m.files(ctx, roots[i].path, w, func(e entry) error {
			e.root = i
			if _, taken := owner[e.relative]; taken {
				if span != nil && e.relative != "." {
					lost.add(e)
				}
				return nil
			}
			if i < len(roots)-1 { // the last root hides nothing
				owner[e.relative] = i
				if bytes += len(e.relative); bytes > nameLimit {
					return tooLarge(roots[i].path, fmt.Sprintf("the names of what the %s of this mount hold take more than %d bytes", plural(len(roots), "module"), nameLimit))
				}
			}
			return count(e)
		})
		if err != nil {
			return err
		}
	}
	lost.note()
	return nil
}

// losers are the files of a merged mount that others hide.
type losers struct {
	ctx   context.Context
	roots []root
	owner map[string]int
	span  *traces.Active
	n     int
	first string
}

func (l *losers) add(e entry) {
	won, lost := l.roots[l.owner[e.relative]], l.roots[e.root]
	a, errA := os.Stat(join(won.path, e.relative))
	b, errB := os.Stat(join(lost.path, e.relative))
	if errA == nil && errB == nil && a.IsDir() && b.IsDir() {
		return // two directories are merged
	}
	if l.n++; l.n == 1 {
		_, l.span = traces.Start(l.ctx, traces.Choose, "merged mount")
		l.first = fmt.Sprintf("%s: %s wins over %s", e.relative, won.of.Name, over(won.of, lost.of))
	}
	if l.n <= shownLost {
		l.span.Attr(e.relative, fmt.Sprintf("%s wins over %s", won.of.Dir, lost.of.Dir))
	}
}

func (l *losers) note() {
	if l.n > 0 {
		l.span.End(plural(l.n, "file")+" hidden", traces.Because{Reason: traces.DefaultInCode, About: l.first}, nil)
		traces.Explain(l.ctx, "merged mount: "+l.first)
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

// files gives emit the entries at path and below it, "." first, then breadth
// first in the order of the directories. It returns the error of emit.
func (m *maker) files(ctx context.Context, path string, w *walk, emit func(entry) error) error {
	look, op := lstat, opLstat
	if w.follow {
		look, op = stat, opStat
	}
	if !strings.HasPrefix(path, "/") {
		return refuse("Fileset paths must be fully qualified: %s", path)
	}
	s, err := look(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return refuse("Fileset paths must exist")
		}
		return fail(op, path, err, "")
	}
	if w.number {
		return refuse("Fileset recurse parameter must not be a number anymore, please use recurselimit")
	}
	if w.bad != nil {
		return w.bad
	}
	if err := emit(entry{relative: "."}); err != nil {
		return err
	}
	f := finding{ctx: ctx, path: path, walk: w, emit: emit}
	if s.kind == "directory" && w.recurse {
		f.queue = append(f.queue, &directory{device: s.device, node: s.node})
	}
	for len(f.queue) > 0 {
		d := f.queue[0]
		f.queue[0], f.queue = nil, f.queue[1:]
		if w.limit >= 0 && d.depth >= w.limit {
			continue
		}
		if err := f.children(d); err != nil {
			return err
		}
	}
	return m.limits(ctx, path, f.n, w.maxFiles)
}

// A finding is a walk over one root.
type finding struct {
	*walk
	ctx   context.Context
	path  string
	emit  func(entry) error
	queue []*directory
	n     int // entries besides the root
}

// batch is the number of names of a directory that are read at once.
const batch = 1024

// children emits the entries of a directory, and queues its directories.
func (f *finding) children(d *directory) (err error) {
	path := full(f.path, d.relative)
	dir, err := os.Open(path)
	if err != nil {
		return fail(opList, path, err, "")
	}
	defer func() {
		if e := dir.Close(); err == nil && e != nil {
			err = fail(opList, path, e, "")
		}
	}()
	for {
		if err := f.ctx.Err(); err != nil {
			return fmt.Errorf("list %q: %w", f.path, err)
		}
		names, err := dir.ReadDir(batch)
		for _, e := range names {
			if err := f.child(d, e); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fail(opList, path, err, "")
		}
	}
}

func (f *finding) child(d *directory, e fs.DirEntry) error {
	name := e.Name()
	if f.ignored(name) {
		return nil
	}
	relative := name
	if d.relative != "" {
		relative = d.relative + "/" + name
	}
	if f.n++; f.n > hardLimit {
		return tooLarge(f.path, fmt.Sprintf("The directory '%s' contains more than %d entries", f.path, hardLimit))
	}
	kind := ""
	switch {
	case e.Type() == 0:
		kind = "file"
	case e.IsDir():
		kind = "directory"
	}
	if err := f.emit(entry{relative: relative, kind: kind}); err != nil {
		return err
	}
	if e.IsDir() && !f.follow {
		f.queue = append(f.queue, &directory{relative: relative, depth: d.depth + 1})
		return nil
	}
	if !f.follow || !e.IsDir() && e.Type() != fs.ModeSymlink {
		return nil
	}
	path := join(f.path, relative)
	s, err := stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // it is looked at again when it is collected
		}
		return fail(opStat, path, err, "")
	}
	if s.kind != "directory" {
		return nil
	}
	next := &directory{relative: relative, depth: d.depth + 1, parent: d, device: s.device, node: s.node}
	if up := next.loop(); up != nil && (f.limit < 0 || f.limit > maxLinks) {
		return fail(opStat, path, syscall.ELOOP, fmt.Sprintf("%s leads back to %s; use recurselimit, ignore, or links=manage", path, full(f.path, up.relative)))
	}
	f.queue = append(f.queue, next)
	return nil
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

func (w *walk) ignored(name string) bool {
	for _, pattern := range w.ignore {
		if fnmatch.Match(pattern, name) {
			return true
		}
	}
	return false
}

func (m *maker) limits(ctx context.Context, path string, n, limit int) error {
	const advice = "may cause excessive resource consumption and degraded performance. To remove this warning set a value for `max_files` parameter or consider using an alternate method to manage large directory trees"
	switch {
	case limit > 0 && n > limit:
		return &indirector.Failure{Message: fmt.Sprintf("The directory '%s' contains %d entries, which exceeds the limit of %d specified by the max_files parameter for this resource. The limit may be increased, but be aware that large number of file resources can result in excessive resource consumption and degraded performance. Consider using an alternate method to manage large directory trees", path, n, limit), Path: path}
	case limit == 0 && n > softLimit:
		traces.AddNote(ctx, fmt.Sprintf("%s holds %d entries; without max_files Puppet warns above %d", path, n, softLimit))
		m.env.Log.Warn(fmt.Sprintf("The directory '%s' contains %d entries, which exceeds the default soft limit %d and %s", path, n, softLimit, advice))
	}
	return nil
}
