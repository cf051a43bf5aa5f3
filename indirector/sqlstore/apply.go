package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/stores"
	"indirtui/traces"
)

// A Result is what became of a command.
type Result uint8

// The results. They are words of the table commands, too.
const (
	Stored    Result = iota
	Unchanged        // what it has is there already
	Older            // what is there is newer
	Refused          // its data cannot be stored
)

var results = [...]string{"stored", "unchanged", "ignored as older", "refused"}

func (r Result) String() string { return results[r] }

// An Outcome is what a command did.
type Outcome struct {
	Result   Result
	Command  string // "replace facts"
	Certname string
	Produced time.Time
	// What counts rows: "resources", "facts", "events"; "" if there are none. The numbers
	// are of rows of that kind.
	What                          string
	New, Changed, Gone, Untouched int
	EdgesNew, EdgesGone           int
	// Newer is when what is there was produced, or the node deactivated, if the command is
	// older.
	Newer time.Time
	// Inactive is since when the node is deactivated or expired, which this command
	// did not end; zero if it is active.
	Inactive time.Time
	// Deviations are what PuppetDB would have refused. Empty unless the store is lax.
	Deviations []string
	Reason     string        // why it is refused
	Waited     time.Duration // for others that wrote
	Retries    int           // of PostgreSQL, because of others that changed the same
}

// String returns the outcome in one line: "500 resources: 3 new, 1 changed, 2 gone;
// 494 untouched". The total is what there was and is.
func (o Outcome) String() string {
	var text string
	switch o.Result {
	case Older:
		is, was := clocks(o.Newer, o.Produced)
		text = fmt.Sprintf("ignored as older: stored is %s, this one was produced %s", is, was)
		if o.Command == command.DeactivateNode && o.Newer.Equal(o.Inactive) {
			text = fmt.Sprintf("ignored as older: deactivated since %s, this one was produced %s", is, was)
		}
	case Refused:
		text = "refused: " + o.Reason
	case Unchanged:
		text = "unchanged"
		if o.What != "" {
			text += fmt.Sprintf(": %d %s", o.Untouched, o.What)
		}
	default:
		text = o.counts()
	}
	if !o.Inactive.IsZero() && o.Command != command.DeactivateNode {
		text += "; the node stays inactive: since " + o.Inactive.UTC().Format(time.DateTime)
	}
	for _, d := range o.Deviations {
		text += "; not as PuppetDB: " + d
	}
	return text
}

