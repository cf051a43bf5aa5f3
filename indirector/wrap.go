package indirector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"indirtui/traces"
)

// A Wrapper is a terminus around termini. It is named where a terminus is named (a
// request's terminus=, :route, --route):
//
//	fault(rest, 503)                     an answer of HTTP instead of asking; 404 is Puppet's nil
//	fault(rest, "connection refused")    fails with that text
//	fault(rest, nil)                     Puppet's nil
//	delay(rest, 2s, jitter=500ms)        waits before it asks
//	retry(rest, 3, wait=1s)              asks again, three times in all, after a failure
//	fallback(rest, json)                 asks the second when the first fails
//	fallback(rest, json, nil)            and also when it has nothing
//	tee(rest, json)                      what the first finds, saves and removes, the second keeps
//	retry(fault(rest, 503, first=2), 3)
//
// A fault or delay may have 30% (by chance), once, first=N, every=N and
// verb=VERB. It counts from when it is assigned to a route, even if to the same
// again; one that a request names counts in that request alone. A text with a
// comma, a blank or a parenthesis stands in quotes. Where words are cut at blanks
// the whole name stands in quotes: terminus='fault(rest, "no luck")'.
//
// routes.yaml, puppet.conf and faces name no wrappers: there such a name is an
// unknown terminus, as for Puppet.
//
// A wrapper has the verbs of the terminus in it. What it injects is a failure
// (outcome err) or an answer (outcome sim), and is never cached.
type Wrapper struct{ Usage, Doc string }

// Wrappers lists the wrappers, for help.
func Wrappers() []Wrapper {
	return []Wrapper{
		{"fault(TERMINUS, STATUS|TEXT|nil [, N%] [, once] [, first=N] [, every=N] [, verb=VERB])", "fails, or answers nil, instead of asking"},
		{"delay(TERMINUS, TIME [, jitter=TIME] [, N%] [, once] [, first=N] [, every=N] [, verb=VERB])", "waits before it asks"},
		{"retry(TERMINUS, TIMES [, wait=TIME])", "asks again after a failure"},
		{"fallback(TERMINUS, TERMINUS [, nil])", "asks the second when the first fails; with nil also when it has nothing"},
		{"tee(TERMINUS, TERMINUS)", "lets the second keep what the first finds, saves and removes"},
	}
}

// HTTPFailure is what the REST family makes of a failed status: 404 is Puppet's
// nil, anything else an error.
func HTTPFailure(status int, text string) error {
	if status == 404 {
		return NotFound(traces.NilFrom404, "injected")
	}
	return &Failure{Class: "Net::HTTPError", Message: fmt.Sprintf("Error %d on SERVER: %s", status, text), Origin: "injected", Status: status}
}

// Limits of names, which are input.
const (
	maxWrapped  = 1000 // bytes
	maxWrapping = 8    // wrappers in each other
	maxAttempts = 100
	maxPause    = time.Hour
)

// wrapped describes a wrapped terminus. The error reports what is wrong with the
// name.
func (r *Registry) wrapped(indirection, text string, depth int) (*Descriptor, error) {
	w, err := parseWrapping(text)
	if err != nil {
		return nil, err
	}
	if depth >= maxWrapping {
		return nil, fmt.Errorf("%s: more than %d wrappers in each other", w.kind, maxWrapping)
	}
	inside := make([]*Descriptor, len(w.inner))
	var settings []Setting
	for i, name := range w.inner {
		d := r.termini[indirection][name]
		if strings.Contains(name, "(") {
			if d, err = r.wrapped(indirection, name, depth+1); err != nil {
				return nil, err
			}
		}
		if d == nil {
			return nil, fmt.Errorf("%s: %s has no terminus %q", w.kind, indirection, name)
		}
		inside[i] = d
		settings = append(settings, d.Settings...)
	}
	d := *inside[0]
	d.AlwaysNil, d.Brief, d.Settings = false, false, settings
	d.New = func(env Env) (Terminus, error) {
		t := &wrapper{wrapping: w}
		for i, name := range w.inner {
			make := func() (Terminus, error) { return env.Sibling(name) }
			if strings.Contains(name, "(") { // an inner wrapper counts with this one
				make = func() (Terminus, error) {
					own := env
					own.Terminus = name
					return inside[i].New(own)
				}
			}
			inner, err := make()
			if err != nil {
				return nil, err
			}
			t.termini = append(t.termini, inner)
			t.can = append(t.can, VerbsOf(inner))
		}
		return t, nil
	}
	return &d, nil
}

