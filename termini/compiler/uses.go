package compiler

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"indirtui/traces"
)

// uses are what a compile used: a span for every file where it was used first, and one at
// the end for each function, with how often it was called. Rule LANG-TRACE-03.
type uses struct {
	ctx   context.Context // of the whole compile
	dir   string          // of the environment
	files map[[2]string]bool
	calls map[string]int
}

// newUses returns nil if the request is not traced.
func newUses(ctx context.Context, dir string) *uses {
	if traces.FromContext(ctx) == nil {
		return nil
	}
	return &uses{ctx, dir, map[[2]string]bool{}, map[string]int{}}
}

func (u *uses) file(ctx context.Context, kind, path string) {
	if row := [2]string{kind, path}; !u.files[row] {
		u.files[row] = true
		name := path
		if below, err := filepath.Rel(u.dir, path); err == nil && filepath.IsLocal(below) {
			name = below
		}
		_, span := traces.Start(ctx, traces.Note, "use "+kind)
		span.Attr("path", path)
		span.End(name, traces.Because{}, nil)
	}
}

func (u *uses) call(name string) { u.calls[name]++ }

// end adds the calls. A nil uses has none.
func (u *uses) end() {
	if u == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(u.calls)) {
		_, span := traces.Start(u.ctx, traces.Note, "call "+name)
		times := " times"
		if u.calls[name] == 1 {
			times = " time"
		}
		span.End(strconv.Itoa(u.calls[name])+times, traces.Because{}, nil)
	}
}
