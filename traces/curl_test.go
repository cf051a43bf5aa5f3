package traces_test

import (
	"testing"

	"indirtui/traces"
)

func TestCurl(t *testing.T) {
	t.Parallel()
	s := traces.Span{Kind: traces.Network, Name: "PUT https://puppet:8140/puppet/v3/report/o'b?environment=qa", Attrs: []traces.Attr{
		{Key: "> Accept", Value: "application/json"}, {Key: "> Authorization", Value: "(masked)"}, {Key: "> User-Agent", Value: "Puppet"}, {Key: "sent", Value: "12"},
	}}
	x, ok := s.HTTP()
	const want = `curl -sS -X 'PUT' --cacert "$(puppet config print localcacert)" --cert "$(puppet config print hostcert)" --key "$(puppet config print hostprivkey)" -H 'Accept: application/json' -H 'Authorization: (masked)' --data-binary @BODY 'https://puppet:8140/puppet/v3/report/o'\''b?environment=qa'`
	if got := x.Curl(); !ok || got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
