package cli

import (
	"testing"

	"indirtui/ui/config"
)

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	p := &program{configuration: configuration{own: &config.Config{Memory: 100 << 20}}}
	for _, tt := range []struct {
		name string
		l    listening
		want int64
	}{
		{"lines", listening{p: p}, 60 << 20},
		{"recording", listening{p: p, display: interactive{record: "x"}}, 128 << 20},
		{"compiles", listening{p: p, compiles: true}, 110 << 20},
		{"screens", listening{p: p, ui: true}, 280 << 20},
	} {
		if got := tt.l.memoryLimit(); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}
