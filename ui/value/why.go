package value

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/model"
	"indirtui/indirector/origins"
	"indirtui/traces"
	"indirtui/traces/tree"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// errNotCompiled is the reason where a catalog is from elsewhere.
var errNotCompiled = errors.New("only a catalog that was compiled here knows where its values are from")

// A catalog is the answer of a request with where everything in it is from.
type catalog struct {
	name      string
	resources []*tree.Node
	doc       *origins.Document
}

// readCatalog reads the answer of a request. It may take long.
func readCatalog(log session.Log, t *traces.Trace) (*catalog, error) {
	if !hasOrigins(t) {
		return nil, errNotCompiled
	}
	var bodies [2][]byte
	for i, v := range []traces.Value{t.Value(), t.Origins()} {
		var err error
		if bodies[i], err = log.Body(v); err != nil {
			return nil, errors.New(Why(log, err))
		}
	}
	root, err := tree.Parse(bodies[0])
	if err != nil {
		return nil, err
	}
	c := &catalog{name: t.Key}
	if c.doc, err = origins.Parse(bodies[1]); err != nil {
		return nil, err
	}
	if all := root.Get("resources"); all != nil {
		c.resources = all.Children()
	}
	return c, nil
}

// A bodyReader is the part of a log that has values.
type bodyReader interface {
	Body(v traces.Value) ([]byte, error)
}

// DocumentOf reads where everything in the answer of a request is from; nil if that is not
// known. It may take long.
func DocumentOf(log bodyReader, t *traces.Trace) *origins.Document {
	if !hasOrigins(t) {
		return nil
	}
	body, err := log.Body(t.Origins())
	if err != nil {
		return nil
	}
	doc, err := origins.Parse(body)
	if err != nil {
		return nil
	}
	return doc
}

func hasOrigins(t *traces.Trace) bool { return t.Value().Model != "" && t.Origins().Model != "" }

// refs are the resources of the catalog, and then those that only the compile knows, as
// the node does not get them.
func (c *catalog) refs() []string {
	refs := make([]string, 0, len(c.resources)+len(c.doc.Resources))
	for _, n := range c.resources {
		refs = append(refs, n.Identity())
	}
	for i := range c.doc.Resources {
		refs = append(refs, c.doc.Resources[i].Ref)
	}
	return refs
}

// why explains one resource.
func (c *catalog) why(ref string) (*origins.Why, error) {
	refs := c.refs()
	at, err := origins.MatchRef(c.name, ref, refs)
	if err != nil {
		return nil, err
	}
	var values []origins.Value
	if at < len(c.resources) {
		if all := c.resources[at].Get("parameters"); all != nil {
			for _, p := range all.Children() {
				values = append(values, origins.Value{Name: p.Label(), JSON: p.JSON()})
			}
		}
	}
	return c.doc.Why(refs[at], values), nil
}

// Explain reads where the attributes of a resource are from, of the catalog that a request
// was answered with, and which of them is meant; without a name the first. It may take
// long.
func Explain(log session.Log, t *traces.Trace, ref, attribute string) (why *origins.Why, at int, err error) {
	c, err := readCatalog(log, t)
	if err != nil {
		return nil, 0, err
	}
	if why, err = c.why(ref); err != nil || attribute == "" {
		return why, 0, err
	}
	at, err = why.Match(attribute)
	return why, at, err
}

// Resources are the references of the resources that were given attributes, at most so
// many.
func Resources(log session.Log, t *traces.Trace, most int) (refs []string, err error) {
	c, err := readCatalog(log, t)
	if err != nil {
		return nil, err
	}
	for _, n := range c.resources {
		ref := n.Identity()
		if r := c.doc.Find(ref); r != nil && len(r.Attributes) > 0 && len(refs) < most {
			refs = append(refs, ref)
		}
	}
	if len(refs) == 0 {
		err = errors.New("no resource of this catalog was given attributes")
	}
	return refs, err
}

// whyDisabled is the reason why the value cannot be explained.
func (v *Value) whyDisabled() string {
	switch {
	case v.value.Model != "catalog":
		return "this is no catalog"
	case v.what == "sent" || !hasOrigins(v.trace):
		return errNotCompiled.Error()
	}
	return ""
}

// maxChoice is how many resources are offered to choose from.
const maxChoice = 2000

