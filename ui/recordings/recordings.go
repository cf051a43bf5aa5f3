// Package recordings shows the recordings there are, opens and compares them,
// and saves a part of what is shown as one.
package recordings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/host/files"
	"indirtui/traces/diff"
	"indirtui/traces/export"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/command"
	"indirtui/ui/compare"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// Options are what the list needs.
type Options struct {
	Log      *store.Store // what is shown now
	Dir      string       // holds the recordings; if empty, there are none
	Source   string
	Redact   func(string) (string, int)
	Open     func(path string) tea.Cmd
	Baseline string // the recording that others are held against; ""
}

// A Recordings is the list.
type Recordings struct {
	ctx           context.Context
	env           *session.Env
	o             Options
	width, height int
	list          widget.Table
	files         []store.Info
	letters       string         // that the list is narrowed by
	found         []widget.Match // of what is shown now and the files
	err           error
	read          bool
}

var _ screen.Screen = (*Recordings)(nil)

// List returns the recordings, what is shown now before them.
func (r *Recordings) List() screen.List { return &r.list }

// New returns the list, with a command that reads it.
func New(ctx context.Context, env *session.Env, o Options) (*Recordings, tea.Cmd) {
	r := &Recordings{ctx: ctx, env: env, o: o, list: widget.Table{Columns: columns, Gutter: 2}}
	return r, r.reload()
}

type filesListed struct {
	files []store.Info
	err   error
}

// maxFiles bounds the list; the newest are kept.
const maxFiles = 1000

func (r *Recordings) reload() tea.Cmd {
	dir, live := r.o.Dir, r.o.Log.Path()
	return screen.Later(func() tea.Msg {
		files, err := List(dir, live)
		return screen.For{Screen: r, Msg: filesListed{files, err}}
	})
}

// List reads the first and last line of each recording in a directory, the newest
// first, but for the one that is live.
func List(dir, live string) ([]store.Info, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []store.Info
	for _, e := range slices.Backward(entries) {
		path := filepath.Join(dir, e.Name())
		if !e.Type().IsRegular() || path == live || len(out) == maxFiles {
			continue
		}
		if info, err := store.Inspect(path); err == nil {
			out = append(out, info)
		}
	}
	slices.SortStableFunc(out, func(a, b store.Info) int { return b.Started.Compare(a.Started) })
	return out, nil
}

func (r *Recordings) Scope() screen.Scope { return screen.InRecordings }

func (r *Recordings) Resize(width, height int) {
	r.width, r.height = width, height
	r.list.SetHeight(max(height-5, 1))
}

func (r *Recordings) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case filesListed:
		r.files, r.err, r.read = msg.files, msg.err, true
		r.narrow(r.letters)
	case run:
		return msg()
	}
	return nil
}

// run is something to be done on the goroutine of the screen.
type run func() tea.Cmd

// focus is the recording that the cursor is on; nil for what is shown now.
func (r *Recordings) focus() *store.Info {
	if at := r.list.Cursor; at < len(r.found) {
		if i := r.found[at].Index; i > 0 {
			return &r.files[i-1]
		}
	}
	return nil
}

// shownNow is the name of the first row.
const shownNow = "(shown now)"

// narrow leaves what has the letters in its name.
func (r *Recordings) narrow(letters string) {
	names := []string{shownNow}
	for _, f := range r.files {
		names = append(names, filepath.Base(f.Path))
	}
	r.letters, r.found = letters, widget.Find(letters, names)
	r.list.SetLen(len(r.found))
}

// askLetters opens the line that narrows the list while it is written.
func (r *Recordings) askLetters() tea.Cmd {
	before := r.letters
	p := widget.Prompt{
		Label: "/", Hint: "letters of a name, in their order",
		Change: func(text string) (*widget.Problem, tea.Cmd) { r.narrow(text); return nil, nil },
		Enter:  func(text string) (*widget.Problem, tea.Cmd) { r.narrow(text); return nil, nil },
		Cancel: func() tea.Cmd { r.narrow(before); return nil },
	}
	p.Input.Set(before)
	return screen.Show(widget.NewPrompt(&r.env.Shared, p))
}

