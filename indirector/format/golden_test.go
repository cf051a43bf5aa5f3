package format_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
)

// recorded returns the path of a file that was recorded from real Puppet.
func recorded(t testing.TB, name ...string) string {
	t.Helper()
	return golden.Path(t, append([]string{"formats"}, name...)...)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t testing.TB, b []byte) data.Value {
	t.Helper()
	v, err := format.DecodeJSON(b, format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustFormat(t testing.TB, name string) *format.Format {
	t.Helper()
	f, ok := format.ByName(name)
	if !ok {
		t.Fatalf("there is no format %q", name)
	}
	return f
}

// input makes the instance of a case: from what the recorder was given, if the
// set has that, or else from the data hash or the contents that it recorded.
func input(t *testing.T, name string, expected data.Value) indirector.Instance {
	t.Helper()
	given := data.OfHash([]data.Pair{data.P("data", expected.Get("data_hash"))})
	if b, err := os.ReadFile(filepath.Join(recorded(t), "inputs", name+".yaml")); err == nil {
		doc, err := psych.Decode(b, psych.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		given = doc.Value
	}
	if id := expected.Dig("data_hash", "catalog_uuid"); given.Dig("data", "catalog_uuid").IsNil() && !id.IsNil() {
		// Puppet invents one; see inventedUUID.
		given = given.With("data", given.Get("data").With("catalog_uuid", id))
	}
	switch expected.Get("model").Str() {
	case "file_bucket_file":
		b, err := base64.StdEncoding.DecodeString(expected.Dig("data_hash", "contents_base64").Str())
		if err != nil {
			t.Fatal(err)
		}
		f, err := model.NewFileBucketFile("sha256", b)
		if err != nil {
			t.Fatal(err)
		}
		return f
	case "file_content":
		hash := expected.Get("data_hash")
		content := given.Get("contents")
		if content.IsNil() { // of its contents the record has only the YAML
			doc, err := psych.Decode(read(t, recorded(t, "out", name, "wire.yaml")), psych.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			content = doc.Value.Get("content")
		}
		return &model.FileContent{Path: hash.Get("path").Str(), Links: hash.Get("links").Str(), Contents: model.Bytes(content.Str())}
	}
	class, ok := model.Lookup(expected.Get("model").Str())
	if !ok {
		t.Fatalf("there is no model %s", expected.Get("model"))
	}
	i, err := class.FromData(given.Get("data"))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestGoldenFormats(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadDir(recorded(t, "out"))
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			t.Parallel()
			expected := decode(t, read(t, recorded(t, "out", c.Name(), "expected.json")))
			instance := input(t, c.Name(), expected)
			class := model.ClassOf(instance)
			if got, want := class.Ruby, expected.Get("ruby_class").Str(); got != want {
				t.Errorf("class: got %s, want %s", got, want)
			}
			if got, want := instance.Key(), expected.Get("name"); !want.IsNil() && got != want.Text() {
				t.Errorf("key: got %q, want %q", got, want.Text())
			}
			checkSupported(t, class, expected)
			for _, p := range expected.Get("formats").Hash() {
				t.Run("wire."+p.Key.Str(), func(t *testing.T) {
					checkWire(t, c.Name(), instance, mustFormat(t, p.Key.Str()), expected, p.Value)
				})
			}
			for _, p := range expected.Get("termini").Hash() {
				t.Run("terminus."+p.Key.Str(), func(t *testing.T) {
					checkFile(t, c.Name(), instance, mustFormat(t, p.Key.Str()), expected, p.Value)
				})
			}
		})
	}
}

// checkSupported compares the formats of a class; those of equal weight come in
// any order.
func checkSupported(t *testing.T, class *model.Class, expected data.Value) {
	t.Helper()
	want := expected.Get("supported_formats").List()
	if len(want) != len(class.Formats) || class.Formats[0] != expected.Get("default_format").Str() {
		t.Errorf("formats: got %v, want %s", class.Formats, expected.Get("supported_formats"))
	}
	for _, w := range want {
		if !class.Supports(w.Str()) {
			t.Errorf("formats: got %v, without %s", class.Formats, w)
		}
	}
}

func checkWire(t *testing.T, name string, i indirector.Instance, f *format.Format, expected, row data.Value) {
	t.Helper()
	if got, want := f.MediaType, row.Get("mime").Str(); want != "" && got != want {
		t.Errorf("media type: got %s, want %s", got, want)
	}
	if row.Get("file").IsNil() {
		if _, ok := i.(*model.FileContent); ok {
			return // the file that Puppet would have read does not exist
		}
		_, err := format.Render(f, i)
		mustFail(t, err, row, "Could not render to "+f.Name+": ")
		return
	}
	want := read(t, recorded(t, "out", name, row.Get("file").Str()))
	got, err := format.Render(f, i)
	compare(t, got, inventedUUID(want, got), err)
	if strings.Contains("s console flat dot", f.Name) {
		return
	}
	back, notes, err := format.Intern(f, model.ClassOf(i).Name, want, format.Options{})
	if msg := row.Get("error").Str(); msg != "" {
		if err == nil || err.Error() != "Could not intern from "+f.Name+": "+msg {
			t.Errorf("read back: got error %v, want %s", err, msg)
		}
		return
	}
	checkBack(t, back, notes, err, expected, row)
}

func checkFile(t *testing.T, name string, i indirector.Instance, f *format.Format, expected, row data.Value) {
	t.Helper()
	if row.Get("error").Str() == "invalid key" {
		return // no business of this layer
	}
	if row.Get("file").IsNil() {
		_, err := format.RenderFile(f, i)
		mustFail(t, err, row, "")
		return
	}
	want := read(t, recorded(t, "out", name, row.Get("file").Str()))
	got, err := format.RenderFile(f, i)
	compare(t, got, inventedUUID(want, got), err)
	back, notes, err := format.InternFile(f, model.ClassOf(i).Name, "x", want, format.Options{})
	checkBack(t, back, notes, err, expected, row)
}

// mustFail compares an error with the recorded one. Those of Ruby itself may be
// in any words.
func mustFail(t *testing.T, err error, row data.Value, prefix string) {
	t.Helper()
	want := row.Get("error").Str()
	if err == nil || !row.Get("ruby_error").Bool() && strings.TrimPrefix(err.Error(), prefix) != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

var uuid = regexp.MustCompile(`catalog_uuid[^0-9a-f]{1,4}([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`)

// inventedUUID is what Puppet wrote with the name that we wrote, where both had
// to be invented: each writing of Puppet has another one.
func inventedUUID(want, got []byte) []byte {
	w, g := uuid.FindSubmatch(want), uuid.FindSubmatch(got)
	if w == nil || g == nil {
		return want
	}
	return bytes.ReplaceAll(want, w[1], g[1])
}

func compare(t *testing.T, got, want []byte, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	from := max(0, n-60)
	t.Errorf("at byte %d:\ngot  …%q\nwant …%q", n, got[from:min(len(got), n+60)], want[from:min(len(want), n+60)])
}

// checkBack compares what was read with what Puppet reads. Of catalogs in YAML
// Puppet loses nearly everything, and we note that instead.
func checkBack(t *testing.T, back indirector.Instance, notes format.Notes, err error, expected, row data.Value) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	want := expected.Get("data_hash")
	if row.Get("read_back").Kind() == data.Hash {
		if lost := row.Dig("read_back", "name").IsNil() && !want.Get("name").IsNil(); !lost {
			want = withoutNow(row.Get("read_back"))
		} else if want = want.With("catalog_uuid", data.OfString("<UUID>")); len(notes) == 0 {
			t.Error("read back: Puppet loses the catalog, and no note says so")
		}
	}
	got, ok := dataOf(back)
	if id := got.Get("catalog_uuid"); want.Get("catalog_uuid").Str() == "<UUID>" && !id.IsNil() {
		want = want.With("catalog_uuid", id)
	}
	if !ok || !data.Equal(got, want) {
		t.Errorf("read back:\ngot  %s\nwant %s", got, want)
	}
}

func dataOf(i indirector.Instance) (data.Value, bool) {
	if f, ok := i.(*model.FileBucketFile); ok {
		return data.OfHash([]data.Pair{
			data.P("contents_base64", data.OfString(base64.StdEncoding.EncodeToString(f.Contents.(model.Bytes)))),
		}), true
	}
	return model.ToData(i)
}

// withoutNow removes what a find puts on an instance after it was read.
func withoutNow(v data.Value) data.Value {
	if v.Get("expiration").Str() == "<NOW+TTL>" {
		return v.Without("expiration")
	}
	return v
}

// TestGoldenHostile reads hostile input. What was recorded of file termini is
// compared with the product's by their own tests.
func TestGoldenHostile(t *testing.T) {
	t.Parallel()
	for _, c := range decode(t, read(t, recorded(t, "hostile.json"))).List() {
		name, ok := strings.CutPrefix(c.Get("via").Str(), "format:")
		if !ok {
			continue
		}
		t.Run(c.Get("id").Str(), func(t *testing.T) {
			t.Parallel()
			b, err := base64.StdEncoding.DecodeString(c.Get("base64").Str())
			if err != nil {
				t.Fatal(err)
			}
			instance, notes, err := format.Intern(mustFormat(t, name), c.Get("model").Str(), b, format.Options{})
			want := c.Get("error").Str()
			if f := mustFormat(t, "json"); want != "" && err == nil && model.ClassOf(instance).Supports(f.Name) {
				// What the recorder saw is written again, which may fail, too.
				if _, failed := format.Render(f, instance); failed != nil {
					err = errors.Unwrap(failed)
				}
			}
			if want == "" {
				checkHostile(t, instance, notes, err, c)
				return
			}
			switch {
			case strings.HasPrefix(want, "Could not find a directory environment"):
				// Puppet resolves the environment when it writes the node; that is
				// not this layer's business, but the name must survive.
				if err != nil || !strings.Contains(want, "'"+instance.(*model.Node).Environment+"'") {
					t.Errorf("got environment of %v (error %v), want that of %s", instance, err, want)
				}
			case err != nil && strings.Contains(err.Error(), "`iso8601' for"):
				// Puppet reads other times than texts, too, and may meet another error first.
			case err != nil && c.Get("exception").Str() == "IndexError" && strings.HasSuffix(err.Error(), ": "+want):
				// Puppet reads a node whose parameters are a text and cannot write it.
			case err == nil && strings.Contains(want, "`iso8601' for nil"):
				// Puppet reads a report without times and cannot write it; we can.
			case err == nil && strings.Contains(strings.Join(notes, "\n"), "No implementation mapping found"):
				// A module may define the type; it is kept, and noted.
				if !strings.HasSuffix(want, strings.TrimPrefix(notes[0], "real Puppet refuses this unless a module defines it: ")) {
					t.Errorf("got note %q, want %q", notes[0], want)
				}
			case err == nil:
				t.Errorf("got %s, want error %q", instance.Key(), want)
			case !c.Get("ruby_error").Bool() && err.Error() != want:
				t.Errorf("error:\ngot  %s\nwant %s", err, want)
			}
		})
	}
}

// lost reports whether Puppet read a catalog of YAML as an empty one; we read
// its contents.
func lost(c data.Value) bool {
	v := c.Get("value")
	return c.Get("model").Str() == "catalog" && strings.HasSuffix(c.Get("via").Str(), ":yaml") &&
		v.Kind() == data.Hash && v.Get("name").IsNil() && v.Get("resources").Len() == 0
}

func checkHostile(t *testing.T, i indirector.Instance, notes format.Notes, err error, c data.Value) {
	t.Helper()
	if err != nil {
		t.Fatalf("got error %v, want %s", err, c.Get("value"))
	}
	if lost(c) {
		// Beside what it loses, Puppet's catalog is one that nothing was read into.
		empty, _, err := format.Intern(mustFormat(t, "json"), "catalog", []byte("{}"), format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := model.ToData(empty)
		for _, key := range []string{"resources", "classes", "tags", "name", "version"} { // edges stay, of nothing
			if want := c.Get("value").Get(key); !data.Equal(got.Get(key), want) {
				t.Errorf("%s of an empty catalog: got %s, want %s", key, got.Get(key), want)
			}
		}
		golden.DropExtra(i)
		if read, _ := model.ToData(i); data.Equal(read.Without("catalog_uuid"), c.Get("value").Without("catalog_uuid")) {
			return // there was nothing to lose
		}
		if !strings.Contains(strings.Join(notes, "\n"), "without name and resources") {
			t.Errorf("no note says that Puppet reads nothing of it: %q", notes)
		}
		return
	}
	var got data.Value
	if i == indirector.False {
		got = data.OfBool(false)
	} else {
		golden.DropExtra(i)
		got, _ = model.ToData(i)
	}
	if ruby := c.Get("ruby_class").Str(); strings.HasPrefix(ruby, "Puppet::") != (model.ClassOf(i) != nil) {
		if ruby != "" {
			t.Errorf("class: got %T, want %s", i, ruby)
		}
	}
	want := withoutNow(plain(c.Get("value")))
	if want.Get("catalog_uuid").Str() == "<UUID>" { // invented, or maybe invented
		want = want.With("catalog_uuid", got.Get("catalog_uuid"))
	}
	if got = plain(replaced(got)); !data.Equal(got, want) {
		t.Errorf("value: %s", difference("", got, want))
	}
}

// difference returns the first difference of two values.
func difference(at string, got, want data.Value) string {
	if got.Kind() == want.Kind() {
		switch {
		case got.Kind() == data.Hash && got.Len() == want.Len():
			for i, p := range got.Hash() {
				if w := want.Hash()[i]; !data.Equal(p.Key, w.Key) {
					return fmt.Sprintf("%s: got key %s, want %s", at, p.Key, w.Key)
				} else if !data.Equal(p.Value, w.Value) {
					return difference(at+"."+p.Key.Text(), p.Value, w.Value)
				}
			}
		case got.Kind() == data.List && got.Len() == want.Len():
			for i, v := range got.List() {
				if !data.Equal(v, want.List()[i]) {
					return difference(fmt.Sprintf("%s[%d]", at, i), v, want.List()[i])
				}
			}
		}
	}
	return fmt.Sprintf("%s: got %s, want %s", at, got, want)
}

var infinities = regexp.MustCompile(`([\[:,]-?)Infinity\b`)

// replaced is v as the record could hold it: bytes that are not UTF-8 are
// replacement characters.
func replaced(v data.Value) data.Value {
	b, _ := format.AppendPSON(nil, v)
	var r []rune
	for _, c := range string(b) {
		r = append(r, c)
	}
	v, err := format.DecodePSON([]byte(infinities.ReplaceAllString(string(r), "${1}1e999")), format.Limits{Depth: 1000})
	if err != nil { // a scalar
		v, _ = format.DecodeJSON(b, format.Limits{})
	}
	return v
}

// plain replaces the records' notation for infinities.
func plain(v data.Value) data.Value {
	switch v.Kind() {
	case data.Hash:
		if v.Get("__ptype").Str() == "GoldenFloat" {
			f := "1e999"
			if strings.HasPrefix(v.Get("__pvalue").Str(), "-") {
				f = "-1e999"
			}
			inf, _ := format.DecodeJSON([]byte(f), format.Limits{})
			return inf
		}
		h := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			h[i] = data.Pair{Key: p.Key, Value: plain(p.Value)}
		}
		return data.OfHash(h)
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			l[i] = plain(x)
		}
		return data.OfList(l)
	}
	return v
}

func TestGoldenFormatHandler(t *testing.T) {
	t.Parallel()
	handler := decode(t, read(t, recorded(t, "format_handler.json")))
	if got, want := format.Count, handler.Get("formats").Len(); got != want {
		t.Errorf("got %d formats, want %d", got, want)
	}
	for _, w := range handler.Get("formats").List() {
		t.Run(w.Get("name").Str(), func(t *testing.T) {
			t.Parallel()
			f := mustFormat(t, w.Get("name").Str())
			got := format.Format{
				Name: w.Get("name").Str(), MediaType: w.Get("mime").Str(), Weight: int(w.Get("weight").Int()),
				Extension: w.Get("extension").Str(), Charset: w.Get("charset").Str(),
			}
			if f.Name != got.Name || f.MediaType != got.MediaType || f.Weight != got.Weight || f.Extension != got.Extension || f.Charset != got.Charset {
				t.Errorf("got %+v, want %+v", *f, got)
			}
		})
	}
	for _, l := range handler.Get("lookups").List() {
		if l.Get("ruby_error").Bool() {
			continue // a method that does not exist
		}
		t.Run(l.Get("by").Str()+" "+l.Get("arg").Text(), func(t *testing.T) {
			t.Parallel()
			if got, want := look(l), l.Get("value"); !data.Equal(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func look(l data.Value) data.Value {
	by := map[string]func(string) (*format.Format, bool){
		"mime": format.ByMediaType, "name": format.ByName, "extension": format.ByExtension,
	}
	if lookup := by[l.Get("by").Str()]; lookup != nil {
		f, ok := lookup(l.Get("arg").Str())
		if !ok {
			return data.OfString("")
		}
		return data.OfString(f.Name)
	}
	var names []string
	for _, f := range format.Suitable(texts(l.Get("arg")), texts(l.Get("supported"))) {
		names = append(names, f.String())
	}
	return data.OfStrings(names)
}

func texts(v data.Value) []string {
	var s []string
	for _, x := range v.List() {
		s = append(s, x.Str())
	}
	return s
}

func TestMain(m *testing.M) {
	time.Local = time.UTC // the records were made there
	os.Exit(m.Run())
}
