package query_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/traces"
	"indirtui/traces/query"
)

var now = time.Date(2025, 11, 20, 14, 2, 17, 0, time.UTC)

// A world is a list of requests, numbered from 1, with marks.
type world []*request

type request struct {
	row    query.Row
	trace  *traces.Trace
	all    world
	looked *int // how often the detail was asked for
}

func (r *request) Row() *query.Row { return &r.row }

func (r *request) Trace() *traces.Trace {
	if r.looked != nil {
		*r.looked++
	}
	return r.trace
}

func (r *request) Related(to query.Relation, match func(query.Subject) bool) bool {
	i := slices.Index(r.all, r)
	inRun := func(o *request) bool { return r.row.Run != "" && o.row.Run == r.row.Run }
	switch to {
	case query.Parent:
		return r.row.Parent != 0 && match(r.all[r.row.Parent-1])
	case query.Children:
		return slices.ContainsFunc(r.all, func(o *request) bool { return o.row.Parent == r.row.ID && match(o) })
	case query.Run:
		return slices.ContainsFunc(r.all, func(o *request) bool { return (o == r || inRun(o)) && match(o) })
	case query.Previous:
		for _, o := range slices.Backward(r.all[:i]) {
			if inRun(o) {
				return match(o)
			}
		}
	case query.Next:
		for _, o := range r.all[i+1:] {
			if inRun(o) {
				return match(o)
			}
		}
	}
	return false
}

func newWorld(all ...traces.Trace) world {
	w := make(world, len(all))
	for i := range all {
		t := &all[i]
		t.ID = uint64(i + 1)
		if t.Start.IsZero() {
			t.Start = now
		}
		w[i] = &request{row: query.RowOf(t), trace: t, all: w}
	}
	return w
}

func (w world) seq() iter.Seq[query.Subject] {
	return func(yield func(query.Subject) bool) {
		for _, r := range w {
			if !yield(r) {
				return
			}
		}
	}
}

func (w world) matched(e *query.Expr) []uint64 {
	var ids []uint64
	for _, r := range w {
		if e.Match(r) {
			ids = append(ids, r.row.ID)
		}
	}
	return ids
}

func slot(terminus string, by traces.SourceKind) traces.Slot {
	return traces.Slot{{Terminus: terminus, Kind: by}}
}

