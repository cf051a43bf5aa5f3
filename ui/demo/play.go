package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// A player asks what agents ask, in their order (specification of the
// indirector, section 9).
type player struct {
	ctx    context.Context
	site   *Site
	engine *engine.Engine
	err    error
}

// do asks one thing. That it fails is part of the demo; that it cannot be
// asked at all is not.
func (p *player) do(caller, run string, verb indirector.Verb, ind, key string, change func(*indirector.Request)) {
	if p.err == nil {
		p.err = p.ctx.Err()
	}
	if p.err != nil {
		return
	}
	req := &indirector.Request{Indirection: ind, Verb: verb, Key: key, Caller: caller, Run: run}
	if change != nil {
		change(req)
	}
	_, err := p.engine.Do(p.ctx, req)
	if errors.Is(err, context.Canceled) {
		p.err = err
	}
}

func flags(f traces.Flags) func(*indirector.Request) {
	return func(r *indirector.Request) { r.Flags = f }
}

// fresh is how an agent asks for a new catalog: if that fails it goes on.
func fresh(r *indirector.Request) {
	r.Flags = traces.IgnoreCache | traces.IgnoreCacheSave
	r.Rescue = "configurer retrieve_new_catalog"
}

// The traffic before anything goes wrong: quiet runs, of which every tenth
// looks further.
const quiet = 417 // there are 1047 requests in all

func (p *player) play() error {
	p.lastGood()
	for i := range quiet {
		run := fmt.Sprintf("%04x", 0x5a00+i)
		p.do("agent", run, indirector.Find, "facts", web, nil)
		if i < quiet-7 {
			p.do("agent", run, indirector.Head, "facts", web, nil)
		}
		if i%10 == 0 {
			p.do("agent", run, indirector.Find, "node", web, flags(traces.IgnoreCache))
			p.do("agent", run, indirector.Find, "catalog", web, flags(traces.IgnoreTerminus))
		}
	}
	p.skewed()
	p.exported()
	p.moved()
	p.report(app, "77aa")

	// app03: its cached facts have expired, and everything else is well.
	p.do("agent", "7be0", indirector.Find, "facts", app, nil)
	p.do("agent", "7be0", indirector.Find, "catalog", app, func(r *indirector.Request) {
		fresh(r)
		r.Options = []indirector.Option{{Name: "facts_format", Value: "application/json"}, {Name: "facts", Value: `{"name":"` + app + `","values":{"role":"app"}}`}}
	})
	p.do("agent", "7be0", indirector.Find, "facts", app, nil)

	// The server cannot compile the catalog of web01, for hours.
	for i := range 7 {
		p.rejected(fmt.Sprintf("8f%02x", 0x20+i))
	}

	// db07: a broken cache file, and an unknown node.
	p.do("agent", "9c02", indirector.Find, "facts", db, nil)
	p.do("agent", "9c02", indirector.Find, "catalog", db, fresh)
	p.do("agent", "9c02", indirector.Find, "catalog", db, flags(traces.IgnoreTerminus))

	// A misspelt terminus, and a key that does not exist.
	p.do("face node", "", indirector.Find, "node", web, func(r *indirector.Request) {
		r.Terminus, r.By, r.Source = "yml", traces.FromFace, "node find --terminus yml"
	})
	p.do("face facts", "", indirector.Head, "facts", db, func(r *indirector.Request) { r.Terminus, r.Cache = "yaml", indirector.Off })
	p.do("inventory", "", indirector.Search, "facts", "*", func(r *indirector.Request) {
		r.Terminus = "json"
		r.Options = []indirector.Option{{Name: "facts.os.family.eq", Value: "Debian"}}
	})

	// The last run of web01. Its report cannot be kept: where that belongs is a
	// directory.
	p.blockLastReport()
	p.rejected("8f3c")
	p.report(web, "8f3c")
	p.do("agent", "7be1", indirector.Find, "node", app, flags(traces.IgnoreCache))
	return p.err
}

// in is how the server of the site asks a store, past what agents have.
func in(r *indirector.Request) {
	r.Terminus, r.Cache, r.By, r.Source = "sqlite", indirector.Off, traces.FromApplication, "the server of the demo keeps it in sqlite"
}

