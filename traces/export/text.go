package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
)

// lines writes JSON lines.
type lines struct{}

func (*lines) begin(io.Writer) error { return nil }

func (*lines) add(w io.Writer, r *request) error {
	line := bytes.TrimSuffix(store.AppendTrace(nil, r.trace), []byte("}\n"))
	more := struct {
		Story    string   `json:"story"`
		Bare     bool     `json:"lost,omitempty"`
		Body     any      `json:"body,omitempty"`
		SentBody any      `json:"sent_body,omitempty"`
		Mark     string   `json:"mark,omitempty"`
		Comments []string `json:"comments,omitempty"`
	}{Story: traces.Story(r.trace), Bare: r.bare, Body: content(r.value), SentBody: content(r.sent)}
	if r.mark != 0 {
		more.Mark = string(rune(r.mark))
	}
	for _, c := range r.comments {
		more.Comments = append(more.Comments, c.Text)
	}
	rest, err := appendJSON(nil, more)
	if err != nil {
		return err
	}
	line = append(append(line, ','), rest[1:]...)
	_, err = w.Write(append(line, '\n'))
	return err
}

// content is a value in a line: itself if it is JSON, else a text.
func content(b []byte) any {
	switch {
	case b == nil:
		return nil
	case json.Valid(b):
		return json.RawMessage(b)
	}
	return string(b)
}

func (*lines) end(w io.Writer, r *Report) error {
	b, err := appendJSON(nil, struct {
		End any `json:"end"`
	}{struct {
		Requests int         `json:"requests"`
		Bare     int         `json:"without_detail"`
		Redacted int         `json:"masked"`
		List     []Redaction `json:"list"`
	}{r.Requests, r.Bare, r.Redacted, append([]Redaction{}, r.List...)}})
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// A table is a CSV.
type table struct{}

// Columns are the names of the columns of a CSV.
func Columns() []string {
	return []string{
		"request", "time", "took_us", "outcome", "verb", "indirection", "key", "environment", "terminus", "cache", "served",
		"set_by", "run", "caller", "parent", "flags", "size", "mark", "error", "story", "run_guessed",
	}
}

func (*table) begin(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(Columns(), ",")+"\r\n")
	return err
}

func (*table) add(w io.Writer, r *request) error {
	t := r.trace
	primary, cache := t.Primary.Winner(), t.Cache.Winner()
	parent, mark, guessed := "", "", ""
	if t.RunGuessed {
		guessed = "yes"
	}
	if t.Parent != 0 {
		parent = strconv.FormatUint(t.Parent, 10)
	}
	if r.mark != 0 {
		mark = string(rune(r.mark))
	}
	cells := []string{
		strconv.FormatUint(t.ID, 10), t.Start.UTC().Format(time.RFC3339Nano), micros(t.Took), t.Outcome.String(), t.Verb.String(),
		t.Indirection, t.Key, t.Environment, primary.Terminus, cache.Terminus, t.Served.String(), primary.Kind.String(), t.Run, t.Caller,
		parent, strings.Join(t.Flags.Names(), " "), strconv.Itoa(max(t.Value().Size, t.Sent().Size)), mark, t.Error, traces.Story(t), guessed,
	}
	for i, c := range cells {
		cells[i] = cell(c)
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(cells); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// cell is a text that no spreadsheet takes for a formula, and no terminal for a
// command.
func cell(s string) string {
	s = string(traces.AppendSafe(nil, s))
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

func (*table) end(io.Writer, *Report) error { return nil }

// stories writes the story of each request and its steps, and the redactions at
// the end.
type stories struct{}

func (*stories) begin(io.Writer) error { return nil }

func (*stories) add(w io.Writer, r *request) error {
	b := fmt.Appendf(nil, "%s  ", r.trace.Start.UTC().Format("2006-01-02 15:04:05.000Z"))
	b = traces.AppendStory(b, r.trace)
	if r.trace.Run != "" {
		b = fmt.Appendf(b, "  run       %s\n", traces.RunName(r.trace.Run, r.trace.Transaction, r.trace.RunGuessed))
	}
	if r.trace.Traceparent != nil {
		b = fmt.Appendf(b, "  parent    %s\n", r.trace.Traceparent)
	}
	for _, c := range r.comments {
		b = fmt.Appendf(b, "  comment   %s\n", strings.ReplaceAll(c.Text, "\n", " "))
	}
	if r.bare {
		b = append(b, "  its detail was dropped: only this is left\n"...)
	} else {
		b = traces.AppendSteps(b, r.trace)
	}
	_, err := w.Write(append(safeLines(b), '\n'))
	return err
}

func (*stories) end(w io.Writer, r *Report) error {
	b := fmt.Appendf(nil, "%s\n", r)
	for _, m := range r.List {
		b = fmt.Appendf(b, "  %s\n", m)
	}
	if n := r.Redacted - len(r.List); n > 0 {
		b = fmt.Appendf(b, "  and %d more\n", n)
	}
	_, err := w.Write(safeLines(b))
	return err
}

// safeLines returns lines of text for a terminal.
func safeLines(b []byte) []byte {
	var out []byte
	for line := range bytes.Lines(b) {
		out = append(traces.AppendSafe(out, string(bytes.TrimRight(line, " \n"))), '\n')
	}
	return out
}
