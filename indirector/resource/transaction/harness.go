package transaction

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// An application is one resource that is applied.
type application struct {
	*transaction
	r       *Resource
	s       *status
	is      map[string]data.Value
	names   []string              // of is, in order
	was     map[string]data.Value // what the state file has
	audited []string
	synced  []string        // what an event was made of
	done    *providers.Done // by a provider that does all at once; else nil
}

// apply makes one resource what it should be, and returns what came of it. Rules
// RES-EV-01 and RES-EV-02.
func (t *transaction) apply(r *Resource) *status {
	a := &application{transaction: t, r: r, s: t.newStatus(r)}
	begin := t.System.Now()
	switch err := a.run(); {
	case isLeftOut(err):
		t.keep(a.s)
		step := Compare
		if a.is == nil {
			step = Retrieve
		}
		t.leftOut(r, step, err)
	case err != nil && (t.plan == nil || !onlyPlanned(err)):
		t.failBecause(a.s, err)
	}
	a.s.EvaluationTime = data.OfFloat(t.System.Now().Sub(begin).Seconds())
	return a.s
}

func (a *application) run() error {
	if err := a.retrieve(); err != nil {
		return err
	}
	if a.visiting != nil && a.done == nil {
		a.visiting.is = a.is
		if err := a.stop(a.r, Compare, ""); err != nil {
			return err
		}
	}
	if a.r.RAL != nil {
		for _, v := range a.r.RAL.Value("audit").List() {
			a.audited = append(a.audited, v.Text())
		}
	}
	a.was = a.state.values(a.r)
	a.state.set(a.r, "checked", stateTime(a.System.Now()))
	for _, name := range a.audited {
		a.state.set(a.r, name, a.is[name])
	}
	if a.r.RAL != nil {
		a.changeAll()
		if err := a.audit(); err != nil {
			return err
		}
		a.remember()
	}
	if a.done != nil && a.done.Err != nil {
		return a.done.Err
	}
	if !a.s.Changed || a.noop(a.r) {
		a.note(a.r, Answer{Step: Flush, Text: "nothing to write"})
		return nil
	}
	a.state.set(a.r, "synced", stateTime(a.System.Now()))
	return a.flush()
}

// retrieve reads what is. Rule RES-EV-01.
func (a *application) retrieve() error {
	if err := a.before(a.r, Retrieve, ""); err != nil {
		return err
	}
	a.is = map[string]data.Value{}
	p := a.providerOf(a.r)
	if p == nil {
		return nil
	}
	machine := a.System
	if a.plan != nil && a.r.Type == "Exec" {
		machine = a.plan.checks
	}
	if w, ok := p.(providers.Whole); ok {
		return a.whole(w)
	}
	var pairs []data.Pair
	err := a.retried(Retrieve, "", func() (err error) {
		pairs, err = p.Retrieve(a.ctx, machine, a.r.RAL)
		return err
	})
	a.read(pairs)
	a.after(a.r, Answer{Step: Retrieve, Text: strconv.Itoa(len(pairs)) + " properties", Err: err})
	return err
}

// read keeps what was read.
func (a *application) read(pairs []data.Pair) {
	for _, pair := range pairs {
		name := pair.Key.Str()
		a.is[name] = pair.Value
		a.names = append(a.names, name)
	}
}

// changeAll syncs ensure, and if there is nothing to do about that, all others. Rule
// RES-EV-02.
func (a *application) changeAll() {
	if a.done != nil {
		a.adopt()
		return
	}
	if a.sync("ensure") {
		return
	}
	if ensure, ok := a.is["ensure"]; ok && isAbsent(ensure) {
		a.log.resource(a.r, "debug", "Nothing to manage: no ensure and the resource doesn't exist")
		a.after(a.r, Answer{Step: Compare, Text: "nothing to do", Because: NotDeclared})
		return
	}
	changed := false
	for _, name := range a.r.RAL.Properties() {
		changed = a.sync(name) || changed
	}
	if !changed {
		answer := Answer{Step: Compare, Text: "nothing to do", Because: InSync}
		if a.r.Type == "Exec" && a.plan == nil {
			answer.Because, answer.Detail = CheckRefused, strings.Join(checksOf(a.r.RAL), " or ")
		}
		a.after(a.r, answer)
	}
}

