package ca

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"indirtui/indirector/network/keyfile"
)

// Types of PEM blocks.
const (
	blockCert     = "CERTIFICATE"
	blockCRL      = "X509 CRL"
	blockRequest  = "CERTIFICATE REQUEST"
	blockRequest2 = "NEW CERTIFICATE REQUEST"
	blockPublic   = "PUBLIC KEY"
	blockRSAKey   = "RSA PRIVATE KEY"
	blockECKey    = "EC PRIVATE KEY"
	blockKey      = "PRIVATE KEY"
)

// maxBlocks is how many blocks a text may have.
const maxBlocks = 10000

// blocks returns the PEM blocks of the given types and skips all else.
func blocks(text []byte, types ...string) ([]*pem.Block, error) {
	var all []*pem.Block
	for {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil {
			break
		}
		for _, t := range types {
			if b.Type == t {
				all = append(all, b)
			}
		}
		if len(all) > maxBlocks {
			return nil, fmt.Errorf("more than %d blocks of PEM", maxBlocks)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no PEM block %s", strings.Join(types, " or "))
	}
	return all, nil
}

// ParseCertificates reads the certificates of a PEM text, at least one.
func ParseCertificates(text []byte) ([]*x509.Certificate, error) {
	return parseAll(text, blockCert, "certificate", x509.ParseCertificate)
}

// ParseCRLs reads the revocation lists of a PEM text, at least one.
func ParseCRLs(text []byte) ([]*x509.RevocationList, error) {
	return parseAll(text, blockCRL, "revocation list", x509.ParseRevocationList)
}

func parseAll[T any](text []byte, block, name string, parse func([]byte) (T, error)) ([]T, error) {
	found, err := blocks(text, block)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(found))
	for i, b := range found {
		if all[i], err = parse(b.Bytes); err != nil {
			return nil, fmt.Errorf("%s %d: %w", name, i+1, err)
		}
	}
	return all, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// EncodeCertificates writes certificates as PEM.
func EncodeCertificates(certs ...*x509.Certificate) []byte {
	var b bytes.Buffer
	for _, c := range certs {
		b.Write(encode(blockCert, c.Raw))
	}
	return b.Bytes()
}

func encodeCRLs(crls []*x509.RevocationList) []byte {
	var b bytes.Buffer
	for _, c := range crls {
		b.Write(encode(blockCRL, c.Raw))
	}
	return b.Bytes()
}

// encodeKey writes RSA and EC keys in their own formats, as Puppet does.
func encodeKey(key crypto.Signer) ([]byte, error) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return encode(blockRSAKey, x509.MarshalPKCS1PrivateKey(k)), nil
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(k)
		return encode(blockECKey, der), err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return encode(blockKey, der), err
}

func encodePublic(key crypto.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	return encode(blockPublic, der), err
}

// parseKey reads the first private key of a PEM text. Password is called if it
// is encrypted, as by Puppet 3.
func parseKey(text []byte, password func() ([]byte, error)) (crypto.Signer, error) {
	text, err := keyfile.Plain(text, password)
	if err != nil {
		return nil, err
	}
	found, err := blocks(text, blockRSAKey, blockECKey, blockKey)
	if err != nil {
		return nil, err
	}
	b := found[0]
	der := b.Bytes
	switch b.Type {
	case blockRSAKey:
		return x509.ParsePKCS1PrivateKey(der)
	case blockECKey:
		return x509.ParseECPrivateKey(der)
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a %T cannot sign", key)
	}
	return signer, nil
}

// ParseKey reads the private key of a PEM text that is not encrypted.
func ParseKey(text []byte) (crypto.Signer, error) {
	return parseKey(text, func() ([]byte, error) { return nil, errors.New("the key is encrypted") })
}

func samePublic(a, b crypto.PublicKey) bool {
	k, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.Equal(b)
}

// keyID returns the identifier of a public key: the SHA-1 of its bits.
func keyID(key crypto.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	var info struct {
		Algorithm asn1.RawValue
		Bits      asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil, err
	}
	sum := sha1.Sum(info.Bits.Bytes)
	return sum[:], nil
}

// PublicKey returns the public key of an unencrypted private key, both as PEM.
func PublicKey(text []byte) ([]byte, error) {
	key, err := ParseKey(text)
	if err != nil {
		return nil, err
	}
	return encodePublic(key.Public())
}
