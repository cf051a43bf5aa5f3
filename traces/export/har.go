package export

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/traces/query"
)

// An exchange is what a Network span says about HTTP.
type exchange struct {
	method, url, host, port         string
	status                          int
	statusText, version             string
	requestHeaders, responseHeaders []traces.Attr
	other                           []traces.Attr // what is none of these
}

// Attributes of Network spans beside those that fields of queries are made of.
// A header is an attribute that is named after it, a header of the request
// after "request ".
const (
	attrURL       = "http.url"
	attrRequest   = "request "
	attrResponse  = "response "
	attrHTTPProto = "http.version"
)

// exchangeOf reads a Network span: its attributes, and where they do not say
// it its name ("GET https://puppet:8140/…") and its answer ("200 OK").
func exchangeOf(s *traces.Span) exchange {
	x := exchange{statusText: s.Answer}
	path, server := "", ""
	for _, a := range s.Attrs {
		switch {
		case a.Key == query.AttrHTTPMethod:
			x.method = a.Value
		case a.Key == query.AttrHTTPStatus:
			x.status, _ = strconv.Atoi(a.Value)
		case a.Key == query.AttrHTTPPath:
			path = a.Value
		case a.Key == query.AttrServer:
			server = a.Value
		case a.Key == attrURL, a.Key == "url":
			x.url = a.Value
		case a.Key == attrHTTPProto:
			x.version = a.Value
		case strings.HasPrefix(a.Key, attrRequest):
			x.requestHeaders = append(x.requestHeaders, traces.Attr{Key: a.Key[len(attrRequest):], Value: a.Value})
		case strings.HasPrefix(a.Key, attrResponse):
			x.responseHeaders = append(x.responseHeaders, traces.Attr{Key: a.Key[len(attrResponse):], Value: a.Value})
		case isHeader(a.Key):
			x.responseHeaders = append(x.responseHeaders, a)
		default:
			x.other = append(x.other, a)
		}
	}
	method, address, ok := strings.Cut(s.Name, " ")
	if ok && method == strings.ToUpper(method) && x.method == "" {
		x.method = method
	}
	if x.url == "" && ok && (strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")) {
		x.url = address
	}
	if x.url == "" && server != "" && path != "" {
		x.url = "https://" + server + path
	}
	if u, err := url.Parse(x.url); err == nil && u.Host != "" {
		x.host, x.port = u.Hostname(), u.Port()
	} else if host, port, err := net.SplitHostPort(server); err == nil {
		x.host, x.port = host, port
	} else {
		x.host = server
	}
	if code, text, _ := strings.Cut(s.Answer, " "); len(code) == 3 {
		if n, err := strconv.Atoi(code); err == nil {
			x.statusText = text
			if x.status == 0 {
				x.status = n
			}
		}
	}
	if x.status != 0 && x.statusText == s.Answer {
		x.statusText = http.StatusText(x.status)
	}
	return x
}

// isHeader reports whether an attribute is named as a header is.
func isHeader(key string) bool {
	return key != "" && key[0] >= 'A' && key[0] <= 'Z' && !strings.Contains(key, " ")
}

// har writes HAR 1.2: an entry for each exchange over HTTP below the requests.
type har struct{ entries int }

type (
	harPair  struct{ name, value string }
	harEntry struct {
		Started  string      `json:"startedDateTime"`
		Time     float64     `json:"time"` // milliseconds
		Request  harRequest  `json:"request"`
		Response harResponse `json:"response"`
		Cache    struct{}    `json:"cache"`
		Timings  harTimings  `json:"timings"`
		Comment  string      `json:"comment,omitempty"`
	}
	harRequest struct {
		Method      string    `json:"method"`
		URL         string    `json:"url"`
		HTTPVersion string    `json:"httpVersion"`
		Cookies     []harPair `json:"cookies"`
		Headers     []harPair `json:"headers"`
		Query       []harPair `json:"queryString"`
		HeadersSize int       `json:"headersSize"`
		BodySize    int       `json:"bodySize"`
	}
	harResponse struct {
		Status      int        `json:"status"`
		StatusText  string     `json:"statusText"`
		HTTPVersion string     `json:"httpVersion"`
		Cookies     []harPair  `json:"cookies"`
		Headers     []harPair  `json:"headers"`
		Content     harContent `json:"content"`
		RedirectURL string     `json:"redirectURL"`
		HeadersSize int        `json:"headersSize"`
		BodySize    int        `json:"bodySize"`
		Error       string     `json:"_error,omitempty"`
	}
	harContent struct {
		Size int    `json:"size"`
		MIME string `json:"mimeType"`
	}
	harTimings struct {
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
	}
)

