package ca

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// SetupOptions describe a new CA. The zero value makes a self-signed one, as
// Puppet Server does on its first start.
type SetupOptions struct {
	// Intermediate makes a root, with its key in root_key.pem, and the CA below
	// it, as `puppetserver ca setup` does.
	Intermediate bool
	TTL          time.Duration // of the CA's certificates; zero is fifteen years
}

// Setup makes a CA. It fails, and changes nothing, where a part of one exists.
func Setup(ctx context.Context, cfg Config, o SetupOptions) (*Authority, error) {
	cfg.fill()
	if cfg.Dir == "" {
		return nil, errors.New("there is no directory for the CA: set cadir")
	}
	if o.TTL == 0 {
		o.TTL = max(defaultCATTL, cfg.TTL)
	}
	for _, dir := range []struct {
		path string
		mode os.FileMode
	}{
		{cfg.above(), sslMode},
		{cfg.Dir, privateDirMode},
		{filepath.Dir(cfg.Key), privateDirMode},
		{filepath.Dir(cfg.Cert), dirMode},
		{filepath.Dir(cfg.CRL), dirMode},
		{cfg.Requests, dirMode},
		{cfg.Signed, privateDirMode},
	} {
		if dir.path == "" {
			continue
		}
		if err := makeDir(dir.path, dir.mode); err != nil {
			return nil, fmt.Errorf("make a CA: %w", err)
		}
	}
	a := &Authority{cfg: cfg}
	err := a.locked(ctx, func() error {
		// Another process may have made it meanwhile.
		there, err := cfg.state()
		if there || err != nil {
			return err
		}
		return a.generate(ctx, o)
	})
	if err != nil {
		return nil, err
	}
	return Open(cfg)
}

// above returns the ssldir, if the CA is below it.
func (c *Config) above() string {
	if c.SSL == "" || !strings.HasPrefix(c.Dir, strings.TrimRight(c.SSL, "/")+"/") {
		return ""
	}
	return c.SSL
}

// generate writes the files of a new CA. The certificate is nearly last: an
// interrupted run leaves a part that is detected.
func (a *Authority) generate(ctx context.Context, o SetupOptions) error {
	now := a.cfg.Now()
	key, err := newKey(a.cfg.KeyLength)
	if err != nil {
		return err
	}
	issuer := identity{key: key}
	name, serial := a.cfg.Name, int64(1)
	var rootKey crypto.Signer
	var bundle []*x509.Certificate
	var lists []*x509.RevocationList
	if o.Intermediate {
		if rootKey, err = newKey(a.cfg.KeyLength); err != nil {
			return err
		}
		id, err := keyID(rootKey.Public())
		if err != nil {
			return err
		}
		root, err := makeCA(identity{key: rootKey}, fmt.Sprintf("Puppet Root CA: %x", id[:7]), rootKey.Public(), serial, now, o.TTL)
		if err != nil {
			return err
		}
		issuer = identity{cert: root, key: rootKey, keyID: root.SubjectKeyId}
		bundle = append(bundle, root)
		serial++
	}
	cert, err := makeCA(issuer, name, key.Public(), serial, now, o.TTL)
	if err != nil {
		return err
	}
	bundle = append([]*x509.Certificate{cert}, bundle...)
	for _, id := range []identity{{cert: cert, key: key}, issuer} {
		if id.cert == nil {
			continue
		}
		list, err := makeCRL(id, nil, big.NewInt(0), now.Add(-backdated), now.Add(o.TTL))
		if err != nil {
			return err
		}
		lists = append(lists, list)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return err
	}
	public, err := encodePublic(key.Public())
	if err != nil {
		return err
	}
	write := func(path string, mode os.FileMode, content []byte) {
		if err == nil {
			err = replace(ctx, path, mode, content)
		}
	}
	if rootKey != nil {
		rootPEM, err := encodeKey(rootKey)
		if err != nil {
			return err
		}
		write(filepath.Join(a.cfg.Dir, "root_key.pem"), privateMode, rootPEM)
	}
	write(a.cfg.Key, privateMode, keyPEM)
	write(a.cfg.Public, publicMode, public)
	write(a.cfg.CRL, publicMode, encodeCRLs(lists))
	write(a.cfg.infraCRL(), publicMode, encodeCRLs(lists))
	write(a.cfg.infraNodes(), publicMode, nil)
	write(a.cfg.infraSerials(), publicMode, nil)
	write(a.cfg.Serial, publicMode, []byte(formatSerial(big.NewInt(serial+1))))
	write(a.cfg.Inventory, publicMode, nil)
	if err != nil {
		return err
	}
	for i := len(bundle); i > 0; i-- {
		if err := a.record(ctx, bundle[i-1]); err != nil {
			return err
		}
	}
	return replace(ctx, a.cfg.Cert, publicMode, EncodeCertificates(bundle...))
}

// makeCA makes the certificate of a CA, self-signed if the issuer has none.
func makeCA(issuer identity, name string, public crypto.PublicKey, serial int64, now time.Time, ttl time.Duration) (*x509.Certificate, error) {
	subject, err := commonName(name)
	if err != nil {
		return nil, err
	}
	id, err := keyID(public)
	if err != nil {
		return nil, err
	}
	if issuer.cert == nil {
		issuer.cert = &x509.Certificate{RawSubject: subject, PublicKey: public}
		issuer.keyID = id
	}
	return issue(issuer, big.NewInt(serial), subject, public, now.Add(-backdated), now.Add(ttl), caExtensions(issuer.keyID, id))
}

// makeCRL signs a revocation list.
func makeCRL(id identity, revoked []x509.RevocationListEntry, number *big.Int, from, until time.Time) (*x509.RevocationList, error) {
	issuer := *id.cert
	// Puppet accepts lists of CAs whose certificates may not sign lists.
	issuer.KeyUsage |= x509.KeyUsageCRLSign
	if len(issuer.SubjectKeyId) == 0 {
		ski, err := keyID(issuer.PublicKey)
		if err != nil {
			return nil, err
		}
		issuer.SubjectKeyId = ski
	}
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		RevokedCertificateEntries: revoked, Number: number, ThisUpdate: from.UTC().Truncate(time.Second), NextUpdate: until.UTC().Truncate(time.Second),
	}, &issuer, id.key)
	if err != nil {
		return nil, err
	}
	return x509.ParseRevocationList(der)
}
