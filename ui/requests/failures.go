package requests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/compare"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A Failures lists what went wrong, seen or hidden, in groups of one origin and
// one message.
type Failures struct {
	env           *session.Env
	width, height int
	list          widget.Table
	groups        []failure
	stats         session.Stats
	since         time.Time
	busy          bool
	wait          widget.Wait
	done          bool
	resting       bool   // what was gathered is good enough for now
	gathered      uint64 // failures there were when they were gathered
	hiddenOnly    bool
	by            string          // what makes a group; "" is origin and message
	muted         map[string]bool // shapes that are not listed
	quiet         int             // groups that are muted
	about         about           // the detail that was shown last
}

// An about is what is known of a group, as it is shown until other groups are
// gathered.
type about struct {
	group, width, height int
	lines                term.Lines // nil if nothing was shown
}

// A failure is the requests that failed in the same way.
type failure struct {
	origin  string
	outcome traces.Outcome
	verb    traces.Verb
	ind     string
	message string // of the newest
	keys    map[string]bool
	key     string // of the newest
	count   int
	first   time.Time // the earliest; a clock may be set back
	last    time.Time // the latest
	id      uint64    // the newest
	good    uint64    // the last good answer before it
	hidden  int       // how many of them the callers did not see
	at      []time.Time
	members []uint64 // the newest, oldest first
	by      string   // what makes the group, see groupings
	wrong   string   // what went wrong, without verb and key
	// From the links and the detail of the members.
	consequence string
	after       []uint64 // the requests that show it
	where       string
	shownTo     string
	decided     string // what chose the terminus or the cache that failed
	source      string // the kind of it: "face"
	instead     string // who was asked once a failure had been hidden
	short       string // the key as it is called in the list
}

// maxMembers is how many requests of a group are looked at closely.
const maxMembers = 200

type restEnded struct{} // the failures may be gathered again

type failuresGathered struct {
	groups []failure
	since  time.Time
	total  uint64
	hidden bool   // as it was asked for
	by     string // likewise
}

// NewFailures returns the list of failures.
func NewFailures(env *session.Env) *Failures {
	return &Failures{env: env, muted: make(map[string]bool), list: widget.Table{Columns: failureColumns}}
}

var _ screen.Screen = (*Failures)(nil)

// List returns the groups.
func (f *Failures) List() screen.List { return &f.list }

func (f *Failures) Scope() screen.Scope { return screen.InFailures }

func (f *Failures) Resize(width, height int) {
	f.width, f.height = width, height
	f.list.Under = nil
	if height >= roomy {
		f.list.Under = f.under
	}
	f.layout()
}

// layout divides the screen: what the list leaves free is for the detail.
func (f *Failures) layout() {
	f.list.SetHeight((f.height - 1 - f.below()) / f.tall())
	f.columns()
}

// tall is how many lines a group has.
func (f *Failures) tall() int {
	if f.list.Under != nil {
		return 2
	}
	return 1
}

// columns are those that there is room for. Where it was is as wide as it must be.
func (f *Failures) columns() {
	place := (*failure).place
	f.list.Columns = slices.Clone(failureColumns)
	if f.width >= screen.Wide {
		place = (*failure).placeAndKey
		f.list.Columns = slices.Clone(wideColumns)
	}
	if f.list.Under != nil {
		f.list.Columns[2].Title += ", AND WHAT CAME OF IT"
	}
	where := &f.list.Columns[3]
	most := where.Want
	where.Want = where.Min
	for i := range f.groups {
		where.Want = min(max(where.Want, term.Clean(place(&f.groups[i])).Width()), most)
	}
}

// below is how many lines the detail has.
func (f *Failures) below() int {
	least := min(12, max(f.height*2/5, 2))
	return max(least, f.height-1-len(f.groups)*f.tall())
}

func (f *Failures) Update(msg tea.Msg) tea.Cmd {
	if cmd, is := f.wait.Tick(msg); is {
		return cmd
	}
	switch msg := msg.(type) {
	case session.Snapshot:
		f.stats = msg.Stats
		return f.gather()
	case groupingChosen:
		f.by, f.done = string(msg), false
		return f.gather()
	case failuresGathered:
		f.busy, f.done, f.gathered = false, msg.hidden == f.hiddenOnly && msg.by == f.by, msg.total
		f.since = msg.since
		if f.done {
			f.wait.End()
		}
		f.take(msg.groups)
		if wait := breather(f.stats.Total); wait > 0 {
			f.resting = true
			return tea.Batch(f.gather(), f.env.After(wait, screen.For{Screen: f, Msg: restEnded{}}))
		}
		return f.gather()
	case restEnded:
		f.resting = false
		return f.gather()
	}
	return nil
}

