package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/redact"
	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/traces/store"
	"indirtui/ui/replay"
)

// secretForms are texts with a secret, §.
var secretForms = [...]string{
	"https://u:§@h/x", "https://h/x?token=§", "https://h/x?a=b&sig=§", "password=§", "passphrase: §", "db_pass: §", "dbPass=§", "pwd=§", "pw_hash: §", "api_key=§",
	"access_key: §", "credentials=§", "psk=§", "bearer: §", "snmp_community=§", "client-secret: §", "private_key: §", "session_id=§", "Authorization: Bearer §",
	"Set-Cookie: a=§", "Authorization: Basic §", "mysql -u root -p§ x", "curl -u u:§ https://h", "sshpass -p § ssh h", "redis-cli -a §", "docker login -p §",
	"mysqldump --password=§", "keytool -storepass §", "machine h login u password §", "IDENTIFIED BY '§'", "requirepass §", "rocommunity §",
	"ghp_§", "gho_§", "glpat-§", "xoxb-§", "sk_live_§", "AIza§", "npm_§", "hvs.§", "dckr_pat_§", "eyJhbGciOiJI.eyJ§.§", "https://hooks.slack.com/services/T0/B0/§",
	"$1$salt$§", "$5$salt$§§", "$6$salt$§§", "$y$j9T$salt$§", "$2b$10$§§", "{SSHA}§=",
	"-----BEGIN RSA PRIVATE KEY-----\n§\n-----END RSA PRIVATE KEY-----", `{"password":"§"}`, "{:token=>\"§\"}", "password changed '§' to '§'", "%7B%22password%22%3A%22§%22%7D",
	"%257B%2522api_key%2522%253A%2522§%2522%257D",
}

// A garden plants secrets and looks for them.
type garden struct {
	n     int
	where map[string]string // by secret
}

// plant returns a form with a secret of its own.
func (g *garden) plant(form, where string) string {
	g.n++
	secret := fmt.Sprintf("kJ9xQvLmTn8RbYcWdZfHgPsUaEiXq%09dZq", g.n)
	g.where[secret] = where + " " + form
	return strings.ReplaceAll(form, "§", secret)
}

// check fails if a secret is in what left the program.
func (g *garden) check(t *testing.T, out string, b []byte) {
	t.Helper()
	if len(b) == 0 {
		t.Errorf("%s is empty", out)
	}
	text, shown := string(b), 0
	const core = "kJ9xQvLmTn8RbYcWdZfHgPsUaEiXq"
	for i := strings.Index(text, core); i >= 0; i = strings.Index(text, core) {
		secret := text[i:min(i+len(core)+11, len(text))]
		if shown++; shown <= 10 {
			t.Errorf("%s holds %s of %s: %q", out, secret, g.where[secret], text[max(0, i-60):min(i+60, len(text))])
		}
		text = text[i+len(core):]
	}
}

// fill plants a form in every text of v, at any depth.
func (g *garden) fill(v reflect.Value, form, where string) (places int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(g.plant(form, where))
		return 1
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return 0
		}
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			switch {
			case name == "Digest" || name == "Format" || name == "Model": // are the store's
				continue
			case name == "Kind" && v.Type() == reflect.TypeFor[traces.Choice]():
				v.Field(i).Set(reflect.ValueOf(traces.FromYou))
				continue
			}
			places += g.fill(v.Field(i), form, where+" "+name)
		}
	case reflect.Array:
		for i := range v.Len() {
			places += g.fill(v.Index(i), form, where)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			places += g.fill(v.Index(0), form, where)
		}
	}
	return places
}

// A newFile is a store.File.
type newFile struct{ bytes.Buffer }

func (*newFile) Commit() error { return nil }
func (*newFile) Abort() error  { return errors.New("aborted") }

