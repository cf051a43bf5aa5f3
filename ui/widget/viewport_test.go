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

// A search goes on behind what it found, also where the text ends and cannot be
// scrolled further.
func TestViewportFind(t *testing.T) {
	t.Parallel()
	var v widget.Viewport
	var lines term.Lines
	for i := range 100 {
		lines = append(lines, term.Of(term.Plain, fmt.Sprint(i)))
	}
	v.Resize(20, 10)
	v.SetLines(lines)
	var asked []int
	for _, step := range []int{0, 1, 1, 1, 1, -1, -1} {
		if !v.Find(step, func(i int) bool {
			if i == 5 || i >= 93 && i%2 == 1 && i < 98 {
				asked = append(asked, i)
				return true
			}
			return false
		}) {
			t.Error("it is not found")
		}
	}
	if got, want := fmt.Sprint(asked), "[5 93 95 97 5 97 95]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if from, _ := v.Visible(); from != 90 {
		t.Errorf("from %d", from)
	}
	v.ScrollTo(0)
	if !v.Find(1, func(i int) bool { return i == 5 || i == 96 }) {
		t.Error("it is not found")
	}
	if from, _ := v.Visible(); from != 5 {
		t.Errorf("after scrolling, from %d: it begins with what is seen", from)
	}
	if v.Find(1, func(int) bool { return false }) || new(widget.Viewport).Find(1, func(int) bool { return true }) {
		t.Error("nothing is found")
	}
}

// To hold a text takes time and memory by its length; a table takes them by its
// page.
func BenchmarkHeld(b *testing.B) {
	text := func(int) term.Text { return term.CleanTo("a line of the usual forty cells or so...", 80) }
	for _, n := range []int{1600, 65_536, 400_000} {
		b.Run(fmt.Sprint("viewport/", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				lines := make(term.Lines, n)
				for i := range lines {
					lines[i].Add(term.Plain, text(i))
				}
				new(widget.Viewport).SetLines(lines)
			}
		})
		b.Run(fmt.Sprint("table/", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t := widget.Table{Paged: true, List: widget.List{Len: n, Height: 24}}
				t.Lines(new(term.Theme), 80, func(i int, r *widget.Row) { r.Add(term.Plain, text(i)) })
			}
		})
	}
}