// checksOf are the checks that an exec has.
func checksOf(r *types.Resource) []string {
	var names []string
	for _, name := range []string{"refreshonly", "creates", "unless", "onlyif"} {
		if r.Value(name).Truthy() && r.Value(name).Text() != "false" {
			names = append(names, name)
		}
	}
	return names
}

// sync makes one property what it should be, and reports whether there was something to
// do about it.
func (a *application) sync(name string) bool {
	is := a.is[name]
	if !a.r.RAL.Wanted(name, is).Truthy() { // not managed, or false, or one of no values
		return false
	}
	same, err := a.inSync(name, is)
	if err == nil && same {
		return false
	}
	a.after(a.r, Answer{Step: Compare, Property: name, Text: "differs", Because: OutOfSync})
	if err == nil && !a.noop(a.r) {
		err = a.before(a.r, Change, name) // where another value may be wanted
	}
	if isLeftOut(err) {
		a.leave(name, err)
		return true
	}
	e := a.newEvent(name, is)
	audited := slices.Contains(a.audited, name)
	if audited && err == nil {
		err = a.auditEvent(e, name)
	}
	switch {
	case err != nil:
	case a.noop(a.r):
		e.Status = "noop"
		e.Message = fmt.Sprintf("current_value %s, should be %s (noop)", a.shown(name, is, false), a.shown(name, e.DesiredValue, true)) + a.auditNote(name, audited)
	default:
		err = a.retried(Change, name, func() error { return a.change(name, is) })
		if isLeftOut(err) {
			a.leave(name, err)
			return true
		}
		e.DesiredValue = a.newEvent(name, is).DesiredValue // it may have been edited where it failed
		e.Status = "success"
		e.Message = a.changeText(name, is) + a.auditNote(name, audited)
	}
	if err != nil {
		a.log.puppet("err", withCause(err.Error(), err))
		e = a.newEvent(name, is)
		e.Status = "failure"
		e.Message = fmt.Sprintf("change from %s to %s failed: ", a.shown(name, is, false), a.shown(name, a.r.RAL.Wanted(name, is), true)) + err.Error()
	}
	a.record(name, e, err)
	return true
}

// leave leaves a property as it is, because the user wants that.
func (a *application) leave(name string, err error) {
	a.s.OutOfSync = true
	a.s.OutOfSyncCount++
	a.log.property(a.r, name, "notice", "left as it is: "+err.Error())
	answer := Answer{Step: Change, Property: name, Text: "left out", Because: ByYou, Detail: err.Error()}
	a.after(a.r, answer)
	if v := a.visiting; v != nil {
		v.left, v.because = true, answer.because()
		v.as = name + " is left as it is"
	}
}

// record counts and logs an event. Rules RES-EV-08 and RES-COR-01.
func (a *application) record(name string, e *event, err error) {
	a.correct(name, e)
	if e.CorrectiveChange {
		e.Message += " (corrective)"
	}
	a.s.add(e)
	a.logEvent(name, e)
	a.synced = append(a.synced, name)
	answer := Answer{Step: Change, Property: name, Text: e.Message, Err: err}
	if e.Status == "noop" {
		answer.Because, answer.Detail = Noop, a.noopBy(a.r)
	}
	a.after(a.r, answer)
	e.stringify(a.r)
}

func (a *application) logEvent(name string, e *event) {
	level := a.r.RAL.Value("loglevel").Str()
	if e.Status == "failure" {
		level = "err"
	} else if level == "" {
		level = "notice"
	}
	a.log.property(a.r, name, level, e.Message)
}

// inSync asks the provider where it compares better than the type.
func (a *application) inSync(name string, is data.Value) (bool, error) {
	if p, ok := a.providerOf(a.r).(providers.Comparer); ok {
		if in, ok, err := p.InSync(a.ctx, a.System, a.r.RAL, name, is); ok {
			return in, err
		}
	}
	return a.r.RAL.InSync(name, is)
}

