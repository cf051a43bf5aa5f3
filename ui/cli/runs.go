package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"

	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/traces/store"
	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// runStories returns the stories of the runs that have some of the requests, one
// sentence each. Single requests have none, except a report.
func runStories(s *store.Store, ids []uint64) []string {
	var names []string
	runs := make(map[string]*traces.RunStory)
	for _, id := range ids {
		row, ok := s.Row(id)
		if !ok || row.Run == "" {
			continue
		}
		t, err := s.Trace(id)
		if err != nil || t == nil {
			continue // its detail was dropped, as the list of requests shows
		}
		r := runs[row.Run]
		if r == nil {
			r = new(traces.RunStory)
			runs[row.Run] = r
			names = append(names, row.Run)
		}
		r.Add(t, bodyOf(s, t))
	}
	var sentences []string
	for _, name := range names {
		if r := runs[name]; !r.Single() {
			sentences = append(sentences, r.String())
		}
	}
	return sentences
}

// bodyOf is what the story of a run reads of a request, as far as it is still
// there: a catalog or node that was found, a report that was saved.
func bodyOf(s *store.Store, t *traces.Trace) []byte {
	var v traces.Value
	switch {
	case t.Verb == traces.Find && (t.Indirection == "catalog" || t.Indirection == "node"):
		v = t.Value()
	case t.Verb == traces.Save && t.Indirection == "report":
		v = t.Sent()
	default:
		return nil
	}
	b, _ := s.Body(v) // nothing is read of what was dropped
	return b
}

// selectedStories is the command story of the interactive program.
func selectedStories(s *store.Store, selector string) ([]string, error) {
	if selector == "" {
		selector = "@run"
	}
	ids, err := export.Select(s, selector)
	if err != nil {
		return nil, &command.UsageError{What: err.Error()}
	}
	sentences := runStories(s, ids)
	if len(sentences) == 0 {
		return nil, fmt.Errorf("%s: no run of an agent is among the %s", selector, term.Plural(len(ids), "request"))
	}
	return sentences, nil
}

// here is the command serve of the interactive program: it begins to listen, and
// shows what comes. If it cannot, the session stays.
func (c *serveCommand) here(words []string, switchTo func(opener) tea.Cmd) (tea.Cmd, error) {
	if err := parse(words, "serve", c.flags); err != nil {
		return nil, err
	}
	c.nearby(words)
	return c.answerHere(c.start, switchTo), nil
}

// here is the command proxy of the interactive program: its first word may be the
// server.
func (x *proxyCommand) here(words []string, switchTo func(opener) tea.Cmd) (tea.Cmd, error) {
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		words = append([]string{"--upstream", words[0]}, words[1:]...)
	}
	err := parse(words, "proxy", x.flags)
	if err == nil {
		err = x.check()
	}
	if err != nil {
		return nil, err
	}
	x.nearby(words)
	return x.answerHere(x.start, switchTo), nil
}

func parse(words []string, name string, flags func(*cobra.Command)) error {
	cmd := &cobra.Command{Use: name}
	flags(cmd)
	err := cmd.ParseFlags(words)
	if rest := cmd.Flags().Args(); err == nil && len(rest) > 0 {
		err = fmt.Errorf("%q is no flag", rest[0])
	}
	if err != nil {
		return &command.UsageError{What: err.Error(), Advice: "see indirtui " + name + " --help"}
	}
	return nil
}

// nearby listens on the loopback address, unless the command names another: what
// is typed within a session opens nothing to a network by itself.
func (l *listening) nearby(words []string) {
	if !slices.ContainsFunc(words, func(w string) bool { return w == "--listen" || strings.HasPrefix(w, "--listen=") }) {
		l.listen = "127.0.0.1:8140"
	}
}

// openHere shows a recording instead of what is shown. If it cannot be read, the
// session stays.
func openHere(path string, switchTo func(opener) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		s, err := openSession(path)
		if err != nil {
			return screen.Toast{Text: err.Error(), Bad: true}
		}
		return switchTo(func() (*workspace, error) { return s, nil })()
	}
}

// answerHere begins to answer agents, and shows that instead of what is shown.
func (l *listening) answerHere(start func(context.Context) (*answering, error), switchTo func(opener) tea.Cmd) tea.Cmd {
	l.ui = true
	return func() tea.Msg {
		l.p.ui.record, l.p.ui.demo = l.display.record, false // not before the user agrees
		v, err := start(context.Background())
		if err != nil {
			return screen.Toast{Text: err.Error(), Bad: true}
		}
		return switchTo(func() (*workspace, error) { return v.session, nil })()
	}
}
