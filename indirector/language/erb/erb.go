// Package erb renders ERB templates by an interpreter of a subset of Ruby, in Go.
//
// A template is made into a program, whose texts are calls that write; the program is
// read in full by a parser that leaves nothing out, and evaluated. There are no files,
// processes, addresses, clocks or other programs' values: what a template sees is its
// [Host]. So templates of unknown origin are harmless; steps, memory and depth are
// counted. Rules LANG-ERB-01 to LANG-ERB-06.
//
// What Ruby has and the subset has not is an error that names the line and the construct,
// and that no rescue of the template sees; what fails in Ruby, too, is an exception.
package erb

import (
	"fmt"
	"strconv"
	"strings"
)

// A Template is a program that writes. It does not change, and may be shared.
type Template struct {
	source string
	body   []node
	texts  []string
	err    error // of one that could not be read
}

// An Error is a failed template.
type Error struct {
	Line int // from 1
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Parse reads a template. An error is one of syntax, in our words, or it wraps
// errors.ErrUnsupported; it is that of Render, too.
func Parse(source string) (*Template, error) {
	t := &Template{source: source}
	t.body, t.err = parse(t.program(source))
	return t, t.err
}

// Render returns what a template writes. An error is an [*Error], or that of Parse.
func (t *Template) Render(host Host) (out string, err error) {
	if t.err != nil {
		return "", t.err
	}
	r := newRun(host)
	r.texts = t.texts
	defer func() {
		if p := recover(); p != nil {
			err = &Error{r.line, fmt.Errorf("internal error: %v", p)}
		}
	}()
	if _, err := r.body(t.body); err != nil {
		return "", &Error{max(r.line, 1), err}
	}
	if err := r.giveBack(); err != nil {
		return "", &Error{max(r.line, 1), err}
	}
	return r.out.String(), nil
}

// program returns the Ruby that a template is: with as many lines, so that lines of
// errors are those of the template.
func (t *Template) program(source string) string {
	var b strings.Builder
	text := func(s string) {
		if s == "" {
			return
		}
		b.WriteString(";__erb_text__(" + strconv.Itoa(len(t.texts)) + ");" + strings.Repeat("\n", strings.Count(s, "\n")))
		t.texts = append(t.texts, s)
	}
	for source != "" {
		before, rest, ok := strings.Cut(source, "<%")
		if !ok {
			text(source)
			break
		}
		if strings.HasPrefix(rest, "%") {
			text(before + "<%")
			source = rest[1:]
			continue
		}
		if strings.HasPrefix(rest, "-") {
			rest = rest[1:]
			before = withoutIndentation(before)
		}
		text(before)
		code, after, lineEnd := tag(rest)
		switch {
		case strings.HasPrefix(code, "#"):
			b.WriteString(strings.Repeat("\n", strings.Count(code, "\n")))
		case strings.HasPrefix(code, "="):
			b.WriteString(";__erb_value__((" + code[1:] + "));")
		default:
			b.WriteString(";" + code + ";")
		}
		if lineEnd {
			b.WriteString("\n")
		}
		source = after
	}
	return b.String()
}

// withoutIndentation drops the blanks at the end of a text that stand at the beginning of
// a line.
func withoutIndentation(s string) string {
	trimmed := strings.TrimRight(s, " \t")
	if trimmed == "" || strings.HasSuffix(trimmed, "\n") {
		return trimmed
	}
	return s
}

// tag returns the code up to the end of a tag, and what stands behind it: a dash in front
// of the end takes the line end with it.
func tag(s string) (code, after string, lineEnd bool) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "%>")
		b.WriteString(before)
		if !ok {
			return b.String(), "", false
		}
		if strings.HasSuffix(before, "%") { // %%> is no end
			s = rest
			code := strings.TrimSuffix(b.String(), "%") + "%>"
			b.Reset()
			b.WriteString(code)
			continue
		}
		code = b.String()
		if trimmed, ok := strings.CutSuffix(code, "-"); ok {
			code = trimmed
			if r, ok := strings.CutPrefix(rest, "\n"); ok {
				return code, r, true
			}
		}
		return code, rest, false
	}
}
