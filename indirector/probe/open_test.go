package probe_test

import (
	"context"
	"strings"
	"testing"

	"indirtui/traces"
)

// A value that was not rendered is asked of its process, which has it, or the reason
// why not.
func TestOpen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		answers []string // of the process; none is that it goes
		want    string   // of the value
		err     string
	}{
		{"it is there", []string{`{"value":7,"name":"value","model":"facts","part":1,"parts":2,"text":"{\"name\":"}`, `{"value":7,"name":"value","model":"facts","part":2,"parts":2,"text":"\"web01\"}"}`}, `{"name":"web01"}`, ""},
		{"what was saved", []string{`{"value":7,"name":"sent","model":"facts","part":1,"parts":1,"text":"{}"}`}, `{}`, ""},
		{"Puppet has let go of it", []string{`{"refused":"open","id":7,"why":"Puppet has let go of it"}`}, "", "Puppet has let go of it"},
		{"it takes too long", []string{`{"value":7,"name":"value","model":"facts","part":1,"parts":0,"text":""}`}, "", "could not be rendered in time"},
		{"the process goes", nil, "", "the process has gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			p := s.attach(t, connName(1), "agent", 4711)
			p.read() // it reads
			p.write(traceLine(7, 0, "facts", ""))
			s.ended(t, 1)
			if !s.There("agent-4711") || s.There("agent-815") {
				t.Error("who is there is not known")
			}
			type result struct {
				values *traces.Values
				err    error
			}
			come := make(chan result, 1)
			go func() {
				values, err := s.Open(t.Context(), "agent-4711", 7)
				come <- result{values, err}
			}()
			if line := p.next(); line != `{"open":7}` {
				t.Fatalf("the process was sent %s", line)
			}
			p.write(tt.answers...)
			if tt.answers == nil {
				_ = p.out.Close()
			}
			got := <-come
			switch {
			case tt.err != "":
				if got.err == nil || !strings.Contains(got.err.Error(), tt.err) {
					t.Errorf("got error %v, want %q", got.err, tt.err)
				}
				return
			case got.err != nil:
				t.Fatal(got.err)
			}
			if body := string(got.values.Answer.Body) + string(got.values.Sent.Body); body != tt.want {
				t.Errorf("got %q, want %q", body, tt.want)
			}
			p.write(traceLine(8, 0, "facts", ""))
			s.ended(t, 2) // it goes on
		})
	}
}

// Who does not answer is not waited for longer than is wanted, and one that has gone not
// at all.
func TestOpenGivesUp(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	if _, err := s.Open(t.Context(), "agent-1", 7); err == nil {
		t.Error("a process that is not there has answered")
	}
	p := s.attach(t, connName(1), "agent", 1)
	p.read()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Open(ctx, "agent-1", 7); err == nil || !strings.Contains(err.Error(), "agent-1 does not answer") {
		t.Errorf("got error %v", err)
	}
	// The answer comes late.
	p.write(`{"value":7,"name":"value","model":"facts","part":1,"parts":1,"text":"{}"}`, traceLine(8, 0, "facts", ""))
	s.ended(t, 1)
}
