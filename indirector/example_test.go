package indirector_test

import (
	"context"
	"errors"
	"fmt"

	"indirtui/indirector"
	"indirtui/traces"
)

// roles is a terminus: it answers nodes from a map.
type roles map[string]string

func (r roles) Find(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
	if role := r[req.Key]; role != "" {
		return indirector.Name(role), nil
	}
	return nil, indirector.NotFound(traces.NotFound, "roles")
}

// A request: an indirection with one terminus, its route, and a find.
func Example() {
	registry, err := indirector.NewRegistry(
		[]indirector.Spec{{Name: "node", Class: "Puppet::Node", Default: "roles"}},
		[]indirector.Descriptor{{Indirection: "node", Name: "roles", Type: roles(nil), New: func(indirector.Env) (indirector.Terminus, error) {
			return roles{"web01": "webserver"}, nil
		}}})
	if err != nil {
		panic(err)
	}
	x, err := indirector.New(indirector.Config{Registry: registry, Routes: indirector.Routes{
		"node": {Primary: traces.Slot{{Terminus: "roles", Kind: traces.FromDeclaration}}},
	}})
	if err != nil {
		panic(err)
	}
	defer x.Close()
	resp, err := x.Do(context.Background(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "web01"})
	fmt.Println(resp.Instance().Key(), resp.Served, err)
	_, err = x.Do(context.Background(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "db01"})
	fmt.Println(err, errors.Is(err, indirector.ErrNotFound))
	// Output:
	// webserver terminus <nil>
	// find node "db01": terminus roles: not found: not-found(roles) true
}
