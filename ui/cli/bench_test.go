package cli

import (
	"bytes"
	"testing"

	"indirtui/termini"
	"indirtui/ui/uitest"
)

// BenchmarkFirstFrame is the start of the program until there is something to
// see: settings, routes, termini, recording, and the first frame.
func BenchmarkFirstFrame(b *testing.B) {
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	for b.Loop() {
		p := &program{Streams: Streams{In: new(bytes.Buffer), Out: new(bytes.Buffer), Err: new(bytes.Buffer)}, specs: termini.Specs(), termini: termini.All()}
		p.confDir, p.varDir = b.TempDir(), b.TempDir()
		s, err := p.session()
		if err != nil {
			b.Fatal(err)
		}
		cfg := p.config(b.Context(), s, nil)
		if frame := uitest.New(b, cfg, 80, 24).Frame(); frame == "" {
			b.Fatal("nothing to see")
		}
		if err := s.close(); err != nil {
			b.Fatal(err)
		}
	}
}
