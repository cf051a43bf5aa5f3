package value

import (
	"unicode/utf8"

	"indirtui/traces"
	"indirtui/traces/tree"
	"indirtui/ui/session"
	"indirtui/ui/term"
)

// A Preview is the beginning of a value, for a pane beside something else.
type Preview struct {
	Value traces.Value
	What  string // "answer", or "sent" if it is what a save sent
	lines []string
	whole bool
	why   string // why there are no lines
}

// The beginning of a value: many of them are kept at once.
const (
	previewBytes = 12 << 10
	previewLines = 300
)

// PreviewOf reads the beginning of the value that a request was answered with, or of
// what it sent.
func PreviewOf(log session.Log, t *traces.Trace) *Preview {
	p := &Preview{Value: t.Value(), What: "answer"}
	if t.Value().Model == "" && t.Sent().Model != "" {
		p.Value, p.What = t.Sent(), "sent"
	}
	switch {
	case p.Empty():
		p.why = "There is no value."
		return p
	case p.Value.Size > large:
		p.why = term.Bytes(int64(p.Value.Size)) + ".  v shows it"
		return p
	}
	body, err := log.Body(p.Value)
	if err != nil {
		p.why = Why(log, err)
		return p
	}
	p.read(body)
	return p
}

func (p *Preview) read(body []byte) {
	data := false
	if p.Value.Format == "json" {
		_, err := tree.Parse(body)
		data = err == nil
	}
	p.whole = true
	if !data && len(body) > previewBytes {
		end := previewBytes
		for end > previewBytes-utf8.UTFMax && !utf8.RuneStart(body[end]) {
			end--
		}
		body, p.whole = body[:end], false
	}
	p.lines = yamlOf(body, data, previewBytes)
	n := 0
	for i, line := range p.lines {
		if n += len(line); i == previewLines || n > previewBytes {
			p.lines, p.whole = p.lines[:i], false
			return
		}
	}
}

// Lines returns what is known of the value, one line of it on each line.
func (p *Preview) Lines(width int) term.Lines {
	if p.why != "" {
		var lines term.Lines
		for _, t := range term.Clean(p.why).Wrap(max(width-1, 8), 4) {
			var l term.Line
			l.Add(term.Quiet, t)
			lines = append(lines, l)
		}
		return lines
	}
	lines := make(term.Lines, 0, len(p.lines)+1)
	for _, s := range p.lines {
		var l term.Line
		l.Add(term.Plain, term.CleanTo(s, width))
		lines = append(lines, l)
	}
	if !p.whole {
		lines = append(lines, term.Of(term.Quiet, "v shows the rest"))
	}
	return lines
}

// Empty reports whether there is no value.
func (p *Preview) Empty() bool { return p.Value.Model == "" && p.Value.Digest == "" }

// About is how large the value is: "json 1.2 kB".
func (p *Preview) About() string {
	if p.Value.Model == "" {
		return ""
	}
	return p.Value.Format + " " + term.Bytes(int64(p.Value.Size))
}
