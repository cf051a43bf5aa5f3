package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"

	"indirtui/indirector/debugger"
	"indirtui/indirector/engine"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/command"
	"indirtui/ui/console"
	"indirtui/ui/demo"
	"indirtui/ui/screen"
	"indirtui/ui/session"
)

// A runCommand runs a file of lines as they are written behind the colon.
type runCommand struct {
	p              *program
	format, record string
	site           bool
}

func (c *runCommand) build(cmd *cobra.Command) {
	cmd.Long = `Run a file of commands as they are written behind the colon of the interactive
program, one a line; - is standard input. A colon may stand before a command.
Lines that begin with # are comments. "help commands" there lists the commands.

What a request came to does not end a script: that is what expect is for. A
request that is held waits in the background while the script goes on, as does
one behind which & stands. These commands are for scripts only:

  expect EXPECTATION    count(EXPR) = 0, none(EXPR), max(FIELD, EXPR) < 2s, same(FILE, EXPR)
  expect EXPR           the request that was answered last is one that EXPR means
  wait [held [N]]       until all requests have ended, or N (default 1) are held
  sleep TIME            250ms, 2s
  echo TEXT
  destroy IND KEY confirm=KEY

The script stops at the first line that cannot be done. With --format json each
line is told as one object ("indirtui schema run" prints the schema).

Exit code: 0 fine, 1 an expectation was not met or a command was refused,
2 usage, 3 a recording or the script cannot be read.`
	cmd.Example = `  indirtui run check.indir --confdir /etc/puppetlabs/puppet
  echo 'find facts web01' | indirtui run - --demo --format json`
	f := cmd.Flags()
	f.StringVar(&c.format, "format", "text", "text or json")
	f.StringVar(&c.record, "record", "", "write the requests to this new `FILE`")
	f.BoolVar(&c.site, "demo", false, "over the built-in demo site")
}

func (c *runCommand) run(ctx context.Context, args []string) error {
	if err := checkFormat(c.format); err != nil {
		return err
	}
	in, name := c.p.In, args[0]
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			c.p.report("read the script: " + err.Error())
			return exit(exitNotFound)
		}
		defer f.Close()
		in = f
	}
	return c.play(ctx, in, name)
}

func (c *runCommand) play(ctx context.Context, in io.Reader, name string) (err error) {
	o, err := c.p.options()
	if err != nil {
		return err
	}
	o.Recording, o.Debug = c.record, &debugger.Options{}
	var on site
	if c.site {
		s, err := demo.Start(c.p.site)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		o, on = s.Options(o), s
	}
	e, err := engine.New(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	c.p.problems(e)
	ctx, cancel := context.WithCancel(ctx)
	r := newScript(ctx, c.p, e, on, name, c.format == "json")
	defer r.end(cancel)
	return r.run(in)
}

// A script is a file of lines, and what became of them.
type script struct {
	runner
	p    *program
	e    *engine.Engine
	name string
	json bool
	now  *ran // the line that is run
}

// ran is what became of one line: schema run.
type ran struct {
	Line     int      `json:"line"`
	Command  string   `json:"command"`
	OK       bool     `json:"ok"`
	Output   []string `json:"said"`
	Requests []uint64 `json:"requests"` // that were answered meanwhile
	Held     []uint64 `json:"held"`     // that are held now
	Error    string   `json:"error,omitempty"`
}

func newScript(ctx context.Context, p *program, e *engine.Engine, on site, name string, asJSON bool) *script {
	r := &script{p: p, e: e, name: name, json: asJSON, now: &ran{}}
	r.runner = newRunner(ctx, e.Store, r.take)
	r.debugger = e.Debugger
	own := r.own()
	own["expect"] = r.expect
	own["quit"] = func(string) (tea.Cmd, error) {
		return nil, &command.UsageError{What: "a script ends where it ends"}
	}
	r.env = engineEnv(e, time.Now)
	r.console = console.New(ctx, r.env, console.Options{
		Script: true,
		Engine: e, Settings: e.Settings, Configured: e, Application: e.Application,
		Kept: p.keptFile, Apply: p.applyHere(e, on), Note: e.Store.AddComment, Output: r.output, Own: own,
	})
	return r
}

// print adds a line to what the command answers.
func (r *script) print(text string) { r.now.Output = append(r.now.Output, text) }

func (r *script) output(o console.Output) {
	r.print(o.Text)
	if o.Request != 0 {
		r.now.Requests = append(r.now.Requests, o.Request)
		r.last = o.Request
	}
	if o.Refused {
		r.fail(o.Text)
	}
}

// fail records why the line cannot be done, unless that is known.
func (r *script) fail(text string) {
	if r.now.Error == "" {
		r.now.Error = text
	}
}

// take does with a message of a command what the program would do.
func (r *script) take(_ *job, msg tea.Msg) {
	switch msg := msg.(type) {
	case screen.Done:
		if did := "did " + strings.TrimPrefix(msg.Command, ":"); !slices.Contains(r.now.Output, did) && !slices.Contains(r.now.Output, "did "+msg.Command) {
			r.print(did)
		}
	case screen.Toast:
		if msg.Bad {
			r.fail(msg.Text)
		}
	case screen.Filter, screen.Go, screen.Open, screen.Push, screen.Copy, screen.Leave, screen.Do, screen.Run:
		r.fail("that is for the screen: a script has none")
	}
}

// maxLine is the longest line of a script, in bytes.
const maxLine = 1 << 20

func (r *script) run(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines.Text()), ":"))
		if text == "" || text[0] == '#' {
			continue
		}
		r.now = &ran{Line: n, Command: r.console.WithoutSecrets(text), Output: []string{}, Requests: []uint64{}, Held: []uint64{}}
		err := r.line(text)
		if r.ctx.Err() != nil && err == nil {
			err = context.Cause(r.ctx)
		}
		if err == nil && r.now.Error != "" {
			err = errors.New(r.now.Error)
		}
		for _, h := range r.e.Debugger.Held() {
			r.now.Held = append(r.now.Held, h.ID)
		}
		if err != nil {
			r.now.Error = clean(err.Error())
		}
		r.now.OK = err == nil
		r.report()
		if err == nil {
			continue
		}
		if !r.json {
			r.p.report(fmt.Sprintf("%s:%d: %s", r.name, n, err))
		}
		code := exitFailed
		if errors.As(err, new(*command.UsageError)) || errors.As(err, new(*debugger.SyntaxError)) || errors.As(err, new(*query.SyntaxError)) {
			code = exitUsage
		}
		if done := exit(0); errors.As(err, &done) {
			code = int(done)
		}
		return exit(code)
	}
	if err := lines.Err(); err != nil {
		r.p.report(fmt.Sprintf("read the script: %v", err))
		return exit(exitNotFound)
	}
	return nil
}

