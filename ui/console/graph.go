package console

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/origins"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/session"
)

// graph prints the order of the resources of a catalog that a request was answered with,
// or the neighbourhood of one.
func graph(c *Console, l call) (tea.Cmd, error) {
	id, words, err := c.catalogMeant(l.words)
	if err != nil {
		return nil, err
	}
	if len(words) > 1 {
		return nil, &command.UsageError{What: "graph of which resource?", Advice: "graph   graph #12   graph 'Service[nginx]'"}
	}
	log := c.env.Log
	return screen.Later(func() tea.Msg {
		v, err := viewOf(log, id)
		if err == nil && len(words) == 1 {
			var at int
			if at, err = origins.MatchRef(v.Catalog, words[0], v.References()); err == nil {
				v.Look(at)
			}
		}
		if err != nil {
			return screen.For{Screen: c, Msg: warned(err.Error())}
		}
		return screen.For{Screen: c, Msg: printed(strings.TrimRight(v.Text(), "\n"))}
	}), nil
}

// viewOf is the graph of the catalog that a request was answered with, as it was recorded.
func viewOf(log session.Log, id uint64) (*transaction.View, error) {
	t, err := log.Trace(id)
	if err != nil {
		return nil, err
	}
	catalog, err := recordedCatalog(log, t)
	if err != nil {
		return nil, err
	}
	return transaction.NewView(catalog, transaction.Offline{}, types.All())
}

// nextGraph goes on with the resources of the catalog.
func nextGraph(c *Console, l call) []option {
	typed, _ := l.last()
	id, words, err := c.catalogMeant(l.words)
	if err != nil || len(words) != 1 {
		return nil
	}
	t, err := c.env.Log.Trace(id)
	if err != nil || t.Value().Size > maxCompleted {
		return nil
	}
	v, err := viewOf(c.env.Log, id)
	if err != nil {
		return nil
	}
	var out []option
	for _, ref := range v.References() {
		if word := command.Quote(ref); strings.HasPrefix(strings.ToLower(word), strings.ToLower(typed)) && len(out) < maxNext {
			out = append(out, option{word: word, kind: "resource"})
		}
	}
	return out
}
