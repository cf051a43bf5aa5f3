package steps

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/indirector/format"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// maxSource bounds the file that is read for the lines around a place.
const maxSource = 4 << 20

// around is how many lines are read above and below a place.
const around = 20

// longest is how much of a value is shown.
const longest = 400

// A program is a place in a program where a request is held, with the lines around it and
// the variables, without secrets: frames are drawn of what was redacted once.
type program struct {
	*indirector.Code
	lines     []string
	first     int    // the number of the first line
	wrong     string // why there are no lines
	variables widget.Facts
	items     []item         // of the variables
	steps     []resourceStep // of a resource that is applied; else nil
}

// programOf reads the lines around the place where a request is held; nil if it is held
// between two steps.
func programOf(env *session.Env, h *debugger.Held) *program {
	at := h.State.Code
	if at == nil {
		return nil
	}
	c := &program{Code: at}
	for _, v := range at.Variables {
		name := v.Key.Text()
		shown := func(text string) string { return term.CleanTo(env.RedactedAs(name, text), longest).String() }
		label := "$" + name
		if at.Of != "" {
			label = name
		}
		fact, it := widget.Fact{Label: label, Text: shown(v.Value.Inspect())}, item{name: "$" + name, why: h.Disabled("$" + name)}
		if json, err := format.AppendJSON(nil, v.Value); err == nil && shown(string(json)) == string(json) {
			it.value = string(json) // else it is too long, or has a secret
		}
		for _, change := range h.Changes {
			if change.Name == it.name {
				fact.Text, fact.Style = shown(change.Was)+" -> "+shown(change.Is), term.Touched
			}
		}
		c.variables, c.items = append(c.variables, fact), append(c.items, it)
	}
	if at.Of != "" {
		c.steps = resourceSteps((&stay{Held: *h}).trace(env), at)
		return c
	}
	c.read(env.Redacted)
	return c
}

// read reads the lines around the place.
func (c *program) read(redact func(string) string) {
	f, err := os.Open(c.File)
	if err != nil || c.Line == 0 {
		c.wrong = "the program is no file that can be read"
		return
	}
	defer f.Close()
	var all []string
	lines := bufio.NewScanner(io.LimitReader(f, maxSource))
	lines.Buffer(nil, maxSource)
	for lines.Scan() {
		all = append(all, strings.ReplaceAll(lines.Text(), "\t", "    "))
	}
	if len(all) < c.Line {
		c.wrong = "the file has changed: it has no line " + strconv.Itoa(c.Line)
		return
	}
	c.first = max(c.Line-around, 1)
	c.lines = withoutSecrets(all, redact)[c.first-1 : min(c.Line+around, len(all))]
}

// withoutSecrets redacts lines. A secret of several lines, such as a private key, is seen
// in all of them together only: what is shown of a line is what stands there as well.
func withoutSecrets(lines []string, redact func(string) string) []string {
	together := strings.Split(redact(strings.Join(lines, "\n")), "\n")
	if len(together) == len(lines) {
		return together
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = redact(line)
	}
	at := 0
	for i, line := range out {
		switch {
		case at < len(together) && line == together[at]:
			at++
			continue
		case i+1 < len(out) && at+1 < len(together) && out[i+1] == together[at+1]:
			at++
		}
		out[i] = "(masked lines)"
	}
	return out
}

// source is the lines around the place, with a cursor at it.
func (c *program) source(th *term.Theme, width, height int) term.Lines {
	lines := term.Lines{th.Titled(width, term.Title{Left: term.Of(term.Bold, shortPath(c.File)), Right: term.Of(term.Quiet, c.what())})}
	if c.wrong != "" {
		return append(lines, term.Of(term.Quiet, "   "+c.wrong))
	}
	room := max(height-1, 1)
	from := max(c.Line-c.first-room/2, 0)
	from = max(min(from, len(c.lines)-room), 0)
	for i := from; i < min(from+room, len(c.lines)); i++ {
		n, style := c.first+i, term.Quiet
		var l term.Line
		l.Space(1)
		if n == c.Line {
			style = term.Touched
			l.Put(term.Touched|term.Bold, th.Glyphs.Cursor)
		} else {
			l.Space(1)
		}
		number := strconv.Itoa(n)
		l.Space(max(4-len(number), 0))
		l.Put(style, number)
		l.Space(2)
		if n != c.Line {
			style = term.Plain
		}
		l.Add(style, term.CleanTo(c.lines[i], max(width-l.Width()-1, 1)))
		lines = append(lines, l)
	}
	return lines
}

