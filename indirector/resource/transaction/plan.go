package transaction

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/types"
)

// A Plan is what a run would do. Making it changes nothing. Rule RES-SAFE-01.
type Plan struct {
	Catalog   string    `json:"catalog"`
	Resources []Planned `json:"resources"` // in the order of evaluation, without containers
	Totals    Totals    `json:"totals"`
	Logs      []string  `json:"logs,omitempty"` // what Puppet would log of problems
	InRuby    int       `json:"-"`              // how many cannot be known because Puppet was not asked
}

// Totals count resources by what would become of them.
type Totals struct {
	Change  int `json:"change"`
	Restart int `json:"restart"` // refreshed, changed ones included
	Unknown int `json:"unknown"`
	Fail    int `json:"fail"`
	Skip    int `json:"skip"`
	InSync  int `json:"in_sync"`
}

// Planned is what would become of one resource.
type Planned struct {
	Resource    string          `json:"resource"`
	Outcome     Outcome         `json:"outcome"`
	Changes     []PlannedChange `json:"changes,omitempty"`
	Because     Reason          `json:"because,omitempty"`
	Detail      string          `json:"detail,omitempty"`
	Chain       []string        `json:"chain,omitempty"` // of a skip, up to the first failure
	RefreshedBy []string        `json:"refreshed_by,omitempty"`
	Class       string          `json:"class,omitempty"` // that it is in
	Diff        string          `json:"diff,omitempty"`  // of the content of a file, unified
	File        string          `json:"file,omitempty"`
	Line        int64           `json:"line,omitempty"`
}

// PlannedChange is one property that is not as it should be.
type PlannedChange struct {
	Property   string `json:"property"`
	Is         string `json:"is"` // as literals of the language
	Should     string `json:"should"`
	Text       string `json:"text"` // both, as Puppet would log them
	Corrective bool   `json:"corrective,omitempty"`
}

// Outcome is what would become of a resource.
type Outcome string

// The outcomes.
const (
	Same          Outcome = "same"
	WouldChange   Outcome = "change"
	WouldRefresh  Outcome = "refresh"
	WouldSkip     Outcome = "skip"
	WouldFail     Outcome = "fail"
	CannotBeKnown Outcome = "unknown"
)

var outcomes = []Outcome{Same, WouldChange, WouldRefresh, WouldSkip, WouldFail, CannotBeKnown}

