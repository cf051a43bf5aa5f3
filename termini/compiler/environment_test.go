package compiler_test

import (
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/settings"
	"indirtui/termini"
)

// The configured environment production is there without a directory, with no manifest but
// what is given in its place; no other is. Source: Puppet.base_context.
func TestEnvironmentWithoutDirectory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, configured, asked, manifest, want string
		classes                                 int
	}{
		{"production", "", "production", "", "", 1},
		{"production with a manifest", "", "production", "class a { } include a", "", 2},
		{"another", "", "staging", "", "Could not find a directory environment named 'staging' anywhere in the path: ", 0},
		{"production, where another is configured", "staging", "production", "", "Could not find a directory environment named 'production' anywhere in the path: ", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			set := []settings.Override{{Name: "storeconfigs", Value: "false"}, {Name: "code", Value: tt.manifest}}
			if tt.configured != "" {
				set = append(set, settings.Override{Name: "environment", Value: tt.configured})
			}
			e := withStore(t, root, termini.All(), set...)
			resp, err := e.Once(t.Context(), &indirector.Request{
				Indirection: "catalog", Verb: indirector.Find, Key: "puppet.example.com", Terminus: "compiler", Cache: indirector.Off, Environment: tt.asked,
			})
			switch {
			case tt.want != "":
				if want := tt.want + root + "/environments. Does the directory exist?"; err == nil || indirector.Message(err) != want {
					t.Errorf("got %v, want %q", err, want)
				}
			case err != nil:
				t.Error(err)
			default:
				if c := resp.Instance().(*model.Catalog); c.Environment != tt.asked || len(c.Classes) != tt.classes {
					t.Errorf("got environment %q and classes %q", c.Environment, c.Classes)
				}
			}
		})
	}
}
