package hold_test

import (
	"strings"
	"testing"

	"indirtui/indirector/debugger"
)

// BenchmarkNotMeant is a request that the probe stops, and that the breakpoint does not
// mean: from the line of the probe until the one that lets it go on.
func BenchmarkNotMeant(b *testing.B) {
	s := newSite(b, debugger.Options{})
	s.add(b, "out=err before terminus do hold")
	p := s.attach(b, 1, allCan, "")
	p.next()
	p.write(begin)
	held := heldLine("terminus", "")
	b.ReportAllocs()
	for b.Loop() {
		p.write(held)
		if line := p.next(); !strings.HasPrefix(line, `{"go":12`) {
			b.Fatal(line)
		}
		p.write(`{"went":12,"why":"go"}`)
	}
}
