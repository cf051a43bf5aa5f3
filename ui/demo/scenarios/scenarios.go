// Package scenarios has the confusing situations of Puppet's indirector, each as
// a small site that is laid out, asked, and explained.
//
//	for _, e := range scenarios.Catalogue() { … }   // S-01 to S-50
//	stage, err := scenario.Play(ctx, scenarios.Options{Specs: …, Termini: …})
//	defer stage.Close()
//	trace, err := stage.Trace()                       // its story is the explanation
//
// A scenario asks real termini over files of its own; where it needs a server
// it starts one on the loopback interface. A scenario that needs a terminus
// which this build does not have is in the catalogue all the same, and names
// what is missing.
package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/debugger"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/child"
	"indirtui/indirector/host/filelock"
	"indirtui/indirector/model"
	"indirtui/indirector/settings"
	"indirtui/traces"
	"indirtui/traces/store"
)

// An Entry is one situation of the catalogue.
type Entry struct {
	ID    string // "S-07"
	Title string // "ENC exits 1"
	Seen  string // what Puppet shows of it
	// Needs are termini without which it cannot be played: "catalog compiler".
	Needs []string
	// Variants are the ways in which it comes about, the plainest first; none if
	// there is no scenario yet.
	Variants []Scenario
}

// Missing returns what keeps an entry from being played with the given termini:
// those that it needs and that are not there. Nil if nothing is missing.
func (e Entry) Missing(termini []indirector.Descriptor) []string {
	var missing []string
	for _, name := range e.Needs {
		if !slices.ContainsFunc(termini, func(d indirector.Descriptor) bool { return d.Indirection+" "+d.Name == name }) {
			missing = append(missing, "terminus "+name)
		}
	}
	if missing == nil && len(e.Variants) == 0 {
		missing = []string{"a scenario"}
	}
	return missing
}

// A Scenario is one situation: what is set up, what is asked, and what the first
// line of the story must be. Its last request is the one that is shown.
type Scenario struct {
	Name    string // "S-07 ENC exits 1"
	First   string // the first line; $dir is the directory of the stage
	Decided []string
	Outcome traces.Outcome
	Problem string // part of a line of what is wrong with the configuration; "" if nothing need be

	scene Scene
	serve func(*Stage) (map[string]string, error) // starts a server; the result replaces $NAME in texts
	play  func(*Stage)
}

// A Scene is what a stage is set with. In its texts $dir stands for the
// directory of the stage.
type Scene struct {
	Application, Action string
	Conf, Routes        string            // puppet.conf and routes.yaml; "" is none
	Files               map[string]string // below the directory; a name that ends in / is a directory, below bin/ all can be run
	Termini             []indirector.Descriptor
	Quirks              map[string]bool
	ReadOnly            bool
	Set                 []settings.Override
}

// Options are those of a stage. Specs and Termini are required.
type Options struct {
	Dir       string // of its files, which must be empty; "" is a new one, which Close removes
	Specs     []indirector.Spec
	Termini   []indirector.Descriptor
	Recording string            // see engine.Options
	Debug     *debugger.Options // see engine.Options
	Ended     func(*store.Store, *traces.Trace)
	Crash     func(v any, stack []byte)
}

// A Stage is a fresh engine over directories of its own, with a clock that can
// be turned on. It is for one goroutine.
type Stage struct {
	*engine.Engine
	Dir  string
	Last uint64 // the number of the request that is shown

	ctx     context.Context // of the scenario that plays
	start   time.Time
	forward atomic.Int64
	replace []string // names and values for texts
	faults  []error  // what did not go as the scenario expects
	ends    []func() error
	server  *http.Server // that was started last
}

// Open sets a stage, for tests. Close takes it away.
func Open(s Scene, o Options) (*Stage, error) { return open(s, nil, o) }

