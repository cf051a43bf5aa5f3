// Package cache shows what termini keep, routed or not: how old it is, when it
// ends or why never, who wrote it and who was served from it.
package cache

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/command"
	"indirtui/ui/compare"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/value"
	"indirtui/ui/widget"
)

// An Engine is what keeps things: an *engine.Engine. It is safe for concurrent
// use.
type Engine interface {
	Explain(indirection string) (indirector.Route, bool)
	Walk(ctx context.Context, yield func(indirector.Entry) bool, indirections ...string) error
	Plan(ctx context.Context, req *indirector.Request, routes indirector.Routes) indirector.Forecast
	Ask(context.Context, *indirector.Request) (indirector.Response, error)
	Writes() bool
}

// A Cache is the list of entries.
type Cache struct {
	ctx           context.Context
	env           *session.Env
	engine        Engine // nil in a recording
	width, height int

	index   *index
	shown   []*entry
	list    widget.Table
	filter  string
	expr    *query.Expr
	sorting int // of sortings
	history widget.History

	listing bool // a walk is on its way
	waiting widget.Wait
	walked  time.Time // when the last one ended; zero before the first
	took    time.Duration
	stale   bool // requests have changed entries since
	cut     bool // there are more than maxEntries
	scanned bool // a scan is on its way
	err     error
	plans   map[entryID]planned // by entry
	asked   entryID
}

// maxEntries bounds the list.
const maxEntries = 200_000

// batch is how many entries come at once while termini are listed.
const batch = 2000

// soon is how long a walk may take to be done again by itself.
const soon = 300 * time.Millisecond

var _ screen.Screen = (*Cache)(nil)

// New returns the place. A nil engine is a recording. What it has begun ends with
// ctx.
func New(ctx context.Context, env *session.Env, engine Engine) *Cache {
	return &Cache{ctx: ctx, env: env, engine: engine, index: newIndex(), plans: make(map[entryID]planned), list: widget.Table{Columns: columns, Gutter: 2}}
}

type (
	walked struct {
		entries []indirector.Entry
		rest    *walk // nil when it is over
		cut     bool
		err     error
	}
	scanned struct{}
	planned struct {
		id   entryID
		next string // what the next find would meet
		save string // what became of the last save; "" if it is what is there
	}
	entryRead struct{ id uint64 }
	bothRead  struct{ a, b uint64 }
)

// A walk is a list that is being made, batch by batch.
type walk struct {
	batches chan walked
	began   time.Time
	next    *index
}

// walk begins to list all termini. It goes on in a goroutine that ends with the
// context, and waits until each batch was taken.
func (c *Cache) walk() tea.Cmd {
	if c.engine == nil || c.listing {
		return nil
	}
	c.listing, c.stale = true, false
	w := &walk{batches: make(chan walked), began: c.env.Now(), next: newIndex()}
	go func() {
		n, m := 0, walked{}
		send := func() bool {
			select {
			case w.batches <- m:
				m = walked{}
				return true
			case <-c.ctx.Done():
				return false
			}
		}
		err := c.engine.Walk(c.ctx, func(e indirector.Entry) bool {
			if n++; n > maxEntries {
				m.cut = true
				return false
			}
			m.entries = append(m.entries, e)
			return len(m.entries) < batch || send()
		})
		m.err = err
		if send() {
			close(w.batches)
		}
	}()
	return tea.Batch(c.waiting.Begin(&c.env.Shared, c), c.wait(w))
}

// wait waits for the next batch.
func (c *Cache) wait(w *walk) tea.Cmd {
	return screen.Later(func() tea.Msg {
		select {
		case m, ok := <-w.batches:
			if m.rest = w; !ok {
				m.rest = nil
			}
			return screen.For{Screen: c, Msg: batchOf{w, m}}
		case <-c.ctx.Done():
			return nil
		}
	})
}

type batchOf struct {
	walk *walk
	walked
}

