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
	return recordings.Write(c.o.Recordings, name, selector, format), nil
}
