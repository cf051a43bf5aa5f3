package puppetdb_test

import (
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/puppetdb/puppetdbtest"
	"indirtui/indirector/terminustest"
	"indirtui/termini/reports"
	"indirtui/traces"
)

// A realHost asks a real PuppetDB.
type realHost struct {
	*indirector.Indirector
	rec *terminustest.Recorder
}

func newRealHost(t *testing.T, set clienttest.Settings) *realHost {
	t.Helper()
	h := &realHost{rec: new(terminustest.Recorder)}
	routes := indirector.Routes{}
	var specs []indirector.Spec
	for _, name := range []string{"catalog", "facts", "node", "resource", "report"} {
		terminus := "puppetdb"
		if name == "report" {
			terminus = "processor"
		}
		specs = append(specs, indirector.Spec{Name: name, Class: "Puppet::" + indirector.Constant(name), Default: terminus})
		routes[name] = indirector.Route{Primary: traces.Slot{{Terminus: terminus, Kind: traces.FromRoutesFile}}}
	}
	all := []indirector.Descriptor{reports.Processor}
	for _, name := range []string{"catalog", "facts", "node", "resource"} {
		all = append(all, descriptors[name])
	}
	registry, err := indirector.NewRegistry(specs, all)
	if err != nil {
		t.Fatal(err)
	}
	h.Indirector, err = indirector.New(indirector.Config{Registry: registry, Routes: routes, Settings: set, Recorder: h.rec, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// ask sends a request whose first line must have that text.
func (h *realHost) ask(t *testing.T, req indirector.Request, first string) any {
	t.Helper()
	resp, err := h.Do(t.Context(), &req)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Verb, req.Indirection, err)
	}
	if got := traces.Story(h.rec.Last()); !strings.Contains(got, first) {
		t.Errorf("%s %s, the first line: got %q, want %q in it", req.Verb, req.Indirection, got, first)
	}
	return resp.Value
}

// TestRealPuppetDB stores facts, a catalog and a report, finds them, and
// deactivates their node. Rules PDB-SEM-01, PDB-SEM-02, PDB-SEM-04, PDB-SEM-06.
func TestRealPuppetDB(t *testing.T) {
	t.Parallel()
	set := puppetdbtest.Stack(t, "../../.ci/peers/stack.sh")
	h := newRealHost(t, set)
	name := fmt.Sprintf("real%d.example.com", time.Now().UnixNano())
	text := data.OfString
	facts := &model.Facts{Name: name, Values: data.OfHash([]data.Pair{data.P("kernel", text("Linux")), data.P("cpus", data.OfInt(4))})}
	catalog := &model.Catalog{
		Name: name, Version: text("1"), Environment: "production", CatalogUUID: "11111111-2222-4333-8444-555555555555",
		Resources: []model.Resource{
			{Type: "Stage", Title: "main", Tags: []string{"stage"}},
			{Type: "Notify", Title: "from " + name, Tags: []string{"notify", "shared"}, File: "/m.pp", Line: 7, Exported: true, Parameters: data.OfHash([]data.Pair{data.P("message", text("hello"))})},
		},
		Edges: []model.Edge{{Source: "Stage[main]", Target: "Notify[from " + name + "]"}},
	}
	now := model.At(time.Now())
	report := &model.Report{Host: name, Status: "unchanged", Environment: "production", PuppetVersion: "7.23.0", ConfigurationVersion: text("1"), Time: now, Format: 12}
	save := func(indirection string, inst indirector.Instance) indirector.Request {
		return indirector.Request{Indirection: indirection, Verb: indirector.Save, Key: name, Instance: inst, Environment: "production"}
	}
	h.ask(t, save("facts", facts), "stored at localhost:")
	h.ask(t, save("catalog", catalog), "stored at localhost:")
	h.ask(t, save("report", report), "the run ended: ")
	if story := string(traces.AppendStory(nil, h.rec.Last())); !strings.Contains(story, "stored at localhost:") {
		t.Errorf("the report was not confirmed:\n%s", story)
	}

	find := indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: name}
	found := h.ask(t, find, "").(*model.Facts)
	if found.Get("kernel").Str() != "Linux" || found.Get("cpus").Int() != 4 || found.Get("trusted").Get("authenticated").Str() != "local" {
		t.Errorf("the facts that were found: %v", found.Values)
	}
	search := indirector.Request{Indirection: "facts", Verb: indirector.Search, Key: "x", Options: []indirector.Option{{Name: "facts.cpus.ge", Value: 4}, {Name: "facts.kernel", Value: "Linux"}}}
	names := h.ask(t, search, "").([]indirector.Instance)
	if !contains(names, name) {
		t.Errorf("the nodes that were found: %v", names)
	}
	filter := data.OfList([]data.Value{
		data.OfList([]data.Value{text("tag"), text("=="), text("Shared")}), text("and"), data.OfList([]data.Value{text("message"), text("=="), text("hello")}),
	})
	collect := indirector.Request{Indirection: "resource", Verb: indirector.Search, Key: "Notify", Options: []indirector.Option{{Name: "host", Value: "other"}, {Name: "filter", Value: filter}}}
	if !contains(h.ask(t, collect, "").([]indirector.Instance), "Notify/from "+name) {
		t.Error("the exported resource is not found")
	}
	agrees(t, set, name, "Currently active", "Last catalog: ", "Last facts: ")

	bad := *catalog
	bad.Resources = append([]model.Resource(nil), catalog.Resources...)
	bad.Resources[0].Tags = []string{"Upper"}
	impatient := newRealHost(t, set.With("puppetdb_confirm", "2"))
	impatient.ask(t, save("catalog", &bad), "not stored after 2s: PuppetDB refuses tags with capital letters: Stage[main] has 'Upper'")

	h.ask(t, indirector.Request{Indirection: "node", Verb: indirector.Destroy, Key: name}, "stored at localhost:")
	if empty := h.ask(t, find, "facts are empty because "+name+" is deactivated since ").(*model.Facts); empty.Values.Len() != 0 {
		t.Errorf("facts of a deactivated node: %v", empty.Values)
	}
	agrees(t, set, name, "Deactivated at ")
}

func contains(all []indirector.Instance, key string) bool {
	for _, inst := range all {
		if inst.Key() == key {
			return true
		}
	}
	return false
}

// agrees asks Puppet's own command about a node, where it is installed.
func agrees(t *testing.T, set clienttest.Settings, name string, lines ...string) {
	t.Helper()
	puppet, err := exec.LookPath("puppet")
	if err != nil {
		t.Log("puppet is not installed: what puppet node status prints is not compared")
		return
	}
	args := []string{"node", "status", name, "--confdir", set["confdir"], "--vardir", t.TempDir()}
	for _, s := range []string{"certname", "localcacert", "hostcrl", "hostcert", "hostprivkey"} {
		args = append(args, "--"+s, set[s])
	}
	out, err := exec.CommandContext(t.Context(), puppet, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("puppet node status: %v\n%s", err, out)
	}
	for _, line := range lines {
		if !strings.Contains(string(out), line) {
			t.Errorf("puppet node status: %q is not in\n%s", line, out)
		}
	}
}
