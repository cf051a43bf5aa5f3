package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
	"indirtui/ui/command"
)

// A settingsCommand lists Puppet's settings.
type settingsCommand struct {
	listing
	all bool
}

func (s *settingsCommand) build(cmd *cobra.Command) {
	s.flag(cmd, "as JSON")
	cmd.Flags().BoolVarP(&s.all, "all", "a", false, "those at their default too")
}

func (s *settingsCommand) run(_ context.Context, names []string) error {
	return s.p.withEngine(func(e *engine.Engine) error {
		rows, err := settingRows(e, names, s.all)
		if err != nil {
			return err
		}
		return s.print(rows, func(out io.Writer) error { return printSettings(out, rows) })
	})
}

// A settingRow is one setting, as --json prints it.
type settingRow struct {
	Name      string   `json:"name"`
	Value     string   `json:"value"`
	Place     string   `json:"place"`
	Known     bool     `json:"known"`
	Overruled []string `json:"overruled"`
}

// settingRows are the settings by those names, or those that are set, or all.
func settingRows(e *engine.Engine, names []string, all bool) ([]settingRow, error) {
	rows := []settingRow{}
	now := e.Settings.Load()
	for _, s := range now.All() {
		if len(names) > 0 && !slices.Contains(names, s.Name) || len(names) == 0 && !all && s.Source == "default" {
			continue
		}
		r := settingRow{Name: s.Name, Value: e.RedactSetting(s.Name, s.Value), Place: s.Source, Known: s.Known, Overruled: []string{}}
		for _, a := range s.Overruled {
			if a.Value == "" && a.Source == "default" {
				continue
			}
			r.Overruled = append(r.Overruled, e.RedactSetting(s.Name, a.Value)+" ("+a.Source+")")
		}
		rows = append(rows, r)
	}
	for _, name := range names {
		if _, ok := now.Setting(name); !ok {
			return nil, &command.UsageError{What: fmt.Sprintf("no setting is called %q", name)}
		}
	}
	return rows, nil
}

func printSettings(out io.Writer, rows []settingRow) error {
	return printTable(out, "SETTING\tVALUE\tPLACE", rows, func(r settingRow, put func(...string)) {
		place := r.Place
		if !r.Known {
			place += " (unknown setting)"
		}
		put(r.Name, r.Value, place)
		for _, o := range r.Overruled {
			put("", "  overruled: "+o, "")
		}
	})
}
