package demo

import (
	"context"
	"encoding/json"
	"errors"
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

// Upstream is a terminus of the demo only: it asks for the node, as the
// compiler does, and then fetches the catalog from the web server of the site.
var Upstream = indirector.Descriptor{
	Indirection: "catalog",
	Name:        "upstream",
	Party:       "the server",
	Note:        "fetches from a web server",
	Doc:         "Looks up the node and fetches its catalog from the web server of the demo site.",
	Settings:    []indirector.Setting{{Name: "upstream_url", Doc: "The web server of the demo site."}},
	Type:        (*upstream)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		base, _ := env.Settings.Get("upstream_url")
		return &upstream{env: env, base: base, client: &http.Client{Timeout: time.Minute}}, nil
	},
}

type upstream struct {
	env    indirector.Env
	base   string
	client *http.Client
}

// Close implements io.Closer.
func (u *upstream) Close() error {
	u.client.CloseIdleConnections()
	return nil
}

// Find implements indirector.Finder.
func (u *upstream) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	if err := u.facts(ctx, req); err != nil {
		return nil, err
	}
	if err := u.node(ctx, req); err != nil {
		return nil, err
	}
	body, kind, err := u.get(ctx, "/catalog/"+url.PathEscape(req.Key))
	if err != nil {
		return nil, err
	}
	f, ok := format.ByContentType(kind)
	if !ok {
		return nil, &indirector.Failure{Message: "the server answered with " + kind, Origin: "decode"}
	}
	_, span := traces.Start(ctx, traces.Codec, "decode "+f.Name)
	inst, _, err := format.Intern(f, "catalog", body, format.Options{})
	span.End(fmt.Sprintf("%d bytes", len(body)), traces.Because{Reason: traces.FormatRequested, About: kind}, err)
	if err != nil {
		return nil, &indirector.Failure{Message: err.Error(), Origin: "decode", Err: err}
	}
	return inst, nil
}

// facts keeps the facts that came with the request, as the compiler does before
// all else.
func (u *upstream) facts(ctx context.Context, req *indirector.Request) error {
	text := req.Option("facts")
	if text == nil {
		return nil
	}
	f, _ := format.ByName("json")
	inst, _, err := format.Intern(f, "facts", []byte(fmt.Sprint(text)), format.Options{})
	if err != nil {
		return &indirector.Failure{Message: "the facts of the request: " + err.Error(), Origin: "decode", Err: err}
	}
	return u.ask(ctx, "save facts "+req.Key, &indirector.Request{
		Indirection: "facts", Verb: indirector.Save, Key: req.Key, Instance: inst, Environment: req.Environment,
		Terminus: PuppetDB.Name, Cache: indirector.Off, By: traces.FromApplication, Source: "the server of the demo keeps facts in PuppetDB",
	}, func(err error) error {
		if err == nil {
			return nil
		}
		return &indirector.Failure{Message: fmt.Sprintf("Could not save facts for %s: %s", req.Key, indirector.Message(err)), Err: err}
	})
}

// node looks the node up, in words of the compiler.
func (u *upstream) node(ctx context.Context, req *indirector.Request) error {
	return u.ask(ctx, "find node "+req.Key, &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: req.Key, Environment: req.Environment}, func(err error) error {
		switch {
		case errors.Is(err, indirector.ErrNotFound):
			return &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf("Could not find node '%s'; cannot compile", req.Key)}
		case err != nil:
			return &indirector.Failure{Message: fmt.Sprintf("Failed when searching for node %s: %s", req.Key, indirector.Message(err)), Err: err}
		}
		return nil
	})
}

// ask asks something on the way. What its error means to the catalog is decided by
// fails.
func (u *upstream) ask(ctx context.Context, what string, req *indirector.Request, fails func(error) error) (err error) {
	ctx, span := traces.Start(ctx, traces.Nested, what)
	answer := "found"
	if req.Verb == indirector.Save {
		answer = "saved"
	}
	defer func() { span.End(answer, traces.Because{}, err) }()
	resp, err := u.env.Do(ctx, req)
	span.Request(resp.Trace)
	if located := (*indirector.Error)(nil); errors.As(err, &located) {
		span.Request(located.Trace)
	}
	switch {
	case errors.Is(err, indirector.ErrNotFound):
		answer = "nothing"
	case err != nil:
		answer = "failed"
	}
	return fails(err)
}

// get fetches a path. An answer that is no 200 is an error in the words of
// Puppet's REST termini.
func (u *upstream) get(ctx context.Context, path string) (body []byte, kind string, err error) {
	ctx, span := traces.Start(ctx, traces.Network, "GET "+path)
	answer, because := "failed", traces.Because{}
	defer func() { span.End(answer, because, err) }()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.base+path, nil)
	if err != nil {
		return nil, "", err
	}
	resp, err := u.client.Do(r)
	if err != nil {
		return nil, "", &indirector.Failure{Message: err.Error(), Origin: "network", Path: u.base + path, Err: err}
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	err = errors.Join(err, resp.Body.Close())
	kind = resp.Header.Get("Content-Type")
	answer = fmt.Sprintf("%d, %d bytes", resp.StatusCode, len(body))
	span.Attr("url", u.base+path)
	span.Attr("status", resp.Status)
	span.Attr("content-type", kind)
	if err == nil && resp.StatusCode != http.StatusOK {
		because.About = "as the server reported"
		var reply struct{ Message string }
		if json.Unmarshal(body, &reply) != nil || reply.Message == "" {
			reply.Message = strings.TrimSpace(string(body))
		}
		span.Attr("message", reply.Message)
		err = &indirector.Failure{
			Class: "Net::HTTPError", Message: fmt.Sprintf("Error %d on SERVER: %s", resp.StatusCode, reply.Message),
			Origin: "remote-http " + fmt.Sprint(resp.StatusCode), Path: u.base + path,
		}
	}
	return body, kind, err
}
