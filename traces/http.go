package traces

import (
	"cmp"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// An Exchange is one HTTP request and its answer, from a Network span. Unknown
// texts are empty, unknown sizes -1.
type Exchange struct {
	Method, URL       string
	Path              string // of the URL, without the query, as it was sent
	Server            string // host and port
	Status            int
	Reason            string // behind the status: "Not Found"
	Request, Response []Attr // headers, redacted
	Sent              int64  // bytes of the body of the request
	Received          int64  // bytes of the body of the answer as it came
	Size              int64  // of the same without compression
	Peer              string // address
	DNS, Connect, TLS time.Duration
	Wait, Read        time.Duration
	Other             []Attr // other attributes of the span
}

// The names of attributes of Network spans. A header of the request is an
// attribute that begins with RequestHeader, one of the answer with
// ResponseHeader.
const (
	requestHeader  = "> "
	responseHeader = "< "
)

// HTTP returns the exchange that a span is, and whether it is one. Besides its
// attributes it reads its name ("GET https://puppet:8140/…") and its answer
// ("404 Not Found").
func (s *Span) HTTP() (x Exchange, ok bool) {
	x = Exchange{Sent: -1, Received: -1, Size: -1}
	for _, a := range s.Attrs {
		x.take(a)
	}
	if s.Kind != Network && x.Method == "" && x.Status == 0 && x.Server == "" {
		return Exchange{}, false
	}
	method, address, named := strings.Cut(s.Name, " ")
	if isURL(address) && named && method == strings.ToUpper(method) {
		x.Method = cmp.Or(x.Method, method)
		x.URL = cmp.Or(x.URL, address)
	}
	if x.Status == 0 {
		x.status(s.Answer)
	}
	if u, err := url.Parse(x.URL); err == nil && u.Host != "" {
		if x.Path == "" {
			x.Path = u.EscapedPath()
		}
		x.Server = cmp.Or(x.Server, u.Host)
	} else if x.URL == "" && x.Server != "" && x.Path != "" {
		x.URL = "https://" + x.Server + x.Path
	}
	return x, x.Method != "" || x.Status != 0 || x.Server != ""
}

func isURL(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// take takes one attribute in.
func (x *Exchange) take(a Attr) {
	number := func(to *int64) {
		if n, err := strconv.ParseInt(a.Value, 10, 64); err == nil && n >= 0 {
			*to = n
		}
	}
	took := func(to *time.Duration) { *to, _ = time.ParseDuration(a.Value) }
	switch {
	case strings.HasPrefix(a.Key, requestHeader):
		x.Request = append(x.Request, Attr{a.Key[len(requestHeader):], a.Value})
	case strings.HasPrefix(a.Key, responseHeader):
		x.Response = append(x.Response, Attr{a.Key[len(responseHeader):], a.Value})
	case a.Key == "http.method":
		x.Method = a.Value
	case a.Key == "http.path":
		x.Path = a.Value
	case a.Key == "http.status", a.Key == "status":
		x.status(a.Value)
	case a.Key == "server":
		x.Server = a.Value
	case a.Key == "sent":
		number(&x.Sent)
	case a.Key == "size":
		number(&x.Size)
		x.Received = max(x.Received, x.Size)
	case a.Key == "compressed":
		number(&x.Received)
	case a.Key == "peer":
		x.Peer = a.Value
	case a.Key == "wait":
		took(&x.Wait)
	case a.Key == "read":
		took(&x.Read)
	case a.Key == "connection":
		x.connection(a.Value)
		x.Other = append(x.Other, a)
	default:
		x.Other = append(x.Other, a)
	}
}

// status reads "404 Not Found".
func (x *Exchange) status(s string) {
	code, reason, _ := strings.Cut(s, " ")
	if n, err := strconv.Atoi(code); err == nil && len(code) == 3 && n >= 100 {
		x.Status, x.Reason = n, reason
	}
}

// connection reads "new: dns 1ms, connect 2ms, TLS 3ms".
func (x *Exchange) connection(s string) {
	parts, ok := strings.CutPrefix(s, "new: ")
	if !ok {
		return
	}
	parts, _, _ = strings.Cut(parts, ";")
	for part := range strings.SplitSeq(parts, ", ") {
		what, took, _ := strings.Cut(part, " ")
		d, _ := time.ParseDuration(took)
		switch what {
		case "dns":
			x.DNS = d
		case "connect":
			x.Connect = d
		case "TLS":
			x.TLS = d
		}
	}
}

// Header returns the first value of a header, "" if there is none.
func Header(headers []Attr, name string) string {
	for _, h := range headers {
		if strings.EqualFold(h.Key, name) {
			return h.Value
		}
	}
	return ""
}

// HostPort returns the host of a server and its port, "" if it names none.
func HostPort(server string) (host, port string) {
	if h, p, err := net.SplitHostPort(server); err == nil {
		return h, p
	}
	return strings.Trim(server, "[]"), ""
}

// Curl returns a command line that repeats the request from the same host.
// Files are those of Puppet's settings, secrets among the headers stay
// redacted, and a body is left out.
func (x *Exchange) Curl() string {
	var b strings.Builder
	b.WriteString("curl -sS")
	if x.Method != "" && x.Method != "GET" {
		b.WriteString(" -X " + shell(x.Method))
	}
	if strings.HasPrefix(x.URL, "https://") {
		for _, f := range [...][2]string{{"cacert", "localcacert"}, {"cert", "hostcert"}, {"key", "hostprivkey"}} {
			b.WriteString(" --" + f[0] + ` "$(puppet config print ` + f[1] + `)"`)
		}
	}
	for _, h := range x.Request {
		switch h.Key {
		case "Host", "Content-Length", "Accept-Encoding", "User-Agent", "Connection", "Traceparent":
		default:
			b.WriteString(" -H " + shell(h.Key+": "+h.Value))
		}
	}
	if x.Sent > 0 {
		b.WriteString(" --data-binary @BODY")
	}
	b.WriteString(" " + shell(x.URL))
	return b.String()
}

// shell quotes a word for a shell.
func shell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
