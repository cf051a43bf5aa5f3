// Package reports hands reports to processors.
package reports

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
	"indirtui/indirector/sqlstore"
	"indirtui/traces"
)

// Processor describes the processor terminus of the report indirection.
var Processor = indirector.Descriptor{
	Indirection: "report",
	Name:        "processor",
	Party:       "terminus processor", // it may post to a server, but is none
	Note:        "hands it to store, log, http, sqlite, postgresql",
	Doc: "Hands a report to the processors that the setting reports names: store, log, http, sqlite and postgresql. " +
		"One that fails does not stop the others, and the caller does not hear of it. The answer is the list of their names.",
	Settings: append([]indirector.Setting{
		{Name: "reports", Doc: "Names of processors, separated by commas; none is none."},
		{Name: "reportdir", Doc: "Directory of the store processor: one directory for each host, one YAML file for each minute."},
		{Name: "reporturl", Doc: "Address to which the http processor posts YAML."},
		{Name: "report_include_system_store", Doc: "Whether the certificates of the system count too at an https address."},
	}, append(client.Settings(), storeSettings()...)...),
	Rules: []string{"IND-TERM-12"},
	Type:  (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		t := &Terminus{env: env, names: []string{}, client: client.Of(env), stores: make(map[string]*sqlstore.Handle)}
		for _, name := range []string{sqlstore.SQLite, sqlstore.PostgreSQL} {
			t.stores[name] = sqlstore.Of(env, name)
		}
		if text, _ := env.Settings.Get("reports"); text != "none" {
			t.names = split(text)
		}
		t.reportdir, _ = env.Settings.Get("reportdir")
		t.reporturl, _ = env.Settings.Get("reporturl")
		system, _ := env.Settings.Get("report_include_system_store")
		t.system = system == "true"
		return t, nil
	},
}

var comma = regexp.MustCompile(`\s*,\s*`)

// split splits the setting as Puppet does: empty names at the end are dropped.
func split(text string) []string {
	names := comma.Split(strings.TrimSpace(text), -1)
	for len(names) > 0 && names[len(names)-1] == "" {
		names = names[:len(names)-1]
	}
	return names
}

// A Terminus processes reports and keeps none.
type Terminus struct {
	env       indirector.Env
	names     []string
	reportdir string
	reporturl string
	system    bool // trust the authorities of the system, too
	client    *client.Client
	stores    map[string]*sqlstore.Handle // by the names of their processors
}

var yamlFormat, _ = format.ByName("yaml")

// processors are the known processors.
var processors = map[string]struct {
	process func(*Terminus, context.Context, *model.Report) error
	destroy func(*Terminus, context.Context, string) error
}{
	"store": {(*Terminus).store, (*Terminus).unstore},
	"log":   {(*Terminus).log, nil},
	"http":  {(*Terminus).post, nil},
	// What stores have of a host goes when it is deactivated.
	sqlstore.SQLite:     {(*Terminus).sqlite, nil},
	sqlstore.PostgreSQL: {(*Terminus).postgresql, nil},
}

// Save hands the report to every processor in turn. It returns their names,
// also of those that failed or do not exist.
func (t *Terminus) Save(ctx context.Context, req *indirector.Request) (any, error) {
	report, ok := req.Instance.(*model.Report)
	for _, name := range t.names {
		p, known := processors[name]
		switch {
		case !known:
			t.unknown(ctx, name)
			continue
		case !ok:
			t.failed(ctx, name, &indirector.Failure{Class: "NoMethodError", Message: "undefined method `host' for nil:NilClass"})
			continue
		}
		if err := p.process(t, ctx, report); err != nil {
			t.failed(ctx, name, err)
		}
	}
	return slices.Clone(t.names), nil
}

// Destroy removes what processors keep of a host. It returns their names.
func (t *Terminus) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	for _, name := range t.names {
		p, known := processors[name]
		if !known {
			t.unknown(ctx, name)
			continue
		}
		if p.destroy != nil {
			if err := p.destroy(t, ctx, req.Key); err != nil {
				return nil, err
			}
		}
	}
	return slices.Clone(t.names), nil
}

func (t *Terminus) unknown(ctx context.Context, name string) {
	t.env.Log.Warn(fmt.Sprintf("No report named '%s'", name))
	traces.Explain(ctx, fmt.Sprintf("no report processor %q; there are store, log, http, sqlite and postgresql", name))
}

// failed reports an error to the log and the trace, but not to the caller.
func (t *Terminus) failed(ctx context.Context, name string, err error) {
	t.hide(ctx, name, "Report processor failed: "+indirector.Message(err), err)
}

func (t *Terminus) hide(ctx context.Context, name, message string, err error) {
	t.env.Log.Error(message)
	fault := traces.Fault{Origin: "terminus processor › " + name, Step: traces.Terminus, Message: message}
	if live := traces.FromContext(ctx); live != nil {
		fault.Step = live.Step
		if f, ok := err.(*indirector.Failure); ok {
			fault.Path, fault.Hidden = f.Path, f.Hidden
		}
		live.Fault(fault)
	}
}
