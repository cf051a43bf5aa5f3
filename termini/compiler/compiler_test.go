package compiler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/model"
)

type values map[string]string

func (s values) Get(name string) (value, source string) { return s[name], "" }

// A fixture is a compiler whose language knows one catalog, and what it asked for.
type fixture struct {
	*Terminus
	asked   []string
	log     bytes.Buffer
	node    *model.Node
	files   map[string][]indirector.Instance
	fail    map[string]error
	catalog model.Catalog
	input   *Input
}

func newFixture(t *testing.T, s values) *fixture {
	t.Helper()
	f := &fixture{node: &model.Node{Name: "web01", Environment: "production", Parameters: data.OfHash(nil)}, catalog: model.Catalog{Name: "web01", Environment: "production"}}
	f.Terminus = &Terminus{
		env: indirector.Env{
			Indirection: "catalog", Terminus: "compiler", Application: "server", Settings: s, Do: f.do,
			Log: slog.New(slog.NewTextHandler(&f.log, nil)), Now: time.Now,
		},
		server: server{func() data.Value { return data.OfHash([]data.Pair{data.P("serverversion", data.OfString("7.23.0"))}) }},
		language: func(_ context.Context, in *Input) (*model.Catalog, error) {
			f.input = in
			c := f.catalog
			return &c, f.fail["language"]
		},
	}
	return f
}

func (f *fixture) do(_ context.Context, req *indirector.Request) (indirector.Response, error) {
	what := fmt.Sprintf("%s %s", req.Verb, req.Indirection)
	key := req.Key
	if req.Instance != nil {
		key = req.Instance.Key()
	}
	f.asked = append(f.asked, what+" "+key)
	switch err := f.fail[what]; {
	case err != nil:
		return indirector.Response{}, err
	case what == "find node" && f.node != nil:
		return indirector.Response{Value: f.node}, nil
	case what == "save facts":
		return indirector.Response{}, nil
	case what == "search file_metadata" && f.files[req.Key] != nil:
		return indirector.Response{Value: f.files[req.Key]}, nil
	case what == "find file_metadata" && f.files[req.Key] != nil:
		return indirector.Response{Value: f.files[req.Key][0]}, nil
	}
	return indirector.Response{}, indirector.NotFound(0, "")
}

func (f *fixture) find(t *testing.T, remote *indirector.Remote, options ...indirector.Option) (*model.Catalog, error) {
	t.Helper()
	inst, err := f.Find(t.Context(), &indirector.Request{
		Indirection: "catalog", Verb: indirector.Find, Key: "web01", Environment: "production", Options: options, Remote: remote,
	})
	c, _ := inst.(*model.Catalog)
	return c, err
}

func option(name string, value any) indirector.Option {
	return indirector.Option{Name: name, Value: value}
}

const wire = `%7B%22name%22%3A%22web01%22%2C%22values%22%3A%7B%22os%22%3A%22a%2Bb+%25%22%7D%7D`

