package engine_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/demo/scenarios"
)

// No secret is kept in the clear: not in the recording, the store or a trace.
// The answer itself is the caller's, and whole.
func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	runsENC(t)
	const secret = "hunter2"
	s := newStage(t, scene{
		application: "server", recording: "secrets.jsonl",
		conf:   "[server]\nnode_terminus = exec\nexternal_nodes = $dir/bin/enc --password hunter2-argument\nfacts_terminus = memory\ndbpassword = hunter2-setting\nreporturl = http://puppet:hunter2-url@localhost/\n",
		routes: "server:\n  catalog:\n    terminus: json\n",
		files: map[string]string{
			"bin/enc": `#!/bin/sh
case $3 in
good) echo "{parameters: {secret_token: hunter2-parameter, db: {password: [hunter2-nested]}}}" ;;
odd) echo "secret_token: hunter2-stdout"; echo "password=hunter2-stderr" >&2; exit 1 ;;
*) echo "[secret_token: hunter2-broken"; ;;
esac
`,
			"var/server_data/catalog/n1.json": `{"name":"n1","environment":"production","resources":[
				{"type":"File","title":"/etc/db.conf","parameters":{"content":{"__ptype":"Sensitive","__pvalue":"hunter2-rich"}}},
				{"type":"User","title":"root","parameters":{"hash":"hunter2-named"},"sensitive_parameters":["hash"]}]}`,
		},
	})
	var shown bytes.Buffer
	look := func(req indirector.Request, fails bool) any {
		v, err := s.ask(req)
		if (err != nil) != fails {
			t.Errorf("%s %s: %v", req.Indirection, req.Key, err)
		}
		tr := s.trace()
		shown.Write(traces.AppendSteps(traces.AppendStory(nil, tr), tr))
		shown.Write(store.AppendTrace(nil, tr))
		for _, v := range []traces.Value{tr.Value(), tr.Sent()} {
			if v.Size == 0 {
				continue
			}
			body, err := s.Store.Body(v)
			if err != nil {
				t.Error(err)
			}
			shown.Write(body)
		}
		return v
	}
	node := look(find("node", "good"), false)
	look(find("node", "odd"), true)
	look(find("node", "broken"), true)
	withOption := find("node", "good")
	withOption.Options = []indirector.Option{{Name: "password", Value: "hunter2-option"}, {Name: "facts", Value: `%7B"values":{"role":"hunter2-fact"}}`}}
	look(withOption, false)
	look(find("catalog", "n1"), false)
	f := scenarios.Facts("n1")
	f.Values = f.Values.With("api_token", f.Get("kernel"))
	look(save("facts", f), false)
	for _, p := range s.Configuration().Problems {
		shown.WriteString(p.String() + "\n")
	}
	for _, set := range s.Settings.All() {
		shown.WriteString(s.RedactSetting(set.Name, set.Value) + "\n")
	}
	s.leaks("what is shown", shown.Bytes(), secret)

	recording, err := os.ReadFile(s.path("secrets.jsonl"))
	if err != nil || !bytes.Contains(recording, []byte("masked")) {
		t.Fatalf("recording of %d bytes: %v; want masked values", len(recording), err)
	}
	s.leaks("the recording", recording, secret)

	json, _ := format.ByName("json")
	if b, err := format.Render(json, node.(indirector.Instance)); err != nil || !bytes.Contains(b, []byte("hunter2-parameter")) {
		t.Errorf("the caller got %s, %v; want the parameter in the clear", b, err)
	}
}

func (s *stage) leaks(where string, b []byte, secret string) {
	s.t.Helper()
	for i := bytes.Index(b, []byte(secret)); i >= 0; i = bytes.Index(b, []byte(secret)) {
		s.t.Errorf("%s holds a secret: …%s", where, b[max(0, i-80):min(len(b), i+30)])
		b = b[i+len(secret):]
	}
}

// TestSecretsThatAreCut: a secret that begins within what is kept of an option,
// and ends behind it, is redacted as a whole.
func TestSecretsThatAreCut(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene{application: "server", conf: "[server]\nnode_terminus = plain\n"})
	for _, tt := range []struct{ before, secret, after string }{
		{"ghp_", "Zq7Wk3Rt9Lm2Xv5Bn8Jd4Hf6Gs1Pa0Yc3EuT", " x"},
		{"https://u:", "Zq7Wk3Rt9Lm2Xv5Bn8Jd4Hf6Gs1", "@example.com/x"},
		{"AKIA", "Z7WKRT2LMXVBNJDH", " x"},
	} {
		for pad := traces.LongestOption - 60; pad <= traces.LongestOption; pad++ {
			req := find("node", "n1")
			padding := strings.Repeat("a ", pad)[:pad-1] + " "
			req.Options = []indirector.Option{{Name: "note", Value: padding + tt.before + tt.secret + tt.after + strings.Repeat(" b", 2000)}}
			s.must(req)
			got := s.trace().Options[0].Value
			if strings.Contains(got, tt.secret[:4]) {
				t.Errorf("%s after %d bytes: got %q", tt.before, pad, got)
			}
			if most := traces.LongestOption + 60; len(got) > most || !strings.HasPrefix(got, "a a ") || !strings.HasSuffix(got, "…") {
				t.Errorf("%s after %d bytes: got %d bytes, %q, want at most %d", tt.before, pad, len(got), got, most)
			}
		}
	}
}
