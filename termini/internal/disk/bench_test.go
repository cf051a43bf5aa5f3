package disk_test

import (
	"path/filepath"
	"testing"

	"indirtui/termini/internal/disk"
)

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	if err := disk.Replace(b.Context(), path, 0o660, make([]byte, 15<<10)); err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		f, err := disk.Read(ctx, path)
		if err != nil {
			b.Fatal(err)
		}
		f.Release()
	}
}

func BenchmarkReplace(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	content := make([]byte, 15<<10)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if err := disk.Replace(ctx, path, 0o660, content); err != nil {
			b.Fatal(err)
		}
	}
}
