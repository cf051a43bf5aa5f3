package indirector_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/golden"
	"indirtui/indirector/terminustest"
	"indirtui/traces"
)

// recorded reads a file of the recorded answers of real Puppet: the copy in
// testdata, or the set that INDIRTUI_GOLDEN names.
func recorded(t *testing.T, part ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(golden.Path(t, part...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var (
	past   = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	future = time.Date(2199, 1, 2, 3, 4, 5, 0, time.UTC)
	now    = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
)

// widget is the model of the golden cases.
type widget struct {
	name, origin string
	at           time.Time
}

func (w widget) Key() string           { return w.name }
func (w widget) RubyClass() string     { return "GoldenWidget" }
func (w widget) Expiration() time.Time { return w.at }
func (w widget) WithExpiration(t time.Time) indirector.Instance {
	w.at = t
	return w
}

// other is an instance that is not of the model, bare one without expiration.
type (
	other struct{ name string }
	bare  struct{ name, origin string }
)

func (o other) Key() string       { return o.name }
func (o other) RubyClass() string { return "GoldenOther" }
func (b bare) Key() string        { return b.name }
func (b bare) String() string {
	return fmt.Sprintf("#<GoldenBare:0xXXXX @name=%q, @origin=%q>", b.name, b.origin)
}

// script is what the scripted termini do, and what they saw.
type script struct {
	label string
	acts  map[string]json.RawMessage
	calls *[]any
	step  *goldenStep // that is being taken
}

func (s *script) next(verb string) (string, bool) {
	raw, ok := s.acts[verb]
	if !ok {
		return "", false
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		if len(list) == 0 {
			return "", false
		}
		s.acts[verb], _ = json.Marshal(list[1:])
		raw = list[0]
	}
	var kind any
	_ = json.Unmarshal(raw, &kind)
	if kind == nil {
		return "", false
	}
	return fmt.Sprint(kind), true
}

var rubyClasses = map[string]string{"raise": "Puppet::Error", "raise_runtime": "RuntimeError", "raise_argument": "ArgumentError", "raise_ioerror": "IOError"}

func (s *script) act(verb string, r *indirector.Request) (any, error) {
	kind, given := s.next(verb)
	s.record(verb, r)
	if class, ok := rubyClasses[kind]; ok {
		return nil, &indirector.Failure{Class: class, Message: s.label + " " + verb + " says no"}
	}
	switch {
	case !given && verb == "save":
		return s.label + " saved " + strings.ReplaceAll(r.Key, nilKey, ""), nil
	case !given, kind == "miss", kind == "nil":
		return nil, indirector.ErrNotFound
	}
	switch kind {
	case "false":
		return indirector.False, nil
	case "true":
		return strange{true, "true:TrueClass"}, nil
	case "hit", "slow":
		return widget{r.Key, s.label, time.Time{}}, nil
	case "expired":
		return widget{r.Key, s.label, past}, nil
	case "hit_expiring":
		return widget{r.Key, s.label, future}, nil
	case "hit_bare":
		return bare{r.Key, s.label}, nil
	case "list":
		return []indirector.Instance{widget{r.Key + "-1", s.label, time.Time{}}, widget{r.Key + "-2", s.label, future}}, nil
	case "list_expired":
		return []indirector.Instance{widget{r.Key + "-1", s.label, past}}, nil
	case "list_strings":
		return []indirector.Instance{indirector.Name("a"), indirector.Name("b")}, nil
	case "empty":
		return []indirector.Instance{}, nil
	case "not_array":
		return strange{map[string]any{"a": 1}, `{"a"=>1}:Hash`}, nil
	case "string":
		return indirector.Name(s.label + " " + verb + " result"), nil
	}
	panic("unknown act " + kind)
}

// strange is what a terminus gives that is no instance at all, and how Ruby
// calls it.
type strange struct {
	value any
	ruby  string
}

func (strange) Key() string      { return "" }
func (s strange) String() string { return s.ruby }

func (s *script) record(verb string, r *indirector.Request) {
	row := map[string]any{"terminus": s.label, "verb": verb, "method": r.Verb.String(), "key": rubyKey(r.Key)}
	if r.Verb == indirector.Expire {
		row["method"] = verb // Puppet makes a request of its own for each
	}
	if r.Instance != nil && r.Instance != indirector.False {
		row["instance"] = describe(r.Instance)
	}
	options := map[string]any{}
	for _, o := range r.Options {
		options[o.Name] = o.Value
	}
	if v, given := s.step.option("fail_on_404"); given {
		options["fail_on_404"] = v // a flag here, and an option in Puppet
	}
	if len(options) > 0 {
		row["options"] = options
	}
	if _, given := s.step.option("environment"); given {
		row["environment"] = r.Environment
	}
	if r.Remote != nil {
		// An empty node is an anonymous caller here; Puppet distinguishes ""
		// from nil.
		for name, v := range map[string]string{"node": r.Remote.Node, "ip": r.Remote.IP} {
			if v != "" {
				row[name] = v
			}
		}
		if r.Remote.Authenticated {
			row["authenticated"] = true
		}
	}
	for _, flag := range (r.Flags &^ traces.FailOn404).Names() {
		row[flag] = true
	}
	*s.calls = append(*s.calls, row)
}

// rubyKey is a key as the golden cases write it: there a key can be nil.
func rubyKey(key string) any {
	if key == nilKey {
		return nil
	}
	return key
}

const nilKey = "\x00nil"

func describe(v any) any {
	switch v := v.(type) {
	case widget:
		at := "other"
		switch {
		case v.at.IsZero():
			at = "none"
		case v.at.Equal(past):
			at = "past"
		case v.at.Equal(future):
			at = "future"
		case v.at.Sub(now).Round(2*time.Minute) == 30*time.Minute:
			at = "now+ttl"
		case now.Sub(v.at).Round(30*time.Second) == time.Minute:
			at = "now-60"
		}
		return map[string]any{"widget": rubyKey(v.name), "origin": v.origin, "expiration": at}
	case bare:
		return map[string]any{"widget": rubyKey(v.name), "origin": v.origin, "expiration": "unsupported"}
	case other:
		return map[string]any{"other": v.name}
	case indirector.Name:
		return string(v)
	case strange:
		return v.value
	case []indirector.Instance:
		list := make([]any, len(v))
		for i, inst := range v {
			list[i] = describe(inst)
		}
		return list
	}
	if v == indirector.False {
		return false
	}
	return v
}

// The abilities of the scripted main terminus; which of them it has depends on
// the case.
type (
	base   struct{ *script }
	header struct{ s *script }
	filter struct{ s *script }
	auth   struct{ s *script }
)

func (b base) Find(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
	v, err := b.act("find", r)
	inst, _ := v.(indirector.Instance)
	return inst, err
}

func (b base) Search(_ context.Context, r *indirector.Request) ([]indirector.Instance, error) {
	v, err := b.act("search", r)
	switch v := v.(type) {
	case []indirector.Instance:
		return v, err
	case nil:
		return nil, err
	}
	if v == indirector.False {
		return nil, indirector.ErrNotFound
	}
	return nil, indirector.ErrNotArray
}

func (b base) Save(_ context.Context, r *indirector.Request) (any, error) { return b.act("save", r) }

func (b base) Destroy(_ context.Context, r *indirector.Request) (any, error) {
	return b.act("destroy", r)
}

func (h header) Head(_ context.Context, r *indirector.Request) (bool, error) {
	v, err := h.s.act("head", r)
	return v != nil && v != indirector.False, err
}

func (f filter) Filter(_ context.Context, inst indirector.Instance) (indirector.Instance, error) {
	*f.s.calls = append(*f.s.calls, map[string]any{"terminus": "main", "verb": "filter", "instance": describe(inst)})
	kind, _ := f.s.next("filter")
	switch kind {
	case "drop":
		return nil, nil
	case "raise", "raise_runtime":
		return nil, &indirector.Failure{Class: rubyClasses[kind], Message: "main filter says no"}
	case "other":
		switch inst.(type) {
		case indirector.Name, strange:
			return nil, &indirector.Failure{Class: "NoMethodError", Message: "undefined method `name'"}
		}
		return widget{inst.Key(), "filtered", time.Time{}}, nil
	}
	return inst, nil
}

func (a auth) Authorized(_ context.Context, r *indirector.Request) bool {
	*a.s.calls = append(*a.s.calls, map[string]any{"terminus": "main", "verb": "authorized?", "key": rubyKey(r.Key)})
	answer := string(a.s.acts["authorized?"])
	return answer != "false" && answer != "null"
}

func newMain(s *script) indirector.Terminus {
	_, head := s.acts["head"]
	_, filters := s.acts["filter"]
	_, auths := s.acts["authorized?"]
	h, f, a := header{s}, filter{s}, auth{s}
	switch {
	case head && filters && auths:
		return struct {
			base
			header
			filter
			auth
		}{base{s}, h, f, a}
	case head && filters:
		return struct {
			base
			header
			filter
		}{base{s}, h, f}
	case head && auths:
		return struct {
			base
			header
			auth
		}{base{s}, h, a}
	case filters && auths:
		return struct {
			base
			filter
			auth
		}{base{s}, f, a}
	case head:
		return struct {
			base
			header
		}{base{s}, h}
	case filters:
		return struct {
			base
			filter
		}{base{s}, f}
	case auths:
		return struct {
			base
			auth
		}{base{s}, a}
	}
	return base{s}
}

func newMem() *mem { return &mem{m: map[string]indirector.Instance{}} }

// mem is a memory terminus as Puppet's: the same object comes back.
type mem struct {
	mu   sync.Mutex
	m    map[string]indirector.Instance
	keys []string // in the order in which they came
}

func (m *mem) Find(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.m[r.Key]; ok {
		return v, nil
	}
	return nil, indirector.ErrNotFound
}

func (m *mem) Head(_ context.Context, r *indirector.Request) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.m[r.Key] != nil, nil
}

func (m *mem) Search(_ context.Context, r *indirector.Request) (found []indirector.Instance, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Key == nilKey && len(m.m) > 0 {
		return nil, &indirector.Failure{Class: "NoMethodError", Message: "undefined method `include?' for nil:NilClass"}
	}
	found = []indirector.Instance{}
	keys := m.keys
	if len(keys) == 0 { // it was made with what it holds
		keys = slices.Sorted(maps.Keys(m.m))
	}
	for _, k := range keys {
		if strings.Contains(k, r.Key) {
			found = append(found, m.m[k])
		}
	}
	return found, nil
}

func (m *mem) Save(_ context.Context, r *indirector.Request) (any, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.m[r.Key]; !ok {
		m.keys = append(m.keys, r.Key)
	}
	m.m[r.Key] = r.Instance
	return r.Instance, nil
}

func (m *mem) Shared(key string, was, is indirector.Instance) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m[key] == was {
		m.m[key] = is
	}
}

func (m *mem) Destroy(_ context.Context, r *indirector.Request) (any, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.m[r.Key]
	if !ok {
		return nil, &indirector.Failure{Class: "ArgumentError", Message: "Could not find " + r.Key + " to destroy"}
	}
	delete(m.m, r.Key)
	m.keys = slices.DeleteFunc(m.keys, func(k string) bool { return k == r.Key })
	return v, nil
}

var bares = regexp.MustCompile(`#<GoldenBare:0xXXXX [^>]*>`)

var expiredAt = regexp.MustCompile(`expired at (\S+ \S+ \S+)`)

func normLogs(lines []terminustest.LogLine) []terminustest.LogLine {
	for i := range lines {
		lines[i].Message, _, _ = strings.Cut(strings.ReplaceAll(lines[i].Message, nilKey, ""), "\n") // the record has the first line only
		l := lines[i]
		if m := expiredAt.FindStringSubmatch(l.Message); m != nil && !strings.HasPrefix(m[1], "2020-01-02") {
			lines[i].Message = expiredAt.ReplaceAllString(l.Message, "expired at <TIME>")
		}
		// Only its class distinguishes one Ruby object from another.
		lines[i].Message = bares.ReplaceAllString(lines[i].Message, "(a GoldenBare)")
	}
	return lines
}

type settings map[string]string

func (s settings) Get(name string) (value, place string) { return s[name], "test" }

func environments(name string) error {
	if name == "staging" || name == "production" {
		return nil
	}
	return &indirector.EnvironmentNotFound{Name: name, Path: "<TMP>/code/environments"}
}

type goldenStep struct {
	Verb       string                 `json:"verb"`
	Key        json.RawMessage        `json:"key"`
	Name       string                 `json:"name"`
	Instance   string                 `json:"instance"`
	Options    ordered                `json:"options"`
	Calls      []any                  `json:"calls"`
	Returns    any                    `json:"returns"`
	Error      string                 `json:"error"`
	RubyError  bool                   `json:"ruby_error"`
	Exception  string                 `json:"exception"`
	Logs       []terminustest.LogLine `json:"logs"`
	StringKeys bool                   `json:"string_keys"`
}

// option returns what the caller gave for an option.
func (s *goldenStep) option(name string) (any, bool) {
	for _, o := range s.Options {
		if o.Name == name {
			return o.Value, true
		}
	}
	return nil, false
}

// ordered is a JSON object whose order counts, as Ruby's messages show it. Its
// numbers are integers where they are written so.
type ordered []indirector.Option

func (o *ordered) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	v, err := value(d)
	*o, _ = v.(ordered)
	return err
}