// Facts come with a request, and are saved before anything else is asked.
func TestFacts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		facts any
		kind  string
		want  string // the error, or what was asked
	}{
		{"TERM-COMP-01 none", nil, "", "find node web01"},
		{"TERM-COMP-01 without a format", wire, "", "Facts but no fact format provided for web01"},
		{"TERM-COMP-02 of the wire", wire, "application/json", "save facts web01, find node web01"},
		{"TERM-COMP-02 PSON", wire, "pson", "save facts web01, find node web01"},
		{"TERM-COMP-02 another format", wire, "yaml", "Unsupported facts format"},
		{"TERM-COMP-02 of a program", &model.Facts{Name: "web01"}, "pson", "save facts web01, find node web01"},
		{"TERM-COMP-02 bad", "{", "application/json", "Could not intern from json"},
		{"TERM-COMP-03 of another", &model.Facts{Name: "db01"}, "pson", `Catalog for "web01" was requested with fact definition for the wrong node ("db01").`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			var given []indirector.Option
			if tt.facts != nil {
				given = append(given, option("facts", tt.facts))
			}
			if tt.kind != "" {
				given = append(given, option("facts_format", tt.kind))
			}
			_, err := f.find(t, nil, given...)
			got := strings.Join(f.asked, ", ")
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A program may give facts that are not saved. A node may not.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	given := []indirector.Option{
		option("facts", &model.Facts{Name: "web01"}), option("facts_format", "pson"), option(compile.OptionUnsaved, true),
	}
	for _, tt := range []struct {
		remote *indirector.Remote
		want   string
	}{
		{nil, "find node web01"},
		{&indirector.Remote{Node: "web01", Authenticated: true}, "save facts web01, find node web01"},
	} {
		f := newFixture(t, nil)
		_, err := f.find(t, tt.remote, given...)
		if got := strings.Join(f.asked, ", "); err != nil || got != tt.want {
			t.Errorf("got %q, %v, want %q", got, err, tt.want)
		}
	}
}

// The wire's facts are escaped twice; what is no escape stays. Rule TERM-COMP-02.
func TestUnescaped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a+b%2Bc": "a b+c", "%": "%", "%zz%4": "%zz%4", "plain": "plain", "%C3%A9": "é"} {
		if got := unescaped(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestNode(t *testing.T) {
	t.Parallel()
	remote := &indirector.Remote{Node: "web01", Authenticated: true, Extensions: map[string]string{"pp_role": "web"}}
	for _, tt := range []struct {
		name    string
		prepare func(f *fixture)
		remote  *indirector.Remote
		options []indirector.Option
		want    string // error, or the environment of the catalog and how much is in it
	}{
		{"TERM-COMP-05 found", nil, nil, nil, "production compiled"},
		{"TERM-COMP-05 given", func(f *fixture) { f.node = nil }, nil, []indirector.Option{option("use_node", &model.Node{Name: "web01", Environment: "production"})}, "production compiled"},
		{"TERM-COMP-05 given by a remote one", nil, remote, []indirector.Option{option("use_node", &model.Node{})}, "Invalid option use_node for a remote request"},
		{"TERM-COMP-05 none", func(f *fixture) { f.node = nil }, nil, nil, "Could not find node 'web01'; cannot compile"},
		{"TERM-COMP-05 failing", func(f *fixture) { f.fail = map[string]error{"find node": errors.New("no route to host")} }, nil, nil, "Failed when searching for node web01: no route to host"},
		{"TERM-COMP-04 facts cannot be saved", func(f *fixture) { f.fail = map[string]error{"save facts": errors.New("disk full")} }, nil, []indirector.Option{option("facts", &model.Facts{Name: "web01"}), option("facts_format", "pson")}, "disk full"},
		{"TERM-COMP-07 another environment", func(f *fixture) { f.node.Environment = "dev" }, remote, []indirector.Option{option("check_environment", "true")}, "dev empty"},
		{"TERM-COMP-07 not checked", func(f *fixture) { f.node.Environment = "dev" }, remote, nil, "production compiled"},
		{"TERM-COMP-07 the same", nil, remote, []indirector.Option{option("check_environment", "true")}, "production compiled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			f.catalog.Resources = []model.Resource{{Type: "Class", Title: "main"}}
			if tt.prepare != nil {
				tt.prepare(f)
			}
			c, err := f.find(t, tt.remote, tt.options...)
			got := ""
			switch {
			case err != nil:
				got = err.Error()
			case len(c.Resources) == 0:
				got = c.Environment + " empty"
			default:
				got = c.Environment + " compiled"
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What the server knows does not replace what the node has. Rule TERM-COMP-06.
func TestInput(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.node.Parameters = data.OfHash([]data.Pair{data.P("serverversion", data.OfString("mine"))})
	remote := &indirector.Remote{Node: "web01.example.com", Authenticated: true, Extensions: map[string]string{"pp_role": "web"}}
	if _, err := f.find(t, remote, option("code_id", "abc")); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(f.input.Node.Parameters.Inspect(), f.input.Server.Inspect(), f.input.Trusted.Inspect(), f.input.CodeID)
	want := `{"serverversion"=>"mine"}{"serverversion"=>"7.23.0", "environment"=>"production"}` +
		`{"authenticated"=>"remote", "certname"=>"web01.example.com", "extensions"=>{"pp_role"=>"web"}, "hostname"=>"web01", "domain"=>"example.com", "external"=>{}}abc`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got, want := f.log.String(), `msg="Compiled catalog for web01 in environment production in 0.`; !strings.Contains(got, want) {
		t.Errorf("TERM-COMP-11: logged %s, want %s", got, want)
	}
}

// Virtual resources are kept for the cache, and do not reach the node. Rule TERM-COMP-10.
func TestFilter(t *testing.T) {
	t.Parallel()
	c := &model.Catalog{
		Resources: []model.Resource{{Type: "Class", Title: "Main"}, {Type: "File", Title: "/a", Virtual: true}, {Type: "File", Title: "/b"}},
		Edges:     []model.Edge{{Source: "Class[Main]", Target: "File[/a]"}, {Source: "Class[Main]", Target: "File[/b]"}},
	}
	got, err := newFixture(t, nil).Filter(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if f := got.(*model.Catalog); len(f.Resources) != 2 || len(f.Edges) != 1 || f.Edges[0].Target != "File[/b]" {
		t.Errorf("got %v", f)
	}
	if len(c.Resources) != 3 {
		t.Error("the catalog was changed")
	}
}

// Static catalogs have the metadata of files that modules of the environment serve. Rules
// TERM-COMP-08, TERM-COMP-09.
func TestStatic(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "production"), 0o755); err != nil {
		t.Fatal(err)
	}
	files := dir + "/production/modules/m/files"
	file := func(title, source string, more ...data.Pair) model.Resource {
		return model.Resource{Type: "File", Title: title, Parameters: data.OfHash(append([]data.Pair{data.P("source", data.OfString(source))}, more...))}
	}
	for _, tt := range []struct {
		name, checksum string
		resource       model.Resource
		want           string
	}{
		{"a file", "crc.md5.sha256", file("/x", "puppet:///modules/m/x/"), "/x md5 puppet:///modules/m/files/x puppet:///modules/m/x"},
		{"on a server", "md5", file("/x", "puppet://other:99/modules/m/x"), "/x md5 puppet://other:99/modules/m/files/x puppet://other:99/modules/m/x"},
		{"absent", "md5", file("/x", "puppet:///modules/m/x", data.P("ensure", data.OfString("absent"))), ""},
		{"from the web", "md5", file("/x", "https://host/x"), ""},
		{"outside the environment", "md5", file("/x", "puppet:///mount/x"), ""},
		{"missing", "md5", file("/x", "puppet:///modules/m/none"), "Could not get metadata for puppet:///modules/m/none"},
		{"a tree", "md5", file("/t", "puppet:///modules/m/t", data.P("recurse", data.OfBool(true))), "/t puppet:///modules/m/t . puppet:///modules/m/files/t a puppet:///modules/m/files/t/a"},
		{"no checksum in common", "crc", file("/x", "puppet:///modules/m/x"), "Unable to find a common checksum type between agent 'crc' and master '[:sha256, :sha256lite, :md5, :md5lite, :sha1, :sha1lite, :sha512, :sha384, :sha224, :mtime, :ctime, :none]'."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, values{"environmentpath": dir, "static_catalogs": "true"})
			x := []indirector.Instance{&model.FileMetadata{Path: files + "/x", ChecksumType: "md5", Type: "file"}}
			f.files = map[string][]indirector.Instance{
				"puppet:///modules/m/x": x, "puppet://other:99/modules/m/x": x,
				"puppet:///mount/x": {&model.FileMetadata{Path: "/srv/x", Type: "file"}},
				"puppet:///modules/m/t": {
					&model.FileMetadata{Path: files + "/t", RelativePath: ".", Type: "directory"},
					&model.FileMetadata{Path: files + "/t", RelativePath: "a", Type: "file"},
				},
			}
			f.catalog.Resources = []model.Resource{tt.resource}
			c, err := f.find(t, nil, option("static_catalog", "true"), option("code_id", "1"), option("checksum_type", tt.checksum))
			if got := inlined(c, err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// inlined is what a catalog has of files as a line.
func inlined(c *model.Catalog, err error) string {
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, m := range c.Metadata {
		words = append(words, m.Title, m.Metadata.ChecksumType, m.Metadata.ContentURI, m.Metadata.Source)
	}
	for _, file := range c.RecursiveMetadata.Hash() {
		words = append(words, file.Key.Text())
		for _, source := range file.Value.Hash() {
			words = append(words, source.Key.Text())
			for _, m := range source.Value.List() {
				words = append(words, m.Get("relative_path").Text(), m.Get("content_uri").Text())
			}
		}
	}
	return strings.Join(words, " ")
}
