package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/files"
	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/client"
	"indirtui/indirector/network/rest"
	"indirtui/indirector/network/server"
	"indirtui/indirector/settings"
	"indirtui/indirector/stores"
	"indirtui/ui/command"
)

// A proxyCommand stands between agents and a server, between a server and PuppetDB,
// or both.
type proxyCommand struct {
	listening
	upstream, puppetdb    string
	cert, key, ca, crl    string
	agents                string
	ownCA, obtain         bool
	silent                bool
	upstreamHost, upsPort string
	puppetdbURL           *url.URL    // nil if there is none
	became                *stores.Log // what became of PuppetDB's commands
}

func newProxy(p *program) *proxyCommand { return &proxyCommand{listening: listening{p: p}} }

func (x *proxyCommand) build(cmd *cobra.Command) {
	cmd.Long = `Stand between agents and a server. Every request of an agent goes through the
rest terminus of its indirection to the server, and what comes back goes to the
agent as it came. Routes may send an indirection elsewhere, also while agents
are running. Each request is a line; --ui shows them in the interactive program
instead, and --plain takes commands from standard input besides.

The agent must trust the certificate of --cert (default that of the settings,
hostcert): one that the server's CA has signed for the name by which agents call
the proxy. With --own-ca agents get their certificates from a CA of the proxy
instead.

Who the agent is, the server learns

  --agents-ssl DIR   from the agent's own certificate: DIR is an ssldir with
                     certs/NAME.pem and private_keys/NAME.pem, such as the
                     agent's own on the same machine
  (nothing)          from headers, X-Client-Verify, -DN and -Cert, which Puppet
                     Server believes with allow-header-cert-info
  --tell-nobody      not at all: the server sees the proxy alone

Unless the server sees the agent's certificate, the proxy holds agents to
--auth-conf itself: its certificate may be allowed more than theirs.

With --puppetdb it stands between Puppet Server, whose puppetdb.conf names the
proxy in server_urls, and PuppetDB. Commands and what Puppet asks become requests
of catalog, facts, report, node and resource; everything else of PuppetDB's API
passes unread. PuppetDB sees the certificate of the proxy. Clients need one of the
CA, and what rules of --auth-conf that name /pdb want besides.

Exit code: 0 ended by a signal, 1 it cannot listen, 2 usage.`
	cmd.Example = `  indirtui proxy --upstream https://puppet:8140 --cert proxy.crt --key proxy.key --ca ca.pem
  indirtui proxy --upstream https://puppet:8140 --agents-ssl /etc/puppet/ssl --ui
  indirtui proxy --puppetdb https://puppetdb:8081 --listen :8081 --ui`
	x.flags(cmd)
}

func (x *proxyCommand) run(ctx context.Context, _ []string) error {
	if err := x.check(); err != nil {
		return err
	}
	return x.answer(ctx, x.start)
}

func (x *proxyCommand) flags(cmd *cobra.Command) {
	x.listening.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&x.upstream, "upstream", "", "the server: `URL`")
	f.StringVar(&x.puppetdb, "puppetdb", "", "PuppetDB behind Puppet Server: `URL`")
	f.StringVar(&x.cert, "cert", "", "the certificate shown to agents and to the server (`FILE`; default setting hostcert)")
	f.StringVar(&x.key, "key", "", "its key (`FILE`; default setting hostprivkey)")
	f.StringVar(&x.ca, "ca", "", "the CA of the server and of agents (`FILE`; default setting localcacert)")
	f.StringVar(&x.crl, "crl", "", "its revocation list (`FILE`; default setting hostcrl)")
	f.StringVar(&x.agents, "agents-ssl", "", "an ssldir (`DIR`) with certificates and keys of agents, shown to the server")
	f.BoolVar(&x.obtain, "obtain", false, "get the certificates of agents that are not in --agents-ssl from the server's CA")
	f.BoolVar(&x.ownCA, "own-ca", false, "agents get certificates from a CA of the proxy, that of the setting cadir")
	f.BoolVar(&x.silent, "tell-nobody", false, "do not tell the server who the agent is")
}

