package diff

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"indirtui/traces"
	"indirtui/traces/store"
)

// A Verdict is whether two requests were given the same value.
type Verdict string

// The verdicts.
const (
	NoValue    Verdict = "none"   // neither has one
	Equal      Verdict = "equal"  // but for what is ignored
	Redacted   Verdict = "masked" // but for values redacted on both sides, which cannot be compared
	Different  Verdict = "changed"
	OneSided   Verdict = "one-sided"  // only one of them has one
	Uncompared Verdict = "uncompared" // one of them is not kept
)

// An Answer is how the values of two requests compare.
type Answer struct {
	Verdict     Verdict  `json:"verdict"`
	Differences int      `json:"differences,omitempty"`
	Unknown     int      `json:"unknown,omitempty"`
	Ignored     int      `json:"ignored,omitempty"`
	Why         string   `json:"why,omitempty"` // not compared, or which side has none
	Changes     []Change `json:"changes,omitempty"`
}

// Fresh returns the rules for what every answer has anew, however equal it is:
// when it expires, when facts were collected, the number of a compilation.
func Fresh() []string { return []string{".expiration", ".timestamp", ".catalog_uuid"} }

// maxChanges bounds the changes that an Answer lists. They are counted on.
const maxChanges = 20

// maxShown is the most bytes of a side of a change that an Answer lists; of
// longer ones there is the path alone.
const maxShown = 4 << 10

// Answers compares the values of two requests: their answers, or what they sent.
// Values with one digest are equal also where neither is kept.
func Answers(la Log, a *traces.Trace, lb Log, b *traces.Trace, o Options) Answer {
	va, vb := valueOf(a), valueOf(b)
	switch {
	case va.Model == "" && vb.Model == "":
		return Answer{Verdict: NoValue}
	case vb.Model == "":
		return Answer{Verdict: OneSided, Why: "there is no value any more"}
	case va.Model == "":
		return Answer{Verdict: OneSided, Why: "there was no value"}
	case va.Digest != "" && va.Digest == vb.Digest && (!o.Apart || va.Redacted == 0):
		return Answer{Verdict: Equal}
	}
	one, errA := la.Body(va)
	two, errB := lb.Body(vb)
	switch {
	case errA != nil && errors.Is(errA, store.ErrDropped):
		return Answer{Verdict: Uncompared, Why: "its value was not recorded"}
	case errA != nil:
		return Answer{Verdict: Uncompared, Why: errA.Error()}
	case errB != nil:
		return Answer{Verdict: Uncompared, Why: fmt.Sprintf("the value of now is not kept: %v", errB)}
	case bytes.Equal(one, two) && (!o.Apart || va.Redacted == 0):
		return Answer{Verdict: Equal}
	}
	v, err := compare(la, a, lb, b, o)
	if err != nil {
		return Answer{Verdict: Uncompared, Why: err.Error()}
	}
	return answerOf(v)
}

// Texts compares two values that are written as JSON.
func Texts(a, b []byte, o Options) Answer {
	v, err := compareJSON(a, b, o)
	if err != nil {
		return Answer{Verdict: Uncompared, Why: err.Error()}
	}
	return answerOf(v)
}

func answerOf(v *Values) Answer {
	r := Report{}
	r.take(v)
	out := Answer{Verdict: Equal, Differences: v.Differences, Unknown: v.Unknown, Ignored: v.Ignored}
	switch {
	case v.Differences > 0:
		out.Verdict = Different
	case v.Unknown > 0:
		out.Verdict = Redacted
	}
	for _, c := range r.Changes {
		if c.Sign == string(rune(Unknown)) || len(out.Changes) == maxChanges {
			continue
		}
		if len(c.A)+len(c.B) > maxShown {
			c.A, c.B = nil, nil
		}
		out.Changes = append(out.Changes, c)
	}
	return out
}

// String is the answer in a few words: "3 differences in the value", "value not
// compared: its value was not recorded".
func (a *Answer) String() string {
	var text string
	switch a.Verdict {
	case NoValue:
		return "no value"
	case Equal:
		text = "value equal"
	case Redacted:
		text = "value equal but for what is masked"
	case Uncompared:
		return "value not compared: " + a.Why
	case OneSided:
		return a.Why
	case Different:
		text = fmt.Sprintf("value differs in %d places", a.Differences)
		if a.Differences == 1 {
			text = "value differs in 1 place"
		}
	}
	if a.Ignored > 0 {
		text += fmt.Sprintf(", %d ignored", a.Ignored)
	}
	return text
}

// A Tally counts what came of comparing the values of many requests. The zero
// Tally is empty.
type Tally struct {
	Compared   int            `json:"compared"`   // both sides were there
	Changed    int            `json:"changed"`    // of those: they differ
	Redacted   int            `json:"masked"`     // of those: differ at most in what is redacted on both sides
	OneSided   int            `json:"one_sided"`  // only one side has a value
	Uncompared int            `json:"uncompared"` // a side is not kept
	Paths      map[string]int `json:"paths"`      // of how many requests a place differs, the commonest alone

	all map[string]int
}

// maxPaths bounds the paths that a Tally counts, and shownPaths those that it
// lists.
const (
	maxPaths   = 10_000
	shownPaths = 20
)

// Add counts one.
func (t *Tally) Add(a *Answer) {
	switch a.Verdict {
	case NoValue:
		return
	case OneSided:
		t.OneSided++
		return
	case Uncompared:
		t.Uncompared++
		return
	case Redacted:
		t.Redacted++
	case Different:
		t.Changed++
	}
	t.Compared++
	if t.all == nil {
		t.all = make(map[string]int)
	}
	for _, c := range a.Changes {
		if _, known := t.all[c.Path]; known || len(t.all) < maxPaths {
			t.all[c.Path]++
		}
	}
}

// Close works out Paths.
func (t *Tally) Close() {
	t.Paths = make(map[string]int)
	for _, path := range t.Common() {
		t.Paths[path] = t.all[path]
	}
}

// Common returns the places that differ in most requests, those first.
func (t *Tally) Common() []string {
	paths := make([]string, 0, len(t.all))
	for path := range t.all {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int {
		if n := t.all[b] - t.all[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	return paths[:min(len(paths), shownPaths)]
}

// Count returns of how many requests a place differs.
func (t *Tally) Count(path string) int { return t.all[path] }

// String is the tally in a few words: "values: 3 of 41 changed, 2 not
// compared".
func (t *Tally) String() string {
	if t.Compared+t.Uncompared == 0 {
		return "no values to compare"
	}
	text := fmt.Sprintf("values: %d of %d changed", t.Changed, t.Compared)
	if t.Compared == 0 {
		text = "values:"
	}
	if t.Redacted > 0 {
		text += fmt.Sprintf(", %d equal but for what is masked", t.Redacted)
	}
	if t.Uncompared > 0 {
		if t.Compared > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %d not compared", t.Uncompared)
	}
	return text
}
