package diff

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/traces"
)

// A Header is an HTTP header of two requests, redacted as recorded. Headers do
// not count as differences: dates and lengths hardly ever agree.
type Header struct {
	// Name is "request", "status", "> Accept" of a request or "< Date" of an
	// answer. Exchanges are paired in their order; "request" begins one.
	Name string
	A, B string // "" if absent
}

// Same reports whether both sides have the same value.
func (h *Header) Same() bool { return h.A == h.B }

// A Timing is how long something took on both sides; negative is unknown or not
// done.
type Timing struct {
	Name  string // "total", a step, or a part of an exchange
	Depth int    // 0 is the total, 1 a step, 2 what it did
	A, B  time.Duration
}

// maxWire bounds the exchanges that are looked at: more is a file transfer.
const maxWire = 200

// exchanges returns what a request did over HTTP, in its order.
func exchanges(t *traces.Trace) []traces.Exchange {
	var out []traces.Exchange
	for i := range t.Spans {
		x, ok := t.Spans[i].HTTP()
		if ok && (x.Method != "" || x.Status != 0) && len(out) < maxWire {
			if x.Method == "" && x.URL == "" {
				x.URL = t.Spans[i].Name // the question
			}
			out = append(out, x)
		}
	}
	return out
}

// headers pairs the HTTP headers of two requests.
func headers(a, b *traces.Trace) []Header {
	left, right := exchanges(a), exchanges(b)
	var out []Header
	for i := range max(len(left), len(right)) {
		var x, y traces.Exchange
		if i < len(left) {
			x = left[i]
		}
		if i < len(right) {
			y = right[i]
		}
		out = append(out, Header{"request", line(&x), line(&y)}, Header{"status", status(&x), status(&y)})
		out = append(out, fields("> ", x.Request, y.Request)...)
		out = append(out, fields("< ", x.Response, y.Response)...)
	}
	return out
}

func line(x *traces.Exchange) string {
	address := cmp.Or(x.URL, x.Server+x.Path)
	return strings.TrimSpace(x.Method + " " + address)
}

func status(x *traces.Exchange) string {
	if x.Status == 0 {
		return ""
	}
	return strings.TrimSpace(strconv.Itoa(x.Status) + " " + x.Reason)
}

// fields are the headers of both sides by their names, in whatever case.
func fields(sign string, a, b []traces.Attr) []Header {
	at := make(map[string]int)
	var out []Header
	put := func(list []traces.Attr, side func(*Header) *string) {
		for _, f := range list {
			key := strings.ToLower(f.Key)
			i, ok := at[key]
			if !ok {
				i = len(out)
				at[key] = i
				out = append(out, Header{Name: sign + f.Key})
			}
			to := side(&out[i])
			if *to != "" {
				*to += ", "
			}
			*to += f.Value
		}
	}
	put(a, func(h *Header) *string { return &h.A })
	put(b, func(h *Header) *string { return &h.B })
	slices.SortStableFunc(out, func(x, y Header) int { return strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name)) })
	return out
}

// timings pairs how long two requests took, and with what.
func timings(a, b *traces.Trace) []Timing {
	const unknown = -1
	out := []Timing{{"total", 0, a.Took, b.Took}}
	for s := range traces.Step(traces.StepCount) {
		took := func(t *traces.Trace) time.Duration {
			q := &t.Steps[s]
			if q.Took == 0 && (q.Answer == traces.NotAsked || q.Answer == traces.NotReached) {
				return unknown
			}
			return q.Took
		}
		if x, y := took(a), took(b); x > 0 || y > 0 {
			out = append(out, Timing{s.String(), 1, x, y})
		}
	}
	left, right := exchanges(a), exchanges(b)
	for i := range max(len(left), len(right)) {
		var x, y *traces.Exchange
		name := ""
		if i < len(right) {
			y = &right[i]
			name = line(y)
		}
		if i < len(left) {
			x = &left[i]
			name = line(x)
		}
		var parts []Timing
		for _, p := range []struct {
			name string
			of   func(*traces.Exchange) time.Duration
		}{
			{"dns", func(x *traces.Exchange) time.Duration { return x.DNS }},
			{"connect", func(x *traces.Exchange) time.Duration { return x.Connect }},
			{"tls", func(x *traces.Exchange) time.Duration { return x.TLS }},
			{"wait", func(x *traces.Exchange) time.Duration { return x.Wait }},
			{"read", func(x *traces.Exchange) time.Duration { return x.Read }},
		} {
			took := func(x *traces.Exchange) time.Duration {
				if x == nil || p.of(x) <= 0 {
					return unknown
				}
				return p.of(x)
			}
			if t := (Timing{p.name, 2, took(x), took(y)}); t.A >= 0 || t.B >= 0 {
				parts = append(parts, t)
			}
		}
		if len(parts) > 0 {
			out = append(append(out, Timing{name, 1, unknown, unknown}), parts...)
		}
	}
	return out
}
