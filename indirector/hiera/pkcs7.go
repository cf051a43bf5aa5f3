package hiera

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/rsa"
	"encoding/asn1"
	"errors"
	"fmt"
)

// What follows is the part of PKCS #7 (RFC 2315) that eyaml writes: enveloped data,
// whose key is encrypted with RSA.
type (
	contentInfo struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue `asn1:"explicit,optional,tag:0"`
	}
	envelopedData struct {
		Version    int
		Recipients []recipient `asn1:"set"`
		Content    encryptedContent
	}
	recipient struct {
		Version         int
		IssuerAndSerial asn1.RawValue
		Algorithm       algorithm
		Key             []byte
	}
	algorithm struct {
		ID         asn1.ObjectIdentifier
		Parameters asn1.RawValue `asn1:"optional"`
	}
	encryptedContent struct {
		Type      asn1.ObjectIdentifier
		Algorithm algorithm
		Content   asn1.RawValue `asn1:"optional,tag:0"`
	}
)

var (
	oidEnveloped = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 3}
	oidRSA       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}

	// ciphers are those of contents, with the size of their keys.
	ciphers = []struct {
		id   asn1.ObjectIdentifier
		size int
		make func(key []byte) (cipher.Block, error)
	}{
		{asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}, 32, aes.NewCipher},
		{asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 22}, 24, aes.NewCipher},
		{asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 2}, 16, aes.NewCipher},
		{asn1.ObjectIdentifier{1, 2, 840, 113549, 3, 7}, 24, des.NewTripleDESCipher},
	}
)

// openEnvelope returns the content of enveloped data in DER. Whichever recipient's
// key can be decrypted counts: eyaml names none.
func openEnvelope(der []byte, private *rsa.PrivateKey) ([]byte, error) {
	var info contentInfo
	if rest, err := asn1.Unmarshal(der, &info); err != nil || len(rest) > 0 || !info.Type.Equal(oidEnveloped) {
		return nil, errors.New("the PKCS7 is no enveloped data in DER")
	}
	var envelope envelopedData
	if _, err := asn1.Unmarshal(info.Content.Bytes, &envelope); err != nil {
		return nil, fmt.Errorf("read the PKCS7: %w", err)
	}
	for _, c := range ciphers {
		if c.id.Equal(envelope.Content.Algorithm.ID) {
			for _, r := range envelope.Recipients {
				if !r.Algorithm.ID.Equal(oidRSA) {
					continue
				}
				//lint:ignore SA1019 eyaml encrypts so, and who asks has the private key
				key, err := rsa.DecryptPKCS1v15(nil, private, r.Key)
				if err != nil || len(key) != c.size {
					continue
				}
				block, err := c.make(key)
				if err != nil {
					return nil, err
				}
				return unpadded(block, envelope.Content)
			}
			return nil, errors.New("it was encrypted for another key")
		}
	}
	return nil, fmt.Errorf("the cipher %s is not known here", envelope.Content.Algorithm.ID)
}

// unpadded decrypts the content, and removes what fills its last block.
func unpadded(block cipher.Block, content encryptedContent) ([]byte, error) {
	iv := content.Algorithm.Parameters.Bytes
	text := content.Content.Bytes
	size := block.BlockSize()
	if len(iv) != size || len(text) == 0 || len(text)%size != 0 || content.Content.IsCompound {
		return nil, errors.New("the encrypted content is damaged")
	}
	plain := make([]byte, len(text))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, text)
	n := int(plain[len(plain)-1])
	if n == 0 || n > size {
		return nil, errors.New("the encrypted content is damaged")
	}
	for _, b := range plain[len(plain)-n:] {
		if int(b) != n {
			return nil, errors.New("the encrypted content is damaged")
		}
	}
	return plain[:len(plain)-n], nil
}
