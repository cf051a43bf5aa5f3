package reports

import (
	"context"
	"slices"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/sqlstore"
)

// storeSettings are those of both stores, each once.
func storeSettings() []indirector.Setting {
	all := sqlstore.Settings(sqlstore.SQLite)
	for _, s := range sqlstore.Settings(sqlstore.PostgreSQL) {
		if !slices.ContainsFunc(all, func(o indirector.Setting) bool { return o.Name == s.Name }) {
			all = append(all, s)
		}
	}
	return all
}

func (t *Terminus) sqlite(ctx context.Context, report *model.Report) error {
	return t.keep(ctx, sqlstore.SQLite, report)
}

func (t *Terminus) postgresql(ctx context.Context, report *model.Report) error {
	return t.keep(ctx, sqlstore.PostgreSQL, report)
}

// keep stores the report in SQL. Rules STORE-SQL-07, PDB-REP-01.
func (t *Terminus) keep(ctx context.Context, engine string, report *model.Report) error {
	producer, _ := t.env.Settings.Get("node_name_value")
	cmd, err := command.Report(report, command.Options{Key: report.Host, Produced: t.env.Now(), Producer: producer})
	if err != nil {
		return err
	}
	s, err := t.stores[engine].Open(ctx)
	if err != nil {
		return err
	}
	_, err = s.Apply(ctx, cmd)
	return err
}
