package server_test

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/network/authconf"
	"indirtui/indirector/network/rest"
	"indirtui/indirector/network/server"
	"indirtui/termini"
	"indirtui/traces"
)

// An asked terminus keeps what it is asked.
type asked struct{ requests []*indirector.Request }

func (a *asked) Find(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
	a.requests = append(a.requests, r)
	return nil, nil
}

func (a *asked) Search(_ context.Context, r *indirector.Request) ([]indirector.Instance, error) {
	a.requests = append(a.requests, r)
	return nil, nil
}

func (a *asked) Save(_ context.Context, r *indirector.Request) (any, error) {
	a.requests = append(a.requests, r)
	return nil, nil
}

func (a *asked) Destroy(_ context.Context, r *indirector.Request) (any, error) {
	a.requests = append(a.requests, r)
	return nil, nil
}

// FuzzPaths asks for any path as node web01: what the handler makes of it is
// what auth.conf has allowed, so no terminus is asked about another node.
func FuzzPaths(f *testing.F) {
	for _, path := range []string{
		"/puppet/v3/catalog/web01?environment=production", "/puppet/v3/node/db01?environment=production", "//puppet/v3//node///web01?environment=production",
		"/puppet/v3/node/web01%2f..%2fdb01?environment=production", "/puppet/v3/node/web01%0adb01?environment=a", "/production/node/db01", "/puppet/v3/catalogs/*?environment=a",
		"/puppet/v3/%6eode/db01?environment=production", "/production/certificate/ca", "/puppet/v3/facts/web01?environment=a", "/puppet/v3/report/web01/db01?environment=a",
	} {
		for _, method := range []string{"GET", "PUT", "POST"} {
			f.Add(method, path, false, "{}")
			f.Add(method, path, true, "{}")
		}
	}
	terminus := new(asked)
	var all []indirector.Descriptor
	routes := make(indirector.Routes)
	for _, spec := range termini.Specs() {
		all = append(all, indirector.Descriptor{
			Indirection: spec.Name, Name: "asked", Type: terminus, REST: true,
			New: func(indirector.Env) (indirector.Terminus, error) { return terminus, nil },
		})
		routes[spec.Name] = indirector.Route{Primary: traces.Slot{{Terminus: "asked", Kind: traces.FromDeclaration}}}
	}
	registry, err := indirector.NewRegistry(termini.Specs(), all)
	if err != nil {
		f.Fatal(err)
	}
	x, err := indirector.New(indirector.Config{Registry: registry, Routes: routes})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = x.Close() })
	ca := newAuthority(f, "CA of tests")
	handlers := make(map[bool]http.Handler)
	for _, legacy := range []bool{false, true} {
		auth := authconf.Default()
		auth.HeaderCertInfo = true
		s, err := server.New(server.Options{Identity: ca.identity(), Auth: auth, Legacy: legacy})
		if err != nil {
			f.Fatal(err)
		}
		handlers[legacy] = rest.NewHandler(x, rest.Options{Client: s.Client, Authorize: s.Authorize, Run: s.Run, Legacy: legacy, Wide: true})
	}
	f.Fuzz(func(t *testing.T, method, path string, legacy bool, body string) {
		u, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		r := httptest.NewRequest("GET", "/", strings.NewReader(body))
		r.Method, r.URL, r.RequestURI = method, u, path
		r.Header.Set("X-Client-Verify", "SUCCESS")
		r.Header.Set("X-Client-Dn", "CN=web01")
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Content-Type", "application/json")
		terminus.requests = nil
		handlers[legacy].ServeHTTP(httptest.NewRecorder(), r)
		for _, req := range terminus.requests {
			if strings.Contains(" catalog node facts report ", " "+req.Indirection+" ") && req.Key != "web01" {
				t.Errorf("%s %q of web01: %s %s %q was asked", method, path, req.Verb, req.Indirection, req.Key)
			}
		}
	})
}

// FuzzHeaders identifies clients by any headers of a proxy: only one that it has
// verified, and named, is authenticated.
func FuzzHeaders(f *testing.F) {
	ca := newAuthority(f, "CA of tests")
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.sign("web01", extension("true", 3, 39)).Certificate[0]}))
	for _, cert := range []string{"", url.QueryEscape(text), url.QueryEscape(text + text), "%zz", url.QueryEscape(text[:len(text)/2])} {
		f.Add("CN=web01", "SUCCESS", cert)
		f.Add("/O=x/CN=web01", "FAILED", cert)
	}
	auth := authconf.Default()
	auth.HeaderCertInfo = true
	s, err := server.New(server.Options{Identity: ca.identity(), Auth: auth})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, dn, verify, cert string) {
		r := httptest.NewRequest("GET", "/puppet/v3/node/web01", nil)
		r.Header["X-Client-Dn"], r.Header["X-Client-Verify"], r.Header["X-Client-Cert"] = []string{dn}, []string{verify}, []string{cert}
		remote := s.Client(r)
		if remote.Authenticated && (verify != "SUCCESS" || !strings.Contains(dn, remote.Node)) || remote.Node == "" {
			t.Errorf("%q, %q, %q: got %+v", dn, verify, cert, remote)
		}
		if remote.Certificate != "" && cert == "" || len(remote.Extensions) > 0 && remote.Certificate == "" {
			t.Errorf("%q: got %+v", cert, remote)
		}
	})
}