// A wrapping is the parsed name of a wrapped terminus.
type wrapping struct {
	text, kind string
	inner      []string
	fails      error // of fault; nil is nil
	what       string
	pause      time.Duration // of delay, and between the attempts of retry
	jitter     time.Duration
	times      int  // of retry
	alsoNil    bool // of fallback
	chance     float64
	first      int64
	every      int64
	verb       Verb

	seen, hits atomic.Int64 // requests, and those it acted on
}

// parseWrapping reads KIND(TERMINUS, ...).
func parseWrapping(text string) (*wrapping, error) {
	w := &wrapping{text: text}
	kind, rest, ok := strings.Cut(text, "(")
	w.kind = strings.TrimSpace(kind)
	args, closed := "", false
	if ok {
		args, closed = strings.CutSuffix(strings.TrimSpace(rest), ")")
	}
	switch {
	case len(text) > maxWrapped:
		return nil, fmt.Errorf("the name of a terminus has at most %d bytes", maxWrapped)
	case !slices.Contains([]string{"fault", "delay", "retry", "fallback", "tee"}, w.kind):
		return nil, fmt.Errorf("no wrapper is called %q; there are: fault, delay, retry, fallback, tee", w.kind)
	case !closed:
		return nil, fmt.Errorf("%s: want %s(TERMINUS, ...) with a parenthesis at the end", text, w.kind)
	}
	parts, err := splitArgs(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.kind, err)
	}
	inner := 1
	if w.kind == "fallback" || w.kind == "tee" {
		inner = 2
	}
	if len(parts) < inner {
		return nil, fmt.Errorf("%s: want %d termini", w.kind, inner)
	}
	for _, a := range parts[:inner] {
		if a.text == "" {
			return nil, fmt.Errorf("%s: around which terminus?", w.kind)
		}
		w.inner = append(w.inner, a.text)
	}
	for i, a := range parts[inner:] {
		if err := w.argument(i, a); err != nil {
			return nil, fmt.Errorf("%s: %w", w.kind, err)
		}
	}
	switch {
	case w.kind == "fault" && w.what == "":
		return nil, errors.New("fault: with what? write a status, a text in quotes or nil")
	case w.kind == "delay" && w.pause == 0:
		return nil, errors.New("delay: how long? write 250ms or 2s")
	case w.kind == "retry" && w.times == 0:
		w.times = 3
	}
	return w, nil
}

// argument reads the i-th argument after the termini.
func (w *wrapping) argument(i int, a arg) (err error) {
	name, value, named := strings.Cut(a.text, "=")
	limited := w.kind == "fault" || w.kind == "delay"
	switch {
	case a.quoted && w.kind == "fault" && w.what == "":
		w.what, w.fails = a.text, &Failure{Message: a.text, Origin: "injected"}
	case a.quoted:
		err = fmt.Errorf("%q is not understood", a.text)
	case limited && (a.text == "once" || strings.HasSuffix(a.text, "%") || named && (name == "first" || name == "every" || name == "verb")):
		err = w.limit(a.text, name, value)
	case w.kind == "delay" && named && name == "jitter":
		w.jitter, err = pauseOf(a.text, value)
	case w.kind == "retry" && named && name == "wait":
		w.pause, err = pauseOf(a.text, value)
	case w.kind == "delay" && i == 0:
		w.pause, err = pauseOf(a.text, a.text)
	case w.kind == "retry" && i == 0:
		var n int64
		n, err = count(a.text, a.text, maxAttempts)
		w.times = int(n)
	case w.kind == "fallback" && a.text == "nil":
		w.alsoNil = true
	case w.kind == "fault" && i == 0:
		err = w.failure(a.text)
	default:
		err = fmt.Errorf("%q is not understood", a.text)
	}
	return err
}

// limit reads which requests a fault or delay is for.
func (w *wrapping) limit(text, name, value string) (err error) {
	switch name {
	case "once":
		w.first = 1
	case "first":
		w.first, err = count(text, value, 1<<30)
	case "every":
		w.every, err = count(text, value, 1<<30)
	case "verb":
		if w.verb = traces.ParseVerb(value); w.verb == traces.NoVerb {
			return fmt.Errorf("%q is no verb", value)
		}
	default:
		w.chance, err = strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || !(w.chance > 0 && w.chance <= 100) {
			return fmt.Errorf("%q: want a share from 0%% to 100%%", text)
		}
	}
	return err
}

// failure reads what a fault fails with.
func (w *wrapping) failure(text string) error {
	w.what = text
	status, err := strconv.Atoi(text)
	switch {
	case text == "nil":
	case err != nil:
		w.fails = &Failure{Message: text, Origin: "injected"}
	case status < 400 || status > 599:
		return fmt.Errorf("%d is no status of a failure; there are 400 to 599", status)
	default:
		w.fails = HTTPFailure(status, "injected")
	}
	return nil
}

func count(text, value string, most int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 || n > most {
		return n, fmt.Errorf("%q: want a number from 1 to %d", text, most)
	}
	return n, nil
}

