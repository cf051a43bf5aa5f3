package format_test

import (
	"path/filepath"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

func load(b *testing.B, class, file string) indirector.Instance {
	b.Helper()
	f := mustFormat(b, "json")
	i, _, err := format.Intern(f, class, read(b, filepath.Join("testdata", "bench", file)), format.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return i
}

func BenchmarkIntern(b *testing.B) {
	for _, class := range []string{"facts", "catalog"} {
		instance := load(b, class, class+".json")
		for _, name := range []string{"json", "pson", "msgpack", "yaml"} {
			f := mustFormat(b, name)
			text, err := format.RenderFile(f, instance)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(class+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if _, _, err := format.InternFile(f, class, "x", text, format.Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRender(b *testing.B) {
	for _, class := range []string{"facts", "catalog"} {
		instance := load(b, class, class+".json")
		for _, name := range []string{"json", "pson", "msgpack", "yaml"} {
			f := mustFormat(b, name)
			b.Run(class+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := format.RenderFile(f, instance); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkDecodeJSON(b *testing.B) {
	for _, file := range []string{"facts.json", "catalog.json"} {
		text := read(b, filepath.Join("testdata", "bench", file))
		b.Run(file, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			var v data.Value
			for b.Loop() {
				v, _ = format.DecodeJSON(text, format.Limits{})
			}
			_ = v
		})
	}
}

// The codecs make no garbage per value: a regression fails here without a clock.
func TestAllocations(t *testing.T) {
	json, text := mustFormat(t, "json"), read(t, filepath.Join("testdata", "bench", "facts.json"))
	i, _, err := format.Intern(json, "facts", text, format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// A few are usual; the race detector empties pools at random.
	const limit = 12
	if n := testing.AllocsPerRun(50, func() { _, _, _ = format.Intern(json, "facts", text, format.Options{}) }); n > limit {
		t.Errorf("Intern of 600 values: %v allocations, want at most %d", n, limit)
	}
	if n := testing.AllocsPerRun(50, func() { _, _ = format.Render(json, i) }); n > limit {
		t.Errorf("Render of 600 values: %v allocations, want at most %d", n, limit)
	}
}
