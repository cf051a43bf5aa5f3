package compiler_test

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
)

// BenchmarkPeer repeats the compiles that real Puppet is timed with, under the same names:
// with programs that are known, and of files that are read for the first time. All is
// traced, as by the program.
func BenchmarkPeer(b *testing.B) {
	const modules = "../../indirector/language/syntax/testdata/lang/modules"
	hundred := b.TempDir()
	text, err := os.ReadFile("../../indirector/language/compile/testdata/hundred.pp")
	if err != nil {
		b.Fatal(err)
	}
	write(b, filepath.Join(hundred, "site.pp"), string(text), 0o644)
	for _, c := range []struct{ name, dir string }{
		{"compile_100_resources", hundred},
		{"modules/004-apache-vhosts", modules + "/004-apache-vhosts"},
		{"modules/005-apache-mods", modules + "/005-apache-mods"},
		{"modules/019-ntp-hiera", modules + "/019-ntp-hiera"},
		{"modules/032-roles-and-profiles", modules + "/032-roles-and-profiles"},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := &recording{found: map[uint64]int{}, name: c.name, dir: c.dir, conf: golden.YAML(b, filepath.Join(c.dir, "case.yaml"))}
			r.conf = r.conf.With("settings", r.conf.Get("settings").With("facts_terminus", data.OfString("memory")))
			if lacks := r.lacks(); lacks != "" {
				b.Skip("it needs", lacks)
			}
			r.layOut(b)
			req := r.request(b)
			defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the program does
			b.Run("warm", func(b *testing.B) {
				e := r.engine(b)
				compileOnce(b, e, req)
				time.Sleep(2 * time.Second) // as long as directories count as new
				compileOnce(b, e, req)
				b.ReportAllocs()
				for b.Loop() {
					compileOnce(b, e, req)
				}
			})
			b.Run("cold", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					e := r.engine(b)
					b.StartTimer()
					compileOnce(b, e, req)
					b.StopTimer()
					e.Close()
					b.StartTimer()
				}
			})
		})
	}
}

// request asks for the catalog, as an agent does.
func (r *recording) request(b *testing.B) *indirector.Request {
	b.Helper()
	remote := &indirector.Remote{Node: certname, Authenticated: true, Extensions: map[string]string{}}
	for _, p := range r.conf.Get("extensions").Hash() {
		remote.Extensions[p.Key.Str()] = p.Value.Text()
	}
	return &indirector.Request{
		Indirection: "catalog", Verb: indirector.Find, Key: certname, Environment: "production", Remote: remote,
		Options: []indirector.Option{
			{Name: "facts", Value: &model.Facts{Name: certname, Values: r.facts(b)}}, {Name: "facts_format", Value: "application/json"},
		},
	}
}

func compileOnce(b *testing.B, e *engine.Engine, req *indirector.Request) {
	b.Helper()
	if _, err := e.Do(b.Context(), req); err != nil {
		b.Fatal(strings.TrimSpace(indirector.Message(err)))
	}
}
