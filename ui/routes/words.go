package routes

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/session"
)

// brief returns in a few words who made a choice.
func brief(env *session.Env, c traces.Choice) string {
	switch c.Kind {
	case traces.NoSource:
		return "nobody"
	case traces.FromYou:
		if c.At.IsZero() {
			return "you"
		}
		return "you, " + env.Clock(c.At)
	case traces.FromDeclaration:
		return "default in code"
	case traces.FromStoreconfigs:
		return "storeconfigs"
	case traces.FromApplication:
		app, _, _ := strings.Cut(strings.TrimPrefix(c.Source, "application "), ",")
		return "app " + app
	case traces.FromSetting:
		at := strings.LastIndex(c.Source, ", ")
		if at < 0 {
			return "setting"
		}
		if c.Source[at+2:] == "default" {
			return "setting default"
		}
		return "setting, " + c.Source[at+2:]
	case traces.FromRoutesFile:
		return c.Source
	}
	return c.Kind.String() + " " + c.Source
}

// long returns who made a choice, with all that is known.
func long(env *session.Env, c traces.Choice) string {
	switch {
	case c.Kind == traces.FromYou && c.Source != "":
		return brief(env, c) + ", " + c.Source
	case c.Kind == traces.FromDeclaration || c.Kind == traces.FromYou || c.Source == "":
		return brief(env, c)
	case c.Kind == traces.FromFace || c.Kind == traces.FromThread:
		return c.Kind.String() + " " + c.Source
	}
	return c.Source
}

// decider returns the choice that SET BY shows first: the one of the terminus,
// unless the cache was chosen at run time, by a stronger source.
func decider(r indirector.Route) (c traces.Choice, cache bool) {
	primary, cached := r.Primary.Winner(), r.Cache.Winner()
	if cached.Kind > primary.Kind && cached.Kind > traces.FromRoutesFile {
		return cached, true
	}
	return primary, false
}

// orNone is how a slot without a terminus is shown.
func orNone(name string) string {
	if name == "" || name == indirector.Off {
		return "-"
	}
	return name
}

// shown is how what a slot came to is shown: the name of a terminus, or seconds.
func shown(slot, chosen string) string {
	if slot == indirector.SlotTTL && chosen != "" {
		return chosen + " s"
	}
	return orNone(chosen)
}

// state returns what became of a choice.
func state(c traces.Choice, wins bool) string {
	var section, app string
	switch {
	case c.Why != "" && sscan(c.Why, &section, &app):
		return fmt.Sprintf("section %s NOT APPLIED (%s)", section, app)
	case c.Why != "":
		return "NOT APPLIED (" + c.Why + ")"
	case wins:
		return "in force"
	}
	return "overruled"
}

// joined joins where a choice was made and what became of it.
func joined(place, state string) string {
	switch {
	case state == "":
		return place
	case strings.Contains(state, "NOT APPLIED"):
		return place + " " + state
	}
	return place + "  " + state
}

// sscan takes apart the reason about the section of another application.
func sscan(why string, section, app *string) bool {
	parts := strings.Split(why, "'")
	if len(parts) != 5 || parts[0] != "section " || parts[2] != " is not for application " {
		return false
	}
	*section, *app = parts[1], parts[3]
	return true
}

// missing returns the names in force that are no terminus of this program, also those
// to which requests are passed on, and
// "" for a recording, which does not have them.
func (r *Routes) missing(f row) (terminus, cache string) {
	if r.engine == nil {
		return "", ""
	}
	unknown := func(slot string) string {
		for _, name := range []string{f.route.Slot(slot).Winner().Terminus, r.passed(f, slot).Terminus} {
			if name != "" && name != indirector.Off && r.engine.Registry().Descriptor(f.name, name) == nil {
				return name
			}
		}
		return ""
	}
	return unknown(indirector.SlotTerminus), unknown(indirector.SlotCache)
}

// instead returns what could be used instead of a terminus that does not exist.
func (r *Routes) instead(indirection, slot, name string) string {
	known := r.engine.Registry().Termini(indirection)
	if len(known) == 0 {
		return fmt.Sprintf("%s %s does not exist here, and no other terminus of %s does", slot, name, indirection)
	}
	return fmt.Sprintf("%s %s does not exist here; %s could use %s", slot, name, indirection, strings.Join(known, ", "))
}

// passed returns the terminus to which that of a slot passes requests on, and what
// named it; zero if it answers itself, and for a recording, which does not have that.
func (r *Routes) passed(f row, slot string) traces.Choice {
	if r.engine == nil {
		return traces.Choice{}
	}
	return r.engine.Passed(f.name, f.route.Slot(slot).Winner().Terminus, nil)
}

// owners returns the terminus of a slot, and the one to which it passes requests on.
func (r *Routes) owners(f row, slot string) string {
	return traces.Owners(orNone(f.route.Slot(slot).Winner().Terminus), r.passed(f, slot).Terminus)
}

// warnings are what is wrong with an indirection, and then what is wrong with
// the configuration: what is about this indirection first.
func (r *Routes) warnings(f row) []string { return append(r.lacks(f), r.problems(f.name)...) }

// lacks are the termini in force that this program does not have.
func (r *Routes) lacks(f row) []string {
	var out []string
	terminus, cache := r.missing(f)
	if terminus != "" {
		out = append(out, r.instead(f.name, indirector.SlotTerminus, terminus))
	}
	if cache != "" {
		out = append(out, r.instead(f.name, indirector.SlotCache, cache))
	}
	return out
}

// problems are what is wrong with the configuration: what stops Puppet first,
// then what is about the indirection.
func (r *Routes) problems(indirection string) []string {
	var fatal, about, others []string
	for _, p := range r.about().Problems {
		text := p.Text
		if p.Source != "" && !strings.HasPrefix(text, p.Source) {
			text = p.Source + ": " + text
		}
		switch {
		case r.engine != nil && (strings.HasPrefix(p.Text, "Could not find terminus") || strings.HasPrefix(p.Text, traces.Ours)):
			// its row shows that
		case p.Fatal:
			fatal = append(fatal, "Puppet stops here: "+text)
		case slices.Contains(words(text), indirection):
			about = append(about, text)
		default:
			others = append(others, text)
		}
	}
	return slices.Concat(fatal, about, others)
}

// words are the names in a sentence.
func words(s string) []string {
	return strings.FieldsFunc(s, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z')
	})
}

// served is the filter that lists the requests of a route.
func served(f row) string {
	text := "ind=" + query.Quote(f.name)
	if t := f.route.Primary.Winner().Terminus; t != "" {
		text += " terminus=" + query.Quote(t)
	}
	return text
}
