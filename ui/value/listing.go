package value

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces/tree"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// maxListed is how many instances of a search are kept for the screen. The
// others are counted.
const maxListed = 100_000

// beat is the time between two looks at what has been found.
const beat = time.Second / 20

// A Listing shows what a search finds while it is found. Yield and End are called
// by the goroutine of the request.
type Listing struct {
	env           *session.Env
	title         string
	cancel        func()
	width, height int
	list          widget.Table
	shown         []indirector.Instance // what the screen knows of found
	n             int                   // likewise
	ended         bool
	how           string // "in 12 ms", "cancelled"; "" while it runs
	bad           bool
	cancelled     bool // by a key here
	wait          widget.Wait

	mu   sync.Mutex // guards what follows
	late struct {
		found []indirector.Instance // the first of them
		n     int
		ended bool
		how   string
		bad   bool
		then  tea.Cmd
	}
}

var _ screen.Screen = (*Listing)(nil)

// NewListing returns a screen for a search that is about to be asked. Cancel
// ends that search; it is called when the user wants no more.
func NewListing(env *session.Env, title string, cancel func()) *Listing {
	return &Listing{env: env, title: title, cancel: cancel}
}

// Yield takes the next instance. It never waits, and does not fail.
func (l *Listing) Yield(inst indirector.Instance) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.late.n++; l.late.n <= maxListed {
		l.late.found = append(l.late.found, inst)
	}
	return nil
}

// End is called when the search is over: how is "ok in 12 ms". Then, which
// may be nil, runs when the screen has taken notice.
func (l *Listing) End(how string, bad bool, then tea.Cmd) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late.ended, l.late.how, l.late.bad, l.late.then = true, how, bad, then
}

type lookDue struct{}

// Load begins to look for what has been found.
func (l *Listing) Load() tea.Cmd {
	return tea.Batch(l.wait.Begin(&l.env.Shared, l), l.env.After(beat, screen.For{Screen: l, Msg: lookDue{}}))
}

func (l *Listing) look() tea.Cmd {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shown, l.n = l.late.found, l.late.n
	l.list.SetLen(len(l.shown))
	if !l.late.ended {
		return l.Load()
	}
	l.wait.End()
	l.ended, l.how, l.bad = true, l.late.how, l.late.bad
	return l.late.then
}

func (l *Listing) Scope() screen.Scope { return screen.InConsole }

func (l *Listing) Resize(width, height int) {
	l.width, l.height = width, height
	l.list.SetHeight(height)
}

func (l *Listing) Update(msg tea.Msg) tea.Cmd {
	if cmd, is := l.wait.Tick(msg); is {
		return cmd
	}
	if _, ok := msg.(lookDue); ok && !l.ended {
		return l.look()
	}
	return nil
}

func (l *Listing) Context() (left, right term.Line) {
	left.Put(term.Bold, " "+l.title)
	count := term.Grouped(int64(l.n)) + " found"
	switch {
	case !l.ended && l.cancelled:
		l.wait.Put(&right, term.Touched, count+", being cancelled")
		right.Space(1)
	case !l.ended:
		l.wait.Put(&right, term.Touched, count+" so far")
		right.Space(1)
		if b := l.env.Keys.Of(screen.Back, l.Scope()); b != nil {
			right.Put(term.Quiet, "  "+b.Key()+" cancels ")
		}
	default:
		if l.n > len(l.shown) {
			count += ", the first " + term.Grouped(int64(len(l.shown))) + " are listed"
		}
		style := term.Plain
		if l.bad {
			style = term.Attention
		}
		right.Put(style, count+", "+l.how+" ")
	}
	return left, right
}

func (l *Listing) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.Down, screen.Bottom, screen.CopyMenu, screen.Back}
}

func (l *Listing) Disabled(do screen.Action) string {
	switch {
	case widget.Moves(do):
		return ""
	case do == screen.Enter, do == screen.CopyMenu:
		return screen.ReasonIf(len(l.shown) == 0, "nothing was found yet")
	case do == screen.Back:
		return screen.ReasonIf(l.ended || l.cancelled, screen.Unknown) // then it closes, as everywhere
	}
	return screen.Unknown
}

