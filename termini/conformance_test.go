package termini_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jimlambrt/gldap"
	"github.com/miekg/dns"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/child"
	"indirtui/indirector/model"
	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/network/server"
	"indirtui/indirector/puppetdb/puppetdbtest"
	engineset "indirtui/indirector/settings"
	"indirtui/indirector/sqlstore/storetest"
	"indirtui/indirector/terminustest"
	"indirtui/termini"
	"indirtui/termini/filebucket"
	"indirtui/termini/memory"
)

func hash(pairs ...data.Pair) data.Value { return data.OfHash(pairs) }

var (
	web01Facts = &model.Facts{
		Name:   "web01.example.test",
		Values: hash(data.P("kernel", data.OfString("Linux")), data.P("os", hash(data.P("family", data.OfString("Debian")))), data.P("cpus", data.OfInt(4))),
	}
	web01Node = &model.Node{
		Name: "web01.example.test", Environment: "production",
		Classes: data.OfStrings([]string{"ntp", "web::front"}), Parameters: hash(data.P("role", data.OfString("web"))),
	}
)

func seeds() map[string]map[string]indirector.Instance {
	db01Facts, db01Node := *web01Facts, *web01Node
	db01Facts.Name, db01Node.Name = "db01", "db01"
	return map[string]map[string]indirector.Instance{
		"facts":   {"web01.example.test": web01Facts, "db01": &db01Facts},
		"node":    {"web01.example.test": web01Node, "db01": &db01Node},
		"catalog": {"web01.example.test": fromData("catalog", hash(data.P("name", data.OfString("web01.example.test")), data.P("environment", data.OfString("production")), data.P("resources", data.OfList(nil)), data.P("edges", data.OfList(nil)), data.P("classes", data.OfStrings([]string{"settings"}))))},
		"report":  {"web01.example.test": fromData("report", hash(data.P("host", data.OfString("web01.example.test")), data.P("time", data.OfString("2021-01-01T00:00:00.000000000Z")), data.P("logs", data.OfList(nil)), data.P("metrics", hash()), data.P("resource_statuses", hash()), data.P("environment", data.OfString("production"))))},
	}
}

func fromData(name string, v data.Value) indirector.Instance {
	class, _ := model.Lookup(name)
	inst, err := class.FromData(v)
	if err != nil {
		panic(err)
	}
	return inst
}

// fileSettings keeps everything below dir.
func fileSettings(dir string) map[string]string {
	return map[string]string{
		"run_mode": "server", "yamldir": dir, "clientyamldir": dir, "server_datadir": dir, "client_datadir": dir,
		"lastrunreport": filepath.Join(dir, "last_run_report.yaml"), "reports": "store,log", "reportdir": dir, "rich_data": "true",
	}
}

