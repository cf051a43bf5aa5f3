package scenarios

import (
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// sitePP is an environment whose manifest declares one class.
var sitePP = map[string]string{
	"code/environments/production/manifests/site.pp":              "include motd\n",
	"code/environments/production/modules/motd/manifests/init.pp": "class motd {\n  file { '/etc/motd': content => \"${facts['os']}\\n\" }\n  @file { '/etc/issue': }\n}\n",
}

// compiling is a server that compiles catalogs, with more files.
func compiling(conf string, files map[string]string) Scene {
	all := map[string]string{}
	for name, text := range sitePP {
		all[name] = text
	}
	for name, text := range files {
		all[name] = text
	}
	return Scene{Application: "server", Conf: "[server]\ncodedir = $dir/code\n" + conf, Files: all}
}

// compilerScenarios are about catalogs that are compiled.
func compilerScenarios() []Scenario {
	enc := func(prints string) Scene {
		return compiling("node_terminus = exec\nexternal_nodes = $dir/bin/enc\n", map[string]string{"bin/enc": "#!/bin/sh\n" + prints, "code/environments/qa/": ""})
	}
	decided := []string{"compiler: setting catalog_terminus, default"}
	return []Scenario{
		{
			Name: "S-08 an ENC prints nothing, and a catalog is asked for", scene: enc("echo\n"),
			play: func(s *Stage) {
				if _, err := s.ask(find("catalog", "n1")); err == nil || !strings.Contains(err.Error(), "Could not find node 'n1'; cannot compile") {
					s.fault("got %v, want Puppet's error", err)
				}
			},
			First: "there is no node n1 (#2 has why), so nothing was compiled", Decided: decided, Outcome: traces.Err,
		},
		{
			Name: "S-16 the classifier has another environment", scene: enc("printf 'environment: qa\\nclasses: []\\n'\n"),
			play: func(s *Stage) {
				req := find("catalog", "n1")
				req.Environment = "production"
				req.Remote = &indirector.Remote{Node: "n1", Authenticated: true}
				req.Options = []indirector.Option{{Name: "check_environment", Value: "true"}}
				if c, ok := s.must(req).(*model.Catalog); ok && len(c.Resources) > 0 {
					s.fault("the catalog has %d resources", len(c.Resources))
				}
			},
			First: "the environment of n1 is qa, not production: the catalog is empty, and the agent starts again in qa", Decided: decided, Outcome: traces.Good,
		},
	}
}
