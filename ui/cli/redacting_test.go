package cli

import (
	"bytes"
	"log/slog"
	"testing"

	"indirtui/indirector/redact"
)

// A log line has its secrets in attributes, quoted, and behind names.
func TestLogLinesAreRedacted(t *testing.T) {
	t.Parallel()
	m := redact.New(redact.Rules{})
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&redacting{w: &out, redactor: func() *redact.Redactor { return m }}, nil))
	log.Error("cannot ask https://u:hunter2@h/x?token=hunter2", "db_pass", "hunter2", "err", `run "mysql -phunter2": exit 1`)
	log.Error("plain", "key", `facts=%7B%22password%22%3A%22hunter2%22%7D`, "path", "/x/y")
	if bytes.Contains(out.Bytes(), []byte("hunter2")) || !bytes.Contains(out.Bytes(), []byte("path=/x/y")) {
		t.Errorf("got %s", out.Bytes())
	}
}