func open(s Scene, serve func(*Stage) (map[string]string, error), o Options) (_ *Stage, err error) {
	st := &Stage{Dir: o.Dir, start: time.Now().UTC().Truncate(time.Second)}
	defer func() {
		if err != nil {
			err = errors.Join(err, st.Close())
		}
	}()
	if st.Dir == "" {
		temp, err := filelock.MakeTemp("indirtui-scenario-")
		if err != nil {
			return nil, err
		}
		st.Dir = temp.Path
		st.ends = append(st.ends, temp.Remove)
	}
	st.replace = []string{"$dir", st.Dir}
	if serve != nil {
		names, err := serve(st)
		if err != nil {
			return nil, err
		}
		for name, value := range names {
			st.replace = append(st.replace, "$"+name, value)
		}
	}
	if err := st.layOut(s); err != nil {
		return nil, err
	}
	termini := slices.DeleteFunc(slices.Clone(o.Termini), func(d indirector.Descriptor) bool {
		return slices.ContainsFunc(s.Termini, func(own indirector.Descriptor) bool {
			return own.Indirection == d.Indirection && own.Name == d.Name
		})
	})
	st.Engine, err = engine.New(engine.Options{
		Specs: o.Specs, Termini: append(termini, s.Termini...),
		ConfDir: st.Path("conf"), VarDir: st.Path("var"), Application: s.Application, Action: s.Action,
		Set: append([]settings.Override{ // nothing of the machine's own
			{Name: "codedir", Value: st.Path("code")}, {Name: "ssldir", Value: st.Path("ssl")}, {Name: "cadir", Value: st.Path("ca")},
		}, s.Set...),
		Process: settings.Options{Home: st.Dir, Dir: st.Dir},
		Write:   !s.ReadOnly, Quirks: s.Quirks, Now: st.Now, Recording: o.Recording, Debug: o.Debug, Ended: o.Ended, Crash: o.Crash,
		Certname: func() string { return "n1.example.com" },
	})
	if err != nil {
		return nil, err
	}
	st.ends = append(st.ends, st.Engine.Close)
	return st, nil
}

