package console

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/value"
)

// why shows where the attributes of a resource are from, of the catalog that a request was
// answered with.
func why(c *Console, l call) (tea.Cmd, error) {
	id, words, err := c.catalogMeant(l.words)
	if err != nil {
		return nil, err
	}
	if len(words) < 1 || len(words) > 2 {
		return nil, &command.UsageError{What: "why of which resource?", Advice: "why 'File[/etc/motd]' content   why #12 Class[Ntp]"}
	}
	attribute := ""
	if len(words) == 2 {
		attribute = words[1]
	}
	env, plain := c.env, c.o.Output != nil
	return screen.Later(func() tea.Msg {
		t, err := env.Log.Trace(id)
		if err != nil {
			return screen.For{Screen: c, Msg: warned(value.Why(env.Log, err))}
		}
		why, at, err := value.Explain(env.Log, t, words[0], attribute)
		switch {
		case err != nil:
			return screen.For{Screen: c, Msg: warned(err.Error())}
		case !plain:
			return screen.Push{Screen: value.NewOrigins(env, id, why, at)}
		case attribute != "":
			why.Attributes = why.Attributes[at : at+1]
		}
		const longest = 60 // of a value
		return screen.For{Screen: c, Msg: printed(strings.TrimRight(why.Text(longest), "\n"))}
	}), nil
}

// exporter shows the request that brought an exported resource.
func exporter(c *Console, l call) (tea.Cmd, error) {
	if len(l.words) != 1 {
		return nil, &command.UsageError{What: "exporter of which resource?", Advice: "exporter 'Sshkey[db01.example.com]'"}
	}
	env, plain := c.env, c.o.Output != nil
	return screen.Later(func() tea.Msg {
		e, err := value.ExporterOf(env.Log, nil, l.words[0], "")
		switch {
		case err != nil:
			return screen.For{Screen: c, Msg: warned(err.Error())}
		case !plain:
			return screen.Open{Request: e.Command.ID, New: true}
		}
		return screen.For{Screen: c, Msg: printed(e.String())}
	}), nil
}

// catalogMeant is the request whose catalog is meant: the one that is named, the one that
// the cursor is on if that is about a catalog, or the one that was answered here last. Rest
// is what stands behind it.
func (c *Console) catalogMeant(words []string) (id uint64, rest []string, err error) {
	if len(words) > 0 && strings.HasPrefix(words[0], "#") {
		id, _, err = c.subject(words[:1])
		return id, words[1:], err
	}
	if c.env.Selection != nil {
		_, at := c.env.Selection()
		if row, ok := c.env.Log.Row(at); ok && row.Indirection == "catalog" {
			return at, words, nil
		}
	}
	id, _, err = c.subject(nil)
	return id, words, err
}

// maxCompleted is the size of the largest catalog whose resources are offered, in bytes: it
// is read for every letter.
const maxCompleted = 1 << 20

// nextWhy goes on with the resources of the catalog, and then with their attributes.
func nextWhy(c *Console, l call) []option {
	typed, _ := l.last()
	id, words, err := c.catalogMeant(l.words)
	if err != nil {
		return nil
	}
	t, err := c.env.Log.Trace(id)
	if err != nil || t.Value().Size > maxCompleted {
		return nil
	}
	var out []option
	offer := func(kind string, names []string) {
		for _, name := range names {
			if word := command.Quote(name); strings.HasPrefix(strings.ToLower(word), strings.ToLower(typed)) && len(out) < maxNext {
				out = append(out, option{word: word, kind: kind})
			}
		}
	}
	switch len(words) {
	case 1:
		if refs, err := value.Resources(c.env.Log, t, maxCompleted); err == nil {
			offer("resource", refs)
		}
	case 2:
		if why, _, err := value.Explain(c.env.Log, t, words[0], ""); err == nil {
			offer("attribute", why.Names())
		}
	}
	return out
}
