package ca

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/network/keyfile"
	"indirtui/traces"
)

// States of a name.
const (
	Requested = "requested"
	Signed    = "signed"
	Revoked   = "revoked"
)

// Submit keeps a certificate request, and signs it if autosign allows: then the
// certificate is returned, else nil. For a refused request the error is a
// Refusal; one that only autosigning refuses is kept, as in Puppet Server.
func (a *Authority) Submit(ctx context.Context, name string, text []byte) (*x509.Certificate, error) {
	r, err := ParseRequest(text)
	if err != nil {
		return nil, &Refusal{Malformed, err.Error()}
	}
	var sign bool
	err = a.locked(ctx, func() error {
		if err := a.checkDuplicate(ctx, r.Subject); err != nil {
			return err
		}
		if err := checkRequest(name, r); err != nil {
			return err
		}
		return replace(ctx, a.requestPath(name), publicMode, encode(blockRequest, r.Raw))
	})
	if err != nil {
		return nil, err
	}
	// The command may be slow, and may use this CA.
	if sign, err = a.autosign(ctx, name, text); err != nil || !sign {
		return nil, err
	}
	return a.Sign(ctx, name, SignOptions{})
}

func checkRequest(name string, r *Request) error {
	if err := checkSubject(name, r.Subject); err != nil {
		return err
	}
	if r.names != 1 {
		return refuse(BadName, msgBadName)
	}
	return nil
}

// checkDuplicate refuses a second request for a name.
func (a *Authority) checkDuplicate(ctx context.Context, name string) error {
	state, err := a.State(ctx, name)
	if err != nil || state == "" {
		return err
	}
	if !a.cfg.AllowDuplicates {
		return refuse(Duplicate, msgDuplicate, name, state)
	}
	a.cfg.Log.Info(fmt.Sprintf(msgOverwrite, name, state))
	traces.AddNote(ctx, fmt.Sprintf(msgOverwrite, name, state))
	return nil
}

