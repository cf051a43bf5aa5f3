// Package foreign does resources whose types this program does not have itself: types of
// modules, and those of Puppet that have no provider here. A child process with Ruby and
// Puppet does them, which is started when it is needed first; it may do what the user may.
//
// The child is asked one thing at a time. What it does wrong (it ends, hangs, answers with
// what is none) is the error of that question, and the next one starts another child.
package foreign

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
	"indirtui/traces"
)

// Limits of ours for what the child gets and writes.
const (
	maxMessage = 16 << 20
	maxPrinted = 4 << 10
)

//go:embed foreign.rb
var script string

// Options are how a Helper runs.
type Options struct {
	Ruby    string                   // the path of an interpreter that has Puppet
	Setting func(name string) string // Puppet's settings, as the child has them, too; "" is unset
	Limit   time.Duration            // of a question; 0 is a minute
	Work    time.Duration            // of applying or refreshing a resource; 0 is ten minutes
}

// A Helper has the child. It may be used from several goroutines.
type Helper struct {
	o      Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	turn   chan struct{}   // full while a question is asked
	child  *child.Dialogue // of whose turn it is
	given  *model.Catalog  // that the child has; of whose turn it is

	mu      sync.Mutex
	catalog *model.Catalog // of the run; nil if each resource is alone
	types   map[string]*types.Type
	checks  map[string]bool // types that can refuse a run before it begins
	quiet   error           // what automatic relationships failed with; they are not asked for again
}

