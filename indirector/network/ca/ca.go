// Package ca is a certificate authority in Puppet's directory. It uses the
// files that it finds, and Puppet Server, its command line and older Puppets
// can go on with those that it writes.
//
//	cfg, err := ca.ConfigOf(settings)
//	authority, err := ca.Open(cfg)           // or Setup
//	cert, err := authority.Sign(ctx, "web01.example.com", ca.SignOptions{})
//
// Changed files are read again, so several programs may share a directory;
// writers hold a lock. [Authority.Submit] checks requests and signs those that
// autosign allows. [Authority.OCSP] answers OCSP, and [NewHandler] serves the
// HTTP interface, without authorization of its own.
package ca

import (
	"cmp"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"indirtui/indirector"
)

// A Config names the files of an authority, and what it allows.
type Config struct {
	Dir       string // cadir
	SSL       string // ssldir, made with its mode if the CA is made below it
	Cert      string // cacert: a bundle with the CA's own certificate
	Key       string // cakey
	Public    string // capub
	CRL       string // cacrl: a bundle with the CA's own list
	Requests  string // csrdir
	Signed    string // signeddir
	Serial    string // serial
	Inventory string // cert_inventory
	Password  string // capass: the file with the password of an encrypted key; "" is none

	Name          string        // of a new CA: "Puppet CA: puppet.example.com"
	TTL           time.Duration // of a certificate; zero is five years
	KeyLength     int           // of a new RSA key, in bits; zero is 4096
	Autosign      string        // "true", "false", or the path of a list or command
	AutosignLimit time.Duration // for the command; zero is one minute

	AllowDuplicates    bool // a request may replace a certificate
	AllowAltNames      bool // requests may have subject alternative names
	AllowAuthorization bool // requests may have extensions that authorize
	AllowRenewal       bool // a certificate may be renewed
	RenewalTTL         time.Duration
	InfraCRL           bool // answer with infra_crl.pem, and keep it current

	Now func() time.Time // nil is time.Now
	Log *slog.Logger     // nil discards
}

// Settings are those that ConfigOf reads, for descriptors. Those that Puppet
// does not have are in Puppet Server's ca.conf, with hyphens.
var Settings = []indirector.Setting{
	{Name: "cadir", Doc: "The directory of the CA."},
	{Name: "ssldir", Doc: "The directory of certificates and keys, which gets Puppet's mode when it is made."},
	{Name: "cacert", Doc: "The CA's certificate, and those that vouch for it."},
	{Name: "cakey", Doc: "The CA's private key."},
	{Name: "capub", Doc: "The CA's public key."},
	{Name: "cacrl", Doc: "The CA's revocation list, and those of the CAs that vouch for it."},
	{Name: "csrdir", Doc: "Requests that wait to be signed."},
	{Name: "signeddir", Doc: "Certificates that were signed."},
	{Name: "serial", Doc: "The next serial number, in hexadecimal."},
	{Name: "cert_inventory", Doc: "One line for each certificate ever signed."},
	{Name: "capass", Doc: "The password of the CA's key, if it is encrypted, as in Puppet 3."},
	{Name: "ca_name", Doc: "The name of a new CA."},
	{Name: "ca_ttl", Doc: "How long a certificate is valid."},
	{Name: "keylength", Doc: "Bits of a new key."},
	{Name: "autosign", Doc: "true, false, a list of names, or a command."},
	{Name: "allow_duplicate_certs", Doc: "Whether a request may replace a certificate."},
	{Name: "allow_subject_alt_names", Doc: "Whether requests may have further names: allow-subject-alt-names in ca.conf. Not a setting of Puppet."},
	{Name: "allow_authorization_extensions", Doc: "Whether requests may have extensions that authorize: allow-authorization-extensions in ca.conf. Not a setting of Puppet."},
	{Name: "allow_auto_renewal", Doc: "Whether who has a certificate may renew it: allow-auto-renewal in ca.conf of Puppet 8. Not a setting of Puppet."},
	{Name: "auto_renewal_cert_ttl", Doc: "How long a renewed certificate is valid; nothing is 90 days: auto-renewal-cert-ttl in ca.conf of Puppet 8. Not a setting of Puppet."},
	{Name: "enable_infra_crl", Doc: "Whether agents get the short revocation list, of infrastructure nodes only: enable-infra-crl in ca.conf. Not a setting of Puppet."},
}