// MakePlan works out what a run would do: a run in noop that writes nothing, no file of
// state either, and in which commands only look. Checks of exec are commands that may do
// anything: they are run only if checks is set. Errors are those that end a run.
func MakePlan(ctx context.Context, c *model.Catalog, o Options, checks bool) (*Plan, error) {
	machine := o.System
	o.System, o.Foreign = system.ReadOnly(machine), true
	o.Report, o.Log = nil, nil
	p := &planner{planned: map[*Resource]*Planned{}}
	o.Observer = p
	t := newTransaction(ctx, o)
	p.t = t
	t.plan = &planning{checks: noCommands{machine}, unresolved: map[string]string{}}
	if checks {
		t.plan.checks = machine
	}
	t.begin(c)
	c, err := t.resolved(c)
	if err != nil {
		return nil, err
	}
	catalog, err := Convert(c, Conversion{Types: t.Types, Host: t.Host, Foreign: true, Refused: true, Log: t.log.resource})
	if err == nil {
		err = catalog.Finalize(t.DefaultSchedules, t.ClientBucket)
	}
	if err != nil {
		return nil, err
	}
	t.catalog, t.native.Sources = catalog, withInlined(t.Sources, c)
	if err := t.evaluate(); err != nil {
		return nil, t.withCycles(err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return t.planned(c.Name, p), nil
}

// withCycles adds what was logged of cycles to the error that ends a run because of them.
func (t *transaction) withCycles(err error) error {
	for _, l := range t.report.Logs {
		if strings.HasPrefix(l.Message, "Found ") {
			return fmt.Errorf("%w: %s", err, strings.ReplaceAll(l.Message, `\n`, " "))
		}
	}
	return err
}

// planning is what is different while a plan is made.
type planning struct {
	checks     providers.System  // by which exec runs its checks
	unresolved map[string]string // by reference: why a deferred value could not be computed
	inRuby     int               // resources that Puppet could look at
}

// noCommands is a system on which no command is run.
type noCommands struct{ providers.System }

// An asks error is a check that would be run.
type asks struct{ command string }

func (a *asks) Error() string { return "would ask " + a.command }

// Run refuses.
func (noCommands) Run(_ context.Context, c providers.Command) (providers.Result, error) {
	return providers.Result{}, &asks{c.String()}
}

// onlyPlanned reports whether an error is one that only a plan has.
func onlyPlanned(err error) bool {
	var would *asks
	return errors.As(err, &would) || errors.Is(err, system.ErrReadOnly)
}

// cannotBeKnown is the answer where a plan does not know what a run would do.
const cannotBeKnown = "cannot be known"

// unknown answers for a resource of which a plan cannot know what would become of it, and
// reports whether it is one. What depends on it is planned as if it were in sync.
func (t *transaction) unknown(r *Resource) bool {
	if t.plan == nil || t.byTags(r).because != "" {
		return false
	}
	a := Answer{Step: Provider, Text: cannotBeKnown}
	switch {
	case t.Unknown[r.Ref()] != "":
		a.Detail = t.Unknown[r.Ref()]
	case t.NotAsked != "" && t.inRuby(r) != "":
		a.Detail = t.inRuby(r) + ", and " + t.NotAsked
		t.plan.inRuby++
	case !t.suitable(r):
		a.Because, a.Detail = Unsuitable, keyOf(r).provider
	case t.plan.unresolved[r.Ref()] != "":
		a.Because, a.Detail = DeferredValue, t.plan.unresolved[r.Ref()]
	case r.RAL != nil && len(r.RAL.Deferred()) > 0:
		a.Because, a.Detail = DeferredValue, strings.Join(r.RAL.Deferred(), ", ")+": computed when it is applied"
	default:
		return false
	}
	t.status(r)
	t.after(r, a)
	return true
}

// inRuby is what of a resource is written in Ruby, and not done here; "" if nothing is.
func (t *transaction) inRuby(r *Resource) string {
	switch {
	case r.Kind == Foreign && r.problem == nil:
		return "its type is written in Ruby"
	case r.RAL != nil && r.RAL.Provider != nil && t.providerOf(r) == nil:
		return "its provider " + r.RAL.Provider.Name + " is written in Ruby"
	}
	return ""
}

// A planner notes what became of each resource.
type planner struct {
	t       *transaction
	planned map[*Resource]*Planned
}

func (p *planner) Before(context.Context, *Resource, Step, string) error { return nil }

func (p *planner) After(_ context.Context, r *Resource, a Answer) {
	n := p.of(r)
	var would *asks
	switch {
	case a.Step == Compare && (a.Property == "content" || a.Property == "ensure"):
		n.Diff = p.t.contentDiff(r)
	case errors.As(a.Err, &would):
		n.Outcome, n.Because, n.Detail = CannotBeKnown, CheckNotAsked, checkOf(r, would.command)
	case errors.Is(a.Err, system.ErrReadOnly):
		n.Outcome, n.Because, n.Detail = CannotBeKnown, CheckNotAsked, a.Err.Error()
	case a.Text == cannotBeKnown:
		n.Outcome, n.Because, n.Detail = CannotBeKnown, a.Because, a.Detail
	case a.Text == skippedText:
		n.Outcome, n.Because, n.Detail, n.Chain = WouldSkip, a.Because, a.Detail, texts(a.Chain)
	case a.Step == Refresh:
		n.RefreshedBy = texts(a.Chain)
	}
}

// checkOf names the check that a command is.
func checkOf(r *Resource, command string) string {
	for _, name := range []string{"unless", "onlyif"} {
		for _, v := range list(r.RAL.Value(name)) {
			if v.Text() == command || strings.Join(textsOf(list(v)), " ") == command {
				return "would ask " + name + ": " + command
			}
		}
	}
	return "would ask: " + command
}

func list(v data.Value) []data.Value {
	switch v.Kind() {
	case data.Nil:
		return nil
	case data.List:
		return v.List()
	}
	return []data.Value{v}
}

func textsOf(all []data.Value) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = v.Text()
	}
	return out
}

