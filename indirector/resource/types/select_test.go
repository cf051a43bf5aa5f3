package types_test

import (
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// A platform is a host with facts, and programs by their names.
type platform struct {
	family, name, major string
	systemd             bool
	programs            string
}

func (p platform) Fact(name string) (data.Value, bool) {
	v := map[string]string{"osfamily": p.family, "operatingsystem": p.name, "operatingsystemmajrelease": p.major, "operatingsystemrelease": p.major + ".1"}[name]
	return data.OfString(v), v != ""
}
func (platform) Setting(string) (string, bool) { return "", false }
func (p platform) Feature(name string) bool {
	return name == "posix" || name == "systemd" && p.systemd
}
func (platform) Exists(string) bool { return false }
func (p platform) Which(program string) string {
	for name := range strings.FieldsSeq(p.programs) {
		if name == program[strings.LastIndexByte(program, '/')+1:] {
			return program
		}
	}
	return ""
}

// TestSelection: the default providers on systems of several kinds, as real Puppet
// chooses them. Rules RES-PROV-01 and RES-PROV-02.
func TestSelection(t *testing.T) {
	t.Parallel()
	const apt = "apt-get apt-cache apt-mark debconf-set-selections dpkg dpkg-deb dpkg-query "
	for _, tt := range []struct {
		typ  string
		on   platform
		want string
	}{
		{"service", platform{"Debian", "Debian", "12", true, "systemctl"}, "systemd"},
		{"service", platform{"Debian", "Debian", "12", false, "systemctl update-rc.d invoke-rc.d service"}, "debian"},
		{"service", platform{"Debian", "Devuan", "5", false, "update-rc.d invoke-rc.d service"}, "debian"},
		{"service", platform{"RedHat", "RedHat", "9", true, "systemctl chkconfig service kill"}, "systemd"},
		{"service", platform{"RedHat", "CentOS", "6", false, "chkconfig service kill"}, "redhat"},
		{"service", platform{"Slackware", "Slackware", "15", false, "kill"}, "init"},
		{"service", platform{"Debian", "Ubuntu", "14.04", false, "start stop restart status initctl update-rc.d invoke-rc.d service"}, "upstart"},
		{"package", platform{"Debian", "Debian", "12", true, apt + "gem pip"}, "apt"},
		{"package", platform{"RedHat", "RedHat", "9", true, "dnf yum rpm"}, "dnf"},
		{"package", platform{"RedHat", "CentOS", "7", true, "yum rpm"}, "yum"},
		{"package", platform{"Debian", "Debian", "12", true, "rpm"}, "rpm"},
		{"package", platform{"Debian", "Debian", "12", true, ""}, "gem"},
		{"user", platform{"Debian", "Debian", "12", true, ""}, ""},
		{"exec", platform{"Debian", "Debian", "12", true, ""}, "posix"},
		{"notify", platform{}, ""},
	} {
		name := ""
		if p, _ := types.Select(types.All()[tt.typ], tt.on); p != nil {
			name = p.Name
		}
		if name != tt.want {
			t.Errorf("%s on %+v is done by %q, want %q", tt.typ, tt.on, name, tt.want)
		}
	}
}

// TestSeveralDefaults: the warning comes once for each type.
func TestSeveralDefaults(t *testing.T) {
	t.Parallel()
	var logs []string
	s := types.NewSelection(platform{family: "Debian"}, func(level, message string) { logs = append(logs, level+": "+message) })
	for range 3 {
		r, err := types.New(types.All()["package"], s, types.Given{Title: "p"}, nil)
		if err != nil || r.Provider.Name != "gem" {
			t.Fatalf("%v, %v", r, err)
		}
	}
	const want = "warning: Found multiple default providers for package: gem, pip, pip2, pip3; using gem"
	if got := strings.Join(logs, "\n"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
