package command_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
)

// FuzzRead reads what arrives: no panic, and what is read is written as JSON that is read as the
// same.
func FuzzRead(f *testing.F) {
	for _, kind := range []string{"facts", "catalog", "report"} {
		for _, c := range read(f, "puppetdb", "commands-"+kind+".json").List() {
			for _, r := range c.Get("requests").List() {
				f.Add(kind, []byte(r.Get("body").Str()))
			}
		}
	}
	f.Add("report", []byte(`{"certname":"n","start_time":"2026-01-01","resource_events":[{"resource_type":"File","resource_title":"/a","status":"failure"}]}`))
	f.Add("facts", []byte(`{"certname":"n","values":{"a":1e999}}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		name, version := command.StoreReport, 8
		switch kind {
		case "facts":
			name, version = command.ReplaceFacts, 5
		case "catalog":
			name, version = command.ReplaceCatalog, 9
		}
		at := time.Unix(1800000000, 0)
		c, err := command.Read(name, version, "n", at, body)
		if err != nil {
			return
		}
		if i, err := c.Instance(); err == nil {
			remake(t, i)
		}
		out, warning := c.Body()
		if warning != "" || !finite(c.Payload) {
			return
		}
		again, err := command.Read(name, version, "n", at, out)
		if err != nil {
			t.Fatalf("%s was written as %q and is not read: %v", c.Payload, out, err)
		}
		if !data.Equal(again.Payload, c.Payload) || again.Hash() != c.Hash() {
			t.Fatalf("%s was written as %q and read as %s", c.Payload, out, again.Payload)
		}
	})
}

// remake makes a command of an instance, whose body is JSON.
func remake(t *testing.T, i any) {
	t.Helper()
	var c *command.Command
	var err error
	switch i := i.(type) {
	case *model.Facts:
		c, err = command.Facts(i, command.Options{})
	case *model.Catalog:
		c, err = command.Catalog(i, command.Options{})
	case *model.Report:
		c, err = command.Report(i, command.Options{Unchanged: true})
	}
	if err != nil {
		return
	}
	if body, _ := c.Body(); finite(c.Payload) && !json.Valid(body) {
		t.Fatalf("got %q, which is no JSON", body)
	}
}

// finite reports whether all numbers are: JSON has no others, but Puppet writes them.
func finite(v data.Value) bool {
	switch v.Kind() {
	case data.Float:
		return !math.IsInf(v.Float(), 0) && !math.IsNaN(v.Float())
	case data.List:
		for _, x := range v.List() {
			if !finite(x) {
				return false
			}
		}
	case data.Hash:
		for _, p := range v.Hash() {
			if !finite(p.Key) || !finite(p.Value) {
				return false
			}
		}
	}
	return true
}

// FuzzCatalog makes commands of catalogs: no panic, and the body is JSON.
func FuzzCatalog(f *testing.F) {
	for _, c := range read(f, "puppetdb", "commands-catalog.json").List() {
		text, err := format.AppendJSON(nil, c.Get("input"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"name":"n","resources":[{"type":"File","title":"/","parameters":{"require":["File[/]",{"a":1},null],"alias":[[1]],"v":{"__ptype":"Hash","__pvalue":[{"__ptype":"Sensitive"},{"__ptype":{}}]}}}]}`))
	wire, ok := format.ByName("rich_data_json")
	if !ok {
		f.Fatal("there is no format rich_data_json")
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, lenient := range []bool{false, true} {
			if i, _, err := format.Intern(wire, "catalog", text, format.Options{Lenient: lenient}); err == nil {
				remake(t, i)
			}
		}
	})
}
