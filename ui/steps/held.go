package steps

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A stay is a held request, and what will become of it.
type stay struct {
	debugger.Held
	plan    indirector.Forecast
	program *program // nil between steps
}

// A stepper is what Steps knows of a request that is held: nothing else than the
// steps that have not happened yet, and what can be changed about them.
type stepper struct {
	stay    *stay // nil while the request is not held
	editing bool  // the keys are those of the pane EDIT
	at      int   // of the items of that pane
	ticking bool
	steps   bool // stepping: a nested request that is held is shown
	now     time.Time
}

type heldTick struct{}

// held reads what is held about a request; nil if it is not.
func held(env *session.Env, id uint64) *stay {
	if env.Debugger == nil {
		return nil
	}
	h, err := env.Debugger.Get(id)
	if err != nil {
		return nil
	}
	st := &stay{Held: h, program: programOf(env, &h)}
	if st.plan, err = env.Debugger.Plan(context.Background(), id); err != nil {
		return nil
	}
	return st
}

// near is the held request that is shown when stepping through id: one
// that id has asked, the one that has asked id, or the next resource of the same run. Zero
// is none.
func near(env *session.Env, id, parent uint64, run string) uint64 {
	if env.Debugger == nil {
		return 0
	}
	for _, h := range env.Debugger.Held() {
		t := &h.State.Trace
		if t.Parent == id || h.ID == parent || run != "" && t.Run == run && t.Parent == 0 {
			return h.ID
		}
	}
	return 0
}

// trace is the trace of a held request as it stands.
func (st *stay) trace(env *session.Env) *traces.Trace {
	t := st.State.Trace
	t.Outcome = traces.HeldOutcome
	t.Key, t.Flags = st.Request.Key, st.Request.Flags
	t.Took = max(st.Since.Sub(t.Start)-t.Held, 0)
	t.Explain("held " + HeldAt(&st.Held) + " by " + st.By + "; enter opens it, c lets it go on")
	if env.RedactText != nil {
		return store.Redacted(&t, env.RedactText)
	}
	return &t
}

// HeldTrace is the trace of a request as it waits; nil if it is not held.
func HeldTrace(env *session.Env, id uint64) *traces.Trace {
	if env.Debugger == nil {
		return nil
	}
	h, err := env.Debugger.Get(id)
	if err != nil {
		return nil
	}
	return (&stay{Held: h}).trace(env)
}

// place is where a breakpoint would hold the request here again.
func (st *stay) place() string {
	if st.program != nil {
		return st.Where().String()
	}
	return st.State.Point.Step.String()
}

// planned reports whether a step is still to come.
func (st *stay) planned(s traces.Step) bool {
	p := st.State.Point.Step
	return s > p || s == p && !st.State.Done
}

// HeldAt returns where a request is held: "before 4 cache read", "at init.pp:4".
func HeldAt(h *debugger.Held) string {
	if h.State.Code != nil {
		return h.State.Code.String()
	}
	word := "before"
	if h.State.Done {
		word = "after"
	}
	s := h.State.Point.Step
	return strings.Join(strings.Fields(word+" "+Number(s)+" "+s.String()), " ")
}

// Clocks returns how long a request is held, and when that ends.
func Clocks(h *debugger.Held, now time.Time) string {
	text := "held " + clock(now.Sub(h.Since))
	if !h.Until.IsZero() {
		text += ", released by itself in " + clock(h.Until.Sub(now))
	}
	if !h.Caller.IsZero() {
		text += ", caller gives up in " + clock(h.Caller.Sub(now))
	}
	return text
}

// Waiting returns what waits for a request that is held in another process, and when
// those that give up do: "http_read_timeout in 9:57".
func Waiting(h *debugger.Held, now time.Time) (waits string, counts []string) {
	var all []string
	for _, w := range h.Waiters {
		if w.Until.IsZero() {
			all = append(all, w.Name)
		} else {
			counts = append(counts, w.Name+" in "+clock(w.Until.Sub(now)))
		}
	}
	return strings.Join(all, ", "), counts
}

