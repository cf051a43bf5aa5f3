package debugger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/traces/query"
)

// A turn collects what the breakpoints at one stop do.
type turn struct {
	hold    string // who holds: "b1", "step"; "" if none
	waited  bool
	draft   *draft
	decided bool // out is an answer or a failure
	out     indirector.Verdict
}

// edits returns the draft, made if need be.
func (t *turn) edits(s *indirector.Stop) *draft {
	if t.draft == nil {
		t.draft = &draft{req: *s.Request, value: s.Value}
	}
	return t.draft
}

func (t *turn) verdict() indirector.Verdict {
	v := t.out
	v.Waited = v.Waited || t.waited
	if t.draft != nil {
		t.draft.into(&v)
	}
	return v
}

// into adds the edits to a verdict.
func (d *draft) into(v *indirector.Verdict) {
	v.Variables = d.vars
	if len(d.changes) > 0 && d.vars == nil {
		v.Request = &d.req
	}
	if d.hasValue && !v.Set && v.Err == nil {
		v.Set, v.Value = true, d.value
	}
}

// perform does what a breakpoint does. The error is that of the context.
func (d *Debugger) perform(ctx context.Context, t *turn, b *breakpoint, s *indirector.Stop, u *subject) error {
	switch b.Do {
	case Hold:
		t.hold = cmp.Or(t.hold, b.id)
	case Log:
		d.log(ctx, b, s, u)
	case Delay:
		t.waited = true
		b.touch(ctx, b.Action.done(), s)
		return d.delay(ctx, b)
	case Set:
		if err := d.mayInvent(b.Action); err != nil {
			d.note(ctx, b.id, err.Error())
			return nil
		}
		st := s.Freeze()
		for _, e := range b.Edits {
			if err := t.edits(s).apply(st, e); err != nil {
				d.note(ctx, b.id, err.Error())
			}
		}
		d.note(ctx, b.id, "changed "+t.draft.String())
		if len(t.draft.changes) > 0 {
			b.touch(ctx, "changed "+join(t.draft.changes), s)
		}
	default:
		if t.decided { // the first one decides
			return nil
		}
		v, err := d.verdict(b.Action, b.id, s.Request, s.Value, s.Done)
		if why := s.Home().Disabled(b.Do.String()); why != "" {
			err = errors.New(b.Do.String() + ": " + why)
		}
		if err != nil {
			d.note(ctx, b.id, err.Error())
			return nil
		}
		t.out, t.decided = v, true
		d.note(ctx, b.id, b.Action.String())
		b.touch(ctx, b.Action.done(), s)
	}
	return nil
}

func (d *draft) String() string { return cmp.Or(join(d.changes), "nothing") }

func join(changes []Change) string {
	var parts []string
	for _, c := range changes {
		parts = append(parts, c.String())
	}
	return strings.Join(parts, ", ")
}

// since returns the changes that an earlier draft, which may be nil, does not have.
func (d *draft) since(earlier *draft) []Change {
	if earlier == nil {
		return d.changes
	}
	return slices.DeleteFunc(slices.Clone(d.changes), func(c Change) bool { return slices.Contains(earlier.changes, c) })
}

// touch adds to the story what a breakpoint, or the user by its means, did.
func (b *breakpoint) touch(ctx context.Context, did string, s *indirector.Stop) {
	by := "breakpoint " + b.id
	if b.only != 0 {
		by = "you"
	}
	traces.FromContext(ctx).Touch(by + " " + did + " " + where(s))
}

// done is what an action did to a request, for the story.
func (a Action) done() string {
	switch a.Do {
	case Delay:
		return "delayed it by " + a.Delay.String()
	case Fail:
		return "let it fail (" + indirector.Message(a.Error()) + ")"
	case Nil:
		return "answered nothing"
	case Skip:
		return "left the step out"
	case Retry:
		return "took the step once more"
	case Truncate:
		return "cut the answer off"
	case Corrupt:
		return "changed bytes of the answer"
	}
	return "gave an answer"
}

// note adds to the trace what a breakpoint did.
func (d *Debugger) note(ctx context.Context, by, text string) {
	_, span := traces.Start(ctx, traces.Note, by+": "+text)
	span.End("", traces.Because{Reason: traces.ByYou, About: by}, nil)
}

// usual lists the fields that are logged by default.
var usual = []string{"verb", "ind", "key", "terminus", "out", "took"}

func (d *Debugger) log(ctx context.Context, b *breakpoint, s *indirector.Stop, u *subject) {
	fields := b.Fields
	if len(fields) == 0 {
		fields = usual
	}
	var parts []string
	u.addOutcome()
	s.Look(func(t *traces.Trace) {
		u.trace = t.Completed()
		for _, f := range fields {
			parts = append(parts, f+"="+query.Quote(query.Show(u, f)))
		}
		u.trace = nil
	})
	text := strings.Join(parts, " ")
	if d.o.Redact != nil {
		text = d.o.Redact(text)
	}
	d.note(ctx, b.id, text)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.lines) >= maxLines {
		d.lines = slices.Delete(d.lines, 0, maxLines/10)
	}
	d.lines = append(d.lines, Line{At: d.o.Now(), Request: s.Trace.ID, By: b.id, Text: text})
}

// delay waits, on a span of its own.
func (d *Debugger) delay(ctx context.Context, b *breakpoint) error {
	wait := indirector.Jitter(b.Delay, b.Jitter, d.o.Rand)
	_, span := traces.Start(ctx, traces.Held, "delayed by "+b.id)
	err := indirector.Sleep(ctx, wait)
	span.End(wait.String(), traces.Because{Reason: traces.ByYou, About: b.id}, err)
	return err
}