func (r *Recordings) Disabled(do screen.Action) string {
	f := r.focus()
	switch {
	case widget.Moves(do), do == screen.Write, do == screen.Reload, do == screen.FilterBy:
		return ""
	case do == screen.Back:
		return screen.ReasonIf(r.letters == "", screen.Unknown)
	}
	switch do {
	case screen.Enter:
		return screen.ReasonIf(f == nil || r.o.Open == nil, "this is what is shown now")
	case screen.Baseline, screen.Rename, screen.Remove:
		return screen.ReasonIf(f == nil, "this is what is shown now")
	case screen.DiffTwo:
		return screen.ReasonIf(r.o.Baseline == "" && f == nil, "choose another recording, or set a baseline with space")
	case screen.ListRedacted, screen.CopyMenu:
		return ""
	}
	return screen.Unknown
}

func (r *Recordings) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.FilterBy, screen.Write, screen.Baseline, screen.DiffTwo, screen.ListRedacted, screen.Rename, screen.Remove, screen.Back, screen.CopyMenu}
}

func (r *Recordings) Handle(a screen.Command) tea.Cmd {
	f := r.focus()
	switch a.Action {
	case screen.Enter:
		return r.o.Open(f.Path)
	case screen.FilterBy:
		return r.askLetters()
	case screen.Back:
		r.narrow("")
	case screen.Write:
		return Save(r.env, r.o, "@all", "")
	case screen.Reload:
		return r.reload()
	case screen.Baseline:
		return r.baseline(f.Path)
	case screen.DiffTwo:
		return r.diff(f)
	case screen.Rename:
		return r.rename(f.Path)
	case screen.Remove:
		return r.remove(f.Path)
	case screen.ListRedacted:
		return r.redacted(f)
	case screen.CopyMenu:
		path := r.o.Log.Path()
		if f != nil {
			path = f.Path
		}
		return screen.Send(screen.Copy{What: "path", Text: path})
	}
	return nil
}

func (r *Recordings) baseline(path string) tea.Cmd {
	if path == r.o.Baseline {
		path = ""
	}
	old := r.o.Baseline
	set := func(path string) tea.Cmd {
		r.o.Baseline = path
		if r.env.Keep == nil {
			return nil
		}
		return func() tea.Msg {
			if err := r.env.Keep("baseline", path); err != nil {
				return screen.Toast{Text: "keep the baseline: " + err.Error(), Bad: true}
			}
			return nil
		}
	}
	command := "baseline " + filepath.Base(path)
	return tea.Batch(set(path), screen.Changed(command, old, path, set))
}

// diff compares the recording in focus with the baseline, or with what is shown
// now.
func (r *Recordings) diff(f *store.Info) tea.Cmd {
	base := r.o.Baseline
	other := ""
	if f != nil && f.Path != base {
		other = f.Path
	}
	if base == "" {
		base, other = other, ""
	}
	ctx, o := r.ctx, r.o
	return Both(ctx, o, base, other, func(sets [2]diff.Set, err error) tea.Msg {
		if err != nil {
			return screen.Toast{Text: err.Error(), Bad: true}
		}
		return screen.For{Screen: r, Msg: run(func() tea.Cmd { return compare.Sets(r.ctx, r.env, sets[0], sets[1], true) })}
	})
}

// Both is the command that opens two recordings to be compared, and sends the
// message that then makes of them; "" is what is shown now. They are closed when
// ctx ends.
func Both(ctx context.Context, o Options, a, b string, then func([2]diff.Set, error) tea.Msg) tea.Cmd {
	return screen.Send(screen.Work{Words: "reading recordings", Do: func(working context.Context, progress func(done, total int64)) tea.Msg {
		return then(both(ctx, o, a, b, func(s *store.Store) error { return export.Load(working, s, progress) }))
	}})
}

