package onig

import (
	"fmt"
	"time"
)

// A Budget is how long all expressions of one evaluation may go back together: each match is
// stopped by itself, and many that are slow would take any time. It is not safe for
// concurrent use.
type Budget struct{ all, spent time.Duration }

// NewBudget returns a budget of so much time.
func NewBudget(all time.Duration) *Budget { return &Budget{all: all} }

// Within returns the expression for matches that take their time from a budget. An error
// that it is used up wraps [ErrLimit]. What takes linear time takes none of it.
func (re *Regexp) Within(b *Budget) *Regexp {
	if re.Linear() {
		return re
	}
	own := *re
	own.budget = b
	return &own
}

// Linear reports whether matches take linear time, whatever the text.
func (re *Regexp) Linear() bool { return re.linear != nil && !re.feed && !re.wide }

// Begin begins to look for matches of what the error of a budget names. The function that
// it returns takes the time since then from the budget, and fails if that is used up. A nil
// budget has no end.
func (b *Budget) Begin(what fmt.Stringer) (used func() error) {
	if b == nil {
		return func() error { return nil }
	}
	at := time.Now()
	return func() error {
		now := time.Now()
		b.spent += now.Sub(at)
		if at = now; b.spent > b.all {
			return fmt.Errorf("%v: %w: all matches together take more than %v", what, ErrLimit, b.all)
		}
		return nil
	}
}
