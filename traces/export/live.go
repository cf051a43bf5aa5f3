package export

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"indirtui/traces"
	"indirtui/traces/store"
)

// LiveOptions configure NewLive. Redact is required.
type LiveOptions struct {
	// URL is where to send, "http://127.0.0.1:4318"; without a path it is
	// OTLP's, /v1/traces. If empty, OTEL_EXPORTER_OTLP_ENDPOINT and
	// OpenTelemetry's other variables decide.
	URL string
	// Redact redacts a text, as in Options.
	Redact func(string) (string, int)
	// Queue is how many requests may wait to be sent; 0 is 4096. Those that find
	// it full are dropped.
	Queue int
	// Source names where the requests are traced; may be "".
	Source string
}

// A Live sends requests to an OTLP endpoint as they end. Its methods may be
// called from many goroutines.
type Live struct {
	redact   func(string) (string, int)
	queue    chan waiting
	exporter *otlptrace.Exporter
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	made     *collector
	ctx      context.Context // of sending; ends when Close has waited enough
	cancel   context.CancelFunc
	done     chan struct{}
	closing  sync.Once
	closed   chan struct{}

	sent, dropped atomic.Uint64
	mu            sync.Mutex // guards what follows
	err           error
}

type waiting struct {
	store *store.Store
	trace *traces.Trace
}

// LiveStats is what became of the requests of a Live.
type LiveStats struct {
	Sent    uint64 // taken by the collector
	Dropped uint64 // lost: the queue was full, or the collector did not take them
	Waiting int
	Err     error // why the last ones were not taken; nil if they were
}

func (s LiveStats) String() string {
	text := fmt.Sprintf("OTLP: sent %d, dropped %d", s.Sent, s.Dropped)
	if s.Err != nil {
		text += ": " + s.Err.Error()
	}
	return text
}

// maxBatch is how many requests are sent at once.
const maxBatch = 256

// NewLive returns a Live. Nothing is sent yet; whether the URL answers is seen
// in Stats. Close must be called.
func NewLive(ctx context.Context, o LiveOptions) (*Live, error) {
	var options []otlptracehttp.Option
	if o.URL != "" {
		u, err := url.Parse(o.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("send to %q: not an address such as http://127.0.0.1:4318", o.URL)
		}
		if u.Path == "" || u.Path == "/" {
			u.Path = "/v1/traces"
		}
		options = append(options, otlptracehttp.WithEndpointURL(u.String()))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("send to %q: %w", o.URL, err)
	}
	attrs := []attribute.KeyValue{attribute.String("service.name", service)}
	if o.Source != "" {
		attrs = append(attrs, attribute.String("indirtui.source", o.Source))
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(attrs...), resource.WithFromEnv())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("send to %q: %w", o.URL, err), exporter.Shutdown(ctx))
	}
	if o.Queue <= 0 {
		o.Queue = 4096
	}
	l := &Live{
		redact: o.Redact, queue: make(chan waiting, o.Queue), exporter: exporter, made: new(collector),
		done: make(chan struct{}), closed: make(chan struct{}),
	}
	l.provider = sdk.NewTracerProvider(
		sdk.WithResource(about), sdk.WithIDGenerator(ids{}), sdk.WithSampler(sdk.AlwaysSample()), sdk.WithSpanProcessor(l.made),
	)
	l.tracer = l.provider.Tracer(scope)
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go l.send()
	return l, nil
}

// Ended takes a request that has ended. It never waits: see store.Options.
func (l *Live) Ended(s *store.Store, t *traces.Trace) {
	select {
	case <-l.closed:
		l.dropped.Add(1)
		return
	default:
	}
	select {
	case l.queue <- waiting{s, t}:
	default:
		l.dropped.Add(1)
	}
}

// Stats returns what became of the requests.
func (l *Live) Stats() LiveStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return LiveStats{Sent: l.sent.Load(), Dropped: l.dropped.Load(), Waiting: len(l.queue), Err: l.err}
}

