package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// servingScenarios are about files that are served, and about buckets.
func servingScenarios() []Scenario {
	const text = "text of a file"
	sum := sha256.Sum256([]byte(text))
	key := "sha256/" + hex.EncodeToString(sum[:])
	bucket := Scene{Application: "agent"}
	fill := func(s *Stage) {
		f, err := model.NewFileBucketFile("sha256", []byte(text))
		if err != nil {
			s.stop(err)
		}
		req := save("file_bucket_file", f)
		req.Key = f.Key() + "//etc/motd"
		s.must(req)
	}
	module := func(application string) Scene {
		return Scene{Application: application, Files: map[string]string{
			"code/environments/production/modules/m/files/a b": "with a blank",
			"code/environments/production/modules/m/files/f":   "plain",
		}}
	}
	plugins := Scene{Application: "server", Files: map[string]string{
		"code/environments/production/modules/a/lib/facter/x.rb": "of a",
		"code/environments/production/modules/b/lib/facter/x.rb": "of b",
	}}
	byRequest := []string{"selector"}
	return []Scenario{
		{
			Name: "S-20 a bucket that stays local", scene: bucket,
			play: func(s *Stage) {
				fill(s)
				s.must(find("file_bucket_file", key))
			},
			First: "stored on this machine: the URL names no server", Decided: byRequest, Outcome: traces.Good,
		},
		{
			Name: "S-21 a bucket is asked with the wrong path", scene: bucket,
			play: func(s *Stage) {
				fill(s)
				req := find("file_bucket_file", key+"//etc/issue")
				req.Terminus = "file"
				s.nothing(req)
			},
			First: "the bucket has this content, but not under /etc/issue", Decided: []string{"file: this request"}, Outcome: traces.Nil,
		},
		{
			Name: "S-22 the checksums of a bucket are of another kind",
			scene: Scene{
				Application: "agent", Conf: "[main]\ndigest_algorithm = sha256\n",
			},
			play: func(s *Stage) {
				fill(s)
				req := find("file_bucket_file", "md5/ad0234829205b9033196ba818f7a872b")
				req.Terminus = "file"
				if v, err := s.ask(req); err == nil {
					s.fault("got %v, want an error", v)
				}
			},
			First: "asked for md5, this bucket keeps sha256", Decided: []string{"file: this request"}, Outcome: traces.Err,
		},
		{
			Name: "S-23 puppet:/// means this machine for apply", scene: module("apply"),
			play: func(s *Stage) {
				got := s.must(find("file_metadata", "puppet:///modules/m/f")).(*model.FileMetadata)
				if want := s.Path("code/environments/production/modules/m/files/f"); got.Path != want {
					s.fault("got %s, want %s", got.Path, want)
				}
			},
			First: "puppet:/// means this machine under puppet apply", Decided: byRequest, Outcome: traces.Good,
		},
		{
			Name: "S-24 two modules ship the same plugin", scene: plugins,
			play: func(s *Stage) {
				req := find("file_metadata", "plugins/facter/x.rb")
				req.Terminus = "file_server"
				s.must(req)
			},
			First: "two modules have this file: b wins over a by directory order", Decided: []string{"file_server: this request"}, Outcome: traces.Good,
		},
		{
			Name: "S-45 a source with percent signs", scene: module("apply"),
			play: func(s *Stage) {
				req := find("file_metadata", "modules/m/a%20b")
				req.Terminus = "file_server"
				s.nothing(req)
				last := s.Last
				req.Key = "modules/m/a b"
				s.must(req)
				s.Last = last
			},
			First: "%20 is taken literally: write a space in the source", Decided: []string{"file_server: this request"}, Outcome: traces.Nil,
		},
		{
			Name: "S-46 an HTTP source of contents", scene: Scene{Application: "agent"}, serve: website,
			play:  func(s *Stage) { s.must(find("file_content", s.Expand("$URL/motd"))) },
			First: "Puppet 7 and 8 fail here with \"Could not find terminus http for indirection file_content\": they have removed it, and the selector still chooses it", Decided: byRequest, Outcome: traces.Good,
		},
		{
			Name: "S-47 an unknown mount", scene: module("server"),
			play: func(s *Stage) {
				req := find("file_metadata", "nomount/f")
				req.Terminus = "file_server"
				s.nothing(req)
				req.Remote = &indirector.Remote{Node: "web01.example.com", Authenticated: true}
				if v, err := s.ask(req); !errors.Is(err, indirector.ErrDenied) {
					s.fault("got %v, %v; want it to be refused", v, err)
				}
			},
			First: `there is no mount "nomount" (fileserver.conf); agents get 500 instead of 404`, Decided: []string{"file_server: this request"}, Outcome: traces.Err,
		},
		{
			Name: "S-48 an HTTP source without a date", scene: Scene{Application: "agent"}, serve: website,
			play: func(s *Stage) {
				s.must(find("file_metadata", s.Expand("$URL/motd")))
			},
			First: "the server sends neither a checksum nor Last-Modified, so the file looks changed every time", Decided: byRequest, Outcome: traces.Good,
		},
	}
}

// website is a web server that knows only the contents of its files.
func website(s *Stage) (map[string]string, error) {
	address, err := s.listen(nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("welcome\n"))
	}))
	return map[string]string{"URL": "http://" + address}, err
}
