package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mattn/go-isatty"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/command"
	"indirtui/ui/recordings"
	"indirtui/ui/term"
	"indirtui/ui/value"
)

// A plain is the program without a screen: one line for each request as it
// ends, and commands that are answered with lines. Nothing moves the cursor, so
// it can be read aloud, piped and scripted. Rule: UI design, section 13.
type plain struct {
	*program
	s      *workspace
	r      reading
	filter *query.Expr   // of the lines that come by themselves
	quiet  bool          // none do
	next   uint64        // the request to look at next
	open   []uint64      // those before it that had not ended
	played chan struct{} // closed when the demo has played
	prompt bool
}

// A plainCommand is one command: all that is said about it is said here.
type plainCommand struct {
	name, args, help string
	before           int // how many words stand before an expression; -1 is that there is none
	run              func(*plain, context.Context, []string) error
}

// answer runs the command with what stands behind its name.
func (c *plainCommand) answer(x *plain, ctx context.Context, rest string) error {
	cut := command.Split
	if c.before >= 0 {
		cut = func(s string) ([]string, error) { return command.SplitBefore(s, c.before) }
	}
	words, err := cut(rest)
	if err != nil {
		return err
	}
	return c.run(x, ctx, words)
}

// errQuit ends the program.
var errQuit = errors.New("quit")

func plainCommands() []plainCommand {
	ask := func(verb string) func(*plain, context.Context, []string) error {
		return func(x *plain, ctx context.Context, words []string) error { return x.ask(ctx, verb, words) }
	}
	return []plainCommand{
		{"show", "requests [EXPR] | steps N | value N | routes [IND] | failures | cache [IND] | log", "print a place as text", 1, (*plain).show},
		{"find", "IND KEY [NAME=VALUE ...]", "find one instance", -1, ask("find")},
		{"search", "IND [KEY] [NAME=VALUE ...]", "list the instances that match", -1, ask("search")},
		{"head", "IND KEY [NAME=VALUE ...]", "ask whether there is such an instance", -1, ask("head")},
		{"destroy", "IND KEY [NAME=VALUE ...]", "remove an instance; needs write on", -1, ask("destroy")},
		{"story", "[SELECTOR]", "tell what happened, every step of it", 0, (*plain).tellStory},
		{"check", "EXPECTATION", "hold the requests against what is expected, as in count(hidden) = 0", 0, (*plain).checks},
		{"export", "FORMAT FILE [SELECTOR] [bodies=all|small|failed|none]", "write requests for another program", 2, (*plain).exports},
		{"save", "FILE [SELECTOR] [bodies=all|small|failed|none]", "save a recording of requests", 1, (*plain).saves},
		{"filter", "[EXPR]", "from now on only these requests come by themselves", 0, (*plain).filters},
		{"quiet", "on | off", "whether requests come by themselves", -1, (*plain).quiets},
		{"mark", "N a..z", "mark a request", -1, (*plain).marks},
		{"note", "N TEXT", "note something about a request", -1, (*plain).notes},
		{"set", "NAME=VALUE ...   or NAME   or nothing: what is set", "set Puppet's settings while this runs, above puppet.conf", -1, (*plain).sets},
		{"unset", "NAME ... | all", "take back what set did", -1, (*plain).unsets},
		{"settings", "[NAME]", "Puppet's settings, and who decided each", -1, (*plain).settingsOf},
		{"write", "on | off", "allow destroying what is real, or forbid it", -1, (*plain).writes},
		{"wait", "", "until the demo has played and all is recorded", -1, (*plain).waits},
		{"help", "", "list the commands", -1, (*plain).helps},
		{"quit", "", "leave the program", -1, func(*plain, context.Context, []string) error { return errQuit }},
	}
}

// runPlain runs the program over a session without a screen.
func (p *program) runPlain(ctx context.Context, s *workspace) (err error) {
	limitMemory()
	x := &plain{program: p, s: s, next: 1, played: make(chan struct{})}
	if f, ok := p.In.(*os.File); ok {
		x.prompt = isatty.IsTerminal(f.Fd())
	}
	ctx, cancel := context.WithCancel(ctx)
	s.guard.Watch(cancel)
	var playErr error
	go func() {
		defer close(x.played)
		if s.site != nil {
			playErr = s.play(ctx)
		}
	}()
	defer func() {
		cancel()
		<-x.played
		path := s.log.Path()
		if s.empty() {
			path = ""
		}
		err = errors.Join(err, ignoreCanceled(playErr), s.close(), p.out.Flush())
		if s.engine == nil {
			path = "" // it was there before
		}
		end := s.guard.Exit()
		err = errors.Join(err, end.Say(p.Err, path))
		if code := end.Code(); code != exitOK && err == nil {
			err = exit(code)
		}
	}()
	hello := io.Writer(p.out)
	if s.listens {
		hello = p.Err // lines are of requests, as without --plain
	}
	fmt.Fprintln(hello, clean(s.hello))
	if s.engine == nil {
		if err := export.Loaded(s.log); err != nil {
			return err
		}
		for _, note := range s.log.Notes() {
			fmt.Fprintln(p.out, clean(note))
		}
		x.next = 1<<64 - 1 // nothing new comes
		fmt.Fprintf(p.out, "%s; show requests lists them\n", term.Plural(int(s.log.Stats().Total), "request"))
	}
	return x.loop(ctx)
}

