package client

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/network/keyfile"
)

// A trust is the content of the certificate files when they were read: whom to
// trust, and the certificate to show. It is immutable.
type trust struct {
	now        func() time.Time
	system     bool
	roots      *x509.CertPool
	others     *x509.CertPool // CAs that are no roots
	known      []*x509.Certificate
	crls       []*x509.RevocationList
	revocation string // chain, leaf or false
	own        *tls.Certificate

	files   []stamp
	checked time.Time // guarded by the client's mutex
}

// A stamp identifies the version of a file.
type stamp struct {
	path string
	at   time.Time
	size int64 // -1 if there was none
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{path: path, size: -1}
	}
	return stamp{path, info.ModTime(), info.Size()}
}

// freshFor is how long files are assumed unchanged.
const freshFor = time.Second

// trust returns the current trust.
func (c *Client) trust(id identity) (*trust, error) {
	now := c.now()
	c.mu.Lock()
	t := c.trusts[id]
	look := t != nil && now.Sub(t.checked) >= freshFor
	if look {
		t.checked = now
	}
	c.mu.Unlock()
	if t != nil && (!look || !t.changed()) {
		return t, nil
	}
	// One reads and the others wait: two trusts would have two sets of
	// connections.
	c.loading.Lock()
	defer c.loading.Unlock()
	c.mu.Lock()
	if other := c.trusts[id]; other != nil && other != t {
		c.mu.Unlock()
		return other, nil
	}
	c.mu.Unlock()
	t, err := c.loadTrust(id)
	if err != nil {
		return nil, err
	}
	t.checked = now
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.trusts) >= maxPools {
		clear(c.trusts)
	}
	c.trusts[id] = t
	return t, nil
}

func (t *trust) changed() bool {
	for _, s := range t.files {
		if now := stampOf(s.path); now.size != s.size || !now.at.Equal(s.at) {
			return true
		}
	}
	return false
}

