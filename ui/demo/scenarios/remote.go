package scenarios

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// respond answers as Puppet Server does.
func respond(w http.ResponseWriter, status int, kind, body string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Puppet-Version", "7.23.0")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, body)
}

// respondError answers with an error as Puppet Server does.
func respondError(w http.ResponseWriter, status int, message, kind string) {
	respond(w, status, "application/json", fmt.Sprintf(`{"message":%q,"issue_kind":%q}`, message, kind))
}

// remoteAgent is an agent of a puppetserver.
func remoteAgent(more string) Scene {
	return Scene{Application: "agent", Conf: agentConf + more, Files: map[string]string{"var/client_yaml/": ""}}
}

// compiles is a server that compiles one catalog, and none after that.
func compiles() http.HandlerFunc {
	var asked atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			respond(w, http.StatusOK, "application/json", `{"name":"n1","version":1700000000,"environment":"production","resources":[],"edges":[],"classes":[]}`)
			return
		}
		respondError(w, http.StatusInternalServerError, "Server Error: Evaluation Error: Unknown variable: 'role' (file: site.pp, line: 12)", "RUNTIME_ERROR")
	}
}

// inRun is a request as the agent makes it in one of its runs.
func inRun(req indirector.Request, flags traces.Flags, rescue string) indirector.Request {
	req.Caller, req.Run, req.Rescue, req.Environment = "agent", "0b5e0a52-30a4-4f43-a9a6-4a1d1c1f6f10", rescue, "production"
	return with(req, flags)
}

// askCatalog asks for a catalog as the agent does, with facts.
func askCatalog(key string) indirector.Request {
	req := find("catalog", key)
	req.Options = []indirector.Option{{Name: "facts_for_catalog", Value: Facts(key)}}
	return req
}

