package export

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
)

// otlp writes OTLP/JSON: one TracesData object in protobuf's JSON, with ids in
// hex as OTLP demands. Redactions are attributes of the resource, which come
// last.
type otlp struct {
	source string
	spans  int
}

// The name of the instrumentation, and of the service that the spans are of.
const (
	scope   = "indirtui"
	service = "indirtui"
)

type (
	otlpSpan struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		ParentID   string      `json:"parentSpanId,omitempty"`
		Flags      int         `json:"flags"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Start      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []otlpAttr  `json:"attributes"`
		Events     []otlpEvent `json:"events,omitempty"`
		Status     otlpStatus  `json:"status"`
	}
	otlpAttr struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpEvent struct {
		Time       string     `json:"timeUnixNano"`
		Name       string     `json:"name"`
		Attributes []otlpAttr `json:"attributes,omitempty"`
	}
	otlpStatus struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	otlpValue struct{ v any }
)

// The kinds of spans, the code of an error and the flag of what is sampled, as
// OTLP numbers them.
const (
	kindInternal = 1
	kindServer   = 2
	kindClient   = 3
	statusError  = 2
	sampled      = 1
)

// MarshalJSON writes an AnyValue. Integers are strings, since JSON's numbers
// lose some.
func (v otlpValue) MarshalJSON() ([]byte, error) {
	switch x := v.v.(type) {
	case string:
		return json.Marshal(map[string]string{"stringValue": x})
	case int64:
		return json.Marshal(map[string]string{"intValue": strconv.FormatInt(x, 10)})
	case bool:
		return json.Marshal(map[string]bool{"boolValue": x})
	case []string:
		values := make([]otlpValue, len(x))
		for i, s := range x {
			values[i] = otlpValue{s}
		}
		return json.Marshal(map[string]any{"arrayValue": map[string]any{"values": values}})
	}
	panic("an attribute of another type")
}

func (*otlp) begin(w io.Writer) error {
	_, err := io.WriteString(w, `{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"`+scope+`"},"spans":[`)
	return err
}

func (o *otlp) add(w io.Writer, r *request) error {
	for _, s := range spansOf(r) {
		line := otlpSpan{
			TraceID: hex.EncodeToString(s.trace[:]), SpanID: hex.EncodeToString(s.id[:]), Flags: sampled, Name: valid(s.name), Kind: kindInternal,
			Start: nanos(s.start), End: nanos(s.end), Attributes: attrsOf(s.attrs),
		}
		if s.parent != [8]byte{} {
			line.ParentID = hex.EncodeToString(s.parent[:])
		}
		switch {
		case s.client:
			line.Kind = kindClient
		case s.server:
			line.Kind = kindServer
		}
		if s.isError {
			line.Status = otlpStatus{statusError, valid(s.failed)}
		}
		for _, e := range s.events {
			line.Events = append(line.Events, otlpEvent{nanos(e.at), valid(e.name), attrsOf(e.attrs)})
		}
		b, err := appendJSON([]byte{'\n'}, line)
		if err != nil {
			return err
		}
		if o.spans > 0 {
			b = append([]byte{','}, b...)
		}
		o.spans++
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func (o *otlp) end(w io.Writer, r *Report) error {
	attrs := []attr{{"service.name", service}}
	attrs = withAttr(attrs, "indirtui.source", o.source)
	attrs = append(attrs, attr{"indirtui.masked", int64(r.Redacted)})
	list := make([]string, 0, len(r.List))
	for _, m := range r.List {
		list = append(list, m.String())
	}
	attrs = withAttr(attrs, "indirtui.masked.list", list)
	b, err := appendJSON([]byte("\n]}],\"resource\":"), map[string]any{"attributes": attrsOf(attrs)})
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, "}]}\n"...))
	return err
}

func attrsOf(attrs []attr) []otlpAttr {
	out := make([]otlpAttr, 0, len(attrs))
	for _, a := range attrs {
		out = append(out, otlpAttr{valid(a.key), otlpValue{a.value}})
	}
	return out
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// valid is s as UTF-8, which OTLP demands.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
