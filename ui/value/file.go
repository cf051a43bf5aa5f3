package value

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/tree"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// preview is how much of a file is read to be shown, in bytes.
const preview = 64 << 10

// A fileMode is a way of showing a file.
type fileMode int

const (
	asText fileMode = iota
	asBytes
	asFacts
	fileModes
)

var fileModeNames = [fileModes]string{"Text", "Hex", "Meta"}

// A File shows what is in a file, and beside it what is known of it. Of a large
// one it shows the beginning.
type File struct {
	env           *session.Env
	title         string
	inst          indirector.Instance // nil if it is not in memory any more
	trace         *traces.Trace       // nil if it was found by a search
	most          int                 // how much of it is read, in bytes
	at            int                 // the line that it is shown for; 0 if it is shown for none
	width, height int

	mode     fileMode
	asked    bool // the contents were asked for
	loaded   bool
	wait     widget.Wait
	err      error
	body     []byte // redacted, if it is text
	whole    bool
	text     bool
	redacted int
	lines    []string
	facts    widget.Facts
	seen     widget.Viewport // of the text, or of what is known of the file
	bytes    widget.Table    // of the bytes, of which only those on the screen are made into lines
	search   widget.Search
}

type fileLoaded struct {
	body     []byte
	whole    bool
	text     bool
	redacted int
	lines    []string
	err      error
}

type factsGathered struct{ facts widget.Facts }

var _ screen.Screen = (*File)(nil)

// Open is the command that shows the value of a request: contents of a file as
// a file, everything else as data.
func Open(env *session.Env, t *traces.Trace) tea.Cmd {
	v := New(env, t)
	if v.value.Model != "file_content" && v.value.Model != "file_bucket_file" || t.Verb == traces.Search {
		return screen.Show(v)
	}
	live, _ := env.Log.Instance(t.ID)
	inst, _ := live.(indirector.Instance)
	if inst != nil && fileOf(inst) == nil {
		return screen.Show(v) // a list or a difference, which a bucket can be asked for too
	}
	return screen.Show(NewFile(env, v.title(), inst, t))
}

// NewFile shows the contents that an instance has. The instance is nil if only
// the trace of the request is left.
func NewFile(env *session.Env, title string, inst indirector.Instance, t *traces.Trace) *File {
	f := &File{env: env, title: title, inst: inst, trace: t, most: preview, bytes: widget.Table{Paged: true}}
	f.search = widget.Search{Hint: "text in this file", None: "not in what is shown of this file", Find: f.find}
	return f
}

// fileOf returns the contents of a file, or nil.
func fileOf(inst indirector.Instance) model.Contents {
	switch f := inst.(type) {
	case *model.FileContent:
		return f.Contents
	case *model.FileBucketFile:
		return f.Contents
	}
	return nil
}

// Load reads the beginning of contents on this machine. What must be fetched is
// fetched when the user asks for it.
func (f *File) Load() tea.Cmd {
	cmds := []tea.Cmd{f.gather()}
	if _, near := fileOf(f.inst).(model.Kept); near {
		cmds = append(cmds, f.read())
	}
	return tea.Batch(cmds...)
}

func (f *File) read() tea.Cmd {
	f.asked = true
	contents, redact, most := fileOf(f.inst), f.env.RedactText, f.most
	return tea.Batch(f.wait.Begin(&f.env.Shared, f), screen.Later(func() tea.Msg {
		var m fileLoaded
		m.body, m.whole, m.err = model.Preview(contents, most)
		if m.text = isText(m.body, m.whole); m.text {
			text := string(m.body)
			if redact != nil {
				text, m.redacted = redact(text)
			}
			m.body, m.lines = []byte(text), strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		}
		return screen.For{Screen: f, Msg: m}
	}))
}

