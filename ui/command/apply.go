package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/filelock"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/foreign"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/traces"
)

// CatalogFrom is where a catalog that is applied is from.
type CatalogFrom uint8

// What catalogs are from.
const (
	File     CatalogFrom = iota // which puppet apply does not finalize
	Compiled                    // a manifest
	Found                       // a terminus
	Cached                      // a cache
)

// An Applying applies catalogs to this machine: a run, of which each resource is a
// request.
type Applying struct {
	Engine         *engine.Engine
	Host           types.Host
	Noop           bool            // whatever the setting is
	Tags, SkipTags []string        // instead of those of the settings; nil leaves them
	From           CatalogFrom     // what the catalog is of
	Took           time.Duration   // to get it
	Facts          time.Duration   // to find those of the host
	Server         string          // of server_list, that was asked for it: "puppet:8140"; may be ""
	Began          time.Time       // the program; zero: with the run
	Startup        time.Duration   // from then on, before anything was asked
	Caller         string          // of the requests: "cli", "you"
	Log            func(model.Log) // takes each line of the log; may be nil
	Stop           func() bool     // ends the run before the next resource; may be nil
	// System is the machine; nil is this one, and Sources has what is copied from modules
	// then.
	System  providers.System
	Sources providers.Sources
	// ReportTo is the terminus that takes the report, as the application wants it; "" leaves
	// that to the route.
	ReportTo string
	// Resolve computes deferred values, see [transaction.Options]; if it is nil, they fail.
	Resolve func(ctx context.Context, v data.Value) (data.Value, error)
	// Helper does resources that are written in Ruby. If it is nil, they fail, and NoHelper is
	// why there is none.
	Helper   *foreign.Helper
	NoHelper string
	// Adapt lets a run be that of a device, in the place of the helper. It may be nil.
	Adapt func(*transaction.Options, *model.Catalog)
}

// Run applies a catalog and saves its report. Only one run at a time is allowed on a
// machine, Puppet's own included: the error is then why there was none. Rules RES-SAFE-03
// and RES-REP-07.
func (a *Applying) Run(ctx context.Context, catalog *model.Catalog) (result *transaction.Result, err error) {
	release, err := a.lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	o := transaction.Options{
		Settings: transaction.ReadSettings(a.Host), System: a.machine(), Types: types.All(), Foreign: true,
		Resolve: a.Resolve, Stop: a.Stop, Log: a.Log, LogLevel: cmp.Or(a.setting("log_level"), "notice"),
		FromCache: a.From == Cached, Retrieval: a.Took,
		Report: &model.Report{TransactionUUID: model.NewUUID(), Environment: catalog.Environment, ServerUsed: a.Server},
	}
	for _, file := range []string{o.StateFile, o.StoreFile, o.ClassFile, o.SummaryFile} { // Puppet makes its directories, too
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
	}
	o.Noop = o.Noop || a.Noop
	if a.Tags != nil {
		o.Tags = a.Tags
	}
	if a.SkipTags != nil {
		o.SkipTags = a.SkipTags
	}
	if o.Agent = a.Engine.Application == "agent"; o.Agent {
		a.before(&o)
	}
	o.Unfinalized = a.From != Compiled && a.Engine.Application == "apply" // Rule RES-CONV-04.
	o.Compiled = a.From == Compiled && a.Engine.Application == "apply"
	if a.From == Found || a.From == Cached {
		_, o.IntoCache = a.catalogBy()
	}
	run := &running{a, o.Report.TransactionUUID}
	requests := &providers.Requests{Do: run.ask}
	o.Request, o.Sources, o.Buckets = run.request, requests, requests
	if a.System != nil {
		o.Sources = a.Sources
	}
	a.foreign(ctx, &o, catalog)
	result = transaction.Run(ctx, catalog, o)
	if result.Summary.IsNil() {
		return result, nil // there was no run
	}
	sent := result.Report
	if a.setting("exclude_unchanged_resources") == "true" {
		sent = withoutUnchanged(sent)
	}
	run.report(context.WithoutCancel(ctx), sent)
	return result, nil
}

// before adds what an agent did before it had a catalog: its run is as old as the program.
// Puppet finds facts if a server is to be asked. Rule RES-REP-04.
func (a *Applying) before(o *transaction.Options) {
	if !a.Began.IsZero() {
		o.Report.Time, o.Startup = model.At(a.Began), a.Startup
	}
	if terminus, _ := a.catalogBy(); terminus == "rest" {
		o.FactGeneration = a.Facts
	}
}

// catalogBy is the terminus that catalogs are routed to, and whether there is a cache.
func (a *Applying) catalogBy() (terminus string, cached bool) {
	route, _ := a.Engine.Explain("catalog")
	return route.Primary.Winner().Terminus, route.Cache.Winner().Terminus != ""
}

// One applies one resource by itself, by the request "save resource": what waits for it is
// not refreshed, and its report is sent nowhere. What is logged comes when it is done. The
// locks are those of Run. Rules RES-RAL-05 and RES-SAFE-03.
func (a *Applying) One(ctx context.Context, r *model.Resource) (err error) {
	release, err := a.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	alone, err := a.alone(ctx, r)
	if err != nil {
		return err
	}
	resp, err := a.Engine.Do(transaction.Consent{System: a.System, Sources: a.Sources}.Context(ctx), &indirector.Request{
		Indirection: "resource", Verb: indirector.Save, Key: alone.Key(), Keyed: true, Instance: alone,
		Terminus: "ral", Cache: indirector.Off, Environment: a.setting("environment"), Caller: a.Caller,
	})
	if err != nil && !errors.Is(err, indirector.ErrNotFound) {
		return errors.New(indirector.Message(err))
	}
	answer, _ := resp.Value.([]indirector.Instance)
	for _, inst := range answer {
		report, is := inst.(*model.Report)
		for i := 0; is && a.Log != nil && i < len(report.Logs); i++ {
			a.Log(report.Logs[i])
		}
	}
	return nil
}