// take shows other groups, with the cursor on the same one.
func (f *Failures) take(groups []failure) {
	var at string
	if g := f.focus(); g != nil {
		at = g.shape()
	}
	f.quiet = 0
	groups = slices.DeleteFunc(groups, func(g failure) bool {
		if f.muted[g.shape()] {
			f.quiet++
			return true
		}
		return false
	})
	shorten(groups)
	f.groups, f.about = groups, about{}
	f.list.SetLen(len(groups))
	f.layout()
	f.list.Seek(func(i int) bool { return groups[i].shape() == at })
}

// gather makes the groups anew when more has failed, on its own goroutine.
func (f *Failures) gather() tea.Cmd {
	if f.busy || f.done && (f.resting || f.gathered == f.stats.Failed) {
		return nil
	}
	f.busy = true
	total, hidden, by := f.stats.Failed, f.hiddenOnly, f.by
	var wait tea.Cmd
	if !f.done {
		wait = f.wait.Begin(&f.env.Shared, f)
	}
	return tea.Batch(wait, screen.Later(func() tea.Msg {
		m := failuresGathered{total: total, hidden: hidden, by: by}
		first, _ := f.env.Log.Range()
		if row, ok := f.env.Log.Row(first); ok {
			m.since = row.Start
		}
		m.groups = gatherFailures(f.env.Log, hidden, by)
		return screen.For{Screen: f, Msg: m}
	}))
}

func gatherFailures(log session.Log, hiddenOnly bool, by string) []failure {
	text := "failed"
	if hiddenOnly {
		text = "hidden"
	}
	v, err := session.Find(log, text)
	if err != nil {
		return nil
	}
	byShape := make(map[string]*failure)
	eachRow(log, v, func(row *session.Row) {
		one := failureOf(row)
		one.by = by
		shape := one.shape()
		g := byShape[shape]
		if g == nil {
			g = &one
			g.keys, g.first, g.last = make(map[string]bool), row.Start, row.Start
			byShape[shape] = g
		}
		g.count++
		if len(g.keys) < maxKeys {
			g.keys[row.Key] = true
		}
		if row.Outcome.HiddenFrom(row.Caller) {
			g.hidden++
		}
		if len(g.members) == maxMembers {
			g.members, g.at = slices.Delete(g.members, 0, 1), slices.Delete(g.at, 0, 1)
		}
		g.members, g.at = append(g.members, row.ID), append(g.at, row.Start)
		if row.Start.Before(g.first) {
			g.first = row.Start
		}
		if row.Start.After(g.last) {
			g.last = row.Start
		}
		g.id, g.message, g.key = row.ID, one.message, row.Key
	})
	list := make([]failure, 0, len(byShape))
	for _, g := range byShape {
		g.complete(log)
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b failure) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.id, b.id))
	})
	return list
}

// maxKeys is how many keys of a group are counted.
const maxKeys = 1000

func failureOf(row *session.Row) failure {
	f := failure{origin: row.Origin, outcome: row.Outcome, verb: row.Verb, ind: row.Indirection, message: row.Fault}
	switch {
	case f.origin != "":
	case row.Served == traces.ByCache:
		f.origin = "cache " + row.Cache
	case row.Terminus != "":
		f.origin = "terminus " + row.Terminus
	default:
		f.origin = "route"
	}
	return f
}

// complete adds what only the detail of the newest request has.
func (f *failure) complete(log session.Log) {
	f.good = log.Links(f.id).LastGood
	f.wrong = f.message
	if t, err := log.Trace(f.id); err == nil {
		fault := faultOf(t, f.origin, f.message)
		if f.message == "" {
			f.message = traces.Story(t)
		}
		f.wrong = wrongOf(t, fault, f.message)
		f.where, f.shownTo = whereOf(t, fault), f.shown(t)
		slot := t.Primary
		if fault.Step == traces.CacheRead || fault.Step == traces.CacheWrite || t.Served == traces.ByCache {
			slot = t.Cache
		}
		f.decided, f.source, f.instead = slot.Decision(), slot.Winner().Kind.String(), insteadOf(t, fault)
	}
	f.follow(log)
}

