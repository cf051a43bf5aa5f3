package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/ui/console"
)

// maxKeys is how many keys are offered.
const maxKeys = 50

// complete returns how the words behind a command go on, as behind the colon. If
// there can be no engine, nothing is offered: the command itself reports why.
func (p *program) complete(ctx context.Context, name string, words []string) ([]string, cobra.ShellCompDirective) {
	if name == "compile" || name == "why" {
		p.asServer() // else facts would be those that agents keep
	}
	o, err := p.options()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	e, err := engine.New(o)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer e.Close()
	c := console.New(ctx, engineEnv(e, time.Now), console.Options{
		Engine: e, Settings: e.Settings, Configured: e, Situations: situations(), Types: func() []string { return typeNames(e) },
		Keys: func(indirection, typed string) [][2]string { return storedKeys(ctx, e, indirection, typed) },
	})
	var all []string
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	for _, next := range c.ShellNext(name, words) {
		text := clean(next.Name)
		if next.Note != "" && next.Kind != "option" {
			text += "\t" + clean(next.Note)
		}
		all = append(all, text)
		if strings.HasSuffix(next.Text, " ") {
			directive = cobra.ShellCompDirectiveNoFileComp
		}
	}
	return all, directive
}

// storedKeys are the keys that begin with a text, as far as termini can be
// listed, each with its terminus.
func storedKeys(ctx context.Context, e *engine.Engine, indirection, typed string) [][2]string {
	var all [][2]string
	seen := make(map[string]bool)
	_ = e.Walk(ctx, func(en indirector.Entry) bool { // what cannot be listed is not offered
		if en.Key != "" && !seen[en.Key] && strings.HasPrefix(en.Key, typed) {
			seen[en.Key] = true
			all = append(all, [2]string{en.Key, en.Terminus})
		}
		return len(all) < maxKeys
	}, indirection)
	return all
}