// TestConformance runs the suite on everything that All lists.
func TestConformance(t *testing.T) {
	bucket := terminustest.Options{
		Seed: copies("some text\n", "", "\x00\xff"), Absent: "sha256/" + strings.Repeat("0", 64),
		Settings: func(dir string) map[string]string { return map[string]string{"bucketdir": dir} },
	}
	bucketBySelector := bucket
	bucketBySelector.Siblings = []indirector.Descriptor{filebucket.File}
	special := map[string]terminustest.Options{
		"node/plain":   {Invents: true, Seed: map[string]indirector.Instance{"bare": &model.Node{Name: "bare", Environment: "production"}}},
		"status/local": {Invents: true, Seed: map[string]indirector.Instance{"x": &model.Status{Name: "x", IsAlive: true, Version: "7.23.0"}}},
		"node/exec": {
			Seed:     map[string]indirector.Instance{"web01.example.test": web01Node},
			Settings: func(dir string) map[string]string { return map[string]string{"external_nodes": classifier(t, dir)} },
			Do: func(context.Context, *indirector.Request) (indirector.Response, error) {
				return indirector.Response{}, indirector.ErrNotFound
			},
		},
		"data_binding/hiera": {
			Seed:     map[string]indirector.Instance{"ntp::servers": &model.Binding{Name: "ntp::servers", Value: data.OfStrings([]string{"a", "b"})}},
			Settings: func(dir string) map[string]string { return levels(t, dir) },
			Do: func(context.Context, *indirector.Request) (indirector.Response, error) {
				return indirector.Response{}, indirector.ErrNotFound
			},
		},
		"catalog/compiler": {
			Invents: true, Seed: map[string]indirector.Instance{"web01.example.test": indirector.Name("web01.example.test")},
			Settings: func(dir string) map[string]string { return levels(t, dir) },
			Do: func(ctx context.Context, req *indirector.Request) (indirector.Response, error) {
				if err := ctx.Err(); err != nil || req.Indirection != "node" {
					return indirector.Response{}, cmp.Or(err, error(indirector.ErrNotFound))
				}
				return indirector.Response{Value: &model.Node{Name: req.Key, Environment: "production"}}, nil
			},
		},
		"data_binding/none": {Seed: map[string]indirector.Instance{"ntp::servers": indirector.Name("ntp::servers")}},
		"facts/facter": {Invents: true, AnySearch: true, Settings: func(dir string) map[string]string {
			return map[string]string{"facter_config": filepath.Join(dir, "none")}
		}},
		"facts/network_device":      {Raises: true}, // saves are refused; see termini/device
		"resource/ral":              {Invents: true, Absent: "File//nothing/absent"},
		"file_bucket_file/file":     bucket,
		"file_bucket_file/selector": bucketBySelector,
	}
	inDirectory(t, special)
	inDNS(t, special)
	servedFiles(t, special)
	puppetDB(t, special)
	storesInSQL(t, special)
	restServer(t, special)
	ofTheCA(t, special)
	overMemory(special)
	for _, d := range termini.All() {
		t.Run(d.Indirection+"/"+d.Name, func(t *testing.T) {
			o, ok := special[d.Indirection+"/"+d.Name]
			if !ok {
				t.Cleanup(func() {
					if t.Failed() {
						t.Log("it has no options in special, so it was given the settings and instances of files")
					}
				})
				o = terminustest.Options{Settings: fileSettings, Seed: seeds()[d.Indirection], OneEntry: d.Indirection == "report", AnySearch: d.Indirection == "facts"}
			}
			specs := termini.Specs()
			i := slices.IndexFunc(specs, func(s indirector.Spec) bool { return s.Name == d.Indirection })
			if i < 0 {
				t.Fatalf("there is no indirection %s", d.Indirection)
			}
			o.Spec = &specs[i]
			terminustest.Run(t, d, o)
		})
	}
}

// inDirectory starts an LDAP server that has one node.
func inDirectory(t *testing.T, special map[string]terminustest.Options) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	l.Close()
	server, err := gldap.NewServer(gldap.WithLogger(hclog.NewNullLogger()))
	if err != nil {
		t.Fatal(err)
	}
	mux, err := gldap.NewMux()
	if err != nil {
		t.Fatal(err)
	}
	_ = mux.Bind(func(w *gldap.ResponseWriter, r *gldap.Request) {
		_ = w.Write(r.NewBindResponse(gldap.WithResponseCode(gldap.ResultSuccess)))
	})
	_ = mux.Search(func(w *gldap.ResponseWriter, r *gldap.Request) {
		if m, err := r.GetSearchMessage(); err == nil && m.Filter == "(cn=web01.example.test)" {
			e := r.NewSearchResponseEntry("cn=web01.example.test")
			e.AddAttribute("puppetClass", []string{"ntp", "web::front"})
			e.AddAttribute("role", []string{"web"})
			_ = w.Write(e)
		}
		_ = w.Write(r.NewSearchDoneResponse(gldap.WithResponseCode(gldap.ResultSuccess)))
	})
	_ = server.Router(mux)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(address) }()
	t.Cleanup(func() {
		_ = server.Stop()
		<-ended
	})
	node := *web01Node
	node.Parameters = hash(data.P("puppetclass", data.OfStrings([]string{"ntp", "web::front"})), data.P("role", data.OfString("web")), data.P("dn", data.OfString("cn=web01.example.test")))
	special["node/ldap"] = terminustest.Options{
		Seed: map[string]indirector.Instance{"web01.example.test": &node}, AnySearch: true,
		Settings: func(string) map[string]string {
			return map[string]string{"ldapserver": "127.0.0.1", "ldapport": port, "ldapstring": "(cn=%s)", "ldapclassattrs": "puppetclass", "ldapattrs": "all"}
		},
	}
}

