package termini_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/terminustest"
)

// restServer adds the options of the rest termini: a server that keeps what it
// is sent, apart for each directory of a test, and has the seeds of those that
// do not save.
func restServer(t *testing.T, special map[string]terminustest.Options) {
	t.Helper()
	ca := clienttest.New(t, "Puppet CA")
	type file struct {
		kind string
		body []byte
	}
	var mu sync.Mutex // guards files
	files := map[string]file{}
	json, _ := format.ByName("json")
	always := func(path string, inst indirector.Instance) {
		b, err := format.Render(json, inst)
		if err != nil {
			t.Fatal(err)
		}
		files["/puppet/v3/"+path] = file{json.MediaType, b}
	}
	metadata := &model.FileMetadata{Path: "/srv/readme", Links: "manage", Type: "file", ChecksumType: "sha256", Checksum: "{sha256}" + strings.Repeat("a", 64)}
	always("node/web01.example.test", web01Node)
	always("catalog/web01.example.test", seeds()["catalog"]["web01.example.test"])
	always("file_metadata/site/readme", metadata)
	always("status/x", &model.Status{Name: "x", IsAlive: true, Version: "7.23.0"})
	always("resource/user/root", &model.Resource{Type: "User", Title: "root"})
	files["/puppet/v3/file_content/site/readme"] = file{"application/octet-stream", []byte("read me\n")}
	server := clienttest.Serve(t, ca.Issue(t, "puppet", clienttest.Local), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		mine := r.Header.Get("X-Store") + r.URL.Path
		if r.Method == http.MethodPut {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			files[mine] = file{r.Header.Get("Content-Type"), b}
			w.Header().Set("Content-Type", "application/json")
			switch {
			case strings.Contains(r.URL.Path, "/resource/"):
				b = []byte(`[` + string(b) + `,{"host":"web01","time":"2021-01-01T00:00:00Z","logs":[],"metrics":{},"resource_statuses":{}}]`)
			case strings.Contains(r.URL.Path, "/report/"):
				b = []byte(`["store"]`)
			default:
				b = []byte("0")
			}
			_, _ = w.Write(b)
			return
		}
		f, ok := files[mine]
		if !ok {
			f, ok = files[r.URL.Path]
		}
		if !ok {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"message":"Not Found: Could not find it","issue_kind":"RESOURCE_NOT_FOUND"}`)
			return
		}
		w.Header().Set("Content-Type", f.kind)
		_, _ = w.Write(f.body)
	}))
	settings := ca.Write(t, t.TempDir(), ca.Issue(t, "web01.example.test")).At(t, server.URL)
	add := func(indirection, absent string, seed map[string]indirector.Instance) {
		special[indirection+"/rest"] = terminustest.Options{
			Seed: seed, Absent: absent, Raises: indirection == "file_bucket_file",
			Settings: func(dir string) map[string]string {
				return settings.With("http_extra_headers", "X-Store:/"+filepath.Base(filepath.Dir(dir))+filepath.Base(dir))
			},
		}
	}
	one := func(key string, inst indirector.Instance) map[string]indirector.Instance {
		return map[string]indirector.Instance{key: inst}
	}
	add("facts", "", seeds()["facts"])
	add("node", "", one("web01.example.test", web01Node))
	add("catalog", "", one("web01.example.test", seeds()["catalog"]["web01.example.test"]))
	add("report", "", seeds()["report"])
	add("file_metadata", "site/nothing", one("site/readme", metadata))
	add("file_content", "site/nothing", one("site/readme", &model.FileContent{Path: "/this/is/a/fake/path", Links: "manage"}))
	add("file_bucket_file", "sha256/"+strings.Repeat("0", 64), copies("some text\n", "", "\x00\xff"))
	add("resource", "user/nobody", one("user/root", &model.Resource{Type: "User", Title: "root"}))
	add("status", "y", one("x", &model.Status{Name: "x", IsAlive: true, Version: "7.23.0"}))
}
