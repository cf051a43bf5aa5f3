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

// TestWriterRules is about which keys are written, and which are left out.
func TestWriterRules(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
	empty := data.OfHash(nil)
	for _, tt := range []struct {
		name     string
		instance indirector.Instance
		want     string
	}{
		{"FMT-FACT-01 times that are unset are left out", &model.Facts{Name: "n", Values: empty}, `{"name":"n","values":{}}`},
		{
			"FMT-FACT-01 times that are set", (&model.Facts{Name: "n", Values: empty, Timestamp: model.At(at)}).WithExpiration(at.Add(time.Hour)),
			`{"name":"n","values":{},"timestamp":"2024-05-06T07:08:09.123456789Z","expiration":"2024-05-06T08:08:09.123456789Z"}`,
		},
		{
			"FMT-07 nine digits and the offset", &model.Facts{Name: "n", Values: empty, Timestamp: model.At(time.Date(2024, 5, 6, 7, 8, 9, 0, time.FixedZone("", -25200)))},
			`{"name":"n","values":{},"timestamp":"2024-05-06T07:08:09.000000000-07:00"}`,
		},
		{"FMT-NODE-01 the environment always, nothing that is empty", &model.Node{Name: "n", Classes: data.OfStrings(nil), Parameters: empty}, `{"name":"n","environment":"production"}`},
		{"FMT-NODE-01 no environment among the parameters", from(t, "node", `{"name":"n","parameters":{"environment":"e"}}`), `{"name":"n","environment":"e"}`},
		{"FMT-NODE-04 no expiration", (&model.Node{Name: "n", Environment: "e"}).WithExpiration(at), `{"name":"n","environment":"e"}`},
		{
			"FMT-CAT-01 version and code_id", &model.Catalog{Name: "n", Environment: "e", Version: data.OfInt(1700000000), Format: 2},
			`{"tags":[],"name":"n","version":1700000000,"code_id":null,"catalog_uuid":null,"catalog_format":2,"environment":"e","resources":[],"edges":[],"classes":[]}`,
		},
		{"FMT-CAT-02 exported always, the rest when it is set", &model.Resource{Type: "File", Title: "/a"}, `{"type":"File","title":"/a","tags":[],"exported":false}`},
		{
			"FMT-CAT-03 references are texts or lists of them, undef is null", from(t, "resource", `{"type":"A","title":"a","parameters":{"require":"B[b]","notify":["B[c]","B[d]"],"x":null}}`),
			`{"type":"A","title":"a","tags":[],"exported":false,"parameters":{"require":"B[b]","notify":["B[c]","B[d]"],"x":null}}`,
		},
		{
			"FMT-REP-01 what is unset comes not at all", &model.Report{Host: "h", Time: model.At(at), ServerUsed: "s:8140"},
			`{"host":"h","time":"2024-05-06T07:08:09.123456789Z","configuration_version":null,"transaction_uuid":null,"report_format":0,"puppet_version":null,"status":null,"transaction_completed":false,"noop":false,"noop_pending":false,"environment":null,"logs":[],"metrics":{},"resource_statuses":{},"corrective_change":false,"server_used":"s:8140"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := text(t, tt.instance); got != tt.want {
				t.Errorf("\ngot  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestReaderRules is about what readers take, and what they refuse.
func TestReaderRules(t *testing.T) {
	t.Parallel()
	const (
		two    = `"resources":[{"type":"A","title":"a"},{"type":"A","title":"b"}]`
		report = `{"host":"h","time":"2021-01-01T00:00:00Z","metrics":{},"logs":[],"resource_statuses":{}}`
	)
	for _, tt := range []struct{ name, class, text, err string }{
		{"FMT-FACT-02 without values", "facts", `{"name":"n"}`, "undefined method `delete' for nil:NilClass"},
		{"FMT-FACT-02 without a name", "facts", `{"values":{}}`, ""},
		{"FMT-FACT-06 without an expiration, upper case", "facts", `{"name":"N1.Example","values":{}}`, ""},
		{"FMT-NODE-02 a list", "node", `{"name":"n","classes":["a"]}`, ""},
		{"FMT-NODE-02 a mapping", "node", `{"name":"n","classes":{"a":null,"b":{"x":1}}}`, ""},
		{"FMT-NODE-02 a text", "node", `{"name":"n","classes":"a"}`, ""},
		{"FMT-NODE-03 without a name", "node", `{"environment":"e"}`, "No name provided in serialized data"},
		{"FMT-NODE-04 what older Puppets wrote", "node", `{"name":"n","time":"x","expiration":"x","facts":{},"source":"s","ipaddress":"i"}`, ""},
		{"FMT-CAT-02 without a type", "resource", `{"title":"a"}`, "No resource type provided in serialized data"},
		{"FMT-CAT-02 without a title", "resource", `{"type":"A"}`, "No resource title provided in serialized data"},
		{"FMT-CAT-04 an edge", "catalog", `{"name":"n",` + two + `,"edges":[{"source":"A[a]","target":"A[b]"}]}`, ""},
		{"FMT-CAT-04 to nowhere", "catalog", `{"name":"n",` + two + `,"edges":[{"source":"A[a]","target":"A[c]"}]}`, `Could not intern from data: Could not find relationship target "A[c]" for A[a]`},
		{"FMT-CAT-04 from nowhere", "catalog", `{"name":"n",` + two + `,"edges":[{"source":"A[c]","target":"A[a]"}]}`, `Could not intern from data: Could not find relationship source "A[c]" for A[a]`},
		{"FMT-CAT-05 declared twice", "catalog", `{"resources":[{"type":"A","title":"a"},{"type":"A","title":"a"}]}`, "Duplicate declaration: A[a] is already declared; cannot redeclare"},
		{"FMT-CAT-07 nothing is needed", "catalog", `{}`, ""},
		{"FMT-REP-06 metrics, logs and statuses are there", "report", report, ""},
		{"FMT-REP-06 without metrics", "report", strings.Replace(report, "metrics", "x", 1), "undefined method `each' for nil:NilClass"},
		{"FMT-REP-06 without logs", "report", strings.Replace(report, "logs", "x", 1), "undefined method `…"},
		{"FMT-REP-06 without statuses", "report", strings.Replace(report, "resource_statuses", "x", 1), "undefined method `…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, _ := model.Lookup(tt.class)
			_, err := c.FromData(parse(t, tt.text))
			words, open := strings.CutSuffix(tt.err, "…")
			switch {
			case tt.err == "" && err != nil:
				t.Errorf("got error %v", err)
			case tt.err != "" && (err == nil || err.Error() != words && !(open && strings.HasPrefix(err.Error(), words))):
				t.Errorf("got error %v, want %s", err, tt.err)
			}
		})
	}
}

