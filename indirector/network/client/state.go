package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"indirtui/indirector"
)

// A State is the state of a server.
type State string

const (
	Up      State = "up"          // it reports that it runs
	Other   State = "answers"     // it answers something else
	Refused State = "TLS refused" // one side does not trust the other
	Down    State = "down"        // no answer
)

// maxFirstLine is the most that is shown of the body, in bytes.
const maxFirstLine = 60

// State asks a server, "puppet:8140", once for GET /status/v1/simple, with the
// certificate of this host and its usual trust, and returns its state and a
// short description.
func (c *Client) State(ctx context.Context, address string) (State, string) {
	u := &url.URL{Scheme: "https", Host: address, Path: "/status/v1/simple"}
	x := &Exchange{URL: u, Method: http.MethodGet, Verbatim: true, Anonymous: true, Limit: 64 << 10}
	began := c.now()
	answer, err := c.exchange(ctx, x, target{url: u, candidate: address}, http.Header{"Accept": {"*/*"}})
	took := c.now().Sub(began).Round(time.Millisecond)
	if err != nil {
		return stateOf(u, err)
	}
	text := firstLine(answer.Body)
	status := strings.TrimSpace(fmt.Sprintf("%d %s", answer.Status, answer.Reason))
	switch {
	case answer.Status == http.StatusOK && text == "running":
		return Up, fmt.Sprintf("running, %v", took)
	case answer.Status == http.StatusOK || answer.Status == http.StatusServiceUnavailable && text != "":
		return Other, fmt.Sprintf("%s: %s, %v", status, text, took)
	}
	return Other, fmt.Sprintf("%s, %v", status, took)
}

// stateOf returns the state that an error means.
func stateOf(u *url.URL, err error) (State, string) {
	f := (*indirector.Failure)(nil)
	if !errors.As(err, &f) {
		if errors.Is(err, context.DeadlineExceeded) {
			return Down, "no answer in time"
		}
		return Down, err.Error()
	}
	_, why, _ := strings.Cut(f.Hidden, ": ") // without the candidate
	if f.Origin == "tls" {
		return Refused, why
	}
	if _, _, ok := tlsError(u, false, f.Err); f.Err != nil && ok {
		return Refused, why
	}
	return Down, why
}

// firstLine returns the first line of a text body.
func firstLine(body []byte) string {
	text, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if len(text) > maxFirstLine {
		text = strings.ToValidUTF8(text[:maxFirstLine], "") + "..."
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '.'
		}
		return r
	}, text)
}
