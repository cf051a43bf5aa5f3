package value

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/traces/tree"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

func (v *Value) title() string {
	return fmt.Sprintf("#%d > %s of %s %s %s", v.trace.ID, v.what, v.trace.Verb, v.trace.Indirection, v.trace.Key)
}

func (v *Value) Context() (left, right term.Line) {
	left.Put(term.Bold, " "+v.title())
	right.Put(session.StyleOf(v.trace.Outcome)|term.Bold, v.trace.Outcome.String())
	right.Space(1)
	return left, right
}

func (v *Value) View() term.Lines {
	lines := term.Lines{v.tabs()}
	height := max(v.height-1-foot, 0)
	var body term.Lines
	switch {
	case v.mode == asMeta:
		body = v.known.Lines()
	case v.err != nil:
		body = term.Lines{{}, term.Of(term.Attention, "   "+Why(v.env.Log, v.err))}
	case v.value.Model == "":
		body = term.Lines{{}, term.Of(term.Quiet, "   There is no value.")}
	case !v.wanted:
		body = term.Lines{{}, term.Of(term.Plain, "   "+term.Bytes(int64(v.value.Size))+".  enter loads it")}
	case !v.loaded:
		body = widget.Waiting(&v.wait, "loading "+term.Bytes(int64(v.value.Size)))
	case v.mode == asYAML:
		body = v.text()
	case v.mode == asRaw:
		body = v.raw()
	default:
		body = v.tree(height)
	}
	return append(append(lines, body.Fill(v.width, height)...), v.foot()...)
}

