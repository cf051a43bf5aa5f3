package describe_test

import (
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
	"indirtui/ui/describe"
)

// A host has facts, features and programs.
type host struct {
	facts    map[string]string
	features string
	programs string
}

func (h host) Fact(name string) (data.Value, bool) {
	v, ok := h.facts[name]
	return data.OfString(v), ok
}
func (h host) Setting(string) (string, bool) { return "", false }
func (h host) Feature(name string) bool      { return strings.Contains(h.features, name) }
func (h host) Exists(string) bool            { return false }
func (h host) Which(program string) (at string) {
	if strings.Contains(h.programs, program) {
		return program
	}
	return ""
}

// tool is a type with some providers.
func tool(providers ...*types.Provider) *types.Type {
	return types.Define(types.Type{
		Name: "tool", Doc: "A tool.", Namevars: []string{"name"}, Providers: providers,
		Attributes: []*types.Attribute{{Name: "name", Kind: types.Parameter, Doc: "Its name."}},
	})
}

// TestWhy: the sentence about the provider that is used here. Rule RES-PROV-02.
func TestWhy(t *testing.T) {
	t.Parallel()
	linux := []types.Facts{{"kernel": {"Linux"}}}
	plain, needs := &types.Provider{Name: "plain"}, &types.Provider{Name: "needs", Commands: []types.Command{{Name: "x", Path: "/bin/x"}}}
	below := &types.Provider{Name: "below", Parents: []string{"plain"}}
	usual, special := &types.Provider{Name: "usual", DefaultFor: linux}, &types.Provider{Name: "special", DefaultFor: linux, Parents: []string{"usual"}}
	not := &types.Provider{Name: "not", DefaultFor: linux, NotDefaultFor: linux}
	for _, tt := range []struct {
		name string
		all  []*types.Provider
		want string
	}{
		{"none", nil, ""},
		{"nothing is suitable", []*types.Provider{needs}, "no provider is suitable here"},
		{"only one", []*types.Provider{needs, plain}, "plain is used here: it is the only one that is suitable"},
		{"the default", []*types.Provider{plain, usual}, "usual is used here: it is the default for kernel = Linux"},
		{"the more specific default", []*types.Provider{usual, special}, "special is used here: it is the default for kernel = Linux, and it is more specific than usual"},
		{"deeper", []*types.Provider{plain, below}, "below is used here: none that is suitable is a default here, and it is more specific than plain"},
		{"equally good", []*types.Provider{usual, {Name: "other", DefaultFor: linux}}, "usual is used here: it is the default for kernel = Linux; of those that are equally good (other) it is the first"},
		{"a default that is taken back", []*types.Provider{not, usual}, "usual is used here: it is the default for kernel = Linux"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := describe.New(tool(tt.all...), host{facts: map[string]string{"kernel": "Linux"}}).Why; got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestReasons: each provider has what counts against it. Rule RES-PROV-01.
func TestReasons(t *testing.T) {
	t.Parallel()
	h := host{map[string]string{"os": "Debian"}, "posix systemd", "/bin/x"}
	for want, p := range map[string]types.Provider{
		"":                          {Commands: []types.Command{{Path: "/bin/x"}, {Path: "/bin/y", Optional: true}}},
		"/bin/y is not there":       {Commands: []types.Command{{Path: "/bin/y"}}},
		"the feature z is lacking":  {Confines: []types.Confine{{Kind: "feature", Name: "z"}}},
		"systemd runs here":         {Confines: []types.Confine{{Kind: "false", Name: "systemd"}}},
		"upstart does not run here": {Confines: []types.Confine{{Kind: "true", Name: "upstart"}}},
		"os is Debian, not aix or x": {Confines: []types.Confine{
			{Kind: "fact", Name: "os", Values: []string{"debian"}}, {Kind: "fact", Name: "os", Values: []string{"aix", "x"}},
		}},
		"kernel is not known, not x": {Confines: []types.Confine{{Kind: "fact", Name: "kernel", Values: []string{"x"}}}},
		"os is Debian":               {Confines: []types.Confine{{Kind: "not", Name: "os", Values: []string{"debian"}}}},
		"it is for other systems":    {Confines: []types.Confine{{Kind: "any", Any: []types.Facts{{"os": {"/^aix/"}}}}}},
		"/etc/x is not there":        {Confines: []types.Confine{{Kind: "exists", Name: "/etc/x"}}},
		"never suitable":             {Confines: []types.Confine{{Kind: "never"}}},
	} {
		p.Name = "p"
		got := describe.New(tool(&p), h).Providers[0]
		if why := strings.Join(got.Why, "; "); why != want || got.Suitable != (want == "") {
			t.Errorf("%q, suitable %v, want %q", why, got.Suitable, want)
		}
	}
}

// TestText: no line is wider than the smallest terminal, and every name is shown.
func TestText(t *testing.T) {
	t.Parallel()
	for _, name := range describe.Names() {
		typ, err := describe.Find(strings.ToUpper(name))
		if err != nil {
			t.Fatal(err)
		}
		d := describe.New(typ, host{features: "posix"})
		for _, rows := range [][]describe.Row{d.Rows(), d.Short(), describe.List()} {
			for line := range strings.Lines(describe.Text(rows)) {
				if len(strings.TrimSuffix(line, "\n")) > 80 {
					t.Errorf("%s: %q is too wide", name, line)
				}
			}
		}
		text := describe.Text(d.Rows())
		for _, a := range typ.Attributes {
			if !strings.Contains(text, "\n  "+a.Name) {
				t.Errorf("%s: %s is not shown", name, a.Name)
			}
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"fiel": "Unknown type fiel; did you mean file?", "x": "Unknown type x", "": "Unknown type "} {
		if _, err := describe.Find(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}
