// Package value shows what was answered: as a tree, as YAML, as bytes; and how
// two answers differ.
package value

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/data"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/tree"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// large is the size from which a value is loaded only when the user asks.
const large = 1 << 20

// A mode is a way of showing a value.
type mode int

const (
	asTree mode = iota
	asYAML
	asRaw
	asMeta
	modes
)

var modeNames = [modes]string{"Tree", "YAML", "Raw", "Meta"}

// A Value shows the value of a request.
type Value struct {
	env           *session.Env
	trace         *traces.Trace
	value         traces.Value
	what          string // "value" or "sent"
	width, height int

	mode      mode
	wanted    bool // a large value was asked for
	loaded    bool
	wait      widget.Wait
	err       error
	body      []byte
	root      *tree.Node // nil if it is no JSON
	rows      []tree.Row
	list      widget.Table    // of the tree
	page      widget.Table    // of YAML and raw: a value may have a million lines
	known     widget.Viewport // of meta
	yaml      []string
	search    widget.Search
	revealed  *tree.Node
	clear     string
	reveals   int // counts reveals, so that a later one is not hidden early
	elsewhere []answer
	commands  bool         // saves of catalogs are recorded
	facts     widget.Facts // that were added
}

// New shows the value that answered a request, or what a save sent.
func New(env *session.Env, t *traces.Trace) *Value {
	v := &Value{env: env, trace: t, value: t.Value(), what: "value"}
	v.list.Top, v.page.Paged = 1, true
	v.search = widget.Search{Hint: "text in a key or a value", None: "not in this value", Find: v.find}
	if t.Value().Model == "" && t.Sent().Model != "" {
		v.value, v.what = t.Sent(), "sent"
	}
	return v
}

// Add adds facts that are not in the request of the value.
func (v *Value) Add(facts ...widget.Fact) { v.facts = append(v.facts, facts...) }

var _ screen.Screen = (*Value)(nil)

// An answer is one that the same key had, too.
type answer struct {
	who    string // "terminus exec", "cache json"
	id     uint64
	at     time.Time
	digest string
}

type (
	bodyLoaded struct {
		body []byte
		root *tree.Node
		yaml []string
		err  error
	}
	othersFound   struct{ answers []answer }
	commandsFound struct{ any bool }
	revealEnded   struct{ reveals int }
	valueRevealed struct {
		at   *tree.Node
		text string
		why  string
	}
)

// Load reads the value, unless it is large, and looks where else its key was
// answered.
func (v *Value) Load() tea.Cmd {
	cmds := []tea.Cmd{v.lookElsewhere(), v.lookForCommands()}
	if v.value.Size <= large {
		cmds = append(cmds, v.read())
	}
	return tea.Batch(cmds...)
}

func (v *Value) read() tea.Cmd {
	v.wanted = true
	load := func() tea.Msg {
		var m bodyLoaded
		if m.body, m.err = v.env.Log.Body(v.value); m.err == nil && v.value.Format == "json" {
			m.root, m.err = tree.Parse(m.body)
		}
		m.yaml = yamlOf(m.body, m.root != nil, maxYAML)
		return screen.For{Screen: v, Msg: m}
	}
	return tea.Batch(v.wait.Begin(&v.env.Shared, v), load)
}

// maxYAML is how many bytes of a value are shown as YAML.
const maxYAML = 4 << 20

// yamlOf returns the lines of a value: as YAML if it is data.
func yamlOf(body []byte, data bool, limit int) []string {
	if !data {
		return strings.Split(string(body), "\n")
	}
	// The tree of the screen must not be touched here.
	again, err := tree.Parse(body)
	if err != nil {
		return nil
	}
	if !again.Folds() {
		return []string{tree.YAMLLeaf(again)}
	}
	lines := strings.Split(strings.TrimRight(string(tree.AppendYAML(nil, again, 0, limit)), "\n"), "\n")
	return append([]string{"---"}, lines...)
}

// lookElsewhere finds the latest answers for the same key by others.
func (v *Value) lookElsewhere() tea.Cmd {
	t := v.trace
	return screen.Later(func() tea.Msg {
		view, err := session.Find(v.env.Log, "ind="+query.Quote(t.Indirection)+" key="+query.Quote(t.Key))
		if err != nil {
			return nil
		}
		last := make(map[string]uint64)
		var order []string
		for i := view.Len() - 1; i >= 0 && i > view.Len()-maxElsewhere; i-- {
			r, ok := v.env.Log.Row(view.At(i))
			if !ok || r.ID == t.ID || r.Served != traces.ByTerminus && r.Served != traces.ByCache {
				continue
			}
			who := "terminus " + r.Terminus
			if r.Served == traces.ByCache {
				who = "cache " + r.Cache
			}
			if last[who] == 0 {
				last[who] = r.ID
				order = append(order, who)
			}
		}
		var m othersFound
		for _, who := range order {
			if other, err := v.env.Log.Trace(last[who]); err == nil {
				m.answers = append(m.answers, answer{who, other.ID, other.Start, other.Value().Digest})
			}
		}
		return screen.For{Screen: v, Msg: m}
	})
}