func (o ordered) MarshalJSON() ([]byte, error) {
	m := map[string]any{}
	for _, x := range o {
		m[x.Name] = x.Value
	}
	return json.Marshal(m)
}

// Inspect writes the object as Ruby writes a hash.
func (o ordered) Inspect() string { return o.data().Inspect() }

func (o ordered) data() data.Value {
	var pairs []data.Pair
	for _, x := range o {
		pairs = append(pairs, data.P(x.Name, asData(x.Value)))
	}
	return data.OfHash(pairs)
}

func asData(v any) data.Value {
	switch v := v.(type) {
	case bool:
		return data.OfBool(v)
	case int64:
		return data.OfInt(v)
	case float64:
		return data.OfFloat(v)
	case string:
		return data.OfString(v)
	case []any:
		var list []data.Value
		for _, e := range v {
			list = append(list, asData(e))
		}
		return data.OfList(list)
	case ordered:
		return v.data()
	}
	return data.Value{}
}

// value reads the next value.
func value(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return n, nil
		}
		return t.Float64()
	case json.Delim:
		object, list := ordered{}, []any{}
		for d.More() {
			var name any
			if t == '{' {
				if name, err = d.Token(); err != nil {
					return nil, err
				}
			}
			v, err := value(d)
			if err != nil {
				return nil, err
			}
			if t == '{' {
				object = append(object, indirector.Option{Name: name.(string), Value: v})
			} else {
				list = append(list, v)
			}
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		if t == '{' {
			return object, nil
		}
		return list, nil
	}
	return t, nil
}

