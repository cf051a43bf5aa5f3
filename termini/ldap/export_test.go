package ldap

import (
	ldap "github.com/go-ldap/ldap/v3"

	"indirtui/indirector/model"
)

// FilterFor returns what is sent for a key.
func FilterFor(filter, key string) string { return (&config{filter: filter}).filterFor(key) }

// Read returns the node of an entry with the usual settings.
func Read(e *ldap.Entry, fqdn bool) (*model.Node, error) {
	c := &config{classes: []string{"puppetclass"}, stacked: []string{"puppetvar"}, parent: "parentnode"}
	read, err := c.read(e, fqdn)
	if err != nil {
		return nil, err
	}
	return read.Model(read.name, "production"), nil
}
