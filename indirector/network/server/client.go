package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/network/authconf"
	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/rest"
)

// identify returns the client: by the certificate of the connection or, with
// allow-header-cert-info in auth.conf, by the headers of a proxy. The error is
// of unreadable headers. Doubt is the reason why the client is not
// authenticated.
func (s *Server) identify(r *http.Request) (c authconf.Client, cert *x509.Certificate, doubt string, err error) {
	c.Address = rest.Address(r.RemoteAddr)
	if !s.auth.HeaderCertInfo {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
			return c, nil, "", nil
		}
		cert = r.TLS.PeerCertificates[0]
		c.Name = cert.Subject.CommonName
		c.Authenticated = c.Name != ""
		if err := s.keys.current().revokedNow(cert); err != nil {
			c.Authenticated, doubt = false, err.Error()
		}
		return withExtensions(c, cert), cert, doubt, nil
	}
	if cert, err = headerCert(r.Header.Get("X-Client-Cert")); err != nil {
		return c, nil, "", err
	}
	c.Name = nameOf(r.Header.Get("X-Client-DN"))
	verify := r.Header.Get("X-Client-Verify")
	c.Authenticated = c.Name != "" && verify == "SUCCESS"
	if c.Name != "" && !c.Authenticated {
		doubt = fmt.Sprintf("header X-Client-Verify is %q, not SUCCESS", verify)
	}
	if cert != nil {
		c = withExtensions(c, cert)
	}
	return c, cert, doubt, nil
}

// headerCert reads the certificate that a proxy passes on: PEM,
// percent-encoded.
func headerCert(value string) (*x509.Certificate, error) {
	if value == "" {
		return nil, nil
	}
	text, err := url.QueryUnescape(value)
	if err != nil {
		return nil, &indirector.Failure{Message: "Unable to URL decode the x-client-cert header: " + err.Error(), Err: err}
	}
	block, rest := pem.Decode([]byte(text))
	if block == nil {
		return nil, &indirector.Failure{Message: "No certs found in PEM read from x-client-cert"}
	}
	if more, _ := pem.Decode(rest); more != nil {
		return nil, &indirector.Failure{Message: "Only 1 PEM should be supplied for x-client-cert but 2 found"}
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, &indirector.Failure{Message: "Unable to parse x-client-cert into certificate: " + err.Error(), Err: err}
	}
	return cert, nil
}

// nameOf returns the common name of a distinguished name, in RFC 2253
// ("CN=web01,O=x") or OpenSSL's old form ("/O=x/CN=web01").
func nameOf(dn string) string {
	sep := ","
	if strings.HasPrefix(dn, "/") {
		sep = "/"
	}
	for part := range strings.SplitSeq(dn, sep) {
		key, value, ok := strings.Cut(part, "=")
		if ok && strings.EqualFold(strings.TrimSpace(key), "CN") {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// withExtensions adds alternative names and extensions of the certificate.
func withExtensions(c authconf.Client, cert *x509.Certificate) authconf.Client {
	c.AltNames = make(map[string][]string, 2)
	if len(cert.DNSNames) > 0 {
		c.AltNames["dns-name"] = cert.DNSNames
	}
	for _, ip := range cert.IPAddresses {
		c.AltNames["ip"] = append(c.AltNames["ip"], ip.String())
	}
	c.Extensions = ca.Extensions(cert)
	for name, value := range ca.AuthorizationExtensions(cert) {
		if c.Extensions == nil {
			c.Extensions = make(map[string]string)
		}
		c.Extensions[name] = value
	}
	return c
}

// remote is the client as the Indirector knows it. Rule REST-PAR-01.
func remote(c authconf.Client, cert *x509.Certificate) indirector.Remote {
	r := indirector.Remote{Node: c.Name, IP: c.Address, Authenticated: c.Authenticated, Extensions: c.Extensions}
	if r.Node == "" {
		r.Node = c.Address
	}
	if cert != nil {
		r.Certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
	}
	return r
}

// tlsConfig returns the configuration of the listener: a client may show a
// certificate, which must be good. One that shows none is anonymous.
func (s *Server) tlsConfig() *tls.Config {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequestClientCert,
		NextProtos: []string{"http/1.1"},
		// Small first records are for browsers.
		DynamicRecordSizingDisabled: true,
	}
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &s.keys.current().cert, nil }
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return nil
		}
		err := s.keys.current().verify(state.PeerCertificates, s.now())
		if err != nil {
			return &certificateError{state.PeerCertificates[0], err}
		}
		return nil
	}
	return config
}

// A certificateError is the reason why a client's certificate is refused.
type certificateError struct {
	cert *x509.Certificate
	err  error
}

func (e *certificateError) Error() string { return e.err.Error() }

func (e *certificateError) Unwrap() error { return e.err }
