package export_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/traces/store"
)

// A receiver is a collector: it takes OTLP over HTTP as the protocol has it,
// and answers as it must.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracev1.Span
	names []string // of services
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := new(receiver)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var body io.Reader = req.Body
		if req.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(req.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			body = z
		}
		b, err := io.ReadAll(body)
		var in collector.ExportTraceServiceRequest
		if err = errors.Join(err, proto.Unmarshal(b, &in)); err != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
			http.Error(w, "not OTLP", http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		for _, rs := range in.GetResourceSpans() {
			for _, a := range rs.GetResource().GetAttributes() {
				if a.GetKey() == "service.name" {
					r.names = append(r.names, a.GetValue().GetStringValue())
				}
			}
			for _, ss := range rs.GetScopeSpans() {
				r.spans = append(r.spans, ss.GetSpans()...)
			}
		}
		r.mu.Unlock()
		out, _ := proto.Marshal(new(collector.ExportTraceServiceResponse))
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(out)
	}))
	t.Cleanup(r.Close)
	return r
}

func line(s *tracev1.Span) string {
	return strings.Join([]string{
		hex.EncodeToString(s.GetTraceId()), hex.EncodeToString(s.GetSpanId()), hex.EncodeToString(s.GetParentSpanId()), s.GetName(), s.GetKind().String(),
		s.GetStatus().String(), time.Unix(0, int64(s.GetStartTimeUnixNano())).UTC().String(), time.Unix(0, int64(s.GetEndTimeUnixNano())).UTC().String(),
	}, " ")
}

// A collector gets live what an export contains later.
func TestLive(t *testing.T) {
	t.Parallel()
	r := receive(t)
	live, err := export.NewLive(t.Context(), export.LiveOptions{URL: r.URL, Redact: hides})
	if err != nil {
		t.Fatal(err)
	}
	s := site(t, store.Options{Ended: live.Ended})
	if err := live.CloseSoon(); err != nil {
		t.Fatal(err)
	}
	if st := live.Stats(); st.Sent != 3 || st.Dropped != 0 || st.Err != nil || st.String() != "OTLP: sent 3, dropped 0" {
		t.Errorf("got %+v", st)
	}
	text, _ := write(t, s, export.OTLP)
	var want, got []string
	for _, s := range readOTLP(t, text).GetResourceSpans()[0].GetScopeSpans()[0].GetSpans() {
		want = append(want, line(s))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.spans {
		got = append(got, line(s))
		for _, e := range s.GetEvents() {
			if strings.Contains(e.String(), "hunter2") {
				t.Errorf("a secret was sent: %v", e)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(r.names) == 0 || r.names[0] != "indirtui" {
		t.Errorf("service: %q", r.names)
	}
}

// A collector that does not answer costs a request nothing: what finds the
// queue full is dropped and counted, and the end does not wait for ever.
func TestLiveOverrun(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		once.Do(func() { close(reached) })
		<-release
	}))
	defer srv.Close()
	defer close(release)
	live, err := export.NewLive(t.Context(), export.LiveOptions{URL: srv.URL, Redact: hides, Queue: 8})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	live.Ended(s, &traces.Trace{ID: 1, Verb: traces.Find, Start: start})
	<-reached
	const n = 1000
	for i := range n { // none of these waits
		live.Ended(s, &traces.Trace{ID: uint64(2 + i), Verb: traces.Find, Start: start})
	}
	if st := live.Stats(); st.Waiting != 8 || st.Dropped != n-8 {
		t.Errorf("got %+v, want 8 waiting and %d dropped", st, n-8)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := live.Close(ctx); err != nil {
		t.Error(err)
	}
	if st := live.Stats(); st.Sent != 0 || st.Dropped != n+1 || st.Err == nil {
		t.Errorf("at the end: got %+v, want all %d dropped", st, n+1)
	}
	live.Ended(s, &traces.Trace{ID: 5000})
	if st := live.Stats(); st.Dropped != n+2 {
		t.Errorf("after the end: got %+v", st)
	}
}

func TestLiveAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"localhost:4318", "ftp://x", "http://"} {
		if _, err := export.NewLive(t.Context(), export.LiveOptions{URL: address, Redact: hides}); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:4318") {
			t.Errorf("%s: got %v", address, err)
		}
	}
}
