package reports

import (
	"context"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// log repeats every message of the run, in the name of the host.
func (t *Terminus) log(ctx context.Context, report *model.Report) error {
	for _, l := range report.Logs {
		t.env.Log.Log(ctx, indirector.Levels[l.Level], l.Message, "source", "//"+report.Host+"/"+l.Source)
	}
	return nil
}
