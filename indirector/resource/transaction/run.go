package transaction

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"indirtui/indirector/host/files"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
)

// Run applies a catalog as Puppet's agent does: with its commands around the run, its
// files of state, its log lines and its report, which is not sent anywhere. Rules
// RES-TX-01 and RES-REP-07.
func Run(ctx context.Context, c *model.Catalog, o Options) *Result {
	t := newTransaction(ctx, o)
	t.begin(c)
	t.resting = resting{catalog: c}
	if t.Agent {
		t.earlier()
		t.frame()
	}
	err := t.converted(c)
	if err != nil && t.Compiled {
		t.log.puppet("err", err.Error())
		return &Result{Report: t.report, Exit: 1, Err: err}
	}
	if !t.Agent {
		t.frame()
	}
	if err == nil {
		if t.IntoCache && !t.Noop {
			t.log.puppet("info", "Caching catalog for "+c.Name)
		}
		err = t.around("prerun_command", t.Prerun)
		if err == nil {
			err = t.applied(c)
		}
	}
	var logged *commandError
	if err != nil && !asCommand(err, &logged) {
		t.log.puppet("err", withCause("Failed to apply catalog: "+err.Error(), err))
	}
	if failed := t.around("postrun_command", t.Postrun); err == nil {
		err = failed
	}
	t.time("total", t.System.Now().Sub(t.report.Time.Time()))
	t.finishReport()
	result := &Result{Report: t.report, Exit: t.exit(), FailedToGenerate: t.failedToGenerate, Err: err, Summary: t.summary()}
	if err != nil {
		result.Exit = 1
	}
	t.saveSummary(result.Summary)
	return result
}

// earlier adds what an agent has done before it has a catalog. Puppet's may have more:
// plugin_sync (here plugins are not copied), node_retrieval (no server is asked for the
// environment alone) and resubmit_facts (facts are not sent again behind a run).
func (t *transaction) earlier() {
	if t.Startup > 0 {
		t.time("startup_time", t.Startup)
	}
	if t.FactGeneration > 0 {
		t.time("fact_generation", t.FactGeneration)
	}
}

// frame is logged before a catalog is applied. Rule RES-REP-08.
func (t *transaction) frame() {
	t.report.CachedCatalogStatus = "not_used"
	if t.FromCache {
		t.report.CachedCatalogStatus = "explicitly_requested"
		t.log.puppet("info", "Using cached catalog from environment '"+t.report.Environment+"'")
		if t.Environment != t.report.Environment {
			t.log.puppet("notice", fmt.Sprintf(
				"Local environment: '%s' doesn't match the environment of the cached catalog '%s', switching agent to '%[2]s'.", t.Environment, t.report.Environment))
		}
	}
	t.log.puppet("info", "Using environment '"+t.report.Environment+"'")
}

// begin fills in what is known of a report before the run, and reads the state file.
func (t *transaction) begin(c *model.Catalog) {
	r := t.report
	r.Noop, r.Status, r.Format = t.Noop, "failed", 12
	if r.Time.IsZero() {
		r.Time = t.now()
	}
	if r.PuppetVersion == "" {
		r.PuppetVersion = puppetVersion
	}
	if r.Host == "" {
		r.Host = t.Certname
	}
	if r.Environment == "" {
		r.Environment = c.Environment
	}
	if t.StateFile != "" {
		t.state = loadState(t.StateFile, t.plan != nil, func(level, message string) {
			if t.Log != nil {
				t.Log(model.Log{Level: level, Message: message, Source: "Puppet", Tags: []string{level}, Time: t.now()})
			}
		})
	}
}

const puppetVersion = "7.23.0"

