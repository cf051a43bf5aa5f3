package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/traces/store"
	"indirtui/ui/cache"
	"indirtui/ui/command"
	"indirtui/ui/recordings"
	"indirtui/ui/requests"
	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/value"
)

// own are the commands that are another thing where there is no screen.
func (x *plain) own() map[string]func(string) (tea.Cmd, error) {
	own := x.runner.own()
	wait := own["wait"]
	own["wait"] = func(rest string) (tea.Cmd, error) {
		if _, err := wait(rest); err != nil {
			return nil, err
		}
		err := x.log.Flush()
		x.news()
		return nil, err
	}
	for name, do := range map[string]func(rest string) error{
		"show": x.show, "story": x.story, "check": x.check, "quiet": x.setQuiet, "recordings": x.recordings,
	} {
		own[name] = func(rest string) (tea.Cmd, error) { return nil, do(rest) }
	}
	if x.s.engine != nil {
		own["settings"] = func(rest string) (tea.Cmd, error) { return nil, x.settings(rest) }
		own["expire"] = x.expire
	}
	return own
}

// maxShown is how many requests are listed at once.
const maxShown = 100

// show prints a place as text.
func (x *plain) show(line string) error {
	words, err := command.SplitBefore(line, 1)
	if err != nil {
		return err
	}
	place, rest := "", ""
	if len(words) > 0 {
		place = words[0]
	}
	if len(words) > 1 {
		rest = words[1]
	}
	if id, err := strconv.ParseUint(strings.TrimPrefix(place, "#"), 10, 64); err == nil && rest == "" {
		return printTrace(x.out, x.log, "steps", id)
	}
	switch place {
	case "requests":
		return x.showRequests(rest)
	case "failures":
		return x.showRequests("failed")
	case "steps", "value":
		id, err := strconv.ParseUint(strings.TrimPrefix(rest, "#"), 10, 64)
		if err != nil {
			return x.console.NotUnderstood("show")
		}
		if place == "steps" {
			return printTrace(x.out, x.log, "steps", id)
		}
		return x.showValue(id)
	case "log":
		x.events()
		return nil
	}
	return x.showEngine(place, rest)
}

// showEngine prints what recordings do not have.
func (x *plain) showEngine(place, rest string) error {
	if place == "" {
		return x.console.NotUnderstood("show")
	}
	if x.s.engine == nil {
		return errors.New("this is a recording: it has requests, steps, values, failures and a log")
	}
	words, err := command.Split(rest)
	if err != nil {
		return err
	}
	switch place {
	case "routes":
		rows, err := routeRows(x.s.engine, words)
		if err != nil {
			return err
		}
		return printRoutes(x.out, x.s.engine, rows, len(words) > 0)
	case "cache":
		if len(words) == 2 {
			return x.showEntries(words[0], words[1])
		}
		return x.showCache(words)
	case "breaks":
		return x.line("breaks")
	}
	return x.console.NotUnderstood("show")
}

func (x *plain) showCache(only []string) error {
	rows, err := cacheRows(x.ctx, x.s.engine, only)
	if err != nil {
		return err
	}
	return printTable(x.out, "", rows, func(r cacheRow, put func(...string)) {
		put(r.Indirection, r.Key, r.Terminus, r.State, r.Path)
	})
}

// showEntries prints what is known of the entries of one key.
func (x *plain) showEntries(indirection, key string) error {
	lines, err := cache.Biographies(x.ctx, x.env, x.s.engine, indirection, key)
	if err == nil && len(lines) == 0 {
		err = fmt.Errorf("no cache has %s %s", indirection, key)
	}
	for _, line := range lines {
		x.println(line)
	}
	return err
}

func (x *plain) showRequests(expression string) error {
	ids, err := export.Select(x.log, expression)
	if err != nil {
		return err
	}
	if x.group != "" {
		for _, line := range requests.Groups(x.log, x.group, expression) {
			x.println(line)
		}
		return nil
	}
	if x.order.Column != "" {
		ids = requests.Sorted(x.log, ids, x.order.Column, x.order.Reverse)
	}
	if n := len(ids); n > maxShown {
		fmt.Fprintf(x.out, "the last %d of %d; an expression chooses\n", maxShown, n)
		ids = ids[n-maxShown:]
	} else {
		fmt.Fprintln(x.out, term.Plural(n, "request"))
	}
	for _, id := range ids {
		if row, ok := x.log.Row(id); ok {
			x.request(&row)
		}
	}
	return nil
}

