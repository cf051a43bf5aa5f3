package scenarios

import (
	"slices"
	"strings"
)

// A title describes a situation, whether it can be played or not.
type title struct {
	id, title, seen string
	needs           []string
}

// titles is the table of the specification of gaps, section 2.
var titles = []title{
	{"S-01", "an agent silently uses an old catalog", "one line of error, then a run like any other", []string{"catalog rest"}},
	{"S-02", "the same with agent -t: the run is skipped", "\"Not using cache on failed catalog\"", []string{"catalog rest"}},
	{"S-03", "use_cached_catalog", "the catalog never changes", nil},
	{"S-04", "a cache of facts hides a failing PuppetDB", "finds succeed for half an hour, then fail; saves fail at once", []string{"facts puppetdb"}},
	{"S-05", "a cache of facts on the agent", "new facts are ignored for half an hour", nil},
	{"S-06", "a node is never refreshed", "old classes for ever", nil},
	{"S-07", "an ENC exits 1", "\"Execution of … returned 1:\" with nothing behind it", nil},
	{"S-08", "an ENC prints nothing", "\"Could not find node\"", nil},
	{"S-09", "an ENC cannot be run", "the same text as for exit 1", nil},
	{"S-10", "a wrong section in routes.yaml", "nothing happens", nil},
	{"S-11", "the string rest in routes.yaml", "a server error, facts that are null, then a cached catalog", nil},
	{"S-12", "cache: none or cache: false", "a fatal error, or no effect", nil},
	{"S-13", "an empty routes.yaml", "\"undefined method `[]' for false\"", nil},
	{"S-14", "expired, and the terminus is refused by flag", "nil, and a line of info", nil},
	{"S-15", "the caller ignores a fresh cache", "a request over the network although the cache is fresh", nil},
	{"S-16", "the node's environment overrides the agent's", "\"doesn't match server specified environment\", up to four times", []string{"catalog compiler"}},
	{"S-17", "an environment that the server does not have", "404 for the node, and the catalog compiles anyway", []string{"catalog rest", "node rest"}},
	{"S-18", "what a 404 is about", "nil, whatever it was", []string{"node rest"}},
	{"S-19", "the bucket's URL names another host", "the backup goes to the main server", []string{"file_bucket_file rest"}},
	{"S-20", "a bucket that stays local", "the file lands on this machine", nil},
	{"S-21", "a bucket is asked with the wrong path", "nil although the contents are there", nil},
	{"S-22", "the checksums of a bucket are of another kind", "\"Unsupported checksum type\"", nil},
	{"S-23", "puppet:/// means this machine for apply", "a local file where a server's was expected", nil},
	{"S-24", "two modules ship the same plugin", "one of them wins", nil},
	{"S-25", "a cache of catalogs in YAML", "the cached catalog cannot be used", nil},
	{"S-26", "a catalog is answered under another name", "the fallback finds nothing later", nil},
	{"S-27", "a corrupt cache file", "an error only when the cache is read", nil},
	{"S-28", "a cache cannot be written", "the catalog is lost although the server answered", nil},
	{"S-29", "there is no yaml directory", "\"No such file or directory @ dir_s_mkdir\"", nil},
	{"S-30", "an empty YAML file", "404, or false", nil},
	{"S-31", "a cache hit bypasses the filter", "the second catalog has exported resources", nil},
	{"S-32", "a report is refused by the server", "\"Could not send report\", and a local file", []string{"report rest"}},
	{"S-33", "a device has no last report", "no file", nil},
	{"S-34", "a proxy answers with HTML", "\"undefined method `name' for nil\"", []string{"node rest"}},
	{"S-35", "a TLS error and a server_list", "the run ends at the first server", []string{"node rest"}},
	{"S-36", "head on yaml", "500: undefined method head", nil},
	{"S-37", "a search by name in yaml", "an empty list", nil},
	{"S-38", "a nested fact in a search", "an empty list", nil},
	{"S-39", "memory of the symbol and of the string", "nil", nil},
	{"S-40", "what catalog download leaves behind", "yaml is read instead of the server", nil},
	{"S-41", "a thread sees another terminus", "it works in one request and not in the next", nil},
	{"S-42", "storeconfigs replaces the cache", "the cache file is not updated any longer", nil},
	{"S-43", "the agent skips the node request", "a changed environment is ignored until the catalog comes", []string{"node compiler"}},
	{"S-44", "destroy on store_configs saves", "the object is saved again", []string{"catalog store_configs"}},
	{"S-45", "a source with percent signs", "404", nil},
	{"S-46", "an HTTP source of contents", "\"Could not find terminus http\"", nil},
	{"S-47", "an unknown mount", "500 with a certificate, 404 without", nil},
	{"S-48", "an HTTP source without a date", "the file is replaced in every run", nil},
	{"S-49", "YAML of an older Puppet", "\"Tried to load unspecified class: Time\"", nil},
	{"S-50", "the clock is ahead", "every entry has expired", nil},
}

// Catalogue returns the fifty situations, in order.
func Catalogue() []Entry {
	all := slices.Concat(cacheScenarios(), classifierScenarios(), routeScenarios(), fileScenarios(), servingScenarios(), compilerScenarios(), agentScenarios(), remoteScenarios())
	entries := make([]Entry, 0, len(titles))
	for _, t := range titles {
		e := Entry{ID: t.id, Title: t.title, Seen: t.seen, Needs: t.needs}
		for _, s := range all {
			if s.ID() == t.id {
				e.Variants = append(e.Variants, s)
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// Find returns the situation that a name means: "S-07", "s7", "7".
func Find(name string) (Entry, bool) {
	digits := strings.TrimPrefix(strings.TrimPrefix(strings.ToUpper(name), "S"), "-")
	for _, e := range Catalogue() {
		if number := strings.TrimPrefix(e.ID, "S-"); digits == number || digits == strings.TrimPrefix(number, "0") {
			return e, true
		}
	}
	return Entry{}, false
}