type goldenCase struct {
	ID           string                     `json:"id"`
	Terminus     string                     `json:"terminus"`
	CacheEnabled bool                       `json:"cache_enabled"`
	CacheClass   string                     `json:"cache_class"`
	Main         map[string]json.RawMessage `json:"main"`
	Cache        map[string]json.RawMessage `json:"cache"`
	Steps        []goldenStep               `json:"steps"`
	Setup        *struct{ Error string }    `json:"setup"`
}

// Every rule of section 7 of the specification, as real Puppet keeps it:
// IND-FIND, IND-HEAD, IND-SRCH, IND-SAVE, IND-DEST, IND-EXP, IND-AUTH, IND-VAL.
func TestGoldenIndirection(t *testing.T) {
	t.Parallel()
	for c := range golden.Rows[goldenCase](t, golden.Path(t, "dispatch", "indirection.jsonl")) {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			runGolden(t, c)
		})
	}
}

func runGolden(t *testing.T, c goldenCase) {
	var calls []any
	step, log := new(goldenStep), &terminustest.Log{Least: slog.LevelDebug}
	x := newGolden(t, c, &calls, step, log)
	if x == nil {
		return
	}
	for i, s := range c.Steps {
		*step = s
		calls = nil
		log.Take()
		key, inst, keyed := s.subject()
		req := indirector.NewRequest("golden_widget", traces.ParseVerb(s.Verb), key, inst, s.Options)
		req.Keyed = keyed
		resp, err := x.Do(t.Context(), req)
		var value any
		if err == nil {
			value = describe(resp.Value)
		}
		if errors.Is(err, indirector.ErrNotFound) {
			err = nil
		}
		if v, ok := value.(indirector.Name); ok {
			value = string(v)
		}
		if _, given := s.option("fail_on_404"); given && s.Verb == "find" && s.Returns == nil && s.Exception == "" {
			err = nil // it works for every terminus, and for REST only in Puppet: gap L8
		}
		s.check(t, i, value, err)
		for _, call := range s.Calls {
			row := call.(map[string]any)
			for k, v := range row {
				switch k {
				case "ignore_cache", "ignore_cache_save", "ignore_terminus", "authenticated":
					row[k] = true
					if v == false {
						delete(row, k) // Puppet distinguishes false from nil; a flag is set or not
					}
				}
			}
		}
		if d := cmp.Diff(s.Calls, jsonable(calls)); d != "" && !(len(s.Calls) == 0 && len(calls) == 0) {
			t.Errorf("step %d: calls (-want +got):\n%s", i, d)
		}
		if d := cmp.Diff(normLogs(s.Logs), normLogs(log.Take())); d != "" {
			t.Errorf("step %d: logs (-want +got):\n%s", i, d)
		}
	}
}

