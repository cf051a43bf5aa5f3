package compiler_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/origins"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/traces"
)

// exporting stands behind store_configs: it answers every search with the resources of a
// type, and finds no catalog and no facts.
type exporting []model.Resource

func (x exporting) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, indirector.NotFound(traces.AlwaysNil, "")
}

func (x exporting) Save(context.Context, *indirector.Request) (any, error) { return nil, nil }

func (x exporting) Search(_ context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	filter, _ := req.Option("filter").(data.Value)
	all := []indirector.Instance{}
	for _, r := range x {
		l := filter.List()
		for len(l) > 0 && l[1].Str() == "and" {
			l = l[0].List() // the first comparison will do
		}
		if r.Type == req.Key && (l == nil || l[0].Text() == "tag" || data.Equal(r.Parameters.Get(l[0].Text()), l[2])) {
			all = append(all, &r)
		}
	}
	return all, nil
}

// A compiled is what came of the catalog of the node b.
type compiled struct {
	*engine.Engine
	resp indirector.Response
	err  error
	site string
}

// compileOver compiles a manifest for the node b, over what other nodes export.
func compileOver(t *testing.T, x exporting, manifest string) *compiled {
	t.Helper()
	root := t.TempDir()
	manifests := filepath.Join(root, "environments", "production", "manifests")
	if err := os.MkdirAll(manifests, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &compiled{site: filepath.Join(manifests, "site.pp")}
	write(t, c.site, manifest, 0o644)
	all := termini.All()
	for _, name := range []string{"catalog", "facts", "resource"} {
		all = append(all, indirector.Descriptor{
			Indirection: name, Name: "store", Doc: "Has what other nodes export.", Type: exporting{},
			New: func(indirector.Env) (indirector.Terminus, error) { return x, nil },
		})
	}
	c.Engine = withStore(t, root, all, settings.Override{Name: "storeconfigs_backend", Value: "store", Source: "puppet.conf:9"})
	c.resp, c.err = c.Do(t.Context(), &indirector.Request{
		Indirection: "catalog", Verb: indirector.Find, Key: "b01", Options: []indirector.Option{
			{Name: "facts", Value: &model.Facts{Name: "b01", Values: data.OfHash(nil)}}, {Name: "facts_format", Value: "application/json"},
		},
	})
	return c
}

func (c *compiled) trace(t *testing.T, id uint64) *traces.Trace {
	t.Helper()
	if err := c.Store.Flush(); err != nil {
		t.Fatal(err)
	}
	found, err := c.Store.Trace(id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// of is the trace of the compile.
func (c *compiled) of(t *testing.T) *traces.Trace {
	t.Helper()
	if located := (*indirector.Error)(nil); errors.As(c.err, &located) {
		return c.trace(t, located.Trace)
	}
	return c.trace(t, c.resp.Trace)
}

// notify is a resource that a node exports.
func notify(node, title string, params ...data.Pair) model.Resource {
	return model.Resource{Type: "Notify", Title: title, File: "/e/site.pp", Line: 3, Exported: true, Exporter: node, Parameters: data.OfHash(params)}
}

// many are resources of as many nodes.
func many(n int) (x exporting) {
	for i := range n {
		node := fmt.Sprintf("n%03d", i+1)
		x = append(x, notify(node, node))
	}
	return x
}

func stored(r model.Resource, ago time.Duration) model.Resource {
	r.Stored = time.Now().Add(-ago)
	r.Produced = r.Stored.Add(-time.Second)
	return r
}

// queued is a resource of a node whose newer catalog was queued lately.
func queued(r model.Resource, ago time.Duration) model.Resource {
	r.Queued = time.Now().Add(-ago)
	return r
}

// The trace has what a collector asked below it, and each attribute is known to be of the
// node that exports it.
func TestCollected(t *testing.T) {
	t.Parallel()
	c := compileOver(t, exporting{notify("a", "n", data.P("message", data.OfString("hi")))}, "Notify <<| tag == 'x' |>> { message => 'other' }")
	if c.err != nil {
		t.Fatal(c.err)
	}
	var got []string
	spans := c.of(t).Spans
	for i, s := range spans {
		switch at := slices.IndexFunc(spans, func(x traces.Span) bool { return x.ID == s.Parent }); {
		case strings.HasPrefix(s.Name, "exported for "):
			got = append(got, s.Name+": "+s.Answer+", "+s.Attr("asked")+", a "+s.Attr("a"))
		case s.Kind != traces.Nested || !strings.HasPrefix(s.Name, "search"):
		case at < 0 || at > i:
			t.Errorf("%s is below nothing", s.Name)
		default:
			options := c.trace(t, s.Request).Options
			got = append(got, s.Name+": "+s.Answer, "  of "+spans[at].Name+": "+spans[at].Answer, "  filter "+options[1].Value)
		}
	}
	want := []string{
		"search resource Notify: 1 found", "  of collector Notify <<| tag == 'x' |>>: 1 collected", "  filter tag == 'x'",
		"search resource Notify: 1 found", "  of collector Notify <<| tag == 'x' |>>: 0 collected", "  filter tag == 'x'",
		"exported for Notify <<| tag == 'x' |>>: asked 2 times, same answer, terminus store_configs → store, a 1 resource",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	catalog := c.resp.Instance().(*model.Catalog)
	document := catalog.Origins.Document(func(s string) string { return s })
	sources := document.Find("Notify[n]").Sources("message")
	if diff := gocmp.Diff([]origins.Source{
		{From: "collector", File: c.site, Line: 1},
		{From: "exported resource", Level: "of a", File: "/e/site.pp", Line: 3},
	}, sources); diff != "" {
		t.Error(diff)
	}
}

// What a filter compares with a password is in no trace: not as an option, not in the name
// of the collector, and not in what explains it.
func TestFilterSecrets(t *testing.T) {
	t.Parallel()
	row := model.Resource{Type: "User", Title: "u", Exporter: "a01", Parameters: data.OfHash([]data.Pair{data.P("password", data.OfString("HUNTER2"))})}
	c := compileOver(t, exporting{row}, "User <<| tag == 'x' |>>\nUser <<| password == 'hunter2' and home == '/x' |>>\nUser <<| password == 'hunter2' |>>\n")
	if c.err != nil {
		t.Fatal(c.err)
	}
	tr := c.of(t)
	texts := []string{string(traces.AppendSteps(traces.AppendStory(nil, tr), tr))}
	filters := 0
	for _, s := range tr.Spans {
		if s.Kind == traces.Nested && strings.HasPrefix(s.Name, "search") {
			for _, o := range c.trace(t, s.Request).Options {
				texts = append(texts, o.Value)
				if strings.HasPrefix(o.Value, "password == ") && strings.HasSuffix(o.Value, " and home == '/x'") {
					filters++
				}
			}
		}
	}
	if all := strings.Join(texts, "\n"); strings.Contains(strings.ToLower(all), "hunter2") {
		t.Errorf("the password is in:\n%s", all)
	}
	if filters == 0 {
		t.Errorf("no filter is shown with its password redacted: %q", texts)
	}
}

// The first line of a compile that collects. Issue 13.
func TestCollectedFirstLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		exported exporting
		manifest string
		want     string
		spans    []string // parts of what is known of the collectors
	}{
		{
			name:     "STORE-COL-02 two exporters",
			exported: exporting{notify("a01", "same"), notify("c03", "same")}, manifest: "Notify <<| |>>",
			want: "Notify[same] is exported by a01 and c03; b01 collects both",
		},
		{
			name:     "STORE-COL-02 the title is taken",
			exported: exporting{notify("a01", "same")}, manifest: "notify { 'same': }\nNotify <<| |>>",
			want: "Notify[same] is declared at b01 and exported by a01",
		},
		{
			name:     "STORE-COL-09 a relation left behind",
			exported: exporting{notify("a01", "dependent", data.P("require", data.OfString("Notify[base]")))}, manifest: "Notify <<| |>>",
			want: "Notify[dependent] of a01 requires Notify[base], which only a01 has",
		},
		{
			name:     "STORE-COL-08 without its secret",
			exported: exporting{{Type: "File", Title: "/tmp/secret", Exporter: "a01", Sensitive: []string{"content"}}}, manifest: "File <<| |>>",
			want: "content of File[/tmp/secret] was Sensitive at a01 and is not in the store",
		},
		{
			name:     "STORE-COL-08 a define without its secret",
			exported: exporting{{Type: "V", Title: "x", Exporter: "a01", Sensitive: []string{"v"}}}, manifest: "define v($v) {}\nV <<| |>>",
			want: "v of V[x] was Sensitive at a01 and is not in the store",
		},
		{
			name:     "STORE-COL-12 stored when",
			exported: exporting{stored(notify("a01", "n"), 31*time.Minute)}, manifest: "Notify <<| |>>",
			want:  "collected 1 resource of a01, stored 31 min ago",
			spans: []string{"exported for Notify <<| |>>: asked 2 times, same answer", "a01 1 resource, produced 20", " (31 min ago)"},
		},
		{
			name:     "STORE-COL-12 before it was processed",
			exported: exporting{queued(stored(notify("a01", "n"), 31*time.Minute), 4*time.Minute)}, manifest: "Notify <<| |>>",
			want:  "collected 1 resource of a01, stored 31 min ago; a newer catalog of a01 was queued 4 min ago",
			spans: []string{"a01 1 resource, produced 20", " (31 min ago), a newer catalog queued 20"},
		},
		{
			name: "STORE-COL-12 of many",
			exported: exporting{
				stored(notify("a01", "1"), time.Hour), stored(notify("a02", "2"), time.Hour), stored(notify("a02", "3"), time.Hour),
				stored(notify("a03", "4"), time.Hour), stored(notify("a04", "5"), time.Hour), stored(notify("a05", "6"), time.Hour),
			},
			manifest: "Notify <<| |>>",
			want: "collected 1 resource of a01, stored 60 min ago; 2 resources of a02, stored 60 min ago; 1 resource of a03, stored 60 min ago; " +
				"and those of 2 more nodes",
		},
		{
			name:     "STORE-COL-05 another kind elsewhere",
			exported: exporting{notify("a01", "n", data.P("message", data.OfString("80")))},
			manifest: "Notify <<| message == 80 |>>\nNotify <<| tag == 'x' |>>",
			want:     "Notify[n] of a01 has message == '80', not message == 80; kind and case count in the store",
			spans:    []string{"exported for Notify <<| message == 80 |>>: asked 2 times, same answer", "not found Notify[n] of a01 has"},
		},
		{
			name:     "STORE-COL-05 another case elsewhere",
			exported: exporting{notify("a01", "n", data.P("message", data.OfString("Hi")))},
			manifest: "Notify <<| message == 'hi' |>>\nNotify <<| tag == 'x' |>>",
			want:     "Notify[n] of a01 has message == 'Hi', not message == 'hi'; kind and case count in the store",
		},
		{
			name: "STORE-COL-05 another kind, beside a tag",
			exported: exporting{{
				Type: "Notify", Title: "n", Exporter: "a01", Tags: []string{"web"}, Parameters: data.OfHash([]data.Pair{data.P("message", data.OfFloat(80))}),
			}},
			manifest: "Notify <<| message == 80 and tag == 'web' |>>\nNotify <<| tag == 'x' |>>",
			want:     "Notify[n] of a01 has message == 80.0, not message == 80; kind and case count in the store",
		},
		{
			name:     "STORE-COL-05 another kind here",
			manifest: "@@notify { 'n': message => '80' }\nNotify <<| message == 80 |>>",
			want:     "Notify[n] here has message == '80', not message == 80; kind and case count in the store",
		},
		{
			name:     "STORE-COL-06 the second collector",
			exported: exporting{stored(notify("a01", "n"), time.Hour)},
			manifest: "Notify <<| tag == 'x' |>>\nNotify <<| tag == 'y' |>>",
			want:     "collected 1 resource of a01, stored 60 min ago",
			spans:    []string{"not taken Notify[n]: another collector had brought it"},
		},
		{
			name: "STORE-COL-12 of very many", exported: many(30), manifest: "Notify <<| |>>",
			want:  "catalog goes to store: storeconfigs_backend, puppet.conf:9; answers nil by contract, so the compiler was asked",
			spans: []string{"n001 1 resource", "n020 1 resource", "more 10 nodes"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := compileOver(t, tt.exported, tt.manifest)
			tr := c.of(t)
			if got := traces.Story(tr); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			text := string(traces.AppendSteps(nil, tr))
			for _, want := range tt.spans {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in:\n%s", want, text)
				}
			}
		})
	}
}
