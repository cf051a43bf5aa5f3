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
	if own := c.o.Own["recordings"]; own != nil {
		return own("")
	}
	r, load := recordings.New(c.ctx, c.env, c.o.Recordings)
	return tea.Batch(screen.Send(screen.Push{Screen: r}), load), nil
}

// isRecording reports whether the first word behind save names a file for
// requests and not an indirection.
func (c *Console) isRecording(line string) bool {
	words, err := command.SplitBefore(line, 1)
	if err != nil || !hasLog(c) || len(words) == 0 && !c.o.Plain {
		return false
	}
	known := len(words) > 0 && c.o.Engine != nil && c.o.Engine.Registry().Spec(words[0]) != nil
	switch {
	case !known:
		return c.o.Plain || strings.ContainsAny(words[0], "./")
	case !c.o.Plain:
		return false
	}
	all, err := command.Split(line)
	_, file, _ := takeFile(all)
	return err == nil && (file == "" || slices.Contains(selectors, "@"+file))
}

// selectors are the requests that have a name.
var selectors = []string{"@all", "@shown", "@run", "@marked", "@unmarked"}

// saveRecording saves what a selector means to a file: base.ind @run. Behind
// the selector may stand a format and which values go along, unless format
// names one: @run csv bodies=none. The selector is read as it is written.
func (c *Console) saveRecording(line string, format export.Format) (tea.Cmd, error) {
	words, err := command.SplitBefore(line, 1)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 || strings.TrimSpace(words[0]) == "" {
		return nil, &command.UsageError{What: "save to which file?", Advice: "save incident.ind @run"}
	}
	what := recordings.What{Name: words[0], Selector: "@all", Format: format}
	if len(words) > 1 {
		if err := what.Read(words[1]); err != nil {
			return nil, &command.UsageError{What: err.Error()}
		}
	}
	if c.o.Write != nil {
		return nil, c.o.Write(what)
	}
	return recordings.Write(c.env, c.o.Recordings, what), nil
}

// exportTo is save with the format in front: export otlp trace.json @run.
func exportTo(c *Console, l call) (tea.Cmd, error) {
	words, err := command.SplitBefore(l.rest, 1)
	if err != nil {
		return nil, err
	}
	if len(words) < 2 {
		return nil, &command.UsageError{What: "export what, and where to?", Advice: "export FORMAT FILE [SELECTOR] [bodies=all|small|failed|none]"}
	}
	format, err := export.Parse(words[0])
	if err != nil {
		return nil, &command.UsageError{What: err.Error()}
	}
	return c.saveRecording(words[1], format)
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
	return plain("requests", typed, append(slices.Clone(selectors), "bodies=all", "bodies=small", "bodies=failed", "bodies=none")...)
}
