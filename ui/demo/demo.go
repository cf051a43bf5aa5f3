// Package demo is a small Puppet site with problems to find. Nothing in it is
// recorded: its files are laid out in a temporary directory, a small web
// server runs beside them, and the real engine answers real requests.
package demo

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"text/template"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/child"
	"indirtui/indirector/host/filelock"
)

//go:embed site
var site embed.FS

// The nodes of the site.
const (
	web = "web01.example.com" // its catalog cannot be compiled, and it has an old one
	db  = "db07.example.com"  // the node classifier prints nothing for it
	app = "app03.example.com" // its cached facts have expired

	exporter  = "a01.example.com" // exports hosts, and its facts are old
	collector = "b02.example.com" // collects them, and has two entries in the directory
	gone      = "c03.example.com" // exports hosts, and is deactivated
)

// Options are those of a Site. The zero value is the ordinary demo; tests fix
// what would differ between two runs.
type Options struct {
	Dir string           // of its files; "" is a new one among the temporary files
	Now func() time.Time // nil is the clock
}

// A Site is the demo while it runs.
type Site struct {
	Dir    string            // of its files; Close removes it
	URL    string            // of its web server
	temp   *filelock.TempDir // nil if the directory was chosen
	server *http.Server
	done   chan struct{}
	ldap   *directory
	clock  func() time.Time
	ago    atomic.Int64 // how far back the clock of the site is, as a time.Duration
	good   atomic.Bool  // the server can still compile the catalog of web
}

// now is the clock of the site.
func (s *Site) now() time.Time { return s.clock().Add(-time.Duration(s.ago.Load())) }

// Start lays the site out and starts its web server and its directory on loopback.
// Close takes all away.
func Start(o Options) (_ *Site, err error) {
	s := &Site{Dir: o.Dir, clock: o.Now, done: make(chan struct{})}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.Dir == "" {
		if s.temp, err = filelock.MakeTemp("indirtui-demo-"); err == nil {
			s.Dir = s.temp.Path
		}
	} else {
		err = os.Mkdir(s.Dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("make a directory for the demo: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the web server of the demo: %w", err), s.remove())
	}
	if s.ldap, err = newDirectory(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the directory of the demo: %w", err), listener.Close(), s.remove())
	}
	s.URL = "http://" + listener.Addr().String()
	s.server = &http.Server{Handler: s.handler(), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(listener) // ends with Close
	}()
	if err := s.layOut(); err != nil {
		return nil, errors.Join(fmt.Errorf("lay out the demo: %w", err), s.Close())
	}
	return s, nil
}

// Close stops the web server and the directory, and removes the files.
func (s *Site) Close() error {
	err := s.server.Close()
	<-s.done
	return errors.Join(err, s.ldap.Close(), s.remove())
}

func (s *Site) remove() error {
	if s.temp != nil {
		return s.temp.Remove()
	}
	return os.RemoveAll(s.Dir)
}

// Options are those of an engine over the site.
func (s *Site) Options(o engine.Options) engine.Options {
	o.ConfDir, o.VarDir, o.RouteFile = filepath.Join(s.Dir, "conf"), "", ""
	o.Application, o.Environment, o.Source = "agent", "", "demo site"
	o.Termini = slices.DeleteFunc(slices.Clone(o.Termini), func(d indirector.Descriptor) bool {
		return d.Indirection == PuppetDB.Indirection && d.Name == PuppetDB.Name // the demo has its own
	})
	o.Termini = append(o.Termini, Upstream, PuppetDB)
	o.Certname, o.Now = func() string { return web }, s.now
	return o
}

// handler is the server of the site: it knows one catalog, refuses reports, and
// takes commands as PuppetDB does.
func (s *Site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /catalog/{name}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if name := r.PathValue("name"); name == app || name == web && s.good.Load() {
			b, err := s.render("site/data/catalog.json", name, time.Time{}, "")
			if err == nil {
				_, _ = w.Write(b)
				return
			}
		}
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"message":"Evaluation Error: Unknown variable: 'role' (file: site.pp, line: 12)","issue_kind":"RUNTIME_ERROR"}`)
	})
	mux.HandleFunc("POST "+commands, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxCommand)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"uuid":"1f0c7a52-8f3c-4f0e-9a71-0d6a5b8c2e10"}`)
	})
	mux.HandleFunc("POST /reports/upload", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "database is locked", http.StatusInternalServerError)
	})
	return mux
}

