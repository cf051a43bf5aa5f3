package console

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/ui/command"
	"indirtui/ui/plan"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/value"
)

// A source is where what is planned is from: the answer of a request, a file, or a terminus.
type source struct {
	name string
	// read returns what there is, and of a catalog what cannot be known of it, and why. What
	// it asks is of a run, if that is not "".
	read func(ctx context.Context, run string) (found, error)
}

// found is what there is to be planned.
type found struct {
	command.Kept
	unknown map[string]string // resources that cannot be known, by reference, and why
	request uint64            // that was answered with it; 0 if it is from a file
}

// A planner works out what applying a catalog would do.
type planner func(context.Context, *model.Catalog, plan.Want) (plan.Result, error)

// plan plans a catalog, or reads a plan that was kept.
func (s *source) plan(ctx context.Context, work planner, want plan.Want) (plan.Result, error) {
	kept, err := s.read(ctx, want.Run)
	switch {
	case err != nil:
		return plan.Result{}, err
	case kept.Report != nil:
		return plan.Result{}, &command.UsageError{What: "it is a report, which is no plan", Advice: "compare a plan with it: against=" + command.Quote(s.name)}
	case kept.Plan != nil:
		return plan.Result{Plan: kept.Plan}, nil
	}
	want.Unknown = kept.unknown
	r, err := work(ctx, kept.Catalog, want)
	r.Catalog, r.Request, r.Redacted, r.Want = kept.Catalog, kept.request, len(kept.unknown) > 0, want
	return r, err
}

// other is what a plan is compared with: another plan, or a report.
func (s *source) other(ctx context.Context, work planner, want plan.Want) (*plan.Other, error) {
	kept, err := s.read(ctx, want.Run)
	if err != nil {
		return nil, err
	}
	if p, report := kept.Happened(); p != nil {
		return &plan.Other{Name: s.name, Plan: p, Report: report}, nil
	}
	want.Unknown = kept.unknown
	r, err := work(ctx, kept.Catalog, want)
	return &plan.Other{Name: "plan of " + s.name, Plan: r.Plan}, err
}

// planCatalog shows what applying a catalog to this machine would do.
func planCatalog(c *Console, l call) (tea.Cmd, error) {
	words, want, err := readWant(l.words)
	if err != nil {
		return nil, err
	}
	words, name, compared := takeWord(words, "against=")
	if kept := c.keptPlan(l.words); kept != nil {
		ago := traces.Age(c.env.Now().Sub(kept.Made()))
		return tea.Batch(screen.Show(kept), screen.Notify("this plan was made "+ago+" ago; p plans anew")), nil
	}
	from, err := c.catalogSource(words)
	if err != nil {
		return nil, err
	}
	var against *source
	if compared {
		other, err := c.catalogSource([]string{name})
		if err != nil {
			return nil, err
		}
		against = &other
	}
	return c.showPlan(from, against, want), nil
}

// showPlan shows a plan, or prints it where there is no screen.
func (c *Console) showPlan(from source, against *source, want plan.Want) tea.Cmd {
	work, now := c.o.Plan, c.env.Now
	make := func(ctx context.Context, helper bool) (plan.Result, error) {
		want := want
		want.Helper = want.Helper || helper
		want.Run = traces.PlanRun + model.NewUUID()[:8]
		r, err := from.plan(ctx, work, want)
		r.Made = now()
		if want.Helper {
			r.Foreign = 0 // Puppet has looked at what it can
		}
		if err == nil && against != nil {
			r.Against, err = against.other(ctx, work, want)
		}
		return r, err
	}
	title := "plan of " + from.name
	if c.o.Output == nil {
		s := plan.New(c.ctx, c.env, title, plan.Options{Make: make, Apply: c.o.Apply, Here: c.o.Here})
		c.plans = slices.Insert(c.plans, 0, s)
		c.plans = c.plans[:min(len(c.plans), mostPlans)]
		return screen.Show(s)
	}
	ctx, env := c.ctx, c.env
	return screen.Later(func() tea.Msg {
		r, err := make(ctx, false)
		if err != nil {
			return screen.For{Screen: c, Msg: warned(err.Error())}
		}
		text := env.Redacted(r.Plan.Text())
		if r.Against != nil {
			a, b := plan.Documents(title, r.Plan, r.Against, plan.Hider(env))
			report, err := diff.Documents(a, b, diff.Options{Ignore: env.Ignored})
			if err != nil {
				return screen.For{Screen: c, Msg: warned(err.Error())}
			}
			text = report.Text()
		}
		return screen.For{Screen: c, Msg: printed(strings.TrimRight(text, "\n"))}
	})
}

// mostPlans is how many plans are kept.
const mostPlans = 8

// keptPlan is the plan that was made of the catalog that a request was answered with, or
// while which it was asked; nil if there is none. The words of the command are nothing else
// than its number, or nothing, which is the request under the cursor.
func (c *Console) keptPlan(words []string) *plan.Screen {
	if c.o.Output != nil || len(words) > 1 || len(words) == 1 && !strings.HasPrefix(words[0], "#") {
		return nil
	}
	id, _, err := c.catalogMeant(words)
	row, known := c.env.Log.Row(id)
	if err != nil || !known {
		return nil
	}
	run := row.Run
	if !strings.HasPrefix(run, traces.PlanRun) {
		run = ""
	}
	for _, s := range c.plans {
		if s.Of(id, run) {
			return s
		}
	}
	return nil
}

var planUsage = &command.UsageError{What: "plan which catalog?", Advice: "plan   plan #12   plan catalog.json   plan web01 terminus=json   against=FILE compares it; checks=yes runs the checks of exec"}

