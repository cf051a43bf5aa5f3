package reports

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
)

// post sends the report as YAML. An unsuccessful answer is only logged, as in
// Puppet.
func (t *Terminus) post(ctx context.Context, report *model.Report) error {
	b, err := format.RenderFile(yamlFormat, report)
	if err != nil {
		return err
	}
	u, err := url.Parse(t.reporturl)
	if err != nil || u.Host == "" {
		return &indirector.Failure{Class: "URI::InvalidURIError", Message: fmt.Sprintf("bad URI(is not URI?): %q", t.reporturl), Origin: "network", Path: redacted(t.reporturl), Err: err}
	}
	answer, err := t.client.Do(ctx, &client.Exchange{
		URL: u, Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/x-yaml"}},
		Body: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }, Size: int64(len(b)),
		SystemStore: t.system, Anonymous: true, Bare: true, Limit: 1 << 20,
	})
	if err != nil || answer.OK() {
		return err
	}
	t.hide(ctx, "http", fmt.Sprintf("Unable to submit report to %s [%d] %s", redacted(t.reporturl), answer.Status, answer.Reason),
		&indirector.Failure{Path: redacted(t.reporturl), Hidden: cmp.Or(string(answer.Body), "the answer has no body")})
	return nil
}

// Close closes idle connections.
func (t *Terminus) Close() error {
	err := t.client.Close()
	for _, s := range t.stores {
		err = errors.Join(err, s.Close())
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
