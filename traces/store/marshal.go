package store

import "indirtui/traces"

// AppendTrace appends a trace as a recording holds it: one line of JSON, see
// the package comment.
func AppendTrace(b []byte, t *traces.Trace) []byte { return new(phrases).appendTrace(b, t, false) }
