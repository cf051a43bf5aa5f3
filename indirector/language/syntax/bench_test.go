package syntax_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/golden"
	"indirtui/indirector/language/syntax"
)

// megabyte is a manifest of a megabyte: the sources of the recorded catalogs, which
// are short, again and again, in classes of their own.
func megabyte(tb testing.TB) string {
	tb.Helper()
	var b strings.Builder
	var all []string
	for r := range golden.Rows[recorded](tb, filepath.Join("testdata", "trees.jsonl")) {
		if !r.EPP && r.PN != "" && r.PN != "(nop)" && !strings.Contains(r.Code, "function ") {
			all = append(all, r.Code)
		}
	}
	for b.Len() < 1<<20 {
		for _, code := range all {
			b.WriteString(code + "\n")
		}
	}
	return b.String()
}

// Parsing and checking a megabyte of manifests, as puppet parser validate would.
func BenchmarkParse(b *testing.B) {
	text := megabyte(b)
	if path := os.Getenv("INDIRTUI_MANIFESTS"); path != "" {
		raw, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		text = string(raw)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, report := syntax.Parse(&syntax.Source{Text: text}, syntax.Options{}); report.Failure != nil {
			b.Fatal(report.Failure)
		}
	}
}