func (p *planner) of(r *Resource) *Planned {
	n := p.planned[r]
	if n == nil {
		n = &Planned{Resource: r.Ref(), Outcome: Same, File: r.File, Line: r.Line, Class: classOf(r)}
		p.planned[r] = n
	}
	return n
}

// classOf is the name of the class that r is in; "" if it is in none.
func classOf(r *Resource) string {
	seen := map[*Resource]bool{} // containers may contain each other
	for c := r.Parent(); c != nil && !seen[c]; c = c.Parent() {
		if c.Kind == Component && c.Type == "Class" {
			return c.Title
		}
		seen[c] = true
	}
	return ""
}

func texts(all []*Resource) []string {
	out := make([]string, len(all))
	for i, r := range all {
		out[i] = r.String()
	}
	return out
}

// planned puts together what is known of all resources.
func (t *transaction) planned(name string, p *planner) *Plan {
	plan := &Plan{Catalog: name, Resources: []Planned{}, InRuby: t.plan.inRuby}
	for _, r := range t.catalog.resources {
		if r.problem != nil {
			t.status(r) // one that is a container is not evaluated
		}
	}
	for _, key := range t.order {
		s := t.statuses[key]
		if s.of.Kind == Whit || s.of.byDefault {
			continue
		}
		n := p.of(s.of)
		n.fill(s)
		plan.Totals.count(n)
		plan.Resources = append(plan.Resources, *n)
	}
	for _, l := range t.report.Logs {
		if l.Level == "err" || l.Level == "warning" {
			text, _ := ConsoleLine(l)
			plan.Logs = append(plan.Logs, text)
		}
	}
	return plan
}

func (n *Planned) fill(s *status) {
	for _, e := range s.events {
		if e.Status == "noop" && e.property != "" {
			c := PlannedChange{
				Property: e.property, Is: types.Display(e.PreviousValue), Should: types.Display(e.DesiredValue), Corrective: e.CorrectiveChange,
				Text: strings.TrimSuffix(strings.TrimSuffix(e.Message, " (corrective)"), " (noop)"),
			}
			if _, should, found := strings.Cut(c.Text, ", should be "); found && should != redacted && s.of.Type == "File" && e.property == "content" {
				c.Should = should // the event has it in base64
			}
			n.Changes = append(n.Changes, c)
		}
	}
	switch {
	case s.of.problem != nil && n.Outcome != WouldSkip:
		n.Outcome, n.Because, n.Detail = WouldFail, "", s.of.problem.Error()
	case n.Outcome != Same:
	case s.Failed:
		n.Outcome = WouldFail
		for _, e := range s.events {
			n.Detail = e.Message
		}
	case len(n.Changes) > 0:
		n.Outcome, n.Because = WouldChange, OutOfSync
	case len(n.RefreshedBy) > 0:
		n.Outcome, n.Because = WouldRefresh, RefreshedBy
	default:
		n.Because = InSync
	}
}

func (c *Totals) count(n *Planned) {
	if len(n.RefreshedBy) > 0 {
		c.Restart++
	}
	switch n.Outcome {
	case WouldChange:
		c.Change++
	case CannotBeKnown:
		c.Unknown++
	case WouldFail:
		c.Fail++
	case WouldSkip:
		c.Skip++
	case Same:
		c.InSync++
	}
}

// Exit is 0 if there is nothing to do, 2 if there is something, or may be, and 4 if
// something cannot be done.
func (c Totals) Exit() int {
	switch {
	case c.Fail > 0:
		return 4
	case c.Change+c.Restart+c.Unknown > 0:
		return 2
	}
	return 0
}

// String is "3 to change, 1 restart, 2 cannot be known, 214 in sync".
func (c Totals) String() string {
	var parts []string
	add := func(n int, always bool, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1 || always:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(c.Change, true, "to change", "to change")
	add(c.Restart, false, "restart", "restarts")
	add(c.Unknown, false, "cannot be known", "cannot be known")
	add(c.Fail, false, "cannot be done", "cannot be done")
	add(c.Skip, false, "skipped", "skipped")
	add(c.InSync, true, "in sync", "in sync")
	return strings.Join(parts, ", ")
}
