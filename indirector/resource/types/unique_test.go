package types_test

import (
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// TestUniqueKey: what is unique of a resource are its namevars, sorted by their names.
// Rule RES-TYPE-10.
func TestUniqueKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ typ, title, want, name, ref string }{
		{"file", "/a/", `["/a"]`, "/a", "File[/a/]"},
		{"sshkey", "h@rsa", `["h", :"ssh-rsa"]`, "", "Sshkey[h@ssh-rsa]"},
		{"package", "p", `[nil, "p", :apt]`, "p", "Package[p]"},
		{"component", "Class[Ntp]", `["Class[Ntp]"]`, "Class[Ntp]", "Class[Ntp]"},
	} {
		r, err := types.New(types.All()[tt.typ], debian{}, types.Given{Title: tt.title}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.UniqueKey() != tt.want || r.Ref() != tt.ref || tt.name != "" && r.Name() != tt.name {
			t.Errorf("%s %q: %s, %s, %s", tt.typ, tt.title, r.UniqueKey(), r.Ref(), r.Name())
		}
	}
}

// A catalog knows one resource.
type catalog struct{ one *types.Resource }

func (c catalog) Resource(ref types.Ref) *types.Resource {
	if ref.Type == "Notify" && ref.Title == "taken" {
		return c.one
	}
	return nil
}
func (catalog) Resources(string) []*types.Resource { return nil }

// TestAlias: an alias that is another resource is refused.
func TestAlias(t *testing.T) {
	t.Parallel()
	other, err := notify(t)
	if err != nil {
		t.Fatal(err)
	}
	for title, want := range map[string]string{
		"free":  "",
		"taken": "Parameter alias failed on Notify[n]: n can not create alias taken: object already exists",
	} {
		_, err := types.New(types.All()["notify"], debian{}, types.Given{
			Title: "n", Catalog: catalog{other}, Values: []data.Pair{data.P("alias", data.OfString(title))},
		}, nil)
		if text := message(err); text != want {
			t.Errorf("%s: %s, want %s", title, text, want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestSensitive: which attributes are redacted, and what is logged of those that cannot
// be. Rule RES-TYPE-09.
func TestSensitive(t *testing.T) {
	t.Parallel()
	text := func(name, v string) data.Pair { return data.P(name, data.OfString(v)) }
	for _, tt := range []struct {
		name, typ string
		values    []data.Pair
		sensitive []string
		want      map[string]bool
		log       string
	}{
		{"content of a file", "file", []data.Pair{text("content", "x")}, []string{"content"}, map[string]bool{"content": true, "ensure": true, "mode": false}, ""},
		{"source of a file", "file", []data.Pair{text("source", "/x")}, []string{"source"}, map[string]bool{"source": true, "content": true, "ensure": true}, ""},
		{"a check of an exec", "exec", []data.Pair{text("path", "/bin"), text("unless", "x")}, []string{"unless"}, map[string]bool{"command": true, "unless": true, "onlyif": false, "path": false}, ""},
		{"password of a user", "user", []data.Pair{text("password", "x")}, nil, map[string]bool{"password": true, "home": false}, ""},
		{
			"a parameter", "notify",
			[]data.Pair{text("withpath", "true")},
			[]string{"withpath"},
			map[string]bool{"withpath": false},
			"warning: Unable to mark 'withpath' as sensitive: withpath is a parameter and not a property, and cannot be automatically redacted.",
		},
		{
			"what is not set", "host", nil,
			[]string{"ip"},
			map[string]bool{"ip": false},
			"warning: Unable to mark 'ip' as sensitive: the property itself was not assigned a value.",
		},
		{
			"what there is not", "host", nil,
			[]string{"colour"},
			map[string]bool{},
			"err: Unable to mark 'colour' as sensitive: the property itself is not defined on host.",
		},
		{
			"a Sensitive", "notify",
			[]data.Pair{data.P("message", data.OfHash([]data.Pair{text("__ptype", "Sensitive"), text("__pvalue", "x")}))},
			nil,
			map[string]bool{"message": true},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			log := ""
			title := "/x"
			if tt.typ == "host" {
				title = "h"
			}
			r, err := types.New(types.All()[tt.typ], debian{}, types.Given{Title: title, Values: tt.values, Sensitive: tt.sensitive},
				func(level, message string) {
					if level != "debug" {
						log += level + ": " + message
					}
				})
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range tt.want {
				if r.Sensitive(name) != want {
					t.Errorf("%s: %v, want %v", name, !want, want)
				}
			}
			if log != tt.log {
				t.Errorf("log %q, want %q", log, tt.log)
			}
		})
	}
}