func both(ctx context.Context, o Options, a, b string, load func(*store.Store) error) (sets [2]diff.Set, err error) {
	var opened []*store.Store
	for i, path := range [2]string{a, b} {
		sets[i] = diff.Set{Log: o.Log, Name: "now"}
		if path == "" {
			continue
		}
		s, err := store.OpenFile(path)
		if err == nil {
			opened = append(opened, s)
			err = load(s)
		}
		if err != nil {
			for _, s := range opened {
				_ = s.Close() // it was only read
			}
			if at := new(fs.PathError); errors.As(err, &at) {
				err = at.Err // the path would be there twice
			}
			return sets, fmt.Errorf("compare %s: %w", filepath.Base(path), stoppedOr(err))
		}
		sets[i] = diff.Set{Log: s, Name: filepath.Base(path)}
	}
	context.AfterFunc(ctx, func() {
		for _, s := range opened {
			_ = s.Close() // it was only read
		}
	})
	return sets, nil
}

func (r *Recordings) rename(path string) tea.Cmd {
	var p *widget.Prompt
	p = widget.NewPrompt(&r.env.Shared, widget.Prompt{
		Label: "new name ", Hint: "in the same directory",
		Enter: func(text string) (*widget.Problem, tea.Cmd) {
			if text != filepath.Base(text) || strings.TrimSpace(text) == "" || text == "." || text == ".." {
				return &widget.Problem{Offset: 0, Text: "want the name of a file, without a directory"}, nil
			}
			to := filepath.Join(filepath.Dir(path), text)
			refused := func(why string) tea.Msg { return screen.Toast{Text: why, Bad: true, Again: p.Again(text, why)} }
			return nil, func() tea.Msg {
				// A link does not take the place of a file that is there.
				err := os.Link(path, to)
				if err == nil {
					err = os.Remove(path)
				}
				if errors.Is(err, fs.ErrExist) {
					return refused("rename: there is a " + text + " already; nothing was renamed")
				}
				if err != nil {
					return refused("rename: " + err.Error())
				}
				return screen.For{Screen: r, Msg: run(r.reload)}
			}
		},
	})
	p.Input.Set(filepath.Base(path))
	return screen.Show(p)
}

func (r *Recordings) remove(path string) tea.Cmd {
	name := filepath.Base(path)
	return screen.Show(widget.NewPrompt(&r.env.Shared, widget.Prompt{
		Label: "type " + name + " to remove it: ", Hint: "what is removed cannot be brought back; esc leaves it",
		Enter: func(text string) (*widget.Problem, tea.Cmd) {
			if strings.TrimSpace(text) != name {
				return &widget.Problem{Offset: -1, Text: "refused: that is another name; nothing was removed"}, nil
			}
			return nil, func() tea.Msg {
				if err := os.Remove(path); err != nil {
					return screen.Toast{Text: "remove: " + err.Error(), Bad: true}
				}
				return screen.For{Screen: r, Msg: run(r.reload)}
			}
		},
	}))
}

// redacted lists what is redacted in a recording.
func (r *Recordings) redacted(f *store.Info) tea.Cmd {
	log, redact := r.o.Log, r.o.Redact
	return screen.Send(screen.Work{Words: "looking for what is masked", Do: func(ctx context.Context, progress func(done, total int64)) tea.Msg {
		if f != nil {
			s, err := store.OpenFile(f.Path)
			if err != nil {
				return screen.Toast{Text: err.Error(), Bad: true}
			}
			defer func() { _ = s.Close() }() // it is only read
			if log = s; export.Load(ctx, s, progress) != nil {
				return screen.Toast{Text: errStopped.Error(), Bad: true}
			}
		}
		ids, err := export.Select(log, "")
		if err != nil {
			return screen.Toast{Text: err.Error(), Bad: true}
		}
		var nowhere counter
		report, err := export.Write(&nowhere, log, ids, export.Options{Format: export.JSONL, Redact: redact, Step: stepping(ctx, progress)})
		if err != nil {
			return screen.Toast{Text: stoppedOr(err).Error(), Bad: true}
		}
		p := widget.Page{Title: "masked"}
		p.Add("", fmt.Sprintf("%s in %s", term.Plural(report.Redacted, "secret"), term.Plural(report.Requests, "request")), term.Bold)
		for _, m := range report.List {
			p.Add(fmt.Sprintf("#%d", m.Request), fmt.Sprintf("%s: %s, %d B, tag %s", m.Where, m.Kind, m.Bytes, m.Tag), term.Plain)
		}
		if more := report.Redacted - len(report.List); more > 0 {
			p.Add("", fmt.Sprintf("and %d more", more), term.Quiet)
		}
		return screen.Push{Screen: widget.NewPager(&r.env.Shared, p)}
	}})
}

