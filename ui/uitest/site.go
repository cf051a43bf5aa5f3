package uitest

import (
	"fmt"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
)

// Began is when the first request of Site began.
var Began = time.Date(2025, 11, 20, 14, 0, 0, 0, time.UTC)

// Site returns a log of 47 requests that never happened: one agent run that
// ends with a stale catalog, an ENC without output, a hidden 404, a soft
// failure, a report of which one copy was lost. Times and sizes are fixed, so
// that frames are the same everywhere.
func Site(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Now: func() time.Time { return Began.Add(150 * time.Second) }, Render: render})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	at := Began
	for i := range 30 {
		at = at.Add(3700 * time.Millisecond)
		record(s, quiet(at, i))
	}
	for _, tr := range eventful(Began.Add(121 * time.Second)) {
		record(s, tr)
	}
	running := traces.Trace{Verb: traces.Find, Indirection: "node", Key: "app03.example.com", Start: Began.Add(137 * time.Second), Caller: "agent"}
	s.Begin(&running)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

// Instance is what the termini of Site answer: JSON that is redacted when it is
// recorded.
type Instance string

// Key implements indirector.Instance.
func (i Instance) Key() string { return "instance" }

func render(model string, instance any) traces.Value {
	body := string(instance.(Instance))
	return traces.Value{Model: model, Format: "json", Size: len(body), Body: []byte(body), Redacted: 1}
}

// answer is a body that record gives to the store as the answer.
func answer(body []byte) *traces.Values { return &traces.Values{Answer: traces.Value{Body: body}} }

func record(s *store.Store, tr traces.Trace) {
	value := tr.Value().Body
	tr.Values = nil
	tr.ID = s.Begin(&tr)
	if value == nil {
		s.End(&tr, nil)
		return
	}
	s.End(&tr, Instance(value))
}

const web = "web01.example.com"

// quiet is a request without anything special.
func quiet(at time.Time, i int) traces.Trace {
	keys := []string{web, "db07.example.com", "app03.example.com"}
	if i%3 == 0 {
		return hit(at, "facts", keys[i/3%3], "facter", "json", 2)
	}
	tr := answered(at, traces.Find, "file_metadata", fmt.Sprintf("modules/app/%c.conf", 'a'+i%7), "file_server", "", 4+i%9)
	if i == 10 {
		tr = answered(at, traces.Find, "catalog", web, "rest", "json", 7312)
		tr.Steps[traces.CacheWrite] = question(traces.Written, traces.StoreWritten, "", 3)
	}
	return tr
}

func question(a traces.Answer, r traces.Reason, about string, ms int) traces.Question {
	return traces.Question{Answer: a, Because: traces.Because{Reason: r, About: about}, Took: time.Duration(ms) * time.Millisecond}
}

// parties are what users call termini.
var parties = map[string]string{"rest": "the server", "puppetdb": "PuppetDB", "compiler": "the compiler", "exec": "the classifier", "facter": "facter"}

// blank is a request for which no terminus was asked.
func blank(at time.Time, verb traces.Verb, ind, key, terminus, cache string, ms int) traces.Trace {
	tr := traces.Trace{
		Verb: verb, Indirection: ind, Key: key, Start: at, Took: time.Duration(ms) * time.Millisecond,
		Environment: "production", Caller: "agent", Run: "8f3c21d0-agent", Party: parties[terminus],
		Primary: traces.Slot{
			{Terminus: terminus, Kind: traces.FromApplication, Source: "application agent"},
			{Terminus: "yaml", Kind: traces.FromDeclaration, Source: "default in code"},
		},
	}
	if cache != "" {
		tr.Cache = traces.Slot{
			{Terminus: cache, Kind: traces.FromSetting, Source: "setting " + ind + "_cache_terminus, puppet.conf:7"},
			{Terminus: "yaml", Kind: traces.FromRoutesFile, Source: "routes.yaml:3", Why: "section master, but the application is agent"},
		}
	}
	tr.Steps = [traces.StepCount]traces.Question{
		traces.Route:      question(traces.Chosen, traces.ByApplication, "application agent", 0),
		traces.Authorize:  question(traces.NotChecked, traces.NoNodeInRequest, "", 0),
		traces.Validate:   question(traces.OK, traces.NothingToValidate, "", 0),
		traces.CacheRead:  question(traces.NotAsked, traces.NoCacheRouted, "", 0),
		traces.Expiry:     question(traces.NotAsked, traces.NoCacheRouted, "", 0),
		traces.Terminus:   question(traces.NotReached, traces.EarlierStepRaised, "", 0),
		traces.ExpirySet:  question(traces.NotReached, traces.EarlierStepRaised, "", 0),
		traces.CacheWrite: question(traces.NotReached, traces.EarlierStepRaised, "", 0),
		traces.Filter:     question(traces.NotReached, traces.EarlierStepRaised, "", 0),
		traces.Caller:     question(traces.Passed, traces.CallerReturned, "agent", 0),
	}
	return tr
}