// newGolden returns the Indirector of a case, or nil if its routes are refused
// as recorded.
func newGolden(t *testing.T, c goldenCase, calls *[]any, step *goldenStep, log *terminustest.Log) *indirector.Indirector {
	t.Helper()
	main := &script{"main", c.Main, calls, step}
	cache := &script{"cache", c.Cache, calls, step}
	cacheTerminus := struct {
		base
		header
	}{base{cache}, header{cache}}
	one := func(x indirector.Terminus) func(indirector.Env) (indirector.Terminus, error) {
		return func(indirector.Env) (indirector.Terminus, error) { return x, nil }
	}
	m := newMem()
	reg, err := indirector.NewRegistry(
		[]indirector.Spec{{
			Name: "golden_widget", Class: "GoldenWidget", Default: "unset",
			Model: func(i indirector.Instance) bool { _, ok := i.(widget); return ok },
		}},
		[]indirector.Descriptor{
			{Indirection: "golden_widget", Name: "main", KeepsExpiry: true, Type: newMain(main), New: one(newMain(main))},
			{Indirection: "golden_widget", Name: "cache", KeepsExpiry: true, Type: cacheTerminus, New: one(cacheTerminus)},
			{Indirection: "golden_widget", Name: "memory", KeepsExpiry: true, Type: m, New: one(m)},
		})
	if err != nil {
		t.Fatal(err)
	}
	x, err := indirector.New(indirector.Config{
		Registry: reg, Routes: indirector.Routes{}, Settings: settings{"runinterval": "1800"},
		Now: func() time.Time { return now }, Log: slog.New(log), Environments: environments, Recorder: new(terminustest.Recorder),
	})
	if err != nil {
		t.Fatal(err)
	}
	var setup error
	if c.Terminus != "unset" {
		setup = x.Assign("golden_widget", indirector.SlotTerminus, traces.Choice{Terminus: c.Terminus, Kind: traces.FromApplication})
	}
	switch {
	case c.CacheClass != "":
		setup = errors.Join(setup, x.Assign("golden_widget", indirector.SlotCache, traces.Choice{Terminus: c.CacheClass, Kind: traces.FromApplication}))
	case c.CacheEnabled:
		setup = errors.Join(setup, x.Assign("golden_widget", indirector.SlotCache, traces.Choice{Terminus: "cache", Kind: traces.FromApplication}))
	}
	if c.Setup != nil {
		if setup == nil || indirector.Message(setup) != c.Setup.Error {
			t.Errorf("setup: got %v, want %s", setup, c.Setup.Error)
		}
		return nil
	}
	if setup != nil {
		t.Fatal(setup)
	}
	return x
}