// faultOf returns the fault that a group is about, or one that has as much of it as
// is known.
func faultOf(t *traces.Trace, origin, message string) *traces.Fault {
	for i := range t.Faults {
		if f := &t.Faults[i]; f.Origin == origin && f.Message == message {
			return f
		}
	}
	return &traces.Fault{Origin: origin, Message: message, Step: traces.Terminus}
}

// shape is what the requests of a group have in common: numbers, paths and
// names in the message do not count.
func (f *failure) shape() string {
	switch f.by {
	case "origin":
		return f.origin
	case "key":
		return f.key
	case "indirection":
		return f.ind
	}
	var b strings.Builder
	if f.by != "message" {
		fmt.Fprintf(&b, "%s\x00%s\x00%s\x00%s\x00", f.origin, f.outcome, f.verb, f.ind)
	}
	if f.outcome != traces.Err && f.outcome != traces.ErrHidden && f.outcome != traces.Part {
		return b.String()
	}
	for word := range strings.FieldsSeq(f.message) {
		if strings.ContainsAny(word, "0123456789/'\"") {
			word = "#"
		}
		b.WriteString(word + " ")
	}
	return b.String()
}

// wrongOf returns what went wrong with a request, in the fewest words.
func wrongOf(t *traces.Trace, fault *traces.Fault, message string) string {
	why := t.Steps[traces.Terminus].Because
	switch {
	case t.Outcome == traces.Stale:
		text := "an old " + t.Indirection + " was used"
		if age := t.CacheAge(); age != "" {
			text += ", " + age + " old"
		}
		return text
	case t.Outcome == traces.NilHidden && why.Reason == traces.NilFromEmptyOutput:
		if t.Indirection == "node" {
			return "the classifier (ENC) printed nothing"
		}
		return "the command printed nothing"
	}
	return cmp.Or(t.Wrong(fault), message)
}

// place is where it went wrong, without what is known of every terminus, and what
// follows from what was asked.
func (f *failure) place() string {
	part := f.part()
	for _, word := range []string{"terminus ", "the ", "reading ", "writing "} {
		part = strings.TrimPrefix(part, word)
	}
	return f.ind + " · " + part
}

// placeAndKey is where it went wrong, if there is room.
func (f *failure) placeAndKey() string {
	about := cmp.Or(f.short, f.key)
	if len(f.keys) > 1 {
		about = term.Plural(len(f.keys), "key")
	}
	return f.ind + " " + about + " · " + f.part()
}

// shorten calls hosts by their first label, where that means one host only.
func shorten(groups []failure) {
	hosts := make(map[string]map[string]bool) // by their first label
	for i := range groups {
		for key := range groups[i].keys {
			if label, is := hostOf(groups[i].ind, key); is {
				if hosts[label] == nil {
					hosts[label] = make(map[string]bool)
				}
				hosts[label][key] = true
			}
		}
	}
	for i := range groups {
		g := &groups[i]
		g.short = g.key
		if label, is := hostOf(g.ind, g.key); is && len(hosts[label]) == 1 {
			g.short = label
		}
	}
}

// hostOf returns the first label of a key that is the name of a host.
func hostOf(ind, key string) (label string, is bool) {
	label, _, _ = strings.Cut(key, ".")
	return label, label != "" && session.NodeOf(&session.Row{Indirection: ind, Key: key}) != ""
}

// part is the terminus or the cache where it went wrong: what failed within it
// stands in the detail.
func (f *failure) part() string {
	if name, is := strings.CutPrefix(f.origin, "terminus processor › "); is {
		return "processor " + name
	}
	part, _, _ := strings.Cut(f.origin, " › ")
	if part == "route" {
		part = strings.TrimSuffix("the route ("+f.source+")", " ()")
	}
	return caches.Replace(part)
}

// caches are the origins of failures in a cache, in words.
var caches = strings.NewReplacer("cache-read ", "reading cache ", "cache-write ", "writing cache ")

// seen returns whether the callers know: "seen", "hidden", "both".
func (f *failure) seen() string {
	switch {
	case f.hidden > 0 && f.hidden < f.count:
		return "both"
	case f.outcome == traces.Err:
		return "seen"
	case f.outcome == traces.Part:
		return "part"
	}
	return "hidden"
}

func (f *failure) what() string {
	about := f.key
	if len(f.keys) > 1 {
		about = term.Plural(len(f.keys), "key")
	}
	return fmt.Sprintf("%s %s %s: %s", f.verb, f.ind, about, strings.ReplaceAll(f.message, "\n", " "))
}