func pauseOf(text, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d > maxPause {
		return d, fmt.Errorf("%q: want a time such as 250ms or 2s", text)
	}
	return d, nil
}

// An arg is one argument, without its quotes.
type arg struct {
	text   string
	quoted bool
}

// splitArgs cuts at commas outside of quotes and parentheses.
func splitArgs(s string) ([]arg, error) {
	var args []arg
	depth, start := 0, 0
	var quote byte
	add := func(end int) {
		text := strings.TrimSpace(s[start:end])
		if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
			args = append(args, arg{text[1 : n-1], true})
		} else {
			args = append(args, arg{text: text})
		}
		start = end + 1
	}
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return nil, errors.New("a parenthesis too many")
			}
		case c == ',' && depth == 0:
			add(i)
		}
	}
	if quote != 0 || depth != 0 {
		return nil, errors.New("a quote or a parenthesis is not closed")
	}
	add(len(s))
	return args, nil
}

// A wrapper is a wrapped terminus.
type wrapper struct {
	*wrapping
	termini []Terminus
	can     []Verbs
}

// wraps returns the terminus whose abilities the wrapper passes on.
func (w *wrapper) wraps() Terminus { return w.termini[0] }

// ability returns an ability of a terminus, or of the one that it wraps.
func ability[T any](t Terminus) (a T) {
	for {
		if a, ok := t.(T); ok {
			return a
		}
		w, ok := t.(*wrapper)
		if !ok {
			return a
		}
		t = w.wraps()
	}
}

// verbs are those of the first terminus, and for a fallback also of the second.
func (w *wrapper) verbs() Verbs {
	var can Verbs
	for v := range can {
		verb := Verb(v)
		if w.can[0][v] == nil && (w.kind != "fallback" || w.can[1][v] == nil) {
			continue
		}
		can[v] = func(ctx context.Context, r *Request) (any, error) { return w.do(ctx, verb, r) }
	}
	return can
}

func (w *wrapper) do(ctx context.Context, verb Verb, r *Request) (any, error) {
	switch w.kind {
	case "fault":
		if w.acts(verb) {
			return w.fault(ctx)
		}
	case "delay":
		if w.acts(verb) {
			if err := w.wait(ctx, "delay"); err != nil {
				return nil, err
			}
		}
	case "retry":
		return w.retry(ctx, verb, r)
	case "fallback":
		return w.fallback(ctx, verb, r)
	case "tee":
		return w.tee(ctx, verb, r)
	}
	return w.can[0][verb](ctx, r)
}

// acts reports whether a fault or delay applies to this request, and counts.
func (w *wrapper) acts(verb Verb) bool {
	if w.verb != traces.NoVerb && w.verb != verb {
		return false
	}
	if n := w.seen.Add(1); w.every > 1 && n%w.every != 0 {
		return false
	}
	if w.chance > 0 && rand.Float64()*100 >= w.chance {
		return false
	}
	return w.hits.Add(1) <= w.first || w.first == 0
}

// counts collects the counts of the wrapper and those inside.
func (w *wrapper) counts(all *[]WrapperCount) {
	if w.kind == "fault" || w.kind == "delay" {
		acted := w.hits.Load()
		if w.first > 0 {
			acted = min(acted, w.first)
		}
		*all = append(*all, WrapperCount{w.text, w.seen.Load(), acted, w.first, w.every})
	}
	for _, t := range w.termini {
		if inner, ok := t.(*wrapper); ok {
			inner.counts(all)
		}
	}
}

// note adds to the trace what the wrapper did.
func (w *wrapper) note(ctx context.Context, kind traces.Kind, what, answer string, err error) {
	_, span := traces.Start(ctx, kind, w.kind+": "+what)
	span.Attr("wrapper", w.text)
	span.End(answer, traces.Because{Reason: traces.ByYou, About: w.kind + "(" + strings.Join(w.inner, ", ") + ")"}, err)
}

func (w *wrapper) fault(ctx context.Context) (any, error) {
	w.note(ctx, traces.Note, w.inner[0]+" was not asked", w.what, w.fails)
	explain := traces.ExplainFailure
	if w.fails == nil {
		explain = traces.Explain
	}
	explain(ctx, "terminus "+w.inner[0]+" was not asked: "+w.text+" injected "+w.what)
	if w.fails == nil {
		return nil, NotFound(traces.ByYou, w.text)
	}
	return nil, w.fails
}

// wait waits for a delay, or between two attempts.
func (w *wrapper) wait(ctx context.Context, what string) error {
	d := Jitter(w.pause, w.jitter, rand.Float64)
	if d == 0 {
		return nil
	}
	_, span := traces.Start(ctx, traces.Note, what+": waited for "+w.inner[0])
	span.Attr("wrapper", w.text)
	err := Sleep(ctx, d)
	span.End(d.String(), traces.Because{Reason: traces.ByYou, About: w.text}, err)
	return err
}