// isText reports whether b is readable UTF-8. If it is only the
// beginning, its last letter may be cut.
func isText(b []byte, whole bool) bool {
	if !whole {
		for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
			if last := b[len(b)-i:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					b = b[:len(b)-i]
				}
				break
			}
		}
	}
	odd := 0
	for _, c := range b {
		if c == 0 {
			return false
		}
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f' && c != 0x1b {
			odd++
		}
	}
	return utf8.Valid(b) && odd*50 <= len(b)
}

// gather finds what is known: what was recorded of the answer, and what
// file_metadata answered last for the same key.
func (f *File) gather() tea.Cmd {
	t, env, inst := f.trace, f.env, f.inst
	return screen.Later(func() tea.Msg {
		var facts widget.Facts
		put := func(label, text string) { facts.Put(term.Plain, label, text) }
		var v traces.Value
		switch {
		case t != nil:
			if v = t.Value(); t.Verb == traces.Save {
				v = t.Sent()
			}
			if body, err := env.Log.Body(v); err == nil {
				v.Body = body
			}
		case env.Render != nil:
			v = env.Render(inst)
		default:
			if kept, near := fileOf(inst).(model.Kept); near {
				v.Source = kept.Path()
			}
		}
		put("place", v.Source)
		for _, p := range pairsOf(v.Body) {
			put(p[0], p[1])
		}
		if t == nil {
			return screen.For{Screen: f, Msg: factsGathered{facts}}
		}
		put("answered at", t.Start.In(env.Zone).Format("2006-01-02 15:04:05"))
		put("served by", traces.HeadlineOf(t).Answered)
		if other, id := metadataOf(env, t.Key); id != 0 {
			at := fmt.Sprintf("as #%d answered at %s", id, env.Clock(other.Start))
			facts = append(facts, widget.Fact{}, widget.Fact{Label: "METADATA", Text: at, Style: term.Quiet})
			if body, err := env.Log.Body(other.Value()); err == nil {
				for _, p := range pairsOf(body) {
					put(p[0], p[1])
				}
			}
		}
		return screen.For{Screen: f, Msg: factsGathered{facts}}
	})
}

// metadataOf returns the last find of the metadata of a key; zero if there was
// none.
func metadataOf(env *session.Env, key string) (*traces.Trace, uint64) {
	view, err := session.Find(env.Log, "ind=file_metadata verb=find key="+query.Quote(key))
	if err != nil {
		return nil, 0
	}
	for i := view.Len() - 1; i >= 0 && i > view.Len()-maxElsewhere; i-- {
		if t, err := env.Log.Trace(view.At(i)); err == nil && t.Value().Model != "" {
			return t, t.ID
		}
	}
	return nil, 0
}

// pairsOf returns names and values of an object of JSON, those of objects in it
// too; nulls are left out.
func pairsOf(body []byte) (pairs [][2]string) {
	root, err := tree.Parse(body)
	if err != nil || !root.IsHash() {
		return nil
	}
	root.FoldAll(true)
	for _, r := range root.Rows() {
		switch {
		case r.Parent == nil || r.Folds() || r.Kind() == 'n':
		case r.Label() == "mode" && r.Kind() != '"':
			var n int64
			if _, err := fmt.Sscan(r.Text(), &n); err == nil {
				pairs = append(pairs, [2]string{"mode", fmt.Sprintf("0%o", n)})
			}
		case r.Parent.Parent != nil:
			pairs = append(pairs, [2]string{r.Parent.Label() + " " + r.Label(), r.Text()})
		default:
			pairs = append(pairs, [2]string{r.Label(), r.Text()})
		}
	}
	return pairs
}

func (f *File) Scope() screen.Scope { return screen.InValue }

func (f *File) Resize(width, height int) {
	f.width, f.height = width, height
	f.layout()
}

func (f *File) layout() {
	height := max(f.height-1-foot, 0)
	f.bytes.SetHeight(height)
	f.seen.Resize(f.left(), height)
	switch f.mode {
	case asText:
		lines := make(term.Lines, len(f.lines))
		for i := range lines {
			lines[i] = f.line(i, term.Plain)
		}
		f.seen.SetLines(lines)
	case asBytes:
		f.bytes.SetLen((len(f.body) + perLine(f.left()) - 1) / perLine(f.left()))
	default:
		f.seen.SetLines(f.about(f.left()))
	}
}