// loop answers lines and tells of requests until there are no more lines.
func (x *plain) loop(ctx context.Context) error {
	lines := make(chan string)
	ended := make(chan struct{})
	defer close(ended)
	go readLines(x.In, lines, ended) // ends with its input, which may be later than the program
	fmt.Fprintln(x.out, "help lists the commands")
	for {
		if x.prompt {
			fmt.Fprint(x.out, "> ")
		}
		if err := x.out.Flush(); err != nil {
			return err
		}
		var err error
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			if !ok && x.s.listens {
				lines = nil // agents go on asking
				continue
			}
			if !ok {
				return x.news()
			}
			err = x.answer(ctx, line)
		case <-x.s.log.Changed():
			err = x.news()
		}
		if errors.Is(err, errQuit) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// maxPlainLine is the longest line that is read.
const maxPlainLine = 1 << 20

func readLines(r io.Reader, lines chan<- string, ended <-chan struct{}) {
	defer close(lines)
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 4096), maxPlainLine)
	for in.Scan() {
		select {
		case lines <- in.Text():
		case <-ended:
			return
		}
	}
}

// answer runs one line. What is wrong with it is said; only what ends the
// program is returned.
func (x *plain) answer(ctx context.Context, line string) error {
	line = strings.TrimPrefix(strings.TrimSpace(line), ":")
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	name, rest, _ := strings.Cut(line, " ")
	i := slices.IndexFunc(plainCommands(), func(c plainCommand) bool { return c.name == name })
	var err error
	if i < 0 {
		err = &command.UsageError{What: fmt.Sprintf("no command is called %q", name), Advice: "help lists them"}
	} else {
		err = plainCommands()[i].answer(x, ctx, rest)
	}
	var failed exit
	switch {
	case err == nil, errors.As(err, &failed):
		return nil
	case errors.Is(err, errQuit):
		return err
	}
	fmt.Fprintln(x.out, "error: "+clean(err.Error()))
	return nil
}

// news tells of the requests that have ended since it was called last.
func (x *plain) news() error {
	look := x.open
	x.open = nil
	rows := make([]store.Row, 256)
	for {
		n := x.s.log.Rows(x.next, rows)
		for i := range n {
			look = append(look, rows[i].ID)
		}
		if n == 0 {
			break
		}
		x.next = rows[n-1].ID + 1
	}
	for _, id := range look {
		row, ok := x.s.log.Row(id)
		switch {
		case !ok:
		case row.Outcome == traces.Run || row.Outcome == traces.HeldOutcome:
			x.open = append(x.open, id)
		case !x.quiet:
			if u, ok := x.s.log.Subject(id); ok && x.filter.Match(u) {
				x.line(&row)
			}
		}
	}
	return nil
}

// line tells of one request.
func (x *plain) line(row *store.Row) {
	why := row.Fault
	if t, err := x.s.log.Trace(row.ID); err == nil {
		why = traces.Story(t)
	}
	why, _, _ = strings.Cut(why, "\n")
	fmt.Fprintln(x.out, clean(fmt.Sprintf("#%d %s %s %s  %s  %s  %s", row.ID, row.Verb, row.Indirection, row.Key, row.Outcome, plainTook(row), why)))
}

func plainTook(row *store.Row) string {
	if row.Took < time.Millisecond {
		return "0 ms"
	}
	return fmt.Sprintf("%d ms", row.Took.Milliseconds())
}

// maxShown is how many requests are listed at once.
const maxShown = 100

