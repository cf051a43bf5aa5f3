package ca

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/ocsp"

	"indirtui/traces"
)

// An OCSPQuestion is a parsed OCSP request.
type OCSPQuestion struct {
	Hash     crypto.Hash
	nameHash []byte // of the issuer's name
	keyHash  []byte // of the issuer's key
	Serial   *big.Int
	Nonce    []byte // to be repeated; nil if none
	id       []byte // of the certificate, to be repeated
}

// maxOCSP is the largest request, in bytes. One certificate takes some hundred.
const maxOCSP = 8 << 10

// maxNonce is the longest nonce, by RFC 9654.
const maxNonce = 128

var oidNonce = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 2}

// ParseOCSP reads a request in DER for exactly one certificate.
func ParseOCSP(der []byte) (*OCSPQuestion, error) {
	if len(der) > maxOCSP {
		return nil, fmt.Errorf("an OCSP request of %d bytes is too large", len(der))
	}
	r, err := ocsp.ParseRequest(der)
	if err != nil {
		return nil, err
	}
	q := &OCSPQuestion{Hash: r.HashAlgorithm, nameHash: r.IssuerNameHash, keyHash: r.IssuerKeyHash, Serial: r.SerialNumber}
	return q, q.extensions(der)
}

// extensions reads the nonce, which the library does not.
func (q *OCSPQuestion) extensions(der []byte) error {
	var outer struct {
		TBS       asn1.RawValue
		Signature asn1.RawValue `asn1:"explicit,tag:0,optional"`
	}
	if _, err := asn1.Unmarshal(der, &outer); err != nil {
		return err
	}
	var tbs struct {
		Version    int              `asn1:"explicit,tag:0,default:0,optional"`
		Name       asn1.RawValue    `asn1:"explicit,tag:1,optional"`
		List       []asn1.RawValue  //
		Extensions []pkix.Extension `asn1:"explicit,tag:2,optional"`
	}
	if _, err := asn1.Unmarshal(outer.TBS.FullBytes, &tbs); err != nil {
		return err
	}
	if len(tbs.List) != 1 {
		return fmt.Errorf("an OCSP request for %d certificates; ask for one", len(tbs.List))
	}
	for _, e := range tbs.Extensions {
		if !e.Id.Equal(oidNonce) {
			continue
		}
		if len(e.Value) > maxNonce+4 {
			return fmt.Errorf("a nonce of %d bytes", len(e.Value))
		}
		q.Nonce = e.Value
	}
	var single struct{ ID asn1.RawValue }
	if _, err := asn1.Unmarshal(tbs.List[0].FullBytes, &single); err != nil {
		return err
	}
	q.id = single.ID.FullBytes
	return nil
}

// Errors in DER.
var (
	ocspMalformed    = ocsp.MalformedRequestErrorResponse
	ocspUnauthorized = ocsp.UnauthorizedErrorResponse
	ocspInternal     = ocsp.InternalErrorErrorResponse
)

// ocspTTL is how long an answer is valid.
const ocspTTL = time.Hour

// OCSP answers a request in DER by the inventory and the revocation lists. The
// answer is never nil; if it is an OCSP error, err explains it. About is
// "good", "revoked", "unknown", "malformed", "unauthorized" or "failed". Good
// is a number that the CA has issued and not revoked, even if the certificate
// was removed.
func (a *Authority) OCSP(ctx context.Context, request []byte) (answer []byte, about string, err error) {
	q, err := ParseOCSP(request)
	if err != nil {
		return ocspMalformed, "malformed", err
	}
	id, err := a.self()
	if err != nil {
		return ocspInternal, "failed", err
	}
	if err := q.isFor(id.cert); err != nil {
		return ocspUnauthorized, "unauthorized", err
	}
	l, err := a.crls()
	if err != nil {
		return ocspInternal, "failed", err
	}
	about = "unknown"
	status := statusUnknown
	if e, gone := l.revocation(q.Serial); gone {
		about = "revoked"
		if status, err = statusRevoked(e); err != nil {
			return ocspInternal, "failed", err
		}
	} else if known, err := a.given(ctx, q.Serial); err != nil {
		return ocspInternal, "failed", err
	} else if known {
		about, status = "good", statusGood
	}
	_, span := traces.Start(ctx, traces.Codec, "sign the OCSP answer")
	answer, err = q.sign(id, status, a.cfg.Now().UTC().Truncate(time.Second))
	span.End(about, traces.Because{}, err)
	if err != nil {
		return ocspInternal, "failed", err
	}
	return answer, about, nil
}

// isFor returns an error unless the question is about a certificate of the CA.
func (q *OCSPQuestion) isFor(cert *x509.Certificate) error {
	if !q.Hash.Available() {
		return fmt.Errorf("the issuer is named by %s, which is not known here", q.Hash)
	}
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(cert.RawSubjectPublicKeyInfo, &info); err != nil {
		return err
	}
	sum := func(b []byte) string {
		h := q.Hash.New()
		h.Write(b)
		return string(h.Sum(nil))
	}
	if sum(cert.RawSubject) != string(q.nameHash) || sum(info.Key.RightAlign()) != string(q.keyHash) {
		return fmt.Errorf("the certificate 0x%s is of another CA than %s", formatSerial(q.Serial), cert.Subject)
	}
	return nil
}

