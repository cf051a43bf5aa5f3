package hiera

import (
	"strings"

	"indirtui/indirector/data"
)

// OfNode returns the top-level variables that a compile of a node begins with:
// its parameters, facts, trusted and server_facts. Rule HIERA-CMD-03.
func OfNode(parameters, facts, trusted data.Value, environment string) Variables {
	v := make(Variables, parameters.Len()+8)
	for _, p := range parameters.Hash() {
		v[p.Key.Text()] = p.Value
	}
	if facts.Kind() != data.Hash {
		facts = data.OfHash(nil)
	}
	v["facts"], v["trusted"], v["server_facts"] = facts, trusted, data.OfHash(nil)
	v["environment"] = data.OfString(environment)
	return v
}

// LocalTrust is what is trusted of a node that sent no certificate: the fact
// clientcert, which may be missing.
func LocalTrust(clientcert data.Value) data.Value {
	hostname, domain := data.Value{}, data.Value{}
	if name := clientcert.Text(); name != "" {
		host, rest, ok := strings.Cut(name, ".")
		hostname = data.OfString(host)
		if ok {
			domain = data.OfString(rest)
		}
	}
	return data.OfHash([]data.Pair{
		data.P("authenticated", data.OfString("local")), data.P("certname", clientcert), data.P("extensions", data.OfHash(nil)),
		data.P("hostname", hostname), data.P("domain", domain), data.P("external", data.OfHash(nil)),
	})
}