// Jitter returns d, at most by jitter longer or shorter, and never below zero.
// Chance returns numbers from 0 to 1.
func Jitter(d, jitter time.Duration, chance func() float64) time.Duration {
	if jitter <= 0 {
		return d
	}
	return max(d+time.Duration((2*chance()-1)*float64(jitter)), 0)
}

// Sleep waits, and returns the cause if ctx ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// again reports whether a failure may pass.
func again(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, errors.ErrUnsupported) &&
		!errors.Is(err, ErrDenied) && !errors.Is(err, ErrInvalid)
}

// counted counts the instances that the caller has taken, which cannot be taken
// back.
func counted(r *Request) (*Request, *int) {
	n := new(int)
	yield := r.yield()
	if yield == nil {
		return r, n
	}
	return r.Yielding(func(i Instance) error {
		*n++
		return yield(i)
	}), n
}

func (w *wrapper) retry(ctx context.Context, verb Verb, r *Request) (v any, err error) {
	r, taken := counted(r)
	for attempt := 1; ; attempt++ {
		v, err = w.can[0][verb](ctx, r)
		if !again(ctx, err) || attempt == w.times || *taken > 0 {
			if attempt > 1 {
				w.note(ctx, traces.Choose, fmt.Sprintf("attempt %d of %d was the last", attempt, w.times), "", err)
			}
			return v, err
		}
		w.note(ctx, traces.Choose, fmt.Sprintf("attempt %d of %d failed", attempt, w.times), "again", err)
		w.swallow(ctx, w.inner[0], err)
		if err := w.wait(ctx, "retry"); err != nil {
			return nil, err
		}
	}
}

// swallow records a failure that the caller does not see.
func (w *wrapper) swallow(ctx context.Context, terminus string, err error) {
	fault := traces.Fault{Origin: "terminus " + terminus, Step: traces.Terminus, Message: Message(err)}
	if failure := (*Failure)(nil); errors.As(err, &failure) {
		fault.Path, fault.Hidden = failure.Path, failure.unsaid()
	}
	if live := traces.FromContext(ctx); live != nil {
		fault.Step = live.Step
		live.Fault(fault)
	}
}

func (w *wrapper) fallback(ctx context.Context, verb Verb, r *Request) (any, error) {
	if w.can[0][verb] == nil {
		w.note(ctx, traces.Choose, w.inner[0]+" has no "+verb.String()+", "+w.inner[1]+" is asked", "", nil)
		return w.can[1][verb](ctx, r)
	}
	r, taken := counted(r)
	v, err := w.can[0][verb](ctx, r)
	nothing := w.alsoNil && (errors.Is(err, ErrNotFound) || err == nil && (v == nil || v == false))
	if *taken > 0 || !nothing && !again(ctx, err) || w.can[1][verb] == nil {
		return v, err
	}
	if nothing {
		w.note(ctx, traces.Choose, w.inner[0]+" has nothing, "+w.inner[1]+" is asked", "", nil)
	} else {
		w.note(ctx, traces.Choose, w.inner[0]+" failed, "+w.inner[1]+" is asked", "", err)
		w.swallow(ctx, w.inner[0], err)
	}
	traces.Explain(ctx, "terminus "+w.inner[1]+" was asked instead of "+w.inner[0])
	r.Wire().Forget()
	return w.can[1][verb](ctx, r)
}

// tee passes what the first terminus found, saved or removed to the second. Its
// failures are recorded and swallowed. Look writes nothing.
func (w *wrapper) tee(ctx context.Context, verb Verb, r *Request) (any, error) {
	v, err := w.can[0][verb](ctx, r)
	if err != nil {
		return v, err
	}
	copied := *r
	copied.Wants = nil // they hold the first one's exchange
	switch verb {
	case Find:
		inst, _ := v.(Instance)
		if inst == nil || inst == False || Looking(ctx) {
			return v, nil
		}
		copied.Verb, copied.Instance = Save, inst
	case Save, Destroy:
	default:
		return v, nil
	}
	handle := w.can[1][copied.Verb]
	if handle == nil {
		return v, nil
	}
	_, teeErr := handle(ctx, &copied)
	if errors.Is(teeErr, ErrNotFound) {
		teeErr = nil
	}
	answer := "written"
	if teeErr != nil {
		answer = ""
		w.swallow(ctx, w.inner[1], teeErr)
	}
	w.note(ctx, traces.Choose, copied.Verb.String()+" also to "+w.inner[1], answer, teeErr)
	return v, nil
}
