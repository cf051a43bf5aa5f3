//go:build unix

package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/traces/fleet"
	"indirtui/traces/query"
	"indirtui/traces/store"
)

// TestSQL holds what conditions of SQL mean against what the expressions mean, at
// random. Rule FLEET-05.
func TestSQL(t *testing.T) {
	t.Parallel()
	url, in := filled(t, 700)
	log, err := store.OpenFile(in.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	until(t, "the recording", func() bool { done, total := log.Loading(); return done == total })
	f := open(t, url)
	seed := rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 1))
	exacts := 0
	for range 300 {
		text := expression(dice, 3)
		e, err := query.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := 0
		first, last := log.Range()
		for id := first; id <= last; id++ {
			if s, ok := log.Subject(id); ok && e.Match(s) {
				want++
			}
		}
		got, exact, err := fleet.Count(t.Context(), f, e)
		switch {
		case err != nil:
			t.Errorf("seed %d: %s: %v", seed, text, err)
		case exact && got != want, got < want:
			t.Errorf("seed %d: %s: SQL means %d requests (exact: %t), the expression %d", seed, text, got, exact, want)
		}
		if exact {
			exacts++
		}
	}
	if exacts < 50 {
		t.Errorf("only %d of 300 were exact", exacts)
	}
}

// expression is a random one.
func expression(dice *rand.Rand, depth int) string {
	pick := func(of ...string) string { return of[dice.IntN(len(of))] }
	if depth > 0 && dice.IntN(2) == 0 {
		a, b := expression(dice, depth-1), expression(dice, depth-1)
		return pick("("+a+") and ("+b+")", "("+a+") or ("+b+")", "not ("+a+")")
	}
	text := pick("key", "ind", "node", "env", "caller", "terminus", "cache", "run")
	value := pick("node3.example.com", "NODE3*", "node*", "*", "catalog", "facts", "production", "00000003", "0000*", "agent*", `"a%_\\b"`, "compiler", `"'; drop table x; --"`, "ä*", `""`)
	return pick(
		text+pick("=", "!=")+value, text+" in ("+value+", catalog)", text,
		"out"+pick("=", "!=")+pick("err", "ok", "nil*", "*"), "verb"+pick("=", "!=")+pick("find", "save"), "served="+pick("terminus", "cache", "none"),
		"took"+pick("<", "<=", ">", ">=", "=", "!=")+pick("1ms", "2ms", "500us"), "t"+pick("<", ">", "<=", ">=")+pick("-1s", "-30d", "2020-01-01", "14:02"),
		pick("failed", "hidden", "slow", "sent", "nested", "guessed"), "because=setting", "#3..5", "@all", "@marked", "key~node[12]", "web01",
		"run("+pick("failed", "ind=facts")+")",
	)
}

// FuzzSQL checks that no text of an expression becomes SQL.
func FuzzSQL(f *testing.F) {
	for _, text := range []string{"key='; drop table x; --", "node=a*b% not (ind=x or took>5s)", `key="a'b" or env!=($1)`, "t=14:02..14:05 hidden", "out!=(err, ok)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := query.Parse(text)
		if err != nil {
			return
		}
		n := 0
		where, _ := e.SQL(query.Table{
			Columns: map[string][]string{"key": {"k"}, "node": {"k"}, "env": {"e"}, "out": {"o"}, "took": {"d"}, "t": {"a"}, "hidden": {"h"}, "run": {"r", "x"}, "ind": {"i"}},
			Arg:     func(any) string { n++; return fmt.Sprintf("$%d", n) },
		})
		for _, word := range []string{" <> ''", "lower", "LIKE", "AND", "OR", "NOT", "TRUE", "ANY"} {
			where = strings.ReplaceAll(where, word, "")
		}
		if strings.Trim(where, "()$<>= 0123456789kieodahrx") != "" {
			t.Errorf("%q became %q", text, where)
		}
	})
}

// FuzzShipped reads lines as a shipper does, and unpacks what may be in a database.
func FuzzShipped(f *testing.F) {
	f.Add([]byte(`{"indirtui":1,"session":"x","part":3}`))
	f.Add([]byte(`{"trace":7,"t":"2020-01-01T00:00:00Z","verb":"find","steps":[],"traceparent":"00-","spans":[{"id":1,"kind":"network"}],"value":{"digest":"zz"}}`))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	path := filepath.Join(f.TempDir(), "x.jsonl") // of this worker
	f.Fuzz(func(t *testing.T, line []byte) {
		c, err := store.ReadCopied(line)
		if err == nil && c.Header != nil && c.Head != nil {
			t.Error("a line is a header and a request")
		}
		if b, err := fleet.Unpack(line); err == nil && len(b) > 128<<20 {
			t.Error("what was unpacked has no bound")
		}
		if err := os.WriteFile(path, append([]byte("{\"indirtui\":1}\n"), line...), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := fleet.Read(path); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	})
}
