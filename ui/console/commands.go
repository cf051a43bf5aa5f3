package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/engine"
	"indirtui/traces/spell"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/ui/command"
	"indirtui/ui/help"
	"indirtui/ui/routes"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

func (c *Console) Names() []screen.Completion {
	var out []screen.Completion
	for _, m := range c.offered() {
		out = append(out, m.completion(""))
	}
	return out
}

var errRecording = errors.New("this is a recording: nothing can be asked or changed here")

// ask runs find, search and head.
func ask(c *Console, l call) (tea.Cmd, error) {
	req, err := c.request(l.name, l.words)
	if err != nil {
		return nil, err
	}
	if req.Verb == indirector.Search && c.o.Output == nil {
		return c.listing(req, strings.TrimSpace(l.name+" "+l.rest)), nil
	}
	return c.send(req, nil), nil
}

// request reads a request, and refuses what is not allowed.
func (c *Console) request(verb string, words []string) (*indirector.Request, error) {
	if c.o.Engine == nil {
		return nil, errRecording
	}
	req, err := command.Request(verb, words)
	if err != nil {
		return nil, err
	}
	if (req.Verb == indirector.Save || req.Verb == indirector.Destroy) && !c.o.Engine.Writes() {
		return nil, engine.ErrReadOnly
	}
	return req, nil
}

// maxInstance is the largest file that is saved as an instance.
const maxInstance = 64 << 20

func save(c *Console, l call) (tea.Cmd, error) {
	if c.isRecording(l.rest) {
		return c.saveRecording(l.rest, "")
	}
	all, err := command.Split(l.rest)
	if err != nil {
		return nil, err
	}
	words, file, format := takeFile(all)
	req, err := c.request(l.name, words)
	switch {
	case err != nil:
		return nil, err
	case file == "":
		return nil, &command.UsageError{What: "save what?", Advice: "give a file: save facts web01 @facts.yaml"}
	}
	return c.send(req, func(req *indirector.Request) error {
		b, err := readFile(file)
		if err != nil {
			return err
		}
		req.Instance, err = command.Instance(req.Indirection, file, format, b)
		if err == nil && req.Key == "" {
			req.Key = req.Instance.Key()
		}
		return err
	}), nil
}

// takeFile takes @FILE and the format behind it out of the words. The path may
// also be a word of its own: @file facts.json.
func takeFile(words []string) (rest []string, file, format string) {
	rest = slices.Clone(words)
	at := slices.IndexFunc(rest, func(w string) bool { return len(w) > 1 && w[0] == '@' })
	if at < 0 {
		return rest, "", ""
	}
	isFormat := func(i int) bool { return i < len(rest) && command.CheckFormat(rest[i]) == nil }
	isWord := func(i int) bool { return i < len(rest) && !strings.Contains(rest[i], "=") }
	file = rest[at][1:]
	end := at + 1
	if file == "file" && isWord(end) && !isFormat(end) {
		file = rest[end]
		end++
	}
	if isFormat(end) {
		format = rest[end]
		end++
	}
	return slices.Delete(rest, at, end), file, format
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the instance: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read the instance: %w", &fs.PathError{Op: "open", Path: path, Err: errors.New("not a file")})
	case info.Size() > maxInstance:
		return nil, fmt.Errorf("read the instance: %s has %s, more than %s", path, term.Bytes(info.Size()), term.Bytes(maxInstance))
	}
	return os.ReadFile(path)
}

// destroy asks for the key again: no line alone destroys.
func destroy(c *Console, l call) (tea.Cmd, error) {
	words, again, typed := takeConfirm(l.words)
	req, err := c.request(l.name, words)
	switch {
	case err != nil:
		return nil, err
	case typed && again != req.Key:
		return nil, errors.New("refused: confirm= names another key; nothing was destroyed")
	case typed, c.o.Plain:
		return c.send(req, nil), nil
	}
	target := c.target(req)
	c.add(entry{style: term.Touched, text: fmt.Sprintf("type the key again to destroy 1 entry (%s)", target)})
	return screen.Send(screen.Push{Screen: widget.NewPrompt(&c.env.Shared, widget.Prompt{
		Label: "type the key again to destroy 1 entry (" + target + "): ",
		Hint:  "what is destroyed cannot be undone; esc leaves it",
		Enter: func(text string) (*widget.Problem, tea.Cmd) {
			if strings.TrimSpace(text) != req.Key {
				c.add(entry{style: term.Attention, text: "refused: that is another key; nothing was destroyed"})
				return &widget.Problem{Offset: -1, Text: "refused: the key is another one; nothing was destroyed"}, nil
			}
			return nil, screen.Send(screen.For{Screen: c, Msg: confirmed{req}})
		},
		Cancel: func() tea.Cmd { return c.reply("nothing was destroyed") },
	})}), nil
}

