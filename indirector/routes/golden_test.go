package routes_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/golden"
	"indirtui/indirector/routes"
	"indirtui/indirector/settings"
	"indirtui/traces"
)

// puppetSays is a case of dispatch/routes.json: what Puppet 7.23 did.
type recordedCase struct {
	ID           string          `json:"id"`
	Application  string          `json:"application"` // of the section
	App          string          `json:"app"`         // of the defaults
	Routes       json.RawMessage `json:"routes"`
	Settings     map[string]any  `json:"settings"`
	Defaults     map[string]any  `json:"app_defaults"`
	Error        string          `json:"error"`
	RubyError    bool            `json:"ruby_error"`
	Logs         []struct{ Message string }
	Indirections map[string]struct{ Terminus, Cache *string }
}

func TestGoldenRoutes(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(golden.Path(t, "dispatch", "routes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []recordedCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

func (c recordedCase) check(t *testing.T) {
	path := filepath.Join(t.TempDir(), "routes.yaml")
	if len(c.Routes) > 0 {
		write(t, path, c.file(t))
	}
	app, _ := routes.Find(c.App)
	o := app.Options(settings.Options{ConfDir: filepath.Dir(path), Layout: settings.VendorLayout}, "")
	for name, value := range c.Settings {
		switch v := value.(type) {
		case string:
			o.Overrides = append(o.Overrides, settings.Override{Name: name, Value: v})
		case bool:
			o.Overrides = append(o.Overrides, settings.Override{Name: name, Value: map[bool]string{true: "true", false: "false"}[v]})
		}
	}
	conf, err := settings.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range c.Defaults {
		if got := o.ApplicationDefaults[name]; got != want {
			t.Errorf("default of %s for %s is %q, Puppet says %q", name, c.App, got, want)
		}
	}
	result, err := routes.Load(routes.Input{
		Registry: registry(t), Settings: conf, Application: c.Application, Bare: true, File: path,
	})
	c.checkError(t, path, err)
	for _, log := range c.Logs {
		want := strings.ReplaceAll(strings.TrimSpace(log.Message), "<TMP>", filepath.Dir(path))
		if !slices.ContainsFunc(result.Warnings, func(d routes.Diagnostic) bool { return d.Text == want }) {
			t.Errorf("no diagnostic %q in %v", want, result.Warnings)
		}
	}
	for name, want := range c.Indirections {
		r := result.Routes[name]
		if got := selected(result, name, r.Primary); got != *want.Terminus {
			t.Errorf("terminus of %s is %q, want %q: %+v", name, got, *want.Terminus, r.Primary)
		}
		wantCache := ""
		if want.Cache != nil {
			wantCache = *want.Cache
		}
		if got := r.Cache.Winner().Terminus; got != wantCache {
			t.Errorf("cache of %s is %q, want %q: %+v", name, got, wantCache, r.Cache)
		}
	}
}

// file returns routes.yaml; what the case gives as data is written as JSON,
// which is YAML.
func (c recordedCase) file(t *testing.T) string {
	var text string
	if c.Routes[0] != '"' {
		return string(c.Routes)
	}
	if err := json.Unmarshal(c.Routes, &text); err != nil {
		t.Fatal(err)
	}
	return text
}

func (c recordedCase) checkError(t *testing.T, path string, err error) {
	if (c.Error != "") != (err != nil) {
		t.Fatalf("error is %v, Puppet says %q", err, c.Error)
	}
	if err == nil {
		return
	}
	var bad *routes.Error
	if !errors.As(err, &bad) {
		t.Fatalf("error is %T: %v", err, err)
	}
	if want := "Could not configure routes from " + path + ": "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %q, want it to begin with %q", err, want)
	}
	if empty := bad.Message == "routes.yaml is empty"; bad.Line == 0 != empty {
		t.Errorf("a line is named only if there is one: %v", err)
	}
	if want := strings.ReplaceAll(c.Error, "<TMP>", filepath.Dir(path)); !c.RubyError && bad.Message != want {
		t.Errorf("message is %q, Puppet says %q", bad.Message, want)
	}
	if c.RubyError && (strings.Contains(bad.Message, "undefined method") || strings.Contains(bad.Message, "implicit conversion")) {
		t.Errorf("message %q is Ruby's accident", bad.Message)
	}
}

// selected returns the terminus of an indirection, or Puppet's error when it is
// used.
func selected(result routes.Result, indirection string, s traces.Slot) string {
	for _, d := range result.Warnings {
		if d.ID == routes.BadTerminus && d.Indirection == indirection && d.Slot == indirector.SlotTerminus {
			return "error: " + d.Text
		}
	}
	return s.Winner().Terminus
}