func (x *proxyCommand) check() error {
	if x.upstream == "" && x.puppetdb == "" {
		return &command.UsageError{What: "proxy needs a server", Advice: "say it: --upstream https://puppet:8140, or --puppetdb https://puppetdb:8081"}
	}
	if x.upstream != "" {
		u, err := serverURL("--upstream", x.upstream)
		if err != nil {
			return err
		}
		x.upstreamHost, x.upsPort = u.Hostname(), cmp.Or(u.Port(), "8140")
	}
	if x.puppetdb != "" {
		u, err := serverURL("--puppetdb", x.puppetdb)
		if err != nil {
			return err
		}
		x.puppetdbURL = &url.URL{Scheme: u.Scheme, Host: net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "8081"))}
	}
	switch {
	case (x.cert == "") != (x.key == ""):
		return &command.UsageError{What: "only one of --cert and --key is given"}
	case x.upstream == "" && (x.agents != "" || x.ownCA || x.obtain || x.silent):
		return &command.UsageError{What: "--agents-ssl, --obtain, --own-ca and --tell-nobody are about agents, and there is no server for them", Advice: "say it: --upstream https://puppet:8140"}
	case x.agents != "" && x.silent:
		return &command.UsageError{What: "--agents-ssl and --tell-nobody exclude each other"}
	case x.obtain && x.agents == "":
		return &command.UsageError{What: "--obtain needs a directory", Advice: "say it: --agents-ssl DIR"}
	}
	return nil
}

// serverURL reads the address of a server that a flag names.
func serverURL(flag, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Path != "" && u.Path != "/" {
		return nil, &command.UsageError{What: fmt.Sprintf("%s %s is no URL of a server", flag, withoutPassword(u, text)), Advice: "write it as https://HOST:PORT"}
	}
	return u, nil
}

// withoutPassword returns the text of an address as it may be shown.
func withoutPassword(u *url.URL, text string) string {
	if u != nil && u.User != nil {
		return u.Redacted()
	}
	return text
}

// overrides are the settings by which the rest termini find the server, and
// identify themselves.
func (x *proxyCommand) overrides() []settings.Override {
	set := []settings.Override{{Name: "use_srv_records", Value: "false"}, {Name: "server_list", Value: ""}}
	add := func(name, value string) {
		if value != "" {
			set = append(set, settings.Override{Name: name, Value: value})
		}
	}
	for _, s := range []string{"server", "ca_server", "report_server"} {
		add(s, x.upstreamHost) // nothing, without agents
	}
	for _, s := range []string{"serverport", "ca_port", "report_port"} {
		add(s, x.upsPort)
	}
	add("hostcert", absolute(x.cert))
	add("hostprivkey", absolute(x.key))
	add("localcacert", absolute(x.ca))
	add("hostcrl", absolute(x.crl))
	switch {
	case x.agents != "":
		add("rest_forward", "certificate")
		add("certdir", filepath.Join(absolute(x.agents), "certs"))
		add("privatekeydir", filepath.Join(absolute(x.agents), "private_keys"))
	case !x.silent:
		add("rest_forward", "headers")
	}
	return set
}

func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func (x *proxyCommand) start(ctx context.Context) (*answering, error) {
	change := func(o *engine.Options) {
		o.Set = append(x.overrides(), o.Set...)
		o.Elsewhere = true
		if x.puppetdbURL != nil {
			x.became = stores.NewLog("puppetdb")
			o.Termini = append(slices.Clip(o.Termini), server.PuppetDB(x.puppetdbURL, x.became)...)
		}
	}
	return x.begin(change, func(e *engine.Engine, log *slog.Logger, f *front) error {
		asks := client.New(client.Options{Settings: e.Settings, Log: log})
		f.close = asks.Close
		f.named = x.named
		return x.front(ctx, e, asks, f)
	})
}

