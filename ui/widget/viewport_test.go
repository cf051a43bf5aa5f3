package widget_test

import (
	"fmt"
	"testing"

	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

func TestViewport(t *testing.T) {
	t.Parallel()
	lines := func(n int) (out term.Lines) {
		for i := range n {
			out = append(out, term.Of(term.Plain, fmt.Sprint(i)))
		}
		return out
	}
	do := func(a screen.Action, n int) func(*widget.Viewport) {
		return func(v *widget.Viewport) { v.Handle(screen.Command{Action: a, Count: n}) }
	}
	tests := []struct {
		name     string
		do       []func(*widget.Viewport)
		from, to int
	}{
		{"at first", nil, 0, 10},
		{"down", []func(*widget.Viewport){do(screen.Down, 3)}, 3, 13},
		{"not above the first", []func(*widget.Viewport){do(screen.Up, 3)}, 0, 10},
		{"to the end", []func(*widget.Viewport){do(screen.Bottom, 0)}, 90, 100},
		{"not below the last", []func(*widget.Viewport){do(screen.PageDown, 50)}, 90, 100},
		{"a page leaves a line", []func(*widget.Viewport){do(screen.PageDown, 0)}, 9, 19},
		{"half a page back", []func(*widget.Viewport){do(screen.Bottom, 0), do(screen.HalfUp, 2)}, 80, 90},
		{"and to the top", []func(*widget.Viewport){do(screen.Bottom, 0), do(screen.Top, 0)}, 0, 10},
		{"what only others do", []func(*widget.Viewport){do(screen.Enter, 0)}, 0, 10},
		{"the wheel", []func(*widget.Viewport){func(v *widget.Viewport) { v.Wheel(6) }}, 6, 16},
		{"fewer lines", []func(*widget.Viewport){do(screen.Bottom, 0), func(v *widget.Viewport) { v.SetLines(lines(12)) }}, 2, 12},
		{"no lines", []func(*widget.Viewport){do(screen.Bottom, 0), func(v *widget.Viewport) { v.SetLines(nil) }}, 0, 0},
		{"more room at the end", []func(*widget.Viewport){do(screen.Bottom, 0), func(v *widget.Viewport) { v.Resize(20, 40) }}, 60, 100},
		{"no room", []func(*widget.Viewport){func(v *widget.Viewport) { v.Resize(20, -1) }}, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var v widget.Viewport
			v.SetLines(lines(100))
			v.Resize(20, 10)
			for _, f := range tt.do {
				f(&v)
			}
			from, to := v.Visible()
			if from != tt.from || to != tt.to {
				t.Fatalf("got %d to %d, want %d to %d", from, to, tt.from, tt.to)
			}
			if got, want := v.Lines().Text(), lines(100)[from:to].Text(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