func answered(at time.Time, verb traces.Verb, ind, key, terminus, cache string, ms int) traces.Trace {
	tr := blank(at, verb, ind, key, terminus, cache, ms)
	tr.Outcome, tr.Served = traces.Good, traces.ByTerminus
	tr.Steps[traces.Terminus] = question(traces.OK, traces.Returned, "", ms)
	tr.Steps[traces.ExpirySet] = question(traces.NotAsked, traces.NoExpiration, "", 0)
	tr.Steps[traces.CacheWrite] = question(traces.NotAsked, traces.NoCacheRouted, "", 0)
	tr.Steps[traces.Filter] = question(traces.Unfiltered, traces.TerminusHasNoFilter, "", 0)
	if verb == traces.Find {
		tr.Values = answer([]byte(fmt.Sprintf(`{"name":%q,"environment":"production","parameters":{}}`, key)))
	}
	return tr
}

func hit(at time.Time, ind, key, terminus, cache string, ms int) traces.Trace {
	tr := blank(at, traces.Find, ind, key, terminus, cache, ms)
	tr.Outcome, tr.Served = traces.Hit, traces.ByCache
	tr.Steps[traces.CacheRead] = question(traces.Found, traces.CacheFound, "", ms)
	tr.Steps[traces.Expiry] = question(traces.OK, traces.NotExpired, "for 18m0s", 0)
	tr.Steps[traces.Terminus] = question(traces.NotAsked, traces.SkippedCacheHit, "", 0)
	tr.Steps[traces.ExpirySet] = question(traces.NotAsked, traces.EarlierStepAnswered, "", 0)
	tr.Steps[traces.CacheWrite] = question(traces.NotAsked, traces.EarlierStepAnswered, "", 0)
	tr.Steps[traces.Filter] = question(traces.Unfiltered, traces.CacheNotFiltered, "", 0)
	tr.Values = answer([]byte(fmt.Sprintf(`{"name":%q,"values":{"kernel":"Linux","os":{"family":"Debian"}}}`, key)))
	return tr
}

