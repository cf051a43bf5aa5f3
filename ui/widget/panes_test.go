package widget_test

import (
	"testing"

	"indirtui/ui/screen"
	"indirtui/ui/widget"
)

// The panes and the walls between them always fill the width; no wall leaves a
// pane less than half of what it needs.
func TestPanesWidths(t *testing.T) {
	t.Parallel()
	all := []widget.Pane{{Least: 78, Share: 3}, {Least: 42, Share: 1}, {Least: 34, Share: 2}}
	do := func(a screen.Action, times int) screen.Command { return screen.Command{Action: a, Count: times} }
	for _, tt := range []struct {
		name  string
		shown int
		keys  []screen.Command
		want  [3]int
	}{
		{"one", 1, nil, [3]int{158, 0, 0}},
		{"two", 2, nil, [3]int{105, 51, 0}},
		{"three", 3, nil, [3]int{78, 42, 34}},
		{"a wall to the left", 3, []screen.Command{do(screen.WallLeft, 2)}, [3]int{70, 50, 34}},
		{"as far as it goes", 3, []screen.Command{do(screen.WallLeft, 99)}, [3]int{39, 81, 34}},
		{"and back", 3, []screen.Command{do(screen.WallLeft, 99), do(screen.WallRight, 1)}, [3]int{43, 77, 34}},
		{"that of the last pane", 3, []screen.Command{do(screen.BackTab, 1), do(screen.WallLeft, 1)}, [3]int{78, 38, 38}},
		{"zoomed", 3, []screen.Command{do(screen.Tab, 1), do(screen.Zoom, 1)}, [3]int{0, 158, 0}},
		{"zoomed and back", 3, []screen.Command{do(screen.Zoom, 1), do(screen.Zoom, 1)}, [3]int{78, 42, 34}},
		{"nothing to move", 1, []screen.Command{do(screen.WallLeft, 1), do(screen.Zoom, 1)}, [3]int{158, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := new(screen.Shared)
			p := widget.NewPanes(env, "list", all...)
			p.Resize(158, tt.shown)
			for _, key := range tt.keys {
				p.Handle(key)
			}
			again := widget.NewPanes(env, "list", all...) // the next screen of this kind
			again.Focus = p.Focus
			again.Resize(158, tt.shown)
			for i, want := range tt.want {
				if got := p.Width(i); got != want {
					t.Errorf("pane %d has %d cells, want %d", i, got, want)
				}
				if got := again.Width(i); got != want {
					t.Errorf("on the next screen pane %d has %d cells, want %d", i, got, want)
				}
			}
		})
	}
}