func (c *Cache) take(m batchOf) tea.Cmd {
	var cmd tea.Cmd
	first := c.walked.IsZero()
	list := make([]*entry, len(m.entries))
	for i, e := range m.entries {
		list[i] = c.entryOf(e)
	}
	m.walk.next.add(list)
	if m.err != nil {
		c.err = m.err
	}
	c.cut = c.cut && !first || m.cut
	if first { // what there is so far is shown at once
		c.index = m.walk.next
		cmd = c.lay()
	}
	if m.rest != nil {
		return tea.Batch(cmd, c.wait(m.walk))
	}
	if !first {
		m.walk.next.keep(c.index)
	}
	c.index = m.walk.next
	c.waiting.End()
	c.listing, c.walked, c.took = false, c.env.Now(), c.env.Now().Sub(m.walk.began)
	clear(c.plans)
	return tea.Batch(c.lay(), c.scan(), c.plan())
}

func (c *Cache) entryOf(e indirector.Entry) *entry {
	r, _ := c.engine.Explain(e.Indirection)
	primary, cached := r.Primary.Winner().Terminus == e.Terminus, r.Cache.Winner().Terminus == e.Terminus
	return &entry{Entry: e, id: entryID{e.Indirection, e.Terminus, e.Key}, orphan: !primary && !cached, cached: cached}
}

// scan looks at what requests did.
func (c *Cache) scan() tea.Cmd {
	if c.scanned || c.walked.IsZero() {
		return nil
	}
	// What belongs to the screen must not be read elsewhere while it is written:
	// the scan is short, and its rows are in memory.
	from := c.index.seen
	more, changed := c.index.scan(c.env.Log)
	c.stale = c.stale || changed && from > 0
	if !more {
		return nil
	}
	c.scanned = true
	return screen.Send(screen.For{Screen: c, Msg: scanned{}})
}

// plan asks what a find of the entry in focus would meet now, and what became of the
// last save.
func (c *Cache) plan() tea.Cmd {
	e := c.focus()
	if e == nil || e.Key == "" || c.plans[e.id].id == e.id || c.asked == e.id {
		return nil
	}
	c.asked = e.id
	id, engine, ctx, save := e.id, c.engine, c.ctx, e.ignored()
	return screen.Later(func() tea.Msg {
		f := engine.Plan(ctx, &indirector.Request{Indirection: id.ind, Verb: indirector.Find, Key: id.key}, nil)
		return screen.For{Screen: c, Msg: planned{id, f.Why, c.story(save)}}
	})
}

// story is what became of a request; "" if none is asked for.
func (c *Cache) story(id uint64) string {
	if id == 0 {
		return ""
	}
	t, err := c.env.Log.Trace(id)
	if err != nil {
		return fmt.Sprintf("#%d: %v", id, err)
	}
	return fmt.Sprintf("#%d: %s", id, traces.Story(t))
}

// few is how many entries a filter looks at while the screen waits.
const few = 2000

// entriesChosen are the entries that a filter means, which a command has found.
type entriesChosen struct {
	index   *index
	expr    *query.Expr
	entries []*entry
}

// lay chooses and orders the entries that are shown. Where a filter has to look
// at many the command does it, and those that were shown stay meanwhile.
func (c *Cache) lay() tea.Cmd {
	all, expr, now := c.index.all, c.expr, c.env.Now()
	if expr == nil {
		c.order(slices.Clone(all))
		return nil
	}
	choose := func() (list []*entry) {
		for _, e := range all {
			if e.matches(expr, now) {
				list = append(list, e)
			}
		}
		return list
	}
	if len(all) <= few {
		c.order(choose())
		return nil
	}
	index := c.index
	return screen.Later(func() tea.Msg { return screen.For{Screen: c, Msg: entriesChosen{index, expr, choose()}} })
}

// order shows entries, which come in the order of their names.
func (c *Cache) order(list []*entry) {
	var at *entry
	if at = c.focus(); at != nil && at.Key == "" {
		at = nil
	}
	if key := sortings[c.sorting].key; key != nil {
		items := make([]widget.Keyed[*entry], len(list))
		for i, e := range list {
			items[i] = widget.Keyed[*entry]{Key: key(e), Of: e}
		}
		for i, item := range widget.SortKeyed(items) {
			list[i] = item.Of
		}
	}
	c.shown = list
	c.list.SetHeight(c.height - 1 - c.below())
	c.list.SetLen(len(c.shown))
	c.list.Seek(func(i int) bool { return at != nil && (c.shown[i] == at || c.shown[i].id == at.id) })
}

