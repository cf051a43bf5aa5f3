package probe

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/network/rest"
	"indirtui/traces"
)

// last returns the exchange over HTTP that decided about a request.
func last(t *traces.Trace) (x traces.Exchange, body string, ok bool) {
	for i := range slices.Backward(t.Spans) {
		s := &t.Spans[i]
		if s.Kind != traces.Network || s.Step != traces.Terminus {
			continue
		}
		x, ok := s.HTTP()
		return x, s.Attr("body"), ok
	}
	return x, "", false
}

// httpNothing is what a 404 means. Gap L8.
func httpNothing(t *traces.Trace, _ *Process) string {
	x, body, ok := last(t)
	if !ok || asked(t) != "rest" || x.Status != http.StatusNotFound || t.Steps[traces.Terminus].Answer != traces.Nothing {
		return ""
	}
	req := indirector.Request{Indirection: t.Indirection, Verb: t.Verb, Key: t.Key, Environment: t.Environment}
	return rest.ParseError(x.Status, traces.Header(x.Response, "Content-Type"), []byte(body)).About(x.Server, &req)
}

// candidate is the server that was asked, and the setting that named it if that is
// known: other termini than rest have their own, and so have certificates.
func candidate(t *traces.Trace, p *Process, x *traces.Exchange) string {
	if asked(t) != "rest" || strings.HasPrefix(t.Indirection, "certificate") {
		return x.Server
	}
	name := "server"
	if t.Indirection == "report" {
		name = "report_server"
	}
	if _, place := p.setting("server_list"); place != "" && place != "default" {
		name = "server_list"
	}
	_, place := p.setting(name)
	if place == "" {
		return x.Server
	}
	return fmt.Sprintf("%s, setting %s (%s)", x.Server, name, place)
}

// serverFailed puts before what is hidden of an error which server it came from.
func serverFailed(t *traces.Trace, p *Process) {
	x, _, ok := last(t)
	if !ok || x.Status < 400 {
		return
	}
	for i := range t.Faults {
		f := &t.Faults[i]
		if !f.Shown || f.Step != traces.Terminus {
			continue
		}
		hidden := fmt.Sprintf("%s answered %d %s", candidate(t, p, &x), x.Status, x.Reason)
		if strings.Contains(traces.Header(x.Response, "Content-Type"), "html") {
			hidden += " in HTML, which no Puppet server does: " + traces.ProxyInTheWay
		}
		f.Hidden = hidden + "\n" + f.Hidden
	}
}

// noFormat is about an answer that is none of Puppet's formats.
func noFormat(t *traces.Trace, p *Process) string {
	x, body, ok := last(t)
	kind, _, _ := strings.Cut(traces.Header(x.Response, "Content-Type"), ";")
	if !ok || asked(t) != "rest" || x.Status/100 != 2 || !strings.Contains(kind, "html") {
		return ""
	}
	what := fmt.Sprintf("%s answered %d with %s: %s", candidate(t, p, &x), x.Status, kind, traces.ProxyInTheWay)
	if text := rest.ParseError(x.Status, kind, []byte(body)).Message; text != "" {
		what += fmt.Sprintf("; it says %q", text)
	}
	return traces.NoFormat(kind, what)
}

// withoutDate is about a source whose server does not send what would show that it
// has not changed.
func withoutDate(t *traces.Trace, _ *Process) string {
	x, _, ok := last(t)
	if !ok || t.Indirection != "file_metadata" || t.Steps[traces.Terminus].Answer != traces.OK || asked(t) != "http" || x.Status/100 != 2 {
		return ""
	}
	for _, name := range []string{"Last-Modified", "Content-MD5", "X-Checksum-Md5", "X-Checksum-Sha1", "X-Checksum-Sha256"} {
		if traces.Header(x.Response, name) != "" {
			return ""
		}
	}
	return traces.NoValidators
}

// noStore is about a PuppetDB of which no server has answered.
func noStore(t *traces.Trace, _ *Process) string {
	if t.Party != parties["puppetdb"] {
		return ""
	}
	var why []string
	for i := range t.Spans {
		s := &t.Spans[i]
		if s.Kind != traces.Network || s.Step != traces.Terminus {
			continue
		}
		x, ok := s.HTTP()
		if !ok || s.Err == "" {
			return "" // it has answered
		}
		text := t.Wrong(&traces.Fault{Message: s.Err})
		if strings.HasPrefix(text, "connection refused by ") {
			text = "connection refused"
		}
		why = append(why, x.Server+": "+text)
	}
	if why == nil {
		return ""
	}
	return traces.NoPuppetDB(strings.Join(why, "; "))
}
