package golden

import (
	"bufio"
	"encoding/json"
	"iter"
	"os"
	"testing"
)

// longest is the limit of one line of a recording, in bytes.
const longest = 16 << 20

// Lines yields the lines of a file, which must have one at least. A line is valid until the
// next.
func Lines(tb testing.TB, path string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		tb.Helper()
		file, err := os.Open(path)
		if err != nil {
			tb.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, longest)
		n := 0
		for ; lines.Scan(); n++ {
			if !yield(lines.Bytes()) {
				return
			}
		}
		if err := lines.Err(); err != nil || n == 0 {
			tb.Fatalf("%s: %d lines, %v", path, n, err)
		}
	}
}

// Rows yields what the lines of a file of JSON objects have.
func Rows[R any](tb testing.TB, path string) iter.Seq[R] {
	return func(yield func(R) bool) {
		tb.Helper()
		for line := range Lines(tb, path) {
			var r R
			if err := json.Unmarshal(line, &r); err != nil {
				tb.Fatalf("%s: %v", path, err)
			}
			if !yield(r) {
				return
			}
		}
	}
}