func (o Outcome) counts() string {
	total := o.New + o.Changed + o.Gone + o.Untouched
	if total == 0 {
		return o.Result.String()
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{o.New, "new"}, {o.Changed, "changed"}, {o.Gone, "gone"}, {o.EdgesNew, "edges new"}, {o.EdgesGone, "edges gone"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if o.Untouched > 0 || len(parts) == 0 {
		return fmt.Sprintf("%d %s: %s; %d untouched", total, o.What, strings.Join(parts, ", "), o.Untouched)
	}
	return fmt.Sprintf("%d %s: %s", total, o.What, strings.Join(parts, ", "))
}

// clocks returns two moments as short as they differ.
func clocks(a, b time.Time) (x, y string) {
	a, b = a.UTC(), b.UTC()
	for _, format := range []string{time.TimeOnly, "15:04:05.000", time.DateTime} {
		x, y = a.Format(format), b.Format(format)
		if x != y && (format == time.DateTime || a.Format(time.DateOnly) == b.Format(time.DateOnly)) {
			return x, y
		}
	}
	return x, y
}

// A Refusal reports a command whose data cannot be stored.
type Refusal struct {
	Command, Certname string
	Reason            string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s of %q: %s", r.Command, r.Certname, r.Reason)
}

// Apply stores a command, in one transaction, unless it is older than what is there:
// that is no error. Data that is refused is a *[Refusal]; what was there stays. Rules
// STORE-SQL-02 to STORE-SQL-05, PDB-SEM-01 to PDB-SEM-04.
func (s *Store) Apply(ctx context.Context, c *command.Command) (o Outcome, err error) {
	kind := traces.File
	if s.o.URL != "" {
		kind = traces.Network
	}
	ctx, span := traces.Start(ctx, kind, c.Name+" of "+c.Certname+" in "+s.base())
	o = Outcome{Command: c.Name, Certname: c.Certname, Produced: c.Produced}
	defer func() {
		if o.Waited > time.Millisecond {
			span.Attr("waited", o.Waited.Round(time.Millisecond).String())
		}
		if o.Retries > 0 {
			span.Attr("tried again", fmt.Sprint(o.Retries))
		}
		answer := o.String()
		if err != nil {
			answer = ""
		}
		span.End(answer, traces.Because{}, err)
		s.became(ctx, c, o, err)
	}()
	p, err := s.parse(c)
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		o.Result, o.Reason = Refused, refusal.Reason
		_, e := s.change(ctx, func(tx *conn) error { return tx.logged(ctx, &o) })
		return o, errors.Join(err, e)
	}
	if err != nil {
		return o, err
	}
	asked := o
	w, err := s.change(ctx, func(tx *conn) error {
		o = asked
		o.Deviations = p.deviations
		if err := p.apply(ctx, tx, &o); err != nil {
			return err
		}
		return tx.logged(ctx, &o)
	})
	o.Waited, o.Retries = w.lock, w.retries
	if err != nil {
		return o, fmt.Errorf("%s of %q in %s: %w", c.Name, c.Certname, s.name, err)
	}
	s.sweepWhenDue(ctx)
	return o, nil
}

// became takes note of what became of a command.
func (s *Store) became(ctx context.Context, c *command.Command, o Outcome, err error) {
	switch now := s.o.Now(); {
	case o.Result == Refused:
		s.o.became.Add(stores.Refused, now, c.String()+": "+o.Reason)
	case err == nil && o.Result == Older:
		s.o.became.Reached()
	case err == nil:
		s.o.became.Add(stores.Stored, now, c.String())
	case ctx.Err() == nil:
		s.o.became.Add(stores.Failed, now, err.Error())
	}
}

// A parsed command is ready to be stored.
type parsed struct {
	deviations []string
	apply      func(context.Context, *conn, *Outcome) error
}

// parse reads a command, and refuses what cannot be stored.
func (s *Store) parse(c *command.Command) (p parsed, err error) {
	k := checker{lax: s.o.Lax, max: s.d.maxKey}
	k.key("certname", c.Certname)
	if c.Produced.IsZero() {
		k.refuse("it has no producer_timestamp")
	}
	if lacks := c.Lacks(); lacks != "" {
		k.deviate("%s", lacks)
	}
	switch c.Name {
	case command.ReplaceCatalog:
		p.apply = newCatalog(c, &k).apply
	case command.ReplaceFacts:
		p.apply = newFactset(c, &k).apply
	case command.StoreReport:
		p.apply = newReport(c, &k).apply
	case command.DeactivateNode:
		p.apply = func(ctx context.Context, tx *conn, o *Outcome) error { return tx.deactivate(ctx, o) }
	default:
		return p, fmt.Errorf("the command %q is unknown", c.Name)
	}
	p.deviations = k.deviations
	if k.reason != "" {
		return p, &Refusal{Command: c.Name, Certname: c.Certname, Reason: k.reason}
	}
	return p, nil
}

// A checker collects what is wrong with a command.
type checker struct {
	lax        bool
	max        int
	reason     string // the first that cannot be stored
	deviations []string
}

// refuse notes what cannot be stored at all.
func (k *checker) refuse(format string, args ...any) {
	if k.reason == "" {
		k.reason = fmt.Sprintf(format, args...)
	}
}

// maxDeviations is how many a command reports.
const maxDeviations = 20

// deviate notes what PuppetDB refuses. Rule PDB-SEM-04.
func (k *checker) deviate(format string, args ...any) {
	if !k.lax {
		k.refuse("PuppetDB refuses "+format, args...)
	} else if len(k.deviations) < maxDeviations {
		k.deviations = append(k.deviations, fmt.Sprintf(format, args...))
	}
}

// key refuses what cannot be in an index, and returns the rest.
func (k *checker) key(what, text string) string {
	switch {
	case len(text) > k.max:
		k.refuse("a %s has %d bytes, and may have %d: %.60q…", what, len(text), k.max, text)
	case strings.IndexByte(text, 0) >= 0:
		k.refuse("a %s has a NUL: %q", what, text)
	}
	return valid(text)
}

// uuid checks what PuppetDB keeps as one.
func (k *checker) uuid(payload data.Value, name string) *string {
	text := optional(payload, name)
	if text != nil && !isUUID(*text) {
		k.deviate("what is no uuid: %s is %.60q", name, *text)
	}
	return text
}

// isUUID reports whether PostgreSQL takes a text as a uuid: 32 digits, with dashes behind
// groups of four, perhaps in braces.
func isUUID(s string) bool {
	if t, ok := strings.CutPrefix(s, "{"); ok {
		if s, ok = strings.CutSuffix(t, "}"); !ok {
			return false
		}
	}
	digits := 0
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9', r|0x20 >= 'a' && r|0x20 <= 'f':
			digits++
		case r != '-' || digits == 0 || digits%4 != 0 || s[i-1] == '-' || digits == 32:
			return false
		}
	}
	return digits == 32
}

// optional returns a text of a payload, or nil for what is null or missing.
func optional(payload data.Value, name string) *string {
	v := payload.Get(name)
	if v.IsNil() {
		return nil
	}
	text := valid(v.Text())
	return &text
}

// valid returns text that both dialects take: UTF-8, without NUL.
func valid(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// logged adds a command to those of its node, of which the last are kept.
func (c *conn) logged(ctx context.Context, o *Outcome) error {
	const kept = 20
	detail := o.String()
	_, err := c.exec(ctx, "INSERT INTO commands(certname, kind, produced, arrived, outcome, detail) VALUES (?, ?, ?, ?, ?, ?)",
		valid(o.Certname), o.Command, stamp(o.Produced), stamp(c.s.o.Now()), o.Result.String(), valid(detail))
	if err != nil {
		return err
	}
	_, err = c.exec(ctx, "DELETE FROM commands WHERE certname = ? AND id <= (SELECT id FROM commands WHERE certname = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
		valid(o.Certname), valid(o.Certname), kept)
	return err
}

// A digest is a hash over texts: each has its length before it, so that no two lists
// of texts are alike.
type digest struct{ text []byte }

func (d *digest) add(texts ...string) {
	for _, t := range texts {
		d.text = append(strconv.AppendInt(d.text, int64(len(t)), 10), ':')
		d.text = append(d.text, t...)
	}
}

// sum is 160 bits in hexadecimal.
func (d digest) sum() string {
	sum := sha256.Sum256(d.text)
	return hex.EncodeToString(sum[:20])
}
