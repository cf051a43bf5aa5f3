package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/debugger"
	"indirtui/indirector/engine"
	"indirtui/indirector/settings"
	"indirtui/traces/spell"
	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// problems shows what is wrong with the configuration, after a look at the disk.
func problems(c *Console, _ call) (tea.Cmd, error) {
	files := c.o.Files
	return screen.Later(func() tea.Msg {
		if files != nil {
			files.Recheck()
		}
		return screen.For{Screen: c, Msg: rechecked{}}
	}), nil
}

// rechecked comes when the files on disk were compared with what was read of them.
type rechecked struct{}

func (c *Console) listProblems() tea.Cmd {
	all := c.env.ListProblems()
	if len(all) == 0 {
		return c.reply("nothing is wrong with the configuration")
	}
	for _, text := range all {
		c.add(entry{style: term.Attention, text: text})
	}
	if c.o.Output != nil {
		return nil
	}
	page := widget.Page{Title: term.Plural(len(all), "problem") + " of the configuration"}
	for i, text := range all {
		page.Add(strconv.Itoa(i+1), text, term.Attention)
	}
	return screen.Send(screen.Push{Screen: widget.NewPager(&c.env.Shared, page)})
}

// reload reads puppet.conf and routes.yaml again.
func reload(c *Console, _ call) (tea.Cmd, error) {
	return c.change(command.NewReload(c.o.Files)), nil
}

func reloadEffect(*Console, call) string {
	return "as Puppet would read them if it started now; requests on their way are not changed; z undoes it"
}

// showSettings shows one setting with all its candidates, or all settings.
func showSettings(c *Console, l call) (tea.Cmd, error) {
	if len(l.words) == 0 {
		return screen.Send(screen.Push{Screen: newSettingsList(c)}), nil
	}
	return c.showSetting(l.words[0])
}

func (c *Console) showSetting(name string) (tea.Cmd, error) {
	if own := c.o.Own["settings"]; own != nil {
		return own(command.Quote(name))
	}
	s, ok := c.o.Settings.Setting(name)
	if !ok {
		return nil, c.noSetting(name)
	}
	p := widget.Page{Title: "settings > " + s.Name}
	c.pageOf(&p, s)
	return screen.Send(screen.Push{Screen: widget.NewPager(&c.env.Shared, p)}), nil
}

func (c *Console) noSetting(name string) error {
	var names []string
	for _, s := range c.o.Settings.All() {
		names = append(names, s.Name)
	}
	e := &command.UsageError{What: fmt.Sprintf("no setting is called %q", name), Advice: "settings lists them"}
	if near := spell.Nearest(name, names); near != "" {
		e.Advice = "nearest: " + near
	}
	return e
}

func (c *Console) pageOf(p *widget.Page, s settings.Setting) {
	p.Add("value", c.shown(s.Name, s.Value), term.Bold)
	style := term.Plain
	if s.Source == engine.SetHere {
		style = term.Touched
	}
	p.Add("by", s.Source, style)
	if s.Raw != s.Value && s.Raw != "" {
		p.Add("as written", c.shown(s.Name, s.Raw), term.Plain)
	}
	if s.Err != nil {
		p.Add("wrong", s.Err.Error(), term.Attention)
	}
	for i, o := range s.Overruled {
		label := ""
		if i == 0 {
			label = "overruled"
		}
		text := c.shown(s.Name, o.Value) + "   " + o.Source
		if o.Why != "" {
			text += "  NOT APPLIED (" + o.Why + ")"
		}
		p.Add(label, text, term.Quiet)
	}
	if s.Doc != "" {
		p.Add("", "", term.Plain)
		p.Add("", s.Doc, term.Plain)
	}
}

// shown is a value, redacted if its name is that of a secret. Rule: UI design,
// section 12.
func (c *Console) shown(name, value string) string {
	if value == "" {
		return value
	}
	if c.o.Configured != nil {
		return c.o.Configured.RedactSetting(name, value)
	}
	for _, secret := range []string{"password", "passwd", "secret", "token"} {
		if strings.Contains(name, secret) {
			return fmt.Sprintf("(masked, %d B)", len(value))
		}
	}
	return value
}

// Secret reports whether a line holds a secret. Such a line is not kept.
func (c *Console) Secret(line string) bool {
	line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), ":"))
	return c.WithoutSecrets(line) != line
}

