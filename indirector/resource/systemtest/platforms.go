package systemtest

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// platforms are the facts of the systems that cases name.
var platforms = map[string]data.Value{
	"debian12":  facts("Debian", "Debian", "12", "12.5", "systemd"),
	"devuan5":   facts("Debian", "Devuan", "5", "5.0", "init"),
	"rhel9":     facts("RedHat", "RedHat", "9", "9.3", "systemd"),
	"fedora39":  facts("RedHat", "Fedora", "39", "39", "systemd"),
	"rhel6":     facts("RedHat", "CentOS", "6", "6.10", "init"),
	"alpine3":   facts("Linux", "Alpine", "3", "3.19", "init"),
	"slackware": facts("Slackware", "Slackware", "15", "15", "init"),
}

func facts(family, name, major, full, comm string) data.Value {
	s := data.OfString
	return data.OfHash([]data.Pair{
		data.P("osfamily", s(family)), data.P("operatingsystem", s(name)), data.P("operatingsystemmajrelease", s(major)), data.P("operatingsystemrelease", s(full)),
		data.P("kernel", s("Linux")), data.P("kernelmajversion", s("6.1")), data.P("hostname", s("node1")), data.P("fqdn", s("node1.example.test")),
		data.P("domain", s("example.test")), data.P("ipaddress", s("192.0.2.1")), data.P("comm", s(comm)),
		data.P("os", data.OfHash([]data.Pair{
			data.P("family", s(family)), data.P("name", s(name)),
			data.P("release", data.OfHash([]data.Pair{data.P("major", s(major)), data.P("full", s(full))})),
		})),
	})
}

// bins are the programs that systems have.
var bins = map[string][]string{
	"debian": debian,
	"redhat": redhat,
	"sysv": slices.Concat(without(debian, "systemctl"),
		[]string{"/usr/sbin/update-rc.d", "/usr/sbin/invoke-rc.d", "/usr/sbin/service"}),
	"redhat-sysv": slices.Concat(without(redhat, "systemctl", "dnf"), []string{"/sbin/chkconfig", "/sbin/service"}),
}

var debian = strings.Fields(`/usr/bin/dpkg /usr/bin/dpkg-deb /usr/bin/dpkg-query /usr/bin/apt-get /usr/bin/apt-cache /usr/bin/apt-mark
	/usr/bin/debconf-set-selections /usr/sbin/useradd /usr/sbin/userdel /usr/sbin/usermod /usr/bin/chage /usr/sbin/chpasswd
	/usr/sbin/groupadd /usr/sbin/groupdel /usr/sbin/groupmod /usr/bin/systemctl /usr/bin/crontab /usr/bin/mount /usr/bin/umount
	/usr/bin/kill`)

var redhat = slices.Concat([]string{"/usr/bin/rpm", "/usr/bin/yum", "/usr/bin/dnf"}, without(debian, "dpkg", "apt", "debconf"))

// without returns the programs whose paths have none of these words.
func without(from []string, words ...string) []string {
	return slices.DeleteFunc(slices.Clone(from), func(b string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(b, w) })
	})
}
