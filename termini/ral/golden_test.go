package ral_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/manifest"
	"indirtui/indirector/resource/systemtest"
	"indirtui/termini/ral"
)

// lines reads a recording, a case on each line, with a directory of its own for each.
func lines(t *testing.T, part string, each func(t *testing.T, id, root string, text []byte)) {
	t.Helper()
	for line := range golden.Lines(t, golden.PathBeside(t, "../../indirector/resource", "ral", part)) {
		var named struct {
			ID string `json:"id"`
		}
		text := bytes.Clone(line)
		if err := json.Unmarshal(text, &named); err != nil {
			t.Fatal(err)
		}
		t.Run(named.ID, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			each(t, named.ID, root, []byte(systemtest.Expand(string(text), root, os.Getuid(), os.Getgid())))
		})
	}
}

// A request of a recording.
type request struct {
	Verb      string          `json:"verb"`
	Key       string          `json:"key"`
	Options   map[string]any  `json:"options"`
	Only      string          `json:"only"`
	Command   []string        `json:"command"`
	Stdout    []string        `json:"stdout"`
	Stderr    []string        `json:"stderr"`
	Result    json.RawMessage `json:"result"`
	Error     string          `json:"error"`
	Exception string          `json:"exception"`
	RubyError bool            `json:"ruby_error"`

	// Of a save.
	Parameters json.RawMessage   `json:"parameters"`
	Instance   []string          `json:"instance"` // type and title, if they are not those of the key
	Report     *report           `json:"report"`
	Logs       []logLine         `json:"logs"`
	Calls      []json.RawMessage `json:"calls"`
	Tree       map[string]string `json:"tree"`
}

type result struct {
	Ref      string          `json:"ref"`
	Data     json.RawMessage `json:"data"`
	Manifest []string        `json:"manifest"`
}

// TestGoldenRalRequests asks what real Puppet was asked of recorded systems. Rules
// RES-RAL-01 to RES-RAL-08.
func TestGoldenRalRequests(t *testing.T) {
	t.Parallel()
	lines(t, "requests.jsonl", func(t *testing.T, _, root string, text []byte) {
		var kase struct {
			systemtest.Case
			Settings map[string]any  `json:"settings"`
			Tree     systemtest.Tree `json:"tree"`
			Requests []request       `json:"requests"`
		}
		if err := json.Unmarshal(text, &kase); err != nil {
			t.Fatal(err)
		}
		kase.Tree.Plant(t, root)
		s := systemtest.New(kase.Case, root, withSettings(kase.Settings, t.TempDir()))
		terminus := &ral.Terminus{System: s, Host: s.Host}
		for _, r := range kase.Requests {
			if r.Verb == "save" {
				t.Run("save "+r.Key, func(t *testing.T) { saved(t, terminus, s, r, root) })
				continue
			}
			t.Run(r.Verb+" "+r.Key+strings.Join(r.Command, " "), func(t *testing.T) { asked(t, terminus, r, root) })
			for _, c := range s.Calls() {
				if !c.Looks && r.Verb != "save" {
					t.Errorf("%s %s ran %s, which is not known to look only", r.Verb, r.Key, c.Line())
				}
			}
		}
	})
}

