// Package helper runs functions and templates of modules that are written in Ruby, in a
// child process: those that this program has not itself. Rules LANG-ERB-10, LANG-STD-03.
//
//	h := helper.New(helper.Options{Context: ctx, Ruby: "/usr/bin/ruby", …})
//	defer h.Close()
//	b, err := h.Function(ctx, helper.Function{Name: "r::four", Module: "r", File: file, Text: text})
//	v, err := b.Call(invocation)
//
// The child is Ruby with shim.rb, which has what such functions use of Puppet; Puppet's own
// library is not read. It describes the signatures of a function, and this side checks
// arguments against them, in Puppet's words. While it runs it asks back: for variables, for
// other functions, for what a lambda makes of a value.
//
// Code of modules is not trusted with this process: it runs in one of its own, without its
// environment, open files and standard input, in an empty directory, and what it may take of
// time, memory and output is limited. It is no sandbox: it may do what
// the user may, and a process that it takes out of its group stays.
package helper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/host/child"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
	"indirtui/traces"
)

// Options are how a Helper runs, and what its functions see. Ruby and Host must be set.
type Options struct {
	// Context ends the child. If nil, only Close does.
	Context context.Context
	Ruby    string          // the path of the interpreter
	Libs    func() []string // the directories lib of modules; may be nil
	Limit   time.Duration   // of one call, without the time in which it waits for answers; 0 is ten seconds
	// Host returns what a function sees of the call that it is called by.
	Host func(c *eval.Invocation) Host
	// Type finds the types that signatures name beyond those of the language. It may be nil.
	Type types.Lookup
	// Log takes what is logged while a file is read. It may be nil.
	Log func(eval.LogEntry)
	// Resource returns the parameters of a resource of the catalog, Defaults those that
	// resources of a type have where the call stands, as far as they are given there, and Find
	// the path of a file of a module. They may be nil.
	Resource func(c *eval.Invocation, kind, title string) (parameters data.Value, ok bool)
	Defaults func(c *eval.Invocation, kind string) data.Value
	Find     func(c *eval.Invocation, below, name string) (path string, ok bool)
}

// A Host is what functions and templates see of the call.
type Host interface {
	// Variable returns a variable of the scope, whose name may begin with ::.
	Variable(name string) (data.Value, bool)
	// Variables returns those of the scope and of the scopes around it.
	Variables() []data.Pair
	// Set binds a variable of the scope, unless it is bound already.
	Set(name string, v data.Value) (ok bool)
	// Call calls a function; older means that it must be one of the older kind. It is
	// false if there is none.
	Call(name string, args []data.Value, older bool) (v data.Value, known bool, err error)
	// Names returns the names of the classes or of the tags: what is "classes" or
	// "all_tags".
	Names(what string) ([]string, error)
}

// A Function is a function of a module that is written in Ruby.
type Function struct {
	Name   string
	Module string // "" if it is one of the environment itself
	File   string
	Text   string
	Old    bool // of Puppet's older kind
}

func (f *Function) String() string {
	if f.Module == "" {
		return fmt.Sprintf("function '%s' of the environment (%s)", f.Name, f.File)
	}
	return fmt.Sprintf("function '%s' of module '%s' (%s)", f.Name, f.Module, f.File)
}

// A Helper has the child of one compile, which it starts when it is needed first. It is for
// one goroutine.
type Helper struct {
	o       Options
	child   *process     // nil before it is started, and after it failed
	handles []data.Value // what stays here, by the numbers that the child has for it
	failed  []error      // what answers failed with, by the numbers that exceptions have
	depth   int          // of calls of Ruby within each other
	fault   error        // what the last child ended with; nil while it runs
	spans   int
	more    int // uses that are no spans
}

// New returns a Helper. Nothing is started yet.
func New(o Options) *Helper {
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Limit == 0 {
		o.Limit = 10 * time.Second
	}
	return &Helper{o: o}
}

// Close ends the child and all that it started. It may be called again.
func (h *Helper) Close() {
	if h.child != nil {
		_ = h.child.Stop() // it is killed, which is no news
		h.child = nil
	}
	if h.more > 0 {
		_, span := traces.Start(h.o.Context, traces.Exec, "more runs of "+h.o.Ruby)
		span.End(fmt.Sprint(h.more), traces.Because{}, nil)
		h.more = 0
	}
}

// Limits of ours.
const (
	maxDepth = 200  // calls of Ruby within each other
	maxSpans = 1000 // uses that are spans
)

// A use is one use of the child, for what goes on in it.
type use struct {
	*Helper
	c    *eval.Invocation // nil while a file is read
	host Host             // nil while a file is read
	what string           // in errors
	left time.Duration
}

// begin begins a use, which is a span.
func (h *Helper) begin(ctx context.Context, what string) *traces.Active {
	if traces.FromContext(ctx) == nil {
		return nil
	}
	if h.spans++; h.spans > maxSpans {
		h.more++
		return nil
	}
	_, span := traces.Start(ctx, traces.Exec, what+" by "+h.o.Ruby)
	return span
}

