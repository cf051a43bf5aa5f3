package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/traces"
)

// commands is where PuppetDB takes commands.
const commands = "/pdb/cmd/v1"

// maxCommand is the longest command that the demo takes, in bytes.
const maxCommand = 16 << 20

const softWriteFailure = "soft_write_failure"

// PuppetDB is a terminus of the demo only: it sends facts to the web server of
// the site as the terminus of PuppetDB sends them, and fails softly as that does
// where soft_write_failure is true. There it stands in puppetdb.conf.
var PuppetDB = indirector.Descriptor{
	Indirection: "facts",
	Name:        "puppetdb",
	Party:       "PuppetDB",
	Note:        "sends to PuppetDB",
	Doc:         "Sends facts to the PuppetDB of the demo site. It finds nothing there.",
	Settings: []indirector.Setting{
		{Name: "upstream_url", Doc: "The web server of the demo site."},
		{Name: softWriteFailure, Type: "boolean", Default: "false", Doc: "Whether facts that PuppetDB does not take are a line of the log only (true), or fail who saves them (false, the default)."},
	},
	Type: (*puppetDB)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		base, _ := env.Settings.Get("upstream_url")
		soft, _ := env.Settings.Get(softWriteFailure)
		return &puppetDB{base: base, soft: soft == "true", now: env.Now, client: &http.Client{Timeout: 5 * time.Second}}, nil
	},
}

type puppetDB struct {
	base   string
	soft   bool
	now    func() time.Time
	client *http.Client
}

// Close implements io.Closer.
func (p *puppetDB) Close() error {
	p.client.CloseIdleConnections()
	return nil
}

// Soft implements indirector.Softener.
func (p *puppetDB) Soft() string {
	if p.soft {
		return softWriteFailure
	}
	return ""
}

// Save implements indirector.Saver.
func (p *puppetDB) Save(ctx context.Context, req *indirector.Request) (_ any, err error) {
	ctx, span := traces.Start(ctx, traces.Network, "POST "+commands)
	answer, because := "failed", traces.Because{}
	defer func() { span.End(answer, because, err) }()
	f, _ := format.ByName("json")
	body, err := format.Render(f, req.Instance)
	if err != nil {
		return nil, err
	}
	address := p.base + commands + "?" + url.Values{
		"command": {"replace_facts"}, "version": {"5"}, "certname": {req.Key},
		"producer-timestamp": {p.now().UTC().Format("2006-01-02T15:04:05.000Z")},
	}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("Accept", "application/json")
	resp, err := p.client.Do(r)
	if err != nil {
		return nil, &indirector.Failure{Message: err.Error(), Origin: "network", Path: p.base + commands, Err: err}
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return nil, &indirector.Failure{Message: err.Error(), Origin: "network", Path: p.base + commands, Err: err}
	}
	answer = fmt.Sprintf("%d, %d bytes", resp.StatusCode, len(reply))
	span.Attr("url", address)
	span.Attr("status", resp.Status)
	if resp.StatusCode != http.StatusOK {
		because.About = "as the server reported"
		text := strings.NewReplacer("\r", "", "\n", "").Replace(string(reply))
		return nil, &indirector.Failure{
			Class: "Puppet::Error", Message: fmt.Sprintf("[%s] %s", resp.Status, text),
			Origin: fmt.Sprintf("remote-http %d", resp.StatusCode), Path: p.base + commands, Status: resp.StatusCode,
		}
	}
	return nil, nil
}