// why shows where the attributes of the resource around the cursor are from. Where there
// is none, the resources are offered.
func (v *Value) why() tea.Cmd {
	env, t := v.env, v.trace
	if ref, attribute := v.resource(); ref != "" {
		return ShowWhy(env, t, ref, attribute)
	}
	return func() tea.Msg {
		refs, err := Resources(env.Log, t, maxChoice)
		if err != nil {
			return screen.Toast{Text: err.Error(), Bad: true}
		}
		items := make([]widget.Item, len(refs))
		for i, ref := range refs {
			items[i] = widget.Item{Name: ref, Do: ShowWhy(env, t, ref, "")}
		}
		return screen.Push{Screen: widget.NewMenu(&env.Shared, "why of which resource", items)}
	}
}

// resource is what is around the cursor: a resource, and one of its attributes; "" where
// there is none.
func (v *Value) resource() (ref, attribute string) {
	if v.mode != asTree {
		return "", ""
	}
	return ResourceOf(v.focus())
}

// ResourceOf returns the resource of a catalog that a node is in, and the attribute of it;
// "" where there is none.
func ResourceOf(n *tree.Node) (ref, attribute string) {
	for ; n != nil && n.Parent != nil; n = n.Parent {
		switch above := n.Parent; {
		case above.Label() == "parameters" && depth(above) == 3:
			attribute = n.Label()
		case above.Label() == "resources" && depth(above) == 1:
			return n.Identity(), attribute
		}
	}
	return "", ""
}

// depth is how many nodes a node is below.
func depth(n *tree.Node) (above int) {
	for ; n.Parent != nil; n = n.Parent {
		above++
	}
	return above
}

// ShowWhy is the command that shows where the attributes of a resource are from.
func ShowWhy(env *session.Env, t *traces.Trace, ref, attribute string) tea.Cmd {
	return func() tea.Msg {
		why, at, err := Explain(env.Log, t, ref, attribute)
		if why == nil {
			return screen.Toast{Text: err.Error(), Bad: true}
		}
		return screen.Push{Screen: NewOrigins(env, t.ID, why, at)}
	}
}

// An Origins shows where each attribute of one resource is from: its line in a manifest,
// its level of data, and what was overruled.
type Origins struct {
	env           *session.Env
	title         string
	why           *origins.Why
	rows          []origins.Row
	width, height int
	head          term.Lines
	list          widget.Table
	search        widget.Search
}

var _ screen.Screen = (*Origins)(nil)

var originColumns = []widget.Column{
	{Title: origins.Titles[0], Min: 9, Want: 20, Priority: 9},
	{Title: origins.Titles[1], Min: 9, Want: 24, Priority: 6},
	{Title: origins.Titles[2], Min: 12, Want: 60, Priority: 8},
	{Title: origins.Titles[place], Min: 16, Priority: 7, Grow: 1},
}

// place is the column of the place.
const place = len(origins.Titles) - 1

// NewOrigins shows why a resource of the answer of a request has its values, with the
// cursor on an attribute.
func NewOrigins(env *session.Env, request uint64, why *origins.Why, at int) *Origins {
	o := &Origins{env: env, title: fmt.Sprintf("#%d > why %s", request, why.Resource), why: why, rows: why.Rows()}
	o.list = widget.Table{Columns: slices.Clone(originColumns), Gutter: 2}
	o.list.SetLen(len(o.rows))
	for c := range o.list.Columns[:place] { // no column but the last is wider than what is in it
		widest := 0
		for i := range o.rows {
			widest = max(widest, term.CleanTo(o.rows[i].Cells[c], originColumns[c].Want).Width())
		}
		o.list.Columns[c].Want = min(widest, originColumns[c].Want)
	}
	o.search = widget.Search{Hint: "text in this table", None: "not in this table", Find: o.find}
	if 0 <= at && at < len(why.Attributes) {
		o.list.Seek(func(i int) bool { return o.rows[i].Attribute == why.Attributes[at].Name })
	}
	return o
}

func (o *Origins) Scope() screen.Scope { return screen.InWhy }

func (o *Origins) Resize(width, height int) {
	o.width, o.height = width, height
	o.head = nil
	for i, text := range []string{o.why.Head(), o.why.Inside()} {
		for _, part := range term.Clean(text).Wrap(max(width-2, 8), 3) {
			var l term.Line
			l.Space(1)
			l.Add([]term.Style{term.Bold, term.Quiet}[i], part)
			o.head = append(o.head, l)
		}
	}
	o.head = append(o.head, term.Line{})
	o.list.Top = len(o.head)
	o.list.SetHeight(max(height-len(o.head)-1-foot, 1))
}

func (o *Origins) Update(tea.Msg) tea.Cmd { return nil }

