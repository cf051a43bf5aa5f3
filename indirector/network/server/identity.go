package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"indirtui/indirector/network/keyfile"
)

// An Identity names the PEM files of a server's certificate, and of the CAs of
// its clients.
type Identity struct {
	Cert, Key string // of the server; Cert may hold its chain
	Pass      string // the file with the password of Key, as in Puppet's setting passfile; "" is none
	CA        string // one or more CAs, one of which must have signed a client
	CRL       string // their revocation lists; "" revokes none
}

// A keyring is an Identity that was read. It is immutable.
type keyring struct {
	cert     tls.Certificate
	leaf     *x509.Certificate
	roots    *x509.CertPool
	between  []*x509.Certificate
	names    []string // of the CAs
	issuers  map[string]bool
	revoked  map[string]revocation // by issuer and serial number
	checks   bool                  // whether there are revocation lists
	warnings []string
}

type revocation struct {
	at   time.Time
	list string // the issuer of the list
}

// open reads the files.
func (id Identity) open(now time.Time) (*keyring, error) {
	k := &keyring{roots: x509.NewCertPool(), issuers: map[string]bool{}, revoked: map[string]revocation{}}
	cert, err := keyfile.Pair(id.Cert, id.Key, id.Pass)
	if err != nil {
		return nil, fmt.Errorf("read the server's certificate %s and key %s: %w", id.Cert, id.Key, err)
	}
	k.cert = cert
	if k.leaf, err = x509.ParseCertificate(cert.Certificate[0]); err != nil {
		return nil, fmt.Errorf("read the server's certificate %s: %w", id.Cert, err)
	}
	k.cert.Leaf = k.leaf
	if now.After(k.leaf.NotAfter) {
		k.warnings = append(k.warnings, fmt.Sprintf("the server's certificate %s expired at %s: no agent will accept it", id.Cert, stamp(k.leaf.NotAfter)))
	}
	cas, err := readPEM(id.CA, "CERTIFICATE", x509.ParseCertificate)
	if err != nil {
		return nil, err
	}
	if len(cas) == 0 {
		return nil, fmt.Errorf("read the CA's certificates: %s has none", id.CA)
	}
	for _, ca := range cas {
		k.names = append(k.names, ca.Subject.CommonName)
		if ca.CheckSignatureFrom(ca) == nil {
			k.roots.AddCert(ca)
		} else {
			k.between = append(k.between, ca)
		}
	}
	if len(k.between) == len(cas) { // a bundle without a root is trusted as it is
		for _, ca := range cas {
			k.roots.AddCert(ca)
		}
	}
	return k, k.readLists(id.CRL, cas, now)
}

func (k *keyring) readLists(path string, cas []*x509.Certificate, now time.Time) error {
	if path == "" {
		return nil
	}
	lists, err := readPEM(path, "X509 CRL", x509.ParseRevocationList)
	if err != nil {
		return err
	}
	if len(lists) == 0 {
		return fmt.Errorf("read %s: it has no revocation list", path)
	}
	k.checks = true
	for _, list := range lists {
		var signer *x509.Certificate
		for _, ca := range cas {
			if string(ca.RawSubject) == string(list.RawIssuer) && list.CheckSignatureFrom(ca) == nil {
				signer = ca
			}
		}
		if signer == nil {
			k.warnings = append(k.warnings, fmt.Sprintf("the revocation list of %q in %s is not signed by a CA of ours, and is ignored", list.Issuer.CommonName, path))
			continue
		}
		if !list.NextUpdate.IsZero() && now.After(list.NextUpdate) {
			k.warnings = append(k.warnings, fmt.Sprintf("the revocation list of %q in %s should have been renewed at %s; agents refuse it, the server still goes by it", signer.Subject.CommonName, path, stamp(list.NextUpdate)))
		}
		k.issuers[string(signer.RawSubject)] = true
		for _, e := range list.RevokedCertificateEntries {
			k.revoked[serialKey(list.RawIssuer, e.SerialNumber)] = revocation{e.RevocationTime, signer.Subject.CommonName}
		}
	}
	return nil
}