// demo is a short story in which everything happens that the language can ask
// about.
func demo() world {
	all := []traces.Trace{
		0: {
			Verb: traces.Find, Indirection: "node", Key: "web01.example.com", Outcome: traces.Good, Served: traces.ByTerminus,
			Primary: slot("exec", traces.FromSetting), Took: 412 * time.Millisecond, Run: "8f3c", Caller: "agent", Environment: "production",
			Start: now.Add(-2 * time.Hour), Values: &traces.Values{Answer: traces.Value{Model: "node", Size: 1204}},
		},
		1: {
			Verb: traces.Find, Indirection: "facts", Key: "web01.example.com", Outcome: traces.Hit, Served: traces.ByCache,
			Primary: slot("facter", traces.FromDeclaration), Cache: slot("json", traces.FromSetting), Took: 2 * time.Millisecond,
			Run: "8f3c", RunGuessed: true, Caller: "agent", Environment: "production", Start: now.Add(-time.Hour - time.Second),
		},
		2: {
			Verb: traces.Find, Indirection: "catalog", Key: "web01.example.com", Outcome: traces.Err, Served: traces.ByNone,
			Primary: slot("rest", traces.FromApplication), Cache: slot("json", traces.FromSetting), Took: 8153 * time.Millisecond,
			Run: "8f3c", Caller: "agent", Environment: "production", Flags: traces.IgnoreCache,
			Error: "Error 500 on SERVER: Unknown variable: role", Start: now.Add(-10 * time.Minute),
			Options: []traces.Option{{Name: "checksum_type", Value: "md5"}},
			Faults:  []traces.Fault{{Origin: "terminus rest", Step: traces.Terminus, Message: "Error 500 on SERVER: Unknown variable: role", Shown: true}},
			Spans: []traces.Span{
				{
					ID: 1, Step: traces.Terminus, Kind: traces.Network, Name: "POST catalog", Took: 30 * time.Millisecond, Err: "connection refused",
					Attrs: []traces.Attr{{Key: "server", Value: "old:8140"}},
				},
				{
					ID: 2, Step: traces.Terminus, Kind: traces.Network, Name: "POST catalog", Took: 8107 * time.Millisecond, Answer: "500, 214 bytes",
					Attrs: []traces.Attr{{Key: "server", Value: "puppet:8140"}, {Key: "http.status", Value: "500"}, {Key: "http.method", Value: "POST"}, {Key: "http.path", Value: "/puppet/v3/catalog/web01"}},
				},
			},
		},
		3: {
			Verb: traces.Find, Indirection: "catalog", Key: "web01.example.com", Outcome: traces.Stale, Served: traces.ByCache,
			Primary: slot("rest", traces.FromApplication), Cache: slot("json", traces.FromSetting), Took: 31 * time.Millisecond,
			Run: "8f3c", Caller: "agent", Environment: "production", Flags: traces.IgnoreTerminus, Start: now.Add(-9 * time.Minute),
			Traceparent: &traces.Traceparent{
				Trace: [16]byte{0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36},
				Span:  [8]byte{0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7}, Flags: 1,
			},
			Spans: []traces.Span{
				{
					ID: 1, Step: traces.CacheRead, Kind: traces.File, Name: "read web01.example.com.json", Took: 2 * time.Millisecond,
					Attrs: []traces.Attr{{Key: "written", Value: now.Add(-9*time.Minute - 91*time.Minute).Format(time.RFC3339)}},
				},
				{
					ID: 2, Step: traces.CacheRead, Kind: traces.Codec, Name: "decode json", Took: time.Millisecond,
					Because: traces.Because{Reason: traces.Lossy, About: "expiration"},
				},
			},
		},
		4: {
			Verb: traces.Find, Indirection: "file_metadata", Key: "modules/app/a.conf", Outcome: traces.NilHidden,
			Primary: slot("rest", traces.FromDeclaration), Took: 12 * time.Millisecond, Run: "8f3c", Caller: "agent", Environment: "production",
			Start: now.Add(-4 * time.Minute),
			Spans: []traces.Span{{
				ID: 1, Step: traces.Terminus, Kind: traces.Network, Name: "GET file_metadata", Took: 11 * time.Millisecond,
				Attrs: []traces.Attr{{Key: "http.status", Value: "404"}, {Key: "server", Value: "puppet:8140"}, {Key: "environment", Value: "qa"}},
			}},
		},
		5: {
			Verb: traces.Save, Indirection: "report", Key: "web01.example.com", Outcome: traces.Part,
			Primary: slot("rest", traces.FromDeclaration), Cache: slot("yaml", traces.FromRoutesFile), Took: 140 * time.Millisecond,
			Run: "8f3c", Caller: "agent", Environment: "production", Error: "disk full", Start: now.Add(-3 * time.Minute),
		},
		6: {
			Verb: traces.Find, Indirection: "node", Key: "db07.example.com", Outcome: traces.Nil, Served: traces.ByNone,
			Primary: slot("exec", traces.FromSetting), Took: 398 * time.Millisecond, Run: "9c02", Caller: "agent", Environment: "qa",
		},
		7: {
			Verb: traces.Find, Indirection: "catalog", Key: "db07.example.com", Outcome: traces.ErrHidden, Served: traces.ByTerminus,
			Primary: slot("compiler", traces.FromYou), Took: 1500 * time.Millisecond, Run: "9c02", Caller: "agent", Environment: "qa",
			Faults: []traces.Fault{{Origin: "cache-read json", Step: traces.CacheRead, Message: "bad JSON", Hidden: "at byte 4096 of Cache.json"}},
		},
		8: {
			Verb: traces.Save, Indirection: "facts", Key: "db07.example.com", Outcome: traces.Good, Served: traces.ByNone, Parent: 8,
			Primary: slot("puppetdb", traces.FromStoreconfigs), Took: 88 * time.Millisecond, Run: "9c02", Caller: "terminus", Environment: "qa",
		},
		9: {
			Verb: traces.Find, Indirection: "catalog", Key: "app03.example.com", Outcome: traces.Run, Caller: "you", Environment: "qa",
			Primary: slot("rest", traces.FromApplication),
		},
	}
	all[2].Steps[traces.Route] = traces.Question{Answer: traces.Chosen, Because: traces.Because{Reason: traces.ByApplication}}
	all[2].Steps[traces.CacheRead] = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.IgnoredByCaller}}
	all[2].Steps[traces.Terminus] = traces.Question{Answer: traces.Raised, Took: 8150 * time.Millisecond, Because: traces.Because{Reason: traces.TerminusRaised}}
	all[3].Steps[traces.CacheRead] = traces.Question{Answer: traces.Found, Took: 4 * time.Millisecond, Because: traces.Because{Reason: traces.CacheFound}}
	all[3].Steps[traces.Expiry] = traces.Question{Answer: traces.Expired, Because: traces.Because{Reason: traces.ExpiredAt, About: "yesterday"}}
	all[3].Steps[traces.Terminus] = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.SkippedIgnoreTerminus}}
	all[6].Steps[traces.Terminus] = traces.Question{Answer: traces.Nothing, Took: 397 * time.Millisecond, Because: traces.Because{Reason: traces.NilFromEmptyOutput}}
	all[8].Steps[traces.Route] = traces.Question{Answer: traces.NotAsked}
	w := newWorld(all...)
	w[3].row.Mark = 'a'
	w[6].row.Mark = '*'
	w[4].row.Note, w[4].row.Tag = "look at this", "incident"
	w[5].row.Source, w[5].row.Thread = "proxy", "1"
	return w
}

