package reports_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/termini/reports"
	"indirtui/traces"
)

type settings map[string]string

func (s settings) Get(name string) (value, source string) { return s[name], "test" }

var report = &model.Report{
	Host: "web01", Status: "changed", Environment: "production", PuppetVersion: "7.23.0", ConfigurationVersion: data.OfInt(1700000000),
	Logs: []model.Log{
		{Level: "notice", Message: "created", Source: "/Stage[main]/File[/tmp/a]/ensure", Tags: []string{"notice"}},
		{Level: "err", Message: "no space left", Source: "Puppet"},
	},
}

// processor is a terminus with its log and its trace.
type processor struct {
	indirector.Terminus
	logs bytes.Buffer
	live *traces.Live
}

func newProcessor(t *testing.T, s settings) *processor {
	t.Helper()
	p := &processor{live: &traces.Live{Context: t.Context(), Trace: new(traces.Trace), Step: traces.Terminus}}
	plain := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	var err error
	p.Terminus, err = reports.Processor.New(indirector.Env{
		Settings: s, Log: slog.New(slog.NewTextHandler(&p.logs, plain)),
		Now: func() time.Time { return time.Date(2026, 3, 4, 23, 5, 6, 0, time.FixedZone("", -3600)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Terminus.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *processor) save(t *testing.T, r *model.Report) []string {
	t.Helper()
	v, err := p.Terminus.(indirector.Saver).Save(p.live, &indirector.Request{Indirection: "report", Key: r.Host, Instance: r})
	if err != nil {
		t.Fatal(err)
	}
	return v.([]string)
}

func TestStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := newProcessor(t, settings{"reports": "store", "reportdir": filepath.Join(dir, "reports")})
	for range 2 { // the second of the same minute replaces the first
		if got := p.save(t, report); !slices.Equal(got, []string{"store"}) {
			t.Errorf("got %v", got)
		}
	}
	path := filepath.Join(dir, "reports", "web01", "202603050005.yaml")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	yaml, _ := format.ByName("yaml")
	again, _, err := format.Intern(yaml, "report", b, format.Options{})
	if err != nil || again.Key() != "web01" || !strings.HasPrefix(string(b), "--- !ruby/object:Puppet::Transaction::Report\nhost: web01\n") {
		t.Errorf("got %v, %v of\n%s", again, err, b)
	}
	for name, want := range map[string]string{path: "-rw-r-----", filepath.Dir(path): "drwxr-x---"} {
		if info, err := os.Stat(name); err != nil || info.Mode().String() != want {
			t.Errorf("%s: got %v, %v; want %s", name, info.Mode(), err, want)
		}
	}
	if err := os.Mkdir(filepath.Join(filepath.Dir(path), "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	destroy := func(key string) (any, error) {
		return p.Terminus.(indirector.Destroyer).Destroy(p.live, &indirector.Request{Key: key})
	}
	if _, err := destroy("web01"); err == nil || !strings.HasPrefix(err.Error(), "Directory not empty @ ") {
		t.Errorf("destroy with a directory below: %v", err)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(path), "sub")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := destroy("web01"); err != nil || fmt.Sprint(got) != "[store]" {
			t.Errorf("destroy: %v, %v", got, err)
		}
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("the directory is still there")
	}
	if _, err := destroy(".."); err == nil || err.Error() != `Invalid node name ".."` {
		t.Errorf("destroy of ..: %v", err)
	}
}

// TestFailures checks errors that are hidden from the caller: it gets the names
// all the same.
func TestFailures(t *testing.T) {
	t.Parallel()
	bad := func(host string) *model.Report { r := *report; r.Host = host; return &r }
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "web01", "202603050005.yaml"), 0o777); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		settings settings
		report   *model.Report
		log      string // the beginning of the message
		level    string
		faults   int
		names    string
	}{
		{"slash in the host", settings{"reports": "store", "reportdir": dir}, bad("a/b"), `Report processor failed: Invalid node name "a/b"`, "ERROR", 1, "[store]"},
		{"host is ..", settings{"reports": "store", "reportdir": dir}, bad(".."), `Report processor failed: Invalid node name ".."`, "ERROR", 1, "[store]"},
		{"no directory can be made", settings{"reports": "store", "reportdir": "/dev/null"}, report, "Report processor failed: Not a directory @ dir_s_mkdir - /dev/null", "ERROR", 1, "[store]"},
		{"no file can be written", settings{"reports": "store", "reportdir": dir}, report, "Could not write report for web01 at " + dir + "/web01/202603050005.yaml: Is a directory @ ", "ERROR", 1, "[store]"},
		{"unknown", settings{"reports": " tagmail ,log,"}, bad("x"), "No report named 'tagmail'", "WARN", 0, "[tagmail log]"},
		{"nobody listens", settings{"reports": "http", "reporturl": "http://127.0.0.1:1/x"}, report, "Report processor failed: Request to http://127.0.0.1:1/x failed after ", "ERROR", 1, "[http]"},
		{"no certificates", settings{"reports": "http", "reporturl": "https://127.0.0.1:1/x", "localcacert": dir + "/no.pem"}, report, "Report processor failed: The CA certificates are missing from '" + dir + "/no.pem'", "ERROR", 1, "[http]"},
		{"none", settings{"reports": "none"}, report, "", "", 0, "[]"},
		{"nothing", settings{"reports": ""}, report, "", "", 0, "[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProcessor(t, tt.settings)
			if got := fmt.Sprint(p.save(t, tt.report)); got != tt.names {
				t.Errorf("names: got %s, want %s", got, tt.names)
			}
			want := ""
			if tt.log != "" {
				want = "level=" + tt.level + " msg=" + strings.TrimSuffix(fmt.Sprintf("%q", tt.log), `"`)
			}
			if got := p.logs.String(); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("log:\ngot  %s\nwant %s…", got, want)
			}
			if got := p.live.Trace.Faults; len(got) != tt.faults || len(got) > 0 && (got[0].Shown || got[0].Message == "") {
				t.Errorf("faults: %+v", got)
			}
		})
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	p := newProcessor(t, settings{"reports": "log"})
	p.save(t, report)
	want := `level=INFO+2 msg=created source=//web01//Stage[main]/File[/tmp/a]/ensure
level=ERROR msg="no space left" source=//web01/Puppet
`
	if got := p.logs.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	type posted struct{ path, contentType, user, body string }
	var got posted
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		got = posted{r.Method + " " + r.URL.Path, r.Header.Get("Content-Type"), user + ":" + password, string(body)}
		if r.URL.Path == "/full" {
			http.Error(w, "the disk is full", http.StatusInsufficientStorage)
		}
	}))
	defer server.Close()
	at := strings.Replace(server.URL, "http://", "http://me:secret@", 1)

	p := newProcessor(t, settings{"reports": "http", "reporturl": at + "/reports/upload", "http_read_timeout": "1m", "http_connect_timeout": "2m"})
	p.save(t, report)
	yaml, _ := format.ByName("yaml")
	body, err := format.RenderFile(yaml, report)
	if err != nil {
		t.Fatal(err)
	}
	if want := (posted{"POST /reports/upload", "application/x-yaml", "me:secret", string(body)}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if spans := p.live.Trace.Spans; len(spans) != 1 || spans[0].Kind != traces.Network || spans[0].Answer != "200 OK" || strings.Contains(spans[0].Name, "secret") {
		t.Errorf("spans: %+v", spans)
	}

	p = newProcessor(t, settings{"reports": "http", "reporturl": server.URL + "/full"})
	p.save(t, report)
	if got, want := p.logs.String(), fmt.Sprintf("level=ERROR msg=\"Unable to submit report to %s/full [507] Insufficient Storage\"\n", server.URL); got != want {
		t.Errorf("log: got %s, want %s", got, want)
	}
	if f := p.live.Trace.Faults; len(f) != 1 || f[0].Hidden != "the disk is full\n" || f[0].Shown {
		t.Errorf("faults: %+v", f)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Terminus.(indirector.Saver).Save(cancelled, &indirector.Request{Instance: report}); err != nil {
		t.Errorf("a failure of a processor must not reach the caller: %v", err)
	}
}
