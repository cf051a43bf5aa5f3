package reports

import (
	"context"
	"log/slog"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "notice": slog.LevelInfo, "warning": slog.LevelWarn,
	"err": slog.LevelError, "alert": indirector.LevelCritical, "emerg": indirector.LevelCritical, "crit": indirector.LevelCritical,
}

// log repeats every message of the run, in the name of the host.
func (t *Terminus) log(ctx context.Context, report *model.Report) error {
	for _, l := range report.Logs {
		t.env.Log.Log(ctx, levels[l.Level], l.Message, "source", "//"+report.Host+"/"+l.Source)
	}
	return nil
}
