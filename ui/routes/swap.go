package routes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// Line is the text form of a swap: ":route node terminus=plain".
func Line(indirection, slot, terminus string) string {
	return ":route " + command.Quote(indirection) + " " + slot + "=" + command.Quote(terminus)
}

// Swap chooses the terminus, the cache or the ttl of an indirection for the user. Place
// is where that was done. The command that it returns reports it, and how to
// undo it. The error is the one of [indirector.Indirector.Assign]; nothing has
// changed then.
func Swap(engine Engine, indirection, slot, terminus, place string) (tea.Cmd, error) {
	before, _ := engine.Explain(indirection)
	if err := engine.Assign(indirection, slot, traces.Choice{Terminus: terminus, Kind: traces.FromYou, Source: place}); err != nil {
		return nil, err
	}
	return done(engine, indirection, Line(indirection, slot, terminus), before), nil
}

// Reset takes back what the user chose for an indirection. If something else
// has changed its route since the start, that is taken back too.
func Reset(engine Engine, indirection string) tea.Cmd {
	before, _ := engine.Explain(indirection)
	engine.Withdraw(indirection, traces.FromYou)
	if slices.Contains(engine.Overrides(), indirection) {
		restore(engine, indirection, engine.Configured()[indirection], "reset")
	}
	return done(engine, indirection, ":route reset "+command.Quote(indirection), before)
}

// touched reports whether Reset would change anything.
func touched(engine Engine, indirection string) bool {
	r, _ := engine.Explain(indirection)
	mine := func(c traces.Choice) bool { return c.Kind == traces.FromYou }
	chosen := func(slot string) bool { return slices.ContainsFunc(r.Slot(slot), mine) }
	return slices.ContainsFunc(r.Slots(), chosen) || slices.Contains(engine.Overrides(), indirection)
}

// done reports what was done. Undoing it restores the route of this indirection
// and no other.
func done(engine Engine, indirection, line string, before indirector.Route) tea.Cmd {
	after, _ := engine.Explain(indirection)
	to := func(r indirector.Route, why string) func() tea.Cmd {
		return func() tea.Cmd {
			restore(engine, indirection, r, why)
			return nil
		}
	}
	return screen.Did(line, to(before, "undo"), to(after, "redo"))
}

func restore(engine Engine, indirection string, r indirector.Route, why string) {
	table := maps.Clone(engine.Routes())
	table[indirection] = r
	engine.SwapRoutes(table, why)
}

// warnRefused shows why a swap was refused, and what could be chosen instead.
func warnRefused(err error) tea.Cmd {
	advice := ""
	if f := (*indirector.Failure)(nil); errors.As(err, &f) {
		advice = f.Hidden
	}
	return screen.Warn(indirector.Message(err), advice)
}

// slotChosen is the choice of the user.
type slotChosen struct{ indirection, slot, terminus string }

func (r *Routes) apply(c slotChosen) tea.Cmd {
	cmd, err := Swap(r.engine, c.indirection, c.slot, c.terminus, "Routes")
	if err != nil {
		return warnRefused(err)
	}
	return cmd
}

// pick lets the user choose the terminus or the cache.
func (r *Routes) pick(f row, slot string) tea.Cmd {
	now := orNone(f.route.Slot(slot).Winner().Terminus)
	title := fmt.Sprintf("swap the %s of %s, now %s", slot, f.name, now)
	return screen.Show(widget.NewMenu(&r.env.Shared, title, r.candidates(f, slot, func(name string) tea.Cmd {
		return r.check(slotChosen{f.name, slot, name})
	})))
}