// subject returns key and instance of the request, and whether the key is given.
func (s goldenStep) subject() (key string, inst indirector.Instance, keyed bool) {
	key = "k1"
	if string(s.Key) == "null" {
		key = nilKey
	} else if s.Key != nil {
		_ = json.Unmarshal(s.Key, &key)
	}
	if s.Verb == "save" {
		name := s.Name
		if name == "" {
			name = "k1"
		}
		switch s.Instance {
		case "other":
			inst = other{name}
		case "none":
		default:
			inst = widget{name, "caller", time.Time{}}
		}
		if s.Key == nil || key == nilKey {
			if inst == nil {
				return nilKey, inst, true
			}
			return "", inst, false
		}
	}
	return key, inst, true
}

// check compares what the request returned.
func (s goldenStep) check(t *testing.T, i int, value any, err error) {
	t.Helper()
	switch {
	case s.Exception != "" && err == nil:
		t.Errorf("step %d: got %v, want error %s", i, value, s.Error)
	case s.Exception != "" && !s.RubyError && strings.ReplaceAll(indirector.Message(err), nilKey, "") != s.Error:
		t.Errorf("step %d: got error %q, want %q", i, indirector.Message(err), s.Error)
	case s.Exception == "" && err != nil:
		t.Errorf("step %d: got error %v, want %v", i, err, s.Returns)
	case s.Exception == "":
		if d := cmp.Diff(s.Returns, jsonable(value)); d != "" {
			t.Errorf("step %d: returns (-want +got):\n%s", i, d)
		}
	}
}

