package ca

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"indirtui/indirector/model"
	"indirtui/traces"
)

// A Status is what the CA knows of a name.
type Status struct {
	Name        string
	State       string // Requested, Signed or Revoked
	DNSAltNames []string
	AltNames    []string          // "IP:::1", "DNS:x"
	Authorizes  map[string]string // authorization extensions by short name
	Raw         []byte            // certificate or request, in DER
	Serial      *big.Int          // nil for a request
	From, Till  time.Time
}

// Fingerprint returns the digest of the certificate or request: see
// [Fingerprint].
func (s *Status) Fingerprint(algorithm string) string { return Fingerprint(algorithm, s.Raw) }

// Fingerprint writes a digest as Puppet does, in pairs of upper case digits
// with colons. The algorithm is SHA1, SHA256 or SHA512.
func Fingerprint(algorithm string, der []byte) string {
	var sum []byte
	switch algorithm {
	case "SHA1":
		s := sha1.Sum(der)
		sum = s[:]
	case "SHA512":
		s := sha512.Sum512(der)
		sum = s[:]
	default:
		s := sha256.Sum256(der)
		sum = s[:]
	}
	var b strings.Builder
	for i, c := range sum {
		if i > 0 {
			b.WriteByte(':')
		}
		fmt.Fprintf(&b, "%02X", c)
	}
	return b.String()
}

// AuthorizationExtensions returns the authorization extensions (pp_cli_auth and
// others) by short name.
func AuthorizationExtensions(cert *x509.Certificate) map[string]string {
	return named(cert.Extensions, func(e pkix.Extension) bool { return within(arcAuth, e.Id) })
}

// Extensions returns Puppet's extensions by short name.
func Extensions(cert *x509.Certificate) map[string]string {
	return named(cert.Extensions, func(e pkix.Extension) bool { return within(puppetArc, e.Id) })
}

func named(list []pkix.Extension, which func(pkix.Extension) bool) map[string]string {
	found := map[string]string{}
	for _, e := range list {
		if which(e) {
			found[model.ExtensionName(e.Id)] = model.ExtensionText(e.Value)
		}
	}
	return found
}

// Status returns the status of a name. The error may be fs.ErrNotExist.
func (a *Authority) Status(ctx context.Context, name string) (*Status, error) {
	cert, err := a.signed(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		r, err := a.waiting(ctx, name)
		if err != nil {
			return nil, err
		}
		return statusOfRequest(name, r)
	}
	if err != nil {
		return nil, err
	}
	l, err := a.crls()
	if err != nil {
		return nil, err
	}
	return statusOf(name, cert, l)
}

func statusOf(name string, cert *x509.Certificate, l lists) (*Status, error) {
	s := &Status{Name: name, State: Signed, Raw: cert.Raw, Serial: cert.SerialNumber, From: cert.NotBefore, Till: cert.NotAfter}
	if _, gone := l.revocation(cert.SerialNumber); gone && bytes.Equal(l.all[l.own].RawIssuer, cert.RawIssuer) {
		s.State = Revoked
	}
	return s, s.describe(cert.Extensions)
}

func statusOfRequest(name string, r *Request) (*Status, error) {
	s := &Status{Name: name, State: Requested, Raw: r.Raw}
	return s, s.describe(r.Extensions)
}

func (s *Status) describe(list []pkix.Extension) error {
	names, err := altNames(list)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	s.DNSAltNames, s.AltNames = dnsNames(names), tagged(names)
	s.Authorizes = named(list, func(e pkix.Extension) bool { return within(arcAuth, e.Id) })
	return nil
}

// Statuses returns every status, or those in one state: requests, then
// certificates. Unreadable ones are left out, and noted in the trace.
func (a *Authority) Statuses(ctx context.Context, state string) ([]*Status, error) {
	l, err := a.crls()
	if err != nil {
		return nil, err
	}
	var all []*Status
	for _, requests := range []bool{true, false} {
		if requests && (state == Signed || state == Revoked) || !requests && state == Requested {
			continue
		}
		names, err := a.Names(requests)
		if err != nil {
			return nil, err
		}
		_, span := traces.Start(ctx, traces.File, map[bool]string{true: "read requests", false: "read certificates"}[requests])
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				span.End("stopped", traces.Because{}, err)
				return nil, err
			}
			s, err := a.one(name, requests, l)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			}
			if err != nil {
				traces.AddNote(ctx, fmt.Sprintf("left out: %v", err))
				continue
			}
			if state == "" || s.State == state {
				all = append(all, s)
			}
		}
		span.End(fmt.Sprintf("%d files", len(names)), traces.Because{}, nil)
	}
	return slices.Clip(all), nil
}

func (a *Authority) one(name string, request bool, l lists) (*Status, error) {
	path := a.signedPath(name)
	if request {
		path = a.requestPath(name)
	}
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if request {
		r, err := ParseRequest(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		return statusOfRequest(name, r)
	}
	certs, err := ParseCertificates(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return statusOf(name, certs[0], l)
}
