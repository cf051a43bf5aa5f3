package reports

import (
	"context"

	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
)

// submit sends the report to PuppetDB. Rules PDB-REP-01 to PDB-REP-04.
func (t *Terminus) submit(ctx context.Context, report *model.Report) error {
	cfg, err := t.db.Config()
	if err != nil {
		return err
	}
	producer, _ := t.env.Settings.Get("node_name_value")
	cmd, err := command.Report(report, command.Options{
		Key: report.Host, Produced: t.env.Now(), Producer: producer, Unchanged: cfg.Unchanged,
	})
	if err != nil {
		return err
	}
	_, err = t.db.Submit(ctx, cmd)
	return err
}
