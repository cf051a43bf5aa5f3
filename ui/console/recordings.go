package console

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces/export"
	"indirtui/ui/command"
	"indirtui/ui/recordings"
	"indirtui/ui/screen"
)

func hasLog(c *Console) bool { return c.o.Recordings.Log != nil }

// listRecordings shows the recordings there are.
func listRecordings(c *Console, _ call) (tea.Cmd, error) {
	r, load := recordings.New(c.ctx, c.env, c.o.Recordings)
	return tea.Batch(screen.Send(screen.Push{Screen: r}), load), nil
}

// isRecording reports whether a word behind save names a file for requests and
// not an indirection.
func (c *Console) isRecording(word string) bool {
	if !hasLog(c) {
		return false
	}
	known := c.o.House != nil && c.o.House.Registry().Spec(word) != nil
	return !known && strings.ContainsAny(word, "./")
}

// saveRecording saves what a selector means to a file: save base.ind @run.
func (c *Console) saveRecording(words []string) (tea.Cmd, error) {
	name, rest, format := words[0], slices.Clone(words[1:]), export.Recording
	if n := len(rest); n > 0 {
		if f, err := export.Parse(rest[n-1]); err == nil {
			format, rest = f, rest[:n-1]
		}
	}
	selector := strings.Join(rest, " ")
	if selector == "" {
		selector = "@all"
	}
	if strings.TrimSpace(name) == "" {
		return nil, &command.UsageError{What: "save to which file?", Advice: "save incident.ind @run"}
	}
	return recordings.Write(c.env, c.o.Recordings, name, selector, format), nil
}

// exportTo is save with the format in front: export otlp trace.json @run.
func exportTo(c *Console, l call) (tea.Cmd, error) {
	if len(l.words) < 2 {
		return nil, &command.UsageError{What: "export what, and where to?", Advice: "export FORMAT FILE [SELECTOR]"}
	}
	if _, err := export.Parse(l.words[0]); err != nil {
		return nil, &command.UsageError{What: err.Error()}
	}
	return c.saveRecording(append(slices.Clone(l.words[1:]), l.words[0]))
}

// nextExport goes on with export.
func nextExport(_ *Console, l call) []option {
	typed, n := l.last()
	switch n {
	case 0:
		var names []string
		for _, f := range export.Formats() {
			names = append(names, string(f))
		}
		return plain("format", typed, names...)
	case 1:
		return nil // a new file
	}
	return plain("requests", typed, "@all", "@shown", "@run", "@marked", "@unmarked")
}