// candidates are what a slot could be, with what each can do.
func (r *Routes) candidates(f row, slot string, do func(terminus string) tea.Cmd) []widget.Item {
	now := f.route.Slot(slot).Winner().Terminus
	was := r.engine.Configured()[f.name].Slot(slot).Winner().Terminus
	mark := func(name string) string {
		switch {
		case name == now:
			return "now         "
		case name == was:
			return "configured  "
		}
		return "            "
	}
	var items []widget.Item
	for _, name := range r.engine.Registry().Termini(f.name) {
		d := r.engine.Registry().Descriptor(f.name, name)
		items = append(items, widget.Item{Name: name, Note: mark(name) + codes(d) + "  " + strings.Join(notes(d), ", "), Do: do(name)})
	}
	if slot == indirector.SlotCache {
		current := mark(indirector.Off)
		if now == "" {
			current = mark(now)
		}
		items = append(items, widget.Item{Name: indirector.Off, Note: current + "nothing is read from a cache, and nothing is written to one", Do: do(indirector.Off)})
	}
	return items
}

// codes are the verbs of a terminus in columns.
func codes(d *indirector.Descriptor) string {
	verbsOf := indirector.VerbsOf(d.Type)
	words := make([]string, len(verbs))
	for i, v := range verbs {
		words[i] = "...."
		if verbsOf[v] != nil {
			words[i] = session.VerbCode(v)
		}
	}
	return strings.Join(words, " ")
}

// check swaps at once, unless the candidate lacks a verb that was seen in the
// traffic: then the user is asked first.
func (r *Routes) check(c slotChosen) tea.Cmd {
	return func() tea.Msg {
		apply := screen.For{Screen: r, Msg: c}
		lacks := Lacking(r.env.Log, r.engine, c.indirection, c.slot, c.terminus)
		if lacks == "" {
			return apply
		}
		return screen.Push{Screen: widget.NewMenu(&r.env.Shared, lacks, []widget.Item{
			{Key: 'n', Name: "leave it", Note: "nothing changes"},
			{Key: 'w', Name: "what-if", Note: "look at it first; nothing is executed", Do: r.whatIf(c)},
			{Key: 'y', Name: "swap", Note: Line(c.indirection, c.slot, c.terminus), Do: screen.Send(apply)},
		})}
	}
}

// Lacking warns of verbs that a terminus lacks and that were seen in the newest
// requests: "facter has no search: 3 of the last 88 requests would fail". It is
// "" if there are none. It reads the log.
func Lacking(log session.Log, engine Engine, indirection, slot, terminus string) string {
	d := engine.Registry().Descriptor(indirection, terminus)
	if d == nil {
		return ""
	}
	var seen [indirector.Expire + 1]int
	all, looked := 0, 0
	_, last := log.Range()
	route := engine.Routes()[indirection]
	for row := range session.Backward(log, last+1) {
		if all == most || looked == maxLooked {
			break
		}
		if looked++; about(row, indirection) && !own(row, route, slot) {
			seen[row.Verb]++
			all++
		}
	}
	var names []string
	fail := 0
	for _, v := range missingVerbs(d) {
		// A cache is asked to find, save and destroy only.
		if n := seen[v]; n > 0 && (slot != indirector.SlotCache || v == indirector.Find || v == indirector.Save || v == indirector.Destroy) {
			names = append(names, v.String())
			fail += n
		}
	}
	if fail == 0 {
		return ""
	}
	return fmt.Sprintf("%s has no %s: %d of the last %s would fail", terminus, strings.Join(names, " and no "), fail, term.Plural(all, "request"))
}

// own reports whether a request named a terminus itself, which a route does not change.
// Applications do so, too, besides the routes that they have.
func own(row *session.Row, route indirector.Route, slot string) bool {
	by, terminus := row.SetBy, row.Terminus
	if slot == indirector.SlotCache {
		by, terminus = row.CacheSetBy, row.Cache
	}
	switch by {
	case traces.FromRequest, traces.FromFace:
		return true
	case traces.FromApplication:
		routed := func(c traces.Choice) bool { return c.Kind == by && c.Terminus == terminus }
		return !slices.ContainsFunc(route.Slot(slot), routed)
	}
	return false
}

// maxLooked is how many requests a command looks at.
const maxLooked = 256 << 10

// about reports whether a row is a request to an indirection.
func about(row *session.Row, indirection string) bool {
	return row.Indirection == indirection && row.Verb != indirector.Expire
}
