package scenarios

import (
	"context"
	"net/http"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// neverFinds is PuppetDB where it is only written.
type neverFinds struct{}

func (neverFinds) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, indirector.ErrNotFound
}

func (neverFinds) Save(context.Context, *indirector.Request) (any, error) { return nil, nil }

// agentScenarios are about what agents and servers do with what they are sent.
func agentScenarios() []Scenario {
	isCached := Scene{Application: "agent", Termini: []indirector.Descriptor{answers("catalog", "rest", Catalog("n1"))}}
	return []Scenario{
		{
			Name: "S-03 use_cached_catalog", scene: isCached,
			play: func(s *Stage) {
				s.must(find("catalog", "n1"))
				s.Wait(40 * 24 * time.Hour)
				req := with(find("catalog", "n1"), traces.IgnoreTerminus)
				req.Caller = "configurer (use_cached_catalog)"
				s.must(req)
			},
			First:   "use_cached_catalog is on: the server was not asked, and the cached catalog (40 days old) was used",
			Decided: []string{"rest: application agent", "cache json: application agent"}, Outcome: traces.Hit,
		},
		failingPuppetDB(),
		{
			Name: "S-44 destroy on store_configs saves",
			scene: Scene{
				Application: "server", Routes: "server:\n  node:\n    terminus: store_configs\n",
			},
			play: func(s *Stage) {
				s.must(indirector.Request{Indirection: "node", Verb: indirector.Destroy, Key: "n1"})
			},
			First:   "store_configs destroy calls save: nothing was deactivated",
			Decided: []string{"store_configs: routes file, routes.yaml:3", "puppetdb: setting storeconfigs_backend, default"}, Outcome: traces.Nil,
		},
		storedCatalog(),
	}
}

// storedCatalog has a PuppetDB as the cache of catalogs, instead of files.
func storedCatalog() Scenario {
	return Scenario{
		Name: "S-42 storeconfigs replaces the cache",
		scene: Scene{
			Application: "apply", Conf: agentConf + "storeconfigs = true\n",
			Files: map[string]string{"conf/puppetdb.conf": "[main]\nserver_urls = https://localhost:$PORT\n"},
			Termini: []indirector.Descriptor{
				describe("catalog", "compiler", compiler{upstream{func(key string) (indirector.Instance, error) { return Catalog(key), nil }}}),
			},
		},
		serve: puppetserver(func(w http.ResponseWriter, _ *http.Request) {
			respond(w, http.StatusOK, "application/json", `{"uuid":"8c2dfd2e-7f3c-4f38-a7b5-7a6ac4c21b6e"}`)
		}),
		play: func(s *Stage) {
			s.must(find("catalog", "n1"))
			s.exists("var/client_data/catalog/n1.json", false)
		},
		First: "catalog goes to puppetdb: storeconfigs_backend, default; answers nil by contract, so the compiler was asked",
		Decided: []string{
			"cache store_configs: application apply, setting catalog_cache_terminus, storeconfigs", "puppetdb: setting storeconfigs_backend, default",
		},
		Outcome: traces.Good, Problem: "storeconfigs is on: it replaced the catalog cache",
	}
}

// failingPuppetDB has a PuppetDB that goes down between two requests.
func failingPuppetDB() Scenario {
	const refused = "on at least 1 of the following 'server_urls': https://localhost:"
	return Scenario{
		Name: "S-04 a cache of facts hides a failing PuppetDB",
		scene: Scene{
			Application: "server", Conf: agentConf, Routes: "server:\n  facts:\n    terminus: puppetdb\n    cache: yaml\n",
			Files: map[string]string{"var/yaml/": "", "conf/puppetdb.conf": "[main]\nserver_urls = https://localhost:$PORT\n"},
		},
		serve: puppetserver(func(w http.ResponseWriter, _ *http.Request) {
			respond(w, http.StatusOK, "application/json", `[{"certname":"n1","name":"kernel","value":"Linux"}]`)
		}),
		play: func(s *Stage) {
			s.must(find("facts", "n1"))
			s.stopServer()
			s.fails(save("facts", Facts("n1")), refused)
			s.fails(with(find("facts", "n1"), traces.IgnoreCache), refused)
			s.must(find("facts", "n1"))
		},
		First:   "the cache (yaml) answered, so PuppetDB was not asked; its last answer was an error (#4): no PuppetDB answered: localhost:$PORT: connection refused",
		Decided: []string{"puppetdb: routes file, routes.yaml:3", "cache yaml: routes file, routes.yaml:4"}, Outcome: traces.Hit,
	}
}
