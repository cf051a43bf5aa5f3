package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/ui/command"
)

// A terminusRow describes a terminus, as --json prints it.
type terminusRow struct {
	Indirection  string            `json:"indirection"`
	Terminus     string            `json:"terminus"`
	Doc          string            `json:"doc"`
	Verbs        []string          `json:"verbs"`
	Settings     map[string]string `json:"settings"`
	KeepsExpiry  bool              `json:"keeps_expiry"`
	ProcessLocal bool              `json:"process_local"`
	AlwaysNil    bool              `json:"always_nil"`
	Rules        []string          `json:"rules"`
}

// A terminiCommand lists the termini of this build.
type terminiCommand struct{ listing }

func (t *terminiCommand) build(cmd *cobra.Command) {
	t.flag(cmd, "as JSON, with settings and rules")
}

func (t *terminiCommand) run(_ context.Context, args []string) error {
	rows := t.rows(args)
	if len(rows) == 0 {
		return &command.UsageError{What: fmt.Sprintf("no indirection with termini is called %q", args[0])}
	}
	return t.print(rows, func(out io.Writer) error { return printTermini(out, rows) })
}

func printTermini(out io.Writer, rows []terminusRow) error {
	return printTable(out, "INDIRECTION\tTERMINUS\tFIND\tSRCH\tHEAD\tSAVE\tDSTR\tEXPIRY\tABOUT", rows, func(r terminusRow, put func(...string)) {
		cells := []string{r.Indirection, r.Terminus}
		for _, verb := range command.Verbs() {
			cells = append(cells, r.can(verb))
		}
		put(append(cells, expiryWord(r), firstSentence(r.Doc))...)
	})
}

func (t *terminiCommand) rows(only []string) []terminusRow {
	rows := []terminusRow{}
	for _, d := range t.p.termini {
		if len(only) > 0 && d.Indirection != only[0] {
			continue
		}
		r := terminusRow{
			Indirection: d.Indirection, Terminus: d.Name, Doc: d.Doc, Settings: map[string]string{}, Verbs: []string{},
			KeepsExpiry: d.KeepsExpiry, ProcessLocal: d.ProcessLocal, AlwaysNil: d.AlwaysNil, Rules: append([]string{}, d.Rules...),
		}
		can := indirector.VerbsOf(d.Type)
		for _, verb := range command.Verbs() {
			if can[traces.ParseVerb(verb)] != nil {
				r.Verbs = append(r.Verbs, verb)
			}
		}
		for _, s := range d.Settings {
			r.Settings[s.Name] = s.Doc
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b terminusRow) int { return strings.Compare(a.Indirection, b.Indirection) })
	return rows
}

// can is the cell of a verb.
func (r terminusRow) can(verb string) string { return tick(slices.Contains(r.Verbs, verb)) }

func tick(can bool) string {
	if can {
		return "x"
	}
	return "."
}

func expiryWord(r terminusRow) string {
	switch {
	case r.ProcessLocal:
		return "in memory"
	case r.KeepsExpiry:
		return "kept"
	case slices.Contains(r.Verbs, "save"):
		return "dropped"
	}
	return "-"
}

func firstSentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if i := strings.Index(s, ". "); i > 0 {
		return s[:i+1]
	}
	return s
}
