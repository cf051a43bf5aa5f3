package reports

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// post sends the report as YAML. An answer that is no success is told to the
// log only, as in Puppet.
func (t *Terminus) post(ctx context.Context, report *model.Report) (err error) {
	ctx, span := traces.Start(ctx, traces.Network, "POST "+redacted(t.reporturl))
	answer := "failed"
	defer func() { span.End(answer, traces.Because{}, err) }()
	b, err := format.RenderFile(yamlFormat, report)
	if err != nil {
		return err
	}
	client, err := t.httpClient()
	if err != nil {
		return err
	}
	if t.read > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.read)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.reporturl, bytes.NewReader(b))
	if err != nil {
		return &indirector.Failure{Class: "URI::InvalidURIError", Message: err.Error(), Origin: "network", Path: redacted(t.reporturl), Err: err}
	}
	req.Header.Set("Content-Type", "application/x-yaml")
	resp, err := client.Do(req)
	if err != nil {
		return &indirector.Failure{Class: "Puppet::HTTP::HTTPError", Message: err.Error(), Origin: "network", Path: redacted(t.reporturl), Err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	answer = resp.Status
	if resp.StatusCode/100 != 2 {
		reason := strings.TrimPrefix(resp.Status, fmt.Sprintf("%d ", resp.StatusCode))
		t.hide(ctx, "http", fmt.Sprintf("Unable to submit report to %s [%d] %s", redacted(t.reporturl), resp.StatusCode, reason),
			&indirector.Failure{Path: redacted(t.reporturl), Hidden: cmp.Or(string(body), "the answer has no body")})
		return nil
	}
	return err
}

// redacted is an address without its password.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Redacted()
}

func (t *Terminus) httpClient() (*http.Client, error) {
	t.once.Do(func() {
		transport := &http.Transport{
			DialContext:     (&net.Dialer{Timeout: t.connect}).DialContext,
			Proxy:           http.ProxyFromEnvironment,
			IdleConnTimeout: 4 * time.Second,
		}
		if strings.HasPrefix(t.reporturl, "https:") {
			transport.TLSClientConfig, t.err = t.tls.config()
		}
		t.client = &http.Client{Transport: transport}
	})
	return t.client, t.err
}

// Close closes idle connections.
func (t *Terminus) Close() error {
	t.once.Do(func() { t.err = errors.New("the report processor is closed") })
	if t.client != nil {
		t.client.CloseIdleConnections()
	}
	return nil
}

// tlsFiles are the files that make a connection trusted.
type tlsFiles struct {
	ca, cert, key string
	system        bool
}

func newTLSFiles(s indirector.Settings) tlsFiles {
	var f tlsFiles
	f.ca, _ = s.Get("localcacert")
	f.cert, _ = s.Get("hostcert")
	f.key, _ = s.Get("hostprivkey")
	system, _ := s.Get("report_include_system_store")
	f.system = system == "true"
	return f
}

// config returns what the files say. Without a certificate of one's own the
// connection goes without.
func (f tlsFiles) config() (*tls.Config, error) {
	pool := x509.NewCertPool()
	if f.system {
		system, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("read the certificates of the system: %w", err)
		}
		pool = system
	}
	pem, err := os.ReadFile(f.ca)
	if err != nil {
		return nil, fmt.Errorf("read the certificates of setting localcacert: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the certificates of setting localcacert: %s holds none", f.ca)
	}
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	own, err := tls.LoadX509KeyPair(f.cert, f.key)
	switch {
	case err == nil:
		config.Certificates = []tls.Certificate{own}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the certificate of setting hostcert: %w", err)
	}
	return config, nil
}

// duration is a time limit; zero is none.
func duration(s indirector.Settings, name string) time.Duration {
	text, _ := s.Get(name)
	d, err := indirector.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}