// inDNS starts a name server that has one node.
func inDNS(t *testing.T, special map[string]terminustest.Options) {
	t.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: packets, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) {
		reply := new(dns.Msg).SetRcode(m, dns.RcodeNameError)
		if m.Question[0].Name == "web01.example.test." {
			reply.Rcode = dns.RcodeSuccess
			for _, text := range []string{"class=ntp,web::front", "role=web"} {
				reply.Answer = append(reply.Answer, &dns.TXT{Hdr: dns.RR_Header{Name: m.Question[0].Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 300}, Txt: []string{text}})
			}
		}
		_ = w.WriteMsg(reply)
	})}
	ready, ended := make(chan struct{}), make(chan error, 1)
	server.NotifyStartedFunc = func() { close(ready) }
	go func() { ended <- server.ActivateAndServe() }()
	<-ready
	t.Cleanup(func() {
		_ = server.Shutdown()
		<-ended
	})
	now := time.Now()
	special["node/dns"] = terminustest.Options{
		Seed:     map[string]indirector.Instance{"web01.example.test": web01Node.WithExpiration(now.Add(300 * time.Second))},
		Now:      func() time.Time { return now },
		Settings: func(string) map[string]string { return map[string]string{"dns_servers": packets.LocalAddr().String()} },
	}
}

// overMemory adds the options of store_configs, whose backend is memory.
func overMemory(special map[string]terminustest.Options) {
	all := seeds()
	all["resource"] = map[string]indirector.Instance{"Notify/hi": &model.Resource{Type: "Notify", Title: "hi"}}
	for _, name := range []string{"catalog", "facts", "node", "resource"} {
		backend, kept := memory.Node, new(memory.Terminus)
		backend.Indirection = name
		backend.New = func(indirector.Env) (indirector.Terminus, error) { return kept, nil }
		special[name+"/store_configs"] = terminustest.Options{
			Settings: func(string) map[string]string { return map[string]string{"storeconfigs_backend": "memory"} },
			Seed:     all[name], Siblings: []indirector.Descriptor{backend}, DestroySaves: true,
		}
	}
}