func (l *Listing) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Enter:
		return l.open()
	case screen.CopyMenu:
		inst := l.shown[l.list.Cursor]
		items := []widget.Item{widget.CopyItem('k', "key", inst.Key()), widget.CopyItem('l', "line", cells(inst).String())}
		if m, ok := inst.(*model.FileMetadata); ok {
			items = append(items, widget.CopyItem('c', "checksum", m.Checksum))
		}
		return screen.Show(widget.NewMenu(&l.env.Shared, "copy", items))
	case screen.Back:
		l.cancelled = true
		l.cancel()
	}
	return nil
}

// open shows one instance: contents as a file, others as data.
func (l *Listing) open() tea.Cmd {
	inst := l.shown[l.list.Cursor]
	title := name(inst) + "  of " + l.title
	if f := fileOf(inst); f != nil {
		return screen.Show(NewFile(l.env, title, inst, nil))
	}
	p := widget.Page{Title: title}
	if l.env.Render == nil {
		p.Add("", "it cannot be shown here", term.Quiet)
		return screen.Show(widget.NewPager(&l.env.Shared, p))
	}
	env := l.env
	return func() tea.Msg {
		v := env.Render(inst)
		p.Add("", describeBody(v.Body), term.Plain)
		return screen.Push{Screen: widget.NewPager(&env.Shared, p)}
	}
}

// List returns what was found.
func (l *Listing) List() screen.List { return &l.list }

func (l *Listing) View() term.Lines {
	if len(l.shown) == 0 {
		text := "   nothing yet"
		if l.ended {
			text = "   nothing was found"
		}
		return term.Lines{{}, term.Of(term.Quiet, text)}
	}
	return l.list.Lines(l.env.Theme, l.width, func(i int, r *widget.Row) {
		r.To(2)
		r.Append(cells(l.shown[i]))
	})
}

// cells is the line of an instance: of metadata what is known, of others their
// names.
func cells(inst indirector.Instance) term.Line {
	var l term.Line
	m, ok := inst.(*model.FileMetadata)
	if !ok {
		l.Put(term.Plain, name(inst))
		return l
	}
	l.Cell(term.Quiet, term.Clean(m.Type), 10)
	mode := ""
	if m.Mode.Kind() == data.Int {
		mode = "0" + strconv.FormatInt(m.Mode.Int(), 8)
	}
	l.Cell(term.Plain, term.Clean(mode), 6)
	sum := m.Checksum
	if i := strings.IndexByte(sum, '}'); i > 0 && len(sum) > i+9 && m.ChecksumType != "mtime" && m.ChecksumType != "ctime" {
		sum = sum[:i+9] + ".."
	} else if m.ChecksumType == "ctime" || m.ChecksumType == "mtime" {
		sum = strings.TrimSuffix(sum, " +0000")
	}
	l.Cell(term.Quiet, term.CleanTo(sum, 27), 28)
	l.Put(term.Plain, name(inst))
	if m.Destination != "" {
		l.Put(term.Quiet, " -> "+m.Destination)
	}
	return l
}

// name returns the name of an instance: of a file in a tree the path below
// that.
func name(inst indirector.Instance) string {
	switch f := inst.(type) {
	case *model.FileMetadata:
		if f.RelativePath != "" {
			return f.RelativePath
		}
	case *model.FileContent:
		if f.RelativePath != "" {
			return f.RelativePath
		}
	}
	return inst.Key()
}

// describeBody returns JSON as readable lines.
func describeBody(body []byte) string {
	n, err := tree.Parse(body)
	if err != nil {
		return fmt.Sprintf("%q", body)
	}
	if !n.Folds() {
		return tree.YAMLLeaf(n)
	}
	return string(tree.AppendYAML(nil, n, 0, 1<<20))
}
