package ca

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// comment is in every certificate of Puppet Server.
const comment = "Puppet Server Internal Certificate"

// backdated is how long before its creation a certificate is valid: clocks
// differ.
const backdated = 24 * time.Hour

// commonName encodes a name as Puppet does: CN in UTF-8.
func commonName(name string) ([]byte, error) {
	value, err := asn1.MarshalWithParams(name, "utf8")
	if err != nil {
		return nil, err
	}
	type attribute struct {
		ID    asn1.ObjectIdentifier
		Value asn1.RawValue
	}
	return asn1.Marshal([]asn1.RawValue{mustSet(attribute{oidCommonName, asn1.RawValue{FullBytes: value}})})
}

func mustSet(member any) asn1.RawValue {
	b, err := asn1.Marshal(member)
	if err != nil {
		panic(err) // cannot happen: an identifier and a string
	}
	return asn1.RawValue{Class: asn1.ClassUniversal, Tag: asn1.TagSet, IsCompound: true, Bytes: b}
}

// extensions is a list that is being built.
type extensions []pkix.Extension

func (l *extensions) add(oid asn1.ObjectIdentifier, critical bool, value any, params string) {
	b, err := asn1.MarshalWithParams(value, params)
	if err != nil {
		panic(fmt.Errorf("encode the extension %s: %w", oid, err)) // cannot happen: the values are constants
	}
	*l = append(*l, pkix.Extension{Id: oid, Critical: critical, Value: b})
}

type basicConstraints struct {
	CA bool `asn1:"optional"`
}

// caExtensions are those of a CA's certificate.
func caExtensions(issuerID, id []byte) extensions {
	var l extensions
	l.add(oidBasicConstraints, true, basicConstraints{true}, "")
	l.add(oidKeyUsage, true, asn1.BitString{Bytes: []byte{0x06}, BitLength: 7}, "") // to sign certificates and lists
	l.add(oidSKI, false, id, "")
	l.add(oidComment, false, comment, "ia5")
	l.add(oidAKI, false, authorityKeyID{ID: issuerID}, "")
	return l
}

type authorityKeyID struct {
	ID     []byte          `asn1:"optional,tag:0"`
	Issuer []asn1.RawValue `asn1:"optional,tag:1"`
	Serial *big.Int        `asn1:"optional,tag:2"`
}

// leafExtensions are those of other certificates, in Puppet Server's order,
// then more.
func leafExtensions(id identity, subjectID []byte, san pkix.Extension, more []pkix.Extension) extensions {
	l := extensions{san}
	l.add(oidComment, false, comment, "ia5")
	l = append(l, authority(id))
	l.add(oidSKI, false, subjectID, "")
	l.add(oidBasicConstraints, true, basicConstraints{}, "")
	l.add(oidExtKeyUsage, true, []asn1.ObjectIdentifier{oidServerAuth, oidClientAuth}, "")
	l.add(oidKeyUsage, true, asn1.BitString{Bytes: []byte{0xa0}, BitLength: 3}, "") // to sign and to encipher keys
	return append(l, more...)
}

// authority names the signer: its key, and issuer and serial number of its
// certificate.
func authority(id identity) pkix.Extension {
	var l extensions
	l.add(oidAKI, false, authorityKeyID{
		ID:     id.keyID,
		Issuer: []asn1.RawValue{{Class: asn1.ClassContextSpecific, Tag: tagDirectory, IsCompound: true, Bytes: id.cert.RawIssuer}},
		Serial: id.cert.SerialNumber,
	}, "")
	return l[0]
}

// sanOf encodes alternative names, with name among them.
func sanOf(name string, names []altName) pkix.Extension {
	var seq []asn1.RawValue
	has := false
	for _, n := range names {
		seq = append(seq, asn1.RawValue{FullBytes: n.raw})
		has = has || n.tag == tagDNS && n.text == name
	}
	if !has {
		seq = append(seq, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tagDNS, Bytes: []byte(name)})
	}
	var l extensions
	l.add(oidSAN, false, seq, "")
	return l[0]
}

// altNamesOf parses alternative names: "DNS:x", "IP:::1", or "x", which is a
// DNS name.
func altNamesOf(names []string) ([]altName, error) {
	var all []altName
	for _, n := range names {
		raw := asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tagDNS, Bytes: []byte(n)}
		switch {
		case len(n) > 3 && n[:3] == "IP:":
			ip := net.ParseIP(n[3:])
			if ip == nil {
				return nil, fmt.Errorf("%q is no address", n[3:])
			}
			raw.Tag, raw.Bytes = tagIP, ip
			if four := ip.To4(); four != nil {
				raw.Bytes = four
			}
		case len(n) > 4 && n[:4] == "DNS:":
			raw.Bytes = []byte(n[4:])
		}
		for _, c := range raw.Bytes {
			if raw.Tag == tagDNS && (c <= ' ' || c > '~') {
				return nil, fmt.Errorf("%q is no name", n)
			}
		}
		if slices.Contains(raw.Bytes, '*') && raw.Tag == tagDNS {
			return nil, refuse(Extension, "Cert subjectAltName contains a wildcard, which is not allowed: %s", raw.Bytes)
		}
		full, err := asn1.Marshal(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, altName{raw.Tag, n, full})
		if raw.Tag == tagDNS {
			all[len(all)-1].text = string(raw.Bytes)
		}
	}
	return all, nil
}

// issue signs a certificate.
func issue(id identity, serial *big.Int, subject []byte, public crypto.PublicKey, from, until time.Time, l extensions) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, RawSubject: subject, NotBefore: from.UTC().Truncate(time.Second), NotAfter: until.UTC().Truncate(time.Second),
		ExtraExtensions: l,
	}, id.cert, public, id.key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// newKey makes an RSA key.
func newKey(bits int) (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, bits) }
