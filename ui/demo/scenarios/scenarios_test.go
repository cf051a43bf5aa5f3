package scenarios_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"indirtui/termini"
	"indirtui/traces"
	"indirtui/traces/leaktest"
	"indirtui/traces/store"
	"indirtui/ui/demo/scenarios"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // the clock of a stage is there, and recordings are read in local time
	leaktest.Main(m)
}

// explained is how many of the fifty situations must be explained.
const explained = 49

// TestCatalogue plays every situation: the first line of its trace must be what
// the table of gaps demands. What cannot be played is named, with what is
// missing for it, and counted.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	entries := scenarios.Catalogue()
	if len(entries) != 50 {
		t.Fatalf("got %d entries, want S-01 to S-50", len(entries))
	}
	all := termini.All()
	var missing []string
	for i, e := range entries {
		if want := "S-" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10)); e.ID != want || e.Title == "" || e.Seen == "" {
			t.Errorf("entry %d is %+v, want %s with a title and what is seen", i, e, want)
		}
		if lacks := e.Missing(all); lacks != nil {
			missing = append(missing, e.ID+" "+e.Title+": "+strings.Join(lacks, ", "))
			continue
		}
		for _, v := range e.Variants {
			if v.ID() != e.ID {
				t.Errorf("%s has the variant %s", e.ID, v.Name)
			}
			t.Run(v.Name, func(t *testing.T) {
				t.Parallel()
				explain(t, v)
			})
		}
	}
	t.Logf("explained %d of 50, missing %d:\n%s", 50-len(missing), len(missing), strings.Join(missing, "\n"))
	if got := 50 - len(missing); got < explained {
		t.Errorf("only %d of 50 are explained, want %d; missing:\n%s", got, explained, strings.Join(missing, "\n"))
	}
}

// explain plays one scenario, and compares its trace with what it must be, live
// and in the recording.
func explain(t *testing.T, c scenarios.Scenario) {
	dir := t.TempDir()
	recording := filepath.Join(t.TempDir(), "scenario.jsonl")
	s, err := c.Play(t.Context(), scenarios.Options{Dir: dir, Specs: termini.Specs(), Termini: termini.All(), Recording: recording})
	if s != nil {
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	if err != nil {
		t.Fatal(err)
	}
	live, err := s.Trace()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := traces.Story(live), s.Expand(c.First); got != want {
		t.Errorf("first line:\ngot  %s\nwant %s", got, want)
	}
	for _, fault := range wording(live, s.Dir) {
		t.Error(fault)
	}
	if live.Outcome != c.Outcome {
		t.Errorf("outcome: got %v, want %v", live.Outcome, c.Outcome)
	}
	decided := traces.HeadlineOf(live).Decided
	for _, want := range c.Decided {
		if !strings.Contains(decided, want) {
			t.Errorf("who decided:\ngot  %s\nwant %s", decided, want)
		}
	}
	if c.Problem != "" {
		var problems []string
		for _, p := range s.Configuration().Problems {
			problems = append(problems, p.String())
		}
		if all := strings.Join(problems, "\n"); !strings.Contains(all, c.Problem) {
			t.Errorf("problems:\ngot  %s\nwant %s", all, c.Problem)
		}
	}
	log, err := store.OpenFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	recorded, err := log.Trace(s.Last)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := traces.Story(recorded), traces.Story(live); got != want {
		t.Errorf("first line of the recording:\ngot  %s\nwant %s", got, want)
	}
	if got, want := traces.HeadlineOf(recorded), traces.HeadlineOf(live); got != want {
		t.Errorf("headlines of the recording:\ngot  %+v\nwant %+v", got, want)
	}
}

// codes are words for programs, and names of this program's insides: no first line
// has them.
var codes = regexp.MustCompile(`\b(raised|swallowed|nil|nil-from-\S+|primary|stage|cache\.write|hit|miss|immortal|singletons?|override|hook|mtime|glob|` +
	`not-reached|no-cache-routed|terminus-has-no-rule|skipped\S*\(|earlier-step-\S+|RUNTIME_ERROR|RESOURCE_NOT_FOUND)\b|->|→|≠|…|~`)

// quoted is what others have written: paths, keys and their words, and what Puppet wants a
// cache to answer that is only written.
var quoted = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|answers nil by contract")

// wording returns what is wrong with the first line of a trace by the six rules of
// the screen's words.
func wording(tr *traces.Trace, dir string) (faults []string) {
	story := traces.Story(tr)
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf(format, args...)+" in the first line: "+story)
	}
	plain := quoted.ReplaceAllString(strings.ReplaceAll(story, dir, ""), "")
	if code := codes.FindString(plain); code != "" {
		fault("%q is a code", code)
	}
	if story == "" || strings.ContainsAny(story, "\n\r") {
		fault("it is empty, or of several lines")
	}
	for i := range tr.Notes {
		n := &tr.Notes[i]
		if n.Explains == traces.NoOutcome && strings.Contains(story, n.Text) {
			fault("the note %q explains nothing, and is", n.Text)
		}
	}
	return faults
}

// A name finds the scenarios that it means.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"S-07", "s-7", "7", "s07"} {
		if e, ok := scenarios.Find(name); !ok || e.ID != "S-07" {
			t.Errorf("%s: got %+v, %v", name, e, ok)
		}
	}
	for _, name := range []string{"", "S-0", "S-51", "x", "S-7x"} {
		if e, ok := scenarios.Find(name); ok {
			t.Errorf("%s: got %s", name, e.ID)
		}
	}
}
