package fileserving_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// site answers paths that are named after what is odd about them.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(path string, answer http.HandlerFunc) { mux.HandleFunc(path, answer) }
	header := func(pairs ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(pairs); i += 2 {
				w.Header().Set(pairs[i], pairs[i+1])
			}
			fmt.Fprint(w, "body of "+r.URL.Path)
		}
	}
	serve("/plain", header())
	serve("/modified", header("Last-Modified", "Thu, 04 Mar 2021 05:06:07 GMT"))
	serve("/baddate", header("Last-Modified", "yesterday"))
	serve("/md5", header("Content-MD5", "LrbzXYXIA3ZIE5+uUe5SdA==", "Last-Modified", "Thu, 04 Mar 2021 05:06:07 GMT"))
	serve("/nosum", header("Content-MD5", "???"))
	serve("/sums", header("X-Checksum-Md5", "11", "X-Checksum-Sha1", "22", "X-Checksum-Sha256", "33"))
	for code := range map[int]bool{403: true, 405: true, 404: true, 500: true} {
		serve(fmt.Sprintf("/head%d", code), func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead || r.Header.Get("Range") != "bytes=0-0" {
				w.WriteHeader(code)
				return
			}
			w.Header().Set("X-Checksum-Sha256", "44")
			w.WriteHeader(http.StatusPartialContent)
			fmt.Fprint(w, "b")
		})
	}
	for _, code := range []int{301, 302, 307, 303, 308} {
		serve(fmt.Sprintf("/to%d", code), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/sums")
			w.WriteHeader(code)
		})
	}
	serve("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	serve("/nowhere", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusFound) })
	serve("/tofile", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "file:///etc/passwd")
		w.WriteHeader(http.StatusFound)
	})
	serve("/login", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// TestHTTPMetadata asks a web server. Rules TERM-HTTP-01,
// TERM-HTTP-02, TERM-HTTP-03.
func TestHTTPMetadata(t *testing.T) {
	t.Parallel()
	s := site(t)
	h := newFixture(t, values{"http_connect_timeout": "2m", "http_read_timeout": "2m"}, nil)
	for _, tt := range []struct{ path, wanted, checksum, message string }{
		{"/modified", "", "{mtime}2021-03-04 05:06:07 UTC", ""},
		{"/md5", "", "{md5}2eb6f35d85c8037648139fae51ee5274", ""},
		{"/md5", "mtime", "{mtime}2021-03-04 05:06:07 UTC", ""},
		{"/md5", "sha512", "{md5}2eb6f35d85c8037648139fae51ee5274", ""},
		{"/nosum", "", "{md5}", ""},
		{"/sums", "", "{sha256}33", ""},
		{"/sums", "sha1", "{sha1}22", ""},
		{"/sums", "md5", "{md5}11", ""},
		{"/sums", "bogus", "", "Unsupported checksum type bogus"},
		{"/baddate", "", "", "invalid date"},
		{"/head403", "", "{sha256}44", ""},
		{"/head405", "", "{sha256}44", ""},
		{"/head404", "", "", "nil"},
		{"/head500", "", "", "nil"},
		{"/none", "", "", "nil"},
		{"/to301", "", "{sha256}33", ""},
		{"/to302", "", "{sha256}33", ""},
		{"/to307", "", "{sha256}33", ""},
		{"/to303", "", "", "nil"},
		{"/to308", "", "", "nil"},
		{"/round", "", "", "Too many HTTP redirections for " + s.URL + "/round"},
		{"/nowhere", "", "", "Location response header is missing"},
		{"/tofile", "", "", `Location URI is invalid: bad URI(is not URI?): "file:///etc/passwd"`},
		{"/a b", "", "", `bad URI(is not URI?): "` + s.URL + `/a b"`},
	} {
		t.Run(tt.path+" "+tt.wanted, func(t *testing.T) {
			var options []indirector.Option
			if tt.wanted != "" {
				options = append(options, option("checksum_type", tt.wanted))
			}
			m, err := h.find(t, "http", s.URL+tt.path, options...)
			switch {
			case tt.message == "nil":
				if !errors.Is(err, indirector.ErrNotFound) {
					t.Errorf("got %v, want not found", err)
				}
			case indirector.Message(err) != tt.message:
				t.Errorf("got %v, want %q", err, tt.message)
			case err == nil && (m.Checksum != tt.checksum || m.Type != "file" || m.Path != "/dev/null" || !m.Owner.IsNil() || !m.Group.IsNil() || !m.Mode.IsNil()):
				t.Errorf("got %+v, want %s and no owner, group, mode", m, tt.checksum)
			}
		})
	}
	for path, want := range map[string]string{"/nosum": `what the server tells as md5 is none, but ""`, "/sums": `what the server tells as sha256 is none, but "33"`, "/md5": ""} {
		if _, err := h.find(t, "http", s.URL+path); err != nil {
			t.Error(err)
		}
		story := h.story()
		contains(t, story, want)
		if want == "" && strings.Contains(story, "is none, but") {
			t.Errorf("a sum that is in order: got\n%s", story)
		}
	}
	t.Run("S-48 no header", func(t *testing.T) {
		before := time.Now().Truncate(time.Second)
		m, err := h.find(t, "http", s.URL+"/plain")
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse("{mtime}2006-01-02 15:04:05 -0700", m.Checksum)
		if err != nil || at.Before(before) || at.After(time.Now()) {
			t.Errorf("got %q, %v; want now", m.Checksum, err)
		}
		contains(t, h.story(), "the server sends neither a checksum nor Last-Modified", "owner, group and mode are missing", "HEAD "+s.URL+"/plain 200 OK")
	})
	t.Run("what was asked is told", func(t *testing.T) {
		if _, err := h.find(t, "http", s.URL+"/head500"); err == nil {
			t.Error("got no error")
		}
		contains(t, h.story(), "HEAD "+s.URL+"/head500: 500 Internal Server Error")
		if _, err := h.find(t, "http", s.URL+"/head403"); err != nil {
			t.Error(err)
		}
		contains(t, h.story(), "HEAD was answered with 403 Forbidden, so one byte is asked for", "GET "+s.URL+"/head403 206 Partial Content")
	})
	t.Run("a login", func(t *testing.T) {
		address := strings.Replace(s.URL, "http://", "http://me:secret@", 1)
		if _, err := h.find(t, "http", address+"/login"); err != nil {
			t.Error(err)
		}
		for _, span := range h.recorder.Last().Spans {
			if text := fmt.Sprint(span); strings.Contains(text, "secret") {
				t.Errorf("a span shows the password: %s", text)
			}
		}
	})
	t.Run("TERM-HTTP-04", func(t *testing.T) {
		if _, err := h.search(t, "http", s.URL+"/plain"); indirector.Message(err) != "cannot lookup multiple files" {
			t.Errorf("got %v", err)
		}
	})
}

// TestHTTPContent reads from a web server, which Puppet 7 cannot. Rule
// TERM-HTTP-05, S-46.
func TestHTTPContent(t *testing.T) {
	t.Parallel()
	s := site(t)
	h := newFixture(t, values{"http_read_timeout": "2m"}, nil)
	find := func(path string) (*model.FileContent, error) {
		resp, err := h.Do(t.Context(), &indirector.Request{Indirection: "file_content", Verb: indirector.Find, Key: s.URL + path, Terminus: "selector"})
		c, _ := resp.Instance().(*model.FileContent)
		return c, err
	}
	c, err := find("/plain")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, h.story(), "they have removed it, and the selector still chooses it")
	for range 2 {
		if b, err := contents(c); err != nil || string(b) != "body of /plain" {
			t.Errorf("got %q, %v", b, err)
		}
	}
	if _, err := find("/none"); !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	c, err = find("/head403")
	if err != nil || c.Contents.Size() != -1 {
		t.Fatalf("got %v, %v; the size is not known", c, err)
	}
	if _, err := contents(c); indirector.Message(err) != "Error 403 on SERVER: Forbidden" {
		t.Errorf("got %v", err)
	}
}

