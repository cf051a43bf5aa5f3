package model

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// A Certificate is one certificate, or for a CA a bundle of them.
type Certificate struct {
	Name  string // lower case; "ca" is the CA
	PEM   []byte // as it was read
	Until time.Time
}

// A CertificateRequest waits to be signed.
type CertificateRequest struct {
	Name string
	PEM  []byte
}

// A CRL is what CAs have revoked: one list or several.
type CRL struct {
	Name     string // always "ca"
	PEM      []byte
	Modified time.Time // when the file was written; zero if unknown
}

// A PrivateKey is what only one host has.
type PrivateKey struct {
	Name   string
	PEM    []byte
	Public []byte // the public key as PEM; nil if it is not known
}

func (c *Certificate) Key() string        { return c.Name }
func (r *CertificateRequest) Key() string { return r.Name }
func (l *CRL) Key() string                { return l.Name }
func (k *PrivateKey) Key() string         { return k.Name }

func (c *Certificate) Text() []byte        { return c.PEM }
func (r *CertificateRequest) Text() []byte { return r.PEM }
func (l *CRL) Text() []byte                { return l.PEM }
func (k *PrivateKey) Text() []byte         { return k.PEM }

// A Texter is an instance in the format s, which is text. Rule FMT-09 joins
// several.
type Texter interface {
	indirector.Instance
	Text() []byte
}

// Expiration is the end of the certificate, or of the first of a bundle. Rule
// IND-EXP-05.
func (c *Certificate) Expiration() time.Time { return c.Until }

// WithExpiration returns c: when a certificate ends is signed. Rule IND-EXP-05.
func (c *Certificate) WithExpiration(time.Time) indirector.Instance { return c }

// An opensslError is Ruby's error for a text that it cannot read.
type opensslError struct {
	class, message string
	err            error
}

func (e *opensslError) Error() string { return e.message }
func (e *opensslError) Unwrap() error { return e.err }

// RubyClass is the class of the error in Ruby.
func (e *opensslError) RubyClass() string { return e.class }

// first returns the first PEM block of one of the types.
func first(text []byte, types ...string) (*pem.Block, error) {
	for {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil {
			return nil, errors.New("no start line")
		}
		if slices.Contains(types, b.Type) {
			return b, nil
		}
	}
}

func unreadable(class, function string, err error) error {
	what := "ASN1 lib"
	if err.Error() == "no start line" {
		what = "no start line"
	}
	return &opensslError{"OpenSSL::" + class, function + ": " + what, err}
}

// NewCertificate reads a certificate. Without a name it has that of its
// subject.
func NewCertificate(name string, text []byte) (*Certificate, error) {
	b, err := first(text, "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE")
	if err != nil {
		return nil, unreadable("X509::CertificateError", "PEM_read_bio_X509", err)
	}
	cert, err := x509.ParseCertificate(b.Bytes)
	if err != nil {
		return nil, unreadable("X509::CertificateError", "PEM_read_bio_X509", err)
	}
	name = cmp.Or(name, cert.Subject.CommonName)
	return &Certificate{Name: strings.ToLower(name), PEM: text, Until: cert.NotAfter}, nil
}

// NewCertificateRequest reads a certificate request. Without a name it has that
// of its subject.
func NewCertificateRequest(name string, text []byte) (*CertificateRequest, error) {
	b, err := first(text, "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST")
	if err != nil {
		return nil, unreadable("X509::RequestError", "PEM_read_bio_X509_REQ", err)
	}
	csr, err := x509.ParseCertificateRequest(b.Bytes)
	if err != nil {
		return nil, unreadable("X509::RequestError", "PEM_read_bio_X509_REQ", err)
	}
	name = cmp.Or(name, csr.Subject.CommonName)
	return &CertificateRequest{Name: strings.ToLower(name), PEM: text}, nil
}

