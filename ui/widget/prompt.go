package widget

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Problem is what is wrong with a line, and where.
type Problem struct {
	Offset int // of the byte where it begins; -1 for the line as a whole
	Text   string
}

// A Prompt asks for one line, on top of the lower lines of another screen. It
// closes itself.
type Prompt struct {
	Popup
	Label   string // "/", ":"
	Input   Input
	Hint    string   // below the line, while nothing is wrong
	History *History // what was written before; may be nil
	// Secret reports whether a line must not be remembered. It may be nil.
	Secret func(text string) bool
	Change func(text string) (*Problem, tea.Cmd)
	Enter  func(text string) (*Problem, tea.Cmd) // nil Problem closes the prompt
	Cancel func() tea.Cmd
	// Complete returns how the line may go on, and help about it; nil if it
	// cannot.
	Complete func(text string) ([]screen.Completion, []string)

	problem *Problem
	next    []screen.Completion
	help    []string
	choice  int // of next; -1 is none
}

// promptLines is the least that a prompt covers: the lines below a list.
const promptLines = 5

// maxCompletions is how many ways to go on are shown.
const maxCompletions = 5

// NewPrompt returns p ready to be pushed.
func NewPrompt(env *screen.Shared, p Prompt) *Prompt {
	p.Env, p.choice = env, -1
	p.complete()
	return &p
}

func (p *Prompt) Hints() []screen.Action {
	if len(p.next) > 0 {
		return []screen.Action{screen.Enter, screen.Tab, screen.Back}
	}
	return []screen.Action{screen.Enter, screen.Back}
}

func (p *Prompt) Rows() int {
	above, _ := p.label()
	return max(2+len(above)+min(len(p.next), maxCompletions)+max(len(p.help), len(p.reason()), 1), promptLines)
}

func (p *Prompt) Update(msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	switch key.String() {
	case "esc", "ctrl+c":
		var then tea.Cmd
		if p.Cancel != nil {
			then = p.Cancel()
		}
		return screen.Close(p, then)
	case "enter":
		return p.enter()
	case "tab":
		if p.problem != nil && len(p.next) == 0 {
			p.complete()
		}
		p.take(1)
		return p.changed()
	case "shift+tab":
		p.take(-1)
		return p.changed()
	case "ctrl+r":
		return p.search()
	case "up", "ctrl+p":
		return p.recall(p.History.back(p.Input.String()))
	case "down", "ctrl+n":
		return p.recall(p.History.forth())
	}
	before := p.Input.String()
	if !p.Input.Key(key) || p.Input.String() == before {
		return nil
	}
	p.complete()
	return p.changed()
}

func (p *Prompt) enter() tea.Cmd {
	text := p.Input.String()
	problem, cmd := p.Enter(text)
	if problem != nil {
		p.Refuse(text, *problem)
		return cmd
	}
	if p.Secret == nil || !p.Secret(text) {
		p.History.add(text)
	}
	return screen.Close(p, cmd)
}

// Refuse shows a text with what is wrong with it, to be mended: the caret is at its
// end, and how it could go on makes room for the reason.
func (p *Prompt) Refuse(text string, why Problem) {
	p.Input.Set(text)
	p.problem, p.next, p.help, p.choice = &why, nil, nil, -1
}

// Again is the command that opens a prompt once more, with a text that was refused
// after it had closed.
func (p *Prompt) Again(text, why string) tea.Cmd {
	again := *p
	again.Input = Input{}
	again.Refuse(text, Problem{Offset: -1, Text: why})
	return screen.Show(&again)
}

// search offers what was written before and holds what is written now, the
// newest first; again, it goes on to the one before that.
func (p *Prompt) search() tea.Cmd {
	if len(p.next) == 0 || p.next[0].Kind != wasWritten {
		found := p.History.search(p.Input.String())
		if len(found) == 0 {
			return nil
		}
		p.next, p.choice = found, -1
	}
	p.take(1)
	return p.changed()
}

// wasWritten is the kind of a completion from the history.
const wasWritten = "written before"

func (p *Prompt) recall(text string, ok bool) tea.Cmd {
	if !ok {
		return nil
	}
	p.Input.Set(text)
	p.complete()
	return p.changed()
}

func (p *Prompt) changed() tea.Cmd {
	if p.Change == nil {
		p.problem = nil
		return nil
	}
	var cmd tea.Cmd
	p.problem, cmd = p.Change(p.Input.String())
	return cmd
}

func (p *Prompt) complete() {
	p.next, p.help, p.choice = nil, nil, -1
	if p.Complete != nil {
		p.next, p.help = p.Complete(p.Input.String())
	}
}

// take writes the next way to go on into the line, and keeps the list so that
// tab goes through it.
func (p *Prompt) take(step int) {
	if len(p.next) == 0 {
		return
	}
	n := min(len(p.next), maxCompletions)
	if p.choice < 0 && step < 0 {
		p.choice = 0
	}
	p.choice = (p.choice + step + n) % n
	p.Input.Set(p.next[p.choice].Text)
}

