package traces

import (
	"cmp"
	"strings"
)

// A Headline is the three lines that head every trace, before any detail.
type Headline struct {
	Answered string // "cache json", "nobody (error)"
	Asked    string // "terminus exec: failed"; "nobody"
	NotAsked string // "cache json (ignore_cache, by agent)"; "" if all were
	Decided  string // "exec: setting node_terminus, puppet.conf:7; json: routes.yaml:4"
}

// HeadlineOf returns who answered, what was asked and what not, with reasons,
// and who decided that.
func HeadlineOf(t *Trace) Headline {
	primary, cache := t.Primary.Winner(), t.Cache.Winner()
	h := Headline{Answered: "nobody"}
	switch {
	case t.Served == ByInjection:
		h.Answered = "you (injected)"
	case t.Served == ByCache:
		h.Answered = "cache " + t.Owners(CacheRead)
	case t.Served == ByTerminus:
		h.Answered = "terminus " + t.Owners(Terminus)
	case t.Verb == Save && t.Steps[CacheWrite].Answer == Written:
		h.Answered = "cache " + t.Owners(CacheWrite)
	case t.Outcome == Run:
		h.Answered = "nobody yet"
	case t.Error != "":
		h.Answered = "nobody (error)"
	}
	var asked, not []string
	ask := func(who string, s Step) {
		q := t.Steps[s]
		switch {
		case q.Because.Reason == ByYou && q.Took == 0 && q.Answer != NotAsked:
			not = append(not, who+bracketed(q.Because.About))
		case q.Answer == NotAsked:
			if q.Because.Reason != VerbHasNoCache && q.Because.Reason != NoCacheRouted {
				not = append(not, who+bracketed(q.Because.Words()))
			}
		case q.Answer == NotReached:
			not = append(not, who+bracketed(cmp.Or(t.Why(s), "not reached")))
		default:
			asked = append(asked, who+": "+q.Answer.Words())
		}
	}
	if cache.Terminus != "" && (t.Verb == Find || t.Verb == Head || t.Verb == Expire) {
		ask("cache "+t.Owners(CacheRead), CacheRead)
	}
	if t.Verb != Expire && primary.Terminus != "" {
		ask("terminus "+t.Owners(Terminus), Terminus)
	}
	if cache.Terminus != "" && (t.Verb == Save || t.Verb == Destroy) {
		ask("cache "+t.Owners(CacheWrite), CacheWrite)
	}
	if cache.Terminus != "" && cache.Terminus != "off" && t.Verb == Search {
		not = append(not, "cache "+cache.Terminus+" (searches are never cached)")
	}
	h.Asked, h.NotAsked = strings.Join(asked, ", "), strings.Join(not, ", ")
	h.Asked = cmp.Or(h.Asked, "nobody")
	h.Decided = decided(primary) + t.passedBy(Terminus)
	if cache.Terminus != "" {
		h.Decided += "; cache " + decided(cache) + cmp.Or(t.passedBy(CacheRead), t.passedBy(CacheWrite))
	}
	return h
}

func bracketed(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// Decision returns what chose the terminus of a slot, and what that overruled:
// "routes.yaml:8 chose upstream; it overruled rest (application agent)". It is
// empty if nothing chose one.
func (s Slot) Decision() string {
	c, over := s.Winner(), s.RunnerUp()
	if c.Terminus == "" {
		return ""
	}
	text := c.source() + " chose " + c.Terminus
	if over.Terminus != "" && over.Terminus != c.Terminus {
		text += "; it overruled " + over.Terminus + " (" + over.source() + ")"
	}
	return text
}

// source is what made a choice, as users call it.
func (c Choice) source() string {
	switch {
	case c.Kind == FromRequest:
		return "this request"
	case c.Kind == FromFace && c.Source != "":
		return "`puppet " + c.Source + "`"
	case c.Kind == FromDeclaration:
		return "the default in code"
	}
	return cmp.Or(c.Source, c.Kind.String())
}

func decided(c Choice) string {
	switch {
	case c.Terminus == "":
		return "no terminus was chosen"
	case c.Source == "" || c.Source == c.Kind.String():
		return c.Terminus + ": " + c.Kind.String()
	case c.Kind == FromRequest || strings.Contains(c.Source, c.Kind.String()):
		return c.Terminus + ": " + c.Source
	}
	return c.Terminus + ": " + c.Kind.String() + ", " + c.Source
}