// takeConfirm takes confirm=KEY out of the words, by which a script types the key
// again.
func takeConfirm(words []string) (rest []string, key string, given bool) {
	return takeWord(words, "confirm=")
}

// takeWord takes the first word with a prefix out of the others.
func takeWord(words []string, prefix string) (rest []string, value string, given bool) {
	for i, w := range words {
		if value, given = strings.CutPrefix(w, prefix); given {
			return slices.Delete(slices.Clone(words), i, i+1), value, true
		}
	}
	return words, "", false
}

// target names the termini that would be asked: "terminus yaml, cache json of
// facts".
func (c *Console) target(req *indirector.Request) string {
	r, _ := c.o.Engine.Explain(req.Indirection)
	terminus, cache := r.Primary.Winner().Terminus, r.Cache.Winner().Terminus
	if req.Terminus != "" {
		terminus = req.Terminus
	}
	if req.Cache != "" {
		cache = req.Cache
	}
	text := "terminus " + terminus
	if terminus == "" {
		text = "no terminus"
	}
	if cache != "" && cache != indirector.Off {
		text += ", cache " + cache
	}
	return text + " of " + req.Indirection
}

// askEffect describes what a request would do, as far as it is written.
func askEffect(c *Console, l call) string {
	if c.o.Engine == nil {
		return errRecording.Error()
	}
	verb := traces.ParseVerb(l.name)
	writes := verb == indirector.Save || verb == indirector.Destroy
	if writes && !c.o.Engine.Writes() {
		return engine.ErrReadOnly.Error()
	}
	req := &indirector.Request{Verb: verb}
	if len(l.words) > 0 && c.o.Engine.Registry().Spec(l.words[0]) != nil {
		if r, err := command.Request(l.name, l.words); err == nil {
			req = r
		} else {
			req.Indirection = l.words[0]
		}
	}
	text := "asks the route of IND"
	if req.Indirection != "" {
		text = "asks " + c.target(req)
	}
	if verb == indirector.Search && req.Indirection != "" {
		text += "; a search is never cached"
	}
	r, _ := c.o.Engine.Explain(req.Indirection)
	cached := r.Cache.Winner().Terminus
	if verb == indirector.Find && !c.o.Engine.Writes() && req.Cache == "" && cached != "" && cached != indirector.Off {
		text += "; writes no cache (read-only)"
	}
	return text + `; marked as sent`
}

func route(c *Console, l call) (tea.Cmd, error) {
	h := c.o.Engine
	switch {
	case len(l.words) == 0:
		return screen.Send(screen.Go{Place: "Routes"}), nil
	}
	if words, whom := cutWhom(l.words); whom != "" {
		return c.routeElsewhere(words, whom)
	}
	switch {
	case h == nil:
		return nil, errRecording
	case l.words[0] == "export":
		return c.export()
	case l.words[0] == "reset":
		return c.reset(l.words[1:])
	}
	ind := l.words[0]
	if err := c.known(ind); err != nil {
		return nil, err
	}
	swaps, dry, err := readSwaps(l.words[1:])
	switch {
	case err != nil:
		return nil, err
	case len(swaps) == 0:
		text := ind + ": " + c.target(&indirector.Request{Indirection: ind})
		if r, _ := h.Explain(ind); r.TTL.Winner().Terminus != "" {
			text += ", ttl " + r.TTL.Winner().Terminus + " s"
		}
		return c.reply(text), nil
	}
	for _, s := range swaps {
		switch {
		case s[0] == indirector.SlotTTL:
			if _, err := indirector.ParseTTL(s[1]); err != nil {
				return nil, &command.UsageError{What: indirector.Message(err), Advice: "write ttl=60 for a minute"}
			}
			continue
		case s[0] == indirector.SlotCache && s[1] == indirector.Off:
			continue
		}
		if err := h.Registry().CheckTerminus(ind, s[1]); err != nil {
			var hint string
			if !strings.Contains(s[1], "(") {
				hint = advice(h.Registry().NearestTerminus(ind, s[1]), h.Registry().Termini(ind))
			}
			return nil, &command.UsageError{What: err.Error(), Advice: hint}
		}
	}
	if dry {
		return c.dry(ind, swaps), nil
	}
	return c.swap(ind, swaps)
}

