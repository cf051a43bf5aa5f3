package puppetdb

import (
	"context"
	"net/url"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
	"indirtui/indirector/puppetdb/command"
)

// An Answer is a body that a PuppetDB sent.
type Answer string

func (body Answer) of() (*Client, *attempt) {
	return &Client{answer: 1 << 20, depth: defaultDepth}, &attempt{url: &url.URL{Scheme: "https", Host: "a"}, answer: &client.Answer{Body: []byte(body)}}
}

// Facts reads the body as the facts of a node.
func (body Answer) Facts() ([]data.Pair, error) {
	c, a := body.of()
	return c.facts(context.Background(), a)
}

// Names reads it as a list of nodes.
func (body Answer) Names() ([]indirector.Instance, error) {
	c, a := body.of()
	return c.names(context.Background(), a)
}

// Resources reads it as a list of resources.
func (body Answer) Resources() ([]*model.Resource, error) {
	c, a := body.of()
	return c.resources(context.Background(), a)
}

// Refused is why PuppetDB would refuse a command.
func Refused(cmd *command.Command) string { return refused(cmd) }

// ResourcesQuery and FactsQuery are the questions of searches.
var (
	ResourcesQuery = resourcesQuery
	FactsQuery     = factsQuery
	QueryPath      = queryPath
)