// A Raised is an exception of Ruby. Its words are the exception's.
type Raised struct {
	Message  string
	IsPuppet bool // it is one of Puppet's own errors

	class, file string
	line        int
	isStandard  bool
	isFinal     bool // Puppet adds nothing to it
}

func (r *Raised) Error() string { return r.Message }

// run sends a request and answers what the child asks, until it has the result.
func (u *use) run(request []byte) (result any, bytes int, err error) {
	if u.depth++; u.depth > maxDepth {
		u.depth--
		return nil, 0, fmt.Errorf("%s: more than %d calls of Ruby within each other", u.what, maxDepth)
	}
	defer func() { u.depth-- }()
	if err := u.started(); err != nil {
		return nil, 0, err
	}
	if err := u.send(request); err != nil {
		return nil, 0, u.broken(err)
	}
	for {
		m, n, err := u.receive()
		if err != nil {
			return nil, bytes, u.broken(err)
		}
		if bytes += n; u.c == nil && bytes > maxMessage { // nothing else counts them
			return nil, bytes, u.broken(errTooLong)
		}
		if u.c != nil {
			if err := errors.Join(u.c.Step(), u.c.Spend(n)); err != nil {
				return nil, bytes, u.broken(err)
			}
		}
		result, isResult := m["result"]
		problem, isRaised := m["raised"].(map[string]any)
		switch {
		case isResult:
			return result, bytes, nil
		case isRaised:
			return nil, bytes, u.exception(problem)
		case m["ask"] == nil:
			return nil, bytes, u.broken(errors.New("it answers with what is no message"))
		}
		if err := u.send(u.answer(m)); err != nil {
			return nil, bytes, u.broken(err)
		}
	}
}

// started starts the child if there is none.
func (u *use) started() error {
	switch {
	case u.child != nil:
		return nil
	case u.depth > 1: // those around it wait for the one that ended
		return u.fault
	}
	var libs []string
	if u.o.Libs != nil {
		libs = u.o.Libs()
	}
	var err error
	if u.child, err = start(u.o.Context, u.o.Ruby); err != nil {
		return fmt.Errorf("%s: start %s: %w", u.what, u.o.Ruby, err)
	}
	words := make([]data.Value, len(libs))
	for i, lib := range libs {
		words[i] = data.OfString(lib)
	}
	u.fault = nil
	request, err := u.appendList([]byte(`{"do":"begin","libs":`), words)
	if err != nil {
		return err
	}
	if err := u.send(append(request, '}')); err != nil {
		return u.broken(err)
	}
	if _, _, err = u.receive(); err != nil {
		return u.broken(err)
	}
	return nil
}

func (u *use) send(line []byte) error {
	if u.child == nil { // a call within this one ended it
		return u.fault
	}
	if len(line) > maxMessage {
		return fmt.Errorf("it would be given more than %d bytes", maxMessage)
	}
	return u.timed(func(until time.Time) error { return u.child.Write(u.o.Context, line, until) })
}

func (u *use) receive() (m map[string]any, n int, err error) {
	err = u.timed(func(until time.Time) error {
		m, n, err = u.child.read(u.o.Context, until)
		return err
	})
	return m, n, err
}

// timed does something that waits for the child, in the time that is left of the use.
func (u *use) timed(do func(until time.Time) error) error {
	began := time.Now()
	err := do(began.Add(u.left))
	u.left -= time.Since(began)
	return err
}

// broken ends the child, and returns why as an error that names what was run.
func (u *use) broken(err error) error {
	if u.child == nil {
		return u.fault
	}
	ended := u.child.Stop()
	stderr := u.child.Printed()
	u.child = nil
	switch {
	case u.o.Context.Err() != nil:
		u.fault = context.Cause(u.o.Context)
		return u.fault
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("it takes longer than %v", u.o.Limit)
	case child.HasEnded(err):
		if err = errors.New("the helper process ended"); ended != nil {
			err = fmt.Errorf("%w: %w", err, ended)
		}
	}
	if stderr != "" {
		err = fmt.Errorf("%w; it wrote %q", err, last(stderr))
	}
	u.fault = fmt.Errorf("%s: %w", u.what, err)
	return u.fault
}

// last returns the end of what was written: what went wrong comes last.
func last(text string) string {
	const most = 500
	if len(text) > most {
		return strings.ToValidUTF8("…"+text[len(text)-most:], "")
	}
	return text
}

// exception returns the error that an exception stands for: the very one that an answer
// failed with, or one in the words of Ruby.
func (u *use) exception(m map[string]any) error {
	if n, ok := integer(m["id"]); ok && n >= 0 && n < len(u.failed) {
		return u.failed[n]
	}
	r := &Raised{}
	r.class, _ = m["class"].(string)
	r.Message, _ = m["message"].(string)
	r.IsPuppet, _ = m["puppet"].(bool)
	r.isFinal, _ = m["final"].(bool)
	r.file, _ = m["file"].(string)
	r.line, _ = integer(m["line"])
	r.isStandard, _ = m["standard"].(bool)
	return r
}