// known returns an error if there is no such indirection.
func (c *Console) known(indirection string) error {
	reg := c.o.Engine.Registry()
	if reg.Spec(indirection) != nil {
		return nil
	}
	return &command.UsageError{What: fmt.Sprintf("no indirection is called %q", indirection), Advice: advice(reg.Nearest(indirection), reg.Names())}
}

// advice names what is nearest, or all that there is.
func advice(near string, all []string) string {
	if near != "" {
		return "nearest: " + near
	}
	return "there are: " + strings.Join(all, ", ")
}

// readSwaps reads terminus=T, cache=C, ttl=SECONDS and dry.
func readSwaps(words []string) (swaps [][2]string, dry bool, err error) {
	for _, w := range words {
		name, value, given := strings.Cut(w, "=")
		switch {
		case w == "dry":
			dry = true
		case given && value != "" && (name == indirector.SlotTerminus || name == indirector.SlotTTL):
			swaps = append(swaps, [2]string{name, value})
		case given && value != "" && name == indirector.SlotCache:
			if value == "none" || value == "false" {
				value = indirector.Off
			}
			swaps = append(swaps, [2]string{name, value})
		default:
			return nil, false, &command.UsageError{What: fmt.Sprintf("%q is not understood", w), Advice: "write terminus=T, cache=C, cache=off, ttl=SECONDS, or dry"}
		}
	}
	return swaps, dry, nil
}

func (c *Console) swap(ind string, swaps [][2]string) (tea.Cmd, error) {
	var cmds []tea.Cmd
	for _, s := range swaps {
		do, err := routes.Swap(c.o.Engine, ind, s[0], s[1], "command line")
		if err != nil {
			return tea.Batch(cmds...), err
		}
		c.add(entry{style: term.Plain, text: "did " + routes.Line(ind, s[0], s[1])})
		log, engine := c.env.Log, c.o.Engine
		cmds = append(cmds, do, func() tea.Msg {
			if lacks := routes.Lacking(log, engine, ind, s[0], s[1]); lacks != "" {
				return screen.For{Screen: c, Msg: warned("warning: " + lacks)}
			}
			return nil
		})
	}
	return tea.Batch(cmds...), nil
}

// dry prints what a swap would mean, and changes nothing.
func (c *Console) dry(ind string, swaps [][2]string) tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range swaps {
		w := routes.NewWhatIf(c.env.Log, c.o.Engine, ind, s[0], s[1])
		cmds = append(cmds, screen.Later(func() tea.Msg {
			for !w.Step(c.ctx) {
			}
			return screen.For{Screen: c, Msg: printed("what-if: " + w.String() + "   " + routes.Line(ind, s[0], s[1]) + " applies it")}
		}))
	}
	return tea.Batch(cmds...)
}

func (c *Console) reset(words []string) (tea.Cmd, error) {
	h := c.o.Engine
	names := h.Overrides()
	if len(words) > 0 {
		if err := c.known(words[0]); err != nil {
			return nil, err
		}
		names = words[:1]
	}
	if len(names) == 0 {
		return c.reply("every route is as configured"), nil
	}
	var cmds []tea.Cmd
	for _, name := range names {
		cmds = append(cmds, routes.Reset(h, name))
		c.add(entry{style: term.Plain, text: "did :route reset " + name})
	}
	return tea.Batch(cmds...), nil
}

func (c *Console) export() (tea.Cmd, error) {
	text := routes.Section(c.o.Engine, c.o.Application)
	c.add(entry{style: term.Plain, text: strings.TrimRight(text, "\n")})
	return screen.Send(screen.Copy{What: "as routes.yaml section " + c.o.Application, Text: text}), nil
}

func routeEffect(c *Console, l call) string {
	switch {
	case c.o.Engine == nil:
		return errRecording.Error()
	case slices.ContainsFunc(l.words, func(w string) bool { return strings.HasPrefix(w, "for=") }):
		return "changes who answers in the processes that are attached, until this program ends; z undoes it"
	case slices.Contains(l.words, "dry"):
		return "looks at the recorded requests; nothing is executed, nothing changes"
	case len(l.words) > 0 && l.words[0] == "reset":
		return "takes back what you changed; z undoes it"
	case len(l.words) > 0 && l.words[0] == "export":
		return "copies the table in force as a section of routes.yaml"
	case len(l.words) > 0 && c.o.Engine.Registry().Spec(l.words[0]) != nil:
		return "now " + c.target(&indirector.Request{Indirection: l.words[0]}) + "; requests on their way are not changed; z undoes it"
	}
	return "changes the route for requests to come; z undoes it"
}