// report prints what became of a line.
func (r *script) report() {
	if r.json {
		for i, s := range r.now.Output {
			r.now.Output[i] = clean(s)
		}
		enc := json.NewEncoder(r.p.out) // an error is returned when it is flushed
		enc.SetEscapeHTML(false)
		_ = enc.Encode(r.now)
		return
	}
	fmt.Fprintln(r.p.out, clean("> "+r.now.Command))
	for _, s := range r.now.Output {
		if s != r.now.Error {
			fmt.Fprint(r.p.out, cleanLines([]byte(s)))
		}
	}
}

// expect holds what has happened against an expectation.
func (r *script) expect(text string) (tea.Cmd, error) {
	return nil, r.expected(text)
}

func (r *script) expected(text string) error {
	if err := r.until(maxWait, func() bool { return len(r.jobs) == 0 || len(r.e.Debugger.Held()) > 0 }); err != nil {
		return err
	}
	if err := r.e.Store.Flush(); err != nil {
		return err
	}
	for _, kind := range []string{"count", "none", "max", "same"} {
		if rest, ok := strings.CutPrefix(text, kind); !ok || !strings.HasPrefix(strings.TrimSpace(rest), "(") {
			continue
		}
		x, err := query.ParseExpectation(text)
		if err != nil {
			return err
		}
		one, err := checkOne(r.p.Streams, r.e.Store, x, "")
		switch {
		case err != nil:
			return err
		case one.Met:
			r.now.Output = append(r.now.Output, "met: "+one.Expect+": "+one.Found)
			return nil
		}
		for _, a := range one.Against {
			r.now.Output = append(r.now.Output, fmt.Sprintf("#%d %s %s %s  %s  %s", a.Request, a.Verb, a.Indirection, a.Key, a.Outcome, a.Because))
		}
		return fmt.Errorf("not met: %s: %s", one.Expect, one.Found)
	}
	expr, err := query.Parse(text)
	if err != nil {
		return err
	}
	subject, ok := r.e.Store.Subject(r.last)
	switch {
	case text == "":
		return &command.UsageError{What: "expect what?", Advice: "write expect out=hit or expect count(hidden) = 0"}
	case !ok:
		return errors.New("not met: nothing was answered yet")
	case !expr.Match(subject):
		story := ""
		if t, err := r.e.Store.Trace(r.last); err == nil {
			story = ": " + traces.Story(t)
		}
		row, _ := r.e.Store.Row(r.last)
		return fmt.Errorf("not met: %s: %s is %s%s", expr, session.Name(&row), row.Outcome, story)
	}
	r.now.Output = append(r.now.Output, "met: "+expr.String())
	return nil
}
