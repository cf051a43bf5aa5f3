package server

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"indirtui/indirector"
	"indirtui/indirector/host/files"
	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/client"
)

// Identities are certificates of agents, by which a proxy identifies clients to
// the server behind it. Missing ones are requested from the server's CA, as by
// an agent. Client, Certs and Keys are required.
type Identities struct {
	Client      *client.Client
	Certs, Keys string // directories: NAME.pem in each

	mu sync.Mutex // guards requesting
}

// Have makes sure that there is a certificate for the name. The error may be
// that the CA has not signed it yet.
func (i *Identities) Have(ctx context.Context, name string) error {
	if err := ca.ValidName(name); err != nil {
		return err
	}
	certFile, keyFile := filepath.Join(i.Certs, name+".pem"), filepath.Join(i.Keys, name+".pem")
	if _, err := os.Stat(certFile); err == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, err := os.Stat(certFile); err == nil {
		return nil
	}
	key, err := i.key(keyFile)
	if err != nil {
		return fmt.Errorf("a key for %s: %w", name, err)
	}
	cert, err := i.fetch(ctx, name)
	if err == nil && cert == nil {
		if err = i.request(ctx, name, key); err == nil {
			cert, err = i.fetch(ctx, name)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("a certificate for %s: %w", name, err)
	case cert == nil:
		return fmt.Errorf("the server's CA has not signed the request of %s yet", name)
	}
	return i.keep(certFile, cert, key, name)
}

func (i *Identities) key(file string) (crypto.Signer, error) {
	text, err := os.ReadFile(file)
	if err == nil {
		return ca.ParseKey(text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	der := x509.MarshalPKCS1PrivateKey(key)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return nil, err
	}
	return key, files.Write(file, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der}), files.Options{Mode: 0o600})
}

// ask asks the CA without a certificate.
func (i *Identities) ask(ctx context.Context, method, path string, body []byte) (*client.Answer, error) {
	x := &client.Exchange{
		Service: client.CA, Method: method, Path: path, Anonymous: true, Size: int64(len(body)),
		Header: http.Header{"Accept": {"text/plain"}, "Content-Type": {"text/plain"}},
	}
	if body != nil {
		x.Body = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	answer, err := i.Client.Do(ctx, x)
	if err != nil {
		return nil, errors.New(indirector.Message(err))
	}
	return answer, nil
}

// fetch returns the certificate, or nil if there is none.
func (i *Identities) fetch(ctx context.Context, name string) ([]byte, error) {
	answer, err := i.ask(ctx, http.MethodGet, "/puppet-ca/v1/certificate/"+name, nil)
	switch {
	case err != nil:
		return nil, err
	case answer.Status == http.StatusNotFound:
		return nil, nil
	case !answer.OK():
		return nil, fmt.Errorf("the server's CA answered %d %s: %s", answer.Status, answer.Reason, answer.Body)
	}
	return answer.Body, nil
}

// request asks the CA to sign. An existing request is no error.
func (i *Identities) request(ctx context.Context, name string, key crypto.Signer) error {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, key)
	if err != nil {
		return err
	}
	answer, err := i.ask(ctx, http.MethodPut, "/puppet-ca/v1/certificate_request/"+name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	if err != nil {
		return err
	}
	if !answer.OK() && answer.Status != http.StatusBadRequest {
		return fmt.Errorf("the server's CA answered %d %s: %s", answer.Status, answer.Reason, answer.Body)
	}
	return nil
}

// keep writes the certificate, if it is that of the key.
func (i *Identities) keep(file string, text []byte, key crypto.Signer, name string) error {
	certs, err := ca.ParseCertificates(text)
	if err != nil || len(certs) == 0 {
		return fmt.Errorf("the server's CA sent no certificate for %s: %w", name, errors.Join(err, errors.New("nothing in PEM")))
	}
	same, ok := certs[0].PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !same.Equal(key.Public()) {
		return fmt.Errorf("the server's CA has a certificate for %s that is of another key: remove it there, or put its key into %s", name, i.Keys)
	}
	if err := os.MkdirAll(i.Certs, 0o755); err != nil {
		return err
	}
	return files.Write(file, text, files.Options{Mode: 0o644})
}
