package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/puppetdb"
)

// A nodeCommand names the commands that are about nodes of PuppetDB.
type nodeCommand struct{ help func() error }

func (c *nodeCommand) build(cmd *cobra.Command) {
	cmd.Long = `Deactivate nodes in PuppetDB, or show what it knows of them, as the commands of
the same names of "puppet node" do. PuppetDB is the one of puppetdb.conf.

Exit code: 0 done, 1 failed, 2 usage, 3 PuppetDB does not know one of the nodes.`
	cmd.Example = `  indirtui node status web01.example.com db01.example.com
  indirtui node deactivate web01.example.com`
	c.help = cmd.Help
}

func (c *nodeCommand) run(context.Context, []string) error { return c.help() }

// A nodeState is what PuppetDB knows of a node: schema node.
type nodeState struct {
	Node        string `json:"node"`
	Known       bool   `json:"known"`
	Deactivated string `json:"deactivated"` // "" is not
	Expired     string `json:"expired"`     // likewise
	Catalog     string `json:"catalog"`     // when the last came; "" is never
	Facts       string `json:"facts"`
	Report      string `json:"report"`
	UUID        string `json:"uuid,omitempty"` // of the command that was queued
}

// A nodeDeactivateCommand deactivates nodes.
type nodeDeactivateCommand struct{ listing }

func (c *nodeDeactivateCommand) build(cmd *cobra.Command) {
	cmd.Long = `Send PuppetDB the command "deactivate node" for each node. It is queued: what
PuppetDB shows of the node ends a moment later, and "indirtui node status" shows
that. Facts, a catalog or a report that is newer brings the node back. The first
one that fails ends it.`
	c.flag(cmd, "print a list in JSON, see `indirtui schema node`")
}

func (c *nodeDeactivateCommand) run(ctx context.Context, nodes []string) error {
	return c.p.withEngine(func(e *engine.Engine) error {
		var done []nodeState
		for _, name := range nodes {
			resp, err := e.Once(ctx, &indirector.Request{
				Indirection: "node", Verb: indirector.Destroy, Key: name, Terminus: "puppetdb", Cache: indirector.Off, Caller: "cli",
			})
			if err != nil {
				return fmt.Errorf("deactivate %q: %s", name, indirector.Message(err))
			}
			queued, ok := resp.Value.(data.Value)
			if !ok { // what soft_write_failure made of an error; Puppet's own command fails of it
				return fmt.Errorf("deactivate %q: it is not: %v", name, resp.Value)
			}
			done = append(done, nodeState{Node: name, Known: true, UUID: queued.Get("uuid").Text()})
		}
		return c.print(done, func(out io.Writer) error {
			for _, n := range done {
				fmt.Fprintf(out, "Submitted 'deactivate node' for %s with UUID %s\n", clean(n.Node), clean(n.UUID))
			}
			return nil
		})
	})
}

// A nodeStatusCommand shows what PuppetDB knows of nodes.
type nodeStatusCommand struct{ listing }

func (c *nodeStatusCommand) build(cmd *cobra.Command) {
	cmd.Long = "Show for each node whether it is active in PuppetDB, and when its last catalog, facts and report came."
	c.flag(cmd, "print a list in JSON, see `indirtui schema node`")
}

func (c *nodeStatusCommand) run(ctx context.Context, nodes []string) error {
	return c.p.withEngine(func(e *engine.Engine) (err error) {
		db := puppetdb.Of(indirector.Env{Settings: e.Settings, Log: slog.New(slog.DiscardHandler), Now: time.Now})
		defer func() { err = errors.Join(err, db.Close()) }()
		all := make([]nodeState, len(nodes))
		missing := false
		for i, name := range nodes {
			v, err := db.Status(ctx, name)
			switch {
			case errors.Is(err, indirector.ErrNotFound):
				missing = true
			case err != nil:
				return fmt.Errorf("could not retrieve status for %s: %s", name, indirector.Message(err))
			}
			all[i] = nodeState{
				Node: name, Known: err == nil, Deactivated: v.Get("deactivated").Str(), Expired: v.Get("expired").Str(),
				Catalog: v.Get("catalog_timestamp").Str(), Facts: v.Get("facts_timestamp").Str(), Report: v.Get("report_timestamp").Str(),
			}
		}
		if err := c.print(all, func(out io.Writer) error { return printNodes(out, all) }); err != nil {
			return err
		}
		if missing {
			return exit(exitNotFound)
		}
		return nil
	})
}

// printNodes prints what Puppet's own command prints, and the report.
func printNodes(out io.Writer, all []nodeState) error {
	for i, n := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, clean(n.Node))
		switch {
		case !n.Known:
			fmt.Fprintln(out, "No information known")
			continue
		case n.Deactivated != "":
			fmt.Fprintln(out, "Deactivated at "+clean(n.Deactivated))
		case n.Expired != "":
			fmt.Fprintln(out, "Expired at "+clean(n.Expired))
		default:
			fmt.Fprintln(out, "Currently active")
		}
		for _, x := range []struct{ what, none, at string }{
			{"catalog", "No catalog received", n.Catalog}, {"facts", "No facts received", n.Facts}, {"report", "No report received", n.Report},
		} {
			if x.at == "" {
				fmt.Fprintln(out, x.none)
				continue
			}
			fmt.Fprintf(out, "Last %s: %s\n", x.what, clean(x.at))
		}
	}
	return nil
}
