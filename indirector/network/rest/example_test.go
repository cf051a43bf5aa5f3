package rest_test

import (
	"fmt"
	"net/http/httptest"

	"indirtui/indirector"
	"indirtui/indirector/network/rest"
)

// A request as Puppet's agent writes it, and what a server reads.
func Example() {
	m, err := rest.Encoding{}.Encode(&indirector.Request{
		Indirection: "file_metadata", Verb: indirector.Search, Key: "modules/ntp/conf d", Environment: "test",
		Options: []indirector.Option{{Name: "recurse", Value: true}, {Name: "ignore", Value: []any{".git", "CVS"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Method, m.Target())
	fmt.Println(m.Header.Get("Accept"))
	req, err := rest.Space{}.Decode(httptest.NewRequest(m.Method, m.Target(), nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(req.Verb, req.Indirection, req.Key, req.Environment, req.Option("ignore"))
	// Output:
	// GET /puppet/v3/file_metadatas/modules/ntp/conf%20d?recurse=true&ignore=.git&ignore=CVS&environment=test
	// application/json, application/x-msgpack, text/pson
	// search file_metadata modules/ntp/conf d test [.git CVS]
}