// levels lays out an environment whose one level has a key, and returns the
// settings that lead there.
func levels(t *testing.T, dir string) map[string]string {
	t.Helper()
	environment := filepath.Join(dir, "environments", "production")
	if err := os.MkdirAll(filepath.Join(environment, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"hiera.yaml": "{version: 5, hierarchy: [{name: common, path: common.yaml}]}\n", "data/common.yaml": "ntp::servers: [a, b]\n",
	} {
		if err := os.WriteFile(filepath.Join(environment, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{
		"environment": "production", "environmentpath": filepath.Join(dir, "environments"), "hiera_config": filepath.Join(dir, "hiera.yaml"),
		"data_binding_terminus": "hiera", "certname": "web01.example.test", "strict": "warning",
	}
}

// ofTheCA adds the options of the termini that Puppet had for certificates: one
// CA, which each of them gets a copy of.
func ofTheCA(t *testing.T, special map[string]terminustest.Options) {
	t.Helper()
	const name = "web01.example.test"
	origin := filepath.Join(t.TempDir(), "ca")
	a, err := ca.Setup(t.Context(), ca.Config{Dir: origin, KeyLength: 1024}, ca.SetupOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, cert, key, err := a.Generate(t.Context(), ca.Leaf{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	crl, _, err := a.CRL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	public, err := ca.PublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ca.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, signer)
	if err != nil {
		t.Fatal(err)
	}
	settings := func(dir string) map[string]string {
		if err := os.CopyFS(dir, os.DirFS(origin)); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(dir, "signed", name+".pem"))
		s := map[string]string{
			"cadir": dir, "signeddir": dir + "/signed", "csrdir": dir + "/requests", "cacert": dir + "/ca_crt.pem", "cacrl": dir + "/ca_crl.pem",
			"cakey": dir + "/ca_key.pem", "capub": dir + "/ca_pub.pem", "allow_duplicate_certs": "true", "autosign": "false",
			"localcacert": dir + "/ca.pem", "hostcrl": dir + "/crl.pem",
		}
		for _, d := range []string{"certdir", "requestdir", "privatekeydir", "publickeydir"} {
			s[d] = filepath.Join(dir, d)
			if err := os.Mkdir(s[d], 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				t.Fatal(err)
			}
		}
		return s
	}
	seeds := map[string]indirector.Instance{
		"certificate":                 &model.Certificate{Name: name, PEM: cert, Until: must(model.NewCertificate(name, cert)).Until},
		"certificate_request":         &model.CertificateRequest{Name: name, PEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})},
		"certificate_revocation_list": &model.CRL{Name: "ca", PEM: crl},
		"key":                         &model.PrivateKey{Name: name, PEM: key, Public: public},
	}
	for _, d := range termini.All() {
		switch d.Indirection {
		case "certificate", "certificate_request", "certificate_revocation_list", "key", "certificate_status", "ocsp":
		default:
			continue
		}
		o := terminustest.Options{Settings: settings, AnySearch: true}
		switch d.Indirection + "/" + d.Name {
		case "certificate/ca", "key/ca", "key/file": // the CA's own certificate would be listed
			o.Settings = func(dir string) map[string]string {
				s := settings(dir)
				_, _ = os.Remove(s["cacert"]), os.Remove(s["cakey"])
				return s
			}
		case "certificate_revocation_list/ca": // only a CA has lists, and it makes them itself
			o.Settings = func(dir string) map[string]string {
				return map[string]string{"cadir": dir, "cacrl": dir + "/ca_crl.pem"}
			}
			special["certificate_revocation_list/ca"] = o
			continue
		}
		if d.Name == "rest" {
			if d.Indirection == "certificate_revocation_list" {
				o.Absent = "a/b" // any other is answered
			}
			server := caServer(t, settings(t.TempDir()), cert)
			if d.Indirection == "certificate_status" {
				server = caServer(t, settings(t.TempDir()), nil)
			}
			o.Settings = func(string) map[string]string { return server }
		}
		if inst := seeds[d.Indirection]; inst != nil {
			o.Seed = map[string]indirector.Instance{inst.Key(): inst}
			o.OneEntry = d.Indirection == "certificate_revocation_list"
		}
		if d.Name == "disabled_ca" {
			o.Siblings = slices.DeleteFunc(termini.All(), func(x indirector.Descriptor) bool { return x.Indirection != d.Indirection || x.Name != "file" })
		}
		special[d.Indirection+"/"+d.Name] = o
	}
}

// caServer serves a CA over HTTP, with one signed certificate, and returns the
// settings of its clients.
func caServer(t *testing.T, set map[string]string, signed []byte) map[string]string {
	t.Helper()
	if signed != nil {
		if err := os.WriteFile(filepath.Join(set["signeddir"], "web01.example.test.pem"), signed, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := engine.Options{Specs: termini.Specs(), Termini: termini.All(), Application: "server", Write: true, ConfDir: t.TempDir(), VarDir: t.TempDir()}
	for _, name := range []string{"cadir", "autosign", "allow_duplicate_certs"} {
		o.Set = append(o.Set, engineset.Override{Name: name, Value: set[name]})
	}
	e, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ca.Open(ca.Config{Dir: set["cadir"], KeyLength: 1024})
	if err != nil {
		t.Fatal(err)
	}
	_, cert, key, err := a.Generate(t.Context(), ca.Leaf{Name: "server", AltNames: []string{"IP:127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(set["signeddir"], "server.pem")); err != nil {
		t.Fatal(err)
	}
	id := server.Identity{Cert: filepath.Join(t.TempDir(), "cert"), Key: filepath.Join(t.TempDir(), "key"), CA: set["cacert"], CRL: set["cacrl"]}
	if err := errors.Join(os.WriteFile(id.Cert, cert, 0o600), os.WriteFile(id.Key, key, 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Identity: id})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, ca.NewHandler(e.Indirector, ca.HandlerOptions{Client: s.Client})) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, e.Close()); err != nil {
			t.Error(err)
		}
	})
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"ca_server": host, "ca_port": port, "localcacert": set["cacert"], "hostcrl": set["cacrl"], "certificate_revocation": "chain",
		"hostcert": set["cadir"] + "/none", "hostprivkey": set["cadir"] + "/none", "http_connect_timeout": "120", "http_read_timeout": "120",
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// puppetDB adds the options of the termini of PuppetDB, and one for each.
func puppetDB(t *testing.T, special map[string]terminustest.Options) {
	t.Helper()
	authority := clienttest.New(t, "Puppet CA")
	leaf := authority.Issue(t, "localhost", clienttest.Local)
	for _, d := range termini.All() {
		if !strings.HasPrefix(d.Name, "puppetdb") {
			continue
		}
		db := new(puppetdbtest.DB)
		at := clienttest.Serve(t, leaf, db).URL
		o := terminustest.Options{Seed: seeds()[d.Indirection], AnySearch: true}
		o.Settings = func(dir string) map[string]string {
			*db = puppetdbtest.DB{}
			s := authority.Write(t, dir, leaf)
			s["confdir"] = dir
			clienttest.WriteFile(t, filepath.Join(dir, "puppetdb.conf"), []byte("[main]\nserver_urls = "+at+"\n"))
			return s
		}
		if d.Indirection == "facts" { // they come back with what is known of who saved them
			facts := *web01Facts
			facts.Values = facts.Values.With("trusted", hash(
				data.P("authenticated", data.OfString("local")), data.P("certname", data.Value{}), data.P("extensions", hash()),
				data.P("hostname", data.Value{}), data.P("domain", data.Value{}), data.P("external", hash()),
			))
			o.Seed = map[string]indirector.Instance{facts.Name: &facts}
		}
		special[d.Indirection+"/"+d.Name] = o
	}
}

// storesInSQL adds the options of the stores in SQL.
func storesInSQL(t *testing.T, special map[string]terminustest.Options) {
	t.Helper()
	now := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	facts := *web01Facts // they come back with what is known of who saved them, and when
	facts.Values = facts.Values.With("trusted", hash(
		data.P("authenticated", data.OfString("local")), data.P("certname", data.Value{}), data.P("extensions", hash()),
		data.P("hostname", data.Value{}), data.P("domain", data.Value{}), data.P("external", hash()),
	))
	facts.Timestamp = model.At(now)
	report := fromData("report", hash(
		data.P("host", data.OfString(facts.Name)), data.P("time", data.OfString("2021-01-01T00:00:00.000000000Z")), data.P("configuration_version", data.OfString("1")),
		data.P("transaction_uuid", data.OfString("7c4a1e9e-0000-4000-8000-000000000001")), data.P("report_format", data.OfInt(12)), data.P("puppet_version", data.OfString("7.23.0")),
		data.P("status", data.OfString("unchanged")), data.P("transaction_completed", data.OfBool(true)), data.P("noop", data.OfBool(false)), data.P("noop_pending", data.OfBool(false)),
		data.P("environment", data.OfString("production")), data.P("logs", data.OfList(nil)), data.P("metrics", hash()), data.P("resource_statuses", hash()), data.P("corrective_change", data.OfBool(false)),
	))
	seed := map[string]map[string]indirector.Instance{
		"facts": {facts.Name: &facts}, "report": {facts.Name: report}, "catalog": seeds()["catalog"], "node": seeds()["node"],
	}
	for _, indirection := range []string{"catalog", "facts", "node", "report", "resource"} {
		o := terminustest.Options{
			Seed: seed[indirection], Now: func() time.Time { return now }, AnySearch: indirection == "facts",
			Settings: func(dir string) map[string]string {
				return map[string]string{"sqlite_database": filepath.Join(dir, "stores.db"), "node_name_value": "compiler.example.test"}
			},
		}
		special[indirection+"/sqlite"] = o
		o.Settings = func(string) map[string]string { return map[string]string{"postgresql_url": storetest.Postgres(t)} }
		special[indirection+"/postgresql"] = o
	}
}

// servedFiles adds the options of termini that serve files: one file in a
// directory that is a mount, a path and a web site.
func servedFiles(t *testing.T, special map[string]terminustest.Options) {
	t.Helper()
	const content, sum = "read me\n", "{sha256}65ce01fcc3e22e78b63419ef0f4493b0950daac7cee97329b428f5cafd395cda"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "readme"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(t.TempDir(), "fileserver.conf")
	if err := os.WriteFile(conf, []byte("[site]\n  path "+dir+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Checksum-Sha256", strings.TrimPrefix(sum, "{sha256}"))
		http.ServeFile(w, r, filepath.Join(dir, filepath.Base(r.URL.Path)))
	}))
	t.Cleanup(site.Close)
	local := &model.FileMetadata{
		Path: dir + "/readme", Links: "manage", Type: "file", ChecksumType: "sha256", Checksum: sum,
		Owner: data.OfInt(int64(os.Geteuid())), Group: data.OfInt(int64(os.Getegid())), Mode: data.OfInt(0o644),
	}
	remote := &model.FileMetadata{Path: "/dev/null", Links: "manage", Type: "file", ChecksumType: "sha256", Checksum: sum}
	settings := func(string) map[string]string { return map[string]string{"fileserverconfig": conf} }
	for _, indirection := range []string{"file_metadata", "file_content"} {
		add := func(name, key, absent string, inst *model.FileMetadata, siblings ...indirector.Descriptor) {
			var seed indirector.Instance = inst
			if indirection == "file_content" {
				seed = &model.FileContent{Path: inst.Path, Links: inst.Links}
			}
			special[indirection+"/"+name] = terminustest.Options{
				Seed: map[string]indirector.Instance{key: seed}, Absent: absent, NoSearch: name == "http", Settings: settings, Siblings: siblings,
			}
		}
		add("file", dir+"/readme", dir+"/nothing", local)
		add("file_server", "site/readme", "site/nothing", local)
		add("http", site.URL+"/readme", site.URL+"/nothing", remote)
		siblings := slices.DeleteFunc(termini.All(), func(d indirector.Descriptor) bool { return d.Indirection != indirection || d.Name == "selector" })
		add("selector", "site/readme", "site/nothing", local, siblings...)
	}
}

// copies are files of a bucket, by key.
func copies(contents ...string) map[string]indirector.Instance {
	files := map[string]indirector.Instance{}
	for _, c := range contents {
		f, err := model.NewFileBucketFile("sha256", []byte(c))
		if err != nil {
			panic(err)
		}
		files[f.Key()] = f
	}
	return files
}

// classifier writes a command that knows one node.
func classifier(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "enc")
	script := `#!/bin/sh
test "$1" = web01.example.test || exit 0
echo 'classes: [ntp, "web::front"]'
echo 'parameters: {role: web}'
`
	if err := child.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