// read returns the contents of a file; nil if it does not exist.
func (t *trust) read(path string) ([]byte, error) {
	t.files = append(t.files, stampOf(path))
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Puppet's texts for missing or bad files.
const (
	msgNoCA      = "The CA certificates are missing from '%s'"
	msgBadCA     = "Failed to load CA certificates from '%s'"
	msgNoCRL     = "The CRL is missing from '%s'"
	msgBadCRL    = "Failed to load CRLs from '%s'"
	msgNoKey     = "The private key is missing from '%s'"
	msgBadKey    = "Failed to load private key for '%s'"
	msgNoCert    = "The client certificate is missing from '%s'"
	msgBadCert   = "Failed to load client certificate for '%s'"
	msgOtherKey  = "The certificate for '%s' does not match its private key"
	msgVerify    = "certificate verify failed [%s for %s]"
	msgMismatch  = "Server hostname '%s' did not match server certificate; expected %s"
	msgNotFile   = "The 'ssl_trust_store' setting does not refer to a file and will be ignored: '%s'"
	msgNoIssuer  = "The issuer '%s' of certificate '%s' cannot be found locally"
	classVerify  = "Puppet::SSL::CertVerifyError"
	classSSL     = "Puppet::SSL::SSLError"
	classMissing = "Puppet::Error"
)

func untrusted(class, path, hidden string, err error, format string, args ...any) error {
	return &indirector.Failure{Class: class, Message: fmt.Sprintf(format, args...), Origin: "tls", Path: path, Hidden: hidden, Err: err}
}

// nodeNames may be part of a file name.
var nodeNames = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// loadTrust reads the files in Puppet's order. None is required for servers
// that are not Puppet's own.
func (c *Client) loadTrust(id identity) (*trust, error) {
	t := &trust{now: c.now, system: id.system, roots: x509.NewCertPool(), others: x509.NewCertPool(), revocation: c.get("certificate_revocation")}
	if id.system {
		if pool, err := x509.SystemCertPool(); err == nil {
			t.roots = pool
		}
		t.revocation = "false"
	}
	optional := id.system || id.anonymous
	if err := t.loadCA(c.get("localcacert"), id.system); err != nil {
		return nil, err
	}
	if id.system {
		if err := c.loadStore(t); err != nil {
			return nil, err
		}
	}
	if t.revocation != "false" {
		if err := t.loadCRLs(c.get("hostcrl"), id.anonymous); err != nil {
			return nil, err
		}
	}
	if id.unnamed {
		return t, nil
	}
	name, cert, key := c.get("certname"), c.get("hostcert"), c.get("hostprivkey")
	if id.node != "" {
		if !nodeNames.MatchString(id.node) {
			return nil, untrusted(classMissing, "", "a certificate is looked for by the name of the node, and this is no file name", nil, "Certname %q must not contain unprintable or non-ASCII characters", id.node)
		}
		name, cert, key = id.node, filepath.Join(c.get("certdir"), id.node+".pem"), filepath.Join(c.get("privatekeydir"), id.node+".pem")
	}
	if cert == "" && key == "" && optional {
		return t, nil
	}
	if err := t.loadOwn(c, name, cert, key, optional); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *trust) loadCA(path string, optional bool) error {
	b, err := t.read(path)
	switch {
	case err != nil:
		return untrusted(classMissing, path, err.Error(), err, msgBadCA, path)
	case b == nil && optional:
		return nil
	case b == nil:
		return untrusted(classMissing, path, "the file of the setting localcacert does not exist; an agent gets it from the server in its first run", nil, msgNoCA, path)
	case len(bytes.TrimSpace(b)) == 0 && optional:
		return nil
	}
	certs, err := parseCerts(b)
	switch {
	case errors.Is(err, errNoPEM):
		return untrusted("OpenSSL::X509::CertificateError", path, "the file of the setting localcacert holds no certificate", err, "Failed to parse CA certificates as PEM")
	case err != nil:
		return untrusted("OpenSSL::X509::CertificateError", path, err.Error(), err, "%v", err)
	}
	t.add(certs)
	return nil
}

func (t *trust) add(certs []*x509.Certificate) {
	for _, cert := range certs {
		t.known = append(t.known, cert)
		if bytes.Equal(cert.RawSubject, cert.RawIssuer) {
			t.roots.AddCert(cert)
		} else {
			t.others.AddCert(cert)
		}
	}
}

// loadStore adds the file of ssl_trust_store. Unlike OpenSSL, an intermediate
// CA in it is trusted by itself.
func (c *Client) loadStore(t *trust) error {
	path := c.get("ssl_trust_store")
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		c.log.Warn(fmt.Sprintf(msgNotFile, path))
		return nil
	}
	b, err := t.read(path)
	if err != nil || len(b) == 0 {
		return nil //nolint:nilerr // Puppet goes on without it
	}
	certs, err := parseCerts(b)
	if err != nil {
		c.log.Error(fmt.Sprintf("Failed to add '%s' as a trusted CA file: %v", path, err))
		return nil
	}
	t.add(certs)
	return nil
}

func (t *trust) loadCRLs(path string, optional bool) error {
	b, err := t.read(path)
	switch {
	case err != nil:
		return untrusted(classMissing, path, err.Error(), err, msgBadCRL, path)
	case b == nil && optional:
		t.revocation = "false"
		return nil
	case b == nil:
		return untrusted(classMissing, path, "the file of the setting hostcrl does not exist; with certificate_revocation=false nobody looks for it", nil, msgNoCRL, path)
	}
	for block := range blocks(b, "X509 CRL") {
		crl, err := x509.ParseRevocationList(block)
		if err != nil {
			return untrusted(classMissing, path, err.Error(), err, msgBadCRL, path)
		}
		t.crls = append(t.crls, crl)
	}
	if len(t.crls) == 0 {
		return untrusted("OpenSSL::X509::CRLError", path, "the file of the setting hostcrl holds no list", nil, "Failed to parse CRLs as PEM")
	}
	return nil
}