// NewCRL reads revocation lists, at least one. Their name is always ca.
func NewCRL(text []byte) (*CRL, error) {
	b, err := first(text, "X509 CRL")
	if err == nil {
		_, err = x509.ParseRevocationList(b.Bytes)
	}
	if err != nil {
		return nil, unreadable("X509::CRLError", "PEM_read_bio_X509_CRL", err)
	}
	return &CRL{Name: "ca", PEM: text}, nil
}

// NewPrivateKey reads a private key, which may be encrypted. Public is the
// public key as PEM, or nil.
func NewPrivateKey(name string, text, public []byte) (*PrivateKey, error) {
	if _, err := first(text, keyTypes...); err != nil {
		return nil, &opensslError{"OpenSSL::PKey::RSAError", "Neither PUB key nor PRIV key: unsupported", err}
	}
	return &PrivateKey{Name: strings.ToLower(name), PEM: text, Public: public}, nil
}

var keyTypes = []string{"RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY"}

// pemOf returns the name, and the text that an instance is read from: the value
// itself, or the pem of its Data.
func pemOf(v data.Value) (name string, text []byte, err error) {
	if v.Kind() == data.Hash {
		name, v = v.Get("name").Text(), v.Get("pem")
	}
	if v.Kind() != data.String {
		return "", nil, undefined("to_str", v)
	}
	return name, []byte(v.Str()), nil
}

// fromPEM returns a reader of data for a constructor.
func fromPEM[T indirector.Instance](construct func(name string, text []byte) (T, error)) func(data.Value) (indirector.Instance, error) {
	return instance(func(v data.Value) (T, error) {
		name, text, err := pemOf(v)
		if err != nil {
			var none T
			return none, err
		}
		return construct(name, text)
	})
}

func keyFromData(v data.Value) (*PrivateKey, error) {
	name, text, err := pemOf(v)
	if err != nil {
		return nil, err
	}
	var public []byte
	if p := v.Get("public"); v.Kind() == data.Hash && p.Kind() == data.String {
		public = []byte(p.Str())
	}
	return NewPrivateKey(name, text, public)
}

// Data returns the certificate's contents for display, and its PEM. Puppet
// writes certificates in the format s only.
func (c *Certificate) Data() data.Value {
	h := []data.Pair{data.P("name", data.OfString(c.Name))}
	var all []data.Value
	rest := c.PEM
	for len(all) < maxListed {
		var b *pem.Block
		if b, rest = pem.Decode(rest); b == nil {
			break
		}
		if cert, err := x509.ParseCertificate(b.Bytes); err == nil {
			all = append(all, data.OfHash(describe(cert)))
		}
	}
	if len(all) == 1 {
		h = append(h, all[0].Hash()...)
	} else {
		h = append(h, data.P("certificates", data.OfList(all)))
	}
	return data.OfHash(append(h, data.P("pem", data.OfString(string(c.PEM)))))
}

func describe(c *x509.Certificate) []data.Pair {
	h := []data.Pair{
		data.P("subject", data.OfString(c.Subject.String())),
		data.P("issuer", data.OfString(c.Issuer.String())),
		data.P("serial_number", data.OfBig(c.SerialNumber)),
		data.P("not_before", data.OfString(dateText(c.NotBefore))),
		data.P("not_after", data.OfString(dateText(c.NotAfter))),
		data.P("fingerprint", data.OfString(fingerprint(c.Raw))),
		data.P("key", data.OfString(keyText(c.PublicKey))),
		data.P("subject_alt_names", data.OfStrings(altNames(c.DNSNames, c.IPAddresses))),
	}
	if c.IsCA {
		h = append(h, data.P("ca", data.OfBool(true)))
	}
	return append(h, data.P("extensions", extensions(c.Extensions)))
}

// extensions returns the texts of Puppet's extensions by their names.
func extensions(all []pkix.Extension) data.Value {
	var own []data.Pair
	for _, e := range all {
		if name := extensionName(e.Id); name != "" {
			own = append(own, data.P(name, data.OfString(ExtensionText(e.Value))))
		}
	}
	return data.OfHash(own)
}