// layOut writes the files of the site, good ones and bad ones.
func (s *Site) layOut() error {
	now := s.now()
	dir := func(parts ...string) string { return filepath.Join(append([]string{s.Dir}, parts...)...) }
	cache := dir("var", "client_data")
	for _, d := range []string{
		dir("conf"), dir("bin"), dir("code", "environments", "production", "manifests"), dir(modules, "web", "files"), dir("machine", "etc", "nginx"),
		filepath.Join(cache, "facts"), filepath.Join(cache, "catalog"),
		dir("var", "client_yaml", "facts"), dir("var", "client_yaml", "catalog"), dir("var", "client_yaml", "node"), dir("var", "state"), dir("var", "reports"),
	} {
		if err := os.MkdirAll(d, 0o750); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		from, to string
		mode     fs.FileMode
		node     string
		expires  time.Time
		written  time.Time
	}{
		{"conf/puppet.conf", dir("conf", "puppet.conf"), 0o640, "", time.Time{}, now},
		{"conf/routes.yaml", dir("conf", "routes.yaml"), 0o640, "", time.Time{}, now},
		{"bin/enc", dir("bin", "enc"), 0o750, "", time.Time{}, now},
		{"code/site.pp", dir("code", "environments", "production", "manifests", "site.pp"), 0o640, "", time.Time{}, now},
		{"code/nginx.conf", dir(modules, "web", "files", "nginx.conf"), 0o640, "", time.Time{}, now},
		{"machine/nginx.conf", dir("machine", "etc", "nginx", "nginx.conf"), 0o644, "", time.Time{}, now},
		{"machine/app.conf", dir("machine", "etc", "app.conf"), 0o644, "", time.Time{}, now},
		{"bin/facter", dir("bin", "facter"), 0o750, "", time.Time{}, now},
		{"data/facts.json", filepath.Join(cache, "facts", web+".json"), 0o660, web, now.Add(18 * time.Minute), now.Add(-12 * time.Minute)},
		{"data/facts.json", filepath.Join(cache, "facts", app+".json"), 0o660, app, now.Add(-14 * time.Minute), now.Add(-44 * time.Minute)},
		{"data/catalog.json", filepath.Join(cache, "catalog", web+".json"), 0o660, web, time.Time{}, now.Add(-91 * time.Minute)},
		// Of a time when catalogs were kept in YAML.
		{"data/catalog.json", dir("var", "client_yaml", "catalog", web+".yaml"), 0o660, web, time.Time{}, now.Add(-41 * 24 * time.Hour)},
	} {
		b, err := s.render("site/"+f.from, f.node, f.expires, "")
		if err != nil {
			return err
		}
		if err := child.WriteFile(f.to, b, f.mode); err != nil {
			return err
		}
		if err := os.Chtimes(f.to, f.written, f.written); err != nil {
			return err
		}
	}
	// A cache file that was cut off in the middle.
	whole, err := s.render("site/data/facts.json", db, now.Add(20*time.Minute), "")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(cache, "facts", db+".json"), whole[:len(whole)/3], 0o660)
}

// render fills in a file of the site.
func (s *Site) render(name, node string, expires time.Time, run string) ([]byte, error) {
	text, err := site.ReadFile(name)
	if err != nil {
		return nil, err
	}
	short, _, _ := strings.Cut(node, ".")
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return nil, err
	}
	const layout = "2006-01-02T15:04:05.000000000-07:00"
	var b bytes.Buffer
	err = t.Execute(&b, map[string]string{
		"Dir": s.Dir, "URL": s.URL, "LDAP": s.ldap.port(), "Node": node, "Short": short, "Run": run,
		"Number":  strings.TrimLeft(strings.TrimLeft(short, "abcdefghijklmnopqrstuvwxyz"), "0") + "0",
		"Written": s.now().UTC().Format(layout), "Expires": expires.UTC().Format(layout),
	})
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// Play lets the agents of the site run: what they ask is asked for real, and
// fails for real. It takes less than two seconds.
func (s *Site) Play(ctx context.Context, e *engine.Engine) error {
	return (&player{ctx: ctx, site: s, engine: e}).play()
}
