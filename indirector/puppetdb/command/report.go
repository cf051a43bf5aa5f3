package command

import "indirtui/indirector/model"

// Report returns the command that stores a report. Its error is in Puppet's words.
// Rules PDB-REP-01 to PDB-REP-03.
func Report(r *model.Report, o Options) (*Command, error) {
	return o.command(StoreReport, 8, r.Host), nil
}