func serialKey(issuer []byte, serial *big.Int) string {
	return string(issuer) + "\x00" + serial.Text(16)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// readPEM reads all blocks of one type.
func readPEM[T any](path, kind string, parse func([]byte) (T, error)) ([]T, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []T
	for {
		var block *pem.Block
		if block, content = pem.Decode(content); block == nil {
			if bytes.Contains(content, []byte("-----BEGIN ")) {
				return nil, fmt.Errorf("read %s: it is cut off in the middle of a block", path)
			}
			return all, nil
		}
		if block.Type != kind {
			continue
		}
		one, err := parse(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("read %s: block %d: %w", path, len(all)+1, err)
		}
		all = append(all, one)
	}
}

// describe names a certificate in messages.
func describe(c *x509.Certificate) string {
	return fmt.Sprintf("certificate %q (serial 0x%s, signed by %q)", c.Subject.CommonName, strings.ToUpper(c.SerialNumber.Text(16)), c.Issuer.CommonName)
}

// verify returns why a client's certificate is not accepted, or nil. It is the
// only judge of client certificates.
func (k *keyring) verify(certs []*x509.Certificate, now time.Time) error {
	leaf := certs[0]
	between := x509.NewCertPool()
	for _, c := range append(certs[1:len(certs):len(certs)], k.between...) {
		between.AddCert(c)
	}
	chains, err := leaf.Verify(x509.VerifyOptions{
		Roots: k.roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", describe(leaf), k.reason(leaf, now, err))
	}
	if !k.checks {
		return nil
	}
	for _, chain := range chains {
		if err = k.current(chain); err == nil {
			return nil
		}
	}
	return err
}

// reason explains the error of a certificate that is not accepted.
func (k *keyring) reason(c *x509.Certificate, now time.Time, err error) error {
	var unknown x509.UnknownAuthorityError
	switch {
	case now.Before(c.NotBefore):
		return fmt.Errorf("not valid before %s, and the clock here says %s: %w", stamp(c.NotBefore), stamp(now), err)
	case now.After(c.NotAfter):
		return fmt.Errorf("expired at %s, and the clock here says %s: %w", stamp(c.NotAfter), stamp(now), err)
	case errors.As(err, &unknown):
		return fmt.Errorf("signed by a CA that is none of ours (%s): %w", strings.Join(k.names, ", "), err)
	}
	return err
}

// current reports the first certificate of a chain that is revoked, or whose
// issuer has no list.
func (k *keyring) current(chain []*x509.Certificate) error {
	for i, c := range chain[:len(chain)-1] {
		if err := k.revokedNow(c); err != nil {
			return err
		}
		if issuer := chain[i+1]; !k.issuers[string(issuer.RawSubject)] {
			return fmt.Errorf("%s: there is no revocation list of %q", describe(c), issuer.Subject.CommonName)
		}
	}
	return nil
}

// revokedNow reports a certificate that was revoked after its connection was
// made.
func (k *keyring) revokedNow(c *x509.Certificate) error {
	if r, revoked := k.revoked[serialKey(c.RawIssuer, c.SerialNumber)]; revoked {
		return fmt.Errorf("%s: revoked at %s by the list of %q", describe(c), stamp(r.at), r.list)
	}
	return nil
}

// keys holds the current keyring. Changed files are read again when a client
// connects, at most once in a second.
type keys struct {
	id   Identity
	now  func() time.Time
	log  *slog.Logger
	ring atomic.Pointer[keyring]

	looked atomic.Int64 // when the files were checked, in Unix nanoseconds
	mu     sync.Mutex   // guards stamps
	stamps [4]fileStamp
}

type fileStamp struct {
	changed time.Time
	size    int64
}

func openKeys(id Identity, now func() time.Time, log *slog.Logger) (*keys, error) {
	k := &keys{id: id, now: now, log: log}
	if err := k.reload(); err != nil {
		return nil, err
	}
	return k, nil
}

// reload reads the files. After an error the old keyring stays.
func (k *keys) reload() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stamps = k.id.stamps()
	k.looked.Store(k.now().UnixNano())
	ring, err := k.id.open(k.now())
	if err != nil {
		return err
	}
	for _, w := range ring.warnings {
		k.log.Warn(w)
	}
	k.ring.Store(ring)
	return nil
}

func (id Identity) stamps() (all [4]fileStamp) {
	for i, path := range []string{id.Cert, id.Key, id.CA, id.CRL} {
		if info, err := os.Stat(path); err == nil {
			all[i] = fileStamp{info.ModTime(), info.Size()}
		}
	}
	return all
}

// current returns the keyring, read again if its files have changed.
func (k *keys) current() *keyring {
	now := k.now().UnixNano()
	last := k.looked.Load()
	if now-last < int64(time.Second) || !k.looked.CompareAndSwap(last, now) {
		return k.ring.Load()
	}
	k.mu.Lock()
	changed := k.id.stamps() != k.stamps
	k.mu.Unlock()
	if changed {
		if err := k.reload(); err != nil {
			k.log.Error("certificates have changed and cannot be read; the old ones stay in force", "err", err)
		} else {
			k.log.Info("certificates or revocation lists have changed and were read again")
		}
	}
	return k.ring.Load()
}