// Data returns the request's contents for display, and its PEM.
func (r *CertificateRequest) Data() data.Value {
	h := []data.Pair{data.P("name", data.OfString(r.Name))}
	if b, err := first(r.PEM, "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"); err == nil {
		if csr, err := x509.ParseCertificateRequest(b.Bytes); err == nil {
			h = append(h,
				data.P("subject", data.OfString(csr.Subject.String())),
				data.P("fingerprint", data.OfString(fingerprint(csr.Raw))),
				data.P("key", data.OfString(keyText(csr.PublicKey))),
				data.P("subject_alt_names", data.OfStrings(altNames(csr.DNSNames, csr.IPAddresses))),
				data.P("extensions", extensions(csr.Extensions)),
			)
		}
	}
	return data.OfHash(append(h, data.P("pem", data.OfString(string(r.PEM)))))
}

// maxListed bounds the certificates, lists and revocations that Data lists.
const maxListed = 1000

// Data returns the lists' contents for display, and their PEM.
func (l *CRL) Data() data.Value {
	var all []data.Value
	rest := l.PEM
	for len(all) < maxListed {
		var b *pem.Block
		if b, rest = pem.Decode(rest); b == nil {
			break
		}
		list, err := x509.ParseRevocationList(b.Bytes)
		if err != nil {
			continue
		}
		var revoked []data.Value
		for _, e := range list.RevokedCertificateEntries[:min(len(list.RevokedCertificateEntries), maxListed)] {
			revoked = append(revoked, data.OfHash([]data.Pair{
				data.P("serial_number", data.OfBig(e.SerialNumber)), data.P("at", data.OfString(dateText(e.RevocationTime))), data.P("reason", data.OfInt(int64(e.ReasonCode))),
			}))
		}
		number := data.Value{}
		if list.Number != nil {
			number = data.OfBig(list.Number)
		}
		all = append(all, data.OfHash([]data.Pair{
			data.P("issuer", data.OfString(list.Issuer.String())),
			data.P("number", number),
			data.P("this_update", data.OfString(dateText(list.ThisUpdate))),
			data.P("next_update", data.OfString(dateText(list.NextUpdate))),
			data.P("revocations", data.OfInt(int64(len(list.RevokedCertificateEntries)))),
			data.P("revoked", data.OfList(revoked)),
		}))
	}
	return data.OfHash([]data.Pair{
		data.P("name", data.OfString(l.Name)), data.P("lists", data.OfList(all)), data.P("pem", data.OfString(string(l.PEM))),
	})
}

// Data returns the key and its kind. Callers that keep it redact it.
func (k *PrivateKey) Data() data.Value {
	h := []data.Pair{data.P("name", data.OfString(k.Name))}
	if b, err := first(k.Public, "PUBLIC KEY", "RSA PUBLIC KEY"); err == nil {
		if key, err := x509.ParsePKIXPublicKey(b.Bytes); err == nil {
			h = append(h, data.P("key", data.OfString(keyText(key))))
		}
		h = append(h, data.P("public", data.OfString(string(k.Public))))
	}
	return data.OfHash(append(h, data.P("pem", data.OfString(string(k.PEM)))))
}

// dateText returns a date as Puppet Server writes it.
func dateText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05UTC") }

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	digits := strings.ToUpper(hex.EncodeToString(sum[:]))
	var b strings.Builder
	for i := 0; i < len(digits); i += 2 {
		if i > 0 {
			b.WriteByte(':')
		}
		b.WriteString(digits[i : i+2])
	}
	return b.String()
}

func keyText(key any) string {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d", k.N.BitLen())
	case *ecdsa.PublicKey:
		return "EC " + k.Curve.Params().Name
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", key), "*")
}

func altNames(names []string, addresses []net.IP) []string {
	all := make([]string, 0, len(names)+len(addresses))
	for _, ip := range addresses {
		all = append(all, "IP:"+ip.String())
	}
	for _, n := range names {
		all = append(all, "DNS:"+n)
	}
	return all
}

// puppetArc is above Puppet's own extensions.
var puppetArc = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 34380, 1}

