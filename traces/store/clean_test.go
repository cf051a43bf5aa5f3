package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"indirtui/traces"
)

// What is clean is looked at twice while it is used; secrets are taken out each time.
func TestRemembering(t *testing.T) {
	t.Parallel()
	looked := map[string]int{}
	redact := remembering(func(s string) (string, int) {
		looked[s]++
		out := strings.ReplaceAll(s, "secret", "*")
		if out != s {
			return out, 1
		}
		return s, 0
	})
	long := strings.Repeat("x", maxClean+1)
	const times = 100
	for range times {
		for _, s := range []string{"clean", long} {
			if out, n := redact(s); out != s || n != 0 {
				t.Fatalf("%q became %q, %d", s, out, n)
			}
		}
		if out, n := redact("a secret"); out != "a *" || n != 1 {
			t.Fatalf("the secret became %q, %d", out, n)
		}
	}
	if looked["clean"] != 2 {
		t.Errorf("a clean text was looked at %d times, want twice", looked["clean"])
	}
	if looked[long] != times || looked["a secret"] != times {
		t.Errorf("the long text was looked at %d times, the secret %d times: they are not to be kept", looked[long], looked["a secret"])
	}
	for i := range 20 * maxCleanOnes {
		for range 2 {
			redact(fmt.Sprint(i))
		}
	}
	if redact("clean"); looked["clean"] != 3 {
		t.Error("what was not used for long is still kept")
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
	pairs := newCleanPairs()
	for range 3 { // the third time, pairs are known
		clean := []traces.Span{{Name: "a", Attrs: []traces.Attr{{Key: "k", Value: "v"}}}}
		dirty := []traces.Span{{Name: "a"}, {Name: "b", Attrs: []traces.Attr{{Key: "k", Value: "v"}, {Key: "k", Value: "secret"}}}}
		for _, spans := range [][]traces.Span{clean, dirty} {
			m := traces.Trace{Spans: spans}
			n := redactTrace(&m, redact, pairs)
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
