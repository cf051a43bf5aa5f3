package format_test

import (
	"bytes"
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
)

// seed adds the recorded files and hostile inputs of a format.
func seed(f *testing.F, name string) {
	f.Helper()
	files, err := filepath.Glob(recorded(f, "out", "*", "wire."+name))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		f.Add(read(f, file))
	}
	for _, c := range decode(f, read(f, recorded(f, "hostile.json"))).List() {
		if strings.HasSuffix(c.Get("via").Str(), ":"+name) {
			b, _ := base64.StdEncoding.DecodeString(c.Get("base64").Str())
			f.Add(b)
		}
	}
}

// fuzz checks that a reader never panics, that what it reads is written and
// read again as the same, and that the models read and write it without loss.
func fuzz(f *testing.F, name string, read func([]byte, format.Limits) (data.Value, error), write func([]byte, data.Value) ([]byte, error)) {
	f.Helper()
	seed(f, name)
	text := mustFormat(f, name)
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		v, err := read(b, format.Limits{})
		if !bytes.Equal(b, before) {
			t.Fatal("the input was changed")
		}
		if err != nil || !data.Equal(v, v) { // not a number equals nothing
			return
		}
		out, err := write(nil, v)
		if err != nil {
			return // not UTF-8, or not a number
		}
		again, err := read(out, format.Limits{})
		if err != nil && name == "pson" {
			return // infinity, which PSON writes and does not read
		}
		if err != nil || !data.Equal(again, v) {
			t.Fatalf("%s was written as %q and read as %s (%v)", v, out, again, err)
		}
		for _, class := range []string{"facts", "node", "catalog", "report", "resource", "file_metadata", "status"} {
			roundTrip(t, text, class, out)
		}
	})
}

// roundTrip checks Intern(Render(i)) == i.
func roundTrip(t *testing.T, f *format.Format, class string, b []byte) {
	t.Helper()
	i, _, err := format.Intern(f, class, b, format.Options{})
	if err != nil {
		return
	}
	out, err := format.Render(f, i)
	if err != nil {
		return
	}
	again, _, err := format.Intern(f, class, out, format.Options{})
	if err != nil {
		t.Fatalf("%s was written as %q and cannot be read: %v", class, out, err)
	}
	want, _ := model.ToData(i)
	if got, _ := model.ToData(again); !data.Equal(got, want) {
		t.Fatalf("%s:\ngot  %s\nwant %s", class, got, want)
	}
}

func FuzzJSON(f *testing.F) { fuzz(f, "json", format.DecodeJSON, format.AppendJSON) }

func FuzzPSON(f *testing.F) { fuzz(f, "pson", format.DecodePSON, format.AppendPSON) }

func FuzzMsgpack(f *testing.F) { fuzz(f, "msgpack", format.DecodeMsgpack, format.AppendMsgpack) }

func FuzzYAML(f *testing.F) {
	seed(f, "yaml")
	text := mustFormat(f, "yaml")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, class := range []string{"facts", "node", "report", "resource", "catalog"} {
			for _, lenient := range []bool{false, true} {
				i, _, err := format.InternFile(text, class, "x", b, format.Options{Lenient: lenient})
				if err == nil && i == nil {
					t.Fatal("neither an instance nor an error")
				}
			}
		}
	})
}