// what is what begins at the place; "" of a statement.
func (c *program) what() string {
	if c.Kind == indirector.Statement {
		return ""
	}
	return c.Kind + " " + c.Name
}

// calls are what is around the place, the innermost first.
func (c *program) calls(th *term.Theme, width, height int) term.Lines {
	lines := term.Lines{th.Titled(width, term.Title{Left: term.Of(term.Quiet, "within"), Right: term.Of(term.Quiet, strconv.Itoa(len(c.Calls)))})}
	for i := len(c.Calls) - 1; i >= 0 && len(lines) < height; i-- {
		call := &c.Calls[i]
		name := call.Name
		if name == "" {
			name = "node"
		}
		var l term.Line
		l.Space(3)
		l.Cell(term.Plain, term.CleanTo(name, 24), 24)
		l.Space(1)
		if call.File != "" {
			l.Add(term.Quiet, term.CleanTo(filepath.Base(call.File)+":"+strconv.Itoa(call.Line), max(width-l.Width()-1, 1)))
		}
		lines = append(lines, l)
	}
	return lines
}

// seen are the variables that the place sees, from the one that was scrolled to on; while one
// is edited, that is marked.
func (c *program) seen(th *term.Theme, from int, editing bool, width, height int) term.Lines {
	left := "VARIABLES"
	if c.Of != "" {
		left = "PROPERTIES"
	}
	if editing {
		left += "   enter changes, e leaves, u undoes"
	} else {
		left += "   e"
	}
	title := term.Title{Left: term.Of(term.Bold, left), Right: term.Of(term.Quiet, strconv.Itoa(len(c.variables)))}
	lines := term.Lines{th.Titled(width, title)}
	for i := from; i < len(c.variables) && len(lines) < height; i++ {
		fact, indent := c.variables[i], 3
		if editing && i == from {
			fact.Label, fact.Style, indent = th.Glyphs.Cursor+" "+fact.Label, fact.Style|term.Bold, 1
		}
		lines = append(lines, fact.Lines(indent, 20, width, 1)...)
	}
	return lines
}

// shortPath is the end of a path that names a file within its module.
func shortPath(path string) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	return strings.Join(parts[max(len(parts)-4, 0):], "/")
}

// viewProgram shows where in a program the request waits: the lines, what is around them, and
// the variables.
func (s *Steps) viewProgram() term.Lines {
	c, th := s.hold.stay.program, s.env.Theme
	lines := term.Lines{s.heldLine()}
	room := s.height - 1
	if c.Of != "" {
		return append(lines, s.viewResource(room)...)
	}
	if s.width >= screen.Wide {
		left := s.width * 3 / 5
		right := s.width - left - 1
		upper := min(len(c.Calls)+1, room/3)
		aside := c.calls(th, right, upper)
		aside = append(aside, c.seen(th, s.hold.at, s.hold.editing, right, room-len(aside))...)
		source := c.source(th, left, room)
		return append(lines, term.Beside(source.Fill(left, room), aside.Fill(right, room), left, th)...)
	}
	lines = append(lines, c.source(th, s.width, max(room/2, 4))...)
	lines = append(lines, c.calls(th, s.width, min(len(c.Calls)+1, max(room/5, 3)))...)
	lines = append(lines, c.seen(th, s.hold.at, s.hold.editing, s.width, s.height-len(lines))...)
	return lines.Fill(s.width, s.height)
}

// handleProgram runs a command where a request is held in a program, and reports whether it
// is one for it: the variables scroll.
func (s *Steps) handleProgram(a screen.Command) bool {
	last := max(len(s.hold.stay.program.variables)-1, 0)
	switch a.Action {
	case screen.Down:
		s.hold.at = min(s.hold.at+a.Times(), last)
	case screen.Up:
		s.hold.at = max(s.hold.at-a.Times(), 0)
	case screen.Top:
		s.hold.at = 0
	case screen.Bottom:
		s.hold.at = last
	default:
		return false
	}
	return true
}
