package loader_test

import (
	"os"
	"path/filepath"
	"testing"

	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/syntax"
)

// BenchmarkCacheHit finds a function whose file did not change since it was compiled.
func BenchmarkCacheHit(b *testing.B) {
	dir := b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "modules/m/functions"), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "modules/m/functions/f.pp"), []byte("function m::f() { 1 }"), 0o600); err != nil {
		b.Fatal(err)
	}
	env, err := loader.Open(loader.Options{Dir: dir, Modulepath: filepath.Join(dir, "modules")})
	if err != nil {
		b.Fatal(err)
	}
	cache := loader.NewCache(fn.Library(), nil)
	b.ReportAllocs()
	for b.Loop() {
		if found, err := env.Definitions(cache, syntax.Options{}).Load(eval.FunctionKind, "m::f", ""); err != nil || len(found.Programs) != 1 {
			b.Fatal(found, err)
		}
	}
}
