package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/traces"
)

// A scene is what a stage is set with. In its texts $dir stands for the
// directory of the stage.
type scene struct {
	application, action string
	conf, routes        string            // puppet.conf and routes.yaml; "" is none
	files               map[string]string // below the directory; a name that ends in / is a directory, below bin/ all can be run
	termini             []indirector.Descriptor
	quirks              map[string]bool
	recording           string
	readOnly            bool
	set                 []settings.Override
}

// A stage is a fresh engine with all real termini over directories of its own,
// and with a clock that the test sets. It is for one goroutine.
type stage struct {
	*engine.Engine
	t       *testing.T
	dir     string
	start   time.Time
	forward atomic.Int64
	last    uint64 // the number of the last request
}

func newStage(t *testing.T, s scene) *stage {
	t.Helper()
	st := &stage{t: t, dir: t.TempDir(), start: time.Now().UTC().Truncate(time.Second)}
	for _, d := range []string{"conf/", "var/", "code/environments/production/"} {
		st.write(d, "")
	}
	for name, content := range s.files {
		st.write(name, content)
	}
	if s.conf != "" {
		st.write("conf/puppet.conf", s.conf)
	}
	if s.routes != "" {
		st.write("conf/routes.yaml", s.routes)
	}
	o := engine.Options{
		Specs: termini.Specs(), Termini: s.all(),
		ConfDir: st.path("conf"), VarDir: st.path("var"), Application: s.application, Action: s.action,
		Set:     append([]settings.Override{{Name: "codedir", Value: st.path("code")}}, s.set...),
		Process: settings.Options{Home: st.dir, Dir: st.dir},
		Write:   !s.readOnly, Quirks: s.quirks, Now: st.now,
		Certname: func() string { return "n1.example.com" },
	}
	if s.recording != "" {
		o.Recording = st.path(s.recording)
	}
	var err error
	if st.Engine, err = engine.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func (s *stage) now() time.Time { return s.start.Add(time.Duration(s.forward.Load())) }

// wait turns the clock on.
func (s *stage) wait(d time.Duration) { s.forward.Add(int64(d)) }

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stage) write(name, content string) {
	s.t.Helper()
	path := s.path(name)
	if strings.HasSuffix(name, "/") {
		if err := os.MkdirAll(path, 0o755); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(name, "bin/") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(s.expand(content)), mode); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) expand(text string) string { return strings.ReplaceAll(text, "$dir", s.dir) }

// exists fails the test unless the file is there, or is not.
func (s *stage) exists(name string, want bool) {
	s.t.Helper()
	if _, err := os.Stat(s.path(name)); (err == nil) != want {
		s.t.Errorf("%s: exists is %v, want %v", name, err == nil, want)
	}
}

// ask asks as a person does, and remembers the number of the request.
func (s *stage) ask(req indirector.Request) (any, error) {
	return s.heard(s.Ask(s.t.Context(), &req))
}

func (s *stage) heard(resp *indirector.Response, err error) (any, error) {
	if e := (*indirector.Error)(nil); errors.As(err, &e) {
		s.last = e.Trace
	}
	if resp == nil {
		return nil, err
	}
	s.last = resp.Trace
	return resp.Value, err
}

// must asks for what has to go well.
func (s *stage) must(req indirector.Request) any {
	s.t.Helper()
	v, err := s.ask(req)
	if err != nil {
		s.t.Fatalf("%v %s %s: %v", req.Verb, req.Indirection, req.Key, err)
	}
	return v
}

// trace returns the trace of the last request, as the store tells it.
func (s *stage) trace() *traces.Trace {
	s.t.Helper()
	if err := s.Store.Flush(); err != nil {
		s.t.Fatal(err)
	}
	tr, err := s.Store.Trace(s.last)
	if err != nil {
		s.t.Fatal(err)
	}
	return tr
}

func find(indirection, key string) indirector.Request {
	return indirector.Request{Indirection: indirection, Verb: indirector.Find, Key: key}
}

// with returns a find with flags.
func with(req indirector.Request, flags traces.Flags) indirector.Request {
	req.Flags |= flags
	return req
}

func save(indirection string, inst indirector.Instance) indirector.Request {
	return indirector.Request{Indirection: indirection, Verb: indirector.Save, Instance: inst}
}

func facts(name string) *model.Facts {
	return &model.Facts{Name: name, Values: data.OfHash([]data.Pair{data.P("kernel", data.OfString("Linux"))})}
}

// classes returns the names of the classes of a node.
func classes(v any) string {
	n, ok := v.(*model.Node)
	if !ok {
		return ""
	}
	return strings.Join(n.ClassNames(), " ")
}

// catalog returns a catalog with one resource, and one that is exported.
func catalog(name string) *model.Catalog {
	return &model.Catalog{
		Name: name, Environment: "production", Version: data.OfInt(1700000000),
		Resources: []model.Resource{
			{Type: "File", Title: "/etc/motd"},
			{Type: "Sshkey", Title: name, Exported: true},
		},
	}
}

// upstream is what an agent knows of a server: the terminus rest of an
// indirection, which asks the network and is not of this build.
type upstream struct {
	find func(key string) (indirector.Instance, error)
}

func (u upstream) Find(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
	return u.find(req.Key)
}

func (u upstream) Save(context.Context, *indirector.Request) (any, error) { return nil, nil }

// answers is a server that answers every find with the same instance.
func answers(indirection, terminus string, inst indirector.Instance) indirector.Descriptor {
	return describe(indirection, terminus, upstream{func(string) (indirector.Instance, error) { return inst, nil }})
}

func describe(indirection, terminus string, t indirector.Terminus) indirector.Descriptor {
	return indirector.Descriptor{
		Indirection: indirection, Name: terminus, Doc: "Stands for a server.", Type: t,
		New: func(indirector.Env) (indirector.Terminus, error) { return t, nil },
	}
}

// compiler hides what is exported from who asks, as Puppet's does.
type compiler struct{ upstream }

func (compiler) Filter(_ context.Context, inst indirector.Instance) (indirector.Instance, error) {
	c := *inst.(*model.Catalog)
	c.Resources = c.Resources[:1]
	return &c, nil
}

// all are the termini of this program, except those that the scene has its own
// of.
func (s *scene) all() []indirector.Descriptor {
	all := slices.DeleteFunc(termini.All(), func(d indirector.Descriptor) bool {
		return slices.ContainsFunc(s.termini, func(own indirector.Descriptor) bool {
			return own.Indirection == d.Indirection && own.Name == d.Name
		})
	})
	return append(all, s.termini...)
}
