package console

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/command"
	"indirtui/ui/describe"
	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// describeType shows a resource type, or lists them.
func describeType(c *Console, l call) (tea.Cmd, error) {
	if len(l.words) > 1 {
		return nil, &command.UsageError{What: "describe which type?", Advice: "describe file   describe alone lists them"}
	}
	if len(l.words) == 0 {
		return c.showRows("resource types", describe.List()), nil
	}
	t, err := describe.Find(l.words[0])
	ctx, machine, foreign := c.ctx, c.o.Machine, c.o.Foreign
	if err != nil && foreign == nil {
		return nil, err
	}
	return screen.Later(func() tea.Msg {
		if err != nil {
			if t, err = foreign(ctx, l.words[0]); err != nil {
				return screen.For{Screen: c, Msg: warned(err.Error())}
			}
		}
		d := describe.New(t, machine(ctx))
		return c.showRows("describe > "+d.Name, d.Rows())()
	}), nil
}

// showRows shows rows on a page of their own, or prints them where there is no screen.
func (c *Console) showRows(title string, rows []describe.Row) tea.Cmd {
	if c.o.Output != nil {
		return screen.Send(screen.For{Screen: c, Msg: printed(strings.TrimRight(describe.Text(rows), "\n"))})
	}
	p := widget.Page{Title: title}
	for _, r := range rows {
		p.Add(r.Label, r.Text, term.Plain)
	}
	return screen.Send(screen.Push{Screen: widget.NewPager(&c.env.Shared, p)})
}

func nextDescribe(_ *Console, l call) []option {
	typed, _ := l.last()
	return plain("type", typed, describe.Names()...)
}
