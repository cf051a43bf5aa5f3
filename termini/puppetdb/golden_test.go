package puppetdb_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
)

// A clientCase is a conversation with scripted servers.
type clientCase struct {
	ID       string                      `json:"id"`
	Conf     string                      `json:"conf"`
	Settings map[string]string           `json:"settings"`
	Answers  map[string][]scriptedAnswer `json:"answers"`
	Steps    []clientStep                `json:"steps"`
	Requests []seenRequest               `json:"requests"`
}

// A clientStep is one thing that is asked of a terminus.
type clientStep struct {
	Do, Key, Host string
	Options       map[string]json.RawMessage
	Filter, Query json.RawMessage
	Value         json.RawMessage
	Error         string
	Exception     string
	RubyError     bool        `json:"ruby_error"`
	AtLeast       int         `json:"at_least_s"`
	Logs          [][2]string `json:"logs"`
}

// readCases reads a file of the recording.
func readCases[T any](t *testing.T, name string) []T {
	t.Helper()
	b, err := os.ReadFile(golden.PathBeside(t, "../../indirector/puppetdb", "stores", "puppetdb", name))
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("there are no cases")
	}
	return cases
}

// TestGoldenClient has the conversations of Puppet's own client. Rules
// PDB-HTTP-01 to PDB-HTTP-14, PDB-QRY-01 to PDB-QRY-08, PDB-NODE-01, PDB-CFG-07.
func TestGoldenClient(t *testing.T) {
	t.Parallel()
	for _, tt := range readCases[clientCase](t, "client.json") {
		t.Run(tt.ID, func(t *testing.T) {
			t.Parallel()
			tt.check(t)
		})
	}
}

func (tt *clientCase) check(t *testing.T) {
	p := newPeer(t, peerOptions{conf: cmp.Or(tt.Conf, "server_urls = {1}\n"), settings: tt.Settings, answers: tt.Answers, producer: "compiler.example.com"})
	again := false
	for i := range tt.Steps {
		s := &tt.Steps[i]
		begin := time.Now()
		value, err := p.do(t.Context(), s)
		if took := time.Since(begin); took < time.Duration(s.AtLeast)*time.Second {
			t.Errorf("%s took %s, want at least %d s", s.Do, took, s.AtLeast)
		}
		if kind := accidentOf(s); kind != "" {
			again = true
			checkAccident(t, kind, s, value, err)
			continue
		}
		s.checkAnswer(t, p, value, err)
		s.checkLog(t, p)
	}
	if !again {
		p.checkRequests(t, tt.Requests)
	}
}

// checkAnswer compares value and error.
func (s *clientStep) checkAnswer(t *testing.T, p *peer, value any, err error) {
	t.Helper()
	switch {
	case s.Error != "" && err == nil:
		t.Errorf("%s: got %v, want the error %q", s.Do, value, s.Error)
	case s.Error != "" && s.RubyError:
	case s.Error != "":
		if got := free(p.anonymous(indirector.Message(err))); got != free(s.Error) {
			t.Errorf("%s: got the error\n%s\nwant\n%s", s.Do, got, free(s.Error))
		}
		if f := (*indirector.Failure)(nil); !errors.As(err, &f) || cmp.Or(f.Class, "Puppet::Error") != s.Exception {
			t.Errorf("%s: got the error %#v, want a %s", s.Do, err, s.Exception)
		}
	case string(s.Value) == "null":
		if !errors.Is(err, indirector.ErrNotFound) {
			t.Errorf("%s: got %v, %v; want nil", s.Do, value, err)
		}
	case err != nil:
		t.Errorf("%s: got the error %v, want %s", s.Do, err, s.Value)
	case string(s.Value) == `"Puppet::Util::Log"`:
		if message, ok := value.(string); !ok || free(p.anonymous(message)) != free(s.Logs[len(s.Logs)-1][1]) && !freeWords(s.Logs[len(s.Logs)-1][1]) {
			t.Errorf("%s: got %v, want what was logged: %s", s.Do, value, s.Logs[len(s.Logs)-1][1])
		}
	default:
		if got, want := plain(t, value), wanted(t, s); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %v\nwant %v", s.Do, got, want)
		}
	}
}

