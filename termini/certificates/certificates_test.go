package certificates_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/network/ca"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/traces"
)

// A testEngine is an engine over an ssldir and a cadir.
type testEngine struct {
	*engine.Engine
	dir string
	ca  *ca.Authority
}

func newEngine(t *testing.T, application string, set ...settings.Override) *testEngine {
	t.Helper()
	h := &testEngine{dir: t.TempDir()}
	for _, d := range []string{"ssl/certs", "ssl/certificate_requests", "ssl/private_keys", "ssl/public_keys"} {
		if err := os.MkdirAll(filepath.Join(h.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if h.ca, err = ca.Setup(t.Context(), ca.Config{Dir: filepath.Join(h.dir, "ca"), KeyLength: 1024}, ca.SetupOptions{}); err != nil {
		t.Fatal(err)
	}
	h.Engine, err = engine.New(engine.Options{
		Specs: termini.Specs(), Termini: termini.All(), ConfDir: filepath.Join(h.dir, "conf"), VarDir: filepath.Join(h.dir, "var"), Application: application, Write: true,
		Set: append([]settings.Override{{Name: "ssldir", Value: h.dir + "/ssl"}, {Name: "cadir", Value: h.dir + "/ca"}, {Name: "autosign", Value: "false"}}, set...),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *testEngine) do(t *testing.T, verb indirector.Verb, indirection, key string, change func(*indirector.Request)) (any, error) {
	t.Helper()
	req := &indirector.Request{Indirection: indirection, Verb: verb, Key: key}
	if change != nil {
		change(req)
	}
	resp, err := h.Do(t.Context(), req)
	if err != nil {
		return nil, err
	}
	return resp.Value, nil
}

func remote(req *indirector.Request) { req.Remote = &indirector.Remote{Node: "agent", IP: "127.0.0.1"} }

func wantError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || indirector.Message(err) != want {
		t.Errorf("%s: got %v, want %s", what, err, want)
	}
}

// TestRoutes is Puppet's CA location: the terminus of each application.
func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ application, ca, want string }{
		{"server", "true", "ca ca ca ca file ca"},
		{"server", "false", "disabled_ca disabled_ca disabled_ca disabled_ca file ca"},
		{"master", "true", "ca/file ca/file ca/file file file ca"},
		{"agent", "true", "rest/file rest/file rest/file file rest ca"},
		{"apply", "true", "file file file file file ca"},
	} {
		h := newEngine(t, tt.application, settings.Override{Name: "ca", Value: tt.ca})
		var got []string
		for _, name := range []string{"certificate", "certificate_request", "certificate_revocation_list", "key", "certificate_status", "ocsp"} {
			route, _ := h.Explain(name)
			s := route.Primary.Winner().Terminus
			if c := route.Cache.Winner().Terminus; c != "" {
				s += "/" + c
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s, ca=%s: got %s, want %s", tt.application, tt.ca, s, tt.want)
		}
	}
}

// TestKeysStayHere asks for a key over the network, and looks for one in what
// is kept of a request.
func TestKeysStayHere(t *testing.T) {
	t.Parallel()
	h := newEngine(t, "server")
	for _, terminus := range []string{"ca", "file", "disabled_ca"} {
		_, err := h.do(t, indirector.Find, "key", "ca", func(r *indirector.Request) {
			remote(r)
			r.Terminus = terminus
		})
		if err == nil {
			t.Errorf("%s gave a key to the network", terminus)
		}
	}
	v, err := h.do(t, indirector.Find, "key", "ca", nil)
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.Split(string(v.(*model.PrivateKey).PEM), "\n")[3]
	if err := h.Store.Flush(); err != nil {
		t.Fatal(err)
	}
	first, last := h.Store.Range()
	looked := 0
	for id := first; id <= last; id++ {
		tr, err := h.Store.Trace(id)
		if err != nil {
			continue
		}
		looked++
		body, _ := h.Store.Body(tr.Value())
		if strings.Contains(string(body), secret) || strings.Contains(string(traces.AppendSteps(nil, tr)), secret) {
			t.Errorf("request %d keeps the key: %.200s", id, body)
		}
	}
	if looked == 0 {
		t.Error("no trace was looked at")
	}
}

// TestDisabledCA is a server without a CA.
func TestDisabledCA(t *testing.T) {
	t.Parallel()
	h := newEngine(t, "server", settings.Override{Name: "ca", Value: "false"})
	_, cert, _, err := h.ca.Generate(t.Context(), ca.Leaf{Name: "web01"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.do(t, indirector.Find, "certificate", "web01", remote)
	wantError(t, "over the network", err, "this master is not a CA")
	if _, err = h.do(t, indirector.Find, "certificate", "web01", nil); !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("without a file: got %v", err)
	}
	inst := &model.Certificate{Name: "web01", PEM: cert}
	if _, err = h.do(t, indirector.Save, "certificate", "web01", func(r *indirector.Request) { r.Instance = inst }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "ssl/certs/web01.pem")); err != nil {
		t.Error(err)
	}
	v, err := h.do(t, indirector.Find, "certificate", "web01", nil)
	if err != nil || string(v.(*model.Certificate).PEM) != string(cert) {
		t.Errorf("got %v, %v", v, err)
	}
}

// TestFiles has the oddities of Puppet's files of certificates.
func TestFiles(t *testing.T) {
	t.Parallel()
	h := newEngine(t, "apply")
	certs := filepath.Join(h.dir, "ssl/certs")
	_, cert, _, err := h.ca.Generate(t.Context(), ca.Leaf{Name: "web01", TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(certs, "Web01.pem"), cert)
	v, err := h.do(t, indirector.Find, "certificate", "web01", nil)
	if err != nil || v.(*model.Certificate).Name != "web01" {
		t.Fatalf("a file in another case: got %v, %v", v, err)
	}
	if until := v.(*model.Certificate).Expiration(); time.Until(until) > time.Hour || until.IsZero() {
		t.Errorf("IND-EXP-05: it is outdated at %v", until)
	}
	if _, err := os.Stat(filepath.Join(certs, "Web01.pem")); err != nil {
		t.Errorf("looking renamed the file: %v", err)
	}
	_, err = h.do(t, indirector.Find, "certificate", "WEB01", nil)
	wantError(t, "a key in upper case", err, "Tried to fix SSL files to a file containing uppercase")
	for _, key := range []string{"../x", "a/b", "a\x00b", `a\b`} {
		_, err = h.do(t, indirector.Find, "certificate", key, nil)
		wantError(t, "IND-KEY-01 "+key, err, "invalid key")
	}
	write(filepath.Join(certs, "bad.pem"), []byte("garbage"))
	_, err = h.do(t, indirector.Find, "certificate", "bad", nil)
	wantError(t, "no certificate", err, "PEM_read_bio_X509: no start line")
	if err := os.RemoveAll(certs); err != nil {
		t.Fatal(err)
	}
	_, err = h.do(t, indirector.Save, "certificate", "web01", func(r *indirector.Request) { r.Instance = &model.Certificate{Name: "web01", PEM: cert} })
	wantError(t, "no directory", err, "Cannot save web01; parent directory "+certs+" does not exist")
	v, err = h.do(t, indirector.Destroy, "certificate", "web01", nil)
	if v != false || err != nil {
		t.Errorf("destroy of nothing: got %v, %v", v, err)
	}
}

// TestStatus signs, revokes and removes by certificate_status.
func TestStatus(t *testing.T) {
	t.Parallel()
	h := newEngine(t, "server")
	save := func(key, state string) error {
		_, err := h.do(t, indirector.Save, "certificate_status", key, func(r *indirector.Request) {
			r.Instance = &model.CertificateStatus{Name: "whoever", Desired: state}
		})
		return err
	}
	wantError(t, "no request", save("web01", "signed"), "Cannot sign for host web01 without a certificate request")
	wantError(t, "bad state", save("web01", "gone"), "State gone invalid; Must specify desired state of 'signed' or 'revoked' for host web01")
	if _, _, _, err := h.ca.Generate(t.Context(), ca.Leaf{Name: "web01"}); err != nil {
		t.Fatal(err)
	}
	if err := save("web01", "revoked"); err != nil {
		t.Fatal(err)
	}
	v, err := h.do(t, indirector.Find, "certificate_status", "web01", nil)
	if err != nil || v.(*model.CertificateStatus).State != "revoked" {
		t.Errorf("got %v, %v", v, err)
	}
	for option, want := range map[string]int{"certificate": 1, "certificate_request": 0} {
		v, err := h.do(t, indirector.Search, "certificate_status", "any", func(r *indirector.Request) {
			r.Options = []indirector.Option{{Name: "for", Value: option}}
		})
		if list, _ := v.([]indirector.Instance); len(list) != want || err != nil {
			t.Errorf("for %s: got %v, %v", option, list, err)
		}
	}
	v, err = h.do(t, indirector.Destroy, "certificate_status", "web01", nil)
	if v != "Deleted for web01: Puppet::SSL::Certificate" || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	v, err = h.do(t, indirector.Destroy, "certificate_status", "web01", nil)
	if v != "Nothing was deleted" || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "ca/signed/web01.pem")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its certificate: %v", err)
	}
}
