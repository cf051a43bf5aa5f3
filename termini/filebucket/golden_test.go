package filebucket_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/traces"
)

type recorded struct {
	Model    string
	Name     string
	Checksum string
	Files    []struct{ Path, Mode, Base64 string }
	Requests []struct {
		Verb, Key, Contents, Error, Exception string
		Options                               map[string]any
		Value                                 any
	}
}

// TestGoldenBucket saves what real Puppet saved, compares the bucket byte for
// byte, and asks what Puppet was asked.
func TestGoldenBucket(t *testing.T) {
	t.Parallel()
	root := golden.Path(t, "formats", "out")
	paths, err := filepath.Glob(filepath.Join(root, "*", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var model struct{ Model string }
		if err := json.Unmarshal(text, &model); err != nil || model.Model != "file_bucket_file" {
			continue
		}
		var want recorded
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		cases++
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			want.check(t)
		})
	}
	if cases == 0 {
		t.Skipf("the set has no file_bucket_file in %s", root)
	}
}

func (r *recorded) check(t *testing.T) {
	files := map[string]string{}
	for _, f := range r.Files {
		files[filepath.Base(f.Path)] = decode(t, f.Base64)
	}
	algorithm, sum, _ := strings.Cut(r.Name, "/")
	h := newFixture(t, settings{"digest_algorithm": algorithm})
	inst, err := model.NewFileBucketFile(algorithm, []byte(files["contents"]))
	if err != nil {
		t.Fatal(err)
	}
	if inst.Key() != r.Name {
		t.Errorf("name: got %s, want %s", inst.Key(), r.Name)
	}
	key := r.Name
	if p := strings.TrimSuffix(files["paths"], "\n"); p != "" {
		key += "/" + p
	}
	if _, err := h.do(t, indirector.Save, key, inst); err != nil {
		t.Fatal(err)
	}
	got := tree(t, h.dir)
	for _, f := range r.Files {
		var mode uint32
		if _, err := fmt.Sscanf(f.Mode, "%o", &mode); err != nil {
			t.Fatal(err)
		}
		if want := os.FileMode(mode).String() + " " + decode(t, f.Base64); got[f.Path] != want {
			t.Errorf("%s: got %q, want %q", f.Path, got[f.Path], want)
		}
	}
	for i, q := range r.Requests {
		t.Run(fmt.Sprintf("request %d", i), func(t *testing.T) {
			var options []indirector.Option
			for name, value := range q.Options {
				options = append(options, option(name, value))
			}
			var inst indirector.Instance
			if q.Verb == "save" {
				inst = file(q.Contents)
			}
			resp, err := h.do(t, traces.ParseVerb(q.Verb), strings.ReplaceAll(q.Key, "%CHECKSUM%", sum), inst, options...)
			if q.Error != "" {
				f := (*indirector.Failure)(nil)
				if !errors.As(err, &f) || f.Message != q.Error || f.Class != q.Exception {
					t.Fatalf("got %v, want %s: %s", err, q.Exception, q.Error)
				}
				return
			}
			if errors.Is(err, indirector.ErrNotFound) && q.Value == nil {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			switch want := q.Value.(type) {
			case nil:
				t.Errorf("got %v, want nil", resp.Value)
			case bool:
				if resp.Value != want {
					t.Errorf("got %v, want %v", resp.Value, want)
				}
			case map[string]any:
				if got, want := read(t, resp.Value.(*model.FileBucketFile).Contents), decode(t, want["contents_base64"].(string)); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			case string:
				wanted := want
				if want == "saved" {
					wanted = ""
				}
				if got := read(t, resp.Value.(*model.FileBucketFile).Contents); got != wanted {
					t.Errorf("got %q, want %q", got, want)
				}
			default:
				t.Fatalf("no such kind of value: %v", q.Value)
			}
		})
	}
}

func decode(t *testing.T, s string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
