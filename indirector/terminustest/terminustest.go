// Package terminustest checks that a terminus keeps what its method set and
// its descriptor promise. It also has a scripted terminus.
//
//	func TestConformance(t *testing.T) {
//		terminustest.Run(t, dns.Node, terminustest.Options{
//			Seed: map[string]indirector.Instance{"web01": web01},
//		})
//	}
package terminustest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// Options give the suite what it cannot find out. The zero value is for a
// terminus without settings.
type Options struct {
	// Settings returns the settings. The terminus may write only to dir, which
	// is empty.
	Settings func(dir string) map[string]string
	// Seed holds instances by key. The suite saves them if it can; if not, they
	// must be there.
	Seed map[string]indirector.Instance
	// Spec is the indirection; nil is one with the descriptor's name.
	Spec *indirector.Spec
	// OneEntry is set if all keys are the same entry, as for the last report.
	OneEntry bool
	// Absent is a key without an instance, where keys have a form.
	Absent string
	// NoSearch is set if every search is refused: search is not checked.
	NoSearch bool
	// AnySearch is set if a search ignores its key.
	AnySearch bool
	// Siblings are other termini of the indirection, with the same settings.
	Siblings []indirector.Descriptor
	// Raises is set if a find of nothing is an error other than ErrNotFound.
	Raises bool
	// DestroySaves is set if destroy saves, as Puppet's store_configs does: it is not
	// checked.
	DestroySaves bool
	// Invents is set if a find answers every key.
	Invents bool
	// Do answers nested requests; nil finds nothing.
	Do func(context.Context, *indirector.Request) (indirector.Response, error)
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Patience is how long ending goroutines may take; 0 is a minute.
	Patience time.Duration
}

const defaultAbsent = "absent.example.test"

// Run checks a terminus. Each check has a terminus of its own.
func Run(t *testing.T, d indirector.Descriptor, o Options) {
	t.Helper()
	o.Absent = cmp.Or(o.Absent, defaultAbsent)
	if o.Spec == nil {
		o.Spec = &indirector.Spec{Name: d.Indirection, Class: "Puppet::" + indirector.Constant(d.Indirection)}
	}
	s := suite{d: d, o: o}
	t.Run("descriptor", s.descriptor)
	checks := []struct {
		name  string
		wants []indirector.Verb
		check func(*testing.T, *subject)
	}{
		{"find", []indirector.Verb{indirector.Find}, s.find},
		{"find after save", []indirector.Verb{indirector.Find, indirector.Save}, s.findAfterSave},
		{"not found", []indirector.Verb{indirector.Find}, s.notFound},
		{"search nothing", []indirector.Verb{indirector.Search}, s.searchNothing},
		{"head", []indirector.Verb{indirector.Head, indirector.Save}, s.head},
		{"destroy twice", []indirector.Verb{indirector.Destroy, indirector.Save}, s.destroyTwice},
		{"keys that lead away", nil, s.keys},
		{"expiration", []indirector.Verb{indirector.Find, indirector.Save}, s.expiration},
		{"list and peek", []indirector.Verb{indirector.Save}, s.listAndPeek},
		{"many at once", nil, s.manyAtOnce},
		{"cancelled", nil, s.cancelled},
	}
	can := s.verbs(d.Type)
	for _, c := range checks {
		if slices.ContainsFunc(c.wants, func(v indirector.Verb) bool { return can[v] == nil }) {
			continue
		}
		if d.AlwaysNil && len(c.wants) == 2 && c.wants[0] == indirector.Find { // what was saved is never found
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			// Not in parallel: goroutines that are left must be its own.
			before := goleak.IgnoreCurrent()
			sub := s.open(t)
			c.check(t, sub)
			sub.close(t)
			err := goleak.Find(before)
			for late := time.Now().Add(cmp.Or(o.Patience, time.Minute)); err != nil && time.Now().Before(late); { // wait for those that end
				err = goleak.Find(before)
			}
			if err != nil {
				t.Errorf("goroutines are left: %v", err)
			}
		})
	}
}

type suite struct {
	d indirector.Descriptor
	o Options
}

// A subject is a terminus under test.
type subject struct {
	suite    *suite
	terminus indirector.Terminus
	can      indirector.Verbs
	settings *recordingSettings
	root     string
	dir      string // below root, to write in
	work     sync.WaitGroup
}

