package types_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/resource/probetest"
	"indirtui/indirector/resource/types"
)

// TestGoldenRalValues makes a resource of each recorded row, and compares what its
// attributes have become, or the error.
func TestGoldenRalValues(t *testing.T) {
	t.Parallel()
	compareRows(t, "values.jsonl")
}

// TestGoldenRalValuesMore is the same for what was recorded later, of odd values.
func TestGoldenRalValuesMore(t *testing.T) {
	t.Parallel()
	compareRows(t, "values-more.jsonl")
}

func compareRows(t *testing.T, file string) {
	t.Helper()
	for _, row := range rows(t, file) {
		t.Run(row.Get("id").Str(), func(t *testing.T) {
			t.Parallel()
			compareRow(t, row)
		})
	}
}

func compareRow(t *testing.T, row data.Value) {
	typ := typeOf(row.Get("type").Str())
	if typ == nil {
		t.Fatalf("no type %q", row.Get("type").Str())
	}
	given := types.Given{Title: "x", Values: append(row.Get("with").Hash(), row.Get("set").Hash()...)}
	if title, ok := row.Lookup("title"); ok {
		given.Title = title.Str()
	}
	var logs []data.Value
	r, err := types.New(typ, debian{}, given, func(level, message string) {
		if level != "debug" && level != "info" && level != "notice" {
			logs = append(logs, data.OfHash([]data.Pair{data.P("level", data.OfString(level)), data.P("message", data.OfString(message))}))
		}
	})
	if want, ok := row.Lookup("error"); ok {
		switch {
		case err == nil:
			t.Fatalf("no error, want %s", want.Str())
		case !row.Get("ruby_error").Bool() && err.Error() != want.Str():
			t.Errorf("error\n%s, want\n%s", err, want.Str())
		}
	} else if err != nil {
		t.Fatalf("%v, want %s", err, row.Get("values"))
	} else {
		compareValues(t, r, row)
	}
	if want := data.OfList(row.Get("logs").List()); !data.Equal(data.OfList(logs), want) {
		t.Errorf("logs %s, want %s", data.OfList(logs), want)
	}
}

func compareValues(t *testing.T, r *types.Resource, row data.Value) {
	for _, p := range row.Get("values").Hash() {
		if got := recorded(r.Value(p.Key.Str())); !data.Equal(got, p.Value) {
			t.Errorf("%s is %s, want %s", p.Key.Str(), got, p.Value)
		}
	}
	if want, ok := row.Lookup("parameters"); ok {
		if got := data.OfStrings(r.Names()); !data.Equal(got, want) {
			t.Errorf("attributes\n%s, want\n%s", got, want)
		}
	}
}

// recorded is a value as the recordings have it: symbols with a colon, keys as texts.
func recorded(v data.Value) data.Value {
	switch v.Kind() {
	case data.Symbol:
		return data.OfString(":" + v.Str())
	case data.List:
		all := []data.Value{}
		for _, x := range v.List() {
			all = append(all, recorded(x))
		}
		return data.OfList(all)
	case data.Hash:
		pairs := []data.Pair{}
		for _, p := range v.Hash() {
			pairs = append(pairs, data.P(recorded(p.Key).Text(), recorded(p.Value)))
		}
		return data.OfHash(pairs)
	}
	return v
}

func typeOf(name string) *types.Type {
	if name == "probe" {
		return probetest.Type()
	}
	return types.All()[name]
}

// placeholders stand for directories.
var placeholders = regexp.MustCompile(`@(ROOT|VAR|CONF|DIR)@`)

func rows(tb testing.TB, file string) []data.Value {
	tb.Helper()
	text, err := os.ReadFile(golden.PathBeside(tb, "..", "ral", file))
	if err != nil {
		tb.Fatal(err)
	}
	text = placeholders.ReplaceAll(text, []byte("/$1"))
	var all []data.Value
	for line := range bytes.Lines(text) {
		row, err := format.DecodeJSON(bytes.TrimSpace(line), format.Limits{})
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

// debian is the host of the recordings: Debian 12 as root.
type debian struct{}

var debianFacts = map[string]string{
	"kernel": "Linux", "osfamily": "Debian", "operatingsystem": "Debian", "operatingsystemmajrelease": "12",
	"operatingsystemrelease": "12.5", "os.family": "Debian", "os.name": "Debian",
}

const debianPrograms = `/usr/bin/dpkg /usr/bin/dpkg-deb /usr/bin/dpkg-query /usr/bin/apt-get /usr/bin/apt-cache /usr/bin/apt-mark
	/usr/bin/debconf-set-selections /usr/sbin/useradd /usr/sbin/userdel /usr/sbin/usermod /usr/bin/chage /usr/sbin/chpasswd
	/usr/sbin/groupadd /usr/sbin/groupdel /usr/sbin/groupmod /usr/bin/systemctl /usr/bin/crontab /usr/bin/mount /usr/bin/umount
	/usr/bin/kill`

func (debian) Fact(name string) (data.Value, bool) {
	v, ok := debianFacts[name]
	return data.OfString(v), ok
}

func (debian) Setting(name string) (string, bool) {
	v, ok := map[string]string{"digest_algorithm": "sha256", "clientbucketdir": "/VAR/clientbucket"}[name]
	return v, ok
}

func (debian) Feature(name string) bool {
	return name == "posix" || name == "root" || name == "manages_symlinks" || name == "systemd" || name == "augeas"
}

func (debian) Exists(path string) bool { return path == "/etc/hosts" }

func (debian) Which(program string) string {
	for p := range strings.FieldsSeq(debianPrograms) {
		if p == program || filepath.Base(p) == program {
			return p
		}
	}
	return ""
}

func (debian) LastSystemUID() int64 { return 999 }

func (debian) WorkingDirectory() string { return "/DIR" }

func (debian) Home(user string) string {
	if user == "root" {
		return "/root"
	}
	return ""
}

// Target is where the recordings have the files that are lists.
func (debian) Target(typ string) string {
	f, ok := map[string]string{"host": "hosts", "mount": "fstab", "mailalias": "aliases", "sshkey": "ssh/ssh_known_hosts"}[typ]
	if !ok {
		return ""
	}
	return "/ROOT/etc/" + f
}
