package rest

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/traces"
)

// Kinds of issues in error documents. Rule: specification of the wire, 5.
const (
	RuntimeError         = "RUNTIME_ERROR"
	MissingHeaderField   = "MISSING_HEADER_FIELD"
	ResourceNotFound     = "RESOURCE_NOT_FOUND"
	HandlerNotFound      = "HANDLER_NOT_FOUND"
	NoRemoteRequests     = "NO_INDIRECTION_REMOTE_REQUESTS"
	EnvironmentNotFound  = "ENVIRONMENT_NOT_FOUND" // of Puppet 3 only
	UnsupportedMethod    = "UNSUPPORTED_METHOD"
	UnsupportedFormat    = "UNSUPPORTED_FORMAT"
	UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
)

// prefixes begin the message of a document. Rule: 5.
var prefixes = map[int]string{
	http.StatusBadRequest:            "Bad Request: ",
	http.StatusForbidden:             "Not Authorized: ",
	http.StatusNotFound:              "Not Found: ",
	http.StatusMethodNotAllowed:      "Method Not Allowed: ",
	http.StatusNotAcceptable:         "Not Acceptable: ",
	http.StatusUnsupportedMediaType:  "Unsupported Media Type: ",
	http.StatusRequestEntityTooLarge: "Payload Too Large: ",
	http.StatusInternalServerError:   "Server Error: ",
	http.StatusBadGateway:            "Bad Gateway: ",
	http.StatusGatewayTimeout:        "Gateway Timeout: ",
}

// A shape is the form of an Error.
type shape uint8

const (
	document  shape = iota // JSON with message and issue_kind
	bareText               // text without a Content-Type, as from Puppet Server's router and authorization
	plainText              // text/plain
	plainUTF8              // text/plain;charset=utf-8
	nothing                // no body
)

// An Error is an error on the wire.
type Error struct {
	Status  int    // 404
	Kind    string // "RESOURCE_NOT_FOUND"; "" if unknown
	Message string // "Not Found: Could not find node web01"
	// Puppet reports whether the body was Puppet's error document. Anything else
	// comes from a proxy or another web server.
	Puppet bool

	as    shape
	why   string // for the trace only
	retry int    // seconds, for Retry-After; 0 is none
}

// refuse returns an Error with Puppet's prefix of the status.
func refuse(status int, kind, message string, args ...any) *Error {
	return &Error{Status: status, Kind: kind, Message: prefixes[status] + fmt.Sprintf(message, args...), Puppet: true}
}

func (e *Error) Error() string { return e.Message }

// appendDocument appends the error document. Rule: 5.
func (e *Error) appendDocument(b []byte) []byte {
	doc := data.OfHash([]data.Pair{
		data.P("message", data.OfString(strings.ToValidUTF8(e.Message, "\uFFFD"))),
		data.P("issue_kind", data.OfString(e.Kind)),
	})
	out, err := format.AppendJSON(b, doc)
	if err != nil { // valid UTF-8 in two strings cannot fail
		return append(b, `{"message":"","issue_kind":"RUNTIME_ERROR"}`...)
	}
	return out
}

// maxDocument is the largest error document in bytes; Puppet 4 adds a stack
// trace.
const maxDocument = 1 << 20

// ParseError reads the body of an error status: error documents of Puppet 2.6
// to 8, with or without a stack trace, or anything else as text. It never
// fails.
func ParseError(status int, contentType string, body []byte) *Error {
	e := &Error{Status: status}
	if len(body) > maxDocument {
		body = body[:maxDocument]
	}
	kind, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "application/json", "text/pson":
		v, err := format.DecodeJSON(body, format.Limits{})
		message, given := v.Lookup("message")
		if err == nil && given && message.Kind() == data.String {
			// Jetty's own errors have message, url and status.
			_, url := v.Lookup("url")
			e.Message, e.Kind, e.Puppet = message.Str(), v.Get("issue_kind").Text(), !url
			return e
		}
	case "text/plain", "":
		e.Message = text(body)
		e.Puppet = status != http.StatusNotFound && e.Message != "" || strings.Contains(e.Message, "Could not find")
		return e
	}
	e.Message = text(body)
	return e
}

// text returns the readable part of a body in one line, without tags.
func text(body []byte) string {
	const most = 500
	s := strings.ToValidUTF8(string(body[:min(len(body), 16<<10)]), "\uFFFD")
	s = strings.Join(strings.Fields(tag.ReplaceAllString(s, " ")), " ")
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return s
}

var tag = regexp.MustCompile(`(?is)<(style|script)\b.*?</(style|script)>|<[^<>]*>`)

// A Missing is what a 404 did not find. Gap L8.
type Missing uint8

// The kinds of 404.
const (
	NotMissing         Missing = iota // no 404
	MissingInstance                   // nothing under that key
	MissingEnvironment                // unknown environment
	MissingIndirection                // unknown indirection or route
	MissingRemote                     // a terminus that is not asked over the network
	MissingElsewhere                  // answered by a proxy or another web server
)

var missings = [...]string{"", "no such instance", "no such environment", "no such indirection or route", "not for requests over the network", "not answered by Puppet itself"}

func (m Missing) String() string {
	if int(m) < len(missings) {
		return missings[m]
	}
	return fmt.Sprintf("Missing(%d)", m)
}

// About is a sentence about a 404 of a server to a request.
func (e *Error) About(host string, req *indirector.Request) string {
	switch e.Missing() {
	case MissingEnvironment:
		s := fmt.Sprintf("the server (%s) has no environment '%s' (404)", host, req.Environment)
		if req.Indirection == "node" && req.Verb == indirector.Find { // REST-URL-03
			s += "; the catalog will be compiled all the same, in the server's own environment (usually production)"
		}
		return s
	case MissingIndirection:
		return fmt.Sprintf("the server (%s) does not know the indirection %s (404)", host, req.Indirection)
	case MissingRemote:
		return fmt.Sprintf("the server (%s) does not answer requests for %s over the network (404)", host, req.Indirection)
	case MissingElsewhere:
		s := host + " answered 404, but not as Puppet does: " + traces.ProxyInTheWay
		if e.Message != "" {
			s += fmt.Sprintf(" (it wrote %q)", e.Message)
		}
		return s
	}
	return fmt.Sprintf("the server (%s) has no %s %s: 404", host, req.Indirection, req.Key)
}

// Missing returns what a 404 did not find. A missing environment is known by
// its message: Puppet 4 and later name it RUNTIME_ERROR.
func (e *Error) Missing() Missing {
	if e.Status != http.StatusNotFound {
		return NotMissing
	}
	switch {
	case !e.Puppet:
		return MissingElsewhere
	case e.Kind == ResourceNotFound:
		return MissingInstance
	case e.Kind == EnvironmentNotFound, strings.Contains(e.Message, "Could not find environment '"):
		return MissingEnvironment
	case e.Kind == HandlerNotFound:
		return MissingIndirection
	case e.Kind == NoRemoteRequests:
		return MissingRemote
	case strings.Contains(e.Message, "Could not find indirection"), strings.Contains(e.Message, "No route for"):
		return MissingIndirection
	}
	return MissingInstance
}