// given reports whether the CA has issued a serial number.
func (a *Authority) given(ctx context.Context, serial *big.Int) (bool, error) {
	numbers, err := a.numbers(ctx)
	return numbers[string(serial.Bytes())], err
}

// numbers returns the numbers of the inventory, read again if it has changed.
func (a *Authority) numbers(ctx context.Context) (map[string]bool, error) {
	now, err := stampOf(a.cfg.Inventory)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	known := a.issued
	a.mu.Unlock()
	if known.serials != nil && known.stamp == now {
		return known.serials, nil
	}
	entries, err := a.Inventory(ctx)
	if err != nil {
		return nil, err
	}
	known = issued{now, make(map[string]bool, len(entries))}
	for _, e := range entries {
		known.serials[string(e.Serial.Bytes())] = true
	}
	a.mu.Lock()
	a.issued = known
	a.mu.Unlock()
	return known.serials, nil
}

// issued are the numbers of the inventory.
type issued struct {
	stamp   stamp
	serials map[string]bool
}

// The structure of an answer. RFC 6960, section 4.2.1.
type (
	ocspOuter struct {
		Status   asn1.Enumerated
		Response ocspBytes `asn1:"explicit,tag:0"`
	}
	ocspBytes struct {
		Type     asn1.ObjectIdentifier
		Response []byte
	}
	ocspBasic struct {
		Data      asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	ocspData struct {
		Responder  asn1.RawValue
		Produced   time.Time `asn1:"generalized"`
		Responses  []ocspSingle
		Extensions []pkix.Extension `asn1:"explicit,tag:1,optional,omitempty"`
	}
	ocspSingle struct {
		ID         asn1.RawValue
		Status     asn1.RawValue
		ThisUpdate time.Time `asn1:"generalized"`
		NextUpdate time.Time `asn1:"generalized,explicit,tag:0"`
	}
	ocspRevoked struct {
		At     time.Time       `asn1:"generalized"`
		Reason asn1.Enumerated `asn1:"explicit,tag:0"`
	}
)

var oidBasic = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 1}

// sign encodes and signs an answer, which repeats the certificate's identifier
// and the nonce. (The library would put the nonce elsewhere.)
func (q *OCSPQuestion) sign(id identity, status asn1.RawValue, now time.Time) ([]byte, error) {
	data := ocspData{
		Responder: asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 1, IsCompound: true, Bytes: id.cert.RawSubject},
		Produced:  now,
		Responses: []ocspSingle{{asn1.RawValue{FullBytes: q.id}, status, now, now.Add(ocspTTL)}},
	}
	if q.Nonce != nil {
		data.Extensions = []pkix.Extension{{Id: oidNonce, Value: q.Nonce}}
	}
	signed, err := asn1.Marshal(data)
	if err != nil {
		return nil, err
	}
	algorithm, hash, err := algorithmOf(id.key.Public())
	if err != nil {
		return nil, err
	}
	h := hash.New()
	h.Write(signed)
	signature, err := id.key.Sign(rand.Reader, h.Sum(nil), hash)
	if err != nil {
		return nil, err
	}
	basic, err := asn1.Marshal(ocspBasic{asn1.RawValue{FullBytes: signed}, algorithm, asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}})
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(ocspOuter{asn1.Enumerated(ocsp.Success), ocspBytes{oidBasic, basic}})
}

// algorithmOf returns the signature algorithm of a key.
func algorithmOf(key crypto.PublicKey) (pkix.AlgorithmIdentifier, crypto.Hash, error) {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}, Parameters: asn1.NullRawValue}, crypto.SHA256, nil
	case *ecdsa.PublicKey:
		n, hash := 2, crypto.SHA256
		switch bits := k.Curve.Params().BitSize; {
		case bits > 384:
			n, hash = 4, crypto.SHA512
		case bits > 256:
			n, hash = 3, crypto.SHA384
		}
		return pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, n}}, hash, nil
	}
	return pkix.AlgorithmIdentifier{}, 0, fmt.Errorf("a CA with a key of the kind %T cannot answer OCSP", key)
}

// States of a certificate in an answer.
var (
	statusGood    = asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0}
	statusUnknown = asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 2}
)

func statusRevoked(e x509.RevocationListEntry) (asn1.RawValue, error) {
	b, err := asn1.Marshal(ocspRevoked{e.RevocationTime.UTC().Truncate(time.Second), asn1.Enumerated(e.ReasonCode)})
	if err != nil {
		return asn1.RawValue{}, err
	}
	var seq asn1.RawValue
	_, err = asn1.Unmarshal(b, &seq)
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 1, IsCompound: true, Bytes: seq.Bytes}, err
}
