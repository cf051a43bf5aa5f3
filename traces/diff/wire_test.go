package diff

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/traces"
)

func TestWire(t *testing.T) {
	t.Parallel()
	span := func(name, answer string, attrs ...traces.Attr) traces.Span {
		return traces.Span{Kind: traces.Network, Name: name, Answer: answer, Attrs: attrs}
	}
	const ms = time.Millisecond
	a := &traces.Trace{Took: 40 * ms, Spans: []traces.Span{
		{Kind: traces.File, Name: "read web01.yaml"},
		span("GET https://puppet:8140/puppet/v3/node/web01", "200 OK", traces.Attr{Key: "> Accept", Value: "application/json"}, traces.Attr{Key: "< Date", Value: "now"},
			traces.Attr{Key: "< via", Value: "one"}, traces.Attr{Key: "< Via", Value: "two"}, traces.Attr{Key: "connection", Value: "new: dns 1ms, connect 2ms, TLS 3ms"}, traces.Attr{Key: "wait", Value: "30ms"}),
	}}
	a.Steps[traces.Terminus].Took = 39 * ms
	a.Steps[traces.Terminus].Answer = traces.OK
	b := &traces.Trace{Took: 10 * ms, Spans: []traces.Span{
		span("GET https://puppet:8140/puppet/v3/node/web01", "404 Not Found", traces.Attr{Key: "> accept", Value: "application/json"}, traces.Attr{Key: "wait", Value: "8ms"}),
		span("GET https://other:8140/", "200 OK"),
	}}
	b.Steps[traces.Terminus].Answer = traces.OK
	const address = "GET https://puppet:8140/puppet/v3/node/web01"
	want := []Header{
		{"request", address, address},
		{"status", "200 OK", "404 Not Found"},
		{"> Accept", "application/json", "application/json"},
		{"< Date", "now", ""},
		{"< via", "one, two", ""},
		{"request", "", "GET https://other:8140/"},
		{"status", "", "200 OK"},
	}
	if d := cmp.Diff(want, headers(a, b)); d != "" {
		t.Errorf("headers (-want +got):\n%s", d)
	}
	times := []Timing{
		{"total", 0, 40 * ms, 10 * ms},
		{"terminus", 1, 39 * ms, 0},
		{address, 1, -1, -1},
		{"dns", 2, 1 * ms, -1},
		{"connect", 2, 2 * ms, -1},
		{"tls", 2, 3 * ms, -1},
		{"wait", 2, 30 * ms, 8 * ms},
	}
	if d := cmp.Diff(times, timings(a, b)); d != "" {
		t.Errorf("timings (-want +got):\n%s", d)
	}
}
