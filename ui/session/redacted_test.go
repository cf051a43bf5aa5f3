package session_test

import (
	"testing"

	"indirtui/indirector/redact"
	"indirtui/ui/session"
)

func TestRedactedAs(t *testing.T) {
	t.Parallel()
	e := &session.Env{RedactText: redact.New(redact.Rules{Salt: []byte("salt")}).Text}
	for _, tt := range []struct{ name, value, want string }{
		{"opt.db_pass", "hunter2", "(masked pass, 7 B, tag d03a)"},
		{"key", "https://u:hunter2@h", "https://u:(masked password in URL, 7 B, tag d03a)@h"},
		{"key", "web01", "web01"},
		{"pass: x", "hunter2", "hunter2"}, // the name is no name
	} {
		if got := e.RedactedAs(tt.name, tt.value); got != tt.want {
			t.Errorf("RedactedAs(%q, %q) = %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
	if got := new(session.Env).RedactedAs("pass", "x"); got != "x" {
		t.Errorf("without rules: got %q", got)
	}
}