// readWant takes what a plan is asked for out of the words.
func readWant(words []string) (rest []string, want plan.Want, err error) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "checks":
			if want.Checks = value == "yes"; value != "yes" && value != "no" {
				return nil, want, &command.UsageError{What: "checks=yes or checks=no?"}
			}
		case "helper":
			if want.Helper = value == "yes"; value != "yes" && value != "no" {
				return nil, want, &command.UsageError{What: "helper=yes or helper=no?"}
			}
		case "tags":
			want.Tags = strings.Split(value, ",")
		case "skip_tags":
			want.SkipTags = strings.Split(value, ",")
		default:
			rest = append(rest, w)
		}
	}
	return rest, want, nil
}

// catalogSource is the catalog, plan or report that words mean.
func (c *Console) catalogSource(words []string) (source, error) {
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		id, rest, err := c.catalogMeant(words)
		if err == nil && len(rest) > 0 {
			err = planUsage
		}
		log := c.env.Log
		return source{fmt.Sprintf("#%d", id), func(context.Context, string) (found, error) { return answerOf(log, id) }}, err
	}
	if _, err := os.Stat(words[0]); err == nil && len(words) == 1 && c.o.Kept != nil {
		read, path := c.o.Kept, words[0]
		return source{path, func(context.Context, string) (found, error) {
			kept, err := read(path)
			return found{Kept: kept}, err
		}}, nil
	}
	if c.o.Engine == nil {
		return source{}, errRecording
	}
	req, err := c.request("find", append([]string{"catalog"}, words...))
	if err != nil {
		return source{}, err
	}
	if req.Terminus != "" {
		req.Cache = indirector.Off
	}
	req.Caller = "you"
	ask := c.o.Engine.Ask
	return source{words[0], func(ctx context.Context, run string) (found, error) {
		req := *req
		req.Run = run
		resp, err := ask(ctx, &req)
		switch {
		case err != nil && meansFile(req.Key):
			return found{}, fmt.Errorf("there is no file %q, and no catalog of a node of that name: %w", req.Key, err)
		case err != nil:
			return found{}, fmt.Errorf("find the catalog of %q: %w", req.Key, err)
		}
		catalog, is := resp.Instance().(*model.Catalog)
		if !is {
			return found{}, fmt.Errorf("the answer for %q is no catalog", req.Key)
		}
		return found{Kept: command.Kept{Catalog: catalog}, request: resp.Trace}, nil
	}}, nil
}

// meansFile reports whether a name is that of a file rather than of a node.
func meansFile(name string) bool {
	return strings.Contains(name, "/") || slices.Contains([]string{".pp", ".json", ".yaml", ".msgpack"}, filepath.Ext(name))
}

// answerOf is the catalog that a request was answered with, or the report that it saved.
// Where only what was recorded of a catalog is left, resources whose secrets were redacted
// cannot be known.
func answerOf(log session.Log, id uint64) (found, error) {
	if inst, ok := log.Instance(id); ok {
		if catalog, is := inst.(*model.Catalog); is {
			return found{Kept: command.Kept{Catalog: catalog}, request: id}, nil
		}
	}
	t, err := log.Trace(id)
	if err != nil {
		return found{}, err
	}
	for _, v := range []traces.Value{t.Value(), t.Sent()} {
		if v.Model == "report" {
			inst, err := recorded(log, v)
			if err != nil {
				return found{}, err
			}
			return found{Kept: command.Kept{Report: inst.(*model.Report)}}, nil
		}
	}
	catalog, err := recordedCatalog(log, t)
	switch {
	case err != nil && strings.HasPrefix(t.Run, traces.PlanRun):
		return found{}, &command.UsageError{What: "the plan that asked for this is kept no longer: plan its catalog again"}
	case err != nil:
		return found{}, err
	}
	unknown := map[string]string{}
	for i := range catalog.Resources {
		r := &catalog.Resources[i]
		for _, p := range r.Parameters.Hash() {
			if redacted(p.Value) {
				unknown[r.Ref()] = p.Key.Text() + " was redacted when this was recorded; plan the catalog of its terminus"
			}
		}
	}
	return found{command.Kept{Catalog: catalog}, unknown, id}, nil
}

// recordedCatalog reads a catalog as it was recorded.
func recordedCatalog(log session.Log, t *traces.Trace) (*model.Catalog, error) {
	if t.Value().Model != "catalog" {
		return nil, &command.UsageError{What: "the answer is no catalog"}
	}
	inst, err := recorded(log, t.Value())
	if err != nil {
		return nil, err
	}
	return inst.(*model.Catalog), nil
}

// recorded reads an instance as it was recorded.
func recorded(log session.Log, v traces.Value) (indirector.Instance, error) {
	body, err := log.Body(v)
	if err != nil {
		return nil, &command.UsageError{What: value.Why(log, err)}
	}
	return command.Instance(v.Model, "", "json", body)
}

// redacted reports whether a secret in a value was replaced.
func redacted(v data.Value) bool {
	switch v.Kind() {
	case data.List:
		return slices.ContainsFunc(v.List(), redacted)
	case data.Hash:
		return slices.ContainsFunc(v.Hash(), func(p data.Pair) bool { return redacted(p.Value) })
	}
	return strings.Contains(v.Text(), "(masked ")
}

// nextPlan goes on with the nodes whose catalogs are kept, and then with what is asked for.
func nextPlan(c *Console, l call) []option {
	typed, n := l.last()
	if n > 0 {
		return plain("option", typed, "checks=yes", "helper=yes", "against=", "tags=", "skip_tags=", "terminus=")
	}
	return nextNode(c, l)
}