// errStopped is what ends what the user has stopped.
var errStopped = errors.New("stopped by you")

// stoppedOr returns the error in words that users know.
func stoppedOr(err error) error {
	if errors.Is(err, context.Canceled) {
		return errStopped
	}
	return err
}

// stepping returns what an export calls for each request: it reports how much is
// done, and ends with ctx.
func stepping(ctx context.Context, progress func(done, total int64)) func(done, total int) error {
	return func(done, total int) error {
		progress(int64(done), int64(total))
		return ctx.Err()
	}
}

// A counter is a file that keeps nothing.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// Save asks what to save, how and where, and saves it. Selectors are those of
// expressions.
func Save(env *session.Env, o Options, selector, name string) tea.Cmd {
	if name == "" {
		name = "incident-" + env.Now().In(env.Zone).Format("0102-1504") + ".ind"
	}
	var formats []string
	for _, f := range export.Formats() {
		formats = append(formats, string(f))
	}
	var bodies []string
	for _, b := range export.AllBodies() {
		bodies = append(bodies, string(b))
	}
	on := selection(env)
	f := widget.Form{
		Title: "save as",
		Fields: []widget.Field{
			{Label: "NAME", Hint: "a new file, here", Aside: true},
			{Label: "WHAT", Hint: "an expression", Choices: []string{"@all", "@shown", "@run", "@marked", "hidden", "failed", "sent"}},
			{Label: "FORMAT", Hint: "har: what went over HTTP", Choices: formats},
			{Label: "BODIES", Hint: "which values go along; small: up to 1 MB", Choices: bodies},
		},
		Check: func(v []string) (string, *widget.Problem, int) {
			if strings.TrimSpace(v[0]) == "" {
				return "", &widget.Problem{Text: "want the name of a file"}, 0
			}
			if _, err := query.Parse(v[1]); err != nil {
				return "", &widget.Problem{Text: err.Error()}, 1
			}
			if _, err := export.Parse(v[2]); err != nil {
				return "", &widget.Problem{Text: err.Error()}, 2
			}
			if _, err := export.ParseBodies(v[3]); err != nil {
				return "", &widget.Problem{Text: err.Error()}, 3
			}
			return "save " + whatOf(v).String(), nil, 0
		},
		Enter:       func(v []string) tea.Cmd { return Write(env, o, whatOf(v)) },
		Preview:     func(ctx context.Context, v []string) []string { return preview(ctx, o, whatOf(v), on) },
		PreviewRows: 2,
	}
	for i, v := range []string{name, selector, string(export.Recording), string(export.AnyBody)} {
		f.Fields[i].Input.Set(v)
	}
	return screen.Show(widget.NewForm(&env.Shared, f))
}

// selection is what the list of requests shows, if there is one.
func selection(env *session.Env) (on export.Screen) {
	if env.Selection != nil {
		on.Filter, on.At = env.Selection()
	}
	return on
}

