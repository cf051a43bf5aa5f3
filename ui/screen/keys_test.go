package screen_test

import (
	"slices"
	"strings"
	"testing"

	"indirtui/ui/screen"
)

// Of two lines that share a key and a place the second could never be reached.
func TestNoKeyMeansTwoThings(t *testing.T) {
	t.Parallel()
	keys, _ := screen.NewKeys(nil)
	all := keys.Bindings()
	for i, b := range all {
		for _, other := range all[:i] {
			for _, key := range b.Keys() {
				if slices.Contains(other.Keys(), key) && (other.Where == screen.Everywhere || other.Where&b.Where != 0) {
					t.Errorf("key %q: %s is hidden by %s", key, b.Do, other.Do)
				}
			}
		}
	}
}

func TestReservedKeysAreNotBound(t *testing.T) {
	t.Parallel()
	keys, _ := screen.NewKeys(nil)
	for _, b := range keys.Bindings() {
		for _, key := range b.Keys() {
			if slices.Contains([]string{"ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+[", "ctrl+s", "ctrl+q", "shift+enter"}, key) {
				t.Errorf("%s is bound to %s", b.Do, key)
			}
		}
	}
}

func TestRemap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		remap map[screen.Action][]string
		note  string // part of the only note; "" is none
		key   string
		want  screen.Action
	}{
		{"free key", map[screen.Action][]string{screen.Follow: {"T"}}, "", "T", screen.Follow},
		{"clash", map[screen.Action][]string{screen.Follow: {"f"}}, "follow takes f from filter-cell", "f", screen.Follow},
		{"reserved", map[screen.Action][]string{screen.Follow: {"ctrl+s"}}, "ctrl+s", "F", screen.Follow},
		{"unknown", map[screen.Action][]string{"fly": {"f"}}, "no such action", "f", screen.FilterCell},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			keys, notes := screen.NewKeys(tt.remap)
			if got := strings.Join(notes, "; "); !strings.Contains(got, tt.note) || tt.note == "" && got != "" {
				t.Errorf("notes: got %q, want %q", got, tt.note)
			}
			b := keys.Find(tt.key, screen.InList|screen.InRequests)
			if b == nil || b.Do != tt.want {
				t.Errorf("key %s: got %v, want %s", tt.key, b, tt.want)
			}
		})
	}
}

type limited struct{ screen.Screen }

func (limited) Disabled(do screen.Action) string {
	switch do {
	case screen.Follow:
		return ""
	case screen.Select:
		return "there is no row"
	}
	return screen.Unknown
}

func TestNow(t *testing.T) {
	t.Parallel()
	keys, _ := screen.NewKeys(nil)
	on := screen.AbilitiesOf(limited{})
	for do, why := range map[screen.Action]string{
		screen.Follow: "", screen.Select: "there is no row", screen.GroupBy: screen.Unknown,
		screen.Undo: "", // the root does it
	} {
		b := keys.Of(do, screen.InRequests)
		if now := on.Now(b); now.Why != why || now.Enabled() != (why == "") {
			t.Errorf("%s: got %q, enabled %t, want %q", do, now.Why, now.Enabled(), why)
		}
		if !b.Enabled() {
			t.Errorf("%s is disabled in the table", do)
		}
	}
}

// An action whose keys were all taken is neither found nor offered.
func TestKeysThatAreTaken(t *testing.T) {
	t.Parallel()
	keys, _ := screen.NewKeys(map[screen.Action][]string{screen.Follow: {"f"}, screen.Select: {}})
	for _, do := range []screen.Action{screen.FilterCell, screen.Select} {
		if b := keys.Of(do, screen.InRequests); b != nil {
			t.Errorf("%s is done by %v", do, b.Keys())
		}
	}
	if b := keys.Of(screen.Follow, screen.InRequests); b == nil || b.Key() != "f" || b.Hint() != "follow" {
		t.Errorf("got %v", b)
	}
}
