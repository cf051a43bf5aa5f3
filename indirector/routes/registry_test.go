package routes_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/routes"
	"indirtui/indirector/settings"
)

// nothing is a terminus that finds nothing.
type nothing struct{}

func (nothing) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, indirector.ErrNotFound
}

// registry is the indirections and termini of Puppet 7.23, all of them empty.
func registry(t testing.TB) *indirector.Registry {
	t.Helper()
	specs := []indirector.Spec{
		{Name: "facts", Setting: "facts_terminus"},
		{Name: "node", Setting: "node_terminus"},
		{Name: "file_metadata", Default: "selector"},
		{Name: "resource", Default: "ral"},
		{Name: "report", Default: "processor"},
		{Name: "catalog", Setting: "catalog_terminus"},
		{Name: "data_binding", Setting: "data_binding_terminus"},
		{Name: "file_bucket_file", Default: "selector"},
		{Name: "file_content", Default: "selector"},
	}
	names := map[string]string{
		"facts":            "facter json memory network_device rest store_configs yaml",
		"node":             "exec json memory msgpack plain rest store_configs yaml",
		"file_metadata":    "file file_server http rest selector",
		"resource":         "ral store_configs",
		"report":           "json msgpack processor rest yaml",
		"catalog":          "compiler json msgpack rest store_configs yaml",
		"data_binding":     "hiera none",
		"file_bucket_file": "file rest selector",
		"file_content":     "file file_server rest selector",
	}
	var termini []indirector.Descriptor
	for indirection, list := range names {
		for _, name := range strings.Fields(list) {
			termini = append(termini, indirector.Descriptor{
				Indirection: indirection, Name: name, Type: nothing{},
				New: func(indirector.Env) (indirector.Terminus, error) { return nothing{}, nil },
			})
		}
	}
	r, err := indirector.NewRegistry(specs, termini)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// setup is the input of a test.
type setup struct {
	application, action string
	bare                bool
	routes              string // routes.yaml; "" is no file
	conf                string // puppet.conf
	set                 []settings.Override
}

func (s setup) load(t testing.TB) (routes.Result, error) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "puppet.conf"), s.conf)
	if s.routes != "" {
		write(t, filepath.Join(dir, "routes.yaml"), s.routes)
	}
	app, _ := routes.Find(s.application)
	conf, err := settings.Load(app.Options(settings.Options{
		ConfDir: dir, VarDir: dir, Layout: settings.VendorLayout, Overrides: s.set,
		Certname: func() string { return "node1.example.test" },
	}, s.action))
	if err != nil {
		t.Fatal(err)
	}
	return routes.Load(routes.Input{
		Registry: registry(t), Settings: conf, Application: s.application, Action: s.action, Bare: s.bare,
	})
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
