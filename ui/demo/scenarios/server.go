package scenarios

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/network/rest"
)

// listen starts a server on the loopback interface, with TLS if there is a
// configuration, and returns its address. It ends with the stage.
func (s *Stage) listen(secure *tls.Config, h http.Handler) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, TLSConfig: secure, ErrorLog: log.New(io.Discard, "", 0)}
	s.server = srv
	done := make(chan error, 1)
	go func() {
		if secure != nil {
			done <- srv.ServeTLS(l, "", "")
			return
		}
		done <- srv.Serve(l)
	}()
	s.ends = append(s.ends, func() error {
		err := srv.Close()
		if ended := <-done; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	})
	return l.Addr().String(), nil
}

// stopServer ends the server that was started last: connections are refused then.
func (s *Stage) stopServer() {
	if err := s.server.Close(); err != nil {
		s.stop(err)
	}
}

// puppetserver starts a server that an agent of the stage trusts, see
// agentConf. In texts $PORT is its port.
func puppetserver(h http.HandlerFunc) func(*Stage) (map[string]string, error) {
	return func(s *Stage) (map[string]string, error) {
		secure, err := s.authority("ca")
		if err != nil {
			return nil, err
		}
		address, err := s.listen(secure, h)
		if err != nil {
			return nil, err
		}
		_, port, err := net.SplitHostPort(address)
		return map[string]string{"PORT": port}, err
	}
}

// over asks the server that the stage is, as an agent does, and returns the status. The request is
// the one that is shown.
func (s *Stage) over(target string) int {
	client := func(*http.Request) indirector.Remote { return indirector.Remote{Node: "n1", Authenticated: true} }
	address, err := s.listen(nil, rest.NewHandler(s.Indirector, rest.Options{Client: client, Settings: s.Settings, Recorder: s.Store}))
	if err != nil {
		s.stop(err)
	}
	req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "http://"+address+target, http.NoBody)
	if err != nil {
		s.stop(err)
	}
	req.Header.Set("Accept", "application/json")
	_, before := s.Store.Range()
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		s.stop(err)
	}
	s.Last = before + 1
	_, err = io.Copy(io.Discard, resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		s.stop(err)
	}
	return resp.StatusCode
}

// agentConf is the configuration of an agent of a puppetserver.
const agentConf = "[main]\nserver = localhost\nserverport = $PORT\nlocalcacert = $dir/ssl/ca.pem\nhostcert = $dir/ssl/ca.pem\nhostprivkey = $dir/ssl/ca.key\ncertificate_revocation = false\nhttp_connect_timeout = 5s\nhttp_read_timeout = 5s\n"

// authority makes a CA that is also the certificate of localhost, writes it to
// ssl/NAME.pem with its key beside it, and returns how a server shows it.
func (s *Stage) authority(name string) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Puppet CA: " + name}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Path("ssl"), 0o700); err != nil {
		return nil, err
	}
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(s.Path("ssl"), file), pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, err
		}
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, nil
}
