package engine_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/ui/demo/scenarios"
)

const (
	encConf   = "[server]\nnode_terminus = exec\nexternal_nodes = $dir/bin/enc\n"
	encPrints = "#!/bin/sh\necho 'classes: [%]'\n"
	encFails  = "#!/bin/sh\necho 'cannot connect to db' >&2\nexit 1\n"
)

// A scene is what a stage is set with, see scenarios.Scene.
type scene struct {
	application, action string
	conf, routes        string
	files               map[string]string
	termini             []indirector.Descriptor
	recording           string // below the directory
	readOnly            bool
	set                 []settings.Override
}

// A stage is that of the scenarios, which fails its test.
type stage struct {
	*scenarios.Stage
	t *testing.T
}

// runsENC skips a test that runs an ENC where its path would be cut.
func runsENC(t *testing.T) {
	t.Helper()
	if strings.Contains(t.TempDir(), " ") {
		t.Skip("external_nodes is cut at blanks, as Puppet does, and the temporary directory has one")
	}
}

func newStage(t *testing.T, s scene) *stage {
	t.Helper()
	o := scenarios.Options{Dir: t.TempDir(), Specs: termini.Specs(), Termini: termini.All()}
	if s.recording != "" {
		o.Recording = o.Dir + "/" + s.recording
	}
	st, err := scenarios.Open(scenarios.Scene{
		Application: s.application, Action: s.action, Conf: s.conf, Routes: s.routes, Files: s.files, Termini: s.termini, ReadOnly: s.readOnly, Set: s.set,
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &stage{st, t}
}

func (s *stage) now() time.Time          { return s.Now() }
func (s *stage) path(name string) string { return s.Path(name) }

func (s *stage) write(name, content string) {
	s.t.Helper()
	if err := s.Write(name, content); err != nil {
		s.t.Fatal(err)
	}
}

// ask asks by Once and remembers the number of the request.
func (s *stage) ask(req indirector.Request) (any, error) { return s.Ask(s.t.Context(), req) }

// must asks for what has to go well.
func (s *stage) must(req indirector.Request) any {
	s.t.Helper()
	v, err := s.ask(req)
	if err != nil {
		s.t.Fatalf("%v %s %s: %v", req.Verb, req.Indirection, req.Key, err)
	}
	return v
}

// trace returns the trace of the last request from the store.
func (s *stage) trace() *traces.Trace {
	s.t.Helper()
	tr, err := s.Trace()
	if err != nil {
		s.t.Fatal(err)
	}
	return tr
}

func find(indirection, key string) indirector.Request {
	return indirector.Request{Indirection: indirection, Verb: indirector.Find, Key: key}
}

func save(indirection string, inst indirector.Instance) indirector.Request {
	return indirector.Request{Indirection: indirection, Verb: indirector.Save, Instance: inst}
}

// exists fails the test unless the file is there, or is not.
func (s *stage) exists(name string, want bool) {
	s.t.Helper()
	if _, err := os.Stat(s.Path(name)); (err == nil) != want {
		s.t.Errorf("%s: exists is %v, want %v", name, err == nil, want)
	}
}
