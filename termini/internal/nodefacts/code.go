package nodefacts

import (
	"context"

	"indirtui/indirector"
)

// Code is what termini of facts have in common that compute facts and keep none: they are
// for this host only, and refuse to save and to destroy. From is what the facts are from, in
// Puppet's words: "Facter". Rule RES-DEV-04.
type Code struct{ From string }

// LocalOnly reports true: a client does not get the facts of the server.
func (Code) LocalOnly() bool { return true }

// Save fails: facts are what they are.
func (c Code) Save(context.Context, *indirector.Request) (any, error) {
	return nil, c.refuse("save facts to")
}

// Destroy fails.
func (c Code) Destroy(context.Context, *indirector.Request) (any, error) {
	return nil, c.refuse("destroy facts in")
}

func (c Code) refuse(what string) error {
	return &indirector.Failure{
		Class: "Puppet::DevError", Message: "You cannot " + what + " the code store; it is only used for getting facts from " + c.From,
	}
}