// filter is the expression that means the requests of the group.
func (f *failure) filter() string {
	switch f.by {
	case "origin":
		return "failed origin=" + query.Quote(f.origin)
	case "key":
		return "failed key=" + query.Quote(f.key)
	case "indirection":
		return "failed ind=" + query.Quote(f.ind)
	}
	parts := []string{"out=" + f.outcome.String(), "verb=" + f.verb.String(), "ind=" + query.Quote(f.ind)}
	if len(f.keys) == 1 {
		parts = append(parts, "key="+query.Quote(f.key))
	}
	if kind, name, ok := strings.Cut(f.origin, " "); ok && kind == "terminus" && !strings.Contains(name, " ") {
		parts = append(parts, "terminus="+query.Quote(name))
	} else if f.outcome != traces.Stale && f.outcome != traces.NilHidden {
		parts = append(parts, "origin="+query.Quote(f.origin))
	}
	return strings.Join(parts, " ")
}

func (f *Failures) focus() *failure {
	if f.list.Cursor >= len(f.groups) {
		return nil
	}
	return &f.groups[f.list.Cursor]
}

func (f *Failures) Disabled(do screen.Action) string {
	switch do {
	case screen.HiddenOnly, screen.GroupBy:
		return ""
	case screen.Back:
		return screen.ReasonIf(!f.hiddenOnly && f.by == "", screen.Unknown)
	case screen.Write:
		return screen.ReasonIf(f.env.Save == nil || len(f.groups) == 0, "there is nothing to write")
	case screen.Break:
		return screen.ReasonIf(f.env.Debugger == nil || len(f.groups) == 0, "nothing can be held here")
	case screen.Enter, screen.LastTrace, screen.CopyMenu, screen.Mute:
		return screen.ReasonIf(len(f.groups) == 0, "nothing failed")
	case screen.DiffGood:
		g := f.focus()
		return screen.ReasonIf(g == nil || g.good == 0, "this key was never answered well before")
	}
	if widget.Moves(do) {
		return screen.ReasonIf(len(f.groups) == 0, "nothing failed")
	}
	return screen.Unknown
}

func (f *Failures) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.LastTrace, screen.HiddenOnly, screen.GroupBy, screen.Write, screen.DiffGood, screen.Mute, screen.Break, screen.CopyMenu, screen.CommandLine}
}

func (f *Failures) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.HiddenOnly:
		f.hiddenOnly, f.done = !f.hiddenOnly, false
		return f.gather()
	case screen.Back:
		f.hiddenOnly, f.by, f.done = false, "", false
		return f.gather()
	case screen.GroupBy:
		return f.askGroup()
	case screen.Mute:
		return f.mute(f.focus().shape())
	case screen.Break:
		return screen.Send(screen.Ask{Text: "break " + f.focus().like() + " do hold"})
	case screen.Write:
		return f.askReport()
	case screen.Enter:
		return screen.Send(screen.Filter{Text: f.focus().filter()})
	case screen.LastTrace:
		return screen.Send(screen.Open{Request: f.focus().id})
	case screen.DiffGood:
		return compare.Two(f.env, f.focus().id, f.focus().good)
	case screen.CopyMenu:
		g := f.focus()
		return screen.Show(widget.NewMenu(&f.env.Shared, "copy", []widget.Item{
			{Key: 'f', Name: "failure", Note: g.what(), Do: screen.Send(screen.Copy{What: "failure", Text: fmt.Sprintf("%d %s %s: %s", g.count, g.seen(), g.origin, g.what())})},
			{Key: 'e', Name: "expression", Note: g.filter(), Do: screen.Send(screen.Copy{What: "expression", Text: g.filter()})},
			{Key: 'i', Name: "incident report", Note: "all groups, as text", Do: screen.Send(screen.Copy{What: "incident report", Text: f.report()})},
		}))
	}
	return nil
}

func (f *Failures) Context() (left, right term.Line) {
	left.Put(term.Bold, "Failures")
	left.Put(term.Quiet, "  "+term.Plural(len(f.groups), "kind")+" · "+term.Plural(int(f.stats.Failed), "request"))
	if f.by != "" {
		left.Put(term.Quiet, " · by "+f.by)
	}
	if f.hiddenOnly {
		left.Put(term.Attention, " · hidden only")
	}
	if !f.since.IsZero() {
		left.Put(term.Quiet, " · since "+f.env.Clock(f.since))
	}
	if f.quiet > 0 {
		left.Put(term.Attention, fmt.Sprintf(" · %d muted", f.quiet))
	}
	if n := f.stats.Hidden; n > 0 {
		right.Put(term.Attention, term.Grouped(int64(n))+" that no caller saw")
	}
	return left, right
}

