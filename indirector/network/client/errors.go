package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"indirtui/indirector"
)

func failure(class string, u *url.URL, message, hidden string, err error) *indirector.Failure {
	return &indirector.Failure{Class: class, Message: message, Origin: "network", Path: text(u), Hidden: hidden, Err: err}
}

// unreachable reports whether err means that there was no connection, so that
// another server may be tried. Rule REST-CLI-06.
func unreachable(err error) bool {
	f := (*indirector.Failure)(nil)
	return errors.As(err, &f) && f.Class == "Puppet::HTTP::ConnectionError"
}

// failed returns the failure of an exchange in Puppet's words, which include
// Ruby's and OpenSSL's. Rule REST-CLI-06.
func (c *Client) failed(began, ctx context.Context, x *Exchange, to target, k *clock, proxy *url.URL, err error) error {
	if began.Err() != nil {
		return fmt.Errorf("ask %s: %w", text(to.url), context.Cause(began))
	}
	if f := (*indirector.Failure)(nil); errors.As(err, &f) { // of the certificate or the request body
		completed := *f
		if completed.Origin == "tls" {
			completed.Path, completed.Hidden = text(to.url), to.candidate+": "+f.Hidden
		}
		return &completed
	}
	stalled := errors.Is(context.Cause(ctx), errStalled)
	seen := k.times()
	err = alerted(seen.conn, err)
	connected := seen.connected
	class, about := "Puppet::HTTP::HTTPError", to.url
	if !connected {
		class = "Puppet::HTTP::ConnectionError"
		if to.base != nil {
			about = to.base
		}
	}
	seconds := elapsed(c.now().Sub(k.start))
	hidden := to.candidate + ": "
	if proxy != nil {
		hidden += "by the proxy " + proxy.Host + ": "
	}
	fail := func(message, why string) error {
		return failure(class, about, message, hidden+why, err)
	}
	switch {
	case !connected && timedOut(err):
		return fail(fmt.Sprintf("Request to %s timed out connect operation after %s seconds", text(about), seconds),
			"no connection within http_connect_timeout")
	case stalled || timedOut(err):
		what := "nothing came for http_read_timeout (" + c.read.String() + ")"
		if seen.first.IsZero() {
			what += ", not even a status"
		} else if cut := (*readError)(nil); errors.As(err, &cut) {
			what += ", after " + cut.progress()
		}
		err = fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, err)
		return fail(fmt.Sprintf("Request to %s timed out read operation after %s seconds", text(about), seconds), what)
	case connected && ended(err):
		what := "the server closed the connection before it answered"
		if cut := (*readError)(nil); errors.As(err, &cut) {
			what = "the connection was closed in the middle of the answer, after " + cut.progress()
		}
		return fail(fmt.Sprintf("Request to %s interrupted after %s seconds", text(about), seconds), what)
	}
	ruby, why := rubyError(to.url, proxy, connected, err)
	return fail(fmt.Sprintf("Request to %s failed after %s seconds: %s", text(about), seconds, ruby), why)
}

func (e *readError) progress() string {
	if e.expected >= 0 {
		return fmt.Sprintf("%d of %d bytes", e.came, e.expected)
	}
	return fmt.Sprintf("%d bytes of a body of unknown length", e.came)
}

func timedOut(err error) bool {
	e := net.Error(nil)
	return errors.As(err, &e) && e.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || closedIdle(err)
}

// closedIdle reports that a connection was closed before anything was sent on it.
func closedIdle(err error) bool {
	return strings.Contains(err.Error(), "server closed idle connection")
}

// elapsed prints seconds as Ruby does.
func elapsed(d time.Duration) string {
	s := strconv.FormatFloat(math.Round(d.Seconds()*1000)/1000, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// rubyError returns Ruby's text of the cause, and the cause in plain words.
func rubyError(u, proxy *url.URL, connected bool, err error) (ruby, why string) {
	host, port := u.Hostname(), portOf(u)
	if proxy != nil {
		host, port = proxy.Hostname(), portOf(proxy)
	}
	at := fmt.Sprintf("%s:%s", host, port)
	dns, op, inner := (*net.DNSError)(nil), (*net.OpError)(nil), (*net.OpError)(nil)
	if errors.As(err, &op) && op.Op == "proxyconnect" && errors.As(op.Err, &inner) {
		op = inner // the proxy itself was not reached
	}
	switch {
	case errors.As(err, &dns):
		ruby = "getaddrinfo: Name or service not known"
		if dns.IsTemporary {
			ruby = "getaddrinfo: Temporary failure in name resolution"
		}
		return fmt.Sprintf("Failed to open TCP connection to %s (%s)", at, ruby), fmt.Sprintf("nobody knows an address of the name %s: %v", host, dns.Err)
	case !connected && op != nil && op.Op == "dial":
		errno := syscall.Errno(0)
		reason := op.Err.Error()
		if errors.As(err, &errno) {
			reason = rubyErrno(errno)
		}
		why = op.Err.Error()
		if errors.Is(err, syscall.ECONNREFUSED) {
			why = "nobody listens at " + op.Addr.String()
		}
		return fmt.Sprintf("Failed to open TCP connection to %s (%s - connect(2) for %s)", at, reason, op.Addr), why
	}
	if reason, why, ok := tlsError(u, connected, err); ok {
		return reason, why
	}
	if proxy != nil && !connected {
		return fmt.Sprintf("%q", err.Error()), "the proxy did not let us through: " + err.Error()
	}
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return rubyErrno(errno), "the connection broke: " + errno.Error()
	}
	if strings.Contains(err.Error(), "malformed HTTP") {
		return fmt.Sprintf("wrong status line: %q", quoted(err.Error())), "what came is no HTTP: another service seems to listen there"
	}
	return err.Error(), err.Error()
}

// quoted returns the last text in quotes.
func quoted(s string) string {
	if i := strings.IndexByte(s, '"'); i >= 0 {
		if t, err := strconv.Unquote(s[i:]); err == nil {
			return t
		}
	}
	return s
}

func rubyErrno(e syscall.Errno) string {
	switch e {
	case syscall.ECONNREFUSED:
		return "Connection refused"
	case syscall.ECONNRESET:
		return "Connection reset by peer"
	case syscall.EPIPE:
		return "Broken pipe"
	case syscall.EHOSTUNREACH:
		return "No route to host"
	case syscall.ENETUNREACH:
		return "Network is unreachable"
	}
	s := e.Error()
	return strings.ToUpper(s[:1]) + s[1:]
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}