// extensionName returns the short name of one of Puppet's extensions, or its
// numbers; "" if it is not Puppet's.
func extensionName(oid asn1.ObjectIdentifier) string {
	if len(oid) <= len(puppetArc) || !oid[:len(puppetArc)].Equal(puppetArc) {
		return ""
	}
	return ExtensionName(oid)
}

// The short names of Puppet's extensions by their last number: those that
// describe a node, and those that authorize it.
var (
	regNames = [...]string{
		"", "pp_uuid", "pp_instance_id", "pp_image_name", "pp_preshared_key", "pp_cost_center", "pp_product", "pp_project", "pp_application",
		"pp_service", "pp_employee", "pp_created_by", "pp_environment", "pp_role", "pp_software_version", "pp_department", "pp_cluster",
		"pp_provisioner", "pp_region", "pp_datacenter", "pp_zone", "pp_network", "pp_securitypolicy", "pp_cloudplatform", "pp_apptier",
		"pp_hostname", "pp_owner",
	}
	authNames = map[int]string{1: "pp_authorization", 13: "pp_auth_role", 39: "pp_cli_auth"}
)

// ExtensionName returns Puppet's short name of an extension, "pp_role", or its
// numbers with dots.
func ExtensionName(oid asn1.ObjectIdentifier) string {
	if len(oid) == len(puppetArc)+2 && oid[:len(puppetArc)].Equal(puppetArc) {
		n := oid[len(oid)-1]
		switch arc := oid[len(puppetArc)]; {
		case arc == 1 && 0 < n && n < len(regNames):
			return regNames[n]
		case arc == 3 && authNames[n] != "":
			return authNames[n]
		}
	}
	return oid.String()
}

// ExtensionText returns the string that an extension holds. Those of Puppet 3
// and earlier are the bare text.
func ExtensionText(value []byte) string {
	var raw asn1.RawValue
	if rest, err := asn1.Unmarshal(value, &raw); err == nil && len(rest) == 0 && raw.Class == asn1.ClassUniversal && !raw.IsCompound {
		switch raw.Tag {
		case asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagIA5String, asn1.TagT61String:
			return string(raw.Bytes)
		}
	}
	return string(value)
}

// A CertificateStatus is the CA's status of a name, or the desired one.
type CertificateStatus struct {
	Name    string
	State   string // "requested", "signed" or "revoked"; "" if this is only a wish
	Desired string // "signed" or "revoked", when it is saved; "" is nothing

	TTL                 time.Duration // of what is to be signed; zero is the setting
	DNSAltNames         []string      // "DNS:x"
	AltNames            []string      // of any kind: "IP:::1", "DNS:x"
	Authorizes          []data.Pair   // extensions that authorize, by name
	Fingerprint         string        // by SHA-256
	Fingerprints        []data.Pair   // by name of the digest
	NotBefore, NotAfter time.Time     // zero for a request
	Serial              *big.Int      // nil for a request
	Extra               []data.Pair
	odd                 odd
}

func (s *CertificateStatus) Key() string { return s.Name }

func certificateStatusFromData(v data.Value) (*CertificateStatus, error) {
	pairs, err := hashOf(v)
	if err != nil {
		return nil, err
	}
	s := new(CertificateStatus)
	for _, p := range pairs {
		switch k, v := key(p), p.Value; k {
		case "name":
			s.Name = s.odd.text(k, v)
		case "state":
			s.State = s.odd.text(k, v)
		case "desired_state":
			s.Desired = s.odd.text(k, v)
		case "cert_ttl":
			if v.Kind() != data.Int {
				return nil, fmt.Errorf("cert_ttl specified for host %s must be an integer, not %s", s.Name, data.InspectString(v.Text()))
			}
			s.TTL = seconds(v.Int())
		case "dns_alt_names":
			s.DNSAltNames = s.odd.list(k, v)
		case "subject_alt_names":
			s.AltNames = s.odd.list(k, v)
		case "authorization_extensions":
			s.Authorizes = v.Hash()
		case "fingerprint":
			s.Fingerprint = s.odd.text(k, v)
		case "fingerprints":
			s.Fingerprints = v.Hash()
		case "serial_number":
			s.Serial = v.Big()
			if v.Kind() == data.Int {
				s.Serial = big.NewInt(v.Int())
			}
		case "not_before":
			s.NotBefore, _ = time.Parse("2006-01-02T15:04:05UTC", v.Text())
		case "not_after":
			s.NotAfter, _ = time.Parse("2006-01-02T15:04:05UTC", v.Text())
		default:
			s.Extra = append(s.Extra, p)
		}
	}
	return s, nil
}

