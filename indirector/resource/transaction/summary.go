package transaction

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/host/files"
)

// summary is what the file of the last run has: the report without resources and lines.
func (t *transaction) summary() data.Value {
	mode := "user"
	if t.Agent {
		mode = "agent"
	}
	pairs := []data.Pair{
		data.P("version", data.OfHash([]data.Pair{
			data.P("config", t.report.ConfigurationVersion), data.P("puppet", data.OfString(t.report.PuppetVersion)),
		})),
		data.P("application", data.OfHash([]data.Pair{
			data.P("run_mode", data.OfString(mode)), data.P("initial_environment", data.OfString(t.Environment)),
			data.P("converged_environment", data.OfString(t.report.Environment)),
		})),
	}
	for _, m := range t.report.Metrics {
		var values []data.Pair
		for _, row := range m.Values.List() {
			values = append(values, data.Pair{Key: row.List()[0], Value: row.List()[2]})
		}
		slices.SortStableFunc(values, func(a, b data.Pair) int { return strings.Compare(label(a.Key.Str()), label(b.Key.Str())) })
		if m.Name == "time" {
			values = append(values, data.P("last_run", data.OfInt(t.System.Now().Unix())))
		}
		pairs = append(pairs, data.P(m.Name, data.OfHash(values)))
	}
	return data.OfHash(pairs)
}

// saveSummary writes what the last run was. Rule 9.1.
func (t *transaction) saveSummary(summary data.Value) {
	if t.SummaryFile == "" {
		return
	}
	if err := files.Write(t.SummaryFile, psych.Encode(summary, ""), files.Options{Mode: 0o644}); err != nil {
		t.log.puppet("err", fmt.Sprintf("Could not save last run local report: %s", err))
	}
}

// SummaryText is a summary as Puppet prints it for the setting summarize: what is zero is
// left out, and lines are in the order of their values, with the total last.
func SummaryText(summary data.Value) string {
	var b strings.Builder
	for _, section := range byKey(summary.Hash()) {
		b.WriteString(label(section.Key.Str()) + ":\n")
		values := slices.Clone(section.Value.Hash())
		slices.SortStableFunc(values, func(x, y data.Pair) int {
			if isTotal := x.Key.Str() == "total"; isTotal != (y.Key.Str() == "total") {
				return map[bool]int{true: 1, false: -1}[isTotal]
			}
			return strings.Compare(x.Value.Text(), y.Value.Text())
		})
		for _, p := range values {
			text := p.Value.Text()
			if p.Value.Kind() == data.Float {
				text = fmt.Sprintf("%.2f", p.Value.Float())
			}
			if text != "0" && (p.Value.Kind() != data.Float || p.Value.Float() != 0) {
				fmt.Fprintf(&b, "   %15s %s\n", label(p.Key.Str())+":", text)
			}
		}
	}
	return b.String()
}

func byKey(pairs []data.Pair) []data.Pair {
	sorted := slices.Clone(pairs)
	slices.SortFunc(sorted, func(x, y data.Pair) int { return strings.Compare(x.Key.Str(), y.Key.Str()) })
	return sorted
}