// Close sends what waits, for as long as ctx allows, and ends. What is not sent
// then is dropped and counted. Closing twice is legal.
func (l *Live) Close(ctx context.Context) error {
	var err error
	l.closing.Do(func() {
		close(l.closed)
		stop := context.AfterFunc(ctx, l.cancel)
		<-l.done
		stop()
		l.cancel()
		err = errors.Join(l.provider.Shutdown(context.WithoutCancel(ctx)), l.exporter.Shutdown(context.WithoutCancel(ctx)))
	})
	<-l.done
	return err
}

// send is the goroutine of a Live.
func (l *Live) send() {
	defer close(l.done)
	for {
		select {
		case w := <-l.queue:
			l.batch(w)
		case <-l.closed:
			for {
				select {
				case w := <-l.queue:
					l.batch(w)
				default:
					return
				}
			}
		}
	}
}

// batch sends a request and what waits behind it.
func (l *Live) batch(w waiting) {
	n := 0
	for more := true; more; {
		l.spans(w)
		n++
		select {
		case w = <-l.queue:
		default:
			more = false
		}
		if n == maxBatch && more { // it is too many: it is the first of the next
			n = l.export(n)
		}
	}
	l.export(n)
}

// export sends the spans that were made of n requests. It returns zero.
func (l *Live) export(n int) int {
	spans := l.made.take()
	err := l.exporter.ExportSpans(l.ctx, spans)
	if err != nil {
		l.dropped.Add(uint64(n))
	} else {
		l.sent.Add(uint64(n))
	}
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
	return 0
}

// spans makes the spans of one request.
func (l *Live) spans(w waiting) {
	m := redactor{redact: l.redact, note: func(Redaction) {}, id: w.trace.ID}
	r := &request{trace: m.trace(w.trace)}
	r.trunk, r.parent = trunkOf(w.store, w.trace)
	for _, s := range spansOf(r) {
		ctx := context.WithValue(context.Background(), idsKey{}, &s)
		if s.parent != [8]byte{} {
			ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
				TraceID: s.trace, SpanID: s.parent, TraceFlags: trace.FlagsSampled, Remote: true,
			}))
		}
		kind := trace.SpanKindInternal
		switch {
		case s.client:
			kind = trace.SpanKindClient
		case s.server:
			kind = trace.SpanKindServer
		}
		_, span := l.tracer.Start(ctx, valid(s.name), trace.WithTimestamp(s.start), trace.WithSpanKind(kind), trace.WithAttributes(keyValues(s.attrs)...))
		for _, e := range s.events {
			span.AddEvent(valid(e.name), trace.WithTimestamp(e.at), trace.WithAttributes(keyValues(e.attrs)...))
		}
		if s.isError {
			span.SetStatus(codes.Error, valid(s.failed))
		}
		span.End(trace.WithTimestamp(s.end))
	}
}

func keyValues(attrs []attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(attrs))
	for _, a := range attrs {
		key := attribute.Key(valid(a.key))
		switch v := a.value.(type) {
		case string:
			out = append(out, key.String(valid(v)))
		case int64:
			out = append(out, key.Int64(v))
		case bool:
			out = append(out, key.Bool(v))
		case []string:
			all := make([]string, len(v))
			for i, s := range v {
				all[i] = valid(s)
			}
			out = append(out, key.StringSlice(all))
		default:
			panic("an attribute of another type")
		}
	}
	return out
}

// ids gives a span the ids that it has in every export.
type ids struct{}

type idsKey struct{}

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	s := ctx.Value(idsKey{}).(*span)
	return s.trace, s.id
}

func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	return ctx.Value(idsKey{}).(*span).id
}

// A collector keeps the spans that the SDK has made until they are sent. It is
// for one goroutine.
type collector struct{ spans []sdk.ReadOnlySpan }

func (c *collector) OnStart(context.Context, sdk.ReadWriteSpan) {}
func (c *collector) OnEnd(s sdk.ReadOnlySpan)                   { c.spans = append(c.spans, s) }
func (c *collector) Shutdown(context.Context) error             { return nil }
func (c *collector) ForceFlush(context.Context) error           { return nil }

func (c *collector) take() []sdk.ReadOnlySpan {
	spans := c.spans
	c.spans = nil
	return spans
}

// closeWithin is how long the end of a program waits for a collector.
const closeWithin = 5 * time.Second

// CloseSoon is Close with a limit that suits the end of a program.
func (l *Live) CloseSoon() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	return l.Close(ctx)
}
