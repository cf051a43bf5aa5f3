package tour_test

import (
	"fmt"
	"strings"
	"testing"

	"indirtui/ui"
	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/tour"
	"indirtui/ui/uitest"
)

var theme = &term.Theme{Glyphs: term.ASCII, Palette: term.NoStyle}

var way = tour.Journey{Name: "a way", Steps: []tour.Step{
	{Keys: "a", Text: "first", Want: []string{"one", "two"}},
	{Keys: "b", Text: "second", Want: []string{"three"}, Not: []string{"one"}},
}}

func TestNowhere(t *testing.T) {
	t.Parallel()
	var x tour.Tour
	x.Press()
	x.Saw("one two")
	if x.On() || x.Finished() || x.Rows() != 0 || x.View(theme, 80) != nil {
		t.Errorf("the zero Tour is somewhere: %+v", x)
	}
}

// A step happens when a key was pressed and all that it shows is there.
func TestSteps(t *testing.T) {
	t.Parallel()
	var x tour.Tour
	x.Begin(&way)
	at := func(want string) {
		t.Helper()
		if got := x.View(theme, 80).Text(); !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %s", got, want)
		}
	}
	x.Saw("one two") // it was there before
	at("TOUR 1/2  press a")
	x.Press()
	x.Saw("one")
	at("TOUR 1/2")
	x.Saw("two one")
	at("TOUR 2/2  press b")
	x.Press()
	x.Saw("one three")
	at("TOUR 2/2")
	x.Saw("three")
	at("done: a way")
	at("2 of 2 by your own hand")
	if !x.Finished() || !x.On() {
		t.Error("the end is not the end")
	}
	x.Skip()
	if x.On() || x.Rows() != 0 {
		t.Error("what is done is not closed")
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	var x tour.Tour
	x.Begin(&way)
	x.Skip()
	x.Press()
	x.Saw("three")
	if got := x.View(theme, 80).Text(); !strings.Contains(got, "1 of 2 by your own hand") {
		t.Errorf("got\n%s", got)
	}
	x.Begin(&way)
	x.End()
	if x.On() {
		t.Error("it goes on")
	}
}

// Every text has room: the lines that the tour takes, none of them too
// long.
func TestAllJourneysHaveRoom(t *testing.T) {
	t.Parallel()
	for _, j := range tour.Journeys() {
		if j.Name == "" || len(j.Steps) == 0 {
			t.Errorf("%q has %d steps", j.Name, len(j.Steps))
		}
		for _, width := range []int{1, 20, 60, 80, 140} {
			var x tour.Tour
			x.Begin(&j)
			for range len(j.Steps) + 1 {
				lines := x.View(theme, width)
				if len(lines) != x.Rows() {
					t.Fatalf("%s at %d: got %d lines, want %d", j.Name, width, len(lines), x.Rows())
				}
				for _, l := range lines {
					if l.Width() > width {
						t.Fatalf("%s at %d: a line of %d cells", j.Name, width, l.Width())
					}
				}
				x.Skip()
			}
		}
	}
}

// On every journey, at every step, in every size: the frame is exact, and the
// program goes on as without a tour.
func TestOnTheScreen(t *testing.T) {
	t.Parallel()
	for i := range tour.Journeys() {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			p := uitest.New(t, ui.Config{Log: uitest.Site(t), Demo: true}, 80, 24)
			p.Send(screen.BeginTour{Number: i})
			p.Want("TOUR 1/")
			p.Try("j", "enter", "ctrl+x", "esc", "2", "ctrl+x", "?", "esc", "1")
			p.Keys("ctrl+t").Not("TOUR ")
		})
	}
}