// eventful is what there is to find.
func eventful(at time.Time) []traces.Trace {
	next := func(ms int) time.Time {
		at = at.Add(time.Duration(ms) * time.Millisecond)
		return at
	}
	node := answered(next(118), traces.Find, "node", web, "exec", "", 412)
	soft := answered(next(416), traces.Save, "facts", web, "puppetdb", "json", 88)
	soft.Outcome = traces.ErrHidden
	soft.Steps[traces.Terminus] = question(traces.Swallowed, traces.SoftFailed, "soft_write_failure", 86)
	soft.Steps[traces.CacheWrite] = question(traces.Written, traces.StoreWritten, "", 2)
	soft.Faults = []traces.Fault{{Origin: "terminus puppetdb › network", Step: traces.Terminus, Message: "Connection refused - connect(2) for puppetdb:8081", Path: "https://puppetdb:8081/pdb/cmd/v1"}}
	plugins := answered(next(96), traces.Search, "file_metadata", "plugins", "rest", "", 203)
	lost := answered(next(210), traces.Find, "file_metadata", "modules/app/a.conf", "rest", "", 12)
	lost.Outcome, lost.Served, lost.Values = traces.NilHidden, traces.ByNone, nil
	lost.Steps[traces.Terminus] = question(traces.Nothing, traces.NilFrom404, "Not Found: Could not find file_metadata modules/app/a.conf", 12)
	lost.Notes = []traces.Remark{{Step: traces.Terminus, Explains: traces.AnAnswer, Text: "the server (puppet:8140) has no file_metadata modules/app/a.conf: 404"}}
	facts := hit(next(21), "facts", web, "facter", "json", 2)
	enc := answered(next(143), traces.Find, "node", "db07.example.com", "exec", "", 398)
	enc.Outcome, enc.Served, enc.Values, enc.Run = traces.NilHidden, traces.ByNone, nil, "9c02"
	enc.RunGuessed = true
	enc.Steps[traces.Terminus] = question(traces.Nothing, traces.NilFromEmptyOutput, "/usr/local/bin/enc db07.example.com", 398)
	enc.Spans = []traces.Span{{
		ID: 1, Step: traces.Terminus, Kind: traces.Exec, Name: "exec /usr/local/bin/enc", Answer: "exit 0, stdout 0 B", At: time.Millisecond, Took: 396 * time.Millisecond,
		Attrs: []traces.Attr{{Key: "command", Value: "/usr/local/bin/enc db07.example.com"}, {Key: "stderr", Value: "enc: db07.example.com: no such host in inventory\nenc: giving up"}},
	}}
	return []traces.Trace{
		node, soft, plugins, lost, facts, enc, refused(next(5407)), stale(next(8159)),
		answered(next(450), traces.Find, "file_content", "modules/app/b.conf", "file_server", "", 4),
		report(next(1081)), compile(next(100)), inner(next(4)),
		answered(next(10), traces.Head, "file_metadata", "modules/app/a.conf", "file_server", "", 1),
		mine(next(200)), answered(next(12), traces.Find, "facts", web, "facter", "json", 640), hit(next(30), "facts", web, "facter", "json", 2),
	}
}

func refused(at time.Time) traces.Trace {
	tr := blank(at, traces.Find, "catalog", web, "rest", "json", 8153)
	tr.Flags = traces.IgnoreCache | traces.IgnoreCacheSave
	tr.Outcome, tr.Error = traces.Err, "Error 500 on SERVER: Server Error: Evaluation Error: Unknown variable: 'role'. (file: site.pp, line: 12) on node web01.example.com"
	tr.Steps[traces.CacheRead] = question(traces.NotAsked, traces.IgnoredByCaller, "agent", 0)
	tr.Steps[traces.Expiry] = question(traces.NotAsked, traces.IgnoredByCaller, "agent", 0)
	tr.Steps[traces.Terminus] = question(traces.Raised, traces.TerminusRaised, "Error 500 on SERVER", 8153)
	tr.Steps[traces.Caller] = question(traces.Swallowed, traces.Rescued, "configurer retrieve_new_catalog", 0)
	ms := time.Millisecond
	tr.Spans = []traces.Span{
		{ID: 1, Step: traces.Terminus, Kind: traces.Network, Name: "pick server", Answer: "puppet:8140", Because: traces.Because{Reason: traces.BySetting, About: "server_list[0]"}, Took: 11 * ms},
		{ID: 2, Step: traces.Terminus, Kind: traces.Network, Name: "tls", Answer: "verified CN=puppet", At: 11 * ms, Took: 34 * ms},
		{
			ID: 3, Step: traces.Terminus, Kind: traces.Network, Name: "POST catalog", Answer: "500, 214 bytes", At: 45 * ms, Took: 8107 * ms, Err: "Error 500 on SERVER",
			Attrs: []traces.Attr{{Key: "url", Value: "https://puppet:8140/puppet/v3/catalog/web01.example.com?environment=production"}, {Key: "status", Value: "500 Internal Server Error"}, {Key: "sent", Value: "41 312 bytes, application/json"}, {Key: "message", Value: "Evaluation Error: Unknown variable: 'role'. (file: site.pp, line: 12)"}},
		},
		{ID: 4, Step: traces.Terminus, Kind: traces.Codec, Name: "decode error", Answer: "json, message kept", Because: traces.Because{Reason: traces.FormatAccepted, About: "application/json"}, At: 8152 * ms, Took: ms},
	}
	tr.Faults = []traces.Fault{{Origin: "terminus rest › network", Step: traces.Terminus, Message: tr.Error, Shown: true, Path: "https://puppet:8140/puppet/v3/catalog/web01.example.com"}}
	return tr
}

