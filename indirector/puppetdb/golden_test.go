package puppetdb_test

import (
	"encoding/json"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/golden"
	"indirtui/indirector/puppetdb"
	"indirtui/indirector/terminustest"
)

// A configCase is what Puppet makes of a puppetdb.conf; nil Content is no file.
type configCase struct {
	ID       string         `json:"id"`
	Content  *string        `json:"content"`
	Settings map[string]any `json:"settings"`
	Error    string         `json:"error"`
	Class    string         `json:"exception"`
	Ruby     bool           `json:"ruby_error"`
	Logs     [][2]string    `json:"logs"`
}

// TestGoldenConfig reads what Puppet's reader was given. Rules PDB-CFG-01 to
// PDB-CFG-07.
func TestGoldenConfig(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(golden.Path(t, "stores", "puppetdb", "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []configCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("there are no cases")
	}
	for _, tt := range cases {
		t.Run(tt.ID, func(t *testing.T) {
			t.Parallel()
			tt.check(t)
		})
	}
}

func (tt *configCase) check(t *testing.T) {
	tmp := t.TempDir()
	path := filepath.Join(tmp, "conf", "puppetdb.conf")
	if tt.Content != nil {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(*tt.Content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := &terminustest.Log{Least: slog.LevelDebug}
	cfg, err := puppetdb.LoadConfig(path, slog.New(log))
	words := func(s string) string { return strings.ReplaceAll(s, tmp, "<TMP>") }
	switch {
	case tt.Error == "" && err != nil:
		t.Fatalf("got the error %v", err)
	case tt.Error != "" && err == nil:
		t.Fatalf("got no error, want %q", tt.Error)
	case tt.Ruby: // its words are Ruby's own; ours name setting and line
	case tt.Error != "":
		if got := words(indirector.Message(err)); got != tt.Error {
			t.Errorf("got the error %q, want %q", got, tt.Error)
		}
		if f, ok := err.(*indirector.Failure); !ok || f.Class != tt.Class {
			t.Errorf("got the error %#v, want a %s", err, tt.Class)
		}
	default:
		if got := settingsOf(cfg); !reflect.DeepEqual(got, tt.Settings) {
			t.Errorf("got  %v\nwant %v", got, tt.Settings)
		}
	}
	var got, want []string
	for _, line := range log.Take() {
		if !strings.HasPrefix(line.Message, path+":") { // ours: what Puppet ignores without a word
			got = append(got, line.Level+" "+words(line.Message))
		}
	}
	for _, line := range tt.Logs {
		want = append(want, line[0]+" "+line[1])
	}
	if tt.Ruby && len(got) == len(want) {
		got, want = got[:len(got)-1], want[:len(want)-1]
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the log:\ngot  %q\nwant %q", got, want)
	}
}

// settingsOf are the settings as the recording has them.
func settingsOf(c *puppetdb.Config) map[string]any {
	urls := func(all []*url.URL) any {
		out := []any{}
		for _, u := range all {
			out = append(out, u.String())
		}
		return out
	}
	return map[string]any{
		"server_urls": urls(c.ServerURLs), "submit_only_server_urls": urls(c.SubmitOnly), "server_url_timeout": c.Timeout.Seconds(),
		"min_successful_submissions": float64(c.MinSubmissions), "soft_write_failure": c.SoftFailure, "include_unchanged_resources": c.Unchanged,
		"command_broadcast": c.Broadcast, "sticky_read_failover": c.Sticky, "verify_client_certificate": c.Certificate,
	}
}
