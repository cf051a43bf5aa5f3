package model_test

import (
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

func parse(t testing.TB, text string) data.Value {
	t.Helper()
	v, err := format.DecodeJSON([]byte(text), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func from(t testing.TB, class, text string) indirector.Instance {
	t.Helper()
	c, ok := model.Lookup(class)
	if !ok {
		t.Fatalf("there is no model %q", class)
	}
	i, err := c.FromData(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func text(t testing.TB, i indirector.Instance) string {
	t.Helper()
	v, ok := model.ToData(i)
	if !ok {
		t.Fatalf("%T has no data", i)
	}
	b, err := format.AppendJSON(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every model keeps what it does not know, in order, and odd values of what it
// does. Rule FMT-08.
func TestRoundTripLosesNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, class, text string }{
		{"facts", "facts", `{"name":"n","values":{"a":null},"timestamp":"2024-05-06T07:08:09.123456789-07:00","zeta":1,"alpha":{"b":[2]}}`},
		{"facts with odd values", "facts", `{"name":7,"values":[1],"timestamp":12,"expiration":1.5}`},
		{"facts without a name", "facts", `{"name":null,"values":{}}`},
		{"facts with an empty name", "facts", `{"name":"","values":{}}`},
		{"node", "node", `{"name":"n","environment":"e","classes":{"a":null},"parameters":{"p":1},"trusted":{"x":1},"source":"y"}`},
		{"node with a class as a string", "node", `{"name":"n","environment":"e","classes":"a"}`},
		{"resource", "resource", `{"type":"File","title":"/a","tags":["t"],"file":"f","line":3,"exported":true,"kind":"class","parameters":{"x":{"__ptype":"My::Thing","y":1}},"sensitive_parameters":["x"],"column":9}`},
		{"resource with odd values", "resource", `{"type":"File","title":"/a","tags":[],"file":"","line":0,"exported":false}`},
		{"catalog", "catalog", `{"tags":["t"],"name":"n","version":"v","code_id":"c","catalog_uuid":"u","catalog_format":2,"environment":"e",` +
			`"resources":[{"type":"Class","title":"Main","tags":[],"exported":false},{"type":"Notify","title":"n","tags":[],"exported":false}],` +
			`"edges":[{"source":"Class[Main]","target":"Notify[n]","event":"ALL_EVENTS","callback":"refresh","label":"x"}],"classes":["t"],` +
			`"metadata":{"/a":{"path":"/a","relative_path":null,"links":"manage","owner":0,"group":"root","mode":420,"checksum":{"type":"md5","value":"{md5}0","more":1},"type":"file","destination":null,"inode":5}},` +
			`"recursive_metadata":{"/b":{"puppet:///m":[]}},"future":true}`},
		{"report", "report", `{"host":"h","time":"2024-05-06T07:08:09.000000000Z","configuration_version":1,"transaction_uuid":"u","report_format":12,"puppet_version":"8","status":"changed",` +
			`"transaction_completed":true,"noop":false,"noop_pending":null,"environment":"e",` +
			`"logs":[{"level":"info","message":"m","source":"s","tags":["a"],"time":"2024-05-06T07:08:09.000000000Z","file":null,"line":null,"pos":4,"issue_code":"X"}],` +
			`"metrics":{"time":{"name":"time","label":"Time","values":[["total","Total",0.5]],"unit":"s"}},` +
			`"resource_statuses":{"A[a]":null,"B[b]":{"title":"b","file":null,"line":null,"resource":"B[b]","resource_type":"B","provider_used":null,"containment_path":["x"],"evaluation_time":null,"tags":[],` +
			`"time":"2024-05-06T07:08:09.000000000Z","failed":null,"failed_to_restart":false,"changed":true,"out_of_sync":true,"skipped":false,"change_count":1,"out_of_sync_count":1,` +
			`"events":[{"audited":false,"property":"p","previous_value":{"a":1},"desired_value":[1],"historical_value":null,"message":"m","name":"n","status":"success","time":"2024-05-06T07:08:09.000000000Z","redacted":null,"corrective_change":false,"more":1}],"corrective_change":false,"restarted":true}},` +
			`"corrective_change":false,"server_used":"s","catalog_uuid":"c","cached_catalog_status":"not_used","initial_environment":"i"}`},
		{"file_metadata", "file_metadata", `{"path":"/a","relative_path":".","links":"follow","owner":"o","group":0,"mode":420,"checksum":{"type":"sha256","value":null},"type":"link","destination":"/b","content_uri":"puppet:///m","source":"s","size":3}`},
		{"status", "status", `{"is_alive":true,"version":"6.28.0","uptime":4}`},
	} {
		t.Run("FMT-08 "+tt.name, func(t *testing.T) {
			t.Parallel()
			value := strings.Replace(tt.text, `"A[a]":null`, `"A[a]":{}`, 1) // what is written as null is read from {}
			if got := text(t, from(t, tt.class, value)); got != tt.text {
				t.Errorf("\ngot  %s\nwant %s", got, tt.text)
			}
		})
	}
}

func TestReadersNormaliseAsPuppetDoes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, class, text, want string }{
		{"FMT-FACT-03 timestamp among the values", "facts", `{"name":"n","values":{"_timestamp":"2020-01-01 00:00:00 -0700","a":1},"timestamp":"2021-01-01T00:00:00Z"}`, `{"name":"n","values":{"a":1},"timestamp":"2020-01-01T00:00:00.000000000-07:00"}`},
		{"FMT-NODE-03 environment from the parameters", "node", `{"name":"n","parameters":{"environment":"e","x":1}}`, `{"name":"n","environment":"e","parameters":{"x":1}}`},
		{"FMT-NODE-03 its own key wins", "node", `{"name":"n","environment":"e","parameters":{"environment":"f"}}`, `{"name":"n","environment":"e"}`},
		{"FMT-CAT-02 namevar and virtual", "resource", `{"type":"file","title":"/a","virtual":true,"tags":["A::B"],"parameters":{"path":"/a"}}`, `{"type":"File","title":"/a","tags":["a::b","a","b"],"exported":false}`},
		{"FMT-CAT-02 without exported", "resource", `{"type":"File","title":"/a","kind":"class"}`, `{"type":"File","title":"/a","tags":[],"kind":"class","exported":false}`},
		{"FMT-CAT-02 title of a class", "resource", `{"type":"class","title":"a::b","tags":[],"exported":false}`, `{"type":"Class","title":"A::B","tags":[],"exported":false}`},
		{"FMT-CAT-02 title of a class that is a number", "resource", `{"type":"class","title":1.5}`, `{"type":"Class","title":"1.5","tags":[],"exported":false}`},
		{"FMT-CAT-02 title that is a number", "resource", `{"type":"foo","title":1.5}`, `{"type":"Foo","title":"1.5","tags":[],"exported":false,"parameters":{"name":"1.5"}}`},
		{
			"FMT-CAT-07 classes as a mapping", "catalog", `{"name":"n","environment":"e","classes":{"a":1}}`,
			`{"tags":["a","1"],"name":"n","version":null,"code_id":null,"catalog_uuid":null,"catalog_format":0,"environment":"e","resources":[],"edges":[],"classes":[["a",1]]}`,
		},
		{"FMT-REP-06 master_used", "report", `{"host":"h","time":"2021-01-01T00:00:00Z","master_used":"m","metrics":{},"logs":[],"resource_statuses":{}}`, `{"host":"h","time":"2021-01-01T00:00:00.000000000Z","configuration_version":null,"transaction_uuid":null,"report_format":null,"puppet_version":null,"status":null,"transaction_completed":null,"noop":null,"noop_pending":null,"environment":null,"logs":[],"metrics":{},"resource_statuses":{},"corrective_change":null,"server_used":"m"}`},
		{"status in an envelope", "status", `{"status":{"is_alive":true,"version":"2.7"}}`, `{"is_alive":true,"version":"2.7"}`},
		{
			"edges by target", "catalog", `{"name":"n","environment":"e","resources":[{"type":"Class","title":"A"},{"type":"Class","title":"B"},{"type":"Class","title":"C"}],"edges":[{"source":"Class[a]","target":"Class[C]"},{"source":"Class[a]","target":"Class[b]"}]}`,
			`{"tags":[],"name":"n","version":null,"code_id":null,"catalog_uuid":null,"catalog_format":0,"environment":"e","resources":[{"type":"Class","title":"A","tags":[],"exported":false},{"type":"Class","title":"B","tags":[],"exported":false},{"type":"Class","title":"C","tags":[],"exported":false}],` +
				`"edges":[{"source":"Class[A]","target":"Class[B]"},{"source":"Class[A]","target":"Class[C]"}],"classes":[]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := text(t, from(t, tt.class, tt.text)); got != tt.want {
				t.Errorf("\ngot  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestReadersFailInPuppetsWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ class, text, want string }{
		{"facts", `{"name":"n"}`, "undefined method `delete' for nil:NilClass"},
		{"facts", `[]`, "no implicit conversion of String into Integer"},
		{"facts", `{"values":{},"timestamp":"soon"}`, `no time information in "soon"`},
		{"node", `{"environment":"e"}`, "No name provided in serialized data"},
		{"node", `null`, "undefined method `[]' for nil:NilClass"},
		{"node", `{"name":"n","parameters":"x"}`, "string not matched"},
		{"node", `{"name":"n","environment":"e","parameters":1}`, "no implicit conversion of String into Integer"},
		{"resource", `{"title":"x"}`, "No resource type provided in serialized data"},
		{"resource", `{"type":"x"}`, "No resource title provided in serialized data"},
		{"resource", `{"type":"x","title":"y","tags":["no tag"]}`, "Invalid tag 'no tag'"},
		{"catalog", `{"resources":[{"type":"A","title":"a","file":"f.pp","line":2},{"type":"a","title":"a","line":3}]}`, "Duplicate declaration: A[a] is already declared at (file: f.pp, line: 2); cannot redeclare (line: 3)"},
		{"catalog", `{"resources":[{"type":"A","title":"a","parameters":{"alias":["a","c"]}},{"type":"A","title":"b","line":3,"parameters":{"alias":"c"}}]}`, `Cannot alias A[b] to "c" at (line: 3); resource ["A", "c"] already declared`},
		{"catalog", `{"resources":[{"type":"A","title":"a","parameters":{"alias":"b"}},{"type":"A","title":"b"}]}`, "Duplicate declaration: A[a] is already declared; cannot redeclare"},
		{"catalog", `{"resources":[{"type":"A","title":"a"}],"edges":[{"source":"A[a]","target":"A[b]"}]}`, `Could not intern from data: Could not find relationship target "A[b]" for A[a]`},
		{"catalog", `{"resources":[{"type":"A","title":"a"}],"edges":[{"source":"A[a]","target":"A[a]","event":"ALL_EVENTS"}]}`, "You must pass a callback for non-NONE events"},
		{"report", `{"host":"h","metrics":{},"logs":[{}],"resource_statuses":{}}`, "undefined method `intern' for nil:NilClass"},
		{"file_metadata", `{"path":"a"}`, "Paths must be fully qualified"},
		{"file_metadata", `{"path":"/a","links":"x"}`, ":links can only be set to :manage or :follow"},
		{"file_metadata", `{"path":"/a","relative_path":"/b"}`, "Relative paths must not be fully qualified"},
		{"file_content", `{}`, "undefined method `from_data_hash' for Puppet::FileServing::Content:Class"},
	} {
		t.Run(tt.class+" "+tt.text, func(t *testing.T) {
			t.Parallel()
			c, _ := model.Lookup(tt.class)
			i, err := c.FromData(parse(t, tt.text))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, error %v, want %s", i, err, tt.want)
			}
		})
	}
}

func TestExpiration(t *testing.T) {
	t.Parallel()
	when := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, i := range []indirector.Expirer{
		&model.Facts{}, &model.Node{}, &model.Catalog{}, &model.Report{}, &model.Resource{}, &model.FileMetadata{}, &model.FileContent{}, &model.FileBucketFile{},
	} {
		c := i.WithExpiration(when).(indirector.Expirer)
		if !c.Expiration().Equal(when) || !i.Expiration().IsZero() {
			t.Errorf("%T: got %v, original %v, want %v and none", i, c.Expiration(), i.Expiration(), when)
		}
		v, ok := model.ToData(c)
		if _, written := v.Lookup("expiration"); ok && written != model.ClassOf(c).Expires { // IND-EXP-05
			t.Errorf("%T: expiration written: %v", i, written)
		}
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"2013-09-09 15:49:27 -0700", "2013-09-09T15:49:27.000000000-07:00"},
		{"Sun Jan 01 00:00:00 +0000 2012", "2012-01-01T00:00:00.000000000+00:00"},
		{"2012-01-01 00:30:00.5 +00:00", "2012-01-01T00:30:00.500000000+00:00"},
		{"2021-01-01T00:00:00Z", "2021-01-01T00:00:00.000000000Z"},
		{"2021-01-01 00:00:00 UTC", "2021-01-01T00:00:00.000000000Z"},
		{"2021-01-01 00:00:00 GMT", "2021-01-01T00:00:00.000000000+00:00"},
		{"2021-01-01 00:00:00 EST", "2021-01-01T00:00:00.000000000-05:00"},
		{"20210101T101112Z", "2021-01-01T10:11:12.000000000Z"},
		{"2021-01-01T00:00:00-00:00", "2021-01-01T00:00:00.000000000Z"},
		{"2021-01-01T00:00:00+0530", "2021-01-01T00:00:00.000000000+05:30"},
		{"2021-01-01T00:00:00+05", "2021-01-01T00:00:00.000000000+05:00"},
		{"2021-01-01T00:00:00.123456789123+00:00", "2021-01-01T00:00:00.123456789+00:00"},
		{"2021-01-01T24:00:00Z", "2021-01-02T00:00:00.000000000Z"},
		{"2021-01-01T00:00:60Z", "2021-01-01T00:01:00.000000000Z"},
		{"Tue, 02 Feb 2021 10:11:12 +0100", "2021-02-02T10:11:12.000000000+01:00"},
		{"2021/02/03 04:05:06 Z", "2021-02-03T04:05:06.000000000Z"},
		{"2021-1-2 01:02:03 PM UTC", "2021-01-02T13:02:03.000000000Z"},
		{"2021-01-01T00:00:00,5Z", "2021-01-01T00:00:00.500000000Z"},
		{"2021-01-01T00:00Z", "2021-01-01T00:00:00.000000000Z"},
		{"2024-05-06T07:08:09.123456789+02:00", "2024-05-06T07:08:09.123456789+02:00"},
		{"2021-06-01", "2021-06-01T00:00:00.000000000" + time.Date(2021, 6, 1, 0, 0, 0, 0, time.Local).Format("-07:00")},
	} {
		got, err := model.ParseTime(tt.text)
		if err != nil || got.String() != tt.want {
			t.Errorf("%q: got %s, error %v, want %s", tt.text, got, err, tt.want)
		}
		if got.Text() != tt.text { // FMT-07
			t.Errorf("%q: text %q", tt.text, got.Text())
		}
	}
	for text, want := range map[string]string{
		"": `no time information in ""`, "not a time": `no time information in "not a time"`, "now": `no time information in "now"`,
		"2021-13-01": "mon out of range", "2021-01-01T25:00:00Z": "hour out of range", "2021-01-01T00:61:00.000000000Z": "min out of range",
	} {
		if _, err := model.ParseTime(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2021-01-01T00:00:00Z", "Sun Jan 01 00:00:00 +0000 2012", "1:2:3.4 pm +01", "20210101T101112.5", "2021-1-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := model.ParseTime(s)
		if err != nil {
			return
		}
		again, err := model.ParseTime(at.String())
		if y := at.Time().Year(); y >= 0 && y < 10000 && (err != nil || !again.Time().Equal(at.Time())) {
			t.Errorf("%q is %s, which is %s (%v)", s, at, again, err)
		}
	})
}