// alone is a resource without what it has to do with others, and with nothing deferred.
func (a *Applying) alone(ctx context.Context, r *model.Resource) (*model.Resource, error) {
	m := *r
	m.Parameters = data.OfHash(slices.DeleteFunc(slices.Clone(r.Parameters.Hash()), func(p data.Pair) bool {
		return slices.Contains([]string{"before", "notify", "require", "subscribe", "schedule", "stage"}, p.Key.Text())
	}))
	if a.Resolve == nil {
		return &m, nil
	}
	var err error
	m.Parameters, err = a.Resolve(ctx, m.Parameters)
	return &m, err
}

// withoutUnchanged is a report without resources that nothing happened to. Rule RES-REP-03.
func withoutUnchanged(r *model.Report) *model.Report {
	out := *r
	out.Statuses = slices.DeleteFunc(slices.Clone(r.Statuses), func(s model.ResourceStatus) bool {
		return !s.Failed && !s.FailedToRestart && !s.OutOfSync && !s.Skipped
	})
	return &out
}

// foreign lets the helper do what is written in Ruby, or logs why that fails.
func (a *Applying) foreign(ctx context.Context, o *transaction.Options, catalog *model.Catalog) {
	if a.Adapt != nil {
		a.Adapt(o, catalog)
		return
	}
	warn := func(text string) {
		if a.Log != nil {
			a.Log(model.Log{Level: "warning", Source: "Puppet", Message: text})
		}
	}
	if a.Helper == nil {
		if names := foreign.Missing(o.Types, catalog); len(names) > 0 {
			warn("Types that are written in Ruby cannot be applied: " + strings.Join(names, ", ") + "; " + a.NoHelper)
		}
		return
	}
	var problems []error
	o.Types, problems = a.Helper.Types(ctx, o.Types, catalog)
	o.Provider = a.Helper.Provider
	for _, problem := range problems {
		warn(problem.Error())
	}
}

func (a *Applying) setting(name string) string {
	v, _ := a.Host.Setting(name)
	return v
}

func (a *Applying) machine() providers.System {
	if a.System != nil {
		return a.System
	}
	s := system.New(a.Host)
	s.Bucket = a.setting("clientbucketdir")
	return s
}

// lock takes the lock of Puppet's agents, unless they are disabled.
func (a *Applying) lock() (release func() error, err error) {
	if file := a.setting("agent_disabled_lockfile"); file != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			var is struct {
				Message string `json:"disabled_message"`
			}
			_ = json.Unmarshal(text, &is) // without a message it is disabled as well
			return nil, &indirector.Failure{Path: file, Message: fmt.Sprintf(
				"Skipping run of Puppet configuration client; administratively disabled (Reason: '%s');\nUse 'puppet agent --enable' to re-enable.",
				cmp.Or(is.Message, "reason not specified"))}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read %q: %w", file, err)
		}
	}
	file := a.setting("agent_catalog_run_lockfile")
	release, err = filelock.LockPID(file)
	if held := (*filelock.HeldError)(nil); errors.As(err, &held) {
		return nil, &indirector.Failure{
			Path: file, Hidden: held.Error(), Err: err,
			Message: fmt.Sprintf("Run of Puppet configuration client already in progress; skipping  (%s exists)", file),
		}
	}
	return release, err
}

// A running is a run that goes on.
type running struct {
	*Applying
	id string
}

// request applies a resource: only the terminus ral can do that, so it is named.
func (r *running) request(ctx context.Context, v *transaction.Visit) error {
	wanted := v.Wanted()
	var options []indirector.Option
	if class := v.Class(); class != "" {
		options = []indirector.Option{{Name: "class", Value: class}} // by which requests are grouped
	}
	_, err := r.Engine.Do(v.Context(ctx), &indirector.Request{
		Indirection: "resource", Verb: indirector.Save, Key: wanted.Key(), Keyed: true, Instance: wanted,
		Terminus: "ral", Cache: indirector.Off, Environment: r.setting("environment"), Caller: r.Caller, Run: r.id,
		Options: options,
	})
	if err != nil && !errors.Is(err, indirector.ErrNotFound) {
		return errors.New(indirector.Message(err))
	}
	return nil
}

// ask asks for something on behalf of a resource.
func (r *running) ask(ctx context.Context, req *indirector.Request) (indirector.Response, error) {
	req.Caller, req.Run = r.Caller, r.id
	return r.Engine.Do(ctx, req)
}

// report saves the report: first where it is sent to, then where it is kept.
func (r *running) report(ctx context.Context, report *model.Report) {
	save := func(flags traces.Flags, failed string) {
		req := &indirector.Request{
			Indirection: "report", Verb: indirector.Save, Instance: report, Flags: flags,
			Environment: report.Environment, Caller: r.Caller, Run: r.id,
		}
		if r.ReportTo != "" {
			req.Terminus, req.By, req.Source = r.ReportTo, traces.FromApplication, "application"
		}
		_, err := r.Engine.Do(ctx, req)
		if err != nil && !errors.Is(err, indirector.ErrNotFound) && r.Log != nil {
			r.Log(model.Log{Level: "err", Source: "Puppet", Message: failed + indirector.Message(err)})
		}
	}
	if r.setting("report") == "false" {
		return
	}
	save(traces.IgnoreCacheSave, "Could not send report: ")
	save(traces.IgnoreTerminus, "Could not save last run local report: ")
}