// sortings are the orders there are, the least key first; each list comes sorted
// by name.
var sortings = []struct {
	name, title string // title of its column
	key         func(*entry) uint64
}{
	{"name", "KEY", nil},
	{"age", "AGE", func(e *entry) uint64 { return ascending(e.Written.UnixNano(), e.Written.IsZero()) }},
	{"size", "SIZE", func(e *entry) uint64 { return ^ascending(e.Size, false) }},
	{"expiry", "EXPIRES", func(e *entry) uint64 {
		if e.Expiration.IsZero() {
			return ^uint64(0)
		}
		return ascending(e.Expiration.UnixNano(), false)
	}},
	{"served", "SERVED", func(e *entry) uint64 { return ^uint64(e.serves) }},
}

// ascending is a number without a sign in the same order; what is not known
// comes first.
func ascending(n int64, unknown bool) uint64 {
	if unknown {
		return 0
	}
	return uint64(n) ^ 1<<63
}

func (c *Cache) focus() *entry {
	if c.list.Cursor >= len(c.shown) {
		return nil
	}
	return c.shown[c.list.Cursor]
}

func (c *Cache) Scope() screen.Scope { return screen.InList | screen.InCache }

func (c *Cache) Resize(width, height int) {
	c.width, c.height = width, height
	c.list.SetHeight(height - 1 - c.below())
}

// below is the lines of the detail: what a short list leaves, and a part of the
// screen at least.
func (c *Cache) below() int {
	return max(min(14, c.height-1-len(c.shown)), min(8, c.height*2/5), 3)
}

func (c *Cache) Update(msg tea.Msg) tea.Cmd {
	if cmd, is := c.waiting.Tick(msg); is {
		return cmd
	}
	switch msg := msg.(type) {
	case session.Snapshot:
		if c.engine == nil {
			return nil
		}
		cmd := c.scan()
		if c.walked.IsZero() || c.stale && c.took < soon {
			cmd = tea.Batch(cmd, c.walk())
		}
		return tea.Batch(cmd, c.plan())
	case batchOf:
		return c.take(msg)
	case scanned:
		c.scanned = false
		return c.scan()
	case planned:
		c.plans[msg.id] = msg
		c.asked = entryID{}
		return c.plan()
	case entryRead:
		return c.open(msg.id)
	case bothRead:
		return compare.Two(c.env, msg.a, msg.b)
	case filterChosen:
		return c.setFilter(string(msg))
	case entriesChosen:
		if msg.index == c.index && msg.expr == c.expr {
			c.order(msg.entries)
			return c.plan()
		}
	}
	return nil
}

func (c *Cache) Disabled(do screen.Action) string {
	if c.engine == nil {
		return screen.Unknown
	}
	e := c.focus()
	switch {
	case do == screen.Back:
		return screen.ReasonIf(c.filter == "", screen.Unknown)
	case do == screen.FilterBy, do == screen.Reload:
		return ""
	case widget.Moves(do), do == screen.SortNext, do == screen.SortBack:
		return screen.ReasonIf(e == nil, "there is no entry")
	}
	switch do {
	case screen.CopyMenu, screen.UsedBy:
		return screen.ReasonIf(e == nil, "there is no entry")
	case screen.Enter:
		return screen.ReasonIf(e == nil || e.Key == "", "there is no entry")
	case screen.DiffTwo:
		return c.diffDisabled(e)
	case screen.PlanIt:
		return screen.ReasonIf(e == nil || e.Key == "" || e.Indirection != "catalog", "only a catalog has a plan")
	case screen.Expire, screen.Remove:
		switch {
		case e == nil || e.Key == "":
			return "there is no entry"
		case !c.engine.Writes():
			return "read-only: start with --write, or :write on"
		}
		return ""
	}
	return screen.Unknown
}

func (c *Cache) diffDisabled(e *entry) string {
	if e == nil || e.Key == "" {
		return "there is no entry"
	}
	r, _ := c.engine.Explain(e.Indirection)
	switch primary := r.Primary.Winner().Terminus; primary {
	case "":
		return "nobody is routed for " + e.Indirection
	case e.Terminus:
		return "the entry is that of the terminus itself"
	}
	return ""
}

func (c *Cache) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.DiffTwo, screen.PlanIt, screen.Expire, screen.UsedBy, screen.FilterBy, screen.Remove, screen.CommandLine, screen.SortNext, screen.CopyMenu, screen.Reload}
}

