package puppetdb_test

import (
	"testing"

	"indirtui/indirector/puppetdb"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"server_urls = https://a:8081, https://b":   "server_urls = https://a:8081, https://b",
		"https://u:p@a:8081":                        "https://u:xxxxx@a:8081",
		"https://u:p@ss@a":                          "https://u:xxxxx@a",
		"https://u:p/w@a":                           "https://u:xxxxx@a",
		"https://u:my,too@a":                        "https://u:xxxxx,xxxxx@a",
		"https//u:p@a":                              "https//u:xxxxx@a",
		"u:p@a":                                     "u:xxxxx@a",
		"https://[::1":                              "https://[::1",
		"pdb.example.com:8081 and foo:bar":          "pdb.example.com:8081 and foo:bar",
		"https://u@a:8081/x?y=1 https://a:8081?x=1": "https://u@a:8081/x?y=1 https://a:8081?x=1",
	} {
		if got := puppetdb.Redact(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