// named returns what recordings and users call a proxy that listens on an address.
func (x *proxyCommand) named(address string) (source, hello string) {
	var short, long []string
	if x.upstream != "" {
		short, long = append(short, x.upstreamHost+":"+x.upsPort), append(long, x.upstream)
	}
	if x.puppetdbURL != nil {
		short, long = append(short, x.puppetdbURL.Host), append(long, "PuppetDB "+x.puppetdb)
	}
	return fmt.Sprintf("proxy %s -> %s", address, strings.Join(short, ", ")), fmt.Sprintf("proxying on %s to %s", address, strings.Join(long, " and "))
}

// front makes the front of a proxy: what has a terminus rest goes to the server,
// what is of PuppetDB's API to PuppetDB, and what this program does not
// understand, too.
func (x *proxyCommand) front(ctx context.Context, e *engine.Engine, asks *client.Client, f *front) error {
	if err := x.prefer(e); err != nil {
		return err
	}
	s, err := x.listener(ctx, e, asks)
	if err != nil {
		return err
	}
	f.server = s.server
	f.rest = rest.Options{Client: s.client, Authorize: s.authorize, Run: s.server.Run, Wide: true, PassThrough: true}
	if x.puppetdbURL != nil {
		f.rest.PuppetDB = x.toPuppetDB(e, asks, s)
	}
	if x.upstream == "" {
		return nil
	}
	forward := &server.Forwarder{Client: asks, Server: s.server, As: s.as, Recorder: e.Store, Now: time.Now}
	other := s.guard(forward)
	if s.keys != "" {
		forward.Note = s.keyless
	}
	f.rest.Other, f.rest.CA = other, other
	if x.ownCA {
		f.rest.CA = serveCA(e, s.server)
		if s.keys != "" {
			f.rest.CA = s.noting(f.rest.CA)
		}
	}
	return nil
}

// prefer routes what agents ask to the server or, without one, what a server asks to
// PuppetDB.
func (x *proxyCommand) prefer(e *engine.Engine) error {
	terminus, place := "rest", "proxy --upstream "+x.upstream
	if x.upstream == "" {
		terminus, place = server.Forward, "proxy --puppetdb "+x.puppetdb
	}
	all := make(map[string]string)
	for _, name := range e.Registry().Names() {
		if slices.Contains(e.Registry().Termini(name), terminus) {
			all[name] = terminus
		}
	}
	return e.Prefer(place, all)
}

// toPuppetDB decides about PuppetDB's API. Its requests name their terminus: agents
// and routes.yaml may have other routes.
func (x *proxyCommand) toPuppetDB(e *engine.Engine, asks *client.Client, s *standing) *rest.PuppetDB {
	pass := &server.Forwarder{Client: asks, Server: s.server, URL: x.puppetdbURL, As: server.AsProxy, Recorder: e.Store, Now: time.Now, Became: x.became}
	return &rest.PuppetDB{
		Terminus: server.Forward, Source: "proxy --puppetdb " + x.puppetdb,
		Pass: pass.Pass, Authorize: s.server.AuthorizePuppetDB, Run: s.server.RunOf, Alone: x.upstream == "",
	}
}

// A standing stands between agents and a server: as which client the server is
// asked, and what may be handed on.
type standing struct {
	server     *server.Server
	as         server.As
	identities *server.Identities // nil if those of agents are not obtained
	// keys is the directory of agents' keys, which agents fill themselves; "" is
	// none.
	keys     string
	announce func(string)
}

// keyless returns what a client should know that requests a certificate whose
// key this proxy cannot read: its requests would fail later. "" is nothing.
func (s *standing) keyless(r *http.Request) string {
	name, ok := strings.CutPrefix(r.URL.Path, "/puppet-ca/v1/certificate_request/")
	if !ok || r.Method != http.MethodPut || ca.ValidName(name) != nil {
		return ""
	}
	key := filepath.Join(s.keys, name+".pem")
	if exists(key) {
		return ""
	}
	text := fmt.Sprintf("%s requests a certificate, and its key is not in %s: once it has the certificate, its requests will fail. "+
		"Let --agents-ssl name the agent's own ssldir, copy its key and certificate there, or use --own-ca and --obtain", name, key)
	s.announce(text)
	return text
}

