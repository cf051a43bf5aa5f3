package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/term"
)

// clean makes text from outside safe for a terminal.
func clean(s string) string { return term.Clean(s).String() }

func cleanLines(b []byte) string { return mapLines(string(b), clean) }

func indentLines(s, indent string) string {
	return mapLines(s, func(line string) string { return indent + line })
}

func mapLines(s string, f func(string) string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = f(line)
	}
	return strings.Join(lines, "\n") + "\n"
}

// writeJSON writes v as indented JSON in which a terminal finds nothing to obey.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(traces.SafeJSON(b.Bytes()))
	return err
}

// printTrace writes the trace of a request as story, steps or json; none is
// nothing.
func printTrace(w io.Writer, log *store.Store, kind string, id uint64) error {
	t, err := log.Trace(id)
	if err != nil {
		return err
	}
	switch kind {
	case "none":
		return nil
	case "json":
		_, err = w.Write(store.AppendTrace(nil, t))
	case "steps":
		err = printSteps(w, log, t, "")
	default:
		_, err = io.WriteString(w, cleanLines(traces.AppendStory(nil, t)))
	}
	return err
}

func printSteps(w io.Writer, log *store.Store, t *traces.Trace, indent string) error {
	if _, err := io.WriteString(w, indentLines(cleanLines(traces.AppendSteps(traces.AppendStory(nil, t), t)), indent)); err != nil {
		return err
	}
	for _, child := range log.Links(t.ID).Children {
		if c, err := log.Trace(child); err == nil {
			if err := printSteps(w, log, c, indent+"    "); err != nil {
				return err
			}
		}
	}
	return nil
}
