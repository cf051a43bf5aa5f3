package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"indirtui/traces"
)

// What is clean is looked at once while it is used; secrets are taken out each time.
func TestRemembering(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	looked := map[string]int{}
	redact := remembering(func(s string) (string, int) {
		mu.Lock()
		looked[s]++
		mu.Unlock()
		out := strings.ReplaceAll(s, "secret", "*")
		if out != s {
			return out, 1
		}
		return s, 0
	})
	long := strings.Repeat("x", maxClean+1)
	for i := range 3 * maxCleanOnes {
		for _, s := range []string{"clean", long, fmt.Sprint(i)} {
			if out, n := redact(s); out != s || n != 0 {
				t.Fatalf("%q became %q, %d", s, out, n)
			}
		}
		if out, n := redact("a secret"); out != "a *" || n != 1 {
			t.Fatalf("the secret became %q, %d", out, n)
		}
	}
	if looked["clean"] != 1 || looked["0"] != 1 {
		t.Errorf("clean texts were looked at %d and %d times, want once", looked["clean"], looked["0"])
	}
	if looked[long] != 3*maxCleanOnes {
		t.Errorf("the long text was looked at %d times: it is not to be kept", looked[long])
	}
	redact("0")
	if looked["0"] != 2 {
		t.Error("what was not used for two generations is still kept")
	}
	if remembering(nil) != nil {
		t.Error("nothing to redact with became something")
	}
}

func TestRememberingTogether(t *testing.T) {
	t.Parallel()
	redact := remembering(func(s string) (string, int) { return s, 0 })
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 10_000 {
				redact(fmt.Sprint(i % (g + 5000)))
			}
		})
	}
	wg.Wait()
}

// What a request shares with others is copied before a secret is taken out of it, and
// what has none is not copied.
func TestRedactionCopies(t *testing.T) {
	t.Parallel()
	redact := func(s string) (string, int) {
		return strings.ReplaceAll(s, "secret", "*"), strings.Count(s, "secret")
	}
	var pairs cleanPairs
	for range 2 { // the second time, pairs are remembered
		clean := []traces.Span{{Name: "a", Attrs: []traces.Attr{{Key: "k", Value: "v"}}}}
		dirty := []traces.Span{{Name: "a"}, {Name: "b", Attrs: []traces.Attr{{Key: "k", Value: "v"}, {Key: "k", Value: "secret"}}}}
		for _, spans := range [][]traces.Span{clean, dirty} {
			m := traces.Trace{Spans: spans}
			n := redactTrace(&m, redact, &pairs)
			last, was := m.Spans[len(spans)-1].Attrs, spans[len(spans)-1].Attrs
			if secret := len(spans) - 1; n != secret || (&m.Spans[0] != &spans[0]) != (secret > 0) || last[len(last)-1].Value == "secret" {
				t.Errorf("%d redactions: got %+v", n, m.Spans)
			}
			if len(was) == 2 && was[1].Value != "secret" {
				t.Error("what is shared was changed")
			}
		}
	}
}
