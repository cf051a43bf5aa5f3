package traces_test

import (
	"context"
	"strings"
	"testing"

	"indirtui/traces"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// TestTraceparent reads the header as W3C Trace Context wants it, 3.2.2 and 4.3.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, header, want string }{
		{"sampled", parent, parent},
		{"not sampled", strings.TrimSuffix(parent, "1") + "0", strings.TrimSuffix(parent, "1") + "0"},
		{"unknown flags", strings.TrimSuffix(parent, "01") + "ff", strings.TrimSuffix(parent, "01") + "ff"},
		{"a version to come", "cc" + parent[2:], parent},
		{"a version to come that says more", "cc" + parent[2:] + "-what-the-future-brings", parent},
		{"a version to come that says it otherwise", "cc" + parent[2:] + ".what", ""},
		{"version ff", "ff" + parent[2:], ""},
		{"more than version 00 has", parent + "-00", ""},
		{"a blank behind", parent + " ", ""},
		{"none", "", ""},
		{"too short", parent[:len(parent)-1], ""},
		{"upper case", strings.Replace(parent, "bf", "BF", 1), ""},
		{"upper case in the version", "CC" + parent[2:], ""},
		{"no hexadecimal version", "0g" + parent[2:], ""},
		{"no hexadecimal trace", strings.Replace(parent, "bf", "bg", 1), ""},
		{"no hexadecimal span", strings.Replace(parent, "f067", "g067", 1), ""},
		{"no hexadecimal flags", parent[:len(parent)-1] + "x", ""},
		{"a trace of zeros", "00-" + strings.Repeat("0", 32) + parent[35:], ""},
		{"a span of zeros", parent[:36] + strings.Repeat("0", 16) + "-01", ""},
		{"other signs between", strings.ReplaceAll(parent, "-", "_"), ""},
	} {
		p, ok := traces.ParseTraceparent(tt.header)
		if ok != (tt.want != "") || ok && p.String() != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.name, &p, ok, tt.want)
		}
	}
	if got := (*traces.Traceparent)(nil).String(); got != "" {
		t.Errorf("nil: got %q", got)
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add(parent)
	f.Add("cc" + parent[2:] + "-more")
	f.Fuzz(func(t *testing.T, header string) {
		p, ok := traces.ParseTraceparent(header)
		if !ok {
			return
		}
		again, ok := traces.ParseTraceparent(p.String())
		if !ok || again != p || !strings.Contains(header, p.String()[2:]) {
			t.Errorf("%q is %q is %q", header, &p, &again)
		}
	})
}

// What is asked on the way of a request which another program's span has asked
// is part of that trace, below our own span, whatever its run is.
func TestParentWithinAnother(t *testing.T) {
	t.Parallel()
	p, _ := traces.ParseTraceparent(parent)
	ctx := traces.WithTraceparent(context.Background(), &p)
	mine := traces.Trace{ID: 7, Run: "0123abcd-89ab-4cde-8f01-23456789abcd"}
	live := &traces.Live{Context: &traces.Live{Context: ctx, Trace: &traces.Trace{ID: 3}}, Trace: &mine}
	_, span := traces.Start(live, traces.Network, "GET x")
	got, ok := traces.ParseTraceparent(span.Parent())
	if !ok || got.Trace != p.Trace || got.Span != traces.WorkID(7, mine.Start, 1) {
		t.Errorf("got %q", &got)
	}
}

// A context is of a request, within what another program asks or alone, or of
// what another program asks, or of nothing.
func TestWithin(t *testing.T) {
	t.Parallel()
	p := new(traces.Traceparent)
	asked := traces.WithTraceparent(t.Context(), p)
	alone, joined := &traces.Live{Context: t.Context()}, &traces.Live{Context: asked}
	below := &traces.Live{Context: joined}
	for _, tt := range []struct {
		name string
		ctx  context.Context
		live *traces.Live
		by   *traces.Traceparent
	}{
		{"nothing", t.Context(), nil, nil},
		{"asked", asked, nil, p},
		{"a request alone", alone, alone, nil},
		{"a request that is asked", joined, joined, p},
		{"what that asks", below, below, p},
	} {
		if live, by := traces.Within(tt.ctx); live != tt.live || by != tt.by || traces.FromContext(tt.ctx) != tt.live || traces.TraceparentOf(tt.ctx) != tt.by {
			t.Errorf("%s: got %p, %p", tt.name, live, by)
		}
	}
}
