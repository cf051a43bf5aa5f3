package widget

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
)

// A File is what can be written to a file, in one of several kinds.
type File struct {
	Hint  string   // "json [FILE]   or   text [FILE]"
	Kinds []string // "json", "text"
	// Name returns the name of the file, unless another is given.
	Name func(kind string) string
	// Text returns the text, and how many values are redacted in it. It runs in a
	// command.
	Text     func(kind string) (text string, redacted int, err error)
	Complete func(text string) ([]screen.Completion, []string) // of the prompt; may be nil
}

// AskFile is the command that asks what to write, and perhaps where, and writes it.
func AskFile(env *screen.Shared, f File) tea.Cmd {
	var p *Prompt
	p = NewPrompt(env, Prompt{
		Label: "write", Hint: f.Hint, Complete: f.Complete,
		Enter: func(text string) (*Problem, tea.Cmd) {
			kind, name, _ := strings.Cut(strings.TrimSpace(text), " ")
			if !slices.Contains(f.Kinds, kind) {
				return &Problem{Offset: 0, Text: "want " + strings.Join(f.Kinds, " or ") + ", and perhaps the name of a file"}, nil
			}
			if name = strings.TrimSpace(name); name == "" {
				name = f.Name(kind)
			}
			return nil, func() tea.Msg {
				wrote := f.write(env, kind, name)
				if wrote.Bad {
					wrote.Again = p.Again(text, wrote.Text+"; "+wrote.Advice)
				}
				return wrote
			}
		},
	})
	return screen.Show(p)
}

func (f *File) write(env *screen.Shared, kind, name string) screen.Toast {
	text, redacted, err := f.Text(kind)
	if err != nil {
		return screen.Toast{Text: "write " + name + ": " + err.Error(), Advice: "esc leaves it", Bad: true}
	}
	path, more, err := env.Save(name, text)
	if errors.Is(err, fs.ErrExist) {
		return screen.Toast{Text: name + " exists", Advice: "write another name", Bad: true}
	}
	if err != nil {
		return screen.Toast{Text: "write " + name + ": " + err.Error(), Advice: "give another name", Bad: true}
	}
	return screen.Toast{Text: fmt.Sprintf("wrote %s, masked %d", path, redacted+more)}
}