// left is the width of the contents.
func (f *File) left() int {
	if f.width < screen.Wide {
		return f.width
	}
	return f.width * 13 / 20
}

func (f *File) Update(msg tea.Msg) tea.Cmd {
	if cmd, is := f.wait.Tick(msg); is {
		return cmd
	}
	switch msg := msg.(type) {
	case fileLoaded:
		f.wait.End()
		f.loaded, f.body, f.whole, f.text, f.redacted, f.lines, f.err = true, msg.body, msg.whole, msg.text, msg.redacted, msg.lines, msg.err
		f.layout()
		if f.at > 0 {
			f.seen.ScrollTo(f.at - 1 - f.seen.Height()/3)
		}
	case factsGathered:
		f.facts = msg.facts
		f.layout()
	}
	return nil
}

func (f *File) Context() (left, right term.Line) {
	left.Put(term.Bold, " "+f.title)
	if f.trace != nil {
		right.Put(session.StyleOf(f.trace.Outcome)|term.Bold, f.trace.Outcome.String())
		right.Space(1)
	}
	return left, right
}

func (f *File) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.Tab, screen.Search, screen.CopyMenu, screen.Back}
}

func (f *File) Disabled(do screen.Action) string {
	switch {
	case widget.Moves(do), do == screen.Tab, do == screen.BackTab, do == screen.CopyMenu:
		return ""
	case do == screen.Enter:
		return screen.ReasonIf(f.asked || fileOf(f.inst) == nil, "there is nothing to load")
	case do == screen.Search:
		return screen.ReasonIf(!f.text || len(f.lines) == 0, "there is no text to search")
	}
	return f.search.Disabled(do)
}

func (f *File) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Tab:
		f.turn(1)
	case screen.BackTab:
		f.turn(-1)
	case screen.Enter:
		return f.read()
	case screen.CopyMenu:
		return screen.Show(widget.NewMenu(&f.env.Shared, "copy", f.copies()))
	}
	return f.search.Handle(&f.env.Shared, a)
}

// List returns the lines.
func (f *File) List() screen.List {
	if f.mode == asBytes {
		return &f.bytes
	}
	return &f.seen
}

func (f *File) turn(step fileMode) {
	f.mode = (f.mode + step + fileModes) % fileModes
	f.bytes.Offset = 0
	f.layout()
	f.seen.ScrollTo(0)
}

// find scrolls to the nearest line with what is searched.
func (f *File) find(step int) bool {
	if f.mode != asText {
		f.turn(asText - f.mode)
	}
	return f.seen.Find(step, func(i int) bool { return f.search.In(f.lines[i]) })
}

func (f *File) copies() []widget.Item {
	var all strings.Builder
	for _, x := range f.facts {
		if x.Label != "" {
			fmt.Fprintf(&all, "%s: %s\n", x.Label, x.Text)
		}
	}
	items := []widget.Item{widget.CopyItem('m', "metadata", all.String())}
	if f.text && len(f.body) > 0 {
		items = append([]widget.Item{widget.CopyItem('t', "text", string(f.body))}, items...)
	}
	return items
}

func (f *File) View() term.Lines {
	height := max(f.height-1-foot, 0)
	left := f.left()
	body := f.contents().Fill(left, height)
	if f.width >= screen.Wide {
		body = term.Beside(body, f.about(f.width-left-2), left, f.env.Theme)
	}
	return append(append(term.Lines{f.tabs()}, body.Fill(f.width, height)...), f.foot()...)
}

func (f *File) tabs() term.Line {
	return widget.Tabs(fileModeNames[:], int(f.mode), f.width, term.Of(term.Plain, f.extent()+" "))
}