// maxElsewhere is how many requests of the same key are looked at.
const maxElsewhere = 1000

func (v *Value) Scope() screen.Scope { return screen.InValue }

func (v *Value) Resize(width, height int) {
	v.width, v.height = width, height
	v.layout()
}

// foot is the number of lines below the value.
const foot = 3

func (v *Value) layout() {
	v.list.SetHeight(v.height - 1 - foot)
	v.page.SetHeight(v.height - 1 - foot)
	v.list.SetLen(len(v.rows))
	v.page.SetLen(v.pageLen())
	v.known.Resize(v.width, v.page.Height)
	v.known.SetLines(v.meta(v.width))
}

func (v *Value) pageLen() int {
	switch v.mode {
	case asYAML:
		return len(v.yaml)
	case asRaw:
		return (len(v.body) + perLine(v.width) - 1) / perLine(v.width)
	}
	return 0
}

func (v *Value) Update(msg tea.Msg) tea.Cmd {
	if cmd, is := v.wait.Tick(msg); is {
		return cmd
	}
	switch msg := msg.(type) {
	case bodyLoaded:
		v.wait.End()
		v.loaded, v.body, v.root, v.yaml, v.err = true, msg.body, msg.root, msg.yaml, msg.err
		if v.root == nil && v.err == nil {
			v.mode = asYAML // plain text: there is no tree
		}
		v.fold()
	case othersFound:
		v.elsewhere = msg.answers
		v.layout()
	case commandsFound:
		v.commands = msg.any
	case revealEnded:
		if msg.reveals == v.reveals {
			v.revealed, v.clear = nil, ""
		}
	case valueRevealed:
		return v.show(msg)
	}
	return nil
}

func (v *Value) fold() {
	at := v.focus()
	v.rows = nil
	if v.root != nil {
		v.rows = v.root.Rows()
	}
	v.layout()
	v.seek(at)
}

// focus returns the node under the cursor, or nil.
func (v *Value) focus() *tree.Node {
	if v.list.Cursor >= len(v.rows) {
		return nil
	}
	return v.rows[v.list.Cursor].Node
}

func (v *Value) Disabled(do screen.Action) string {
	tree := v.mode == asTree && len(v.rows) > 0
	switch do {
	case screen.Tab, screen.BackTab, screen.CopyMenu, screen.CopyValue:
		return ""
	case screen.Enter:
		return screen.ReasonIf(!tree && v.wanted, "there is nothing to open")
	case screen.Left, screen.Right, screen.FoldAll, screen.OpenAll:
		return screen.ReasonIf(!tree, "only the tree can be folded")
	case screen.Reveal:
		return v.revealDisabled()
	case screen.Explain:
		return v.whyDisabled()
	case screen.Exporter:
		return v.exporterDisabled()
	case screen.Pager, screen.Search:
		return screen.ReasonIf(!v.loaded || len(v.body) == 0, "the value is not there")
	}
	if widget.Moves(do) {
		return ""
	}
	return v.search.Disabled(do)
}

func (v *Value) revealDisabled() string {
	n := v.focus()
	switch {
	case v.mode != asTree || n == nil || !n.Redacted():
		return "this is not a masked value"
	case v.env.Clear == nil:
		return "masked values were not recorded in the clear"
	case v.what == "sent":
		return "what was sent is not kept in the clear"
	}
	return ""
}

func (v *Value) Hints() []screen.Action {
	hints := []screen.Action{screen.Right, screen.Tab, screen.Search, screen.CopyMenu, screen.Pager, screen.Back}
	if v.whyDisabled() == "" {
		hints = append([]screen.Action{screen.Explain}, hints...)
	}
	if v.exporterDisabled() == "" {
		hints = append([]screen.Action{screen.Exporter}, hints...)
	}
	if v.revealDisabled() == "" {
		hints = append([]screen.Action{screen.Reveal}, hints...)
	}
	return hints
}

func (v *Value) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Tab:
		v.turn(1)
	case screen.BackTab:
		v.turn(-1)
	case screen.Enter:
		if !v.wanted {
			return v.read()
		}
		v.toggle()
	case screen.Right:
		v.unfold()
	case screen.Left:
		v.foldHere()
	case screen.OpenAll, screen.FoldAll:
		v.root.FoldAll(a.Action == screen.OpenAll)
		v.fold()
	case screen.Reveal:
		return v.reveal()
	case screen.Explain:
		return v.why()
	case screen.Exporter:
		return v.exporter()
	case screen.CopyMenu:
		return screen.Show(widget.NewMenu(&v.env.Shared, "copy", v.copies()))
	case screen.CopyValue:
		return CopyAll(v.env, v.trace)
	case screen.Pager:
		p := widget.Page{Title: v.title()}
		p.Add("", strings.Join(v.yaml, "\n"), term.Plain)
		return screen.Show(widget.NewPager(&v.env.Shared, p))
	}
	return v.search.Handle(&v.env.Shared, a)
}

// List returns the tree, or the lines of what is shown instead.
func (v *Value) List() screen.List {
	switch v.mode {
	case asTree:
		return &v.list
	case asMeta:
		return &v.known
	}
	return &v.page
}