// clock writes minutes and seconds: "1:19".
func clock(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// tick lets the times go on while a request is held.
func (s *Steps) tick() tea.Cmd {
	if s.hold.stay == nil || s.hold.ticking {
		return nil
	}
	s.hold.ticking = true
	return s.env.After(time.Second, screen.For{Screen: s, Msg: heldTick{}})
}

// foresee returns what a step will answer by the plan, and why.
func (st *stay) foresee(s traces.Step) (answer, because string) {
	q := st.plan.Steps[s]
	because = q.Because.Words()
	if s == traces.Caller {
		if st.plan.Outcome == traces.Run {
			return "gets what comes of it", ""
		}
		return "gets: " + st.plan.Outcome.String(), ""
	}
	at := s == st.State.Point.Step
	if st.plan.Outcome == traces.Err && q.Answer == traces.NotReached && q.Because.Reason == traces.NoReason {
		return "not reached", ""
	}
	switch answer, known := willBe[s][q.Answer]; {
	case known && at:
		return strings.ToUpper(answer), because
	case known:
		return answer, because
	case q.Answer == traces.NotReached && q.Because.Reason == traces.Asked:
		answer = "will ask"
		if s == traces.Terminus {
			answer += " " + st.plan.Terminus
		}
		return answer, st.plan.Unseen
	case q.Answer == traces.NotReached:
		return "not known yet", because
	case q.Answer == traces.NotAsked:
		return "nothing to do", because
	}
	return "will be: " + q.Answer.Words(), because
}

// facts is all that is known about a planned step: what it will do, and why. What
// the plan as a whole leads to comes last.
func (st *stay) facts(s traces.Step) widget.Facts {
	answer, because := st.foresee(s)
	f := widget.Facts{{Label: "plan", Text: answer, Style: term.Touched}}
	f.Put(term.Plain, "because", because)
	switch s {
	case traces.Terminus:
		f.Put(term.Plain, "cache", st.plan.Steps[traces.CacheRead].Because.String())
		f.Put(term.Plain, "decided", st.decided())
	case traces.Caller:
		f.Put(term.Plain, "caller", st.State.Trace.Caller)
	}
	if s == st.State.Point.Step {
		f.Put(term.Touched, "held", HeldAt(&st.Held)+" by "+st.By)
	}
	for _, c := range st.Changes {
		f.Put(term.Touched, "you changed", c.String())
	}
	f.Put(term.Plain, "in the end", st.after())
	return f
}

// decided is what chose the terminus that will be asked.
func (st *stay) decided() string {
	because := st.plan.Steps[traces.Route].Because
	if st.Request.Terminus != st.State.Request.Terminus {
		because = traces.Because{Reason: traces.ByYou, About: "you changed it here"}
	}
	return strings.TrimPrefix(st.plan.Terminus+": "+because.String(), ": ")
}

// facts is all that is known about a row.
func (s *Steps) facts(l *line) widget.Facts {
	if st := s.hold.stay; st != nil && l.span == nil && l.choice == nil && st.planned(l.step) {
		return st.facts(l.step)
	}
	return factsOf(s.trace, l, s.tree)
}

// willBe are the words for answers that have not been given yet.
var willBe = [traces.StepCount]map[traces.Answer]string{
	traces.Route:      {traces.Chosen: "will be chosen", traces.Raised: "will fail"},
	traces.Authorize:  {traces.NotChecked: "nothing to check", traces.Allowed: "will be allowed", traces.Denied: "will be denied"},
	traces.Validate:   {traces.OK: "will be ok", traces.Invalid: "will be refused"},
	traces.CacheRead:  {traces.NotAsked: "will not ask", traces.Found: "would be served", traces.Miss: "would find nothing", traces.Swallowed: "would fail, unseen"},
	traces.Expiry:     {traces.OK: "not expired", traces.Expired: "has expired", traces.NotAsked: "nothing to check"},
	traces.Terminus:   {traces.NotAsked: "will not be asked", traces.OK: "would answer", traces.Nothing: "would say nothing", traces.Raised: "would fail", traces.Written: "would store it"},
	traces.ExpirySet:  {traces.Set: "will be set", traces.Kept: "has one", traces.NotAsked: "nothing to set"},
	traces.CacheWrite: {traces.Written: "will be written", traces.NotAsked: "will not write"},
	traces.Filter:     {traces.Unfiltered: "none", traces.Filtered: "will be filtered"},
}

// after is what will become of the request, in one sentence.
func (st *stay) after() string {
	f := &st.plan
	text := f.Why
	switch {
	case f.Served == traces.ByCache:
		text += " -> would be served"
		if because := f.Steps[traces.Expiry].Because; because.Reason != traces.NoReason {
			text += ", " + because.Words()
		}
	case f.Outcome != traces.Run:
		text += " -> " + f.Outcome.String()
	}
	return text
}

// An item is one thing of the pane EDIT.
type item struct {
	name, value, was string
	why              string // why it cannot be edited; "" if it can
	flag, on         bool
}

// items are what can be edited, and what it is now.
func (st *stay) items() []item {
	if st.program != nil {
		return st.program.items
	}
	t := &st.State.Trace
	was := make(map[string]string)
	for _, c := range st.Changes {
		was[c.Name] = c.Was
	}
	var out []item
	for _, name := range debugger.EditNames() {
		it := item{name: name, why: st.Disabled(name)}
		switch flag := traces.ParseFlag(name); {
		case flag != 0:
			it.flag, it.on = true, st.Request.Flags&flag != 0
			it.value = box(it.on)
		case name == "key":
			it.value = st.Request.Key
		case name == "env":
			it.value = cmp.Or(st.Request.Environment, t.Environment)
		case name == "terminus":
			it.value = cmp.Or(st.Request.Terminus, t.Primary.Winner().Terminus)
		case name == "cache":
			it.value = cmp.Or(st.Request.Cache, t.Cache.Winner().Terminus)
		case name == "value":
			switch {
			case st.State.Value != nil:
				it.value = "(the answer so far)"
			case st.Request.Instance != nil:
				it.value = "(what is saved)"
			default:
				it.value = "(none yet)"
			}
		}
		if before, changed := was[name]; changed {
			it.was = before
			if it.flag {
				it.was = box(before == "true")
			} else if it.was == "" {
				it.was = "(none)"
			}
		}
		out = append(out, it)
	}
	for _, o := range st.Request.Options {
		name := "opt." + o.Name
		it := item{name: name, value: fmt.Sprint(o.Value), why: st.Disabled(name)}
		if brief := st.Request.Brief(o); strings.HasPrefix(brief, "(") { // an instance, or encoded facts: none to edit in a line
			it.value = brief
		}
		if before, changed := was[name]; changed {
			it.was = before
		}
		out = append(out, it)
	}
	return out
}

func box(on bool) string {
	if on {
		return "[x]"
	}
	return "[ ]"
}

// disabledHeld is Disabled for what works only on a held request.
func (s *Steps) disabledHeld(do screen.Action) string {
	switch do {
	case screen.EditHeld:
		if st := s.hold.stay; st != nil && st.program != nil {
			return screen.ReasonIf(len(st.items()) == 0, "no variable has a value here")
		}
		return screen.ReasonIf(s.hold.stay == nil, "the request is not held")
	case screen.StepOnce, screen.StepOver, screen.Finish, screen.Continue, screen.Inject:
		return screen.ReasonIf(s.hold.stay == nil, "the request is not held")
	case screen.AsItWas:
		return screen.ReasonIf(s.hold.stay == nil || len(s.hold.stay.Changes) == 0, "nothing was edited")
	case screen.ContinueAll, screen.AddBreak:
		return ""
	}
	return screen.Unknown
}

// handleHeld runs a command on a held request, and reports whether it is one for
// it.
func (s *Steps) handleHeld(a screen.Command) (tea.Cmd, bool) {
	st := s.hold.stay
	if st == nil {
		return nil, false
	}
	d := s.env.Debugger
	if s.hold.editing {
		items := st.items()
		switch a.Action {
		case screen.Down:
			s.hold.at = min(s.hold.at+a.Times(), len(items)-1)
			return nil, true
		case screen.Up:
			s.hold.at = max(s.hold.at-a.Times(), 0)
			return nil, true
		case screen.Back, screen.Tab, screen.BackTab, screen.EditHeld:
			s.hold.editing = false
			return nil, true
		case screen.Enter:
			return s.change(items[min(s.hold.at, len(items)-1)]), true
		}
	}
	if st.program != nil && s.handleProgram(a) {
		return nil, true
	}
	switch a.Action {
	case screen.Enter:
		if st.program == nil || st.program.Of == "" {
			return nil, false
		}
		return s.openRest(), true
	case screen.StepOnce:
		return s.resume(debugger.Step), true
	case screen.StepOver:
		return s.resume(debugger.Over), true
	case screen.Finish:
		return s.resume(debugger.Finish), true
	case screen.Continue:
		return s.resume(debugger.Continue), true
	case screen.ContinueAll:
		return screen.Notify(term.Plural(d.ContinueAll(), "request") + " go on"), true
	case screen.EditHeld:
		s.hold.editing = true
		return nil, true
	case screen.AsItWas:
		_, err := d.AsItWas(st.ID)
		return s.edited(err, "as it was"), true
	case screen.Inject:
		return s.inject(), true
	case screen.AddBreak:
		return AddBreak(s.env, like(&st.State.Trace), st.place()), true
	}
	return nil, false
}

func (s *Steps) resume(how debugger.Go) tea.Cmd {
	s.hold.steps = how != debugger.Continue
	err := s.env.Debugger.Resume(s.id, how)
	s.hold.stay, s.hold.editing = nil, false
	if err != nil {
		return tea.Batch(screen.Warn(err.Error(), ""), s.Load())
	}
	return s.Load()
}

// edited reports what was edited and reads the plan anew.
func (s *Steps) edited(err error, what string) tea.Cmd {
	if err != nil {
		return screen.Warn(err.Error(), "")
	}
	return tea.Batch(s.Load(), screen.Notify(fmt.Sprintf("#%d %s", s.id, what)))
}

// change edits one thing: a flag is switched, the rest is asked for.
func (s *Steps) change(it item) tea.Cmd {
	if it.why != "" {
		return screen.Notify("not now: " + it.why)
	}
	d, id := s.env.Debugger, s.id
	set := func(value string) error {
		e, err := debugger.ParseEdit(it.name + "=" + value)
		if err == nil {
			_, err = d.Edit(id, e)
		}
		return err
	}
	if it.flag {
		to := fmt.Sprint(!it.on)
		return s.edited(set(to), it.name+"="+to)
	}
	enter := func(text string) (*widget.Problem, tea.Cmd) {
		if err := set(text); err != nil {
			return &widget.Problem{Offset: -1, Text: err.Error()}, nil
		}
		return nil, screen.Send(screen.For{Screen: s, Msg: actionChosen(func() tea.Cmd { return s.edited(nil, it.name+"="+text) })})
	}
	if it.name == "value" {
		text, hint := s.heldValue()
		return screen.Show(widget.NewText(&s.env.Shared, widget.Text{Label: "value", Hint: hint, Enter: enter}, text))
	}
	label, hint := it.name, "what steps to come will see; u takes every edit back"
	if at := s.hold.stay.program; at != nil {
		hint = "in JSON, or a text; u takes every edit back"
		if at.Of != "" { // a property, which is listed without the sign of variables
			label = strings.TrimPrefix(label, "$")
		}
	}
	p := widget.Prompt{
		Label: label + " ", Hint: hint,
		Enter:    enter,
		Complete: s.choices(it.name),
	}
	if !strings.HasPrefix(it.value, "(") {
		p.Input.Set(it.value)
	}
	return screen.Show(widget.NewPrompt(&s.env.Shared, p))
}

// heldValue is the text of the answer so far, or of what is to be saved. A value
// with secrets is not offered: they would be written over with what stands for them.
func (s *Steps) heldValue() (text, hint string) {
	const file = "or @FILE"
	var inst any = s.hold.stay.State.Value
	if inst == nil {
		inst = s.hold.stay.Request.Instance
	}
	live, ok := inst.(indirector.Instance)
	if !ok || live == nil || s.env.Render == nil {
		return "", file
	}
	v := s.env.Render(live)
	switch {
	case v.Redacted > 0:
		return "", "it has masked values: write all of it, " + file
	}
	text = string(v.Content())
	var b bytes.Buffer
	if v.Format == "json" && json.Indent(&b, v.Content(), "", "  ") == nil {
		text = b.String()
	}
	if len(text) > maxHeldValue {
		return "", "it is too long to be edited here: " + file
	}
	return text, file
}

// maxHeldValue is how many bytes of a value are edited as text.
const maxHeldValue = 32 << 10

// actionChosen is something to be done on the goroutine of the screen.
type actionChosen func() tea.Cmd

// choices are the termini that terminus and cache can be.
func (s *Steps) choices(name string) func(string) ([]screen.Completion, []string) {
	if name != "terminus" && name != "cache" || s.env.Routes == nil || s.trace == nil {
		return nil
	}
	all := slices.Clone(s.env.Routes.Registry().Termini(s.trace.Indirection))
	if name == "cache" {
		all = append(all, indirector.Off)
	}
	return func(text string) ([]screen.Completion, []string) {
		var out []screen.Completion
		for _, t := range all {
			if strings.HasPrefix(t, text) || slices.Contains(all, text) {
				out = append(out, screen.Completion{Text: t, Name: t, Kind: name})
			}
		}
		return out, nil
	}
}

// injections are what can be done to a held request, by key.
var injections = []struct {
	key                 rune
	name, action, offer string
	note                string
	where               injectable
}{
	{'d', "delay", "delay ", "2s", "let it wait, then go on", anywhere},
	{'e', "error", "fail ", `"connection refused"`, "the step fails with this message", anywhere},
	{'s', "skip", "skip", "", "leave this step of the resource out", inResource},
	{'r', "retry", "retry", "", "take the step that failed once more", atFailure},
	{'n', "nil", "nil", "", "nobody has anything", betweenSteps},
	{'v', "value", "value ", "", "answer this: text, or @FILE", betweenSteps},
	{'t', "truncate", "truncate ", "50%", "cut the answer off, in bytes or percent", notInResource},
	{'x', "corrupt", "corrupt ", "4", "change so many bytes of the answer", notInResource},
	{'4', "http code", "fail ", "404", "what a server's status would mean", notInResource},
}

// An injectable is where something can be injected.
type injectable uint8

const (
	anywhere injectable = iota
	betweenSteps
	notInResource
	inResource
	atFailure
)

// fits reports whether it can be where a request is held; at is nil between two steps.
func (i injectable) fits(at *program) bool {
	resource := at != nil && at.Of != ""
	switch i {
	case betweenSteps:
		return at == nil
	case notInResource:
		return !resource
	case inResource:
		return resource
	case atFailure:
		return resource && at.Kind == indirector.StepFailed
	}
	return true
}

// refused is why the process of the request cannot do what an action begins with; ""
// if it can.
func (st *stay) refused(action string) string {
	a, _ := debugger.ParseAction(action) // whose arguments are to come
	return st.Refused(a.Do)
}

func (s *Steps) inject() tea.Cmd {
	var items []widget.Item
	for _, in := range injections {
		if !in.where.fits(s.hold.stay.program) {
			continue
		}
		if why := s.hold.stay.refused(in.action); why != "" {
			items = append(items, widget.Item{Key: in.key, Name: in.name, Note: "not there: " + why, Do: screen.Notify("not there: " + why)})
			continue
		}
		command := screen.Send(screen.For{Screen: s, Msg: actionChosen(func() tea.Cmd {
			switch in.action {
			case "nil", "skip", "retry":
				s.hold.steps = true
				return s.edited(s.doInject(debugger.ParseAction(in.action)), "injected "+in.name)
			case "value ":
				text, hint := s.heldValue()
				return screen.Show(widget.NewText(&s.env.Shared, widget.Text{Label: "answer this", Hint: hint, Enter: s.injecting(in.name, valueAction)}, text))
			}
			parse := func(text string) (debugger.Action, error) { return debugger.ParseAction(in.action + text) }
			p := widget.Prompt{Label: in.name + " ", Hint: in.note, Enter: s.injecting(in.name, parse)}
			p.Input.Set(in.offer)
			return screen.Show(widget.NewPrompt(&s.env.Shared, p))
		})})
		items = append(items, widget.Item{Key: in.key, Name: in.name, Note: in.note, Do: command})
	}
	return screen.Show(widget.NewMenu(&s.env.Shared, "inject, for this step only", items))
}

// injecting returns what takes a text: it injects what the text is read as.
func (s *Steps) injecting(name string, parse func(string) (debugger.Action, error)) func(string) (*widget.Problem, tea.Cmd) {
	return func(text string) (*widget.Problem, tea.Cmd) {
		steps := s.hold.steps
		s.hold.steps = true
		if err := s.doInject(parse(text)); err != nil {
			s.hold.steps = steps
			return &widget.Problem{Offset: -1, Text: err.Error()}, nil
		}
		did := "injected " + name
		if line := strings.TrimSpace(text); !strings.Contains(line, "\n") {
			did += " " + line
		}
		return nil, screen.Send(screen.For{Screen: s, Msg: actionChosen(func() tea.Cmd { return s.edited(nil, did) })})
	}
}

func (s *Steps) doInject(a debugger.Action, err error) error {
	if err != nil {
		return err
	}
	return s.env.Debugger.Inject(s.id, a, debugger.Step)
}

// valueAction is the answer that a text stands for: the text itself, in JSON, or
// what is in a file, perhaps with its format behind it.
func valueAction(text string) (debugger.Action, error) {
	line := strings.TrimSpace(text)
	if line == "" || strings.HasPrefix(line, "@") {
		return debugger.ParseAction("value " + line)
	}
	return debugger.Action{Do: debugger.Value, Text: text}, nil
}
