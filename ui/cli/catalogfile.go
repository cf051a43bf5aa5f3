package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/transaction"
	"indirtui/ui/command"
)

const catalogHelp = `CATALOG is a file in any format of Puppet's, - for standard input, or the name of
a node, whose catalog is then found as "indirtui find catalog NODE" finds it; a
server gets the facts of this host, if that is the node.`

// maxCatalog bounds the text of a catalog.
const maxCatalog = 256 << 20

// catalog returns the catalog that an argument means.
func (p *program) catalog(ctx context.Context, e *engine.Engine, arg string) (*model.Catalog, error) {
	if isNode(arg) {
		c, _, err := p.catalogOfNode(ctx, e, arg)
		return c, err
	}
	return p.catalogFile(arg)
}

// isNode reports whether an argument means a node: there is no file of that name.
func isNode(arg string) bool {
	_, err := os.Stat(arg)
	return arg != "-" && errors.Is(err, os.ErrNotExist) && !strings.ContainsRune(arg, filepath.Separator)
}

// catalogFile reads a catalog in a file; - is standard input.
func (p *program) catalogFile(arg string) (*model.Catalog, error) {
	kept, err := p.keptFile(arg)
	if err == nil && kept.Catalog == nil {
		err = fmt.Errorf("%q is a plan or a report, and no catalog", arg)
	}
	return kept.Catalog, err
}

// keptFile reads a catalog, a plan or a report in a file; - is standard input.
func (p *program) keptFile(arg string) (command.Kept, error) {
	if filepath.Ext(arg) == ".pp" {
		return command.Kept{}, &command.UsageError{What: fmt.Sprintf("%q is a manifest, and no catalog", arg), Advice: "indirtui apply MANIFEST prints its plan"}
	}
	b, err := p.catalogText(arg)
	if err != nil {
		return command.Kept{}, err
	}
	name := ""
	if _, known := format.ByExtension(strings.TrimPrefix(filepath.Ext(arg), ".")); !known {
		name = formatOfText(b)
	}
	kept, err := command.ReadKept(arg, name, b)
	if err != nil {
		err = fmt.Errorf("read the catalog %q: %w", arg, err)
	}
	return kept, err
}

// kept returns the catalog, plan or report that an argument means.
func (p *program) kept(ctx context.Context, e *engine.Engine, arg string) (command.Kept, error) {
	if isNode(arg) {
		catalog, _, err := p.catalogOfNode(ctx, e, arg)
		return command.Kept{Catalog: catalog}, err
	}
	return p.keptFile(arg)
}

func (p *program) catalogText(arg string) ([]byte, error) {
	in := p.In
	if arg != "-" {
		f, err := os.Open(arg)
		if errors.Is(err, os.ErrNotExist) {
			return nil, lostError{err}
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxCatalog+1))
	if err == nil && len(b) > maxCatalog {
		err = fmt.Errorf("it has more than %d bytes", maxCatalog)
	}
	if err != nil {
		return nil, fmt.Errorf("read the catalog %q: %w", arg, err)
	}
	return b, nil
}

// formatOfText guesses the format of a text whose name does not give it.
func formatOfText(b []byte) string {
	switch text := strings.TrimSpace(string(b[:min(len(b), 64)])); {
	case strings.HasPrefix(text, "{"):
		return "rich_data_json"
	case strings.HasPrefix(text, "---"):
		return "yaml"
	case len(b) > 0 && b[0] >= 0x80:
		return "msgpack"
	}
	return "json"
}

// catalogOfNode finds the catalog of a node. A server gets the facts of this host, as it does
// from an agent, if that is the node. The response is that of the request.
func (p *program) catalogOfNode(ctx context.Context, e *engine.Engine, node string) (c *model.Catalog, resp indirector.Response, err error) {
	req := &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: node, Environment: p.environment, Caller: "cli"}
	certname, _ := e.Settings.Get("certname")
	if route, ok := e.Explain("catalog"); ok && node == certname && route.Primary.Winner().Terminus == "rest" {
		req.Options = []indirector.Option{{Name: "facts_for_catalog", Value: "facter"}}
	}
	resp, err = e.Once(ctx, req)
	if errors.Is(err, indirector.ErrNotFound) {
		return nil, resp, lostError{fmt.Errorf("there is no file %q, and no catalog of a node of that name", node)}
	}
	if err != nil {
		return nil, resp, err
	}
	c, ok := resp.Instance().(*model.Catalog)
	if !ok {
		return nil, resp, fmt.Errorf("the answer for %s is no catalog", node)
	}
	return c, resp, nil
}

// offline is a host for looking at catalogs, with the settings of an engine.
func offline(e *engine.Engine) transaction.Offline {
	return transaction.Offline{Settings: func(name string) (string, bool) {
		value, source := e.Settings.Get(name)
		return value, source != ""
	}}
}

// writeRedacted writes v as JSON without secrets.
func (p *program) writeRedacted(e *engine.Engine, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	shown, err := format.DecodeJSON(b, format.Limits{})
	if err != nil {
		return err
	}
	shown, _ = e.Redactor.Value(shown)
	_, err = p.out.Write(append(command.AppendPretty(nil, shown, ""), '\n'))
	return err
}