// MarshalJSON writes {"name":…,"value":…}.
func (p harPair) MarshalJSON() ([]byte, error) {
	return appendJSON(nil, map[string]string{"name": p.name, "value": p.value})
}

func (*har) begin(w io.Writer) error {
	_, err := io.WriteString(w, `{"log":{"version":"1.2","creator":{"name":"indirtui","version":"1"},"entries":[`)
	return err
}

func (h *har) add(w io.Writer, r *request) error {
	for i := range r.trace.Spans {
		s := &r.trace.Spans[i]
		if s.Kind != traces.Network {
			continue
		}
		x := exchangeOf(s)
		if x.method == "" || x.url == "" {
			continue // a name looked up, a connection made
		}
		b, err := appendJSON(nil, entryOf(r.trace, s, &x))
		if err != nil {
			return err
		}
		if h.entries > 0 {
			b = append([]byte{','}, b...)
		}
		h.entries++
		if _, err := w.Write(append([]byte{'\n'}, b...)); err != nil {
			return err
		}
	}
	return nil
}

func entryOf(t *traces.Trace, s *traces.Span, x *exchange) harEntry {
	took := float64(max(s.Took, 0).Nanoseconds()) / 1e6
	version := x.version
	e := harEntry{
		Started: t.Start.Add(s.At).UTC().Format(time.RFC3339Nano), Time: took, Timings: harTimings{Wait: took},
		Request: harRequest{
			Method: x.method, URL: x.url, HTTPVersion: version, Cookies: []harPair{}, Headers: pairs(x.requestHeaders), Query: queryOf(x.url),
			HeadersSize: -1, BodySize: size(x.requestHeaders, x.other, "request bytes"),
		},
		Response: harResponse{
			Status: x.status, StatusText: x.statusText, HTTPVersion: version, Cookies: []harPair{}, Headers: pairs(x.responseHeaders),
			RedirectURL: value(x.responseHeaders, "Location"), HeadersSize: -1, BodySize: size(x.responseHeaders, x.other, "response bytes"), Error: s.Err,
		},
		Comment: fmt.Sprintf("request #%d: %s %s %s, %s", t.ID, t.Verb, t.Indirection, t.Key, t.Outcome),
	}
	e.Response.Content = harContent{Size: max(e.Response.BodySize, 0), MIME: value(x.responseHeaders, "Content-Type")}
	return e
}

func pairs(headers []traces.Attr) []harPair {
	out := []harPair{}
	for _, h := range headers {
		out = append(out, harPair{h.Key, h.Value})
	}
	return out
}

func queryOf(address string) []harPair {
	out := []harPair{}
	u, err := url.Parse(address)
	if err != nil {
		return out
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		for _, s := range []*string{&name, &value} {
			if plain, err := url.QueryUnescape(*s); err == nil {
				*s = plain
			}
		}
		out = append(out, harPair{name, value})
	}
	return out
}

func value(attrs []traces.Attr, name string) string {
	for _, a := range attrs {
		if strings.EqualFold(a.Key, name) {
			return a.Value
		}
	}
	return ""
}

// size is the number of bytes of a body; -1 if nobody has said it.
func size(headers, other []traces.Attr, name string) int {
	for _, s := range []string{value(other, name), value(headers, "Content-Length")} {
		if n, err := strconv.Atoi(s); err == nil && n >= 0 {
			return n
		}
	}
	return -1
}

func (h *har) end(w io.Writer, r *Report) error {
	list := make([]string, 0, len(r.List))
	for _, m := range r.List {
		list = append(list, m.String())
	}
	b, err := appendJSON(nil, struct {
		Comment string   `json:"comment"`
		Masked  []string `json:"_masked"`
	}{fmt.Sprintf("%s with %s over HTTP", r, count(h.entries, "exchange")), list})
	if err != nil {
		return err
	}
	b = append(append([]byte("\n],"), b[1:]...), "}\n"...)
	_, err = w.Write(b)
	return err
}
