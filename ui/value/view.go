package value

import (
	"errors"
	"fmt"
	"strings"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/screen"
)

func (v *Value) title() string {
	return fmt.Sprintf("#%d > %s of %s %s %s", v.trace.ID, v.what, v.trace.Verb, v.trace.Indirection, v.trace.Key)
}

// Context implements screen.Screen.
func (v *Value) Context() (left, right screen.Line) {
	left.Put(screen.Bold, " "+v.title())
	right.Put(screen.StyleOf(v.trace.Outcome)|screen.Bold, v.trace.Outcome.String())
	right.Space(1)
	return left, right
}

// View implements screen.Screen.
func (v *Value) View() screen.Lines {
	lines := screen.Lines{v.tabs()}
	height := max(v.height-1-foot, 0)
	var body screen.Lines
	switch {
	case v.mode == asMeta:
		body = v.meta(v.width)
	case v.err != nil:
		body = screen.Lines{{}, screen.Of(screen.Attention, "   "+Why(v.env.Log, v.err))}
	case v.value.Model == "":
		body = screen.Lines{{}, screen.Of(screen.Quiet, "   There is no value.")}
	case !v.wanted:
		body = screen.Lines{{}, screen.Of(screen.Plain, "   "+screen.Bytes(int64(v.value.Size))+".  enter loads it")}
	case !v.loaded:
		body = screen.Lines{{}, screen.Of(screen.Quiet, "   loading "+screen.Bytes(int64(v.value.Size)))}
	case v.mode == asYAML:
		body = v.text()
	case v.mode == asRaw:
		body = v.raw(v.page.Offset, v.page.Height, v.width)
	default:
		body = v.tree(height)
	}
	return append(append(lines, body.Fill(v.width, height)...), v.foot()...)
}

// Why says why a value cannot be shown.
func Why(log screen.Log, err error) string {
	switch {
	case errors.Is(err, store.ErrNoBodies):
		return "This recording has no values (saved without bodies)."
	case errors.Is(err, store.ErrUnsaved):
		return "This recording was saved without this value."
	case errors.Is(err, store.ErrDropped):
		return fmt.Sprintf("This value was dropped to keep memory under %dM.", log.Stats().Limit>>20)
	}
	return err.Error()
}

func (v *Value) tabs() screen.Line {
	var l screen.Line
	l.Space(1)
	for m, name := range modeNames {
		if mode(m) == v.mode {
			l.Put(screen.Bold, "["+name+"]")
		} else {
			l.Put(screen.Quiet, " "+name+" ")
		}
		l.Space(1)
	}
	var right screen.Line
	right.Put(screen.Plain, v.value.Format+"  "+screen.Grouped(int64(v.value.Size))+" B")
	if len(v.value.Digest) >= 8 {
		right.Put(screen.Quiet, "  sha256 "+v.value.Digest[:8]+"..")
	}
	right.Space(1)
	l.To(v.width - right.Width())
	l.Append(right)
	return l
}

func (v *Value) tree(height int) screen.Lines {
	left := v.width
	if v.width >= Wide {
		left = v.width * 11 / 20
	}
	from, to := v.list.Visible()
	var lines screen.Lines
	for i := from; i < to; i++ {
		lines = append(lines, v.row(i, left))
	}
	lines = lines.Fill(left, height)
	if v.width < Wide {
		return lines
	}
	return screen.Beside(lines, v.side(height, v.width-left-2), left, v.env.Theme)
}

// keyCells is the least width of a key, so that values stand below each other.
const keyCells = 14

func (v *Value) row(i, width int) screen.Line {
	r, g := v.rows[i], &v.env.Theme.Glyphs
	var l screen.Line
	cursor := i == v.list.Cursor
	if cursor {
		l.Put(screen.Bold, g.Cursor)
	}
	l.To(1)
	l.Space(1 + 2*min(r.Depth, 20))
	switch {
	case !r.Folds():
		l.Space(2)
	case r.Open:
		l.Put(screen.Plain, g.Open+" ")
	default:
		l.Put(screen.Plain, g.Closed+" ")
	}
	label := r.Label()
	if r.Parent == nil {
		label = v.value.Model
	}
	l.Cell(screen.Plain, screen.CleanTo(label, width), max(keyCells, min(screen.Clean(label).Width(), width/3)))
	l.Space(2)
	style := screen.Plain
	text := r.Summary()
	switch {
	case r.Node == v.revealed:
		style, text = screen.Touched, v.clear
	case r.Masked():
		style = screen.Attention
		text += v.revealHint(cursor)
	case r.Folds():
		style = screen.Quiet
		if r.IsHash() && r.Identity() != "" {
			style = screen.Plain
		}
	case r.Kind() == 'n':
		style, text = screen.Quiet, "undef"
	}
	l.Add(style, screen.CleanTo(text, width))
	if cursor {
		l = l.With(screen.Bold)
	}
	return l.Cut(width)
}

func (v *Value) revealHint(cursor bool) string {
	if cursor && v.canReveal() == "" {
		return "   . reveals it for 10 s"
	}
	return ""
}

// text is the lines of the value as YAML, or of a text that is no data.
func (v *Value) text() screen.Lines {
	var lines screen.Lines
	from, to := v.page.Visible()
	for i := from; i < to; i++ {
		var l screen.Line
		l.Space(1)
		style := screen.Plain
		if v.search != "" && indexFold([]byte(v.yaml[i]), 0, v.search) >= 0 {
			style = screen.Bold | screen.Under
		}
		l.Add(style, screen.CleanTo(v.yaml[i], v.width))
		lines = append(lines, l)
	}
	return lines
}

