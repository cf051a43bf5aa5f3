package console

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/command"
	"indirtui/ui/help"
	"indirtui/ui/screen"
	"indirtui/ui/session"
)

// An option is one way to go on with the last word of a line.
type option struct {
	word, kind, note string
	open             bool // more belongs to the word: no blank behind it
	more             []string
}

var (
	groupings = []string{"none", "run", "indirection", "node", "outcome", "terminus", "caller", "type", "class"}
	columns   = []string{"#", "verb", "ind", "key", "served", "ms", "out"}
)

// maxNext is how many ways to go on are offered, and maxRecent how many of them
// are keys that were asked for.
const (
	maxNext   = 50
	maxRecent = 20
)

func (c *Console) Complete(text string) (next []screen.Completion, about []string) {
	body := strings.TrimLeft(text, " :")
	lead := text[:len(text)-len(body)]
	at := strings.LastIndexByte(body, ' ') + 1
	if at == 0 {
		for _, m := range c.offered() {
			if strings.HasPrefix(m.name, body) {
				next = append(next, m.completion(lead))
			}
		}
		return c.history(text, next), nil
	}
	name, _, _ := strings.Cut(body, " ")
	m := c.find(name)
	if m == nil {
		return c.history(text, nil), []string{c.unknown(name).Error()}
	}
	l := call{name: name, rest: strings.TrimSpace(body[len(name):])}
	l.words, _ = command.Split(body[len(name):at])
	if m.next != nil {
		typed := body[at:]
		for _, o := range m.next(c, call{name: name, words: append(l.words, typed), rest: body[len(name)+1:]}) {
			if next = append(next, complete(lead+body[:at], o)); len(next) == maxNext {
				break
			}
		}
	}
	if typed := body[at:]; typed != "" {
		l.words = append(l.words, typed)
	}
	effect := m.help
	if m.effect != nil {
		effect = m.effect(c, l)
	}
	return c.history(text, next), []string{"usage: " + m.usage(false), "effect: " + effect}
}

func complete(head string, o option) screen.Completion {
	words := append([]string{o.word}, o.more...)
	name := strings.Join(words, " ")
	text := head + name
	if !o.open {
		text += " "
	}
	return screen.Completion{Text: text, Name: name, Kind: o.kind, Note: o.note}
}

// ShellNext returns how the last of the words behind the name of a command goes
// on in a shell. A Text that ends with a blank is a whole word.
func (c *Console) ShellNext(name string, words []string) []screen.Completion {
	at := slices.IndexFunc(table(), func(m cmd) bool { return m.name == name })
	var next []screen.Completion
	for _, o := range table()[at].shellNext(c, call{name: name, words: words, rest: strings.Join(words, " ")}) {
		if o.kind == "file" || len(o.more) > 0 {
			continue // a shell has --file, and words come one by one
		}
		values := []screen.Completion(nil)
		if given := words[len(words)-1]; o.open && strings.HasSuffix(o.word, "=") && given != o.word {
			values = c.ShellNext(name, append(slices.Clone(words[:len(words)-1]), o.word))
		}
		if values == nil {
			values = []screen.Completion{complete("", o)}
		}
		next = append(next, values...)
	}
	return next
}

// history adds earlier lines that contain this one.
func (c *Console) history(text string, next []screen.Completion) []screen.Completion {
	typed := strings.TrimSpace(text)
	if len(typed) < 3 {
		return next
	}
	n := 0
	for i := len(c.entered) - 1; i >= 0 && n < 3; i-- {
		if line := c.entered[i]; line != typed && strings.Contains(line, typed) {
			next = append(next, screen.Completion{Text: line, Name: line, Kind: "history"})
			n++
		}
	}
	return next
}

// last is the word that is being written, and whether it is the n-th behind the
// name of the command.
func (l call) last() (word string, n int) { return l.words[len(l.words)-1], len(l.words) - 1 }

// nextRequest goes on with find, search, head, save and destroy.
func nextRequest(c *Console, l call) []option {
	typed, n := l.last()
	if c.o.Engine == nil {
		return nil
	}
	verb := traces.ParseVerb(l.name)
	switch ind := l.words[0]; {
	case n == 0:
		return c.indirections(typed)
	case n == 1 && !strings.Contains(typed, "="):
		return append(c.keys(ind, typed), c.requestOptions(ind, verb, typed, l.words[1:n])...)
	default:
		return c.requestOptions(ind, verb, typed, l.words[1:n])
	}
}

