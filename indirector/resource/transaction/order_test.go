package transaction_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/probetest"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
)

// TestGoldenRalOrder applies catalogs of which only the order and the cycles count.
func TestGoldenRalOrder(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t, "order.jsonl") {
		var id string
		decode(t, row["id"], &id)
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			run := map[string]any{}
			decode(t, row["run"], &run)
			run["evaltrace"] = true
			w := &probetest.World{Root: p.dir + "/root"}
			m := p.system(systemtest.Case{}, p.settings(run))
			got := transaction.Run(t.Context(), catalogOf(t, p.expand(row["catalog"])), transaction.Options{
				Settings: agent(m), System: m, Types: allTypes(), Provider: w.Provider,
			})
			compareOrder(t, p, row, got)
		})
	}
}

func agent(m types.Host) transaction.Settings {
	s := transaction.ReadSettings(m)
	s.Agent = true
	return s
}

// nothing is a provider of a system where nothing is.
type nothing struct{}

func (nothing) Retrieve(_ context.Context, _ providers.System, r *types.Resource) ([]data.Pair, error) {
	pairs := []data.Pair{}
	if r.Type.Attribute("ensure") != nil {
		pairs = append(pairs, data.P("ensure", data.OfSymbol("absent")))
	}
	return pairs, nil
}

func (nothing) Set(context.Context, providers.System, *types.Resource, string) error { return nil }

// A logRow is a line as recordings have it.
type logRow struct {
	Level   string   `json:"level"`
	Message string   `json:"message"`
	Source  string   `json:"source,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	File    string   `json:"file,omitempty"`
	Line    int64    `json:"line,omitempty"`
}

var (
	started  = regexp.MustCompile(`^Starting to evaluate the resource \((.*)\)$`)
	ordinary = regexp.MustCompile(`^(Starting to evaluate the resource|Evaluated in|Using cached|Using environment|Applied catalog|Creating state|Caching catalog|defined 'message'|Applying configuration)`)
)

func compareOrder(t *testing.T, p place, row map[string]json.RawMessage, got *transaction.Result) {
	t.Helper()
	var want struct {
		Exit                   int
		Order, Failed, Skipped []string
		Logs                   []logRow
	}
	for name, to := range map[string]any{"exit": &want.Exit, "order": &want.Order, "failed": &want.Failed, "skipped": &want.Skipped, "logs": &want.Logs} {
		decode(t, row[name], to)
	}
	order, failed, skipped, logs := []string{}, []string{}, []string{}, []logRow{}
	for _, l := range got.Report.Logs {
		if m := started.FindStringSubmatch(l.Message); m != nil {
			order = append(order, fmt.Sprintf("%s %s", l.Source, m[1]))
		} else if !ordinary.MatchString(l.Message) {
			logs = append(logs, logRowOf(p, l, false))
		}
	}
	for _, s := range got.Report.Statuses {
		if s.Failed {
			failed = append(failed, s.Resource)
		}
		if s.Skipped {
			skipped = append(skipped, s.Resource)
		}
	}
	for _, d := range []struct{ name, diff string }{
		{"exit", cmp.Diff(want.Exit, got.Exit)},
		{"order", cmp.Diff(want.Order, order)},
		{"failed", cmp.Diff(want.Failed, failed)},
		{"skipped", cmp.Diff(want.Skipped, skipped)},
		{"logs", cmp.Diff(want.Logs, logs)},
	} {
		if d.diff != "" {
			t.Errorf("%s: want -, got +\n%s", d.name, d.diff)
		}
	}
}

func logRowOf(p place, l model.Log, full bool) logRow {
	row := logRow{Level: l.Level, Message: p.norm(l.Message), Line: l.Line}
	if l.Source != "Puppet" {
		row.Source = p.norm(l.Source)
	}
	if f := p.norm(l.File); f != "@SITE@" {
		row.File = f
	}
	if full {
		row.Tags = l.Tags
	}
	return row
}