func (v *Value) turn(step mode) {
	v.mode = (v.mode + step + modes) % modes
	v.page.Offset = 0
	v.known.ScrollTo(0)
	v.layout()
	if n := v.focus(); v.mode == asRaw && n != nil {
		v.page.Scroll(n.From/perLine(v.width) - v.page.Height/3)
	}
}

func (v *Value) toggle() {
	if n := v.focus(); n != nil && n.Folds() {
		n.Open = !n.Open
		v.fold()
	}
}

func (v *Value) unfold() {
	n := v.focus()
	switch {
	case n == nil || !n.Folds():
	case n.Open:
		v.list.Move(1)
	default:
		n.Open = true
		v.fold()
	}
}

// foldHere folds the node, or goes to the one it is below.
func (v *Value) foldHere() {
	n := v.focus()
	switch {
	case n == nil:
	case n.Open && n.Folds() && n.Parent != nil:
		n.Open = false
		v.fold()
	case n.Parent != nil:
		v.seek(n.Parent)
	}
}

// revealFor is how long a redacted value stays in the clear.
const revealFor = 10 * time.Second

// reveal shows one redacted value, from the live instance; recordings have none.
func (v *Value) reveal() tea.Cmd {
	n, id := v.focus(), v.trace.ID
	return func() tea.Msg {
		m := valueRevealed{at: n}
		inst, ok := v.env.Log.Instance(id)
		if !ok {
			m.why = "the instance is not in memory any more"
			return screen.For{Screen: v, Msg: m}
		}
		whole, ok := v.env.Clear(inst)
		found := data.Value{}
		if ok {
			found, ok = follow(whole, n)
		}
		if !ok {
			m.why = "the instance has nothing at this place"
		}
		m.text = plain(found)
		return screen.For{Screen: v, Msg: m}
	}
}

func (v *Value) show(m valueRevealed) tea.Cmd {
	if m.why != "" {
		return screen.Warn("not revealed: "+m.why, "")
	}
	v.reveals++
	v.revealed, v.clear = m.at, m.text
	return tea.Batch(
		screen.Notify(fmt.Sprintf("revealed %s of #%d for 10 s", m.at.Path(), v.trace.ID)),
		v.env.After(revealFor, screen.For{Screen: v, Msg: revealEnded{v.reveals}}),
	)
}

// follow goes down from the whole to the place of n.
func follow(whole data.Value, n *tree.Node) (data.Value, bool) {
	if n.Parent == nil {
		return whole, true
	}
	above, ok := follow(whole, n.Parent)
	if !ok {
		return data.Value{}, false
	}
	if n.Index >= 0 {
		list := above.List()
		if n.Index >= len(list) {
			return data.Value{}, false
		}
		return list[n.Index], true
	}
	return above.Lookup(n.Key)
}

// plain is a value as one line: rich data that stands for a Sensitive is its
// value.
func plain(v data.Value) string {
	if inner, ok := v.Lookup("__pvalue"); ok {
		return plain(inner)
	}
	if s := v.Str(); s != "" {
		return s
	}
	return v.Inspect()
}

// find goes to the next place with the text that is searched: in the tree by
// the bytes of the value, elsewhere by its lines.
func (v *Value) find(step int) bool {
	if v.mode == asYAML {
		return v.page.Find(step, func(i int) bool { return v.search.In(v.yaml[i]) })
	}
	if v.root == nil {
		return false
	}
	from := 0
	if n := v.focus(); n != nil {
		from = n.From
	}
	text := []byte(v.search.Text())
	at := widget.Around(len(v.body), from, step, func(i int) bool {
		return len(v.body)-i >= len(text) && bytes.EqualFold(v.body[i:i+len(text)], text)
	})
	if at >= 0 {
		v.goTo(v.root.At(at))
	}
	return at >= 0
}

func (v *Value) goTo(n *tree.Node) {
	v.mode = asTree
	v.fold()
	v.seek(n)
}

func (v *Value) seek(n *tree.Node) { v.list.Seek(func(i int) bool { return v.rows[i].Node == n }) }

func (v *Value) copies() []widget.Item {
	n := v.focus()
	if n == nil {
		return []widget.Item{widget.CopyItem('v', "value", string(v.body))}
	}
	items := []widget.Item{widget.CopyItem('v', "value", n.Text()), widget.CopyItem('p', "path", n.Path()), widget.CopyItem('j', "as JSON", string(n.JSON()))}
	if n.Folds() {
		again := n.Alone()
		items = append(items, widget.CopyItem('y', "as YAML", string(tree.AppendYAML(nil, again, 0, 1<<20))))
	}
	return items
}

// CopyAll puts the whole value of a request on the clipboard.
func CopyAll(env *session.Env, t *traces.Trace) tea.Cmd {
	return func() tea.Msg {
		body, err := env.Log.Body(t.Value())
		if err != nil {
			return screen.Toast{Text: "copy: " + Why(env.Log, err), Bad: true}
		}
		return screen.Copy{What: "value", Text: string(body)}
	}
}
