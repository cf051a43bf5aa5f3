// Package nodefacts merges facts into nodes, as the node termini plain, exec
// and ldap do, and refuses what termini of facts do that keep none.
package nodefacts

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nested"
	"indirtui/traces"
)

// A Merger merges for one terminus. It is safe for concurrent use.
type Merger struct {
	Env indirector.Env

	mu     sync.Mutex // guards warned
	warned map[string]struct{}
}

// maxWarned bounds the warnings that are remembered, so that each is logged
// once.
const maxWarned = 4096

// Merge returns node with the facts of the same name among its parameters: those
// of the option "facts" if they come with the request, else those that the facts
// indirection finds. Parameters of the node win, with a warning; the environment
// never changes. Merge does not change node.
func (m *Merger) Merge(ctx context.Context, req *indirector.Request, node *model.Node) (*model.Node, error) {
	facts, ok := req.Option("facts").(*model.Facts)
	if !ok {
		var err error
		if facts, err = m.find(ctx, req, node); err != nil || facts == nil {
			return node, err
		}
	}
	merged := *node
	merged.Parameters = m.merge(node, facts.Values)
	known := *facts
	known.Values = sanitize(facts.Values)
	merged.Facts = &known
	return &merged, nil
}

// misplaced is a sentence about a node whose environment does not exist. Pain P24.
func (m *Merger) misplaced(req *indirector.Request, node *model.Node, unknown *indirector.EnvironmentNotFound) string {
	switch {
	case unknown.Name == req.Environment:
		return fmt.Sprintf("%s was asked for in environment %s, which is not in %s", node.Name, unknown.Name, unknown.Path)
	case m.Env.Terminus == "exec":
		return fmt.Sprintf("the classifier put %s into environment %s, which is not in %s", node.Name, unknown.Name, unknown.Path)
	}
	return fmt.Sprintf("%s put %s into environment %s, which is not in %s", m.Env.Terminus, node.Name, unknown.Name, unknown.Path)
}

func (m *Merger) find(ctx context.Context, req *indirector.Request, node *model.Node) (*model.Facts, error) {
	resp, err := nested.Ask(ctx, m.Env.Do, &indirector.Request{
		Indirection: "facts", Verb: indirector.Find, Key: node.Name, Environment: node.Environment,
	})
	var unknown *indirector.EnvironmentNotFound
	var missing *indirector.VerbError
	switch {
	case errors.As(err, &unknown):
		// Setting the environment of the node fails before facts are looked for.
		traces.ExplainFailure(ctx, m.misplaced(req, node, unknown))
		return nil, &indirector.Failure{Class: "Puppet::Environments::EnvironmentNotFound", Message: unknown.Error(), Path: unknown.Path, Err: unknown}
	case errors.As(err, &missing) && missing.Aborts:
		return nil, err
	case err != nil:
		return nil, failed(node.Name, err)
	case resp.Value == nil:
		return nil, nil
	}
	facts, ok := resp.Instance().(*model.Facts)
	if !ok {
		return nil, &indirector.Failure{
			Class: "NoMethodError", Message: fmt.Sprintf("undefined method `sanitize' for %v", resp.Value),
			Hidden: fmt.Sprintf("the facts of %s are no facts: a file is empty or holds something else", node.Name),
		}
	}
	return facts, nil
}

// failed wraps the error of the nested request without its position there: the
// error gets one in this request.
func failed(name string, err error) error {
	if e := (*indirector.Error)(nil); errors.As(err, &e) {
		err = e.Err
	}
	f := &indirector.Failure{Message: fmt.Sprintf("Could not retrieve facts for %s: %s", name, indirector.Message(err)), Err: err}
	if inner := (*indirector.Failure)(nil); errors.As(err, &inner) {
		f.Origin, f.Path, f.Hidden = "facts", inner.Path, inner.Hidden
	}
	return f
}

func (m *Merger) merge(node *model.Node, values data.Value) data.Value {
	facts := values.Hash()
	params := node.Parameters.Hash()
	merged := make([]data.Pair, len(params), len(params)+len(facts))
	copy(merged, params)
	taken := make(map[string]data.Value, len(params)+1)
	for _, p := range params {
		taken[p.Key.Str()] = p.Value
	}
	if node.Environment != "" {
		taken["environment"] = data.OfString(node.Environment)
	}
	for _, f := range facts {
		name := f.Key.Text()
		if set, ok := taken[name]; ok {
			m.warn(fmt.Sprintf("The node parameter '%s' for node '%s' was already set to '%s'. It could not be set to '%s'", name, node.Name, set.Text(), f.Value.Text()))
			continue
		}
		if name == "environment" {
			continue
		}
		merged = append(merged, data.Pair{Key: data.OfString(name), Value: sanitize(f.Value)})
	}
	return data.OfHash(merged)
}

// warn gives each warning once, as Puppet's warnonce.
func (m *Merger) warn(text string) {
	m.mu.Lock()
	_, warned := m.warned[text]
	if !warned {
		if m.warned == nil || len(m.warned) >= maxWarned {
			m.warned = make(map[string]struct{})
		}
		m.warned[text] = struct{}{}
	}
	m.mu.Unlock()
	if !warned {
		m.Env.Log.Warn(text)
	}
}

// sanitize returns v with everything that is no number, string, boolean, list
// or hash as text; nil is "".
func sanitize(v data.Value) data.Value {
	if clean(v) {
		return v
	}
	switch v.Kind() {
	case data.List, data.Hash:
		return v.Map(sanitize)
	}
	return data.OfString(v.Text())
}

func clean(v data.Value) bool {
	switch v.Kind() {
	case data.Nil, data.Symbol:
		return false
	case data.List:
		for _, x := range v.List() {
			if !clean(x) {
				return false
			}
		}
	case data.Hash:
		for _, p := range v.Hash() {
			if !clean(p.Key) || !clean(p.Value) {
				return false
			}
		}
	}
	return true
}
