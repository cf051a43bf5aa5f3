package filebucket

import (
	"context"
	"fmt"

	"indirtui/indirector"
	"indirtui/traces"
)

// BySelector describes the selector terminus of the file_bucket_file
// indirection.
var BySelector = indirector.Descriptor{
	Indirection: "file_bucket_file",
	Name:        "selector",
	Note:        "rest or file, by the protocol of the key",
	Doc: "Chooses for each request: rest if the protocol of the key is https, which filebucket: stands for, else file. " +
		"The trace says which, and why.",
	Rules: []string{"TERM-FB-09", "IND-VAL-02"},
	Type:  (*Selector)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		return &Selector{env: env}, nil
	},
	Passes: func(_ indirector.Env, req *indirector.Request) traces.Choice {
		if req == nil {
			return traces.Choice{}
		}
		name, why := choose(req)
		return traces.Choice{Terminus: name, Kind: traces.FromRequest, Source: why}
	},
}

// A Selector passes requests on. It is safe for concurrent use.
type Selector struct{ env indirector.Env }

var (
	_ indirector.Finder    = (*Selector)(nil)
	_ indirector.Header    = (*Selector)(nil)
	_ indirector.Saver     = (*Selector)(nil)
	_ indirector.Validator = (*Selector)(nil)
)

func (s *Selector) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	v, err := s.pass(ctx, indirector.Find, req)
	if err != nil {
		return nil, err
	}
	inst, _ := v.(indirector.Instance)
	return inst, nil
}

func (s *Selector) Head(ctx context.Context, req *indirector.Request) (bool, error) {
	v, err := s.pass(ctx, indirector.Head, req)
	found, _ := v.(bool)
	return found, err
}

func (s *Selector) Save(ctx context.Context, req *indirector.Request) (any, error) {
	return s.pass(ctx, indirector.Save, req)
}

// Validate checks the model only, as both of those that can be chosen do. A
// terminus that is not there fails here already, as in Puppet. Rule IND-VAL-02.
func (s *Selector) Validate(ctx context.Context, req *indirector.Request) error {
	if name, why := choose(req); name != "file" {
		if _, err := s.env.Sibling(name); err != nil {
			note(ctx, req, name, why, err)
			return err
		}
	}
	return s.env.Spec.ValidateModel(req.Instance)
}

// pass asks the chosen terminus. The choice is a span of its own. Gaps S-19,
// S-20.
func (s *Selector) pass(ctx context.Context, verb indirector.Verb, req *indirector.Request) (any, error) {
	name, why := choose(req)
	_, span := traces.Start(ctx, traces.Choose, "choose a terminus")
	chosen, err := s.env.Sibling(name)
	span.End(name, traces.Because{Reason: traces.ByRequest, About: why}, err)
	if err != nil {
		note(ctx, req, name, why, err)
		return nil, err
	}
	can := indirector.VerbsOf(chosen)
	if can[verb] == nil {
		return nil, &indirector.VerbError{Indirection: s.env.Indirection, Terminus: name, Class: s.env.Spec.Class + "::" + indirector.Constant(name), Verb: verb}
	}
	v, err := can[verb](ctx, req)
	note(ctx, req, name, why, err) // what the chosen one explains comes first
	return v, err
}

// choose returns the name of a terminus, and why that one.
func choose(req *indirector.Request) (name, why string) {
	switch {
	case req.URI == nil || req.URI.Protocol == "":
		return "file", "the key has no protocol"
	case req.URI.Protocol == "https":
		return "rest", "protocol https"
	}
	return "file", "protocol " + req.URI.Protocol
}

// note notes the choice, and that the key names a server which is not asked. If the
// request went well, the first of them that is unexpected explains the answer.
func note(ctx context.Context, req *indirector.Request, name, why string, err error) {
	explain := traces.Explain
	if err != nil {
		explain = traces.AddNote
	}
	switch named := req.URI != nil && req.URI.Server != ""; {
	case name == "file" && named:
		explain(ctx, fmt.Sprintf("stored on this machine: the server %s of the key is not asked", req.URI.Server))
	case name == "file":
		explain(ctx, traces.LocalBucket)
	case named:
		explain(ctx, traces.IgnoredHost)
	}
	traces.AddNote(ctx, fmt.Sprintf("the selector chose %s: %s", name, why))
}