func (t *trust) loadOwn(c *Client, name, certPath, keyPath string, optional bool) error {
	key, err := t.read(keyPath)
	switch {
	case err != nil:
		return untrusted(classMissing, keyPath, err.Error(), err, msgBadKey, name)
	case key == nil && !optional:
		return untrusted(classMissing, keyPath, "", nil, msgNoKey, keyPath)
	}
	cert, err := t.read(certPath)
	switch {
	case err != nil:
		return untrusted(classMissing, certPath, err.Error(), err, msgBadCert, name)
	case cert == nil && !optional:
		return untrusted(classMissing, certPath, "the certificate request of this host was not signed yet, or its certificate was not fetched", nil, msgNoCert, certPath)
	case key == nil || cert == nil:
		return nil
	}
	if keyfile.Encrypted(key) {
		passfile := c.get("passfile")
		if key, err = keyfile.Plain(key, keyfile.Password(passfile)); err != nil {
			return untrusted(classSSL, keyPath, fmt.Sprintf("the key is encrypted, and its password is expected in the file %s of the setting passfile: %v", passfile, err), err, msgBadKey, name)
		}
	}
	certs, err := parseCerts(cert)
	if err != nil {
		return untrusted(classMissing, certPath, err.Error(), err, msgBadCert, name)
	}
	own, err := tls.X509KeyPair(cert, key)
	switch {
	case err != nil && strings.Contains(err.Error(), "does not match"):
		return untrusted(classSSL, certPath, "the key in "+keyPath+" belongs to another certificate", err, msgOtherKey, certs[0].Subject)
	case err != nil:
		return untrusted(classSSL, keyPath, err.Error(), err, msgBadKey, name)
	}
	if !t.system {
		if err := t.checkOwn(c, certs[0], certPath); err != nil {
			return err
		}
	}
	t.own = &own
	return nil
}

// checkOwn verifies the client's certificate before it is shown, as Puppet
// does.
func (t *trust) checkOwn(c *Client, cert *x509.Certificate, path string) error {
	p := t.chain([]*x509.Certificate{cert})
	if p == nil {
		return nil
	}
	subject, issuer := p.cert.Subject, p.cert.Issuer
	if p.reason == verifyUnknown {
		c.log.Warn(fmt.Sprintf(msgNoIssuer, issuer, subject))
		return nil
	}
	message, known := ownProblems[p.reason]
	if !known {
		message = "Certificate 'SUBJECT' failed verification: " + p.reason
	}
	message = strings.NewReplacer("SUBJECT", subject.String(), "ISSUER", issuer.String()).Replace(message)
	return untrusted(classVerify, path, p.why+"; now is "+date(t.now()), nil, "%s", message)
}

// ownProblems are Puppet's texts about the client's own certificate.
var ownProblems = map[string]string{
	verifyEarly:        "The certificate 'SUBJECT' is not yet valid, verify time is synchronized",
	verifyExpired:      "The certificate 'SUBJECT' has expired, verify time is synchronized",
	verifyCRLEarly:     "The CRL issued by 'ISSUER' is not yet valid, verify time is synchronized",
	verifyCRLExpired:   "The CRL issued by 'ISSUER' has expired, verify time is synchronized",
	verifySignature:    "Invalid signature for certificate 'SUBJECT'",
	verifyCRLSignature: "Invalid signature for CRL issued by 'ISSUER'",
	verifyNoCRL:        "The CRL issued by 'ISSUER' is missing",
	verifyRevoked:      "Certificate 'SUBJECT' is revoked",
}

func (t *trust) shown() string {
	if t.own == nil || t.own.Leaf == nil {
		return ""
	}
	return t.own.Leaf.Subject.String()
}

// config returns the TLS configuration for one host.
func (t *trust) config(host string) *tls.Config {
	config := &tls.Config{
		ServerName: host, MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(16),
		// VerifyConnection checks all that this skips, in the words of Puppet and
		// OpenSSL. Names are compared as Ruby does.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			return t.verify(s.PeerCertificates, host)
		},
	}
	if t.own != nil {
		// Puppet shows its certificate whatever CAs the server names.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.own, nil }
	}
	return config
}