func (c *Cache) Handle(a screen.Command) tea.Cmd {
	e := c.focus()
	switch a.Action {
	case screen.Enter:
		return c.read(e, func(id uint64) tea.Cmd { return screen.Send(screen.For{Screen: c, Msg: entryRead{id}}) })
	case screen.DiffTwo:
		return c.diff(e)
	case screen.PlanIt:
		return screen.Send(screen.Run{Text: "plan " + command.Quote(e.Key) + " terminus=" + command.Quote(e.Terminus)})
	case screen.UsedBy:
		return screen.Send(screen.Filter{Text: usedBy(e)})
	case screen.FilterBy:
		return c.askFilter()
	case screen.Back:
		return c.changeFilter("")
	case screen.SortNext, screen.SortBack:
		step := 1
		if a.Action == screen.SortBack {
			step = len(sortings) - 1
		}
		c.sorting = (c.sorting + step) % len(sortings)
		return c.lay()
	case screen.Expire:
		return c.expire(e)
	case screen.Remove:
		return screen.Send(screen.Run{Text: "destroy " + command.Quote(e.Indirection) + " " + command.Quote(e.Key) + " terminus=" + command.Quote(e.Terminus) + " cache=none"})
	case screen.Reload:
		return c.walk()
	case screen.CopyMenu:
		return screen.Show(widget.NewMenu(&c.env.Shared, "copy", c.copies(e)))
	}
	return nil
}

// usedBy is the expression that means the requests which an entry served.
func usedBy(e *entry) string {
	by := "served=terminus terminus="
	if e.cached {
		by = "served=cache cache="
	}
	return "ind=" + query.Quote(e.Indirection) + " key=" + query.Quote(e.Key) + " " + by + query.Quote(e.Terminus)
}

// ask asks a request for the user, and returns its number.
func (c *Cache) ask(req *indirector.Request) (uint64, error) {
	req.Caller = "you"
	resp, err := c.engine.Ask(c.ctx, req)
	return command.TraceOf(resp, err), err
}

// request is a find of what one terminus keeps, past every cache.
func request(e *entry) *indirector.Request {
	return &indirector.Request{
		Indirection: e.Indirection, Verb: indirector.Find, Key: e.Key, Terminus: e.Terminus, Cache: indirector.Off,
		By: traces.FromRequest, Source: "place Cache",
	}
}

// read asks a terminus for an entry.
func (c *Cache) read(e *entry, then func(uint64) tea.Cmd) tea.Cmd {
	req := request(e)
	return screen.Later(func() tea.Msg {
		id, err := c.ask(req)
		if id == 0 {
			return screen.Toast{Text: "read the entry: " + indirector.Message(err), Bad: true}
		}
		return then(id)()
	})
}

// open shows the value of the entry, with what is known of its life.
func (c *Cache) open(id uint64) tea.Cmd {
	t, err := c.env.Log.Trace(id)
	switch {
	case err != nil:
		return screen.Warn(fmt.Sprintf("#%d: %v", id, err), "")
	case t.Value().Model == "":
		return screen.Send(screen.Open{Request: id, New: true})
	}
	v := value.New(c.env, t)
	if e := c.index.by[entryID{t.Indirection, t.Primary.Winner().Terminus, t.Key}]; e != nil {
		v.Add(c.biography(e)...)
	}
	return screen.Show(v)
}

// diff asks both the entry and the terminus that is routed, and compares.
func (c *Cache) diff(e *entry) tea.Cmd {
	r, _ := c.engine.Explain(e.Indirection)
	one := request(e)
	two := request(e)
	two.Terminus = r.Primary.Winner().Terminus
	return screen.Later(func() tea.Msg {
		a, err := c.ask(one)
		if a == 0 {
			return screen.Toast{Text: "read the entry: " + indirector.Message(err), Bad: true}
		}
		b, err := c.ask(two)
		if b == 0 {
			return screen.Toast{Text: "ask terminus " + two.Terminus + ": " + indirector.Message(err), Bad: true}
		}
		return screen.For{Screen: c, Msg: bothRead{a, b}}
	})
}

