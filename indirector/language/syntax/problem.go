package syntax

import (
	"fmt"
	"strings"
)

// A Severity is how bad a [Problem] is. The zero value is an error.
type Severity uint8

// Severities.
const (
	Error Severity = iota
	Warning
	Deprecation
)

// String returns the level at which Puppet logs a severity.
func (s Severity) String() string {
	if s == Error {
		return "err"
	}
	return "warning"
}

// A Problem is something wrong with a source, in Puppet's words.
type Problem struct {
	Severity Severity
	Message  string
	File     string // "" if it is not known
	Line     int    // from 1; 0 if it is not known
	Column   int    // from 1; 0 if it is not known
}

// Error returns the message with its location, as Puppet prints it. Rule
// LANG-ERR-01.
func (p *Problem) Error() string {
	var parts []string
	if p.File != "" {
		parts = append(parts, "file: "+p.File)
	}
	if p.Line > 0 {
		parts = append(parts, fmt.Sprint("line: ", p.Line))
		if p.Column > 0 {
			parts = append(parts, fmt.Sprint("column: ", p.Column))
		}
	}
	if parts == nil {
		return p.Message
	}
	return p.Message + " (" + strings.Join(parts, ", ") + ")"
}

// A Report is what Puppet would print about a source.
type Report struct {
	// Logged are problems in the order in which Puppet logs them: warnings, and
	// errors if there is more than one.
	Logged []*Problem
	// Failure is the error that Puppet raises, and nil if the source is valid. Of
	// several errors it has only the number, and no place.
	Failure *Problem
}

// conclude sorts what the checker found, and counted, into what is logged and what
// fails.
func (r *Report) conclude(found []*Problem, counts [Deprecation + 1]int, o Options) {
	left := map[Severity]int{Error: most(o.MaxErrors), Warning: most(o.MaxWarnings), Deprecation: most(o.MaxDeprecations)}
	var errors []*Problem
	for _, p := range found {
		if p.Severity == Error {
			errors = append(errors, p)
		} else if left[p.Severity]--; left[p.Severity] >= 0 {
			r.Logged = append(r.Logged, p)
		}
	}
	switch {
	case len(errors) == 0:
	case len(errors) == 1, left[Error] <= 1:
		r.Failure = errors[0]
	default:
		r.Logged = append(r.Logged, errors[:min(len(errors), left[Error])]...)
		r.Failure = &Problem{Message: givingUp(counts[Error], counts[Warning]+counts[Deprecation])}
	}
}

// most returns how many problems are logged: 10 unless the options have a number.
func most(n int) int {
	if n == 0 {
		return 10
	}
	return max(0, n)
}

func givingUp(errors, warnings int) string {
	if warnings > 0 {
		return fmt.Sprintf("Language validation logged %d errors, and %d warnings. Giving up", errors, warnings)
	}
	return fmt.Sprintf("Language validation logged %d errors. Giving up", errors)
}