func stale(at time.Time) traces.Trace {
	tr := hit(at, "catalog", web, "rest", "json", 31)
	tr.Flags = traces.IgnoreTerminus
	tr.Steps[traces.Expiry] = question(traces.OK, traces.NoExpiryKept, "json", 0)
	tr.Steps[traces.Terminus] = question(traces.NotAsked, traces.SkippedIgnoreTerminus, "agent", 0)
	tr.Values = answer([]byte(catalog))
	return tr
}

const catalog = `{"name":"web01.example.com","environment":"production","version":1763640000,"catalog_uuid":"7c0e1f9a","code_id":null,` +
	`"resources":[{"type":"Stage","title":"main","exported":false},{"type":"Class","title":"Settings","exported":false},` +
	`{"type":"File","title":"/etc/app.conf","exported":false,"tags":["file","app","class"],"parameters":{"ensure":"file","content":"(masked Sensitive, 48 B, tag 9f3a)","mode":"0640"}},` +
	`{"type":"Service","title":"app","exported":false,"parameters":{"ensure":"running"}}],` +
	`"edges":[{"source":"Stage[main]","target":"Class[Settings]"}],"classes":["settings","app"]}`

func report(at time.Time) traces.Trace {
	tr := answered(at, traces.Save, "report", web, "rest", "yaml", 140)
	tr.Outcome, tr.Error = traces.Part, "No space left on device @ io_write - last_run_report.yaml"
	tr.Steps[traces.Terminus] = question(traces.Written, traces.StoreWritten, "", 138)
	tr.Steps[traces.CacheWrite] = question(traces.Raised, traces.StoreFailed, tr.Error, 2)
	tr.Faults = []traces.Fault{{Origin: "cache-write yaml › file", Step: traces.CacheWrite, Message: tr.Error, Shown: true, Path: "/var/cache/puppet/state/last_run_report.yaml"}}
	return tr
}

func compile(at time.Time) traces.Trace {
	tr := blank(at, traces.Find, "catalog", "db07.example.com", "compiler", "", 410)
	tr.Run, tr.Outcome = "9c02", traces.Err
	tr.Error = "Could not find node 'db07.example.com'; cannot compile"
	tr.Steps[traces.Terminus] = question(traces.Raised, traces.TerminusRaised, tr.Error, 410)
	tr.Faults = []traces.Fault{{Origin: "terminus compiler", Step: traces.Terminus, Message: tr.Error, Shown: true}}
	return tr
}

// inner is asked by compile: its number is the one before.
func inner(at time.Time) traces.Trace {
	tr := answered(at, traces.Find, "node", "db07.example.com", "exec", "", 401)
	tr.Run, tr.Caller, tr.Parent, tr.ParentStep = "9c02", "terminus", 41, traces.Terminus
	tr.Outcome, tr.Served, tr.Values = traces.NilHidden, traces.ByNone, nil
	tr.Steps[traces.Terminus] = question(traces.Nothing, traces.NilFromEmptyOutput, "/usr/local/bin/enc db07.example.com", 401)
	return tr
}

func mine(at time.Time) traces.Trace {
	tr := answered(at, traces.Find, "node", "db07.example.com", "plain", "", 0)
	tr.Caller, tr.Run = "you", ""
	tr.Primary = append(traces.Slot{{Terminus: "plain", Kind: traces.FromRequest, Source: "this request"}}, tr.Primary[0])
	tr.Values = answer([]byte(`{"name":"db07.example.com","environment":"production","classes":[],"parameters":{}}`))
	return tr
}