// verdict returns what an action makes of a request, or why it cannot.
func (d *Debugger) verdict(a Action, by string, req *indirector.Request, value any, done bool) (indirector.Verdict, error) {
	v := indirector.Verdict{By: by}
	if err := d.mayInvent(a); err != nil {
		return v, err
	}
	var err error
	switch a.Do {
	case Fail:
		v.Err = a.Error()
	case Nil:
		v.Set, v.Skip = true, !done
	case Skip:
		v.Skip = true
	case Retry:
		v.Again = true
	case Value:
		v.Set, v.Skip = true, !done
		v.Value, err = readValue(req, a.Text, a.Format)
		if req.Verb == indirector.Save {
			v.Value, err = nil, errors.New("value: a save is answered with nil, or fails")
		}
	case Truncate, Corrupt:
		v.Set = true
		v.Value, v.Err, err = a.damage(req, value)
	}
	if v.Err != nil {
		v.Set = false
	}
	return v, err
}

// damage returns the answer with bytes missing or changed, or the failure to
// decode it. The error is that there is nothing to damage.
func (a Action) damage(req *indirector.Request, value any) (damaged any, failure, err error) {
	switch v := value.(type) {
	case *model.FileContent:
		if v.Contents == nil {
			break
		}
		c := *v
		c.Contents = damagedContents{v.Contents, a}
		return &c, nil, nil
	case *model.FileBucketFile:
		if v.Contents == nil {
			break
		}
		c := *v
		c.Contents = damagedContents{v.Contents, a}
		return &c, nil, nil
	case []indirector.Instance:
		f, err := a.format(v...)
		if err != nil {
			return nil, nil, err
		}
		b, err := format.RenderMultiple(f, v)
		if err != nil {
			return nil, nil, err
		}
		damaged, failure = decode(req.Indirection, req.Key, f.Name, a.apply(b), true)
		return damaged, injected(failure), nil
	case indirector.Instance:
		f, err := a.format(v)
		if err != nil {
			return nil, nil, err
		}
		b, err := format.Render(f, v)
		if err != nil {
			return nil, nil, err
		}
		damaged, failure = decode(req.Indirection, req.Key, f.Name, a.apply(b), false)
		return damaged, injected(failure), nil
	}
	return nil, nil, fmt.Errorf("%s: there is no answer with bytes", a.Do)
}

func injected(err error) error {
	if err == nil {
		return nil
	}
	return &indirector.Failure{Message: indirector.Message(err), Origin: "injected", Err: err}
}

// format returns the format in which the answer would be sent.
func (a Action) format(list ...indirector.Instance) (*format.Format, error) {
	name := cmp.Or(a.Format, "json")
	f, ok := format.ByName(name)
	if !ok {
		return nil, fmt.Errorf("no format is called %q", name)
	}
	for _, i := range list {
		if class := model.ClassOf(i); class == nil || !class.Supports(name) {
			return nil, fmt.Errorf("%s: the answer does not travel as %s", a.Do, name)
		}
	}
	return f, nil
}

func (a Action) apply(b []byte) []byte {
	if a.Do == Truncate {
		return b[:min(a.stay(int64(len(b))), int64(len(b)))]
	}
	b = bytes.Clone(b)
	for i := range min(a.Bytes, len(b)) {
		b[a.place(i, int64(len(b)))] ^= 0x55
	}
	return b
}

// stay is how many of size bytes a truncation leaves.
func (a Action) stay(size int64) int64 {
	switch {
	case a.Bytes > 0:
		return int64(a.Bytes)
	case a.Share <= 0:
		return 0
	}
	return int64(float64(size) * a.Share / 100)
}

// place returns the i-th changed byte. They are spread evenly, the same each
// time.
func (a Action) place(i int, size int64) int64 {
	return min(int64(i+1)*size/int64(a.Bytes+1), size-1)
}

// damagedContents are contents of a file with bytes missing or changed. They
// are read only when they are opened.
type damagedContents struct {
	model.Contents
	a Action
}

// Size returns that of the whole, also of truncated contents: readers detect
// the loss.
func (c damagedContents) Size() int64 { return c.Contents.Size() }

// Open returns the damaged contents.
func (c damagedContents) Open() (io.ReadCloser, error) {
	r, err := c.Contents.Open()
	if err != nil {
		return nil, err
	}
	size := c.Contents.Size()
	if c.a.Do == Truncate {
		stay := c.a.stay(max(size, 0))
		return &cut{r: r, left: stay}, nil
	}
	d := &flipped{ReadCloser: r}
	for i := range min(c.a.Bytes, 1<<16) {
		if size > 0 {
			d.at = append(d.at, c.a.place(i, size))
		} else {
			d.at = append(d.at, int64(i))
		}
	}
	return d, nil
}

// A cut reader ends early.
type cut struct {
	r    io.ReadCloser
	left int64
}

func (c *cut) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

func (c *cut) Close() error { return c.r.Close() }

// A flipped reader changes the bytes at some offsets, which are ascending.
type flipped struct {
	io.ReadCloser
	at  []int64
	pos int64
}

func (f *flipped) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	for len(f.at) > 0 && f.at[0] < f.pos+int64(n) {
		if i := f.at[0] - f.pos; i >= 0 {
			p[i] ^= 0x55
		}
		f.at = f.at[1:]
	}
	f.pos += int64(n)
	return n, err
}

// short formats the number of a request.
func short(id uint64) string { return "#" + strconv.FormatUint(id, 10) }