func jsonable(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	_ = json.Unmarshal(b, &out)
	return out
}

// Rules IND-REQ-01 to IND-REQ-13.
func TestGoldenURIs(t *testing.T) {
	t.Parallel()
	type result struct {
		Key           *string        `json:"key"`
		URI           *string        `json:"uri"`
		Server        *string        `json:"server"`
		Port          *int           `json:"port"`
		Protocol      *string        `json:"protocol"`
		Description   string         `json:"description"`
		Plural        bool           `json:"plural"`
		Remote        bool           `json:"remote"`
		Authenticated bool           `json:"authenticated"`
		Environment   string         `json:"environment"`
		Options       map[string]any `json:"options"`
		ToHash        map[string]any `json:"to_hash"`
	}
	var cases []struct {
		ID          string  `json:"id"`
		Key         *string `json:"key"`
		Instance    string  `json:"instance"`
		Method      string  `json:"method"`
		Indirection string  `json:"indirection"`
		Options     ordered `json:"options"`
		Result      *result `json:"result"`
		Error       string  `json:"error"`
	}
	if err := json.Unmarshal(recorded(t, "dispatch", "uris.json"), &cases); err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			saw := new(seen)
			x := saw.indirector(t)
			var key string
			if c.Key != nil {
				key = *c.Key
			}
			var inst indirector.Instance
			if c.Instance != "" {
				inst = other{c.Instance}
			}
			ind, verb := "golden_widget", indirector.Find
			if c.Indirection != "" {
				ind = c.Indirection
			}
			if c.Method != "" {
				verb = traces.ParseVerb(c.Method)
			}
			req := indirector.NewRequest(ind, verb, key, inst, c.Options)
			req.Keyed = c.Key != nil
			ignores := req.Flags & traces.IgnoreTerminus
			req.Flags &^= ignores // or the request would not be seen
			_, err := x.Do(t.Context(), req)
			if c.Error != "" {
				if got := indirector.Message(err); got != c.Error {
					t.Errorf("got error %q, want %q", got, c.Error)
				}
				return
			}
			if saw.req == nil {
				t.Fatalf("not asked: %v", err)
			}
			r, want := saw.req, *c.Result
			r.Flags |= ignores
			got := result{Description: r.Description(), Plural: r.Verb == indirector.Search, Remote: r.IsRemote(), Environment: r.Environment}
			got.Authenticated = r.Remote != nil && r.Remote.Authenticated
			got.Key = &r.Key
			if c.Result.Key == nil && r.Key == "" {
				got.Key = nil
			}
			if r.URI != nil {
				got.URI = &r.URI.Text
				if r.URI.Protocol != "" {
					got.Protocol, got.Port = &r.URI.Protocol, &r.URI.Port
				}
				if r.URI.Server != "" {
					got.Server = &r.URI.Server
				}
			}
			if v, given := (&goldenStep{Options: c.Options}).option("fail_on_404"); given {
				// A flag here, and an option in Puppet.
				delete(want.Options, "fail_on_404")
				want.ToHash["fail_on_404"] = v
			}
			got.Options, got.ToHash = map[string]any{}, map[string]any{}
			for _, o := range r.Options {
				got.Options[o.Name] = o.Value
			}
			for _, o := range r.Attributes() {
				got.ToHash[o.Name] = o.Value
			}
			got.ToHash["environment"] = map[string]any{"environment": r.Environment}
			for _, name := range []string{"instance", "authenticated"} {
				// An instance is no option here, and a flag has no text.
				if v, ok := want.ToHash[name]; ok && name == "instance" {
					delete(want.ToHash, name)
				} else if ok {
					want.ToHash[name] = v != false
				}
			}
			for _, flag := range r.Flags.Names() {
				want.ToHash[flag] = true
			}
			got.Options, got.ToHash = jsonable(got.Options).(map[string]any), jsonable(got.ToHash).(map[string]any)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// seen notes the request that reaches it.
type seen struct{ req *indirector.Request }

// indirector returns an Indirector with two indirections that reach saw.
func (saw *seen) indirector(t *testing.T) *indirector.Indirector {
	t.Helper()
	spec := func(name string) indirector.Spec {
		return indirector.Spec{
			Name: name, Class: name, Default: "x",
			KeyMatches: func(indirector.Instance, string) error { return nil },
		}
	}
	var termini []indirector.Descriptor
	for _, name := range []string{"golden_widget", "catalog"} {
		termini = append(termini, indirector.Descriptor{
			Indirection: name, Name: "x", Type: saw,
			New: func(indirector.Env) (indirector.Terminus, error) { return saw, nil },
		})
	}
	reg, err := indirector.NewRegistry([]indirector.Spec{spec("golden_widget"), spec("catalog")}, termini)
	if err != nil {
		t.Fatal(err)
	}
	routes := indirector.Routes{}
	for _, name := range reg.Names() {
		routes[name] = indirector.Route{Primary: traces.Slot{{Terminus: "x", Kind: traces.FromDeclaration}}}
	}
	x, err := indirector.New(indirector.Config{Registry: reg, Routes: routes, Environments: environments})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (s *seen) Find(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
	s.req = r
	return nil, indirector.ErrNotFound
}

func (s *seen) Search(_ context.Context, r *indirector.Request) ([]indirector.Instance, error) {
	s.req = r
	return nil, nil
}

func (s *seen) Head(_ context.Context, r *indirector.Request) (bool, error) {
	s.req = r
	return false, nil
}

func (s *seen) Save(_ context.Context, r *indirector.Request) (any, error) {
	s.req = r
	return nil, nil
}

func (s *seen) Destroy(_ context.Context, r *indirector.Request) (any, error) {
	s.req = r
	return nil, nil
}
