package ca

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// A Trust is by whom a server knows its clients, or a client its server: the
// certificates of CAs, and what these have revoked. It reads its files again
// whenever they change. It is safe for concurrent use.
type Trust struct {
	o TrustOptions

	mu     sync.Mutex // guards what follows
	caAt   stamp
	crlAt  stamp
	loaded bool
	roots  []*x509.Certificate
	pool   *x509.CertPool
	lists  []trustedList
	config *tls.Config // of this state; so that sessions can be taken up again
}

// A trustedList is a revocation list whose signature was checked.
type trustedList struct {
	issuer, keyID []byte
	until         time.Time
	revoked       map[string]time.Time
}

// TrustOptions say what is trusted.
type TrustOptions struct {
	CAFile  string // localcacert, or cacert: a bundle
	CRLFile string // hostcrl, or cacrl: a bundle; "" is that nothing is revoked
	// Revocation is the setting certificate_revocation: "chain" (also "true" and
	// ""), "leaf" or "false".
	Revocation string
	Now        func() time.Time // nil is time.Now
}

// NewTrust reads the files for the first time.
func NewTrust(o TrustOptions) (*Trust, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	switch o.Revocation {
	case "", "true":
		o.Revocation = "chain"
	case "chain", "leaf", "false":
	default:
		return nil, fmt.Errorf("setting certificate_revocation: %q is none of chain, leaf and false", o.Revocation)
	}
	if o.CRLFile == "" {
		o.Revocation = "false"
	}
	t := &Trust{o: o}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t, t.refresh()
}

// refresh reads what has changed. A file that cannot be read after it could is
// an error, and what was known before is forgotten: a server that does not know
// what is revoked lets nobody in.
func (t *Trust) refresh() error {
	caAt, err := stampOf(t.o.CAFile)
	if err != nil {
		return t.forget(fmt.Errorf("read the CA's certificates: %w", err))
	}
	var crlAt stamp
	if t.o.Revocation != "false" {
		if crlAt, err = stampOf(t.o.CRLFile); err != nil {
			return t.forget(fmt.Errorf("read what is revoked: %w", err))
		}
	}
	if t.loaded && caAt == t.caAt && crlAt == t.crlAt {
		return nil
	}
	text, err := readFile(t.o.CAFile)
	if err != nil {
		return t.forget(err)
	}
	roots, err := ParseCertificates(text)
	if err != nil {
		return t.forget(fmt.Errorf("read %s: %w", t.o.CAFile, err))
	}
	var lists []trustedList
	if t.o.Revocation != "false" {
		if lists, err = trustedLists(t.o.CRLFile, roots); err != nil {
			return t.forget(err)
		}
	}
	pool := x509.NewCertPool()
	for _, c := range roots {
		pool.AddCert(c)
	}
	t.caAt, t.crlAt, t.loaded, t.roots, t.pool, t.lists, t.config = caAt, crlAt, true, roots, pool, lists, nil
	return nil
}

func (t *Trust) forget(err error) error {
	t.loaded, t.pool, t.lists, t.config = false, nil, nil, nil
	return err
}

func trustedLists(path string, roots []*x509.Certificate) ([]trustedList, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	crls, err := ParseCRLs(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var lists []trustedList
	for i, c := range crls {
		if issuerOf(c, roots) == nil {
			return nil, fmt.Errorf("read %s: list %d is of %s, and not signed by any CA that is trusted", path, i+1, c.Issuer)
		}
		l := trustedList{c.RawIssuer, c.AuthorityKeyId, c.NextUpdate, make(map[string]time.Time, len(c.RevokedCertificateEntries))}
		for _, e := range c.RevokedCertificateEntries {
			l.revoked[string(e.SerialNumber.Bytes())] = e.RevocationTime
		}
		lists = append(lists, l)
	}
	return lists, nil
}

// Pool returns the certificates of the CAs, for tls.Config.ClientCAs or
// RootCAs. It must not be changed.
func (t *Trust) Pool() (*x509.CertPool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.refresh()
	return t.pool, err
}

// A RevokedError is a certificate that its CA has revoked.
type RevokedError struct {
	Subject string
	Serial  *big.Int
	Since   time.Time
}

func (e *RevokedError) Error() string {
	return fmt.Sprintf("certificate revoked for /CN=%s (serial 0x%s, since %s)", e.Subject, formatSerial(e.Serial), FormatTime(e.Since))
}

// Verify says why a chain is not good, of certificates from the leaf up: one of
// them is revoked, or nothing is known of what its CA has revoked, or not any
// more. That signatures and dates are right has been checked before.
func (t *Trust) Verify(chain []*x509.Certificate) error {
	t.mu.Lock()
	err := t.refresh()
	lists := t.lists
	t.mu.Unlock()
	if err != nil || t.o.Revocation == "false" {
		return err
	}
	for i, cert := range chain {
		if bytes.Equal(cert.RawIssuer, cert.RawSubject) || i > 0 && t.o.Revocation == "leaf" {
			break
		}
		if err := t.check(cert, lists); err != nil {
			return err
		}
	}
	return nil
}

func (t *Trust) check(cert *x509.Certificate, lists []trustedList) error {
	for _, l := range lists {
		if !bytes.Equal(l.issuer, cert.RawIssuer) || len(l.keyID) > 0 && len(cert.AuthorityKeyId) > 0 && !bytes.Equal(l.keyID, cert.AuthorityKeyId) {
			continue
		}
		if since, gone := l.revoked[string(cert.SerialNumber.Bytes())]; gone {
			return &RevokedError{cert.Subject.CommonName, cert.SerialNumber, since}
		}
		if !l.until.IsZero() && t.o.Now().After(l.until) {
			return fmt.Errorf("what %s has revoked is known only until %s: renew %s", cert.Issuer, FormatTime(l.until), t.o.CRLFile)
		}
		return nil
	}
	return fmt.Errorf("what %s has revoked is not known: it is not in %s", cert.Issuer, t.o.CRLFile)
}

// VerifyConnection is for tls.Config: it checks each way in which the other
// side's certificate may be trusted, and wants one that is good. Who has shown
// no certificate is not refused here.
func (t *Trust) VerifyConnection(cs tls.ConnectionState) error {
	if len(cs.PeerCertificates) == 0 {
		return nil
	}
	if len(cs.VerifiedChains) == 0 {
		return errors.New("the certificate was not verified")
	}
	var errs []error
	for _, chain := range cs.VerifiedChains {
		err := t.Verify(chain)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errs[0]
}

// ServerConfig returns a tls.Config that asks clients for a certificate, takes
// those that are trusted, and lets in who shows none. Certificate is asked for
// each connection. What base says besides is kept; nil is nothing.
func (t *Trust) ServerConfig(certificate func() (*tls.Certificate, error), base *tls.Config) *tls.Config {
	if base == nil {
		base = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	base = base.Clone()
	base.ClientAuth = tls.VerifyClientCertIfGiven
	base.VerifyConnection = t.VerifyConnection
	base.Time = t.o.Now
	base.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate() }
	outer := base.Clone()
	outer.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if err := t.refresh(); err != nil {
			return nil, err
		}
		if t.config == nil {
			t.config = base.Clone()
			t.config.ClientCAs = t.pool
		}
		return t.config, nil
	}
	return outer
}
