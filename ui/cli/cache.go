package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector/engine"
)

// A cacheRow is one entry of one cache, as --json prints it.
type cacheRow struct {
	Indirection string     `json:"indirection"`
	Key         string     `json:"key"`
	Terminus    string     `json:"terminus"`
	State       string     `json:"state"` // fresh, stale, immortal, unreadable
	Routed      bool       `json:"routed"`
	Path        string     `json:"path,omitempty"`
	Size        int64      `json:"size"`
	Written     time.Time  `json:"written"`
	Produced    time.Time  `json:"produced,omitzero"`
	Note        string     `json:"note,omitempty"`
	Expires     *time.Time `json:"expires,omitempty"`
	Error       string     `json:"error,omitempty"`
}

// A cacheCommand lists what is stored in termini.
type cacheCommand struct {
	listing
}

func (c *cacheCommand) build(cmd *cobra.Command) {
	cmd.Long = `What is stored in the termini that can be listed, whether they are routed or
not: an entry of a terminus that nobody asks is an orphan. An immortal entry is
one whose format does not keep the expiration: it is served for ever.`
	c.flag(cmd, "as JSON")
}

func (c *cacheCommand) run(ctx context.Context, args []string) error {
	return c.p.withEngine(func(e *engine.Engine) error {
		rows, err := cacheRows(ctx, e, args)
		if err != nil {
			return err
		}
		return c.print(rows, func(out io.Writer) error { return printCache(out, rows) })
	})
}

func printCache(out io.Writer, rows []cacheRow) error {
	now := time.Now()
	return printTable(out, "INDIRECTION\tKEY\tTERMINUS\tSTATE\tROUTED\tAGE\tEXPIRES\tSIZE\tPATH", rows, func(r cacheRow, put func(...string)) {
		expires := "never"
		if r.Expires != nil {
			expires = r.Expires.Format(time.RFC3339)
		}
		put(r.Indirection, r.Key, r.Terminus, r.State, tick(r.Routed), now.Sub(r.Written).Round(time.Second).String(), expires, fmt.Sprint(r.Size), r.Path)
	})
}

func cacheRows(ctx context.Context, e *engine.Engine, only []string) ([]cacheRow, error) {
	entries, err := e.Entries(ctx, only...)
	if err != nil {
		return nil, err
	}
	redacted := func(text string) string {
		text, _ = e.Redactor.Text(text)
		return text
	}
	rows := make([]cacheRow, 0, len(entries))
	now := time.Now()
	for _, en := range entries {
		r := cacheRow{
			Indirection: en.Indirection, Key: redacted(en.Key), Terminus: en.Terminus, Routed: e.Routed(en.Indirection, en.Terminus),
			Path: redacted(en.Path), Size: en.Size, Written: en.Written, Produced: en.Produced, Note: redacted(en.Note), State: "fresh",
		}
		switch {
		case en.Err != nil:
			r.State, r.Error = "unreadable", redacted(en.Err.Error())
		case !en.KeepsExpiry || en.Expiration.IsZero():
			r.State = "immortal"
		case en.Expiration.Before(now):
			r.State = "stale"
		}
		if !en.Expiration.IsZero() {
			r.Expires = &en.Expiration
		}
		rows = append(rows, r)
	}
	return rows, nil
}
