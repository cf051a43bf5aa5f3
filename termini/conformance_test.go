package termini_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/terminustest"
	"indirtui/termini"
	"indirtui/termini/filebucket"
)

func hash(pairs ...data.Pair) data.Value { return data.OfHash(pairs) }

var (
	web01Facts = &model.Facts{
		Name:   "web01.example.test",
		Values: hash(data.P("kernel", data.OfString("Linux")), data.P("os", hash(data.P("family", data.OfString("Debian")))), data.P("cpus", data.OfInt(4))),
	}
	web01Node = &model.Node{
		Name: "web01.example.test", Environment: "production",
		Classes: data.OfStrings([]string{"ntp", "web::front"}), Parameters: hash(data.P("role", data.OfString("web"))),
	}
)

func seeds() map[string]map[string]indirector.Instance {
	db01Facts, db01Node := *web01Facts, *web01Node
	db01Facts.Name, db01Node.Name = "db01", "db01"
	return map[string]map[string]indirector.Instance{
		"facts":   {"web01.example.test": web01Facts, "db01": &db01Facts},
		"node":    {"web01.example.test": web01Node, "db01": &db01Node},
		"catalog": {"web01.example.test": fromData("catalog", hash(data.P("name", data.OfString("web01.example.test")), data.P("environment", data.OfString("production")), data.P("resources", data.OfList(nil)), data.P("edges", data.OfList(nil)), data.P("classes", data.OfStrings([]string{"settings"}))))},
		"report":  {"web01.example.test": fromData("report", hash(data.P("host", data.OfString("web01.example.test")), data.P("time", data.OfString("2021-01-01T00:00:00.000000000Z")), data.P("logs", data.OfList(nil)), data.P("metrics", hash()), data.P("resource_statuses", hash()), data.P("environment", data.OfString("production"))))},
	}
}

func fromData(name string, v data.Value) indirector.Instance {
	class, _ := model.Lookup(name)
	inst, err := class.FromData(v)
	if err != nil {
		panic(err)
	}
	return inst
}

// fileSettings keeps everything below dir.
func fileSettings(dir string) map[string]string {
	return map[string]string{
		"run_mode": "server", "yamldir": dir, "clientyamldir": dir, "server_datadir": dir, "client_datadir": dir,
		"lastrunreport": filepath.Join(dir, "last_run_report.yaml"), "reports": "store,log", "reportdir": dir, "rich_data": "true",
	}
}

// TestConformance runs the suite on everything that All lists.
func TestConformance(t *testing.T) {
	bucket := terminustest.Options{
		Seed: copies("some text\n", "", "\x00\xff"), Absent: "sha256/" + strings.Repeat("0", 64),
		Settings: func(dir string) map[string]string { return map[string]string{"bucketdir": dir} },
	}
	bucketBySelector := bucket
	bucketBySelector.Siblings = []indirector.Descriptor{filebucket.File}
	special := map[string]terminustest.Options{
		"node/plain":   {Invents: true, Seed: map[string]indirector.Instance{"bare": &model.Node{Name: "bare", Environment: "production"}}},
		"status/local": {Invents: true, Seed: map[string]indirector.Instance{"x": &model.Status{Name: "x", IsAlive: true, Version: "7.23.0"}}},
		"node/exec": {
			Seed:     map[string]indirector.Instance{"web01.example.test": web01Node},
			Settings: func(dir string) map[string]string { return map[string]string{"external_nodes": classifier(t, dir)} },
			Do: func(context.Context, *indirector.Request) (*indirector.Response, error) {
				return nil, indirector.ErrNotFound
			},
		},
		"data_binding/none":         {Seed: map[string]indirector.Instance{"ntp::servers": indirector.Name("ntp::servers")}},
		"facts/facter":              {Invents: true},
		"file_bucket_file/file":     bucket,
		"file_bucket_file/selector": bucketBySelector,
	}
	for _, d := range termini.All() {
		t.Run(d.Indirection+"/"+d.Name, func(t *testing.T) {
			o, ok := special[d.Indirection+"/"+d.Name]
			if !ok {
				o = terminustest.Options{Settings: fileSettings, Seed: seeds()[d.Indirection], OneEntry: d.Indirection == "report"}
			}
			specs := termini.Specs()
			i := slices.IndexFunc(specs, func(s indirector.Spec) bool { return s.Name == d.Indirection })
			if i < 0 {
				t.Fatalf("there is no indirection %s", d.Indirection)
			}
			o.Spec = &specs[i]
			terminustest.Run(t, d, o)
		})
	}
}

// copies are files of a bucket, by key.
func copies(contents ...string) map[string]indirector.Instance {
	files := map[string]indirector.Instance{}
	for _, c := range contents {
		f, err := model.NewFileBucketFile("sha256", []byte(c))
		if err != nil {
			panic(err)
		}
		files[f.Key()] = f
	}
	return files
}

// classifier writes a command that knows one node.
func classifier(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "enc")
	script := `#!/bin/sh
test "$1" = web01.example.test || exit 0
echo 'classes: [ntp, "web::front"]'
echo 'parameters: {role: web}'
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
