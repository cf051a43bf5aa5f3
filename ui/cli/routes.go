package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/ui/command"
)

// A routeRow is one slot of the route table, as --json prints it.
type routeRow struct {
	Indirection string           `json:"indirection"`
	Slot        string           `json:"slot"`
	Terminus    string           `json:"terminus"`
	Source      string           `json:"source"`
	Place       string           `json:"place"`
	Exists      bool             `json:"exists"`
	PassesTo    string           `json:"passes_to,omitempty"`  // another terminus, to which it passes requests on
	PassesFor   string           `json:"passes_for,omitempty"` // what named that one
	Chain       []routeCandidate `json:"chain"`
}

// A routeCandidate is one candidate of a slot, strongest first.
type routeCandidate struct {
	Terminus string `json:"terminus"`
	Source   string `json:"source"`
	Place    string `json:"place"`
	Applied  bool   `json:"applied"` // false: it was not looked at, for the reason Why
	Counts   bool   `json:"counts"`  // it is the one that decides
	Why      string `json:"why,omitempty"`
	Note     string `json:"note,omitempty"`
}

// A routesCommand lists the table of routes.
type routesCommand struct {
	listing
	chain bool
}

func (r *routesCommand) build(cmd *cobra.Command) {
	cmd.Long = `Who would answer what, and who decided that: defaults in code, settings, the
application, routes.yaml. With --all every source is shown, the overruled and
those not applied included, the strongest first.`
	r.flag(cmd, "as JSON, with every source")
	cmd.Flags().BoolVarP(&r.chain, "all", "a", false, "every source, not only the one in force")
}

func (r *routesCommand) run(_ context.Context, args []string) error {
	return r.p.withEngine(func(e *engine.Engine) error {
		rows, err := routeRows(e, args)
		if err != nil {
			return err
		}
		return r.print(rows, func(out io.Writer) error { return printRoutes(out, e, rows, r.chain) })
	})
}

func routeRows(e *engine.Engine, only []string) ([]routeRow, error) {
	rows := []routeRow{}
	for _, name := range e.Registry().Names() {
		if len(only) > 0 && only[0] != name {
			continue
		}
		r, _ := e.Explain(name)
		for _, slot := range r.Slots() {
			w := r.Slot(slot).Winner()
			row := routeRow{Chain: []routeCandidate{}, Indirection: name, Slot: slot, Terminus: w.Terminus, Source: w.Kind.String(), Place: w.Source}
			row.Exists = w.Terminus == "" || w.Terminus == indirector.Off || slot == indirector.SlotTTL || e.Registry().Descriptor(name, w.Terminus) != nil
			passed := e.Passed(name, w.Terminus, nil)
			row.PassesTo, row.PassesFor = passed.Terminus, passed.Source
			decided := false
			for _, c := range r.Slot(slot) {
				o := routeCandidate{
					Terminus: c.Terminus, Source: c.Kind.String(), Place: c.Source,
					Applied: c.Why == "" && c.Terminus != "", Why: c.Why, Note: c.Note,
				}
				o.Counts = o.Applied && !decided
				decided = decided || o.Applied
				row.Chain = append(row.Chain, o)
			}
			rows = append(rows, row)
		}
	}
	if len(only) > 0 && len(rows) == 0 {
		u := &command.UsageError{What: fmt.Sprintf("no indirection is called %q", only[0]), Advice: "there are: " + strings.Join(e.Registry().Names(), ", ")}
		if near := e.Registry().Nearest(only[0]); near != "" {
			u.Advice = "did you mean " + near + "? " + u.Advice
		}
		return nil, u
	}
	return rows, nil
}

func printRoutes(out io.Writer, e *engine.Engine, rows []routeRow, chain bool) error {
	fmt.Fprintf(out, "application %s, environment %s, %s\n\n", e.Application, e.Configuration().Environment, describeFile(e))
	return printTable(out, "INDIRECTION\tSLOT\tTERMINUS\tSET BY\tPLACE", rows, func(r routeRow, put func(...string)) {
		if r.Slot == indirector.SlotCache && r.Terminus == "" && (!chain || len(r.Chain) == 0) {
			return
		}
		terminus := r.Terminus
		if !r.Exists {
			terminus += " (not in this build)"
		}
		put(r.Indirection, r.Slot, terminus, r.Source, r.Place)
		if r.PassesTo != "" {
			put("", "", "→ "+r.PassesTo, "setting", r.PassesFor)
		}
		if !chain {
			return
		}
		for _, c := range r.Chain {
			state := "overruled"
			switch {
			case c.Counts:
				continue
			case c.Why != "":
				state = "NOT APPLIED: " + c.Why
			}
			put("", "", "  "+c.Terminus, c.Source, c.Place+"  "+state)
		}
	})
}

func describeFile(e *engine.Engine) string {
	if !e.Configuration().RoutesFile.Found {
		return "no " + clean(e.Configuration().RoutesFile.File)
	}
	return fmt.Sprintf("%s with sections %s", clean(e.Configuration().RoutesFile.File), clean(strings.Join(e.Configuration().RoutesFile.Sections, ", ")))
}