func filter(_ *Console, l call) (tea.Cmd, error) {
	return screen.Send(screen.Filter{Text: l.rest}), nil
}

func group(c *Console, l call) (tea.Cmd, error) {
	by := strings.Join(l.words, " ")
	if !slices.Contains(groupings, by) {
		return nil, &command.UsageError{What: fmt.Sprintf("group by %q?", by), Advice: "there are: " + strings.Join(groupings, ", ")}
	}
	if by == "none" {
		by = ""
	}
	return c.o.Group(by), nil
}

func sortBy(c *Console, l call) (tea.Cmd, error) {
	if len(l.words) == 0 || !slices.Contains(columns, l.words[0]) || len(l.words) > 1 && l.words[1] != "desc" && l.words[1] != "asc" {
		return nil, &command.UsageError{What: "sort by what?", Advice: "there are: " + strings.Join(columns, ", ") + "; desc may stand behind it"}
	}
	return c.o.Sort(l.words[0], len(l.words) > 1 && l.words[1] == "desc"), nil
}

func show(c *Console, l call) (tea.Cmd, error) {
	if len(l.words) == 1 {
		if id, ok := number(l.words[0]); ok {
			_, err := c.row(id)
			return screen.Send(screen.Open{Request: id}), err
		}
		for _, p := range c.o.Places {
			if strings.EqualFold(p, l.words[0]) {
				return screen.Send(screen.Go{Place: p}), nil
			}
		}
	}
	return nil, &command.UsageError{What: fmt.Sprintf("show %s: there is no such place", l.rest), Advice: "there are: " + strings.Join(c.o.Places, ", ") + ", and #N for a request"}
}

// number reads the number of a request, with or without a #.
func number(s string) (uint64, bool) {
	id, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 10, 64)
	return id, err == nil && id > 0
}

// requestNumber reads the number of a request.
func requestNumber(s string) (uint64, error) {
	id, ok := number(s)
	if !ok {
		return 0, &command.UsageError{What: fmt.Sprintf("%q is no number of a request", s), Advice: "write #1042"}
	}
	return id, nil
}

// row is a request that there must be.
func (c *Console) row(id uint64) (row session.Row, err error) {
	row, ok := c.env.Log.Row(id)
	if !ok {
		err = fmt.Errorf("there is no request #%d", id)
	}
	return row, err
}

// switches reports whether on or off is all that is written.
func (l call) switches() bool {
	return len(l.words) == 1 && (l.words[0] == "on" || l.words[0] == "off")
}

// subject reads the request that mark and note are about: #N, or the one that
// was answered here last, or that the cursor is on.
func (c *Console) subject(words []string) (id uint64, rest []string, err error) {
	if id = c.newest; id == 0 && c.env.Selection != nil {
		_, id = c.env.Selection()
	}
	if len(words) > 0 && (strings.HasPrefix(words[0], "#") || c.o.Plain && len(words) > 1) {
		if id, err = requestNumber(words[0]); err != nil {
			return 0, nil, err
		}
		words = words[1:]
	}
	if id == 0 {
		return 0, nil, &command.UsageError{What: "which request?", Advice: "write its number first: #1042"}
	}
	_, err = c.row(id)
	return id, words, err
}

func mark(c *Console, l call) (tea.Cmd, error) {
	id, words, err := c.subject(l.words)
	if err != nil {
		return nil, err
	}
	if len(words) != 1 || len(words[0]) != 1 || words[0][0] < 'a' || words[0][0] > 'z' {
		return nil, &command.UsageError{What: "a mark is a letter from a to z", Advice: "mark #1042 a"}
	}
	row, _ := c.env.Log.Row(id)
	log, old, letter := c.env.Log, row.Mark, words[0][0]
	set := func(to byte) tea.Cmd {
		return func() tea.Msg {
			if err := log.SetMark(id, to); err != nil {
				return screen.Toast{Text: "mark: " + err.Error(), Bad: true}
			}
			return nil
		}
	}
	text := fmt.Sprintf(":mark #%d %c", id, letter)
	return tea.Batch(set(letter), c.done(text, func() tea.Cmd { return set(old) }, func() tea.Cmd { return set(letter) })), nil
}

