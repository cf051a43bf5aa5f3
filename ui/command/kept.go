package command

import (
	"bytes"
	"errors"

	"indirtui/indirector/model"
	"indirtui/indirector/resource/transaction"
)

// Kept is what a file has that can be planned, or compared with a plan. One of them is set.
type Kept struct {
	Catalog *model.Catalog
	Plan    *transaction.Plan
	Report  *model.Report
}

// ReadKept reads what a file has, whatever it is. An empty name of a format is that of the
// file.
func ReadKept(file, formatName string, b []byte) (Kept, error) {
	p, err := transaction.ReadPlan(b)
	if !errors.Is(err, transaction.ErrNoPlan) {
		return Kept{Plan: p}, err
	}
	inst, err := Instance("catalog", file, formatName, b)
	if catalog, is := inst.(*model.Catalog); is && len(catalog.Resources) > 0 || !bytes.Contains(b, []byte("resource_statuses")) {
		return Kept{Catalog: catalog}, err
	}
	if inst, err = Instance("report", file, formatName, b); err != nil {
		return Kept{}, err
	}
	return Kept{Report: inst.(*model.Report)}, nil
}

// Happened returns what there is to compare a plan with, and whether it is a report; nil if
// it is a catalog, of which a plan is to be made.
func (k Kept) Happened() (p *transaction.Plan, report bool) {
	if k.Report != nil {
		return transaction.Happened(k.Report), true
	}
	return k.Plan, false
}
