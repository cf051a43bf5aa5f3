package compiler

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nested"
	"indirtui/traces"
)

// node returns the node of a request, with what the server knows among its parameters.
// Rules TERM-COMP-05, TERM-COMP-06.
func (t *Terminus) node(ctx context.Context, req *indirector.Request, facts *model.Facts) (*model.Node, error) {
	if given, ok := req.Option("use_node").(*model.Node); ok {
		if req.Remote != nil {
			return nil, &indirector.Failure{Message: "Invalid option use_node for a remote request"}
		}
		return given, nil
	}
	given := options(req, "transaction_uuid", "configured_environment")
	if facts != nil {
		given = append(given, indirector.Option{Name: "facts", Value: facts})
	}
	inst, err := nested.Find(ctx, t.env.Do, &indirector.Request{
		Indirection: "node", Verb: indirector.Find, Key: req.Key, Environment: req.Environment, Options: given,
	})
	if err != nil {
		traces.ExplainFailure(ctx, "the node of "+req.Key+" was not found, because that failed ("+lastAsked(ctx)+"), so nothing was compiled")
		message := "Failed when searching for node " + req.Key + ": " + indirector.Message(bare(err))
		t.env.Log.Error(message)
		return nil, &indirector.Failure{Message: message, Err: bare(err)}
	}
	node, ok := inst.(*model.Node)
	if !ok {
		traces.ExplainFailure(ctx, "there is no node "+req.Key+" ("+lastAsked(ctx)+" has why), so nothing was compiled")
		return nil, &indirector.Failure{Class: "ArgumentError", Message: "Could not find node '" + req.Key + "'; cannot compile"}
	}
	known := *node
	for _, p := range t.server.facts().Hash() {
		if _, set := known.Parameters.Lookup(p.Key.Str()); !set {
			known.Parameters = known.Parameters.With(p.Key.Str(), p.Value)
		}
	}
	return &known, nil
}

// lastAsked names the request that was asked last: "#7".
func lastAsked(ctx context.Context) string {
	name := "it is not recorded"
	if live := traces.FromContext(ctx); live != nil {
		live.Look(func(t *traces.Trace) {
			for i := range t.Spans {
				if s := &t.Spans[i]; s.Kind == traces.Nested && s.Request != 0 {
					name = "#" + strconv.FormatUint(s.Request, 10)
				}
			}
		})
	}
	return name
}

// bare is the error of a nested request without its place there: it gets one here.
func bare(err error) error {
	if e := (*indirector.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// trusted is what is known for sure of the node that a catalog is for: what its
// certificate has, or else its own fact. Rule LANG-SC-04.
func trusted(req *indirector.Request, node *model.Node) data.Value {
	r := req.Remote
	if r == nil {
		return hiera.LocalTrust(node.Parameters.Get("clientcert"))
	}
	out := hiera.LocalTrust(data.OfString(r.Node))
	if !r.Authenticated {
		return out.With("authenticated", data.OfBool(false))
	}
	extensions := make([]data.Pair, 0, len(r.Extensions))
	for _, name := range slices.Sorted(maps.Keys(r.Extensions)) {
		extensions = append(extensions, data.P(name, data.OfString(r.Extensions[name])))
	}
	return out.With("authenticated", data.OfString("remote")).With("extensions", data.OfHash(extensions))
}

// puppetVersion is what this program does as that version of Puppet does it.
const puppetVersion = "7.23.0"

// A server is the host that compiles. Its facts are found when they are needed first.
type server struct{ facts func() data.Value }

// newServer returns what nodes get to know of this host. Rule TERM-COMP-06.
func newServer(name string) server {
	return server{sync.OnceValue(func() data.Value {
		facts := []data.Pair{data.P("serverversion", data.OfString(puppetVersion)), data.P("servername", data.OfString(name))}
		// Nothing is sent: this asks which address packets would have.
		for _, x := range []struct{ fact, network, to string }{{"serverip", "udp4", "192.0.2.1:9"}, {"serverip6", "udp6", "[2001:db8::1]:9"}} {
			conn, err := net.Dial(x.network, x.to)
			if err != nil {
				continue // no address of that kind
			}
			if at, ok := conn.LocalAddr().(*net.UDPAddr); ok {
				facts = append(facts, data.P(x.fact, data.OfString(at.IP.String())))
			}
			conn.Close()
		}
		return data.OfHash(facts)
	})}
}