// State returns Requested, Signed or Revoked, or "" for an unknown name.
func (a *Authority) State(ctx context.Context, name string) (string, error) {
	cert, err := a.signed(ctx, name)
	if err == nil {
		l, err := a.crls()
		if err != nil {
			return "", err
		}
		if _, gone := l.revocation(cert.SerialNumber); gone {
			return Revoked, nil
		}
		return Signed, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if !safe(name) {
		return "", nil
	}
	switch _, err := os.Stat(a.requestPath(name)); {
	case err == nil:
		return Requested, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", err
	}
}

// signed reads the certificate of a name. The error may be fs.ErrNotExist.
func (a *Authority) signed(ctx context.Context, name string) (*x509.Certificate, error) {
	if !safe(name) {
		return nil, fmt.Errorf("%.60q: %w", name, fs.ErrNotExist)
	}
	text, err := look(ctx, a.signedPath(name))
	if err != nil {
		return nil, err
	}
	certs, err := ParseCertificates(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", a.signedPath(name), err)
	}
	return certs[0], nil
}

// waiting reads the request of a name. The error may be fs.ErrNotExist.
func (a *Authority) waiting(ctx context.Context, name string) (*Request, error) {
	if !safe(name) {
		return nil, fmt.Errorf("%.60q: %w", name, fs.ErrNotExist)
	}
	text, err := look(ctx, a.requestPath(name))
	if err != nil {
		return nil, err
	}
	r, err := ParseRequest(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", a.requestPath(name), err)
	}
	return r, nil
}

// SignOptions change how a request is signed.
type SignOptions struct {
	TTL                time.Duration // zero is the setting's
	AllowAltNames      bool          // besides the setting
	AllowAuthorization bool
}

const msgCannotSign = "Cannot sign certificate for host %s without a certificate request"

// Sign signs the request of a name and removes it. If there is none, or it is
// not allowed, the error is a Refusal.
func (a *Authority) Sign(ctx context.Context, name string, o SignOptions) (cert *x509.Certificate, err error) {
	err = a.locked(ctx, func() error {
		r, err := a.waiting(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			return refuse(Conflict, msgCannotSign, name)
		}
		if err != nil {
			return err
		}
		if err := checkRequest(name, r); err != nil {
			return err
		}
		if err := a.checkPolicy(r, a.cfg.AllowAltNames || o.AllowAltNames, a.cfg.AllowAuthorization || o.AllowAuthorization); err != nil {
			return err
		}
		names, err := altNames(r.Extensions)
		if err != nil {
			return err
		}
		ttl := o.TTL
		switch {
		case ttl != 0:
		case a.cfg.AllowRenewal && r.autoRenew:
			ttl = a.cfg.RenewalTTL
		default:
			ttl = a.cfg.TTL
		}
		more := slices.DeleteFunc(slices.Clone(r.Extensions), func(e pkix.Extension) bool { return e.Id.Equal(oidSAN) })
		if cert, err = a.certify(ctx, name, r.PublicKey, ttl, names, more); err != nil {
			return err
		}
		a.cfg.Log.Info("Signed certificate request for " + name)
		return remove(ctx, a.requestPath(name))
	})
	return cert, err
}

// certify issues and keeps a certificate, under the lock.
func (a *Authority) certify(ctx context.Context, name string, public crypto.PublicKey, ttl time.Duration, names []altName, more []pkix.Extension) (*x509.Certificate, error) {
	if ttl <= 0 || ttl > maxTTL {
		return nil, fmt.Errorf("a certificate cannot be valid for %s", ttl)
	}
	if k, ok := public.(*rsa.PublicKey); ok && k.N.BitLen() < 1024 {
		return nil, refuse(Malformed, "an RSA key of %d bits is too short to be certified", k.N.BitLen())
	}
	id, err := a.self()
	if err != nil {
		return nil, err
	}
	subject, err := commonName(name)
	if err != nil {
		return nil, err
	}
	subjectID, err := keyID(public)
	if err != nil {
		return nil, err
	}
	return a.keep(ctx, name, func(serial *big.Int) (*x509.Certificate, error) {
		now := a.cfg.Now()
		return issue(id, serial, subject, public, now.Add(-backdated), now.Add(ttl), leafExtensions(id, subjectID, sanOf(name, names), more))
	})
}

// keep gives a new certificate its number, records it, and writes its file.
func (a *Authority) keep(ctx context.Context, name string, sign func(serial *big.Int) (*x509.Certificate, error)) (*x509.Certificate, error) {
	serial, err := a.nextSerial(ctx)
	if err != nil {
		return nil, err
	}
	_, span := traces.Start(ctx, traces.Codec, "sign the certificate")
	span.Attr("serial", "0x"+formatSerial(serial))
	cert, err := sign(serial)
	if err != nil {
		span.End("failed", traces.Because{}, err)
		return nil, err
	}
	span.End("valid until "+FormatTime(cert.NotAfter), traces.Because{}, nil)
	if err := a.record(ctx, cert); err != nil {
		return nil, err
	}
	return cert, replace(ctx, a.signedPath(name), publicMode, EncodeCertificates(cert))
}

// A Leaf is a certificate to be issued without a request.
type Leaf struct {
	Name     string
	AltNames []string         // "DNS:x", "IP:::1", or "x", which is a DNS name
	TTL      time.Duration    // zero is the setting's
	CLIAuth  bool             // it may sign and revoke over the network (pp_cli_auth)
	Public   crypto.PublicKey // for Issue
	Replace  bool             // may replace another
}

// Issue certifies a key.
func (a *Authority) Issue(ctx context.Context, l Leaf) (cert *x509.Certificate, err error) {
	if err := ValidName(l.Name); err != nil {
		return nil, err
	}
	names, err := altNamesOf(l.AltNames)
	if err != nil {
		return nil, err
	}
	var more extensions
	if l.CLIAuth {
		more.add(oidCLIAuth, false, "true", "utf8")
	}
	l.TTL = cmp.Or(l.TTL, a.cfg.TTL)
	err = a.locked(ctx, func() error {
		if state, err := a.State(ctx, l.Name); err != nil {
			return err
		} else if state != "" && !l.Replace {
			return refuse(Duplicate, "%s already has a %s certificate", l.Name, state)
		}
		cert, err = a.certify(ctx, l.Name, l.Public, l.TTL, names, more)
		return err
	})
	return cert, err
}

// Generate makes a key and certifies it. The chain includes the CA's
// certificate.
func (a *Authority) Generate(ctx context.Context, l Leaf) (pair tls.Certificate, certPEM, keyPEM []byte, err error) {
	key, err := newKey(a.cfg.KeyLength)
	if err != nil {
		return pair, nil, nil, err
	}
	l.Public = key.Public()
	cert, err := a.Issue(ctx, l)
	if err != nil {
		return pair, nil, nil, err
	}
	if keyPEM, err = encodeKey(key); err != nil {
		return pair, nil, nil, err
	}
	id, err := a.self()
	if err != nil {
		return pair, nil, nil, err
	}
	pair = tls.Certificate{Certificate: [][]byte{cert.Raw, id.cert.Raw}, PrivateKey: key, Leaf: cert}
	return pair, EncodeCertificates(cert), keyPEM, nil
}

// Renew signs a certificate again, with a new number and validity. If it is not
// of this CA, the error is a Refusal.
func (a *Authority) Renew(ctx context.Context, old *x509.Certificate) (cert *x509.Certificate, err error) {
	if !a.cfg.AllowRenewal {
		return nil, refuse(Disabled, "renewal is not enabled: set allow_auto_renewal")
	}
	id, err := a.self()
	if err != nil {
		return nil, err
	}
	name := old.Subject.CommonName
	if !bytes.Equal(old.AuthorityKeyId, id.keyID) || old.CheckSignatureFrom(id.cert) != nil {
		return nil, refuse(Forbidden, msgForeign)
	}
	if err := ValidName(name); err != nil {
		return nil, err
	}
	l, err := a.crls()
	if err != nil {
		return nil, err
	}
	if _, gone := l.revocation(old.SerialNumber); gone {
		return nil, refuse(Forbidden, "the certificate of %s is revoked", name)
	}
	subjectID, err := keyID(old.PublicKey)
	if err != nil {
		return nil, err
	}
	var exts extensions
	exts = append(exts, authority(id))
	exts.add(oidSKI, false, subjectID, "")
	for _, e := range old.Extensions {
		if !e.Id.Equal(oidAKI) && !e.Id.Equal(oidSKI) {
			exts = append(exts, e)
		}
	}
	err = a.locked(ctx, func() error {
		cert, err = a.keep(ctx, name, func(serial *big.Int) (*x509.Certificate, error) {
			now := a.cfg.Now()
			return issue(id, serial, old.RawSubject, old.PublicKey, now.Add(-backdated), now.Add(a.cfg.RenewalTTL), exts)
		})
		return err
	})
	return cert, err
}

const (
	msgForeign       = "Certificate present, but does not match signature"
	msgNoCertificate = "No valid certificate found in renewal request"
)

// Names returns the names with a certificate, or with a request, sorted.
func (a *Authority) Names(requests bool) ([]string, error) {
	dir := a.cfg.Signed
	if requests {
		dir = a.cfg.Requests
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".pem"); ok && name != "" && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names, nil
}

// ServerCertificate returns the certificate of this server (settings hostcert,
// hostprivkey), made if missing, as Puppet Server does on its first start. Its
// names are certname and dns_alt_names, or puppet. CA certificates and
// revocation lists are copied to localcacert and hostcrl.
func (a *Authority) ServerCertificate(ctx context.Context, s indirector.Settings) (tls.Certificate, error) {
	get := func(name string) string {
		v, _ := s.Get(name)
		return v
	}
	certFile, keyFile := get("hostcert"), get("hostprivkey")
	if certFile == "" || keyFile == "" {
		return tls.Certificate{}, errors.New("the settings hostcert and hostprivkey name no files")
	}
	_, noCert := os.Stat(certFile)
	_, noKey := os.Stat(keyFile)
	switch {
	case noCert == nil && noKey == nil:
		return keyfile.Pair(certFile, keyFile, get("passfile"))
	case noCert == nil:
		return tls.Certificate{}, fmt.Errorf("there is the server's certificate %s, but not its key %s; put the key there, or remove the certificate", certFile, keyFile)
	}
	name := get("certname")
	alt := []string{"puppet"}
	if names := get("dns_alt_names"); names != "" {
		alt = nil
		for n := range strings.SplitSeq(names, ",") {
			if n = strings.TrimSpace(n); n != "" {
				alt = append(alt, n)
			}
		}
	}
	var key crypto.Signer
	if noKey == nil {
		text, err := readFile(keyFile)
		if err != nil {
			return tls.Certificate{}, err
		}
		if key, err = ParseKey(text); err != nil {
			return tls.Certificate{}, fmt.Errorf("read %s: %w", keyFile, err)
		}
	} else {
		var err error
		if key, err = newKey(a.cfg.KeyLength); err != nil {
			return tls.Certificate{}, err
		}
	}
	cert, err := a.Issue(ctx, Leaf{Name: name, AltNames: alt, CLIAuth: true, Public: key.Public(), Replace: true})
	if err != nil {
		return tls.Certificate{}, err
	}
	if err := a.spread(ctx, get, key, cert); err != nil {
		return tls.Certificate{}, err
	}
	return keyfile.Pair(certFile, keyFile, get("passfile"))
}

// spread writes the files of a server.
func (a *Authority) spread(ctx context.Context, get func(string) string, key crypto.Signer, cert *x509.Certificate) error {
	keyPEM, err := encodeKey(key)
	if err != nil {
		return err
	}
	public, err := encodePublic(key.Public())
	if err != nil {
		return err
	}
	bundle, err := readFile(a.cfg.Cert)
	if err != nil {
		return err
	}
	lists, err := readFile(a.cfg.CRL)
	if err != nil {
		return err
	}
	if dir := get("ssldir"); dir != "" {
		if err := makeDir(dir, sslMode); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		path      string
		mode, dir os.FileMode
		content   []byte
		anew      bool
	}{
		{get("hostprivkey"), privateMode, privateDirMode, keyPEM, false},
		{get("hostpubkey"), publicMode, dirMode, public, false},
		{get("localcacert"), publicMode, dirMode, bundle, false},
		{get("hostcrl"), publicMode, dirMode, lists, false},
		{get("hostcert"), publicMode, dirMode, EncodeCertificates(cert), true},
	} {
		if f.path == "" {
			continue
		}
		if _, err := os.Stat(f.path); err == nil && !f.anew {
			continue
		}
		if err := makeDir(filepath.Dir(f.path), f.dir); err != nil {
			return err
		}
		if err := replace(ctx, f.path, f.mode, f.content); err != nil {
			return err
		}
	}
	return nil
}
