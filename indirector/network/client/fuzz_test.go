package client_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"indirtui/indirector/network/client"
)

// FuzzDecode: any body is decoded or refused, and what gzip and deflate have
// encoded comes back, unless it was cut off.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("a catalog"), uint16(0))
	f.Add([]byte{0x1f, 0x8b, 8, 0}, uint16(3))
	f.Add([]byte{}, uint16(20))
	decode := func(b []byte) ([]byte, error) {
		r, err := client.Decode(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(r, 1<<20))
	}
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		_, _ = decode(b)
		for name, encode := range map[string]func(io.Writer) io.WriteCloser{
			"gzip":    func(w io.Writer) io.WriteCloser { w2, _ := gzip.NewWriterLevel(w, gzip.NoCompression); return w2 },
			"deflate": func(w io.Writer) io.WriteCloser { w2, _ := zlib.NewWriterLevel(w, zlib.NoCompression); return w2 },
		} {
			var coded bytes.Buffer
			w := encode(&coded)
			if _, err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := decode(coded.Bytes())
			if err != nil || !bytes.Equal(got, b) {
				t.Fatalf("%s of %q: got %q, %v", name, b, got, err)
			}
			if short := coded.Len() - 1 - int(cut)%coded.Len(); short > 0 {
				if got, err := decode(coded.Bytes()[:short]); err == nil {
					t.Errorf("%s of %q, cut to %d bytes: got %q without an error", name, b, short, got)
				}
			}
		}
	})
}
