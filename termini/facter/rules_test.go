package facter_test

import (
	"testing"

	"indirtui/indirector"
	"indirtui/termini/facter"
)

// Facts are found. Save and destroy are there to refuse; search and head are
// missing, as in Puppet. Rule IND-TERM-12.
func TestVerbs(t *testing.T) {
	t.Parallel()
	can := indirector.VerbsOf(facter.Facts.Type)
	for verb, want := range map[indirector.Verb]bool{
		indirector.Find: true, indirector.Save: true, indirector.Destroy: true, indirector.Search: false, indirector.Head: false,
	} {
		if got := can[verb] != nil; got != want {
			t.Errorf("%s: got %v, want %v", verb, got, want)
		}
	}
}