// change sets one property. An error that is not Puppet's own is wrapped where the
// value is one that the type does itself. Rule RES-EV-06.
func (a *application) change(name string, is data.Value) error {
	err := a.providerOf(a.r).Set(a.ctx, a.System, a.r.RAL, name)
	if err == nil || ours(err) {
		return err
	}
	if _, ok := a.r.RAL.Choice(name); !ok {
		return err
	}
	message := fmt.Sprintf("Could not set '%s' on %s: %s%s", a.r.RAL.Wanted(name, is).Text(), name, err, at(a.r.File, a.r.Line))
	a.log.puppet("err", message)
	return &wrapped{message, err}
}

// ours reports whether an error is one of Puppet's classes.
func ours(err error) bool {
	var failure *indirector.Failure
	var execution *providers.ExecutionFailure
	return errors.As(err, &execution) || errors.As(err, &failure) && !failure.Foreign()
}

// A wrapped error is one of Puppet's around one of Ruby's.
type wrapped struct {
	message string
	cause   error
}

func (w *wrapped) Error() string { return w.message }
func (w *wrapped) Unwrap() error { return w.cause }

// withCause is a message with the error that another one wraps.
func withCause(message string, err error) string {
	var w *wrapped
	if errors.As(err, &w) {
		message += "\nWrapped exception:\n" + w.cause.Error()
	}
	return message
}

func (a *application) flush() error {
	p, ok := a.providerOf(a.r).(providers.Flusher)
	if !ok {
		a.note(a.r, Answer{Step: Flush, Text: "nothing to write"})
		return nil
	}
	err := a.before(a.r, Flush, "")
	if err == nil {
		err = a.retried(Flush, "", func() error { return p.Flush(a.ctx, a.System, a.r.RAL) })
	}
	if isLeftOut(err) {
		a.after(a.r, Answer{Step: Flush, Text: "left out", Because: ByYou, Detail: err.Error()})
		return nil
	}
	a.after(a.r, Answer{Step: Flush, Text: "written", Err: err})
	return err
}

// newEvent is the event of a property. Rules RES-EV-03 and RES-TYPE-09.
func (a *application) newEvent(name string, is data.Value) *event {
	e := a.event(a.r.RAL.EventName(name), "")
	e.property = name
	e.Property = data.OfString(name)
	e.PreviousValue, e.DesiredValue, e.Historic = is, a.r.RAL.Wanted(name, is), a.was[name]
	e.Redacted = data.Value{}
	if a.r.RAL.Sensitive(name) {
		e.Redacted = data.OfBool(true)
		for _, v := range []*data.Value{&e.PreviousValue, &e.DesiredValue, &e.Historic} {
			if !v.IsNil() {
				*v = data.OfString(redacted)
			}
		}
	}
	c, ok := a.r.RAL.Choice(name)
	e.unschedules = ok && c.Unschedules
	return e
}

const redacted = "[redacted]"

// shown prints a value for a message.
func (a *application) shown(name string, v data.Value, should bool) string {
	switch {
	case a.r.RAL.Sensitive(name):
		return redacted
	case should:
		return a.r.RAL.ShowShould(name, v)
	}
	return a.r.RAL.ShowIs(name, v)
}

func (a *application) changeText(name string, is data.Value) string {
	if a.r.RAL.Sensitive(name) {
		return "changed " + redacted + " to " + redacted
	}
	return a.r.RAL.ChangeText(name, is)
}

// stringify makes texts of symbols, as reports have them. What the content of a file
// should be is binary in Ruby, so it is in base64, though it is text. Rule RES-EV-09.
func (e *event) stringify(r *Resource) {
	if text := e.DesiredValue; r.Type == "File" && e.property == "content" && text.Kind() == data.String && text.Str() != redacted {
		e.DesiredValue = data.OfString(base64.StdEncoding.EncodeToString([]byte(text.Str())))
	}
	for _, v := range []*data.Value{&e.PreviousValue, &e.DesiredValue, &e.Historic} {
		*v = words(*v)
	}
}

func words(v data.Value) data.Value {
	switch v.Kind() {
	case data.Symbol, data.Rich:
		return data.OfString(v.Text())
	case data.List, data.Hash:
		return v.Map(words)
	}
	return v
}

func isAbsent(v data.Value) bool { return v.Kind() == data.Symbol && v.Str() == "absent" }