// OpenSSL's reasons.
const (
	verifyUnknown      = "unable to get local issuer certificate"
	verifySelf         = "self-signed certificate"
	verifySelfInChain  = "self-signed certificate in certificate chain"
	verifyEarly        = "certificate is not yet valid"
	verifyExpired      = "certificate has expired"
	verifySignature    = "certificate signature failure"
	verifyNoCRL        = "unable to get certificate CRL"
	verifyCRLEarly     = "CRL is not yet valid"
	verifyCRLExpired   = "CRL has expired"
	verifyCRLSignature = "CRL signature failure"
	verifyRevoked      = "certificate revoked"
)

// A problem is why a chain is not trusted.
type problem struct {
	reason string // OpenSSL's
	cert   *x509.Certificate
	why    string // in one sentence
}

// verify checks the server's certificates. Errors are Puppet's.
func (t *trust) verify(shown []*x509.Certificate, host string) error {
	if len(shown) == 0 {
		return untrusted(classSSL, host, "the server showed no certificate", nil, "peer did not return a certificate")
	}
	if p := t.chain(shown); p != nil {
		return untrusted(classVerify, host, p.why, nil, msgVerify, p.reason, p.cert.Subject)
	}
	if names, ok := matches(shown[0], host); !ok {
		expected := names[0]
		if len(names) > 1 {
			expected = "one of " + strings.Join(names, ", ")
		}
		return untrusted("Puppet::SSL::CertMismatchError", host,
			fmt.Sprintf("the server was asked as %s and shows the certificate %s, which has no such name", host, shown[0].Subject), nil,
			msgMismatch, host, expected)
	}
	return nil
}

