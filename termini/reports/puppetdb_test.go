package reports_test

import (
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/terminustest"
	"indirtui/termini/reports"
	"indirtui/traces"
)

// TestPuppetDB sends a report to a PuppetDB that takes it, one that refuses it, and
// one that is not there. The caller gets the same each time. Rules PDB-REP-01,
// PDB-REP-04.
func TestPuppetDB(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, conf string
		status     int
		log        []string
		outcome    traces.Outcome
	}{
		{name: "taken", status: 200, log: []string{"info 'store_report' command for web01 submitted to PuppetDB with UUID u1"}, outcome: traces.Good},
		{name: "refused", status: 400, log: []string{`err Report processor failed: [400 Bad Request] {"uuid":"u1"}`}, outcome: traces.ErrHidden},
		{
			name: "softly refused", conf: "soft_write_failure = true\n", status: 400, outcome: traces.Part,
			log: []string{`err 'store_report'command for web01 failed during submission to PuppetDB: [400 Bad Request] {"uuid":"u1"}`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var asked string
			ca := clienttest.New(t, "Puppet CA")
			leaf := ca.Issue(t, "localhost", clienttest.Local)
			s := clienttest.Serve(t, leaf, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked = r.Method + " " + r.URL.Path + " " + r.URL.Query().Get("command") + " " + string(body)
				w.WriteHeader(tt.status)
				io.WriteString(w, `{"uuid":"u1"}`)
			}))
			dir := t.TempDir()
			set := ca.Write(t, dir, leaf)
			set["confdir"], set["reports"], set["node_name_value"] = dir, "puppetdb", "puppet.example.com"
			clienttest.WriteFile(t, filepath.Join(dir, "puppetdb.conf"), []byte("[main]\nserver_urls = "+s.URL+"\n"+tt.conf))
			log := new(terminustest.Log)
			terminus, err := reports.Processor.New(indirector.Env{Settings: set, Log: slog.New(log), Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer terminus.(io.Closer).Close()
			sent := *report
			sent.Logs, sent.Time = nil, model.At(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))
			live := &traces.Live{Context: t.Context(), Trace: new(traces.Trace), Step: traces.Terminus}
			got, err := terminus.(indirector.Saver).Save(live, &indirector.Request{Key: "web01", Instance: &sent})
			if names, ok := got.([]string); err != nil || !ok || !slices.Equal(names, []string{"puppetdb"}) {
				t.Errorf("got %v, %v; want the name of the processor", got, err)
			}
			if !strings.HasPrefix(asked, `POST /pdb/cmd/v1 store_report {"certname":"web01",`) {
				t.Errorf("PuppetDB was sent %s", asked)
			}
			if got, want := log.String(), strings.Join(tt.log, "\n"); got != want {
				t.Errorf("the log:\ngot  %s\nwant %s", got, want)
			}
			tr := live.Trace
			tr.Verb, tr.Steps[traces.Terminus].Answer = traces.Save, traces.Written
			if got := traces.Judge(tr); got != tt.outcome {
				t.Errorf("got the outcome %s, want %s", got, tt.outcome)
			}
		})
	}
}
