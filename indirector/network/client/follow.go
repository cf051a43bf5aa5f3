package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"indirtui/traces"
)

// acceptEncoding is the header that Ruby's HTTP library sends.
const acceptEncoding = "gzip;q=1.0,deflate;q=0.6,identity;q=0.3"

// puppetVersion is the version that the client claims to be.
const puppetVersion = "7.23.0"

// headers returns the caller's headers and Puppet's, which do not replace them.
func (c *Client) headers(x *Exchange) http.Header {
	h := x.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if x.Target != "" {
		if _, given := h["User-Agent"]; !given {
			h["User-Agent"] = nil // else net/http adds its own
		}
		return h
	}
	if !x.Bare {
		if c.get("profile") == "true" {
			h.Set("X-Puppet-Profiling", "true")
		}
		c.extra(h)
	}
	add := func(name, value string) {
		if _, ok := h[name]; !ok && value != "" {
			h.Set(name, value)
		}
	}
	add("X-Puppet-Version", puppetVersion)
	agent, _ := c.settings.Get("http_user_agent")
	add("User-Agent", agent)
	add("Accept", "*/*")
	if _, ranged := h["Range"]; !ranged && !x.Verbatim {
		add("Accept-Encoding", acceptEncoding)
	}
	return h
}

// extra adds the headers of http_extra_headers. Like Puppet it refuses those of
// the request only; the setting may replace User-Agent.
func (c *Client) extra(h http.Header) {
	list, _ := c.settings.Get("http_extra_headers")
	for pair := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), ":")
		switch _, set := h[http.CanonicalHeaderKey(name)]; {
		case name == "":
		case set:
			c.log.Warn(fmt.Sprintf("Ignoring extra header %q as it was previously set.", name))
		case value == "":
			c.log.Warn(fmt.Sprintf("Ignoring extra header %q as it has no value.", name))
		default:
			h.Set(name, value)
		}
	}
}

// redirected returns the address of a redirect.
func redirected(ctx context.Context, from *url.URL, h http.Header) (*url.URL, error) {
	location := h.Get("Location")
	bad := func(message string) error {
		return failure("Puppet::HTTP::ProtocolError", from, message, fmt.Sprintf("the header is Location: %q", location), nil)
	}
	if _, ok := h["Location"]; !ok {
		return nil, bad("Location response header is missing")
	}
	u, err := from.Parse(location)
	if err == nil && !strings.Contains(location, "://") {
		traces.AddNote(ctx, fmt.Sprintf("redirected to %q; Puppet itself fails if no host is named there", location))
	}
	if err != nil || location == "" {
		return nil, bad(fmt.Sprintf("Location URI is invalid: bad URI(is not URI?): %q", location))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, bad(fmt.Sprintf("Location URI is invalid: bad URI(is not URI?): %q", location))
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return u, nil
}

// retryAfter returns how long to wait, at most runinterval, and whether there
// is such a header.
func (c *Client) retryAfter(u *url.URL, h http.Header) (time.Duration, bool, error) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if _, ok := h["Retry-After"]; !ok {
		return 0, false, nil
	}
	var wait time.Duration
	if n, ok := rubyInteger(value); ok {
		wait = time.Duration(min(max(n, 0), 1<<31)) * time.Second
	} else if at, err := rfc2822(value); err == nil {
		wait = max(at.Sub(c.now()).Truncate(time.Second), 0)
	} else {
		return 0, false, failure("Puppet::HTTP::ProtocolError", u, fmt.Sprintf("Failed to parse Retry-After header '%s' as an integer or RFC 2822 date", value), "", nil)
	}
	if c.maxSleep > 0 {
		wait = min(wait, c.maxSleep)
	}
	return wait, true, nil
}

// rubyInteger is Ruby's Integer("…") for decimal numbers.
func rubyInteger(s string) (int64, bool) {
	if !integers.MatchString(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
	return n, err == nil
}

var integers = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*(_[0-9]+)*)$`)

// rfc2822 reads a date; weekday and seconds may be missing.
func rfc2822(s string) (time.Time, error) {
	if _, after, ok := strings.Cut(s, ","); ok {
		s = strings.TrimSpace(after)
	}
	var err error
	for _, layout := range []string{"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04 -0700", "2 Jan 2006 15:04 MST"} {
		var t time.Time
		if t, err = time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, err
}

func sleeping(seconds int) string {
	return fmt.Sprintf("Sleeping for %d seconds before retrying the request", seconds)
}

func noteSleeping(a *Answer, seconds int) string {
	return fmt.Sprintf("%s answered %d %s with Retry-After: %s, so it is asked again after %d s", a.URL.Host, a.Status, a.Reason, a.Header.Get("Retry-After"), seconds)
}