func TestMatch(t *testing.T) {
	t.Parallel()
	all := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	tests := []struct {
		name, expr string
		want       []uint64
	}{
		{"empty", "", all},

		// The examples of the design.
		{"example", "web01", []uint64{1, 2, 3, 4, 6}},
		{"example", "out=stale", []uint64{4}},
		{"example", "hidden t>-1h", []uint64{4, 5, 6, 8}},
		{"example", "ind=catalog took>5s step(terminus took>4s)", []uint64{3}},
		{"example", "ind=facts served=cache setby=setting", []uint64{2}},
		{"example", `out=part or err~"connection refused"`, []uint64{3, 6}},
		{"example", "http.status in (404,403) and not key=plugins*", []uint64{5}},
		{"example", "node=db07* prev(ind=node out=nil)", []uint64{8}},
		{"example", "run(out=stale)", []uint64{1, 2, 3, 4, 5, 6}},
		{"example", "@marked or #8..9", []uint64{4, 7, 8, 9}},

		{"rule 1: = knows no case", "key=WEB01.EXAMPLE.COM", nil},
		{"rule 1: = knows no case", "env=production key=web01.example.com verb=find ind=node", []uint64{1}},
		{"rule 1: a capital letter does", "err=*unknown*", []uint64{3}},
		{"rule 1: a capital letter does", "err=*Unknown*", []uint64{3}},
		{"rule 1: a capital letter does", "err=*UNKNOWN*", nil},
		{"rule 1: words too", "unknown", []uint64{3}},
		{"rule 1: words too", "UNKNOWN", nil},
		{"rule 1: = is about all of it", "key=web01", nil},
		{"rule 1: *", "key=*01*", []uint64{1, 2, 3, 4, 6}},
		{"rule 1: *", "key=w*.c*m", []uint64{1, 2, 3, 4, 6}},
		{"rule 1: *", "key=*", all},
		{"rule 1: * does not overlap", "run=8f*f3c", nil},
		{"rule 1: * in a closed list", "out=err*", []uint64{3, 8}},
		{"rule 1: ~ is RE2", "key~^(web|app)0[13]\\.", []uint64{1, 2, 3, 4, 6, 10}},
		{"rule 1: ~ is RE2 and knows case", "key~WEB", nil},
		{"rule 1: ~ is RE2 and knows case", "key~(?i)WEB01", []uint64{1, 2, 3, 4, 6}},
		{"rule 1: ~ in a closed list", "out~^nil", []uint64{5, 7}},
		{"rule 1: !~", "ind=catalog key!~web", []uint64{8, 10}},

		{"rule 2: any value", "server=puppet:8140", []uint64{3, 5}},
		{"rule 2: any value", "server=old:8140", []uint64{3}},
		{"rule 2: != is none of them", "server!=old:8140", []uint64{5}},
		{"rule 2: != is none of them", "server!=puppet:8140", nil},
		{"rule 2: !~ is none of them", "server!~old", []uint64{5}},
		{"rule 2: != a list is none of the list", "http.status!=(404, 200)", []uint64{3}},
		{"rule 2: in", "key in (db07*, app*)", []uint64{7, 8, 9, 10}},

		{"rule 3: missing never matches", "cache=json", []uint64{2, 3, 4}},
		{"rule 3: missing never matches, not !=", "cache!=json", []uint64{6}},
		{"rule 3: missing never matches, not !~", "cache!~json", []uint64{6}},
		{"rule 3: missing never matches, not <", "http.status<1000", []uint64{3, 5}},
		{"rule 3: missing never matches, not >=", "step.terminus.took>=0", []uint64{3, 7}},
		{"rule 3: not of a comparison does", "not cache=json", []uint64{1, 5, 6, 7, 8, 9, 10}},
		{"rule 3: a field alone is there", "cache", []uint64{2, 3, 4, 6}},
		{"rule 3: not a field is absence", "not cache", []uint64{1, 5, 7, 8, 9, 10}},
		{"rule 3: what runs took nothing yet", "took>=0", []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"rule 3: what runs took nothing yet", "not took", []uint64{10}},

		{"rule 4: one step fulfils all", "step(terminus took>4s)", []uint64{3}},
		{"rule 4: one step fulfils all", "step(cache-read took>4s)", nil},
		{"rule 4: without it, different steps", "because=expired because=found", []uint64{4}},
		{"rule 4: without it, different steps", "step(because=expired because=found)", nil},
		{"rule 4: a span is a step", "step(server=old:8140 http.status=500)", nil},
		{"rule 4: a span is a step", "server=old:8140 http.status=500", []uint64{3}},
		{"rule 4: a span has the answer of its step", "step(terminus answer=raised http.status=500 took<8110ms)", []uint64{3}},
		{"rule 4: a fault is of its step", "step(terminus err=*bad*)", nil},
		{"rule 4: a fault is of its step", "step(cache-read err=*bad*)", []uint64{8}},
		{"rule 4: two words of a step", "step(cache read answer=found)", []uint64{4}},
		{"rule 4: a request inside", "step(expiry answer=expired ind=catalog)", []uint64{4}},

		{"unit", "took>1500ms", []uint64{3}},
		{"unit", "took>=1500ms", []uint64{3, 8}},
		{"unit", "took>=1.5s", []uint64{3, 8}},
		{"unit", "took=1500000us", []uint64{8}},
		{"unit", "took<0.05m took>1s", []uint64{8}},
		{"unit", "age>1h30m", []uint64{4}},
		{"unit", "age<=1.5h", nil},
		{"unit", "size>=1.2kB", []uint64{1}},
		{"unit", "size<0.001205MB", []uint64{1}},
		{"unit", "size=1204B", []uint64{1}},
		{"unit", "size=1204", []uint64{1}},
		{"unit", "took in (2ms, 12ms)", []uint64{2, 5}},

		{"time", "t>-5m", []uint64{5, 6, 7, 8, 9, 10}},
		{"time", "t<-1h", []uint64{1, 2}},
		{"time", "t=14:02", []uint64{7, 8, 9, 10}},
		{"time", "t=14:02:17", []uint64{7, 8, 9, 10}},
		{"time", "t=14:02:18", nil},
		{"time", "t=13:52..13:53", []uint64{3, 4}},
		{"time", "t=13:52..13:52", []uint64{3}},
		{"time", "t!=14:02", []uint64{1, 2, 3, 4, 5, 6}},
		{"time", "t<13:00", []uint64{1}},
		{"time", "t>=13:59 t<14:02", []uint64{6}},
		{"time", "t=23:00..13:00", []uint64{1}},
		{"time", "t=2025-11-20", all},
		{"time", "t=2025-11-19", nil},
		{"time", "t>2025-11-20", nil},
		{"time", "t<=2025-11-20T12:02", []uint64{1}},
		{"time", "t=-10m..-4m", []uint64{3, 4, 5}},
		{"time", "t in (12:02, 13:52)", []uint64{1, 3}},

		{"field verb", "verb=save", []uint64{6, 9}},
		{"field verb", "verb!=find", []uint64{6, 9}},
		{"field ind", "ind=facts", []uint64{2, 9}},
		{"field env", "env=qa", []uint64{7, 8, 9, 10}},
		{"field node", "node", []uint64{1, 2, 3, 4, 6, 7, 8, 9, 10}},
		{"field terminus", "terminus=exec", []uint64{1, 7}},
		{"field served", "served=none out!=run", []uint64{3, 5, 6, 7, 9}},
		{"field served", "served=terminus", []uint64{1, 8}},
		{"field setby", "setby=app", []uint64{3, 10}},
		{"field setby", "setby in (you, storeconfigs, code)", []uint64{5, 6, 8, 9}},
		{"field origin", "origin=terminus-rest", []uint64{3}},
		{"field origin", `origin="cache-read json"`, []uint64{8}},
		{"field origin", `origin!=terminus*`, []uint64{8}},
		{"field err: hidden words too", "err=*byte*", []uint64{8}},
		{"field err: those of spans too", "err=connection*", []uint64{3}},
		{"field answer", "answer=expired", []uint64{4}},
		{"field because", "because=nil-from-empty-output", []uint64{7}},
		{"field because", "because=skipped(ignore_terminus)", []uint64{4}},
		{"field http", "http.method=post http.path=*/catalog/*", []uint64{3}},
		{"field http", "http.status>=500", []uint64{3}},
		{"field fmt", "fmt=json lossy", []uint64{4}},
		{"field lossy", "ind=catalog lossy=no", []uint64{3, 8, 10}},
		{"field run", "run=9c*", []uint64{7, 8, 9}},
		{"field run", "not run", []uint64{10}},
		{"field traceparent", "traceparent=4bf92f3577b34da6a3ce929d0e0e4736", []uint64{4}},
		{"field traceparent", "traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", []uint64{4}},
		{"field traceparent", "traceparent=*-00f067aa0ba902b7-*", []uint64{4}},
		{"field traceparent", "traceparent", []uint64{4}},
		{"field traceparent", "traceparent!=00*", nil},
		{"field caller", "caller=terminus", []uint64{9}},
		{"field thread source", "thread=1 source=proxy", []uint64{6}},
		{"field mark", "mark=a", []uint64{4}},
		{"field mark", "mark", []uint64{4, 7}},
		{"field note tag", "note=look* tag=incident", []uint64{5}},
		{"field step", "step.cache-read.answer=found", []uint64{4}},
		{"field step", "step.expiry.because=expired", []uint64{4}},
		{"field step", "step.terminus.took>4s", []uint64{3}},
		{"field opt", "opt.checksum_type=md5", []uint64{3}},
		{"field opt", "opt.checksum_type!=sha256", []uint64{3}},
		{"field opt", "opt.links", nil},
		{"field flag", "flag.ignore_cache", []uint64{3}},
		{"field flag", "flag.ignore_cache=yes", []uint64{3}},
		{"field flag", "ind=catalog flag.ignore_cache=false", []uint64{4, 8, 10}},
		{"field flag", "ind=catalog flag.ignore_cache!=yes", []uint64{4, 8, 10}},

		{"flag", "hidden", []uint64{4, 5, 6, 8}},
		{"flag", "failed", []uint64{3, 4, 5, 6, 8}},
		{"flag", "slow", []uint64{3, 8}},
		{"flag", "remote", []uint64{3, 5}},
		{"flag", "nested", []uint64{9}},
		{"flag", "bypass", []uint64{9}},
		{"flag", "sent", []uint64{10}},
		{"flag", "guessed", []uint64{2}},
		{"flag", "expired", []uint64{4}},
		{"flag", "env_mismatch", []uint64{5}},

		{"relation", "parent(ind=catalog)", []uint64{9}},
		{"relation", "child(verb=save)", []uint64{8}},
		{"relation", "next(out=stale)", []uint64{3}},
		{"relation", "prev(out=stale)", []uint64{5}},
		{"relation", "run(sent)", []uint64{10}},
		{"relation: of relation", "child(parent(key=db07*))", []uint64{8}},
		{"relation: leaves the step", "step(terminus parent(took>1s))", []uint64{9}},

		{"word: note", "look", []uint64{5}},
		{"word: message", "4096", []uint64{8}},
		{"word: indirection", "file_", []uint64{5}},
		{"word: *", "web*com", []uint64{1, 2, 3, 4, 6}},
		{"word: in quotes", `"on server"`, []uint64{3}},
		{"word: like a field", `"node"`, []uint64{1, 7}},

		{"selector", "@all", all},
		{"selector", "@unmarked #4..5", []uint64{5}},
		{"selector: unknown", "@selected", nil},
		{"logic", "ind=node or ind=facts verb=save", []uint64{1, 7, 9}},
		{"logic", "(ind=node or ind=facts) verb=save", []uint64{9}},
		{"logic", "not (ind=catalog or ind=node) !verb=save", []uint64{2, 5}},
	}
	w := demo()
	for _, tt := range tests {
		t.Run(tt.name+"/"+tt.expr, func(t *testing.T) {
			t.Parallel()
			e, err := query.ParseAt(tt.expr, now)
			if err != nil {
				t.Fatal(err)
			}
			if got := w.matched(e); !slices.Equal(got, tt.want) {
				t.Errorf("%q matches %v, want %v", tt.expr, got, tt.want)
			}
			again, err := query.ParseAt(e.String(), now)
			if err != nil {
				t.Fatal(err)
			}
			if got := w.matched(again); !slices.Equal(got, tt.want) {
				t.Errorf("%q, printed as %q, matches %v, want %v", tt.expr, e, got, tt.want)
			}
		})
	}
}