// preview returns what would be saved: how many requests, how large, and what is
// redacted in it.
func preview(ctx context.Context, o Options, what What, on export.Screen) []string {
	ids, err := export.SelectOn(o.Log, what.Selector, &on)
	if err != nil {
		return []string{err.Error()}
	}
	format := cmp.Or(what.Format, export.Recording)
	if format == export.Recording {
		format = export.JSONL // which has the same in it, and needs no file
	}
	to := &patience{ctx: ctx}
	report, err := export.Write(to, o.Log, ids, export.Options{Format: format, Bodies: what.Bodies, Source: o.Source, Redact: o.Redact})
	if err != nil {
		return []string{err.Error()}
	}
	size := term.Bytes(int64(to.n))
	if cmp.Or(what.Format, export.Recording) == export.Recording {
		size = "at most " + size // it has equal values once
	}
	first := term.Plural(report.Requests, "request") + ", " + size
	if report.Without > 0 {
		first += fmt.Sprintf(", %s left out", term.Plural(report.Without, "value"))
	}
	second := "nothing in it is masked"
	if report.Redacted > 0 {
		second = fmt.Sprintf("masked %d: %s", report.Redacted, report.Kinds())
	}
	return []string{first, second}
}

// patience is a file that keeps nothing, and ends with its context.
type patience struct {
	ctx context.Context
	n   counter
}

func (p *patience) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.n.Write(b)
}

// whatOf returns what is written in a form.
func whatOf(v []string) What {
	format, _ := export.Parse(v[2]) // it was checked
	bodies, _ := export.ParseBodies(v[3])
	return What{Name: strings.TrimSpace(v[0]), Selector: v[1], Format: format, Bodies: bodies}
}

// What is what is saved: the requests that an expression means, how, and with
// which values.
type What struct {
	Name     string // of the file
	Selector string
	Format   export.Format // "" is a recording
	Bodies   export.Bodies // "" is all
}

// String is how it is written behind save.
func (w What) String() string {
	return strings.Join([]string{command.Quote(w.Name), w.Selector, string(w.Format), "bodies=" + string(w.Bodies)}, " ")
}

// Read reads what stands behind the name of the file: a selector, as it is
// written, and behind it a format, unless there is one already, and bodies=.
func (w *What) Read(text string) error {
	before := func() (string, string) {
		i := strings.LastIndexAny(text, " \t") + 1
		return strings.TrimSpace(text[:i]), text[i:]
	}
	text = strings.TrimSpace(text)
	given := w.Format != ""
	for {
		rest, last := before()
		if strings.ContainsAny(last, `"'`) {
			break // of the expression
		}
		if name, ok := strings.CutPrefix(last, "bodies="); ok && w.Bodies == "" {
			b, err := export.ParseBodies(name)
			if err != nil {
				return err
			}
			w.Bodies, text = b, rest
			continue
		}
		if f, err := export.Parse(last); err == nil && !given {
			w.Format, text, given = f, rest, true
			continue
		}
		break
	}
	if text != "" {
		w.Selector = text
	}
	return nil
}

// Write saves the requests that an expression means to a new file, and reports how
// much of it is redacted. @shown is the filter of the list of requests, and @run
// the run that its cursor is in.
func Write(env *session.Env, o Options, what What) tea.Cmd {
	on := selection(env)
	return screen.Send(screen.Work{Words: "saving " + filepath.Base(what.Name), Do: func(ctx context.Context, progress func(done, total int64)) tea.Msg {
		report, path, err := write(o, what, on, stepping(ctx, progress))
		if errors.Is(err, fs.ErrExist) {
			return screen.Toast{Text: "save: there is a " + filepath.Base(path) + " already; nothing was written", Advice: "give another name", Bad: true}
		}
		if err != nil {
			return screen.Toast{Text: "save " + what.Name + ": " + stoppedOr(err).Error(), Bad: true}
		}
		text := fmt.Sprintf("saved %s to %s, masked %d", term.Plural(report.Requests, "request"), path, report.Redacted)
		if report.Without > 0 {
			text += fmt.Sprintf(", %s left out", term.Plural(report.Without, "value"))
		}
		return screen.Toast{Text: text, Advice: report.Kinds()}
	}})
}