// WithoutSecrets redacts the secrets that a line sets.
func (c *Console) WithoutSecrets(line string) string {
	rest, is := strings.CutPrefix(line, "set ")
	words, err := command.Split(rest)
	if !is || err != nil {
		return line
	}
	secret := false
	for i, w := range words {
		name, value, given := strings.Cut(w, "=")
		if shown := c.shown(name, value); given && shown != value {
			words[i], secret = name+"="+shown, true
		}
		words[i] = command.Quote(words[i])
	}
	if !secret {
		return line
	}
	return "set " + strings.Join(words, " ")
}

// set changes settings, or a held request: that is meant by #N, and by names
// that no setting has. What steps read of an environment is the request's.
func set(c *Console, l call) (tea.Cmd, error) {
	if len(l.words) == 0 {
		return c.whatIsSet()
	}
	held := hasDebugger(c) && len(c.env.Debugger.Held()) > 0
	edits := 0
	if strings.HasPrefix(l.words[0], "$") {
		edits++
	}
	for _, w := range l.words {
		name, _, _ := strings.Cut(w, "=")
		isSetting := false
		if c.o.Settings != nil {
			_, isSetting = c.o.Settings.Setting(name)
		}
		_, err := debugger.ParseEdit(w)
		if strings.HasPrefix(w, "#") || err == nil && (!isSetting || held && name == "environment") {
			edits++
		}
	}
	switch {
	case edits > 0 && hasDebugger(c):
		return edit(c, l)
	case c.o.Configured == nil:
		return nil, errRecording
	case len(l.words) == 1 && !strings.Contains(l.words[0], "="):
		return c.showSetting(l.words[0])
	}
	change, err := command.Set(c.o.Configured, l.words)
	if err != nil {
		return nil, err
	}
	return c.change(change), nil
}

func unset(c *Console, l call) (tea.Cmd, error) {
	change, err := command.Unset(c.o.Configured, l.words)
	if err != nil {
		return nil, err
	}
	return c.change(change), nil
}

// whatIsSet prints what was set here.
func (c *Console) whatIsSet() (tea.Cmd, error) {
	if c.o.Configured == nil {
		return nil, errRecording
	}
	all := c.o.Configured.Overridden()
	if len(all) == 0 && c.o.Plain {
		return c.reply("nothing is set here"), nil
	}
	if len(all) == 0 {
		return c.reply("nothing is set here; set NAME=VALUE does it, above puppet.conf"), nil
	}
	for _, o := range all {
		c.add(entry{style: term.Touched, text: "set " + command.Quote(o.Name+"="+c.shown(o.Name, o.Value))})
	}
	return c.toast(screen.Toast{Text: term.Plural(len(all), "setting") + " set here; ~ lists them"}), nil
}

// A change of the configuration can be taken back. All of it reads files.
type change interface {
	Text() string // its text form
	Do() ([]string, error)
	Undo() error
}

// changed is what became of a change of settings.
type changed struct {
	change  change
	printed []string
	err     error
}

// change changes settings. It reads files, so it is done aside.
func (c *Console) change(change change) tea.Cmd {
	return screen.Later(func() tea.Msg {
		printed, err := change.Do()
		return screen.For{Screen: c, Msg: changed{change, printed, err}}
	})
}

func (c *Console) haveChanged(m changed) tea.Cmd {
	if m.err != nil {
		return c.refuse(m.err, c.again(strings.TrimPrefix(m.change.Text(), ":"))(m.err.Error()))
	}
	if c.o.Plain {
		c.add(entry{style: term.Plain, text: "did " + m.change.Text()})
	}
	for _, text := range m.printed {
		c.add(entry{style: term.Plain, text: text})
	}
	again := func(do func() error) func() tea.Cmd {
		return func() tea.Cmd {
			return screen.Later(func() tea.Msg {
				if err := do(); err != nil {
					return screen.Toast{Text: err.Error(), Bad: true}
				}
				return nil
			})
		}
	}
	return c.done(m.change.Text(), again(m.change.Undo), again(func() error {
		_, err := m.change.Do()
		return err
	}))
}