func (s *Stage) layOut(scene Scene) error {
	files := map[string]string{"conf/": "", "var/": "", "code/environments/production/": ""}
	for name, content := range scene.Files {
		files[name] = content
	}
	if scene.Conf != "" {
		files["conf/puppet.conf"] = scene.Conf
	}
	if scene.Routes != "" {
		files["conf/routes.yaml"] = scene.Routes
	}
	for name, content := range files {
		if err := s.Write(name, content); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the engine and whatever was started, and removes the files if they
// were its own.
func (s *Stage) Close() error {
	var errs []error
	for _, end := range slices.Backward(s.ends) {
		errs = append(errs, end())
	}
	s.ends = nil
	return errors.Join(errs...)
}

// Now is the clock of the stage.
func (s *Stage) Now() time.Time { return s.start.Add(time.Duration(s.forward.Load())) }

// Wait turns the clock on.
func (s *Stage) Wait(d time.Duration) { s.forward.Add(int64(d)) }

// Path returns the path of a file of the stage.
func (s *Stage) Path(name string) string { return filepath.Join(s.Dir, name) }

// Write writes a file of the stage, or makes a directory if the name ends in /.
func (s *Stage) Write(name, content string) error {
	path := s.Path(name)
	if strings.HasSuffix(name, "/") {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(name, "bin/") {
		mode = 0o755
	}
	return child.WriteFile(path, []byte(s.Expand(content)), mode)
}

// Expand puts the directory of the stage, and what its server is called, into a
// text.
func (s *Stage) Expand(text string) string { return strings.NewReplacer(s.replace...).Replace(text) }

// Ask asks as a user does, and keeps the number of the request.
func (s *Stage) Ask(ctx context.Context, req indirector.Request) (any, error) {
	return s.Note(s.Engine.Ask(ctx, &req))
}

// Note keeps the number of a request that was not asked by Ask.
func (s *Stage) Note(resp indirector.Response, err error) (any, error) {
	if e := (*indirector.Error)(nil); errors.As(err, &e) {
		s.Last = e.Trace
	}
	if err != nil {
		return nil, err
	}
	s.Last = resp.Trace
	return resp.Value, nil
}

// Trace returns the trace of the last request from the store.
func (s *Stage) Trace() (*traces.Trace, error) {
	if err := s.Store.Flush(); err != nil {
		return nil, err
	}
	return s.Store.Trace(s.Last)
}

// Open sets the stage of the scenario, for PlayOn.
func (c Scenario) Open(o Options) (*Stage, error) {
	s, err := open(c.scene, c.serve, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return s, nil
}

// Play sets the stage and plays the scenario. The stage is left as it is then,
// until Close removes it. An error reports what did not go as the scenario
// expects; the stage may be there nevertheless.
func (c Scenario) Play(ctx context.Context, o Options) (*Stage, error) {
	s, err := c.Open(o)
	if err != nil {
		return nil, err
	}
	if err := c.PlayOn(ctx, s); err != nil {
		return s, fmt.Errorf("%s: %w", c.Name, err)
	}
	return s, nil
}

// PlayOn plays the scenario on its stage.
func (c Scenario) PlayOn(ctx context.Context, s *Stage) (err error) {
	defer func() {
		if p := recover(); p != nil {
			stop, ok := p.(stopped)
			if !ok {
				panic(p)
			}
			s.faults = append(s.faults, stop.error)
		}
		err = errors.Join(s.faults...)
		s.faults = nil
	}()
	s.ctx = ctx
	c.play(s)
	return nil
}

// ID is the number of the situation in the catalogue.
func (c Scenario) ID() string {
	id, _, _ := strings.Cut(c.Name, " ")
	return id
}

// stopped is the panic by which a scenario that cannot go on is left.
type stopped struct{ error }

// stop ends the scenario.
func (s *Stage) stop(err error) { panic(stopped{err}) }

// fault notes that something is not as the scenario expects.
func (s *Stage) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Errorf(format, args...))
}

func (s *Stage) ask(req indirector.Request) (any, error) { return s.Ask(s.ctx, req) }

// must asks for what has to go well.
func (s *Stage) must(req indirector.Request) any {
	v, err := s.ask(req)
	if err != nil {
		s.stop(fmt.Errorf("%v %s %s: %w", req.Verb, req.Indirection, req.Key, err))
	}
	return v
}

// nothing asks for what must not be found.
func (s *Stage) nothing(req indirector.Request) {
	if v, err := s.ask(req); !errors.Is(err, indirector.ErrNotFound) {
		s.fault("%v %s %s: got %v, %v; want nothing", req.Verb, req.Indirection, req.Key, v, err)
	}
}

// fails asks for what must fail, with Puppet's words.
func (s *Stage) fails(req indirector.Request, words string) {
	v, err := s.ask(req)
	if err == nil {
		s.fault("%v %s %s: got %v, want an error", req.Verb, req.Indirection, req.Key, v)
	} else if got := indirector.Message(err); !strings.Contains(got, s.Expand(words)) {
		s.fault("Puppet says: got %s, want %s", got, s.Expand(words))
	}
}

// exists is whether the file must be there.
func (s *Stage) exists(name string, want bool) {
	if _, err := os.Stat(s.Path(name)); (err == nil) != want {
		s.fault("%s: exists is %v, want %v", name, err == nil, want)
	}
}

func (s *Stage) write(name, content string) {
	if err := s.Write(name, content); err != nil {
		s.stop(err)
	}
}

// What scenarios ask.

func find(indirection, key string) indirector.Request {
	return indirector.Request{Indirection: indirection, Verb: indirector.Find, Key: key}
}

// with returns a request with flags.
func with(req indirector.Request, flags traces.Flags) indirector.Request {
	req.Flags |= flags
	return req
}

func save(indirection string, inst indirector.Instance) indirector.Request {
	return indirector.Request{Indirection: indirection, Verb: indirector.Save, Instance: inst}
}

// Facts returns the facts of a node, one in number.
func Facts(name string) *model.Facts {
	return &model.Facts{Name: name, Values: data.OfHash([]data.Pair{data.P("kernel", data.OfString("Linux"))})}
}

// Classes returns the names of the classes of a node.
func Classes(v any) string {
	n, ok := v.(*model.Node)
	if !ok {
		return ""
	}
	return strings.Join(n.ClassNames(), " ")
}

// Catalog returns a catalog with one resource, and one that is exported.
func Catalog(name string) *model.Catalog {
	return &model.Catalog{
		Name: name, Environment: "production", Version: data.OfInt(1700000000),
		Resources: []model.Resource{
			{Type: "File", Title: "/etc/motd"},
			{Type: "Sshkey", Title: name, Exported: true},
		},
	}
}

// upstream is a terminus that answers as a scenario defines.
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
		Indirection: indirection, Name: terminus, Doc: "Stands for a server.", Type: t, Party: parties[terminus],
		New: func(indirector.Env) (indirector.Terminus, error) { return t, nil },
	}
}

// parties are what users call those that something else stands for here.
var parties = map[string]string{"rest": "the server", "puppetdb": "PuppetDB", "compiler": "the compiler"}

// compiler hides exported resources from the caller, as Puppet's does.
type compiler struct{ upstream }

func (compiler) Filter(_ context.Context, inst indirector.Instance) (indirector.Instance, error) {
	c := *inst.(*model.Catalog)
	c.Resources = c.Resources[:1]
	return &c, nil
}
