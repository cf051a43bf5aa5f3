package settings_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"indirtui/indirector/settings"
)

// TestAgainstPuppet compares every value with what the real Puppet prints.
func TestAgainstPuppet(t *testing.T) {
	t.Parallel()
	puppet, err := exec.LookPath("puppet")
	if err != nil {
		t.Skip("no puppet command on this machine to compare with")
	}
	version, err := exec.Command(puppet, "--version").Output()
	if err != nil || !bytes.HasPrefix(version, []byte("7.")) {
		t.Skipf("the puppet command is not version 7 but %q (%v)", version, err)
	}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			mode := []string{"agent", "server", "user"}[seed%3]
			confDir, varDir := t.TempDir(), t.TempDir()
			conf := generate(random)
			if seed == 0 {
				conf = ""
			}
			writeFile(t, filepath.Join(confDir, "puppet.conf"), conf)
			writeFile(t, filepath.Join(confDir, "code/environments/staging/environment.conf"), "modulepath = site:$basemodulepath:/x\nmanifest = m.pp\nenvironment_timeout = 3m\n")
			if seed == 1 {
				if err := os.MkdirAll(filepath.Join(confDir, "ssl/ca"), 0o755); err != nil {
					t.Fatal(err)
				}
			}

			args := []string{"config", "print", "all", "--confdir", confDir, "--vardir", varDir, "--section", mode, "--environment", "staging", "--codedir", filepath.Join(confDir, "code"), "--color", "false"}
			var stderr bytes.Buffer
			cmd := exec.Command(puppet, args...)
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("puppet %s: %v\n%s\n%s", strings.Join(args, " "), err, stderr.Bytes(), conf)
			}

			o := settings.Process()
			o.ConfDir, o.VarDir, o.RunMode, o.Environment, o.Application = confDir, varDir, mode, "staging", "config"
			o.Layout = settings.DebianLayout
			o.Overrides = []settings.Override{{Name: "codedir", Value: filepath.Join(confDir, "code")}, {Name: "color", Value: "false"}}
			s, err := settings.Load(o)
			if err != nil {
				t.Fatalf("%v\n%s", err, conf)
			}
			compared := 0
			for line := range strings.Lines(string(out)) {
				name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
				if strings.HasPrefix(want, "[") { // a list, as Ruby shows it
					want = strings.NewReplacer("[", "", "]", "", `"`, "", ", ", ",").Replace(want)
				}
				got, source := s.Get(name)
				switch name {
				case "http_extra_headers":
					got = strings.ReplaceAll(got, ":", ",")
				case "http_user_agent": // the Ruby is that of the machine
					got, want = rubyVersion.ReplaceAllString(got, "Ruby/"), rubyVersion.ReplaceAllString(want, "Ruby/")
				}
				if got != want {
					t.Errorf("%s is %q (%s), Puppet says %q", name, got, source, want)
				}
				compared++
			}
			if compared < 200 {
				t.Errorf("puppet printed only %d settings", compared)
			}
			if t.Failed() {
				t.Logf("puppet.conf:\n%s\nPuppet's log:\n%s", conf, stderr.Bytes())
			}
		})
	}
}

var rubyVersion = regexp.MustCompile(`Ruby/[\w.-]+`)

// generate makes a puppet.conf that Puppet accepts.
func generate(random *rand.Rand) string {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	var b strings.Builder
	// In main, because puppet config looks at it in run mode user only.
	b.WriteString(pick("", "storeconfigs = true\n", "storeconfigs = false\n"))
	for range 3 + random.IntN(6) {
		if random.IntN(5) > 0 {
			fmt.Fprintf(&b, "%s[%s]%s\n", pick("", "  "), pick("main", "agent", "server", "master", "user"), pick("", " "))
		}
		for range random.IntN(9) {
			line := pick(
				"# a comment = no setting", "  #x", "",
				"server = puppet.example.test", "server="+pick("a", "b", "\"quoted\"", "'half", "# not a comment", "x # y", "TRUE"),
				"serverport = "+pick("8140", "8150", "0x20"), "masterport = "+pick("8141", "010"),
				"runinterval = "+pick("30m", "1h", "2d", "1y", "90", "7s"), "http_read_timeout\t=\t"+pick("5m", "10"),
				"statedir = "+pick("$vardir/other", "/x//y/../z", "~/state", "/s { owner = root, group = service, mode = 0750 }"),
				"ssldir = $confdir/"+pick("tls", "pki/$run_mode"),
				"node_terminus = "+pick("exec", "", "plain"), "node_cache_terminus = yaml", "catalog_cache_terminus = "+pick("json", ""),
				"facts_terminus = "+pick("yaml", "json"), "external_nodes = /usr/local/bin/enc -v",
				"usecacheonfailure = "+pick("true", "FALSE", "False"),
				"environment_timeout = "+pick("unlimited", "3m", "0"), "reports = store, http",
				"server_list = "+pick("a,b:8150", "a:1 , b:2,", ""), "http_extra_headers = "+pick("a:b, c:d", ""),
				"certificate_revocation = "+pick("true", "leaf", "false", "chain"), "autosign = "+pick("true", "false", "/a.sh"),
				"priority = "+pick("high", "idle", "3"), "strict = "+pick("off", "error"),
				"log_level = "+pick("err", "warning"), "nosuchsetting = 1", "publicdir = $vardir/p", "certname = node1.example.test",
				"ca_name = CA of $certname for $server", "supported_checksum_types = "+pick("sha256, md5", "sha256"),
				"factpath = "+pick("/a:/b/../c:", "rel:$vardir/f"), "logdir = /l/$environment", "pidfile = $rundir/${run_mode",
			)
			fmt.Fprintf(&b, "%s%s%s\n", pick("", "  ", "\t"), line, pick("", " ", "\r"))
		}
	}
	return b.String()
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