// Why returns why a value cannot be shown.
func Why(log session.Log, err error) string {
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

func (v *Value) tabs() term.Line {
	right := term.Of(term.Plain, v.value.Format+"  "+term.Grouped(int64(v.value.Size))+" B")
	if len(v.value.Digest) >= 8 {
		right.Put(term.Quiet, "  sha256 "+v.value.Digest[:8]+"..")
	}
	right.Space(1)
	return widget.Tabs(modeNames[:], int(v.mode), v.width, right)
}

func (v *Value) tree(height int) term.Lines {
	left := v.width
	if v.width >= screen.Wide {
		left = v.width * 11 / 20
	}
	lines := v.list.Lines(v.env.Theme, left, func(i int, r *widget.Row) { v.row(v.rows[i], r, left) })
	if v.width < screen.Wide {
		return lines
	}
	return term.Beside(lines, v.side(height, v.width-left-2), left, v.env.Theme)
}

// keyCells is the least width of a key, so that values stand below each other.
const keyCells = 14

func (v *Value) row(r tree.Row, l *widget.Row, width int) {
	g := &v.env.Theme.Glyphs
	l.To(1)
	l.Space(1 + 2*min(r.Depth, 20))
	switch {
	case !r.Folds():
		l.Space(2)
	case r.Open:
		l.Put(term.Plain, g.Open+" ")
	default:
		l.Put(term.Plain, g.Closed+" ")
	}
	label := r.Label()
	if r.Parent == nil {
		label = v.value.Model
	}
	l.Cell(term.Plain, term.CleanTo(label, width), max(keyCells, min(term.Clean(label).Width(), width/3)))
	l.Space(2)
	style := term.Plain
	text := r.Summary()
	switch {
	case r.Node == v.revealed:
		style, text = term.Touched, v.clear
	case r.Redacted():
		style = term.Attention
		text += v.revealHint(l.Focus)
	case r.Folds():
		style = term.Quiet
		if r.IsHash() && r.Identity() != "" {
			style = term.Plain
		}
	case r.Kind() == 'n':
		style, text = term.Quiet, "undef"
	}
	l.Add(style, term.CleanTo(text, width))
}

func (v *Value) revealHint(cursor bool) string {
	if cursor && v.revealDisabled() == "" {
		return "   . reveals it for 10 s"
	}
	return ""
}

// text is the lines of the value as YAML, or of a text that is no data.
func (v *Value) text() term.Lines {
	return v.page.Lines(v.env.Theme, v.width, func(i int, r *widget.Row) {
		r.Space(1)
		r.Add(v.search.Style(v.yaml[i]), term.CleanTo(v.yaml[i], v.width))
	})
}

// perLine is how many bytes a line of raw bytes shows.
func perLine(width int) int {
	if width < 78 {
		return 8
	}
	return 16
}

// raw shows the bytes; those of the node in focus stand out.
func (v *Value) raw() term.Lines {
	a, b := -1, -1
	if n := v.focus(); n != nil && n.Parent != nil {
		a, b = n.From, n.To
	}
	per := perLine(v.width)
	return v.page.Lines(v.env.Theme, v.width, func(i int, r *widget.Row) { r.Line = hexLine(v.body, i*per, per, a, b) })
}

func hexLine(body []byte, at, per, a, b int) term.Line {
	var l, text term.Line
	l.Put(term.Quiet, fmt.Sprintf(" %08x  ", at))
	for i := at; i < at+per; i++ {
		if i >= len(body) {
			l.Space(3)
			continue
		}
		style := term.Plain
		if a <= i && i < b {
			style = term.Bold
		}
		c := body[i]
		l.Put(style, fmt.Sprintf("%02x ", c))
		if c < ' ' || c > '~' {
			text.Put(term.Quiet, ".")
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
func (v *Value) side(height, width int) term.Lines {
	var lines term.Lines
	if n := v.focus(); n != nil && height > 24 {
		lines = append(lines, term.Of(term.Quiet, fmt.Sprintf("RAW (same node, offset 0x%x)", n.From)))
		per := perLine(width)
		for i := range 6 {
			if at := (n.From/per + i) * per; at < n.To {
				lines = append(lines, hexLine(v.body, at, per, n.From, n.To))
			}
		}
		lines = append(lines, term.Line{})
	}
	return append(lines, v.meta(width)...)
}

// meta is what is known of the value.
func (v *Value) meta(width int) term.Lines {
	t := v.trace
	facts := slices.Clone(v.facts)
	row, _ := v.env.Log.Row(t.ID)
	served := traces.HeadlineOf(t).Answered
	style := term.Plain
	if t.Served == traces.ByCache {
		style = term.Cached
	}
	facts.Put(style, "served by", served)
	facts.Put(term.Plain, "answered at", t.Start.In(v.env.Zone).Format("2006-01-02 15:04:05"))
	facts.Put(term.Plain, "run", traces.RunName(t.Run, t.Transaction, t.RunGuessed))
	facts.Put(term.Plain, "traceparent", t.Traceparent.String())
	facts.Put(term.Plain, "environment", t.Environment)
	facts.Put(term.Plain, "stored in", v.value.Source)
	facts.Put(term.Plain, "model", v.value.Model)
	facts.Put(term.Plain, "format", v.value.Format)
	facts.Put(term.Plain, "expiry", t.Why(traces.Expiry))
	facts.Put(term.Plain, "size", term.Grouped(int64(v.value.Size))+" B")
	facts.Put(term.Plain, "sha256", v.value.Digest)
	if v.value.Redacted > 0 {
		facts.Put(term.Attention, "masked", term.Plural(v.value.Redacted, "value"))
	}
	facts.Put(term.Plain, "filter", t.Why(traces.Filter))
	if row.CacheWritten {
		facts.Put(term.Plain, "written to", "cache "+row.Cache)
	}
	lines := append(term.Lines{term.Of(term.Quiet, " META")}, facts.Lines(2, 15, width, 4)...)
	if len(v.elsewhere) > 0 {
		lines = append(lines, term.Line{}, term.Of(term.Quiet, " SAME KEY ELSEWHERE"))
	}
	for _, p := range v.elsewhere {
		var l term.Line
		l.Space(2)
		l.Cell(term.Plain, term.Clean(p.who), 20)
		l.Put(term.Plain, fmt.Sprintf(" #%-6d %s  ", p.id, v.env.Clock(p.at)))
		switch {
		case p.digest == "" || v.value.Digest == "":
			l.Put(term.Quiet, "no value kept")
		case p.digest == v.value.Digest:
			l.Put(term.Plain, "same")
		default:
			l.Put(term.Attention, "differs")
		}
		lines = append(lines, l)
	}
	return lines
}

// foot shows where the value is from and where in it the cursor is.
func (v *Value) foot() term.Lines {
	from := traces.HeadlineOf(v.trace).Answered
	if v.value.Source != "" {
		from += ", " + v.value.Source
	}
	path := ""
	if n := v.focus(); n != nil && v.mode == asTree {
		path = cmp.Or(n.Path(), ".")
	}
	return term.Lines{
		v.env.Theme.HRule(v.width),
		term.Of(term.Plain, " from "+from),
		term.Of(term.Quiet, strings.TrimRight(" path "+path, " ")),
	}
}
