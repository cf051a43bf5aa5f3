package ldap_test

import (
	"fmt"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/terminustest"
	"indirtui/termini/ldap"
)

// TestRules has entries and what becomes of them.
func TestRules(t *testing.T) {
	t.Parallel()
	d := &directory{entries: map[string][]*recordedEntry{
		"values": {node("cn=values,dc=example", "CN:values", "L:true", "L:True", "serialNumber:0042", "puppetVar:a=x=y", "puppetVar:b", "puppetVar:on=false", "puppetVar:a=z", "environment:staging")},
		"none":   {node("ou=none,dc=example")},
		"puppetClient": {
			node("cn=web1.example.com,dc=example,dc=com", "puppetClass:b", "PUPPETCLASS:a"), node("CN = web (old),dc=example,dc=com"),
		},
		"puppetClient)(puppetclass=a)(puppetclass=b":     {node("cn=two,dc=example")},
		`puppetClient)(puppetclass=\2a`:                  {node("cn=star,dc=example")},
		"puppetClient)(puppetclass=nameless":             {node("ou=x,dc=example")},
		"puppetClient)(puppetclass=parents":              {node("cn=p,dc=example", "parentNode:p")},
		"puppetClient)(puppetclass=profile::base":        {node("cn=base,dc=example")},
		"puppetClient)(puppetclass=profile::base::other": nil,
	}}
	var logs terminustest.Log
	terminus := open(t, at(serve(t, d, "127.0.0.1", nil, false)), &logs, nothing).(*ldap.Terminus)
	t.Run("LDAP-06 values", func(t *testing.T) {
		inst, err := terminus.Find(t.Context(), &indirector.Request{Key: "values", Environment: "production"})
		if err != nil {
			t.Fatal(err)
		}
		n := inst.(*model.Node)
		if got, want := n.Parameters.Inspect(), `{"cn"=>"values", "l"=>[true, "True"], "serialnumber"=>"0042", "puppetvar"=>["a=x=y", "b", "on=false", "a=z"], "dn"=>"cn=values,dc=example", "a"=>"z", "b"=>nil, "on"=>false}`; got != want || n.Environment != "staging" {
			t.Errorf("got %s in %s\nwant %s", got, n.Environment, want)
		}
	})
	for _, tt := range []struct {
		name    string
		options []indirector.Option
		want    string // names, or the error
	}{
		{"all", nil, "[web1.example.com web]"},
		{"fqdn", []indirector.Option{{Name: "fqdn", Value: true}}, "[web1.example.com.example.com web.example.com]"},
		{"fqdn that is false", []indirector.Option{{Name: "fqdn", Value: "false"}}, "[web1.example.com web]"},
		{"one class", []indirector.Option{{Name: "class", Value: "profile::base"}}, "[base]"},
		{"two classes", []indirector.Option{{Name: "class", Value: []any{"a", "b"}}}, "[two]"},
		{"escaped", []indirector.Option{{Name: "class", Value: "*"}}, "[star]"},
		{"none", []indirector.Option{{Name: "class", Value: []string{"profile::base::other"}}}, "[]"},
		{"no cn", []indirector.Option{{Name: "class", Value: "nameless"}}, "Node names cannot be nil"},
		{"one loop", []indirector.Option{{Name: "class", Value: "parents"}}, "Found loop in LDAP node parents; p appears twice"},
	} {
		t.Run("LDAP-13 search, "+tt.name, func(t *testing.T) {
			found, err := terminus.Search(t.Context(), &indirector.Request{Key: "x", Options: tt.options})
			names := []string{}
			for _, n := range found {
				names = append(names, n.Key())
			}
			got := fmt.Sprint(names)
			if err != nil {
				got = indirector.Message(err)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("LDAP-14 missing verbs", func(t *testing.T) {
		can := indirector.VerbsOf(terminus)
		if can[indirector.Head] != nil || can[indirector.Save] != nil || can[indirector.Destroy] != nil {
			t.Errorf("there are verbs that Puppet does not have")
		}
	})
}