// expire asks first: what is expired is asked for anew by the next find.
func (c *Cache) expire(e *entry) tea.Cmd {
	title, note := fmt.Sprintf("expire %s %s in %s?", e.Indirection, c.env.Redacted(e.Key), e.Terminus), "this cannot be undone"
	if !e.KeepsExpiry {
		note = fmt.Sprintf("warning: %s does not keep the expiry; it will be served as before", e.Terminus)
	}
	req := &indirector.Request{Indirection: e.Indirection, Verb: indirector.Expire, Key: e.Key, Cache: e.Terminus, By: traces.FromRequest, Source: "place Cache"}
	return screen.Show(widget.NewMenu(&c.env.Shared, title, []widget.Item{
		{Key: 'y', Name: "expire it", Note: note, Do: screen.Later(func() tea.Msg {
			id, err := c.ask(req)
			if err != nil {
				return screen.Toast{Text: "expire: " + indirector.Message(err), Bad: true}
			}
			return screen.Toast{Text: fmt.Sprintf("expired %s %s in %s by #%d", req.Indirection, req.Key, req.Cache, id)}
		})},
		{Key: 'n', Name: "leave it"},
	}))
}

type filterChosen string

func (c *Cache) askFilter() tea.Cmd {
	old := c.filter
	set := func(text string) (*widget.Problem, tea.Cmd) {
		if _, err := query.Parse(text); err != nil {
			return &widget.Problem{Offset: -1, Text: err.Error()}, nil
		}
		return nil, c.setFilter(text)
	}
	p := widget.Prompt{
		Label: "/", Hint: "web01   ind=catalog   terminus=yaml   age>1h   size>100kB", History: &c.history,
		Change: set,
		Enter: func(text string) (*widget.Problem, tea.Cmd) {
			text = strings.TrimSpace(text)
			if problem, cmd := set(text); problem != nil || text == old {
				return problem, cmd
			}
			return nil, c.filterDone(old, text)
		},
		Cancel: func() tea.Cmd { return c.setFilter(old) },
	}
	p.Input.Set(old)
	return screen.Show(widget.NewPrompt(&c.env.Shared, p))
}

func (c *Cache) setFilter(text string) tea.Cmd {
	text = strings.TrimSpace(text)
	expr, err := query.ParseAt(text, c.env.Now())
	if err != nil {
		return screen.Warn("filter: "+err.Error(), "")
	}
	if c.filter, c.expr = text, expr; text == "" {
		c.expr = nil
	}
	return tea.Batch(c.lay(), c.plan())
}

func (c *Cache) changeFilter(text string) tea.Cmd {
	old := c.filter
	return tea.Batch(c.setFilter(text), c.filterDone(old, text))
}

func (c *Cache) filterDone(old, text string) tea.Cmd {
	what := strings.TrimSpace("filter of entries " + text)
	to := func(text string) tea.Cmd {
		return func() tea.Msg { return screen.For{Screen: c, Msg: filterChosen(text)} }
	}
	return screen.Changed(what, old, text, to)
}

func (c *Cache) copies(e *entry) []widget.Item {
	items := []widget.Item{widget.CopyItem('k', "key", e.Key)}
	if e.Path != "" {
		items = append(items, widget.CopyItem('p', "path", e.Path))
	}
	var b strings.Builder
	for _, f := range c.biography(e) {
		fmt.Fprintf(&b, "%-12s %s\n", f.Label, f.Text)
	}
	all := widget.CopyItem('b', "biography", b.String())
	all.Note = "what is known of its life"
	return append(items, all,
		widget.CopyItem('c', "command", "find "+command.Quote(e.Indirection)+" "+command.Quote(e.Key)+" terminus="+command.Quote(e.Terminus)+" cache=none"))
}

// List returns the entries.
func (c *Cache) List() screen.List { return &c.list }

// Moved asks for the plan of the entry in focus.
func (c *Cache) Moved() tea.Cmd { return c.plan() }

// Click puts the cursor on an entry; on the title of a column it sorts by that.
func (c *Cache) Click(x, y int) tea.Cmd {
	if column := c.list.TitleAt(x, y); column >= 0 && len(c.shown) > 0 {
		for i := range sortings {
			if sortings[i].title == columns[column].Title {
				c.sorting = i
				return c.lay()
			}
		}
	}
	if c.list.Click(x, y) {
		return c.plan()
	}
	return nil
}

// Wheel moves what is seen.
func (c *Cache) Wheel(lines int) tea.Cmd {
	c.list.Wheel(lines)
	return c.plan()
}
