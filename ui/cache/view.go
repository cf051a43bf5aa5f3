package cache

import (
	"fmt"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

func (c *Cache) Context() (left, right term.Line) {
	expired, orphans, never, now := 0, 0, 0, c.env.Now()
	for _, e := range c.index.all {
		switch {
		case e.Key == "":
			continue
		case e.expired(now):
			expired++
		case e.Expiration.IsZero():
			never++
		}
		if e.orphan {
			orphans++
		}
	}
	left.Put(term.Bold, "Cache")
	left.Space(2)
	if c.filter != "" {
		left.Add(term.Accent|term.Bold, term.Clean(c.filter).Cut(max(c.width/3, 8)))
		left.Put(term.Quiet, "  "+term.Grouped(int64(len(c.shown)))+" of ")
	}
	entries := " entries"
	if len(c.index.all) == 1 {
		entries = " entry"
	}
	left.Put(term.Quiet, term.Grouped(int64(len(c.index.all)))+entries)
	put := func(what string, n int) {
		if n > 0 {
			left.Put(term.Quiet, " · ")
			left.Put(term.Attention, what)
		}
	}
	put(term.Grouped(int64(expired))+" expired", expired)
	put(term.Plural(orphans, "orphan"), orphans)
	if c.width >= screen.Wide {
		put(term.Grouped(int64(never))+" never expire", never)
	}
	switch {
	case c.listing:
		c.waiting.Put(&right, term.Quiet, "listing")
		right.Put(term.Quiet, " · ")
	case c.stale:
		right.Put(term.Attention, "changed since; ctrl+r lists again")
		right.Put(term.Quiet, " · ")
	case c.sorting != 0:
		right.Put(term.Quiet, "by "+sortings[c.sorting].name+" · ")
	}
	right.Put(term.Quiet, term.Bytes(c.index.bytes))
	return left, right
}

var columns = []widget.Column{
	{Title: "INDIRECTION", Min: 8, Want: 14, Priority: 6},
	{Title: "KEY", Min: 18, Want: 30, Priority: 9, Grow: 1},
	{Title: "TERMINUS", Min: 8, Want: 10, Priority: 7},
	{Title: "AGE", Min: 7, Want: 8, Priority: 4},
	{Title: "EXPIRES", Min: 16, Want: 22, Priority: 8},
	{Title: "WRITTEN BY", Min: 10, Want: 12, Priority: 5},
	{Title: "RUN", Min: 6, Want: 8, Priority: 1},
	{Title: "SIZE", Min: 9, Want: 11, Priority: 2, Right: true},
	{Title: "SERVED", Min: 6, Want: 7, Priority: 3, Right: true},
}

func (c *Cache) View() term.Lines {
	if len(c.shown) == 0 {
		return append(term.Lines{{}}, c.none()...)
	}
	return append(c.list.Lines(c.env.Theme, c.width, c.row), c.detail(c.below())...)
}

// none is shown when there are no entries.
func (c *Cache) none() term.Lines {
	line := func(style term.Style, text string) term.Line { return term.Of(style, "   "+text) }
	switch {
	case c.engine == nil:
		return term.Lines{line(term.Plain, "This is a recording: what is kept can be seen where it is kept, not here.")}
	case c.err != nil:
		return term.Lines{line(term.Failed, c.err.Error())}
	case c.filter != "":
		return term.Lines{line(term.Plain, fmt.Sprintf("No entry matches. %s hidden.  esc clears the filter", term.Grouped(int64(len(c.index.all)))))}
	case c.walked.IsZero():
		return widget.Waiting(&c.waiting, "listing all termini")[1:]
	}
	return term.Lines{line(term.Plain, "No cache is routed and none of the termini can be listed, or nothing is kept.  3 Routes")}
}

func (c *Cache) row(i int, r *widget.Row) {
	e, now := c.shown[i], c.env.Now()
	mark, style := " ", term.Plain
	switch {
	case e.Err != nil:
		mark, style = "!", term.Failed
	case e.expired(now):
		mark, style = "x", term.Attention
	case e.orphan:
		mark, style = "o", term.Attention
	}
	if !r.Focus { // the cursor takes the cell of the mark
		r.Put(style, mark)
	}
	by, run := "unknown", "-"
	if id := e.knownWriter(); id != 0 {
		by = fmt.Sprintf("#%d", id)
		run = c.runOf(e, id)
	}
	size := "-"
	if e.Size >= 0 {
		size = term.Grouped(e.Size)
	}
	age := "-"
	if !e.Written.IsZero() {
		age = traces.Age(now.Sub(e.Written))
	}
	expires := style
	if e.Expiration.IsZero() && e.Err == nil {
		expires = term.Plain
	}
	key := c.env.Redacted(e.Key)
	if key == "" && e.Err != nil {
		key = c.env.Redacted(e.Err.Error())
	}
	writer := term.Plain
	if by == "unknown" {
		writer = term.Quiet
	}
	r.Next(term.Plain, e.Indirection)
	r.Next(term.Plain, key)
	r.Next(term.Plain, e.Terminus)
	r.Next(term.Plain, age)
	r.Next(expires, e.expires(now))
	r.Next(writer, by)
	r.Next(term.Plain, run)
	r.Next(term.Plain, size)
	r.Next(term.Plain, strconv.Itoa(e.serves))
}

func (c *Cache) runOf(e *entry, id uint64) string {
	for _, v := range e.events {
		if v.id == id && v.run != "" {
			return v.run
		}
	}
	return "-"
}

// biography is what is known of the life of an entry, and what comes next.
func (c *Cache) biography(e *entry) (facts widget.Facts) {
	facts.Put(term.Plain, "written by", c.writer(e))
	facts.Put(term.Plain, "produced", c.produced(e))
	facts.Put(term.Attention, "last save", c.env.Redacted(c.plans[e.id].save))
	facts.Put(term.Plain, "expiry", c.expiry(e))
	facts.Put(term.Plain, "served", c.served(e))
	facts.Put(term.Plain, "next", c.next(e))
	facts.Put(term.Plain, "same key", c.sameKey(e))
	facts.Put(term.Plain, "kept in", e.Path)
	return facts
}

func (c *Cache) writer(e *entry) string {
	at := ""
	if !e.Written.IsZero() {
		at = "at " + e.Written.In(c.env.Zone).Format("2006-01-02 15:04:05")
	}
	id := e.knownWriter()
	if id == 0 {
		text := "unknown: before this recording, or by another program"
		if e.writer != 0 {
			text = fmt.Sprintf("another program, after #%d had written it", e.writer)
		}
		return strings.TrimSpace(text + "  " + at)
	}
	text := fmt.Sprintf("#%d", id)
	if row, ok := c.env.Log.Row(id); ok {
		text += fmt.Sprintf(" %s %s", row.Verb, row.Indirection)
		if row.Run != "" {
			text += ", run " + traces.RunName(row.Run, row.Transaction, row.RunGuessed)
		}
		text += ", env " + row.Environment
	}
	return text + "  " + at
}

// produced is what a store knows of an entry: when it was made and by whom, and since
// when its node is not active. "" for others.
func (c *Cache) produced(e *entry) string {
	if e.Produced.IsZero() {
		return c.env.Redacted(e.Note)
	}
	text := fmt.Sprintf("%s, %s ago", e.Produced.In(c.env.Zone).Format("2006-01-02 15:04:05"), traces.Age(c.env.Now().Sub(e.Produced)))
	if e.Note != "" {
		text += ", " + c.env.Redacted(e.Note)
	}
	return text
}

func (c *Cache) expiry(e *entry) string {
	switch {
	case !e.Produced.IsZero():
		return fmt.Sprintf("no expiry: %s keeps what was stored last of a node, until the node is removed", e.Terminus)
	case e.Err != nil:
		return "cannot be read: " + c.env.Redacted(e.Err.Error())
	case e.expired(c.env.Now()):
		return fmt.Sprintf("expired at %s, %s ago", c.env.Clock(e.Expiration), traces.Age(c.env.Now().Sub(e.Expiration)))
	case !e.Expiration.IsZero():
		return fmt.Sprintf("at %s, in %s", c.env.Clock(e.Expiration), traces.Age(e.Expiration.Sub(c.env.Now())))
	case e.KeepsExpiry:
		return "no expiry: it was written without one, so it is served for ever"
	}
	return fmt.Sprintf("no expiry: terminus %s does not keep it for %s, so what is kept is served for ever", e.Terminus, e.Indirection)
}

// served lists the newest requests that the entry served.
func (c *Cache) served(e *entry) string {
	if e.serves == 0 {
		return "no request in this recording"
	}
	const newest = 4
	var ids []string
	for i := len(e.events) - 1; i >= 0 && len(ids) < newest; i-- {
		if v := e.events[i]; v.what == "served" {
			text := fmt.Sprintf("#%d", v.id)
			if v.out == traces.Stale {
				text += " (stale)"
			}
			ids = append([]string{text}, ids...)
		}
	}
	times := "times"
	if e.serves == 1 {
		times = "time"
	}
	text := fmt.Sprintf("%s %s: %s", term.Grouped(int64(e.serves)), times, strings.Join(ids, " "))
	if n := e.serves - len(ids); n > 0 {
		text += fmt.Sprintf(" and %s before", term.Grouped(int64(n)))
	}
	return text
}

// next returns what would remove the entry or write it anew. Gap L6.
func (c *Cache) next(e *entry) string {
	r, _ := c.engine.Explain(e.Indirection)
	primary, cached := r.Primary.Winner().Terminus, r.Cache.Winner().Terminus
	plan := ""
	if why := c.plans[e.id].next; why != "" {
		plan = "; a find now: " + why
	}
	switch {
	case e.Key == "":
		return "nothing: it cannot be listed"
	case e.orphan && !e.Produced.IsZero(): // collectors read it, as others do that ask the store
		return fmt.Sprintf("it stays until a request that names %s replaces it: no route of %s leads there%s", e.Terminus, e.Indirection, plan)
	case e.orphan:
		return fmt.Sprintf("it stays: no route leads to %s, so it is not read, replaced or removed%s", e.Terminus, plan)
	case e.Err != nil:
		return fmt.Sprintf("replaced by the next find: it cannot be read, so %s is asked%s", primary, plan)
	case e.Terminus == primary:
		return "replaced by the next save, removed by a destroy; until then every find gets it" + plan
	case e.expired(c.env.Now()):
		return fmt.Sprintf("replaced by the next find: it has expired, so %s is asked%s", primary, plan)
	case !e.Expiration.IsZero():
		return fmt.Sprintf("served until %s; replaced by the next find after that, which asks %s%s", c.env.Clock(e.Expiration), primary, plan)
	case cached != "" && cached != indirector.Off:
		return fmt.Sprintf("replaced by the next find that ignores the cache and asks %s; until then every find gets this entry", primary)
	}
	return "nothing" + plan
}

// sameKey names where else the key is kept.
func (c *Cache) sameKey(e *entry) string {
	var parts []string
	for _, o := range c.index.keys[[2]string{e.Indirection, clip(e.Key)}] {
		if o == e || o.Key != e.Key {
			continue
		}
		text := o.Terminus
		if !o.Written.IsZero() {
			text += " " + traces.Age(c.env.Now().Sub(o.Written))
		}
		if o.orphan {
			text += " (orphan)"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func (c *Cache) detail(height int) term.Lines {
	e := c.focus()
	var title term.Title
	title.Left.Put(term.Bold, fmt.Sprintf("%s %s", e.Indirection, c.env.Redacted(e.Key)))
	title.Left.Put(term.Quiet, " in "+e.Terminus)
	if e.orphan {
		title.Right.Put(term.Attention, "orphan")
	}
	if e.Size >= 0 {
		if e.orphan {
			title.Right.Put(term.Quiet, " · ")
		}
		title.Right.Put(term.Quiet, term.Grouped(e.Size)+" B")
	}
	lines := term.Lines{c.env.Theme.Titled(c.width, title)}
	lines = append(lines, c.biography(e).Lines(2, 14, c.width, 3)...)
	if room := height - len(lines); room > 2 && c.width >= screen.Wide {
		for _, v := range e.events[max(len(e.events)-room, 0):] {
			var l term.Line
			l.To(14)
			l.Put(term.Quiet, c.env.Clock(v.at))
			l.Put(term.Plain, fmt.Sprintf(" %-9s #%d ", v.what, v.id))
			l.Put(session.StyleOf(v.out), v.out.String())
			lines = append(lines, l)
		}
	}
	if len(lines) < height {
		lines = append(lines.Fill(c.width, height-1), term.Of(term.Quiet, " o orphan: no route leads to its terminus   x expired   ! unreadable"))
	}
	return lines.Fill(c.width, height)
}
