package redact_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The cases are one set for this package and for the probe in Ruby, which has its
// own code: texts, what becomes of them ("" if nothing does), and of some the
// secret that must be gone. The salt is "salt".
func TestCases(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("testdata", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Text, Redacted, Secret string }
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	m := salted()
	secrets := 0
	for _, c := range cases {
		want := c.Redacted
		if want == "" {
			want = c.Text
		}
		if got, _ := m.Text(c.Text); got != want {
			t.Errorf("Text(%q)\n got %q\nwant %q", c.Text, got, want)
		}
		if c.Secret != "" {
			secrets++
			if strings.Contains(want, c.Secret[:10]) {
				t.Errorf("%q keeps its secret: %q", c.Text, want)
			}
		}
	}
	if secrets < 40 {
		t.Errorf("%d secrets are planted, want 40", secrets)
	}
}