// noting lets h answer, and looks for keys.
func (s *standing) noting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.keyless(r)
		h.ServeHTTP(w, r)
	})
}

// own reports whether the server is asked with the agent's own certificate.
// Then the server decides what the agent may.
func (s *standing) own(client indirector.Remote) bool {
	return s.as == server.AsAgent && client.Authenticated
}

// client returns the caller. If the server decides, no rule here has decided.
func (s *standing) client(r *http.Request) indirector.Remote {
	client := s.server.Client(r)
	if s.own(client) {
		client.Rule = ""
	}
	return client
}

func (s *standing) authorize(r *http.Request, client indirector.Remote) error {
	if !s.own(client) {
		return s.server.Authorize(r, client)
	}
	if s.identities == nil {
		return nil
	}
	return s.identities.Have(r.Context(), client.Node)
}

// guard lets through to h what the agent may ask.
func (s *standing) guard(h http.Handler) http.Handler {
	guarded := s.server.Guard(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := s.server.Client(r)
		if !s.own(client) {
			guarded.ServeHTTP(w, r)
			return
		}
		if err := s.authorize(r, client); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// listener makes the server that agents talk to.
func (x *proxyCommand) listener(ctx context.Context, e *engine.Engine, asks *client.Client) (*standing, error) {
	s := &standing{announce: func(text string) { x.p.report(text) }}
	if x.ui && !x.display.plain {
		s.announce = func(string) {} // the trace has it
	}
	switch {
	case x.agents != "":
		s.as = server.AsAgent
		if !x.obtain {
			s.keys = setting(e, "privatekeydir")
		}
	case x.silent:
		s.as = server.AsProxy
	}
	if x.obtain {
		s.identities = &server.Identities{Client: asks, Certs: setting(e, "certdir"), Keys: setting(e, "privatekeydir")}
	}
	var err error
	id := identityOf(e)
	if x.ownCA {
		if id, err = x.proxyCA(ctx, e); err != nil {
			return nil, err
		}
		if x.cert != "" {
			x.announce("--own-ca: agents are shown %s; --cert is shown to the server alone", id.Cert)
		}
		if err := e.Prefer("--own-ca", ownCA(e)); err != nil {
			return nil, err
		}
	} else if !exists(id.Cert) {
		return nil, fmt.Errorf("there is no certificate for agents at %s: --cert and --key name one that the server's CA has signed, --own-ca makes a CA", id.Cert)
	}
	auth, err := x.rules()
	if err != nil {
		return nil, err
	}
	s.server, err = x.server(e, id, auth, nil)
	return s, err
}

// proxyCA is the CA of the setting cadir, made if there is none, and a
// certificate of it for the proxy.
func (x *proxyCommand) proxyCA(ctx context.Context, e *engine.Engine) (server.Identity, error) {
	cfg, err := ca.ConfigOf(e.Settings)
	if err != nil {
		return server.Identity{}, err
	}
	authority, err := ca.Open(cfg)
	if errors.Is(err, ca.ErrNoCA) {
		authority, err = x.setup(ctx, e, cfg, "vardir")
	}
	if err != nil {
		return server.Identity{}, err
	}
	dir := filepath.Join(setting(e, "vardir"), "proxy")
	id := server.Identity{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), CA: cfg.Cert, CRL: cfg.CRL}
	if exists(id.Cert) && exists(id.Key) {
		return id, nil
	}
	names := []string{"puppet"}
	for n := range strings.SplitSeq(setting(e, "dns_alt_names"), ",") {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	_, cert, key, err := authority.Generate(ctx, ca.Leaf{Name: setting(e, "certname"), AltNames: names, Replace: true})
	if err != nil {
		return id, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return id, err
	}
	if err := files.Write(id.Key, key, files.Options{Mode: 0o600, Owner: files.Inherit}); err != nil {
		return id, err
	}
	if err := files.Write(id.Cert, cert, files.Options{Mode: 0o644, Owner: files.Inherit}); err != nil { // last: where it is, its key is, too
		return id, err
	}
	x.announce("made a certificate for %s: %s", setting(e, "certname"), id.Cert)
	return id, nil
}
