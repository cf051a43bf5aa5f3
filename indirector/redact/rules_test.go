package redact_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

// Each text has one secret, § with 40 letters and digits.
func TestForms(t *testing.T) {
	t.Parallel()
	const secret = "k3J9xQ0vLm2Tn8RbYc5Wd7Zf1Hg4Ps6Ua0Ei9oXq"
	for want, texts := range map[string][]string{
		"(masked token, ": {
			"push with ghp_§", "url=https://x/?t=github_pat_§.", "glpat-§", "(xoxb-§)", "sk_live_§", "AIza§", "hvs.§", "npm_§", "SG.§.§",
			"dckr_pat_§", "https://hooks.slack.com/services/T0/B0/§", "jwt eyJhbGciOiJI.eyJS.§",
		},
		"(masked password hash, ": {
			"root:$6$salt$§.§/Q:19000:0:::", "$1$salt$§", "$5$salt$§§", "$y$j9T$§$§", "$2b$10$§.§", "$apr1$x$§", "{SSHA}§=", "$argon2id$v=19$m=65536,t=3,p=4$§$§",
			"*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19",
		},
		"(masked password of a command, ": {
			"mysql -u root -p§ db", "/usr/bin/mysqldump --all '-p§'", "curl -u admin:§ https://x", "curl --user admin:§ https://x", "curl -uadmin:§ x",
			"sshpass -p § ssh h", "redis-cli -a § ping", "docker login -u me -p §", "ldapsearch -x -w §", "smbclient -U me%§ //h/x", "snmpwalk -v2c -c § h",
			"ipmitool -H h -P §", "snmpget -A § h", `mysql "-p§"`, "useradd -p § me", "http -a me:§ GET x",
		},
		"(masked packed facts, ":   {"facts: eN§§§", "facts=eJ§§§"},
		"(masked private key, ":    {"-----BEGIN PGP PRIVATE KEY BLOCK-----\n§\n-----END PGP PRIVATE KEY BLOCK-----", "Private-Lines: 1\n§\n"},
		"(masked header, ":         {"Basic dXNlcjpTU1NTU1NTU1M="},
		"(masked password, ":       {"machine h login me password §", "machine h\n login me\n password §", "CREATE ROLE x PASSWORD '§'", "password changed '§' to '§'", "defined 'password' as '§'"},
		"(masked pass, ":           {"db_pass: §", "openssl -passin pass:§", "pass = §"},
		"(masked dbpass, ":         {"dbPass=§", "DBPASS: §"},
		"(masked pwd, ":            {"pwd: §", "db_pwd = /§"},
		"(masked pw, ":             {"pw_hash: §", "pw=§"},
		"(masked api_key, ":        {"api_key: §", "X-Api-Key: §", "apiKey=§"},
		"(masked access_key, ":     {"access_key: §", "AccessKey=§"},
		"(masked credential, ":     {"credentials: §"},
		"(masked passphrase, ":     {"passphrase: §", "gpg --passphrase § x", "-passphrase § x"},
		"(masked psk, ":            {"psk: §", "wpa_psk=§"},
		"(masked bearer, ":         {"bearer: §", "Bearer §"},
		"(masked community, ":      {"snmp_community: §", "community=§"},
		"(masked ro_community, ":   {"rocommunity § 10.0.0.0/8"},
		"(masked identified_by, ":  {"CREATE USER x IDENTIFIED BY '§'"},
		"(masked require_pass, ":   {"requirepass §"},
		"(masked sig, ":            {"https://x/y?a=b&sig=§&c=d"},
		"(masked password in URL,": {"postgres://me:§@h/db", "redis%3A%2F%2Fme%3A§%40h"},
		"(masked storepass, ":      {"keytool -storepass § -list"},
	} {
		for _, text := range texts {
			t.Run(text, func(t *testing.T) {
				t.Parallel()
				in := strings.ReplaceAll(text, "§", secret)
				got, n := salted().Text(in)
				if n == 0 || !strings.Contains(got, want) || strings.Contains(got, secret) {
					t.Errorf("Text(%q) = %q, want %q", in, got, want)
				}
				if again, n := salted().Text(got); n > 0 || again != got {
					t.Errorf("redacted again: %q", again)
				}
			})
		}
	}
}

func TestHarmless(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"PWD=/root", "OLDPWD: /", "proxy_pass: http://backend", "pass: 2", "compass: north", "bypass=yes", "encompasses: all", "tests passed: 12", "mkdir -p /opt/x",
		"ssh -p 22 host", "cp -p a b; mysql -u root db", "curl -u me https://h", "install -m 0644 -o root -p x", "keynote: x", "https://h/x?environment=production&code_id=1",
		"s/(a)(b)/$1$2/", "{md5}d41d8cd98f00b204e9800998ecf8427e", "{sha256}e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "unexpected token 'x'",
		"the password is too short", "password changed", "AKIDO", "100%25 of 5%", "communities of practice", "eyJ.a.b", "Basic auth", "bearer of news", "*0123",
	} {
		if got, n := salted().Text(text); n > 0 {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	v := decode(t, `{"command":["mysql","-u","root","-phunter2","-e","x"],"b":["--password","hunter2","y"],"c":["curl","-u","me:hunter2","z"],"d":["-p","hunter"]}`)
	got, found := salted().Value(v)
	want := `{"command"=>["mysql", "-u", "root", "-p(masked password of a command, 7 B)", "-e", "x"], ` +
		`"b"=>["--password", "(masked password, 7 B)", "y"], "c"=>["curl", "-u", "me:(masked password of a command, 7 B)", "z"], "d"=>["-p", "hunter"]}`
	if untagged(got.Inspect()) != want || len(found) != 3 {
		t.Errorf("got %s, %d\nwant %s", untagged(got.Inspect()), len(found), want)
	}
}

// What real Puppet wrote has few secrets: of its values less than one in a
// hundred is redacted.
func TestGoldensStay(t *testing.T) {
	t.Parallel()
	m := salted()
	values, changed := 0, 0
	var count func(before, after data.Value)
	count = func(before, after data.Value) {
		switch {
		case before.Kind() != after.Kind() || before.Len() != after.Len() && before.Kind() >= data.List:
			values++
			changed++
		case before.Kind() == data.List:
			for i, x := range before.List() {
				count(x, after.List()[i])
			}
		case before.Kind() == data.Hash:
			for i, p := range before.Hash() {
				count(p.Value, after.Hash()[i].Value)
			}
		default:
			values++
			if !data.Equal(before, after) {
				changed++
			}
		}
	}
	text := func(s string) {
		v, err := format.DecodeJSON([]byte(s), format.Limits{})
		if err != nil {
			v = data.OfString(s)
		}
		redacted, _ := m.Value(v)
		count(v, redacted)
	}
	for _, dir := range []string{"indirector", "termini"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(path, "testdata") || strings.Contains(path, "fuzz") || strings.HasPrefix(d.Name(), ".") {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if filepath.Ext(path) != ".jsonl" {
				if _, err := format.DecodeJSON(b, format.Limits{}); err == nil {
					text(string(b))
					return nil
				}
			}
			for line := range strings.Lines(string(b)) {
				text(strings.TrimSuffix(line, "\n"))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("of %d values %d are redacted, %.2f %%", values, changed, 100*float64(changed)/float64(max(values, 1)))
	if values < 10_000 || 100*changed >= values {
		t.Error("want at least 10000 values, and less than 1 % of them redacted")
	}
}