// Defaults and limits.
const (
	defaultTTL        = 5 * 365 * 24 * time.Hour
	defaultCATTL      = 15 * 365 * 24 * time.Hour // of `puppetserver ca setup`
	defaultRenewalTTL = 90 * 24 * time.Hour
	defaultKeyLength  = 4096
	defaultAutosign   = time.Minute
	maxTTL            = 1576800000 * time.Second // fifty years
	crlTTL            = 5 * 365 * 24 * time.Hour
	maxFile           = 64 << 20 // bytes of a file read whole
)

const msgTTL = "Config setting ca_ttl must have a value below %d"

// ConfigOf reads the settings of a CA. The error names the setting and its
// source.
func ConfigOf(s indirector.Settings) (Config, error) {
	get := func(name string) string {
		v, _ := s.Get(name)
		return v
	}
	c := Config{
		Dir: get("cadir"), SSL: get("ssldir"), Cert: get("cacert"), Key: get("cakey"), Public: get("capub"), CRL: get("cacrl"),
		Requests: get("csrdir"), Signed: get("signeddir"), Serial: get("serial"), Inventory: get("cert_inventory"),
		Password: get("capass"), Name: get("ca_name"), Autosign: get("autosign"),
	}
	c.fill()
	var errs []error
	duration := func(name string, unset time.Duration) time.Duration {
		d, err := indirector.DurationOf(s, name, unset)
		if err != nil {
			errs = append(errs, err)
		}
		return d
	}
	flag := func(name string) bool { return get(name) == "true" }
	c.TTL = duration("ca_ttl", c.TTL)
	c.RenewalTTL = duration("auto_renewal_cert_ttl", c.RenewalTTL)
	if c.TTL > maxTTL {
		_, source := s.Get("ca_ttl")
		errs = append(errs, fmt.Errorf("setting ca_ttl (%s): "+msgTTL, source, maxTTL/time.Second))
	}
	if v, source := s.Get("keylength"); v != "" {
		if _, err := fmt.Sscanf(v, "%d", &c.KeyLength); err != nil || c.KeyLength < 1024 || c.KeyLength > 16384 {
			errs = append(errs, fmt.Errorf("setting keylength (%s): %q is no number of bits from 1024 to 16384", source, v))
		}
	}
	c.AllowDuplicates = flag("allow_duplicate_certs")
	c.AllowAltNames = flag("allow_subject_alt_names")
	c.AllowAuthorization = flag("allow_authorization_extensions")
	c.AllowRenewal = flag("allow_auto_renewal")
	c.InfraCRL = flag("enable_infra_crl")
	return c, errors.Join(errs...)
}

// fill sets the defaults.
func (c *Config) fill() {
	path := func(p *string, name string) {
		if *p == "" && c.Dir != "" {
			*p = filepath.Join(c.Dir, name)
		}
	}
	path(&c.Cert, "ca_crt.pem")
	path(&c.Key, "ca_key.pem")
	path(&c.Public, "ca_pub.pem")
	path(&c.CRL, "ca_crl.pem")
	path(&c.Requests, "requests")
	path(&c.Signed, "signed")
	path(&c.Serial, "serial")
	path(&c.Inventory, "inventory.txt")
	c.TTL = cmp.Or(c.TTL, defaultTTL)
	c.RenewalTTL = cmp.Or(c.RenewalTTL, defaultRenewalTTL)
	c.KeyLength = cmp.Or(c.KeyLength, defaultKeyLength)
	c.AutosignLimit = cmp.Or(c.AutosignLimit, defaultAutosign)
	c.Name = cmp.Or(c.Name, "Puppet CA")
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// infra files are in Dir, wherever the others are.
func (c *Config) infraCRL() string     { return filepath.Join(c.Dir, "infra_crl.pem") }
func (c *Config) infraNodes() string   { return filepath.Join(c.Dir, "infra_inventory.txt") }
func (c *Config) infraSerials() string { return filepath.Join(c.Dir, "infra_serials") }

// ErrNoCA reports a directory without any file of a CA.
var ErrNoCA = errors.New("there is no CA")

const msgPartial = "Cannot initialize CA with partial state; need all files or none.\nFound:\n%s\nMissing:\n%s\n"

// state reports whether all files of a CA exist, or none. Some are an error in
// Puppet Server's words.
func (c *Config) state() (bool, error) {
	var found, missing []string
	required := []string{c.Cert, c.CRL, c.Key, c.Inventory, c.Serial}
	if c.InfraCRL {
		required = append(required, c.infraNodes(), c.infraCRL())
	}
	for _, path := range required {
		switch _, err := os.Stat(path); {
		case err == nil:
			found = append(found, path)
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, path)
		default:
			return false, err
		}
	}
	switch {
	case len(missing) == 0:
		return true, nil
	case len(found) == 0:
		return false, nil
	}
	return false, &Refusal{Partial, fmt.Sprintf(msgPartial, strings.Join(found, "\n"), strings.Join(missing, "\n"))}
}

