package indirector_test

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// What is kept of an option is read by people: encoded facts are counted, and
// none of their values is kept.
func TestBrief(t *testing.T) {
	t.Parallel()
	many := make([]string, 172)
	for i := range many {
		many[i] = fmt.Sprintf(`"fact_%03d":"hunter2"`, i)
	}
	inventory := `{"name":"web01","values":{` + strings.Join(many, ",") + `}}`
	for _, tt := range []struct {
		name, format string
		value        any
		want         string
	}{
		{"facts", "application/json", inventory, "(172 facts, 3639 B of json: fact_000, fact_001, fact_002, fact_003, fact_004, fact_005, fact_006, fact_007, fact_008, fact_009, fact_010, fact_011, fact_012, fact_013, fact_014, fact_015, …)"},
		{"facts", "application/json", url.QueryEscape(`{"name":"web01","values":{"os":{"family":"hunter2"},"kernel":"hunter2"}}`), "(2 facts, 130 B of json, URL-encoded: kernel, os)"},
		{"facts", "pson", "%7B" + `"values":{"one":1}}`, "(1 fact, 22 B of pson, URL-encoded: one)"},
		{"facts", "", "%7B" + `"values":{}}`, "(0 facts, 15 B of an unnamed format, URL-encoded)"},
		{"facts", "application/json", `%7b"values":{"a"`, "(16 B of json, URL-encoded, not counted)"},
		{"facts", "application/json", "%7B%2", "(5 B of json, URL-encoded, not counted)"},
		{"facts", "application/json", `{"values":{"a":1}}`, `{"values":{"a":1}}`},
		{"facts", "application/json", `{"values":{"a":"` + strings.Repeat("hunter2", 1<<18) + `"}}`, "(1835 kB of json, not counted)"},
		{"facts", strings.Repeat("x", 100), `{"values":{"` + strings.Repeat("n", 1000) + `":1}}`, "(1 fact, 1017 B of an unnamed format, …)"},
		{"facts", "", "null", "null"},
		{"note", "", `{"values":{"a":1}}`, `{"values":{"a":1}}`},
		{"facts_for_catalog", "", &model.Facts{Name: "web01"}, "(facts of web01, not kept)"},
	} {
		format := indirector.Option{Name: "facts_format", Value: tt.format}
		o := indirector.Option{Name: tt.name, Value: tt.value}
		req := &indirector.Request{Options: []indirector.Option{format, o}}
		if got := req.Brief(o); got != tt.want || len(got) > traces.LongestOption+len("…") {
			t.Errorf("%s=%.40v: got %s, want %s", tt.name, tt.value, got, tt.want)
		}
	}
}

// Puppet's own agent sends facts as they are counted here.
func TestBriefOfPuppet(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("network/rest/testdata/captures/040-catalog-json.sent")
	if err != nil {
		t.Fatal(err)
	}
	form, err := url.ParseQuery(string(b))
	if err != nil {
		t.Fatal(err)
	}
	o := indirector.Option{Name: "facts", Value: form.Get("facts")}
	req := &indirector.Request{Options: []indirector.Option{{Name: "facts_format", Value: form.Get("facts_format")}, o}}
	if got := req.Brief(o); got != "(16 facts, 1220 B of json, URL-encoded: clientcert, clientnoop, clientversion, domain, fqdn, hostname, is_virtual, kernel, memorysize_mb, networking, os, peers, peers_site, peers_target, …)" {
		t.Errorf("got %s", got)
	}
}

func BenchmarkBrief(b *testing.B) {
	many := make([]string, 172)
	for i := range many {
		many[i] = fmt.Sprintf(`"fact_%03d":{"a":["%s"]}`, i, strings.Repeat("x", 50))
	}
	o := indirector.Option{Name: "facts", Value: url.QueryEscape(`{"name":"web01","values":{` + strings.Join(many, ",") + `}}`)}
	req := &indirector.Request{Options: []indirector.Option{o}}
	b.SetBytes(int64(len(o.Value.(string))))
	b.ReportAllocs()
	for b.Loop() {
		_ = req.Brief(o)
	}
}
