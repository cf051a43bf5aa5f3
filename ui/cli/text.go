package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/command"
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

// A listing is what the commands share that list something.
type listing struct {
	p      *program
	asJSON bool
}

func (l *listing) flag(cmd *cobra.Command, help string) {
	cmd.Flags().BoolVar(&l.asJSON, "json", false, help)
}

// print prints rows as JSON if that is wanted, else by table.
func (l *listing) print(rows any, table func(io.Writer) error) error {
	if l.asJSON {
		return writeJSON(l.p.out, rows)
	}
	return table(l.p.out)
}

// printTable prints rows in columns below their titles, which have tabs between
// them; "" is none. Lines puts the cells of a row, and of lines below it.
func printTable[R any](out io.Writer, titles string, rows []R, lines func(r R, put func(cells ...string))) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if titles != "" {
		fmt.Fprintln(w, titles)
	}
	for _, r := range rows {
		lines(r, func(cells ...string) {
			for i := range cells {
				cells[i] = clean(cells[i])
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
		})
	}
	return w.Flush()
}

// checkOneOf is the error of a flag with a value that there is not.
func checkOneOf(flag, value string, there ...string) error {
	if slices.Contains(there, value) {
		return nil
	}
	return &command.UsageError{What: fmt.Sprintf("--%s %s is not known", flag, value), Advice: "there are: " + strings.Join(there, ", ")}
}

// checkFormat checks the --format of results.
func checkFormat(format string) error { return checkOneOf("format", format, "text", "json") }

// checkTrace checks what --trace wants.
func checkTrace(kind string) error {
	return checkOneOf("trace", kind, "none", "story", "steps", "json")
}

// checkAnswer checks the --format of an answer, which may be left out.
func checkAnswer(format string) error {
	if format == "" {
		return nil
	}
	return command.CheckFormat(format)
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
