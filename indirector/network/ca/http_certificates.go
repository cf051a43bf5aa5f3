package ca

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

func (e *exchange) certificate(key string) error { return e.text("certificate", key, msgNoCert) }
func (e *exchange) request(key string) error {
	return e.text("certificate_request", key, msgNoRequest)
}

func (e *exchange) saveRequest(key string) error {
	b, err := e.body(maxBody)
	if err != nil {
		return err
	}
	csr, err := model.NewCertificateRequest(key, b)
	if err != nil {
		return err
	}
	if _, err := e.do("certificate_request", indirector.Save, key, csr); err != nil {
		return err
	}
	return e.plain(http.StatusOK, plainType, "")
}

func (e *exchange) deleteRequest(key string) error {
	v, err := e.do("certificate_request", indirector.Destroy, key, nil)
	switch {
	case absent(err), err == nil && (v == nil || v == false):
		return &reply{http.StatusNotFound, plainType, fmt.Sprintf(msgNoPending, key)}
	case err != nil:
		return err
	}
	return e.plain(http.StatusNoContent, plainType, "")
}

func (e *exchange) crl(string) error {
	v, err := e.do("certificate_revocation_list", indirector.Find, "ca", nil)
	crl, ok := v.(*model.CRL)
	switch {
	case absent(err):
		return &reply{http.StatusNotFound, plainType, "Could not find certificate_revocation_list ca"}
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("a %T is no certificate_revocation_list", v)
	}
	if !crl.Modified.IsZero() {
		e.w.Header().Set("Last-Modified", crl.Modified.UTC().Format(http.TimeFormat))
	}
	// An invalid date does not count.
	if since, err := http.ParseTime(e.r.Header.Get("If-Modified-Since")); err == nil && !crl.Modified.IsZero() && !crl.Modified.Truncate(time.Second).After(since) {
		return e.plain(http.StatusNotModified, plainType, "")
	}
	return e.found(plainType, string(crl.PEM))
}

func (e *exchange) saveCRL(string) error {
	b, err := e.body(maxCRLBody)
	if err != nil {
		return err
	}
	crl, err := model.NewCRL(b)
	if err != nil {
		return &reply{http.StatusBadRequest, plainUTF8, msgNoCRLs}
	}
	if _, err := e.do("certificate_revocation_list", indirector.Save, "ca", crl); err != nil {
		return err
	}
	return e.plain(http.StatusOK, plainUTF8, msgUpdated)
}

func (e *exchange) expirations(string) error {
	v, err := e.do("certificate", indirector.Find, "ca", nil)
	if err != nil {
		return err
	}
	l, err := e.do("certificate_revocation_list", indirector.Find, "ca", nil)
	if err != nil {
		return err
	}
	ca, okCA := v.(*model.Certificate)
	crl, okCRL := l.(*model.CRL)
	if !okCA || !okCRL {
		return errors.New("there is no CA")
	}
	certs, err := ParseCertificates(ca.PEM)
	if err != nil {
		return err
	}
	lists, err := ParseCRLs(crl.PEM)
	if err != nil {
		return err
	}
	var answer struct {
		Certs dates `json:"ca-certs"`
		CRLs  dates `json:"crls"`
	}
	for _, c := range certs {
		answer.Certs = append(answer.Certs, dated{c.Subject.CommonName, c.NotAfter})
	}
	for _, c := range lists {
		answer.CRLs = append(answer.CRLs, dated{c.Issuer.CommonName, c.NextUpdate})
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return e.found(jsonType, string(b))
}

// dates is a JSON object of names and dates, in order.
type (
	dates []dated
	dated struct {
		name string
		at   time.Time
	}
)

func (d dates) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, x := range d {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(x.name)
		if err != nil {
			return nil, err
		}
		b = fmt.Appendf(b, `%s:%q`, name, FormatTime(x.at))
	}
	return append(b, '}'), nil
}

func (e *exchange) renew(string) error {
	certs, err := ParseCertificates([]byte(e.remote.Certificate))
	if err != nil || !e.remote.Authenticated {
		return &reply{http.StatusBadRequest, plainType, msgNoCertificate}
	}
	name := strings.ToLower(certs[0].Subject.CommonName)
	old := &model.Certificate{Name: name, PEM: EncodeCertificates(certs[0]), Until: certs[0].NotAfter}
	v, err := e.do("certificate", indirector.Save, name, old, indirector.Option{Name: "renew", Value: true})
	if err != nil {
		status, text := verdict(err)
		return &reply{status, plainType, text}
	}
	renewed, ok := v.(*model.Certificate)
	if !ok {
		return fmt.Errorf("the terminus of certificate does not renew: it answered %T", v)
	}
	return e.plain(http.StatusOK, plainType, string(renewed.PEM))
}

// ocspGet answers a question in the path, in base 64. RFC 6960, appendix A.1.
func (e *exchange) ocspGet(key string) error {
	text := key
	if raw, ok := strings.CutPrefix(e.r.URL.EscapedPath(), Prefix+"ocsp/"); ok {
		if unescaped, err := url.PathUnescape(raw); err == nil {
			text = unescaped
		}
	}
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return e.ocspAnswer(ocspMalformed)
	}
	return e.ocsp("ocsp", der)
}

func (e *exchange) ocspPost(string) error {
	kind, _, _ := strings.Cut(e.r.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(kind) != ocspAsk {
		return &reply{http.StatusUnsupportedMediaType, plainUTF8, msgUnsupported}
	}
	return e.ocspPut("ocsp")
}

// ocspPut answers the rest terminus.
func (e *exchange) ocspPut(key string) error {
	der, err := io.ReadAll(http.MaxBytesReader(e.w, e.r.Body, maxOCSP))
	if err != nil {
		return e.ocspAnswer(ocspMalformed)
	}
	return e.ocsp(key, der)
}

func (e *exchange) ocsp(key string, der []byte) error {
	v, err := e.do("ocsp", indirector.Save, key, &model.OCSPRequest{Name: key, DER: der})
	answer, ok := v.(*model.OCSPResponse)
	if err != nil || !ok {
		return e.ocspAnswer(ocspInternal)
	}
	return e.ocspAnswer(answer.DER)
}

func (e *exchange) ocspAnswer(der []byte) error {
	e.w.Header()["Content-Type"] = []string{ocspAnswer}
	e.w.Header().Set("Content-Length", fmt.Sprint(len(der)))
	e.w.WriteHeader(http.StatusOK)
	_, _ = e.w.Write(der)
	return nil
}