func (x *plain) show(ctx context.Context, words []string) error {
	if len(words) == 0 {
		return x.usage("show")
	}
	place, rest := words[0], words[1:]
	id := func() (uint64, error) {
		if len(rest) == 1 {
			if n, err := strconv.ParseUint(strings.TrimPrefix(rest[0], "#"), 10, 64); err == nil {
				return n, nil
			}
		}
		return 0, x.usage("show")
	}
	switch place {
	case "requests":
		return x.showRequests(strings.Join(rest, " "))
	case "failures":
		return x.showRequests("failed")
	case "steps", "value":
		n, err := id()
		if err != nil {
			return err
		}
		if place == "steps" {
			return tellOf(x.out, x.s.log, "steps", n)
		}
		return x.showValue(n)
	case "log":
		for _, e := range x.s.log.Events() {
			fmt.Fprintln(x.out, clean(e.At.Format("15:04:05")+" "+e.Text))
		}
		return nil
	}
	if x.s.engine == nil {
		return errors.New("this is a recording: it has requests, steps, values, failures and a log")
	}
	switch place {
	case "routes":
		rows, err := routeRows(x.s.engine, rest)
		if err != nil {
			return err
		}
		return x.printRoutes(x.s.engine, rows, len(rest) > 0)
	case "cache":
		rows, err := cacheRows(ctx, x.s.engine, rest)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(x.out, 0, 0, 2, ' ', 0)
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Indirection, clean(r.Key), r.Terminus, r.State, clean(r.Path))
		}
		return w.Flush()
	}
	return x.usage("show")
}

func (x *plain) showRequests(expression string) error {
	ids, err := export.Select(x.s.log, expression)
	if err != nil {
		return err
	}
	if n := len(ids); n > maxShown {
		fmt.Fprintf(x.out, "the last %d of %d; an expression chooses\n", maxShown, n)
		ids = ids[n-maxShown:]
	} else {
		fmt.Fprintln(x.out, term.Plural(n, "request"))
	}
	for _, id := range ids {
		if row, ok := x.s.log.Row(id); ok {
			x.line(&row)
		}
	}
	return nil
}

func (x *plain) showValue(id uint64) error {
	t, err := x.s.log.Trace(id)
	if err != nil {
		return err
	}
	v := t.Value
	if v.Model == "" {
		v = t.Sent
	}
	if v.Model == "" {
		fmt.Fprintf(x.out, "#%d has no value\n", id)
		return nil
	}
	b, err := x.s.log.Body(v)
	if errors.Is(err, store.ErrDropped) {
		fmt.Fprintln(x.out, value.Why(x.s.log, err))
		return nil
	}
	if err != nil {
		return err
	}
	text, _ := x.masks()(string(b))
	fmt.Fprintf(x.out, "%s, %s, %d B, masked %d\n", clean(v.Model), v.Format, v.Size, v.Redacted)
	_, err = io.WriteString(x.out, cleanLines([]byte(text)))
	return err
}

// masks is the mask of the session.
func (x *plain) masks() func(string) (string, int) {
	if x.s.engine != nil {
		return x.s.engine.Redactor.Text
	}
	if x.r.mask == nil {
		x.r.mask = x.mask()
	}
	return x.r.mask.Text
}

func (x *plain) ask(ctx context.Context, verb string, words []string) error {
	if x.s.engine == nil {
		return errors.New("this is a recording: nothing can be asked or changed here")
	}
	req, err := command.Request(verb, words)
	if err != nil {
		return err
	}
	req.Caller = "you"
	resp, err := x.s.engine.Ask(ctx, req)
	id := uint64(0)
	if located := (*indirector.Error)(nil); errors.As(err, &located) {
		id = located.Trace
	}
	if resp != nil {
		id = resp.Trace
	}
	if id == 0 {
		return err
	}
	if err := x.s.log.Flush(); err != nil {
		return err
	}
	return tellOf(x.out, x.s.log, "story", id)
}

func (x *plain) tellStory(_ context.Context, words []string) error {
	ids, err := export.Select(x.s.log, strings.Join(words, " "))
	if err != nil {
		return err
	}
	_, err = export.Write(x.out, x.s.log, ids, export.Options{Format: export.Story, Redact: x.masks()})
	return err
}

func (x *plain) checks(_ context.Context, words []string) error {
	all, err := parseExpectations([]string{strings.Join(words, " ")})
	if err != nil {
		return err
	}
	one, err := x.checkOne(x.s.log, all[0], "")
	if err != nil {
		return err
	}
	return x.printCheck(checkResult{Expectations: []checkExpect{one}}, "text")
}

func (x *plain) exports(_ context.Context, words []string) error {
	if len(words) < 2 {
		return x.usage("export")
	}
	f, err := export.Parse(words[0])
	if err != nil {
		return err
	}
	return x.writeFile(words[1], words[2:], f)
}

