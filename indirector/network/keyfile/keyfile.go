// Package keyfile reads encrypted private keys: in PKCS #8, and in the old
// format of OpenSSL that Puppet uses (Proc-Type: 4,ENCRYPTED).
//
//	cert, err := keyfile.Pair("web01.crt", "web01.key", passfile)
//	key, err := keyfile.Plain(text, keyfile.Password(passfile))
package keyfile

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/youmark/pkcs8"
)

// ErrPassword reports a missing or wrong password.
var ErrPassword = errors.New("the password is not that of the key")

const encrypted = "ENCRYPTED PRIVATE KEY"

// Encrypted reports whether a PEM text holds an encrypted private key.
func Encrypted(text []byte) bool {
	b, _ := find(text)
	return b != nil
}

// find returns the first encrypted key, and the text before it.
func find(text []byte) (*pem.Block, []byte) {
	for rest := text; ; {
		var b *pem.Block
		at := len(text) - len(rest)
		if b, rest = pem.Decode(rest); b == nil {
			return nil, nil
		}
		//lint:ignore SA1019 Puppet writes keys of this kind
		if b.Type == encrypted || x509.IsEncryptedPEMBlock(b) {
			return b, text[:at]
		}
	}
}

// Plain returns the PEM text with its private key decrypted. Without an
// encrypted key it returns text, and does not call password.
func Plain(text []byte, password func() ([]byte, error)) ([]byte, error) {
	b, before := find(text)
	if b == nil {
		return text, nil
	}
	secret, err := password()
	if err != nil {
		return nil, err
	}
	if len(secret) == 0 {
		return nil, fmt.Errorf("%w: there is none", ErrPassword)
	}
	kind, der, err := decrypt(b, secret)
	if errors.Is(err, ErrPassword) {
		if shorter := bytes.TrimRight(secret, "\r\n"); len(shorter) < len(secret) {
			if _, _, again := decrypt(b, shorter); again == nil {
				return nil, fmt.Errorf("%w: it would be without the end of line behind it, which counts for Puppet, too", ErrPassword)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return append(bytes.Clone(before), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})...), nil
}

func decrypt(b *pem.Block, secret []byte) (kind string, der []byte, err error) {
	if b.Type != encrypted {
		//lint:ignore SA1019 Puppet writes keys of this kind
		der, err = x509.DecryptPEMBlock(b, secret)
		if errors.Is(err, x509.IncorrectPasswordError) {
			return "", nil, ErrPassword
		}
		if err == nil && !plausible(b.Type, der) {
			return "", nil, ErrPassword // this cipher rarely notices a wrong one
		}
		return b.Type, der, err
	}
	if err := bounded(b.Bytes); err != nil {
		return "", nil, err
	}
	key, err := parse(b.Bytes, secret)
	if err != nil {
		if err.Error() == "pkcs8: incorrect password" {
			return "", nil, ErrPassword
		}
		return "", nil, err
	}
	der, err = x509.MarshalPKCS8PrivateKey(key)
	return "PRIVATE KEY", der, err
}

// maxCost is the most iterations of the key derivation: OpenSSL has 2048,
// careful users a million.
const maxCost = 10_000_000

// bounded refuses a key with too many iterations.
func bounded(der []byte) error {
	var outer struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	var scheme struct{ KDF, Cipher pkix.AlgorithmIdentifier }
	var cost struct {
		Salt []byte
		Cost int
	}
	if _, err := asn1.Unmarshal(der, &outer); err != nil {
		return fmt.Errorf("the encryption of the key: %w", err)
	}
	if _, err := asn1.Unmarshal(outer.Algorithm.Parameters.FullBytes, &scheme); err != nil {
		return nil // parse reports it
	}
	if _, err := asn1.Unmarshal(scheme.KDF.Parameters.FullBytes, &cost); err == nil && (cost.Cost < 1 || cost.Cost > maxCost) {
		return fmt.Errorf("the encryption of the key: a password that is to be hashed %d times, at most %d are possible", cost.Cost, maxCost)
	}
	return nil
}

// parse is the library's, which may panic on bad padding.
func parse(der, secret []byte) (key any, err error) {
	defer func() {
		if v := recover(); v != nil {
			key, err = nil, fmt.Errorf("the encryption of the key: %v", v)
		}
	}()
	return pkcs8.ParsePKCS8PrivateKey(der, secret)
}

func plausible(kind string, der []byte) bool {
	var err error
	switch kind {
	case "RSA PRIVATE KEY":
		_, err = x509.ParsePKCS1PrivateKey(der)
	case "EC PRIVATE KEY":
		_, err = x509.ParseECPrivateKey(der)
	}
	return err == nil
}

// Password returns a function that reads the password, every byte of a file, as
// Puppet's setting passfile. A missing file has none.
func Password(path string) func() ([]byte, error) {
	return func() ([]byte, error) {
		if path == "" {
			return nil, nil
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return b, err
	}
}

// Pair reads a certificate and its key, with the file of its password, if
// encrypted.
func Pair(cert, key, password string) (tls.Certificate, error) {
	certText, err := os.ReadFile(cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	keyText, err := os.ReadFile(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	if keyText, err = Plain(keyText, Password(password)); err != nil {
		return tls.Certificate{}, fmt.Errorf("the password in %q: %w", password, err)
	}
	return tls.X509KeyPair(certText, keyText)
}
