package compiler

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/traces"
)

// uses are what a compile used: a span for every file where it was used first, and at the
// end one for each function, with how often it was called and how long that took, and one
// for the facts, each with the place where it was read first. Rules LANG-TRACE-02,
// LANG-TRACE-03, LANG-TRACE-06.
type uses struct {
	ctx     context.Context // of the whole compile
	dir     string          // of the environment
	given   data.Value      // the facts of the node
	files   map[[2]string]bool
	calls   map[string]*calls
	now     func() time.Time
	facts   []traces.Attr // names and places
	trusted []traces.Attr
	unknown []traces.Attr
	found   int // keys of data
	missing int // keys without data
}

// calls are those of one function.
type calls struct {
	times int
	open  int // that are under way, within each other
	began time.Time
	took  time.Duration // with what it calls
}

// newUses returns nil if the request is not traced.
func newUses(ctx context.Context, dir string, facts data.Value, now func() time.Time) *uses {
	if traces.FromContext(ctx) == nil {
		return nil
	}
	return &uses{ctx: ctx, dir: dir, given: facts, files: map[[2]string]bool{}, calls: map[string]*calls{}, now: now}
}

func (u *uses) file(ctx context.Context, kind, path string) {
	if row := [2]string{kind, path}; !u.files[row] {
		u.files[row] = true
		span := traces.StartLeaf(ctx, traces.Note, "use "+kind)
		span.Attr("path", path)
		span.End(u.short(path), traces.Because{}, nil)
	}
}

// short is a path below the environment, as it is written there.
func (u *uses) short(path string) string {
	if below, ok := strings.CutPrefix(path, u.dir+"/"); ok && filepath.IsLocal(below) {
		return below
	}
	return path
}

func (u *uses) call(name string) { u.of(name).times++ }

func (u *uses) of(name string) *calls {
	c := u.calls[name]
	if c == nil {
		c = &calls{}
		u.calls[name] = c
	}
	return c
}

// Began implements eval.Calls.
func (u *uses) Began(name string) {
	c := u.of(name)
	if c.open++; c.open == 1 {
		c.began = u.now()
	}
}

// Ended implements eval.Calls.
func (u *uses) Ended(name string) {
	c := u.of(name)
	if c.open--; c.open == 0 {
		c.took += u.now().Sub(c.began)
	}
}

// read sorts variables by what they are. Those that are neither facts nor unknown are part
// of the node, and have a place there.
func (u *uses) read(r eval.VariableRead) {
	at := traces.Attr{Key: r.Name, Value: "line " + strconv.Itoa(r.Line)}
	if r.File != "" {
		at.Value = u.short(r.File) + ":" + strconv.Itoa(r.Line)
	}
	fact, isFact := strings.CutPrefix(r.Name, "facts.")
	trusted, isTrusted := strings.CutPrefix(r.Name, "trusted.")
	_, isOld := u.given.Lookup(r.Name)
	switch {
	case r.Unknown:
		u.unknown = append(u.unknown, at)
	case isTrusted || r.Name == "trusted":
		at.Key = trusted
		u.trusted = append(u.trusted, at)
	case isFact:
		at.Key = fact
		u.facts = append(u.facts, at)
	case isOld || r.Name == "facts":
		u.facts = append(u.facts, at)
	}
}

// looked counts a key of data.
func (u *uses) looked(found bool) {
	if found {
		u.found++
	} else {
		u.missing++
	}
}

// end adds what was counted. A nil uses has nothing.
func (u *uses) end() {
	if u == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(u.calls)) {
		c := u.calls[name]
		text := strconv.Itoa(c.times) + " times"
		if c.times == 1 {
			text = "1 time"
		}
		if c.took > 0 {
			text += fmt.Sprintf(", %.2f ms", c.took.Seconds()*1000)
		}
		u.note("call "+name, text, nil)
	}
	for _, kind := range []struct {
		name string
		all  []traces.Attr
	}{{"facts read", u.facts}, {"trusted facts read", u.trusted}, {"unknown variables", u.unknown}} {
		if len(kind.all) > 0 {
			u.note(kind.name, strconv.Itoa(len(kind.all)), kind.all)
		}
	}
	if u.found+u.missing > 0 {
		u.note("keys of data", strconv.Itoa(u.found)+" found, "+strconv.Itoa(u.missing)+" without a value", nil)
	}
}

func (u *uses) note(name, answer string, attrs []traces.Attr) {
	span := traces.StartLeaf(u.ctx, traces.Note, name)
	for _, a := range attrs {
		span.Attr(a.Key, a.Value)
	}
	span.End(answer, traces.Because{}, nil)
}