// recordingSettings record which of them were read. They are safe for concurrent use.
type recordingSettings struct {
	Values map[string]string

	mu   sync.Mutex // guards read
	read map[string]bool
}

// Get returns a value and records the name.
func (s *recordingSettings) Get(name string) (value, place string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read == nil {
		s.read = make(map[string]bool)
	}
	s.read[name] = true
	value, ok := s.Values[name]
	if ok {
		place = "test"
	}
	return value, place
}

// Read returns the names passed to Get, sorted.
func (s *recordingSettings) Read() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.read))
	for n := range s.read {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (s *suite) open(t *testing.T) *subject {
	t.Helper()
	root := t.TempDir()
	sub := &subject{suite: s, root: root, dir: filepath.Join(root, "inside"), settings: new(recordingSettings)}
	if err := os.Mkdir(sub.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if s.o.Settings != nil {
		sub.settings.Values = s.o.Settings(sub.dir)
	}
	if err := s.make(sub); err != nil {
		t.Fatalf("make %s/%s: %v", s.d.Indirection, s.d.Name, err)
	}
	return sub
}

// make gives a subject its terminus.
func (s *suite) make(u *subject) (err error) {
	env := indirector.Env{
		Indirection: s.d.Indirection, Terminus: s.d.Name, Spec: s.o.Spec, Settings: u.settings,
		SettingsIn: func(string) indirector.Settings { return u.settings },
		Do:         s.o.Do, Go: func(f func()) { u.work.Go(f) }, Log: slog.New(slog.DiscardHandler), Now: s.o.Now,
	}
	if env.Do == nil {
		env.Do = func(context.Context, *indirector.Request) (indirector.Response, error) {
			return indirector.Response{}, indirector.ErrNotFound
		}
	}
	if env.Now == nil {
		env.Now = time.Now
	}
	env.Sibling, env.Described = s.siblings(env), s.described
	u.terminus, err = s.d.New(env)
	u.can = s.verbs(u.terminus)
	return err
}

// siblings makes the termini of Siblings, each when it is first asked for.
func (s *suite) siblings(env indirector.Env) func(string) (indirector.Terminus, error) {
	values := env.Settings.(*recordingSettings).Values
	all := map[string]func() (indirector.Terminus, error){}
	for _, d := range s.o.Siblings {
		env.Terminus, env.Settings = d.Name, &recordingSettings{Values: values}
		its := env
		all[d.Name] = sync.OnceValues(func() (indirector.Terminus, error) { return d.New(its) })
	}
	return func(name string) (indirector.Terminus, error) {
		if made := all[name]; made != nil {
			return made()
		}
		return nil, fmt.Errorf("there is no terminus %s here", name)
	}
}

// described returns the descriptor of one of Siblings, or nil.
func (s *suite) described(name string) *indirector.Descriptor {
	i := slices.IndexFunc(s.o.Siblings, func(d indirector.Descriptor) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &s.o.Siblings[i]
}

// verbs are those that are checked.
func (s *suite) verbs(t indirector.Terminus) indirector.Verbs {
	can := indirector.VerbsOf(t)
	if s.o.NoSearch {
		can[indirector.Search] = nil
	}
	if s.o.DestroySaves {
		can[indirector.Destroy] = nil
	}
	return can
}

// close closes the terminus and checks that its descriptor names the settings
// that it read.
func (u *subject) close(t *testing.T) {
	t.Helper()
	if c, ok := u.terminus.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	u.work.Wait()
	for _, name := range u.settings.Read() {
		if !slices.ContainsFunc(u.suite.d.Settings, func(s indirector.Setting) bool { return s.Name == name }) {
			t.Errorf("it reads the setting %s, which its descriptor does not describe", name)
		}
	}
}

// do calls a verb. A missing one is ErrVerbMissing.
func (u *subject) do(ctx context.Context, verb indirector.Verb, key string, inst indirector.Instance) (any, error) {
	if u.can[verb] == nil {
		return nil, indirector.ErrVerbMissing
	}
	return u.can[verb](ctx, &indirector.Request{
		Indirection: u.suite.d.Indirection, Verb: verb, Key: key, Instance: inst, Environment: "production",
	})
}

func (u *subject) seed(t *testing.T) {
	t.Helper()
	if u.can[indirector.Save] == nil {
		return
	}
	for _, key := range u.suite.keysOfSeed() {
		if _, err := u.do(t.Context(), indirector.Save, key, u.suite.o.Seed[key]); err != nil {
			t.Fatalf("save %q: %v", key, err)
		}
	}
}

// keysOfSeed returns the keys of Seed, or one if all are the same entry.
func (s *suite) keysOfSeed() []string {
	keys := make([]string, 0, len(s.o.Seed))
	for k := range s.o.Seed {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if s.o.OneEntry && len(keys) > 1 {
		keys = keys[:1]
	}
	return keys
}

func (s *suite) descriptor(t *testing.T) {
	d := s.d
	for name, text := range map[string]string{"Indirection": d.Indirection, "Name": d.Name, "Doc": d.Doc} {
		if text == "" {
			t.Errorf("the descriptor has no %s", name)
		}
	}
	if !strings.Contains(d.Doc+" ", ". ") {
		t.Errorf("Doc has no sentence: %q", d.Doc)
	}
	for _, setting := range d.Settings {
		if setting.Name == "" || setting.Doc == "" {
			t.Errorf("a setting without name or words: %+v", setting)
		}
	}
	u := s.open(t)
	defer u.close(t)
	if got, want := reflect.TypeOf(u.terminus), reflect.TypeOf(d.Type); got != want {
		t.Errorf("New returns a %v, Type says %v", got, want)
	}
	some := false
	for _, h := range u.can {
		some = some || h != nil
	}
	if !some {
		t.Error("it has no verb")
	}
}

func (s *suite) find(t *testing.T, u *subject) {
	u.seed(t)
	for key, want := range s.o.Seed {
		if s.o.OneEntry && key != s.keysOfSeed()[0] {
			continue
		}
		got, err := u.do(t.Context(), indirector.Find, key, nil)
		switch {
		case s.d.AlwaysNil:
			if !errors.Is(err, indirector.ErrNotFound) {
				t.Errorf("find %q: got %v, %v; AlwaysNil promises ErrNotFound", key, got, err)
			}
		case err != nil:
			t.Errorf("find %q: %v", key, err)
		default:
			s.same(t, key, want, got)
		}
	}
}

func (s *suite) findAfterSave(t *testing.T, u *subject) {
	u.seed(t)
	u.seed(t)              // replaces
	if !s.d.ProcessLocal { // as another process would
		again := &subject{suite: s, root: u.root, dir: u.dir, settings: u.settings}
		if err := s.make(again); err != nil {
			t.Fatalf("make it again: %v", err)
		}
		defer again.close(t)
		u = again
	}
	for _, key := range s.keysOfSeed() {
		got, err := u.do(t.Context(), indirector.Find, key, nil)
		if err != nil {
			t.Errorf("find %q: %v", key, err)
			continue
		}
		s.same(t, key, s.o.Seed[key], got)
	}
}

// same compares what was saved and found, by their data if they have any.
func (s *suite) same(t *testing.T, key string, want indirector.Instance, got any) {
	t.Helper()
	inst, ok := got.(indirector.Instance)
	if !ok {
		t.Errorf("find %q: got a %T, want an instance", key, got)
		return
	}
	if inst.Key() != want.Key() {
		t.Errorf("find %q: got the name %q, want %q", key, inst.Key(), want.Key())
	}
	type hashed interface{ Data() data.Value }
	a, hasData := want.(hashed)
	b, alsoHas := got.(hashed)
	if hasData && alsoHas && !data.Equal(a.Data(), b.Data()) {
		t.Errorf("find %q:\ngot  %v\nwant %v", key, b.Data(), a.Data())
	}
}

func (s *suite) notFound(t *testing.T, u *subject) {
	key := s.o.Absent
	got, err := u.do(t.Context(), indirector.Find, key, nil)
	switch {
	case s.o.Invents:
		if inst, ok := got.(indirector.Instance); err != nil || !ok || inst.Key() != key {
			t.Errorf("find %q: got %v, %v; it should answer every key", key, got, err)
		}
	case s.o.Raises:
		if err == nil || errors.Is(err, indirector.ErrNotFound) {
			t.Errorf("find %q: got %v, %v; want an error of its own", key, got, err)
		}
	case !errors.Is(err, indirector.ErrNotFound):
		t.Errorf("find %q: got %v, %v; want ErrNotFound", key, got, err)
	}
}

func (s *suite) searchNothing(t *testing.T, u *subject) {
	key := "absent*"
	if s.o.Absent != defaultAbsent {
		key = s.o.Absent
	}
	got, err := u.do(t.Context(), indirector.Search, key, nil)
	if errors.Is(err, indirector.ErrNotFound) {
		return
	}
	if list, ok := got.([]indirector.Instance); err != nil || !ok || list == nil || len(list) > 0 {
		t.Errorf("search on nothing: got %#v, %v; want an empty list that is not nil", got, err)
	}
}

func (s *suite) head(t *testing.T, u *subject) {
	u.seed(t)
	for key := range s.o.Seed {
		if got, err := u.do(t.Context(), indirector.Head, key, nil); err != nil || got != true {
			t.Errorf("head %q: got %v, %v; want true", key, got, err)
		}
	}
	if got, err := u.do(t.Context(), indirector.Head, s.o.Absent, nil); err != nil && !errors.Is(err, indirector.ErrNotFound) || got != false {
		t.Errorf("head of nothing: got %v, %v; want false", got, err)
	}
}

func (s *suite) destroyTwice(t *testing.T, u *subject) {
	u.seed(t)
	for _, key := range s.keysOfSeed() {
		if got, err := u.do(t.Context(), indirector.Destroy, key, nil); err != nil || got == nil {
			t.Errorf("destroy %q: got %v, %v; want an answer", key, got, err)
		}
		// The second answer differs between families; it must be in Puppet's
		// words, and must not bring the entry back.
		_, err := u.do(t.Context(), indirector.Destroy, key, nil)
		if failure := (*indirector.Failure)(nil); err != nil && !errors.As(err, &failure) {
			t.Errorf("destroy %q again: %v is no Failure with Puppet's words", key, err)
		}
		if u.can[indirector.Find] == nil {
			continue
		}
		if got, err := u.do(t.Context(), indirector.Find, key, nil); !errors.Is(err, indirector.ErrNotFound) {
			t.Errorf("find %q after destroy: got %v, %v; want ErrNotFound", key, got, err)
		}
	}
}

// hostileKeys are keys that try to escape from a directory.
var hostileKeys = []string{
	"..", "../x", "..x", "a/../b", "a/b", "/abs", `a\b`, "c:", "C:x", "\x00", "a\x00b", "x\n../y",
	"", ".", " ", "*", "a*", "{a,b}", "[", "~", "%2e%2e", "-flag", "x\ty", "\xff\xfe", "日本", strings.Repeat("n", 300),
}

// keys tries hostileKeys. Nothing may change outside of the directory; with
// rule IND-KEY-01 those that are no names are refused.
func (s *suite) keys(t *testing.T, u *subject) {
	if err := os.WriteFile(filepath.Join(u.root, "x"), []byte("outside"), 0o666); err != nil {
		t.Fatal(err)
	}
	before := outside(t, u)
	var inst indirector.Instance
	for _, key := range s.keysOfSeed() {
		inst = s.o.Seed[key]
	}
	for i, key := range hostileKeys {
		for _, verb := range []indirector.Verb{indirector.Save, indirector.Find, indirector.Head, indirector.Search, indirector.Destroy} {
			if verb == indirector.Save && inst == nil || u.can[verb] == nil {
				continue
			}
			_, err := u.do(t.Context(), verb, key, inst)
			refuses := slices.Contains(s.d.Rules, "IND-KEY-01") && !s.o.OneEntry && !(verb == indirector.Search && s.o.AnySearch)
			if refuses && i < 12 && !errors.Is(err, indirector.ErrInvalid) {
				t.Errorf("%v %q: got %v, want it refused (IND-KEY-01)", verb, key, err)
			}
		}
	}
	if after := outside(t, u); !slices.Equal(before, after) {
		t.Errorf("files outside of its directory: got %q, want %q", after, before)
	}
}

// outside lists root without dir.
func outside(t *testing.T, u *subject) []string {
	var found []string
	err := filepath.WalkDir(u.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == u.dir {
			return fs.SkipDir
		}
		info, err := d.Info()
		found = append(found, fmt.Sprint(path, info.Mode()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (s *suite) expiration(t *testing.T, u *subject) {
	keeps := s.d.KeepsExpiry
	if k, ok := u.terminus.(indirector.Keeper); ok {
		keeps = k.KeepsExpiry()
	}
	for _, key := range s.keysOfSeed() {
		e, ok := s.o.Seed[key].(indirector.Expirer)
		if !ok {
			continue
		}
		dated := e.WithExpiration(time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC))
		at := dated.(indirector.Expirer).Expiration() // a certificate's cannot be chosen
		if _, err := u.do(t.Context(), indirector.Save, key, dated); err != nil {
			t.Fatal(err)
		}
		got, err := u.do(t.Context(), indirector.Find, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, ok := got.(indirector.Expirer)
		if !ok {
			t.Fatalf("find %q: %T has no expiration", key, got)
		}
		if kept := found.Expiration().Equal(at); kept != keeps {
			t.Errorf("expiration %v came back as %v; KeepsExpiry is %v", at, found.Expiration(), keeps)
		}
		if p, ok := u.terminus.(indirector.Peeker); ok {
			entry, err := p.Peek(t.Context(), key)
			if err != nil || entry.Expiration.Equal(at) != keeps {
				t.Errorf("peek %q: expiration %v, %v; want %v", key, entry.Expiration, err, at)
			}
		}
	}
}

func (s *suite) listAndPeek(t *testing.T, u *subject) {
	l, lists := u.terminus.(indirector.Lister)
	p, peeks := u.terminus.(indirector.Peeker)
	if !lists || !peeks {
		return
	}
	list := func() (keys []string) {
		err := l.List(t.Context(), func(e indirector.Entry) bool {
			if e.Indirection != s.d.Indirection || e.Terminus != s.d.Name || e.Err != nil {
				t.Errorf("list: %+v", e)
			}
			keys = append(keys, e.Key)
			return true
		})
		if err != nil {
			t.Errorf("list: %v", err)
		}
		slices.Sort(keys)
		return keys
	}
	if keys := list(); len(keys) > 0 {
		t.Errorf("list before anything is saved: %q", keys)
	}
	u.seed(t)
	want := s.keysOfSeed()
	if keys := list(); !s.o.OneEntry && !slices.Equal(keys, want) || s.o.OneEntry && len(keys) != min(1, len(want)) {
		t.Errorf("list: got %q, want %q", keys, want)
	}
	for _, key := range want {
		if e, err := p.Peek(t.Context(), key); err != nil || e.Key != key || e.KeepsExpiry != s.d.KeepsExpiry {
			t.Errorf("peek %q: %+v, %v", key, e, err)
		}
	}
	if e, err := p.Peek(t.Context(), s.o.Absent); !s.o.OneEntry && (err != nil || e.Key != "") {
		t.Errorf("peek of nothing: %+v, %v", e, err)
	}
	seen := 0
	if err := l.List(t.Context(), func(indirector.Entry) bool { seen++; return false }); err != nil || seen > 1 {
		t.Errorf("list goes on after yield said no: %d, %v", seen, err)
	}
}

// manyAtOnce uses the same entries from several goroutines, best under the race
// detector.
func (s *suite) manyAtOnce(t *testing.T, u *subject) {
	verbs := []indirector.Verb{indirector.Save, indirector.Find, indirector.Search, indirector.Head, indirector.Destroy, indirector.Save}
	var workers sync.WaitGroup
	for i := range 4 {
		workers.Go(func() {
			for n := range 12 {
				for key, inst := range s.o.Seed {
					verb := verbs[(i+n)%len(verbs)]
					v, err := u.do(t.Context(), verb, key, inst)
					found, isInst := v.(indirector.Instance)
					switch {
					case errors.Is(err, indirector.ErrNotFound), errors.Is(err, indirector.ErrVerbMissing):
					case err != nil && verb != indirector.Destroy:
						t.Errorf("%v %q: %v", verb, key, err)
					case verb == indirector.Find && (!isInst || found.Key() == "" && inst.Key() != ""):
						t.Errorf("find %q: got %v, which is a part of what was saved", key, v)
					}
				}
			}
		})
	}
	workers.Wait()
}

// cancelled uses a cancelled context. An answer that needs no waiting is fine.
func (s *suite) cancelled(t *testing.T, u *subject) {
	u.seed(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for key, inst := range s.o.Seed {
		for verb := indirector.Find; verb < indirector.Expire; verb++ {
			v, err := u.do(ctx, verb, key, inst)
			if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, indirector.ErrNotFound) && !errors.Is(err, indirector.ErrVerbMissing) {
				t.Errorf("%v %q with a cancelled context: got %v, %v; want an answer or context.Canceled", verb, key, v, err)
			}
		}
	}
}
