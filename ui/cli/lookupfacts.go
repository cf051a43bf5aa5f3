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
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/model"
)

// trustedFacts are the facts that what is trusted of a node is made of.
var trustedFacts = []string{"hostname", "domain", "fqdn", "clientcert"}

// nodeFacts returns the facts of the node: those of the indirection, below those of
// the file. Rule HIERA-CMD-02.
func (l *lookup) nodeFacts(ctx context.Context, here string) (*model.Facts, error) {
	given, err := factsFile(l.facts)
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
	facts := factsAbove(req.Key, inst, given)
	if facts.Values.Len() == 0 {
		return nil, failf("No facts available for target node: %s", req.Key)
	}
	return facts, nil
}

// factsAbove returns facts with those that were given in front of those that were found, if
// any were.
func factsAbove(name string, found indirector.Instance, given data.Value) *model.Facts {
	facts := &model.Facts{Name: name}
	if f, ok := found.(*model.Facts); ok {
		*facts = *f
	}
	for _, p := range given.Hash() {
		facts.Values = facts.Values.With(p.Key.Text(), p.Value)
	}
	return facts
}

// factsFile reads the file of the flag --facts; "" is none.
func factsFile(file string) (data.Value, error) {
	if file == "" {
		return data.Value{}, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return data.Value{}, failf("No such file or directory @ rb_sysopen - %s", file)
	}
	given, err := decodeFacts(file, content)
	if err != nil {
		return data.Value{}, err
	}
	if given.Kind() != data.Hash {
		return data.Value{}, failf("Incorrectly formatted data in %s given via the --facts flag (only accepts yaml and json files)", file)
	}
	has := func(name string) bool { _, ok := given.Lookup(name); return ok }
	if slices.ContainsFunc(trustedFacts, has) && slices.ContainsFunc(trustedFacts, func(n string) bool { return !has(n) }) {
		return data.Value{}, failf("When overriding any of the %s facts with %s given via the --facts flag, they must all be overridden.",
			strings.Join(trustedFacts, ","), file)
	}
	return given, nil
}

// decodeFacts reads JSON or YAML by the name of the file; by another name whichever
// of them it is.
func decodeFacts(file string, content []byte) (data.Value, error) {
	isJSON := strings.HasSuffix(file, ".json")
	isYAML := strings.HasSuffix(file, ".yml") || strings.HasSuffix(file, ".yaml")
	if !isYAML {
		v, err := format.DecodeJSON(content, format.Limits{})
		if err == nil {
			return v, nil
		}
		if isJSON {
			return v, failf("%s", syntax.JSONProblem(string(content)))
		}
	}
	doc, err := psych.Decode(content, psych.Limits{})
	if doc != nil {
		if foreign, refused := doc.Refused(); refused {
			return data.Value{}, wrapped(foreign.Message(file), strings.TrimPrefix(foreign.Message(file), "("+file+"): "))
		}
	}
	switch {
	case err != nil && isYAML:
		return data.Value{}, wrapped(psych.Message(err, file), psych.Message(err, file))
	case err != nil || doc == nil:
		return data.Value{}, nil
	}
	return doc.Value, nil
}

// wrapped is an error with the one that caused it, as Puppet prints both.
func wrapped(message, cause string) error { return failf("%s\nWrapped exception:\n%s", message, cause) }
