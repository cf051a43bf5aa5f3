package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"
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
