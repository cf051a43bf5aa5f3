package ldap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	ldap "github.com/go-ldap/ldap/v3"
)

// A problem is why a search failed. Puppet's user never sees it. Rule LDAP-10.
type problem struct {
	text   string
	logged string // libldap's words, which Puppet logs when there is no connection; "" if there is one
	err    error  // may be nil
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.err }

// noContact is what libldap has for most that goes wrong with a connection.
const noContact = "Can't contact LDAP server"

// codeOf returns the result of a server, or a number from ldap.ErrorNetwork on.
func codeOf(err error) int {
	if e := (*ldap.Error)(nil); errors.As(err, &e) {
		return int(e.ResultCode)
	}
	return ldap.ErrorNetwork
}

// unreachable finds words for a connection that was not made.
func (c *config) unreachable(err error) error {
	why := err.Error()
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown):
		why = "the name " + c.server + " has no address (DNS)"
	case errors.Is(err, syscall.ECONNREFUSED):
		why = "connection refused"
	case errors.Is(err, context.DeadlineExceeded):
		why = fmt.Sprintf("no answer within %s (%s)", c.limit, settingTimeout)
	}
	return &problem{text: fmt.Sprintf("no connection to %s: %s", c.address(), why), logged: noContact, err: err}
}

// untrusted finds words for a certificate that is not trusted, or a server without
// TLS.
func (c *config) untrusted(err error, trusted *trust, logged string) error {
	why := errorText(err)
	if _, x509, found := strings.Cut(why, "x509: "); found {
		why = strings.TrimSuffix(x509, ")") + "; trusted is " + trusted.from
	} else if strings.HasSuffix(why, "EOF") || strings.Contains(why, "first record does not look like a TLS handshake") || strings.Contains(why, "reset by peer") {
		why = "the server does not speak TLS on this port (" + why + ")"
	}
	return &problem{text: fmt.Sprintf("TLS with %s failed: %s", c.address(), why), logged: logged, err: err}
}

// searchFailed finds words for what ended a search. The library reports neither a
// cancelled search nor one on a closed connection.
func (c *config) searchFailed(ctx context.Context, l *link, err error) error {
	p := &problem{err: err}
	code := codeOf(err)
	switch {
	case l.wire.full():
		p.text = fmt.Sprintf("the answer of %s has more than %d MiB (%s)", c.address(), c.maxAnswer>>20, settingAnswer)
	case ctx.Err() != nil || code == ldap.LDAPResultTimeLimitExceeded:
		p.text, p.err = fmt.Sprintf("%s took longer than %s (%s)", c.address(), c.limit, settingTimeout), errors.Join(err, ctx.Err())
	case code == ldap.LDAPResultNoSuchObject:
		p.text = fmt.Sprintf("there is no entry %s, or %s may not see it", c.setting("ldapbase", c.base), c.who())
	case code == ldap.LDAPResultInvalidDNSyntax:
		p.text = c.setting("ldapbase", c.base) + " is no DN"
	case err == nil:
		p.text = c.address() + " closed the connection"
	case code >= ldap.ErrorNetwork:
		p.text = fmt.Sprintf("the connection to %s broke: %s", c.address(), errorText(err))
	default:
		p.text = fmt.Sprintf("search at %s failed: %s", c.address(), errorText(err))
	}
	return p
}

// errorText returns the text of an error without the library's number, and what the
// server added.
func errorText(err error) string {
	e := (*ldap.Error)(nil)
	if !errors.As(err, &e) {
		return err.Error()
	}
	detail := e.Err.Error()
	if e.ResultCode >= ldap.ErrorNetwork {
		return detail
	}
	word := strings.ToLower(libldap(int(e.ResultCode)))
	if detail == "" {
		return word
	}
	return word + ": " + detail
}

// libldapWords are words that differ from those of our library in more than case.
var libldapWords = map[int]string{
	ldap.LDAPResultAuthMethodNotSupported:       "Authentication method not supported",
	ldap.LDAPResultStrongAuthRequired:           "Strong(er) authentication required",
	ldap.LDAPResultInsufficientAccessRights:     "Insufficient access",
	ldap.LDAPResultBusy:                         "Server is busy",
	ldap.LDAPResultUnavailable:                  "Server is unavailable",
	ldap.LDAPResultUnwillingToPerform:           "Server is unwilling to perform",
	ldap.LDAPResultUnavailableCriticalExtension: "Critical extension is unavailable",
	ldap.LDAPResultInvalidDNSyntax:              "Invalid DN syntax",
}

// libldap returns libldap's words for a result.
func libldap(code int) string {
	if w, ok := libldapWords[code]; ok {
		return w
	}
	w := ldap.LDAPResultCodeMap[uint16(code)]
	if w == "" {
		return fmt.Sprintf("Unknown error %d", code)
	}
	return w[:1] + strings.ToLower(w[1:])
}
