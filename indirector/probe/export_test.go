package probe

import "indirtui/traces"

// NewDecoder returns what takes the lines of one connection after its first, and
// what ends it.
func NewDecoder(o *Options, first []byte) (line func([]byte) error, leave func(error), err error) {
	d, err := newDecoder(o, first)
	if err != nil {
		return nil, nil, err
	}
	return d.line, d.leave, nil
}

// Explain adds to a request of a process what explains it.
func Explain(t *traces.Trace, p *Process) { explain(t, p) }
