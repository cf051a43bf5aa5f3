package rest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/network/rest"
)

const (
	putFacts    = "PUT /puppet/v3/facts/web01?environment=production"
	postCatalog = "POST /puppet/v3/catalog/web01?environment=production"
)

// facts is a body of that many bytes.
func facts(size int) string {
	const around = `{"name":"web01","values":{"a":""}}`
	return `{"name":"web01","values":{"a":"` + strings.Repeat("x", size-len(around)) + `"}}`
}

// TestBodiesShareABudget fills the memory for bodies: others get 503 until some
// is free, and what it has no room for is too large.
func TestBodiesShareABudget(t *testing.T) {
	t.Parallel()
	held, letGo := make(chan struct{}), make(chan struct{})
	first := true
	st := newStage(t, &scripted{save: func(context.Context, *indirector.Request) (any, error) {
		if first {
			first = false
			close(held)
			<-letGo
		}
		return nil, nil
	}}, func(_ *indirector.Config, o *rest.Options) { o.Bodies, o.Wait = 1<<20, 10*time.Millisecond })
	done := make(chan answer, 1)
	go func() {
		a, _ := st.try(t, putFacts, facts(300<<10), "Content-Type", "application/json")
		done <- a
	}()
	<-held
	got := st.ask(t, putFacts, facts(300<<10), "Content-Type", "application/json")
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
		t.Errorf("got %d %s, want 503 with Retry-After", got.status, got.body)
	}
	close(letGo)
	if a := <-done; a.status != http.StatusOK {
		t.Errorf("the first one: got %d %s", a.status, a.body)
	}
	if got := st.ask(t, putFacts, facts(300<<10), "Content-Type", "application/json"); got.status != http.StatusOK {
		t.Errorf("when all is free: got %d %s", got.status, got.body)
	}
	many := `{"name":"web01","values":{"a":[` + strings.Repeat("0,", 100_000)
	if got := st.ask(t, putFacts, many, "Content-Type", "application/json"); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("elements: got %d %s, want 413", got.status, got.body)
	}
	if got := st.ask(t, putFacts, facts(300<<10), "Content-Type", "application/json"); got.status != http.StatusOK {
		t.Errorf("after a refusal: got %d %s", got.status, got.body)
	}
}

// TestTrickle is a body that never stops and comes too slowly.
func TestTrickle(t *testing.T) {
	t.Parallel()
	st := newStage(t, &scripted{}, func(_ *indirector.Config, o *rest.Options) { o.Stall = 200 * time.Millisecond })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	from, to := io.Pipe()
	go func() {
		for ctx.Err() == nil {
			if _, err := fmt.Fprint(to, "a"); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	r, err := http.NewRequestWithContext(ctx, "PUT", st.server.URL+strings.TrimPrefix(putFacts, "PUT "), from)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	cancel()
	_ = from.Close()
	if ctx.Err() != context.Canceled {
		t.Fatalf("it has no end: %v", err)
	}
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("got %s", resp.Status)
		}
	}
}

// TestKeptBodiesCount: a body that may be passed on is in memory twice, and both
// are counted.
func TestKeptBodiesCount(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	form := func(size int) string { return "facts_format=pson&x=" + strings.Repeat("x", size) }
	for _, tt := range []struct {
		name, line, kind, body string
		passThrough            bool
		want                   int
	}{
		{"JSON", putFacts, "application/json", facts(most * 45 / 100), false, http.StatusOK},
		{"JSON, kept", putFacts, "application/json", facts(most * 45 / 100), true, http.StatusRequestEntityTooLarge},
		{"a small one, kept", putFacts, "application/json", facts(most / 5), true, http.StatusOK},
		{"a form", postCatalog, "application/x-www-form-urlencoded", form(most * 30 / 100), false, http.StatusOK},
		{"a form, kept", postCatalog, "application/x-www-form-urlencoded", form(most * 30 / 100), true, http.StatusRequestEntityTooLarge},
		{"a small form, kept", postCatalog, "application/x-www-form-urlencoded", form(most / 5), true, http.StatusOK},
	} {
		script := &scripted{
			find: found(&model.Catalog{Name: "web01"}, nil).find,
			save: func(context.Context, *indirector.Request) (any, error) { return nil, nil },
		}
		st := newStage(t, script, func(_ *indirector.Config, o *rest.Options) {
			o.Bodies, o.Wait, o.PassThrough = most, 10*time.Millisecond, tt.passThrough
		})
		if got := st.ask(t, tt.line, tt.body, "Content-Type", tt.kind, "Accept", "application/json"); got.status != tt.want {
			t.Errorf("%s: got %d %s, want %d", tt.name, got.status, got.body, tt.want)
		}
	}
}
