package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/model"
)

// trustedFacts are the facts that what is trusted of a node is made of.
var trustedFacts = []string{"hostname", "domain", "fqdn", "clientcert"}

// nodeFacts returns the facts of the node: those of the indirection, below those of
// the file. Rule HIERA-CMD-02.
func (l *lookup) nodeFacts(ctx context.Context, here string) (*model.Facts, error) {
	given, err := l.givenFacts()
	if err != nil {
		return nil, err
	}
	req := &indirector.Request{
		Indirection: "facts", Verb: indirector.Find, Key: cmp.Or(l.node, here), Caller: "cli", Environment: l.p.environment,
	}
	if l.node == "" {
		req.Terminus = "facter"
	}
	inst, err := l.once(ctx, req)
	if err != nil {
		return nil, notRun{errors.New(indirector.Message(err))}
	}
	facts := &model.Facts{Name: req.Key}
	if found, ok := inst.(*model.Facts); ok {
		*facts = *found
	}
	values := facts.Values
	for _, p := range given.Hash() {
		values = values.With(p.Key.Text(), p.Value)
	}
	if values.Len() == 0 {
		return nil, failf("No facts available for target node: %s", req.Key)
	}
	facts.Values = values
	return facts, nil
}

// givenFacts reads the file of the flag --facts.
func (l *lookup) givenFacts() (data.Value, error) {
	if l.facts == "" {
		return data.Value{}, nil
	}
	content, err := os.ReadFile(l.facts)
	if err != nil {
		return data.Value{}, failf("No such file or directory @ rb_sysopen - %s", l.facts)
	}
	given, err := l.decodeFacts(content)
	if err != nil {
		return data.Value{}, err
	}
	if given.Kind() != data.Hash {
		return data.Value{}, failf("Incorrectly formatted data in %s given via the --facts flag (only accepts yaml and json files)", l.facts)
	}
	has := func(name string) bool { _, ok := given.Lookup(name); return ok }
	if slices.ContainsFunc(trustedFacts, has) && slices.ContainsFunc(trustedFacts, func(n string) bool { return !has(n) }) {
		return data.Value{}, failf("When overriding any of the %s facts with %s given via the --facts flag, they must all be overridden.",
			strings.Join(trustedFacts, ","), l.facts)
	}
	return given, nil
}

// decodeFacts reads JSON or YAML by the name of the file; by another name whichever
// of them it is.
func (l *lookup) decodeFacts(content []byte) (data.Value, error) {
	isJSON := strings.HasSuffix(l.facts, ".json")
	isYAML := strings.HasSuffix(l.facts, ".yml") || strings.HasSuffix(l.facts, ".yaml")
	if !isYAML {
		v, err := format.DecodeJSON(content, format.Limits{})
		if err == nil {
			return v, nil
		}
		if isJSON {
			return v, failf("%w", err)
		}
	}
	doc, err := psych.Decode(content, psych.Limits{})
	if doc != nil {
		if foreign, refused := doc.Refused(); refused {
			return data.Value{}, failf("%s", foreign.Message(l.facts))
		}
	}
	switch {
	case err != nil && isYAML:
		return data.Value{}, failf("%s", psych.Message(err, l.facts))
	case err != nil || doc == nil:
		return data.Value{}, nil
	}
	return doc.Value, nil
}
