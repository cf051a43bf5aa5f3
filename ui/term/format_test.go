package term_test

import (
	"testing"
	"time"

	"indirtui/ui/term"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	const ms, s = time.Millisecond, time.Second
	tests := []struct{ what, got, want string }{
		{"no time", term.Millis(0), "0"},
		{"microseconds", term.Millis(49 * time.Microsecond), "0"},
		{"tenths", term.Millis(312 * time.Microsecond), "0.3"},
		{"nearly one", term.Millis(990 * time.Microsecond), "1"},
		{"milliseconds", term.Millis(8153 * ms), "8153"},
		{"too long for milliseconds", term.MillisIn(1000*s, 5), "1000s"},
		{"too long for seconds", term.MillisIn(400*24*time.Hour, 5), "400d"},
		{"it fits", term.MillisIn(8153*ms, 5), "8153"},
		{"bytes", term.Bytes(214), "214 B"},
		{"kilobytes", term.Bytes(182341), "182 kB"},
		{"megabytes", term.Bytes(1 << 30), "1 073 MB"},
		{"groups", term.Grouped(-1234567), "-1 234 567"},
		{"one", term.Plural(1, "request"), "1 request"},
		{"many", term.Plural(1047, "request"), "1 047 requests"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, tt.got, tt.want)
		}
	}
}