// chain builds and checks a chain to a root; nil is good.
func (t *trust) chain(shown []*x509.Certificate) *problem {
	others := t.others.Clone()
	for _, cert := range shown[1:] {
		others.AddCert(cert)
	}
	chains, err := shown[0].Verify(x509.VerifyOptions{
		Roots: t.roots, Intermediates: others, CurrentTime: t.now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return t.unverified(shown, err)
	}
	switch t.revocation {
	case "false":
		return nil
	case "leaf":
		return t.revoked(chains[0], 1)
	}
	return t.revoked(chains[0], len(chains[0]))
}

// unverified explains why there is no chain to a root.
func (t *trust) unverified(shown []*x509.Certificate, err error) *problem {
	now := t.now()
	if invalid := (x509.CertificateInvalidError{}); errors.As(err, &invalid) {
		cert := invalid.Cert
		if invalid.Reason != x509.Expired {
			return &problem{reason: strings.TrimPrefix(invalid.Error(), "x509: "), cert: cert, why: invalid.Error()}
		}
		why := fmt.Sprintf("%s is valid from %s to %s, and now is %s", cert.Subject, date(cert.NotBefore), date(cert.NotAfter), date(now))
		if now.Before(cert.NotBefore) {
			return &problem{verifyEarly, cert, why}
		}
		return &problem{verifyExpired, cert, why}
	}
	candidates := append(append([]*x509.Certificate{}, shown[1:]...), t.known...)
	top, steps := shown[0], 0
	for steps < len(candidates) {
		next := issuerOf(top, candidates)
		if next == nil || next.Equal(top) {
			break
		}
		top, steps = next, steps+1
	}
	for _, ca := range t.known {
		switch {
		case bytes.Equal(ca.RawSubject, top.RawIssuer) && len(top.AuthorityKeyId) == 0 && !bytes.Equal(top.RawSubject, top.RawIssuer):
			return &problem{verifySignature, top, fmt.Sprintf("the known authority %s has the name of the issuer and another key: it was made anew", ca.Subject)}
		case bytes.Equal(ca.RawSubject, top.RawIssuer):
			why := fmt.Sprintf("the issuer of %s is called %s like a known authority, which has another key: the authority was made anew, or it is another one of that name", top.Subject, ca.Subject)
			return &problem{foreign(top, steps), top, why}
		}
	}
	var known []string
	for _, ca := range t.known {
		known = append(known, ca.Subject.String())
	}
	why := fmt.Sprintf("%s was issued by %s; known are %s", top.Subject, top.Issuer, strings.Join(known, ", "))
	if len(known) == 0 {
		why = fmt.Sprintf("%s was issued by %s, and no authority of Puppet's is known", top.Subject, top.Issuer)
	}
	return &problem{foreign(top, steps), top, why}
}

func foreign(top *x509.Certificate, steps int) string {
	switch {
	case !bytes.Equal(top.RawSubject, top.RawIssuer):
		return verifyUnknown
	case steps == 0:
		return verifySelf
	}
	return verifySelfInChain
}

func issuerOf(cert *x509.Certificate, among []*x509.Certificate) *x509.Certificate {
	for _, c := range among {
		if bytes.Equal(c.RawSubject, cert.RawIssuer) && cert.CheckSignatureFrom(c) == nil {
			return c
		}
	}
	return nil
}

// early is how far a CRL may be ahead of the clock.
const early = 5 * time.Minute

// revoked checks the first n certificates of a chain against their issuers'
// lists.
func (t *trust) revoked(chain []*x509.Certificate, n int) *problem {
	now := t.now()
	for i, cert := range chain[:n] {
		issuer := chain[min(i+1, len(chain)-1)]
		crl := t.listOf(issuer)
		switch {
		case crl == nil:
			return &problem{verifyNoCRL, cert, fmt.Sprintf("the setting hostcrl has no list of %s, which issued %s; certificate_revocation is %s", issuer.Subject, cert.Subject, t.revocation)}
		case crl.CheckSignatureFrom(issuer) != nil:
			return &problem{verifyCRLSignature, cert, fmt.Sprintf("the revocation list of %s was signed with another key: the authority was made anew", issuer.Subject)}
		case crl.ThisUpdate.After(now.Add(early)):
			return &problem{verifyCRLEarly, cert, fmt.Sprintf("the revocation list of %s is valid from %s, and now is %s", issuer.Subject, date(crl.ThisUpdate), date(now))}
		case !crl.NextUpdate.IsZero() && crl.NextUpdate.Before(now):
			return &problem{verifyCRLExpired, cert, fmt.Sprintf("the revocation list of %s was valid to %s, and now is %s; it must be fetched again", issuer.Subject, date(crl.NextUpdate), date(now))}
		}
		for _, entry := range crl.RevokedCertificateEntries {
			if entry.SerialNumber.Cmp(cert.SerialNumber) == 0 {
				return &problem{verifyRevoked, cert, fmt.Sprintf("%s with serial %d was revoked at %s", cert.Subject, cert.SerialNumber, date(entry.RevocationTime))}
			}
		}
	}
	return nil
}

// listOf returns the newest list of an issuer, nil if none.
func (t *trust) listOf(issuer *x509.Certificate) *x509.RevocationList {
	var newest *x509.RevocationList
	for _, crl := range t.crls {
		if !bytes.Equal(crl.RawIssuer, issuer.RawSubject) || len(crl.AuthorityKeyId) > 0 && len(issuer.SubjectKeyId) > 0 && !bytes.Equal(crl.AuthorityKeyId, issuer.SubjectKeyId) {
			continue
		}
		if newest == nil || crl.ThisUpdate.After(newest.ThisUpdate) {
			newest = crl
		}
	}
	return newest
}

func date(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// matches compares the names of a certificate with the host as Ruby does: the
// common name counts only if there are no alternative names. It returns the
// names as Puppet lists them.
func matches(cert *x509.Certificate, host string) (names []string, ok bool) {
	names = []string{cert.Subject.CommonName}
	add := func(n string) {
		for _, have := range names {
			if have == n {
				return
			}
		}
		names = append(names, n)
	}
	common := true
	ip := net.ParseIP(strings.Trim(host, "[]"))
	for _, n := range cert.DNSNames {
		common = false
		add("DNS:" + n)
		ok = ok || matchesName(n, host)
	}
	for _, n := range cert.IPAddresses {
		common = false
		add("IP Address:" + n.String())
		ok = ok || ip != nil && n.Equal(ip)
	}
	if common {
		ok = matchesName(cert.Subject.CommonName, host)
	}
	return names, ok
}

// matchesName ignores case; the first label may be a wildcard for one label.
func matchesName(pattern, host string) bool {
	pattern, host = strings.ToLower(strings.TrimSuffix(pattern, ".")), strings.ToLower(strings.TrimSuffix(host, "."))
	if pattern == "" {
		return false
	}
	rest, wild := strings.CutPrefix(pattern, "*.")
	if !wild {
		return pattern == host
	}
	_, parent, ok := strings.Cut(host, ".")
	return ok && parent == rest && strings.Contains(rest, ".")
}

// blocks yields the blocks of one type.
func blocks(b []byte, kind string) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for {
			var block *pem.Block
			if block, b = pem.Decode(b); block == nil {
				return
			}
			if block.Type == kind && !yield(block.Bytes) {
				return
			}
		}
	}
}