func setEffect(c *Console, l call) string {
	if c.o.Configured == nil {
		return "changes a held request"
	}
	if len(l.words) > 0 && len(l.words[0]) > 0 {
		name, _, _ := strings.Cut(l.words[len(l.words)-1], "=")
		if s, ok := c.o.Settings.Setting(name); ok {
			return fmt.Sprintf("now %s, by %s; z undoes it", orNothing(c.shown(s.Name, s.Value)), s.Source)
		}
	}
	return "as if Puppet had been started with it; what changes is said, and z undoes it"
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

// nextSet goes on with names of settings, and with the values of those that
// have a few; while a request is held also with what can be edited of it.
func nextSet(c *Console, l call) []option {
	var out []option
	if hasDebugger(c) && len(c.env.Debugger.Held()) > 0 {
		out = nextEdit(c, l)
	}
	if c.o.Configured == nil {
		return out
	}
	typed, _ := l.last()
	name, value, valued := strings.Cut(typed, "=")
	if valued {
		s, _ := c.o.Settings.Setting(name)
		values := s.Values
		switch s.Type {
		case "boolean":
			values = []string{"true", "false"}
		case "alias":
			values = nil
		}
		for _, v := range values {
			if strings.HasPrefix(v, value) {
				out = append(out, option{word: name + "=" + v, kind: "value"})
			}
		}
		return out
	}
	for _, s := range c.o.Settings.All() {
		if s.Known && strings.HasPrefix(s.Name, typed) {
			out = append(out, option{word: s.Name + "=", kind: "setting", note: c.shown(s.Name, s.Value), open: true})
		}
	}
	return out
}

func nextUnset(c *Console, l call) []option {
	typed, _ := l.last()
	names := []string{}
	for _, o := range c.o.Configured.Overridden() {
		names = append(names, o.Name)
	}
	return plain("set here", typed, append(names, "all")...)
}

// A settingsList lists all settings, those that are set first.
type settingsList struct {
	c      *Console
	list   widget.Table
	width  int
	rows   []settingsRow
	search widget.Search
}

// A settingsRow is a setting, or a heading without one.
type settingsRow struct {
	heading string
	setting settings.Setting
}

func newSettingsList(c *Console) *settingsList {
	l := &settingsList{c: c}
	l.search = widget.Search{Hint: "a part of a name, a value or a place", None: "no setting has that", Find: l.find}
	l.read()
	l.list.To(1)
	return l
}

var _ screen.Screen = (*settingsList)(nil)

// List returns the rows.
func (l *settingsList) List() screen.List { return &l.list }

// read lists the settings as they are now.
func (l *settingsList) read() {
	l.rows = l.rows[:0]
	all := l.c.o.Settings.All()
	for _, group := range []struct {
		name string
		is   func(place string) bool
	}{
		{"set here", func(p string) bool { return p == engine.SetHere }},
		{"set somewhere", func(p string) bool { return p != "default" && p != engine.SetHere }},
		{"by default", func(p string) bool { return p == "default" }},
	} {
		first := true
		for _, s := range all {
			if !group.is(s.Source) {
				continue
			}
			if first {
				l.rows = append(l.rows, settingsRow{heading: group.name})
				first = false
			}
			l.rows = append(l.rows, settingsRow{setting: s})
		}
	}
	l.list.SetLen(len(l.rows))
}

// focus is the setting that the cursor is on, or nil.
func (l *settingsList) focus() *settings.Setting {
	if at := l.list.Cursor; at < len(l.rows) && l.rows[at].heading == "" {
		return &l.rows[at].setting
	}
	return nil
}

func (l *settingsList) Scope() screen.Scope { return screen.InSettings | screen.InConsole }

func (l *settingsList) Resize(width, height int) {
	l.width = width
	l.list.SetHeight(height)
	if l.list.Cursor == 1 {
		l.list.Offset = 0 // its heading is above it
	}
}

func (l *settingsList) Update(tea.Msg) tea.Cmd { return nil }

func (l *settingsList) Context() (left, right term.Line) {
	left.Put(term.Bold, "Settings")
	if l.c.o.Configured != nil {
		if n := len(l.c.o.Configured.Overridden()); n > 0 {
			right.Put(term.Touched, fmt.Sprintf("%d set here ", n))
		}
	}
	return left, right
}

func (l *settingsList) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.EditHeld, screen.Reset, screen.Search, screen.CopyMenu, screen.Back}
}