// remoteScenarios are about answers of a server.
func remoteScenarios() []Scenario {
	const fresh = traces.IgnoreCache | traces.IgnoreCacheSave
	rest := []string{"rest: application agent"}
	answer := func(status int, kind, body string) func(*Stage) (map[string]string, error) {
		return puppetserver(func(w http.ResponseWriter, _ *http.Request) { respond(w, status, kind, body) })
	}
	missing := func(name, message, issue, first string) Scenario {
		return Scenario{
			Name: "S-18 a 404 about " + name, scene: remoteAgent("node_terminus = rest\n"),
			serve: puppetserver(func(w http.ResponseWriter, _ *http.Request) { respondError(w, http.StatusNotFound, message, issue) }),
			play:  func(s *Stage) { s.nothing(find("node", "n1")) },
			First: first, Outcome: traces.NilHidden,
		}
	}
	foreign := remoteAgent("node_terminus = rest\n")
	foreign.Files["code/environments/zz/"] = "" // the agent knows it
	return []Scenario{
		{
			Name: "S-01 an agent silently uses an old catalog", scene: remoteAgent(""), serve: puppetserver(compiles()),
			play: func(s *Stage) {
				s.must(askCatalog("n1"))
				s.Wait(3*24*time.Hour + time.Hour)
				s.fails(inRun(askCatalog("n1"), fresh, "configurer retrieve_new_catalog: cached_catalog_status=on_failure"), "Error 500 on SERVER: Server Error: Evaluation Error")
				s.must(inRun(askCatalog("n1"), traces.IgnoreTerminus, ""))
			},
			First:   "the server had failed (#2), so the cached catalog (3 days old) was used: Error 500: Unknown variable 'role', site.pp line 12",
			Decided: append(rest, "cache json: application agent"), Outcome: traces.Stale,
		},
		{
			Name: "S-02 agent -t does not fall back", scene: remoteAgent("usecacheonfailure = false\n"), serve: puppetserver(compiles()),
			play: func(s *Stage) {
				s.must(askCatalog("n1"))
				s.fails(inRun(askCatalog("n1"), fresh, "configurer retrieve_new_catalog: run skipped, as --test forbids the cached catalog"), "Error 500 on SERVER")
			},
			First:   "run skipped, as --test forbids the cached catalog: the server failed: Error 500: Unknown variable 'role', site.pp line 12 (localhost:$PORT, setting server (puppet.conf:2 [main]) answered 500 Internal Server Error)",
			Decided: rest, Outcome: traces.Err,
		},
		{
			Name: "S-17 an environment that the server does not have", scene: foreign,
			serve: puppetserver(func(w http.ResponseWriter, _ *http.Request) {
				respondError(w, http.StatusNotFound, "Not Found: Could not find environment 'zz'", "RUNTIME_ERROR")
			}),
			play: func(s *Stage) {
				req := find("node", "n1")
				req.Environment = "zz"
				s.nothing(req)
			},
			First: "the server (localhost:$PORT) has no environment 'zz' (404); the catalog will be compiled all the same, in the server's own environment (usually production)", Outcome: traces.NilHidden,
		},
		{
			Name: "S-17 the compiler does not have the environment either", scene: compiling("", nil),
			play: func(s *Stage) {
				s.must(save("facts", Facts("n1")))
				if status := s.over("/puppet/v3/node/n1?environment=zz"); status != http.StatusNotFound {
					s.fault("the node: got %d, want 404", status)
				}
				if status := s.over("/puppet/v3/catalog/n1?environment=zz"); status != http.StatusOK {
					s.fault("the catalog: got %d, want 200", status)
				}
			},
			First:   "there is no environment zz here, which is what the 404 of other requests is about; a catalog needs none, so it was compiled in production, the server's own",
			Decided: []string{"compiler: setting catalog_terminus, default"}, Outcome: traces.Good,
		},
		missing("the node", "Not Found: Could not find node n1", "RESOURCE_NOT_FOUND", "the server (localhost:$PORT) has no node n1: 404"),
		missing("the environment", "Not Found: Could not find environment 'production'", "RUNTIME_ERROR", "the server (localhost:$PORT) has no environment 'production' (404); the catalog will be compiled all the same, in the server's own environment (usually production)"),
		missing("requests over the network", "Not Found: The indirection name 'node' does not support remote requests", "NO_INDIRECTION_REMOTE_REQUESTS", "the server (localhost:$PORT) does not answer requests for node over the network (404)"),
		{
			Name: "S-18 a 404 of somebody else", scene: remoteAgent("node_terminus = rest\n"), serve: answer(http.StatusNotFound, "text/html", "<html><body>Not Found</body></html>"),
			play:  func(s *Stage) { s.nothing(find("node", "n1")) },
			First: `localhost:$PORT answered 404, but not as Puppet does: a proxy or another web server is in the way (it wrote "Not Found")`, Outcome: traces.NilHidden,
		},
		{
			Name: "S-19 the bucket's URL names another host", scene: remoteAgent(""), serve: answer(http.StatusOK, "application/octet-stream", "text of a file"),
			play: func(s *Stage) {
				s.must(find("file_bucket_file", "filebucket://other.example.com:8140/md5/e1c06d85ae7b8b032bef47e42e4c08f9"))
			},
			First: "Puppet 7 and 8 ignore the host in a filebucket URL; the main server was asked", Outcome: traces.Good,
		},
		{
			Name: "S-32 a report is refused by the server", scene: remoteAgent(""),
			serve: puppetserver(func(w http.ResponseWriter, _ *http.Request) {
				respondError(w, http.StatusInternalServerError, "Server Error: database is locked", "RUNTIME_ERROR")
			}),
			play: func(s *Stage) {
				report := &model.Report{Host: "n1"}
				refused := inRun(save("report", report), traces.IgnoreCache, "configurer send_report: only the local copy was written")
				s.fails(refused, "Error 500 on SERVER: Server Error: database is locked")
				last := s.Last
				s.must(inRun(save("report", report), traces.IgnoreTerminus, ""))
				s.exists("var/state/last_run_report.yaml", true)
				s.Last = last
			},
			First: "only the local copy was written: the server failed: Error 500: database is locked (localhost:$PORT, setting report_server (default) answered 500 Internal Server Error)", Decided: rest, Outcome: traces.Err,
		},
		{
			Name: "S-34 a proxy answers with HTML", scene: remoteAgent("node_terminus = rest\n"), serve: answer(http.StatusOK, "text/html", "<html><body>Please log in</body></html>"),
			play:  func(s *Stage) { s.fails(find("node", "n1"), "undefined method `name' for nil") },
			First: `text/html is not a format of Puppet: localhost:$PORT, setting server (puppet.conf:2 [main]) answered 200 with text/html: a proxy or another web server is in the way; it says "Please log in"`, Outcome: traces.Err,
		},
		{
			Name: "S-35 a TLS error and a server_list", scene: remoteAgent("node_terminus = rest\nserver_list = localhost:$PORT,localhost:$OTHER\n"), serve: distrusted,
			play: func(s *Stage) {
				if v, err := s.ask(find("node", "n1")); err == nil {
					s.fault("got %v, want an error", v)
				}
			},
			First: "Puppet stops at a TLS error, so 1 more of server_list was not asked: localhost:$PORT, setting server_list (puppet.conf:11 [main]), 1 of 2: CN=Puppet CA: stranger was issued by CN=Puppet CA: stranger; known are CN=Puppet CA: ca", Outcome: traces.Err,
		},
	}
}

// distrusted is a server whose certificate is not trusted, and one that would
// have answered.
func distrusted(s *Stage) (map[string]string, error) {
	good, err := puppetserver(func(w http.ResponseWriter, _ *http.Request) {
		respondError(w, http.StatusNotFound, "Not Found", "RESOURCE_NOT_FOUND")
	})(s)
	if err != nil {
		return nil, err
	}
	secure, err := s.authority("stranger")
	if err != nil {
		return nil, err
	}
	address, err := s.listen(secure, http.NotFoundHandler())
	_, port, _ := strings.Cut(address, ":")
	return map[string]string{"PORT": port, "OTHER": good["PORT"]}, err
}