func asked(t *testing.T, terminus *ral.Terminus, r request, root string) {
	t.Helper()
	if r.Command != nil {
		printed(t, terminus, r)
		return
	}
	req := &indirector.Request{Indirection: "resource", Key: r.Key}
	for name, value := range r.Options {
		if n, ok := value.(float64); ok {
			value = int64(n)
		}
		req.Options = append(req.Options, indirector.Option{Name: name, Value: value})
	}
	var got []indirector.Instance
	var err error
	switch r.Verb {
	case "find":
		var one indirector.Instance
		one, err = terminus.Find(t.Context(), req)
		got = []indirector.Instance{one}
	case "search":
		got, err = terminus.Search(t.Context(), req)
	default:
		if _, ok := any(terminus).(interface {
			Destroy(context.Context, *indirector.Request) (any, error)
		}); ok || !r.RubyError {
			t.Errorf("%s: want it missing", r.Verb)
		}
		return
	}
	if r.failed(t, err) {
		return
	}
	var want []result
	if r.Verb == "find" {
		want = make([]result, 1)
		err = json.Unmarshal(r.Result, &want[0])
	} else {
		err = json.Unmarshal(r.Result, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	got = kept(t, got, r.Only)
	if len(got) != len(want) {
		t.Fatalf("got %d resources, want %d", len(got), len(want))
	}
	for i, w := range want {
		compare(t, got[i].(*model.Resource), w)
	}
}

// failed reports whether a request should fail. The error must be the one that it has.
func (r *request) failed(t *testing.T, err error) bool {
	t.Helper()
	if r.Error == "" {
		if err != nil {
			t.Fatal(err)
		}
		return false
	}
	var f *indirector.Failure
	if !errors.As(err, &f) || f.Message != r.Error || class(f) != r.Exception {
		t.Fatalf("got %v (%T), want %s: %s", err, err, r.Exception, r.Error)
	}
	return true
}

func class(f *indirector.Failure) string {
	if f.Class == "" {
		return "Puppet::Error"
	}
	return f.Class
}

// kept are the resources whose titles match.
func kept(t *testing.T, all []indirector.Instance, only string) []indirector.Instance {
	t.Helper()
	if only == "" {
		return all
	}
	re := regexp.MustCompile(only)
	var left []indirector.Instance
	for _, r := range all {
		if re.MatchString(r.(*model.Resource).Title) {
			left = append(left, r)
		}
	}
	return left
}

func compare(t *testing.T, got *model.Resource, want result) {
	t.Helper()
	if got.Ref() != want.Ref {
		t.Errorf("got %s, want %s", got.Ref(), want.Ref)
		return
	}
	v, err := format.DecodeJSON(want.Data, format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	params := v.Get("parameters")
	is := got.Data()
	for _, p := range is.Get("parameters").Hash() {
		w, ok := params.Lookup(p.Key.Str())
		if !ok {
			t.Errorf("%s has %s = %s, want none", want.Ref, p.Key.Str(), p.Value.Inspect())
			continue
		}
		if !same(p.Value, w) {
			t.Errorf("%s: %s is %s, want %s", want.Ref, p.Key.Str(), p.Value.Inspect(), w.Inspect())
		}
	}
	if g, w := names(is.Get("parameters")), names(params); g != w {
		t.Errorf("%s: got the attributes\n%s, want\n%s", want.Ref, g, w)
	}
	if g, w := is.Without("parameters"), v.Without("parameters"); !data.Equal(g, w) {
		t.Errorf("%s: got %s, want %s", want.Ref, g.Inspect(), w.Inspect())
	}
	lines := strings.Split(strings.TrimSuffix(manifest.Text(got), "\n"), "\n")
	for i := range lines {
		if i < len(want.Manifest) && strings.Contains(want.Manifest[i], "<TIME>") {
			lines[i] = want.Manifest[i]
		}
	}
	if g, w := strings.Join(lines, "\n"), strings.Join(want.Manifest, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// same takes any time for the placeholder.
func same(got, want data.Value) bool {
	return want.Kind() == data.String && want.Str() == "<TIME>" && got.Text() != "absent" || data.Equal(got, want)
}

func names(v data.Value) string {
	var all []string
	for _, p := range v.Hash() {
		all = append(all, p.Key.Text())
	}
	return strings.Join(all, " ")
}

// printed compares with what puppet resource printed. It prints what find and search
// answer; a command that sets something applies it, and is left out.
func printed(t *testing.T, terminus *ral.Terminus, r request) {
	t.Helper()
	var words, extra []string
	yaml := false
	for i := 1; i < len(r.Command); i++ {
		switch word := r.Command[i]; {
		case word == "--param":
			i++
			extra = append(extra, r.Command[i])
		case word == "--to_yaml":
			yaml = true
		case !strings.HasPrefix(word, "-"):
			words = append(words, word)
		}
	}
	if len(words) > 2 || len(words) == 0 || len(words) == 1 && words[0] == "file" {
		t.Skip("it is no question to the terminus")
	}
	all, err := answered(t, terminus, words)
	if err != nil {
		if want := strings.Join(r.Stderr, "\n"); want != "Error: Could not run: "+err.Error() {
			t.Errorf("got %v, want %s", err, want)
		}
		return
	}
	extra = append(extra, "provider")
	text := ""
	for _, r := range all {
		text += manifest.Text(r, extra...)
	}
	if yaml {
		text = string(psych.Encode(manifest.Hiera(all, extra...), ""))
	}
	got := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range got {
		if i < len(r.Stdout) && strings.Contains(r.Stdout[i], "<TIME>") {
			got[i] = r.Stdout[i]
		}
	}
	if g, w := strings.Join(got, "\n"), strings.Join(r.Stdout, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func answered(t *testing.T, terminus *ral.Terminus, words []string) ([]*model.Resource, error) {
	t.Helper()
	req := &indirector.Request{Indirection: "resource", Key: strings.Join(words, "/")}
	var found []indirector.Instance
	var err error
	if len(words) == 1 {
		found, err = terminus.Search(t.Context(), req)
	} else {
		var one indirector.Instance
		one, err = terminus.Find(t.Context(), req)
		found = []indirector.Instance{one}
	}
	if err != nil {
		return nil, err
	}
	var all []*model.Resource
	for _, r := range found {
		all = append(all, r.(*model.Resource))
	}
	return all, nil
}
