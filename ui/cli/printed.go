package cli

import (
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/mattn/go-isatty"

	"indirtui/indirector/redact"
	"indirtui/traces"
)

// redacting redacts what is written: errors, log lines, what panicked.
type redacting struct {
	w        io.Writer
	redactor func() *redact.Redactor
}

func (r *redacting) Write(b []byte) (int, error) {
	text, n := r.redactor().Text(string(b))
	if n == 0 {
		return r.w.Write(b)
	}
	if _, err := io.WriteString(r.w, text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printed returns where the command line prints. What is byte for byte as Puppet
// writes it is for files and programs: on a terminal, what that would obey or not
// show is written as an escape.
func printed(w io.Writer) io.Writer {
	if file, ok := w.(*os.File); ok && isatty.IsTerminal(file.Fd()) {
		return &onTerminal{w: w}
	}
	return w
}

// onTerminal is a terminal that gets text only. A letter may come in two parts.
type onTerminal struct {
	w    io.Writer
	half []byte // the first bytes of a letter
}

func (o *onTerminal) Write(b []byte) (int, error) {
	in := append(o.half, b...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && utf8.FullRune(in) {
		r, n := utf8.DecodeRune(in)
		switch {
		case r == utf8.RuneError && n == 1, r == '\r':
			out = fmt.Appendf(out, `\x%02x`, in[0])
		case r == '\n', r == '\t', traces.Shows(r):
			out = append(out, in[:n]...)
		case r < 0x100:
			out = fmt.Appendf(out, `\x%02x`, r)
		default:
			out = traces.AppendEscape(out, r)
		}
		in = in[n:]
	}
	o.half = append([]byte(nil), in...)
	if _, err := o.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