// perLine is how many bytes a line of raw bytes shows.
func (v *Value) perLine() int {
	if v.width < 78 {
		return 8
	}
	return 16
}

// raw shows bytes from a line on; those of the node in focus stand out.
func (v *Value) raw(from, height, width int) screen.Lines {
	per := v.perLine()
	if width < 78 {
		per = 8
	}
	a, b := -1, -1
	if n := v.focus(); n != nil && n.Parent != nil {
		a, b = n.From, n.To
	}
	var lines screen.Lines
	for i := from; i < from+height && i*per < len(v.body); i++ {
		lines = append(lines, hexLine(v.body, i*per, per, a, b))
	}
	return lines
}

func hexLine(body []byte, at, per, a, b int) screen.Line {
	var l, text screen.Line
	l.Put(screen.Quiet, fmt.Sprintf(" %08x  ", at))
	for i := at; i < at+per; i++ {
		if i >= len(body) {
			l.Space(3)
			continue
		}
		style := screen.Plain
		if a <= i && i < b {
			style = screen.Bold
		}
		c := body[i]
		l.Put(style, fmt.Sprintf("%02x ", c))
		if c < ' ' || c > '~' {
			text.Put(screen.Quiet, ".")
		} else {
			text.Put(style, string(rune(c)))
		}
	}
	l.Space(1)
	l.Append(text)
	return l
}

// side is the second pane: the bytes of the node, what is known of the value,
// and who else answered for its key.
func (v *Value) side(height, width int) screen.Lines {
	var lines screen.Lines
	if n := v.focus(); n != nil && height > 24 {
		lines = append(lines, screen.Of(screen.Quiet, fmt.Sprintf("RAW (same node, offset 0x%x)", n.From)))
		per := 16
		if width < 78 {
			per = 8
		}
		for i := range 6 {
			if at := (n.From/per + i) * per; at < n.To {
				lines = append(lines, hexLine(v.body, at, per, n.From, n.To))
			}
		}
		lines = append(lines, screen.Line{})
	}
	return append(lines, v.meta(width)...)
}

// meta is what is known of the value.
func (v *Value) meta(width int) screen.Lines {
	t := v.trace
	lines := screen.Lines{screen.Of(screen.Quiet, " META")}
	put := func(style screen.Style, label, text string) {
		if text == "" {
			return
		}
		for i, part := range screen.Clean(text).Wrap(width-16, 4) {
			var l screen.Line
			l.Space(2)
			if i == 0 {
				l.Put(screen.Quiet, label)
			}
			l.To(15)
			l.Add(style, part)
			lines = append(lines, l)
		}
	}
	for _, f := range v.told {
		put(screen.Plain, f[0], f[1])
	}
	row, _ := v.env.Log.Row(t.ID)
	served := traces.HeadlineOf(t).Answered
	style := screen.Plain
	if t.Served == traces.ByCache {
		style = screen.Cached
	}
	put(style, "served by", served)
	put(screen.Plain, "answered at", t.Start.In(v.env.Zone).Format("2006-01-02 15:04:05"))
	put(screen.Plain, "run", traces.RunName(t.Run, t.RunGuessed))
	put(screen.Plain, "traceparent", t.Traceparent.String())
	put(screen.Plain, "environment", t.Environment)
	put(screen.Plain, "stored in", v.value.Source)
	put(screen.Plain, "model", v.value.Model)
	put(screen.Plain, "format", v.value.Format)
	put(screen.Plain, "expiry", t.Steps[traces.Expiry].Because.String())
	put(screen.Plain, "size", screen.Grouped(int64(v.value.Size))+" B")
	put(screen.Plain, "sha256", v.value.Digest)
	if v.value.Masked > 0 {
		put(screen.Attention, "masked", screen.Plural(v.value.Masked, "value"))
	}
	put(screen.Plain, "filter", t.Steps[traces.Filter].Because.String())
	if row.CacheWritten {
		put(screen.Plain, "written to", "cache "+row.Cache)
	}
	if len(v.elsewhere) > 0 {
		lines = append(lines, screen.Line{}, screen.Of(screen.Quiet, " SAME KEY ELSEWHERE"))
	}
	for _, p := range v.elsewhere {
		var l screen.Line
		l.Space(2)
		l.Cell(screen.Plain, screen.Clean(p.who), 20)
		l.Put(screen.Plain, fmt.Sprintf(" #%-6d %s  ", p.id, v.env.Clock(p.at)))
		switch {
		case p.digest == "" || v.value.Digest == "":
			l.Put(screen.Quiet, "no value kept")
		case p.digest == v.value.Digest:
			l.Put(screen.Plain, "same")
		default:
			l.Put(screen.Attention, "differs")
		}
		lines = append(lines, l)
	}
	return lines
}

// foot says where the value is from and where in it the cursor is.
func (v *Value) foot() screen.Lines {
	from := traces.HeadlineOf(v.trace).Answered
	if v.value.Source != "" {
		from += ", " + v.value.Source
	}
	path := ""
	if n := v.focus(); n != nil && v.mode == asTree {
		path = n.Path()
		if path == "" {
			path = "."
		}
	}
	return screen.Lines{
		v.env.Theme.HRule(v.width),
		screen.Of(screen.Plain, " from "+from),
		screen.Of(screen.Quiet, strings.TrimRight(" path "+path, " ")),
	}
}
