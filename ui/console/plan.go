package console

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/ui/command"
	"indirtui/ui/plan"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/value"
)

// A source is where a catalog is from: the answer of a request, a file, or a terminus.
type source struct {
	name string
	read func(context.Context) (*model.Catalog, map[string]string, error)
}

// planCatalog shows what applying a catalog to this machine would do.
func planCatalog(c *Console, l call) (tea.Cmd, error) {
	words, want, err := readWant(l.words)
	if err != nil {
		return nil, err
	}
	from, err := c.catalogSource(words)
	if err != nil {
		return nil, err
	}
	work := c.o.Plan
	make := func(ctx context.Context) (plan.Result, error) {
		catalog, unknown, err := from.read(ctx)
		if err != nil {
			return plan.Result{}, err
		}
		want.Unknown = unknown
		return work(ctx, catalog, want)
	}
	if c.o.Output == nil {
		return screen.Show(plan.New(c.ctx, c.env, "plan of "+from.name, make)), nil
	}
	ctx, env := c.ctx, c.env
	return screen.Later(func() tea.Msg {
		r, err := make(ctx)
		if err != nil {
			return screen.For{Screen: c, Msg: warned(err.Error())}
		}
		return screen.For{Screen: c, Msg: printed(strings.TrimRight(env.Redacted(r.Plan.Text()), "\n"))}
	}), nil
}

var planUsage = &command.UsageError{What: "plan which catalog?", Advice: "plan   plan #12   plan catalog.json   plan web01 terminus=json   checks=yes runs the checks of exec"}

// readWant takes what a plan is asked for out of the words.
func readWant(words []string) (rest []string, want plan.Want, err error) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "checks":
			if want.Checks = value == "yes"; value != "yes" && value != "no" {
				return nil, want, &command.UsageError{What: "checks=yes or checks=no?"}
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

// catalogSource is the catalog that words mean.
func (c *Console) catalogSource(words []string) (source, error) {
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		id, rest, err := c.catalogMeant(words)
		if err == nil && len(rest) > 0 {
			err = planUsage
		}
		log := c.env.Log
		return source{fmt.Sprintf("#%d", id), func(context.Context) (*model.Catalog, map[string]string, error) {
			return answeredCatalog(log, id)
		}}, err
	}
	if _, err := os.Stat(words[0]); err == nil && len(words) == 1 && c.o.Catalog != nil {
		read, path := c.o.Catalog, words[0]
		return source{path, func(context.Context) (*model.Catalog, map[string]string, error) {
			catalog, err := read(path)
			return catalog, nil, err
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
	return source{words[0], func(ctx context.Context) (*model.Catalog, map[string]string, error) {
		resp, err := ask(ctx, req)
		if err != nil {
			return nil, nil, fmt.Errorf("find the catalog of %q: %w", req.Key, err)
		}
		catalog, is := resp.Instance().(*model.Catalog)
		if !is {
			return nil, nil, fmt.Errorf("the answer for %q is no catalog", req.Key)
		}
		return catalog, nil, nil
	}}, nil
}

// answeredCatalog is the catalog that a request was answered with. Where only what was
// recorded of it is left, resources whose secrets were redacted cannot be known.
func answeredCatalog(log session.Log, id uint64) (*model.Catalog, map[string]string, error) {
	if inst, ok := log.Instance(id); ok {
		if catalog, is := inst.(*model.Catalog); is {
			return catalog, nil, nil
		}
	}
	t, err := log.Trace(id)
	if err != nil {
		return nil, nil, err
	}
	catalog, err := recordedCatalog(log, t)
	if err != nil {
		return nil, nil, err
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
	return catalog, unknown, nil
}

// recordedCatalog reads a catalog as it was recorded.
func recordedCatalog(log session.Log, t *traces.Trace) (*model.Catalog, error) {
	if t.Value().Model != "catalog" {
		return nil, &command.UsageError{What: "the answer is no catalog"}
	}
	body, err := log.Body(t.Value())
	if err != nil {
		return nil, &command.UsageError{What: value.Why(log, err)}
	}
	inst, err := command.Instance("catalog", "", "json", body)
	if err != nil {
		return nil, err
	}
	return inst.(*model.Catalog), nil
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
		return plain("option", typed, "checks=yes", "tags=", "skip_tags=", "terminus=")
	}
	return nextNode(c, l)
}
