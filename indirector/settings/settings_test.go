package settings_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/traces/spell"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/settings"
)

var _ indirector.Settings = (*settings.Settings)(nil)

// options are those of a host that is the same everywhere.
func options(t testing.TB, conf string) settings.Options {
	t.Helper()
	dir := t.TempDir()
	if conf != "" {
		if err := os.WriteFile(filepath.Join(dir, "puppet.conf"), []byte(conf), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return settings.Options{
		ConfDir: dir, VarDir: "/var/p", RunMode: "agent", Layout: settings.VendorLayout,
		Home: "/home/me", Dir: "/some/dir", Certname: func() string { return "Node1.Example.test" },
	}
}

func load(t testing.TB, o settings.Options) *settings.Settings {
	t.Helper()
	s, err := settings.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every setting that the specification names is known, with the default of
// 7.23, or of the release that has it.
func TestDefaults(t *testing.T) {
	t.Parallel()
	o := options(t, "")
	s := load(t, o)
	want := map[string]string{
		"allow_duplicate_certs": "false", "allow_pson_serialization": "false", "bucketdir": "/var/p/bucket",
		"ca_port": "8140", "ca_refresh_interval": "86400", "ca_server": "puppet", "cadir": "/etc/puppetlabs/puppetserver/ca",
		"catalog_cache_terminus": "", "catalog_terminus": "compiler", "certname": "node1.example.test",
		"client_datadir": "/var/p/client_data", "clientbucketdir": "/var/p/clientbucket", "clientyamldir": "/var/p/client_yaml",
		"codedir": "/home/me/.puppetlabs/etc/code", "confdir": o.ConfDir, "crl_refresh_interval": "", "data_binding_terminus": "hiera",
		"default_file_terminus": "rest", "diff": "diff", "digest_algorithm": "sha256", "environment": "production",
		"environmentpath": "/home/me/.puppetlabs/etc/code/environments", "external_nodes": "none", "facts_terminus": "facter",
		"factpath": "/var/p/lib/facter:/var/p/facts", "fileserverconfig": o.ConfDir + "/fileserver.conf",
		"hiera_config": o.ConfDir + "/hiera.yaml", "hostcert": o.ConfDir + "/ssl/certs/node1.example.test.pem",
		"hostcert_renewal_interval": "2592000", "hostcrl": o.ConfDir + "/ssl/crl.pem",
		"hostprivkey": o.ConfDir + "/ssl/private_keys/node1.example.test.pem", "http_connect_timeout": "120",
		"http_extra_headers": "", "http_keepalive_timeout": "4", "http_proxy_host": "none", "http_proxy_port": "3128",
		"http_read_timeout": "600", "include_legacy_facts": "true", "inventory_port": "8140", "inventory_server": "puppet",
		"inventory_terminus": "facter", "lastrunfile": "/home/me/.puppetlabs/opt/puppet/public/last_run_summary.yaml",
		"lastrunreport": "/var/p/state/last_run_report.yaml", "ldapattrs": "all", "ldapbase": "", "ldapclassattrs": "puppetclass",
		"ldapparentattr": "parentnode", "ldappassword": "", "ldapport": "389", "ldapserver": "ldap", "ldapssl": "false",
		"ldapstackedattrs": "puppetvar", "ldapstring": "(&(objectclass=puppetClient)(cn=%s))", "ldaptls": "false", "ldapuser": "",
		"localcacert": o.ConfDir + "/ssl/certs/ca.pem", "location_trusted": "false", "maxwaitforcert": "unlimited",
		"no_proxy": "localhost, 127.0.0.1", "node_cache_terminus": "", "node_terminus": "plain", "pluginfactdest": "/var/p/facts.d",
		"preferred_serialization_format": "json", "profile": "false", "puppetport": "8139", "report": "true", "report_port": "8140",
		"report_server": "puppet", "reportdir": "/var/p/reports", "reports": "store", "reporturl": "http://localhost:3000/reports/upload",
		"resubmit_facts": "false", "rich_data": "true", "route_file": o.ConfDir + "/routes.yaml", "runinterval": "1800",
		"server": "puppet", "server_datadir": "/var/p/server_data", "server_list": "", "serverport": "8140",
		"skip_logging_catalog_request_destination": "false", "srv_domain": "Example.test", "ssldir": o.ConfDir + "/ssl",
		"statedir": "/var/p/state", "storeconfigs": "false", "storeconfigs_backend": "puppetdb", "strict_environment_mode": "false",
		"supported_checksum_types": "sha256,sha384,sha512,sha224,md5", "use_cached_catalog": "false", "use_last_environment": "true",
		"use_srv_records": "false", "usecacheonfailure": "true", "vardir": "/var/p", "waitforcert": "120", "yamldir": "/var/p/yaml",
	}
	for name, value := range want {
		set, ok := s.Setting(name)
		if !ok || !set.Known || set.Doc == "" || set.Err != nil {
			t.Errorf("%s: %+v", name, set)
		}
		if got, _ := s.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if w := s.Warnings(); len(w) > 0 {
		t.Errorf("warnings about nothing: %v", w)
	}
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		layout settings.Layout
		root   bool
		want   map[string]string
	}{
		{"vendor, root", settings.VendorLayout, true, map[string]string{
			"confdir": "/etc/puppetlabs/puppet", "vardir": "/opt/puppetlabs/puppet/cache", "codedir": "/etc/puppetlabs/code",
			"ssldir": "/etc/puppetlabs/puppet/ssl", "config": "/etc/puppetlabs/puppet/puppet.conf", "logdir": "/var/log/puppetlabs/puppet",
			"basemodulepath": "/etc/puppetlabs/code/modules:/opt/puppetlabs/puppet/modules", "publicdir": "/opt/puppetlabs/puppet/public",
		}},
		{"vendor, user", settings.VendorLayout, false, map[string]string{
			"confdir": "/home/me/.puppetlabs/etc/puppet", "vardir": "/home/me/.puppetlabs/opt/puppet/cache",
			"ssldir": "/home/me/.puppetlabs/etc/puppet/ssl", "rundir": "/home/me/.puppetlabs/var/run",
		}},
		{"debian, root", settings.DebianLayout, true, map[string]string{
			"confdir": "/etc/puppet", "vardir": "/var/cache/puppet", "ssldir": "/var/lib/puppet/ssl",
			"basemodulepath": "/etc/puppet/code/modules:/usr/share/puppet/modules",
		}},
		{"debian, user", settings.DebianLayout, false, map[string]string{
			"confdir": "/home/me/.puppet/etc", "vardir": "/home/me/.puppet/cache", "logdir": "/home/me/.puppet/var/log",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := settings.Load(settings.Options{Layout: tt.layout, Root: tt.root, Home: "/home/me"})
			if err != nil && !errors.As(err, new(*settings.ParseError)) {
				t.Fatal(err)
			}
			for name, want := range tt.want {
				if got, source := s.Get(name); got != want || source != "default" {
					t.Errorf("%s is %q (%s), want %q", name, got, source, want)
				}
			}
		})
	}
	t.Run("the directory asked for decides", func(t *testing.T) {
		t.Parallel()
		s := load(t, settings.Options{ConfDir: "/etc/puppetlabs/puppet/", Root: true, VarDir: "/nowhere"})
		if got, source := s.Get("codedir"); got != "/etc/puppetlabs/code" {
			t.Errorf("codedir is %q (%s)", got, source)
		}
	})
}

// All sources, strongest first, and everything that was overruled.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	o := options(t, `node_terminus = first
[main]
node_terminus = second
[agent]
node_terminus = exec
[server]
node_terminus = ldap
[master]
node_terminus = old
`)
	o.Application, o.ApplicationDefaults = "agent", map[string]string{"node_terminus": "rest"}
	show := func(s *settings.Settings) []string {
		set, _ := s.Setting("node_terminus")
		lines := []string{set.Value + " | " + set.Source}
		for _, a := range set.Overruled {
			lines = append(lines, strings.TrimSuffix(a.Value+" | "+a.Source+" | "+a.Why, " | "))
		}
		return lines
	}
	tests := []struct {
		name, mode string
		set        []settings.Override
		want       []string
	}{
		{"agent", "agent", nil, []string{
			"exec | puppet.conf:5 [agent]",
			"first | puppet.conf:1 [main]",
			"second | puppet.conf:3 [main] | line 1 of the same section comes first",
			"ldap | puppet.conf:7 [server] | section [server] is not for run mode agent",
			"old | puppet.conf:9 [master] | section [master] is not for run mode agent",
			"rest | application agent",
			"plain | default",
		}},
		{"server", "server", nil, []string{
			"ldap | puppet.conf:7 [server]",
			"old | puppet.conf:9 [master]",
			"first | puppet.conf:1 [main]",
			"second | puppet.conf:3 [main] | line 1 of the same section comes first",
			"exec | puppet.conf:5 [agent] | section [agent] is not for run mode server",
			"rest | application agent",
			"plain | default",
		}},
		{"command line", "user", []settings.Override{{Name: "node_terminus", Value: "yaml"}, {Name: "node_terminus", Value: "memory", Source: "--node_terminus"}}, []string{
			"memory | --node_terminus",
			"yaml | --set",
			"first | puppet.conf:1 [main]",
			"second | puppet.conf:3 [main] | line 1 of the same section comes first",
			"exec | puppet.conf:5 [agent] | section [agent] is not for run mode user",
			"ldap | puppet.conf:7 [server] | section [server] is not for run mode user",
			"old | puppet.conf:9 [master] | section [master] is not for run mode user",
			"rest | application agent",
			"plain | default",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := o
			o.RunMode, o.Overrides = tt.mode, tt.set
			if diff := cmp.Diff(tt.want, show(load(t, o))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// One line of puppet.conf in [main], and what becomes of it.
func TestValues(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want, err string }{
		{"server = puppet.example.test", "puppet.example.test", ""},
		{"  server=x  ", "x", ""},
		{"server = \"quoted\"", "quoted", ""},
		{"server = 'half", "half", ""},
		{"server = a # b", "a # b", ""},
		{"server =", "", ""},
		{"server = TRUE", "true", ""},
		{"statedir = $vardir/s", "/var/p/s", ""},
		{"statedir = s", "/some/dir/s", ""},
		{"statedir = ~/s", "/home/me/s", ""},
		{"statedir = /a//b/../c { owner = service, mode = 0750 }", "/a/c", ""},
		{"statedir = $nosuch/s", "$nosuch/s", "Error converting value for param 'statedir': Could not find value for $nosuch"},
		{"graphdir = $trusted_external_command", "$trusted_external_command", "Error converting value for param 'graphdir': Could not find value for $trusted_external_command"},
		{"ssldir = $certdir/x", "$certdir/x", "settings refer to each other: certdir → ssldir → certdir"},
		{"pidfile = $rundir/$run_mode.pid", "/home/me/.puppetlabs/var/run/agent.pid", ""},
		{"logdir = /l/$environment", "/l/$environment", ""},
		{"code = $x", "$x", ""},
		{"runinterval = 30m", "1800", ""},
		{"runinterval = 2d", "172800", ""},
		{"runinterval = 5x", "5x", `Invalid duration format '"5x"' for parameter: runinterval`},
		{"runinterval = 99999999999999999999y", "99999999999999999999y", `Invalid duration format '"99999999999999999999y"' for parameter: runinterval`},
		{"splaylimit = $runinterval", "1800", ""},
		{"splaylimit = $runinterval\nruninterval = 5x", "$runinterval", `Invalid duration format '"5x"' for parameter: runinterval`},
		{"statedir = $logdir\nlogdir = $nosuch", "$logdir", "Error converting value for param 'statedir': Error converting value for param 'logdir': Could not find value for $nosuch"},
		{"maxwaitforcert = unlimited", "unlimited", ""},
		{"maxwaitforcert = -1", "-1", `Invalid 'time to live' format '"-1"' for parameter: maxwaitforcert`},
		{"serverport = 0x20", "32", ""},
		{"serverport = 99999", "99999", "Value '99999' is not a valid port number for parameter: masterport"},
		{"keylength = many", "many", `Cannot convert '"many"' to an integer for parameter: keylength`},
		{"report = False", "false", ""},
		{"report = yes", "yes", `Invalid value '"yes"' for boolean parameter: report`},
		{"node_terminus = true", "true", "Invalid terminus setting: true"},
		{"catalog_cache_terminus =", "", ""},
		{"log_level = loud", "loud", "Invalid value 'loud' for parameter log_level. Allowed values are 'debug', 'info', 'notice', 'warning', 'err', 'alert', 'emerg', 'crit'"},
		{"certificate_revocation = true", "chain", ""},
		{"certificate_revocation = maybe", "maybe", "Invalid certificate revocation value maybe: must be one of 'true', 'chain', 'leaf', or 'false'"},
		{"autosign = relative", "relative", "Invalid autosign value relative: must be 'true'/'false' or an absolute path"},
		{"priority = high", "-10", ""},
		{"priority = soon", "soon", `Invalid priority format '"soon"' for parameter: priority`},
		{"supported_checksum_types = md5 ,  sha256,", "md5,sha256", ""},
		{"factpath = a:/b//c:", "/some/dir/a:/b/c", ""},
		{"certname = Node1", "Node1", "Certificate names must be lower case"},
	}
	for i, tt := range tests {
		// Not by the line: the name of the directory would have variables in it.
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := load(t, options(t, "\n"+tt.line+"\n"))
			name := strings.Trim(strings.SplitN(tt.line, "=", 2)[0], " ")
			set, ok := s.Setting(name)
			if !ok || set.Value != tt.want || set.Source != "puppet.conf:2 [main]" || set.Line != 2 || set.Section != "main" {
				t.Errorf("%s: got %q at %s (line %d), want %q", tt.line, set.Value, set.Source, set.Line, tt.want)
			}
			if got := fmt.Sprint(set.Err); got != tt.err && (tt.err != "" || set.Err != nil) {
				t.Errorf("error is %s, want %s", got, tt.err)
			}
			bad := slices.ContainsFunc(s.Warnings(), func(w settings.Warning) bool { return w.ID == settings.BadValue && w.Text == tt.err })
			if bad != (tt.err != "") {
				t.Errorf("warnings are %v", s.Warnings())
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, conf, want string }{
		{"no setting", "[main]\nfoo\n", "2: Could not match line foo; it is no setting, section or comment"},
		{"section", "\n[staging]\n", "2: Illegal section 'staging' in config file. The only valid puppet.conf sections are: [main, server, master, agent, user]; settings of an environment go to its environment.conf"},
		{"comment behind a section", "[main] # x\n", "1: Could not match line [main] # x; it is no setting, section or comment"},
		{"braces", "ssldir = ${vardir}/ssl\n", "1: ssldir: Could not parse '${vardir}/ssl'; in this file ${vardir} is taken for file options, write $vardir"},
		{"option", "ssldir = /x {color = red}\n", "1: ssldir: Invalid file option 'color'; known are owner, group and mode"},
		{"mode", "ssldir = /x {mode = rwx}\n", "1: ssldir: File modes must be numbers; rwx is not"},
		{"no option", "ssldir = /x {y}\n", "1: ssldir: Could not parse '/x {y}'; braces hold file options, as in { owner = root, mode = 0640 }"},
		{"of an environment", "[main]\n\nmodulepath = /x\n", "3: Cannot set modulepath settings in puppet.conf; they belong to environment.conf"},
		{"bytes", "[main]\nserver = \xff\n", "2: invalid byte sequence in UTF-8"},
		{"size", strings.Repeat("#\n", 2<<20+1), "1: the file is larger than 4194304 bytes"},
		{"byte order mark", "\ufeff[main]\n", "1: the file begins with a byte order mark, which Puppet does not understand; save it without"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := options(t, "server = gone\n"+tt.conf)
			if err := os.WriteFile(filepath.Join(o.ConfDir, "puppet.conf"), []byte(tt.conf), 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := settings.Load(o)
			var bad *settings.ParseError
			if !errors.As(err, &bad) {
				t.Fatalf("error is %v", err)
			}
			if want := filepath.Join(o.ConfDir, "puppet.conf") + ":" + tt.want; err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if got, source := s.Get("server"); got != "puppet" || source != "default" {
				t.Errorf("without the file, server is %q (%s)", got, source)
			}
		})
	}
}

func TestOptionErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		o    settings.Options
		want string
	}{
		{"run mode", settings.Options{RunMode: "servant"}, `invalid run mode "servant"; known are agent, server and user`},
		{"unknown", settings.Options{Overrides: []settings.Override{{Name: "node_terminnus", Value: "x"}}}, `--set: there is no setting "node_terminnus"; did you mean "node_terminus"?`},
		{"unlike any", settings.Options{Overrides: []settings.Override{{Name: "xyzzyplugh", Value: "x", Source: "--flag"}}}, `--flag: there is no setting "xyzzyplugh"`},
		{"no file", settings.Options{Overrides: []settings.Override{{Name: "config", Value: "$nosuch"}}}, `find the configuration file: Error converting value for param 'config': Could not find value for $nosuch`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if s, err := settings.Load(tt.o); s != nil || err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestConfigFile(t *testing.T) {
	t.Parallel()
	o := options(t, "server = a\n")
	other := filepath.Join(o.ConfDir, "other.conf")
	if err := os.WriteFile(other, []byte("server = b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o.Overrides = []settings.Override{{Name: "config", Value: "$confdir/other.conf"}}
	s := load(t, o)
	if got, source := s.Get("server"); got != "b" || source != "other.conf:1 [main]" {
		t.Errorf("server is %q (%s)", got, source)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Load(o); err == nil || !strings.HasPrefix(err.Error(), "read the settings: ") {
		t.Errorf("error is %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	o := options(t, "config_version = no\n")
	code := filepath.Join(o.ConfDir, "code")
	writeFile(t, filepath.Join(o.ConfDir, "puppet.conf"), "[main]\nrich_data = true\nbasemodulepath = /base\n")
	writeFile(t, filepath.Join(code, "environments/production/manifests/site.pp"), "")
	writeFile(t, filepath.Join(code, "environments/staging/environment.conf"),
		"modulepath = site:$basemodulepath:m*\nmanifest = /m.pp\nconfig_version = bin/v $environment\nrich_data = false\nserver = x\n[x]\nmanifest = y\n")
	for _, dir := range []string{"m1", "m2"} {
		writeFile(t, filepath.Join(code, "environments/staging", dir, "x"), "")
	}
	o.Overrides = []settings.Override{{Name: "codedir", Value: code}}
	production := load(t, o)
	o.Environment = "staging"
	staging := load(t, o)
	o.Environment = "nowhere"
	nowhere := load(t, o)

	dir := filepath.Join(code, "environments/staging")
	tests := []struct {
		name                  string
		s                     *settings.Settings
		setting               string
		wantValue, wantSource string
	}{
		{"default", production, "modulepath", code + "/environments/production/modules:/base", "environment production"},
		{"default", production, "manifest", code + "/environments/production/manifests", "environment production"},
		{"default", production, "rich_data", "true", "puppet.conf:2 [main]"},
		{"file", staging, "modulepath", dir + "/site:/base:" + dir + "/m1:" + dir + "/m2", "environment.conf:1 [main]"},
		{"file", staging, "manifest", "/m.pp", "environment.conf:2 [main]"},
		{"file", staging, "config_version", dir + "/bin/v staging", "environment.conf:3 [main]"},
		{"file", staging, "rich_data", "false", "environment.conf:4 [main]"},
		{"file", staging, "server", "puppet", "default"},
		{"flag", staging, "environment", "staging", "--environment"},
		{"another", production.In("staging"), "rich_data", "false", "environment.conf:4 [main]"},
		{"another", staging.In("production"), "rich_data", "true", "puppet.conf:2 [main]"},
		{"missing", nowhere, "modulepath", "", "default"},
		{"no path", production.In("../x"), "manifest", "", "default"},
	}
	for _, tt := range tests {
		value, source := tt.s.Get(tt.setting)
		if value != tt.wantValue || source != tt.wantSource {
			t.Errorf("%s: %s is %q (%s), want %q (%s)", tt.name, tt.setting, value, source, tt.wantValue, tt.wantSource)
		}
	}
	var got []string
	for _, w := range staging.Warnings() {
		got = append(got, w.ID+" "+w.String())
	}
	want := []string{
		"DIAG-IGNORED environment.conf:5 [main]: server is ignored: environment.conf has only modulepath, manifest, config_version, environment_timeout, environment_data_provider, static_catalogs, rich_data",
		"DIAG-IGNORED environment.conf:7 [x]: manifest is ignored: environment.conf may not have sections",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	o := options(t, `[main]
node_terminnus = exec
server = a {mode = 1}
server = b
logdir = /l/$environment
environmentpath = $confdir/e
[master]
node_cache_terminus = yaml
[agent]
node_cache_terminus = yaml
`)
	o.Application = "agent"
	var got []string
	for _, w := range load(t, o).Warnings() {
		got = append(got, w.ID+" "+w.String())
	}
	want := []string{
		`DIAG-UNKNOWN-SETTING puppet.conf:2 [main]: there is no setting "node_terminnus"; did you mean "node_terminus"?`,
		"DIAG-METADATA-IGNORED puppet.conf:3 [main]: server does not support meta data. Ignoring.",
		"DIAG-DUPLICATE-SETTING puppet.conf:4 [main]: server is already set in line 3, which counts",
		"DIAG-DEPRECATED-NAME puppet.conf:8 [master]: section [master] is now called [server]; it is read after it",
		"DIAG-NO-INTERPOLATION puppet.conf:5 [main]: You cannot interpolate $environment within 'logdir' when using directory environments. Its value will remain /l/$environment.",
		"DIAG-DEAD-SETTING puppet.conf:10 [agent]: node_cache_terminus = yaml has no effect: application agent does not read it, only server, master does",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	o.Application, o.RunMode = "server", "server"
	for _, w := range load(t, o).Warnings() {
		if w.ID == settings.DeadSetting {
			t.Errorf("IND-SEL-07 the server reads it: %s", w)
		}
	}
}

// Rule IND-SEL-10: storeconfigs changes the default of another setting, below
// the application and puppet.conf.
func TestStoreconfigs(t *testing.T) {
	t.Parallel()
	o := options(t, "storeconfigs = true\n")
	if got, source := load(t, o).Get("catalog_cache_terminus"); got != "store_configs" || source != "storeconfigs" {
		t.Errorf("got %q (%s)", got, source)
	}
	o.Application, o.ApplicationDefaults = "agent", map[string]string{"catalog_cache_terminus": "json"}
	if got, source := load(t, o).Get("catalog_cache_terminus"); got != "json" || source != "application agent" {
		t.Errorf("got %q (%s)", got, source)
	}
}

func TestAlias(t *testing.T) {
	t.Parallel()
	tests := []struct{ conf, value, source string }{
		{"", "8140", "default"},
		{"masterport = 8150\n", "8150", "puppet.conf:1 [main] masterport"},
		{"masterport = 8150\nserverport = 8160\n", "8160", "puppet.conf:2 [main]"},
	}
	for _, tt := range tests {
		s := load(t, options(t, tt.conf))
		if value, source := s.Get("serverport"); value != tt.value || source != tt.source {
			t.Errorf("%q: serverport is %q (%s), want %q (%s)", tt.conf, value, source, tt.value, tt.source)
		}
		if value, _ := s.Get("report_port"); value != tt.value {
			t.Errorf("%q: report_port is %q, want %q", tt.conf, value, tt.value)
		}
	}
}

// Unknown settings are kept, for termini that read settings of their own.
func TestUnknown(t *testing.T) {
	t.Parallel()
	o := options(t, "dns_suffix = .$server\nother = 1\n")
	s := load(t, o)
	if value, source := s.Get("dns_suffix"); value != ".puppet" || source != "puppet.conf:1 [main]" {
		t.Errorf("got %q (%s)", value, source)
	}
	if value, source := s.Get("nothing"); value != "" || source != "" {
		t.Errorf("got %q (%s) of what nobody mentions", value, source)
	}
	all := s.All()
	if last := all[len(all)-1]; last.Name != "other" || last.Known || all[0].Name != "confdir" {
		t.Errorf("All begins with %+v and ends with %+v", all[0], last)
	}
	o.Define = []settings.Definition{{Name: "dns_suffix", Type: "string", Default: ".example", Doc: "Appended."}}
	s = load(t, o)
	if set, _ := s.Setting("dns_suffix"); !set.Known || set.Value != ".puppet" || len(set.Overruled) != 1 {
		t.Errorf("a declared setting is %+v", set)
	}
}

func TestTyped(t *testing.T) {
	t.Parallel()
	s := load(t, options(t, "serverport = x\n"))
	check := func(what string, got any, err error, want any, wantErr string) {
		t.Helper()
		if got != want || fmt.Sprint(err) != wantErr {
			t.Errorf("%s: %v, %v; want %v, %s", what, got, err, want, wantErr)
		}
	}
	d, err := s.Duration("runinterval")
	check("Duration", d, err, 30*time.Minute, "<nil>")
	d, err = s.Duration("crl_refresh_interval")
	check("Duration of nothing", d, err, time.Duration(0), "<nil>")
	d, err = s.Duration("maxwaitforcert")
	check("Duration without end", d, err, time.Duration(math.MaxInt64), "<nil>")
	d, err = s.Duration("serverport")
	check("Duration of a wrong value", d, err, time.Duration(0), `setting serverport (puppet.conf:1 [main]): Cannot convert '"x"' to an integer for parameter: masterport`)
	d, err = s.Duration("serverprot")
	check("Duration of nothing known", d, err, time.Duration(0), `there is no setting "serverprot"; did you mean "serverport"?`)
	d, err = s.Duration("server")
	check("Duration of a text", d, err, time.Duration(0), `setting server (default): "puppet" is no duration such as 30m`)
}

func TestHiera(t *testing.T) {
	t.Parallel()
	o := options(t, "")
	code := t.TempDir()
	o.Overrides = []settings.Override{{Name: "codedir", Value: code}}
	writeFile(t, filepath.Join(code, "hiera.yaml"), "")
	if got, _ := load(t, o).Get("hiera_config"); got != filepath.Join(code, "hiera.yaml") {
		t.Errorf("hiera_config is %q", got)
	}
}

func TestCADir(t *testing.T) {
	t.Parallel()
	o := options(t, "")
	old := filepath.Join(o.ConfDir, "ssl/ca")
	writeFile(t, filepath.Join(old, "x"), "")
	if got, _ := load(t, o).Get("cadir"); got != old {
		t.Errorf("cadir is %q", got)
	}
	if err := os.RemoveAll(old); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/elsewhere", old); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if got, _ := load(t, o).Get("cadir"); got != "/elsewhere" {
		t.Errorf("cadir is %q", got)
	}
}

// Values that grow with every reference end early.
func TestExplosion(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	names := []string{"server", "ca_server", "report_server", "reports", "prerun_command", "postrun_command", "color", "tags", "skip_tags", "srv_domain", "ca_name", "diff", "diff_args", "pluginsignore"}
	for i, name := range names[1:] {
		fmt.Fprintf(&b, "%s = %s\n", name, strings.Repeat("$"+names[i], 10))
	}
	set, _ := load(t, options(t, b.String())).Setting("pluginsignore")
	if set.Err == nil || !strings.Contains(set.Err.Error(), "value grows beyond 65536 bytes") {
		t.Errorf("error is %v", set.Err)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"terminus", "cache"}
	for s, want := range map[string]string{"terminii": "terminus", "CAHCE": "cache", "ttl": "", "": "", strings.Repeat("terminus", 1000): ""} {
		if got := spell.Nearest(s, names); got != want {
			t.Errorf("spell.Nearest(%.20q) is %q, want %q", s, got, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "[main]\nserver = a\n", "[agent]\nssldir = $vardir/x {owner=root}\n", "ssldir = $certdir\n", "x", "[x]", "a=b\r\n[main]\rb=c",
		"runinterval = 9y\nserver=$$server${server}\n", "environment = ../x\n", "\xff\xfe", "[main]\ncode = $code\npath = {", "= x", "ä = ö\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, conf []byte) {
		o := options(t, " ")
		if err := os.WriteFile(filepath.Join(o.ConfDir, "puppet.conf"), conf, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := settings.Load(o)
		var bad *settings.ParseError
		if err != nil && !errors.As(err, &bad) {
			// Only a configuration file that cannot be named or read.
			t.Fatalf("error is %T: %v", err, err)
		}
		lines := strings.Count(string(conf), "\n") + 1
		for _, set := range s.All() {
			if set.Source == "" || set.Line > lines || len(set.Value) > 64<<10+len(conf) {
				t.Errorf("%s: %+v", set.Name, set)
			}
			if value, source := s.Get(set.Name); value != set.Value || source != set.Source {
				t.Errorf("Get(%q) is %q, %q", set.Name, value, source)
			}
		}
		if bad != nil && (bad.Line < 1 || bad.Line > lines) {
			t.Errorf("error in line %d of %d", bad.Line, lines)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	o := options(b, "[main]\nserver = puppet.example.test\n[agent]\nruninterval = 1h\nnode_terminus = rest\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := settings.Load(o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s, err := settings.Load(options(b, ""))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if v, _ := s.Get("client_datadir"); v == "" {
			b.Fatal("nothing")
		}
	}
}