func note(c *Console, l call) (tea.Cmd, error) {
	id, words, err := c.subject(l.words)
	if err != nil {
		return nil, err
	}
	text := strings.Join(words, " ")
	if text == "" && c.env.After != nil { // there is a screen
		return c.writeNote(id), nil
	}
	if text == "" {
		return nil, &command.UsageError{What: "note what?", Advice: "note #1042 the disk was full"}
	}
	return c.setNote(id, text), nil
}

func (c *Console) setNote(id uint64, text string) tea.Cmd {
	set := c.o.Note
	return func() tea.Msg {
		if err := set(id, text); err != nil {
			return screen.Toast{Text: "note: " + err.Error(), Bad: true}
		}
		return screen.Done{Command: fmt.Sprintf(":note #%d %s", id, text)}
	}
}

// writeNote asks for a note that may have several lines.
func (c *Console) writeNote(id uint64) tea.Cmd {
	return screen.Show(widget.NewText(&c.env.Shared, widget.Text{
		Label: fmt.Sprintf("note about #%d", id),
		Enter: func(text string) (*widget.Problem, tea.Cmd) {
			if strings.TrimSpace(text) == "" {
				return &widget.Problem{Offset: -1, Text: "there is no text"}, nil
			}
			return nil, c.setNote(id, text)
		},
	}, ""))
}

// values has watched processes render values, or not.
func values(c *Console, l call) (tea.Cmd, error) {
	if !l.switches() {
		return nil, &command.UsageError{What: "values on or values off?"}
	}
	if err := c.o.Values(l.words[0] == "on"); err != nil {
		return nil, err
	}
	return screen.Send(screen.Done{Command: ":values " + l.words[0]}), nil
}

func write(c *Console, l call) (tea.Cmd, error) {
	if !l.switches() {
		return nil, &command.UsageError{What: "write on or write off?"}
	}
	on, was := l.words[0] == "on", c.o.Engine.Writes()
	set := func(on bool) tea.Cmd {
		c.o.Engine.SetWrite(on)
		return c.env.Set(func(s *session.State) { s.Writable = on }, nil)
	}
	cmd := set(on)
	if on {
		c.add(entry{style: term.Touched, text: "save, destroy and expire are allowed from now on, towards what is real"})
	} else {
		c.add(entry{style: term.Plain, text: "read-only from now on"})
	}
	return tea.Batch(cmd, c.done(":write "+l.words[0], func() tea.Cmd { return set(was) }, func() tea.Cmd { return set(on) })), nil
}

func open(c *Console, l call) (tea.Cmd, error) {
	if len(l.words) == 0 && hasLog(c) {
		return listRecordings(c, l)
	}
	if len(l.words) != 1 {
		return nil, &command.UsageError{What: "open which file?", Advice: "usage: open FILE"}
	}
	return c.o.Open(l.words[0]), nil
}

// story prints the stories of runs, which may have to be read from disk.
func story(c *Console, l call) (tea.Cmd, error) {
	read, selector := c.o.Story, l.rest
	return func() tea.Msg {
		sentences, err := read(selector)
		if err != nil {
			return screen.Toast{Text: err.Error(), Bad: true}
		}
		return screen.For{Screen: c, Msg: runsRead(sentences)}
	}, nil
}

// runsRead are sentences about runs.
type runsRead []string

func demo(c *Console, l call) (tea.Cmd, error) { return c.o.Demo(l.rest) }

func showHelp(c *Console, l call) (tea.Cmd, error) {
	topic := strings.Join(l.words, " ")
	if topic == "" {
		return screen.Send(screen.Do{Handle: screen.Command{Action: screen.Help}}), nil
	}
	if topic == "commands" {
		return screen.Send(screen.Push{Screen: widget.NewPager(&c.env.Shared, c.commandPage())}), nil
	}
	page, ok := help.Page(c.env, topic)
	if !ok {
		if m := c.find(topic); m != nil {
			return c.reply("usage: " + m.usage(false) + "   " + m.help), nil
		}
		return nil, &command.UsageError{What: fmt.Sprintf("there is no help about %q", topic), Advice: advice(spell.Nearest(topic, help.Topics()), help.Topics())}
	}
	return screen.Send(screen.Push{Screen: widget.NewPager(&c.env.Shared, page)}), nil
}

// commandPage lists every command.
func (c *Console) commandPage() widget.Page {
	p := widget.Page{Title: "help > commands"}
	for _, m := range c.offered() {
		p.Add(m.name, m.help, term.Plain)
		if m.args != "" {
			p.Add("", m.usage(false), term.Quiet)
		}
	}
	return p
}
