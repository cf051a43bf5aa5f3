package ondevice_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/ondevice"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
)

// A memory is a device that keeps what it is given.
type memory struct {
	has  map[string]data.Value
	err  error
	sets []string
}

func (m *memory) Get(_ context.Context, kind, name string) (data.Value, error) {
	return m.has[kind+"/"+name], m.err
}

func (m *memory) Set(_ context.Context, kind, name string, wanted data.Value) (data.Value, error) {
	m.sets = append(m.sets, kind+"/"+name+" "+wanted.Inspect())
	m.has[kind+"/"+name] = wanted
	return data.Value{}, nil
}

func hash(pairs ...any) data.Value {
	var all []data.Pair
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, data.P(pairs[i].(string), data.OfAny(pairs[i+1])))
	}
	return data.OfHash(all)
}

func declared(typ, title string, pairs ...any) model.Resource {
	return model.Resource{Type: typ, Title: title, Kind: "compilable_type", Parameters: hash(pairs...)}
}

// run applies resources to a device, and returns the lines of the log.
func run(t *testing.T, m *memory, resources ...model.Resource) (lines []string) {
	t.Helper()
	c := &model.Catalog{Name: "r1", Format: 2, Resources: resources}
	o := transaction.Options{
		System: system.New(machine.New(data.OfHash(nil), nil)), Types: types.All(), Foreign: true, LogLevel: "debug",
		Settings: transaction.Settings{ClientBucket: t.TempDir()},
	}
	ondevice.Adapt(&o, c, m)
	for _, l := range transaction.Run(t.Context(), c, o).Report.Logs {
		if text, _ := transaction.ConsoleLine(l); !slices.ContainsFunc([]string{"Using environment", "Applied catalog", "ilebucket"}, func(frame string) bool { return strings.Contains(text, frame) }) {
			lines = append(lines, text)
		}
	}
	return lines
}

// Resources of devices are applied, those of hosts are not. Rules RES-DEV-05, RES-DEV-06.
func TestApply(t *testing.T) {
	t.Parallel()
	m := &memory{has: map[string]data.Value{
		"vlan/2": hash("ensure", "present", "mtu", "1500", "ports", []any{"a"}),
		"vlan/3": hash("mtu", 9000),
		"vlan/4": data.OfList([]data.Value{hash("mtu", 1)}),
	}}
	resources := []model.Resource{
		declared("Vlan", "1", "ensure", "present", "mtu", 1500, "note", "x"),
		declared("Vlan", "2", "mtu", 1500, "ports", []any{"a", "b"}),
		declared("Vlan", "3", "ensure", "absent"),
		declared("Vlan", "4", "mtu", 1),
		declared("Vlan", "5", "ensure", "absent"),
		declared("File", "/never", "ensure", "present"),
		declared("Notify", "n"),
	}
	got := run(t, m, resources[1:]...)
	want := []string{
		"Notice: /Vlan[2]/ports: ports changed ['a'] to ['a', 'b']",
		"Notice: /Vlan[3]/ensure: removed",
		"Debug: /Vlan[5]: Nothing to manage: no ensure and the resource doesn't exist",
		"Debug: /File[/never]: Skipping host resources because running on a device",
		"Notice: n",
		"Notice: /Notify[n]/message: defined 'message' as 'n'",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	run(t, m, resources[0])
	if want := []string{`vlan/2 {"mtu"=>1500, "ports"=>["a", "b"]}`, `vlan/3 {"ensure"=>"absent"}`, `vlan/1 {"ensure"=>"present", "mtu"=>1500, "note"=>"x"}`}; !slices.Equal(m.sets, want) {
		t.Errorf("got %q, want %q", m.sets, want)
	}
	if again := run(t, m, resources[1]); len(again) > 0 {
		t.Errorf("it is not in sync: %q", again)
	}
}

// What the device answers that is no resource is the problem of that resource.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		has  data.Value
		err  error
		want string
	}{
		{has: data.OfString("x"), want: `Could not evaluate: get vlan "1": a resource was expected`},
		{has: data.OfList([]data.Value{hash("a", 1), hash("a", 2)}), want: "a resource was expected"},
		{err: errors.New("no answer"), want: "Could not evaluate: no answer"},
	} {
		m := &memory{has: map[string]data.Value{"vlan/1": tt.has}, err: tt.err}
		got := strings.Join(run(t, m, declared("Vlan", "1", "ensure", "present"), declared("Vlan", "../x", "ensure", "present"), declared("../X", "1")), "\n")
		if !strings.Contains(got, tt.want) || len(m.sets) > 1 {
			t.Errorf("got\n%s\nwant %s", got, tt.want)
		}
	}
	got := strings.Join(run(t, new(memory), declared("Vlan", "2", "bad name", "y")), "\n")
	if !strings.Contains(got, "no parameter named 'bad name'") {
		t.Errorf("got\n%s", got)
	}
}