// What is simple never looks at the detail, and what looks is not simple.
func TestSimple(t *testing.T) {
	t.Parallel()
	simple := []string{
		"", "out=stale", "hidden t>-1h", "node=db07* took>1s or @marked #1..5", "not (key~a flag.ignore_cache)",
		"mark=a note=x tag=y setby=you served=cache", "slow sent nested failed",
	}
	detail := []string{"web01", "err~x", "remote", "run(out=stale)", "step(terminus)", "opt.a", "out=ok err", "step.route.took>1s", "size>1"}
	for i, text := range slices.Concat(simple, detail) {
		e, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := e.Simple(), i < len(simple); got != want {
			t.Errorf("%q: Simple() = %v, want %v", text, got, want)
		}
	}
	looked := 0
	w := demo()
	for _, r := range w {
		r.looked = &looked
		for _, text := range simple {
			e, _ := query.Parse(text)
			e.Match(r)
		}
	}
	if looked != 0 {
		t.Errorf("simple expressions looked at the detail %d times", looked)
	}
	word, _ := query.Parse("nothing")
	word.Match(w[0]) // its outcome is ok: there is no message to look for
	if looked != 0 {
		t.Error("a word looked for the message of a request that did not fail")
	}
}

// The detail of old requests is dropped; their rows are not.
func TestDroppedDetail(t *testing.T) {
	t.Parallel()
	w := demo()
	for _, r := range w {
		r.trace = nil
	}
	for _, text := range []string{
		"err", "size>=0", "because=expired", "answer=raised", "server", "lossy=no", "opt.x!=1", "step(terminus)", "origin",
		"remote", "bypass", "expired", "env_mismatch", "step.terminus.took>=0", "step.terminus.answer=ok", "step.route.because", "age",
	} {
		e, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.matched(e); got != nil {
			t.Errorf("%q matches %v without detail", text, got)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	known := map[string]string{"run": "run=8f3c", "selected": "#4 or #7", "shown": ""}
	find := func(name string) (*query.Expr, bool) {
		text, ok := known[name]
		e, err := query.Parse(text)
		return e, ok && err == nil
	}
	for _, tt := range []struct{ in, want string }{
		{"@run hidden", "run=8f3c hidden"},
		{"@selected or #1", "#4 or #7 or #1"},
		{"@selected hidden", "(#4 or #7) hidden"},
		{"not @selected", "not (#4 or #7)"},
		{"parent(@run) step(route @selected)", "parent(run=8f3c) step(route and (#4 or #7))"},
		{"@shown", "@all"},
		{"@focus", "@focus"},
	} {
		e, err := query.Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Resolve(find).String(); got != tt.want {
			t.Errorf("Resolve(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestNilExpr(t *testing.T) {
	t.Parallel()
	var e *query.Expr
	if !e.Match(demo()[0]) || !e.Simple() || e.String() != "" || e.Resolve(nil) != nil {
		t.Error("a nil Expr does not match everything")
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	s := query.Of(&traces.Trace{Verb: traces.Find, Indirection: "catalog", Key: "db07", Outcome: traces.Run, Caller: "you"})
	for text, want := range map[string]bool{
		"ind=catalog key=db07*": true, "sent": true, "run(ind=catalog)": true, "prev(ind=catalog)": false, "parent(verb=find)": false,
	} {
		e, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if e.Match(s) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in        string
		offset    int
		got, want string // want is a part of it
		fix       string
	}{
		{`verb=save part or err~"connection refused"`, 10, `"part"`, "an outcome", `verb=save out=part or err~"connection refused"`},
		{"stale", 0, `"stale"`, "an outcome", "out=stale"},
		{"nil!", 0, `"nil!"`, "an outcome", "out=nil!"},
		{"err~", 0, `"err~"`, "an outcome", "out=err~"},
		{"hidden or err~ web01", 10, `"err~"`, "an outcome", "hidden or out=err~ web01"},
		{"save web01", 0, `"save"`, "a verb", "verb=save web01"},
		{"out=stal", 4, `"stal"`, "one of run ok hit", "out=stale"},
		{"out=Stale", 4, `"Stale"`, "one of", "out=stale"},
		{"out=purple", 4, `"purple"`, "one of run ok hit", ""},
		{"out in (err, stael)", 13, `"stael"`, "one of", "out in (err, stale)"},
		{"status=404", 0, `"status"`, "a field: verb", "http.status=404"},
		{"termnus=x", 0, `"termnus"`, "a field", "terminus=x"},
		{"foo=bar", 0, `"foo"`, "a field", ""},
		{"foo in (bar)", 0, `"foo"`, "a field", ""},
		{"opt.=3", 0, `"opt."`, "a field", ""},
		{"step.nothing.took>1s", 0, `"step.nothing.took"`, "a field", ""},
		{"flag.nothing=yes", 0, `"flag.nothing"`, "a field", ""},
		{"key==web01", 4, `"=web01"`, "a value", "key=web01"},
		{"key=~web01", 4, `"~web01"`, "a value", "key~web01"},
		{"took<>5s", 4, `"<>"`, `"!="`, "took!=5s"},
		{"took>5", 5, `"5"`, "a duration with its unit", "took>5ms"},
		{"took>soon", 5, `"soon"`, "a duration", ""},
		{"took>5parsecs", 5, `"5parsecs"`, "a duration", ""},
		{"took>-5s", 5, `"-5s"`, "a duration", ""},
		{"took>99999999999d", 5, `"99999999999d"`, "a duration", ""},
		{"took=1s..2s", 5, `"1s..2s"`, "a duration", ""},
		{"took~5s", 4, `"~"`, "an operator for took, which is duration", ""},
		{"key>5", 3, `">"`, "an operator for key, which is text", ""},
		{"flag.ignore_cache=maybe", 18, `"maybe"`, "one of yes no", ""},
		{"flag.ignore_cache in (yes)", 18, `"in"`, "an operator", ""},
		{"http.status=4O4", 12, `"4O4"`, "a number", ""},
		{"http.status=404,403", 15, `","`, "in parentheses", "http.status=(404,403)"},
		{"http.status>(404)", 12, `"("`, "one value", ""},
		{"t=25:00", 2, `"25:00"`, "a time", ""},
		{"t=14:02..-5m", 2, `"14:02..-5m"`, "a time", ""},
		{"t=2025-11-21..2025-11-20", 2, `"2025-11-21..2025-11-20"`, "a time", ""},
		{"t=9999-01-01", 2, `"9999-01-01"`, "a time", ""},
		{"key~(", 4, `"("`, "a regular expression: missing closing )", ""},
		{`key~"("`, 4, `"\""`, "a regular expression: missing closing )", ""},
		{"key=", 4, "the end", "a value for key", ""},
		{"key= )", 5, `")"`, "a value for key", ""},
		{"key in (a", 9, "the end", `"," or ")"`, "key in (a)"},
		{"key in (a,", 10, "the end", "a value", ""},
		{"(a or b", 7, "the end", `")" for the "(" at 1`, "(a or b)"},
		{"a)", 1, `")"`, "no parenthesis is open", "a"},
		{"a or", 4, "the end", "a field, a flag", ""},
		{"or a", 0, `"or"`, "a field, a flag", ""},
		{"a and and b", 6, `"and"`, "a field, a flag", ""},
		{"a && b", 3, `"&"`, "a field, a flag", ""},
		{"not", 3, "the end", "a field, a flag", ""},
		{"()", 1, `")"`, "a field, a flag", ""},
		{"step()", 5, `")"`, "a field, a flag", ""},
		{"=5", 0, `"=5"`, "a field, a flag", ""},
		{"a, b", 1, `","`, `"and", "or"`, ""},
		{`"web`, 4, "the end", `" for the one at 1`, `"web"`},
		{`key='web`, 8, "the end", `' for the one at 5`, `key='web'`},
		{"#", 0, `"#"`, "the number of a request", ""},
		{"#x", 0, `"#x"`, "the number of a request", ""},
		{"#99999999999999999999", 0, `"#99999999999999999999"`, "the number", ""},
		{"#9..3", 0, "#9..3", "the smaller number first", "#3..9"},
		{"#9x", 2, `"x"`, "a blank", ""},
		{"@maked", 0, `"@maked"`, "@all @focus", "@marked"},
		{"@", 0, `"@"`, "@all @focus", ""},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			_, err := query.Parse(tt.in)
			var bad *query.SyntaxError
			if !errors.As(err, &bad) {
				t.Fatalf("Parse(%q): %v, want a *SyntaxError", tt.in, err)
			}
			if bad.Offset != tt.offset || bad.Got != tt.got || !strings.Contains(bad.Want, tt.want) || bad.Fix != tt.fix {
				t.Errorf("Parse(%q): %+v\nwant offset %d, got %s, want …%s…, fix %q", tt.in, *bad, tt.offset, tt.got, tt.want, tt.fix)
			}
			if bad.Fix == "" {
				return
			}
			if _, err := query.Parse(bad.Fix); err != nil {
				t.Errorf("the fix %q is wrong, too: %v", bad.Fix, err)
			}
		})
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"long":        strings.Repeat("a ", 1<<16),
		"parentheses": strings.Repeat("(", 5000) + "a" + strings.Repeat(")", 5000),
		"negations":   strings.Repeat("!", 5000) + "a",
		"calls":       strings.Repeat("run(", 5000) + "a" + strings.Repeat(")", 5000),
	} {
		if _, err := query.Parse(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string // the caret is at "_"
		want []string
		at   int
	}{
		{"terminus=exec ser_", []string{"served=", "server="}, 14},
		{"served=_", []string{"none", "terminus", "cache", "sim"}, 7},
		{"served=ca_", []string{"cache"}, 7},
		{"served = ca_", []string{"cache"}, 9},
		{"out in (err, nil_", []string{"nil", "nil!"}, 13},
		{"key=web01 hid_", []string{"hidden"}, 10},
		{"(hid_", []string{"hidden"}, 1},
		{"not hid_", []string{"hidden"}, 4},
		{"a or @ma_", []string{"@marked"}, 5},
		{"step(term_", []string{"terminus", "terminus="}, 5},
		{"step(route) term_", []string{"terminus="}, 12},
		{"par_", []string{"parent("}, 0},
		{"flag._", []string{"flag.ignore_cache", "flag.ignore_cache_save", "flag.ignore_terminus", "flag.fail_on_404"}, 0},
		{"step.terminus.t_", []string{"step.terminus.took="}, 0},
		{"st_ key=web", []string{"step.", "step("}, 0},
		{"step.expiry.because=exp_", []string{"expired"}, 20},
		{"because=skipped(ca_", []string{"skipped(cache-hit)"}, 8},
		{"lossy=y_", []string{"yes"}, 6},
		{"key=web_", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			before, after, _ := strings.Cut(tt.text, "_")
			var got []string
			for _, s := range query.Complete(before+after, len(before)) {
				got = append(got, s.Text)
				if s.Start != tt.at || s.End != len(before) {
					t.Errorf("%q replaces %d to %d, want %d to %d", s.Text, s.Start, s.End, tt.at, len(before))
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	for _, text := range []string{"", "hidden ", "hidden or ", "out=ok "} {
		got := query.Complete(text, len(text))
		if len(got) < len(query.Fields()) {
			t.Errorf("%q: %d suggestions where anything may begin", text, len(got))
		}
		for _, s := range got {
			if s.Start != len(text) || s.Doc == "" && s.Text[0] != '@' {
				t.Errorf("%q: %+v", text, s)
			}
		}
	}
}

// Every name that the tables know is read as what it is.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, f := range query.Fields() {
		name := replaceName(f.Name)
		e, err := query.Parse(name)
		if err != nil || e.String() != name || e.Simple() == f.Detail || f.Doc == "" {
			t.Errorf("%s: %v, %v, %q", name, e, err, f.Doc)
		}
		for _, v := range f.Values {
			text := name + "=" + query.Quote(v)
			if e, err := query.Parse(text); err != nil || e.String() != text {
				t.Errorf("%s: %v, %v", text, e, err)
			}
		}
	}
	for _, f := range query.Flags() {
		e, err := query.Parse(f.Name)
		if err != nil || e.String() != f.Name || e.Simple() == f.Detail || f.Doc == "" {
			t.Errorf("%s: %v, %v, %q", f.Name, e, err, f.Doc)
		}
	}
}

// replaceName makes an instance of step.NAME.took, opt.NAME and flag.NAME.
func replaceName(field string) string {
	name := map[string]string{"step": "cache-read", "opt": "links", "flag": "ignore_cache"}
	return strings.ReplaceAll(field, "NAME", name[strings.Split(field, ".")[0]])
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(
		traces.Trace{Verb: traces.Find, Indirection: "node", From: &traces.Instance{Name: "agent-4711", Number: 1}},
		traces.Trace{Verb: traces.Find, Indirection: "node", From: &traces.Instance{Name: "puppetserver-815-2", Number: 1}},
		traces.Trace{Verb: traces.Find, Indirection: "node"},
	)
	for text, want := range map[string][]uint64{
		"proc=agent-4711": {1}, "proc=agent": {1}, "proc=puppetserver": {2}, "proc=puppetserver-815-2": {2}, "proc=apply": nil, "proc!=agent": {2},
	} {
		e, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.matched(e); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