// indirections are those that begin like typed, each with the newest keys that
// were asked for.
func (c *Console) indirections(typed string) []option {
	var out []option
	for _, name := range c.o.Engine.Registry().Names() {
		if !strings.HasPrefix(name, typed) {
			continue
		}
		r, _ := c.o.Engine.Explain(name)
		note := "terminus " + orNone(r.Primary.Winner().Terminus)
		if cache := r.Cache.Winner().Terminus; cache != "" && cache != indirector.Off {
			note += "   cache " + cache
		}
		out = append(out, option{word: name, kind: "indirection", note: note})
		if typed == "" {
			continue
		}
		for i, k := range c.askedKeys(name, "") {
			if i == 2 {
				break
			}
			out = append(out, option{word: name, more: []string{k.word}, kind: k.kind, note: k.note})
		}
	}
	return out
}

func orNone(name string) string {
	if name == "" {
		return "-"
	}
	return name
}

// recent remembers the newest keys of each indirection, so that a key press
// does not read the log again.
type recent struct {
	last uint64
	by   map[string][]session.Row
}

// recentRows is how many of the newest requests are looked at for keys.
const recentRows = 4096

func (c *Console) recentKeys(indirection string) []session.Row {
	first, last := c.env.Log.Range()
	if c.recent.by == nil || c.recent.last != last {
		c.recent = recent{last, make(map[string][]session.Row)}
		if last > recentRows {
			first = max(first, last-recentRows)
		}
		rows := make([]session.Row, recentRows+1)
		seen := make(map[[2]string]bool)
		for i := c.env.Log.Rows(first, rows) - 1; i >= 0; i-- {
			r := rows[i]
			if id := [2]string{r.Indirection, r.Key}; !seen[id] && r.Key != "" && len(c.recent.by[r.Indirection]) < maxRecent {
				seen[id] = true
				c.recent.by[r.Indirection] = append(c.recent.by[r.Indirection], r)
			}
		}
	}
	return c.recent.by[indirection]
}

func (c *Console) keys(indirection, typed string) []option {
	out := c.askedKeys(indirection, typed)
	if c.o.Keys != nil {
		for _, key := range c.o.Keys(indirection, typed) {
			out = append(out, option{word: key[0], kind: "stored key", note: "terminus " + key[1]})
		}
	}
	return out
}

// askedKeys are those that were asked for, the newest first.
func (c *Console) askedKeys(indirection, typed string) []option {
	var out []option
	for _, r := range c.recentKeys(indirection) {
		if key := command.Quote(r.Key); strings.HasPrefix(key, typed) {
			out = append(out, option{word: key, kind: "recent key", note: fmt.Sprintf("last #%d %s", r.ID, r.Outcome)})
		}
	}
	return out
}

// requestOptions are the options that are not there yet.
func (c *Console) requestOptions(ind string, verb indirector.Verb, typed string, given []string) []option {
	reg := c.o.Engine.Registry()
	var all []option
	switch name, value, is := strings.Cut(typed, "="); {
	case is && (name == "terminus" || name == "cache"):
		for _, t := range reg.Termini(ind) {
			note := ""
			if indirector.VerbsOf(reg.Descriptor(ind, t).Type)[verb] == nil && name == "terminus" {
				note = "has no " + verb.String()
			}
			all = append(all, option{word: name + "=" + t, kind: "terminus", note: note})
		}
		if name == "cache" {
			all = append(all, option{word: "cache=none", kind: "option", note: "no cache, for this request only"})
		}
		return startWith(all, name+"="+value)
	case is && name == "run":
		return c.runs(typed)
	case is:
		return nil
	}
	if verb == indirector.Save {
		all = append(all, option{word: "@", kind: "file", note: "the instance to save", open: true})
	}
	all = append(all,
		option{word: "terminus=", kind: "option", note: "another terminus, for this request only", open: true},
		option{word: "cache=", kind: "option", note: "another cache, or none, for this request only", open: true},
		option{word: "env=", kind: "option", note: "the environment", open: true},
	)
	if verb == indirector.Find || verb == indirector.Head {
		all = append(all, option{word: "ignore_cache", kind: "flag", note: "the cache is not asked"})
	}
	if verb == indirector.Find {
		all = append(all,
			option{word: "ignore_cache_save", kind: "flag", note: "the cache is not written"},
			option{word: "ignore_terminus", kind: "flag", note: "only the cache is asked"},
			option{word: "fail_on_404", kind: "flag", note: "a 404 is an error, not nil"},
		)
	}
	all = append(all, option{word: "run=", kind: "option", note: "the run that this belongs to", open: true})
	return startWith(slices.DeleteFunc(all, func(o option) bool {
		return slices.ContainsFunc(given, func(g string) bool { return g == o.word || o.open && strings.HasPrefix(g, o.word) })
	}), typed)
}

func startWith(all []option, typed string) []option {
	return slices.DeleteFunc(all, func(o option) bool { return !strings.HasPrefix(o.word, typed) })
}