func (o *Origins) Context() (left, right term.Line) {
	left.Put(term.Bold, " "+o.title)
	right.Put(term.Plain, term.Plural(len(o.why.Attributes), "attribute")+" ")
	return left, right
}

func (o *Origins) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.Search, screen.CopyMenu, screen.Back}
}

// focus is the row under the cursor, or nil.
func (o *Origins) focus() *origins.Row {
	if o.list.Cursor >= len(o.rows) {
		return nil
	}
	return &o.rows[o.list.Cursor]
}

func (o *Origins) Disabled(do screen.Action) string {
	r := o.focus()
	switch {
	case widget.Moves(do):
		return ""
	case do == screen.Enter:
		return screen.ReasonIf(r == nil || r.File == "", "this has no file")
	case do == screen.CopyMenu:
		return screen.ReasonIf(r == nil, "there is nothing to copy")
	}
	return o.search.Disabled(do)
}

func (o *Origins) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Enter:
		r := o.focus()
		return screen.Show(newSource(o.env, r.File, r.Line))
	case screen.CopyMenu:
		return screen.Show(widget.NewMenu(&o.env.Shared, "copy", o.copies()))
	}
	return o.search.Handle(&o.env.Shared, a)
}

func (o *Origins) copies() []widget.Item {
	const longest = 1 << 20 // of a value
	r := o.focus()
	return []widget.Item{
		widget.CopyItem('p', "place", r.Cells[place]),
		widget.CopyItem('v', "value", r.Cells[1]),
		widget.CopyItem('l', "line", strings.TrimSpace(strings.Join(r.Cells[:], "  "))),
		widget.CopyItem('a', "all", o.why.Text(longest)),
	}
}

// List returns the attributes.
func (o *Origins) List() screen.List { return &o.list }

// find goes to the nearest row with what is searched.
func (o *Origins) find(step int) bool {
	return o.list.Find(step, func(i int) bool { return slices.ContainsFunc(o.rows[i].Cells[:], o.search.In) })
}

func (o *Origins) View() term.Lines {
	lines := slices.Clone(o.head)
	if len(o.rows) == 0 {
		lines = append(lines, term.Of(term.Quiet, "   It has no attributes."))
	} else {
		lines = append(lines, o.list.Lines(o.env.Theme, o.width, o.row)...)
	}
	return append(lines.Fill(o.width, max(o.height-foot, 0)), o.foot()...)
}

func (o *Origins) row(i int, r *widget.Row) {
	style := term.Plain
	if o.rows[i].Overruled {
		style = term.Quiet
	}
	for c, text := range o.rows[i].Cells {
		own := style | o.search.Style(text)
		if c == place {
			text = end(text, r.Widths[c])
		}
		r.Next(own, text)
	}
}

// end is the end of a place, which has the file and the line, where there is no room for
// all of it.
func end(text string, cells int) string {
	t := term.Clean(text)
	if t.Width() <= cells || cells < 2 {
		return text
	}
	return "…" + t.Skip(t.Width()-cells+1).String()
}

// foot shows the row under the cursor as far as the table has no room for it.
func (o *Origins) foot() term.Lines {
	lines := term.Lines{o.env.Theme.HRule(o.width), {}, {}}
	if r := o.focus(); r != nil {
		for i, text := range []string{r.Attribute + ": " + strings.TrimSpace(r.Cells[2]), r.Cells[place]} {
			lines[1+i].Space(1)
			lines[1+i].Add([]term.Style{term.Plain, term.Quiet}[i], term.Clean(text).CutMiddle(max(o.width-2, 8)))
		}
	}
	return lines
}

// maxSource is how much is read of a file that a value is from, in bytes: its line may
// stand far below.
const maxSource = 1 << 20

// newSource shows a file of this machine, at a line; without one from its beginning.
func newSource(env *session.Env, path string, line int) *File {
	f := NewFile(env, "why > "+origins.Place(filepath.Base(path), line), &model.FileContent{Contents: onDisk(path)}, nil)
	f.most, f.at = maxSource, line
	return f
}

// onDisk is a file of this machine, by its path.
type onDisk string

var _ model.Kept = onDisk("")

func (p onDisk) Path() string { return string(p) }

// Open opens it, if it is a plain file: a recording may name any, and others may never end.
func (p onDisk) Open() (io.ReadCloser, error) {
	info, err := os.Stat(string(p))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: string(p), Err: errors.New("not a file")}
	}
	return os.Open(string(p))
}

func (p onDisk) Size() int64 {
	info, err := os.Stat(string(p))
	if err != nil {
		return -1
	}
	return info.Size()
}