// New returns a Helper. Nothing is started yet.
func New(o Options) *Helper {
	if o.Limit == 0 {
		o.Limit = time.Minute
	}
	if o.Work == 0 {
		o.Work = 10 * time.Minute
	}
	h := &Helper{o: o, turn: make(chan struct{}, 1), types: map[string]*types.Type{}, checks: map[string]bool{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Close ends the child and all that it started, whatever it does. It may be called again.
func (h *Helper) Close() error {
	h.cancel()
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	h.stop()
	return nil
}

func (h *Helper) stop() {
	if h.child != nil {
		_ = h.child.Stop() // it is killed, which is no news
		h.child = nil
	}
}

// A question is one for the child.
type question struct {
	do     string // "find"
	about  string // of what, for errors and spans: "File_line[x]"
	fields []data.Pair
	secret bool // what the child prints is not shown
	sees   bool // it is about a resource, whose type may look at the catalog
	limit  time.Duration
}

func (q *question) String() string { return q.do + " " + q.about + " by helper" }

// ask returns the child's answer. Errors of Puppet are Failures in its words.
func (h *Helper) ask(ctx context.Context, q question) (v data.Value, err error) {
	_, span := traces.Start(ctx, traces.Exec, q.String())
	defer func() { span.End("answered", traces.Because{}, err) }()
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
	return h.answer(ctx, q)
}

// answer asks while it is this question's turn.
func (h *Helper) answer(ctx context.Context, q question) (data.Value, error) {
	if h.ctx.Err() != nil {
		return data.Value{}, fmt.Errorf("%s: the helper was closed", &q)
	}
	if q.limit == 0 {
		q.limit = h.o.Limit
	}
	if h.child == nil {
		if err := h.start(ctx); err != nil {
			return data.Value{}, err
		}
	}
	if q.sees {
		if err := h.give(ctx); err != nil {
			return data.Value{}, err
		}
	}
	return h.exchange(ctx, q)
}

// start starts the child with the settings of this program.
func (h *Helper) start(ctx context.Context) (err error) {
	_, span := traces.Start(ctx, traces.Exec, "start "+h.o.Ruby+" for types in Ruby")
	defer func() { span.End("started", traces.Because{}, err) }()
	h.given = nil
	h.child, err = child.Script{
		Argv: []string{h.o.Ruby, "-EUTF-8", "-W0", "-"}, Text: script, MaxLine: maxMessage, MaxRest: maxPrinted,
		Env: func(string) []string { return os.Environ() },
	}.Start(context.WithoutCancel(ctx)) // it serves others after this question
	if err != nil {
		return fmt.Errorf("start the helper %q: %w", h.o.Ruby, err)
	}
	var settings []data.Pair
	for _, name := range []string{"confdir", "codedir", "vardir", "libdir", "environmentpath", "certname"} {
		if v := h.o.Setting(name); v != "" {
			settings = append(settings, data.P(name, data.OfString(v)))
		}
	}
	environment := h.o.Setting("environment")
	if environment == "" {
		environment = "production"
	}
	modules := h.o.Setting("modulepath")
	if modules == "" { // the environment has no directory
		modules = h.o.Setting("basemodulepath")
	}
	_, err = h.exchange(ctx, question{do: "begin", about: "with Puppet", limit: h.o.Limit, fields: []data.Pair{
		data.P("settings", data.OfHash(settings)), data.P("environment", data.OfString(environment)),
		data.P("modulepath", data.OfStrings(filepath.SplitList(modules))),
	}})
	if err == nil {
		return nil
	}
	h.stop()
	if f, ok := failed(err); ok && f.Class == "LoadError" {
		return fmt.Errorf("%q: %w", h.o.Ruby, ErrNoPuppet)
	}
	return fmt.Errorf("start the helper %q: %w", h.o.Ruby, err)
}

// ErrNoPuppet reports a Ruby that cannot load Puppet.
var ErrNoPuppet = errors.New("this Ruby has no Puppet")

// exchange sends a question, and returns what its answer is.
func (h *Helper) exchange(ctx context.Context, q question) (data.Value, error) {
	request := data.OfHash(append([]data.Pair{data.P("do", data.OfString(q.do))}, q.fields...))
	line, err := format.AppendJSON(nil, request)
	if err != nil {
		return data.Value{}, fmt.Errorf("%s: %w", &q, err)
	}
	if len(line) > maxMessage {
		return data.Value{}, fmt.Errorf("%s: it would be given more than %d bytes", &q, maxMessage)
	}
	until := time.Now().Add(q.limit)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.ctx, func() { cancel(errors.New("the helper was closed")) })()
	stop := context.AfterFunc(ctx, h.child.Interrupt)
	defer func() {
		if !stop() { // the interruption may come late, and must not meet the next question
			h.stop()
		}
	}()
	if err = h.child.Write(ctx, line, until); err == nil {
		line, err = h.child.Read(ctx, until)
	}
	if err != nil {
		return data.Value{}, h.broken(ctx, q, err)
	}
	m, err := format.DecodeJSON(line, format.Limits{Bytes: maxMessage, Items: 1 << 20})
	answer, ok := m.Lookup("answer")
	problem := m.Get("error")
	if err != nil || !ok && problem.Kind() != data.Hash {
		return data.Value{}, h.broken(ctx, q, errors.New("it answers with what is no answer"))
	}
	if !ok {
		return data.Value{}, failure(problem)
	}
	return answer, nil
}

// failure is an error of Ruby.
func failure(v data.Value) error {
	return &indirector.Failure{Class: v.Get("class").Text(), Message: v.Get("message").Text()}
}

// broken ends the child, and returns why as an error that names the question.
func (h *Helper) broken(ctx context.Context, q question, err error) error {
	ended := h.child.Stop()
	printed := h.child.Printed()
	h.child = nil
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", &q, context.Cause(ctx))
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("it takes longer than %v", q.limit)
	case child.HasEnded(err):
		if err = errors.New("the helper process ended"); ended != nil {
			err = fmt.Errorf("%w: %w", err, ended)
		}
	}
	if printed != "" && !q.secret {
		err = fmt.Errorf("%w; it wrote %q", err, last(printed))
	}
	return fmt.Errorf("%s: %w", &q, err)
}

// last returns the end of what was printed: what went wrong comes last.
func last(text string) string {
	const most = 500
	if len(text) > most {
		return strings.ToValidUTF8("…"+text[len(text)-most:], "")
	}
	return text
}