func parseCerts(b []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for block := range blocks(b, "CERTIFICATE") {
		cert, err := x509.ParseCertificate(block)
		if err != nil {
			return nil, err
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, errNoPEM
	}
	return certs, nil
}

var errNoPEM = errors.New("it holds no certificate in PEM")

// tlsError returns OpenSSL's text of a failed TLS connection, and the cause in
// plain words.
func tlsError(u *url.URL, connected bool, err error) (ruby, why string, ok bool) {
	peer := u.Host
	fail := func(reason, why string) (string, string, bool) {
		if connected {
			return "SSL_read: " + reason, why, true
		}
		return fmt.Sprintf("SSL_connect returned=1 errno=0 peeraddr=%s state=error: %s", peer, reason), why, true
	}
	if record := (tls.RecordHeaderError{}); errors.As(err, &record) {
		if record.Conn != nil {
			peer = record.Conn.RemoteAddr().String()
		}
		return fail("wrong version number", "what came is no TLS: the port speaks something else, perhaps HTTP without TLS")
	}
	_, alert, ok := strings.Cut(err.Error(), "remote error: tls: ")
	if !ok {
		if strings.Contains(err.Error(), "tls: ") {
			return fail(err.Error(), "the TLS handshake failed: "+err.Error())
		}
		return "", "", false
	}
	reason, known := alerts[alert]
	if !known {
		return fail("tlsv1 alert "+alert, "the server refused the connection: "+alert)
	}
	return fail(reason[0], reason[1])
}

// alerts are OpenSSL's text of each TLS alert, and its meaning.
var alerts = map[string][2]string{
	"handshake failure":              {"sslv3 alert handshake failure", "the server accepts none of the ciphers, or wants a certificate and got none"},
	"bad certificate":                {"sslv3 alert bad certificate", "the server does not believe our certificate"},
	"unsupported certificate":        {"sslv3 alert unsupported certificate", "the server does not take certificates of our kind"},
	"revoked certificate":            {"sslv3 alert certificate revoked", "the server says that our certificate was revoked"},
	"expired certificate":            {"sslv3 alert certificate expired", "the server says that our certificate has expired"},
	"unknown certificate":            {"sslv3 alert certificate unknown", "the server does not accept our certificate: revoked, expired or of another authority"},
	"unknown certificate authority":  {"tlsv1 alert unknown ca", "the server does not know the authority that issued our certificate"},
	"access denied":                  {"tlsv1 alert access denied", "the server knows our certificate and lets it not in"},
	"protocol version not supported": {"tlsv1 alert protocol version", "the server speaks no version of TLS that we speak; 1.2 is the oldest"},
	"insufficient security level":    {"tlsv1 alert insufficient security", "the server wants stronger ciphers"},
	"internal error":                 {"tlsv1 alert internal error", "the server failed in the handshake; its log says why"},
	"certificate required":           {"tlsv13 alert certificate required", "the server wants a certificate, and we have shown none"},
	"error decrypting message":       {"tlsv1 alert decrypt error", "the server could not check our signature"},
	"unrecognized name":              {"tlsv1 unrecognized name", "the server does not know the name by which it was asked"},
}
