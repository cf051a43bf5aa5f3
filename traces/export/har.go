package export

import (
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"indirtui/traces"
)

// har writes HAR 1.2: an entry for each exchange that was asked over HTTP below
// the requests, by REST termini, a proxy and others. What agents asked of this
// program is a request and no exchange, and stands in the other formats.
//
// The bytes of bodies are not recorded: to redact them every body would have to be
// read once more, and would be in memory twice. In place of the text of a body
// there is what is known of it, and _text names it:
//
//	value    what was read from or written into the body, redacted, as JSON
//	message  the server's message of an error in the body, redacted
//
// Sizes are those of the bytes: bodySize as they went over the wire, size out of
// their encodings, and compression the difference. Where there is no text, comment
// gives the reason.
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
		Server   string      `json:"serverIPAddress,omitempty"`
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
		BodySize    int64     `json:"bodySize"`
		Post        *harPost  `json:"postData,omitempty"`
	}
	harPost struct {
		MIME    string    `json:"mimeType"`
		Params  []harPair `json:"params"`
		Text    string    `json:"text"`
		What    string    `json:"_text,omitempty"`
		Comment string    `json:"comment,omitempty"`
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
		BodySize    int64      `json:"bodySize"`
		Error       string     `json:"_error,omitempty"`
	}
	harContent struct {
		Size        int64  `json:"size"`
		Compression int64  `json:"compression,omitempty"`
		MIME        string `json:"mimeType"`
		Text        string `json:"text,omitempty"`
		What        string `json:"_text,omitempty"`
		Comment     string `json:"comment,omitempty"`
	}
	harTimings struct {
		DNS     float64 `json:"dns"`
		Connect float64 `json:"connect"`
		TLS     float64 `json:"ssl"`
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
	answered := answeredBy(r.trace)
	for i := range r.trace.Spans {
		s := &r.trace.Spans[i]
		x, ok := s.HTTP()
		if !ok || x.Method == "" || x.URL == "" {
			continue // a name looked up, a connection made
		}
		e := entryOf(r.trace, s, &x)
		if r.trace.Verb == traces.Save && (x.Method == "PUT" || x.Method == "POST") {
			text, what, comment := bodyText(r.sent, r.trace.Sent())
			e.Request.Post = &harPost{MIME: traces.Header(x.Request, "Content-Type"), Params: []harPair{}, Text: text, What: what, Comment: comment}
		}
		c := &e.Response.Content
		switch {
		case i == answered:
			c.Text, c.What, c.Comment = bodyText(r.value, r.trace.Value())
		case x.Status >= 400 && traces.Header(x.Other, "message") != "":
			c.Text, c.What = traces.Header(x.Other, "message"), "message"
			c.Comment = "what the server wrote about the error in the body, redacted; the bytes of bodies are not recorded"
		case e.Response.BodySize != 0 && x.Status != 0 && x.Method != "HEAD":
			c.Comment = notRecorded
		}
		b, err := appendJSON(nil, e)
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

// answeredBy returns the index of the span whose body became the value of t:
// the last good one of the step that answered; -1 if there is none.
func answeredBy(t *traces.Trace) int {
	step := traces.Terminus
	if t.Served == traces.ByCache {
		step = traces.CacheRead
	}
	if t.Verb != traces.Find && t.Verb != traces.Search {
		return -1
	}
	for i := len(t.Spans) - 1; i >= 0; i-- {
		x, ok := t.Spans[i].HTTP()
		if ok && t.Spans[i].Step == step && x.Status >= 200 && x.Status < 300 && x.Method != "HEAD" && x.URL != "" {
			return i
		}
	}
	return -1
}

// notRecorded is why there is no text.
const notRecorded = "the bytes of bodies are not recorded"

// bodyText returns what stands for the text of a body, what that is, and what
// must be known of it. Of files nothing is kept but what they are, which is no
// body.
func bodyText(b []byte, v traces.Value) (text, what, comment string) {
	switch {
	case v.Model == "file_content" || v.Model == "file_bucket_file":
		return "", "", "contents of files are not recorded"
	case b == nil:
		return "", "", notRecorded
	case len(b) > maxBody:
		return "", "", fmt.Sprintf("left out: the value has %d bytes, more than %d", len(b), maxBody)
	case !utf8.Valid(b):
		return "", "", "left out: the value is no UTF-8"
	}
	return string(b), "value", "the value that was read from or written into the body, masked, as " + v.Format + "; the bytes of bodies are not recorded"
}

// maxBody is the largest value in bytes that goes along in HAR, for programs
// that read all of it at once.
const maxBody = MaxSmall

func entryOf(t *traces.Trace, s *traces.Span, x *traces.Exchange) harEntry {
	host, _ := traces.HostPort(x.Peer)
	timings, total := timingsOf(s, x)
	e := harEntry{
		Started: t.Start.Add(s.At).UTC().Format(time.RFC3339Nano), Time: total, Timings: timings,
		Request: harRequest{
			Method: x.Method, URL: x.URL, HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, Headers: pairs(x.Request), Query: queryOf(x.URL),
			HeadersSize: -1, BodySize: x.Sent,
		},
		Response: harResponse{
			Status: x.Status, StatusText: x.Reason, HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, Headers: pairs(x.Response),
			RedirectURL: traces.Header(x.Response, "Location"), HeadersSize: -1, BodySize: received(x), Error: s.Err,
		},
		Server:  host,
		Comment: fmt.Sprintf("request #%d: %s %s %s, %s", t.ID, t.Verb, t.Indirection, t.Key, t.Outcome),
	}
	e.Response.Content = harContent{Size: max(x.Size, e.Response.BodySize, 0), MIME: traces.Header(x.Response, "Content-Type")}
	if x.Size > 0 && e.Response.BodySize > 0 {
		e.Response.Content.Compression = max(x.Size-e.Response.BodySize, 0)
	}
	return e
}

// received is the size of the response body; -1 if unknown.
func received(x *traces.Exchange) int64 {
	if n, err := strconv.ParseInt(traces.Header(x.Response, "Content-Length"), 10, 64); err == nil && n >= 0 && x.Received < 0 {
		return n
	}
	return x.Received
}

// timingsOf divides the time of an exchange as HAR wants it: the parts add up to
// the whole, and what did not happen is -1.
func timingsOf(s *traces.Span, x *traces.Exchange) (t harTimings, total float64) {
	ms := func(d time.Duration) float64 { return float64(max(d, 0).Nanoseconds()) / 1e6 }
	parts := func(d time.Duration) float64 {
		if d == 0 {
			return -1
		}
		return ms(d)
	}
	t = harTimings{DNS: parts(x.DNS), TLS: parts(x.TLS), Wait: ms(x.Wait), Receive: ms(x.Read)}
	t.Connect = parts(x.Connect + x.TLS) // the handshake is a part of it
	total = ms(s.Took)
	rest := total - max(t.DNS, 0) - max(t.Connect, 0) - t.Wait - t.Receive
	if x.Wait == 0 {
		t.Wait += max(rest, 0)
	} else {
		t.Send = max(rest, 0)
	}
	return t, max(t.DNS, 0) + max(t.Connect, 0) + t.Send + t.Wait + t.Receive
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

func (h *har) end(w io.Writer, r *Report) error {
	list := make([]string, 0, len(r.List))
	for _, m := range r.List {
		list = append(list, m.String())
	}
	b, err := appendJSON(nil, struct {
		Comment  string   `json:"comment"`
		Redacted []string `json:"_masked"`
	}{fmt.Sprintf("%s with %s over HTTP; the bytes of bodies are not recorded, _text says what stands for them", r, count(h.entries, "exchange")), list})
	if err != nil {
		return err
	}
	b = append(append([]byte("\n],"), b[1:]...), "}\n"...)
	_, err = w.Write(b)
	return err
}
