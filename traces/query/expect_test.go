package query_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"indirtui/traces"
	"indirtui/traces/query"
)

func TestExpectations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in, canonical string // canonical "" is in
		met           bool
		found         string
		against       []uint64
	}{
		{"count(out=stale) = 0", "", false, "1 request", []uint64{4}},
		{"count(hidden)=0", "count(hidden) = 0", false, "4 requests", []uint64{4, 5, 6, 8}},
		{"count(ind=file_content) = 0", "", true, "0 requests", nil},
		{"count() = 10", "", true, "10 requests", nil},
		{"count(verb=save) >= 3", "", false, "2 requests", nil},
		{"count(verb=save) != 2", "", false, "2 requests", nil},
		{"count(verb=save) < 2", "", false, "2 requests", []uint64{6, 9}},
		{"none(hidden)", "", false, "4 requests", []uint64{4, 5, 6, 8}},
		{"NONE( ind=file_content )", "none(ind=file_content)", true, "0 requests", nil},
		{"max(took, ind=catalog) < 2s", "", false, "8.153s", []uint64{3}},
		{"max(took, ind=catalog) <= 1s", "", false, "8.153s", []uint64{3, 8}},
		{"max(took, ind=node) < 2s", "", true, "412ms", nil},
		{"max(took, ind=nothing) < 2s", "", true, "nothing to compare", nil},
		{"max(took, ind=nothing) > 2s", "", false, "nothing to compare", nil},
		{"max(http.status, ) < 500", "", false, "500", []uint64{3}},
		{"max(size, verb=find) > 1kB", "", true, "1204", nil},
		{"max(step.terminus.took, key in (a, web*)) < 2s", "", false, "8.15s", []uint64{3}},
	}
	w := demo()
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			x, err := query.ParseExpectationAt(tt.in, now)
			if err != nil {
				t.Fatal(err)
			}
			canonical := tt.canonical
			if canonical == "" {
				canonical = tt.in
			}
			if x.String() != canonical {
				t.Errorf("String() = %q, want %q", x, canonical)
			}
			v := x.Check(w.seq(), nil)
			if v.Met != tt.met || v.Found != tt.found || !slices.Equal(v.Requests, tt.against) {
				t.Errorf("%q: %+v, want met %v, found %q, against %v", tt.in, v, tt.met, tt.found, tt.against)
			}
		})
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	find := func(key string, o traces.Outcome, by traces.Served) traces.Trace {
		return traces.Trace{Verb: traces.Find, Indirection: "facts", Key: key, Outcome: o, Served: by, Primary: slot("yaml", traces.FromYou)}
	}
	a, b := find("a", traces.Good, traces.ByTerminus), find("b", traces.Nil, traces.ByNone)
	hit := find("a", traces.Hit, traces.ByCache)
	tests := []struct {
		name            string
		expr            string
		baseline, after []traces.Trace
		met             bool
		found           string
		against         []uint64
	}{
		{"equal", "", []traces.Trace{a, b}, []traces.Trace{a, b}, true, "2 requests alike", nil},
		{"another order of questions", "", []traces.Trace{a, b}, []traces.Trace{b, a}, true, "2 requests alike", nil},
		{"another answer", "", []traces.Trace{a}, []traces.Trace{hit}, false, "find facts a: hit by cache, was ok by terminus yaml", []uint64{1}},
		{"another order of answers", "", []traces.Trace{a, hit}, []traces.Trace{hit, a}, false, "find facts a: hit by cache, was ok by terminus yaml", []uint64{1, 2}},
		{"new", "", []traces.Trace{a}, []traces.Trace{a, b}, false, "find facts b: was not asked before", []uint64{2}},
		{"gone", "", []traces.Trace{a, b}, []traces.Trace{a}, false, "find facts b: is not asked any more", nil},
		{"left out", "key=a", []traces.Trace{a, b}, []traces.Trace{a}, true, "1 request alike", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x, err := query.ParseExpectation("same(baseline, " + tt.expr + ")")
			if err != nil || x.Baseline != "baseline" {
				t.Fatal(err, x)
			}
			v := x.Check(newWorld(tt.after...).seq(), newWorld(tt.baseline...).seq())
			if v.Met != tt.met || v.Found != tt.found || !slices.Equal(v.Requests, tt.against) {
				t.Errorf("%+v, want met %v, found %q, against %v", v, tt.met, tt.found, tt.against)
			}
		})
	}
}

func TestExpectationErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in     string
		offset int
		want   string
	}{
		{"", 0, "count(EXPR)"},
		{"sum(took) < 1s", 0, "count(EXPR)"},
		{"count", 5, `"("`},
		{"count(out=stale", 15, `")"`},
		{"count(out=stale)", 16, "one of ="},
		{"count(out=stale) ~ 0", 17, "one of ="},
		{"count(out=stale) = 0 0", 21, "the end"},
		{"count(out=stale) = none", 19, "a number"},
		{"count(out=stal) = 0", 10, "one of run"},
		{"max(took ind=catalog) < 2s", 9, `","`},
		{"max(key, ind=catalog) < 2s", 4, "a field with numbers"},
		{"max(tok, ind=catalog) < 2s", 4, "a field"},
		{"max(took, ind=catalog) < 2", 25, "a duration"},
		{"none(hidden) = 0", 13, "the end"},
		{"same(hidden)", 11, `","`},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			_, err := query.ParseExpectation(tt.in)
			var bad *query.SyntaxError
			if !errors.As(err, &bad) || bad.Offset != tt.offset || !strings.Contains(bad.Want, tt.want) {
				t.Errorf("ParseExpectation(%q): %v, want at %d …%s…", tt.in, err, tt.offset+1, tt.want)
			}
		})
	}
}