func (x *plain) showValue(id uint64) error {
	t, err := x.log.Trace(id)
	if err != nil {
		return err
	}
	v := t.Value()
	if v.Model == "" {
		v = t.Sent()
	}
	if v.Model == "" {
		fmt.Fprintf(x.out, "#%d has no value\n", id)
		return nil
	}
	b, err := x.log.Body(v)
	if errors.Is(err, store.ErrDropped) {
		fmt.Fprintln(x.out, value.Why(x.log, err))
		return nil
	}
	if err != nil {
		return err
	}
	text, _ := x.redact(string(b))
	fmt.Fprintf(x.out, "%s, %s, %d B, masked %d\n", clean(v.Model), v.Format, v.Size, v.Redacted)
	_, err = io.WriteString(x.out, cleanLines([]byte(text)))
	return err
}

// events prints the events of the session.
func (x *plain) events() {
	for _, e := range x.log.Events() {
		x.println(e.At.Format("15:04:05") + " " + e.Text)
	}
}

// usages prints how each command is written.
func (x *plain) usages() {
	for _, usage := range x.console.Usages() {
		fmt.Fprintln(x.out, usage)
	}
}

// story prints what happened, every step of it.
func (x *plain) story(selector string) error {
	ids, err := export.Select(x.log, selector)
	if err != nil {
		return err
	}
	_, err = export.Write(x.out, x.log, ids, export.Options{Format: export.Story, Redact: x.redact})
	return err
}

func (x *plain) check(text string) error {
	all, err := parseExpectations([]string{text})
	if err != nil {
		return err
	}
	one, err := checkOne(x.p.Streams, x.log, all[0], "")
	if err != nil {
		return err
	}
	result := checkResult{Expectations: []checkExpect{one}}
	result.print(x.out)
	return nil
}

// write writes requests to a file.
func (x *plain) write(what recordings.What) error {
	ids, err := export.Select(x.log, what.Selector)
	if err != nil {
		return err
	}
	o := export.Options{Format: cmp.Or(what.Format, export.Recording), Bodies: what.Bodies, Source: x.log.Path(), Redact: x.redact}
	report, err := writeExport(x.log, x.out, what.Name, ids, o)
	if err != nil {
		return err
	}
	fmt.Fprintln(x.out, clean(what.Name)+": "+report.String())
	return nil
}

func (x *plain) setQuiet(word string) error {
	if word != "on" && word != "off" {
		return x.console.NotUnderstood("quiet")
	}
	x.quiet = word == "on"
	return nil
}

func (x *plain) settings(line string) error {
	words, err := command.Split(line)
	if err != nil {
		return err
	}
	rows, err := settingRows(x.s.engine, words, false)
	if err != nil {
		return err
	}
	return printSettings(x.out, rows)
}

// recordings lists the recordings that are kept.
func (x *plain) recordings(string) error {
	files, err := recordings.List(stateDir(), x.log.Path())
	if err != nil {
		return err
	}
	if len(files) == 0 {
		fmt.Fprintln(x.out, "there are no recordings")
	}
	return printTable(x.out, "", files, func(f store.Info, put func(...string)) {
		put(f.Started.Local().Format("2006-01-02 15:04:05"), term.Plural(int(f.Requests), "request"), f.Source, filepath.Clean(f.Path))
	})
}

// expire lets an entry of a cache count as expired, as the place Cache does.
func (x *plain) expire(line string) (tea.Cmd, error) {
	words, err := command.Split(line)
	if err != nil {
		return nil, err
	}
	if len(words) < 2 || len(words) > 3 {
		return nil, x.console.NotUnderstood("expire")
	}
	req := &indirector.Request{Indirection: words[0], Verb: indirector.Expire, Key: words[1], By: traces.FromRequest, Source: "expire", Caller: "you"}
	route, _ := x.s.engine.Explain(req.Indirection)
	req.Cache = route.Cache.Winner().Terminus
	if len(words) == 3 {
		given := false
		if req.Cache, given = strings.CutPrefix(words[2], "cache="); !given {
			return nil, x.console.NotUnderstood("expire")
		}
	}
	return func() tea.Msg {
		resp, err := x.s.engine.Ask(x.ctx, req)
		if err != nil {
			return screen.Toast{Text: "expire: " + indirector.Message(err), Bad: true}
		}
		return screen.Toast{Text: fmt.Sprintf("expired %s %s in %s by #%d", req.Indirection, req.Key, req.Cache, resp.Trace)}
	}, nil
}

// textOf is what a page shows, without its frame.
func textOf(s screen.Screen) string {
	const width, height = 100, 2000
	s.Resize(width, height)
	var b bytes.Buffer
	for _, line := range s.View() {
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