func (x *plain) saves(_ context.Context, words []string) error {
	if len(words) == 0 {
		return x.usage("save")
	}
	return x.writeFile(words[0], words[1:], export.Recording)
}

func (x *plain) writeFile(name string, selector []string, f export.Format) error {
	what := recordings.What{Name: name, Format: f}
	if err := what.Read(strings.Join(selector, " ")); err != nil {
		return err
	}
	ids, err := export.Select(x.s.log, what.Selector)
	if err != nil {
		return err
	}
	report, err := writeExport(x.s.log, x.out, name, ids, export.Options{Format: what.Format, Bodies: what.Bodies, Source: x.s.log.Path(), Redact: x.masks()})
	if err != nil {
		return err
	}
	fmt.Fprintln(x.out, clean(name)+": "+report.String())
	return nil
}

func (x *plain) filters(_ context.Context, words []string) error {
	e, err := query.Parse(strings.Join(words, " "))
	if err == nil {
		x.filter = e
	}
	return err
}

func (x *plain) quiets(_ context.Context, words []string) (err error) {
	x.quiet, err = x.onOff("quiet", words)
	return err
}

func (x *plain) writes(_ context.Context, words []string) error {
	on, err := x.onOff("write", words)
	if err != nil || x.s.engine == nil {
		return err
	}
	x.s.engine.SetWrite(on)
	return nil
}

func (x *plain) sets(ctx context.Context, words []string) error {
	e := x.s.engine
	if e == nil {
		return errors.New("this is a recording: nothing can be asked or changed here")
	}
	switch {
	case len(words) == 1 && !strings.Contains(words[0], "="):
		return x.settingsOf(ctx, words)
	case len(words) > 0:
		return x.change(command.Set(e, words))
	}
	all := e.Overridden()
	for _, o := range all {
		fmt.Fprintln(x.out, clean("set "+command.Quote(o.Name+"="+e.RedactSetting(o.Name, o.Value))))
	}
	if len(all) == 0 {
		fmt.Fprintln(x.out, "nothing is set here")
	}
	return nil
}

func (x *plain) unsets(_ context.Context, words []string) error {
	if x.s.engine == nil {
		return errors.New("this is a recording: nothing can be asked or changed here")
	}
	return x.change(command.Unset(x.s.engine, words))
}

func (x *plain) change(c *command.SettingsChange, err error) error {
	if err != nil {
		return err
	}
	said, err := c.Do()
	if err != nil {
		return err
	}
	fmt.Fprintln(x.out, clean("did "+c.Line))
	for _, text := range said {
		fmt.Fprintln(x.out, clean(text))
	}
	return nil
}

func (x *plain) settingsOf(_ context.Context, words []string) error {
	if x.s.engine == nil {
		return errors.New("this is a recording: it has no settings")
	}
	rows, err := settingRows(x.s.engine, words, false)
	if err != nil {
		return err
	}
	return x.printSettings(rows)
}

func (x *plain) onOff(name string, words []string) (bool, error) {
	if len(words) != 1 || words[0] != "on" && words[0] != "off" {
		return false, x.usage(name)
	}
	return words[0] == "on", nil
}

func (x *plain) marks(_ context.Context, words []string) error {
	if len(words) != 2 || len(words[1]) != 1 || words[1][0] < 'a' || words[1][0] > 'z' {
		return x.usage("mark")
	}
	id, err := strconv.ParseUint(strings.TrimPrefix(words[0], "#"), 10, 64)
	if err != nil {
		return x.usage("mark")
	}
	return x.s.log.SetMark(id, words[1][0])
}

func (x *plain) notes(_ context.Context, words []string) error {
	if len(words) < 2 {
		return x.usage("note")
	}
	id, err := strconv.ParseUint(strings.TrimPrefix(words[0], "#"), 10, 64)
	if err != nil {
		return x.usage("note")
	}
	return x.s.log.AddComment(id, strings.Join(words[1:], " "))
}

func (x *plain) waits(ctx context.Context, _ []string) error {
	select {
	case <-x.played:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := x.s.log.Flush(); err != nil {
		return err
	}
	return x.news()
}

func (x *plain) helps(context.Context, []string) error {
	for _, c := range plainCommands() {
		fmt.Fprintln(x.out, strings.TrimSpace(c.name+" "+c.args)+": "+c.help)
	}
	return nil
}

// usage is how a command is written.
func (x *plain) usage(name string) error {
	for _, c := range plainCommands() {
		if c.name == name {
			return &command.UsageError{What: name + ": that is not understood", Advice: "usage: " + strings.TrimSpace(c.name+" "+c.args)}
		}
	}
	panic(name)
}