func (l *settingsList) Disabled(do screen.Action) string {
	f := l.focus()
	switch {
	case widget.Moves(do), do == screen.Search:
		return ""
	}
	switch do {
	case screen.SearchNext, screen.SearchPrev:
		return l.search.Disabled(do)
	case screen.Enter, screen.CopyMenu:
		return screen.ReasonIf(f == nil, "this is a heading")
	case screen.EditHeld:
		return screen.ReasonIf(f == nil || l.c.o.Configured == nil || !f.Known, "nothing that Puppet knows can be set here")
	case screen.Reset:
		return screen.ReasonIf(f == nil || f.Source != engine.SetHere, "that is not set here")
	}
	return screen.Unknown
}

func (l *settingsList) Handle(a screen.Command) tea.Cmd {
	f := l.focus()
	switch a.Action {
	case screen.Enter:
		do, err := l.c.showSetting(f.Name)
		if err != nil {
			return screen.Warn(err.Error(), "")
		}
		return do
	case screen.EditHeld:
		text := "set " + f.Name + "="
		if shown := l.c.shown(f.Name, f.Value); shown == f.Value {
			text = "set " + command.Quote(f.Name+"="+f.Value)
		}
		return screen.Send(screen.Ask{Text: text})
	case screen.Reset:
		return screen.Send(screen.Run{Text: "unset " + f.Name})
	case screen.CopyMenu:
		return screen.Send(screen.Copy{What: "setting", Text: f.Name + "=" + l.c.shown(f.Name, f.Value)})
	}
	return l.search.Handle(&l.c.env.Shared, a)
}

// find goes to the nearest setting that has what is searched.
func (l *settingsList) find(step int) bool {
	at := widget.Around(len(l.rows), l.list.Cursor, step, func(i int) bool {
		s := l.rows[i].setting
		return l.rows[i].heading == "" && strings.Contains(s.Name+" "+l.c.shown(s.Name, s.Value)+" "+s.Source, l.search.Text())
	})
	if at >= 0 {
		l.list.To(at)
	}
	return at >= 0
}

func (l *settingsList) View() term.Lines {
	name := ""
	if f := l.focus(); f != nil {
		name = f.Name
	}
	l.read() // what is set may have changed
	if at := slices.IndexFunc(l.rows, func(r settingsRow) bool { return name != "" && r.setting.Name == name }); at >= 0 {
		l.list.To(at)
	}
	names := min(28, l.width/3)
	return l.list.Lines(l.c.env.Theme, l.width, func(i int, line *widget.Row) {
		r := l.rows[i]
		line.To(1)
		if r.heading != "" {
			line.Put(term.Bold, r.heading)
			return
		}
		style := term.Plain
		switch {
		case r.setting.Source == engine.SetHere:
			style = term.Touched
		case r.setting.Err != nil:
			style = term.Attention
		}
		line.Space(2)
		line.Cell(style, term.Clean(r.setting.Name), names)
		line.Space(2)
		line.Put(style, l.c.shown(r.setting.Name, r.setting.Value))
		if r.setting.Source != "default" {
			line.Space(3)
			line.Put(term.Quiet, r.setting.Source)
		}
	})
}

// showStores lists what became of what stores were sent, or lets those get commands again
// that were left out.
func showStores(c *Console, l call) (tea.Cmd, error) {
	switch {
	case len(l.words) == 0:
		page := widget.Page{Title: "stores"}
		for _, s := range c.o.Stores() {
			label := s.Name
			for _, text := range s.Lines(c.env.Zone) {
				text = c.env.Redacted(text)
				c.Print(text)
				page.Add(label, strings.TrimPrefix(text, s.Name+": "), term.Plain)
				label = ""
			}
		}
		if c.o.Output != nil {
			return nil, nil
		}
		return screen.Send(screen.Push{Screen: widget.NewPager(&c.env.Shared, page)}), nil
	case len(l.words) > 1 || l.words[0] != "retry":
		return nil, c.NotUnderstood(l.name)
	}
	back := c.o.Retry()
	if len(back) == 0 {
		return c.reply("no submit-only URL was dropped"), nil
	}
	return c.reply("commands go again to " + strings.Join(back, ", ")), nil
}
