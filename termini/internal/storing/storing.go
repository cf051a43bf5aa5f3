// Package storing has what the termini of stores have in common: what a command has
// from the request that it is made of.
package storing

import (
	"fmt"
	"maps"
	"slices"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/puppetdb/command"
)

// Options returns what a command has from a request and from this host.
func Options(env indirector.Env, req *indirector.Request) command.Options {
	producer, _ := env.Settings.Get("node_name_value")
	return command.Options{
		Key: req.Key, Produced: env.Now(), Producer: producer, Environment: req.Environment, Trusted: trusted(req.Remote),
		TransactionUUID: Text(req.Option("transaction_uuid")), JobID: Text(req.Option("job_id")),
	}
}

// trusted is what the certificate of the client has; nil for this process. Rule
// PDB-FACT-02.
func trusted(r *indirector.Remote) data.Value {
	switch {
	case r == nil || r.Node == "":
		return data.Value{}
	case !r.Authenticated:
		return data.OfHash([]data.Pair{data.P("authenticated", data.OfBool(false)), data.P("certname", data.OfString(r.Node))})
	}
	extensions := make([]data.Pair, 0, len(r.Extensions))
	for _, name := range slices.Sorted(maps.Keys(r.Extensions)) {
		extensions = append(extensions, data.P(name, data.OfString(r.Extensions[name])))
	}
	return data.OfHash([]data.Pair{
		data.P("authenticated", data.OfString("remote")), data.P("certname", data.OfString(r.Node)), data.P("extensions", data.OfHash(extensions)),
	})
}

// Text is an option that is a text or a number; "" if it is not there.
func Text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// NoInstance is Ruby's error for a save without an instance, as store_configs
// makes of a destroy. Rule STORE-SC-03.
func NoInstance(method string) error {
	return &indirector.Failure{Class: "NoMethodError", Message: fmt.Sprintf("undefined method `%s' for nil:NilClass", method), Err: indirector.ErrInvalid}
}
