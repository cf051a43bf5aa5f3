package query_test

import (
	"testing"

	"indirtui/traces/query"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"", ""},
		{" \t\n", ""},
		{"web01", "web01"},
		{"out=stale", "out=stale"},
		{"hidden t>-1h", "hidden t>-1h"},
		{"ind=catalog took>5s step(terminus took>4s)", "ind=catalog took>5s step(terminus took>4s)"},
		{"ind=facts served=cache setby=setting", "ind=facts served=cache setby=setting"},
		{`verb=save out=part or err~"connection refused"`, `verb=save out=part or err~"connection refused"`},
		{"http.status in (404,403) and not key=plugins*", "http.status in (404, 403) not key=plugins*"},
		{"node=db07* prev(ind=node out=nil)", "node=db07* prev(ind=node out=nil)"},
		{"run(out=stale)", "run(out=stale)"},
		{"@marked or #1042..1050", "@marked or #1042..1050"},

		{"a b c", "a b c"},
		{"a and b & c", "a b c"},
		{"a or b | c", "a or b or c"},
		{"a or (b or c)", "a or b or c"},
		{"(a b) (c d)", "a b c d"},
		{"a (b or c)", "a and (b or c)"},
		{"a b or c d", "a b or c d"},
		{"not a b", "not a b"},
		{"not (a b)", "not (a b)"},
		{"!a", "not a"},
		{"!!a", "not (not a)"},
		{"NOT a AND b OR c", "not a b or c"},
		{"! hidden", "not hidden"},
		{"took > 5s", "took>5s"},
		{"key != a", "key!=a"},
		{"key!~^a", "key!~^a"},
		{"key in (a)", "key=a"},
		{"key=(a,b)", "key in (a, b)"},
		{"key in a", "key=a"},
		{"key != (a , b)", "key!=(a, b)"},
		{"out=nil!", "out=nil!"},
		{"out=err~|out=err", "out=err~ or out=err"},
		{"out in (err, err~, nil!)", "out in (err, err~, nil!)"},
		{"because=skipped(cache-hit)", "because=skipped(cache-hit)"},
		{"(because=skipped(cache-hit))", "because=skipped(cache-hit)"},
		{"step.cache_read.answer=miss", "step.cache-read.answer=miss"},
		{"step.Terminus.took<=1.5s", "step.terminus.took<=1.5s"},
		{"opt.checksum_type=md5", "opt.checksum_type=md5"},
		{"opt.Links", "opt.Links"},
		{"flag.ignore_cache", "flag.ignore_cache"},
		{"flag.ignore_cache=no", "flag.ignore_cache=no"},
		{`"stale"`, `"stale"`},
		{`'stale'`, `"stale"`},
		{`"web01"`, "web01"},
		{`key="a b"`, `key="a b"`},
		{`key='a b'`, `key="a b"`},
		{`key="web01"`, "key=web01"},
		{`err~"\d+ \"x\""`, `err~"\d+ \"x\""`},
		{`key='a b\'`, `key="a b\\"`},
		{`err="a \\"`, `err="a \\"`},
		{`key=""`, `key=""`},
		{`key="=a"`, `key="=a"`},
		{"run (a or b)", "run(a or b)"},
		{"run and (a or b)", "run and (a or b)"},
		{"step(cache-read not err)", "step(cache-read not err)"},
		{`step("terminus")`, `step("terminus")`},
		{"#7", "#7"},
		{"#7..#9", "#7..9"},
		{"@ALL", "@all"},
		{"key=a=b", "key=a=b"},
		{"key~(a|b)c|key~d", `key~"(a|b)c" or key~d`},
		{"t=14:02..14:05", "t=14:02..14:05"},
		{"File[/tmp/x]", "File[/tmp/x]"},
		{"took<1h30m", "took<1h30m"},
		{"a\u00a0b", "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			e, err := query.Parse(tt.in)
			if err != nil {
				t.Fatalf("Parse(%q): %v", tt.in, err)
			}
			if e.String() != tt.want {
				t.Fatalf("Parse(%q) = %q, want %q", tt.in, e, tt.want)
			}
			again, err := query.Parse(e.String())
			if err != nil || again.String() != tt.want {
				t.Errorf("Parse(%q) = %q, %v", e, again, err)
			}
		})
	}
}
