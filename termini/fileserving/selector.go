package fileserving

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
)

// Selector chooses another terminus for each request.
type Selector struct{ env indirector.Env }

var (
	_ indirector.Finder     = (*Selector)(nil)
	_ indirector.Searcher   = (*Selector)(nil)
	_ indirector.Yielder    = (*Selector)(nil)
	_ indirector.Authorizer = (*Selector)(nil)
)

func newSelector(env indirector.Env) (indirector.Terminus, error) {
	return &Selector{env: env}, nil
}

// passes returns what a selector would choose for a request.
func passes(env indirector.Env, req *indirector.Request) traces.Choice {
	if req == nil {
		return traces.Choice{}
	}
	name, because, _ := (&Selector{env: env}).choose(req)
	kind := traces.FromRequest
	if because.Reason == traces.BySetting {
		kind = traces.FromSetting
	}
	return traces.Choice{Terminus: name, Kind: kind, Source: because.About}
}

func (t *Selector) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	v, err := t.pass(ctx, req)
	inst, _ := v.(indirector.Instance)
	return inst, err
}

func (t *Selector) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	v, err := t.pass(ctx, req)
	found, _ := v.([]indirector.Instance)
	return found, err
}

func (t *Selector) Yield(ctx context.Context, req *indirector.Request, yield func(indirector.Instance) error) error {
	_, err := t.pass(ctx, req.Yielding(yield))
	return err
}

// Authorized asks the chosen terminus, if it authorizes. The verb reports that
// there is none.
func (t *Selector) Authorized(ctx context.Context, req *indirector.Request) bool {
	name, _, err := t.choose(req)
	if err != nil {
		return true
	}
	chosen, err := t.env.Sibling(name)
	if err != nil {
		return true
	}
	a, ok := chosen.(indirector.Authorizer)
	return !ok || a.Authorized(ctx, req)
}

func (t *Selector) pass(ctx context.Context, req *indirector.Request) (any, error) {
	name, because, err := t.choose(req)
	ctx, span := traces.Start(ctx, traces.Choose, "selector")
	span.Attr("because", because.String())
	if err != nil {
		span.End("nobody", because, err)
		return nil, err
	}
	chosen, err := t.env.Sibling(name)
	if err != nil {
		err = absent(err, name, because)
		span.End(name, because, err)
		return nil, err
	}
	span.End(name, because, nil)
	can := indirector.VerbsOf(chosen)
	if can[req.Verb] == nil {
		return nil, fmt.Errorf("%s: %w", name, indirector.ErrVerbMissing)
	}
	v, err := can[req.Verb](ctx, req)
	if err == nil && name == "http" && t.env.Indirection == "file_content" {
		traces.Explain(ctx, "Puppet 7 and 8 fail here with \"Could not find terminus http for indirection file_content\": they have removed it, and the selector still chooses it")
	}
	noteChoice(ctx, name, t.env.Application, because, err) // what the chosen one explains comes first
	return v, err
}

// noteChoice notes the choice. It explains an answer only if the key does not name
// what was chosen.
func noteChoice(ctx context.Context, name, application string, because traces.Because, err error) {
	switch {
	case because.Reason != traces.BySetting || err != nil:
		traces.AddNote(ctx, fmt.Sprintf("the selector chose %s: %s", name, because.About))
	case name == "file_server" && strings.Contains(because.About, "(application "):
		traces.Explain(ctx, traces.LocalSource(application))
	case name == "file_server":
		traces.Explain(ctx, traces.LocalSourceBy(because.About))
	default:
		traces.Explain(ctx, "puppet:/// means the server: "+because.About)
	}
}

// choose returns the name of the terminus for a request, and why. Rules
// TERM-FS-01 to TERM-FS-06.
func (t *Selector) choose(req *indirector.Request) (string, traces.Because, error) {
	because := func(about string, args ...any) traces.Because {
		return traces.Because{Reason: traces.ByRequest, About: fmt.Sprintf(about, args...)}
	}
	protocol, server := "", ""
	if req.URI != nil {
		protocol, server = req.URI.Protocol, req.URI.Server
	}
	switch protocol {
	case "puppet":
		if server != "" {
			return "rest", because("scheme puppet with server %s", server), nil
		}
		name, source := t.env.Settings.Get("default_file_terminus")
		if name == "" {
			name, source = "rest", "default"
		}
		return name, traces.Because{Reason: traces.BySetting, About: fmt.Sprintf("setting default_file_terminus=%s (%s)", name, source)}, nil
	case "http", "https":
		return "http", because("scheme %s", protocol), nil
	case "", "file":
		if strings.HasPrefix(req.Key, "/") {
			return "file", because("absolute path"), nil
		}
		return "file_server", because("no scheme, relative key"), nil
	}
	return "", because("scheme %s", protocol), refuse("URI protocol '%s' is not currently supported for file serving", protocol)
}

// absent adds to Puppet's error the missing terminus and the source of the
// choice.
func absent(err error, name string, because traces.Because) error {
	missing := &indirector.Failure{Err: err, Message: indirector.Message(err)}
	if f := (*indirector.Failure)(nil); errors.As(err, &f) {
		*missing = *f
		missing.Err = err
	}
	missing.Hidden = fmt.Sprintf("the selector chose %s: %s; this program has no such terminus", name, because)
	if because.Reason == traces.BySetting {
		missing.Hidden += "; with default_file_terminus=file_server the files of this machine are served"
	}
	return missing
}