// plain is a value as JSON has it, in the shape of the recording.
func plain(t *testing.T, value any) any {
	t.Helper()
	switch v := value.(type) {
	case data.Value:
		b, err := format.AppendJSON(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		return parse(t, b)
	case *model.Facts:
		return plain(t, v.Data())
	case []indirector.Instance:
		all := []any{}
		for _, inst := range v {
			switch inst := inst.(type) {
			case *model.Resource:
				params := plain(t, inst.Parameters).(map[string]any)
				if _, named := params["name"]; !named {
					params["name"] = inst.Title // Puppet's resources have it
				}
				all = append(all, map[string]any{
					"ref": inst.Ref(), "collector_id": inst.Exporter + "|" + inst.Type + "|" + inst.Title,
					"exported": inst.Exported, "virtual": nil, "parameters": params,
				})
			default:
				all = append(all, inst.Key())
			}
		}
		return all
	}
	t.Fatalf("got a %T", value)
	return nil
}

func parse(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}

// wanted is the recorded value. A type that Puppet does not know becomes a class
// there, which only Puppet needs.
func wanted(t *testing.T, s *clientStep) any {
	v := parse(t, s.Value)
	all, _ := v.([]any)
	for _, x := range all {
		r, ok := x.(map[string]any)
		if !ok || r["collector_id"] == nil {
			continue
		}
		id := strings.SplitN(r["collector_id"].(string), "|", 3)
		if strings.HasPrefix(r["ref"].(string), "Class[") && id[1] != "Class" {
			r["ref"] = id[1] + "[" + id[2] + "]"
			r["parameters"].(map[string]any)["name"] = id[2]
		}
	}
	if s.Do == "face status" {
		return all[0] // the face makes a list
	}
	return v
}

// accidentOf is which accident of Puppet a step met that is not copied, by what
// happened.
func accidentOf(s *clientStep) string {
	if strings.HasPrefix(s.Error, "wrong number of arguments") {
		return "arguments that Ruby 3 refuses"
	}
	for _, line := range s.Logs {
		switch {
		case strings.Contains(line[1], "attempt to read body out of block"):
			return "Retry-After"
		case strings.HasPrefix(line[1], "Could not retrieve status for "):
			return "status of an unknown node"
		}
	}
	return ""
}

func checkAccident(t *testing.T, kind string, s *clientStep, value any, err error) {
	t.Helper()
	switch kind {
	case "status of an unknown node": // Puppet's face means to report it, and has no row
		if !errors.Is(err, indirector.ErrNotFound) {
			t.Errorf("%s: got %v, %v; want not found", s.Do, value, err)
		}
	default: // Puppet fails where it meant to answer
		if err != nil {
			t.Errorf("%s: got the error %v, want an answer in spite of %s", s.Do, err, kind)
		}
	}
}

// checkLog compares what was logged.
func (s *clientStep) checkLog(t *testing.T, p *peer) {
	t.Helper()
	var got, want []string
	for _, line := range p.log.Take() {
		if message := p.anonymous(line.Message); !ours.MatchString(message) {
			got = append(got, line.Level+" "+free(message))
		}
	}
	for _, line := range s.Logs {
		if freeWords(line[1]) {
			i := len(want)
			if i < len(got) && strings.HasPrefix(got[i], line[0]+" ") {
				want = append(want, got[i])
				continue
			}
		}
		want = append(want, line[0]+" "+free(line[1]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s, the log:\ngot  %s\nwant %s", s.Do, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// ours matches lines about what Puppet does without a word: they begin with a line of
// the file.
var ours = regexp.MustCompile(`^(<TMP>/conf/)?puppetdb\.conf:\d+: `)

// freeWords reports whether a message is one of Ruby's JSON parser.
func freeWords(message string) bool {
	return regexp.MustCompile(`^\d+: unexpected token at`).MatchString(message)
}

var freeParts = []struct {
	pattern *regexp.Regexp
	to      string
}{
	{regexp.MustCompile(`failed after (<S>|[\d.]+) seconds: .*?'\. Failing`), "failed after <S> seconds: (free)'. Failing"},
	{regexp.MustCompile(`interrupted after (<S>|[\d.]+) seconds`), "interrupted after <S> seconds"},
	{regexp.MustCompile(`certificate verify failed \[.*?\]'`), "certificate verify failed [(free)]'"},
}

// free replaces words of libraries.
func free(message string) string {
	for _, p := range freeParts {
		message = p.pattern.ReplaceAllString(message, p.to)
	}
	return message
}

// do asks what a step asks.
func (p *peer) do(ctx context.Context, s *clientStep) (any, error) {
	req := &indirector.Request{Key: s.Key, Environment: "production"}
	verb, indirection, _ := strings.Cut(s.Do, " ")
	switch s.Do {
	case "query":
		v, err := format.DecodeJSON(s.Query, format.Limits{})
		if err != nil {
			return nil, err
		}
		return p.db.Query(ctx, v)
	case "face status":
		return p.db.Status(ctx, s.Key)
	case "save facts":
		req.Instance = &model.Facts{Name: s.Key, Values: data.OfHash([]data.Pair{data.P("kernel", data.OfString("Linux"))})}
		req.Remote = &indirector.Remote{Node: s.Key, Authenticated: true}
	case "search resource":
		filter, err := format.DecodeJSON(append(slices.Clone(s.Filter), ' '), format.Limits{})
		if err != nil && len(s.Filter) > 0 {
			return nil, err
		}
		req.Options = []indirector.Option{{Name: "host", Value: cmp.Or(s.Host, "me.example.com")}, {Name: "filter", Value: filter}}
	case "search facts":
		for name, v := range s.Options {
			value, err := format.DecodeJSON(v, format.Limits{})
			if err != nil {
				return nil, err
			}
			req.Options = append(req.Options, indirector.Option{Name: name, Value: value})
		}
	case "find facts", "destroy node":
	default:
		return nil, fmt.Errorf("the test cannot %q", s.Do)
	}
	return p.ask(ctx, indirection, verb, req)
}