// seconds is a duration that does not overflow.
func seconds(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(max(n, -most), most)) * time.Second
}

// Data returns the data hash, in Puppet Server's order, which is another for
// requests than for certificates.
func (s *CertificateStatus) Data() data.Value {
	if s.Desired != "" && s.State == "" {
		h := []data.Pair{data.P("name", data.OfString(s.Name)), data.P("desired_state", data.OfString(s.Desired))}
		if s.TTL != 0 {
			h = append(h, data.P("cert_ttl", data.OfInt(int64(s.TTL/time.Second))))
		}
		return data.OfHash(append(h, s.Extra...))
	}
	name := data.P("name", data.OfString(s.Name))
	state := data.P("state", data.OfString(s.State))
	dns := data.P("dns_alt_names", data.OfStrings(s.DNSAltNames))
	alt := data.P("subject_alt_names", data.OfStrings(s.AltNames))
	auth := data.P("authorization_extensions", data.OfHash(s.Authorizes))
	print := data.P("fingerprint", data.OfString(s.Fingerprint))
	prints := data.P("fingerprints", data.OfHash(s.Fingerprints))
	if s.Serial == nil {
		return data.OfHash(append([]data.Pair{name, state, dns, alt, auth, print, prints}, s.Extra...))
	}
	return data.OfHash(append([]data.Pair{
		name, dns, state, auth, alt, data.P("not_before", data.OfString(dateText(s.NotBefore))), prints,
		data.P("not_after", data.OfString(dateText(s.NotAfter))), data.P("serial_number", data.OfBig(s.Serial)), print,
	}, s.Extra...))
}

// An OCSPRequest asks whether certificates are still good.
type OCSPRequest struct {
	Name    string
	DER     []byte
	Summary data.Value // of its contents for display; nil if unread
}

// An OCSPResponse is the answer of a responder.
type OCSPResponse struct {
	Name    string
	DER     []byte
	Summary data.Value // of its contents for display
}

// Key returns the name under which it is asked.
func (r *OCSPRequest) Key() string { return r.Name }

// Key returns the name under which was asked.
func (r *OCSPResponse) Key() string { return r.Name }

// Data returns the summary, and the bytes in base 64.
func (r *OCSPRequest) Data() data.Value { return ocspData(r.Name, r.Summary, r.DER) }

// Data returns the summary, and the bytes in base 64.
func (r *OCSPResponse) Data() data.Value { return ocspData(r.Name, r.Summary, r.DER) }

func ocspData(name string, summary data.Value, der []byte) data.Value {
	h := []data.Pair{data.P("name", data.OfString(name))}
	h = append(h, summary.Hash()...)
	return data.OfHash(append(h, data.P("der", data.OfString(base64.StdEncoding.EncodeToString(der)))))
}

// Contents returns the bytes, which are its only format.
func (r *OCSPRequest) Contents() Contents { return Bytes(r.DER) }

// Contents returns the bytes, which are its only format.
func (r *OCSPResponse) Contents() Contents { return Bytes(r.DER) }

func ocspFromData(v data.Value) (*OCSPRequest, error) {
	der, err := base64.StdEncoding.DecodeString(v.Get("der").Text())
	if err != nil || len(der) == 0 {
		return nil, errors.New("an OCSP request is its bytes in base 64, under der")
	}
	return &OCSPRequest{Name: v.Get("name").Text(), DER: bytes.Clone(der)}, nil
}