// Every text that a request may have gets every form of a secret, and nothing
// of them leaves the program: not in rows, traces, the recording or any export.
func TestPlantedSecrets(t *testing.T) {
	t.Parallel()
	g := &garden{where: map[string]string{}}
	m := redact.New(redact.Rules{})
	path := filepath.Join(t.TempDir(), "secrets.jsonl")
	log, err := store.Open(store.Options{Path: path, Render: engine.NewRenderer(m).Render, RedactText: m.Text})
	if err != nil {
		t.Fatal(err)
	}
	places := 0
	var ids []uint64
	var shown bytes.Buffer
	asked := map[uint64]string{}
	for _, form := range secretForms {
		tr := new(traces.Trace)
		places = g.fill(reflect.ValueOf(tr).Elem(), form, "trace")
		tr.Verb, tr.Outcome = traces.Find, traces.Err
		tr.Values = &traces.Values{Answer: traces.Value{Source: tr.Value().Source}, Sent: traces.Value{Source: tr.Sent().Source}}
		tr.Indirection, tr.Start, tr.Took = "facts", time.Now(), time.Second
		tr.Options = append(tr.Options, traces.Option{Name: "facts", Value: url.QueryEscape(g.plant(form, "facts"))}, traces.Option{Name: "secret", Value: g.plant("§", "named")})
		facts := &model.Facts{Name: "n", Values: data.OfHash([]data.Pair{
			data.P("a", data.OfString(g.plant(form, "fact"))), data.P("list", data.OfStrings([]string{"x", g.plant(form, "list")})),
			data.P(g.plant(form, "name of a fact"), data.OfInt(1)),
			data.P("deep", data.OfHash([]data.Pair{data.P("passphrase", data.OfString(g.plant("§", "named fact")))})),
		})}
		key := tr.Key
		id := log.Begin(tr)
		tr.ID = id
		row, _ := log.Row(id)
		fmt.Fprintf(&shown, "%+v\n", row)
		ids = append(ids, id)
		asked[id] = key
		log.End(tr, facts)
		if err := log.AddComment(id, g.plant(form, "comment")); err != nil {
			t.Fatal(err)
		}
		log.AddEvent(g.plant(form, "event"))
	}
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		row, _ := log.Row(id)
		tr, err := log.Trace(id)
		if err != nil {
			t.Fatal(err)
		}
		if key := replay.Request(log, tr).Key; key != asked[id] {
			t.Errorf("#%d is asked again with %q, want %q", id, key, asked[id])
		}
		body, err := log.Body(tr.Value())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&shown, "%+v\n%+v\n%s\n%+v\n", row, tr, body, log.Comments(id))
		shown.Write(traces.AppendSteps(traces.AppendStory(nil, tr), tr))
		shown.Write(store.AppendTrace(nil, tr))
	}
	fmt.Fprintf(&shown, "%+v", log.Events())
	g.check(t, "what is shown", shown.Bytes())
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	recording, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g.check(t, "the recording", recording)
	t.Logf("%d secrets in %d places of a request, %d forms", g.n, places, len(secretForms))
	if g.n < 120 {
		t.Errorf("%d secrets are too few", g.n)
	}
}

// A recording that was made without rules has all in the clear. Its exports
// have not.
func TestPlantedSecretsOfRecordings(t *testing.T) {
	t.Parallel()
	g := &garden{where: map[string]string{}}
	log, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var ids []uint64
	for _, form := range secretForms {
		tr := new(traces.Trace)
		g.fill(reflect.ValueOf(tr).Elem(), form, "trace")
		tr.Verb, tr.Outcome, tr.Indirection, tr.Start, tr.Took = traces.Find, traces.Err, "facts", time.Now(), time.Second
		tr.Values = &traces.Values{Answer: traces.Value{Model: "facts", Format: "json", Body: []byte(`{"secret": "` + g.plant("§", "value") + `"}`)}}
		id := log.Begin(tr)
		tr.ID = id
		ids = append(ids, id)
		log.End(tr, nil)
		if err := log.AddComment(id, g.plant(form, "comment")); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	m := redact.New(redact.Rules{})
	for _, f := range export.Formats() {
		var out newFile
		var report export.Report
		var err error
		if f == export.Recording {
			report, err = export.Save(&out, log, ids, export.Options{Redact: m.Text})
		} else {
			report, err = export.Write(io.Writer(&out), log, ids, export.Options{Format: f, Redact: m.Text})
		}
		if err != nil || report.Redacted == 0 {
			t.Errorf("%s: %v, redacted %d", f, err, report.Redacted)
		}
		g.check(t, string(f), out.Bytes())
	}
}
