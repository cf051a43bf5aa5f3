package requests

import (
	"testing"
	"time"

	"indirtui/traces"
)

// Hosts have their first label where it means one host in all groups.
func TestShorten(t *testing.T) {
	t.Parallel()
	group := func(ind string, keys ...string) failure {
		f := failure{ind: ind, key: keys[0], origin: "terminus rest › network", keys: map[string]bool{}}
		for _, k := range keys {
			f.keys[k] = true
		}
		return f
	}
	groups := []failure{
		group("catalog", "web01.example.com"), group("facts", "web01.example.org"), group("node", "db07.example.com"), group("report", "db07.example.com"),
		group("facts", "app03"), group("catalog", "a.example.com", "b.example.com"), group("node", "b.example.org"), group("file_metadata", "modules/app/a.conf"), group("facts", ".hidden"),
	}
	shorten(groups)
	for i, want := range []string{
		"catalog web01.example.com", "facts web01.example.org", "node db07", "report db07",
		"facts app03", "catalog 2 keys", "node b.example.org", "file_metadata modules/app/a.conf", "facts .hidden",
	} {
		if got := groups[i].placeAndKey(); got != want+" · terminus rest" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Where it was is short: what failed within it stands in the detail.
func TestPlace(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string][2]string{
		"terminus rest › network":    {"node · rest", "node n1 · terminus rest"},
		"terminus processor › http":  {"node · processor http", "node n1 · processor http"},
		"cache-read json › decode":   {"node · cache json", "node n1 · reading cache json"},
		"cache-write yaml › file":    {"node · cache yaml", "node n1 · writing cache yaml"},
		"cache json":                 {"node · cache json", "node n1 · cache json"},
		"route":                      {"node · route (face)", "node n1 · the route (face)"},
		"filter":                     {"node · filter", "node n1 · filter"},
		"terminus processor › store": {"node · processor store", "node n1 · processor store"},
	} {
		f := failure{ind: "node", key: "n1", origin: origin, source: "face"}
		if got := [2]string{f.place(), f.placeAndKey()}; got != want {
			t.Errorf("%s: got %q, want %q", origin, got, want)
		}
	}
	if f := (failure{ind: "node", origin: "route"}); f.place() != "node · route" {
		t.Errorf("without a source: got %q", f.place())
	}
}

func TestWhereOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		span  traces.Span
		fault traces.Fault
		want  string
	}{
		{"no work", traces.Span{}, traces.Fault{Step: traces.Route}, "step 1 route"},
		{"a file that is named in full", traces.Span{Kind: traces.File, Name: "read n1.json", Err: "x"}, traces.Fault{Step: traces.CacheRead, Path: "/v/n1.json"}, "step 4 cache read, read /v/n1.json"},
		{"decoding", traces.Span{Kind: traces.Codec, Name: "decode json", Err: "x"}, traces.Fault{Step: traces.CacheRead, Path: "/v/n1.json"}, "step 4 cache read, decode json, /v/n1.json"},
		{"the network", traces.Span{Kind: traces.Network, Name: "GET /catalog/n1", Err: "x", Took: 300 * time.Microsecond}, traces.Fault{Step: traces.Terminus, Path: "http://h:1/catalog/n1"}, "step 5 terminus rest, GET http://h:1/catalog/n1 after 0.3 ms"},
		{"work that did not fail", traces.Span{Kind: traces.File, Name: "read a"}, traces.Fault{Step: traces.Terminus, Path: "/v/b"}, "step 5 terminus rest, /v/b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.span.Step = tt.fault.Step
			tr := traces.Trace{Verb: traces.Find, Primary: traces.Slot{{Terminus: "rest"}}, Spans: []traces.Span{tt.span}, Faults: []traces.Fault{tt.fault}}
			if got := whereOf(&tr, &tt.fault); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The newest requests are named, as many as there is room for.
func TestNewest(t *testing.T) {
	t.Parallel()
	f := failure{members: []uint64{7, 8, 9, 10}, count: 6}
	for width, want := range map[int]string{
		100: "#7 #8 #9 #10 and 2 before", 25: "#7 #8 #9 #10 and 2 before", 24: "#8 #9 #10 and 3 before", 5: "#10 and 5 before",
	} {
		if got := f.newest(width); got != want {
			t.Errorf("%d cells: got %q, want %q", width, got, want)
		}
	}
}

func TestApart(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{0: "less than a second", -time.Hour: "1h 00m", 91 * time.Minute: "1h 31m", time.Second: "1s"} {
		if got := apart(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