func (p *Prompt) View() term.Lines {
	th := p.Env.Theme
	lines := term.Lines{th.HRule(p.Width)}
	above, label := p.label()
	for _, part := range above {
		var l term.Line
		l.Space(1)
		l.Add(term.Bold, part)
		lines = append(lines, l)
	}
	var l term.Line
	l.Add(term.Bold, label)
	text, _ := p.Input.Line(th, p.Width-label.Width()-1)
	l.Append(text)
	lines = append(lines, l)
	for i := range min(len(p.next), maxCompletions) {
		lines = append(lines, p.completion(i))
	}
	return append(lines, p.below()...)
}

// label is what stands before the line, and the lines above it of a label that
// would leave little room for what is typed.
func (p *Prompt) label() (above []term.Text, before term.Text) {
	before = term.Clean(" " + p.Label + " ")
	if p.Width == 0 || before.Width() <= p.Width/2 {
		return nil, before
	}
	return term.Clean(strings.TrimRight(p.Label, ": ")).Wrap(p.Width-2, 2), term.Clean(" > ")
}

func (p *Prompt) completion(i int) term.Line {
	c := p.next[i]
	var l term.Line
	mark, style := " ", term.Plain
	if i == p.choice {
		mark, style = p.Env.Theme.Glyphs.Cursor, term.Bold
	}
	l.Put(style, mark+"  ")
	l.Cell(style, term.Clean(c.Name), min(30, p.Width/3))
	l.Space(1)
	l.Cell(term.Quiet, term.Clean(c.Kind), 14)
	l.Put(term.Quiet, c.Note)
	return l
}

// below is what is wrong, with a caret under the place, or help.
func (p *Prompt) below() term.Lines {
	if c := p.problem; c != nil {
		var lines term.Lines
		for i, part := range p.reason() {
			var l term.Line
			switch {
			case c.Offset < 0:
				l.Space(3)
			case i == 0:
				l.Space(p.caret())
				l.Put(term.Attention, "^ ")
			default:
				l.Space(p.caret() + 2)
			}
			l.Add(term.Attention, part)
			lines = append(lines, l)
		}
		return lines
	}
	help := p.help
	if len(help) == 0 {
		help = []string{p.Hint}
	}
	var lines term.Lines
	for _, h := range help {
		lines = append(lines, term.Of(term.Quiet, "   "+h))
	}
	return lines
}

// caret is the cell below the place in the line that a problem is about.
func (p *Prompt) caret() int {
	_, label := p.label()
	_, shift := p.Input.Line(p.Env.Theme, p.Width-label.Width()-1)
	return min(max(p.Input.Column(p.problem.Offset)+label.Width()-shift, 0), p.Width/2)
}

// maxReason is how many lines a problem may take.
const maxReason = 4

// reason is what is wrong with the line, in as many lines as it needs.
func (p *Prompt) reason() []term.Text {
	if p.problem == nil {
		return nil
	}
	left := 3
	if p.problem.Offset >= 0 {
		left = p.caret() + 2
	}
	text := term.Clean(p.problem.Text)
	if p.Width <= left+1 {
		return []term.Text{text}
	}
	return text.Wrap(p.Width-left-1, maxReason)
}

// A History is what was written at a prompt before. A nil History keeps nothing.
type History struct {
	lines []string
	at    int    // while going back: the line that is shown; len(lines) is the new one
	draft string // what was being written
}

// maxHistory is how many lines are remembered.
const maxHistory = 500

func (h *History) add(s string) {
	if h == nil || s == "" {
		return
	}
	if n := len(h.lines); n == 0 || h.lines[n-1] != s {
		h.lines = append(h.lines, s)
	}
	if len(h.lines) > maxHistory {
		h.lines = h.lines[len(h.lines)-maxHistory:]
	}
	h.at = len(h.lines)
}

// Lines returns what was written, oldest first. Read only.
func (h *History) Lines() []string {
	if h == nil {
		return nil
	}
	return h.lines
}

// search returns the lines that hold part, the newest first and each once.
func (h *History) search(part string) (found []screen.Completion) {
	seen := map[string]bool{part: true}
	for _, line := range slices.Backward(h.Lines()) {
		if !seen[line] && strings.Contains(line, part) {
			seen[line] = true
			found = append(found, screen.Completion{Text: line, Name: line, Kind: wasWritten})
		}
	}
	return found
}

func (h *History) back(draft string) (string, bool) {
	if h == nil || h.at == 0 || len(h.lines) == 0 {
		return "", false
	}
	if h.at >= len(h.lines) {
		h.at, h.draft = len(h.lines), draft
	}
	h.at--
	return h.lines[h.at], true
}

func (h *History) forth() (string, bool) {
	if h == nil || h.at >= len(h.lines) {
		return "", false
	}
	h.at++
	if h.at == len(h.lines) {
		return h.draft, true
	}
	return h.lines[h.at], true
}