// converted makes instances of the catalog, and writes what the machine has of it.
func (t *transaction) converted(c *model.Catalog) error {
	begin := t.System.Now()
	c, err := t.resolved(c)
	if err != nil {
		return err
	}
	catalog, err := Convert(c, Conversion{Types: t.Types, Host: t.Host, Foreign: t.Foreign, Log: t.log.resource})
	if err != nil {
		return err
	}
	t.native.Sources = withInlined(t.Sources, c)
	if !t.Unfinalized {
		if err := catalog.Finalize(t.DefaultSchedules, t.ClientBucket); err != nil {
			return err
		}
	}
	t.catalog = catalog
	if err := t.writeGraph(Kinds[0], catalog.added, catalog.containment()); err != nil {
		return err
	}
	if t.WriteSummary {
		t.writeNames(t.ClassFile, "class", catalog.Classes)
		t.writeNames(t.ResourceFile, "resource", catalog.managed())
	}
	t.converting = t.System.Now().Sub(begin)
	if t.Agent {
		t.time("convert_catalog", t.converting)
	}
	return nil
}

// identify adds what is known of a report once its catalog is applied. What puppet apply
// takes to convert a catalog is a part of getting it, or is not counted. A catalog has a
// uuid even if its document has none.
func (t *transaction) identify(c *model.Catalog) {
	t.report.CodeID, t.report.CatalogUUID, t.report.ConfigurationVersion = c.CodeID, cmp.Or(c.CatalogUUID, model.NewUUID()), c.Version
	switch {
	case t.Agent:
		t.time("config_retrieval", t.Retrieval)
	case t.Compiled:
		t.time("config_retrieval", t.Retrieval+t.converting)
	default:
		t.time("config_retrieval", 0)
	}
}

// managed are the resources of which something is managed. Rule RES-CONV-05.
func (c *Catalog) managed() []string {
	var refs []string
	for _, r := range c.resources {
		if r.RAL != nil && r.RAL.AnyManaged() {
			refs = append(refs, strings.ToLower(r.Ref()))
		}
	}
	return refs
}

func (t *transaction) writeNames(file, what string, names []string) {
	if file == "" {
		return
	}
	if err := files.Write(file, []byte(strings.Join(names, "\n")+"\n"), files.Options{Mode: 0o640}); err != nil {
		t.log.puppet("err", fmt.Sprintf("Could not create %s file %s: %s", what, file, err))
	}
}

// applied evaluates the catalog, and stores the state whatever comes of it.
func (t *transaction) applied(c *model.Catalog) (err error) {
	begin := t.System.Now()
	t.identify(c)
	if t.state != nil && t.state.strange { // Puppet reads it once more
		t.log.puppet("err", corrupted)
	}
	err = t.evaluate()
	if err == nil {
		t.time("transaction_evaluation", t.System.Now().Sub(begin))
	}
	if saved := t.saveState(); err == nil {
		err = saved
	}
	if err != nil {
		return err
	}
	took := t.System.Now().Sub(begin)
	t.time("catalog_application", took)
	t.log.puppet("notice", "Applied catalog in "+seconds(took)+" seconds")
	return nil
}

func (t *transaction) saveState() error {
	if t.state == nil {
		return nil
	}
	if !t.System.Exists(t.StateFile) {
		t.log.puppet("info", "Creating state file "+t.StateFile)
	}
	oldest := t.System.Now().Add(-t.StateTTL)
	if t.StateTTL == 0 {
		oldest = oldest.AddDate(-1000, 0, 0)
	}
	return t.state.save(oldest)
}

// A commandError is one that was logged already.
type commandError struct{ error }

func asCommand(err error, to **commandError) bool {
	e, ok := err.(*commandError)
	*to = e
	return ok
}

// around runs a command before or after the run. Rule RES-REP-09.
func (t *transaction) around(setting, command string) error {
	if command == "" {
		return nil
	}
	c := providers.Command{Shell: command}
	result, err := t.System.Run(t.ctx, c)
	if err == nil && result.Exit != 0 {
		err = &providers.ExecutionFailure{Command: c.String(), Result: result}
	}
	if err != nil {
		t.log.puppet("err", fmt.Sprintf("Could not run command from %s: %s", setting, err))
		return &commandError{err}
	}
	return nil
}