// An Authority is a CA. It is safe for concurrent use, also by several
// processes on the same directory.
type Authority struct {
	cfg Config

	mu       sync.Mutex // guards what follows, as read last
	identity identity
	lists    lists
	highest  highest
	issued   issued
}

// An identity is the certificate and key of the CA.
type identity struct {
	stamp  [2]stamp // of certificate and key
	bundle []*x509.Certificate
	cert   *x509.Certificate // that of the key
	key    crypto.Signer
	keyID  []byte
}

// Open opens the CA of a directory. The error may be ErrNoCA.
func Open(cfg Config) (*Authority, error) {
	cfg.fill()
	there, err := cfg.state()
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, fmt.Errorf("%w in %s; make one by: indirtui ca setup", ErrNoCA, cfg.Dir)
	}
	a := &Authority{cfg: cfg}
	if _, err := a.self(); err != nil {
		return nil, err
	}
	if _, err := a.crls(); err != nil {
		return nil, err
	}
	return a, nil
}

// Config returns the configuration, with defaults.
func (a *Authority) Config() Config { return a.cfg }

// Certificate returns the certificate that signs others.
func (a *Authority) Certificate() (*x509.Certificate, error) {
	id, err := a.self()
	if err != nil {
		return nil, err
	}
	return id.cert, nil
}

// self returns the identity, read again if its files have changed.
func (a *Authority) self() (identity, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var now [2]stamp
	for i, path := range []string{a.cfg.Cert, a.cfg.Key} {
		s, err := stampOf(path)
		if err != nil {
			return identity{}, err
		}
		now[i] = s
	}
	if a.identity.cert != nil && a.identity.stamp == now {
		return a.identity, nil
	}
	id := identity{stamp: now}
	text, err := readFile(a.cfg.Cert)
	if err != nil {
		return id, err
	}
	if id.bundle, err = ParseCertificates(text); err != nil {
		return id, fmt.Errorf("read %s: %w", a.cfg.Cert, err)
	}
	if text, err = readFile(a.cfg.Key); err != nil {
		return id, err
	}
	if id.key, err = parseKey(text, a.password); err != nil {
		return id, fmt.Errorf("read %s: %w", a.cfg.Key, err)
	}
	for _, cert := range id.bundle {
		if samePublic(cert.PublicKey, id.key.Public()) {
			id.cert = cert
			break
		}
	}
	if id.cert == nil {
		return id, fmt.Errorf("none of the %d certificates in %s is of the key in %s", len(id.bundle), a.cfg.Cert, a.cfg.Key)
	}
	if id.keyID = id.cert.SubjectKeyId; len(id.keyID) == 0 {
		if id.keyID, err = keyID(id.cert.PublicKey); err != nil {
			return id, err
		}
	}
	a.identity = id
	return id, nil
}

// password reads the password of an encrypted key.
func (a *Authority) password() ([]byte, error) {
	if a.cfg.Password == "" {
		return nil, errors.New("the key is encrypted, and there is no setting capass")
	}
	b, err := readFile(a.cfg.Password)
	return []byte(strings.TrimRight(string(b), "\r\n")), err
}

func (a *Authority) signedPath(name string) string { return filepath.Join(a.cfg.Signed, name+".pem") }

func (a *Authority) requestPath(name string) string {
	return filepath.Join(a.cfg.Requests, name+".pem")
}
