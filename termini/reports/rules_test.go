package reports_test

import (
	"testing"

	"indirtui/indirector"
	"indirtui/termini/reports"
)

// A processor can be given reports, and forget them; it answers no question.
// Rule IND-TERM-12.
func TestVerbs(t *testing.T) {
	t.Parallel()
	can := indirector.VerbsOf(reports.Processor.Type)
	for verb, want := range map[indirector.Verb]bool{
		indirector.Save: true, indirector.Destroy: true, indirector.Find: false, indirector.Search: false, indirector.Head: false,
	} {
		if got := can[verb] != nil; got != want {
			t.Errorf("%s: got %v, want %v", verb, got, want)
		}
	}
}