// exported is what went through the store half an hour ago: hosts that two nodes export,
// and a catalog that is refused. The third node collects them now, and one of the two was
// deactivated meanwhile.
func (p *player) exported() {
	p.site.ago.Store(int64(31 * time.Minute))
	for _, node := range []struct{ name, tag string }{{exporter, "cluster"}, {gone, "cluster"}, {"d04.example.com", "Cluster"}} {
		catalog, ok := p.instance("catalog", "site/data/exported.json", node.name, "").(*model.Catalog)
		for i := 0; ok && i < len(catalog.Resources); i++ {
			if r := &catalog.Resources[i]; r.Exported {
				r.Tags = append(r.Tags, node.tag) // a document would get it in lower case
			}
		}
		p.do("server", "61d0", indirector.Save, "catalog", node.name, func(r *indirector.Request) {
			in(r)
			r.Instance = catalog
		})
	}
	p.site.ago.Store(0)
	p.do("face node", "", indirector.Destroy, "node", gone, in)
	p.do("server", "61d1", indirector.Find, "catalog", collector, func(r *indirector.Request) {
		in(r)
		r.Terminus, r.Source = "compiler", "the server of the demo compiles it"
	})
}

// skewed saves facts of a node twice. When it is asked for them again, they are the
// first ones: meanwhile the clock of the server was put back.
func (p *player) skewed() {
	for _, save := range []struct {
		run string
		ago time.Duration
	}{{"61c0", 35 * time.Minute}, {"61c1", 95 * time.Minute}} {
		p.site.ago.Store(int64(save.ago))
		p.do("server", save.run, indirector.Save, "facts", exporter, func(r *indirector.Request) {
			in(r)
			r.Instance = p.instance("facts", "site/data/facts.json", exporter, "")
		})
	}
	p.site.ago.Store(0)
	p.do("face facts", "", indirector.Find, "facts", exporter, func(r *indirector.Request) {
		r.Terminus, r.Cache, r.By, r.Source = "sqlite", indirector.Off, traces.FromFace, "facts find --terminus sqlite"
	})
}

// moved looks a node up in the directory, which has two entries of that name.
func (p *player) moved() {
	p.do("face node", "", indirector.Find, "node", collector, func(r *indirector.Request) {
		r.Terminus, r.By, r.Source = "ldap", traces.FromFace, "node find --terminus ldap"
	})
}

// instance reads a file of the site as an instance of an indirection.
func (p *player) instance(indirection, file, node, run string) indirector.Instance {
	text, err := p.site.render(file, node, p.site.now(), run)
	if err == nil {
		f, _ := format.ByName("json")
		var inst indirector.Instance
		if inst, _, err = format.Intern(f, indirection, text, format.Options{}); err == nil {
			return inst
		}
	}
	p.err = errors.Join(p.err, err)
	return nil
}

// lastGood is the last time that the server could compile the catalog of web01,
// an hour and a half ago.
func (p *player) lastGood() {
	const ago = 91 * time.Minute
	p.site.good.Store(true)
	p.site.ago.Store(int64(ago))
	p.do("agent", "5a1b", indirector.Head, "facts", web, nil)
	p.do("agent", "5a1b", indirector.Find, "catalog", web, flags(traces.IgnoreCache))
	p.site.ago.Store(0)
	p.site.good.Store(false)
	then := p.site.now().Add(-ago)
	dir, _ := p.engine.Settings.Get("client_datadir")
	if err := os.Chtimes(filepath.Join(dir, "catalog", web+".json"), then, then); err != nil && p.err == nil {
		p.err = err
	}
}

// rejected is a run of web01: the server answers 500, and a catalog of an hour
// and a half ago is used.
func (p *player) rejected(run string) {
	p.do("agent", run, indirector.Find, "facts", web, nil)
	p.do("agent", run, indirector.Find, "node", web, flags(traces.IgnoreCache))
	p.do("agent", run, indirector.Find, "catalog", web, fresh)
	p.do("agent", run, indirector.Find, "catalog", web, flags(traces.IgnoreTerminus))
}

// blockLastReport puts a directory where the last report belongs.
func (p *player) blockLastReport() {
	path, _ := p.engine.Settings.Get("lastrunreport")
	_ = os.Remove(path)
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o750); err != nil {
		p.err = err
	}
}

// report sends a report through the processors, and to the cache as the agent
// does.
func (p *player) report(node, run string) {
	inst := p.instance("report", "site/data/report.json", node, run)
	p.do("agent", run, indirector.Save, "report", "", func(r *indirector.Request) {
		r.Instance, r.Terminus, r.By, r.Source = inst, "processor", traces.FromApplication, "the demo sends reports to its own processors"
		r.Flags, r.Rescue = traces.IgnoreCache, "configurer send_report"
	})
}