// TestHTTPStalls reads from a server that stops in the middle.
func TestHTTPStalls(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, "some")
			w.(http.Flusher).Flush()
			<-stop
		}
	}))
	t.Cleanup(func() { close(stop); s.Close() })
	var got string
	// What came may be late itself on a busy machine: then there is more time for it.
	for _, limit := range []string{"1", "10", "60"} {
		h := newFixture(t, values{"http_read_timeout": limit}, nil)
		resp, err := h.Do(t.Context(), &indirector.Request{Indirection: "file_content", Verb: indirector.Find, Key: s.URL, Terminus: "http"})
		if err != nil {
			got = err.Error()
			continue
		}
		b, err := contents(resp.Instance().(*model.FileContent))
		if errors.Is(err, os.ErrDeadlineExceeded) && string(b) == "some" {
			return
		}
		got = fmt.Sprintf("%q, %v", b, err)
	}
	t.Errorf("got %s; want what came, and that nothing came for a second", got)
}

// TestTLS trusts Puppet's authority, and no server without it. Rule
// TERM-HTTP-01.
func TestTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	t.Cleanup(s.Close)
	s.Config.ErrorLog = nil
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newFixture(t, values{"localcacert": ca}, nil).find(t, "http", s.URL); err != nil {
		t.Errorf("with the authority: %v", err)
	}
	if _, err := newFixture(t, values{"localcacert": ca + ".missing"}, nil).find(t, "http", s.URL); !strings.Contains(indirector.Message(err), "certificate") {
		t.Errorf("without it: got %v", err)
	}
	garbage := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(garbage, []byte("no certificate"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newFixture(t, values{"localcacert": garbage}, nil).find(t, "http", s.URL); indirector.Message(err) != "Failed to parse CA certificates as PEM" {
		t.Errorf("garbage: got %v", err)
	}
}
