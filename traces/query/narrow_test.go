package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"indirtui/traces"
	"indirtui/traces/query"
)

func TestNarrow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ expr, ways, rest string }{
		{"", "[map[]]", ""},
		{"ind=facts key=web*", "[map[ind:facts key:web*]]", ""},
		{"ind in (facts, node) verb=find", "[map[ind:facts verb:find] map[ind:node verb:find]]", ""},
		{"verb!=find ind=node", "[map[ind:node verb:search] map[ind:node verb:head] map[ind:node verb:save] map[ind:node verb:destroy] map[ind:node verb:expire]]", ""},
		{"ind=catalog out=nil", "[map[ind:catalog]]", "out=nil"},
		{"ind=node prev(ind=facts)", "[map[ind:node]]", "prev(ind=facts)"},
		{"ind=node or ind=facts key=a", "[map[ind:node] map[ind:facts key:a]]", ""},
		{"ind=node or out=err", "[map[]]", "ind=node or out=err"},
		{"ind=node out=nil or ind=facts", "[map[ind:node] map[ind:facts]]", "ind=node out=nil or ind=facts"},
		{"not ind=node", "[map[]]", "not ind=node"},
		{"ind!=node", "[map[]]", "ind!=node"},
		{"key=a* key=*b", "[map[key:a*]]", "key=*b"},
		{"db07", "[map[]]", "db07"},
		{"env=qa ind=node", "[map[ind:node]]", "env=qa"},
		{"key in (a,b,c,d,e,f,g,h,i) verb in (find,search)", "[map[key:a] map[key:b] map[key:c] map[key:d] map[key:e] map[key:f] map[key:g] map[key:h] map[key:i]]", "verb in (find, search)"},
	} {
		t.Run(tt.expr, func(t *testing.T) {
			t.Parallel()
			e, err := query.Parse(tt.expr)
			if err != nil {
				t.Fatal(err)
			}
			ways, rest := e.Narrow("verb", "ind", "key")
			if got := fmt.Sprint(ways); got != tt.ways {
				t.Errorf("got %s, want %s", got, tt.ways)
			}
			if got := strings.Join(rest, "; "); got != tt.rest {
				t.Errorf("rest is %q, want %q", got, tt.rest)
			}
		})
	}
}

// What an expression means is within the alternatives; without a rest, they mean the
// same.
func FuzzNarrow(f *testing.F) {
	for _, expr := range []string{"ind=facts or (key=web* verb=find)", "not (ind=node)", "key in (a, web01) ind=f*", "verb!=save out=ok"} {
		f.Add(expr, "facts", "web01", uint8(1))
	}
	f.Fuzz(func(t *testing.T, expr, ind, key string, verb uint8) {
		e, err := query.Parse(expr)
		if err != nil || ind == "" || key == "" { // a field that is missing matches nothing
			return
		}
		tr := &traces.Trace{Indirection: ind, Key: key, Verb: traces.Verb(verb%5) + 1}
		ways, rest := e.Narrow("verb", "ind", "key")
		within := slices.ContainsFunc(ways, func(way map[string]string) bool {
			for name, value := range way {
				one, err := query.Parse(name + "=" + query.Quote(value))
				if err != nil {
					t.Fatal(err)
				}
				if !one.Match(query.Of(tr)) {
					return false
				}
			}
			return true
		})
		if yes := e.Match(query.Of(tr)); yes && !within || within && !yes && len(rest) == 0 {
			t.Errorf("%s means it: %v; %v do: %v; rest %q", e, yes, ways, within, rest)
		}
	})
}