var failureColumns = []widget.Column{
	{Title: "SEEN", Min: 6, Want: 6, Priority: 2},
	{Title: "N", Min: 3, Want: 5, Priority: 3, Right: true},
	{Title: "WHAT WENT WRONG", Min: 34, Want: 40, Priority: 5, Grow: 1},
	{Title: "WHERE", Min: 20, Want: 24, Priority: 4, Middle: true},
}

// wideColumns are those where the key and the time of the last one have room.
var wideColumns = append(failureColumns[:3:3],
	widget.Column{Title: "WHERE", Min: 20, Want: 48, Priority: 4, Middle: true},
	widget.Column{Title: "LAST", Min: 8, Want: 8, Priority: 1},
)

// roomy is the height from which each group has a second line.
const roomy = 24

func (f *Failures) View() term.Lines {
	if len(f.groups) == 0 {
		text := fmt.Sprintf("No failure since %s in %s. Hidden ones would be listed too.", f.env.Clock(f.since), term.Plural(int(f.stats.Total), "request"))
		switch {
		case !f.done:
			return widget.Waiting(&f.wait, "gathering failures")
		case f.hiddenOnly:
			text = "Nothing is hidden from its caller.  h lists all failures"
		case f.since.IsZero():
			text = "No failure, and no request yet. Hidden failures would be listed too."
		}
		return term.Lines{{}, term.Of(term.Plain, "   "+text)}
	}
	f.list.Gutter = 2
	if f.env.Theme.Glyphs.Gutter == "" || !f.env.Theme.HasBar() {
		f.list.Gutter = 3 // a letter stands there, and a blank
	}
	return append(f.list.Lines(f.env.Theme, f.width, f.row), f.detail(f.below())...)
}

func (f *Failures) row(i int, r *widget.Row) {
	g := &f.groups[i]
	style := session.StyleOf(g.outcome)
	if sign, letter := signOf(g.outcome); !r.Sign(f.env.Theme, style) {
		r.To(1)
		r.Put(sign, letter)
	}
	r.Next(style, g.seen())
	r.Next(term.Plain, term.Grouped(int64(g.count)))
	r.Next(term.Plain, g.wrong)
	if f.width < screen.Wide {
		r.Next(term.Plain, g.place())
		return
	}
	r.Next(term.Plain, g.placeAndKey())
	r.Next(term.Plain, f.env.Clock(g.last))
}

// under is the second line of a group: what came of it.
func (f *Failures) under(i int, r *widget.Row) {
	on := f.list.Gutter
	for _, w := range r.Widths[:2] {
		if w > 0 {
			on += w + 1
		}
	}
	r.To(on)
	r.Put(term.Quiet, f.env.Theme.Glyphs.Corner+" ")
	r.Add(term.Quiet, term.CleanTo(f.groups[i].consequence, max(f.width-on-3, 1)))
}

func (f *Failures) detail(height int) term.Lines {
	at := f.list.Cursor
	if a := &f.about; a.lines == nil || a.group != at || a.width != f.width || a.height != height {
		*a = about{at, f.width, height, f.described(f.focus(), height)}
	}
	lines := slices.Clone(f.about.lines)
	if actions := f.actions(); actions.Width() > 0 && len(lines)+2 <= height {
		lines = append(lines, term.Line{}, actions)
	}
	if len(lines)+2 <= height {
		legend := term.Of(term.Quiet, " hidden: the caller never saw it   part: one of two stores was written   seen: an error reached the caller")
		lines = append(lines.Fill(f.width, height-1), legend)
	}
	return lines.Fill(f.width, height)
}

// described is the title of a group, and what is known of it.
func (f *Failures) described(g *failure, height int) term.Lines {
	var title term.Title
	title.Left.Put(term.Bold, g.wrong)
	title.Right.Put(session.StyleOf(g.outcome), g.outcome.String())
	title.Right.Put(term.Quiet, " · "+term.Plural(g.count, "time")+" · "+term.Plural(len(g.keys), "key"))
	if line := g.timeline(f.env.Theme.Glyphs.Spark, 24); f.width >= screen.Wide && line != "" {
		title.Right.Put(term.Quiet, " · "+f.env.Clock(g.first)+" ")
		title.Right.Put(term.Accent, line)
		title.Right.Put(term.Quiet, " "+f.env.Clock(g.last))
	}
	return append(term.Lines{f.env.Theme.Titled(f.width, title)}, f.known(g, height-1)...)
}