// size is the number of bytes; -1 if it is not known.
func (f *File) size() int64 {
	if f.loaded && f.whole && f.redacted == 0 {
		return int64(len(f.body))
	}
	for _, x := range f.facts {
		var n int64
		if x.Label == "size" {
			if _, err := fmt.Sscan(x.Text, &n); err == nil {
				return n
			}
		}
	}
	return -1
}

// extent returns how much of the file is shown.
func (f *File) extent() string {
	total := "size unknown"
	if n := f.size(); n >= 0 {
		total = term.Grouped(n) + " B"
	}
	if f.loaded && f.err == nil && !f.whole {
		return "the first " + term.Grouped(int64(f.most)) + " B of " + total
	}
	return total
}

func (f *File) contents() term.Lines {
	message := func(style term.Style, text string) term.Lines {
		return term.Lines{{}, term.Of(style, "   "+text)}
	}
	switch {
	case f.mode == asFacts:
		return f.seen.Lines()
	case f.inst == nil:
		return message(term.Quiet, "The contents are not in memory any more, and are not recorded; tab shows what is known about them.")
	case !f.asked:
		return message(term.Plain, "The contents are elsewhere.  enter fetches the first "+term.Grouped(preview)+" B")
	case !f.loaded:
		return widget.Waiting(&f.wait, "reading")
	case f.err != nil:
		return message(term.Attention, indirector.Message(f.err))
	case f.mode == asBytes:
		return f.hex()
	case len(f.body) == 0:
		return message(term.Quiet, "The file is empty.")
	case !f.text:
		n := "size unknown"
		if size := f.size(); size >= 0 {
			n = term.Grouped(size) + " bytes"
		}
		return message(term.Plain, "binary, "+n+".  tab shows them")
	}
	lines := slices.Clone(f.seen.Lines())
	from, _ := f.seen.Visible()
	for i := range lines {
		if style := f.search.Style(f.lines[from+i]); style != term.Plain {
			lines[i] = f.line(from+i, style)
		}
	}
	return lines
}

// line is one line of the text, with its number.
func (f *File) line(i int, style term.Style) (l term.Line) {
	number := term.Quiet
	if i+1 == f.at {
		number, style = term.Bold, style|term.Bold
		l.Put(number, f.env.Theme.Glyphs.Cursor)
	}
	l.Right(number, term.Clean(strconv.Itoa(i+1)), 5-l.Width())
	l.Space(2)
	text := strings.ReplaceAll(strings.TrimSuffix(f.lines[i], "\r"), "\t", "    ")
	l.Add(style, term.CleanTo(text, f.left()))
	return l
}

func (f *File) hex() term.Lines {
	per := perLine(f.left())
	return f.bytes.Lines(f.env.Theme, f.left(), func(i int, r *widget.Row) { r.Line = hexLine(f.body, i*per, per, -1, -1) })
}

// about is what is known of the file.
func (f *File) about(width int) term.Lines {
	lines := term.Lines{term.Of(term.Quiet, " META")}
	for _, x := range f.facts {
		lines = append(lines, x.Lines(2, 17, width, 4)...)
		if x.Text == "" {
			lines = append(lines, term.Line{})
		}
	}
	return lines
}

// foot shows where the file is from, and what is special about its text.
func (f *File) foot() term.Lines {
	first, second := " ", " "
	for _, x := range f.facts {
		if x.Label == "place" {
			first = " read now from " + x.Text
			break
		}
	}
	switch {
	case f.redacted > 0 && f.mode == asBytes:
		second = " " + term.Plural(f.redacted, "value") + " masked: these are the bytes of the masked text"
	case f.redacted > 0:
		second = " " + term.Plural(f.redacted, "value") + " masked"
	case f.loaded && f.text && bytes.Contains(f.body, []byte("\r\n")):
		second = " lines end with CR LF"
	}
	return term.Lines{f.env.Theme.HRule(f.width), term.Of(term.Plain, first), term.Of(term.Quiet, second)}
}