func plain(kind, typed string, words ...string) []option {
	var out []option
	for _, w := range words {
		if strings.HasPrefix(w, typed) {
			out = append(out, option{word: w, kind: kind})
		}
	}
	return out
}

// nextIndirection goes on with the name of an indirection alone.
func nextIndirection(c *Console, l call) []option {
	typed, n := l.last()
	if n > 0 || c.o.Engine == nil {
		return nil
	}
	return slices.DeleteFunc(c.indirections(typed), func(o option) bool { return len(o.more) > 0 })
}

// nextRoute goes on with route.
func nextRoute(c *Console, l call) []option {
	typed, n := l.last()
	if c.o.Engine == nil {
		return nil
	}
	switch {
	case n == 0:
		return append(nextIndirection(c, l), plain("command", typed, "reset", "export")...)
	case l.words[0] == "reset":
		return plain("changed", typed, c.o.Engine.Overrides()...)
	case l.words[0] == "export":
		return nil
	}
	ind := l.words[0]
	var all []option
	for _, slot := range []string{indirector.SlotTerminus, indirector.SlotCache} {
		for _, t := range c.o.Engine.Registry().Termini(ind) {
			all = append(all, option{word: slot + "=" + t, kind: slot})
		}
	}
	all = append(all, option{word: "cache=off", kind: "cache", note: "no cache"},
		option{word: "ttl=", kind: "ttl", note: "seconds until what is found expires, instead of runinterval", open: true})
	if n > 1 {
		all = append(all, option{word: "dry", kind: "flag", note: "only look what it would mean; nothing is executed"})
	}
	if n > 1 && c.env.Processes != nil {
		all = append(all, forWhom...)
	}
	return startWith(all, typed)
}

// nextFilter goes on with an expression.
func nextFilter(c *Console, l call) []option {
	typed, _ := l.last()
	start := len(l.rest) - len(typed)
	if runs := c.runs(typed); len(runs) > 0 {
		return runs
	}
	var out []option
	for _, s := range query.Complete(l.rest, len(l.rest)) {
		if s.Start < start {
			continue // it would change what stands before the last word
		}
		out = append(out, option{word: l.rest[start:s.Start] + s.Text, kind: "expression", note: s.Doc, open: true})
	}
	return out
}

// runs goes on with run= by the newest runs, each with what is known of it.
func (c *Console) runs(typed string) (out []option) {
	for _, next := range c.env.CompleteRun(typed) {
		out = append(out, option{word: next.Text, kind: "run", note: next.Name + ", " + next.Kind + ": " + next.Note})
	}
	return out
}

func nextGroup(_ *Console, l call) []option {
	typed, n := l.last()
	if n > 0 {
		return nil
	}
	return plain("group", typed, groupings...)
}

func nextSort(_ *Console, l call) []option {
	typed, n := l.last()
	if n > 0 {
		return plain("order", typed, "desc")
	}
	return plain("column", typed, columns...)
}

func nextShow(c *Console, l call) []option {
	typed, _ := l.last()
	var out []option
	for _, p := range c.o.Places {
		if p := strings.ToLower(p); strings.HasPrefix(p, strings.ToLower(typed)) {
			out = append(out, option{word: p, kind: "place"})
		}
	}
	return out
}

func nextSettings(c *Console, l call) []option {
	typed, _ := l.last()
	var out []option
	for _, s := range c.o.Settings.All() {
		if strings.HasPrefix(s.Name, typed) {
			out = append(out, option{word: s.Name, kind: "setting", note: c.shown(s.Name, s.Value)})
		}
	}
	return out
}

func nextDemo(c *Console, l call) []option {
	typed, _ := l.last()
	var out []option
	for _, s := range c.o.Situations {
		if strings.HasPrefix(strings.ToLower(s[0]), strings.ToLower(typed)) {
			out = append(out, option{word: s[0], kind: "situation", note: s[1]})
		}
	}
	return out
}

func nextType(c *Console, l call) []option {
	typed, _ := l.last()
	if c.o.Types == nil {
		return nil
	}
	return plain("type", typed, c.o.Types()...)
}

// nextNode goes on with nodes whose facts are stored.
func nextNode(c *Console, l call) []option {
	typed, _ := l.last()
	return c.keys("facts", typed)
}

func nextOnOff(_ *Console, l call) []option {
	typed, _ := l.last()
	return plain("", typed, "on", "off")
}

func nextStores(_ *Console, l call) []option {
	typed, _ := l.last()
	return plain("", typed, "retry")
}

func nextHelp(_ *Console, l call) []option {
	typed, _ := l.last()
	return plain("topic", typed, append(help.Topics(), "commands")...)
}
