package transaction_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
	"indirtui/traces"
)

// A versions has contents of files, and notes what it is asked.
type versions struct{ asked []string }

func (v *versions) Find(_ context.Context, source string, _ providers.Query) (*providers.Source, error) {
	v.asked = append(v.asked, "find "+source)
	return nil, nil
}

func (v *versions) Search(_ context.Context, source string, _ providers.Query) ([]providers.Source, error) {
	v.asked = append(v.asked, "search "+source)
	return nil, nil
}

func (v *versions) Open(_ context.Context, s *providers.Source) (io.ReadCloser, error) {
	v.asked = append(v.asked, fmt.Sprint("open ", s.URL, " ", s.ContentURI, " ", s.CodeID))
	return io.NopCloser(strings.NewReader("a\n")), nil
}

const (
	ofA      = `{"type": "sha256", "value": "{sha256}87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"}`
	ofBefore = `{"type": "sha256", "value": "{sha256}01d09d19c2139a46aebfb577780d123d7396e97201bc7ead210a2ebff8239dee"}`
)

// TestStatic: of a static catalog no metadata is asked for, and contents are those of its
// version of the code. Rules RES-FILE-11 and TERM-COMP-09.
func TestStatic(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	metadata := func(relative, kind, sum string) string {
		uri := ""
		if kind == "file" {
			uri = `, "content_uri": "puppet:///modules/m/files/` + relative + `"`
		}
		return fmt.Sprintf(`{"path": "/code/m/files", "relative_path": %q, "links": "manage", "owner": 0, "group": 0, "mode": 420, "type": %q, "checksum": %s, "source": "puppet:///modules/m/%[1]s"%[4]s}`, relative, kind, sum, uri)
	}
	text := fmt.Sprintf(`{"name": "n", "version": 1, "code_id": "v7", "catalog_format": 2, "environment": "production",
		"resources": [
			{"type": "File", "title": "@ROOT@/a", "kind": "compilable_type", "parameters": {"source": "puppet:///modules/m/a"}},
			{"type": "File", "title": "@ROOT@/changed", "kind": "compilable_type", "parameters": {"source": "puppet:///modules/m/changed"}},
			{"type": "File", "title": "@ROOT@/dir", "kind": "compilable_type", "parameters": {"ensure": "directory", "recurse": true, "source": "puppet:///modules/m/dir"}}],
		"edges": [], "classes": [],
		"metadata": {"@ROOT@/a": %s, "@ROOT@/changed": %s},
		"recursive_metadata": {"@ROOT@/dir": {"puppet:///modules/m/dir": [%s, %s]}}}`,
		metadata("a", "file", ofA), metadata("changed", "file", ofBefore), metadata(".", "directory", ofA), metadata("sub", "file", ofA))
	m := p.system(systemtest.Case{}, p.settings())
	v := new(versions)
	result := transaction.Run(t.Context(), catalogOf(t, p.expand([]byte(text))), transaction.Options{Settings: agent(m), System: m, Types: allTypes(), Sources: v})
	want := []string{
		"open puppet:///modules/m/a puppet:///modules/m/files/a v7",
		"open puppet:///modules/m/changed puppet:///modules/m/files/changed v7",
		"open puppet:///modules/m/dir/sub puppet:///modules/m/files/sub v7",
	}
	if !slices.Equal(v.asked, want) {
		t.Errorf("asked %q, want %q", v.asked, want)
	}
	got := p.tree(t)
	if got["a"] != `file 0644 "a\n"` || got["dir/sub"] != `file 0644 "a\n"` || got["changed"] != "" {
		t.Errorf("got the files %v", got)
	}
	if log := fmt.Sprint(result.Report.Logs); result.Exit != 6 || !strings.Contains(log, "File written to disk did not match desired checksum; discarding changes") {
		t.Errorf("exit %d, got %s", result.Exit, log)
	}
}

// TestServerBucket: a file is sent to the bucket of a server before it is changed, unless
// that has it. Rules RES-FILE-18 and RES-MISC-03.
func TestServerBucket(t *testing.T) {
	t.Parallel()
	const sum = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
	for name, has := range map[string]any{"the server has it": true, "the server does not have it": false, "the server has nothing": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			systemtest.Tree{"f": {Content: "a\n"}}.Plant(t, p.dir+"/root")
			var asked []string
			do := func(_ context.Context, req *indirector.Request) (indirector.Response, error) {
				asked = append(asked, fmt.Sprint(req.Verb, " ", req.Key))
				if has == nil && req.Verb == indirector.Head {
					return indirector.Response{}, indirector.NotFound(traces.ReturnedNil, "")
				}
				return indirector.Response{Value: has}, nil
			}
			text := `{"name": "n", "version": 1, "catalog_format": 2, "environment": "production", "edges": [], "classes": [], "resources": [
				{"type": "Filebucket", "title": "far", "kind": "compilable_type", "parameters": {"server": "bucket.example.com", "path": false}},
				{"type": "File", "title": "@ROOT@/f", "kind": "compilable_type", "parameters": {"content": "b", "backup": "far"}}]}`
			m := p.system(systemtest.Case{}, p.settings(map[string]any{"serverport": "8140"}))
			result := transaction.Run(t.Context(), catalogOf(t, p.expand([]byte(text))), transaction.Options{
				Settings: agent(m), System: m, Types: allTypes(), Buckets: &providers.Requests{Do: do},
			})
			want := []string{"head filebucket://bucket.example.com:8140/sha256/" + sum + "/" + p.dir + "/root/f"}
			if has != true {
				want = append(want, strings.Replace(want[0], "head", "save", 1))
			}
			if !slices.Equal(asked, want) || result.Exit != 2 {
				t.Errorf("exit %d, asked %q, want %q; %v", result.Exit, asked, want, result.Report.Logs)
			}
		})
	}
}
