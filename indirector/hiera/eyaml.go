package hiera

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
)

// eyamlLookupKey is the lookup_key function of hiera-eyaml: a YAML file whose texts
// may hold what is encrypted. It is decrypted when its key is asked. Rule
// HIERA-DATA-03.
func eyamlLookupKey(c *Context, k key) (data.Value, bool, error) {
	if c.location == nil || c.location.uri {
		return data.Value{}, false, argumentError("'eyaml_lookup_key': one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml when using this lookup_key function")
	}
	return c.Decrypt(k.root, c.location.where, c.level.options)
}

// Decrypt returns the value that a YAML file has for a key, with what is encrypted in it
// decrypted by the private key that options name. It is false if there is none.
func (c *Context) Decrypt(key, path string, options data.Value) (v data.Value, found bool, err error) {
	f, err := c.level.layer.c.yamlHash(path)
	if err != nil {
		return v, false, err
	}
	raw, ok := f.index[key]
	if !ok {
		return raw, false, nil
	}
	if c.file == nil {
		c.file = f
	}
	d := decryption{c: c, key: key, path: path, options: options}
	v, err = d.value(raw)
	c.level.layer.c.secret = c.level.layer.c.secret || d.secret
	return v, err == nil, err
}

// A decryption is that of the value of one key.
type decryption struct {
	c       *Context
	key     string
	path    string
	options data.Value      // a hash
	private *rsa.PrivateKey // nil until it is needed
	secret  bool            // something was decrypted
}

func (d *decryption) value(v data.Value) (data.Value, error) {
	switch v.Kind() {
	case data.String:
		return d.text(v.Str())
	case data.List:
		list := make([]data.Value, v.Len())
		for i, e := range v.List() {
			var err error
			if list[i], err = d.value(e); err != nil {
				return v, err
			}
		}
		return data.OfList(list), nil
	case data.Hash:
		h := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			k, err := d.c.in.interpolate(p.Key, true)
			if err != nil {
				return v, err
			}
			value, err := d.value(p.Value)
			if err != nil {
				return v, err
			}
			h[i] = data.Pair{Key: k, Value: value}
		}
		return data.OfHash(h), nil
	default:
		return v, nil
	}
}

var (
	encrypted = regexp.MustCompile(`ENC\[.*?\]`)
	// A line break inside makes it plain text.
	cipherText = regexp.MustCompile(`ENC\[(?:(\w+),)?([a-zA-Z0-9+/ =]+?)\]`)
)

func (d *decryption) text(s string) (data.Value, error) {
	if encrypted.MatchString(s) {
		var wrong error
		s = cipherText.ReplaceAllStringFunc(s, func(token string) string {
			m := cipherText.FindStringSubmatch(token)
			plain, err := d.decrypt(m[1], m[2])
			if err != nil && wrong == nil {
				wrong = lookupError("hiera-eyaml backend error decrypting %s when looking up %s in %s. Error was %s", s, d.key, d.path, err)
			}
			return plain
		})
		if wrong != nil {
			return data.Value{}, wrong
		}
		s = chomp(s)
	}
	return d.c.in.interpolate(data.OfString(s), true)
}

// chomp removes one line break from the end.
func chomp(s string) string {
	if t, ok := strings.CutSuffix(s, "\r\n"); ok {
		return t
	}
	if t, ok := strings.CutSuffix(s, "\n"); ok {
		return t
	}
	return strings.TrimSuffix(s, "\r")
}

func (d *decryption) decrypt(scheme, text string) (string, error) {
	if scheme != "" && scheme != "PKCS7" {
		return "", fmt.Errorf("the encryptor %s is not in this program, which decrypts PKCS7", scheme)
	}
	if d.private == nil {
		key, err := privateKey(d.options)
		if err != nil {
			return "", err
		}
		d.private = key
	}
	plain, err := openEnvelope([]byte(psych.Unbase64(text)), d.private)
	if err != nil {
		return "", err
	}
	d.secret = true
	return string(plain), nil
}

// privateKey reads the key that the options name, as a file or as a variable of the
// environment that holds it.
func privateKey(options data.Value) (*rsa.PrivateKey, error) {
	var content []byte
	if name := options.Get("pkcs7_private_key_env_var").Text(); name != "" {
		content = []byte(os.Getenv(name))
	} else {
		path := options.Get("pkcs7_private_key").Text()
		if path == "" {
			return nil, errors.New("pkcs7_private_key is not defined")
		}
		stat, err := os.Stat(path)
		if err != nil {
			return nil, readError(path, err)
		}
		if content, err = readRegular(path, stat); err != nil {
			return nil, err
		}
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, errors.New("the private key is not PEM")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the private key: %w", err)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("the private key is not RSA")
	}
	return private, nil
}