// TestFieldRules is about what becomes of single fields.
func TestFieldRules(t *testing.T) {
	t.Parallel()
	t.Run("FMT-NODE-02 names of classes", func(t *testing.T) {
		t.Parallel()
		for classes, want := range map[string]string{`["a","b"]`: "a b", `{"a":null,"b":{"x":1}}`: "a b", `"a"`: "a"} {
			n := from(t, "node", `{"name":"n","classes":`+classes+`}`).(*model.Node)
			if got := strings.Join(n.ClassNames(), " "); got != want {
				t.Errorf("%s: got %q, want %q", classes, got, want)
			}
		}
	})
	t.Run("FMT-CAT-01 without a format it is zero", func(t *testing.T) {
		t.Parallel()
		for body, want := range map[string]int64{`{"name":"n"}`: 0, `{"name":"n","catalog_format":2}`: 2} {
			if got := from(t, "catalog", body).(*model.Catalog).Format; got != want {
				t.Errorf("%s: got %d", body, got)
			}
		}
	})
	t.Run("FMT-CAT-06 metadata of static catalogs", func(t *testing.T) {
		t.Parallel()
		c := from(t, "catalog", `{"name":"n","metadata":{"/a":{"path":"/x","type":"file"}},"recursive_metadata":{"/b":{"puppet:///m":[]}}}`).(*model.Catalog)
		if len(c.Metadata) != 1 || c.Metadata[0].Title != "/a" || c.Metadata[0].Metadata.Path != "/x" || c.RecursiveMetadata.Get("/b").Len() != 1 {
			t.Errorf("got %+v, %s", c.Metadata, c.RecursiveMetadata)
		}
	})
	t.Run("FMT-REP-02 the status is kept as it is", func(t *testing.T) {
		t.Parallel()
		for _, status := range []string{"failed", "changed", "unchanged"} {
			r := from(t, "report", `{"host":"h","status":"`+status+`","cached_catalog_status":"on_failure","metrics":{},"logs":[],"resource_statuses":{}}`).(*model.Report)
			if r.Status != status || r.CachedCatalogStatus != "on_failure" {
				t.Errorf("got %+v", r)
			}
		}
	})
	t.Run("FMT-REP-03 an empty status is null", func(t *testing.T) {
		t.Parallel()
		r := from(t, "report", `{"host":"h","metrics":{},"logs":[],"resource_statuses":{"A[a]":{}}}`)
		if s := r.(*model.Report).Statuses[0]; !s.Empty || s.Ref != "A[a]" || !strings.Contains(text(t, r), `"resource_statuses":{"A[a]":null}`) {
			t.Errorf("got %+v of %s", s, text(t, r))
		}
	})
	t.Run("FMT-REP-04 name, label and values of a metric", func(t *testing.T) {
		t.Parallel()
		r := from(t, "report", `{"host":"h","metrics":{"time":{"name":"time","label":"Time","values":[["total","Total",0.5],["file","File",0.25]]}},"logs":[],"resource_statuses":{}}`).(*model.Report)
		if m := r.Metrics[0]; len(r.Metrics) != 1 || m.Key != "time" || m.Label != "Time" || m.Values.Len() != 2 || m.Values.List()[1].List()[2].Float() != 0.25 {
			t.Errorf("got %+v", m)
		}
	})
	t.Run("TERM-FB-04 a checksum that is unknown", func(t *testing.T) {
		t.Parallel()
		if _, err := model.NewFileBucketFile("crc", nil); err == nil || err.Error() != "Unsupported checksum type crc" {
			t.Errorf("got %v", err)
		}
	})
}

// TestGraphOfYAML checks what Puppet looks at in a catalog of YAML; its words
// are those of Puppet 7.
func TestGraphOfYAML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"edges":null}`:           "",
		`{"edges":{}}`:             "",
		`{"edges":[{}]}`:           "",
		`{"vertices":{"a":1}}`:     "",
		`{"edges":{"a":1}}`:        "undefined method `source' for [\"a\", 1]:Array",
		`{"edges":["x"]}`:          "undefined method `source' for \"x\":String",
		`{"edges":[null]}`:         "undefined method `source' for nil:NilClass",
		`{"edges":3}`:              "undefined method `each' for 3:Integer",
		`{"edges":false}`:          "undefined method `each' for false:FalseClass",
		`{"vertices":"x"}`:         "undefined method `each' for \"x\":String",
		`{"edges":[{"event":""}]}`: "You must pass a callback for non-NONE events",
		`{"edges":[{"event":"ALL_EVENTS","callback":""}]}`: "",
		`{"edges":[{"event":"NONE"}]}`:                     "",
	} {
		v, err := format.DecodeJSON([]byte(text), format.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := model.CheckGraph(v); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}
