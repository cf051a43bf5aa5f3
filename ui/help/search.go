package help

import (
	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A search is the line in help that narrows it: over what the keys do here, and
// over the topics.
type search struct {
	on    bool
	input widget.Input
	all   []entry
	texts []string // of all, as they are searched
	found []widget.Match
	list  widget.Table
}

// An entry is one line that can be found: a key and what it does, or a topic.
type entry struct {
	key, text string
	do        tea.Cmd
	why       string // why it does not work now; "" if it does
}

// begin opens the line.
func (h *Help) begin() {
	s := &h.search
	*s = search{on: true, list: widget.Table{Top: 2, Drags: true}}
	all := h.env.Keys.For(h.on.Scope())
	for i := range all {
		b := h.on.Now(&all[i])
		if b.About == "" || b.Why == screen.Unknown {
			continue
		}
		do := h.do(screen.Command{Action: b.Do})
		if b.Arg || b.Do == screen.GoTo {
			do = nil // its key asks for more
		}
		s.all = append(s.all, entry{keysOf(&b), b.About, do, b.Why})
	}
	for _, name := range Topics() {
		text := "about " + name
		for _, g := range guides {
			if g.topic == name {
				text = g.title
			}
		}
		s.all = append(s.all, entry{key: ":help " + name, text: text, do: h.topic(name)})
	}
	for _, e := range s.all {
		s.texts = append(s.texts, e.key+" "+e.text)
	}
	h.find()
}

func (h *Help) find() {
	s := &h.search
	s.found = widget.Find(s.input.String(), s.texts)
	s.list.SetHeight(max(h.rows()-1, 0))
	s.list.SetLen(len(s.found))
	s.list.To(0)
}

// typed takes a key while something is searched.
func (h *Help) typed(msg tea.KeyMsg) tea.Cmd {
	s := &h.search
	switch msg.String() {
	case "esc", "ctrl+c":
		s.on = false
	case "down", "ctrl+n", "tab":
		s.list.Move(1)
	case "up", "ctrl+p", "shift+tab":
		s.list.Move(-1)
	case "pgdown":
		s.list.Move(max(s.list.Height, 1))
	case "pgup":
		s.list.Move(-max(s.list.Height, 1))
	case "enter":
		return h.choose()
	default:
		if before := s.input.String(); s.input.Key(msg) && s.input.String() != before {
			h.find()
		}
	}
	return nil
}

// choose does what was found, or shows why that does not work now.
func (h *Help) choose() tea.Cmd {
	s := &h.search
	if s.list.Cursor >= len(s.found) {
		return nil
	}
	switch e := s.all[s.found[s.list.Cursor].Index]; {
	case e.why != "":
		h.problem = "not now: " + e.why
	case e.do == nil:
		h.problem = "press " + e.key
		s.on = false
	default:
		return e.do
	}
	return nil
}

// searched is what stands in the box while something is searched.
func (h *Help) searched() term.Lines {
	s, th := &h.search, h.env.Theme
	var input term.Line
	input.Put(term.Accent|term.Bold, "/ ")
	text, _ := s.input.Line(th, max(h.width-2, 1))
	input.Append(text)
	if s.input.String() == "" {
		input.Put(term.Quiet, " what do you want to do?")
	}
	rows := s.list.Lines(th, h.width, func(i int, r *widget.Row) {
		m := &s.found[i]
		e, style := s.all[m.Index], term.Plain
		if e.why != "" {
			style = term.Quiet
		}
		r.To(2)
		r.Append(m.Marked(style|term.Bold, e.key, 0).Cut(maxKeys + 4))
		r.To(2 + maxKeys + 6)
		r.Append(m.Marked(style, e.text, len(e.key)+1).Cut(max(h.width-r.Width(), 0)))
	})
	if len(s.found) == 0 && len(rows) > 0 {
		rows[0] = term.Of(term.Quiet, "  nothing has these letters in this order")
	}
	return append(term.Lines{input}, rows...)
}