func write(o Options, what What, on export.Screen, step func(done, total int) error) (report export.Report, path string, err error) {
	if path, err = filepath.Abs(what.Name); err != nil {
		return report, "", err
	}
	if err := o.Log.Flush(); err != nil {
		return report, "", err
	}
	ids, err := export.SelectOn(o.Log, what.Selector, &on)
	if err != nil {
		return report, "", err
	}
	opts := export.Options{Format: cmp.Or(what.Format, export.Recording), Bodies: what.Bodies, Source: o.Source, Redact: o.Redact, Step: step}
	f, err := files.Create(path, files.Options{New: true})
	switch recording := opts.Format == export.Recording; {
	case err != nil && recording:
		return report, path, fmt.Errorf("save recording: %w", err)
	case err != nil:
		return report, path, err
	case recording:
		report, err = export.Save(f, o.Log, ids, opts)
		return report, path, err
	}
	if report, err = export.Write(f, o.Log, ids, opts); err != nil {
		return report, "", errors.Join(err, f.Abort())
	}
	return report, path, f.Commit()
}

func (r *Recordings) Context() (left, right term.Line) {
	left.Put(term.Bold, "Recordings")
	if r.o.Dir != "" {
		left.Put(term.Quiet, "  in "+r.o.Dir)
	}
	if r.letters != "" {
		left.Put(term.Accent|term.Bold, "  / "+r.letters)
	}
	right.Put(term.Quiet, term.Plural(len(r.files), "file"))
	return left, right
}

var columns = []widget.Column{
	{Title: "NAME", Min: 24, Want: 36, Priority: 9, Grow: 1},
	{Title: "WHEN", Min: 16, Want: 16, Priority: 7},
	{Title: "REQS", Min: 7, Want: 8, Priority: 6, Right: true},
	{Title: "SIZE", Min: 8, Want: 9, Priority: 5, Right: true},
	{Title: "SOURCE", Min: 12, Want: 24, Priority: 2},
	{Title: "NOTE", Min: 12, Want: 20, Priority: 4},
}

func (r *Recordings) View() term.Lines {
	lines := r.list.Lines(r.env.Theme, r.width, r.row)
	if r.err != nil {
		lines = append(lines[:1+min(r.list.Len, r.list.Height)], term.Of(term.Failed, "   "+r.err.Error()))
	}
	lines = append(lines.Fill(r.width, r.height-3), r.env.Theme.HRule(r.width))
	path := r.o.Log.Path()
	if f := r.focus(); f != nil {
		path = f.Path
	}
	path = cmp.Or(path, "in memory only")
	return append(lines, term.Of(term.Quiet, " "+path), term.Of(term.Quiet, " indirtui open FILE looks at it   indirtui check --recording FILE --expect \"count(hidden) = 0\" checks it"))
}

func (r *Recordings) row(at int, out *widget.Row) {
	i := r.found[at].Index
	style := term.Plain
	var texts []string
	if i == 0 {
		stats := r.o.Log.Stats()
		note := "autosave on"
		switch {
		case r.o.Log.Path() == "":
			note = "in memory only"
		case r.env.Asker == nil:
			note = "a recording"
		}
		texts = []string{shownNow, "now", term.Grouped(int64(stats.Total)), term.Bytes(stats.FileSize), r.o.Source, note}
	} else {
		f := r.files[i-1]
		requests, note := "?", "not closed"
		if f.Ended {
			requests, note = term.Grouped(int64(f.Requests)), ""
			if f.Comments > 0 {
				note = term.Plural(int(f.Comments), "comment")
			}
		}
		if f.Path == r.o.Baseline {
			note, style = strings.TrimSpace("baseline "+note), term.Touched
		}
		texts = []string{filepath.Base(f.Path), f.Started.In(r.env.Zone).Format("2006-01-02 15:04"), requests, term.Bytes(f.Size), f.Source, note}
	}
	out.To(r.list.Gutter)
	out.Append(r.found[at].Marked(style, texts[0], 0).Cut(out.Widths[0]))
	out.To(r.list.Gutter + out.Widths[0] + 1)
	out.Skip()
	for _, text := range texts[1:] {
		out.Next(style, text)
	}
}
